#include "core/change.h"

#include "base/near.h"
#include "base/num.h"
#include "core/field_json.h"
#include "core/list.h"
#include "core/tres.h"
#include "core/words.h"

void change_init(struct change *c, const struct entity *e)
{
	*c = (struct change){ .entity = e };
}

bool change_any(const struct change *c)
{
	for (size_t i = 0; i < c->entity->n; i++)
		if (change_has(c, i))
			return true;
	return false;
}

void change_set_text(struct change *c, size_t field, const char *text)
{
	c->v[field] = (struct change_value){ .how = CHANGE_SET, .text = text };
}

void change_set_number(struct change *c, size_t field, int64_t number)
{
	c->v[field] = (struct change_value){ .how = CHANGE_SET, .number = number };
}

/* ---- reading */

/* The value is a text or a number that says "take it away". */
static bool is_clear(struct jscan *j)
{
	struct jscan ahead = *j;
	struct jtext text;
	struct jnumber n;

	ahead.err = NULL;
	switch ((int)jscan_peek(&ahead)) {
	case JSCAN_NULL: return true;
	case JSCAN_NUMBER:
		return jscan_number(&ahead, &n) == 0 && n.negative && n.magnitude == 1 &&
		       !n.fraction;
	case JSCAN_STRING: return jscan_text(&ahead, &text) == 0 && jtext_is(text, "-1");
	default: return false;
	}
}

/* Slurm's other numbers for "no value" are for records only. */
static bool is_below_clear(struct jscan *j)
{
	struct jscan ahead = *j;
	struct jnumber n;

	ahead.err = NULL;
	return jscan_peek(&ahead) == JSCAN_NUMBER && jscan_number(&ahead, &n) == 0 && n.negative &&
	       !is_clear(j);
}

/* A helper outside JSON has failed and filled err: the key is where. */
static int adopt(struct jscan *j)
{
	j->failed = true;
	if (j->err != NULL && j->where != NULL)
		snprintf(j->err->where, sizeof(j->err->where), "%s", j->where);
	return -1;
}

/* Joins what is set and what is taken away. */
struct tres_edit {
	struct tres *set;
	const char **drop;
	size_t n_set, n_drop;
};

static int finish_tres(struct jscan *j, const struct tres_edit *edit, struct change_value *v)
{
	if (tres_make(edit->set, edit->n_set, j->arena, &v->text, j->err) < 0 ||
	    list_make(edit->drop, edit->n_drop, j->arena, &v->drop, j->err) < 0)
		return adopt(j);
	v->how = CHANGE_EDIT;
	return 0;
}

static int edit_count(struct jscan *j, struct tres_edit *edit, const char *name, size_t len,
		      const char *count)
{
	struct tres *t = &edit->set[edit->n_set];
	bool known;

	*t = (struct tres){ .name = name, .len = len };
	if (tres_name_check(name, len, j->err) < 0 ||
	    (strcmp(count, "-1") != 0 &&
	     tres_count_parse(name, len, TRES_AMOUNT, count, &t->count, &known, j->err) < 0))
		return adopt(j);
	if (strcmp(count, "-1") == 0 || !known)
		edit->drop[edit->n_drop++] = arena_strndup(j->arena, name, len);
	else
		edit->n_set++;
	return 0;
}

static int read_tres_text(struct jscan *j, struct change_value *v)
{
	struct tres_edit edit = { 0 };
	const char *text = jscan_string(j);
	size_t most = 1;

	if (text == NULL)
		return -1;
	for (const char *p = text; *p != '\0'; p++)
		most += *p == ',';
	edit.set = ARENA_ARRAY(j->arena, struct tres, most);
	edit.drop = ARENA_ARRAY(j->arena, const char *, most);
	while (*text != '\0') {
		size_t n = strcspn(text, ",");
		const char *sign = memrchr(text, '=', n);
		if (sign == NULL)
			return jscan_fail(j, "\"%.*s\" is no name=count", (int)(n < 64 ? n : 64),
					  text);
		if (edit_count(j, &edit, text, (size_t)(sign - text),
			       arena_strndup(j->arena, sign + 1,
					     n - (size_t)(sign + 1 - text))) < 0)
			return -1;
		text += n + (text[n] == ',');
	}
	return finish_tres(j, &edit, v);
}

/* A count of an object, as a text. */
static const char *count_text(struct jscan *j)
{
	const char *from;

	if (is_clear(j))
		return jscan_skip(j) < 0 ? NULL : "-1";
	if (jscan_peek(j) == JSCAN_STRING)
		return jscan_string(j);
	from = j->at;
	int64_t count;
	if (jscan_i64(j, &count) < 0)
		return NULL;
	return arena_strndup(j->arena, from, (size_t)(j->at - from));
}

static int read_tres_object(struct jscan *j, struct change_value *v)
{
	struct jscan ahead = *j;
	struct tres_edit edit = { 0 };
	struct jtext name;
	size_t most = 1;

	ahead.err = NULL;
	if (jscan_enter(&ahead, JSCAN_OBJECT) < 0)
		return jscan_enter(j, JSCAN_OBJECT);
	for (; jscan_member(&ahead, &name); most++)
		jscan_skip(&ahead);
	edit.set = ARENA_ARRAY(j->arena, struct tres, most);
	edit.drop = ARENA_ARRAY(j->arena, const char *, most);
	jscan_enter(j, JSCAN_OBJECT);
	while (jscan_member(j, &name)) {
		const char *count = count_text(j);
		if (count == NULL || edit_count(j, &edit, name.p, name.n, count) < 0)
			return -1;
	}
	return j->failed ? -1 : finish_tres(j, &edit, v);
}

static int read_tres(struct jscan *j, struct change_value *v)
{
	return jscan_peek(j) == JSCAN_STRING ? read_tres_text(j, v) : read_tres_object(j, v);
}

/* Flags: with signs they are added and taken away. */
static int read_bits(struct jscan *j, const struct field *f, struct change_value *v)
{
	const char *list, *word;
	struct field_value names = { 0 };
	static const struct field as_list = { .type = FT_LIST, .json = "flags" };
	size_t len;

	if (field_json_read(j, &as_list, &names) < 0)
		return -1;
	list = names.text;
	v->how = list_is_change(list) ? CHANGE_EDIT : CHANGE_SET;
	for (const char *at = list; list_next(&at, &word, &len);) {
		bool sign = v->how == CHANGE_EDIT;
		int64_t bit;
		if (word_parse(words_of(f), arena_strndup(j->arena, word + sign, len - sign), &bit,
			       j->err) < 0)
			return adopt(j);
		if (sign && word[0] == '-')
			v->less |= bit;
		else
			v->number |= bit;
	}
	return 0;
}

/* A number as a text, which a record may not have but a command line has nothing else. */
static int read_number_text(struct jscan *j, struct change_value *v)
{
	const char *text = jscan_string(j);

	if (text == NULL)
		return -1;
	if (num_parse(text, &v->number) < 0 || v->number < 0)
		return jscan_fail(j, "\"%.64s\" is not a whole number from 0", text);
	v->how = CHANGE_SET;
	return 0;
}

static int read_flag_text(struct jscan *j, struct change_value *v)
{
	const char *text = jscan_string(j);

	if (text == NULL)
		return -1;
	v->number = strcmp(text, "true") == 0 || strcmp(text, "yes") == 0 || strcmp(text, "1") == 0;
	if (v->number == 0 && strcmp(text, "false") != 0 && strcmp(text, "no") != 0 &&
	    strcmp(text, "0") != 0)
		return jscan_fail(j, "\"%.64s\" is neither true nor false", text);
	v->how = CHANGE_SET;
	return 0;
}

/* An association without a QOS of its own has its parent's: none at all cannot be said. */
static bool is_nothing(const struct field *f, const char *text)
{
	return (f->flags & FF_INHERIT) != 0 && field_is_text(f->type) && text != NULL &&
	       text[0] == '\0';
}

static int read_value(struct jscan *j, const struct field *f, struct change_value *v)
{
	bool text = jscan_peek(j) == JSCAN_STRING;
	struct field_value value;

	*v = (struct change_value){ 0 };
	if (is_below_clear(j))
		return jscan_fail(j, "is negative; -1 or null takes a value away");
	if ((f->type != FT_TEXT || (f->flags & FF_INHERIT) != 0) && is_clear(j)) {
		v->how = CHANGE_CLEAR;
		return jscan_skip(j);
	}
	if (f->type == FT_TRES)
		return read_tres(j, v);
	if (f->type == FT_WORDS)
		return read_bits(j, f, v);
	if (f->type == FT_I64 && text)
		return read_number_text(j, v);
	if (f->type == FT_BOOL && text)
		return read_flag_text(j, v);
	if (field_json_read(j, f, &value) < 0)
		return -1;
	v->how = !value.known || is_nothing(f, value.text) ? CHANGE_CLEAR :
		 f->type == FT_LIST && list_is_change(value.text) ? CHANGE_EDIT : CHANGE_SET;
	v->number = value.number;
	v->text = value.text;
	return 0;
}

static int fail_unknown(struct jscan *j, const struct entity *e, struct jtext key,
			const char *const *others)
{
	struct near near;
	const char *best;

	near_init(&near, key.p, key.n);
	for (size_t i = 0; i < e->n; i++)
		if ((e->fields[i].flags & FF_OURS) == 0)
			near_try(&near, e->fields[i].json);
	for (; others != NULL && *others != NULL; others++)
		near_try(&near, *others);
	best = near_best(&near);
	return jscan_fail(j, "no such key%s%s%s", best != NULL ? "; did you mean \"" : "",
			  best != NULL ? best : "", best != NULL ? "\"?" : "");
}

static int read_key(struct jscan *j, struct change *ret, struct jtext key, bool answer,
		    change_more *more, void *arg, const char *const *others)
{
	int field = entity_field_find(ret->entity, key.p, key.n), rc;
	const struct field *f = field >= 0 ? &ret->entity->fields[field] : NULL;

	if (more != NULL) {
		rc = more(j, key, arg);
		if (rc != 0)
			return rc < 0 ? -1 : 0;
	}
	if (f == NULL)
		return fail_unknown(j, ret->entity, key, others);
	if ((f->flags & FF_OURS) != 0) {
		if (answer)
			return jscan_skip(j);
		return jscan_fail(j, "is kept by tally and cannot be set");
	}
	if (change_has(ret, (size_t)field))
		return jscan_fail(j, "is there twice");
	return read_value(j, f, &ret->v[field]);
}

int change_read(struct jscan *j, struct change *ret, bool answer, change_more *more, void *arg,
		const char *const *others)
{
	struct jtext key;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		const char *before = j->where;

		j->where = arena_strndup(j->arena, key.p, key.n);
		if (read_key(j, ret, key, answer, more, arg, others) < 0)
			return -1;
		j->where = before;
	}
	return j->failed ? -1 : 0;
}

/* ---- applying */

static const char *edit_tres(const char *old, const struct change_value *v, struct arena *arena)
{
	struct tres t, *items = ARENA_ARRAY(arena, struct tres, strlen(old) + strlen(v->text) + 2);
	const char *text = v->text;
	size_t n = 0;

	for (const char *at = v->text; tres_next(&at, &t);)
		items[n++] = t;
	for (const char *at = old; tres_next(&at, &t);) {
		bool named = list_has(v->drop, t.name, t.len);
		struct tres other;
		for (const char *o = v->text; !named && tres_next(&o, &other);)
			named = tres_name_order(other.name, other.len, t.name, t.len) == 0;
		if (!named)
			items[n++] = t;
	}
	if (tres_make(items, n, arena, &text, NULL) < 0)
		return v->text;
	return text;
}

static void edit_field(const struct entity *e, void *row, size_t i, const struct change_value *v,
		       struct arena *arena)
{
	const struct field *f = &e->fields[i];
	bool known = has_bit(row_known(row), i);
	const char *old = known && field_is_text(f->type) ? row_text(row, f) : "", *text;

	if (f->type == FT_WORDS) {
		int64_t bits = known ? row_number(row, f) : 0;
		row_put_number(e, row, i, (bits | v->number) & ~v->less);
		return;
	}
	if (f->type == FT_TRES)
		text = edit_tres(old, v, arena);
	else if ((f->flags & FF_INHERIT) != 0 && (!known || list_is_change(old)))
		text = list_join(old, v->text, arena);
	else
		text = list_apply(old, v->text, arena);
	if (text[0] == '\0' && f->type == FT_TRES)
		has_clear(row_bits(row), i);
	else
		row_put_text(e, row, i, text);
}

void change_apply(const struct change *c, void *row, struct arena *arena)
{
	const struct entity *e = c->entity;

	for (size_t i = 0; i < e->n; i++) {
		const struct change_value *v = &c->v[i];

		if ((e->fields[i].flags & FF_SHOWN) != 0)
			continue;
		switch (v->how) {
		case CHANGE_KEEP: break;
		case CHANGE_CLEAR: has_clear(row_bits(row), i); break;
		case CHANGE_SET:
			if (field_is_text(e->fields[i].type))
				row_put_text(e, row, i, v->text);
			else
				row_put_number(e, row, i, v->number);
			break;
		case CHANGE_EDIT: edit_field(e, row, i, v, arena); break;
		}
	}
}

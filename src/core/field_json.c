#include "core/field_json.h"

#include <strings.h>

#include "base/num.h"
#include "core/duration.h"
#include "core/exit.h"
#include "core/list.h"
#include "core/moments.h"
#include "core/state.h"
#include "core/timespec.h"
#include "core/tres.h"
#include "core/where.h"
#include "core/words.h"

#define NO_VAL	    UINT32_C(0xfffffffe)
#define INFINITE    UINT32_C(0xffffffff)
#define PER_CPU_BIT (UINT64_C(1) << 63)

typedef int reader(struct jscan *j, const struct field *f, struct field_value *ret);

/* A helper outside JSON has failed and filled err: the scanner fails with it, and the field is
 * where. */
static int adopt(struct jscan *j)
{
	j->failed = true;
	if (j->err != NULL && j->where != NULL)
		snprintf(j->err->where, sizeof(j->err->where), "%s", j->where);
	return -1;
}

/* A text for the helpers, which want a NUL behind it. */
#define SHORT_TEXT 128
static int short_text(struct jscan *j, char out[SHORT_TEXT])
{
	struct jtext t;

	if (jscan_text(j, &t) < 0)
		return -1;
	if (t.n >= SHORT_TEXT)
		return jscan_fail(j, "\"%.40s...\" is too long for it", t.p);
	memcpy(out, t.p, t.n);
	out[t.n] = '\0';
	return 0;
}

static int know(struct field_value *ret, int64_t number)
{
	ret->known = true;
	ret->number = number;
	return 0;
}

static int know_text(struct field_value *ret, const char *text)
{
	ret->known = text != NULL;
	ret->text = text;
	return text != NULL ? 0 : -1;
}

/* 2^64-2 and 2^64-1, also as a signed number. */
static bool is_no_value64(const struct jnumber *n)
{
	return n->negative ? n->magnitude == 1 || n->magnitude == 2
			   : n->magnitude >= NO_VAL64 && !n->big;
}

static bool is_no_value(const struct jnumber *n, const struct field *f)
{
	if (n->fraction)
		return false;
	if (is_no_value64(n))
		return true;
	return !n->negative && (n->magnitude == NO_VAL || n->magnitude == INFINITE) &&
	       (f == NULL || (f->flags & FF_WIDE) == 0);
}

/* A whole number from 0 on. */
static int count_of(struct jscan *j, const struct jnumber *n, struct field_value *ret)
{
	if (n->fraction)
		return jscan_fail(j, "is not a whole number");
	if (n->negative && n->magnitude != 0)
		return jscan_fail(j, "is negative");
	if (n->big || n->magnitude > INT64_MAX)
		return jscan_fail(j, "is beyond 64 bits");
	return know(ret, (int64_t)n->magnitude);
}

static int read_i64(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct jnumber n;

	if (jscan_number(j, &n) < 0)
		return -1;
	if (is_no_value(&n, f))
		return 0;
	/* A computed field may name a step, and batch, extern and interactive are below 0. */
	if (n.negative && f != NULL && (f->flags & FF_DERIVED) != 0 && !n.fraction && !n.big &&
	    n.magnitude <= INT64_MAX)
		return know(ret, -(int64_t)n.magnitude);
	return count_of(j, &n, ret);
}

/* Bit 63 of what a controller sends says "per CPU". */
static int read_req_mem(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct jnumber n;
	enum req_mem_per per = PER_JOB;

	if (jscan_number(j, &n) < 0)
		return -1;
	if (is_no_value(&n, f))
		return 0;
	if (n.negative || n.big || n.fraction || (n.magnitude & PER_CPU_BIT) == 0)
		return count_of(j, &n, ret);
	if (!req_mem_split(n.magnitude, &ret->number, &per))
		return 0;
	ret->more = (int64_t)per;
	return know(ret, ret->number);
}

static int read_u64(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct jnumber n;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		char text[SHORT_TEXT];
		struct jscan digits;
		if (short_text(j, text) < 0)
			return -1;
		jscan_init(&digits, text, strlen(text), j->arena, NULL);
		if (jscan_number(&digits, &n) < 0 || jscan_done(&digits) < 0)
			return jscan_fail(j, "must be a number of 64 bits, as a string of digits");
	} else if (jscan_number(j, &n) < 0) {
		return -1;
	}
	if (is_no_value64(&n))
		return 0;
	if (n.negative || n.big || n.fraction)
		return jscan_fail(j, "must be a whole number from 0 to 2^64-3");
	return know(ret, (int64_t)n.magnitude);
}

static int read_bool(struct jscan *j, const struct field *f, struct field_value *ret)
{
	bool b;

	(void)f;
	return jscan_bool(j, &b) < 0 ? -1 : know(ret, b);
}

int time_json_read(struct jscan *j, struct field_value *ret)
{
	char text[SHORT_TEXT];
	struct jnumber n;
	int64_t t;

	*ret = (struct field_value){ .more = NOTHING_MORE };
	switch ((int)jscan_peek(j)) {
	case JSCAN_NULL: return jscan_null(j);
	case JSCAN_STRING:
		if (short_text(j, text) < 0)
			return -1;
		return time_parse_iso(text, &t, j->err) < 0 ? adopt(j) : know(ret, t);
	default:
		if (jscan_number(j, &n) < 0)
			return -1;
		n.fraction = false; /* of a second */
		return is_no_value(&n, NULL) ? 0 : count_of(j, &n, ret);
	}
}

static int read_time(struct jscan *j, const struct field *f, struct field_value *ret)
{
	(void)f;
	return time_json_read(j, ret);
}

static int read_text(struct jscan *j, const struct field *f, struct field_value *ret)
{
	(void)f;
	return know_text(ret, jscan_string(j));
}

static int read_state(struct jscan *j, const struct field *f, struct field_value *ret)
{
	char text[SHORT_TEXT];
	int64_t uid = -1;

	(void)f;
	if (short_text(j, text) < 0)
		return -1;
	if (state_parse(text, &ret->number, &uid, j->err) < 0)
		return adopt(j);
	if (uid >= 0)
		ret->more = uid;
	return know(ret, ret->number);
}

int exit_half_json_read(struct jscan *j, int64_t most, struct field_value *ret)
{
	*ret = (struct field_value){ .more = NOTHING_MORE };
	if (jscan_peek(j) == JSCAN_NULL)
		return jscan_null(j);
	struct jnumber n;
	if (jscan_number(j, &n) < 0)
		return -1;
	if (!n.negative && is_no_value(&n, NULL))
		return 0;
	if (n.negative || n.fraction || n.magnitude > (uint64_t)most)
		return jscan_fail(j, "must be a number from 0 to %" PRId64, most);
	return know(ret, (int64_t)n.magnitude);
}

int exit_json_read(struct jscan *j, struct field_value *ret)
{
	char text[SHORT_TEXT];

	if (jscan_peek(j) != JSCAN_STRING) {
		if (exit_half_json_read(j, 255, ret) < 0)
			return -1;
		if (ret->known)
			ret->number = exit_make(ret->number, 0);
		return 0;
	}
	*ret = (struct field_value){ .more = NOTHING_MORE };
	if (short_text(j, text) < 0)
		return -1;
	return exit_parse(text, &ret->number, j->err) < 0 ? adopt(j) : know(ret, ret->number);
}

static int read_limit(struct jscan *j, const struct field *f, struct field_value *ret)
{
	char text[SHORT_TEXT];
	struct jnumber n;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		if (short_text(j, text) < 0)
			return -1;
		if (strcmp(text, "partition") == 0)
			return know(ret, LIMIT_PARTITION);
		return limit_parse(text, &ret->number, j->err) < 0 ? adopt(j)
								   : know(ret, ret->number);
	}
	if (jscan_number(j, &n) < 0)
		return -1;
	if (is_no_value64(&n))
		return 0;
	if (!n.negative && !n.fraction && n.magnitude == INFINITE)
		return know(ret, LIMIT_UNLIMITED);
	if (!n.negative && !n.fraction && n.magnitude == NO_VAL)
		return know(ret, LIMIT_PARTITION);
	return count_of(j, &n, ret);
}

static enum tres_kind tres_kind_of(const struct field *f)
{
	return strncmp(f->json, "usage_", 6) == 0 ? TRES_USAGE : TRES_AMOUNT;
}

/* One count of an object: a number, or a text with a unit.  False in *ret_known: leave it out. */
static int read_tres_count(struct jscan *j, enum tres_kind kind, struct tres *t, bool *ret_known)
{
	char text[SHORT_TEXT];
	struct jnumber n;
	struct field_value v = { 0 };

	*ret_known = false;
	switch ((int)jscan_peek(j)) {
	case JSCAN_NULL: return jscan_null(j);
	case JSCAN_STRING:
		if (short_text(j, text) < 0)
			return -1;
		if (tres_count_parse(t->name, t->len, kind, text, &t->count, ret_known, j->err) < 0)
			return adopt(j);
		return 0;
	default:
		if (jscan_number(j, &n) < 0)
			return -1;
		if (!n.negative && is_no_value64(&n) && !n.fraction)
			return 0;
		if (count_of(j, &n, &v) < 0) {
			if (j->err != NULL)
				err_prefix(j->err, "\"%.*s\" ", t->len < 64 ? (int)t->len : 64,
					   t->name);
			return -1;
		}
		t->count = v.number;
		*ret_known = true;
		return 0;
	}
}

/* Pairs of an object, on the stack first: more than a few are rare. */
#define FEW_PAIRS 16

static void *more_pairs(struct jscan *j, void *pairs, size_t n, size_t size)
{
	if (n < FEW_PAIRS || (n & (n - 1)) != 0)
		return pairs;
	return memcpy(arena_alloc(j->arena, 2 * n * size), pairs, n * size);
}

static int read_tres(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct tres few[FEW_PAIRS], *pairs = few;
	enum tres_kind kind = tres_kind_of(f);
	struct jtext name;
	bool known;
	size_t n = 0;

	if (jscan_peek(j) == JSCAN_STRING) {
		const char *text = jscan_string(j);
		if (text == NULL)
			return -1;
		if (tres_parse(text, kind, j->arena, &ret->text, j->err) < 0)
			return adopt(j);
		return know_text(ret, ret->text);
	}
	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &name)) {
		pairs = more_pairs(j, pairs, n, sizeof(*pairs));
		pairs[n] = (struct tres){ .name = name.p, .len = name.n };
		if (read_tres_count(j, kind, &pairs[n], &known) < 0)
			return -1;
		n += known;
	}
	if (j->failed)
		return -1;
	if (tres_make(pairs, n, j->arena, &ret->text, j->err) < 0)
		return adopt(j);
	return know_text(ret, ret->text);
}

/* The value of a pair: a node's name, or a task's number (-1: the node as a whole). */
static int read_where_value(struct jscan *j, struct where *w)
{
	struct jtext text;
	int64_t task;

	switch ((int)jscan_peek(j)) {
	case JSCAN_NULL:
		w->value = "";
		w->value_len = 0;
		return jscan_null(j);
	case JSCAN_STRING:
		if (jscan_text(j, &text) < 0)
			return -1;
		w->value = text.p;
		w->value_len = text.n;
		return 0;
	default:
		jscan_peek(j);
		w->value = j->at;
		if (jscan_i64(j, &task) < 0)
			return -1;
		w->value_len = (size_t)(j->at - w->value);
		return 0;
	}
}

static int read_where(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct where few[FEW_PAIRS], *pairs = few;
	struct jtext name;
	size_t n = 0;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		const char *text = jscan_string(j);
		if (text == NULL)
			return -1;
		if (where_parse(text, j->arena, &ret->text, j->err) < 0)
			return adopt(j);
		return know_text(ret, ret->text);
	}
	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	for (; jscan_member(j, &name); n++) {
		pairs = more_pairs(j, pairs, n, sizeof(*pairs));
		pairs[n] = (struct where){ .name = name.p, .len = name.n };
		if (read_where_value(j, &pairs[n]) < 0)
			return -1;
	}
	if (j->failed)
		return -1;
	if (where_make(pairs, n, j->arena, &ret->text, j->err) < 0)
		return adopt(j);
	return know_text(ret, ret->text);
}

static int read_words(struct jscan *j, const struct field *f, struct field_value *ret)
{
	const struct words *words = words_of(f);
	char text[SHORT_TEXT];
	int64_t bits = 0, bit;

	assert(words != NULL);
	if (jscan_peek(j) == JSCAN_STRING) {
		if (short_text(j, text) < 0)
			return -1;
		return words_parse(words, text, &bits, j->err) < 0 ? adopt(j) : know(ret, bits);
	}
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		if (short_text(j, text) < 0)
			return -1;
		if (word_parse(words, text, &bit, j->err) < 0)
			return adopt(j);
		bits |= bit;
	}
	return j->failed ? -1 : know(ret, bits);
}

static int read_enum(struct jscan *j, const struct field *f, struct field_value *ret)
{
	const struct words *words = words_of(f);
	char text[SHORT_TEXT];

	assert(words != NULL);
	if (short_text(j, text) < 0)
		return -1;
	return word_parse(words, text, &ret->number, j->err) < 0 ? adopt(j)
								 : know(ret, ret->number);
}

/* {"at": ..., "what": "suspend" or "resume"} */
static int read_moment(struct jscan *j, struct moment *ret)
{
	bool has_what = false, has_at = false;
	struct field_value at;
	struct jtext key, what;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		if (jtext_is(key, "at")) {
			if (time_json_read(j, &at) < 0)
				return -1;
			has_at = at.known;
			ret->at = at.number;
		} else if (jtext_is(key, "what")) {
			if (jscan_text(j, &what) < 0)
				return -1;
			ret->resume = jtext_is(what, "resume");
			has_what = ret->resume || jtext_is(what, "suspend");
		} else if (jscan_skip(j) < 0) {
			return -1;
		}
	}
	if (!j->failed && !(has_at && has_what))
		return jscan_fail(j, "each needs \"at\", a time, and \"what\", suspend or resume");
	return j->failed ? -1 : 0;
}

static int read_moments(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct moment few[FEW_PAIRS], *m = few;
	size_t n = 0;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		const char *text = jscan_string(j);
		if (text == NULL)
			return -1;
		if (moments_parse(text, j->arena, &m, &n, j->err) < 0)
			return adopt(j);
		return know_text(ret, moments_format(m, n, j->arena));
	}
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	for (; jscan_element(j); n++) {
		m = more_pairs(j, m, n, sizeof(*m));
		if (read_moment(j, &m[n]) < 0)
			return -1;
	}
	if (j->failed)
		return -1;
	/* None at all says nothing: what others said of it stands. */
	return n == 0 ? 0 : know_text(ret, moments_format(m, n, j->arena));
}

/* "batch", or a number; negative and 32-bit numbers of the words are taken too. */
static int read_step_id(struct jscan *j, const struct field *f, struct field_value *ret)
{
	static const struct {
		const char *word;
		int64_t id;
	} words[] = { { "batch", STEP_ID_BATCH },
		      { "extern", STEP_ID_EXTERN },
		      { "interactive", STEP_ID_INTERACTIVE } };
	struct jtext text;
	struct jnumber n;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		if (jscan_text(j, &text) < 0)
			return -1;
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			if (jtext_is(text, words[i].word))
				return know(ret, words[i].id);
		return jscan_fail(j, "must be a number, \"batch\", \"extern\" or \"interactive\"");
	}
	if (jscan_number(j, &n) < 0)
		return -1;
	int64_t id = n.magnitude > UINT32_MAX ? INT64_MAX
		     : n.negative	      ? -(int64_t)n.magnitude
					      : (int64_t)n.magnitude;
	if (id > INT32_MAX && id <= UINT32_MAX)
		id -= INT64_C(1) << 32;
	if (n.fraction || id > INT32_MAX ||
	    (id < 0 && id != STEP_ID_BATCH && id != STEP_ID_EXTERN && id != STEP_ID_INTERACTIVE))
		return jscan_fail(j, "is no step; write its number, \"batch\", \"extern\" or "
				     "\"interactive\"");
	return know(ret, id);
}

/* "parent", or a number. */
static int read_shares(struct jscan *j, const struct field *f, struct field_value *ret)
{
	char text[SHORT_TEXT];

	if (jscan_peek(j) != JSCAN_STRING)
		return read_i64(j, f, ret);
	if (short_text(j, text) < 0)
		return -1;
	if (strcasecmp(text, "parent") == 0)
		return know(ret, SHARES_PARENT);
	if (num_parse(text, &ret->number) < 0 || ret->number < 0)
		return jscan_fail(j, "must be a number from 0, or \"parent\"");
	return know(ret, ret->number);
}

/* Without a limit is not limited: the value is not known. */
static int read_minutes(struct jscan *j, const struct field *f, struct field_value *ret)
{
	char text[SHORT_TEXT];

	if (jscan_peek(j) != JSCAN_STRING)
		return read_i64(j, f, ret);
	if (short_text(j, text) < 0)
		return -1;
	if (limit_parse(text, &ret->number, j->err) < 0)
		return adopt(j);
	if (ret->number == LIMIT_PARTITION)
		return jscan_fail(j, "has no partition to go by; write minutes or [D-]HH:MM:SS");
	ret->known = ret->number != LIMIT_UNLIMITED;
	return 0;
}

static int read_seconds(struct jscan *j, const struct field *f, struct field_value *ret)
{
	char text[SHORT_TEXT];

	if (jscan_peek(j) != JSCAN_STRING)
		return read_i64(j, f, ret);
	if (short_text(j, text) < 0)
		return -1;
	if (num_parse(text, &ret->number) == 0 && ret->number >= 0)
		return know(ret, ret->number);
	return duration_parse(text, &ret->number, j->err) < 0 ? adopt(j) : know(ret, ret->number);
}

/* Digits with at most six behind a point, in millionths. */
static bool factor_parse(const char *p, const char *end, int64_t *ret)
{
	int64_t whole = 0, part = 0, scale = FACTOR_ONE;
	const char *from = p;

	for (; p < end && *p >= '0' && *p <= '9' && p - from < 12; p++)
		whole = whole * 10 + (*p - '0');
	if (p == from)
		return false;
	if (p < end && *p == '.') {
		if (++p == end)
			return false;
		for (; p < end && *p >= '0' && *p <= '9' && scale > 1; p++) {
			scale /= 10;
			part += (*p - '0') * scale;
		}
		while (p < end && *p == '0')
			p++;
	}
	*ret = whole * FACTOR_ONE + part;
	return p == end;
}

static int read_factor(struct jscan *j, const struct field *f, struct field_value *ret)
{
	struct jtext text;
	struct jnumber n;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		if (jscan_text(j, &text) < 0)
			return -1;
	} else {
		text.p = j->at;
		if (jscan_number(j, &n) < 0)
			return -1;
		text.n = (size_t)(j->at - text.p);
	}
	if (!factor_parse(text.p, text.p + text.n, &ret->number))
		return jscan_fail(j, "must be a number from 0, with at most six decimals");
	return know(ret, ret->number);
}

#define FEW_NAMES 64
static int read_list(struct jscan *j, const struct field *f, struct field_value *ret)
{
	const char *few[FEW_NAMES], **names = few;
	size_t n = 0;

	(void)f;
	if (jscan_peek(j) == JSCAN_STRING) {
		const char *text = jscan_string(j);
		if (text == NULL)
			return -1;
		if (list_parse(text, j->arena, &ret->text, j->err) < 0)
			return adopt(j);
		return know_text(ret, ret->text);
	}
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	for (; jscan_element(j); n++) {
		if (n >= FEW_NAMES && (n & (n - 1)) == 0)
			names = memcpy(arena_alloc(j->arena, 2 * n * sizeof(*names)), names,
				       n * sizeof(*names));
		names[n] = jscan_string(j);
		if (names[n] == NULL)
			return -1;
	}
	if (j->failed)
		return -1;
	if (list_make(names, n, j->arena, &ret->text, j->err) < 0)
		return adopt(j);
	return know_text(ret, ret->text);
}

static reader *reader_of(const struct field *f)
{
	static reader *const readers[] = {
		[FT_I64] = read_i64,
		[FT_U64] = read_u64,
		[FT_BOOL] = read_bool,
		[FT_TIME] = read_time,
		[FT_TEXT] = read_text,
		[FT_STATE] = read_state,
		[FT_EXIT] = NULL,
		[FT_LIMIT] = read_limit,
		[FT_TRES] = read_tres,
		[FT_WHERE] = read_where,
		[FT_WORDS] = read_words,
		[FT_ENUM] = read_enum,
		[FT_MOMENTS] = read_moments,
		[FT_SHARES] = read_shares,
		[FT_MINUTES] = read_minutes,
		[FT_SECONDS] = read_seconds,
		[FT_FACTOR] = read_factor,
		[FT_LIST] = read_list,
		[FT_JSON] = NULL,
	};

	if (f == &step_fields[STEP_step_id])
		return read_step_id;
	if (f == &job_fields[JOB_req_mem])
		return read_req_mem;
	return readers[f->type];
}

int field_json_read(struct jscan *j, const struct field *f, struct field_value *ret)
{
	*ret = (struct field_value){ .more = NOTHING_MORE };
	if (jscan_peek(j) == JSCAN_NULL)
		return jscan_null(j);
	return reader_of(f)(j, f, ret);
}

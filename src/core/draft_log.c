#include "core/draft_log.h"

#include "core/row_json.h"

static const char *const verbs[] = { "Add", "Modify", "Remove" };
static const char *const verbs_low[] = { "add", "modify", "remove" };

/* How the log names each kind, which fields say where, and whose `deleted` it is. */
static const struct {
	const char *title;
	int cluster, account, user, id, name, deleted;
	const char *id_word;
} kinds[ENTITIES] = {
	[ENTITY_CLUSTER] = { "Clusters", CLUSTER_name, -1, -1, -1, CLUSTER_name, CLUSTER_deleted,
			     NULL },
	[ENTITY_ACCOUNT] = { "Accounts", -1, ACCOUNT_name, -1, -1, ACCOUNT_name, ACCOUNT_deleted,
			     NULL },
	[ENTITY_USER] = { "Users", -1, -1, USER_name, -1, USER_name, USER_deleted, NULL },
	[ENTITY_ASSOC] = { "Associations", ASSOC_cluster, ASSOC_account, ASSOC_user_name, ASSOC_id,
			   -1, ASSOC_deleted, "id_assoc" },
	[ENTITY_QOS] = { "QOS", -1, -1, -1, QOS_id, QOS_name, QOS_deleted, NULL },
	[ENTITY_WCKEY] = { "WCKeys", WCKEY_cluster, -1, WCKEY_user_name, WCKEY_id, -1,
			   WCKEY_deleted, "id_wckey" },
	[ENTITY_COORD] = { "Account Coord", -1, COORD_account, COORD_user_name, -1, COORD_user_name,
			   COORD_deleted, NULL },
};

static bool is_gone(enum entity_kind kind, const void *row)
{
	size_t f = (size_t)kinds[kind].deleted;

	return row == NULL || (has_bit(row_known(row), f) &&
			       row_number(row, &entities[kind].fields[f]) != 0);
}

enum draft_verb draft_verb(const struct draft_row *row)
{
	bool was = !is_gone(row->kind, row->before), is = !is_gone(row->kind, row->now);

	return was == is ? DRAFT_MODIFY : is ? DRAFT_ADD : DRAFT_REMOVE;
}

static const char *text_of(enum entity_kind kind, int field, const void *row)
{
	const char *text = field < 0 ? NULL : row_text(row, &entities[kind].fields[field]);

	return text != NULL && text[0] != '\0' ? text : NULL;
}

static int64_t id_of(enum entity_kind kind, const void *row)
{
	return kinds[kind].id < 0 ? 0 : row_number(row, &entities[kind].fields[kinds[kind].id]);
}

static const char *where_text(const struct draft_row *row, enum draft_verb verb,
			      struct arena *arena)
{
	enum entity_kind k = row->kind;

	if (kinds[k].id_word != NULL)
		return arena_printf(arena, verb == DRAFT_ADD ? "%s=%" PRId64 : "(%s=%" PRId64 ")",
				    kinds[k].id_word, id_of(k, row->now));
	if (verb == DRAFT_ADD)
		return text_of(k, kinds[k].name, row->now);
	return arena_printf(arena, "name='%s'", text_of(k, kinds[k].name, row->now));
}

static void add_sql_text(struct buf *out, const char *s)
{
	buf_addc(out, '\'');
	for (; *s != '\0'; s++) {
		if (*s == '\'')
			buf_addc(out, '\'');
		buf_addc(out, *s);
	}
	buf_addc(out, '\'');
}

static void add_value(struct buf *out, const struct field *f, size_t i, const void *row)
{
	static const struct row_style style = { .epoch = true };

	if (!has_bit(row_known(row), i))
		buf_adds(out, "NULL");
	else if (field_is_text(f->type))
		add_sql_text(out, row_text(row, f));
	else if (f->type == FT_SHARES || f->type == FT_WORDS)
		buf_i64(out, row_number(row, f));
	else
		field_encode_json(out, f, (const char *)row + f->offset, &style);
}

/* When it was changed goes without saying. */
static bool is_told(const struct field *f)
{
	return (f->flags & FF_SHOWN) == 0 && strcmp(f->json, "modified") != 0;
}

void draft_changed(const struct draft_row *row, uint64_t *ret)
{
	const struct entity *e = &entities[row->kind];

	memset(ret, 0, HAS_WORDS * sizeof(*ret));
	for (size_t i = 0; i < e->n; i++)
		if (is_told(&e->fields[i]) &&
		    (row->before == NULL ? has_bit(row_known(row->now), i) :
		     row_field_cmp(&e->fields[i], i, row->before, row->now) != 0))
			has_set(ret, i);
}

static const char *info_text(const struct draft_row *row, const uint64_t *fields,
			     struct arena *arena)
{
	const struct entity *e = &entities[row->kind];
	struct buf out = BUF_INIT;
	const char *comma = "", *text;

	for (size_t i = 0; i < e->n; i++) {
		if (!has_bit(fields, i))
			continue;
		buf_printf(&out, "%s%s=", comma, e->fields[i].name);
		add_value(&out, &e->fields[i], i, row->now);
		comma = ", ";
	}
	text = arena_strdup(arena, buf_str(&out));
	buf_fini(&out);
	return text;
}

static const char *json_text(enum entity_kind kind, const void *row, const uint64_t *fields,
			     struct arena *arena)
{
	const struct row_style style = { .keys = fields };
	struct buf out = BUF_INIT;
	const char *text;

	row_encode_json(&out, &entities[kind], row, &style);
	text = arena_strdup(arena, buf_str(&out));
	buf_fini(&out);
	return text;
}

static void log_row(const struct draft_row *row, const struct draft_actor *actor,
		    struct arena *arena, struct txn *t)
{
	enum entity_kind k = row->kind;
	enum draft_verb verb = draft_verb(row);
	uint64_t fields[HAS_WORDS];
	const char *const about[] = { text_of(k, kinds[k].cluster, row->now),
				      text_of(k, kinds[k].account, row->now),
				      text_of(k, kinds[k].user, row->now) };

	draft_changed(row, fields);
	row_set(t, TXN, at, actor->at);
	row_set(t, TXN, actor, actor->name);
	if (actor->uid >= 0)
		row_set(t, TXN, uid, actor->uid);
	row_set(t, TXN, action, arena_printf(arena, "%s %s", verbs[verb], kinds[k].title));
	if (about[0] != NULL)
		row_set(t, TXN, cluster, about[0]);
	if (about[1] != NULL)
		row_set(t, TXN, account, about[1]);
	if (about[2] != NULL)
		row_set(t, TXN, user_name, about[2]);
	row_set(t, TXN, where_text, where_text(row, verb, arena));
	row_set(t, TXN, info, info_text(row, fields, arena));
	if (row->before != NULL)
		row_set(t, TXN, before_json, json_text(k, row->before, fields, arena));
	row_set(t, TXN, after_json, json_text(k, row->now, fields, arena));
}

static struct outbox_row tell(const struct draft_row *row, struct arena *arena)
{
	enum entity_kind k = row->kind;
	uint64_t columns[HAS_WORDS] = { 0 };

	for (size_t i = 0; i < entities[k].n; i++)
		if ((entities[k].fields[i].flags & FF_SHOWN) == 0)
			has_set(columns, i);
	return (struct outbox_row){
		.kind = arena_printf(arena, "%s_%s", verbs_low[draft_verb(row)], entities[k].name),
		.cluster = text_of(k, kinds[k].cluster, row->now),
		.id = id_of(k, row->now),
		.body = json_text(k, row->now, columns, arena),
	};
}

void draft_log(const struct draft_row *rows, size_t n, const struct draft_actor *actor,
	       struct arena *arena, struct txn **ret_txn, struct outbox_row **ret_outbox)
{
	*ret_txn = ARENA_ARRAY(arena, struct txn, n + 1);
	*ret_outbox = ARENA_ARRAY(arena, struct outbox_row, n + 1);
	for (size_t i = 0; i < n; i++) {
		log_row(&rows[i], actor, arena, &(*ret_txn)[i]);
		(*ret_outbox)[i] = tell(&rows[i], arena);
	}
}

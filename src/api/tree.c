/* api/tree.c: changes of the account tree: rows to add, {"where", "set"} to change, what to remove,
 * and the tree as it is to be.  One request is one session: all of it, or nothing. */
#include "api/tree.h"

#include <strings.h>

#include "api/handlers.h"
#include "core/draft_json.h"
#include "core/draft_log.h"
#include "core/row_json.h"

const struct param_group *where_group(enum entity_kind kind)
{
	static const struct param_group *const groups[ENTITIES] = {
		[ENTITY_CLUSTER] = &params_CLUSTERS, [ENTITY_ACCOUNT] = &params_ACCOUNTS,
		[ENTITY_USER] = &params_USERS,	     [ENTITY_ASSOC] = &params_ASSOCS,
		[ENTITY_QOS] = &params_QOS,	     [ENTITY_WCKEY] = &params_WCKEYS,
		[ENTITY_COORD] = &params_COORDS,
	};

	return groups[kind];
}

/* ---- what a request says, and its session */

struct change_request {
	struct request *req;
	const struct tree_args *args;
	enum entity_kind kind;
	struct jscan json;
	struct tree_session *session;
	bool must_add; /* an answer with nothing new is a failure */
};

typedef int change_step(struct change_request *c, struct err *err);

static void put_row(struct change_request *c, const struct draft_row *row)
{
	static const char *const verbs[] = { "add", "change", "remove" };
	const struct row_style whole = { .now = c->req->now, .epoch = c->args->epoch };
	struct row_style part = whole;
	struct buf *out = &c->req->reply.body;
	const struct entity *e = &entities[row->kind];
	const void *shown = row->now;
	uint64_t fields[HAS_WORDS];

	if (row->kind == ENTITY_ASSOC) { /* with its path and its edges */
		const struct assoc *a = row->now;
		const struct tree_cluster *of =
			tree_cluster(ops_tree_draft(c->session), a->cluster);
		shown = of->nodes[tree_by_id(of, a->id)].own;
	}
	buf_printf(out, "{\"what\":\"%s\",\"kind\":\"%s\",\"row\":", verbs[draft_verb(row)],
		   e->name);
	row_encode_json(out, e, shown, &whole);
	buf_adds(out, ",\"before\":");
	draft_changed(row, fields);
	part.keys = fields;
	if (row->before != NULL)
		row_encode_json(out, e, row->before, &part);
	else
		buf_adds(out, "null");
	buf_addc(out, '}');
}

static void answer(struct change_request *c)
{
	struct buf *out = &c->req->reply.body;
	const struct draft_row *rows;
	size_t n = ops_tree_rows(c->session, &rows), n_notes;
	const char *const *notes = ops_tree_notes(c->session, &n_notes);

	buf_adds(out, "{\"changed\":[");
	for (size_t i = 0; i < n; i++) {
		buf_adds(out, i > 0 ? ",\n" : "\n");
		put_row(c, &rows[i]);
	}
	buf_adds(out, n > 0 ? "\n],\"notes\":[" : "],\"notes\":[");
	for (size_t i = 0; i < n_notes; i++) {
		buf_adds(out, i > 0 ? ",\n" : "\n");
		buf_json_str(out, notes[i]);
	}
	buf_printf(out, "],\"dry_run\":%s}\n", c->args->dry_run ? "true" : "false");
}

/* Nothing was new: the first note says why. */
static int check_added(struct change_request *c, struct err *err)
{
	const struct draft_row *rows;
	size_t n;
	const char *const *notes = ops_tree_notes(c->session, &n);

	if (!c->must_add || ops_tree_rows(c->session, &rows) > 0)
		return 0;
	return err_set(err, ERR_CONFLICT, NULL, "%s",
		       n > 0 ? notes[0] : "everything is there already");
}

static int change(struct request *req, enum entity_kind kind, bool must_add, change_step *step,
		  struct err *err)
{
	struct change_request c = { .req = req, .args = req->args, .kind = kind,
				    .must_add = must_add };
	const struct tree_session_rules rules = { .now = req->now, .dry_run = c.args->dry_run };
	int rc;

	jscan_init(&c.json, buf_str(&req->body), req->body.len, req->arena, err);
	c.json.where = "body";
	c.session = ops_tree_begin(req->api->ops, &req->who, &rules, req->arena, err);
	if (c.session == NULL)
		return -1;
	rc = step(&c, err);
	if (rc == 0)
		rc = ops_tree_commit(c.session, err);
	if (rc == 0)
		rc = check_added(&c, err);
	if (rc == 0)
		answer(&c);
	ops_tree_end(c.session);
	return rc;
}

/* ---- adding */

/* "accounts[3].max_jobs", "[3]" */
static void place_error(struct arena *arena, const char *list, size_t i, struct err *err)
{
	const char *where = arena_strdup(arena, err->where);

	snprintf(err->where, sizeof(err->where), "%s[%zu]%s%s", list, i,
		 where[0] != '\0' && where[0] != '[' ? "." : "", where);
}

static int add_one(struct change_request *c, struct err *err)
{
	struct draft_add *add = ARENA_NEW(c->req->arena, struct draft_add);

	if (draft_add_read(&c->json, c->kind, false, add) < 0)
		return -1;
	return ops_tree_add(c->session, add, err);
}

static int add_all(struct change_request *c, struct err *err)
{
	if (jscan_peek(&c->json) != JSCAN_ARRAY)
		return add_one(c, err) < 0 ? -1 : jscan_done(&c->json);
	jscan_enter(&c->json, JSCAN_ARRAY);
	for (size_t i = 0; jscan_element(&c->json); i++)
		if (add_one(c, err) < 0) {
			place_error(c->req->arena, "", i, err);
			return -1;
		}
	return c->json.failed ? -1 : jscan_done(&c->json);
}

/* ---- changing and removing */

/* A value's own bytes. */
static int take_value(struct jscan *j, struct jtext *ret)
{
	jscan_peek(j);
	ret->p = j->at;
	if (jscan_skip(j) < 0)
		return -1;
	ret->n = (size_t)(j->at - ret->p);
	return 0;
}

static int read_where(struct change_request *c, struct jtext text, struct err *err)
{
	struct params_context ctx = { .arena = c->req->arena, .now = c->req->now };

	return params_parse_json(where_group(c->kind), text.p, text.n, &ctx, c->req->args, err);
}

/* {"where": {...}, "set": {...}}; conditions may stand in the query as well. */
static int read_parts(struct change_request *c, struct jtext *ret_where, struct jtext *ret_set,
		      struct err *err)
{
	struct jtext key;

	*ret_where = *ret_set = (struct jtext){ 0 };
	if (jscan_enter(&c->json, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(&c->json, &key)) {
		struct jtext *part = jtext_is(key, "where") ? ret_where :
				     jtext_is(key, "set")   ? ret_set : NULL;
		if (part == NULL)
			return err_set(err, ERR_INVALID, "body",
				       "\"%.*s\" is neither \"where\" nor "
				       "\"set\"",
				       key.n < 40 ? (int)key.n : 40, key.p);
		if (take_value(&c->json, part) < 0)
			return -1;
	}
	return c->json.failed ? -1 : jscan_done(&c->json);
}

static int change_rows(struct change_request *c, struct err *err)
{
	struct change *set = ARENA_NEW(c->req->arena, struct change);
	struct jtext where, text;
	struct jscan j;

	if (read_parts(c, &where, &text, err) < 0 ||
	    (where.p != NULL && read_where(c, where, err) < 0))
		return -1;
	if (text.p == NULL)
		return err_set(err, ERR_INVALID, "set", "is needed: what is to be set");
	change_init(set, &entities[c->kind]);
	jscan_init(&j, text.p, text.n, c->req->arena, err);
	j.where = "set";
	if (change_read(&j, set, false, NULL, NULL, NULL) < 0)
		return -1;
	return ops_tree_modify(c->session, c->kind, &c->args->where, set, err);
}

static int remove_rows(struct change_request *c, struct err *err)
{
	struct jtext where = { 0 }, set = { 0 };

	if (c->req->body.len > 0 && read_parts(c, &where, &set, err) < 0)
		return -1;
	if (set.p != NULL)
		return err_set(err, ERR_INVALID, "set", "means nothing when rows are removed");
	if (where.p != NULL && read_where(c, where, err) < 0)
		return -1;
	return ops_tree_remove(c->session, c->kind, &c->args->where, err);
}

/* ---- the tree as it is to be */

/* In this order, whatever the body's is: what comes later may name what comes earlier. */
static const enum entity_kind put_order[] = { ENTITY_CLUSTER, ENTITY_QOS,  ENTITY_ACCOUNT,
					      ENTITY_ASSOC,   ENTITY_USER, ENTITY_WCKEY,
					      ENTITY_COORD };
/* Those that are not named go in this one. */
static const enum entity_kind drop_order[] = { ENTITY_COORD,   ENTITY_WCKEY, ENTITY_ASSOC,
					       ENTITY_USER,    ENTITY_ACCOUNT, ENTITY_QOS,
					       ENTITY_CLUSTER };

struct wanted {
	struct jtext list[ENTITIES];
	bool complete[ENTITIES];
};

static int kind_of(struct jtext name)
{
	for (size_t i = 0; i < ARRAY_LEN(put_order); i++)
		if (jtext_is(name, entities[put_order[i]].plural))
			return (int)put_order[i];
	return -1;
}

static int read_complete(struct jscan *j, struct wanted *w)
{
	struct jtext name;

	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		if (jscan_text(j, &name) < 0)
			return -1;
		int kind = kind_of(name);
		if (kind < 0)
			return jscan_fail(j, "\"%.*s\" is no list of the tree",
					  name.n < 40 ? (int)name.n : 40, name.p);
		w->complete[kind] = true;
	}
	return j->failed ? -1 : 0;
}

static int read_wanted(struct change_request *c, struct wanted *w, struct err *err)
{
	struct jscan *j = &c->json;
	struct jtext key;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		int kind = kind_of(key);
		if (jtext_is(key, "complete")) {
			j->where = "complete";
			if (read_complete(j, w) < 0)
				return -1;
		} else if (kind < 0) {
			return err_set(err, ERR_INVALID, "body",
				       "\"%.*s\" is neither a list of the tree nor \"complete\"",
				       key.n < 40 ? (int)key.n : 40, key.p);
		} else if (take_value(j, &w->list[kind]) < 0) {
			return -1;
		}
	}
	return j->failed ? -1 : jscan_done(j);
}

struct put_item {
	struct draft_add add;
	bool done;
};

static size_t read_list(struct change_request *c, enum entity_kind kind, struct jtext text,
			struct put_item **ret, struct err *err)
{
	struct jscan j;
	size_t n = 0, cap = 0;

	*ret = NULL;
	jscan_init(&j, text.p, text.n, c->req->arena, err);
	j.where = entities[kind].plural;
	jscan_enter(&j, JSCAN_ARRAY);
	for (; jscan_element(&j); n++) {
		if (n == cap) {
			cap = cap != 0 ? cap * 2 : 16;
			struct put_item *more = ARENA_ARRAY(c->req->arena, struct put_item, cap);
			if (n > 0)
				memcpy(more, *ret, n * sizeof(*more));
			*ret = more;
		}
		(*ret)[n].done = false;
		if (draft_add_read(&j, kind, true, &(*ret)[n].add) < 0) {
			place_error(c->req->arena, entities[kind].plural, n, err);
			return SIZE_MAX;
		}
	}
	return j.failed ? SIZE_MAX : n;
}

static int put_item(struct change_request *c, enum entity_kind kind, struct put_item *item,
		    size_t i, struct err *err)
{
	item->done = true;
	if (ops_tree_put(c->session, &item->add, err) == 0)
		return 0;
	place_error(c->req->arena, entities[kind].plural, i, err);
	return -1;
}

static const char *text_of(const struct change *c, size_t field)
{
	return c->v[field].how == CHANGE_SET ? c->v[field].text : "";
}

/* Is the account's parent still to be put? */
static bool waits(const struct put_item *items, size_t n, const struct put_item *item)
{
	const char *parent = item->add.parent;

	for (size_t i = 0; parent != NULL && i < n; i++)
		if (!items[i].done && &items[i] != item &&
		    strcasecmp(text_of(&items[i].add.row, ACCOUNT_name), parent) == 0)
			return true;
	return false;
}

/* Parents first, in whichever order they are named. */
static int put_accounts(struct change_request *c, struct put_item *items, size_t n, struct err *err)
{
	bool progress = true;

	while (progress) {
		progress = false;
		for (size_t i = 0; i < n; i++) {
			if (items[i].done || waits(items, n, &items[i]))
				continue;
			if (put_item(c, ENTITY_ACCOUNT, &items[i], i, err) < 0)
				return -1;
			progress = true;
		}
	}
	for (size_t i = 0; i < n; i++)
		if (!items[i].done)
			return err_set(err, ERR_CONFLICT, "accounts",
				       "\"%s\" and \"%s\" are below each other",
				       text_of(&items[i].add.row, ACCOUNT_name),
				       items[i].add.parent);
	return 0;
}

static int put_list(struct change_request *c, enum entity_kind kind, struct jtext text,
		    struct err *err)
{
	struct put_item *items;
	size_t n = text.p != NULL ? read_list(c, kind, text, &items, err) : 0;

	if (n == SIZE_MAX)
		return -1;
	if (kind == ENTITY_ACCOUNT && n > 0)
		return put_accounts(c, items, n, err);
	for (size_t i = 0; i < n; i++)
		if (put_item(c, kind, &items[i], i, err) < 0)
			return -1;
	return 0;
}

static int put_tree(struct change_request *c, struct err *err)
{
	struct wanted *w = ARENA_NEW(c->req->arena, struct wanted);

	if (read_wanted(c, w, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(put_order); i++)
		if (put_list(c, put_order[i], w->list[put_order[i]], err) < 0)
			return -1;
	for (size_t i = 0; i < ARRAY_LEN(drop_order); i++)
		if (w->complete[drop_order[i]] &&
		    ops_tree_remove_others(c->session, drop_order[i], err) < 0)
			return -1;
	return 0;
}

int run_tree_put(struct request *req, struct err *err)
{
	return change(req, ENTITY_ACCOUNT, false, put_tree, err);
}

/* ---- each kind */

#define CHANGES(name, KIND)                                                                        \
	int run_##name##_add(struct request *req, struct err *err)                                 \
	{                                                                                          \
		return change(req, KIND, true, add_all, err);                                      \
	}                                                                                          \
	int run_##name##_remove(struct request *req, struct err *err)                              \
	{                                                                                          \
		return change(req, KIND, false, remove_rows, err);                                 \
	}
#define SETS(name, KIND)                                                                           \
	int run_##name##_change(struct request *req, struct err *err)                              \
	{                                                                                          \
		return change(req, KIND, false, change_rows, err);                                 \
	}

CHANGES(clusters, ENTITY_CLUSTER)
CHANGES(accounts, ENTITY_ACCOUNT)
CHANGES(users, ENTITY_USER)
CHANGES(associations, ENTITY_ASSOC)
CHANGES(qos, ENTITY_QOS)
CHANGES(wckeys, ENTITY_WCKEY)
CHANGES(coordinators, ENTITY_COORD)
SETS(clusters, ENTITY_CLUSTER)
SETS(accounts, ENTITY_ACCOUNT)
SETS(users, ENTITY_USER)
SETS(associations, ENTITY_ASSOC)
SETS(qos, ENTITY_QOS)
SETS(wckeys, ENTITY_WCKEY)

/* ---- reservations are rows of their own */

static int read_reservation(struct request *req, struct reservation *ret, struct err *err)
{
	struct change *change = ARENA_NEW(req->arena, struct change);
	struct jscan j;

	jscan_init(&j, buf_str(&req->body), req->body.len, req->arena, err);
	j.where = "body";
	change_init(change, &entities[ENTITY_RESV]);
	if (change_read(&j, change, true, NULL, NULL, NULL) < 0 || jscan_done(&j) < 0)
		return -1;
	*ret = (struct reservation){ 0 };
	change_apply(change, ret, req->arena);
	return 0;
}

int run_reservations_add(struct request *req, struct err *err)
{
	struct reservation r;

	if (read_reservation(req, &r, err) < 0 ||
	    ops_reservation_put(req->api->ops, &req->who, &r, err) < 0)
		return -1;
	reply_json(req, "{\"status\":\"kept\"}\n");
	return 0;
}

int run_reservations_remove(struct request *req, struct err *err)
{
	struct reservation r;

	if (read_reservation(req, &r, err) < 0)
		return -1;
	if (!row_has(&r, RESV, cluster) || !row_has(&r, RESV, id) || !row_has(&r, RESV, start_at))
		return err_set(err, ERR_INVALID, "body",
			       "is the reservation's cluster, id and start");
	if (ops_reservation_remove(req->api->ops, &req->who, &r, err) < 0)
		return -1;
	reply_json(req, "{\"status\":\"removed\"}\n");
	return 0;
}

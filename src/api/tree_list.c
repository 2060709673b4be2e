/* api/tree_list.c: rows of the account tree and of what is listed beside it, streamed. */
#include "api/flow.h"
#include "api/handlers.h"
#include "api/tree.h"
#include "base/near.h"
#include "core/row_json.h"

int row_fields(const struct texts *fields, enum entity_kind kind, uint64_t *ret_mask,
	       struct err *err)
{
	const struct entity *e = &entities[kind];

	memset(ret_mask, fields->n > 0 ? 0 : 0xff, HAS_WORDS * sizeof(*ret_mask));
	for (size_t i = 0; i < fields->n; i++) {
		const char *name = fields->v[i];
		int field = entity_field_find(e, name, strlen(name));
		struct near near;

		if (field >= 0) {
			has_set(ret_mask, (size_t)field);
			continue;
		}
		near_init(&near, name, strlen(name));
		for (size_t f = 0; f < e->n; f++)
			near_try(&near, e->fields[f].json);
		const char *best = near_best(&near);
		return err_set(err, ERR_INVALID, "fields", "a %s has no \"%.40s\"%s%s%s", e->name,
			       name, best != NULL ? "; did you mean \"" : "",
			       best != NULL ? best : "", best != NULL ? "\"?" : "");
	}
	return 0;
}

/* A list on its way out. */
struct listing {
	enum entity_kind kind;
	uint64_t mask[HAS_WORDS];
	struct row_style style;
	struct flow *flow;
	size_t n;
};

static int add(const void *row, void *arg)
{
	struct listing *l = arg;
	struct buf *out = &l->flow->out;
	size_t from;

	buf_adds(out, l->n++ > 0 ? ",\n" : "\n");
	from = out->len;
	row_encode_json(out, &entities[l->kind], row, &l->style);
	flow_print(l->flow, out->data + from, out->len - from);
	return flow_push(l->flow, NULL);
}

static struct listing *new_listing(struct request *req, enum entity_kind kind,
				   const struct texts *fields, bool epoch, struct err *err)
{
	struct listing *l = ARENA_NEW(req->arena, struct listing);

	l->kind = kind;
	if (row_fields(fields, kind, l->mask, err) < 0)
		return NULL;
	l->style = (struct row_style){ .now = req->now, .epoch = epoch, .keys = l->mask };
	return l;
}

static void begin(struct listing *l, struct flow *flow)
{
	l->flow = flow;
	buf_printf(&flow->out, "{\"%s\":[", entities[l->kind].plural);
}

static void finish(const struct listing *l)
{
	buf_adds(&l->flow->out, l->n > 0 ? "\n]}\n" : "]}\n");
}

/* ---- the tree */

static int tree_body(struct flow *flow, struct arena *arena, struct err *err)
{
	struct listing *l = flow->arg;
	const struct tree_args *args = flow->req->args;
	const struct tree_question q = { l->kind, args->where, !args->inherited };

	begin(l, flow);
	if (ops_tree_list(flow->req->api->ops, &flow->req->who, &q, add, l, arena, err) < 0)
		return -1;
	finish(l);
	return 0;
}

static int list_tree(struct request *req, enum entity_kind kind, struct err *err)
{
	const struct tree_args *args = req->args;
	struct listing *l = new_listing(req, kind, &args->fields, args->epoch, err);

	if (l == NULL)
		return -1;
	flow_reply(req, "application/json", "json", tree_body, l);
	return 0;
}

int run_clusters_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_CLUSTER, err);
}

int run_accounts_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_ACCOUNT, err);
}

int run_users_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_USER, err);
}

int run_associations_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_ASSOC, err);
}

int run_qos_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_QOS, err);
}

int run_wckeys_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_WCKEY, err);
}

int run_coordinators_list(struct request *req, struct err *err)
{
	return list_tree(req, ENTITY_COORD, err);
}

/* ---- beside it */

static int list_body(struct flow *flow, struct arena *arena UNUSED, struct err *err)
{
	struct listing *l = flow->arg;
	const struct list_args *args = flow->req->args;
	struct list_question q = args->q;

	q.kind = l->kind;
	begin(l, flow);
	if (ops_list(flow->req->api->ops, &flow->req->who, &q, add, l, err) < 0)
		return -1;
	finish(l);
	return 0;
}

static int list_rows(struct request *req, enum entity_kind kind, struct err *err)
{
	const struct list_args *args = req->args;
	struct listing *l = new_listing(req, kind, &args->fields, args->epoch, err);

	if (l == NULL)
		return -1;
	flow_reply(req, "application/json", "json", list_body, l);
	return 0;
}

int run_tres_list(struct request *req, struct err *err)
{
	return list_rows(req, ENTITY_TRES_ENTRY, err);
}

int run_reservations_list(struct request *req, struct err *err)
{
	return list_rows(req, ENTITY_RESV, err);
}

int run_events_list(struct request *req, struct err *err)
{
	return list_rows(req, ENTITY_EVENT, err);
}

int run_transactions_list(struct request *req, struct err *err)
{
	return list_rows(req, ENTITY_TXN, err);
}

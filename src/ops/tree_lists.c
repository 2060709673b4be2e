/* ops/tree_lists.c: what is listed beside the tree: TRES, reservations, periods of nodes and
 * clusters, the transaction log. */
#include "ops/tree_priv.h"
#include "store/event_read.h"
#include "store/row_read.h"

/* What PrivateData keeps from ordinary users altogether. */
static const struct {
	enum entity_kind kind;
	unsigned private_data;
} hidden[] = {
	{ ENTITY_EVENT, PRIVATE_EVENTS },
	{ ENTITY_RESV, PRIVATE_RESERVATIONS },
	{ ENTITY_TXN, PRIVATE_ACCOUNTS | PRIVATE_USERS },
};

static int may_list(const struct ops *ops, const struct identity *who, enum entity_kind kind,
		    struct err *err)
{
	if (ops_may(ops, who, RIGHT_READ, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(hidden); i++)
		if (hidden[i].kind == kind && who->role < ROLE_OPERATOR &&
		    (ops->settings.private_data & hidden[i].private_data) != 0)
			return err_set(err, ERR_DENIED, NULL, "PrivateData keeps %s to operators",
				       entities[kind].plural);
	return 0;
}

/* ---- periods */

struct events {
	row_sink *sink;
	void *arg;
	int64_t left; /* rows that may still be given */
};

static int give(struct events *e, const struct event *row)
{
	if (e->left == 0)
		return 0;
	e->left--;
	return e->sink(row, e->arg);
}

static void set_text(struct event *row, size_t field, const char *text)
{
	if (text != NULL)
		row_put_text(&entities[ENTITY_EVENT], row, field, text);
}

static int give_node(const struct node_period *p, void *arg)
{
	const struct node_event *n = &p->event;
	struct event row = { 0 };

	set_text(&row, EVENT_cluster, p->cluster);
	set_text(&row, EVENT_node, n->node);
	row_set(&row, EVENT, start_at, n->at);
	if (p->ended)
		row_set(&row, EVENT, end_at, p->end_at);
	row_set(&row, EVENT, up, n->up);
	set_text(&row, EVENT_state, n->state);
	if (n->state_raw >= 0)
		row_set(&row, EVENT, state_raw, n->state_raw);
	set_text(&row, EVENT_reason, n->reason);
	if (n->reason_uid >= 0)
		row_set(&row, EVENT, reason_uid, n->reason_uid);
	set_text(&row, EVENT_tres, n->tres);
	set_text(&row, EVENT_extra, n->extra);
	set_text(&row, EVENT_instance_id, n->instance_id);
	set_text(&row, EVENT_instance_type, n->instance_type);
	return give(arg, &row);
}

static int give_cluster(const struct cluster_period *p, void *arg)
{
	struct event row = { 0 };

	set_text(&row, EVENT_cluster, p->cluster);
	set_text(&row, EVENT_node, "");
	row_set(&row, EVENT, start_at, p->tres.at);
	if (p->ended)
		row_set(&row, EVENT, end_at, p->end_at);
	row_set(&row, EVENT, up, 1);
	set_text(&row, EVENT_nodes, p->tres.nodes);
	set_text(&row, EVENT_tres, p->tres.tres);
	return give(arg, &row);
}

static int list_events(struct ops *ops, const struct list_question *q, row_sink *sink, void *arg,
		       struct err *err)
{
	struct events e = { sink, arg, q->limit };
	const struct period_query periods = {
		.clusters = q->clusters.n > 0 ? q->clusters.v : NULL,
		.n_clusters = q->clusters.n,
		.nodes = q->names.n > 0 ? q->names.v : NULL,
		.n_nodes = q->names.n,
		.start = q->start,
		.end = q->end,
	};

	if (q->names.n == 0 &&
	    store_cluster_periods_each(ops->store, &periods, give_cluster, &e, err) < 0)
		return -1;
	return store_node_periods_each(ops->store, &periods, give_node, &e, err);
}

/* ---- tables */

int ops_list(struct ops *ops, const struct identity *who, const struct list_question *q,
	     row_sink *sink, void *arg, struct err *err)
{
	const struct row_condition of_txn[] = {
		{ TXN_cluster, &q->clusters, NULL }, { TXN_account, &q->accounts, NULL },
		{ TXN_user_name, &q->users, NULL },  { TXN_actor, &q->actors, NULL },
		{ TXN_action, &q->actions, NULL },   { TXN_id, NULL, &q->ids },
	};
	const struct row_condition of_resv[] = {
		{ RESV_cluster, &q->clusters, NULL },
		{ RESV_name, &q->names, NULL },
		{ RESV_id, NULL, &q->ids },
	};
	const struct row_condition of_tres[] = {
		{ TRES_ENTRY_type, &q->names, NULL },
		{ TRES_ENTRY_id, NULL, &q->ids },
	};
	struct row_query rows = { .kind = q->kind, .start = q->start, .end = q->end,
				  .after = INT64_MIN, .limit = q->limit };

	if (may_list(ops, who, q->kind, err) < 0)
		return -1;
	switch ((int)q->kind) {
	case ENTITY_EVENT: return list_events(ops, q, sink, arg, err);
	case ENTITY_TXN:
		rows.conditions = of_txn, rows.n = ARRAY_LEN(of_txn);
		rows.start_field = rows.end_field = TXN_at;
		rows.after_field = TXN_id, rows.after = q->after;
		break;
	case ENTITY_RESV:
		rows.conditions = of_resv, rows.n = ARRAY_LEN(of_resv);
		rows.start_field = RESV_start_at, rows.end_field = RESV_end_at;
		break;
	default:
		rows.conditions = of_tres, rows.n = ARRAY_LEN(of_tres);
		rows.start = INT64_MIN, rows.end = INT64_MAX;
		break;
	}
	return store_rows_each(ops->store, &rows, sink, arg, err);
}

/* ---- reservations are controllers' */

static int may_reserve(const struct ops *ops, const struct identity *who, struct err *err)
{
	if (ops_may(ops, who, RIGHT_TREE, err) < 0)
		return -1;
	if (who->controller || who->role >= ROLE_OPERATOR)
		return 0;
	return err_set(err, ERR_DENIED, NULL, "reservations are for controllers and operators");
}

int ops_reservation_put(struct ops *ops, const struct identity *who, const struct reservation *r,
			struct err *err)
{
	if (may_reserve(ops, who, err) < 0)
		return -1;
	if (!row_has(r, RESV, cluster) || !row_has(r, RESV, id) || !row_has(r, RESV, start_at))
		return err_set(err, ERR_INVALID, "start",
			       "a reservation has a cluster, an id and a start");
	if (row_has(r, RESV, end_at) && r->end_at < r->start_at)
		return err_set(err, ERR_INVALID, "end", "is before the start");
	return store_reservation_put(ops->store, r, err);
}

int ops_reservation_remove(struct ops *ops, const struct identity *who,
			   const struct reservation *key, struct err *err)
{
	int64_t rows;

	if (may_reserve(ops, who, err) < 0 ||
	    store_reservation_remove(ops->store, key, &rows, err) < 0)
		return -1;
	return rows > 0 ? 0 : err_set(err, ERR_NOT_FOUND, "id", "there is no such reservation");
}

#include "store/event_write.h"

#include "store/binrow.h"

int event_row_order(const struct event_row *a, const struct event_row *b)
{
	int c = strcmp(a->cluster, b->cluster);

	if (c == 0)
		c = strcmp(a->node.node, b->node.node);
	if (c == 0)
		c = (a->node.at > b->node.at) - (a->node.at < b->node.at);
	return c;
}

/* ---- arguments.  -1 stands for no number, as in struct node_event. */

static void add_keys(struct buf *args, const struct event_row *k, size_t n)
{
	bin_text_column(args, &k->cluster, sizeof(*k), n);
	bin_text_column(args, &k->node.node, sizeof(*k), n);
	bin_i64_column(args, &k->node.at, sizeof(*k), n);
}

static void add_rows(struct buf *args, const struct event_row *r, size_t n)
{
	add_keys(args, r, n);
	bin_text_column(args, &r->node.state, sizeof(*r), n);
	bin_i64_column(args, &r->node.state_raw, sizeof(*r), n);
	bin_text_column(args, &r->node.reason, sizeof(*r), n);
	bin_i64_column(args, &r->node.reason_uid, sizeof(*r), n);
	bin_text_column(args, &r->node.tres, sizeof(*r), n);
	bin_text_column(args, &r->node.extra, sizeof(*r), n);
	bin_text_column(args, &r->node.instance_id, sizeof(*r), n);
	bin_text_column(args, &r->node.instance_type, sizeof(*r), n);
	bin_text_column(args, &r->nodes, sizeof(*r), n);
	bin_bool_column(args, &r->node.up, sizeof(*r), n);
}

/* ---- reading */

#define KEYS "unnest($1::text[], $2::text[], $3::bigint[]) AS k(cluster, node, at)"

static const struct statement load_nodes = {
	"node_event_load",
	"SELECT e.cluster, e.node, e.start_at, e.up, e.state, coalesce(e.state_raw, -1), e.reason, "
	"coalesce(e.reason_uid, -1), e.tres, e.extra, e.instance_id, e.instance_type, NULL::text "
	"FROM " KEYS " JOIN node_event e ON k.node <> '' AND e.cluster = k.cluster "
	"AND e.node = k.node AND e.start_at = k.at"
};
static const struct statement load_clusters = {
	"cluster_event_load",
	"SELECT e.cluster, ''::text, e.start_at, false, NULL::text, -1::bigint, NULL::text, "
	"-1::bigint, e.tres, NULL::text, NULL::text, NULL::text, e.nodes "
	"FROM " KEYS " JOIN cluster_tres_event e ON k.node = '' AND e.cluster = k.cluster "
	"AND e.start_at = k.at"
};

static const char *text(const PGresult *r, int row, int column)
{
	return PQgetisnull(r, row, column) ? NULL : PQgetvalue(r, row, column);
}

static void read_row(const PGresult *r, int row, struct event_row *ret)
{
	ret->cluster = PQgetvalue(r, row, 0);
	ret->node = (struct node_event){
		.node = PQgetvalue(r, row, 1),
		.at = bin_read_i64(r, row, 2),
		.up = PQgetvalue(r, row, 3)[0] != 0,
		.state = text(r, row, 4),
		.state_raw = bin_read_i64(r, row, 5),
		.reason = text(r, row, 6),
		.reason_uid = bin_read_i64(r, row, 7),
		.tres = text(r, row, 8),
		.extra = text(r, row, 9),
		.instance_id = text(r, row, 10),
		.instance_type = text(r, row, 11),
	};
	ret->nodes = text(r, row, 12);
}

int event_load(struct write_tx *tx, const struct event_row *keys, size_t n, event_found *found,
	       void *arg, struct err *err)
{
	static const struct statement *const both[] = { &load_nodes, &load_clusters };
	struct event_row row;
	PGresult *r;

	write_in_scope(tx, SCOPE_EVENTS, 0);
	for (size_t t = 0; t < ARRAY_LEN(both); t++) {
		add_keys(write_args(tx), keys, n);
		if (write_run(tx, both[t], &r, err) < 0)
			return -1;
		for (int i = 0; i < PQntuples(r); i++) {
			read_row(r, i, &row);
			found(&row, arg);
		}
	}
	return 0;
}

/* ---- writing */

#define ROWS                                                                                       \
	"unnest($1::text[], $2::text[], $3::bigint[], $4::text[], $5::bigint[], $6::text[], "      \
	"$7::bigint[], $8::text[], $9::text[], $10::text[], $11::text[], $12::text[], "            \
	"$13::boolean[]) AS r(cluster, node, at, state, state_raw, reason, reason_uid, tres, "     \
	"extra, instance_id, instance_type, nodes, up)"

static const struct statement put_nodes = {
	"node_event_put",
	"INSERT INTO node_event (cluster, node, start_at, up, state, state_raw, reason, "
	"reason_uid, tres, extra, instance_id, instance_type) "
	"SELECT cluster, node, at, up, state, nullif(state_raw, -1), reason, "
	"nullif(reason_uid, -1), tres, extra, instance_id, instance_type "
	"FROM " ROWS " WHERE node <> '' "
	"ON CONFLICT (cluster, node, start_at) DO UPDATE SET "
	"up = excluded.up, state = excluded.state, state_raw = excluded.state_raw, "
	"reason = excluded.reason, reason_uid = excluded.reason_uid, tres = excluded.tres, "
	"extra = excluded.extra, instance_id = excluded.instance_id, "
	"instance_type = excluded.instance_type"
};
static const struct statement put_clusters = {
	"cluster_event_put",
	"INSERT INTO cluster_tres_event (cluster, start_at, nodes, tres) "
	"SELECT cluster, at, nodes, tres FROM " ROWS " WHERE node = '' "
	"ON CONFLICT (cluster, start_at) DO UPDATE SET nodes = excluded.nodes, "
	"tres = excluded.tres"
};

/* A new instant begins a period and ends the one it falls in. */
static const struct statement mend_nodes = {
	"node_event_mend",
	"UPDATE node_event e SET end_at = (SELECT min(n.start_at) FROM node_event n "
	"WHERE n.cluster = e.cluster AND n.node = e.node AND n.start_at > e.start_at) "
	"FROM " KEYS " WHERE e.cluster = k.cluster AND e.node = k.node "
	"AND e.start_at = ANY (ARRAY[k.at, (SELECT max(p.start_at) FROM node_event p "
	"WHERE p.cluster = k.cluster AND p.node = k.node AND p.start_at < k.at)])"
};
static const struct statement mend_clusters = {
	"cluster_event_mend",
	"UPDATE cluster_tres_event e SET end_at = (SELECT min(n.start_at) "
	"FROM cluster_tres_event n WHERE n.cluster = e.cluster AND n.start_at > e.start_at) "
	"FROM " KEYS " WHERE k.node = '' AND e.cluster = k.cluster "
	"AND e.start_at = ANY (ARRAY[k.at, (SELECT max(p.start_at) FROM cluster_tres_event p "
	"WHERE p.cluster = k.cluster AND p.start_at < k.at)])"
};

int event_put(struct write_tx *tx, const struct event_row *rows, size_t n, struct err *err)
{
	static const struct {
		const struct statement *put, *mend;
	} both[] = { { &put_nodes, &mend_nodes }, { &put_clusters, &mend_clusters } };

	write_in_scope(tx, SCOPE_EVENTS, 0);
	for (size_t t = 0; t < ARRAY_LEN(both); t++) {
		add_rows(write_args(tx), rows, n);
		if (write_run(tx, both[t].put, NULL, err) < 0)
			return -1;
		add_keys(write_args(tx), rows, n);
		if (write_run(tx, both[t].mend, NULL, err) < 0)
			return -1;
	}
	return 0;
}

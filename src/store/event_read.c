#include "store/event_read.h"

#include "base/arena.h"
#include "store/binrow.h"
#include "store/pg.h"

#define PAGE 2000

/* $1 clusters, $2 nodes, $3 start, $4 end, $5 - $7 behind this key (NULL = from the beginning) */
static const struct statement node_page = {
	"node_periods",
	"SELECT cluster, start_at, end_at, node, up, state, state_raw, reason, reason_uid, tres,"
	" extra, instance_id, instance_type FROM node_event"
	" WHERE ($1::text[] IS NULL OR cluster = ANY ($1)) AND ($2::text[] IS NULL OR node = ANY "
	"($2))"
	" AND start_at < $4::bigint AND (end_at IS NULL OR end_at > $3::bigint)"
	" AND ($5::text IS NULL OR (cluster, node, start_at) > ($5, $6::text, $7::bigint))"
	" ORDER BY cluster, node, start_at LIMIT 2000"
};

static const struct statement cluster_page = {
	"cluster_periods",
	"SELECT cluster, start_at, end_at, nodes, tres FROM cluster_tres_event"
	" WHERE ($1::text[] IS NULL OR cluster = ANY ($1)) AND $2::text[] IS NULL"
	" AND start_at < $4::bigint AND (end_at IS NULL OR end_at > $3::bigint)"
	" AND ($5::text IS NULL OR (cluster, $6::text, start_at) > ($5, '', $7::bigint))"
	" ORDER BY cluster, start_at LIMIT 2000"
};

enum {
	CLUSTER,
	START,
	END,
	NODE,
	UP,
	STATE,
	STATE_RAW,
	REASON,
	REASON_UID,
	TRES,
	EXTRA,
	INSTANCE_ID,
	INSTANCE_TYPE
};
enum { NODES = NODE, CLUSTER_TRES };

/* Gives row i to the sink. */
typedef int give_row(const PGresult *page, int i, void *sink);

static void add_texts(struct buf *args, const char *const *v, size_t n)
{
	if (v == NULL)
		bin_null(args);
	else
		bin_text_array(args, v, n);
}

static void add_behind(struct buf *args, const PGresult *page)
{
	int last = page == NULL ? 0 : PQntuples(page) - 1;

	if (page == NULL) {
		bin_null(args);
		bin_null(args);
		bin_null(args);
		return;
	}
	bin_text(args, PQgetvalue(page, last, CLUSTER));
	bin_text(args, PQnfields(page) > CLUSTER_TRES + 1 ? PQgetvalue(page, last, NODE) : "");
	bin_i64(args, bin_read_i64(page, last, START));
}

struct turn {
	const struct statement *st;
	const struct period_query *q;
	PGresult *page; /* NULL before the first */
};

/* The page behind this one, in its place. */
static int turn_page(struct pg *pg, void *arg, struct err *err)
{
	struct turn *t = arg;
	struct buf args = BUF_INIT;
	PGresult *next = NULL;
	int rc;

	add_texts(&args, t->q->clusters, t->q->n_clusters);
	add_texts(&args, t->st == &node_page ? t->q->nodes : NULL, t->q->n_nodes);
	bin_i64(&args, t->q->start);
	bin_i64(&args, t->q->end);
	add_behind(&args, t->page);
	rc = pg_run(pg, t->st, &args, &next, err);
	buf_fini(&args);
	if (rc < 0)
		return -1;
	PQclear(t->page);
	t->page = next;
	return 0;
}

static int each(struct store *s, const struct statement *st, const struct period_query *q,
		give_row *give, void *sink, struct err *err)
{
	struct turn t = { st, q, NULL };
	int rc;

	do {
		rc = store_read(s, turn_page, &t, err);
		for (int i = 0; rc >= 0 && i < PQntuples(t.page); i++)
			if (give(t.page, i, sink) < 0)
				rc = err_set(err, ERR_GONE, NULL, "the reader went away");
	} while (rc >= 0 && PQntuples(t.page) == PAGE);
	PQclear(t.page);
	return rc < 0 ? -1 : 0;
}

static const char *text(const PGresult *r, int row, int column)
{
	return PQgetisnull(r, row, column) ? NULL : PQgetvalue(r, row, column);
}

static int64_t number(const PGresult *r, int row, int column, int64_t otherwise)
{
	return PQgetisnull(r, row, column) ? otherwise : bin_read_i64(r, row, column);
}

struct node_target {
	node_period_sink *sink;
	void *arg;
};

static int give_node(const PGresult *r, int i, void *arg)
{
	const struct node_target *to = arg;
	const struct node_period p = {
		.cluster = PQgetvalue(r, i, CLUSTER),
		.event = {
			.node = PQgetvalue(r, i, NODE),
			.at = bin_read_i64(r, i, START),
			.up = PQgetvalue(r, i, UP)[0] != 0,
			.state = text(r, i, STATE),
			.state_raw = number(r, i, STATE_RAW, -1),
			.reason = text(r, i, REASON),
			.reason_uid = number(r, i, REASON_UID, -1),
			.tres = text(r, i, TRES),
			.extra = text(r, i, EXTRA),
			.instance_id = text(r, i, INSTANCE_ID),
			.instance_type = text(r, i, INSTANCE_TYPE),
		},
		.ended = !PQgetisnull(r, i, END),
		.end_at = number(r, i, END, 0),
	};

	return to->sink(&p, to->arg);
}

int store_node_periods_each(struct store *s, const struct period_query *q, node_period_sink *sink,
			    void *arg, struct err *err)
{
	struct node_target to = { sink, arg };

	return each(s, &node_page, q, give_node, &to, err);
}

struct cluster_target {
	cluster_period_sink *sink;
	void *arg;
};

static int give_cluster(const PGresult *r, int i, void *arg)
{
	const struct cluster_target *to = arg;
	const struct cluster_period p = {
		.cluster = PQgetvalue(r, i, CLUSTER),
		.tres = {
			.at = bin_read_i64(r, i, START),
			.nodes = text(r, i, NODES),
			.tres = text(r, i, CLUSTER_TRES),
		},
		.ended = !PQgetisnull(r, i, END),
		.end_at = number(r, i, END, 0),
	};

	return to->sink(&p, to->arg);
}

int store_cluster_periods_each(struct store *s, const struct period_query *q,
			       cluster_period_sink *sink, void *arg, struct err *err)
{
	struct cluster_target to = { sink, arg };

	return each(s, &cluster_page, q, give_cluster, &to, err);
}

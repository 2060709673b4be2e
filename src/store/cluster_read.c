#include "store/cluster_read.h"

#include "store/binrow.h"
#include "store/pg.h"

static const struct statement list = {
	"clusters",
	"SELECT c.name, c.registered_at, coalesce(sum(m.open_jobs), 0)::bigint, "
	"coalesce(min(m.least_job_id), 0)::bigint, coalesce(max(m.greatest_job_id), 0)::bigint, "
	"e.nodes, e.tres "
	"FROM cluster c LEFT JOIN job_month m ON m.cluster = c.name "
	"LEFT JOIN LATERAL (SELECT nodes, tres FROM cluster_tres_event e WHERE e.cluster = c.name "
	"ORDER BY start_at DESC LIMIT 1) AS e ON true "
	"GROUP BY c.name, c.registered_at, e.nodes, e.tres ORDER BY c.name"
};

int store_clusters_each(struct store *s, cluster_sink *sink, void *arg, struct err *err)
{
	struct pg *pg = store_reader(s, err);
	PGresult *r = NULL;

	if (pg == NULL)
		return -1;
	int rc = pg_run(pg, &list, NULL, &r, err);
	store_reader_done(s, pg);
	if (rc < 0)
		return -1;
	for (int i = 0; rc >= 0 && i < PQntuples(r); i++) {
		const struct cluster_info c = {
			.name = PQgetvalue(r, i, 0),
			.registered_at = bin_read_i64(r, i, 1),
			.open_jobs = bin_read_i64(r, i, 2),
			.nodes = PQgetisnull(r, i, 5) ? NULL : PQgetvalue(r, i, 5),
			.tres = PQgetisnull(r, i, 6) ? NULL : PQgetvalue(r, i, 6),
			.least_job_id = bin_read_i64(r, i, 3),
			.greatest_job_id = bin_read_i64(r, i, 4),
		};
		rc = sink(&c, arg);
	}
	PQclear(r);
	return rc < 0 ? err_set(err, ERR_GONE, NULL, "the reader stopped") : 0;
}

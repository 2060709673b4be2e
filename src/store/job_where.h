/* store/job_where.h: a question about jobs as SQL.
 *
 * What SQL says is always wider than the question, never narrower: it finds rows by an index, and
 * filter_matches decides.  Lists become = ANY, windows become ranges of the window index, and what
 * job_month knows of a partition spares opening it. */
#ifndef TALLY_STORE_JOB_WHERE_H
#define TALLY_STORE_JOB_WHERE_H

#include "base/buf.h"
#include "core/filter.h"

/* A partition, over all clusters that are asked for. */
struct leaf {
	int month;
	int64_t least_visible; /* INT64_MAX: no job there can be seen */
	int64_t greatest_end;  /* INT64_MIN: none has ended */
	int64_t open_jobs;
	int64_t least_job_id, greatest_job_id;
	int64_t max_life_s;
};

/* Can the window meet it? */
bool where_meets_leaf(const struct job_filter *f, int64_t now, const struct leaf *leaf);
/* " AND ..." for rows `j`: the lists and who may see, the same for every partition. */
void where_lists(struct buf *sql, const struct job_filter *f);
/* " AND ...": the window. */
void where_window(struct buf *sql, const struct job_filter *f, int64_t now,
		  const struct leaf *leaf);
/* " AND ...": one of these numbers is the job's, its array's or its heterogeneous job's. */
void where_ids(struct buf *sql, const int64_t *ids, size_t n);

/* Adds the fields that filter_matches looks at. */
void where_fields(const struct job_filter *f, uint64_t *wanted);

#endif

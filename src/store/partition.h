/* store/partition.h: the partitions of job and step, one per month of submission.
 *
 * A month is a number, yyyymm.  Months from ten years before the first start to two years ahead
 * have partitions of their own (job_202601, step_202601), made when the first row wants one; what
 * lies outside is in job_old and job_far.  As time goes on the far side gives way: its rows move
 * into the months that begin.
 *
 * A partition is made as a table and then attached, and taken away with DETACH CONCURRENTLY,
 * because the other ways wait for every reader.  A table that could not be attached yet is used all
 * the same: our statements name the partition. */
#ifndef TALLY_STORE_PARTITION_H
#define TALLY_STORE_PARTITION_H

#include "base/err.h"

struct pg;

#define MONTH_OLD 0
#define MONTH_FAR 999999

/* Months with partitions of their own: oldest <= month < beyond. */
struct span {
	int oldest, beyond;
	int64_t generation; /* another one: rows may have moved, look at job_month again */
};

int month_of(int64_t at);
int64_t month_start(int month);
int month_add(int month, int n);
/* Where a row submitted then is: a month, MONTH_OLD or MONTH_FAR. */
int span_month(const struct span *span, int64_t submit_at);
/* All rows there were submitted at *ret_from or later and before *ret_to. */
void span_bounds(const struct span *span, int month, int64_t *ret_from, int64_t *ret_to);

#define LEAF_NAME_MAX 24
/* leaf_name("job", 202601): "job_202601"; "job_old", "job_far". */
const char *leaf_name(const char *table, int month, char ret[LEAF_NAME_MAX]);

/* A transaction that writes rows takes ADVISORY_SPAN shared (store/advisory.h) before it asks, and
 * so keeps it as it is. */
int partition_span(struct pg *pg, struct span *ret_span, struct err *err);
/* Makes the month's partitions where they are missing, in a transaction of its own; MONTH_OLD and
 * MONTH_FAR always are there.  The session must be in no transaction. */
int partition_ensure(struct pg *pg, int month, struct err *err);

/* At start and then every hour or so, by the active daemon, on a maintainer's connection: makes
 * the first partitions, ends what was interrupted, lets the far side give way, makes the months
 * that come next, drops nothing.  Returns at once when another session is at it. */
int partition_maintain(struct pg *pg, int64_t now, struct err *err);

/* Takes a month's jobs that ended before out of use: its tables stay, as gone_job_202601 and
 * gone_step_202601, until they are dropped.  What has not ended, or later, stays in new tables of
 * the old names.  When a reader is in the way for too long this fails and nothing is changed. */
int partition_detach(struct pg *pg, int month, int64_t before, struct err *err);
int partition_drop_gone(struct pg *pg, int *ret_dropped, struct err *err);

/* Makes the month's rows of job_month anew from the jobs: in a transaction that writes. */
int partition_recount(struct pg *pg, int month, struct err *err);

#endif

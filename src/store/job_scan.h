/* store/job_scan.h: the jobs that a filter means, one by one, in the order of the key.
 *
 * Each partition that the question can meet is read in pages, each a statement of its own, and the
 * partitions are merged here; one is opened when its turn comes.  Between pages no connection is
 * held.  Rows that have moved meanwhile (partition_maintain) are found where they are now. */
#ifndef TALLY_STORE_JOB_SCAN_H
#define TALLY_STORE_JOB_SCAN_H

#include "core/filter.h"
#include "store/copyrow.h"
#include "store/store.h"

struct job_scan;

struct scan_key {
	const char *cluster;
	int64_t job_id, submit_at;
};

struct scan_settings {
	const struct job_filter *filter; /* prepared; must outlive the scan */
	int64_t now;
	const uint64_t *wanted; /* fields; all 0 = every field */
	bool descending; /* job id and cluster descending; the newest run first all the same */
	const struct scan_key *after; /* begin behind it; NULL = at the beginning */
	int64_t expected;	      /* rows that will be taken, -1 = all: sizes the first pages */
};

/* A row of the answer; the caller's until job_row_free. */
struct job_row {
	struct copyrow raw;
	int month;
	struct job job; /* its texts are in raw */
};

struct job_scan *job_scan_new(struct store *s, const struct scan_settings *settings,
			      struct err *err);
void job_scan_free(struct job_scan *scan); /* takes NULL */
/* 1 with a row that passed the filter and is no older run of one before; 0 at the end; -1. */
int job_scan_next(struct job_scan *scan, struct job_row *ret, struct err *err);
/* What its rows consist of: what was wanted, and what the filter looks at. */
const struct columns *job_scan_columns(const struct job_scan *scan);
void job_row_free(struct job_row *row);

#endif

/* store/job_read.h: jobs and their steps, by a filter, in an order, to a sink.
 *
 * Memory does not depend on how many there are, no connection or snapshot is held while the sink is
 * at work, and a row that matches is never missed: SQL finds more than is asked for (store/
 * job_where.h), core/filter.h decides. */
#ifndef TALLY_STORE_JOB_READ_H
#define TALLY_STORE_JOB_READ_H

#include "core/filter.h"
#include "core/page.h"
#include "store/store.h"

/* The filter is complete (filter_window, job_filter_prepare).  `now` stands for the end of what has
 * not ended.  Of the rows that match only the newest per cluster and job id, and with it those in
 * state RESIZING, unless filter->duplicates.  ret_after (arena; may be NULL) is the cursor that
 * continues behind the last row, NULL when there are no more.  A sink that stops is ERR_GONE. */
int store_jobs_each(struct store *s, const struct job_filter *filter, const struct job_page *page,
		    int64_t now, job_sink *sink, void *arg, struct arena *arena,
		    const char **ret_after, struct err *err);

#endif

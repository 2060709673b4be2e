/* core/page.h: how the rows of an answer are wanted: which columns, in what order, how many, from
 * where on, and where they go. */
#ifndef TALLY_CORE_PAGE_H
#define TALLY_CORE_PAGE_H

#include "core/job.h"

enum job_order { ORDER_JOB_ID, ORDER_SUBMIT, ORDER_START, ORDER_END, ORDER_FIELD };

struct job_page {
	uint64_t fields[HAS_WORDS]; /* which columns are wanted (others may come too); 0 = all */
	enum job_order order;       /* ORDER_JOB_ID: job id, cluster, newest run first: the order of
				       the key, read in pages; any other is spooled first, unknown
				       values last, equal ones in the order of the key */
	int order_field;            /* ORDER_FIELD: JOB_* */
	bool descending;
	int64_t limit;              /* -1 = all */
	const char *after;          /* cursor of an earlier answer, or NULL */
};

/* One row: the job, and its steps when the filter asks for them.  Return < 0 to stop. */
typedef int job_sink(const struct job *job, const struct step *steps, size_t n_steps, void *arg);

#endif

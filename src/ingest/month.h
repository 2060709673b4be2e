/* ingest/month.h: how what the months hold changes with the rows of their jobs (job_month). */
#ifndef TALLY_INGEST_MONTH_H
#define TALLY_INGEST_MONTH_H

#include "store/job_write.h"

struct months {
	struct arena *arena;
	struct month_change *v; /* one per month and cluster */
	size_t n, cap;
};

void months_init(struct months *m, struct arena *arena);
/* A job's row was `old` (NULL: there was none) and is `now` (NULL: there is none any more).  Quick
 * when it is of the same month and cluster as the one before. */
void months_follow(struct months *m, int month, const struct job *old, const struct job *now);

#endif

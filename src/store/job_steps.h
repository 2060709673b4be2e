/* store/job_steps.h: the jobs of a scan with their steps.
 *
 * Jobs are taken from the scan some hundred at a time and the steps of all of them are read with
 * one statement per partition; fewer at a time where jobs have very many steps. */
#ifndef TALLY_STORE_JOB_STEPS_H
#define TALLY_STORE_JOB_STEPS_H

#include "store/job_scan.h"

struct job_steps;

/* expected: jobs that will be taken, -1 = all. */
struct job_steps *job_steps_new(struct store *s, struct job_scan *scan,
				const struct job_filter *filter, int64_t now, int64_t expected);
void job_steps_free(struct job_steps *js); /* takes NULL */
/* 1 with the next job (the caller's: job_row_free) and those of its steps that are asked for
 * (until the next call), by step number; 0 at the end; -1. */
int job_steps_next(struct job_steps *js, struct job_row *ret, const struct step **ret_steps,
		   size_t *ret_n, struct err *err);

#endif

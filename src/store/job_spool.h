/* store/job_spool.h: rows in another order than the key's, by way of a temporary file.
 *
 * Rows are added in the order of the key, with their steps, and come out in the order of one field:
 * unknown values last, equal ones in the order of the key.  Memory stays the same whatever their
 * number: stretches of them are sorted and merged from a second file.  With a limit only the rows
 * that can still be among the first are kept.  Neither file has a name. */
#ifndef TALLY_STORE_JOB_SPOOL_H
#define TALLY_STORE_JOB_SPOOL_H

#include "store/copyrow.h"

/* A place in the order. */
struct spool_place {
	bool unknown;
	int64_t number;
	const char *text; /* of a text field; else NULL */
	const char *cluster;
	int64_t job_id, submit_at;
};

struct spool_settings {
	const char *dir;
	const struct columns *jobs, *steps;
	int field; /* JOB_* */
	bool descending;
	int64_t limit;			 /* -1 = all */
	const struct spool_place *after; /* rows up to this place are dropped; NULL = none */
};

struct job_spool;

struct job_spool *job_spool_new(const struct spool_settings *settings, struct err *err);
void job_spool_free(struct job_spool *sp); /* takes NULL */
int job_spool_add(struct job_spool *sp, const struct job *j, const struct step *steps,
		  size_t n_steps, struct err *err);
/* After the last row. */
int job_spool_sort(struct job_spool *sp, struct err *err);
/* 1 with a row that lives until the next call; 0 after the last, or after the limit's. */
int job_spool_next(struct job_spool *sp, struct job *ret_job, const struct step **ret_steps,
		   size_t *ret_n_steps, struct err *err);
/* Rows behind the limit. */
bool job_spool_has_more(const struct job_spool *sp);
void job_spool_place(const struct spool_settings *settings, const struct job *j,
		     struct spool_place *ret);

#endif

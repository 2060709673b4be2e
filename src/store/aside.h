/* store/aside.h: the parts of job ids whose records do not all say which run they mean
 * (core/family.h), each as a row of job_aside with its steps in step_aside. */
#ifndef TALLY_STORE_ASIDE_H
#define TALLY_STORE_ASIDE_H

#include "store/job_write.h"

typedef void aside_found(const char *cluster, int64_t job_id, void *arg);

/* Which of the job ids have parts, in any cluster. */
int aside_which(struct write_tx *tx, const int64_t *job_ids, size_t n, aside_found *found,
		void *arg, struct err *err);
/* The parts of these job ids and their steps, in any cluster; parts first. */
int aside_load(struct write_tx *tx, const int64_t *job_ids, size_t n, struct arena *arena,
	       job_found *found, step_found *found_step, void *arg, struct err *err);
/* Parts, and all steps of each, in place of what is there under their keys. */
int aside_put(struct write_tx *tx, const struct job *const *parts, size_t n,
	      const struct step *const *steps, size_t n_steps, struct err *err);

/* Months in which the job id may have rows. */
typedef void month_found(int month, int64_t job_id, void *arg);
int job_months(struct write_tx *tx, const char *cluster, const int64_t *job_ids, size_t n,
	       month_found *found, void *arg, struct err *err);

#endif

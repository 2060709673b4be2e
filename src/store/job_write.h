/* store/job_write.h: rows of jobs and steps, read by key and written, partition by partition.
 *
 * month says which partition: yyyymm, 0 = job_old, 999999 = job_far.  Rows that are found live
 * until the transaction ends. */
#ifndef TALLY_STORE_JOB_WRITE_H
#define TALLY_STORE_JOB_WRITE_H

#include "base/arena.h"
#include "core/job.h"
#include "store/write_tx.h"

struct job_key {
	const char *cluster;
	int64_t job_id, submit_at;
};

struct step_key {
	struct job_key job;
	int64_t step_id, het_comp;
};

typedef void job_found(struct job *stored, void *arg);
typedef void step_found(const struct step *stored, void *arg);

/* Each row of a result that has every column; the jobs lie in the arena, their texts and the steps
 * in the result. */
int write_each_job(struct write_tx *tx, const PGresult *r, struct arena *arena, job_found *found,
		   void *arg, struct err *err);
int write_each_step(struct write_tx *tx, const PGresult *r, step_found *found, void *arg,
		    struct err *err);

/* Every run of these job ids that is in the partition: more than the keys, where an id has come
 * back.  The keys are of one cluster. */
int job_load(struct write_tx *tx, int month, const struct job_key *keys, size_t n,
	     struct arena *arena, job_found *found, void *arg, struct err *err);
/* All steps of these job ids, in the same way. */
int step_load_all(struct write_tx *tx, int month, const struct job_key *keys, size_t n,
		  step_found *found, void *arg, struct err *err);
int step_load(struct write_tx *tx, int month, const struct step_key *keys, size_t n,
	      step_found *found, void *arg, struct err *err);

int job_delete(struct write_tx *tx, int month, const struct job_key *keys, size_t n,
	       struct err *err);
int step_delete(struct write_tx *tx, int month, const struct step_key *keys, size_t n,
		struct err *err);
int job_copy(struct write_tx *tx, int month, const struct job *const *rows, size_t n,
	     struct err *err);
int step_copy(struct write_tx *tx, int month, const struct step *const *rows, size_t n,
	      struct err *err);

#define MONTH_NO_BOUND INT64_MIN

/* How the jobs of a cluster in a partition have changed, and the bounds of the rows written. */
struct month_change {
	const char *cluster;
	int64_t month;
	int64_t opened;	       /* jobs without an end: more, or (negative) fewer */
	int64_t least_visible; /* MONTH_NO_BOUND when none can be seen yet */
	int64_t greatest_end;  /* MONTH_NO_BOUND when none has ended */
	int64_t least_job_id, greatest_job_id;
	int64_t max_life_s;
};

int job_month_change(struct write_tx *tx, const struct month_change *changes, size_t n,
		     struct err *err);

#endif

/* ingest/plan.h: what the records of one transaction make of the rows of jobs and steps.
 *
 * Pure: the writer adds records, tells the plan what is stored, and reads from it what must be
 * written.  In this order:
 *
 *	plan_add            each record whose job's submit time is known
 *	plan_job_stored     each stored row of plan->jobs
 *	plan_merge_jobs     then plan_job.need says which stored steps are wanted
 *	plan_step_stored    each of those
 *	plan_merge_steps    then again plan_job.need, for jobs whose steps have changed
 *	plan_step_stored    each of those
 *	plan_derive         then changed and old/now say what to write, outcome what to tell
 *
 * Rows that were made otherwise come in by plan_put.
 *
 * A step or a suspension whose job is not known makes the job's row, so no step is ever without
 * one, and a job without a row has no steps to look for. */
#ifndef TALLY_INGEST_PLAN_H
#define TALLY_INGEST_PLAN_H

#include "ingest/queue.h"

/* A record on its way through a transaction. */
struct item {
	struct record *rec;
	struct verdict *verdict;
	struct ticket *ticket;
	int month;                 /* of the job's submission, as store counts them */
	bool held;                 /* something stands in its way: not this time */
	bool in_family;            /* its row is found with all others of its job id */
	enum verdict_kind outcome; /* what will be told after the commit */
	const struct err *err;     /* REFUSED: why */
	int64_t quarantine_id;
	uint64_t row_id;
	struct item *next;         /* of the same job, in order of arrival */
};

static inline bool item_is_of_job(const struct item *it)
{
	return it->rec->kind != REC_NODE_EVENT && it->rec->kind != REC_CLUSTER_TRES;
}

struct plan_step {
	struct step now;
	bool stored, changed;
	bool gone; /* stored, and to be taken away */
	struct plan_step *next;      /* of the same job */
	struct plan_step *next_hash;
};

enum steps_needed { STEPS_NONE, STEPS_NAMED, STEPS_ALL };

struct plan_job {
	const char *cluster;
	int64_t job_id, submit_at;
	int month;
	struct job *old; /* NULL: no row is stored */
	struct job now;
	bool changed;    /* now must be written */
	bool purged;     /* nothing of it may be written */
	bool figures_kept; /* its steps may have been purged */
	bool resolved;   /* now and its steps came by plan_put: no merging */
	bool gone;       /* old is to be taken away, and its steps */
	struct item *items, **items_end;
	struct plan_step *steps;
	enum steps_needed need;
	bool all_steps;  /* every stored step is in steps */
	struct plan_job *next_hash;
};

struct plan {
	struct arena *arena;
	struct plan_job **jobs; /* plan_sort: by month, cluster, job id, submit */
	size_t n_jobs;
	size_t n_steps;
	/* the rest is the plan's own */
	size_t cap_jobs;
	struct plan_job **job_hash;
	size_t job_buckets;
	struct plan_step **step_hash;
	size_t step_buckets;
};

/* Complete records that ended before are purged; INT64_MIN = none are. */
struct horizon {
	int64_t job, step;
};
typedef struct horizon horizon_of(const char *cluster, void *arg);

void plan_init(struct plan *p, struct arena *arena);
void plan_add(struct plan *p, struct item *it);
/* A row that was made elsewhere (core/family.h), in place of merging; old may be NULL.  now NULL:
 * the row goes.  Each step of it, and then each stored one, is put too.  Before plan_sort. */
struct plan_job *plan_put(struct plan *p, int month, struct job *old, const struct job *now);
struct plan_job *plan_find(const struct plan *p, const char *cluster, int64_t job_id,
			   int64_t submit_at);
void plan_put_step(struct plan *p, struct plan_job *j, const struct step *now);
void plan_put_stored_step(struct plan *p, struct plan_job *j, const struct step *stored);
void plan_sort(struct plan *p);
/* The stored row belongs to the plan until its end; rows that no record names are ignored. */
void plan_job_stored(struct plan *p, struct job *stored);
void plan_merge_jobs(struct plan *p, horizon_of *horizon, void *arg);
void plan_step_stored(struct plan *p, const struct step *stored);
void plan_merge_steps(struct plan *p, horizon_of *horizon, void *arg);
void plan_derive(struct plan *p);

static inline bool plan_job_is_written(const struct plan_job *j)
{
	return (j->changed || j->gone) && !j->purged;
}

/* The row number of a job whose controller gives it none: made of the key, so that it is the same
 * whatever the order of arrival.  Never 0. */
uint64_t plan_row_id(int64_t job_id, int64_t submit_at);

#endif

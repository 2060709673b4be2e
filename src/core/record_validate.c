/* core/record_validate.c: what a record needs, what contradicts itself, what follows.
 *
 * A list of checks in order; each returns 0, or -1 with err naming the field.  What is made up
 * here (a state that nobody named) gets a stamp that any record's own word beats: see
 * record_stamp. */
#include "core/record.h"

#include "core/exit.h"
#include "core/moments.h"
#include "core/state.h"
#include "core/tres.h"
#include "core/units.h"
#include "core/utf8.h"
#include "core/where.h"

#define YEAR_10000    INT64_C(253402300800)
#define JOB_ID_MOST   INT64_C(4294967295)
#define CLUSTER_BYTES 255 /* they are part of keys, and an index takes no more than 2.7 kB */
#define NODE_BYTES    255

struct check {
	struct record *rec;
	struct arena *arena;
	struct err *err;
};

static bool is_step(const struct record *rec)
{
	return rec->kind == REC_STEP_START || rec->kind == REC_STEP_END;
}

static bool is_job(const struct record *rec)
{
	return !is_step(rec) && rec->kind != REC_NODE_EVENT && rec->kind != REC_CLUSTER_TRES;
}

static bool has_moment(const struct record *rec)
{
	return is_job(rec) && rec->kind != REC_JOB_START && rec->kind != REC_JOB_END;
}

static int refuse(const struct check *c, const char *where, const char *text)
{
	return err_set(c->err, ERR_INVALID, where, "%s", text);
}

/* "steps[3].end" in a job_end, "end" in a record that is a step. */
static int refuse_step(const struct check *c, size_t i, const char *key, const char *text)
{
	char where[96];

	if (is_step(c->rec))
		return refuse(c, key, text);
	snprintf(where, sizeof(where), "steps[%zu].%s", i, key);
	return refuse(c, where, text);
}

/* A made-up value: weaker than any that a record of its kind states, stronger than a start's when
 * it is an end. */
static void weaken(uint8_t *rank, int64_t *as_of, bool end)
{
	*rank = end ? RANK_RESIZE : RANK_START;
	*as_of = AS_OF_UNKNOWN;
}

/* Text. */

static const char *mended(const struct check *c, const char *s, bool *changed)
{
	return s != NULL ? utf8_mend(s, strlen(s), c->arena, changed) : NULL;
}

/* Names of TRES that were mended may have lost their order, or have become the same. */
static int mend_field(const struct check *c, const struct field *f, const char **value)
{
	bool changed = false;
	struct err why;

	*value = mended(c, *value, &changed);
	if (!changed || f->type == FT_TEXT)
		return 0;
	if ((f->type == FT_TRES ? tres_parse(*value, TRES_AMOUNT, c->arena, value, &why)
				: where_parse(*value, c->arena, value, &why)) < 0)
		return refuse(c, f->json, "names in it are not UTF-8, and the same when mended");
	return 0;
}

static int mend_row(const struct check *c, const struct field *fields, size_t n,
		    const uint64_t *has, char *base)
{
	for (size_t f = 0; f < n; f++)
		if (has_bit(has, f) && field_is_text(fields[f].type) &&
		    mend_field(c, &fields[f], (const char **)(void *)(base + fields[f].offset)) < 0)
			return -1;
	return 0;
}

static int check_text(const struct check *c)
{
	struct record *rec = c->rec;
	struct node_event *node = &rec->node;
	const char **const others[] = { &rec->cluster,	    &node->node,	  &node->state,
					&node->reason,	    &node->tres,	  &node->extra,
					&node->instance_id, &node->instance_type, &rec->tres.nodes,
					&rec->tres.tres };

	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		*others[i] = mended(c, *others[i], NULL);
	if (mend_row(c, job_fields, JOB_FIELDS, rec->job.has, (char *)&rec->job) < 0)
		return -1;
	for (size_t i = 0; i < rec->n_steps; i++)
		if (mend_row(c, step_fields, STEP_FIELDS, rec->steps[i].has,
			     (char *)&rec->steps[i]) < 0)
			return -1;
	if (rec->cluster == NULL || rec->cluster[0] == '\0' || strlen(rec->cluster) > CLUSTER_BYTES)
		return refuse(c, "cluster", "must be a name of 1 to 255 bytes");
	return 0;
}

/* Times. */

static int check_time(const struct check *c, const char *where, int64_t t)
{
	if (t < 0)
		return refuse(c, where, "is before 1970");
	if (t >= YEAR_10000)
		return refuse(c, where, "is after the year 9999");
	return 0;
}

static int check_moments(const struct check *c, const char *where, const char *text)
{
	struct moment m;

	for (const char *at = text; moments_next(&at, &m);)
		if (check_time(c, where, m.at) < 0)
			return -1;
	return 0;
}

static int check_row_times(const struct check *c, const struct field *fields, size_t n,
			   const uint64_t *has, const char *base)
{
	for (size_t f = 0; f < n; f++) {
		const void *value = base + fields[f].offset;
		if (!has_bit(has, f))
			continue;
		if (fields[f].type == FT_TIME &&
		    check_time(c, fields[f].json, *(const int64_t *)value) < 0)
			return -1;
		if (fields[f].type == FT_MOMENTS &&
		    check_moments(c, fields[f].json, *(const char *const *)value) < 0)
			return -1;
	}
	return 0;
}

static int check_times(const struct check *c)
{
	const struct record *rec = c->rec;

	if (rec->as_of != AS_OF_UNKNOWN && check_time(c, "as_of", rec->as_of) < 0)
		return -1;
	if (check_time(c, "at", rec->at) < 0)
		return -1;
	if (check_row_times(c, job_fields, JOB_FIELDS, rec->job.has, (const char *)&rec->job) < 0)
		return -1;
	for (size_t i = 0; i < rec->n_steps; i++)
		if (check_row_times(c, step_fields, STEP_FIELDS, rec->steps[i].has,
				    (const char *)&rec->steps[i]) < 0)
			return -1;
	return 0;
}

/* 0 in a time is "not set".  A controller that ends a job at 0 after it started means "at once";
 * one that knows of neither start nor end tells nothing. */
static int settle_zeros(const struct check *c)
{
	struct job *j = &c->rec->job;
	bool end_is_zero = job_has(j, end_at) && j->end_at == 0;

	if (job_has(j, submit_at) && j->submit_at == 0)
		job_unset(j, submit_at);
	if (job_has(j, start_at) && j->start_at == 0)
		job_unset(j, start_at);
	if (end_is_zero)
		job_unset(j, end_at);
	if (end_is_zero && c->rec->kind == REC_JOB_END) {
		if (!job_has(j, start_at))
			return refuse(c, "end", "is 0, and there is no start: when did it end?");
		job_set(j, end_at, j->start_at + job_get(j, rec_elapsed, 0));
	}
	c->rec->submit_known = job_has(j, submit_at);
	for (size_t i = 0; i < c->rec->n_steps; i++) {
		struct step *s = &c->rec->steps[i];
		if (step_has(s, submit_at) && s->submit_at == 0)
			step_unset(s, submit_at);
		if (step_has(s, start_at) && s->start_at == 0)
			step_unset(s, start_at);
		if (step_has(s, end_at) && s->end_at == 0)
			step_unset(s, end_at);
	}
	return 0;
}

/* Identity. */

static int check_job_id(const struct check *c)
{
	const struct job *j = &c->rec->job;

	if (!is_job(c->rec) && !is_step(c->rec))
		return 0;
	if (!job_has(j, job_id))
		return refuse(c, "job_id", "is missing");
	if (j->job_id < 1 || (j->job_id > JOB_ID_MOST && j->job_id < JOB_ID_MADE))
		return refuse(c, "job_id", "must be from 1 to 4294967295");
	return 0;
}

static int check_some_time(const struct check *c)
{
	const struct record *rec = c->rec;
	const struct job *j = &rec->job;
	const struct step *s = rec->steps;

	if (job_has(j, submit_at) || has_moment(rec))
		return 0;
	if (is_job(rec) && !job_has(j, start_at) && !job_has(j, end_at))
		return refuse(c, "submit", "is missing; a record needs submit, start or end");
	if (is_step(rec) && !step_has(s, start_at) && !step_has(s, end_at))
		return refuse(c, "submit",
			      "is missing; a step needs its job's submit, or a start "
			      "or end of its own");
	return 0;
}

/* What the kinds need. */

static int check_moment(const struct check *c)
{
	struct record *rec = c->rec;
	struct moment m = { .at = rec->at, .resume = rec->kind == REC_JOB_RESUME };

	if (!is_step(rec) && rec->kind != REC_JOB_START && rec->kind != REC_JOB_END && rec->at == 0)
		return refuse(c, "at", "is missing; it says when");
	if (rec->kind != REC_JOB_SUSPEND && rec->kind != REC_JOB_RESUME)
		return 0;
	job_set(&rec->job, moments, moments_with(job_get(&rec->job, moments, NULL), m, c->arena));
	return 0;
}

static int check_job_start(const struct check *c)
{
	const struct job *j = &c->rec->job;

	if (c->rec->kind != REC_JOB_START)
		return 0;
	if (job_has(j, end_at))
		return refuse(c, "end", "does not belong to a job_start; send a job_end");
	if (job_has(j, state) && state_is_end(j->state))
		return refuse(c, "state", "is that of a job that has ended; send a job_end");
	return 0;
}

static int check_node(const struct check *c)
{
	const char *node = c->rec->node.node;

	if (c->rec->kind != REC_NODE_EVENT)
		return 0;
	if (node == NULL || node[0] == '\0' || strlen(node) > NODE_BYTES)
		return refuse(c, "node", "must be a node's name of 1 to 255 bytes");
	return 0;
}

static int check_cluster_tres(const struct check *c)
{
	if (c->rec->kind == REC_CLUSTER_TRES && c->rec->tres.tres == NULL)
		return refuse(c, "tres", "is missing; it says what the cluster has");
	return 0;
}

static int check_steps(const struct check *c)
{
	const struct record *rec = c->rec;

	for (size_t i = 0; i < rec->n_steps; i++) {
		const struct step *s = &rec->steps[i];
		if (!step_has(s, step_id))
			return refuse_step(c, i, "step_id", "is missing");
		if (s->step_id < STEP_ID_INTERACTIVE || s->step_id > INT32_MAX ||
		    (s->step_id < 0 && s->step_id > STEP_ID_EXTERN))
			return refuse_step(c, i, "step_id", "is no step");
		if (step_has(s, state) && !state_is_known(s->state))
			return refuse_step(c, i, "state", "is no state");
		if (rec->kind != REC_STEP_START)
			continue;
		if (step_has(s, end_at))
			return refuse(c, "end", "does not belong to a step_start; send a step_end");
		if (step_has(s, state) && state_is_end(s->state))
			return refuse(c, "state",
				      "is that of a step that has ended; send a step_end");
	}
	return is_step(rec) && rec->n_steps != 1 ? refuse(c, "step_id", "is missing") : 0;
}

/* What follows. */

static int64_t state_of_exit(int64_t status, bool of_step)
{
	if (exit_signal(status) == EXIT_SIGNAL_OOM)
		return STATE_OUT_OF_MEMORY;
	if (of_step && exit_signal(status) != 0)
		return STATE_CANCELLED;
	return status != 0 ? STATE_FAILED : STATE_COMPLETED;
}

static int settle_job_state(const struct check *c)
{
	struct job *j = &c->rec->job;
	bool end = c->rec->kind == REC_JOB_END;

	if (job_has(j, state)) {
		if (!state_is_known(j->state))
			return refuse(c, "state", "is no state");
		if (end && !state_is_end(j->state))
			return refuse(c, "state", "is not that of a job that has ended");
		return 0;
	}
	if (end)
		job_set(j, state, state_of_exit(job_get(j, exit, 0), false));
	else if (c->rec->kind == REC_JOB_START)
		job_set(j, state, job_has(j, start_at) ? STATE_RUNNING : STATE_PENDING);
	else
		return 0;
	weaken(&j->rank[JOB_state], &j->as_of[JOB_state], end);
	return 0;
}

/* Steps: a state of the living in a step's end is what Slurm's own controllers send; the exit
 * status says how it ended. */
static int settle_step_states(const struct check *c)
{
	bool end = c->rec->kind != REC_STEP_START;

	for (size_t i = 0; i < c->rec->n_steps; i++) {
		struct step *s = &c->rec->steps[i];
		if (step_has(s, state) && (!end || state_is_end(s->state)))
			continue;
		step_set(s, state, end ? state_of_exit(step_get(s, exit, 0), true) : STATE_RUNNING);
		weaken(&s->rank[STEP_state], &s->as_of[STEP_state], end);
	}
	return 0;
}

/* How long it ran follows from start, end and suspensions.  A dump that has no suspensions may say
 * that it ran for less than from start to end; what has not ended has no such figure that lasts. */
static void settle_elapsed(const struct check *c)
{
	struct job *j = &c->rec->job;

	if (!job_has(j, rec_elapsed))
		return;
	bool lasts = c->rec->kind != REC_JOB_START && j->rec_elapsed >= 0;
	bool follows = job_has(j, start_at) && job_has(j, end_at) &&
		       (job_has(j, moments) || j->rec_elapsed >= j->end_at - j->start_at);
	if (!lasts || follows)
		job_unset(j, rec_elapsed);
}

/* What is said of the whole job counts only where nothing finer is said. */
static int settle_stated(const struct check *c)
{
	struct job *j = &c->rec->job;

	settle_elapsed(c);
	for (size_t i = 0; i < c->rec->n_steps && is_job(c->rec); i++) {
		const struct step *s = &c->rec->steps[i];
		if (step_has(s, in_max))
			job_unset(j, rec_max_rss);
		if (step_has(s, user_cpu_us) || step_has(s, sys_cpu_us) ||
		    step_has(s, total_cpu_us))
			job_unset(j, rec_cpu_us);
	}
	return 0;
}

/* The controller's raw number keeps its mark in the sign. */
static int settle_req_mem(const struct check *c)
{
	struct job *j = &c->rec->job;
	enum req_mem_per per;
	int64_t mib;

	if (!job_has(j, req_mem) || j->req_mem >= 0)
		return 0;
	if (!req_mem_split((uint64_t)j->req_mem, &mib, &per)) {
		job_unset(j, req_mem);
		return 0;
	}
	job_set(j, req_mem, mib);
	job_set(j, req_mem_per, (int64_t)per);
	return 0;
}

int record_validate(struct record *rec, struct arena *arena, struct err *err)
{
	static int (*const checks[])(const struct check *) = {
		check_text,	    check_times,    settle_zeros,     check_job_id,
		check_some_time,    check_moment,   check_job_start,  check_node,
		check_cluster_tres, check_steps,    settle_job_state, settle_step_states,
		settle_stated,	    settle_req_mem,
	};
	const struct check c = { rec, arena, err };

	for (size_t i = 0; i < ARRAY_LEN(checks); i++)
		if (checks[i](&c) < 0)
			return -1;
	return 0;
}

#include "core/job.h"

#include "core/moments.h"
#include "core/state.h"
#include "core/words.h"

const struct field job_fields[JOB_FIELDS] = {
#define F(name, type, flags, json, doc) \
	[JOB_##name] = { #name, FT_##type, flags, json, doc, offsetof(struct job, name) },
#include "core/job.def"
#undef F
};

const struct field step_fields[STEP_FIELDS] = {
#define F(name, type, flags, json, doc) \
	[STEP_##name] = { #name, FT_##type, flags, json, doc, offsetof(struct step, name) },
#include "core/step.def"
#undef F
};

static int find(const struct field *fields, int n, const char *name)
{
	for (int i = 0; i < n; i++)
		if (strcmp(fields[i].json, name) == 0 || strcmp(fields[i].name, name) == 0)
			return i;
	return -1;
}

int job_field_find(const char *name)
{
	return find(job_fields, JOB_FIELDS, name);
}

int step_field_find(const char *name)
{
	return find(step_fields, STEP_FIELDS, name);
}

static bool has_ended(const struct job *j)
{
	return job_has(j, end_at) || (job_has(j, state) && state_is_end(j->state));
}

bool job_start_shown(const struct job *j, int64_t *ret_start)
{
	if (!job_has(j, start_at) || (job_get(j, flaws, 0) & FLAW_NEVER_STARTED) != 0)
		return false;
	*ret_start = job_has(j, end_at) && j->end_at < j->start_at ? j->end_at : j->start_at;
	return true;
}

/* Where its run stops: what ended without a time of its end has no length. */
static int64_t run_end(const struct job *j, int64_t start, int64_t now)
{
	int64_t end = job_has(j, end_at) ? j->end_at : has_ended(j) ? start : now;

	return end > start ? end : start;
}

int64_t job_elapsed_s(const struct job *j, int64_t now)
{
	int64_t start;
	bool known = job_start_shown(j, &start);

	/* A producer may know how long it ran, but not from when or until when. */
	if (job_has(j, rec_elapsed) &&
	    (!job_has(j, start_at) || (has_ended(j) && !job_has(j, end_at))))
		return j->rec_elapsed > 0 ? j->rec_elapsed : 0;
	if (!known)
		return 0;
	int64_t end = run_end(j, start, now);
	return end - start - job_suspended_s(j, start, end, now);
}

/* Dumps of sacct say how long a job ran beside its start and end, and not when it was suspended:
 * what is missing was a suspension that has no place. */
static int64_t unplaced_suspension_s(const struct job *j, int64_t start)
{
	int64_t gap;

	if (!job_has(j, rec_elapsed) || !job_has(j, end_at) || j->rec_elapsed < 0)
		return 0;
	gap = j->end_at - start - j->rec_elapsed;
	return gap > 0 ? gap : 0;
}

int64_t job_suspended_s(const struct job *j, int64_t from, int64_t to, int64_t now)
{
	int64_t start, s, r, sum = 0;

	if (!job_start_shown(j, &start))
		return 0;
	int64_t end = run_end(j, start, now);
	if (!job_has(j, moments))
		return from <= start && to >= end ? unplaced_suspension_s(j, start) : 0;
	from = from > start ? from : start;
	to = to < end ? to : end;
	for (const char *at = j->moments; moments_next_span(&at, &s, &r);) {
		s = s > from ? s : from;
		r = r < to ? r : to;
		if (s < r)
			sum += r - s;
	}
	return sum;
}

int64_t job_state_shown(const struct job *j)
{
	int64_t from, to = 0;
	bool any = false;

	if (has_ended(j) || !job_has(j, moments) ||
	    (j->state != STATE_RUNNING && j->state != STATE_SUSPENDED))
		return j->state;
	for (const char *at = j->moments; moments_next_span(&at, &from, &to);)
		any = true;
	return any && to == INT64_MAX ? STATE_SUSPENDED : any ? STATE_RUNNING : j->state;
}

bool job_is_final(const struct job *j)
{
	return job_has(j, state) && state_is_end(j->state) && j->state != STATE_REQUEUED &&
	       j->state != STATE_RESIZING;
}

static bool was_allocated(const struct job *j)
{
	return (job_has(j, nodes) && j->nodes[0] != '\0') ||
	       (job_has(j, tres_alloc) && j->tres_alloc[0] != '\0') ||
	       job_get(j, alloc_nodes, 0) > 0;
}

static bool has_start_record(const struct job *j)
{
	for (int f = 0; f < JOB_FIELDS; f++)
		if (has_bit(j->has, (size_t)f) && j->rank[f] == RANK_START)
			return true;
	return false;
}

int64_t job_flaws_of(const struct job *j)
{
	int64_t flaws = 0;

	if (job_has(j, start_at) && job_has(j, end_at) && j->end_at < j->start_at)
		flaws |= FLAW_END_BEFORE_START;
	if (job_has(j, state) && state_is_end(j->state) && !job_has(j, end_at))
		flaws |= FLAW_NO_END_TIME;
	/* A controller ends what waited with start = end.  Alone such a record is shown as it is
	 * (Slurm does); beside a start record that knew of no start it says that there was none. */
	if (job_has(j, start_at) && job_has(j, end_at) && j->start_at == j->end_at &&
	    !was_allocated(j) && has_start_record(j))
		flaws |= FLAW_NEVER_STARTED;
	return flaws;
}

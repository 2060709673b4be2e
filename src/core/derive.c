/* core/derive.c: what follows from a job's row and its steps.
 *
 * A pure function of what the records said, so the order they came in cannot show.  Where an end
 * or a start can be computed from the rest (start + elapsed, end - elapsed), it is filled in, with
 * a stamp that no record has (RANK_NONE, AS_OF_UNKNOWN): any record's word replaces it, and it is
 * computed anew each time. */
#include "core/merge.h"

#include "base/num.h"
#include "core/exit.h"
#include "core/state.h"
#include "core/tres.h"
#include "core/words.h"

#define PPM	   1000000
#define MIB	   1048576
#define SAMPLING_S 30 /* what shorter jobs use is seldom seen by a sampler */

static const char replacement[] = "\xef\xbf\xbd"; /* what mending leaves behind */

static void forget_fill(struct job *j, size_t f)
{
	if (j->rank[f] == RANK_NONE && j->as_of[f] == AS_OF_UNKNOWN)
		has_clear(j->has, f);
}

void job_forget_derived(struct job *j)
{
	for (size_t f = 0; f < JOB_FIELDS; f++)
		if ((job_fields[f].flags & FF_DERIVED) != 0 && f != JOB_submit_inferred)
			has_clear(j->has, f);
	forget_fill(j, JOB_end_at);
	forget_fill(j, JOB_start_at);
}

static void mark_fill(struct job *j, size_t f)
{
	j->rank[f] = RANK_NONE;
	j->as_of[f] = AS_OF_UNKNOWN;
}

static bool mended(const struct field *fields, size_t n, const uint64_t *has, const char *base)
{
	for (size_t f = 0; f < n; f++) {
		const char *text;
		if (!has_bit(has, f) || !field_is_text(fields[f].type))
			continue;
		memcpy(&text, base + fields[f].offset, sizeof(text));
		if (strstr(text, replacement) != NULL)
			return true;
	}
	return false;
}

static int64_t flaws_of(const struct job *j, const struct step *const *steps, size_t n)
{
	int64_t flaws = job_flaws_of(j);
	bool any = mended(job_fields, JOB_FIELDS, j->has, (const char *)j);

	for (size_t i = 0; i < n && !any; i++)
		any = mended(step_fields, STEP_FIELDS, steps[i]->has, (const char *)steps[i]);
	if (job_has(j, rec_elapsed) && job_has(j, start_at))
		flaws &= ~FLAW_NO_END_TIME; /* it can be computed */
	return flaws | (any ? FLAW_TEXT_MENDED : 0);
}

static int64_t greater(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

static bool has_ended(const struct job *j)
{
	return job_has(j, state) && state_is_end(j->state);
}

/* What ended has an end, or it would count as running for ever: start and the seconds it ran, else
 * the last moment it is known to have lived. */
static void fill_end(struct job *j)
{
	int64_t known = greater(job_get(j, submit_at, 0), job_get(j, eligible_at, 0));
	int64_t from = job_get(j, start_at, known);

	if (!has_ended(j) || job_has(j, end_at) || from == 0)
		return;
	job_set(j, end_at, num_add(from, greater(job_get(j, rec_elapsed, 0), 0), NULL));
	mark_fill(j, JOB_end_at);
}

static void fill_start(struct job *j)
{
	int64_t ran = job_get(j, rec_elapsed, 0);

	if (job_has(j, start_at) || !job_has(j, end_at) || j->rank[JOB_end_at] == RANK_NONE ||
	    ran <= 0 || ran > j->end_at)
		return;
	job_set(j, start_at, j->end_at - ran);
	mark_fill(j, JOB_start_at);
}

static void derive_visible_from(struct job *j)
{
	if (job_has(j, eligible_at)) {
		if (j->eligible_at > 0)
			job_set(j, visible_from, j->eligible_at);
	} else if (job_has(j, start_at)) {
		job_set(j, visible_from, j->start_at);
	} else if (job_has(j, end_at)) {
		job_set(j, visible_from, j->end_at);
	}
}

/* Memory. */

/* A step's memory: what was measured over its tasks, else tasks x the largest of them. */
static bool step_memory(const struct step *s, int64_t *ret, bool *ret_estimated)
{
	int64_t tasks = greater(step_get(s, ntasks, 1), 1), peak;

	*ret_estimated = false;
	if (step_has(s, in_tot) && tres_get(s->in_tot, "mem", ret))
		return true;
	if (!step_has(s, in_max) || !tres_get(s->in_max, "mem", &peak))
		return false;
	*ret = num_mul(peak, tasks, NULL);
	*ret_estimated = !step_has(s, ntasks) || tasks > 1;
	return true;
}

static void use_memory(struct job *j, int64_t used, bool estimated)
{
	bool more =
		!job_has(j, mem_used) || used > j->mem_used || (used == j->mem_used && !estimated);

	if (!more)
		return;
	job_set(j, mem_used, used);
	job_set(j, mem_estimated, estimated);
}

static void derive_memory(struct job *j, const struct step *const *steps, size_t n)
{
	int64_t v;
	bool estimated;

	for (size_t i = 0; i < n; i++) {
		if (step_has(steps[i], in_max) && tres_get(steps[i]->in_max, "mem", &v))
			job_set(j, peak_rss, greater(v, job_get(j, peak_rss, 0)));
		if (step_memory(steps[i], &v, &estimated))
			use_memory(j, v, estimated);
	}
	if (!job_has(j, peak_rss) && job_has(j, rec_max_rss))
		job_set(j, peak_rss, j->rec_max_rss);
	if (!job_has(j, mem_used) && job_has(j, peak_rss))
		use_memory(j, j->peak_rss, true);
}

static bool alloc_cpus(const struct job *j, int64_t *ret)
{
	return job_has(j, tres_alloc) && tres_get(j->tres_alloc, "cpu", ret) && *ret > 0;
}

bool job_memory_given(const struct job *j, int64_t *ret_mib)
{
	int64_t times = 1;

	if ((job_has(j, tres_alloc) && tres_get(j->tres_alloc, "mem", ret_mib)) ||
	    (job_has(j, tres_req) && tres_get(j->tres_req, "mem", ret_mib)))
		return *ret_mib > 0;
	if (!job_has(j, req_mem) || j->req_mem <= 0)
		return false;
	if (job_get(j, req_mem_per, PER_JOB) == PER_CPU) {
		if (!alloc_cpus(j, &times))
			times = job_get(j, req_cpus, 0);
	} else if (job_get(j, req_mem_per, PER_JOB) == PER_NODE) {
		times = job_get(j, alloc_nodes, job_get(j, req_nodes, 0));
	}
	*ret_mib = num_mul(j->req_mem, times, NULL);
	return *ret_mib > 0;
}

/* CPU time. */

static bool step_cpu_us(const struct step *s, int64_t *ret)
{
	if (step_has(s, user_cpu_us) || step_has(s, sys_cpu_us)) {
		*ret = num_add(step_get(s, user_cpu_us, 0), step_get(s, sys_cpu_us, 0), NULL);
		return true;
	}
	*ret = step_get(s, total_cpu_us, 0);
	return step_has(s, total_cpu_us);
}

static void derive_cpu(struct job *j, const struct step *const *steps, size_t n)
{
	int64_t us;

	for (size_t i = 0; i < n; i++)
		if (step_cpu_us(steps[i], &us))
			job_set(j, cpu_used_us, num_add(job_get(j, cpu_used_us, 0), us, NULL));
	if (!job_has(j, cpu_used_us) && job_has(j, rec_cpu_us))
		job_set(j, cpu_used_us, j->rec_cpu_us);
}

/* Efficiency: only of what has ended, ran, and lived long enough to be measured. */

static int64_t ratio_ppm(int64_t used, int64_t given, int64_t scale)
{
	__int128 ppm = ((__int128)used * PPM * 2 / given / scale + 1) / 2;

	return ppm > INT64_MAX ? INT64_MAX : (int64_t)ppm;
}

static void derive_efficiency(struct job *j)
{
	int64_t elapsed = job_has(j, end_at) ? job_elapsed_s(j, j->end_at) : 0, cpus, mib;

	if (!has_ended(j) || elapsed <= 0)
		return;
	if (job_has(j, cpu_used_us) && (j->cpu_used_us > 0 || elapsed >= SAMPLING_S) &&
	    alloc_cpus(j, &cpus))
		job_set(j, cpu_eff_ppm,
			ratio_ppm(j->cpu_used_us, num_mul(elapsed, cpus, NULL), PPM));
	if (job_has(j, mem_used) && (j->mem_used > 0 || elapsed >= SAMPLING_S) &&
	    job_memory_given(j, &mib))
		job_set(j, mem_eff_ppm, ratio_ppm(j->mem_used, mib, MIB));
}

/* Steps killed for memory. */

static bool killed_for_memory(const struct step *s)
{
	return (step_has(s, state) && s->state == STATE_OUT_OF_MEMORY) ||
	       (step_has(s, exit) && exit_signal(s->exit) == EXIT_SIGNAL_OOM);
}

/* The order of steps that ended at the same time: numbers, then extern, batch, interactive. */
static int64_t step_order(int64_t id)
{
	return id >= 0 ? id : INT32_MAX - id;
}

static bool ended_before(const struct step *a, const struct step *b)
{
	int64_t x = step_get(a, end_at, INT64_MAX), y = step_get(b, end_at, INT64_MAX);

	return x != y ? x < y : step_order(a->step_id) < step_order(b->step_id);
}

static void derive_oom(struct job *j, const struct step *const *steps, size_t n)
{
	const struct step *first = NULL;

	for (size_t i = 0; i < n; i++)
		if (killed_for_memory(steps[i]) && (first == NULL || ended_before(steps[i], first)))
			first = steps[i];
	if (first != NULL)
		job_set(j, oom_step, first->step_id);
}

bool job_gpu_use_ppm(const struct job *j, const struct step *const *steps, size_t n, int64_t *ret)
{
	bool known = false;
	int64_t util, gpus;

	for (size_t i = 0; i < n; i++) {
		const struct step *s = steps[i];
		if (!step_has(s, in_tot) || !tres_get(s->in_tot, "gres/gpuutil", &util))
			continue;
		if ((!tres_gpus(step_get(s, tres_alloc, NULL), &gpus) || gpus == 0) &&
		    (!tres_gpus(job_get(j, tres_alloc, NULL), &gpus) || gpus == 0))
			continue;
		int64_t ppm = ratio_ppm(util, num_mul(gpus, 100, NULL), 1);
		*ret = known ? greater(*ret, ppm) : ppm;
		known = true;
	}
	return known;
}

void job_derive(struct job *j, const struct step *const *steps, size_t n_steps, struct arena *arena)
{
	(void)arena;
	job_forget_derived(j);
	job_set(j, flaws, flaws_of(j, steps, n_steps));
	fill_end(j);
	fill_start(j);
	derive_visible_from(j);
	derive_memory(j, steps, n_steps);
	derive_cpu(j, steps, n_steps);
	derive_efficiency(j);
	derive_oom(j, steps, n_steps);
}

#include "cli/sacct_print.h"

#include <pwd.h>
#include <strings.h>

#include "cli/sacct_text.h"
#include "core/duration.h"
#include "core/exit.h"
#include "core/state.h"
#include "core/tres.h"
#include "core/where.h"
#include "core/words.h"

/* ---- reading a cell's field --------------------------------------------------------- */

static const void *member(const struct sacct_row *r, const struct sacct_cell *c)
{
	const struct field *f = c->of_step ? &step_fields[c->field] : &job_fields[c->field];
	const uint64_t *has = c->of_step ? r->step->has : r->job->has;
	const char *row = c->of_step ? (const char *)r->step : (const char *)r->job;

	return has_bit(has, (size_t)c->field) ? row + f->offset : NULL;
}

static bool number(const struct sacct_row *r, const struct sacct_cell *c, int64_t *ret)
{
	const int64_t *v = member(r, c);

	if (v)
		*ret = *v;
	return v != NULL;
}

/* NULL when unknown. */
static const char *text(const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *const *v = member(r, c);

	return v ? *v : NULL;
}

static bool count(const struct sacct_row *r, const struct sacct_cell *c, int64_t *ret)
{
	return tres_get(text(r, c), c->tres, ret);
}

/* ---- plain values ------------------------------------------------------------------- */

static void print_text(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	if (s)
		buf_adds(out, s);
}

static void print_number(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t v;

	if (number(r, c, &v))
		buf_i64(out, v);
}

/* An id: 0 is none. */
static void print_nonzero(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t v;

	if (number(r, c, &v) && v != 0)
		buf_i64(out, v);
}

static void print_unsigned(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t v;

	if (number(r, c, &v))
		buf_u64(out, (uint64_t)v);
}

static void print_unknown(struct buf *out, const struct sacct_row *r UNUSED,
			  const struct sacct_cell *c UNUSED)
{
	buf_adds(out, "Unknown");
}

static void print_words(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t bits;

	if (number(r, c, &bits))
		words_format(words_of(&job_fields[c->field]), bits, out);
}

/* A number whose names are rows of an array; one without a name stays a number. */
static void named(struct buf *out, int64_t v, const char *const *names, size_t n)
{
	if (v >= 0 && (size_t)v < n)
		buf_adds(out, names[v]);
	else
		buf_i64(out, v);
}

static void print_exclusive(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	static const char *const names[] = { "NO", "NODE", "USER", "MCS", "TOPO" };
	int64_t v;

	if (number(r, c, &v))
		named(out, v, names, ARRAY_LEN(names));
}

static void print_oversubscribe(struct buf *out, const struct sacct_row *r,
				const struct sacct_cell *c)
{
	static const char *const names[] = { "NO", "YES", "OK" };
	int64_t v;

	if (number(r, c, &v))
		named(out, v, names, ARRAY_LEN(names));
}

static void print_sluid(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t v;

	if (number(r, c, &v) && v != 0)
		text_sluid(out, (uint64_t)v);
}

static void print_uid(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	if (r->style->local_uid && job_has(r->job, user_name)) {
		const struct passwd *pw = getpwnam(r->job->user_name);

		if (pw) {
			buf_u64(out, pw->pw_uid);
			return;
		}
	}
	print_number(out, r, c);
}

static void print_path(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	if (s && r->style->expand_patterns)
		text_pattern(out, s, r->job, r->step);
	else if (s)
		buf_adds(out, s);
}

/* ---- identity ----------------------------------------------------------------------- */

static void print_job_id(struct buf *out, const struct sacct_row *r,
			 const struct sacct_cell *c UNUSED)
{
	text_job_id(out, r->job, r->style->array_text);
	if (r->step)
		text_step_id(out, r->step);
}

static void print_job_id_raw(struct buf *out, const struct sacct_row *r,
			     const struct sacct_cell *c UNUSED)
{
	buf_i64(out, r->job->job_id);
	if (r->step)
		text_step_id(out, r->step);
}

/* A job whose start was never recorded has no name: the tools call it so. */
static void print_name(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	buf_adds(out, s ? s : "allocation");
}

static void print_reason(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	buf_adds(out, s ? s : "None");
}

static void print_layout(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	static const char *const names[] = { "Unknown", "Cyclic", "Block", "Arbitrary", "Plane" };
	const char *s = text(r, c);

	if (s)
		buf_adds(out, s);
	else /* the low digit is how tasks go over nodes */
		named(out, step_get(r->step, task_dist, 0) & 15, names, ARRAY_LEN(names));
}

/* ---- times -------------------------------------------------------------------------- */

static void add_time(struct buf *out, const struct sacct_row *r, int64_t t)
{
	text_time(out, t, r->style->time_format, r->style->now, r->style->zone);
}

static void print_time(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t t;

	if (number(r, c, &t))
		add_time(out, r, t);
	else
		buf_adds(out, "Unknown");
}

static void print_start(struct buf *out, const struct sacct_row *r,
			const struct sacct_cell *c UNUSED)
{
	int64_t t;

	if (job_start_shown(r->job, &t))
		add_time(out, r, t);
	else
		buf_adds(out, job_has(r->job, state) && state_is_end(r->job->state) ? "None"
										    : "Unknown");
}

/* An open step of an ended job ended with it. */
static bool step_end(const struct sacct_row *r, int64_t *ret)
{
	if (step_has(r->step, end_at))
		*ret = r->step->end_at;
	else if (job_has(r->job, end_at))
		*ret = r->job->end_at;
	else
		return false;
	return true;
}

static void print_end(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c UNUSED)
{
	int64_t t;

	if (step_end(r, &t))
		add_time(out, r, t);
	else
		buf_adds(out, "Unknown");
}

static int64_t suspended_s(const struct sacct_row *r)
{
	const struct step *s = r->step;
	struct job moved;
	int64_t end;

	if (s == NULL)
		return job_suspended_s(r->job, INT64_MIN, INT64_MAX, r->style->now);
	if (!step_has(s, start_at))
		return 0;
	if (!step_end(r, &end))
		end = r->style->now;
	if (!step_has(s, moments))
		return job_suspended_s(r->job, s->start_at, end, r->style->now);
	moved = *r->job;
	job_set(&moved, moments, s->moments);
	return job_suspended_s(&moved, s->start_at, end, r->style->now);
}

static int64_t elapsed_s(const struct sacct_row *r)
{
	int64_t end, s;

	if (r->step == NULL)
		return job_elapsed_s(r->job, r->style->now);
	if (!step_has(r->step, start_at))
		return 0;
	if (!step_end(r, &end))
		end = r->style->now;
	s = end - r->step->start_at - suspended_s(r);
	return s > 0 ? s : 0;
}

static void add_duration(struct buf *out, int64_t s)
{
	char d[DURATION_TEXT_SIZE];

	duration_format(s, d);
	buf_adds(out, d);
}

static void print_suspended(struct buf *out, const struct sacct_row *r,
			    const struct sacct_cell *c UNUSED)
{
	add_duration(out, suspended_s(r));
}

static void print_elapsed(struct buf *out, const struct sacct_row *r,
			  const struct sacct_cell *c UNUSED)
{
	add_duration(out, elapsed_s(r));
}

static void print_elapsed_raw(struct buf *out, const struct sacct_row *r,
			      const struct sacct_cell *c UNUSED)
{
	buf_i64(out, elapsed_s(r));
}

static void print_limit(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	char d[DURATION_TEXT_SIZE];
	int64_t limit;

	if (!number(r, c, &limit))
		return;
	limit_format(limit, d);
	buf_adds(out, d);
}

static void print_limit_raw(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	char d[DURATION_TEXT_SIZE];
	int64_t limit;

	if (!number(r, c, &limit))
		return;
	limit_format_raw(limit, d);
	buf_adds(out, d);
}

/* How long the job waited: until its start, else until it was given up, else until now. */
static bool planned_s(const struct sacct_row *r, int64_t *ret)
{
	const struct job *j = r->job;
	int64_t until;

	if (!job_has(j, eligible_at))
		return false;
	if (!job_start_shown(j, &until))
		until = job_get(j, end_at, r->style->now);
	*ret = until - j->eligible_at;
	return true;
}

static void print_planned(struct buf *out, const struct sacct_row *r,
			  const struct sacct_cell *c UNUSED)
{
	int64_t s;

	if (planned_s(r, &s))
		add_duration(out, s);
}

static bool planned_cpu_s(const struct sacct_row *r, int64_t *ret)
{
	int64_t s;

	return planned_s(r, &s) && job_has(r->job, req_cpus) &&
	       !__builtin_mul_overflow(s, r->job->req_cpus, ret);
}

static void print_planned_cpu(struct buf *out, const struct sacct_row *r,
			      const struct sacct_cell *c UNUSED)
{
	int64_t s;

	if (planned_cpu_s(r, &s))
		add_duration(out, s);
}

static void print_planned_cpu_raw(struct buf *out, const struct sacct_row *r,
				  const struct sacct_cell *c UNUSED)
{
	int64_t s;

	if (planned_cpu_s(r, &s) && s >= 0)
		buf_i64(out, s);
}

/* ---- state -------------------------------------------------------------------------- */

static void add_state(struct buf *out, int64_t state, bool killed, int64_t killed_by)
{
	const char *name = state_name(state);

	buf_adds(out, name ? name : "UNKNOWN");
	if (state == STATE_CANCELLED && killed)
		buf_printf(out, " by %" PRId64, killed_by);
}

static void print_state(struct buf *out, const struct sacct_row *r,
			const struct sacct_cell *c UNUSED)
{
	const struct job *j = r->job;
	const struct step *s = r->step;

	if (s == NULL)
		add_state(out, job_state_shown(j), job_has(j, killed_by), j->killed_by);
	else if (step_has(s, end_at) || !job_has(j, end_at))
		add_state(out, step_get(s, state, STATE_RUNNING), step_has(s, killed_by),
			  s->killed_by);
	else
		add_state(out, job_state_shown(j), false, 0);
}

/* Not ended is 0:0; ended in a way that nobody told is empty. */
static void print_exit(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	char e[EXIT_TEXT_SIZE];
	int64_t status = 0;

	if (!number(r, c, &status) && c->of_step && step_has(r->step, end_at))
		return;
	exit_format(status, e);
	buf_adds(out, e);
}

/* ---- resources ---------------------------------------------------------------------- */

/* Nothing was ever allocated to it: it never started, or all that is known of it is the moment of
 * its end. */
static bool held_nothing(const struct job *j)
{
	int64_t start;

	if (!job_start_shown(j, &start))
		return true;
	return job_has(j, end_at) && j->end_at == start && !job_has(j, nodes) &&
	       !job_has(j, tres_alloc) && job_get(j, alloc_nodes, 0) == 0;
}

/* Allocated CPUs; what never started has 0. */
static bool cpus(const struct sacct_row *r, int64_t *ret)
{
	if (r->step)
		return step_has(r->step, tres_alloc) && tres_get(r->step->tres_alloc, "cpu", ret);
	if (job_has(r->job, tres_alloc) && tres_get(r->job->tres_alloc, "cpu", ret))
		return true;
	*ret = 0;
	return held_nothing(r->job);
}

static void print_alloc_cpus(struct buf *out, const struct sacct_row *r,
			     const struct sacct_cell *c UNUSED)
{
	int64_t n;

	if (cpus(r, &n))
		buf_i64(out, n);
}

static bool alloc_nodes(const struct job *j, int64_t *ret)
{
	*ret = job_get(j, alloc_nodes, 0);
	return job_has(j, alloc_nodes) || held_nothing(j);
}

static void print_alloc_nodes(struct buf *out, const struct sacct_row *r,
			      const struct sacct_cell *c UNUSED)
{
	int64_t n;

	if (alloc_nodes(r->job, &n))
		buf_i64(out, n);
}

/* Allocated, else asked for. */
static void print_nnodes(struct buf *out, const struct sacct_row *r,
			 const struct sacct_cell *c UNUSED)
{
	const struct job *j = r->job;
	int64_t n;
	bool known = alloc_nodes(j, &n);

	if (n == 0 && job_has(j, req_nodes))
		buf_i64(out, j->req_nodes);
	else if (known)
		buf_i64(out, n);
}

static void print_node_list(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	if (s)
		buf_adds(out, s);
	else if (held_nothing(r->job))
		buf_adds(out, "None assigned");
}

static void print_tres_count(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t n;

	if (count(r, c, &n))
		buf_i64(out, n);
}

/* ---- sizes -------------------------------------------------------------------------- */

/* --units wins over --noconvert, as the manual of the real one says. */
static struct unit_style scaled(const struct sacct_style *style, enum unit_scale otherwise)
{
	if (style->units_given)
		return (struct unit_style){ SCALE_FIXED, style->unit };
	return (struct unit_style){ style->noconvert ? SCALE_NONE : otherwise, UNIT_NONE };
}

static void add_size(struct buf *out, int64_t n, enum unit base, int divisor,
		     struct unit_style style)
{
	char size[SIZE_TEXT_SIZE];

	size_format(n, base, divisor, style, size);
	buf_adds(out, size);
}

static void print_bytes(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t n;

	if (count(r, c, &n))
		add_size(out, n, UNIT_NONE, 1024, scaled(r->style, SCALE_EXACT));
}

static void print_pages(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	print_bytes(out, r, c);
}

/* Always in M, unless --units. */
static void print_disk(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	struct unit_style style = { SCALE_FIXED, UNIT_MEGA };
	int64_t n;

	if (r->style->units_given)
		style.to = r->style->unit;
	if (count(r, c, &n))
		add_size(out, n, UNIT_NONE, 1024, style);
}

/* Energy and frequency. */
static void print_thousands(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t n;

	if (number(r, c, &n))
		add_size(out, n, UNIT_NONE, 1000, scaled(r->style, SCALE_ROUND));
}

static bool energy(const struct job *j, int64_t *ret)
{
	if (job_has(j, tres_alloc) && tres_get(j->tres_alloc, "energy", ret))
		return true;
	*ret = 0;
	return held_nothing(j);
}

static void print_energy(struct buf *out, const struct sacct_row *r,
			 const struct sacct_cell *c UNUSED)
{
	int64_t n;

	if (energy(r->job, &n))
		add_size(out, n, UNIT_NONE, 1000, scaled(r->style, SCALE_ROUND));
}

static void print_energy_raw(struct buf *out, const struct sacct_row *r,
			     const struct sacct_cell *c UNUSED)
{
	int64_t n;

	if (energy(r->job, &n))
		buf_i64(out, n);
}

static void print_tres(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	if (s)
		tres_format(s, TRES_AMOUNT, scaled(r->style, SCALE_EXACT), out);
}

static void print_usage(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	const char *s = text(r, c);

	if (s)
		tres_format(s, TRES_USAGE, scaled(r->style, SCALE_EXACT), out);
}

static void print_where(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	struct where w;

	if (where_get(text(r, c), c->tres, &w))
		buf_add(out, w.value, w.value_len);
}

/* The job's total in MiB, from what was asked per job, node or CPU. */
static bool req_mem_mib(const struct job *j, int64_t *ret)
{
	int64_t times = 1;

	if (job_has(j, tres_req) && tres_get(j->tres_req, "mem", ret))
		return true;
	if (!job_has(j, req_mem))
		return false;
	if (job_get(j, req_mem_per, PER_JOB) == PER_CPU)
		times = job_get(j, req_cpus, 1);
	else if (job_get(j, req_mem_per, PER_JOB) == PER_NODE)
		times = job_get(j, req_nodes, job_get(j, alloc_nodes, 1));
	return !__builtin_mul_overflow(j->req_mem, times, ret);
}

static void print_req_mem(struct buf *out, const struct sacct_row *r,
			  const struct sacct_cell *c UNUSED)
{
	int64_t mib;

	if (req_mem_mib(r->job, &mib))
		add_size(out, mib, UNIT_MEGA, 1024, scaled(r->style, SCALE_EXACT));
}

/* ---- CPU time and frequency --------------------------------------------------------- */

static bool cpu_time_s(const struct sacct_row *r, int64_t *ret)
{
	int64_t n;

	return cpus(r, &n) && !__builtin_mul_overflow(n, elapsed_s(r), ret);
}

static void print_cpu_time(struct buf *out, const struct sacct_row *r,
			   const struct sacct_cell *c UNUSED)
{
	int64_t s;

	if (cpu_time_s(r, &s))
		add_duration(out, s);
}

static void print_cpu_time_raw(struct buf *out, const struct sacct_row *r,
			       const struct sacct_cell *c UNUSED)
{
	int64_t s;

	if (cpu_time_s(r, &s))
		buf_i64(out, s);
}

static void print_cpu_ms(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t ms;

	if (count(r, c, &ms))
		add_duration(out, ms / 1000);
}

static void add_cpu_us(struct buf *out, int64_t us)
{
	char d[DURATION_TEXT_SIZE];

	duration_format_us(us, d);
	buf_adds(out, d);
}

static void print_cpu_us(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t us;

	if (number(r, c, &us))
		add_cpu_us(out, us);
}

static bool step_cpu_us(const struct step *s, int64_t *ret)
{
	*ret = step_get(s, user_cpu_us, 0) + step_get(s, sys_cpu_us, 0);
	if (step_has(s, total_cpu_us))
		*ret = s->total_cpu_us;
	return step_has(s, total_cpu_us) || (step_has(s, user_cpu_us) && step_has(s, sys_cpu_us));
}

static void print_step_total(struct buf *out, const struct sacct_row *r,
			     const struct sacct_cell *c UNUSED)
{
	int64_t us;

	if (step_cpu_us(r->step, &us))
		add_cpu_us(out, us);
}

/* What was stated for the job or added up when it ended, else the sum over the steps so far. */
static void print_job_total(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t sum = 0, us;
	bool known = held_nothing(r->job);

	if (number(r, c, &sum)) {
		add_cpu_us(out, sum);
		return;
	}
	for (size_t i = 0; i < r->n_steps; i++) {
		if (!step_cpu_us(&r->steps[i], &us))
			continue;
		sum += us;
		known = true;
	}
	if (known)
		add_cpu_us(out, sum);
}

/* The sum over the steps of the cell's step field, on the job's line. */
static void print_cpu_sum(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t sum = 0, us;
	bool known = held_nothing(r->job);

	for (size_t i = 0; i < r->n_steps; i++) {
		struct sacct_row of = { .job = r->job, .step = &r->steps[i] };

		if (!number(&of, c, &us))
			continue;
		sum += us;
		known = true;
	}
	if (known)
		add_cpu_us(out, sum);
}

/* Numbers of frequencies and governors that are words (slurmdbd protocol, step start). */
static const struct {
	int64_t value;
	const char *name;
} cpufreq_words[] = {
	{ 0x80000001, "Low" },	       { 0x80000002, "Medium" },       { 0x80000003, "High" },
	{ 0x80000004, "Highm1" },      { 0x88000000, "Conservative" }, { 0x84000000, "OnDemand" },
	{ 0x82000000, "Performance" }, { 0x81000000, "PowerSave" },    { 0x80800000, "UserSpace" },
	{ 0x80400000, "SchedUtil" },
};

static void print_cpufreq(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c)
{
	int64_t v;

	if (!number(r, c, &v)) {
		buf_adds(out, "Unknown");
		return;
	}
	for (size_t i = 0; i < ARRAY_LEN(cpufreq_words); i++) {
		if (cpufreq_words[i].value == v) {
			buf_adds(out, cpufreq_words[i].name);
			return;
		}
	}
	print_thousands(out, r, c);
}

/* ---- the table ---------------------------------------------------------------------- */

#define J(printer, field)                                                                          \
	{                                                                                          \
		print_##printer, false, JOB_##field, NULL                                          \
	}
#define S(printer, field)                                                                          \
	{                                                                                          \
		print_##printer, true, STEP_##field, NULL                                          \
	}
#define ST(printer, field, tres)                                                                   \
	{                                                                                          \
		print_##printer, true, STEP_##field, tres                                          \
	}
#define NONE                                                                                       \
	{                                                                                          \
		NULL, false, 0, NULL                                                               \
	}
#define OLD  SACCT_OLD
#define SUMS SACCT_SUMS

const struct sacct_field sacct_fields[SACCT_FIELDS] = {
#define F(name, width, flags, job, step) { #name, width, flags, job, step },
#include "cli/sacct_fields.def"
#undef F
};

const struct sacct_field *sacct_field_find(const char *name)
{
	for (size_t i = 0; i < SACCT_FIELDS; i++)
		if (strcasecmp(sacct_fields[i].name, name) == 0)
			return &sacct_fields[i];
	return NULL;
}

void sacct_print(struct buf *out, const struct sacct_field *f, const struct sacct_row *r)
{
	const struct sacct_cell *c = r->step ? &f->step : &f->job;

	if (c->print)
		c->print(out, r, c);
}

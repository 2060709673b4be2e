/* What follows from a job and its steps: peaks, sums, efficiency, what is filled in. */
#include "core/merge.h"

#include "core/state.h"
#include "core/words.h"

#include <setjmp.h>
#include <cmocka.h>

#define KIB	INT64_C(1024)
#define MIB	(1024 * KIB)
#define GIB	(1024 * MIB)
#define UNKNOWN INT64_MIN

struct step_in {
	int64_t id, ntasks; /* ntasks 0: not known */
	const char *in_max, *in_tot;
	int64_t user_us, sys_us, total_us; /* UNKNOWN: not said */
};

static size_t make_steps(const struct step_in *in, size_t n, struct step *out,
			 const struct step **ptrs)
{
	for (size_t i = 0; i < n; i++) {
		struct step *s = &out[i];
		*s = (struct step){ 0 };
		step_set(s, step_id, in[i].id);
		if (in[i].ntasks > 0)
			step_set(s, ntasks, in[i].ntasks);
		if (in[i].in_max != NULL)
			step_set(s, in_max, in[i].in_max);
		if (in[i].in_tot != NULL)
			step_set(s, in_tot, in[i].in_tot);
		if (in[i].user_us != UNKNOWN)
			step_set(s, user_cpu_us, in[i].user_us);
		if (in[i].sys_us != UNKNOWN)
			step_set(s, sys_cpu_us, in[i].sys_us);
		if (in[i].total_us != UNKNOWN)
			step_set(s, total_cpu_us, in[i].total_us);
		ptrs[i] = s;
	}
	return n;
}

static struct job ended(int64_t elapsed, const char *tres_alloc)
{
	struct job j = { 0 };

	job_set(&j, submit_at, 900);
	job_set(&j, eligible_at, 950);
	job_set(&j, start_at, 1000);
	job_set(&j, end_at, 1000 + elapsed);
	job_set(&j, state, STATE_COMPLETED);
	if (tres_alloc != NULL)
		job_set(&j, tres_alloc, tres_alloc);
	return j;
}

#define NO_CPU UNKNOWN, UNKNOWN, UNKNOWN

/* One number each: the field, or UNKNOWN. */
static void figures(void **state)
{
	static const struct {
		const char *name;
		int64_t elapsed;
		const char *alloc;
		struct step_in steps[4];
		size_t n;
		int64_t peak, used, estimated, mem_ppm, cpu_us, cpu_ppm;
	} rows[] = {
		{ "FC-016: the peak is over all steps",
		  600,
		  "cpu=1,mem=65536",
		  { { STEP_ID_BATCH, 1, "mem=6189056", NULL, NO_CPU },
		    { STEP_ID_EXTERN, 1, "mem=1361920", NULL, NO_CPU },
		    { 0, 1, "mem=39936000000", NULL, NO_CPU },
		    { 1, 1, "mem=40448000000", NULL, NO_CPU } },
		  4,
		  INT64_C(40448000000),
		  INT64_C(40448000000),
		  0,
		  588596,
		  UNKNOWN,
		  UNKNOWN },
		{ "FC-167: tasks x peak is an estimate",
		  600,
		  "cpu=8,mem=16000",
		  { { 0, 8, "mem=1994010624", NULL, NO_CPU } },
		  1,
		  INT64_C(1994010624),
		  INT64_C(15952084992),
		  1,
		  950818,
		  UNKNOWN,
		  UNKNOWN },
		{ "FC-168: the measured total wins",
		  600,
		  "cpu=12,mem=20480",
		  { { 0, 12, "mem=56492032", "mem=600416256", NO_CPU } },
		  1,
		  56492032,
		  600416256,
		  0,
		  27959,
		  UNKNOWN,
		  UNKNOWN },
		{ "FC-170: two nodes, totals against totals",
		  600,
		  "cpu=2,mem=32768,node=2",
		  { { 0, 2, "mem=4133906022", "mem=8267812044", NO_CPU } },
		  1,
		  INT64_C(4133906022),
		  INT64_C(8267812044),
		  0,
		  240625,
		  UNKNOWN,
		  UNKNOWN },
		{ "FC-024: used, not allocated, CPU time",
		  600,
		  "cpu=4",
		  { { 0, 1, NULL, NULL, 1000000000, 200000000, UNKNOWN } },
		  1,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  1200000000,
		  500000 },
		{ "FC-171: 5 % of 720 CPUs",
		  1088199,
		  "cpu=720",
		  { { 0, 1, NULL, NULL, UNKNOWN, UNKNOWN, INT64_C(39175164000000) } },
		  1,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  INT64_C(39175164000000),
		  50000 },
		{ "FC-015: a measured zero",
		  3600,
		  "cpu=1,mem=2097152",
		  { { 0, 1, "mem=0", NULL, 0, 0, UNKNOWN } },
		  1,
		  0,
		  0,
		  0,
		  0,
		  0,
		  0 },
		{ "FC-015: nothing measured",
		  3600,
		  "cpu=1,mem=2097152",
		  { { 0, 1, NULL, NULL, NO_CPU } },
		  1,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN },
		{ "FC-174: too short to measure",
		  20,
		  "cpu=1,mem=1024",
		  { { 0, 1, "mem=0", NULL, 0, 0, UNKNOWN } },
		  1,
		  0,
		  0,
		  0,
		  UNKNOWN,
		  0,
		  UNKNOWN },
		{ "short, and yet something was seen",
		  20,
		  "cpu=1,mem=1024",
		  { { 0, 1, "mem=536870912", NULL, 10000000, UNKNOWN, UNKNOWN } },
		  1,
		  536870912,
		  536870912,
		  0,
		  500000,
		  10000000,
		  500000 },
		{ "FC-100: never ran, whatever is allocated",
		  0,
		  "cpu=12,mem=48000",
		  { { 0 } },
		  0,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN },
		{ "sums over steps; user and system beat a total",
		  100,
		  "cpu=1",
		  { { 0, 1, NULL, NULL, 10, 5, 99 }, { 1, 1, NULL, NULL, UNKNOWN, UNKNOWN, 20 } },
		  2,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  35,
		  0 },
		{ "sums stop at the most",
		  100,
		  "cpu=1",
		  { { 0, 1, NULL, NULL, INT64_MAX, 5, UNKNOWN } },
		  1,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  UNKNOWN,
		  INT64_MAX,
		  INT64_C(92233720368547758) },
		{ "over 100 % is said as it is",
		  100,
		  "cpu=1,mem=1",
		  { { 0, 4, "mem=1048576", NULL, NO_CPU } },
		  1,
		  MIB,
		  4 * MIB,
		  1,
		  4000000,
		  UNKNOWN,
		  UNKNOWN },
		{ "the same measured and estimated is measured",
		  100,
		  "cpu=1,mem=4",
		  { { 0, 2, "mem=1048576", NULL, NO_CPU },
		    { 1, 2, "mem=9", "mem=2097152", NO_CPU } },
		  2,
		  MIB,
		  2 * MIB,
		  0,
		  500000,
		  UNKNOWN,
		  UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct step steps[4];
		const struct step *ptrs[4], *back[4];
		size_t n = make_steps(rows[i].steps, rows[i].n, steps, ptrs);
		struct job j = ended(rows[i].elapsed, rows[i].alloc);
		job_derive(&j, ptrs, n, NULL);
		const int64_t got[] = {
			job_get(&j, peak_rss, UNKNOWN),	     job_get(&j, mem_used, UNKNOWN),
			job_get(&j, mem_estimated, UNKNOWN), job_get(&j, mem_eff_ppm, UNKNOWN),
			job_get(&j, cpu_used_us, UNKNOWN),   job_get(&j, cpu_eff_ppm, UNKNOWN)
		};
		const int64_t want[] = { rows[i].peak,	  rows[i].used,	  rows[i].estimated,
					 rows[i].mem_ppm, rows[i].cpu_us, rows[i].cpu_ppm };
		for (size_t k = 0; k < ARRAY_LEN(got); k++)
			if (got[k] != want[k])
				fail_msg("%s: figure %zu is %" PRId64 ", not %" PRId64,
					 rows[i].name, k, got[k], want[k]);
		/* The order of steps says nothing. */
		struct job again = ended(rows[i].elapsed, rows[i].alloc);
		for (size_t k = 0; k < n; k++)
			back[k] = ptrs[n - 1 - k];
		job_derive(&again, back, n, NULL);
		assert_memory_equal(&again, &j, sizeof(j));
	}
}

static void memory_asked_for(void **state)
{
	static const struct {
		const char *alloc, *req;
		int64_t mib, per, nodes, ppm;
	} rows[] = {
		{ "cpu=4", "mem=2048", 0, UNKNOWN, UNKNOWN, 500000 },
		{ "cpu=4", NULL, 2048, UNKNOWN, UNKNOWN, 500000 },
		{ "cpu=4", NULL, 2048, PER_JOB, UNKNOWN, 500000 },
		{ "cpu=4", NULL, 512, PER_CPU, UNKNOWN, 500000 },
		{ "cpu=4", NULL, 1024, PER_NODE, 2, 500000 },
		{ "cpu=4", NULL, 1024, PER_NODE, UNKNOWN, UNKNOWN },
		{ "cpu=4", NULL, 0, UNKNOWN, UNKNOWN, UNKNOWN },
		{ "cpu=4,mem=4096", "mem=2048", 512, PER_CPU, UNKNOWN, 250000 },
	};
	const struct step_in in = { 0, 1, NULL, "mem=1073741824", NO_CPU };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct step s;
		const struct step *p;
		struct job j = ended(600, rows[i].alloc);
		make_steps(&in, 1, &s, &p);
		if (rows[i].req != NULL)
			job_set(&j, tres_req, rows[i].req);
		if (rows[i].mib > 0)
			job_set(&j, req_mem, rows[i].mib);
		if (rows[i].per != UNKNOWN)
			job_set(&j, req_mem_per, rows[i].per);
		if (rows[i].nodes != UNKNOWN)
			job_set(&j, alloc_nodes, rows[i].nodes);
		job_derive(&j, &p, 1, NULL);
		assert_int_equal(job_get(&j, mem_eff_ppm, UNKNOWN), rows[i].ppm);
	}
}

/* A producer without steps states it for the whole job; steps say it better. */
static void stated_for_the_whole_job(void **state)
{
	struct job j = ended(100, "cpu=2,mem=1024");
	const struct step_in in = { 0, 1, "mem=1048576", NULL, 50000000, UNKNOWN, UNKNOWN };
	struct step s;
	const struct step *p;

	(void)state;
	job_set(&j, rec_max_rss, 512 * MIB);
	job_set(&j, rec_cpu_us, 100000000);
	job_derive(&j, NULL, 0, NULL);
	assert_int_equal(j.peak_rss, 512 * MIB);
	assert_int_equal(j.mem_used, 512 * MIB);
	assert_int_equal(j.mem_estimated, 1);
	assert_int_equal(j.mem_eff_ppm, 500000);
	assert_int_equal(j.cpu_eff_ppm, 500000);
	make_steps(&in, 1, &s, &p);
	job_derive(&j, &p, 1, NULL);
	assert_int_equal(j.peak_rss, MIB);
	assert_int_equal(j.cpu_used_us, 50000000);
}

static void efficiency_waits_for_the_end(void **state)
{
	struct job j = ended(100, "cpu=2");

	(void)state;
	job_set(&j, rec_cpu_us, 100000000);
	job_set(&j, state, STATE_RUNNING);
	job_unset(&j, end_at);
	job_derive(&j, NULL, 0, NULL);
	assert_int_equal(j.cpu_used_us, 100000000);
	assert_false(job_has(&j, cpu_eff_ppm));
	assert_false(job_has(&j, end_at));
}

/* FC-101's time: suspended seconds are no run time. */
static void suspension_is_no_run_time(void **state)
{
	struct job j = ended(400, "cpu=1");

	(void)state;
	job_set(&j, moments, "S1100,R1300");
	job_set(&j, rec_cpu_us, 100000000);
	job_derive(&j, NULL, 0, NULL);
	assert_int_equal(j.cpu_eff_ppm, 500000);
}

static void visible_from(void **state)
{
	static const struct {
		int64_t eligible, start, end, want;
	} rows[] = {
		{ 950, 1000, 1100, 950 },
		{ UNKNOWN, 1000, 1100, 1000 }, /* FC-051 */
		{ UNKNOWN, UNKNOWN, 1100, 1100 },
		{ 0, UNKNOWN, 1100, UNKNOWN }, /* held for all its life */
		{ 0, 1000, 1100, UNKNOWN },
		{ UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = { 0 };
		if (rows[i].eligible != UNKNOWN)
			job_set(&j, eligible_at, rows[i].eligible);
		if (rows[i].start != UNKNOWN)
			job_set(&j, start_at, rows[i].start);
		if (rows[i].end != UNKNOWN)
			job_set(&j, end_at, rows[i].end);
		job_derive(&j, NULL, 0, NULL);
		assert_int_equal(job_get(&j, visible_from, UNKNOWN), rows[i].want);
	}
}

/* FC-187: only a step is marked. */
static void oom_step(void **state)
{
	struct step s[4] = { 0 };
	const struct step *p[4] = { &s[0], &s[1], &s[2], &s[3] };
	struct job j = ended(100, NULL);

	(void)state;
	step_set(&s[0], step_id, STEP_ID_BATCH);
	step_set(&s[0], state, STATE_FAILED);
	step_set(&s[0], exit, 256);
	step_set(&s[1], step_id, 2);
	step_set(&s[2], step_id, 0);
	step_set(&s[3], step_id, STEP_ID_EXTERN);
	job_derive(&j, p, 4, NULL);
	assert_false(job_has(&j, oom_step));
	step_set(&s[2], exit, 125);
	job_derive(&j, p, 4, NULL);
	assert_int_equal(job_get(&j, oom_step, UNKNOWN), 0);
	step_set(&s[2], exit, 0x80 | 125);
	step_set(&s[0], state, STATE_OUT_OF_MEMORY);
	job_derive(&j, p, 4, NULL);
	assert_int_equal(job_get(&j, oom_step, UNKNOWN), 0);
	step_set(&s[0], end_at, 1050);
	step_set(&s[2], end_at, 1051);
	job_derive(&j, p, 4, NULL);
	assert_int_equal(job_get(&j, oom_step, UNKNOWN), STEP_ID_BATCH);
}

static void flaws(void **state)
{
	struct job j = ended(100, NULL);
	struct step s = { 0 };
	const struct step *p = &s;

	(void)state;
	job_derive(&j, NULL, 0, NULL);
	assert_int_equal(j.flaws, 0);
	job_set(&j, end_at, 940);
	job_set(&j, name, "job\xef\xbf\xbd");
	job_derive(&j, NULL, 0, NULL);
	assert_int_equal(j.flaws, FLAW_END_BEFORE_START | FLAW_TEXT_MENDED);
	assert_false(job_has(&j, cpu_eff_ppm));
	job_set(&j, name, "\xef\xbf\xbe");
	job_set(&j, end_at, 1100);
	step_set(&s, name, "\xef\xbf\xbd");
	job_derive(&j, &p, 1, NULL);
	assert_int_equal(j.flaws, FLAW_TEXT_MENDED);
}

/* What ended has an end, made of what is known, and given up for any record's word. */
static void an_end_is_filled_in(void **state)
{
	static const struct {
		int64_t submit, eligible, start, end, elapsed, state;
		int64_t want_start, want_end;
		int64_t flaws;
	} rows[] = {
		{ 900, 950, 1000, UNKNOWN, 60, STATE_FAILED, 1000, 1060, 0 },
		{ 900, 950, 1000, UNKNOWN, UNKNOWN, STATE_FAILED, 1000, 1000, FLAW_NO_END_TIME },
		{ 900, 950, UNKNOWN, UNKNOWN, UNKNOWN, STATE_CANCELLED, UNKNOWN, 950,
		  FLAW_NO_END_TIME },
		{ 900, UNKNOWN, UNKNOWN, UNKNOWN, 30, STATE_FAILED, UNKNOWN, 930,
		  FLAW_NO_END_TIME },
		{ 900, 950, UNKNOWN, 1100, 60, STATE_COMPLETED, 1040, 1100, 0 },
		{ 900, 950, UNKNOWN, 1100, UNKNOWN, STATE_CANCELLED, UNKNOWN, 1100, 0 },
		{ 900, 950, 1000, UNKNOWN, 60, STATE_RUNNING, 1000, UNKNOWN, 0 },
		{ 900, 950, UNKNOWN, UNKNOWN, UNKNOWN, STATE_PENDING, UNKNOWN, UNKNOWN, 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = { 0 };
		memset(j.rank, RANK_END, sizeof(j.rank));
		job_set(&j, submit_at, rows[i].submit);
		job_set(&j, state, rows[i].state);
		if (rows[i].eligible != UNKNOWN)
			job_set(&j, eligible_at, rows[i].eligible);
		if (rows[i].start != UNKNOWN)
			job_set(&j, start_at, rows[i].start);
		if (rows[i].end != UNKNOWN)
			job_set(&j, end_at, rows[i].end);
		if (rows[i].elapsed != UNKNOWN)
			job_set(&j, rec_elapsed, rows[i].elapsed);
		for (int twice = 0; twice < 2; twice++) {
			job_derive(&j, NULL, 0, NULL);
			assert_int_equal(job_get(&j, start_at, UNKNOWN), rows[i].want_start);
			assert_int_equal(job_get(&j, end_at, UNKNOWN), rows[i].want_end);
			assert_int_equal(j.flaws, rows[i].flaws);
		}
	}
}

static void a_filled_end_gives_way(void **state)
{
	struct arena *a = arena_new();
	struct job row = { 0 };
	struct record end = { .kind = REC_JOB_END, .as_of = AS_OF_UNKNOWN };
	struct record start = { .kind = REC_JOB_START, .as_of = AS_OF_UNKNOWN };

	(void)state;
	job_set(&end.job, state, STATE_FAILED);
	job_set(&end.job, rec_elapsed, 60);
	job_set(&row, submit_at, 900);
	record_stamp(&end);
	job_merge(&row, &end.job, false, a);
	job_derive(&row, NULL, 0, a);
	assert_int_equal(row.end_at, 960);
	job_set(&start.job, start_at, 1000);
	record_stamp(&start);
	assert_true(job_merge(&row, &start.job, false, a));
	job_derive(&row, NULL, 0, a);
	assert_int_equal(row.end_at, 1060);
	assert_false(job_merge(&row, &end.job, false, a)); /* a resend changes nothing */
	job_set(&end.job, end_at, 1061);
	end.job.rank[JOB_end_at] = RANK_NONE;
	record_stamp(&end);
	assert_true(job_merge(&row, &end.job, false, a));
	job_derive(&row, NULL, 0, a);
	assert_int_equal(row.end_at, 1061);
	arena_free(a);
}

static void gpu_use(void **state)
{
	static const struct {
		const char *alloc, *step_alloc, *tot;
		int64_t want;
	} rows[] = {
		{ "gres/gpu=4", NULL, "gres/gpuutil=396", 990000 }, /* FC-190 */
		{ "gres/gpu=4", "gres/gpu=2", "gres/gpuutil=150", 750000 },
		{ "gres/gpu:a100=1,gres/gpu:v100=1", NULL, "gres/gpuutil=100", 500000 },
		{ "gres/gpu=4", NULL, "mem=5", UNKNOWN },
		{ "gres/gpu=4", NULL, NULL, UNKNOWN },
		{ "cpu=4", NULL, "gres/gpuutil=100", UNKNOWN },
		{ NULL, NULL, "gres/gpuutil=100", UNKNOWN },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = ended(100, rows[i].alloc);
		struct step s = { 0 };
		const struct step *p = &s;
		int64_t got = UNKNOWN;
		if (rows[i].step_alloc != NULL)
			step_set(&s, tres_alloc, rows[i].step_alloc);
		if (rows[i].tot != NULL)
			step_set(&s, in_tot, rows[i].tot);
		bool known = job_gpu_use_ppm(&j, &p, 1, &got);
		assert_int_equal(known ? got : UNKNOWN, rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(figures),
		cmocka_unit_test(memory_asked_for),
		cmocka_unit_test(stated_for_the_whole_job),
		cmocka_unit_test(efficiency_waits_for_the_end),
		cmocka_unit_test(suspension_is_no_run_time),
		cmocka_unit_test(visible_from),
		cmocka_unit_test(oom_step),
		cmocka_unit_test(flaws),
		cmocka_unit_test(an_end_is_filled_in),
		cmocka_unit_test(a_filled_end_gives_way),
		cmocka_unit_test(gpu_use),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Which run of a job id a record without a submit time belongs to: by examples, and that the order
 * and number of records do not show. */
#include "core/family.h"

#include "base/buf.h"

#include "core/merge.h"
#include "core/state.h"

#include <setjmp.h>
#include <cmocka.h>

static struct arena *arena;

struct event {
	enum record_kind kind;
	int64_t submit, start, end, elapsed, at; /* 0: not said */
	int64_t step;				 /* of a step kind */
};

enum { MOST = 12 };

static struct record record_of(const struct event *e)
{
	struct record rec = { .kind = e->kind, .cluster = "c1", .as_of = AS_OF_UNKNOWN };
	struct job *j = &rec.job;

	job_set(j, cluster, "c1");
	job_set(j, job_id, 7);
	if (e->submit != 0)
		job_set(j, submit_at, e->submit);
	if (e->elapsed != 0)
		job_set(j, rec_elapsed, e->elapsed);
	rec.submit_known = e->submit != 0;
	rec.at = e->at;
	if (e->kind == REC_JOB_SUSPEND)
		job_set(j, moments, arena_printf(arena, "S%" PRId64, e->at));
	if (e->kind == REC_STEP_START || e->kind == REC_STEP_END) {
		struct step *s = ARENA_NEW(arena, struct step);
		step_set(s, step_id, e->step);
		step_set(s, het_comp, HET_COMP_NONE);
		if (e->start != 0)
			step_set(s, start_at, e->start);
		if (e->end != 0)
			step_set(s, end_at, e->end);
		rec.steps = s;
		rec.n_steps = 1;
	} else {
		if (e->start != 0)
			job_set(j, start_at, e->start);
		if (e->end != 0)
			job_set(j, end_at, e->end);
	}
	record_stamp(&rec);
	return rec;
}

/* "100:110-200" submit:start-end, "i" behind a submit that was made up, "+2" steps, "~" moments. */
static const char *runs_text(const struct family_run *runs, size_t n)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < n; i++) {
		const struct job *j = &runs[i].job;
		buf_printf(&b, "%s%" PRId64 "%s:", i > 0 ? " " : "", j->submit_at,
			   j->submit_inferred ? "i" : "");
		if (job_has(j, start_at))
			buf_i64(&b, j->start_at);
		buf_addc(&b, '-');
		if (job_has(j, end_at))
			buf_i64(&b, j->end_at);
		if (job_has(j, moments))
			buf_printf(&b, "~%s", j->moments);
		if (runs[i].n_steps > 0)
			buf_printf(&b, "+%zu", runs[i].n_steps);
		assert_true(job_has(j, submit_inferred));
		assert_string_equal(j->cluster, "c1");
		assert_int_equal(j->job_id, 7);
		for (size_t k = 0; k < runs[i].n_steps; k++)
			assert_int_equal(runs[i].steps[k].submit_at, j->submit_at);
	}
	const char *text = arena_strndup(arena, buf_str(&b), b.len);
	buf_fini(&b);
	return text;
}

static const char *resolve(const struct event *events, const size_t *order, size_t n)
{
	struct family f;
	struct family_run *runs;
	size_t n_runs;

	family_init(&f, "c1", 7, arena);
	for (size_t i = 0; i < n; i++) {
		struct record rec = record_of(&events[order[i]]);
		family_add(&f, &rec);
	}
	family_resolve(&f, &runs, &n_runs);
	return runs_text(runs, n_runs);
}

#define START	REC_JOB_START
#define END	REC_JOB_END
#define SUSPEND REC_JOB_SUSPEND
#define RESIZE	REC_JOB_RESIZE

static void examples(void **state)
{
	static const struct {
		const char *what;
		struct event events[MOST];
		const char *want;
	} rows[] = {
		{ "with a submit time nothing is guessed",
		  { { START, 100, 110, 0, 0, 0, 0 }, { END, 100, 110, 200, 0, 0, 0 } },
		  "100:110-200" },
		{ "an end alone makes a run", { { END, 0, 0, 200, 0, 0, 0 } }, "200i:-200" },
		{ "less the seconds it ran", { { END, 0, 0, 200, 50, 0, 0 } }, "150i:-200" },
		{ "a start and an end of one run",
		  { { START, 0, 100, 0, 0, 0, 0 }, { END, 0, 0, 200, 0, 0, 0 } },
		  "100i:100-200" },
		{ "the run whose life holds the time",
		  { { START, 100, 0, 0, 0, 0, 0 },
		    { START, 500, 0, 0, 0, 0, 0 },
		    { END, 0, 110, 200, 0, 0, 0 },
		    { START, 0, 510, 0, 0, 0, 0 } },
		  "100:110-200 500:510-" },
		{ "the true submit time takes over what was made up",
		  { { END, 0, 110, 200, 0, 0, 0 }, { START, 100, 0, 0, 0, 0, 0 } },
		  "100:110-200" },
		{ "before the first submission nobody is there",
		  { { END, 0, 10, 20, 0, 0, 0 }, { START, 100, 0, 0, 0, 0, 0 } },
		  "10i:10-20 100:-" },
		{ "after the end neither",
		  { { END, 100, 110, 200, 0, 0, 0 }, { START, 0, 300, 0, 0, 0, 0 } },
		  "100:110-200 300i:300-" },
		{ "two runs, one end each",
		  { { END, 0, 0, 200, 0, 0, 0 }, { END, 0, 0, 300, 0, 0, 0 } },
		  "200i:-200 300i:-300" },
		{ "an open run is left when another starts",
		  { { START, 0, 100, 0, 0, 0, 0 },
		    { START, 0, 900, 0, 0, 0, 0 },
		    { END, 0, 0, 950, 0, 0, 0 } },
		  "100i:100- 900i:900-950" },
		{ "lives that overlap are one",
		  { { END, 0, 0, 200, 150, 0, 0 }, { START, 0, 60, 0, 0, 0, 0 } },
		  "50i:60-200" },
		{ "an open run ends where another is submitted",
		  { { START, 0, 100, 0, 0, 0, 0 },
		    { END, 500, 510, 600, 0, 0, 0 },
		    { END, 0, 0, 700, 0, 0, 0 } },
		  "100i:100- 500:510-600 700i:-700" },
		{ "an end in the second of the next submission is the former run's",
		  { { START, 100, 110, 0, 0, 0, 0 },
		    { START, 200, 0, 0, 0, 0, 0 },
		    { END, 0, 0, 200, 0, 0, 0 } },
		  "100:110-200 200:-" },
		{ "and a start is the next one's",
		  { { START, 100, 110, 0, 0, 0, 0 },
		    { START, 200, 0, 0, 0, 0, 0 },
		    { START, 0, 200, 0, 0, 0, 0 } },
		  "100:110- 200:200-" },
		{ "a run of no length",
		  { { END, 100, 0, 0, 0, 0, 0 }, { END, 0, 100, 100, 0, 0, 0 } },
		  "100:100-100" },
		{ "a later end that says how long it ran is the same run's",
		  { { END, 100, 110, 200, 0, 0, 0 }, { END, 0, 0, 205, 90, 0, 0 } },
		  "100:110-205" },
		{ "once it has ended, the next is another",
		  { { START, 100, 0, 0, 0, 0, 0 },
		    { END, 0, 0, 200, 0, 0, 0 },
		    { END, 0, 250, 300, 0, 0, 0 } },
		  "100:-200 250i:250-300" },
		{ "a suspension by its moment",
		  { { START, 100, 110, 0, 0, 0, 0 }, { SUSPEND, 0, 0, 0, 0, 150, 0 } },
		  "100:110-~S150" },
		{ "a suspension of a run that was made up",
		  { { START, 0, 110, 0, 0, 0, 0 },
		    { SUSPEND, 0, 0, 0, 0, 150, 0 },
		    { END, 0, 0, 200, 0, 0, 0 } },
		  "110i:110-200~S150" },
		{ "steps follow",
		  { { START, 100, 110, 0, 0, 0, 0 },
		    { REC_STEP_START, 0, 120, 0, 0, 0, 0 },
		    { REC_STEP_END, 0, 120, 130, 0, 0, 0 },
		    { REC_STEP_END, 0, 0, 140, 0, 0, 1 },
		    { REC_STEP_END, 0, 10, 20, 0, 0, 0 } },
		  "10i:-+1 100:110-+2" },
		{ "steps make a run as well",
		  { { REC_STEP_END, 0, 120, 130, 0, 0, 0 },
		    { REC_STEP_END, 0, 140, 150, 0, 0, 1 },
		    { END, 0, 0, 160, 0, 0, 0 } },
		  "120i:-160+2" },
		{ "a resize ends a run and opens one",
		  { { START, 100, 110, 0, 0, 0, 0 },
		    { RESIZE, 100, 0, 0, 0, 150, 0 },
		    { END, 150, 150, 200, 0, 0, 0 } },
		  "100:110-150 150:150-200" },
		{ "whoever goes on to name the old submit time means the new run",
		  { { START, 100, 110, 0, 0, 0, 0 },
		    { SUSPEND, 100, 0, 0, 0, 120, 0 },
		    { RESIZE, 100, 0, 0, 0, 150, 0 },
		    { SUSPEND, 100, 0, 0, 0, 160, 0 },
		    { REC_STEP_END, 100, 120, 130, 0, 0, 0 },
		    { REC_STEP_END, 100, 170, 180, 0, 0, 1 },
		    { END, 100, 110, 200, 0, 0, 0 } },
		  "100:110-150~S120+1 150:150-200~S160+1" },
		{ "twice",
		  { { START, 100, 110, 0, 0, 0, 0 },
		    { RESIZE, 100, 0, 0, 0, 150, 0 },
		    { RESIZE, 100, 0, 0, 0, 170, 0 },
		    { END, 100, 110, 200, 0, 0, 0 } },
		  "100:110-150 150:150-170 170:170-200" },
		{ "without a submit time",
		  { { START, 0, 110, 0, 0, 0, 0 },
		    { RESIZE, 0, 0, 0, 0, 150, 0 },
		    { END, 0, 110, 200, 0, 0, 0 } },
		  "110i:110-150 150:150-200" },
		{ "or an end that names nothing else",
		  { { START, 0, 110, 0, 0, 0, 0 },
		    { RESIZE, 0, 0, 0, 0, 150, 0 },
		    { END, 0, 0, 200, 0, 0, 0 } },
		  "110i:110-150 150:150-200" },
		{ "what has ended is not resized",
		  { { END, 100, 110, 140, 0, 0, 0 }, { RESIZE, 100, 0, 0, 0, 150, 0 } },
		  "100:110-140" },
		{ "nobody is there to be resized", { { RESIZE, 0, 0, 0, 0, 150, 0 } }, "" },
		{ "or it is not known yet",
		  { { RESIZE, 100, 0, 0, 0, 150, 0 } },
		  "100:-150 150:150-" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t order[MOST], n = 0;
		while (n < MOST && rows[i].events[n].kind + rows[i].events[n].submit +
						   rows[i].events[n].start + rows[i].events[n].end +
						   rows[i].events[n].at !=
					   0)
			n++;
		for (size_t k = 0; k < n; k++)
			order[k] = k;
		const char *got = resolve(rows[i].events, order, n);
		if (strcmp(got, rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].what, got, rows[i].want);
		for (size_t k = 0; k < n; k++)
			order[k] = n - 1 - k;
		assert_string_equal(resolve(rows[i].events, order, n), rows[i].want);
		arena_reset(arena);
	}
}

static uint64_t seed = 31337;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct event random_event(void)
{
	static const enum record_kind kinds[] = { START,	  END,	       END, SUSPEND,
						  REC_STEP_START, REC_STEP_END, RESIZE };
	struct event e = { .kind = kinds[next_random() % ARRAY_LEN(kinds)] };
	int64_t t = 1 + (int64_t)(next_random() % 60);

	e.submit = next_random() % 3 == 0 ? t : 0;
	e.step = (int64_t)(next_random() % 2);
	switch ((int)e.kind) {
	case RESIZE:
	case SUSPEND: e.at = t; break;
	case START:
	case REC_STEP_START: e.start = t + (int64_t)(next_random() % 5); break;
	default:
		e.end = t + (int64_t)(next_random() % 20);
		e.start = next_random() % 2 == 0 ? t : 0;
		e.elapsed = next_random() % 3 == 0 ? 1 + (int64_t)(next_random() % 20) : 0;
	}
	return e;
}

static void order_and_number_do_not_show(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct event events[MOST];
		size_t order[3 * MOST], n = 1 + next_random() % MOST;
		arena_reset(arena);
		for (size_t i = 0; i < n; i++) {
			events[i] = random_event();
			order[i] = i;
		}
		const char *want = resolve(events, order, n);
		for (size_t i = 0; i < 3 * n; i++)
			order[i] = i % n;
		for (size_t i = 3 * n - 1; i > 0; i--) {
			size_t k = next_random() % (i + 1), t = order[i];
			order[i] = order[k];
			order[k] = t;
		}
		assert_string_equal(resolve(events, order, 3 * n), want);
	}
}

/* Runs stand apart, each record is in one, and each submit time is there once. */
static void runs_are_whole(void **state)
{
	(void)state;
	for (int round = 0; round < 3000; round++) {
		struct family f;
		struct family_run *runs;
		size_t n_runs, n = 1 + next_random() % MOST, moments = 0;
		bool runs_wanted = false; /* a resize alone makes none */
		arena_reset(arena);
		family_init(&f, "c1", 7, arena);
		for (size_t i = 0; i < n; i++) {
			struct event e = random_event();
			struct record rec = record_of(&e);
			runs_wanted |= e.kind != RESIZE || e.submit != 0;
			family_add(&f, &rec);
			assert_false(family_add(&f, &rec));
		}
		for (size_t i = 0; i < f.n; i++)
			moments += job_has(&f.parts[i]->job, moments);
		family_resolve(&f, &runs, &n_runs);
		assert_true(n_runs <= f.n && (n_runs >= 1) >= runs_wanted);
		for (size_t i = 1; i < n_runs; i++)
			assert_true(runs[i].job.submit_at > runs[i - 1].job.submit_at);
		bool any = false;
		for (size_t i = 0; i < n_runs; i++)
			any |= job_has(&runs[i].job, moments);
		assert_int_equal(any, moments > 0);
	}
}

/* Parts that were kept, some of them, and then more: the same as all at once. */
static void kept_parts_go_on(void **state)
{
	(void)state;
	for (int round = 0; round < 1000; round++) {
		struct event events[MOST];
		size_t order[MOST], n = 2 + next_random() % (MOST - 1), half = n / 2, n_runs;
		struct family first, second;
		struct family_run *runs;
		arena_reset(arena);
		family_init(&first, "c1", 7, arena);
		family_init(&second, "c1", 7, arena);
		for (size_t i = 0; i < n; i++) {
			events[i] = random_event();
			order[i] = i;
		}
		for (size_t i = 0; i < half; i++) {
			struct record rec = record_of(&events[i]);
			assert_true(family_add(&first, &rec) || i > 0);
		}
		for (size_t i = first.n; i-- > 0;) {
			struct job kept = first.parts[i]->job;
			assert_true(first.parts[i]->changed);
			job_derive(&kept, NULL, 0, arena); /* as a row would be */
			struct family_part *p = family_load(&second, &kept);
			for (size_t k = 0; k < first.parts[i]->n_steps; k++)
				family_load_step(&second, p, &first.parts[i]->steps[k]);
			assert_false(p->changed);
		}
		for (size_t i = half; i < n; i++) {
			struct record rec = record_of(&events[i]);
			family_add(&second, &rec);
		}
		family_resolve(&second, &runs, &n_runs);
		assert_string_equal(runs_text(runs, n_runs), resolve(events, order, n));
	}
}

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

/* FC-189: what a resize names is the new run's; the rest goes over; what ended stays behind. */
static void resized_runs_differ(void **state)
{
	static const struct event events[] = {
		{ START, 100, 110, 0, 0, 0, 0 },
		{ RESIZE, 100, 0, 0, 0, 150, 0 },
		{ END, 100, 110, 200, 0, 0, 0 },
	};
	static const size_t orders[][3] = { { 0, 1, 2 }, { 1, 0, 2 }, { 2, 1, 0 }, { 1, 2, 0 },
					    { 2, 0, 1 }, { 0, 2, 1 } };

	(void)state;
	for (size_t o = 0; o < ARRAY_LEN(orders); o++) {
		struct family f;
		struct family_run *runs;
		size_t n;
		family_init(&f, "c1", 7, arena);
		for (size_t i = 0; i < 3; i++) {
			struct record rec = record_of(&events[orders[o][i]]);
			if (rec.kind == START)
				job_set(&rec.job, account, "physics");
			if (rec.kind == END)
				job_set(&rec.job, exit, 256);
			else
				job_set(&rec.job, tres_alloc,
					rec.kind == START ? "cpu=32" : "cpu=16");
			if (rec.kind == END)
				job_set(&rec.job, state, STATE_FAILED);
			record_stamp(&rec);
			family_add(&f, &rec);
		}
		family_resolve(&f, &runs, &n);
		assert_int_equal(n, 2);
		assert_int_equal(runs[0].job.state, STATE_RESIZING);
		assert_string_equal(runs[0].job.tres_alloc, "cpu=32");
		assert_string_equal(runs[0].job.account, "physics");
		assert_false(job_has(&runs[0].job, exit));
		assert_int_equal(runs[1].job.state, STATE_FAILED);
		assert_string_equal(runs[1].job.tres_alloc, "cpu=16");
		assert_string_equal(runs[1].job.account, "physics");
		assert_int_equal(runs[1].job.exit, 256);
		assert_int_equal(runs[1].job.eligible_at, 150);
		assert_int_equal(runs[1].job.start_at, 150);
	}
}

/* Rows become parts when the resize comes, and give the same. */
static void rows_become_parts(void **state)
{
	static const struct event events[] = {
		{ START, 100, 110, 0, 0, 0, 0 },
		{ END, 100, 110, 200, 0, 0, 0 },
		{ RESIZE, 100, 0, 0, 0, 150, 0 },
	};
	struct record start = record_of(&events[0]), end = record_of(&events[1]);
	struct record again = record_of(&events[2]);
	struct job row = start.job;
	struct family f;
	struct family_run *runs;
	size_t n;

	(void)state;
	job_merge(&row, &end.job, false, arena);
	job_derive(&row, NULL, 0, arena);
	family_init(&f, "c1", 7, arena);
	family_load(&f, &row);
	assert_true(family_add(&f, &again));
	assert_false(family_add(&f, &end));
	family_resolve(&f, &runs, &n);
	assert_string_equal(runs_text(runs, n), "100:110-150 150:150-200");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(examples),
		cmocka_unit_test(order_and_number_do_not_show),
		cmocka_unit_test(runs_are_whole),
		cmocka_unit_test(kept_parts_go_on),
		cmocka_unit_test(resized_runs_differ),
		cmocka_unit_test(rows_become_parts),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

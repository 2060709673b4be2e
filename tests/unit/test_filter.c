#include "unit.h"

#include "base/buf.h"
#include "core/filter.h"
#include "core/moments.h"
#include "core/state.h"
#include "core/timespec.h"

static struct arena *arena;

static int setup(void **state UNUSED)
{
	arena = arena_new();
	return 0;
}

static int teardown(void **state UNUSED)
{
	arena_free(arena);
	return 0;
}

/* Splits a line at tabs in place; returns the number of fields. */
static size_t fields(char *line, char **out, size_t most)
{
	size_t n = 0;

	line[strcspn(line, "\n")] = '\0';
	for (char *at = line; at != NULL && n < most; n++) {
		out[n] = at;
		at = strchr(at, '\t');
		if (at != NULL)
			*at++ = '\0';
	}
	return n;
}

/* --- the 513 published rows --- */

/* The life of the job, and two instants in each of its phases. */
enum { SUBMIT = 300, ELIGIBLE = 600, START = 900, END = 1200 };

static int64_t instant(const char *name)
{
	static const char phases[] = "SEPRC";

	if (strcmp(name, "-") == 0)
		return TIME_UNSET;
	return 300 * (strchr(phases, name[0]) - phases) + 100 * (name[1] - '0');
}

static int64_t job_in_phase(struct job *j, const char *phase)
{
	static const struct {
		const char *name;
		int64_t state, now;
	} phases[] = { { "not-eligible", STATE_PENDING, 550 },
		       { "pending", STATE_PENDING, 850 },
		       { "running", STATE_RUNNING, 1150 },
		       { "ended", STATE_COMPLETED, 1450 } };

	*j = (struct job){ 0 };
	job_set(j, job_id, 7);
	job_set(j, submit_at, SUBMIT);
	for (size_t i = 0; i < ARRAY_LEN(phases); i++) {
		if (i == 1)
			job_set(j, visible_from, ELIGIBLE);
		if (i == 2)
			job_set(j, start_at, START);
		if (i == 3)
			job_set(j, end_at, END);
		job_set(j, state, phases[i].state);
		if (strcmp(phases[i].name, phase) == 0)
			return phases[i].now;
	}
	fail_msg("%s", phase);
	return 0;
}

static void published_row(char **v)
{
	struct job_selection selection = { 7, -1, -1, STEP_ANY };
	struct job_filter f;
	struct job j;
	struct err err = { 0 };
	int64_t wanted_state, now = job_in_phase(&j, v[0]);

	job_filter_init(&f);
	if (v[1][0] == '1') {
		f.jobs = &selection;
		f.n_jobs = 1;
	}
	if (strcmp(v[2], "-") != 0) {
		assert_int_equal(state_parse(v[2], &wanted_state, NULL, NULL), 0);
		f.states = (struct numbers){ &wanted_state, 1 };
	}
	f.start = instant(v[3]);
	f.end = instant(v[4]);
	const char *got = filter_window(&f, now, 50, &err) < 0 ? "error" :
			  filter_matches(&f, &j, now) ? "shown" : "hidden";
	if (strcmp(got, v[5]) != 0)
		fail_msg("%s -j %s -s %s %s %s: %s, not %s", v[0], v[1], v[2], v[3], v[4], got,
			 v[5]);
}

static void published_windows(void **state UNUSED)
{
	FILE *in = fopen("tests/data/sacct-window.tsv", "r");
	char line[256], *v[6];
	int rows = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		if (line[0] == '#' || strncmp(line, "phase", 5) == 0)
			continue;
		assert_int_equal(fields(line, v, 6), 6);
		published_row(v);
		rows++;
	}
	fclose(in);
	assert_int_equal(rows, 513);
}

/* --- what a real sacct showed --- */

static int64_t cell_time(const char *cell)
{
	return strcmp(cell, "-") == 0 ? TIME_UNSET : strtoll(cell, NULL, 10);
}

struct shown_job {
	struct job j;
	char name[32];
};

static void golden_job(char **v, struct shown_job *ret)
{
	struct job *j = &ret->j;
	int64_t s;

	*ret = (struct shown_job){ 0 };
	snprintf(ret->name, sizeof(ret->name), "%s", v[2]);
	assert_int_equal(state_parse(v[3], &s, NULL, NULL), 0);
	job_set(j, job_id, cell_time(v[1]));
	job_set(j, state, s);
	job_set(j, submit_at, cell_time(v[4]));
	if (v[5][0] != '-')
		job_set(j, visible_from, cell_time(v[5]));
	if (v[6][0] != '-')
		job_set(j, start_at, cell_time(v[6]));
	if (v[7][0] != '-')
		job_set(j, end_at, cell_time(v[7]));
}

static void golden_query(char **v, const struct shown_job *jobs, size_t n)
{
	struct job_filter f;
	struct buf got = BUF_INIT;
	int64_t states[8], now = cell_time(v[4]), last = -1;

	job_filter_init(&f);
	f.states.v = states;
	for (const char *at = v[1]; *at != '-' && *at != '\0'; at += *at == ',') {
		const char *name = arena_strndup(arena, at, strcspn(at, ","));
		assert_int_equal(state_parse(name, &states[f.states.n++], NULL, NULL), 0);
		at += strlen(name);
	}
	f.start = cell_time(v[2]);
	f.end = cell_time(v[3]);
	assert_int_equal(filter_window(&f, now, 0, NULL), 0);
	for (size_t i = 0; i < n; i++) {
		/* Of a job's runs the newest that matches; they come newest first. */
		if (jobs[i].j.job_id == last || !filter_matches(&f, &jobs[i].j, now))
			continue;
		last = jobs[i].j.job_id;
		buf_printf(&got, "%s%s", got.len > 0 ? " " : "", jobs[i].name);
	}
	/* sacct sorts arrays by their own number: compare as sets of words. */
	size_t words = 0;
	for (const char *at = v[5]; *at != '\0'; at += *at == ' ') {
		size_t len = strcspn(at, " ");
		char word[40];
		snprintf(word, sizeof(word), " %.*s ", (int)len, at);
		struct buf all = BUF_INIT;
		buf_printf(&all, " %s ", buf_str(&got));
		if (strstr(buf_str(&all), word) == NULL)
			fail_msg("-s %s -S %s -E %s misses%s", v[1], v[2], v[3], word);
		buf_fini(&all);
		at += len;
		words++;
	}
	size_t got_words = got.len > 0;
	for (const char *c = buf_str(&got); *c != '\0'; c++)
		got_words += *c == ' ';
	if (got_words != words)
		fail_msg("-s %s -S %s -E %s: %s\nnot %s", v[1], v[2], v[3], buf_str(&got), v[5]);
	buf_fini(&got);
}

static void golden_windows(void **state UNUSED)
{
	FILE *in = fopen("tests/data/sacct-golden-windows.tsv", "r");
	static struct shown_job jobs[100];
	char line[1024], *v[8];
	size_t n = 0, queries = 0;

	assert_non_null(in);
	while (fgets(line, sizeof(line), in) != NULL) {
		size_t cells = fields(line, v, 8);
		if (strcmp(v[0], "job") == 0) {
			assert_int_equal(cells, 8);
			golden_job(v, &jobs[n++]);
		} else if (strcmp(v[0], "query") == 0) {
			assert_int_equal(cells, 6);
			golden_query(v, jobs, n);
			queries++;
		}
	}
	fclose(in);
	assert_int_equal(n, 53);
	assert_int_equal(queries, 18);
}

/* --- edges, by the equal sign --- */

static void window_defaults(void **state UNUSED)
{
	static const struct {
		bool jobs, states;
		int64_t start, end, want_start, want_end; /* now 1000, midnight 500 */
	} rows[] = {
		{ false, false, TIME_UNSET, TIME_UNSET, 500, 1000 },
		{ false, true, TIME_UNSET, TIME_UNSET, 1000, 1000 }, /* FC-068 */
		{ true, false, TIME_UNSET, TIME_UNSET, 0, 1000 },
		{ true, true, TIME_UNSET, TIME_UNSET, 0, 1000 },
		{ false, true, 400, TIME_UNSET, 400, 400 }, /* FC-068 */
		{ true, true, 400, TIME_UNSET, 400, 400 },
		{ false, false, 400, TIME_UNSET, 400, 1000 },
		{ false, false, 400, 600, 400, 600 },
		{ true, true, TIME_UNSET, 600, 0, 600 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_selection selection = { 7, -1, -1, STEP_ANY };
		int64_t failed = STATE_FAILED;
		struct job_filter f;
		job_filter_init(&f);
		f.jobs = &selection;
		f.n_jobs = rows[i].jobs;
		f.states = (struct numbers){ &failed, rows[i].states };
		f.start = rows[i].start;
		f.end = rows[i].end;
		assert_int_equal(filter_window(&f, 1000, 500, NULL), 0);
		assert_int_equal(f.start, rows[i].want_start);
		assert_int_equal(f.end, rows[i].want_end);
	}
	/* FC-069 */
	struct job_filter f;
	struct err err = { 0 };
	job_filter_init(&f);
	f.start = 1773100200;
	f.end = 1773097140;
	assert_int_equal(filter_window(&f, 1, 0, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_non_null(strstr(err.text, "2026-03-09T23:50:00Z"));
	assert_non_null(strstr(err.text, "2026-03-09T22:59:00Z"));
}

static bool shown(const struct job *j, int64_t wanted, int64_t start, int64_t end, int64_t now)
{
	struct job_filter f;

	job_filter_init(&f);
	if (wanted >= 0)
		f.states = (struct numbers){ &wanted, 1 };
	f.start = start;
	f.end = end;
	assert_int_equal(filter_window(&f, now, 0, NULL), 0);
	return filter_in_window(&f, j, now);
}

static struct job life(int64_t s, int64_t visible, int64_t start, int64_t end, const char *moments)
{
	struct job j = { 0 };

	job_set(&j, job_id, 7);
	job_set(&j, submit_at, 10);
	job_set(&j, state, s);
	if (visible >= 0)
		job_set(&j, visible_from, visible);
	if (start >= 0)
		job_set(&j, start_at, start);
	if (end >= 0)
		job_set(&j, end_at, end);
	if (moments != NULL)
		job_set(&j, moments, moments);
	return j;
}

static void window_edges(void **state UNUSED)
{
	const struct job done = life(STATE_COMPLETED, 20, 30, 40, NULL);
	const struct job cancelled = life(STATE_CANCELLED, 20, -1, 40, NULL);
	const struct job held = life(STATE_PENDING, -1, -1, -1, NULL);
	const struct job stopped = life(STATE_RUNNING, 20, 30, -1, "S35");
	const struct job paused = life(STATE_COMPLETED, 20, 30, 60, "S40,R50");
	const struct job endless = life(STATE_FAILED, 20, 30, -1, NULL);
	const struct {
		const struct job *j;
		int64_t wanted, start, end;
		bool want;
	} rows[] = { /* now 100 */
		{ &done, -1, 5, 20, false },	{ &done, -1, 5, 21, true },
		{ &done, -1, 40, 50, true },	{ &done, -1, 41, 50, false },
		{ &done, -1, 20, 20, true },	{ &done, -1, 19, 19, false },
		{ &done, STATE_RUNNING, 5, 30, false },	 { &done, STATE_RUNNING, 5, 31, true },
		{ &done, STATE_RUNNING, 39, 50, true },	 { &done, STATE_RUNNING, 40, 50, false },
		{ &done, STATE_RUNNING, 30, 30, true },	 { &done, STATE_PENDING, 5, 20, false },
		{ &done, STATE_PENDING, 29, 50, true },	 { &done, STATE_PENDING, 30, 50, false },
		{ &done, STATE_COMPLETED, 40, 50, true },  { &done, STATE_COMPLETED, 41, 50, false },
		{ &done, STATE_COMPLETED, 5, 40, true },   { &done, STATE_COMPLETED, 5, 39, false },
		{ &done, STATE_COMPLETED, 40, 40, true },  { &done, STATE_FAILED, 5, 50, false },
		{ &done, STATE_COMPLETED, 0, 0, true },	   { &done, STATE_RUNNING, 0, 0, false },
		{ &cancelled, STATE_PENDING, 39, 50, true },
		{ &cancelled, STATE_PENDING, 40, 50, false },
		{ &cancelled, STATE_RUNNING, 5, 50, false },
		{ &held, -1, 5, 50, false },	{ &held, STATE_PENDING, 5, 50, false },
		{ &held, STATE_PENDING, 0, 0, true },
		/* suspended now: ran, and is suspended (FC-044) */
		{ &stopped, STATE_RUNNING, 31, 34, true }, { &stopped, STATE_SUSPENDED, 5, 34, false },
		{ &stopped, STATE_SUSPENDED, 5, 35, true }, { &stopped, STATE_SUSPENDED, 90, 99, true },
		{ &stopped, STATE_SUSPENDED, 0, 0, true },
		{ &paused, STATE_SUSPENDED, 50, 55, true }, { &paused, STATE_SUSPENDED, 51, 55, false },
		{ &paused, STATE_SUSPENDED, 5, 39, false },
		/* no time of its end: ended when it started */
		{ &endless, -1, 31, 50, false }, { &endless, STATE_FAILED, 30, 50, true },
		{ &endless, STATE_RUNNING, 31, 50, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (shown(rows[i].j, rows[i].wanted, rows[i].start, rows[i].end, 100) !=
		    rows[i].want)
			fail_msg("row %zu", i);
	/* E = now is one second more */
	assert_true(shown(&done, STATE_RUNNING, 5, 30, 30));
	/* FC-065: over midnight, asked at 00:20 */
	struct job night = life(STATE_COMPLETED, 23, 24, 70, NULL);
	assert_true(shown(&night, -1, 60, 80, 80));
	/* about submission */
	struct job_filter f;
	job_filter_init(&f);
	f.submit_window = true;
	f.start = 10;
	f.end = 11;
	assert_true(filter_in_window(&f, &done, 100));
	f.start = 11;
	f.end = 50;
	assert_false(filter_in_window(&f, &done, 100));
	f.start = 5;
	int64_t completed = STATE_COMPLETED, running = STATE_RUNNING;
	f.states = (struct numbers){ &completed, 1 };
	assert_true(filter_in_window(&f, &done, 100));
	f.states = (struct numbers){ &running, 1 };
	assert_false(filter_in_window(&f, &done, 100));
}

/* Second statement for whole windows: second by second, what was the job doing? */
static void windows_against_seconds(void **state UNUSED)
{
	uint64_t rnd = test_seed("windows");

	for (int round = 0; round < 20000; round++) {
		int64_t visible = 2 + test_below(&rnd, 10),
			start = visible + 1 + test_below(&rnd, 10);
		int64_t end = start + 1 + test_below(&rnd, 10), now = 40;
		bool started = test_below(&rnd, 4) > 0, ended = test_below(&rnd, 3) > 0;
		struct job j = life(ended	? STATE_FAILED
				    : started ? STATE_RUNNING
					      : STATE_PENDING,
				    visible, started ? start : -1, ended ? end : -1, NULL);
		int64_t s = test_below(&rnd, 35), e = s + 1 + test_below(&rnd, 10);
		bool waited = false, ran = false;
		for (int64_t t = s; t < e && t < now; t++) {
			waited |= t >= visible && (started ? t < start : !ended || t < end);
			ran |= started && t >= start && (!ended || t < end);
		}
		/* a window may close in the second before the job's next stage: both ends of it */
		if (shown(&j, STATE_PENDING, s, e, now) != waited ||
		    shown(&j, STATE_RUNNING, s, e, now) != ran ||
		    shown(&j, STATE_FAILED, s, e, now) != (ended && s <= end && end <= e) ||
		    shown(&j, -1, s, e, now) !=
			    (visible < e && (!ended || end >= s)))
			fail_msg("visible %" PRId64 " start %" PRId64 " end %" PRId64 " [%" PRId64
				 ",%" PRId64 ") started %d ended %d", visible, start, end, s, e, started, ended);
	}
}

/* --- selections --- */

static void selection_parse(void **state UNUSED)
{
	static const struct {
		const char *in, *want; /* NULL = refused */
	} rows[] = {
		{ "12", "12" },
		{ "12,13", "12 13" },
		{ "12_3", "12_3" },
		{ "12_[1-3,7]", "12_1 12_2 12_3 12_7" },
		{ "12_[0-6:3%2],9", "12_0 12_3 12_6 9" },
		{ "12+1", "12+1" },
		{ "12.batch,12.extern,12.interactive", "12.-5 12.-4 12.-6" },
		{ "12_3.0", "12_3.0" },
		{ "12_[1-2].batch", "12_1.-5 12_2.-5" },
		{ "12+1.0", "12+1.0" },
		{ "4294967293.7", "4294967293.7" },
		{ "", NULL }, { ",", NULL }, { "12,", NULL }, { ",12", NULL }, { "0", NULL }, { "-1", NULL },
		{ "x", NULL }, { "12x", NULL }, { "12_", NULL }, { "12_[", NULL }, { "12_[]", NULL },
		{ "12_[1-]", NULL }, { "12_[3-1]", NULL }, { "12_[1", NULL }, { "12_[1]x", NULL },
		{ "12_[1-9:0]", NULL }, { "12_[1%]", NULL }, { "12_[1%2,3]", NULL }, { "12+", NULL },
		{ "12.", NULL }, { "12.x", NULL }, { "12.batchx", NULL }, { "12_3+1", NULL }, { "12 ,13", NULL },
		{ "12_[1,...]", NULL }, { "99999999999999999999", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job_selection *v = NULL;
		size_t n = 0;
		struct err err = { 0 };
		int rc = job_selection_parse(rows[i].in, arena, &v, &n, &err);
		if (rc != (rows[i].want != NULL ? 0 : -1))
			fail_msg("%s: %d", rows[i].in, rc);
		if (rc < 0) {
			assert_int_equal(err.code, ERR_INVALID);
			continue;
		}
		struct buf got = BUF_INIT;
		for (size_t k = 0; k < n; k++) {
			buf_printf(&got, "%s%" PRId64, k > 0 ? " " : "", v[k].job_id);
			if (v[k].array_task >= 0)
				buf_printf(&got, "_%" PRId64, v[k].array_task);
			if (v[k].het_offset >= 0)
				buf_printf(&got, "+%" PRId64, v[k].het_offset);
			if (v[k].step_id != STEP_ANY)
				buf_printf(&got, ".%" PRId64, v[k].step_id);
		}
		assert_string_equal(buf_str(&got), rows[i].want);
		buf_fini(&got);
	}
	struct job_selection *v = NULL;
	size_t n = 0;
	struct err err = { 0 };
	assert_int_equal(job_selection_parse("1_[0-9223372036854775807]", arena, &v, &n, &err), -1);
	assert_int_equal(err.code, ERR_TOO_LARGE);
	assert_int_equal(job_selection_parse("1_[9223372036854775807-9223372036854775807]", arena,
					     &v, &n, &err),
			 0);
	assert_int_equal(n, 1);
	assert_int_equal(job_selection_parse("1_[0-99999]", arena, &v, &n, &err), 0);
	assert_int_equal(n, SELECTIONS_MAX);
}

static struct job row(int64_t id, int64_t array, int64_t task, int64_t het, int64_t offset)
{
	struct job j = { 0 };

	job_set(&j, job_id, id);
	job_set(&j, submit_at, 10);
	if (array >= 0)
		job_set(&j, array_job_id, array);
	if (task >= 0)
		job_set(&j, array_task_id, task);
	if (het >= 0)
		job_set(&j, het_job_id, het);
	if (offset >= 0)
		job_set(&j, het_offset, offset);
	return j;
}

static int count_matches(const char *text, enum het_choice het, const struct job *rows,
			 size_t n_rows)
{
	struct job_filter f;
	int found = 0;

	job_filter_init(&f);
	f.het = het;
	f.start = 0;
	f.end = 1000;
	assert_int_equal(job_selection_parse(text, arena, &f.jobs, &f.n_jobs, NULL), 0);
	for (size_t i = 0; i < n_rows; i++)
		found += filter_matches(&f, &rows[i], 2000);
	return found;
}

static void selection_matches(void **state UNUSED)
{
	struct job rows[] = {
		row(900, -1, -1, 900, 0), row(901, -1, -1, 900, 1), row(902, -1, -1, 900, 2),
		row(25, 20, 3, -1, -1),	  row(26, 20, 4, -1, -1),   row(20, 20, -1, -1, -1),
	};
	job_set(&rows[5], array_tasks, "5-9,12%2");
	static const struct {
		const char *text;
		enum het_choice het;
		int want;
	} cases[] = {
		/* FC-029 */
		{ "900", HET_DEFAULT, 3 }, { "901", HET_DEFAULT, 1 }, { "900+1", HET_DEFAULT, 1 },
		{ "900", HET_NOT_WHOLE, 1 }, { "900+1", HET_NOT_WHOLE, 1 }, { "901,900", HET_WHOLE, 3 },
		{ "901+1", HET_DEFAULT, 0 },
		/* FC-032 */
		{ "20_3", HET_DEFAULT, 1 }, { "25", HET_DEFAULT, 1 }, { "20", HET_DEFAULT, 3 },
		{ "20_3,25", HET_DEFAULT, 1 }, { "20_[3-4]", HET_DEFAULT, 2 }, { "25_3", HET_DEFAULT, 0 },
		/* FC-026: a task that has not started yet */
		{ "20_7", HET_DEFAULT, 1 }, { "20_12", HET_DEFAULT, 1 }, { "20_10", HET_DEFAULT, 0 },
		{ "20_2", HET_DEFAULT, 0 }, { "20_[1-99]", HET_DEFAULT, 3 },
		{ "20.batch", HET_DEFAULT, 3 },
	};

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int got = count_matches(cases[i].text, cases[i].het, rows, ARRAY_LEN(rows));
		if (got != cases[i].want)
			fail_msg("%s: %d", cases[i].text, got);
	}
}

static void steps(void **state UNUSED)
{
	struct job j = row(7, -1, -1, -1, -1);
	struct step s = { 0 };
	struct job_filter f;
	int64_t pending = STATE_PENDING;

	job_set(&j, state, STATE_COMPLETED);
	job_set(&j, end_at, 40);
	step_set(&s, step_id, STEP_ID_BATCH);
	step_set(&s, start_at, 20);
	job_filter_init(&f);
	f.start = 0;
	f.end = 1000;
	assert_true(filter_wants_step(&f, &j, &s, 2000));
	assert_int_equal(job_selection_parse("7.0,7.batch", arena, &f.jobs, &f.n_jobs, NULL), 0);
	assert_true(filter_wants_step(&f, &j, &s, 2000));
	assert_int_equal(job_selection_parse("7.0", arena, &f.jobs, &f.n_jobs, NULL), 0);
	assert_false(filter_wants_step(&f, &j, &s, 2000));
	assert_int_equal(job_selection_parse("7.0,7", arena, &f.jobs, &f.n_jobs, NULL), 0);
	assert_true(filter_wants_step(&f, &j, &s, 2000));
	assert_int_equal(job_selection_parse("8,7.0", arena, &f.jobs, &f.n_jobs, NULL), 0);
	assert_false(filter_wants_step(&f, &j, &s, 2000));
	f.n_jobs = 0;
	f.states = (struct numbers){ &pending, 1 };
	assert_false(filter_wants_step(&f, &j, &s, 2000));
	f.states.n = 0;
	f.end = 19;
	assert_false(filter_wants_step(&f, &j, &s, 2000));
	f.start = 41;
	f.end = 50;
	assert_false(filter_wants_step(&f, &j, &s, 2000)); /* ended with its job */
	f.start = 40;
	assert_true(filter_wants_step(&f, &j, &s, 2000));
	step_set(&s, end_at, 30);
	assert_false(filter_wants_step(&f, &j, &s, 2000));
}

/* --- one condition at a time: matches, does not, row does not know --- */

static struct job whole_job(void)
{
	struct job j = row(7, -1, -1, -1, -1);

	job_set(&j, cluster, "c1");
	job_set(&j, state, STATE_COMPLETED);
	job_set(&j, visible_from, 20);
	job_set(&j, start_at, 30);
	job_set(&j, end_at, 40);
	job_set(&j, user_name, "alice");
	job_set(&j, uid, 1000);
	job_set(&j, group_name, "users");
	job_set(&j, gid, 100);
	job_set(&j, account, "bio");
	job_set(&j, assoc_id, 5);
	job_set(&j, partition, "main");
	job_set(&j, qos, "normal");
	job_set(&j, wckey, "*calib");
	job_set(&j, name, "50%_\\'x");
	job_set(&j, reason, "Resources");
	job_set(&j, reservation, "o'brien-maint");
	job_set(&j, reservation_id, 3);
	job_set(&j, constraints, "fast&gpu");
	job_set(&j, nodes, "n[1-4]");
	job_set(&j, alloc_nodes, 4);
	job_set(&j, tres_alloc, "cpu=16,mem=100,node=4");
	job_set(&j, timelimit, 60);
	job_set(&j, flags, 20);
	return j;
}

static const char **one(const char *text)
{
	const char **v = ARENA_ARRAY(arena, const char *, 2);

	v[0] = "other";
	v[1] = text;
	return v;
}

static void conditions(void **state UNUSED)
{
	const struct job j = whole_job(), unknown = row(7, -1, -1, -1, -1);

#define CONDITION(want, member, ...)                                                          \
	do {                                                                                  \
		struct job_filter f;                                                          \
		job_filter_init(&f);                                                          \
		f.end = 1000;                                                                 \
		f.start = 0;                                                                  \
		f.member = __VA_ARGS__;                                                       \
		assert_int_equal(job_filter_prepare(&f, arena, NULL), 0);                     \
		if (filter_matches(&f, &j, 2000) != (want))                                   \
			fail_msg(#member " = " #__VA_ARGS__);                                 \
		if (filter_matches(&f, &unknown, 2000))                                       \
			fail_msg(#member " matches what is not known");                       \
	} while (0)
#define TEXT(want, member, text) CONDITION(want, member, (struct texts){ one(text), 2 })
#define NUMBER(want, member, number) \
	CONDITION(want, member, (struct numbers){ (int64_t[]){ 99999, number }, 2 })

	TEXT(true, clusters, "c1");
	TEXT(false, clusters, "c2");
	TEXT(true, users, "alice");
	TEXT(false, users, "Alice");
	NUMBER(true, uids, 1000);
	NUMBER(false, uids, 1001);
	TEXT(true, groups, "users");
	NUMBER(true, gids, 100);
	TEXT(true, accounts, "bio");
	TEXT(false, accounts, "bi");
	NUMBER(true, assoc_ids, 5);
	NUMBER(false, assoc_ids, 6);
	TEXT(true, partitions, "main");
	TEXT(true, qos, "normal");
	TEXT(true, wckeys, "calib");
	TEXT(true, wckeys, "*calib");
	TEXT(false, wckeys, "*cali");
	TEXT(true, names, "50%_\\'x"); /* FC-009: no wildcards */
	TEXT(false, names, "50%");
	TEXT(false, names, "%");
	TEXT(true, reasons, "Resources");
	TEXT(true, reservations, "o'brien-maint");
	NUMBER(true, reservation_ids, 3);
	NUMBER(false, reservation_ids, 4);
	CONDITION(true, constraints, (struct texts){ (const char *[]){ "fast", "gpu" }, 2 });
	CONDITION(false, constraints, (struct texts){ (const char *[]){ "fast", "big" }, 2 });
	CONDITION(true, nodes, "n9,n[4-5]");
	CONDITION(false, nodes, "n[5-9],n04");
	CONDITION(true, cpus_min, 16);
	CONDITION(false, cpus_min, 15);
	CONDITION(true, cpus_max, 16);
	CONDITION(false, cpus_max, 15);
	CONDITION(true, nodes_min, 4);
	CONDITION(true, limit_min, 60);
	CONDITION(false, limit_min, 59);
	CONDITION(true, limit_max, 61);
	CONDITION(true, flags_any, 4 | 8);
	CONDITION(false, flags_any, 8);
#undef NUMBER
#undef TEXT
#undef CONDITION
}

static void conditions_together(void **state UNUSED)
{
	const struct job j = whole_job();
	struct job_filter f;
	struct err err = { 0 };

	job_filter_init(&f);
	f.start = 0;
	f.end = 1000;
	f.users = (struct texts){ one("bob"), 2 };
	f.uids = (struct numbers){ (int64_t[]){ 1000 }, 1 };
	assert_true(filter_matches(&f, &j, 2000)); /* by name or by number */
	f.accounts = (struct texts){ one("physics"), 2 };
	assert_false(filter_matches(&f, &j, 2000)); /* and of that account */
	job_filter_init(&f);
	f.start = 0;
	f.end = 1000;
	f.cpus_min = 10;
	f.cpus_max = 20;
	assert_true(filter_matches(&f, &j, 2000));
	/* Unlimited is no number of minutes. */
	struct job unlimited = whole_job();
	job_set(&unlimited, timelimit, LIMIT_UNLIMITED);
	f.limit_max = 100000;
	assert_true(filter_matches(&f, &j, 2000));
	assert_false(filter_matches(&f, &unlimited, 2000));
	f.nodes = "n[1-";
	assert_int_equal(job_filter_prepare(&f, arena, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
}

static void privacy(void **state UNUSED)
{
	const struct job j = whole_job(), unknown = row(7, -1, -1, -1, -1);
	struct job_filter f;

	job_filter_init(&f);
	f.start = 0;
	f.end = 1000;
	f.restrict_to_own = true;
	f.own_uid = 4;
	f.own_user = "bob";
	assert_false(filter_matches(&f, &j, 2000));
	f.own_user = "alice";
	assert_true(filter_matches(&f, &j, 2000));
	f.own_user = NULL;
	f.own_uid = 1000;
	assert_true(filter_matches(&f, &j, 2000));
	f.own_uid = 4;
	f.own_accounts = (struct texts){ one("bio"), 2 };
	assert_true(filter_matches(&f, &j, 2000));
	assert_false(filter_matches(&f, &unknown, 2000));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_windows),
		cmocka_unit_test(golden_windows),
		cmocka_unit_test(window_defaults),
		cmocka_unit_test(window_edges),
		cmocka_unit_test(windows_against_seconds),
		cmocka_unit_test(selection_parse),
		cmocka_unit_test(selection_matches),
		cmocka_unit_test(steps),
		cmocka_unit_test(conditions),
		cmocka_unit_test(conditions_together),
		cmocka_unit_test(privacy),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

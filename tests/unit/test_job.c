#include "unit.h"

#include "core/job.h"
#include "core/state.h"
#include "core/words.h"

#define T0 INT64_C(1700000000)

static void start_and_elapsed(void **state UNUSED)
{
	/* -1 = unknown.  Times after T0. */
	static const struct {
		const char *what;
		int64_t state, start, end, rec_elapsed;
		const char *moments;
		int64_t now;
		int64_t want_start, want_elapsed;
	} rows[] = {
		{ "ran", STATE_COMPLETED, 0, 600, -1, NULL, 9000, 0, 600 },
		{ "running", STATE_RUNNING, 0, -1, -1, NULL, 250, 0, 250 },
		{ "little known", -1, 0, -1, -1, NULL, 250, 0, 250 },
		{ "FC-060: no start", STATE_FAILED, -1, 600, -1, NULL, 9000, -1, 0 },
		{ "FC-060: no end", STATE_COMPLETED, 100, -1, -1, NULL, 9000, 100, 0 },
		{ "FC-061: clock back", STATE_COMPLETED, 100, 40, -1, NULL, 9000, 40, 0 },
		{ "FC-063: within a second", STATE_COMPLETED, 0, 0, -1, NULL, 9000, 0, 0 },
		{ "clock of now behind", STATE_RUNNING, 500, -1, -1, NULL, 100, 500, 0 },
		{ "pending", STATE_PENDING, -1, -1, -1, NULL, 9000, -1, 0 },
		{ "only elapsed", STATE_COMPLETED, -1, -1, 77, NULL, 9000, -1, 77 },
		{ "elapsed and end", STATE_COMPLETED, -1, 600, 77, NULL, 9000, -1, 77 },
		{ "elapsed, start, no end", STATE_COMPLETED, 0, -1, 77, NULL, 9000, 0, 77 },
		{ "the rest was suspension", STATE_COMPLETED, 0, 600, 77, NULL, 9000, 0, 77 },
		{ "moments know better", STATE_COMPLETED, 0, 600, 77, "S1700000100,R1700000150", 9000, 0,
		  550 },
		{ "more than there is room for", STATE_COMPLETED, 0, 600, 777, NULL, 9000, 0, 600 },
		{ "still runs: computed", STATE_RUNNING, 0, -1, 77, NULL, 600, 0, 600 },
		{ "suspended once", STATE_COMPLETED, 0, 600, -1, "S1700000100,R1700000150", 9000, 0, 550 },
		{ "suspended now", STATE_RUNNING, 0, -1, -1, "S1700000100", 600, 0, 100 },
		{ "suspended to its end", STATE_CANCELLED, 0, 600, -1, "S1700000100", 9000, 0, 100 },
		{ "beyond its life", STATE_COMPLETED, 0, 600, -1,
		  "S1699999000,R1700000010,S1700000590,R1700009000", 9000, 0, 580 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = { 0 };
		int64_t start = -1;
		if (rows[i].state >= 0)
			job_set(&j, state, rows[i].state);
		if (rows[i].start >= 0)
			job_set(&j, start_at, T0 + rows[i].start);
		if (rows[i].end >= 0)
			job_set(&j, end_at, T0 + rows[i].end);
		if (rows[i].rec_elapsed >= 0)
			job_set(&j, rec_elapsed, rows[i].rec_elapsed);
		if (rows[i].moments != NULL)
			job_set(&j, moments, rows[i].moments);
		bool started = job_start_shown(&j, &start);
		if (started != (rows[i].want_start >= 0) ||
		    (started && start != T0 + rows[i].want_start) ||
		    job_elapsed_s(&j, T0 + rows[i].now) != rows[i].want_elapsed)
			fail_msg("%s: %d %" PRId64 " %" PRId64, rows[i].what, started, start - T0,
				 job_elapsed_s(&j, T0 + rows[i].now));
	}
}

static void suspended_window(void **state UNUSED)
{
	/* FC-101: 10:00 to 14:00, suspended 11:00-12:00 */
	struct job j = { 0 };

	job_set(&j, state, STATE_COMPLETED);
	job_set(&j, start_at, 36000);
	job_set(&j, end_at, 50400);
	job_set(&j, moments, "S39600,R43200");
	assert_int_equal(job_elapsed_s(&j, 99999), 10800);
	assert_int_equal(job_suspended_s(&j, INT64_MIN, INT64_MAX, 99999), 3600);
	assert_int_equal(job_suspended_s(&j, 39600, 43200, 99999), 3600);
	assert_int_equal(job_suspended_s(&j, 36000, 39600, 99999), 0);
	assert_int_equal(job_suspended_s(&j, 41400, 50400, 99999), 1800);
	assert_int_equal(job_suspended_s(&j, 43200, 39600, 99999), 0);
}

static void shown_state(void **state UNUSED)
{
	static const struct {
		int64_t state, end;
		const char *moments;
		int64_t want;
	} rows[] = {
		{ STATE_RUNNING, -1, NULL, STATE_RUNNING },
		{ STATE_RUNNING, -1, "S5", STATE_SUSPENDED },
		{ STATE_RUNNING, -1, "S5,R6", STATE_RUNNING },
		{ STATE_RUNNING, -1, "S5,R6,S9", STATE_SUSPENDED },
		{ STATE_RUNNING, 12, "S5", STATE_RUNNING },
		{ STATE_SUSPENDED, -1, NULL, STATE_SUSPENDED },
		{ STATE_SUSPENDED, -1, "S5,R6", STATE_RUNNING },
		{ STATE_SUSPENDED, -1, "R6", STATE_SUSPENDED },
		{ STATE_PENDING, -1, "S5", STATE_PENDING },
		{ STATE_CANCELLED, 12, "S5", STATE_CANCELLED },
		{ STATE_CANCELLED, -1, "S5", STATE_CANCELLED },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = { 0 };
		job_set(&j, state, rows[i].state);
		if (rows[i].end >= 0)
			job_set(&j, end_at, rows[i].end);
		if (rows[i].moments != NULL)
			job_set(&j, moments, rows[i].moments);
		assert_int_equal(job_state_shown(&j), rows[i].want);
	}
}

static void final(void **state UNUSED)
{
	for (size_t i = 0; i < STATE_COUNT; i++) {
		struct job j = { 0 };
		int64_t s = state_rows[i].number;
		job_set(&j, state, s);
		assert_int_equal(job_is_final(&j), (s >= 3 && s <= 11) || s == STATE_REVOKED);
	}
	struct job unknown = { 0 };
	assert_false(job_is_final(&unknown));
}

static void flaws(void **state UNUSED)
{
	struct job j = { 0 };
	int64_t start;

	/* FC-057: the end record alone is shown as it came ... */
	job_set(&j, state, STATE_CANCELLED);
	job_set(&j, start_at, 100);
	job_set(&j, end_at, 100);
	j.rank[JOB_start_at] = j.rank[JOB_end_at] = j.rank[JOB_state] = RANK_END;
	assert_int_equal(job_flaws_of(&j), 0);
	assert_true(job_start_shown(&j, &start));
	/* ... beside a start record it never started ... */
	job_set(&j, name, "waited");
	j.rank[JOB_name] = RANK_START;
	assert_int_equal(job_flaws_of(&j), FLAW_NEVER_STARTED);
	job_set(&j, flaws, job_flaws_of(&j));
	assert_false(job_start_shown(&j, &start));
	assert_int_equal(job_elapsed_s(&j, 500), 0);
	/* ... unless it had nodes: within a second. */
	job_set(&j, nodes, "n1");
	assert_int_equal(job_flaws_of(&j), 0);
	job_set(&j, start_at, 150);
	assert_int_equal(job_flaws_of(&j), FLAW_END_BEFORE_START);
	job_unset(&j, end_at);
	assert_int_equal(job_flaws_of(&j), FLAW_NO_END_TIME);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(start_and_elapsed), cmocka_unit_test(suspended_window),
		cmocka_unit_test(shown_state),	     cmocka_unit_test(final),
		cmocka_unit_test(flaws),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

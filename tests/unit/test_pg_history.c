/* Two hundred months of history: questions cost what they find, not what there is. */
#include "pgtest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "core/civil.h"
#include "store/binrow.h"
#include "store/job_read.h"
#include "store/partition.h"

#define MONTHS	      200
#define FIRST	      200906
#define JOBS_A_MONTH  400
#define AT(y, m, day) (days_from_civil(y, m, day) * DAY_S)
#define NOW	      AT(2026, 1, 31)

static struct pg *pg;

/* Job numbers ascend with time; one in four belongs to an array of ten. */
static void fill_month(int month, int64_t first_id)
{
	char sql[2000], job[LEAF_NAME_MAX], step[LEAF_NAME_MAX];

	assert_ok(partition_ensure(pg, month, e));
	snprintf(sql, sizeof(sql),
		 "INSERT INTO %s (cluster, job_id, submit_at, user_name, state, visible_from,"
		 " start_at, end_at, array_job_id, work_dir, stamps) SELECT 'c', i, %" PRId64
		 " + (i - %" PRId64 ") * 6000, 'user' || i %% 50, 3, %" PRId64 ", %" PRId64
		 ", %" PRId64 ", CASE WHEN i %% 4 = 0 THEN i - i %% 10 END, repeat('/dir', 100), ''"
		 " FROM generate_series(%" PRId64 ", %" PRId64 ") i;"
		 " INSERT INTO %s (cluster, job_id, submit_at, step_id, het_comp, work_dir, stamps)"
		 " SELECT cluster, job_id, submit_at, -5, -1, work_dir, '' FROM %s",
		 leaf_name("job", month, job), month_start(month), first_id, month_start(month),
		 month_start(month) + 60, month_start(month) + 3600, first_id,
		 first_id + JOBS_A_MONTH - 1, leaf_name("step", month, step), job);
	pgtest_run(pg, sql);
	assert_ok(partition_recount(pg, month, e));
}

static int fill(void **state UNUSED)
{
	pg = pgtest_schema();
	assert_ok(partition_maintain(pg, AT(2009, 6, 1), e));
	assert_ok(partition_maintain(pg, NOW, e));
	for (int i = 0; i < MONTHS; i++)
		fill_month(month_add(FIRST, i), 1 + (int64_t)i * JOBS_A_MONTH);
	pgtest_run(pg, "ANALYZE");
	return 0;
}

static int empty(void **state UNUSED)
{
	pg_close(pg);
	return 0;
}

/* ---- what a question touched, by PostgreSQL's own counters */

struct touched {
	int64_t jobs, steps, partitions, scanned_whole;
};

static int count(const struct job *j UNUSED, const struct step *steps UNUSED, size_t n, void *arg)
{
	struct touched *t = arg;

	t->jobs++;
	t->steps += (int64_t)n;
	return 0;
}

static int64_t counter(const char *what)
{
	char sql[300];

	snprintf(sql, sizeof(sql),
		 "SELECT coalesce(%s, 0) FROM pg_stat_user_tables"
		 " WHERE relname ~ '^(job|step)_([0-9]{6}|old|far)$'",
		 what);
	return pgtest_i64(pg, sql);
}

static int64_t sessions(void)
{
	return pgtest_i64(pg, "SELECT count(*) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
			      " AND datname = current_database()"
			      " AND backend_type = 'client backend'");
}

static struct touched ask(const struct job_filter *f, const struct job_page *page)
{
	const struct store_settings settings = { .conninfo = pgtest_conninfo(),
						 .spool_dir = "/tmp" };
	struct store *s = store_open(&settings, NULL);
	struct arena *arena = arena_new();
	struct touched t = { 0 };

	pgtest_run(pg, "SELECT pg_stat_force_next_flush()");
	pgtest_run(pg, "SELECT pg_stat_reset()");
	assert_ok(store_jobs_each(s, f, page, NOW, count, &t, arena, NULL, e));
	store_close(s);
	/* Sessions tell what they did when they end, each for itself. */
	for (int i = 0; i < 3000 && sessions() != 0; i++)
		usleep(10000);
	assert_int_equal(sessions(), 0);
	t.scanned_whole = counter("sum(seq_scan)");
	t.partitions = counter("count(*) FILTER (WHERE seq_scan + idx_scan > 0)");
	arena_free(arena);
	return t;
}

static struct job_filter select_ids(struct job_selection *jobs, size_t n)
{
	struct job_filter f;

	job_filter_init(&f);
	f.start = 0;
	f.end = NOW;
	f.jobs = jobs;
	f.n_jobs = n;
	return f;
}

static void one_id_opens_one_partition(void **state UNUSED)
{
	const struct job_page page = { .limit = -1 };

	for (int64_t id = 3; id < (int64_t)MONTHS * JOBS_A_MONTH; id += 9973) {
		struct job_selection one = { id, -1, -1, STEP_ANY };
		struct job_filter f = select_ids(&one, 1);
		struct touched t;

		f.with_steps = true;
		t = ask(&f, &page);
		assert_true(t.jobs >= 1);
		assert_int_equal(t.steps, t.jobs);
		assert_int_equal(t.scanned_whole, 0);
		assert_in_range(t.partitions, 2,
				4); /* the job's and its step's; arrays may overlap */
	}
}

static void a_window_opens_its_months(void **state UNUSED)
{
	struct job_page page = { .limit = -1 };
	const char *user = "user7";
	struct job_filter f;
	struct touched t;

	job_filter_init(&f);
	f.start = AT(2015, 3, 1);
	f.end = AT(2015, 3, 2);
	t = ask(&f, &page);
	assert_int_equal(t.jobs, JOBS_A_MONTH);
	assert_in_range(t.partitions, 1, 1);
	f.users = (struct texts){ &user, 1 };
	f.start = AT(2015, 2, 20);
	f.end = AT(2015, 4, 20);
	t = ask(&f, &page);
	assert_int_equal(t.jobs, 2 * JOBS_A_MONTH / 50);
	assert_in_range(t.partitions, 2, 2);
	/* The newest few of everything: the last month alone. */
	f.users.n = 0;
	f.start = 0;
	f.end = NOW;
	f.start = AT(2000, 1, 1);
	page.descending = true;
	page.limit = 10;
	t = ask(&f, &page);
	assert_int_equal(t.jobs, 10);
	assert_int_equal(t.partitions, 1);
	assert_int_equal(t.scanned_whole, 0);
}

static void twenty_thousand_ids(void **state UNUSED)
{
	static struct job_selection many[20000];
	const struct job_page page = { .limit = -1 };
	struct job_filter f = select_ids(many, ARRAY_LEN(many));
	int64_t began;
	struct touched t;

	/* Odd ones of the second half, and as many that there are not; arrays have even numbers. */
	for (size_t i = 0; i < ARRAY_LEN(many); i++)
		many[i] = (struct job_selection){ MONTHS * JOBS_A_MONTH / 2 + 1 + 4 * (int64_t)i,
						  -1, -1, STEP_ANY };
	began = monotonic_ms();
	t = ask(&f, &page);
	assert_int_equal(t.jobs, MONTHS * JOBS_A_MONTH / 2 / 4);
	assert_true(monotonic_ms() - began < 20000);
	assert_true(t.partitions <= MONTHS / 2 + 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_id_opens_one_partition),
		cmocka_unit_test(a_window_opens_its_months),
		cmocka_unit_test(twenty_thousand_ids),
	};

	return cmocka_run_group_tests(tests, fill, empty);
}

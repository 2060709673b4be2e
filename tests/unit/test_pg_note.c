/* store/note and store/cluster_read: what people write stays beside the record; clusters with their
 * numbers. */
#include "pgtest.h"

#include "store/cluster_read.h"
#include "store/note.h"

static struct store *store;
static struct pg *pg;

static int setup(void **state UNUSED)
{
	const struct store_settings settings = { .conninfo = pgtest_conninfo(), .readers = 2 };

	pg = pgtest_schema();
	store = store_open(&settings, NULL);
	return 0;
}

static int teardown(void **state UNUSED)
{
	store_close(store);
	pg_close(pg);
	return 0;
}

static void put(const struct job *values, int clear, const char *by)
{
	uint64_t cleared[HAS_WORDS] = { 0 };
	const struct job_note note = {
		.cluster = "c1",
		.job_id = 7,
		.submit_at = 1700000000,
		.values = values,
		.cleared = cleared,
		.by = by,
		.at = 1700000100,
	};

	if (clear >= 0)
		has_set(cleared, (size_t)clear);
	assert_ok(store_note_put(store, &note, e));
}

static const char *note(void)
{
	return pgtest_text(pg, "SELECT format('%s|%s|%s|%s|%s', coalesce(comment, '-'), "
			       "coalesce(derived_exit::text, '-'), coalesce(admin_comment, '-'), "
			       "coalesce(wckey, '-'), noted_by) FROM job_note");
}

static void what_is_not_named_stays(void **state UNUSED)
{
	struct job values = { 0 };

	job_set(&values, comment, "it's 50%_\\ \"done\"");
	job_set(&values, derived_exit, 256);
	put(&values, -1, "ann");
	assert_string_equal(note(), "it's 50%_\\ \"done\"|256|-|-|ann");
	values = (struct job){ 0 };
	job_set(&values, admin_comment, "looked at");
	job_set(&values, wckey, "w");
	put(&values, -1, "root");
	assert_string_equal(note(), "it's 50%_\\ \"done\"|256|looked at|w|root");
	values = (struct job){ 0 };
	put(&values, JOB_comment, "ann");
	assert_string_equal(note(), "-|256|looked at|w|ann");
	job_set(&values, comment, "");
	put(&values, JOB_derived_exit, "ann");
	assert_string_equal(note(), "|-|looked at|w|ann");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_note"), 1);
}

/* Somebody who holds the job's row (the writer) is not waited for. */
static void it_waits_for_nobody(void **state UNUSED)
{
	struct job values = { 0 };

	job_set(&values, comment, "c");
	pgtest_run(pg, "BEGIN; LOCK TABLE job, step IN EXCLUSIVE MODE");
	put(&values, -1, "ann");
	pgtest_run(pg, "COMMIT");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_note"), 1);
}

static int collect(const struct cluster_info *c, void *arg)
{
	buf_printf(arg, "%s %" PRId64 " %" PRId64 " %" PRId64 "-%" PRId64 "; ", c->name,
		   c->registered_at, c->open_jobs, c->least_job_id, c->greatest_job_id);
	return 0;
}

static int stop(const struct cluster_info *c UNUSED, void *arg)
{
	++*(int *)arg;
	return -1;
}

static void clusters_are_listed(void **state UNUSED)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };
	int n = 0;

	assert_ok(store_clusters_each(store, collect, &out, e));
	assert_string_equal(buf_str(&out), "");
	pgtest_run(pg, "INSERT INTO cluster VALUES ('b', 20), ('a', 10);"
		       "INSERT INTO job_month (cluster, month, open_jobs, least_job_id, "
		       "greatest_job_id, max_life_s) VALUES ('a', 202601, 2, 5, 9, 0), "
		       "('a', 202602, 1, 10, 40, 0)");
	assert_ok(store_clusters_each(store, collect, &out, e));
	assert_string_equal(buf_str(&out), "a 10 3 5-40; b 20 0 0-0; ");
	assert_int_equal(store_clusters_each(store, stop, &n, &err), -1);
	assert_int_equal(err.code, ERR_GONE);
	assert_int_equal(n, 1);
	buf_fini(&out);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(what_is_not_named_stays),
		TEST(it_waits_for_nobody),
		TEST(clusters_are_listed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* store/store: a bounded pool that comes back after losses, and one writer. */
#include "pgtest.h"

#include <pthread.h>

#include "base/clock.h"

static struct store *open_store(const char *conninfo, int readers, int wait_ms)
{
	const struct store_settings settings = {
		.conninfo = conninfo,
		.readers = readers,
		.reader_wait_ms = wait_ms,
	};
	struct store *s = store_open(&settings, NULL);

	assert_non_null(s);
	return s;
}

static void kill_backend(struct pg *other, const char *name)
{
	char sql[160];

	snprintf(sql, sizeof(sql),
		 "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		 " WHERE application_name = '%s' AND datname = current_database()",
		 name);
	pgtest_run(other, sql);
}

static void readers_are_bounded(void **state UNUSED)
{
	struct store *s = open_store(pgtest_conninfo(), 2, 100);
	struct pg *a = store_reader(s, NULL), *b = store_reader(s, NULL);
	struct store_health health;
	struct err err = { 0 };
	int64_t began = monotonic_ms();

	assert_non_null(a);
	assert_non_null(b);
	assert_null(store_reader(s, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_true(monotonic_ms() - began >= 100);
	store_reader_done(s, a);
	assert_ptr_equal(store_reader(s, &err), a); /* kept, not made again */
	store_get_health(s, &health);
	assert_int_equal(health.readers_busy, 2);
	assert_int_equal(health.readers_open, 2);
	assert_int_equal(health.reader_timeouts, 1);
	assert_int_equal(health.connects, 2);
	assert_true(health.up);
	store_reader_done(s, a);
	store_reader_done(s, b);
	store_close(s);
}

struct waiting {
	struct store *s;
	struct pg *got;
};

static void *wait_for_one(void *arg)
{
	struct waiting *w = arg;

	w->got = store_reader(w->s, NULL);
	return NULL;
}

static void a_freed_one_goes_to_who_waits(void **state UNUSED)
{
	struct store *s = open_store(pgtest_conninfo(), 1, 10000);
	struct waiting w = { .s = s };
	struct pg *a = store_reader(s, NULL);
	struct store_health health;
	pthread_t thread;

	assert_int_equal(pthread_create(&thread, NULL, wait_for_one, &w), 0);
	do {
		usleep(1000);
		store_get_health(s, &health);
	} while (health.reader_waits == 0);
	store_reader_done(s, a);
	pthread_join(thread, NULL);
	assert_ptr_equal(w.got, a);
	store_reader_done(s, w.got);
	store_close(s);
}

static void an_open_transaction_does_not_come_back(void **state UNUSED)
{
	struct store *s = open_store(pgtest_conninfo(), 1, 1000);
	struct pg *pg = store_reader(s, NULL);

	pgtest_run(pg, "BEGIN; CREATE TABLE left_over (a int)");
	store_reader_done(s, pg);
	pg = store_reader(s, NULL);
	assert_false(pg_in_transaction(pg));
	assert_int_equal(
		pgtest_i64(pg, "SELECT count(*) FROM pg_class WHERE relname = 'left_over'"), 0);
	store_reader_done(s, pg);
	store_close(s);
}

static void losses_are_made_good(void **state UNUSED)
{
	struct store *s = open_store(pgtest_conninfo(), 1, 1000);
	struct pg *other = pgtest_connect(pgtest_conninfo()), *pg;
	struct store_health health;
	struct err err = { 0 };

	/* While it lay idle: nobody notices. */
	assert_ok(store_ping(s, e));
	kill_backend(other, "tallyd reader");
	usleep(20000);
	assert_ok(store_ping(s, e));
	/* In use: that use fails, the next works. */
	pg = store_reader(s, NULL);
	kill_backend(other, "tallyd reader");
	assert_int_equal(pg_script(pg, "SELECT 1", &err), -1);
	assert_int_equal(err.code, ERR_DATABASE);
	store_reader_done(s, pg);
	store_get_health(s, &health);
	assert_false(health.up);
	assert_ok(store_ping(s, e));
	store_get_health(s, &health);
	assert_true(health.up);
	pg_close(other);
	store_close(s);
}

static void failed_tries_are_spaced(void **state UNUSED)
{
	struct store *s = open_store("host=/nowhere", 4, 1000);
	struct store_health health;
	struct err err = { 0 };
	int64_t until = monotonic_ms() + 450;
	uint64_t calls = 0;

	while (monotonic_ms() < until) {
		assert_int_equal(store_ping(s, &err), -1);
		assert_int_equal(err.code, ERR_DATABASE);
		assert_non_null(strstr(err.text, "/nowhere"));
		calls++;
		usleep(2000);
	}
	store_get_health(s, &health);
	assert_false(health.up);
	assert_int_equal(health.readers_busy, 0);
	/* at 0, 100 and 300 ms */
	assert_in_range(health.failed_connects, 2, 3);
	assert_true(calls > 2 * health.failed_connects);
	store_close(s);
}

static void there_is_one_writer(void **state UNUSED)
{
	struct store *s = open_store(pgtest_conninfo(), 1, 100);
	struct pg *w = store_writer(s, 321, NULL);
	struct err err = { 0 };

	assert_non_null(w);
	assert_string_equal(pgtest_text(w, "SHOW lock_timeout"), "321ms");
	assert_null(store_writer(s, 321, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_ok(store_ping(s, e)); /* readers are not in its way */
	store_writer_done(s, w);
	assert_ptr_equal(store_writer(s, 321, &err), w);
	store_writer_done(s, w);
	store_close(s);
}

static void *run_long(void *arg)
{
	struct store *s = arg;
	struct pg *pg = store_reader(s, NULL);
	struct err *err = calloc(1, sizeof(*err));

	pg_script(pg, "SELECT pg_sleep(20)", err);
	store_reader_done(s, pg);
	return err;
}

static void an_orderly_stop_ends_what_runs(void **state UNUSED)
{
	struct store *s = open_store(pgtest_conninfo(), 2, 100);
	struct store_health health;
	int64_t began = monotonic_ms();
	pthread_t thread;
	void *result;

	assert_int_equal(pthread_create(&thread, NULL, run_long, s), 0);
	do {
		usleep(20000);
		store_cancel_readers(s);
		store_get_health(s, &health);
	} while (health.connects == 0 || health.readers_busy > 0);
	pthread_join(thread, &result);
	assert_int_equal(((struct err *)result)->code, ERR_TIMEOUT);
	assert_true(monotonic_ms() - began < 10000);
	free(result);
	store_close(s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(readers_are_bounded),
		cmocka_unit_test(a_freed_one_goes_to_who_waits),
		cmocka_unit_test(an_open_transaction_does_not_come_back),
		cmocka_unit_test(losses_are_made_good),
		cmocka_unit_test(failed_tries_are_spaced),
		cmocka_unit_test(there_is_one_writer),
		cmocka_unit_test(an_orderly_stop_ends_what_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* store/pg: statements, COPY, limits, and what failures mean. */
#include "pgtest.h"

#include <pthread.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/binrow.h"

static struct pg *limited(int statement_ms, int lock_ms)
{
	const struct pg_settings how = {
		.conninfo = pgtest_conninfo(),
		.name = "limited",
		.statement_timeout_ms = statement_ms,
		.lock_timeout_ms = lock_ms,
	};

	return pg_open(&how, NULL);
}

static void session_is_set_up(void **state UNUSED)
{
	struct pg *pg = limited(1234, 567);

	assert_string_equal(pgtest_text(pg, "SHOW synchronous_commit"), "on");
	assert_string_equal(pgtest_text(pg, "SHOW statement_timeout"), "1234ms");
	assert_string_equal(pgtest_text(pg, "SHOW lock_timeout"), "567ms");
	assert_string_equal(pgtest_text(pg, "SHOW timezone"), "UTC");
	assert_string_equal(pgtest_text(pg, "SHOW client_encoding"), "UTF8");
	assert_string_equal(pgtest_text(pg, "SHOW application_name"), "limited");
	pg_close(pg);
}

static void values_go_there_and_back(void **state UNUSED)
{
	static const struct statement st = { "echo", "SELECT $1::bigint, $2::text, $3::bytea, "
						     "$4::bigint, ($5::bigint[])[2], "
						     "($6::text[])[1]" };
	static const int64_t numbers[] = { 1, INT64_MIN };
	static const char *const texts[] = { "o'brien \\ \"x\"" };
	struct pg *pg = limited(0, 0);
	struct buf args = BUF_INIT;
	PGresult *res = NULL;

	bin_i64(&args, -5);
	bin_text(&args, "d\xc3\xa9j\xc3\xa0; DROP TABLE x; --");
	bin_bytes(&args, "\0\xff", 2);
	bin_null(&args);
	bin_i64_array(&args, numbers, 2);
	bin_text_array(&args, texts, 1);
	for (int i = 0; i < 2; i++) { /* prepared the first time, known the second */
		assert_ok(pg_run(pg, &st, &args, &res, e));
		assert_int_equal(bin_read_i64(res, 0, 0), -5);
		assert_string_equal(PQgetvalue(res, 0, 1), "d\xc3\xa9j\xc3\xa0; DROP TABLE x; --");
		assert_int_equal(PQgetlength(res, 0, 2), 2);
		assert_true(PQgetisnull(res, 0, 3));
		assert_true(bin_read_i64(res, 0, 4) == INT64_MIN);
		assert_string_equal(PQgetvalue(res, 0, 5), texts[0]);
		PQclear(res);
	}
	buf_fini(&args);
	pg_close(pg);
}

static void a_statement_can_be_forgotten(void **state UNUSED)
{
	struct pg *pg = limited(0, 0);
	struct statement st = { "passing", "SELECT 1::bigint" };
	PGresult *res = NULL;

	assert_ok(pg_run(pg, &st, NULL, NULL, e));
	pg_forget(pg, &st);
	pg_forget(pg, &st); /* already is */
	st.sql = "SELECT 2::bigint";
	assert_ok(pg_run(pg, &st, NULL, &res, e));
	assert_int_equal(bin_read_i64(res, 0, 0), 2);
	PQclear(res);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM pg_prepared_statements"), 1);
	/* In a failed transaction it waits for the next. */
	assert_ok(pg_begin(pg, e));
	assert_int_equal(pg_script(pg, "SELECT 1/0", NULL), -1);
	pg_forget(pg, &st);
	assert_int_equal(pg_run(pg, &st, NULL, NULL, NULL), -1);
	pg_rollback(pg);
	assert_ok(pg_run(pg, &st, NULL, NULL, e));
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM pg_prepared_statements"), 1);
	pg_close(pg);
}

static void failures_have_meanings(void **state UNUSED)
{
	static const struct {
		const char *sql;
		enum err_code code;
		const char *sqlstate;
	} rows[] = {
		{ "SELECT 1/0", ERR_INVALID, "22012" },
		{ "SELECT nothing_of_the_kind", ERR_INTERNAL, "42703" },
		{ "SELEKT", ERR_INTERNAL, "42601" },
		{ "SELECT pg_sleep(5)", ERR_TIMEOUT, "57014" },
		{ "CREATE TEMP TABLE u (a int UNIQUE); INSERT INTO u VALUES (1), (1)", ERR_CONFLICT,
		  "23505" },
		{ "BEGIN READ ONLY; CREATE TABLE x (a int)", ERR_DATABASE, "25006" },
		{ "DO $$ BEGIN RAISE EXCEPTION USING errcode = '40001'; END $$", ERR_BUSY,
		  "40001" },
		{ "DO $$ BEGIN RAISE EXCEPTION USING errcode = '53100'; END $$", ERR_DATABASE,
		  "53100" },
	};
	struct pg *pg = limited(200, 0);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };

		assert_int_equal(pg_script(pg, rows[i].sql, &err), -1);
		assert_int_equal(err.code, rows[i].code);
		assert_string_equal(pg_sqlstate(pg), rows[i].sqlstate);
		assert_non_null(strstr(err.text, rows[i].sqlstate));
		assert_true(pg_alive(pg));
		if (pg_in_transaction(pg))
			pg_rollback(pg);
		assert_false(pg_in_transaction(pg));
	}
	assert_ok(pg_script(pg, "SELECT 1", e));
	pg_close(pg);
}

static void a_lock_is_waited_for_no_longer_than_said(void **state UNUSED)
{
	struct pg *holder = limited(0, 0), *pg = limited(0, 100);
	struct err err = { 0 };

	pgtest_run(holder, "CREATE TABLE locked (a int)");
	pgtest_run(holder, "BEGIN; LOCK TABLE locked");
	assert_int_equal(pg_script(pg, "SELECT * FROM locked", &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_string_equal(pg_sqlstate(pg), "55P03");
	pgtest_run(holder, "ROLLBACK; DROP TABLE locked");
	pg_close(holder);
	pg_close(pg);
}

static void a_lost_connection_is_dead(void **state UNUSED)
{
	struct pg *pg = limited(0, 0), *other = limited(0, 0);
	struct err err = { 0 };
	char sql[96];

	snprintf(sql, sizeof(sql), "SELECT pg_terminate_backend(%.20s)",
		 pgtest_text(pg, "SELECT pg_backend_pid()::text"));
	assert_true(pg_still_there(pg));
	pgtest_run(other, sql);
	for (int i = 0; i < 1000 && pg_still_there(pg); i++)
		usleep(1000);
	assert_false(pg_alive(pg));
	assert_int_equal(pg_script(pg, "SELECT 1", &err), -1);
	assert_int_equal(err.code, ERR_DATABASE);
	pg_rollback(pg); /* nothing to roll back, nothing to crash */
	pg_close(pg);

	/* In the middle of a statement. */
	pg = limited(0, 0);
	assert_int_equal(pg_script(pg, "SELECT pg_terminate_backend(pg_backend_pid())", &err), -1);
	assert_int_equal(err.code, ERR_DATABASE);
	pg_close(pg);
	pg_close(other);
}

static void nobody_there(void **state UNUSED)
{
	const struct pg_settings how = { .conninfo = "host=/nowhere dbname=x" };
	struct err err = { 0 };

	assert_null(pg_open(&how, &err));
	assert_int_equal(err.code, ERR_DATABASE);
	assert_non_null(strstr(err.text, "/nowhere"));
}

static void several_hosts_go_through(void **state UNUSED)
{
	char conninfo[1024];
	struct pg_settings how = { .conninfo = conninfo };
	struct err err = { 0 };
	struct pg *pg;

	snprintf(conninfo, sizeof(conninfo), "%s host=/nowhere,%s target_session_attrs=read-write",
		 pgtest_conninfo(), getenv("TALLY_TEST_DSN") + strlen("host="));
	*strchr(strstr(conninfo, "/nowhere,"), ' ') = '\0'; /* the second host's name alone */
	snprintf(conninfo + strlen(conninfo), 64, " target_session_attrs=read-write");
	pg = pg_open(&how, &err);
	if (pg == NULL)
		fail_msg("%s: %s", conninfo, err.text);
	pg_close(pg);
}

static void copy_in_and_out(void **state UNUSED)
{
	struct pg *pg = limited(0, 0);
	struct buf b = BUF_INIT;
	int64_t rows = 0, sum = 0;
	struct err err = { 0 };
	char *row;
	size_t len;
	int rc;

	pgtest_run(pg, "CREATE TEMP TABLE c (a bigint, t text)");
	bin_head(&b);
	for (int i = 0; i < 200000; i++) { /* more than the socket holds */
		bin_row(&b, 2);
		bin_i64(&b, i);
		bin_text(&b, "some text of a row");
	}
	bin_end(&b);
	assert_ok(pg_copy_in(pg, "COPY c FROM STDIN (FORMAT binary)", e));
	assert_ok(pg_copy_put(pg, b.data, b.len, e));
	assert_ok(pg_copy_done(pg, &rows, e));
	assert_int_equal(rows, 200000);
	buf_fini(&b);

	assert_ok(pg_copy_out(pg, "COPY (SELECT a FROM c) TO STDOUT", e));
	rows = 0;
	while ((rc = pg_copy_get(pg, &row, &len, &err)) > 0) {
		rows++;
		sum += strtoll(row, NULL, 10);
		PQfreemem(row);
	}
	assert_int_equal(rc, 0);
	assert_int_equal(rows, 200000);
	assert_int_equal(sum, (int64_t)200000 * 199999 / 2);

	/* Left early, aborted, refused: the connection stays of use. */
	assert_ok(pg_copy_out(pg, "COPY (SELECT a FROM c) TO STDOUT", e));
	assert_int_equal(pg_copy_get(pg, &row, &len, &err), 1);
	PQfreemem(row);
	pg_copy_stop(pg);
	assert_ok(pg_copy_in(pg, "COPY c FROM STDIN", e));
	assert_ok(pg_copy_put(pg, "1\tx\n", 4, e));
	pg_copy_abort(pg);
	assert_ok(pg_copy_in(pg, "COPY c FROM STDIN", e));
	assert_ok(pg_copy_put(pg, "one\tx\n", 6, e));
	assert_int_equal(pg_copy_done(pg, NULL, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	assert_int_equal(pg_copy_out(pg, "COPY nothing TO STDOUT", &err), -1);
	assert_int_equal(pg_copy_out(pg, "SELECT 1", &err), -1);
	assert_ok(pg_copy_out(pg, "COPY (SELECT 1/(a - 150000) FROM c) TO STDOUT", e));
	while ((rc = pg_copy_get(pg, &row, &len, &err)) > 0)
		PQfreemem(row);
	assert_int_equal(rc, -1);
	assert_string_equal(pg_sqlstate(pg), "22012");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM c"), 200000);
	pg_close(pg);
}

static void *cancel_soon(void *arg)
{
	usleep(50000);
	pg_cancel(arg);
	return NULL;
}

static void cancel_from_another_thread(void **state UNUSED)
{
	struct pg *pg = limited(0, 0);
	struct err err = { 0 };
	pthread_t thread;
	int64_t began = monotonic_ms();

	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, pg), 0);
	assert_int_equal(pg_script(pg, "SELECT pg_sleep(20)", &err), -1);
	pthread_join(thread, NULL);
	assert_int_equal(err.code, ERR_TIMEOUT);
	assert_true(monotonic_ms() - began < 10000);
	assert_ok(pg_script(pg, "SELECT 1", e));
	pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(session_is_set_up),
		cmocka_unit_test(values_go_there_and_back),
		cmocka_unit_test(a_statement_can_be_forgotten),
		cmocka_unit_test(failures_have_meanings),
		cmocka_unit_test(a_lock_is_waited_for_no_longer_than_said),
		cmocka_unit_test(a_lost_connection_is_dead),
		cmocka_unit_test(nobody_there),
		cmocka_unit_test(several_hosts_go_through),
		cmocka_unit_test(copy_in_and_out),
		cmocka_unit_test(cancel_from_another_thread),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

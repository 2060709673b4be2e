/* store/migrate: in order, once, whole or not at all, and never over a schema it does not know. */
#include "pgtest.h"

#include <pthread.h>

#include "core/entity.h"
#include "core/job.h"
#include "core/state.h"
#include "store/binrow.h"
#include "store/partition.h"

static const struct migration first = { 1, "0001_a.sql", "CREATE TABLE a (x int);" };
static const struct migration second = { 2, "0002_b.sql",
					 "CREATE TABLE b (x int); INSERT INTO b VALUES (7);" };

static struct pg *empty(void)
{
	struct pg *pg = pgtest_connect(pgtest_conninfo());

	pgtest_run(pg, "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public");
	return pg;
}

static void applies_in_order_and_once(void **state UNUSED)
{
	const struct migration list[] = { first, second };
	struct pg *pg = empty();
	int applied = -1;

	assert_ok(migrate(pg, list, 1, &applied, e));
	assert_int_equal(applied, 1);
	assert_ok(migrate(pg, list, 2, &applied, e));
	assert_int_equal(applied, 1);
	assert_ok(migrate(pg, list, 2, &applied, e));
	assert_int_equal(applied, 0);
	assert_int_equal(pgtest_i64(pg, "SELECT x FROM b"), 7);
	assert_string_equal(pgtest_text(pg, "SELECT string_agg(number || file || length(checksum), "
					    "' ' ORDER BY number) FROM migration"),
			    "10001_a.sql64 20002_b.sql64");
	pg_close(pg);
}

static void a_failing_one_leaves_nothing(void **state UNUSED)
{
	const struct migration broken = { 2, "0002_broken.sql",
					  "CREATE TABLE c (x int); SELECT 1/0;" };
	const struct migration list[] = { first, broken };
	const struct migration mended[] = { first, second };
	struct pg *pg = empty();
	struct err err = { 0 };
	int applied = -1;

	assert_int_equal(migrate(pg, list, 2, &applied, &err), -1);
	assert_int_equal(applied, 1);
	assert_non_null(strstr(err.text, "0002_broken.sql"));
	assert_non_null(strstr(err.text, "22012"));
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM pg_class WHERE relname = 'c'"), 0);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM migration"), 1);
	/* The lock is free again and the mended one goes in. */
	assert_ok(migrate(pg, mended, 2, &applied, e));
	pg_close(pg);
}

static void an_older_program_refuses(void **state UNUSED)
{
	const struct migration list[] = { first, second };
	struct pg *pg = empty();
	struct err err = { 0 };

	assert_ok(migrate(pg, list, 2, NULL, e));
	assert_int_equal(migrate(pg, list, 1, NULL, &err), -1);
	assert_int_equal(err.code, ERR_NEWER);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM migration"), 2);
	pg_close(pg);
}

static void an_edited_one_is_refused(void **state UNUSED)
{
	const struct migration edited = { 1, "0001_a.sql", "CREATE TABLE a (x bigint);" };
	const struct migration list[] = { first }, other[] = { edited, second };
	struct pg *pg = empty();
	struct err err = { 0 };

	assert_ok(migrate(pg, list, 1, NULL, e));
	assert_int_equal(migrate(pg, other, 2, NULL, &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
	assert_string_equal(err.where, "0001_a.sql");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM pg_class WHERE relname = 'b'"), 0);
	pg_close(pg);
}

static void *migrate_slowly(void *arg)
{
	const struct migration list[] = {
		{ 1, "0001_slow.sql", "SELECT pg_sleep(0.3); CREATE TABLE slow (x int);" },
		{ 2, "0002_b.sql", "CREATE TABLE b (x int);" },
	};
	struct pg *pg = pgtest_connect(pgtest_conninfo());
	struct err err = { 0 };

	if (migrate(pg, list, 2, arg, &err) < 0) {
		fprintf(stderr, "%s\n", err.text);
		*(int *)arg = -100;
	}
	pg_close(pg);
	return NULL;
}

static void two_at_once(void **state UNUSED)
{
	struct pg *pg = empty();
	pthread_t threads[2];
	int applied[2] = { 0, 0 };

	for (int i = 0; i < 2; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, migrate_slowly, &applied[i]), 0);
	for (int i = 0; i < 2; i++)
		pthread_join(threads[i], NULL);
	assert_int_equal(applied[0] + applied[1], 2);
	assert_true(applied[0] == 0 || applied[1] == 0);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM migration"), 2);
	pg_close(pg);
}

/* The columns of a table, "name type null;" in order, as the field table would have them. */
static void expect_columns(struct pg *pg, const char *table, const struct field *fields, size_t n)
{
	char sql[1024];
	PGresult *res = NULL;

	snprintf(sql, sizeof(sql),
		 "SELECT attname::text, format_type(atttypid, NULL), attnotnull,"
		 " coalesce((SELECT collname FROM pg_collation c WHERE c.oid = attcollation), "
		 "'')::text"
		 " FROM pg_attribute WHERE attrelid = '%s'::regclass AND attnum > 0"
		 " AND NOT attisdropped ORDER BY attnum",
		 table);
	assert_ok(pg_run_once(pg, sql, NULL, &res, e));
	assert_int_equal(PQntuples(res), (int)n + 1);
	for (size_t i = 0; i < n; i++) {
		int row = (int)i;
		bool text = field_is_text(fields[i].type);

		assert_string_equal(PQgetvalue(res, row, 0), fields[i].name);
		assert_string_equal(PQgetvalue(res, row, 1), text ? "text" : "bigint");
		assert_int_equal(PQgetvalue(res, row, 2)[0] != 0, (fields[i].flags & FF_KEY) != 0);
		assert_string_equal(PQgetvalue(res, row, 3), text ? "C" : "");
	}
	assert_string_equal(PQgetvalue(res, (int)n, 0), "stamps");
	assert_string_equal(PQgetvalue(res, (int)n, 1), "bytea");
	PQclear(res);
}

static void columns_are_the_fields(void **state UNUSED)
{
	struct pg *pg = pgtest_schema();
	char sql[256];

	expect_columns(pg, "job", job_fields, JOB_FIELDS);
	expect_columns(pg, "step", step_fields, STEP_FIELDS);
	for (size_t i = 0; i < JOB_FIELDS; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM pg_attribute WHERE attrelid = 'job_note'::regclass"
			 " AND attname = '%s' AND format_type(atttypid, NULL) = '%s'",
			 job_fields[i].name, field_is_text(job_fields[i].type) ? "text" : "bigint");
		assert_int_equal(pgtest_i64(pg, sql),
				 (job_fields[i].flags & (FF_NOTE | FF_KEY)) != 0);
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM pg_attribute WHERE attrelid = 'job_view'::regclass"
			 " AND attname = '%s'",
			 job_fields[i].name);
		assert_int_equal(pgtest_i64(pg, sql), 1);
	}
	pg_close(pg);
}

/* Every field that is a column, and no column that is no field. */
static void tree_columns_are_the_fields(void **state UNUSED)
{
	struct pg *pg = pgtest_schema();
	char sql[512];

	for (int k = 0; k <= ENTITY_RESV; k++) {
		const struct entity *ent = &entities[k];
		int64_t columns = 0;
		for (size_t i = 0; i < ent->n; i++) {
			bool shown = (ent->fields[i].flags & FF_SHOWN) != 0;
			snprintf(sql, sizeof(sql),
				 "SELECT count(*) FROM pg_attribute WHERE attrelid = '%s'::regclass"
				 " AND attname = '%s' AND format_type(atttypid, NULL) = '%s'",
				 ent->table, ent->fields[i].name,
				 field_is_text(ent->fields[i].type) ? "text" : "bigint");
			if (pgtest_i64(pg, sql) != !shown)
				fail_msg("%s.%s", ent->table, ent->fields[i].name);
			columns += !shown;
		}
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) FROM pg_attribute WHERE attnum > 0"
			 " AND attrelid = '%s'::regclass AND attname <> 'changed'",
			 ent->table);
		if (pgtest_i64(pg, sql) != columns)
			fail_msg("%s has columns that are no fields", ent->table);
	}
	pg_close(pg);
}

/* What people see who ask in SQL. */
static void views_are_readable(void **state UNUSED)
{
	struct pg *pg = pgtest_schema();
	char sql[128];

	for (size_t i = 0; i < STATE_COUNT; i++) {
		snprintf(sql, sizeof(sql), "SELECT tally_state(%" PRId64 ")", state_rows[i].number);
		assert_string_equal(pgtest_text(pg, sql), state_rows[i].name);
	}
	assert_ok(partition_maintain(pg, 1786752000, e));
	pgtest_run(pg, "INSERT INTO job (cluster, job_id, submit_at, eligible_at, start_at, state,"
		       " exit, derived_exit, timelimit, row_id, submit_inferred, stamps) VALUES"
		       " ('c', 7, 1786752000, 0, 1786752060, 11, 35072, 9, -1,"
		       " -9223372036854775807, 1, '')");
	pgtest_run(pg, "INSERT INTO step (cluster, job_id, submit_at, step_id, het_comp, state,"
		       " timelimit, stamps) VALUES ('c', 7, 1786752000, 0, -1, 3, 610, '')");
	assert_string_equal(
		pgtest_text(pg,
			    "SELECT concat_ws('|', submit_at, coalesce(eligible_at::text, 'null'),"
			    " start_at, coalesce(end_at::text, 'null'), state, exit, derived_exit,"
			    " timelimit, row_id, submit_inferred) FROM job_view"),
		"2026-08-15 00:00:00+00|null|2026-08-15 00:01:00+00|null|OUT_OF_MEMORY|137:0|0:9|"
		"unlimited|9223372036854775809|t");
	assert_string_equal(pgtest_text(pg, "SELECT concat_ws('|', submit_at, state, timelimit)"
					    " FROM step_view"),
			    "2026-08-15 00:00:00+00|COMPLETED|610");
	pg_close(pg);
}

static void texts_compare_by_byte(void **state UNUSED)
{
	struct pg *pg = pgtest_schema();

	assert_string_equal(
		pgtest_text(pg, "SELECT coalesce(string_agg(c.relname || '.' || attname, ' '), '')"
				" FROM pg_attribute a JOIN pg_class c ON c.oid = attrelid"
				" JOIN pg_namespace n ON n.oid = relnamespace"
				" WHERE nspname = 'public' AND relkind IN ('r', 'p') AND attnum > 0"
				" AND atttypid = 'text'::regtype AND attcollation <> "
				"'\"C\"'::regcollation"),
		"");
	pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(applies_in_order_and_once),
		cmocka_unit_test(a_failing_one_leaves_nothing),
		cmocka_unit_test(an_older_program_refuses),
		cmocka_unit_test(an_edited_one_is_refused),
		cmocka_unit_test(two_at_once),
		cmocka_unit_test(columns_are_the_fields),
		cmocka_unit_test(tree_columns_are_the_fields),
		cmocka_unit_test(views_are_readable),
		cmocka_unit_test(texts_compare_by_byte),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

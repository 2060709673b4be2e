/* store/partition: months are made, found, moved and taken away, whoever reads meanwhile. */
#include "pgtest.h"

#include <pthread.h>

#include "base/clock.h"
#include "core/civil.h"
#include "store/binrow.h"
#include "store/partition.h"

#define AT(year, month, day) (days_from_civil(year, month, day) * DAY_S)
#define NOW		     AT(2026, 8, 15)

static struct pg *set_up(int64_t now)
{
	struct pg *pg = pgtest_schema();

	assert_ok(partition_maintain(pg, now, e));
	return pg;
}

/* A job and its step where the span says that they belong. */
static void put(struct pg *pg, const char *cluster, int64_t job_id, int64_t submit_at,
		int64_t end_at)
{
	char leaf[LEAF_NAME_MAX], sql[600];
	struct span span;
	int month;

	assert_ok(partition_span(pg, &span, e));
	month = span_month(&span, submit_at);
	assert_ok(partition_ensure(pg, month, e));
	snprintf(sql, sizeof(sql),
		 "INSERT INTO %s (cluster, job_id, submit_at, visible_from, end_at, stamps)"
		 " VALUES ('%s', %" PRId64 ", %" PRId64 ", %" PRId64 ", nullif(%" PRId64
		 ", 0), '')",
		 leaf_name("job", month, leaf), cluster, job_id, submit_at, submit_at, end_at);
	pgtest_run(pg, sql);
	snprintf(sql, sizeof(sql),
		 "INSERT INTO %s (cluster, job_id, submit_at, step_id, het_comp, stamps)"
		 " VALUES ('%s', %" PRId64 ", %" PRId64 ", 0, -1, '')",
		 leaf_name("step", month, leaf), cluster, job_id, submit_at);
	pgtest_run(pg, sql);
	assert_ok(partition_recount(pg, month, e));
}

static int64_t attached(struct pg *pg, const char *like)
{
	char sql[300];

	snprintf(sql, sizeof(sql),
		 "SELECT count(*) FROM pg_inherits WHERE NOT inhdetachpending"
		 " AND inhparent IN ('job'::regclass, 'step'::regclass)"
		 " AND inhrelid::regclass::text LIKE '%s'",
		 like);
	return pgtest_i64(pg, sql);
}

static void months_are_numbers(void **state UNUSED)
{
	static const struct {
		int month, n, want;
	} rows[] = {
		{ 202601, 1, 202602 },	 { 202612, 1, 202701 },	   { 202601, -1, 202512 },
		{ 202608, 24, 202808 },	 { 202608, -120, 201608 }, { 202612, 0, 202612 },
		{ 202603, -27, 202312 }, { 199912, 1, 200001 },
	};
	const struct span span = { 201608, 202808, 0 };
	char leaf[LEAF_NAME_MAX];
	int64_t from, to;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(month_add(rows[i].month, rows[i].n), rows[i].want);
	for (int m = 200001; m < 210001; m = month_add(m, 1)) {
		assert_int_equal(month_of(month_start(m)), m);
		assert_int_equal(month_of(month_start(m) - 1), month_add(m, -1));
	}
	assert_int_equal(span_month(&span, AT(2016, 8, 1) - 1), MONTH_OLD);
	assert_int_equal(span_month(&span, AT(2016, 8, 1)), 201608);
	assert_int_equal(span_month(&span, AT(2028, 8, 1) - 1), 202807);
	assert_int_equal(span_month(&span, AT(2028, 8, 1)), MONTH_FAR);
	assert_int_equal(span_month(&span, INT64_MIN), MONTH_OLD);
	assert_int_equal(span_month(&span, INT64_MAX), MONTH_FAR);
	span_bounds(&span, 202612, &from, &to);
	assert_int_equal(from, AT(2026, 12, 1));
	assert_int_equal(to, AT(2027, 1, 1));
	assert_string_equal(leaf_name("job", 202601, leaf), "job_202601");
	assert_string_equal(leaf_name("step", MONTH_OLD, leaf), "step_old");
	assert_string_equal(leaf_name("step", MONTH_FAR, leaf), "step_far");
}

static void the_first_partitions(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);
	struct span span;

	assert_ok(partition_span(pg, &span, e));
	assert_int_equal(span.oldest, 201608);
	assert_int_equal(span.beyond, 202808);
	/* old, far, this month, the next */
	assert_int_equal(attached(pg, "job%"), 4);
	assert_int_equal(attached(pg, "step%"), 4);
	assert_ok(partition_maintain(pg, NOW, e));
	assert_int_equal(attached(pg, "%"), 8);
	/* Both sides are open. */
	pgtest_run(pg, "INSERT INTO job (cluster, job_id, submit_at, stamps) VALUES"
		       " ('c', 1, 0, ''), ('c', 1, 1786752000, ''), ('c', 1, 3900000000, '')");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_old"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_202608"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_far"), 1);
	pg_close(pg);
}

static void a_month_is_unique_indexed_and_bounded(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);

	put(pg, "c", 7, AT(2026, 3, 5), 0);
	assert_int_equal(pg_script(pg,
				   "INSERT INTO job_202603 (cluster, job_id, submit_at, stamps)"
				   " SELECT cluster, job_id, submit_at, '' FROM job_202603",
				   NULL),
			 -1);
	assert_string_equal(pg_sqlstate(pg), "23505");
	assert_int_equal(pg_script(pg,
				   "INSERT INTO job_202603 (cluster, job_id, submit_at, stamps)"
				   " VALUES ('c', 7, 1786752000, '')",
				   NULL),
			 -1);
	assert_string_equal(pg_sqlstate(pg), "23514");
	/* Every index of the parent has its part. */
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM pg_index WHERE indrelid ="
					" 'job_202603'::regclass"),
			 pgtest_i64(pg, "SELECT count(*) FROM pg_index WHERE indrelid ="
					" 'job'::regclass"));
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM pg_inherits WHERE inhparent ="
					" 'job_key'::regclass"),
			 5);
	pg_close(pg);
}

static void a_reader_does_not_stop_a_new_month(void **state UNUSED)
{
	struct pg *pg = set_up(NOW), *reader = pgtest_connect(pgtest_conninfo());
	int64_t began = monotonic_ms();

	pgtest_run(reader, "BEGIN; SELECT count(*) FROM job; SELECT count(*) FROM step");
	assert_ok(partition_ensure(pg, 202601, e));
	assert_true(monotonic_ms() - began < 1000);
	assert_int_equal(attached(pg, "%202601"), 2);
	pg_close(reader);
	pg_close(pg);
}

static void a_locked_parent_only_delays_attaching(void **state UNUSED)
{
	struct pg *pg = set_up(NOW), *other = pgtest_connect(pgtest_conninfo());

	/* As ANALYZE or CREATE INDEX CONCURRENTLY would. */
	pgtest_run(other, "BEGIN; LOCK TABLE job, step IN SHARE UPDATE EXCLUSIVE MODE");
	assert_ok(partition_ensure(pg, 202602, e));
	assert_int_equal(attached(pg, "%202602"), 0);
	put(pg, "c", 1, AT(2026, 2, 3), 0);
	pgtest_run(other, "COMMIT");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 0);
	assert_ok(partition_maintain(pg, NOW, e));
	assert_int_equal(attached(pg, "%202602"), 2);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 1);
	pg_close(other);
	pg_close(pg);
}

static void *ensure_some(void *arg)
{
	struct pg *pg = pgtest_connect(pgtest_conninfo());
	struct err err = { 0 };

	for (int i = 0; i < 12; i++)
		if (partition_ensure(pg, month_add(202001, i), &err) < 0) {
			fprintf(stderr, "%s\n", err.text);
			*(int *)arg = -1;
		}
	pg_close(pg);
	return NULL;
}

static void two_sessions_make_the_same_months(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);
	pthread_t threads[3];
	int failed[3] = { 0 };

	for (int i = 0; i < 3; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, ensure_some, &failed[i]), 0);
	for (int i = 0; i < 3; i++) {
		pthread_join(threads[i], NULL);
		assert_int_equal(failed[i], 0);
	}
	assert_int_equal(attached(pg, "%\\_2020%"), 24);
	pg_close(pg);
}

static void time_goes_on(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);
	struct span before, after;

	put(pg, "c", 1, AT(2028, 8, 2), AT(2028, 8, 9));
	put(pg, "c", 2, AT(2028, 9, 30), 0);
	put(pg, "d", 3, AT(2028, 10, 1), AT(2028, 10, 2));
	put(pg, "c", 4, AT(2093, 1, 1), 0);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_far"), 4);
	assert_ok(partition_span(pg, &before, e));

	assert_ok(partition_maintain(pg, AT(2026, 10, 1), e));
	assert_ok(partition_span(pg, &after, e));
	assert_int_equal(after.beyond, 202810);
	assert_int_equal(after.oldest, before.oldest);
	assert_true(after.generation > before.generation);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_202808"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM step_202808"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT job_id FROM job_202809"), 2);
	assert_string_equal(pgtest_text(pg, "SELECT string_agg(job_id::text, ' ' ORDER BY job_id)"
					    " FROM job_far"),
			    "3 4");
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM step_far"), 2);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 4);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM step"), 4);
	assert_string_equal(
		pgtest_text(pg, "SELECT string_agg(cluster || month || ':' || least_job_id || '-'"
				" || greatest_job_id || ' open ' || open_jobs || ' life ' ||"
				" max_life_s, ', ' ORDER BY month, cluster) FROM job_month"),
		"c202808:1-1 open 0 life 604800, c202809:2-2 open 1 life 0, "
		"c999999:4-4 open 1 life 0, d999999:3-3 open 0 life 86400");
	/* What arrives now goes to the month; the far side refuses it. */
	put(pg, "c", 5, AT(2028, 9, 1), 0);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_202809"), 2);
	assert_int_equal(pg_script(pg,
				   "INSERT INTO job_far (cluster, job_id, submit_at, stamps)"
				   " VALUES ('c', 9, 1851811200, '')",
				   NULL),
			 -1);
	assert_string_equal(pg_sqlstate(pg), "23514");
	/* A clock that steps back takes nothing away; one that leaps loses nothing. */
	assert_ok(partition_maintain(pg, AT(2026, 1, 1), e));
	assert_ok(partition_span(pg, &after, e));
	assert_int_equal(after.beyond, 202810);
	assert_ok(partition_maintain(pg, AT(2091, 6, 1), e));
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_209301"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_far"), 0);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 5);
	pg_close(pg);
}

struct run {
	struct pg *pg;
	int64_t now;
	int month;
	struct err err;
	int rc;
};

static void *maintain(void *arg)
{
	struct run *r = arg;

	r->rc = r->month != 0 ? partition_detach(r->pg, r->month, NOW, &r->err)
			      : partition_maintain(r->pg, r->now, &r->err);
	return NULL;
}

/* Runs it while a reader is in its way, and cuts it off there. */
static void interrupt(struct pg *pg, struct run *r)
{
	struct pg *reader = pgtest_connect(pgtest_conninfo());
	pthread_t thread;

	pgtest_run(reader, "BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM job");
	r->pg = pgtest_connect(pgtest_conninfo());
	assert_int_equal(pthread_create(&thread, NULL, maintain, r), 0);
	while (pgtest_i64(pg, "SELECT count(*) FROM pg_inherits WHERE inhdetachpending") == 0)
		usleep(2000);
	pg_cancel(r->pg);
	pthread_join(thread, NULL);
	assert_int_equal(r->rc, -1);
	assert_int_equal(r->err.code, ERR_TIMEOUT);
	pg_close(r->pg);
	pg_close(reader);
}

static void an_interrupted_move_is_ended(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);
	struct run r = { .now = AT(2026, 9, 1) };
	struct span span;

	put(pg, "c", 1, AT(2028, 8, 2), 0);
	put(pg, "c", 4, AT(2093, 1, 1), 0);
	interrupt(pg, &r);
	/* Half-way nothing is lost, and records still have their place. */
	assert_ok(partition_span(pg, &span, e));
	assert_int_equal(span.beyond, 202808);
	put(pg, "c", 2, AT(2028, 8, 3), 0);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_far"), 3);
	/* Even if time goes no further. */
	assert_ok(partition_maintain(pg, NOW, e));
	assert_int_equal(attached(pg, "%far"), 2);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 3);
	assert_ok(partition_maintain(pg, r.now, e));
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job_202808"), 2);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 3);
	pg_close(pg);
}

static void a_month_is_taken_away(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);
	struct span before, after;
	int dropped = 0;

	put(pg, "c", 1, AT(2020, 1, 5), AT(2020, 1, 6));
	put(pg, "c", 2, AT(2020, 1, 5), 0);
	put(pg, "c", 3, AT(2020, 1, 9), AT(2020, 3, 1));
	put(pg, "c", 4, AT(2020, 2, 5), AT(2020, 2, 6));
	assert_ok(partition_span(pg, &before, e));
	assert_ok(partition_detach(pg, 202001, AT(2020, 3, 1), e));
	assert_ok(partition_span(pg, &after, e));
	assert_int_equal(after.generation, before.generation + 1);
	assert_string_equal(pgtest_text(pg, "SELECT string_agg(job_id::text, ' ' ORDER BY job_id)"
					    " FROM job"),
			    "2 3 4");
	assert_string_equal(pgtest_text(pg, "SELECT string_agg(job_id::text, ' ' ORDER BY job_id)"
					    " FROM step"),
			    "2 3 4");
	assert_int_equal(pgtest_i64(pg, "SELECT job_id FROM gone_job_202001"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT job_id FROM gone_step_202001"), 1);
	assert_int_equal(pgtest_i64(pg, "SELECT least_job_id FROM job_month WHERE month = 202001"),
			 2);
	assert_ok(partition_drop_gone(pg, &dropped, e));
	assert_int_equal(dropped, 2);
	/* Late records have their place, and another turn is possible. */
	put(pg, "c", 5, AT(2020, 1, 7), AT(2020, 1, 8));
	assert_int_equal(attached(pg, "%202001"), 2);
	assert_ok(partition_detach(pg, 202001, AT(2026, 1, 1), e));
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 2);
	assert_ok(partition_drop_gone(pg, &dropped, e));
	assert_int_equal(dropped, 2);
	assert_ok(partition_drop_gone(pg, &dropped, e));
	assert_int_equal(dropped, 0);
	pg_close(pg);
}

static void an_interrupted_detach_is_mended(void **state UNUSED)
{
	struct pg *pg = set_up(NOW);
	struct run r = { .month = 202001 };

	put(pg, "c", 1, AT(2020, 1, 5), AT(2020, 1, 6));
	put(pg, "c", 2, AT(2020, 2, 5), AT(2020, 2, 6));
	interrupt(pg, &r);
	/* Meanwhile a late record of that month has its place. */
	put(pg, "c", 3, AT(2020, 1, 7), 0);
	assert_ok(partition_maintain(pg, NOW, e));
	assert_int_equal(attached(pg, "%202001"), 2);
	assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM job"), 3);
	assert_ok(partition_detach(pg, 202001, NOW, e));
	assert_string_equal(pgtest_text(pg, "SELECT string_agg(job_id::text, ' ' ORDER BY job_id)"
					    " FROM job"),
			    "2 3");
	pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(months_are_numbers),
		cmocka_unit_test(the_first_partitions),
		cmocka_unit_test(a_month_is_unique_indexed_and_bounded),
		cmocka_unit_test(a_reader_does_not_stop_a_new_month),
		cmocka_unit_test(a_locked_parent_only_delays_attaching),
		cmocka_unit_test(two_sessions_make_the_same_months),
		cmocka_unit_test(time_goes_on),
		cmocka_unit_test(an_interrupted_move_is_ended),
		cmocka_unit_test(a_month_is_taken_away),
		cmocka_unit_test(an_interrupted_detach_is_mended),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* store/event_read and store/facts: periods in order, whole, however many; figures that agree with
 * what was put in. */
#include "pgtest.h"

#include "base/buf.h"
#include "store/event_read.h"
#include "store/facts.h"
#include "store/partition.h"

static struct store *open_store(void)
{
	const struct store_settings settings = { .conninfo = pgtest_conninfo(), .readers = 2 };

	return store_open(&settings, NULL);
}

struct seen {
	struct buf text;
	int64_t n;
	int stop_after;
};

static int see_node(const struct node_period *p, void *arg)
{
	struct seen *s = arg;

	s->n++;
	if (s->text.len < 4000)
		buf_printf(&s->text, "%s/%s %" PRId64 "-%" PRId64 " %s %s %" PRId64 ";", p->cluster,
			   p->event.node, p->event.at, p->ended ? p->end_at : -1,
			   p->event.up ? "up" : "down",
			   p->event.reason != NULL ? p->event.reason : "-", p->event.reason_uid);
	return s->n == s->stop_after ? -1 : 0;
}

static int see_cluster(const struct cluster_period *p, void *arg)
{
	struct seen *s = arg;

	s->n++;
	if (s->text.len < 4000)
		buf_printf(&s->text, "%s %" PRId64 "-%" PRId64 " %s %s;", p->cluster, p->tres.at,
			   p->ended ? p->end_at : -1, p->tres.nodes != NULL ? p->tres.nodes : "-",
			   p->tres.tres != NULL ? p->tres.tres : "-");
	return s->n == s->stop_after ? -1 : 0;
}

static void periods_that_touch_a_window(void **state UNUSED)
{
	const struct {
		struct period_query q;
		const char *want;
	} rows[] = {
		{ { .start = 0, .end = 1000 },
		  "a/n1 100-200 down bad 0;a/n1 200--1 up - -1;a/n2 150--1 down - -1;"
		  "b/n1 50-60 down x 5;" },
		{ { .start = 200, .end = 201 }, "a/n1 200--1 up - -1;a/n2 150--1 down - -1;" },
		{ { .start = 60, .end = 100 }, "" },
		{ { .start = 55, .end = 101 }, "a/n1 100-200 down bad 0;b/n1 50-60 down x 5;" },
		{ { .clusters = (const char *const[]){ "b", "c" }, .n_clusters = 2, .end = 1000 },
		  "b/n1 50-60 down x 5;" },
		{ { .nodes = (const char *const[]){ "n2" }, .n_nodes = 1, .end = 1000 },
		  "a/n2 150--1 down - -1;" },
	};
	struct pg *pg = pgtest_schema();
	struct store *s = open_store();

	pgtest_run(pg, "INSERT INTO node_event (cluster, node, start_at, end_at, up, reason,"
		       " reason_uid) VALUES ('a', 'n1', 100, 200, false, 'bad', 0),"
		       " ('a', 'n1', 200, NULL, true, NULL, NULL),"
		       " ('a', 'n2', 150, NULL, false, NULL, NULL),"
		       " ('b', 'n1', 50, 60, false, 'x', 5)");
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct seen seen = { 0 };

		assert_ok(store_node_periods_each(s, &rows[i].q, see_node, &seen, e));
		assert_string_equal(buf_str(&seen.text), rows[i].want);
		buf_fini(&seen.text);
	}
	store_close(s);
	pg_close(pg);
}

static void periods_of_clusters(void **state UNUSED)
{
	static const char *const b[] = { "b" };
	const struct period_query all = { .end = 1000 };
	const struct period_query some = { .clusters = b, .n_clusters = 1, .end = 1000 };
	struct pg *pg = pgtest_schema();
	struct store *s = open_store();
	struct seen seen = { 0 };

	pgtest_run(pg, "INSERT INTO cluster_tres_event VALUES ('b', 10, 20, 'n[1-2]', 'cpu=8'),"
		       " ('b', 20, NULL, NULL, NULL), ('a', 5, NULL, 'n1', 'cpu=4')");
	assert_ok(store_cluster_periods_each(s, &all, see_cluster, &seen, e));
	assert_string_equal(buf_str(&seen.text),
			    "a 5--1 n1 cpu=4;b 10-20 n[1-2] cpu=8;b 20--1 - -;");
	buf_clear(&seen.text);
	assert_ok(store_cluster_periods_each(s, &some, see_cluster, &seen, e));
	assert_string_equal(buf_str(&seen.text), "b 10-20 n[1-2] cpu=8;b 20--1 - -;");
	buf_fini(&seen.text);
	store_close(s);
	pg_close(pg);
}

static void more_than_a_page(void **state UNUSED)
{
	const struct period_query all = { .end = 100000 };
	struct pg *pg = pgtest_schema();
	struct store *s = open_store();
	struct seen seen = { 0 };
	struct err err = { 0 };

	/* Exactly two pages of nodes, and clusters with one event more. */
	pgtest_run(pg,
		   "INSERT INTO node_event (cluster, node, start_at, up)"
		   " SELECT 'c' || i % 3, 'n' || i / 10, i, true FROM generate_series(1, 4000) i");
	pgtest_run(pg, "INSERT INTO cluster_tres_event (cluster, start_at)"
		       " SELECT 'c' || i % 3, i FROM generate_series(1, 4001) i");
	assert_ok(store_node_periods_each(s, &all, see_node, &seen, e));
	assert_int_equal(seen.n, 4000);
	seen.n = 0;
	assert_ok(store_cluster_periods_each(s, &all, see_cluster, &seen, e));
	assert_int_equal(seen.n, 4001);
	seen.n = 0;
	seen.stop_after = 2500;
	assert_int_equal(store_node_periods_each(s, &all, see_node, &seen, &err), -1);
	assert_int_equal(err.code, ERR_GONE);
	assert_int_equal(seen.n, 2500);
	buf_fini(&seen.text);
	store_close(s);
	pg_close(pg);
}

static void figures(void **state UNUSED)
{
	struct pg *pg = pgtest_schema(), *idle = pgtest_connect(pgtest_conninfo());
	struct store *s = open_store();
	struct store_facts before, after;

	assert_ok(partition_maintain(pg, 1786752000, e));
	assert_ok(store_facts_read(s, &before, e));
	assert_int_equal(before.partitions, 4);
	assert_int_equal(before.open_jobs, 0);
	assert_int_equal(before.quarantined, 0);
	assert_false(before.standby);
	assert_int_equal(before.standbys, 0);
	assert_int_equal(before.lag_bytes, -1);
	assert_true(before.lag_s < 0);
	assert_true(before.connections >= 3 && before.max_connections >= before.connections);

	pgtest_run(pg, "INSERT INTO job (cluster, job_id, submit_at, work_dir, stamps)"
		       " SELECT 'c', i, 1786752000, repeat('x', 500), ''"
		       " FROM generate_series(1, 2000) i");
	assert_ok(partition_recount(pg, 202608, e));
	pgtest_run(pg, "INSERT INTO quarantine (received_at, source, who, kind, reason_field,"
		       " reason_text, raw, replayed_at) VALUES (1, '', '', '', '', '', '', NULL),"
		       " (1, '', '', '', '', '', '', 2)");
	pgtest_run(idle, "BEGIN; SELECT 1");
	sleep(1);
	assert_ok(store_facts_read(s, &after, e));
	assert_int_equal(after.open_jobs, 2000);
	assert_int_equal(after.quarantined, 1);
	assert_true(after.job_bytes - before.job_bytes > 1000000);
	assert_true(after.database_bytes - before.database_bytes > 1000000);
	assert_int_equal(after.step_bytes, before.step_bytes);
	assert_true(after.oldest_transaction_s >= 1);
	store_close(s);
	pg_close(idle);
	pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(periods_that_touch_a_window),
		cmocka_unit_test(periods_of_clusters),
		cmocka_unit_test(more_than_a_page),
		cmocka_unit_test(figures),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

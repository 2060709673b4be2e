/* The write path when something is in its way: locks, lost connections, another daemon. */
#include "ingest_kit.h"

#include <pthread.h>

#include "store/write_tx.h"

struct fixture {
	struct pg *pg;
	struct pg *admin; /* whose transaction is open */
	struct store *store;
	struct ingest *in;
	struct kit k;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.pg = pgtest_schema();
	f.admin = pgtest_connect(pgtest_conninfo());
	f.store = kit_store();
	f.in = kit_ingest(f.store);
	f.k = kit_new();
	/* The cluster and the month are known, as in a running service. */
	kit_start(&f.k, 1, T0, 0);
	kit_commit(f.in, &f.k);
	kit_clear(&f.k);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	pg_close(f->admin);
	kit_stop(f->in);
	store_close(f->store);
	pg_close(f->pg);
	kit_free(&f->k);
	return 0;
}

static void nap(int ms)
{
	nanosleep(&(struct timespec){ .tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L }, NULL);
}

static int64_t commit_ms(struct ingest *in, struct kit *k)
{
	int64_t begun = monotonic_ms();

	kit_commit(in, k);
	kit_expect_all(k, VERDICT_ACCEPTED);
	return monotonic_ms() - begun;
}

/* ---- a caller in a thread of its own */

struct caller {
	struct ingest *in;
	struct kit k;
	int rc;
	struct err err;
	bool done;
	pthread_t thread;
};

static void *call(void *arg)
{
	struct caller *c = arg;

	c->rc = kit_try_part(c->in, &c->k, 0, c->k.n, &c->err);
	__atomic_store_n(&c->done, true, __ATOMIC_SEQ_CST);
	return NULL;
}

static void begin_call(struct caller *c, struct ingest *in)
{
	c->in = in;
	c->done = false;
	assert_int_equal(pthread_create(&c->thread, NULL, call, c), 0);
}

static bool is_done(const struct caller *c)
{
	return __atomic_load_n(&c->done, __ATOMIC_SEQ_CST);
}

static void end_call(struct caller *c)
{
	pthread_join(c->thread, NULL);
	if (c->rc < 0)
		fail_msg("%s", c->err.text);
	kit_expect_all(&c->k, VERDICT_ACCEPTED);
	kit_free(&c->k);
}

/* ---- an administrator at his prompt */

static void administrators_stop_nothing(void **state)
{
	static const char *const holds[] = {
		"INSERT INTO job_note (cluster, job_id, submit_at, comment, noted_by, noted_at) "
		"VALUES ('c1', 1, 1767225600, 'x', 'root', 0)",
		"SELECT * FROM job_note FOR UPDATE",
		"LOCK TABLE job_note",
		"SELECT * FROM cluster FOR UPDATE",
		"UPDATE cluster SET registered_at = 1",
		"LOCK TABLE cluster",
		"INSERT INTO cluster (name, registered_at) VALUES ('c9', 1)",
		"LOCK TABLE tres",
	};
	struct fixture *f = *state;
	int64_t id = 100;

	for (size_t i = 0; i < ARRAY_LEN(holds); i++) {
		pgtest_run(f->admin, "BEGIN");
		pgtest_run(f->admin, holds[i]);
		for (int n = 0; n < 5; n++, id++) {
			int64_t ms;

			kit_clear(&f->k);
			kit_start(&f->k, id, T0, T0 + 5);
			kit_end(&f->k, id, T0, T0 + 5, T0 + 50, STATE_COMPLETED);
			ms = commit_ms(f->in, &f->k);
			if (ms > 2000)
				fail_msg("%s: a commit took %" PRId64 " ms", holds[i], ms);
		}
		pgtest_run(f->admin, "ROLLBACK");
	}
}

/* Records that need what is locked wait; the others do not; and when the lock goes they are
 * written. */
static void held_until_the_lock_goes(struct fixture *f, const char *lock, struct caller *waiting)
{
	pgtest_run(f->admin, "BEGIN");
	pgtest_run(f->admin, lock);
	begin_call(waiting, f->in);
	for (int64_t id = 1000; id < 1010; id++) {
		kit_clear(&f->k);
		kit_start(&f->k, id, T0, T0 + 5);
		assert_true(commit_ms(f->in, &f->k) < 2000);
		nap(30);
	}
	assert_false(is_done(waiting));
	pgtest_run(f->admin, "COMMIT");
	end_call(waiting);
}

static void new_cluster_waits_alone(void **state)
{
	struct fixture *f = *state;
	struct caller waiting = { .k = kit_new() };

	kit_start(&waiting.k, 5, T0, 0)->cluster = "c9";
	held_until_the_lock_goes(f, "INSERT INTO cluster (name, registered_at) VALUES ('c9', 1)",
				 &waiting);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE cluster = 'c9'"), 1);
}

static void new_tres_waits_alone(void **state)
{
	struct fixture *f = *state;
	struct caller waiting = { .k = kit_new() };
	struct record *r = kit_start(&waiting.k, 5, T0, T0);

	job_set(&r->job, tres_alloc, "cpu=1,gres/fpga=1");
	held_until_the_lock_goes(f, "LOCK TABLE tres", &waiting);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM tres WHERE name = 'fpga'"), 1);
}

static void locked_month_waits_alone(void **state)
{
	struct fixture *f = *state;
	struct caller waiting = { .k = kit_new() };

	kit_start(&f->k, 2, T0 - 86400, 0); /* December */
	kit_commit(f->in, &f->k);
	kit_start(&waiting.k, 3, T0 - 86400, 0);
	kit_end(&waiting.k, 2, T0 - 86400, T0, T0 + 10, STATE_COMPLETED);
	held_until_the_lock_goes(f, "LOCK TABLE job_202512", &waiting);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job_202512"), 2);
	kit_months_agree(f->pg);
}

static void locked_events_wait_alone(void **state)
{
	struct fixture *f = *state;
	struct caller waiting = { .k = kit_new() };
	struct record *r = kit_add(&waiting.k, REC_NODE_EVENT, 0, 0);

	job_unset(&r->job, job_id);
	r->node.node = "n1";
	r->at = r->node.at = T0;
	held_until_the_lock_goes(f, "LOCK TABLE node_event", &waiting);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM node_event"), 1);
}

static void locked_quarantine_waits_alone(void **state)
{
	struct fixture *f = *state;
	struct kit k = kit_new();
	struct caller waiting = { .k = kit_new() };
	struct record *r = kit_start(&k, 5, T0, 0);

	job_unset(&r->job, job_id);
	kit_start(&waiting.k, 6, T0, 0);
	pgtest_run(f->admin, "BEGIN; LOCK TABLE quarantine");
	begin_call(&waiting, f->in); /* nothing of it is refused: not delayed */
	end_call(&waiting);
	waiting = (struct caller){ .k = k };
	begin_call(&waiting, f->in);
	nap(500);
	assert_false(is_done(&waiting));
	pgtest_run(f->admin, "COMMIT");
	pthread_join(waiting.thread, NULL);
	assert_int_equal(waiting.rc, 0);
	kit_expect(&waiting.k, 0, VERDICT_REFUSED);
	assert_true(waiting.k.verdicts[0].quarantine_id > 0);
	kit_free(&waiting.k);
}

/* ---- the database goes away */

static const char kill_writers[] =
	"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() "
	"AND application_name IN ('tallyd writer', 'tallyd lock')";

struct loader {
	struct ingest **in; /* each in turn, until one takes it */
	size_t n_in;
	int64_t first_id, n;
	int64_t refused;
	pthread_t thread;
};

/* A controller: sends each record until it is acknowledged. */
static void *load(void *arg)
{
	struct loader *l = arg;
	size_t which = 0;

	for (int64_t id = l->first_id; id < l->first_id + l->n; id++) {
		struct kit k = kit_new();
		struct err err = { 0 };

		kit_start(&k, id, T0 + id, T0 + id + 1);
		kit_end(&k, id, T0 + id, T0 + id + 1, T0 + id + 9, STATE_COMPLETED);
		kit_step_end(&k, id, T0 + id, 0, T0 + id + 1, T0 + id + 8, id);
		while (kit_try_part(l->in[which], &k, 0, k.n, &err) < 0) {
			which = (which + 1) % l->n_in;
			nap(10);
		}
		for (size_t i = 0; i < k.n; i++)
			l->refused += k.verdicts[i].kind == VERDICT_REFUSED;
		kit_free(&k);
	}
	return NULL;
}

#define LOADERS 3

static void begin_load(struct loader *loaders, struct ingest **in, size_t n_in, int64_t each)
{
	for (size_t i = 0; i < LOADERS; i++) {
		loaders[i] = (struct loader){ .in = in, .n_in = n_in, .n = each,
					      .first_id = 10000 * ((int64_t)i + 1) };
		assert_int_equal(pthread_create(&loaders[i].thread, NULL, load, &loaders[i]), 0);
	}
}

static void end_load(struct fixture *f, struct loader *loaders, int64_t each)
{
	for (size_t i = 0; i < LOADERS; i++) {
		pthread_join(loaders[i].thread, NULL);
		assert_int_equal(loaders[i].refused, 0);
	}
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE job_id >= 10000 "
					   "AND state = 3 AND peak_rss = job_id"), LOADERS * each);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step"), LOADERS * each);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), LOADERS * each + 1);
	kit_months_agree(f->pg);
}

static void connections_killed_under_load(void **state)
{
	struct fixture *f = *state;
	struct loader loaders[LOADERS];

	begin_load(loaders, &f->in, 1, 150);
	for (int i = 0; i < 15; i++) {
		nap(60);
		pgtest_run(f->pg, kill_writers);
	}
	end_load(f, loaders, 150);
}

static void database_away(void **state)
{
	struct fixture *f = *state;
	struct ingest_settings settings = kit_settings;
	struct pg *server = pgtest_connect(getenv("TALLY_TEST_DSN"));
	struct err err = { 0 };
	char sql[128];
	int retry = 0;
	struct batch b;

	settings.commit_wait_ms = 600;
	kit_stop(f->in);
	f->in = ingest_start(f->store, &settings, &err);
	assert_non_null(f->in);
	kit_await_active(f->in);
	snprintf(sql, sizeof(sql), "ALTER DATABASE %s ALLOW_CONNECTIONS false", pgtest_name);
	pgtest_run(server, sql);
	pgtest_run(f->pg, kill_writers);
	kit_start(&f->k, 7, T0, 0);
	kit_start(&f->k, 8, T0, 0);
	b = (struct batch){ f->k.records, f->k.verdicts, 2, 100, "test", "uid=0" };
	memset(b.verdicts, 0, 2 * sizeof(*b.verdicts));
	assert_int_equal(ingest_commit(f->in, &b, &retry, &err), -1);
	assert_int_equal(err.code, ERR_DATABASE);
	assert_true(retry > 0);
	kit_expect_all(&f->k, VERDICT_PENDING);
	snprintf(sql, sizeof(sql), "ALTER DATABASE %s ALLOW_CONNECTIONS true", pgtest_name);
	pgtest_run(server, sql);
	pg_close(server);
	for (int i = 0; kit_try_part(f->in, &f->k, 0, 2, &err) < 0; i++)
		assert_true(i < 30);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE job_id IN (7, 8)"), 2);
}

/* A statement that does not come back must not hold up the end. */
static void stops_while_a_statement_hangs(void **state)
{
	struct fixture *f = *state;
	struct caller waiting = { .k = kit_new() };
	int64_t begun;

	pgtest_run(f->pg, "CREATE FUNCTION hang() RETURNS trigger LANGUAGE plpgsql AS "
			  "$$ BEGIN PERFORM pg_sleep(60); RETURN NEW; END $$;"
			  "CREATE TRIGGER hang BEFORE INSERT ON job_202601 FOR EACH ROW "
			  "EXECUTE FUNCTION hang()");
	kit_start(&waiting.k, 7, T0, 0);
	begin_call(&waiting, f->in);
	nap(300);
	begun = monotonic_ms();
	ingest_stop(f->in, begun + 500);
	assert_true(monotonic_ms() - begun < 3000);
	pthread_join(waiting.thread, NULL);
	assert_int_equal(waiting.rc, -1);
	kit_expect(&waiting.k, 0, VERDICT_PENDING);
	kit_free(&waiting.k);
	ingest_free(f->in);
	pgtest_run(f->pg, "DROP TRIGGER hang ON job_202601");
	f->in = kit_ingest(f->store); /* for tear_down */
}

/* ---- several daemons */

static bool is_active(struct ingest *in)
{
	struct ingest_stats stats;

	ingest_get_stats(in, &stats);
	return stats.active;
}

static void second_daemon_stands_by(void **state)
{
	struct fixture *f = *state;
	struct store *store = kit_store();
	struct err err = { 0 };
	struct ingest *second = ingest_start(store, &kit_settings, &err);
	int64_t begun;

	assert_non_null(second);
	kit_start(&f->k, 7, T0, 0);
	nap(300);
	assert_int_equal(kit_try_part(second, &f->k, 0, 1, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	assert_non_null(strstr(err.text, "active"));
	kit_expect(&f->k, 0, VERDICT_PENDING);
	assert_true(is_active(f->in));
	begun = monotonic_ms();
	kit_stop(f->in);
	kit_await_active(second);
	assert_true(monotonic_ms() - begun < 10000);
	assert_int_equal(kit_try_part(second, &f->k, 0, 1, &err), 0);
	f->in = second;
	store_close(f->store);
	f->store = store;
}

/* Each time the active one's lock is taken away either may get it; nothing acknowledged is lost
 * and nothing is there twice. */
static void two_daemons_under_load(void **state)
{
	struct fixture *f = *state;
	struct store *store = kit_store();
	struct err err = { 0 };
	struct ingest *both[2] = { f->in, ingest_start(store, &kit_settings, &err) };
	struct loader loaders[LOADERS];
	int64_t epoch = pgtest_i64(f->pg, "SELECT epoch FROM daemon");

	assert_non_null(both[1]);
	begin_load(loaders, both, 2, 100);
	for (int i = 0; i < 4; i++) {
		nap(400);
		pgtest_run(f->pg, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
				  "WHERE datname = current_database() "
				  "AND application_name = 'tallyd lock'");
	}
	end_load(f, loaders, 100);
	assert_true(pgtest_i64(f->pg, "SELECT epoch FROM daemon") > epoch);
	kit_stop(both[1]);
	store_close(store);
}

/* What the daemon that lost the lock has begun ends before the other one begins; what it begins
 * afterwards is refused. */
static void epoch_fences(void **state)
{
	struct fixture *f = *state;
	struct write_tx *tx;
	struct err err = { 0 };
	int64_t epoch;

	kit_stop(f->in);
	epoch = pgtest_i64(f->pg, "SELECT epoch FROM daemon");
	tx = write_tx_new(f->store, 100);
	assert_int_equal(write_begin(tx, epoch, NULL, &err), 0);
	pgtest_run(f->admin, "SET lock_timeout = 200");
	assert_int_equal(pg_script(f->admin, "UPDATE daemon SET epoch = epoch + 1", &err), -1);
	assert_int_equal(write_commit(tx, &err), 0);
	pgtest_run(f->admin, "UPDATE daemon SET epoch = epoch + 1");
	assert_int_equal(write_begin(tx, epoch, NULL, &err), -1);
	assert_int_equal(write_fault(tx), FAULT_FENCED);
	write_tx_free(tx);
	f->in = kit_ingest(f->store); /* for tear_down */
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(administrators_stop_nothing),
		T(new_cluster_waits_alone),
		T(new_tres_waits_alone),
		T(locked_month_waits_alone),
		T(locked_events_wait_alone),
		T(locked_quarantine_waits_alone),
		T(connections_killed_under_load),
		T(database_away),
		T(stops_while_a_statement_hangs),
		T(second_daemon_stands_by),
		T(two_daemons_under_load),
		T(epoch_fences),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

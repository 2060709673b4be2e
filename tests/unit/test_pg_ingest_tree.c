/* The writer makes the place of a job in the account tree before the job: once, marked, and never
 * waiting for an administrator with what needs no new place. */
#include "ingest_kit.h"

#include <pthread.h>

struct fixture {
	struct pg *pg;
	struct pg *admin;
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

static const char *tree_text(struct fixture *f)
{
	return pgtest_text(f->pg,
			   "SELECT string_agg(format('%s:%s/%s/%s%s%s', id, account, user_name,"
			   " partition, CASE is_default WHEN 1 THEN ' default' ELSE '' END,"
			   " CASE made_by_record WHEN 1 THEN ' made' ELSE '' END), ', '"
			   " ORDER BY id) FROM association");
}

static void a_place_is_made_once(void **state)
{
	struct fixture *f = *state;

	for (int i = 0; i < 50; i++) {
		struct record *r = kit_start(&f->k, 100 + i, T0 + i, T0 + 100);
		job_set(&r->job, partition, "gpu");
		job_set(&r->job, uid, 5001);
		job_set(&r->job, wckey, "*survey");
		job_set(&r->job, qos, i % 2 ? "burst" : "normal");
	}
	kit_commit(f->in, &f->k);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	assert_string_equal(tree_text(f), "1:root//, 2:root/root/ default, 3:physics// made, "
					  "4:physics/alice/ default made");
	assert_string_equal(
		pgtest_text(f->pg, "SELECT concat_ws('|', uid, made_by_record) FROM tally_user "
				   "WHERE name = 'alice'"),
		"5001|1");
	assert_string_equal(pgtest_text(f->pg,
					"SELECT concat_ws('|', cluster, id, name, user_name) "
					"FROM wckey"),
			    "c1|1|survey|alice");
	assert_string_equal(
		pgtest_text(f->pg, "SELECT string_agg(id || name, ' ' ORDER BY id) FROM qos"),
		"1normal 2burst");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM txn WHERE actor = 'records'"), 6);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM outbox WHERE kind = 'add_wckey'"),
			 1);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM association_history"), 4);
	int64_t version = pgtest_i64(f->pg, "SELECT version FROM tree_version");
	kit_commit(f->in, &f->k);
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	assert_int_equal(pgtest_i64(f->pg, "SELECT version FROM tree_version"), version);
}

/* An association for the job's partition is a place; so is a removed one. */
static void what_is_there_is_left_alone(void **state)
{
	struct fixture *f = *state;

	kit_start(&f->k, 1, T0, 0);
	kit_commit(f->in, &f->k);
	pgtest_run(f->pg,
		   "UPDATE association SET partition = 'gpu', made_by_record = 0 WHERE id = 4;"
		   "UPDATE tree_version SET version = version + 1");
	kit_clear(&f->k);
	struct record *r = kit_start(&f->k, 2, T0, 0);
	job_set(&r->job, partition, "cpu,gpu");
	kit_commit(f->in, &f->k);
	assert_string_equal(tree_text(f), "1:root//, 2:root/root/ default, 3:physics// made, "
					  "4:physics/alice/gpu default");
	pgtest_run(f->pg, "UPDATE association SET deleted = 1 WHERE id = 4;"
			  "UPDATE tree_version SET version = version + 1");
	kit_clear(&f->k);
	r = kit_start(&f->k, 3, T0, 0);
	job_set(&r->job, partition, "gpu");
	kit_commit(f->in, &f->k);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM association"), 4);
	/* In another partition there is none. */
	kit_clear(&f->k);
	r = kit_start(&f->k, 4, T0, 0);
	job_set(&r->job, partition, "cpu");
	kit_commit(f->in, &f->k);
	assert_int_equal(pgtest_i64(f->pg,
				    "SELECT count(*) FROM association WHERE user_name = 'alice'"
				    " AND partition = '' AND deleted = 0"),
			 1);
}

static void a_name_that_cannot_stand_there_costs_no_job(void **state)
{
	struct fixture *f = *state;
	struct record *r = kit_start(&f->k, 1, T0, 0);
	char *name = arena_alloc(f->k.arena, 4001);

	memset(name, 'x', 4000);
	name[4000] = '\0';
	job_set(&r->job, account, name);
	r = kit_start(&f->k, 2, T0, 0);
	job_set(&r->job, account, "a,b");
	r = kit_start(&f->k, 3, T0, 0);
	job_set(&r->job, account, "\303\251t\303\251'; DROP TABLE association;--");
	kit_commit(f->in, &f->k);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	assert_int_equal(
		pgtest_i64(f->pg, "SELECT count(*) FROM association WHERE account LIKE '%DROP%'"),
		0); /* lower case */
	assert_int_equal(
		pgtest_i64(f->pg, "SELECT count(*) FROM association WHERE account LIKE '%drop%'"),
		2);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 3);
}

struct caller {
	struct fixture *f;
	struct kit *k;
	int64_t ms;
};

static void *commit(void *arg)
{
	struct caller *c = arg;
	int64_t begun = monotonic_ms();

	kit_commit(c->f->in, c->k);
	c->ms = monotonic_ms() - begun;
	return NULL;
}

static void an_open_change_holds_new_places_only(void **state)
{
	struct fixture *f = *state;
	struct kit other = kit_new();
	struct caller waiting = { f, &other, 0 };
	pthread_t thread;

	kit_start(&f->k, 1, T0, 0);
	kit_commit(f->in, &f->k);
	pgtest_run(f->admin, "BEGIN; SELECT version FROM tree_version FOR UPDATE");
	struct record *r = kit_start(&other, 2, T0, 0);
	job_set(&r->job, account, "new");
	pthread_create(&thread, NULL, commit, &waiting);
	nanosleep(&(struct timespec){ .tv_nsec = 300000000 }, NULL);
	kit_clear(&f->k);
	kit_start(&f->k, 3, T0, 0);
	int64_t begun = monotonic_ms();
	kit_commit(f->in, &f->k);
	assert_true(monotonic_ms() - begun < 5000);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 2);
	pgtest_run(f->admin, "COMMIT");
	pthread_join(thread, NULL);
	kit_expect_all(&other, VERDICT_ACCEPTED);
	assert_true(waiting.ms >= 300);
	assert_int_equal(
		pgtest_i64(f->pg, "SELECT count(*) FROM association WHERE account = 'new'"), 2);
	kit_free(&other);
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(a_place_is_made_once),
		T(what_is_there_is_left_alone),
		T(a_name_that_cannot_stand_there_costs_no_job),
		T(an_open_change_holds_new_places_only),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

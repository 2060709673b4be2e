/* store/tree_read and store/tree_write: what is written is read back, periods follow the changes,
 * changes stand in line, a large tree loads quickly. */
#include "pgtest.h"

#include "base/clock.h"
#include "store/tree_write.h"

static struct store *store;
static struct pg *pg;
static struct tree_cache *cache;

static int setup(void **state UNUSED)
{
	const struct store_settings settings = { .conninfo = pgtest_conninfo(), .readers = 4 };

	pg = pgtest_schema();
	pgtest_run(pg, "INSERT INTO cluster (name, registered_at) VALUES ('c1', 1000);"
		       "SELECT tally_plant('c1', 1000, 1)");
	store = store_open(&settings, NULL);
	cache = tree_cache_new(store);
	return 0;
}

static int teardown(void **state UNUSED)
{
	tree_cache_free(cache);
	store_close(store);
	pg_close(pg);
	return 0;
}

static struct assoc an_assoc(int64_t id, int64_t parent, const char *account, const char *user)
{
	struct assoc a = { 0 };

	row_set(&a, ASSOC, cluster, "c1");
	row_set(&a, ASSOC, id, id);
	row_set(&a, ASSOC, parent_id, parent);
	row_set(&a, ASSOC, account, account);
	row_set(&a, ASSOC, user_name, user);
	row_set(&a, ASSOC, partition, "");
	row_set(&a, ASSOC, shares, 1);
	row_set(&a, ASSOC, is_default, 0);
	row_set(&a, ASSOC, deleted, 0);
	row_set(&a, ASSOC, made_by_record, 0);
	return a;
}

static struct draft_actor actor = { "root", 0, 0 };

static void write_rows(struct tree_tx *tx, const struct draft_row *rows, size_t n, int64_t now)
{
	struct arena *a = arena_new();

	actor.at = now;
	assert_ok(tree_tx_write(tx, rows, n, &actor, a, e));
	arena_free(a);
}

static void write_one(const struct assoc *a, int64_t now)
{
	const struct draft_row row = { ENTITY_ASSOC, a, NULL };
	struct tree_tx *tx = tree_tx_begin(store, NULL);

	assert_non_null(tx);
	write_rows(tx, &row, 1, now);
	assert_ok(tree_tx_commit(tx, e));
}

static struct tree *latest(void)
{
	struct err err = { 0 };
	struct tree *t = tree_cache_get(cache, &err);

	if (t == NULL)
		fail_msg("%s", err.text);
	return t;
}

static void a_new_database_has_its_roots(void **state UNUSED)
{
	struct tree *t = latest();
	const struct tree_cluster *c = tree_cluster(t, "c1");

	assert_int_equal(c->n, 2);
	assert_string_equal(c->nodes[0].own->account, "root");
	assert_string_equal(c->nodes[1].own->lineage, "/0-root/");
	assert_string_equal(c->nodes[1].whole->qos, "normal");
	assert_int_equal(tree_qos(t, "normal")->id, 1);
	assert_int_equal(tree_user_by_uid(t, 0)->admin_level, 3);
	assert_int_equal(c->nodes[tree_default(c, "root")].own->id, ASSOC_ROOT_USER);
	tree_unref(t);
}

/* Every kind, every field of it. */
static void what_is_written_is_read_back(void **state UNUSED)
{
	struct arena *a = arena_new();
	struct draft_row rows[ENTITIES];
	size_t n_rows = 0;
	struct tree_tx *tx = tree_tx_begin(store, NULL);

	for (int k = 0; k < ENTITY_RESV; k++) {
		const struct entity *ent = &entities[k];
		void *row = arena_zalloc(a, ent->size);
		for (size_t i = 0; i < ent->n; i++) {
			if ((ent->fields[i].flags & FF_SHOWN) != 0)
				continue;
			if (field_is_text(ent->fields[i].type))
				row_put_text(ent, row, i, arena_printf(a, "it's \"%zu\"", i));
			else
				row_put_number(ent, row, i, (int64_t)i + 7);
		}
		if (k == ENTITY_COORD) /* removed ones are not read */
			((struct coord *)row)->deleted = 0;
		rows[n_rows++] = (struct draft_row){ (enum entity_kind)k, row, NULL };
	}
	write_rows(tx, rows, n_rows, 5000);
	assert_ok(tree_tx_commit(tx, e));
	struct tree *t = latest();
	const struct tree_rows *all = tree_rows(t);
	const void *const lists[] = { all->clusters, all->accounts, all->users, all->assocs,
				      all->qos,	     all->wckeys,   all->coords };
	const size_t counts[] = { all->n_clusters, all->n_accounts, all->n_users, all->n_assocs,
				  all->n_qos,	   all->n_wckeys,   all->n_coords };
	for (int k = 0; k < ENTITY_RESV; k++) {
		const struct entity *ent = &entities[k];
		bool found = false;
		for (size_t n = 0; n < counts[k]; n++) {
			const char *row = (const char *)lists[k] + n * ent->size;
			if (row_key_cmp(ent, row, rows[k].now) != 0)
				continue;
			found = true;
			for (size_t i = 0; i < ent->n; i++)
				if ((ent->fields[i].flags & FF_SHOWN) == 0 &&
				    row_field_cmp(&ent->fields[i], i, row, rows[k].now) != 0)
					fail_msg("%s.%s", ent->name, ent->fields[i].name);
		}
		assert_true(found);
	}
	tree_unref(t);
	arena_free(a);
}

static const char *history(void)
{
	return pgtest_text(pg, "SELECT string_agg(format('%s-%s:%s/%s%s', valid_from, "
			       "coalesce(valid_to::text, ''), parent_id, shares, "
			       "CASE deleted WHEN 0 THEN '' ELSE ' gone' END), ' ' "
			       "ORDER BY valid_from) FROM association_history WHERE id = 5");
}

static void a_period_for_each_place(void **state UNUSED)
{
	struct assoc account = an_assoc(3, 1, "physics", ""), a = an_assoc(5, 1, "astro", "");

	write_one(&account, 2000);
	write_one(&a, 2000);
	assert_string_equal(history(), "2000-:1/1");
	row_set(&a, ASSOC, max_jobs, 5);
	write_one(&a, 2500);
	assert_string_equal(history(), "2000-:1/1"); /* a limit is no place */
	a.parent_id = 3;
	write_one(&a, 3000);
	assert_string_equal(history(), "2000-3000:1/1 3000-:3/1");
	a.shares = 40;
	write_one(&a, 3000);
	assert_string_equal(history(), "2000-3000:1/1 3000-:3/40");
	a.shares = 50;
	write_one(&a, 2900); /* the clock went back */
	assert_string_equal(history(), "2000-3000:1/1 3000-:3/50");
	row_set(&a, ASSOC, deleted, 1);
	write_one(&a, 4000);
	assert_string_equal(history(), "2000-3000:1/1 3000-4000:3/50 4000-:3/50 gone");
	struct tree *t = latest();
	const struct tree_cluster *c = tree_cluster(t, "c1");
	int32_t at = tree_by_id(c, 5);
	assert_int_equal(tree_parent_at(c, at, 2999), tree_by_id(c, 1));
	assert_int_equal(tree_parent_at(c, at, 3500), tree_by_id(c, 3));
	assert_false(tree_at(c, at, 3999).deleted);
	assert_true(tree_at(c, at, 4000).deleted);
	tree_unref(t);
}

static void the_cache_is_the_latest(void **state UNUSED)
{
	struct assoc a = an_assoc(3, 1, "physics", "");
	struct tree *t1 = latest(), *t2 = latest();

	assert_ptr_equal(t1, t2);
	struct tree_tx *tx = tree_tx_begin(store, NULL);
	struct tree *inside = tree_tx_tree(tx, cache, NULL);
	assert_ptr_equal(inside, t1);
	const struct draft_row row = { ENTITY_ASSOC, &a, NULL };
	write_rows(tx, &row, 1, 2000);
	tree_unref(inside);
	inside = tree_tx_tree(tx, cache, NULL); /* sees what it has written; others do not */
	assert_true(tree_by_id(tree_cluster(inside, "c1"), 3) >= 0);
	tree_unref(t2);
	t2 = latest();
	assert_ptr_equal(t1, t2);
	tree_tx_rollback(tx);
	tree_unref(t2);
	write_one(&a, 2000);
	t2 = latest();
	assert_true(tree_version(t2) > tree_version(t1));
	assert_true(tree_by_id(tree_cluster(t2, "c1"), 3) >= 0);
	tree_unref(inside);
	tree_unref(t1);
	tree_unref(t2);
}

static void changes_stand_in_line(void **state UNUSED)
{
	struct tree_tx *tx = tree_tx_begin(store, NULL);
	struct err err = { 0 };
	int64_t begun = monotonic_ms();

	assert_null(tree_tx_begin(store, &err));
	assert_int_equal(err.code, ERR_BUSY);
	assert_true(monotonic_ms() - begun >= 4500);
	tree_tx_rollback(tx);
	tx = tree_tx_begin(store, &err);
	assert_non_null(tx);
	tree_tx_rollback(tx);
}

static void the_log_tells_before_and_after(void **state UNUSED)
{
	struct assoc before = an_assoc(3, 1, "physics", ""), now = before;
	const struct draft_row row = { ENTITY_ASSOC, &now, &before };
	struct tree_tx *tx = tree_tx_begin(store, NULL);

	row_set(&before, ASSOC, max_jobs, 5);
	row_set(&now, ASSOC, shares, 20);
	row_set(&now, ASSOC, grp_tres, "cpu=4");
	row_set(&now, ASSOC, comment, "it's");
	actor = (struct draft_actor){ "ann", 77, 0 };
	write_rows(tx, &row, 1, 3000);
	assert_ok(tree_tx_commit(tx, e));
	assert_string_equal(
		pgtest_text(pg, "SELECT concat_ws('|', at, actor, uid, action, cluster, account,"
				" user_name, where_text, info) FROM txn"),
		"3000|ann|77|Modify Associations|c1|physics|(id_assoc=3)|shares=20, "
		"comment='it''s', grp_tres='cpu=4', max_jobs=NULL");
	assert_string_equal(pgtest_text(pg, "SELECT before_json FROM txn"),
			    "{\"shares\":1,\"comment\":null,\"grp_tres\":null,\"max_jobs\":5}");
	assert_string_equal(pgtest_text(pg, "SELECT after_json FROM txn"),
			    "{\"shares\":20,\"comment\":\"it's\",\"grp_tres\":{\"cpu\":4},\"max_jobs\":null}");
	assert_string_equal(
		pgtest_text(pg, "SELECT concat_ws('|', kind, cluster, id, body::json->>'account')"
				" FROM outbox"),
		"modify_association|c1|3|physics");
}

static void see_job(const struct open_job *job, void *arg)
{
	struct buf *out = arg;

	buf_printf(out, "%" PRId64 "%s %s.%s.%s ", job->job_id, job->running ? "R" : "P",
		   job->cluster, job->account, job->user);
}

static void jobs_that_have_not_ended(void **state UNUSED)
{
	const char *accounts[] = { "a", "b" }, *users[] = { "u" }, *qos[] = { "high" };
	struct buf out = BUF_INIT;

	pgtest_run(
		pg,
		"CREATE TABLE job_far PARTITION OF job DEFAULT; INSERT INTO job (cluster, job_id,"
		" submit_at, account, user_name, start_at, end_at, stamps) VALUES"
		" ('c1', 9, 1, 'a', 'u', 5, NULL, ''), ('c1', 10, 1, 'a', 'v', NULL, NULL, ''),"
		" ('c1', 11, 1, 'b', 'u', 5, 6, ''), ('c1', 12, 1, NULL, 'u', 5, NULL, ''),"
		" ('c1', 13, 1, 'c', 'u', 5, NULL, '');"
		"UPDATE job SET qos = 'high' WHERE job_id = 13");
	struct tree_tx *tx = tree_tx_begin(store, NULL);
	assert_ok(tree_tx_open_jobs(tx, &(struct open_jobs_query){ .accounts = { accounts, 2 } },
				    see_job, &out, e));
	assert_string_equal(buf_str(&out), "9R c1.a.u 10P c1.a.v ");
	buf_clear(&out);
	assert_ok(tree_tx_open_jobs(tx, &(struct open_jobs_query){ .users = { users, 1 },
								   .qos = { qos, 1 } },
				    see_job, &out, e));
	assert_string_equal(buf_str(&out), "12R c1..u 13R c1.c.u ");
	tree_tx_rollback(tx);
	buf_fini(&out);
}

#define LARGE 20000

static void a_large_tree_loads_quickly(void **state UNUSED)
{
	struct arena *a = arena_new();
	struct assoc *rows = ARENA_ARRAY(a, struct assoc, LARGE);
	struct draft_row *list = ARENA_ARRAY(a, struct draft_row, LARGE);
	struct tree_tx *tx = tree_tx_begin(store, NULL);

	for (int i = 0; i < LARGE; i++) {
		int account = i - i % 20;
		rows[i] = an_assoc(i + 3, i % 20 == 0 ? 1 : account + 3,
				   arena_printf(a, "account%d", account),
				   i % 20 == 0 ? "" : arena_printf(a, "user%d", i));
		row_set(&rows[i], ASSOC, max_tres_pj, "cpu=8,mem=8192");
		list[i] = (struct draft_row){ ENTITY_ASSOC, &rows[i], NULL };
	}
	int64_t begun = monotonic_us();
	write_rows(tx, list, LARGE, 2000);
	assert_ok(tree_tx_commit(tx, e));
	int64_t written = monotonic_us();
	struct tree *t = latest();
	int64_t loaded = monotonic_us();
	for (int i = 0; i < 100; i++)
		tree_unref(latest());
	int64_t asked = monotonic_us();
	assert_int_equal(tree_cluster(t, "c1")->n, LARGE + 2);
	fprintf(stderr, "tree: %d associations written in %" PRId64 " ms, loaded in %" PRId64
		" ms, asked for again in %" PRId64 " us\n", LARGE, (written - begun) / 1000,
		(loaded - written) / 1000, (asked - loaded) / 100);
	assert_true(loaded - written < 5000000);
	tree_unref(t);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(a_new_database_has_its_roots, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_written_is_read_back, setup, teardown),
		cmocka_unit_test_setup_teardown(a_period_for_each_place, setup, teardown),
		cmocka_unit_test_setup_teardown(the_cache_is_the_latest, setup, teardown),
		cmocka_unit_test_setup_teardown(changes_stand_in_line, setup, teardown),
		cmocka_unit_test_setup_teardown(the_log_tells_before_and_after, setup, teardown),
		cmocka_unit_test_setup_teardown(jobs_that_have_not_ended, setup, teardown),
		cmocka_unit_test_setup_teardown(a_large_tree_loads_quickly, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

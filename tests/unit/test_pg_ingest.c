/* The write path on a real database: verdicts, what rows become, what is refused and kept. */
#include "ingest_kit.h"

#include "store/quarantine.h"

struct fixture {
	struct pg *pg;
	struct store *store;
	struct ingest *in;
	struct kit k;
};

static int set_up(void **state)
{
	static struct fixture f;

	f.pg = pgtest_schema();
	f.store = kit_store();
	f.in = kit_ingest(f.store);
	f.k = kit_new();
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	struct fixture *f = *state;

	kit_stop(f->in);
	store_close(f->store);
	pg_close(f->pg);
	kit_free(&f->k);
	return 0;
}

static void commit(struct fixture *f)
{
	kit_commit(f->in, &f->k);
}

static void expect_text(struct fixture *f, const char *sql, const char *want)
{
	assert_string_equal(pgtest_text(f->pg, sql), want);
}

static void verdicts_and_replay(void **state)
{
	struct fixture *f = *state;
	struct kit_sums before, after;

	kit_start(&f->k, 1, T0, 0);
	kit_start(&f->k, 1, T0, T0 + 10);
	kit_end(&f->k, 1, T0, T0 + 10, T0 + 100, STATE_COMPLETED);
	kit_step_end(&f->k, 1, T0, 0, T0 + 10, T0 + 90, 4096);
	kit_start(&f->k, 2, T0, 0);
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	expect_text(f, "SELECT state || ' ' || start_at - submit_at || ' ' || end_at - start_at "
		       "|| ' ' || peak_rss FROM job WHERE job_id = 1", "3 10 90 4096");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step"), 1);
	before = kit_sums(f->pg);
	commit(f);
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	after = kit_sums(f->pg);
	kit_same(&before, &after, "a replay");
	kit_months_agree(f->pg);
	/* The row's number is told, and the same for all of its records. */
	assert_true(f->k.verdicts[0].row_id != 0);
	assert_true(f->k.verdicts[0].row_id == f->k.verdicts[3].row_id);
	assert_true(f->k.verdicts[0].row_id != f->k.verdicts[4].row_id);
	assert_int_equal(pgtest_i64(f->pg, "SELECT row_id FROM job WHERE job_id = 2"),
			 (int64_t)f->k.verdicts[4].row_id);
}

/* In one batch a record that says nothing new is a duplicate too. */
static void duplicate_inside_a_batch(void **state)
{
	struct fixture *f = *state;

	kit_start(&f->k, 1, T0, 0);
	kit_start(&f->k, 1, T0, 0);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	kit_expect(&f->k, 1, VERDICT_DUPLICATE);
}

static void end_before_start_is_not_reopened(void **state)
{
	struct fixture *f = *state;

	kit_end(&f->k, 1, T0, T0 + 10, T0 + 100, STATE_FAILED);
	commit(f);
	kit_clear(&f->k);
	kit_start(&f->k, 1, T0, T0 + 10);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	expect_text(f, "SELECT state || ' ' || end_at - submit_at || ' ' || user_name FROM job",
		    "5 100 alice");
	kit_months_agree(f->pg);
	assert_int_equal(pgtest_i64(f->pg, "SELECT open_jobs FROM job_month"), 0);
}

/* A step or a suspension that comes first makes its job's row. */
static void step_before_its_job(void **state)
{
	struct fixture *f = *state;
	struct record *r;

	kit_step_end(&f->k, 1, T0, 0, T0 + 20, T0 + 30, 1000);
	r = kit_add(&f->k, REC_JOB_SUSPEND, 2, T0);
	r->at = T0 + 15;
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 2);
	expect_text(f, "SELECT moments FROM job WHERE job_id = 2", "S1767225615");
	kit_clear(&f->k);
	kit_end(&f->k, 1, T0, T0 + 10, T0 + 100, STATE_COMPLETED);
	commit(f);
	expect_text(f, "SELECT state || ' ' || peak_rss FROM job WHERE job_id = 1", "3 1000");
	kit_months_agree(f->pg);
}

/* A step that ends after its job counts in the job's figures. */
static void late_step_mends_the_figures(void **state)
{
	struct fixture *f = *state;
	struct record *r = kit_end(&f->k, 1, T0, T0 + 10, T0 + 100, STATE_COMPLETED);
	struct step *s = kit_step(&f->k, r, STEP_ID_BATCH);

	step_set(s, state, STATE_COMPLETED);
	step_set(s, start_at, T0 + 10);
	step_set(s, end_at, T0 + 100);
	step_set(s, in_max, "mem=500");
	commit(f);
	expect_text(f, "SELECT peak_rss::text FROM job", "500");
	kit_clear(&f->k);
	kit_step_end(&f->k, 1, T0, 3, T0 + 20, T0 + 90, 70000);
	commit(f);
	expect_text(f, "SELECT peak_rss::text FROM job", "70000");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step"), 2);
}

/* FC-051 */
static void end_alone_makes_a_row(void **state)
{
	struct fixture *f = *state;
	struct record *r = kit_end(&f->k, 1, T0, T0 + 60, T0 + 3660, STATE_COMPLETED);

	job_set(&r->job, nodes, "n1");
	commit(f);
	expect_text(f, "SELECT state || ' ' || visible_from - submit_at || ' ' || nodes || ' ' || "
		       "tres_alloc || ' ' || (name IS NULL) || (partition IS NULL) || "
		       "(timelimit IS NULL) || (tres_req IS NULL) || (work_dir IS NULL) "
		       "FROM job", "3 60 n1 cpu=4,mem=8000,node=1 truetruetruetruetrue");
	kit_clear(&f->k);
	kit_start(&f->k, 1, T0, T0 + 60);
	commit(f);
	expect_text(f, "SELECT state || ' ' || name || ' ' || end_at - submit_at FROM job",
		    "3 run 3660");
}

/* FC-046, 055, 056: each run is a row; an end that comes twice changes nothing; the next run has
 * nothing yet. */
static void requeues(void **state)
{
	static const int64_t runs[] = { 3889, 4473, 6122 };
	struct fixture *f = *state;
	int64_t at = T0;

	for (size_t i = 0; i < ARRAY_LEN(runs); i++) {
		kit_start(&f->k, 235, at, at + 10);
		kit_end(&f->k, 235, at, at + 10, at + 10 + runs[i], STATE_REQUEUED);
		kit_end(&f->k, 235, at, at + 10, at + 10 + runs[i], STATE_REQUEUED);
		at += 10 + runs[i];
	}
	kit_start(&f->k, 235, at, 0);
	commit(f);
	for (size_t i = 2; i < f->k.n; i += 3)
		kit_expect(&f->k, i, VERDICT_DUPLICATE);
	expect_text(f, "SELECT string_agg((end_at - start_at)::text, ' ' ORDER BY submit_at) "
		       "FROM job WHERE state = 1024", "3889 4473 6122");
	expect_text(f, "SELECT state || ' ' || (nodes IS NULL) || (tres_alloc IS NULL) || "
		       "(start_at IS NULL) FROM job WHERE state <> 1024", "0 truetruetrue");
	kit_months_agree(f->pg);
}

/* FC-053: sent, sent again from where the answer was lost, shuffled and sent a third time. */
static void backlog_sent_three_times(void **state)
{
	struct fixture *f = *state;
	struct kit_sums once, thrice;
	uint64_t random = test_seed("backlog");
	struct step *s;

	for (int64_t id = 1; id <= 500; id++) {
		kit_start(&f->k, id, T0 + id, T0 + id + 5);
		s = kit_step(&f->k, kit_add(&f->k, REC_STEP_START, id, T0 + id), 0);
		step_set(s, start_at, T0 + id + 5);
		kit_step_end(&f->k, id, T0 + id, 0, T0 + id + 5, T0 + id + 50, 1000 + id);
		kit_end(&f->k, id, T0 + id, T0 + id + 5, T0 + id + 60, STATE_COMPLETED);
	}
	commit(f);
	once = kit_sums(f->pg);
	commit(f);
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	for (size_t i = f->k.n - 1; i > 0; i--) {
		size_t other = (size_t)test_below(&random, (int64_t)i + 1);
		struct record r = f->k.records[i];

		f->k.records[i] = f->k.records[other];
		f->k.records[other] = r;
	}
	for (size_t i = 0; i < f->k.n; i += 77) {
		struct err err = { 0 };
		size_t n = f->k.n - i < 77 ? f->k.n - i : 77;

		assert_int_equal(kit_try_part(f->in, &f->k, i, n, &err), 0);
	}
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	thrice = kit_sums(f->pg);
	kit_same(&once, &thrice, "the third time");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE state = 3"), 500);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step WHERE state = 3 "
					   "AND end_at IS NOT NULL"), 500);
}

/* FC-191 */
static void clusters_do_not_meet(void **state)
{
	struct fixture *f = *state;

	kit_start(&f->k, 100, T0, T0);
	kit_start(&f->k, 100, T0, T0)->cluster = "c2";
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	kit_clear(&f->k);
	kit_end(&f->k, 100, T0, T0, T0 + 1800, STATE_COMPLETED)->cluster = "c2";
	commit(f);
	expect_text(f, "SELECT string_agg(cluster || ' ' || state || ' ' || "
		       "coalesce((end_at - start_at)::text, '-'), ', ' ORDER BY cluster) FROM job",
		    "c1 1 -, c2 3 1800");
	expect_text(f, "SELECT string_agg(name, ' ' ORDER BY name) FROM cluster", "c1 c2");
	kit_months_agree(f->pg);
}

/* FC-189 */
static void a_resize_makes_two_rows(void **state)
{
	static const char rows[] =
		"SELECT string_agg(state || ' ' || submit_at - 1767225600 || ' ' || "
		"start_at - 1767225600 || '-' || coalesce((end_at - 1767225600)::text, '') || ' ' || "
		"tres_alloc || ' ' || account, ', ' ORDER BY submit_at) FROM job";
	struct fixture *f = *state;
	struct record *r = kit_start(&f->k, 9, T0, T0);

	job_set(&r->job, tres_alloc, "cpu=32,node=4");
	commit(f);
	kit_clear(&f->k);
	r = kit_add(&f->k, REC_JOB_RESIZE, 9, T0);
	r->at = T0 + 1200;
	job_set(&r->job, tres_alloc, "cpu=16,node=2");
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	expect_text(f, rows, "8192 0 0-1200 cpu=32,node=4 physics, "
			     "1 1200 1200- cpu=16,node=2 physics");
	commit(f);
	kit_expect(&f->k, 0, VERDICT_DUPLICATE);
	kit_clear(&f->k);
	r = kit_end(&f->k, 9, T0 + 1200, T0 + 1200, T0 + 3600, STATE_COMPLETED);
	job_set(&r->job, tres_alloc, "cpu=16,node=2");
	commit(f);
	expect_text(f, rows, "8192 0 0-1200 cpu=32,node=4 physics, "
			     "3 1200 1200-3600 cpu=16,node=2 physics");
	assert_int_equal(pgtest_i64(f->pg, "SELECT sum((end_at - start_at) * "
					   "substr(tres_alloc, 5, 2)::bigint) FROM job"), 76800);
	assert_true(f->k.verdicts[0].row_id != 0);
	kit_months_agree(f->pg);
}

/* FC-189 again, by a producer that goes on to name the first submit time, its resize late. */
static void a_resize_that_comes_last(void **state)
{
	struct fixture *f = *state;
	struct record *r = kit_start(&f->k, 9, T0, T0);

	job_unset(&r->job, tres_alloc);
	r = kit_end(&f->k, 9, T0, T0, T0 + 3600, STATE_COMPLETED);
	job_set(&r->job, tres_alloc, "cpu=16,node=2");
	kit_step_end(&f->k, 9, T0, 0, T0 + 5, T0 + 500, 77);
	kit_step_end(&f->k, 9, T0, 1, T0 + 1300, T0 + 1400, 99);
	commit(f);
	kit_clear(&f->k);
	kit_add(&f->k, REC_JOB_RESIZE, 9, T0)->at = T0 + 1200;
	commit(f);
	expect_text(f, "SELECT string_agg(state || ' ' || start_at - 1767225600 || '-' || "
		       "end_at - 1767225600 || ' ' || peak_rss, ', ' ORDER BY submit_at) FROM job",
		    "8192 0-1200 77, 3 1200-3600 99");
	kit_months_agree(f->pg);
}

/* Records that name no submit time find their run, or make one until the true one comes. */
static void without_a_submit_time(void **state)
{
	struct fixture *f = *state;

	kit_end(&f->k, 5, 0, T0 + 100, T0 + 200, STATE_COMPLETED);
	kit_step_end(&f->k, 5, 0, 0, T0 + 110, T0 + 190, 1234);
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	expect_text(f, "SELECT submit_at - 1767225600 || ' ' || submit_inferred || ' ' || state "
		       "|| ' ' || peak_rss FROM job", "100 1 3 1234");
	commit(f);
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	kit_clear(&f->k);
	kit_start(&f->k, 5, T0 + 40, T0 + 100);
	commit(f);
	expect_text(f, "SELECT string_agg(submit_at - 1767225600 || ' ' || submit_inferred || ' ' "
		       "|| state || ' ' || user_name || ' ' || peak_rss, ',') FROM job",
		    "40 0 3 alice 1234");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step WHERE submit_at = "
					   "1767225640"), 1);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step"), 1);
	kit_months_agree(f->pg);
	/* Other clusters' jobs of this number are others. */
	kit_clear(&f->k);
	kit_end(&f->k, 5, 0, T0 + 100, T0 + 300, STATE_FAILED)->cluster = "c2";
	commit(f);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 2);
}

/* An open run that was made up is taken over across the border of a month. */
static void taken_over_in_another_month(void **state)
{
	struct fixture *f = *state;

	kit_add(&f->k, REC_JOB_START, 5, 0);
	job_set(&f->k.records[0].job, start_at, T0 + 10);
	commit(f);
	expect_text(f, "SELECT string_agg(month || ' ' || open_jobs, ',') FROM job_month",
		    "202601 1");
	kit_clear(&f->k);
	kit_start(&f->k, 5, T0 - 50, 0);
	commit(f);
	expect_text(f, "SELECT string_agg(month || ' ' || open_jobs, ',' ORDER BY month) "
		       "FROM job_month", "202512 1,202601 0");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job_202512"), 1);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 1);
	kit_months_agree(f->pg);
}

static void far_and_old_times(void **state)
{
	struct fixture *f = *state;

	kit_start(&f->k, 1, INT64_C(1230768000), 0);  /* 2009 */
	kit_start(&f->k, 2, INT64_C(3881520000), 0);  /* 2093 */
	kit_start(&f->k, 3, INT64_C(1199999990000), 0); /* the year 40000 */
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	kit_expect(&f->k, 1, VERDICT_ACCEPTED);
	kit_expect(&f->k, 2, VERDICT_REFUSED);
	assert_string_equal(f->k.verdicts[2].err.where, "submit");
	expect_text(f, "SELECT string_agg(month::text, ' ' ORDER BY month) FROM job_month",
		    "0 999999");
}

static void tres_names_are_registered(void **state)
{
	struct fixture *f = *state;
	struct record *r;

	r = kit_start(&f->k, 1, T0, T0);
	job_set(&r->job, tres_alloc, "cpu=4,gres/gpu=2,gres/gpu:a100=2");
	commit(f);
	expect_text(f, "SELECT string_agg(type || '/' || name, ' ' ORDER BY id) FROM tres "
		       "WHERE id > 1000", "gres/gpu gres/gpu:a100");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM tres"), 10);
}

/* ---- refused */

static int keep_raw(const struct quarantined *q, void *arg)
{
	struct buf *out = arg;

	buf_printf(out, "%s %s %s %s|", q->source, q->kind, q->field, q->reason);
	return 0;
}

static void refused_is_kept_once(void **state)
{
	struct fixture *f = *state;
	struct buf out = BUF_INIT;
	struct quarantined q;
	struct err err = { 0 };
	struct record *r;
	int64_t id;

	kit_start(&f->k, 1, T0, 0);
	r = kit_start(&f->k, 2, T0, 0);
	job_unset(&r->job, job_id);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	kit_expect(&f->k, 1, VERDICT_REFUSED);
	assert_string_equal(f->k.verdicts[1].err.where, "job_id");
	id = f->k.verdicts[1].quarantine_id;
	assert_true(id > 0);
	commit(f);
	assert_int_equal(f->k.verdicts[1].quarantine_id, id);
	assert_int_equal(store_quarantine_list(f->store, 0, 100, false, keep_raw, &out, &err), 0);
	assert_non_null(strstr(buf_str(&out), "test job_start job_id "));
	assert_int_equal(store_quarantine_get(f->store, id, f->k.arena, &q, &err), 0);
	assert_memory_equal(q.raw, f->k.records[1].raw, f->k.records[1].raw_len);
	assert_int_equal(store_quarantine_mark_replayed(f->store, id, T0, &err), 0);
	buf_clear(&out);
	assert_int_equal(store_quarantine_list(f->store, 0, 100, false, keep_raw, &out, &err), 0);
	assert_string_equal(buf_str(&out), "");
	assert_int_equal(store_quarantine_get(f->store, 999, f->k.arena, &q, &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	buf_fini(&out);
}

/* What the door could not even decode. */
static void refused_by_the_door(void **state)
{
	struct fixture *f = *state;
	struct record rec = { .kind = REC_KINDS, .raw = "{\"kind\":\xff}", .raw_len = 10 };
	struct verdict verdict = { .kind = VERDICT_REFUSED };
	struct batch b = { &rec, &verdict, 1, 10, "http", "uid=0" };
	struct err err = { 0 };
	int retry;

	err_set(&verdict.err, ERR_INVALID, "kind", "\"\xff\" is no kind");
	assert_int_equal(ingest_commit(f->in, &b, &retry, &err), 0);
	assert_int_equal(verdict.kind, VERDICT_REFUSED);
	assert_true(verdict.quarantine_id > 0);
	expect_text(f, "SELECT kind || '|' || reason_field || '|' || encode(raw, 'escape') "
		       "FROM quarantine", "|kind|{\"kind\":\\377}");
}

static void unknown_cluster_is_refused(void **state)
{
	struct fixture *f = *state;
	struct ingest_settings settings = kit_settings;
	struct err err = { 0 };

	settings.register_clusters = false;
	kit_stop(f->in);
	f->in = ingest_start(f->store, &settings, &err);
	assert_non_null(f->in);
	kit_await_active(f->in);
	pgtest_run(f->pg, "INSERT INTO cluster (name, registered_at) VALUES ('known', 0)");
	kit_start(&f->k, 1, T0, 0);
	kit_start(&f->k, 2, T0, 0)->cluster = "known";
	commit(f);
	kit_expect(&f->k, 0, VERDICT_REFUSED);
	assert_string_equal(f->k.verdicts[0].err.where, "cluster");
	kit_expect(&f->k, 1, VERDICT_ACCEPTED);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 1);
}

/* A value that only the database refuses: the batch is halved until it is found. */
static void halved_until_it_is_found(void **state)
{
	struct fixture *f = *state;

	kit_start(&f->k, 1, T0, 0);
	commit(f);
	pgtest_run(f->pg, "ALTER TABLE job_202601 ADD CONSTRAINT no_mallory "
			  "CHECK (user_name <> 'mallory')");
	kit_clear(&f->k);
	for (int64_t id = 1; id <= 300; id++)
		kit_start(&f->k, id, T0 + id, T0 + id);
	job_set(&f->k.records[17].job, user_name, "mallory");
	job_set(&f->k.records[211].job, user_name, "mallory");
	kit_add(&f->k, REC_NODE_EVENT, 0, 0);
	f->k.records[300].node.node = "n1";
	f->k.records[300].node.at = f->k.records[300].at = T0;
	commit(f);
	for (size_t i = 0; i < f->k.n; i++)
		kit_expect(&f->k, i, i == 17 || i == 211 ? VERDICT_REFUSED : VERDICT_ACCEPTED);
	assert_non_null(strstr(f->k.verdicts[17].err.text, "no_mallory"));
	assert_true(f->k.verdicts[17].quarantine_id > 0);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job"), 299);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM quarantine"), 2);
	kit_months_agree(f->pg);
}

/* Halved, a family's records may come apart: each half must find its rows alone. */
static void halved_families(void **state)
{
	struct fixture *f = *state;

	kit_start(&f->k, 1, T0, 0);
	commit(f);
	pgtest_run(f->pg, "ALTER TABLE job_202601 ADD CONSTRAINT no_mallory "
			  "CHECK (user_name <> 'mallory')");
	kit_clear(&f->k);
	for (int64_t id = 10; id < 20; id++)
		kit_start(&f->k, id, T0 + id, T0 + id + 5);
	job_set(&f->k.records[3].job, user_name, "mallory");
	for (int64_t id = 10; id < 20; id++)
		kit_end(&f->k, id, 0, T0 + id + 5, T0 + id + 50, STATE_COMPLETED);
	commit(f);
	for (size_t i = 0; i < f->k.n; i++)
		kit_expect(&f->k, i, i == 3 ? VERDICT_REFUSED : VERDICT_ACCEPTED);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE job_id >= 10 AND "
					   "state = 3"), 10);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE job_id >= 10"), 10);
	kit_months_agree(f->pg);
}

/* The registry may refuse a name too. */
static void names_the_registry_refuses(void **state)
{
	struct fixture *f = *state;
	struct record *r;

	pgtest_run(f->pg, "ALTER TABLE tres ADD CHECK (name <> 'bad');"
			  "ALTER TABLE cluster ADD CHECK (name <> 'evil')");
	r = kit_start(&f->k, 1, T0, T0);
	job_set(&r->job, tres_alloc, "cpu=1,gres/good=1");
	r = kit_start(&f->k, 2, T0, T0);
	job_set(&r->job, tres_alloc, "cpu=1,gres/bad=1");
	kit_start(&f->k, 3, T0, T0)->cluster = "evil";
	kit_start(&f->k, 4, T0, T0);
	commit(f);
	for (size_t i = 0; i < 4; i++)
		kit_expect(&f->k, i, i == 1 || i == 2 ? VERDICT_REFUSED : VERDICT_ACCEPTED);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM quarantine"), 2);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM tres WHERE name = 'good'"), 1);
}

/* More months than statements are kept prepared for, in one batch and again. */
static void many_months(void **state)
{
	struct fixture *f = *state;

	for (int64_t id = 1; id <= 40; id++)
		kit_start(&f->k, id, T0 - id * 31 * 86400, T0 - id * 31 * 86400 + 5);
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	kit_clear(&f->k);
	for (int64_t id = 1; id <= 40; id++) {
		int64_t submit_at = T0 - id * 31 * 86400;
		struct record *r = kit_end(&f->k, id, submit_at, submit_at + 5, submit_at + 50,
					   STATE_COMPLETED);
		struct step *s = kit_step(&f->k, r, 0);

		step_set(s, start_at, submit_at + 5);
		step_set(s, end_at, submit_at + 50);
	}
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	commit(f);
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job_month"), 40);
	assert_int_equal(pgtest_i64(f->pg, "SELECT sum(open_jobs) FROM job_month"), 0);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step"), 40);
	kit_months_agree(f->pg);
}

/* An index takes no entry beyond 2.7 kB: no product code knows of it. */
static void too_long_for_an_index(void **state)
{
	struct fixture *f = *state;
	char *name = arena_alloc(f->k.arena, 20001);
	struct record *r;
	uint64_t random = 7;

	for (size_t i = 0; i < 20000; i++) /* random, or it would be compressed */
		name[i] = (char)('!' + test_below(&random, 90));
	name[20000] = '\0';
	kit_start(&f->k, 1, T0, 0);
	r = kit_start(&f->k, 2, T0, 0);
	job_set(&r->job, user_name, name);
	kit_start(&f->k, 3, T0, 0);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	kit_expect(&f->k, 1, VERDICT_REFUSED);
	kit_expect(&f->k, 2, VERDICT_ACCEPTED);
}

/* ---- purged */

static void before_the_horizon(void **state)
{
	struct fixture *f = *state;
	struct step *s;

	kit_start(&f->k, 1, T0, T0);
	commit(f);
	/* T0 + 1000 */
	pgtest_run(f->pg, "INSERT INTO purge_horizon VALUES ('c1', 'job', 1767226600)");
	kit_clear(&f->k);
	kit_start(&f->k, 2, T0, T0);
	kit_end(&f->k, 2, T0, T0, T0 + 999, STATE_COMPLETED);
	kit_end(&f->k, 3, T0, T0, T0 + 1000, STATE_COMPLETED);
	kit_end(&f->k, 4, T0, T0, T0 + 999, STATE_COMPLETED)->cluster = "c2";
	kit_end(&f->k, 1, T0, T0, T0 + 999, STATE_COMPLETED);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_PURGED);
	kit_expect(&f->k, 1, VERDICT_PURGED);
	kit_expect(&f->k, 2, VERDICT_ACCEPTED);
	kit_expect(&f->k, 3, VERDICT_ACCEPTED);
	kit_expect(&f->k, 4, VERDICT_PURGED);
	expect_text(f, "SELECT string_agg(job_id || ' ' || state, ', ' ORDER BY job_id) FROM job",
		    "1 1, 3 3, 4 3");
	/* T0 + 2000 */
	pgtest_run(f->pg, "INSERT INTO purge_horizon VALUES ('c1', 'step', 1767227600)");
	kit_clear(&f->k);
	kit_step_end(&f->k, 5, T0, 0, T0, T0 + 1500, 1);
	s = kit_step(&f->k, kit_end(&f->k, 6, T0, T0, T0 + 3000, STATE_COMPLETED), 0);
	step_set(s, end_at, T0 + 1500);
	step_set(s, state, STATE_COMPLETED);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_PURGED);
	kit_expect(&f->k, 1, VERDICT_ACCEPTED);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM step"), 0);
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM job WHERE job_id = 5"), 0);
	kit_months_agree(f->pg);
}

/* Steps that were purged must not take their job's figures with them. */
static void figures_outlive_purged_steps(void **state)
{
	struct fixture *f = *state;

	kit_end(&f->k, 1, T0, T0, T0 + 100, STATE_COMPLETED);
	kit_step_end(&f->k, 1, T0, 0, T0, T0 + 100, 4711);
	commit(f);
	pgtest_run(f->pg, "DELETE FROM step; "
			  "INSERT INTO purge_horizon VALUES ('c1', 'step', 1767312000)");
	kit_clear(&f->k);
	kit_start(&f->k, 1, T0, T0);
	commit(f);
	kit_expect(&f->k, 0, VERDICT_ACCEPTED);
	expect_text(f, "SELECT peak_rss || ' ' || user_name FROM job", "4711 alice");
}

/* ---- events */

static struct record *node(struct kit *k, const char *name, int64_t at, bool up, const char *reason)
{
	struct record *r = kit_add(k, REC_NODE_EVENT, 0, 0);

	job_unset(&r->job, job_id);
	r->at = at;
	r->node = (struct node_event){ .node = name, .at = at, .up = up, .reason = reason,
				       .state = up ? NULL : "DOWN", .state_raw = -1,
				       .reason_uid = -1 };
	return r;
}

static void node_events(void **state)
{
	static const char periods[] =
		"SELECT string_agg(node || ' ' || start_at - 1767225600 || '-' || "
		"coalesce((end_at - 1767225600)::text, '') || ' ' || CASE WHEN up THEN 'up' "
		"ELSE coalesce(reason, '?') END, ', ' ORDER BY node, start_at) FROM node_event";
	struct fixture *f = *state;
	struct kit_sums before, after;

	node(&f->k, "n1", T0 + 30, true, NULL);
	node(&f->k, "n1", T0 + 10, false, "fan");
	node(&f->k, "n2", T0 + 5, false, "disk");
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	expect_text(f, periods, "n1 10-30 fan, n1 30- up, n2 5- disk");
	before = kit_sums(f->pg);
	commit(f);
	kit_expect_all(&f->k, VERDICT_DUPLICATE);
	after = kit_sums(f->pg);
	kit_same(&before, &after, "events again");
	kit_clear(&f->k);
	node(&f->k, "n1", T0 + 20, false, "power"); /* late: cuts the period it falls in */
	commit(f);
	expect_text(f, periods, "n1 10-20 fan, n1 20-30 power, n1 30- up, n2 5- disk");
}

static void cluster_tres(void **state)
{
	struct fixture *f = *state;
	struct record *r;

	for (int i = 0; i < 3; i++) {
		static const int64_t at[] = { 100, 0, 50 };

		r = kit_add(&f->k, REC_CLUSTER_TRES, 0, 0);
		job_unset(&r->job, job_id);
		r->at = T0 + at[i];
		r->tres.at = T0 + at[i];
		r->tres.nodes = "n[1-4]";
		r->tres.tres = arena_printf(f->k.arena, "cpu=%" PRId64 ",gres/npu=1", 64 + at[i]);
	}
	commit(f);
	kit_expect_all(&f->k, VERDICT_ACCEPTED);
	expect_text(f, "SELECT string_agg(tres || ' ' || coalesce((end_at - start_at)::text, '-'), "
		       "', ' ORDER BY start_at) FROM cluster_tres_event",
		    "cpu=64,gres/npu=1 50, cpu=114,gres/npu=1 50, cpu=164,gres/npu=1 -");
	assert_int_equal(pgtest_i64(f->pg, "SELECT count(*) FROM tres WHERE name = 'npu'"), 1);
}

/* ---- stopping */

static void stopped_says_busy(void **state)
{
	struct fixture *f = *state;
	struct ingest_stats stats;
	struct err err = { 0 };

	kit_start(&f->k, 1, T0, 0);
	commit(f);
	ingest_get_stats(f->in, &stats);
	assert_int_equal(stats.accepted, 1);
	assert_int_equal(stats.commits, 1);
	assert_int_equal(stats.queued_now, 0);
	ingest_stop(f->in, monotonic_ms() + 5000);
	assert_int_equal(kit_try_part(f->in, &f->k, 0, 1, &err), -1);
	assert_int_equal(err.code, ERR_BUSY);
	kit_expect(&f->k, 0, VERDICT_PENDING);
	ingest_free(f->in);
	f->in = kit_ingest(f->store); /* for tear_down */
}

#define T(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(verdicts_and_replay),
		T(duplicate_inside_a_batch),
		T(end_before_start_is_not_reopened),
		T(step_before_its_job),
		T(late_step_mends_the_figures),
		T(end_alone_makes_a_row),
		T(requeues),
		T(backlog_sent_three_times),
		T(clusters_do_not_meet),
		T(a_resize_makes_two_rows),
		T(a_resize_that_comes_last),
		T(without_a_submit_time),
		T(taken_over_in_another_month),
		T(far_and_old_times),
		T(tres_names_are_registered),
		T(refused_is_kept_once),
		T(refused_by_the_door),
		T(unknown_cluster_is_refused),
		T(halved_until_it_is_found),
		T(halved_families),
		T(names_the_registry_refuses),
		T(many_months),
		T(too_long_for_an_index),
		T(before_the_horizon),
		T(figures_outlive_purged_steps),
		T(node_events),
		T(cluster_tres),
		T(stopped_says_busy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

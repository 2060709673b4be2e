/* store/job_read: what comes out is what a plain scan of all jobs by core's rules would give, in
 * order, whole, whatever the partitions, the pages and what goes on meanwhile. */
#include "pgtest.h"

#include "base/arena.h"
#include "base/clock.h"
#include "core/civil.h"
#include "core/merge.h"
#include "core/state.h"
#include "store/binrow.h"
#include "store/job_read.h"
#include "store/partition.h"

#define AT(year, month, day) (days_from_civil(year, month, day) * DAY_S)
#define NOW		     AT(2026, 8, 15)

/* ---- a database and the same jobs in memory */

struct world {
	struct pg *pg;
	struct store *store;
	struct arena *arena;
	struct job *jobs;
	size_t n_jobs;
	struct step *steps;
	size_t n_steps;
	uint64_t random;
};

static struct world world_new(size_t jobs, size_t steps)
{
	struct store_settings settings = { .conninfo = pgtest_conninfo(),
					   .readers = 2,
					   .spool_dir = "/tmp" };
	struct world w = {
		.pg = pgtest_schema(),
		.store = store_open(&settings, NULL),
		.arena = arena_new(),
		.random = test_seed("job_read"),
	};

	w.jobs = ARENA_ARRAY(w.arena, struct job, jobs);
	w.steps = ARENA_ARRAY(w.arena, struct step, steps);
	assert_ok(partition_maintain(w.pg, NOW, e));
	return w;
}

static void world_free(struct world *w)
{
	pg_close(w->pg);
	store_close(w->store);
	arena_free(w->arena);
}

static void copy_rows(struct pg *pg, const char *table, struct buf *rows)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "COPY %s FROM STDIN (FORMAT binary)", table);
	bin_end(rows);
	assert_ok(pg_copy_in(pg, sql, e));
	assert_ok(pg_copy_put(pg, rows->data, rows->len, e));
	assert_ok(pg_copy_done(pg, NULL, e));
	buf_clear(rows);
	bin_head(rows);
}

/* The parent finds the partition; months are made before. */
static void world_store(struct world *w)
{
	struct buf rows = BUF_INIT;
	struct span span;
	PGresult *months = NULL;

	assert_ok(partition_span(w->pg, &span, e));
	for (size_t i = 0; i < w->n_jobs; i++)
		assert_ok(partition_ensure(w->pg, span_month(&span, w->jobs[i].submit_at), e));
	bin_head(&rows);
	for (size_t i = 0; i < w->n_jobs; i++)
		bin_job(&rows, &w->jobs[i]);
	copy_rows(w->pg, "job", &rows);
	for (size_t i = 0; i < w->n_steps; i++)
		bin_step(&rows, &w->steps[i]);
	copy_rows(w->pg, "step", &rows);
	buf_fini(&rows);
	assert_ok(pg_run_once(w->pg,
			      "SELECT DISTINCT CASE WHEN c.relname LIKE '%old' THEN 0"
			      " WHEN c.relname LIKE '%far' THEN 999999"
			      " ELSE right(c.relname, 6)::integer END"
			      " FROM job j JOIN pg_class c ON c.oid = j.tableoid",
			      NULL, &months, e));
	for (int i = 0; i < PQntuples(months); i++)
		assert_ok(partition_recount(w->pg, bin_read_i32(months, i, 0), e));
	PQclear(months);
	pgtest_run(w->pg, "ANALYZE");
}

static const char *pick(struct world *w, const char *const *texts, size_t n)
{
	return texts[test_below(&w->random, (int64_t)n)];
}
#define PICK(w, texts) pick(w, texts, ARRAY_LEN(texts))

static bool chance(struct world *w, int percent)
{
	return test_below(&w->random, 100) < percent;
}

static const char *const clusters[] = { "alpha", "beta", "b'eta", "" };
static const char *const users[] = { "ann", "bob", "o'brien", "DOM\\ann" };
static const char *const accounts[] = { "physics", "50%_\\", "bio" };
static const char *const names[] = { "x'); drop table job;--", "run", "a|b", "d\xc3\xa9j\xc3\xa0" };
static const char *const partitions[] = { "main", "gpu", "main,gpu" };
static const char *const wckeys[] = { "*proj", "proj", "other" };
static const char *const reasons[] = { "Priority", "Resources" };
static const char *const nodes[] = { "n[1-4]", "n3", "m[001-002]", "n[5,7]" };
static const char *const constraints[] = { "ib&gpu", "ib", "knl" };

/* Moments some of which are before or after anything else: clocks do that. */
static int64_t moment(struct world *w)
{
	static const int64_t spread[] = { 3600, 86400, 40 * 86400, 400 * 86400 };
	int64_t s = spread[test_below(&w->random, ARRAY_LEN(spread))];

	return NOW - 50 * 86400 + test_below(&w->random, s) - s / 2;
}

static const char *suspensions(struct world *w)
{
	int64_t from = moment(w);

	return chance(w, 50) ? arena_printf(w->arena, "S%" PRId64, from)
			     : arena_printf(w->arena, "S%" PRId64 ",R%" PRId64, from,
					    from + 1 + test_below(&w->random, 90000));
}

static void set_times(struct world *w, struct job *j)
{
	if (chance(w, 80))
		job_set(j, eligible_at, chance(w, 10) ? 0 : moment(w));
	if (chance(w, 70))
		job_set(j, start_at, moment(w));
	if (chance(w, 70))
		job_set(j, end_at, chance(w, 20) ? job_get(j, start_at, NOW) : moment(w));
	if (chance(w, 15))
		job_set(j, moments, suspensions(w));
	for (size_t i = 0; i < JOB_FIELDS; i++)
		j->rank[i] = chance(w, 50) ? RANK_START : RANK_END;
	job_derive(j, NULL, 0, w->arena);
	/* Rows of an older version may lack what is derived today. */
	if (chance(w, 30))
		job_unset(j, end_at);
}

static void random_job(struct world *w, struct job *j)
{
	memset(j, 0, sizeof(*j));
	job_set(j, cluster, PICK(w, clusters));
	job_set(j, job_id, 1 + test_below(&w->random, 120));
	job_set(j, submit_at,
		chance(w, 3)   ? AT(2009, 1, 1) + moment(w) % 100
		: chance(w, 3) ? AT(2093, 1, 1) + moment(w) % 100
			       : moment(w));
	job_set(j, state, state_rows[test_below(&w->random, STATE_COUNT)].number);
	if (chance(w, 5))
		job_unset(j, state);
	if (chance(w, 90))
		job_set(j, user_name, PICK(w, users));
	if (chance(w, 90))
		job_set(j, uid, 1000 + test_below(&w->random, 4));
	if (chance(w, 90))
		job_set(j, account, PICK(w, accounts));
	if (chance(w, 90))
		job_set(j, name, PICK(w, names));
	if (chance(w, 90))
		job_set(j, partition, PICK(w, partitions));
	if (chance(w, 50))
		job_set(j, wckey, PICK(w, wckeys));
	if (chance(w, 50))
		job_set(j, reason, PICK(w, reasons));
	if (chance(w, 50))
		job_set(j, nodes, PICK(w, nodes));
	if (chance(w, 50))
		job_set(j, constraints, PICK(w, constraints));
	if (chance(w, 50))
		job_set(j, alloc_nodes, test_below(&w->random, 4));
	if (chance(w, 50))
		job_set(j, timelimit, test_below(&w->random, 5) - 2);
	if (chance(w, 50))
		job_set(j, tres_alloc, chance(w, 50) ? "cpu=4,mem=10" : "cpu=2");
	if (chance(w, 50))
		job_set(j, flags, 1 << test_below(&w->random, 3));
	if (chance(w, 20)) {
		job_set(j, array_job_id, 1 + test_below(&w->random, 120));
		if (chance(w, 80))
			job_set(j, array_task_id, test_below(&w->random, 4));
		else
			job_set(j, array_tasks, "0-2");
	}
	if (chance(w, 20)) {
		job_set(j, het_job_id, 1 + test_below(&w->random, 120));
		job_set(j, het_offset, test_below(&w->random, 3));
	}
	set_times(w, j);
}

static void random_steps(struct world *w, const struct job *j)
{
	int n = chance(w, 60) ? (int)test_below(&w->random, 4) : 0;

	for (int i = 0; i < n; i++) {
		struct step *s = &w->steps[w->n_steps++];

		step_set(s, cluster, j->cluster);
		step_set(s, job_id, j->job_id);
		step_set(s, submit_at, j->submit_at);
		step_set(s, step_id, i == 0 ? STEP_ID_BATCH : i);
		step_set(s, het_comp, HET_COMP_NONE);
		if (chance(w, 70))
			step_set(s, start_at, moment(w));
		if (chance(w, 50))
			step_set(s, end_at, moment(w));
		step_set(s, in_max, "cpu=1");
	}
}

/* Newest run first, cluster, job id: the order of the key. */
static int by_key(const void *x, const void *y)
{
	const struct job *a = x, *b = y;
	int c = (a->job_id > b->job_id) - (a->job_id < b->job_id);

	if (c == 0)
		c = strcmp(a->cluster, b->cluster);
	return c != 0 ? c : (a->submit_at < b->submit_at) - (a->submit_at > b->submit_at);
}

static int by_key_descending(const void *x, const void *y)
{
	const struct job *a = x, *b = y;
	int c = (a->job_id > b->job_id) - (a->job_id < b->job_id);

	if (c == 0)
		c = strcmp(a->cluster, b->cluster);
	return c != 0 ? -c : (a->submit_at < b->submit_at) - (a->submit_at > b->submit_at);
}

/* What is written later wins, so the memory has it from the start. */
static void write_notes(struct world *w)
{
	struct buf rows = BUF_INIT;

	bin_head(&rows);
	for (size_t i = 0; i < w->n_jobs; i++) {
		struct job *j = &w->jobs[i];

		if (!chance(w, 10))
			continue;
		job_set(j, wckey, PICK(w, wckeys));
		bin_row(&rows, 6);
		bin_text(&rows, j->cluster);
		bin_i64(&rows, j->job_id);
		bin_i64(&rows, j->submit_at);
		bin_text(&rows, j->wckey);
		bin_text(&rows, "ann");
		bin_i64(&rows, NOW);
	}
	copy_rows(w->pg, "job_note (cluster, job_id, submit_at, wckey, noted_by, noted_at)", &rows);
	buf_fini(&rows);
}

static void make_world(struct world *w, size_t n)
{
	size_t kept = 1;

	for (size_t i = 0; i < n; i++)
		random_job(w, &w->jobs[i]);
	qsort(w->jobs, n, sizeof(w->jobs[0]), by_key);
	for (size_t i = 1; i < n; i++)
		if (by_key(&w->jobs[kept - 1], &w->jobs[i]) != 0)
			w->jobs[kept++] = w->jobs[i];
	w->n_jobs = kept;
	for (size_t i = 0; i < kept; i++)
		random_steps(w, &w->jobs[i]);
	world_store(w);
	write_notes(w);
}

/* ---- what should come, and what comes */

struct answer {
	struct world *w;
	const struct job *jobs[20000];
	size_t n;
	size_t steps;
	bool unknown; /* a row that is in no memory */
	int stop_after;
};

static const struct job *find_job(const struct world *w, const struct job *j)
{
	return bsearch(j, w->jobs, w->n_jobs, sizeof(*j), by_key);
}

static int collect(const struct job *j, const struct step *steps, size_t n_steps, void *arg)
{
	struct answer *a = arg;
	const struct job *known = find_job(a->w, j);

	if (known == NULL)
		a->unknown = true;
	else
		a->jobs[a->n++] = known;
	for (size_t i = 0; i < n_steps; i++)
		if (steps[i].job_id == j->job_id && strcmp(steps[i].in_max, "cpu=1") == 0)
			a->steps++;
	return a->stop_after != 0 && (int)a->n >= a->stop_after ? -1 : 0;
}

static size_t count_steps(const struct world *w, const struct job_filter *f, const struct job *j)
{
	size_t n = 0;

	for (size_t i = 0; i < w->n_steps; i++) {
		const struct step *s = &w->steps[i];

		n += s->job_id == j->job_id && s->submit_at == j->submit_at &&
		     strcmp(s->cluster, j->cluster) == 0 && filter_wants_step(f, j, s, NOW);
	}
	return n;
}

static bool same_id(const struct job *a, const struct job *b)
{
	return a != NULL && a->job_id == b->job_id && strcmp(a->cluster, b->cluster) == 0;
}

/* A plain scan in memory; w->jobs are in the order of the key. */
static void expect(struct world *w, const struct job_filter *f, struct answer *ret)
{
	const struct job *last = NULL;

	ret->n = ret->steps = 0;
	for (size_t i = 0; i < w->n_jobs; i++) {
		const struct job *j = &w->jobs[i];

		if (!filter_matches(f, j, NOW))
			continue;
		if (!f->duplicates && same_id(last, j) &&
		    !(job_has(j, state) && j->state == STATE_RESIZING))
			continue;
		last = j;
		ret->jobs[ret->n++] = j;
		if (f->with_steps)
			ret->steps += count_steps(w, f, j);
	}
}

static void assert_same(const struct answer *want, const struct answer *got)
{
	assert_false(got->unknown);
	for (size_t i = 0; i < want->n && i < got->n; i++)
		if (want->jobs[i] != got->jobs[i])
			fail_msg("row %zu: job %" PRId64 " of %" PRId64 " where %" PRId64
				 " of %" PRId64 " is due",
				 i, got->jobs[i]->job_id, got->jobs[i]->submit_at,
				 want->jobs[i]->job_id, want->jobs[i]->submit_at);
	assert_int_equal(got->n, want->n);
	assert_int_equal(got->steps, want->steps);
}

static struct answer want, got;

static void ask(struct world *w, const struct job_filter *f, const struct job_page *page,
		const char **ret_after)
{
	got = (struct answer){ .w = w };
	assert_ok(store_jobs_each(w->store, f, page, NOW, collect, &got, w->arena, ret_after, e));
}

/* ---- random questions */

static void add_text(struct world *w, struct texts *t, const char *text)
{
	const char **v = ARENA_ARRAY(w->arena, const char *, t->n + 1);

	if (t->n > 0)
		memcpy(v, t->v, t->n * sizeof(v[0]));
	v[t->n++] = text;
	t->v = v;
}

static void add_number(struct world *w, struct numbers *t, int64_t n)
{
	int64_t *v = ARENA_ARRAY(w->arena, int64_t, t->n + 1);

	if (t->n > 0)
		memcpy(v, t->v, t->n * sizeof(v[0]));
	v[t->n++] = n;
	t->v = v;
}

static void random_selection(struct world *w, struct job_filter *f)
{
	size_t n = 1 + (size_t)test_below(&w->random, 6);

	f->jobs = ARENA_ARRAY(w->arena, struct job_selection, n);
	f->n_jobs = n;
	for (size_t i = 0; i < n; i++)
		f->jobs[i] = (struct job_selection){
			.job_id = 1 + test_below(&w->random, 120),
			.array_task = chance(w, 15) ? test_below(&w->random, 4) : -1,
			.het_offset = chance(w, 15) ? test_below(&w->random, 3) : -1,
			.step_id = chance(w, 20) ? STEP_ID_BATCH : STEP_ANY,
		};
	f->het = chance(w, 30) ? HET_NOT_WHOLE : HET_DEFAULT;
}

static void random_window(struct world *w, struct job_filter *f)
{
	if (chance(w, 5)) {
		f->start = f->end = 0;
		return;
	}
	f->start = moment(w);
	f->end = chance(w, 20) ? f->start : moment(w);
	if (f->end < f->start) {
		int64_t t = f->start;

		f->start = f->end;
		f->end = t;
	}
	if (chance(w, 10))
		f->end = NOW;
	if (f->end < f->start)
		f->start = f->end;
	f->submit_window = chance(w, 10);
}

static void random_filter(struct world *w, struct job_filter *f)
{
	job_filter_init(f);
	for (int i = 0; chance(w, 20) && i < 2; i++)
		add_text(w, &f->clusters, PICK(w, clusters));
	for (int i = 0; chance(w, 25) && i < 2; i++)
		add_text(w, &f->users, PICK(w, users));
	if (chance(w, 15))
		add_number(w, &f->uids, 1000 + test_below(&w->random, 4));
	if (chance(w, 15))
		add_text(w, &f->accounts, PICK(w, accounts));
	if (chance(w, 10))
		add_text(w, &f->names, PICK(w, names));
	if (chance(w, 10))
		add_text(w, &f->partitions, PICK(w, partitions));
	if (chance(w, 10))
		add_text(w, &f->wckeys, PICK(w, wckeys));
	if (chance(w, 5))
		add_text(w, &f->reasons, PICK(w, reasons));
	if (chance(w, 5))
		add_text(w, &f->constraints, "ib");
	if (chance(w, 5))
		f->nodes = "n[2-3]";
	if (chance(w, 5))
		f->cpus_min = 3, f->cpus_max = 9;
	if (chance(w, 5))
		f->nodes_min = 1;
	if (chance(w, 5))
		f->limit_min = 0, f->limit_max = 1;
	if (chance(w, 5))
		f->flags_any = 3;
	while (chance(w, 40))
		add_number(w, &f->states, state_rows[test_below(&w->random, STATE_COUNT)].number);
	if (chance(w, 35))
		random_selection(w, f);
	random_window(w, f);
	f->duplicates = chance(w, 40);
	f->with_steps = chance(w, 30);
	if (chance(w, 10)) {
		f->restrict_to_own = true;
		f->own_user = chance(w, 50) ? "ann" : NULL;
		f->own_uid = 1001;
		if (chance(w, 50))
			add_text(w, &f->own_accounts, "bio");
	}
	assert_ok(job_filter_prepare(f, w->arena, e));
}

static void compare_answers(size_t jobs, int questions, size_t least_found)
{
	struct world w = world_new(jobs, 4 * jobs);
	size_t found = 0;

	make_world(&w, jobs);
	for (int i = 0; i < questions; i++) {
		struct job_page page = { .limit = -1 };
		struct job_filter f;

		random_filter(&w, &f);
		/* Few fields, then all: what the filter looks at comes along anyway. */
		if (i % 2 == 0)
			has_set(page.fields, JOB_exit);
		expect(&w, &f, &want);
		ask(&w, &f, &page, NULL);
		assert_same(&want, &got);
		found += want.n;
	}
	assert_true(found > least_found); /* the questions were not all about nothing */
	world_free(&w);
}

static void sql_never_misses_a_row(void **state UNUSED)
{
	compare_answers(3000, 600, 5000);
}

/* With one or two jobs each, whether a partition is opened matters. */
static void nor_a_partition(void **state UNUSED)
{
	compare_answers(40, 1500, 500);
}

/* ---- orders, limits, cursors */

static int order_of; /* for qsort: a field, ~field when descending */

static int by_field(const void *x, const void *y)
{
	const struct job *a = *(const struct job *const *)x, *b = *(const struct job *const *)y;
	size_t field = (size_t)(order_of < 0 ? ~order_of : order_of);
	size_t offset = job_fields[field].offset;
	const char *pa = (const char *)a + offset, *pb = (const char *)b + offset;
	int c = has_bit(b->has, field) - has_bit(a->has, field);

	if (c != 0)
		return c;
	if (has_bit(a->has, field) && field_is_text(job_fields[field].type)) {
		c = strcmp(*(const char *const *)(const void *)pa,
			   *(const char *const *)(const void *)pb);
	} else if (has_bit(a->has, field)) {
		int64_t va = *(const int64_t *)(const void *)pa;
		int64_t vb = *(const int64_t *)(const void *)pb;

		c = (va > vb) - (va < vb);
	}
	if (c != 0)
		return order_of < 0 ? -c : c;
	return by_key(a, b);
}

static void sort_as(struct answer *a, const struct job_page *page)
{
	static const int fields[] = { JOB_job_id, JOB_submit_at, JOB_start_at, JOB_end_at };
	int field = page->order == ORDER_FIELD ? page->order_field : fields[page->order];

	order_of = page->descending ? ~field : field;
	if (field != JOB_job_id) {
		qsort(a->jobs, a->n, sizeof(a->jobs[0]), by_field);
	} else if (page->descending) {
		struct job *copy = xmalloc(a->n * sizeof(*copy) + 1);

		for (size_t i = 0; i < a->n; i++)
			copy[i] = *a->jobs[i];
		qsort(copy, a->n, sizeof(*copy), by_key_descending);
		for (size_t i = 0; i < a->n; i++)
			a->jobs[i] = find_job(a->w, &copy[i]);
		free(copy);
	}
}

/* The whole answer, put together from pieces of this many rows. */
static void ask_in_pieces(struct world *w, const struct job_filter *f, struct job_page page,
			  int64_t limit)
{
	static struct answer all;
	const char *after = NULL;

	all = (struct answer){ .w = w };
	page.limit = limit;
	do {
		page.after = after;
		ask(w, f, &page, &after);
		assert_true(got.n <= (size_t)limit);
		assert_true(after == NULL || got.n == (size_t)limit);
		assert_false(got.unknown);
		memcpy(all.jobs + all.n, got.jobs, got.n * sizeof(got.jobs[0]));
		all.n += got.n;
		all.steps += got.steps;
	} while (after != NULL);
	got = all;
}

static void every_order_in_pieces(void **state UNUSED)
{
	static const struct job_page pages[] = {
		{ .order = ORDER_JOB_ID, .limit = -1 },
		{ .order = ORDER_JOB_ID, .limit = -1, .descending = true },
		{ .order = ORDER_SUBMIT, .limit = -1 },
		{ .order = ORDER_START, .limit = -1, .descending = true },
		{ .order = ORDER_END, .limit = -1 },
		{ .order = ORDER_FIELD, .order_field = JOB_user_name, .limit = -1 },
		{ .order = ORDER_FIELD, .order_field = JOB_name, .limit = -1, .descending = true },
		{ .order = ORDER_FIELD, .order_field = JOB_timelimit, .limit = -1 },
	};
	struct world w = world_new(3000, 12000);

	make_world(&w, 3000);
	for (int i = 0; i < 60; i++) {
		struct job_page page = pages[i % (int)ARRAY_LEN(pages)];
		struct job_filter f;

		random_filter(&w, &f);
		f.n_jobs = 0;
		if (chance(&w, 50)) { /* everything */
			f.start = AT(2000, 1, 1);
			f.end = NOW;
			f.states.n = f.users.n = f.uids.n = f.accounts.n = f.clusters.n = 0;
		}
		expect(&w, &f, &want);
		want.w = &w;
		sort_as(&want, &page);
		ask(&w, &f, &page, NULL);
		assert_same(&want, &got);
		ask_in_pieces(&w, &f, page,
			      1 + test_below(&w.random, 700) + (want.n > 300 ? 50 : 0));
		assert_same(&want, &got);
	}
	world_free(&w);
}

static void a_cursor_of_something_else_is_refused(void **state UNUSED)
{
	static const char *const bad[] = {
		"",
		"x",
		"1.job_id.a.n1.2.3",
		"1.job_id.a.n1.2.3.zz",
		"2.job_id.a.n1.2.3.61",
		"1.job_id.d.n1.2.3.61",
		"1.end_at.a.n1.2.3.61",
		"1.job_id.a.t61.2.3.61",
		"1.job_id.a.n1.2.3x.61",
		"1.job_id.a.n1.2.3.6",
		"1.job_id.a.n1.2.3.6100",
	};
	struct world w = world_new(1, 1);
	struct job_filter f;

	job_filter_init(&f);
	f.start = f.end = NOW;
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct job_page page = { .limit = 1, .after = bad[i] };
		struct err err = { 0 };

		assert_int_equal(store_jobs_each(w.store, &f, &page, NOW, collect, &got, w.arena,
						 NULL, &err),
				 -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_string_equal(err.where, "after");
	}
	world_free(&w);
}

/* Stretches that do not fit into memory at once: many rows with long texts. */
static void a_spool_larger_than_its_memory(void **state UNUSED)
{
	struct world w = world_new(15000, 1);
	struct job_page page = { .order = ORDER_FIELD, .order_field = JOB_comment, .limit = -1 };
	struct job_filter f;
	char *filler = xmalloc(1001);

	memset(filler, 'x', 1000);
	filler[1000] = '\0';
	for (size_t i = 0; i < 15000; i++) {
		struct job *j = &w.jobs[w.n_jobs++];

		job_set(j, cluster, "c");
		job_set(j, job_id, (int64_t)i);
		job_set(j, submit_at, NOW - 86400);
		job_set(j, eligible_at, NOW - 86400);
		if (i % 100 != 0)
			job_set(j, comment,
				arena_printf(w.arena, "%s%05d", filler, (int)(i * 7919 % 15000)));
		job_derive(j, NULL, 0, w.arena);
	}
	free(filler);
	world_store(&w);
	job_filter_init(&f);
	f.start = NOW - 86400;
	f.end = NOW;
	for (int i = 0; i < 3; i++) {
		page.descending = i == 1;
		page.limit = i == 2 ? 9000 : -1;
		expect(&w, &f, &want);
		want.w = &w;
		sort_as(&want, &page);
		if (i == 2)
			want.n = 9000;
		ask(&w, &f, &page, NULL);
		assert_same(&want, &got);
	}
	world_free(&w);
}

/* ---- the rest of the contract */

static void simple_job(struct world *w, int64_t id, int64_t submit_at, int64_t job_state)
{
	struct job *j = &w->jobs[w->n_jobs++];

	memset(j, 0, sizeof(*j));
	job_set(j, cluster, "c");
	job_set(j, job_id, id);
	job_set(j, submit_at, submit_at);
	job_set(j, eligible_at, submit_at);
	job_set(j, start_at, submit_at);
	job_set(j, end_at, submit_at + 60);
	job_set(j, state, job_state);
	job_derive(j, NULL, 0, w->arena);
}

static struct job_filter select_ids(struct world *w, const int64_t *ids, size_t n)
{
	struct job_filter f;

	job_filter_init(&f);
	f.start = 0;
	f.end = NOW;
	f.jobs = ARENA_ARRAY(w->arena, struct job_selection, n);
	f.n_jobs = n;
	for (size_t i = 0; i < n; i++)
		f.jobs[i] = (struct job_selection){ ids[i], -1, -1, STEP_ANY };
	return f;
}

static void the_newest_run_and_its_resizes(void **state UNUSED)
{
	struct world w = world_new(8, 1);
	struct job_page page = { .limit = -1 };
	const int64_t id = 5000;
	struct job_filter f = select_ids(&w, &id, 1);

	simple_job(&w, 5000, AT(2026, 8, 10), STATE_COMPLETED);
	simple_job(&w, 5000, AT(2026, 8, 9), STATE_RESIZING);
	simple_job(&w, 5000, AT(2026, 7, 9), STATE_RESIZING);
	simple_job(&w, 5000, AT(2026, 7, 8), STATE_REQUEUED);
	simple_job(&w, 5000, AT(2017, 10, 3), STATE_COMPLETED);
	world_store(&w);
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 3);
	assert_int_equal(got.jobs[0]->submit_at, AT(2026, 8, 10));
	/* A state filter brings out an older run. */
	add_number(&w, &f.states, STATE_REQUEUED);
	f.start = AT(2026, 7, 1);
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 1);
	assert_int_equal(got.jobs[0]->submit_at, AT(2026, 7, 8));
	f.states.n = 0;
	f.start = 0;
	f.duplicates = true;
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 5);
	world_free(&w);
}

static void a_component_means_the_whole_when_asked(void **state UNUSED)
{
	struct world w = world_new(8, 1);
	struct job_page page = { .limit = -1 };
	const int64_t id = 901;
	struct job_filter f = select_ids(&w, &id, 1);

	for (int i = 0; i < 3; i++) {
		simple_job(&w, 900 + i, AT(2026, 8, 1), STATE_COMPLETED);
		job_set(&w.jobs[i], het_job_id, 900);
		job_set(&w.jobs[i], het_offset, i);
	}
	world_store(&w);
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 1);
	f.het = HET_WHOLE;
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 3);
	f.jobs[0].job_id = 900;
	f.het = HET_NOT_WHOLE;
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 1);
	f.het = HET_DEFAULT;
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 3);
	world_free(&w);
}

/* FC-191: clusters that use the same numbers at the same second. */
static void clusters_keep_their_jobs_apart(void **state UNUSED)
{
	struct world w = world_new(4, 4);
	struct job_page page = { .limit = -1 };
	const int64_t id = 100;
	struct job_filter f = select_ids(&w, &id, 1);

	for (int i = 0; i < 2; i++) {
		simple_job(&w, 100, AT(2026, 8, 1), STATE_COMPLETED);
		job_set(&w.jobs[i], cluster, i == 0 ? "c1" : "c2");
	}
	world_store(&w);
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 2);
	assert_string_equal(got.jobs[0]->cluster, "c1");
	assert_string_equal(got.jobs[1]->cluster, "c2");
	add_text(&w, &f.clusters, "c2");
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 1);
	assert_string_equal(got.jobs[0]->cluster, "c2");
	world_free(&w);
}

/* FC-032: a task by its own number, and by its array's; the row of those not started too. */
static void tasks_by_both_their_names(void **state UNUSED)
{
	static const struct {
		struct job_selection ask;
		size_t n;
		int64_t first;
	} rows[] = {
		{ { 25, -1, -1, STEP_ANY }, 1, 25 }, { { 20, 3, -1, STEP_ANY }, 1, 25 },
		{ { 20, -1, -1, STEP_ANY }, 3, 20 }, { { 20, 7, -1, STEP_ANY }, 1, 20 },
		{ { 20, 99, -1, STEP_ANY }, 0, 0 },  { { 25, 3, -1, STEP_ANY }, 0, 0 },
		{ { 21, -1, -1, STEP_ANY }, 1, 21 },
	};
	struct world w = world_new(4, 4);
	struct job_page page = { .limit = -1 };
	struct job_filter f;

	simple_job(&w, 20, AT(2026, 8, 1), STATE_PENDING);
	job_set(&w.jobs[0], array_tasks, "5-9");
	simple_job(&w, 21, AT(2026, 8, 1), STATE_RUNNING);
	job_set(&w.jobs[1], array_task_id, 1);
	simple_job(&w, 25, AT(2026, 8, 1), STATE_RUNNING);
	job_set(&w.jobs[2], array_task_id, 3);
	for (int i = 0; i < 3; i++)
		job_set(&w.jobs[i], array_job_id, 20);
	world_store(&w);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		f = select_ids(&w, &rows[i].ask.job_id, 1);
		f.jobs[0] = rows[i].ask;
		ask(&w, &f, &page, NULL);
		assert_int_equal(got.n, rows[i].n);
		if (got.n > 0)
			assert_int_equal(got.jobs[0]->job_id, rows[i].first);
	}
	world_free(&w);
}

/* FC-009, FC-132: names are data, whatever is in them. */
static void names_are_data(void **state UNUSED)
{
	static const char *const odd[] = { "x'); drop table jobs;--",
					   "50%_\\",
					   "o'brien",
					   "''",
					   "DOM\\ann",
					   "a\nb",
					   "$1",
					   "%s",
					   "\xc3\xa9" };
	struct world w = world_new(ARRAY_LEN(odd), 4);
	struct job_page page = { .limit = -1 };

	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		simple_job(&w, (int64_t)i, AT(2026, 8, 1), STATE_COMPLETED);
		job_set(&w.jobs[i], name, odd[i]);
		job_set(&w.jobs[i], user_name, odd[i]);
		job_set(&w.jobs[i], cluster, odd[i]);
	}
	qsort(w.jobs, w.n_jobs, sizeof(w.jobs[0]), by_key);
	world_store(&w);
	for (size_t i = 0; i < ARRAY_LEN(odd); i++) {
		struct job_filter f;
		const char *after = NULL;

		job_filter_init(&f);
		f.start = AT(2026, 7, 1);
		f.end = NOW;
		add_text(&w, &f.names, odd[i]);
		add_text(&w, &f.users, odd[i]);
		add_text(&w, &f.clusters, odd[i]);
		ask(&w, &f, &page, NULL);
		assert_int_equal(got.n, 1);
		assert_string_equal(got.jobs[0]->name, odd[i]);
		/* Also in cursors, and in statements that go on behind a row. */
		f.names.n = f.users.n = f.clusters.n = 0;
		page.limit = (int64_t)i + 1;
		ask(&w, &f, &page, &after);
		page.after = after;
		page.limit = -1;
		if (after != NULL) {
			ask(&w, &f, &page, NULL);
			assert_int_equal(got.n, ARRAY_LEN(odd) - i - 1);
		}
		page.after = NULL;
	}
	world_free(&w);
}

static int keep_note(const struct job *j, const struct step *steps UNUSED, size_t n UNUSED,
		     void *arg)
{
	char *text = arg;

	snprintf(text, 200, "%s|%s|%s", job_get(j, comment, "-"), job_get(j, wckey, "-"),
		 job_get(j, admin_comment, "-"));
	return 0;
}

static void notes_win_and_are_filtered_by(void **state UNUSED)
{
	struct world w = world_new(8, 1);
	struct job_page page = { .limit = -1 };
	const int64_t id = 1;
	struct job_filter f = select_ids(&w, &id, 1);
	char text[200] = "";

	simple_job(&w, 1, AT(2026, 8, 1), STATE_COMPLETED);
	job_set(&w.jobs[0], comment, "record's");
	job_set(&w.jobs[0], wckey, "old");
	job_set(&w.jobs[0], admin_comment, "kept");
	world_store(&w);
	pgtest_run(w.pg,
		   "INSERT INTO job_note (cluster, job_id, submit_at, comment, wckey, noted_by,"
		   " noted_at) SELECT cluster, job_id, submit_at, 'written', 'new', 'ann', 1"
		   " FROM job");
	assert_ok(store_jobs_each(w.store, &f, &page, NOW, keep_note, text, w.arena, NULL, e));
	assert_string_equal(text, "written|new|kept");
	add_text(&w, &f.wckeys, "old");
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 0);
	f.wckeys.n = 0;
	add_text(&w, &f.wckeys, "new");
	ask(&w, &f, &page, NULL);
	assert_int_equal(got.n, 1);
	world_free(&w);
}

static void a_sink_may_stop(void **state UNUSED)
{
	struct world w = world_new(100, 1);
	struct job_page page = { .limit = -1 };
	struct job_filter f;
	struct err err = { 0 };

	for (int i = 0; i < 100; i++)
		simple_job(&w, i, AT(2026, 8, 1), STATE_COMPLETED);
	world_store(&w);
	job_filter_init(&f);
	f.start = AT(2026, 8, 1);
	f.end = NOW;
	for (int order = 0; order < 2; order++) {
		page.order = order == 0 ? ORDER_JOB_ID : ORDER_END;
		got = (struct answer){ .w = &w, .stop_after = 7 };
		assert_int_equal(store_jobs_each(w.store, &f, &page, NOW, collect, &got, w.arena,
						 NULL, &err),
				 -1);
		assert_int_equal(err.code, ERR_GONE);
		assert_int_equal(got.n, 7);
		err_clear(&err);
	}
	world_free(&w);
}

/* ---- what goes on meanwhile */

struct meddler {
	struct answer answer;
	void (*meddle)(struct world *w);
	size_t at;
};
static struct meddler meddler;

static int collect_and_meddle(const struct job *j, const struct step *steps, size_t n, void *arg)
{
	struct meddler *m = arg;

	if (m->answer.n == m->at)
		m->meddle(m->answer.w);
	return collect(j, steps, n, &m->answer);
}

static void let_time_go_on(struct world *w)
{
	assert_ok(partition_maintain(w->pg, AT(2027, 8, 1), e));
}

static void lose_connections(struct world *w)
{
	pgtest_run(w->pg, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
			  " WHERE application_name = 'tallyd reader'"
			  " AND datname = current_database()");
}

/* The page that is read ahead ends by itself, however long the sink takes. */
static void hold_no_snapshot(struct world *w)
{
	int64_t busy = 1;

	for (int i = 0; i < 1000 && busy > 0; i++) {
		busy = pgtest_i64(w->pg, "SELECT count(*) FROM pg_stat_activity"
					 " WHERE application_name = 'tallyd reader'"
					 " AND datname = current_database()"
					 " AND (state <> 'idle' OR backend_xmin IS NOT NULL)");
		usleep(5000);
	}
	assert_int_equal(busy, 0);
}

static void rows_are_found_where_they_are(void **state UNUSED)
{
	static void (*const meddling[])(struct world *) = { hold_no_snapshot, lose_connections,
							    let_time_go_on };
	struct world w = world_new(12000, 12000);
	struct job_page page = { .limit = -1 };
	struct job_filter f;

	/* Ids spread over two months and the far side, so that all are open at once. */
	for (int i = 0; i < 12000; i++)
		simple_job(&w, i, i % 3 == 0 ? AT(2028, 9, 3) : AT(2026, 6 + i % 2, 4),
			   STATE_COMPLETED);
	world_store(&w);
	job_filter_init(&f);
	f.start = AT(2000, 1, 1);
	f.end = AT(2040, 1, 1);
	expect(&w, &f, &want);
	assert_int_equal(want.n, 12000);
	for (size_t i = 0; i < ARRAY_LEN(meddling); i++) {
		meddler = (struct meddler){ .answer.w = &w, .meddle = meddling[i], .at = 1000 };
		f.with_steps = i == 1;
		assert_ok(store_jobs_each(w.store, &f, &page, NOW, collect_and_meddle, &meddler,
					  w.arena, NULL, e));
		assert_same(&want, &meddler.answer);
	}
	assert_int_equal(pgtest_i64(w.pg, "SELECT count(*) FROM job_202809"), 4000);
	world_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(sql_never_misses_a_row),
		cmocka_unit_test(nor_a_partition),
		cmocka_unit_test(every_order_in_pieces),
		cmocka_unit_test(a_cursor_of_something_else_is_refused),
		cmocka_unit_test(a_spool_larger_than_its_memory),
		cmocka_unit_test(the_newest_run_and_its_resizes),
		cmocka_unit_test(a_component_means_the_whole_when_asked),
		cmocka_unit_test(clusters_keep_their_jobs_apart),
		cmocka_unit_test(tasks_by_both_their_names),
		cmocka_unit_test(names_are_data),
		cmocka_unit_test(notes_win_and_are_filtered_by),
		cmocka_unit_test(a_sink_may_stop),
		cmocka_unit_test(rows_are_found_where_they_are),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

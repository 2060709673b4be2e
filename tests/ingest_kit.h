/* tests/ingest_kit.h: records by the handful, committed by a real writer, and tables compared. */
#ifndef TALLY_TESTS_INGEST_KIT_H
#define TALLY_TESTS_INGEST_KIT_H

#include "base/clock.h"
#include "core/merge.h"
#include "core/state.h"
#include "ingest/ingest.h"
#include "pgtest.h"

#define T0 INT64_C(1767225600) /* 2026-01-01 */

/* ---- a batch that grows */

struct kit {
	struct arena *arena;
	struct record *records;
	size_t n, cap;
	struct verdict *verdicts; /* of the last commit */
};

static inline struct kit kit_new(void)
{
	return (struct kit){ .arena = arena_new() };
}

static inline void kit_free(struct kit *k)
{
	arena_free(k->arena);
	free(k->records);
	free(k->verdicts);
}

static inline void kit_clear(struct kit *k)
{
	k->n = 0;
}

/* The pointer holds until the next record is added. */
static inline struct record *kit_add(struct kit *k, enum record_kind kind, int64_t job_id,
				     int64_t submit_at)
{
	struct record *r;

	if (k->n == k->cap) {
		k->cap = k->cap != 0 ? k->cap * 2 : 16;
		k->records = xrealloc(k->records, k->cap * sizeof(*k->records));
		k->verdicts = xrealloc(k->verdicts, k->cap * sizeof(*k->verdicts));
	}
	r = &k->records[k->n++];
	*r = (struct record){ .kind = kind, .cluster = "c1", .as_of = AS_OF_UNKNOWN };
	r->raw = arena_printf(k->arena, "{\"kind\":\"%s\",\"job_id\":%" PRId64 "}",
			      record_kind_names[kind], job_id);
	r->raw_len = strlen(r->raw);
	r->node.state_raw = r->node.reason_uid = -1;
	job_set(&r->job, job_id, job_id);
	if (submit_at != 0) {
		job_set(&r->job, submit_at, submit_at);
		r->submit_known = true;
	}
	return r;
}

static inline struct record *kit_start(struct kit *k, int64_t job_id, int64_t submit_at,
				       int64_t start_at)
{
	struct record *r = kit_add(k, REC_JOB_START, job_id, submit_at);

	job_set(&r->job, user_name, "alice");
	job_set(&r->job, account, "physics");
	job_set(&r->job, name, "run");
	job_set(&r->job, eligible_at, submit_at);
	job_set(&r->job, tres_req, "cpu=4,mem=8000,node=1");
	if (start_at != 0) {
		job_set(&r->job, start_at, start_at);
		job_set(&r->job, tres_alloc, "cpu=4,mem=8000,node=1");
		job_set(&r->job, nodes, "n1");
	}
	return r;
}

static inline struct record *kit_end(struct kit *k, int64_t job_id, int64_t submit_at,
				     int64_t start_at, int64_t end_at, int64_t state)
{
	struct record *r = kit_add(k, REC_JOB_END, job_id, submit_at);

	job_set(&r->job, start_at, start_at);
	job_set(&r->job, end_at, end_at);
	job_set(&r->job, state, state);
	job_set(&r->job, exit, 0);
	job_set(&r->job, tres_alloc, "cpu=4,mem=8000,node=1");
	return r;
}

/* A step of the record: its only one for the step kinds, one more for a job_end. */
static inline struct step *kit_step(struct kit *k, struct record *r, int64_t step_id)
{
	struct step *steps = ARENA_ARRAY(k->arena, struct step, r->n_steps + 1);
	struct step *s = &steps[r->n_steps];

	if (r->n_steps > 0)
		memcpy(steps, r->steps, r->n_steps * sizeof(*steps));
	r->steps = steps;
	r->n_steps++;
	step_set(s, step_id, step_id);
	step_set(s, het_comp, HET_COMP_NONE);
	return s;
}

static inline struct record *kit_step_end(struct kit *k, int64_t job_id, int64_t submit_at,
					  int64_t step_id, int64_t start_at, int64_t end_at,
					  int64_t max_rss)
{
	struct record *r = kit_add(k, REC_STEP_END, job_id, submit_at);
	struct step *s = kit_step(k, r, step_id);

	step_set(s, start_at, start_at);
	step_set(s, end_at, end_at);
	step_set(s, state, STATE_COMPLETED);
	step_set(s, ntasks, 1);
	step_set(s, user_cpu_us, 1000000);
	step_set(s, sys_cpu_us, 0);
	step_set(s, in_max, arena_printf(k->arena, "mem=%" PRId64, max_rss));
	return r;
}

/* ---- a writer */

static inline struct store *kit_store(void)
{
	const struct store_settings how = { .conninfo = pgtest_conninfo() };
	struct err err = { 0 };
	struct store *s = store_open(&how, &err);

	if (s == NULL)
		fail_msg("%s", err.text);
	return s;
}

static inline void kit_await_active(struct ingest *in)
{
	struct ingest_stats stats;
	int64_t limit = monotonic_ms() + 20000;

	for (;;) {
		ingest_get_stats(in, &stats);
		if (stats.active)
			return;
		if (monotonic_ms() > limit)
			fail_msg("the writer has not become active");
		nanosleep(&(struct timespec){ .tv_nsec = 5000000 }, NULL);
	}
}

static const struct ingest_settings kit_settings = { .queue_records = 100000,
						     .queue_bytes = (size_t)1 << 30,
						     .lock_timeout_ms = 100,
						     .register_clusters = true };

static inline struct ingest *kit_ingest(struct store *store)
{
	struct err err = { 0 };
	struct ingest *in = ingest_start(store, &kit_settings, &err);

	if (in == NULL)
		fail_msg("%s", err.text);
	kit_await_active(in);
	return in;
}

static inline void kit_stop(struct ingest *in)
{
	ingest_stop(in, monotonic_ms() + 10000);
	ingest_free(in);
}

/* A commit uses records up, and a kit's can be committed again: so it gets copies. */
static inline struct record *kit_copies(struct arena *arena, const struct record *records, size_t n)
{
	struct record *copies = ARENA_ARRAY(arena, struct record, n);

	memcpy(copies, records, n * sizeof(*copies));
	for (size_t i = 0; i < n; i++) {
		if (records[i].n_steps == 0)
			continue;
		copies[i].steps = ARENA_ARRAY(arena, struct step, records[i].n_steps);
		memcpy(copies[i].steps, records[i].steps,
		       records[i].n_steps * sizeof(struct step));
	}
	return copies;
}

/* Commits records [from, from + n) of the kit; verdicts are theirs. */
static inline int kit_try_part(struct ingest *in, struct kit *k, size_t from, size_t n,
			       struct err *err)
{
	struct arena *arena = arena_new();
	struct batch b = { .records = kit_copies(arena, k->records + from, n),
			   .verdicts = k->verdicts + from, .n = n,
			   .bytes = n * sizeof(struct record), .source = "test", .who = "uid=0" };
	int retry, rc;

	memset(b.verdicts, 0, n * sizeof(*b.verdicts));
	rc = ingest_commit(in, &b, &retry, err);
	arena_free(arena);
	return rc;
}

static inline void kit_commit(struct ingest *in, struct kit *k)
{
	struct err err = { 0 };

	if (kit_try_part(in, k, 0, k->n, &err) < 0)
		fail_msg("%s: %s", err.where, err.text);
}

static inline void kit_expect(const struct kit *k, size_t i, enum verdict_kind want)
{
	if (k->verdicts[i].kind != want)
		fail_msg("record %zu: verdict %d, not %d: %s: %s", i, (int)k->verdicts[i].kind,
			 (int)want, k->verdicts[i].err.where, k->verdicts[i].err.text);
}

static inline void kit_expect_all(const struct kit *k, enum verdict_kind want)
{
	for (size_t i = 0; i < k->n; i++)
		kit_expect(k, i, want);
}

/* ---- comparing tables.  Of job_month the counts alone: its bounds may be wider than the rows. */

/* The last two are how the rows were found, and depend on the order of arrival. */
static const char *const kit_tables[] = { "job",	"step",	     "cluster_tres_event",
					  "node_event", "usage_hour_view", "usage_day_view",
					  "usage_month_view", "run_rate_view",
					  "job_aside", "step_aside" };
enum { KIT_ROWS = 8, KIT_ALL = 10 };

struct kit_sums {
	char v[KIT_ALL + 1][64];
};

static inline struct kit_sums kit_sums(struct pg *pg)
{
	struct kit_sums s;
	char sql[256];

	for (size_t i = 0; i < KIT_ALL; i++) {
		snprintf(sql, sizeof(sql),
			 "SELECT count(*) || ' ' || coalesce(md5(string_agg(t::text, E'\\n' "
			 "ORDER BY t::text)), '') FROM %s t", kit_tables[i]);
		snprintf(s.v[i], sizeof(s.v[i]), "%.63s", pgtest_text(pg, sql));
	}
	snprintf(s.v[KIT_ALL], sizeof(s.v[0]), "%.63s",
		 pgtest_text(pg, "SELECT md5(string_agg(cluster || month || ' ' || open_jobs, ' ' "
				 "ORDER BY cluster, month)) FROM job_month WHERE open_jobs > 0"));
	return s;
}

static inline void kit_compare(const struct kit_sums *a, const struct kit_sums *b, size_t tables,
			       const char *what)
{
	for (size_t i = 0; i < tables; i++)
		if (strcmp(a->v[i], b->v[i]) != 0)
			fail_msg("%s: %s differs: %s, %s", what, kit_tables[i], a->v[i], b->v[i]);
	if (strcmp(a->v[KIT_ALL], b->v[KIT_ALL]) != 0)
		fail_msg("%s: the counts of open jobs differ", what);
}

static inline void kit_same(const struct kit_sums *a, const struct kit_sums *b, const char *what)
{
	kit_compare(a, b, KIT_ALL, what);
}

/* job_month agrees with the rows: counts to the unit, bounds not narrower. */
static inline void kit_months_agree(struct pg *pg)
{
	static const char wrong[] =
		"SELECT count(*) FROM (SELECT cluster, "
		"to_char(to_timestamp(submit_at) AT TIME ZONE 'UTC', 'YYYYMM')::int AS month, "
		"min(least(visible_from, start_at, end_at)) AS seen, max(end_at) AS ended, "
		"count(*) FILTER (WHERE end_at IS NULL) AS open, min(job_id) AS lo, "
		"max(job_id) AS hi, "
		"coalesce(max(end_at - least(visible_from, start_at, end_at)), 0) AS life "
		"FROM job GROUP BY 1, 2) j FULL JOIN job_month m USING (cluster, month) "
		"WHERE coalesce(j.open, 0) IS DISTINCT FROM m.open_jobs "
		"OR m.least_visible > j.seen OR m.greatest_end < j.ended "
		"OR m.least_job_id > j.lo OR m.greatest_job_id < j.hi OR m.max_life_s < j.life "
		"OR (m.least_visible IS NULL AND j.seen IS NOT NULL) "
		"OR (m.greatest_end IS NULL AND j.ended IS NOT NULL)";

	assert_int_equal(pgtest_i64(pg, wrong), 0);
}

#endif

/* Random histories, delivered in order, and delivered shuffled and repeated: the same rows. */
#include "ingest_kit.h"

struct history {
	struct kit k;
	uint64_t random;
};

static int64_t below(struct history *h, int64_t n)
{
	return test_below(&h->random, n);
}

static bool chance(struct history *h, int64_t percent)
{
	return below(h, 100) < percent;
}

static struct record *add(struct history *h, enum record_kind kind, const char *cluster,
			  int64_t job_id, int64_t submit_at)
{
	struct record *r = kit_add(&h->k, kind, job_id, submit_at);

	r->cluster = cluster;
	if (chance(h, 50))
		r->as_of = T0 + below(h, 5);
	return r;
}

/* A run of a job and all that is said of it. */
struct run {
	const char *cluster;
	int64_t job_id;
	int64_t submit_at, start_at, end_at;
	int64_t named; /* the submit time that its records name, 0 = none do */
};

static void say_start(struct history *h, const struct run *run, bool started)
{
	static const char *const accounts[] = { "physics", "biology", "art" };
	struct record *r = add(h, REC_JOB_START, run->cluster, run->job_id, run->named);

	job_set(&r->job, account, accounts[below(h, 3)]);
	job_set(&r->job, user_name, "alice");
	if (run->named == 0 || started)
		job_set(&r->job, start_at, run->start_at);
	if (chance(h, 30))
		job_set(&r->job, priority, below(h, 3));
}

static void fill_step(struct history *h, const struct run *run, struct step *s, bool ended)
{
	int64_t at = run->start_at + below(h, run->end_at - run->start_at);

	step_set(s, start_at, at);
	if (chance(h, 50))
		step_set(s, name, chance(h, 50) ? "a" : "b");
	if (!ended)
		return;
	step_set(s, end_at, at + below(h, run->end_at - at + 1));
	step_set(s, state, chance(h, 80) ? STATE_COMPLETED : STATE_FAILED);
	step_set(s, in_max, arena_printf(h->k.arena, "mem=%d", (int)below(h, 100000)));
	step_set(s, user_cpu_us, below(h, 1000000));
}

static void say_step(struct history *h, const struct run *run)
{
	bool ended = chance(h, 70);
	struct record *r = add(h, ended ? REC_STEP_END : REC_STEP_START, run->cluster, run->job_id,
			       run->named);
	struct step *s = kit_step(&h->k, r, below(h, 3));

	fill_step(h, run, s, ended);
}

static void say_suspended(struct history *h, const struct run *run)
{
	struct record *r = add(h, chance(h, 50) ? REC_JOB_SUSPEND : REC_JOB_RESUME, run->cluster,
			       run->job_id, run->named);

	r->at = run->start_at + below(h, run->end_at - run->start_at);
}

static void say_end(struct history *h, const struct run *run)
{
	static const int64_t states[] = { STATE_COMPLETED, STATE_FAILED, STATE_REQUEUED,
					  STATE_CANCELLED };
	struct record *r = add(h, REC_JOB_END, run->cluster, run->job_id, run->named);
	bool short_of_words = run->named == 0 && chance(h, 50);

	job_set(&r->job, end_at, run->end_at);
	if (!short_of_words)
		job_set(&r->job, start_at, run->start_at);
	else if (chance(h, 50))
		job_set(&r->job, rec_elapsed, run->end_at - run->start_at);
	if (chance(h, 80))
		job_set(&r->job, state, states[below(h, 4)]);
	if (chance(h, 30))
		job_set(&r->job, exit, 256 * below(h, 2));
	while (chance(h, 30))
		fill_step(h, run, kit_step(&h->k, r, (int64_t)r->n_steps), true);
}

/* The run goes on under the submit time of the moment. */
static void say_resize(struct history *h, struct run *run)
{
	struct record *r = add(h, REC_JOB_RESIZE, run->cluster, run->job_id, run->named);

	r->at = run->start_at + 1 + below(h, run->end_at - run->start_at - 1);
	job_set(&r->job, tres_alloc, "cpu=2");
	run->start_at = r->at;
	run->submit_at = r->at;
	if (run->named != 0)
		run->named = r->at;
}

static void say_run(struct history *h, struct run *run)
{
	if (chance(h, 60))
		say_start(h, run, false);
	if (chance(h, 80))
		say_start(h, run, true);
	while (chance(h, 40))
		say_step(h, run);
	while (chance(h, 30))
		say_suspended(h, run);
	if (chance(h, 15))
		say_resize(h, run);
	while (chance(h, 20))
		say_step(h, run);
	for (int n = chance(h, 85) + chance(h, 10); n > 0; n--)
		say_end(h, run);
}

static void say_node(struct history *h, const char *cluster)
{
	static const char *const reasons[] = { "fan", "disk", "power" };
	struct record *r = add(h, REC_NODE_EVENT, cluster, 0, 0);

	job_unset(&r->job, job_id);
	r->node.node = chance(h, 50) ? "n1" : "n2";
	r->at = r->node.at = T0 + below(h, 8);
	r->node.up = chance(h, 40);
	if (!r->node.up)
		r->node.reason = reasons[below(h, 3)];
}

static void say_cluster(struct history *h, const char *cluster)
{
	struct record *r = add(h, REC_CLUSTER_TRES, cluster, 0, 0);

	job_unset(&r->job, job_id);
	r->at = r->tres.at = T0 + below(h, 8);
	r->tres.tres = chance(h, 50) ? "cpu=64" : "cpu=128";
}

static void make(struct history *h, int runs)
{
	static const char *const clusters[] = { "c1", "c2" };
	int64_t clock = T0 - 40 * 86400;

	for (int i = 0; i < runs; i++) {
		struct run run = { .cluster = clusters[below(h, 2)], .job_id = 1 + below(h, 12) };

		run.submit_at = clock + below(h, 86400);
		run.start_at = run.submit_at + below(h, 100);
		run.end_at = run.start_at + 3 + below(h, 5000);
		run.named = chance(h, 75) ? run.submit_at : 0;
		clock += 86400;
		say_run(h, &run);
		if (chance(h, 20))
			say_node(h, run.cluster);
		if (chance(h, 10))
			say_cluster(h, run.cluster);
	}
}

static void deliver(struct history *h, struct ingest *in, struct kit *k)
{
	for (size_t i = 0, n; i < k->n; i += n) {
		struct err err = { 0 };

		n = 1 + (size_t)below(h, 60);
		n = n < k->n - i ? n : k->n - i;
		if (kit_try_part(in, k, i, n, &err) < 0)
			fail_msg("%s", err.text);
		for (size_t r = i; r < i + n; r++)
			if (k->verdicts[r].kind == VERDICT_REFUSED)
				fail_msg("refused: %s: %s", k->verdicts[r].err.where,
					 k->verdicts[r].err.text);
	}
}

/* Every record once, some again and again, in any order. */
static struct kit shuffled(struct history *h)
{
	struct kit k = kit_new();

	k.cap = h->k.n * 2;
	k.records = xcalloc(k.cap, sizeof(*k.records));
	k.verdicts = xcalloc(k.cap, sizeof(*k.verdicts));
	memcpy(k.records, h->k.records, h->k.n * sizeof(*k.records));
	for (k.n = h->k.n; k.n < k.cap; k.n++)
		k.records[k.n] = h->k.records[below(h, (int64_t)h->k.n)];
	for (size_t i = k.n - 1; i > 0; i--) {
		size_t other = (size_t)below(h, (int64_t)i + 1);
		struct record r = k.records[i];

		k.records[i] = k.records[other];
		k.records[other] = r;
	}
	return k;
}

#define USAGE "usage_hour, usage_day, usage_month, run_rate"

static void order_does_not_show(void **state UNUSED)
{
	struct pg *pg = pgtest_schema();
	struct store *store = kit_store();
	struct ingest *in = kit_ingest(store);
	uint64_t random = test_seed("random histories");

	for (int round = 0; round < 20; round++) {
		struct history h = { .k = kit_new(), .random = test_random(&random) };
		struct kit_sums in_order, in_disorder, again, once_more;
		struct kit k;
		char what[64];

		snprintf(what, sizeof(what), "round %d", round);
		make(&h, 60);
		deliver(&h, in, &h.k);
		in_order = kit_sums(pg);
		kit_months_agree(pg);
		pgtest_run(pg, "TRUNCATE job, step, job_aside, step_aside, job_month, node_event, "
			       "cluster_tres_event, " USAGE);
		k = shuffled(&h);
		deliver(&h, in, &k);
		in_disorder = kit_sums(pg);
		kit_compare(&in_order, &in_disorder, KIT_ROWS, what);
		kit_months_agree(pg);
		/* Where rows had become parts, a start may still tell what an end had written over:
		 * no row changes by it, and after that nothing at all. */
		deliver(&h, in, &h.k);
		again = kit_sums(pg);
		kit_compare(&in_disorder, &again, KIT_ROWS, what);
		deliver(&h, in, &h.k);
		kit_expect_all(&h.k, VERDICT_DUPLICATE);
		once_more = kit_sums(pg);
		kit_same(&again, &once_more, what);
		assert_int_equal(pgtest_i64(pg, "SELECT count(*) FROM step LEFT JOIN job "
						"USING (cluster, job_id, submit_at) "
						"WHERE job.job_id IS NULL"), 0);
		pgtest_run(pg, "TRUNCATE job, step, job_aside, step_aside, job_month, node_event, "
			       "cluster_tres_event, " USAGE);
		kit_free(&k);
		kit_free(&h.k);
	}
	kit_stop(in);
	store_close(store);
	pg_close(pg);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(order_does_not_show),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

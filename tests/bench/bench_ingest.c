/* What the writer costs per job, beside COPY of the same rows into the same tables with the same
 * indexes.  Usage: tests/with-pg build/bench/bench_ingest [JOBS]
 *
 * Records are made in memory, so neither HTTP nor JSON is in the figures; batches of 1000 records,
 * one caller.  Printed: microseconds per job, and COPY's time divided by it. */
#include "ingest_kit.h"

#include "core/merge.h"
#include "store/binrow.h"
#include "store/partition.h"

#define BATCH 1000

static void fill_job(struct kit *k, struct record *r, int64_t id, bool end)
{
	struct job *j = &r->job;

	job_set(j, user_name, arena_printf(k->arena, "user%03d", (int)(id * 7919 % 500)));
	job_set(j, uid, 1000 + id * 7919 % 500);
	job_set(j, gid, 100);
	job_set(j, group_name, "users");
	job_set(j, account, arena_printf(k->arena, "account%02d", (int)(id % 60)));
	job_set(j, partition, id % 3 == 0 ? "gpu" : "batch");
	job_set(j, qos, "normal");
	job_set(j, name, arena_printf(k->arena, "simulation-%d", (int)id));
	job_set(j, work_dir, arena_printf(k->arena, "/home/user%03d/project/run%d",
					  (int)(id * 7919 % 500), (int)(id % 1000)));
	job_set(j, submit_line, "sbatch --ntasks=16 --time=2:00:00 --mem=64G run.sh input.dat");
	job_set(j, eligible_at, j->submit_at + 1);
	job_set(j, timelimit, 120);
	job_set(j, req_cpus, 16);
	job_set(j, req_nodes, 1);
	job_set(j, req_mem, 65536);
	job_set(j, req_mem_per, PER_NODE);
	job_set(j, tres_req, "billing=16,cpu=16,mem=65536,node=1");
	job_set(j, tres_alloc, "billing=16,cpu=16,mem=65536,node=1");
	job_set(j, nodes, arena_printf(k->arena, "node%04d", (int)(id % 2000)));
	job_set(j, alloc_nodes, 1);
	job_set(j, priority, 10000 + id % 1000);
	job_set(j, start_at, j->submit_at + 60);
	if (!end)
		return;
	job_set(j, end_at, j->start_at + 600 + id % 3600);
	job_set(j, state, STATE_COMPLETED);
	job_set(j, exit, 0);
	job_set(j, derived_exit, 0);
}

static void fill_step(struct kit *k, struct step *s, int64_t id, int64_t start_at)
{
	step_set(s, name, "batch");
	step_set(s, state, STATE_COMPLETED);
	step_set(s, start_at, start_at);
	step_set(s, end_at, start_at + 600 + id % 3600);
	step_set(s, exit, 0);
	step_set(s, nodes, arena_printf(k->arena, "node%04d", (int)(id % 2000)));
	step_set(s, node_cnt, 1);
	step_set(s, ntasks, 1);
	step_set(s, tres_alloc, "cpu=16,mem=65536,node=1");
	step_set(s, user_cpu_us, 9000000000 + id);
	step_set(s, sys_cpu_us, 5000000);
	step_set(s, in_max, arena_printf(k->arena, "cpu=9005000,fs/disk=123456789,mem=%d,pages=12,"
						   "vmem=2147483648", (int)(1000000 + id)));
	step_set(s, in_max_node, "cpu=node0001,fs/disk=node0001,mem=node0001");
	step_set(s, in_max_task, "cpu=0,fs/disk=0,mem=0");
	step_set(s, in_ave, "cpu=9005000,fs/disk=123456789,mem=1000000,pages=12,vmem=2147483648");
	step_set(s, in_tot, "cpu=9005000,fs/disk=123456789,mem=1000000,pages=12,vmem=2147483648");
	step_set(s, out_max, "fs/disk=987654321");
	step_set(s, out_tot, "fs/disk=987654321");
}

enum shape { COMPLETE, START_AND_END };

/* The records of jobs [from, from + n). */
static void make(struct kit *k, enum shape shape, enum record_kind kind, int64_t from, int64_t n)
{
	for (int64_t id = from; id < from + n; id++) {
		int64_t submit_at = T0 + id * 2 % (25 * 86400);
		struct record *r = kit_add(k, kind, id, submit_at);

		fill_job(k, r, id, kind == REC_JOB_END);
		if (shape == COMPLETE || kind == REC_JOB_END)
			fill_step(k, kit_step(k, r, STEP_ID_BATCH), id, r->job.start_at);
	}
}

static double run(enum shape shape, int64_t jobs)
{
	struct pg *pg = pgtest_schema();
	struct store *store = kit_store();
	struct ingest *in = kit_ingest(store);
	struct ingest_stats stats;
	int64_t spent = 0, begun;
	enum record_kind kinds[] = { REC_JOB_START, REC_JOB_END };

	/* Starts of one batch, then their ends: as a controller sends them. */
	for (int64_t from = 1; from <= jobs; from += BATCH) {
		for (size_t i = shape == COMPLETE; i < ARRAY_LEN(kinds); i++) {
			struct kit k = kit_new();
			struct err err = { 0 };

			make(&k, shape, kinds[i], from, BATCH);
			begun = monotonic_us();
			if (kit_try_part(in, &k, 0, k.n, &err) < 0)
				fail_msg("%s", err.text);
			spent += monotonic_us() - begun;
			kit_expect_all(&k, VERDICT_ACCEPTED);
			kit_free(&k);
		}
	}
	ingest_get_stats(in, &stats);
	printf("  %8.2f us in commits, %" PRIu64 " commits\n",
	       (double)stats.commit_us_sum / (double)jobs, stats.commits);
	if (pgtest_i64(pg, "SELECT count(*) FROM job") != jobs ||
	    pgtest_i64(pg, "SELECT count(*) FROM step") != jobs)
		fail_msg("rows are missing");
	kit_stop(in);
	store_close(store);
	pg_close(pg);
	return (double)spent / (double)jobs;
}

static double copy(int64_t jobs)
{
	static const char *const tables[] = { "job", "step" };
	struct pg *pg = pgtest_schema();
	struct store *store = kit_store();
	struct ingest *in = kit_ingest(store);
	struct kit first = kit_new();
	int64_t spent = 0, begun;

	/* The partition is made by the writer. */
	kit_start(&first, 999999999, T0, 0);
	kit_commit(in, &first);
	kit_free(&first);
	pgtest_run(pg, "DELETE FROM job");
	for (int64_t from = 1; from <= jobs; from += BATCH) {
		struct kit k = kit_new();
		struct buf rows[2] = { BUF_INIT, BUF_INIT };
		struct err err = { 0 };

		make(&k, COMPLETE, REC_JOB_END, from, BATCH);
		bin_head(&rows[0]);
		bin_head(&rows[1]);
		for (size_t i = 0; i < k.n; i++) {
			struct record *r = &k.records[i];
			const struct step *step = &r->steps[0];

			job_set(&r->job, cluster, "c1");
			job_set(&r->job, row_id, (int64_t)i + from);
			step_set(&r->steps[0], cluster, "c1");
			step_set(&r->steps[0], job_id, r->job.job_id);
			step_set(&r->steps[0], submit_at, r->job.submit_at);
			record_stamp(r);
			job_derive(&r->job, &step, 1, k.arena);
			bin_job(&rows[0], &r->job);
			bin_step(&rows[1], step);
		}
		bin_end(&rows[0]);
		bin_end(&rows[1]);
		begun = monotonic_us();
		pgtest_run(pg, "BEGIN");
		for (size_t t = 0; t < 2; t++) {
			char sql[64];

			snprintf(sql, sizeof(sql), "COPY %s_202601 FROM STDIN (FORMAT binary)",
				 tables[t]);
			if (pg_copy_in(pg, sql, &err) < 0 ||
			    pg_copy_put(pg, rows[t].data, rows[t].len, &err) < 0 ||
			    pg_copy_done(pg, NULL, &err) < 0)
				fail_msg("%s", err.text);
		}
		pgtest_run(pg, "COMMIT");
		spent += monotonic_us() - begun;
		buf_fini(&rows[0]);
		buf_fini(&rows[1]);
		kit_free(&k);
	}
	kit_stop(in);
	store_close(store);
	pg_close(pg);
	return (double)spent / (double)jobs;
}

static int compare(const void *a, const void *b)
{
	const int64_t *x = a, *y = b;

	return (*x > *y) - (*x < *y);
}

/* One record at a time, by one caller: the median. */
static int64_t one_by_one(int64_t n)
{
	struct pg *pg = pgtest_schema();
	struct store *store = kit_store();
	struct ingest *in = kit_ingest(store);
	int64_t *us = xcalloc((size_t)n, sizeof(*us)), median;

	for (int64_t i = 0; i < n; i++) {
		struct kit k = kit_new();
		int64_t begun;

		make(&k, COMPLETE, REC_JOB_END, i + 1, 1);
		begun = monotonic_us();
		kit_commit(in, &k);
		us[i] = monotonic_us() - begun;
		kit_free(&k);
	}
	qsort(us, (size_t)n, sizeof(*us), compare);
	median = us[n / 2];
	free(us);
	kit_stop(in);
	store_close(store);
	pg_close(pg);
	return median;
}

int main(int argc, char **argv)
{
	int64_t jobs = argc > 1 ? strtoll(argv[1], NULL, 10) : 50000;
	double bare = copy(jobs), us;

	printf("COPY              %8.2f us a job with its step\n", bare);
	us = run(COMPLETE, jobs);
	printf("complete records  %8.2f us, ratio %.3f\n", us, bare / us);
	us = run(START_AND_END, jobs);
	printf("start, then end   %8.2f us, ratio %.3f\n", us, bare / us);
	printf("one by one        %8" PRId64 " us\n", one_by_one(2000));
	return 0;
}

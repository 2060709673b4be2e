/* How long one record takes through the codec, beside jansson: build/bench/bench_codec [rounds] */
#include "core/merge.h"
#include "core/record_json.h"

#include <jansson.h>

static const char record[] =
	"{\"kind\":\"job_end\",\"cluster\":\"alpha\",\"job_id\":4711123,"
	"\"submit\":\"2026-08-21T15:00:00Z\",\"eligible\":\"2026-08-21T15:00:00Z\","
	"\"start\":\"2026-08-21T15:04:10Z\",\"end\":\"2026-08-21T17:38:00Z\",\"user\":\"alice\","
	"\"uid\":20001,\"group\":\"physics\",\"gid\":10001,\"account\":\"astro\",\"assoc_id\":17,"
	"\"partition\":\"main\",\"qos\":\"normal\",\"qos_id\":1,\"wckey\":\"*\","
	"\"name\":\"relax_fe2o3_0042\",\"work_dir\":\"/home/alice/runs/fe2o3/0042\","
	"\"submit_line\":\"sbatch --ntasks=16 --mem-per-cpu=2G --time=04:00:00 run_relax.sh 0042\","
	"\"std_out\":\"/home/alice/runs/fe2o3/0042/slurm-%j.out\",\"std_in\":\"/dev/null\","
	"\"std_err\":\"/home/alice/runs/fe2o3/0042/slurm-%j.out\",\"array_job_id\":4711081,"
	"\"array_task_id\":42,\"timelimit\":240,\"state\":\"COMPLETED\",\"reason\":\"Priority\","
	"\"exit_code\":0,\"exit_signal\":0,\"derived_exit_code\":0,\"derived_exit_signal\":0,"
	"\"restarts\":0,\"nodes\":\"n[0123-0124]\",\"node_inx\":\"122-123\",\"alloc_nodes\":2,"
	"\"req_cpus\":16,\"req_nodes\":1,\"req_mem_mib\":2048,\"req_mem_per\":\"cpu\","
	"\"tres_req\":{\"billing\":16,\"cpu\":16,\"mem\":32768,\"node\":1},"
	"\"tres_alloc\":{\"billing\":16,\"cpu\":16,\"energy\":183412,\"mem\":32768,\"node\":2},"
	"\"priority\":10234,\"flags\":[\"SchedMain\",\"StartReceived\"],\"constraints\":\"avx512\","
	"\"comment\":\"series 7\",\"steps\":[{\"step_id\":0,\"name\":\"relax\","
	"\"state\":\"COMPLETED\",\"start\":\"2026-08-21T15:04:12Z\",\"end\":\"2026-08-21T17:37:"
	"58Z\","
	"\"exit_code\":0,\"exit_signal\":0,\"nodes\":\"n[0123-0124]\",\"nnodes\":2,\"ntasks\":16,"
	"\"tres_alloc\":{\"cpu\":16,\"mem\":32768,\"node\":2},\"user_cpu_us\":143123123123,"
	"\"sys_cpu_us\":123123123,\"ave_cpufreq_khz\":2400000,\"energy_j\":183412,"
	"\"usage_in_max\":{\"cpu\":9000123,\"energy\":91000,\"fs/disk\":123123123,"
	"\"mem\":1932735283,\"pages\":12,\"vmem\":2932735283},"
	"\"usage_in_max_node\":{\"cpu\":\"n0123\",\"energy\":\"n0123\",\"mem\":\"n0124\"},"
	"\"usage_in_max_task\":{\"cpu\":3,\"energy\":0,\"mem\":11},"
	"\"usage_in_min\":{\"cpu\":8900123,\"mem\":1832735283},"
	"\"usage_in_ave\":{\"cpu\":8950123,\"energy\":11463,\"fs/disk\":113123123,"
	"\"mem\":1882735283,\"pages\":10,\"vmem\":2882735283},"
	"\"usage_in_tot\":{\"cpu\":143201968,\"energy\":183412,\"fs/disk\":1809969968,"
	"\"mem\":30123764528,\"pages\":160,\"vmem\":46123764528},"
	"\"usage_out_max\":{\"fs/disk\":523123123},\"usage_out_tot\":{\"fs/disk\":5231231230}}]}";

static int64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* One thing that is measured: the best of some batches, since other programs run beside us. */
enum { BATCHES = 100 };

struct subject {
	const char *what;
	void (*run)(struct subject *s);
	struct arena *arena;
	struct record rec;
	struct buf buf;
	bool flag;
	int per_run; /* records that one run goes through */
};

static void measure(struct subject *s, int runs)
{
	int64_t best = INT64_MAX;

	for (int b = 0; b < BATCHES; b++) {
		int64_t from = now_ns();
		for (int i = 0; i < runs / BATCHES + 1; i++)
			s->run(s);
		int64_t took = (now_ns() - from) / (runs / BATCHES + 1) / s->per_run;
		best = took < best ? took : best;
	}
	printf("%-36s %8.2f us\n", s->what, (double)best / 1000);
}

static void decode(struct subject *s)
{
	static const struct record_defaults defaults = { NULL };
	struct err err;

	arena_reset(s->arena);
	if (record_decode(record, sizeof(record) - 1, &defaults, s->arena, &s->rec, &err) < 0 ||
	    (s->flag && record_validate(&s->rec, s->arena, &err) < 0)) {
		fprintf(stderr, "%s: %s\n", err.where, err.text);
		exit(1);
	}
	record_stamp(&s->rec);
}

static void merge(struct subject *s)
{
	struct job row = { 0 };
	const struct step *step = s->rec.steps;

	job_merge(&row, &s->rec.job, false, s->arena);
	job_derive(&row, &step, s->rec.n_steps, s->arena);
}

static void cut(struct subject *s)
{
	struct jcut c;
	struct jtext text;
	int n = 0;

	jcut_init(&c, buf_str(&s->buf), s->buf.len, false);
	while (jcut_next(&c, &text, NULL) > 0)
		n++;
	if (n != s->per_run)
		exit(1);
}

static void fill_body(struct subject *s)
{
	buf_clear(&s->buf);
	buf_adds(&s->buf, s->flag ? "[" : "");
	for (int i = 0; i < s->per_run; i++) {
		buf_adds(&s->buf, i == 0 ? "" : s->flag ? "," : "\n");
		buf_adds(&s->buf, record);
	}
	buf_adds(&s->buf, s->flag ? "]" : "\n");
}

static void encode(struct subject *s)
{
	const struct row_style style = { .now = 1787326680, .steps = s->flag };

	buf_clear(&s->buf);
	job_encode_json(&s->buf, &s->rec.job, s->rec.steps, s->rec.n_steps, &style);
}

static void tree(struct subject *s)
{
	(void)s;
	json_decref(json_loadb(record, sizeof(record) - 1, 0, NULL));
}

int main(int argc, char **argv)
{
	int runs = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100000;
	struct subject s = { .arena = arena_new(), .per_run = 1 };
	static const struct {
		const char *what;
		void (*run)(struct subject *s);
		bool flag;
	} rows[] = {
		{ "record_decode and stamp", decode, false },
		{ "record_decode, validate and stamp", decode, true },
		{ "job_merge into nothing, job_derive", merge, false },
		{ "jansson, the tree alone", tree, false },
		{ "job_encode_json", encode, false },
		{ "job_encode_json with a step", encode, true },
		{ "cutting, NDJSON", cut, false },
		{ "cutting, array", cut, true },
	};

	printf("%-36s %8zu bytes\n", "record", sizeof(record) - 1);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		s.what = rows[i].what;
		s.run = rows[i].run;
		s.flag = rows[i].flag;
		s.per_run = s.run == cut ? 1000 : 1;
		if (s.run == cut)
			fill_body(&s);
		measure(&s, runs / s.per_run);
	}
	buf_fini(&s.buf);
	arena_free(s.arena);
	return 0;
}

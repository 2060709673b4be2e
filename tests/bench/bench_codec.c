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

static void report(const char *what, int64_t from, int rounds)
{
	printf("%-34s %8.2f us\n", what, (double)(now_ns() - from) / rounds / 1000);
}

static void bench_decode(int rounds, struct arena *a, bool validate)
{
	static const struct record_defaults defaults = { NULL };
	struct record rec;
	struct err err;
	int64_t from = now_ns();

	for (int i = 0; i < rounds; i++) {
		arena_reset(a);
		if (record_decode(record, sizeof(record) - 1, &defaults, a, &rec, &err) < 0 ||
		    (validate && record_validate(&rec, a, &err) < 0)) {
			fprintf(stderr, "%s: %s\n", err.where, err.text);
			exit(1);
		}
		record_stamp(&rec);
	}
	report(validate ? "record_decode, validate and stamp" : "record_decode and stamp", from,
	       rounds);
}

static void bench_cut(int rounds)
{
	enum { COPIES = 1000 };
	struct buf body = BUF_INIT;
	struct jcut cut;
	struct jtext text;

	for (int array = 0; array < 2; array++) {
		buf_clear(&body);
		buf_adds(&body, array ? "[" : "");
		for (int i = 0; i < COPIES; i++) {
			buf_adds(&body, i == 0 ? "" : array ? "," : "\n");
			buf_adds(&body, record);
		}
		buf_adds(&body, array ? "]" : "\n");
		int64_t from = now_ns();
		int n = 0;
		for (int i = 0; i < (rounds + COPIES - 1) / COPIES; i++) {
			jcut_init(&cut, buf_str(&body), body.len, false);
			while (jcut_next(&cut, &text, NULL) > 0)
				n++;
		}
		report(array ? "cutting, array" : "cutting, NDJSON", from, n);
	}
	buf_fini(&body);
}

static void bench_encode(int rounds, struct arena *a, bool steps)
{
	static const struct record_defaults defaults = { NULL };
	struct row_style style = { .now = 1787326680, .steps = steps };
	struct buf out = BUF_INIT;
	struct record rec;

	arena_reset(a);
	record_decode(record, sizeof(record) - 1, &defaults, a, &rec, NULL);
	int64_t from = now_ns();
	size_t bytes = 0;
	for (int i = 0; i < rounds; i++) {
		buf_clear(&out);
		job_encode_json(&out, &rec.job, rec.steps, rec.n_steps, &style);
		bytes = out.len;
	}
	report(steps ? "job_encode_json with a step" : "job_encode_json", from, rounds);
	printf("%-34s %8zu bytes\n", "", bytes);
	buf_fini(&out);
}

static void bench_jansson(int rounds)
{
	int64_t from = now_ns();

	for (int i = 0; i < rounds; i++)
		json_decref(json_loadb(record, sizeof(record) - 1, 0, NULL));
	report("jansson, the tree alone", from, rounds);
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? (int)strtol(argv[1], NULL, 10) : 100000;
	struct arena *a = arena_new();

	printf("%-34s %8zu bytes\n", "record", sizeof(record) - 1);
	bench_decode(rounds, a, false);
	bench_decode(rounds, a, true);
	bench_jansson(rounds / 4);
	bench_cut(rounds);
	bench_encode(rounds, a, false);
	bench_encode(rounds, a, true);
	arena_free(a);
	return 0;
}

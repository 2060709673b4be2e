/* test_import_json.c: the shapes that values have had in sacct --json, and documents that are
 * broken. */
#include "import_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct dump import_text(const char *text)
{
	struct import_options o = { .zone = zone_utc() };

	return dump_import("jobs.json", text, strlen(text), &o);
}

#define JOB(members)                                                                               \
	"{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": \"FAILED\"}, " members "}]}"
#define STEP(members) JOB("\"steps\": [{\"step\": {\"id\": \"7.0\"}, " members "}]")

/* clang-format off */
static const struct {
	const char *what, *in, *holds, *lacks;
} cases[] = {
	{ "a plain state", "{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": \"COMPLETED\"}}]}",
	  "job_end job_id=7 state=3\n", "REFUSED" },
	{ "a list of one", "{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": [\"TIMEOUT\"]}}]}",
	  "job_end job_id=7 state=6\n", "REFUSED" },
	{ "a state and flags", "{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": [\"RUNNING\", "
	  "\"COMPLETING\"]}}]}", "job_start job_id=7 state=1\n", "REFUSED" },
	{ "a requeued run", "{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": [\"PENDING\", "
	  "\"REQUEUED\"]}}]}", "job_end job_id=7 state=1024\n", "REFUSED" },
	{ "an unknown state", "{\"jobs\": [{\"job_id\": 7, \"state\": {\"current\": [\"FOO\"]}}]}",
	  "REFUSED jobs.json:1 state.current", "job_end" },
	{ "FC-012 bit 63 marks per CPU", JOB("\"required\": {\"CPUs\": 8, \"memory\": 9223372036854779904}"),
	  "req_cpus=8 req_mem=4096 req_mem_per=2", "REFUSED" },
	{ "FC-012 the same as a signed number", JOB("\"required\": {\"memory\": -9223372036854771712}"),
	  "req_mem=4096 req_mem_per=2", "REFUSED" },
	{ "memory per node before 23.02", JOB("\"required\": {\"memory\": 65536}"),
	  "req_mem=65536 req_mem_per=1", "REFUSED" },
	{ "memory per CPU since", JOB("\"required\": {\"memory_per_cpu\": {\"set\": true, \"infinite\": false, "
	  "\"number\": 512}, \"memory_per_node\": {\"set\": false, \"infinite\": false, \"number\": 0}}"),
	  "req_mem=512 req_mem_per=2\n", "REFUSED" },
	{ "FC-082 no quantities", STEP("\"statistics\": {\"energy\": {\"consumed\": 18446744073709551614}}, "
	  "\"tres\": {\"requested\": {\"max\": [{\"type\": \"fs\", \"name\": \"disk\", \"count\": "
	  "18446744073709551615}, {\"type\": \"mem\", \"name\": null, \"count\": 4096, \"node\": \"n1\", "
	  "\"task\": 3}]}}"),
	  "in_max=\"mem=4096\" in_max_node=\"mem=n1\" in_max_task=\"mem=3\"\n", "energy" },
	{ "energy as a set number", STEP("\"statistics\": {\"energy\": {\"consumed\": {\"set\": true, "
	  "\"infinite\": false, \"number\": 101630}}}"), "energy=101630", "REFUSED" },
	{ "usage of energy -2 is none", JOB("\"tres\": {\"allocated\": [{\"type\": \"cpu\", \"name\": \"\", "
	  "\"count\": 4}, {\"type\": \"energy\", \"name\": \"\", \"count\": -2}, {\"type\": \"gres\", "
	  "\"name\": \"gpu:a100\", \"count\": 2}]}"), "tres_alloc=\"cpu=4,gres/gpu:a100=2\"\n", "REFUSED" },
	{ "a limit", JOB("\"time\": {\"limit\": 1440}"), "timelimit=1440 ", NULL },
	{ "no limit", JOB("\"time\": {\"limit\": {\"set\": false, \"infinite\": true, \"number\": 0}}"),
	  "timelimit=-1 ", NULL },
	{ "no limit, as a number", JOB("\"time\": {\"limit\": 4294967295}"), "timelimit=-1 ", NULL },
	{ "the partition's limit", JOB("\"time\": {\"limit\": {\"set\": false, \"infinite\": false, "
	  "\"number\": 0}}"), "timelimit=-2 ", NULL },
	{ "a limit of null", JOB("\"time\": {\"limit\": null}"), "job_id=7 state=5\n", NULL },
	{ "times of 0 are none", JOB("\"time\": {\"start\": 0, \"end\": 1700000600, \"submission\": "
	  "1700000000, \"eligible\": 0}"), "submit_at=1700000000 end_at=1700000600 ", "start_at" },
	{ "an old exit", JOB("\"exit_code\": {\"status\": \"SIGNALED\", \"return_code\": 0, \"signal\": "
	  "{\"signal_id\": 9, \"name\": \"KILL\"}}"), "exit=9\n", NULL },
	{ "a new exit", JOB("\"exit_code\": {\"status\": [\"ERROR\"], \"return_code\": {\"set\": true, "
	  "\"infinite\": false, \"number\": 137}, \"signal\": {\"id\": {\"set\": false, \"infinite\": false, "
	  "\"number\": 0}, \"name\": \"\"}}"), "exit=35072\n", NULL },
	{ "an exit code out of range", JOB("\"exit_code\": {\"return_code\": 300}"),
	  "REFUSED jobs.json:1 exit_code", "job_end" },
	{ "a reservation without a name was 0 once", JOB("\"reservation\": {\"id\": 0, \"name\": 0}"),
	  "job_end job_id=7 state=5\n", "reservation" },
	{ "no array", JOB("\"array\": {\"job_id\": 0, \"task_id\": {\"set\": true, \"infinite\": false, "
	  "\"number\": 0}, \"task\": \"\"}"), "job_end job_id=7 state=5\n", NULL },
	{ "an array's task", JOB("\"array\": {\"job_id\": 7, \"task_id\": 100}"),
	  "array_job_id=7 array_task_id=100 ", NULL },
	{ "an array's waiting tasks", JOB("\"array\": {\"job_id\": 7, \"task_id\": {\"set\": false, "
	  "\"infinite\": false, \"number\": 0}, \"task\": \"1-5,9%2\", \"limits\": {\"max\": {\"running\": "
	  "{\"tasks\": 2}}}}"),
	  "array_job_id=7 array_tasks=\"1-5,9%2\" array_task_pending=6 array_max_tasks=2 ", "task_id" },
	{ "a component of a heterogeneous job", JOB("\"het\": {\"job_id\": 6, \"job_offset\": {\"set\": true, "
	  "\"infinite\": false, \"number\": 1}}"), "het_job_id=6 het_offset=1 ", NULL },
	{ "names that look like nothing", JOB("\"name\": \"None\", \"nodes\": \"None assigned\""),
	  "name=\"None\" ", "nodes" },
	{ "a step by its number alone", JOB("\"steps\": [{\"step\": {\"id\": 3}}, {\"step\": {\"id\": "
	  "\"extern\"}}, {\"step\": {\"id\": \"7+1.0\"}}]"), "step_id=3 het_comp=-1\n  step job_id=7 "
	  "step_id=-4 het_comp=-1\n  step job_id=7 step_id=0", NULL },
	{ "a step without an id", JOB("\"steps\": [{\"step\": {}}]"), "REFUSED jobs.json:1 steps: ", "job_end" },
	{ "CPU time of steps", STEP("\"time\": {\"user\": {\"seconds\": 2, \"microseconds\": 5}, \"system\": "
	  "{\"seconds\": 0, \"microseconds\": 7}}"), "user_cpu_us=2000005 sys_cpu_us=7", NULL },
	{ "who cancelled, by number", JOB("\"kill_request_user\": \"1000\""), "killed_by=1000", NULL },
	{ "who cancelled, by name", JOB("\"kill_request_user\": \"ann\""), "NOTE who cancelled", "killed_by" },
	{ "no job number", "{\"jobs\": [{\"name\": \"x\"}, {\"job_id\": 8}]}",
	  "REFUSED jobs.json:1 job_id: has no job number\njob_start job_id=8", NULL },
	{ "one broken value spoils one job", "{\"jobs\": [{\"job_id\": 7, \"name\": []},\n{\"job_id\": \"x\", "
	  "\"time\": {\"start\": []}},\n{\"job_id\": 9}]}", "REFUSED jobs.json:2 time.start", NULL },
	{ "a number beyond 64 bits", JOB("\"priority\": 99999999999999999999999"),
	  "REFUSED jobs.json:1 priority", NULL },
	{ "no jobs", "{\"jobs\": [], \"errors\": []}", "", "REFUSED" },
};
/* clang-format on */

static void test_shapes(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dump d = import_text(cases[i].in);
		const char *text = buf_str(&d.out);

		if (d.rc != 0)
			fail_msg("%s: %s: %s", cases[i].what, d.err.where, d.err.text);
		if (strstr(text, cases[i].holds) == NULL)
			fail_msg("%s: no \"%s\" in\n%s", cases[i].what, cases[i].holds, text);
		if (cases[i].lacks && strstr(text, cases[i].lacks))
			fail_msg("%s: \"%s\" in\n%s", cases[i].what, cases[i].lacks, text);
		buf_fini(&d.out);
	}
}

/* A document that breaks off is an error, and what came before it was handed over. */
static void test_broken(void **state)
{
	static const struct {
		const char *in, *says;
		uint64_t jobs;
	} rows[] = {
		{ "{\"jobs\": [{\"job_id\": 7}, {\"job_id\": 8}", "after 2 jobs: ", 2 },
		{ "{\"jobs\": [{\"job_id\": 7}, {\"job_id\"", "after 1 jobs: ", 1 },
		{ "{\"jobs\": 3}", "after 0 jobs: ", 0 },
		{ "{\"meta\": {\"x\": \"\\\"jobs\\\"\"}, \"z\": {\"jobs\": []}}",
		  "has no list of jobs", 0 },
		{ "{\"jobs\": []} trailing", "", 0 },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct dump d = import_text(rows[i].in);

		if (d.rc != -1 || strstr(d.err.text, rows[i].says) == NULL)
			fail_msg("row %zu: %d, \"%s\"", i, d.rc, d.err.text);
		assert_int_equal(d.counts.jobs, rows[i].jobs);
		buf_fini(&d.out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shapes),
		cmocka_unit_test(test_broken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

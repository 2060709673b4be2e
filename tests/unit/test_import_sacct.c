/* test_import_sacct.c: dumps of sacct -P into records: delimiters, joined lines, job names, cells,
 * and the field cases that are about importing. */
#include "import_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

static struct arena *arena;

static struct dump import_in(const char *text, const char *zone_name, const char *cluster)
{
	struct import_options o = { .cluster = cluster, .zone = zone_utc() };

	if (zone_name)
		assert_int_equal(zone_open(zone_name, arena, &o.zone, NULL), 0);
	return dump_import("dir/dump.psv", text, strlen(text), &o);
}

/* Each case: the dump, then texts that what comes of it must hold (up to a NULL), and one that it
 * must not (or NULL). */
/* clang-format off */
static const struct {
	const char *what, *in;
	const char *holds[6];
	const char *lacks;
} cases[] = {
	{ "a job with its steps is one record",
	  "JobID|JobName|State|Submit|Start|End|ExitCode\n"
	  "7|a|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:10|0:0\n"
	  "7.batch|batch|COMPLETED|2026-01-01T00:00:10|2026-01-01T00:00:10|2026-01-01T00:01:10|0:0\n"
	  "7.extern|extern|COMPLETED|||2026-01-01T00:01:10|0:0\n"
	  "7.0|x|OUT_OF_MEMORY|||2026-01-01T00:01:10|0:125\n"
	  "8|b|FAILED|2026-01-01T00:00:00|2026-01-01T00:00:10|2026-01-01T00:01:10|137:0\n",
	  { "job_end job_id=7 submit_at=1767225600 name=\"a\" start_at=1767225610 "
	    "end_at=1767225670 state=3 exit=0\n"
	    "  step job_id=7 submit_at=1767225600 step_id=-5 het_comp=-1 name=\"batch\"",
	    "  step job_id=7 submit_at=1767225600 step_id=-4 ", "step_id=0 het_comp=-1 name=\"x\" state=11 ",
	    "exit=125", "job_end job_id=8", "exit=35072" },
	  "REFUSED" },
	{ "FC-001 the delimiter inside texts",
	  "JobID|JobName|WorkDir|State\n101|a|b|/w/x|y|COMPLETED\n102|c|/w|FAILED\n",
	  { "name=\"a|b\" work_dir=\"/w/x|y\"", "job_id=102 name=\"c\" work_dir=\"/w\"" },
	  "REFUSED" },
	{ "the delimiter in one of two texts that may hold it",
	  "JobID|JobName|Comment|State\n1|a|b|c|COMPLETED\n2|n||FAILED\n",
	  { "REFUSED dump.psv:2: the delimiter stands inside a text", "job_id=2 name=\"n\"" },
	  "job_id=1 " },
	{ "XDMoD's order: the name last",
	  "JobID|State|JobName\n101|COMPLETED|a|b|c\n102|FAILED|\n",
	  { "job_id=101 name=\"a|b|c\"", "job_id=102 state=5" },
	  "REFUSED" },
	{ "FC-004 line feeds and carriage returns in names",
	  "JobID|JobName|State\n103|f20\n|COMPLETED\n104|g\r|COMPLETED\n105|h|COMPLETED\n",
	  { "job_id=103 name=\"f20\\n\"", "job_id=104 name=\"g\\r\"", "job_id=105 name=\"h\"" },
	  "REFUSED" },
	{ "FC-004 a line feed in the last column",
	  "JobID|State|JobName\n103|COMPLETED|f20\n\n104|COMPLETED|a\nb|c\n105|COMPLETED|h\n\n\n",
	  { "name=\"f20\\n\"", "name=\"a\\nb|c\"", "job_id=105 name=\"h\" " },
	  "REFUSED" },
	{ "a file with CR LF line ends",
	  "JobID|State|JobName\r\n103|COMPLETED|a\r\n104|FAILED|b\r\n",
	  { "name=\"a\"", "name=\"b\"" },
	  "\\r" },
	{ "--parsable: a delimiter at the end",
	  "JobID|JobName|State|\n102|mail_test|COMPLETED|\n103|a|b|FAILED|\n104|x|FAILED\n",
	  { "name=\"mail_test\"", "name=\"a|b\"", "REFUSED dump.psv:4" },
	  "job_id=104" },
	{ "a delimiter of several characters",
	  "JobID^|^JobName^|^State^|^WorkDir\n101^|^a|b^|^COMPLETED^|^/w/x|y\n",
	  { "name=\"a|b\" work_dir=\"/w/x|y\"" },
	  "REFUSED" },
	{ "a delimiter of several bytes",
	  "JobID\xe2\x98\x83JobName\xe2\x98\x83State\xe2\x98\x83\n"
	  "1\xe2\x98\x83n\xe2\x98\x83TIMEOUT\xe2\x98\x83\n",
	  { "job_id=1 name=\"n\" state=6" },
	  "REFUSED" },
	{ "a tab, a comma, one column",
	  "JobID\tState\n5\tCOMPLETED\n",
	  { "job_id=5 state=3" },
	  "REFUSED" },
	{ "a row that was cut short does not take the next one with it",
	  "JobID|Account|State\n1|acct\n2|acct|COMPLETED\n",
	  { "REFUSED dump.psv:2: has 2 cells instead of 3", "job_id=2 account=\"acct\"" },
	  "job_id=1 " },
	{ "the steps of a row that was cut short go with it",
	  "JobID|Account|State\n1|acct|COMPLETED\n2|acct\n2.batch||COMPLETED\n3|acct|FAILED\n"
	  "3.batch||COMPLETED\n",
	  { "REFUSED dump.psv:3: has 2 cells", "REFUSED dump.psv:4 JobID: comes after a row",
	    "  step job_id=3 step_id=-5" },
	  "job_id=2" },
	{ "array tasks with and without the raw number",
	  "JobID|JobIDRaw|State\n20_3|25|COMPLETED\n20_4|20|COMPLETED\n20_4.batch|20.batch|COMPLETED\n",
	  { "job_id=25 array_job_id=20 array_task_id=3", "job_id=20 array_job_id=20 array_task_id=4",
	    "step job_id=20 step_id=-5" },
	  "REFUSED" },
	{ "without the raw number two tasks are still two jobs",
	  "JobID|State\n20_3|COMPLETED\n20_4|COMPLETED\n20_4.0|COMPLETED\n",
	  { "job_id=4503599711256579 array_job_id=20 array_task_id=3",
	    "job_id=4503599711256580 array_job_id=20 array_task_id=4",
	    "step job_id=4503599711256580 step_id=0" },
	  "REFUSED" },
	{ "there is no number to be made of what is no array's number",
	  "JobID|State\n1073741824_3|COMPLETED\n1073741823_4000001|COMPLETED\n1073741823_4194304|COMPLETED\n",
	  { "REFUSED dump.psv:2 JobID: its own number is not known: add JobIDRaw",
	    "job_id=9007199254546689", "REFUSED dump.psv:4 JobID" },
	  "array_job_id=1073741824" },
	{ "FC-026 FC-028 pending arrays",
	  "JobID|State\n17_[1-3,9%2]|PENDING\n500_[9201-10000%500]|PENDING\n600_[0-467]|PENDING\n"
	  "70_[0-10:2]|PENDING\n77_[1,4,9,...]|PENDING\n",
	  { "job_start job_id=17 array_job_id=17 array_tasks=\"1-3,9%2\" array_task_pending=4 "
	    "array_max_tasks=2",
	    "array_task_pending=800 array_max_tasks=500", "array_task_pending=468",
	    "array_tasks=\"0-10:2\" array_task_pending=6", "job_id=77 array_job_id=77 state=0" },
	  "REFUSED" },
	{ "FC-029 heterogeneous jobs",
	  "JobID|JobIDRaw|State\n900+0|900|COMPLETED\n900+1|901|COMPLETED\n900+1.0|901.0|COMPLETED\n"
	  "900.0+1|900.0+1|COMPLETED\n",
	  { "job_id=900 het_job_id=900 het_offset=0", "job_id=901 het_job_id=900 het_offset=1",
	    "  step job_id=901 step_id=0 het_comp=-1", "step_end job_id=900\n  step job_id=900 step_id=0 "
							  "het_comp=1" },
	  "REFUSED" },
	{ "FC-011 ReqMem of every release",
	  "JobID|ReqMem|State\n1|0c|FAILED\n2|0n|FAILED\n3|3000Mc|FAILED\n4|48000Mn|FAILED\n5|48G|FAILED\n"
	  "6|2147486648Mn|FAILED\n7||FAILED\n",
	  { "job_id=1 state=", "job_id=2 state=", "job_id=3 state=5 req_mem=3000 req_mem_per=2",
	    "req_mem=48000 req_mem_per=1", "req_mem=49152 req_mem_per=0",
	    "job_id=6 state=5 req_mem=3000 req_mem_per=2" },
	  "REFUSED" },
	{ "FC-014 FC-015 sizes",
	  "JobID|State|MaxRSS|MaxVMSize|NTasks\n1|FAILED|||\n1.0|FAILED|16?|1.50T|2\n1.1|FAILED|0|4M|1\n"
	  "1.2|FAILED||12756K|\n",
	  { "step_id=0 het_comp=-1 state=5 ntasks=2 in_max=\"vmem=1649267441664\"",
	    "step_id=1 het_comp=-1 state=5 ntasks=1 in_max=\"mem=0,vmem=4194304\"",
	    "in_max=\"vmem=13062144\"" },
	  "REFUSED" },
	{ "FC-021 long runs; FC-025 limits",
	  "JobID|State|Elapsed|Timelimit\n1|FAILED|33-02:03:04|UNLIMITED\n2|FAILED|130-05:00:00|Partition_Limit\n"
	  "3|FAILED|00:00:05|10:10:00\n4|FAILED|00:00:05|\n",
	  { "timelimit=-1 state=5 rec_elapsed=2858584", "timelimit=-2 state=5 rec_elapsed=11250000",
	    "timelimit=610", "job_id=4 state=5 rec_elapsed=5" },
	  "REFUSED" },
	{ "TimelimitRaw counts minutes",
	  "JobID|State|TimelimitRaw\n1|FAILED|610\n2|FAILED|UNLIMITED\n",
	  { "timelimit=610", "timelimit=-1" },
	  "REFUSED" },
	{ "FC-036 who cancelled",
	  "JobID|State\n1|CANCELLED by 1000\n2|CANCELLED by 0\n3|CANCELLED\n",
	  { "job_id=1 state=4 killed_by=1000", "job_id=2 state=4 killed_by=0", "job_id=3 state=4\n" },
	  "REFUSED" },
	{ "an unknown state is refused by name, and its steps with it",
	  "JobID|State\n1|FOO\n1.batch|COMPLETED\n2|BAR\n3|COMPLETED\n",
	  { "REFUSED dump.psv:2 State: unknown state \"FOO\"", "REFUSED dump.psv:3 JobID: is a step of a job",
	    "REFUSED dump.psv:4 State: unknown state \"BAR\"", "job_end job_id=3" },
	  "job_id=1" },
	{ "FC-057 FC-059 FC-165 four spellings of absent",
	  "JobID|State|Submit|Eligible|Start|End|NodeList|NNodes|NCPUS|ReqCPUS|Elapsed\n"
	  "1|RUNNING|2026-01-01T00:00:00|N/A|2026-01-01T00:00:00|Unknown|n1|1|4|4|00:10:00\n"
	  "2|CANCELLED|2026-01-01T00:00:00|Unknown|None|2026-01-01T00:05:00|None assigned|2|0|8|00:00:00\n"
	  "3|PENDING|2026-01-01T00:00:00|||Unknown|None assigned|1|8|8|00:00:00\n"
	  "7336818|NODE_FAIL|2026-01-01T00:00:00||None|2026-01-01T00:05:00|None assigned|1|0|1|00:00:00\n",
	  { "job_start job_id=1 submit_at=1767225600 start_at=1767225600 state=1 nodes=\"n1\" "
	    "alloc_nodes=1 req_cpus=4 tres_alloc=\"cpu=4,node=1\"\n",
	    "job_end job_id=2 submit_at=1767225600 end_at=1767225900 state=4 req_cpus=8 req_nodes=2 "
	    "rec_elapsed=0\n",
	    "job_start job_id=3 submit_at=1767225600 state=0 req_cpus=8 req_nodes=1\n",
	    "job_end job_id=7336818 submit_at=1767225600 end_at=1767225900 state=7" },
	  "REFUSED" },
	{ "what runs keeps no end; its steps are records of their own",
	  "JobID|State|Start|End\n1|RUNNING|2026-01-01T00:00:00|2026-01-01T00:00:00\n"
	  "1.0|COMPLETED|2026-01-01T00:00:00|2026-01-01T00:01:00\n1.1|RUNNING|2026-01-01T00:01:00|Unknown\n",
	  { "job_start job_id=1 start_at=1767225600 state=1\nstep_end job_id=1\n  step job_id=1 step_id=0",
	    "step_start job_id=1\n  step job_id=1 step_id=1" },
	  "REFUSED" },
	{ "steps whose job is not there",
	  "JobID|State|Submit\n5.batch|COMPLETED|2026-01-01T00:00:00\n5.0|COMPLETED|2026-01-01T00:00:00\n",
	  { "step_end job_id=5\n  step job_id=5 step_id=-5", "step_end job_id=5\n  step job_id=5 step_id=0" },
	  "submit_at" },
	{ "FC-159 columns that are gone, and columns nobody knows",
	  "JobID|State|ReqGRES|Nonsense|DBIndex\n1|COMPLETED|gpu:2|x|77\n",
	  { "NOTE not taken: ReqGRES, DBIndex", "NOTE columns that sacct does not have are not taken: "
						 "number 4",
	    "job_id=1 state=3\n" },
	  "REFUSED" },
	{ "usage columns into TRES texts",
	  "JobID|State|MaxRSS|MaxRSSNode|MaxRSSTask|AveRSS|MinCPU|MinCPUNode|MinCPUTask|MaxDiskRead|"
	  "MaxDiskWrite|AveCPU|TRESUsageInMax|TRESUsageInTot|UserCPU|SystemCPU|TotalCPU|NTasks\n"
	  "1|COMPLETED||||||||||||||||\n"
	  "1.0|COMPLETED|55168K|n2|3|50000K|00:01:30|n1|65534|1M|2K|00:02:00|cpu=00:05:00,mem=55168K|"
	  "cpu=01:00:00,mem=586344K|00:59:00|01:00.500|01:00:00|12\n",
	  { "ntasks=12 user_cpu_us=3540000000 sys_cpu_us=60500000 "
	    "in_max=\"cpu=300000,fs/disk=1048576,mem=56492032\" in_max_node=\"mem=n2\" "
	    "in_max_task=\"mem=3\" in_min=\"cpu=90000\" in_min_node=\"cpu=n1\" "
	    "in_ave=\"cpu=120000,mem=51200000\" in_tot=\"cpu=3600000,mem=600416256\" "
	    "out_max=\"fs/disk=2048\"" },
	  "REFUSED" },
	{ "FC-160 no nodes, GPUs only",
	  "JobID|Partition|Eligible|Start|End|Elapsed|State|NNodes|NCPUS|ReqMem|ReqTRES|AllocTRES|NodeList\n"
	  "5692623||Unknown|2016-08-01T07:04:09|2016-08-01T07:04:09|00:00:00|COMPLETED|0|0|0n||gres/gpu=2|"
	  "cpn-k16-35-01\n",
	  { "job_end job_id=5692623 start_at=1470035049 end_at=1470035049 state=3 "
	    "nodes=\"cpn-k16-35-01\" alloc_nodes=0 tres_alloc=\"gres/gpu=2\"\n" },
	  "REFUSED" },
	{ "FC-101 Elapsed without suspension is kept",
	  "JobID|State|Start|End|Elapsed\n1|COMPLETED|2026-01-01T10:00:00|2026-01-01T14:00:00|03:00:00\n",
	  { "rec_elapsed=10800" },
	  "REFUSED" },
	{ "a wrong cell names its column",
	  "JobID|State|Start|NTasks\n1|COMPLETED|yesterday|\n2|COMPLETED||\n2.0|COMPLETED||many\n",
	  { "REFUSED dump.psv:2 Start: \"yesterday\"", "REFUSED dump.psv:4 NTasks", "job_end job_id=2" },
	  "job_id=1" },
	{ "texts that only look like nothing are texts",
	  "JobID|JobName|User|State\n1|None|unknown|COMPLETED\n",
	  { "user_name=\"unknown\" name=\"None\"" },
	  "REFUSED" },
};
/* clang-format on */

static void check(const char *what, const struct dump *d, const char *const *holds,
		  const char *lacks)
{
	const char *text = buf_str(&d->out);

	if (d->rc != 0)
		fail_msg("%s: %s: %s", what, d->err.where, d->err.text);
	for (size_t i = 0; i < 6 && holds[i]; i++)
		if (strstr(text, holds[i]) == NULL)
			fail_msg("%s: no \"%s\" in\n%s", what, holds[i], text);
	if (lacks && strstr(text, lacks))
		fail_msg("%s: \"%s\" in\n%s", what, lacks, text);
}

static void test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dump d = import_in(cases[i].in, NULL, NULL);

		check(cases[i].what, &d, cases[i].holds, cases[i].lacks);
		buf_fini(&d.out);
	}
}

static void test_zones(void **state)
{
	/* FC-076: both ends read 02:30; the elapsed hour tells that the second is the later one. */
	static const char dump[] = "JobID|State|Start|End|Elapsed\n"
				   "1|COMPLETED|2025-10-26T02:30:00|2025-10-26T02:30:00|01:00:00\n"
				   "2|COMPLETED|2025-10-26T02:30:00|2025-10-26T03:30:00|01:00:00\n"
				   "3|COMPLETED|2025-10-26T02:30:00|2025-10-26T03:30:00|02:00:00\n"
				   "4|COMPLETED|2025-10-26T00:30:00Z|1761442200|01:00:00\n";
	static const char *const holds[6] = {
		"job_id=1 start_at=1761438600 end_at=1761442200 state=3\n",
		"job_id=2 start_at=1761442200 end_at=1761445800 state=3\n",
		"job_id=3 start_at=1761438600 end_at=1761445800 state=3\n",
		"job_id=4 start_at=1761438600 end_at=1761442200 state=3\n",
	};
	struct dump d = import_in(dump, "Europe/Berlin", NULL);

	(void)state;
	check("Europe/Berlin", &d, holds, "REFUSED");
	buf_fini(&d.out);
}

static void test_other_cluster(void **state)
{
	/* FC-162: rows of another cluster are skipped and said so. */
	static const char dump[] =
		"JobID|Cluster|State\n1|xcluster|COMPLETED\n1.batch|xcluster|COMPLETED\n"
		"2|ycluster|COMPLETED\n3||COMPLETED\n";
	static const char *const holds[6] = {
		"SKIPPED dump.psv:2 Cluster: is of cluster xcluster, not of ycluster",
		"job_end cluster=\"ycluster\" job_id=2",
		"job_end cluster=\"ycluster\" job_id=3",
	};
	struct dump d = import_in(dump, NULL, "ycluster");

	(void)state;
	check("other cluster", &d, holds, "job_id=1");
	assert_int_equal(d.counts.rows, 4);
	assert_int_equal(d.counts.skipped, 2);
	assert_int_equal(d.counts.jobs, 2);
	buf_fini(&d.out);
}

static void test_not_a_dump(void **state)
{
	static const struct {
		const char *in, *says;
	} rows[] = {
		{ "", "in no format" },
		{ "hello\n", "in no format" },
		{ "1|2|3\n", "in no format" },
		{ "JobName|State\na|COMPLETED\n", "in no format" },
		{ "JobID           JobName  Partition\n------------ ---------- ----------\n",
		  "a table made for reading" },
		{ "JobID State\n1 COMPLETED\n", "a table made for reading" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct dump d = import_in(rows[i].in, NULL, NULL);

		assert_int_equal(d.rc, -1);
		if (strstr(d.err.text, rows[i].says) == NULL)
			fail_msg("row %zu: \"%s\" says \"%s\"", i, rows[i].in, d.err.text);
		buf_fini(&d.out);
	}
}

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_zones),
		cmocka_unit_test(test_other_cluster),
		cmocka_unit_test(test_not_a_dump),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

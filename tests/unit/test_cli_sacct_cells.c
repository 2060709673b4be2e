/* What a column shows of a job or a step, for the field cases of sacct and the odd values that
 * real dumps hold. */
#include "unit.h"

#include "cli/sacct_format.h"
#include "core/exit.h"
#include "core/state.h"

static struct buf out;
static struct sacct_style style;
static struct job job;
static struct step steps[8];
static size_t n_steps;

static const char *cell_of(const char *field, const struct step *step)
{
	const struct sacct_field *f = sacct_field_find(field);
	struct sacct_row row = {
		.job = &job, .steps = steps, .n_steps = n_steps, .step = step, .style = &style
	};

	assert_non_null(f);
	buf_clear(&out);
	sacct_print(&out, f, &row);
	return buf_str(&out);
}

#define shows(field, want)	   assert_string_equal(cell_of(field, NULL), want)
#define step_shows(i, field, want) assert_string_equal(cell_of(field, &steps[i]), want)

struct expected {
	const char *field, *want;
};

static void job_shows(const struct expected *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		shows(rows[i].field, rows[i].want);
}

#define JOB_SHOWS(...)                                                                             \
	do {                                                                                       \
		static const struct expected rows[] = { __VA_ARGS__ };                             \
		job_shows(rows, ARRAY_LEN(rows));                                                  \
	} while (0)

static struct step *add_step(int64_t id)
{
	struct step *s = &steps[n_steps++];

	memset(s, 0, sizeof(*s));
	step_set(s, step_id, id);
	step_set(s, het_comp, HET_COMP_NONE);
	return s;
}

/* A job of one hour that ended well: 10:00 to 11:00 UTC of 1 March 2026. */
static int reset(void **state UNUSED)
{
	memset(&job, 0, sizeof(job));
	n_steps = 0;
	style = (struct sacct_style){ .now = 1772400000,
				      .zone = zone_utc(),
				      .array_text = SACCT_ARRAY_TEXT };
	job_set(&job, cluster, "c1");
	job_set(&job, job_id, 1000);
	job_set(&job, submit_at, 1772359200);
	job_set(&job, eligible_at, 1772359200);
	job_set(&job, start_at, 1772359200);
	job_set(&job, end_at, 1772362800);
	job_set(&job, state, STATE_COMPLETED);
	job_set(&job, exit, 0);
	job_set(&job, user_name, "ann");
	return 0;
}

static void never_started(void)
{
	job_unset(&job, start_at);
	job_set(&job, req_cpus, 8);
	job_set(&job, req_nodes, 1);
}

/* FC-016: the largest of several steps is the steps' own; the job's line has none. */
static void max_rss(void **state UNUSED)
{
	struct step *s = add_step(0);

	step_set(s, in_max, "cpu=1500,mem=40448000000,vmem=1048576");
	step_set(s, in_max_node, "mem=n7");
	step_set(s, in_max_task, "mem=3");
	shows("MaxRSS", "");
	step_shows(0, "MaxRSS", "39500000K");
	step_shows(0, "MaxRSSNode", "n7");
	step_shows(0, "MaxRSSTask", "3");
	step_shows(0, "MaxVMSize", "1M");
	step_shows(0, "MaxPages", "");
	style.units_given = true;
	style.unit = UNIT_GIGA;
	step_shows(0, "MaxRSS", "37.67G");
	style = (struct sacct_style){ .noconvert = true };
	step_shows(0, "MaxRSS", "40448000000");
}

/* FC-014: not measured is empty; measured zero is 0. */
static void not_measured(void **state UNUSED)
{
	struct step *s = add_step(0);

	step_set(s, in_max, "mem=0");
	add_step(1);
	step_shows(0, "MaxRSS", "0");
	step_shows(1, "MaxRSS", "");
	step_shows(1, "AveCPU", "");
	step_shows(1, "ConsumedEnergy", "");
	step_shows(1, "TRESUsageInTot", "");
}

/* FC-017: energy scales by 1000, memory by 1024. */
static void energy(void **state UNUSED)
{
	struct step *s = add_step(0);

	step_set(s, energy, 101630);
	step_set(s, out_max, "energy=794");
	step_shows(0, "ConsumedEnergy", "101.63K");
	step_shows(0, "ConsumedEnergyRaw", "101630");
	job_set(&job, tres_alloc, "cpu=1,energy=101630");
	shows("ConsumedEnergy", "101.63K");
	shows("ConsumedEnergyRaw", "101630");
}

/* FC-021 */
static void long_elapsed(void **state UNUSED)
{
	static const struct {
		int64_t s;
		const char *want;
	} rows[] = { { 93784, "1-02:03:04" },
		     { 2858584, "33-02:03:04" },
		     { 11250000, "130-05:00:00" } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		job_set(&job, end_at, job.start_at + rows[i].s);
		shows("Elapsed", rows[i].want);
	}
}

/* FC-024: CPUTime is allocated, TotalCPU is used. */
static void cpu_time(void **state UNUSED)
{
	struct step *s = add_step(STEP_ID_BATCH);

	job_set(&job, end_at, job.start_at + 600);
	job_set(&job, tres_alloc, "cpu=4,mem=8000,node=1");
	step_set(s, user_cpu_us, 1000000000);
	step_set(s, sys_cpu_us, 200000000);
	JOB_SHOWS({ "CPUTimeRAW", "2400" }, { "CPUTime", "00:40:00" }, { "TotalCPU", "00:20:00" },
		  { "UserCPU", "00:16:40" }, { "SystemCPU", "00:03:20" });
	step_set(s, sys_cpu_us, 200001000);
	step_shows(0, "TotalCPU", "20:00.001");
	/* With -X there are no steps at hand: the job's own figure says the same. */
	n_steps = 0;
	job_set(&job, rec_cpu_us, 1200000000);
	shows("TotalCPU", "00:20:00");
}

/* FC-025 */
static void limits(void **state UNUSED)
{
	job_set(&job, timelimit, LIMIT_UNLIMITED);
	JOB_SHOWS({ "Timelimit", "UNLIMITED" }, { "TimelimitRaw", "UNLIMITED" });
	job_set(&job, timelimit, LIMIT_PARTITION);
	JOB_SHOWS({ "Timelimit", "Partition_Limit" }, { "TimelimitRaw", "Partition_Limit" });
	job_set(&job, timelimit, 610);
	JOB_SHOWS({ "Timelimit", "10:10:00" }, { "TimelimitRaw", "610" });
}

/* FC-029, FC-030, FC-032 */
static void ids(void **state UNUSED)
{
	job_set(&job, job_id, 901);
	job_set(&job, het_job_id, 900);
	job_set(&job, het_offset, 1);
	add_step(0);
	add_step(STEP_ID_EXTERN);
	JOB_SHOWS({ "JobID", "900+1" }, { "JobIDRaw", "901" }, { "User", "ann" });
	step_shows(0, "JobID", "900+1.0");
	step_shows(0, "JobIDRaw", "901.0");
	step_shows(0, "User", "");
	step_shows(1, "JobID", "900+1.extern");
	job_unset(&job, het_job_id);
	job_set(&job, array_job_id, 20);
	job_set(&job, array_task_id, 3);
	JOB_SHOWS({ "JobID", "20_3" }, { "JobIDRaw", "901" });
}

/* FC-035: the text is cut, SLURM_BITSTR_LEN=0 leaves it whole. */
static void array_text(void **state UNUSED)
{
	job_set(&job, array_job_id, 77);
	job_set(&job, array_tasks,
		"1,4,9,16,25,36,49,64,81,100,121,144,169,196,225,256,289,324,"
		"361,400");
	shows("JobID", "77_[1,4,9,16,25,36,49,64,81,100,121,144,169,196,225,256,289,324,...]");
	style.array_text = 0;
	shows("JobID", "77_[1,4,9,16,25,36,49,64,81,100,121,144,169,196,225,256,289,324,361,400]");
}

/* FC-036 */
static void cancelled_by(void **state UNUSED)
{
	struct step *s = add_step(STEP_ID_BATCH);

	job_set(&job, state, STATE_CANCELLED);
	job_set(&job, killed_by, 1000);
	step_set(s, state, STATE_CANCELLED);
	step_set(s, end_at, job.end_at);
	shows("State", "CANCELLED by 1000");
	step_shows(0, "State", "CANCELLED");
	job_set(&job, killed_by, 0);
	shows("State", "CANCELLED by 0");
	job_unset(&job, killed_by);
	shows("State", "CANCELLED");
}

/* FC-038, FC-041, FC-043 */
static void exit_codes(void **state UNUSED)
{
	static const struct {
		int64_t code, signal;
		const char *want;
	} rows[] = { { 0, 125, "0:125" },
		     { 137, 0, "137:0" },
		     { 200, 0, "200:0" },
		     { 0, 9, "0:9" },
		     { 0, 53, "0:53" } };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		job_set(&job, exit, exit_make(rows[i].code, rows[i].signal));
		shows("ExitCode", rows[i].want);
	}
	job_unset(&job, exit);
	shows("ExitCode", "0:0");
	shows("DerivedExitCode", "0:0");
}

/* A step that ended in a way that nobody told has no exit code; one that runs has 0:0. */
static void step_exit_codes(void **state UNUSED)
{
	struct step *s = add_step(0);

	step_shows(0, "ExitCode", "0:0");
	step_set(s, end_at, job.end_at);
	step_shows(0, "ExitCode", "");
	step_set(s, exit, exit_make(0, 15));
	step_shows(0, "ExitCode", "0:15");
}

/* FC-056, FC-057: nothing was allocated, and waiting lasted until it was given up. */
static void cancelled_before_start(void **state UNUSED)
{
	never_started();
	job_set(&job, state, STATE_CANCELLED);
	job_set(&job, end_at, job.eligible_at + 330);
	JOB_SHOWS({ "Start", "None" }, { "End", "2026-03-01T10:05:30" }, { "Elapsed", "00:00:00" },
		  { "Planned", "00:05:30" }, { "Reserved", "00:05:30" },
		  { "PlannedCPU", "00:44:00" }, { "PlannedCPURAW", "2640" }, { "AllocCPUS", "0" },
		  { "NCPUS", "0" }, { "AllocTRES", "" }, { "NodeList", "None assigned" },
		  { "CPUTimeRAW", "0" }, { "AllocNodes", "0" }, { "NNodes", "1" },
		  { "TotalCPU", "00:00:00" }, { "ReqCPUS", "8" });
}

/* The end record alone says start = end, and nothing of an allocation. */
static void cancelled_end_record_alone(void **state UNUSED)
{
	job_set(&job, state, STATE_CANCELLED);
	job_set(&job, end_at, job.start_at);
	job_set(&job, alloc_nodes, 0);
	JOB_SHOWS({ "Start", "2026-03-01T10:00:00" }, { "End", "2026-03-01T10:00:00" },
		  { "AllocCPUS", "0" }, { "NodeList", "None assigned" }, { "CPUTimeRAW", "0" },
		  { "TotalCPU", "00:00:00" }, { "UserCPU", "00:00:00" }, { "ConsumedEnergy", "0" });
	/* A job that did run, for less than a second, held something. */
	job_set(&job, nodes, "n1");
	JOB_SHOWS({ "AllocCPUS", "" }, { "NodeList", "n1" });
}

static void pending(void **state UNUSED)
{
	never_started();
	job_unset(&job, end_at);
	job_unset(&job, exit);
	job_set(&job, state, STATE_PENDING);
	style.now = job.eligible_at + 60;
	JOB_SHOWS({ "State", "PENDING" }, { "Start", "Unknown" }, { "End", "Unknown" },
		  { "Elapsed", "00:00:00" }, { "Planned", "00:01:00" }, { "AllocCPUS", "0" },
		  { "NodeList", "None assigned" }, { "ExitCode", "0:0" }, { "Reason", "None" });
	job_unset(&job, eligible_at);
	JOB_SHOWS({ "Eligible", "Unknown" }, { "Planned", "" }, { "PlannedCPURAW", "" });
}

/* FC-051: the end record alone tells no name. */
static void end_record_alone(void **state UNUSED)
{
	job_unset(&job, exit);
	JOB_SHOWS({ "JobName", "allocation" }, { "Partition", "" }, { "QOS", "" },
		  { "Timelimit", "" }, { "ReqTRES", "" }, { "WorkDir", "" }, { "AllocCPUS", "" },
		  { "NodeList", "" }, { "TotalCPU", "" }, { "ConsumedEnergy", "" });
}

/* FC-076: an hour is an hour, whatever the clock showed. */
static void clock_change(void **state UNUSED)
{
	struct arena *arena = arena_new();
	struct err err;

	assert_int_equal(zone_open("Europe/Berlin", arena, &style.zone, &err), 0);
	job_set(&job, start_at, 1761438600);
	job_set(&job, end_at, 1761442200);
	JOB_SHOWS({ "Elapsed", "01:00:00" }, { "Start", "2025-10-26T02:30:00" },
		  { "End", "2025-10-26T02:30:00" });
	style.time_format = "%FT%T%z";
	JOB_SHOWS({ "Start", "2025-10-26T02:30:00+0200" }, { "End", "2025-10-26T02:30:00+0100" });
	arena_free(arena);
}

/* FC-061: the clock stepped back. */
static void end_before_start(void **state UNUSED)
{
	job_set(&job, start_at, 1700000100);
	job_set(&job, end_at, 1700000040);
	job_set(&job, tres_alloc, "cpu=16");
	JOB_SHOWS({ "Elapsed", "00:00:00" }, { "ElapsedRaw", "0" }, { "CPUTimeRAW", "0" },
		  { "Start", "2023-11-14T22:14:00" }, { "End", "2023-11-14T22:14:00" });
}

/* FC-085, FC-087 */
static void large_numbers(void **state UNUSED)
{
	job_set(&job, priority, 4294967293);
	job_set(&job, row_id, -1);
	job_set(&job, tres_alloc, "cpu=1280000,node=10000");
	job_set(&job, end_at, job.start_at + 4 * 86400);
	JOB_SHOWS({ "Priority", "4294967293" }, { "DBIndex", "18446744073709551615" },
		  { "CPUTimeRAW", "442368000000" }, { "CPUTime", "5120000-00:00:00" });
}

/* FC-137: whole names; widths belong to the table. */
static void long_names(void **state UNUSED)
{
	static const char account[] =
		"a2345678901234567890123456789012345678901234567890123456789x";

	job_set(&job, account, account);
	shows("Account", account);
}

/* FC-011 and the forms since: the job's total. */
static void req_mem(void **state UNUSED)
{
	job_set(&job, req_mem, 3000);
	job_set(&job, req_mem_per, PER_CPU);
	job_set(&job, req_cpus, 48);
	shows("ReqMem", "144000M");
	job_set(&job, req_mem_per, PER_NODE);
	job_set(&job, req_nodes, 4);
	shows("ReqMem", "12000M");
	job_set(&job, req_mem_per, PER_JOB);
	job_set(&job, req_mem, 49152);
	shows("ReqMem", "48G");
	job_set(&job, tres_req, "cpu=1,mem=102400");
	shows("ReqMem", "100G");
	style.noconvert = true;
	shows("ReqMem", "102400M");
}

static void tres(void **state UNUSED)
{
	struct step *s = add_step(0);

	job_set(&job, tres_alloc, "billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=32768,node=1");
	step_set(s, in_tot, "cpu=65500,energy=0,fs/disk=10997,mem=3420160,pages=5,vmem=5644288");
	step_set(s, in_max, "fs/disk=934556828,pages=2048");
	step_set(s, in_max_node, "cpu=n1,mem=n2");
	shows("AllocTRES", "billing=4,cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=32G,node=1");
	step_shows(0, "TRESUsageInTot",
		   "cpu=00:01:05,energy=0,fs/disk=10997,mem=3340K,pages=5,"
		   "vmem=5512K");
	step_shows(0, "MaxDiskRead", "891.26M");
	step_shows(0, "MaxPages", "2K");
	step_shows(0, "TRESUsageInMaxNode", "cpu=n1,mem=n2");
}

static void frequencies(void **state UNUSED)
{
	struct step *s = add_step(STEP_ID_BATCH);

	shows("ReqCPUFreqGov", "Unknown");
	step_shows(0, "ReqCPUFreqMax", "Unknown");
	step_set(s, act_cpufreq, 2600000);
	step_set(s, req_cpufreq_min, 0);
	step_set(s, req_cpufreq_max, 0x80000004);
	step_set(s, req_cpufreq_gov, 0x84000000);
	step_shows(0, "AveCPUFreq", "2.60M");
	step_shows(0, "ReqCPUFreqMin", "0");
	step_shows(0, "ReqCPUFreqMax", "Highm1");
	step_shows(0, "ReqCPUFreqGov", "OnDemand");
}

static void suspension(void **state UNUSED)
{
	struct step *s = add_step(0);

	job_set(&job, end_at, job.start_at + 4 * 3600);
	job_set(&job, moments, "S1772362800,R1772366400"); /* 11:00 to 12:00 */
	step_set(s, start_at, job.start_at + 5400);	   /* 11:30 */
	step_set(s, end_at, job.end_at);
	JOB_SHOWS({ "Elapsed", "03:00:00" }, { "Suspended", "01:00:00" });
	step_shows(0, "Suspended", "00:30:00");
	step_shows(0, "Elapsed", "02:00:00");
}

/* A step that was never closed ended with its job, in the job's state. */
static void open_step(void **state UNUSED)
{
	struct step *s = add_step(0);

	step_set(s, start_at, job.start_at);
	step_set(s, state, STATE_RUNNING);
	job_set(&job, state, STATE_NODE_FAIL);
	step_shows(0, "State", "NODE_FAIL");
	step_shows(0, "End", "2026-03-01T11:00:00");
	step_shows(0, "Elapsed", "01:00:00");
	step_shows(0, "Submit", "2026-03-01T10:00:00");
	job_unset(&job, end_at);
	job_set(&job, state, STATE_RUNNING);
	step_shows(0, "State", "RUNNING");
	step_shows(0, "End", "Unknown");
}

static void the_table(void **state UNUSED)
{
	size_t listed = 0;

	for (size_t i = 0; i < SACCT_FIELDS; i++) {
		assert_ptr_equal(sacct_field_find(sacct_fields[i].name), &sacct_fields[i]);
		assert_int_not_equal(sacct_fields[i].width, 0);
		listed += !(sacct_fields[i].flags & SACCT_OLD);
	}
	assert_int_equal(listed, 123);
	assert_ptr_equal(sacct_field_find("jobid"), sacct_field_find("JobID"));
	assert_null(sacct_field_find("jobi"));
}

static int parse(const char *format, struct sacct_columns *ret, struct err *err)
{
	static struct arena *arena;

	arena_free(arena);
	arena = arena_new();
	return sacct_format_parse(format, arena, ret, err);
}

static void formats(void **state UNUSED)
{
	struct sacct_columns c;
	struct err err;

	assert_int_equal(parse("jobid%30, JobName%-25 ,,state", &c, &err), 0);
	assert_int_equal(c.n, 3);
	assert_int_equal(c.columns[0].width, 30);
	assert_int_equal(c.columns[1].width, -25);
	assert_int_equal(c.columns[2].width, 10);
	assert_string_equal(c.columns[0].name, "JobID");
	assert_int_equal(parse("all", &c, &err), 0);
	assert_int_equal(c.n, 123);
	assert_int_equal(parse(sacct_long_format, &c, &err), 0);
	assert_int_equal(c.n, 54);
	assert_int_equal(parse("nosuchfield", &c, &err), -1);
	assert_string_equal(err.text, "Invalid field requested: \"nosuchfield\"");
	/* FC-159 */
	assert_int_equal(parse("jobid,reqgres", &c, &err), -1);
	assert_non_null(strstr(err.text, "reqgres"));
	assert_non_null(strstr(err.text, "ReqTRES"));
	assert_int_equal(parse("state%x", &c, &err), -1);
	assert_int_equal(parse("state%99999999999", &c, &err), -1);
	assert_int_equal(parse(",", &c, &err), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(max_rss, reset),
		cmocka_unit_test_setup(not_measured, reset),
		cmocka_unit_test_setup(energy, reset),
		cmocka_unit_test_setup(long_elapsed, reset),
		cmocka_unit_test_setup(cpu_time, reset),
		cmocka_unit_test_setup(limits, reset),
		cmocka_unit_test_setup(ids, reset),
		cmocka_unit_test_setup(array_text, reset),
		cmocka_unit_test_setup(cancelled_by, reset),
		cmocka_unit_test_setup(exit_codes, reset),
		cmocka_unit_test_setup(step_exit_codes, reset),
		cmocka_unit_test_setup(cancelled_before_start, reset),
		cmocka_unit_test_setup(cancelled_end_record_alone, reset),
		cmocka_unit_test_setup(pending, reset),
		cmocka_unit_test_setup(end_record_alone, reset),
		cmocka_unit_test_setup(clock_change, reset),
		cmocka_unit_test_setup(end_before_start, reset),
		cmocka_unit_test_setup(large_numbers, reset),
		cmocka_unit_test_setup(long_names, reset),
		cmocka_unit_test_setup(req_mem, reset),
		cmocka_unit_test_setup(tres, reset),
		cmocka_unit_test_setup(frequencies, reset),
		cmocka_unit_test_setup(suspension, reset),
		cmocka_unit_test_setup(open_step, reset),
		cmocka_unit_test(the_table),
		cmocka_unit_test(formats),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_fini(&out);
	return failed;
}

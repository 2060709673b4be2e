/* test_import_traces.c: SWF and the published traces into records. */
#include "import_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define EAGLE                                                                                      \
	"job_id,user,account,partition,qos,wallclock_req,nodes_req,processors_req,gpus_req,mem_"   \
	"req,"                                                                                     \
	"submit_time,start_time,end_time,run_time,state,name,work_dir,submit_line\n"
#define OPENB                                                                                      \
	"name,cpu_milli,memory_mib,num_gpu,gpu_milli,gpu_spec,qos,pod_phase,creation_time,"        \
	"deletion_time,scheduled_time\n"
#define PHILLY "job_id,vc,num_gpu,submit_min,duration_min\n"
#define SWF    "; Version: 2.2\n;   UnixStartTime: 1000000\n;\n"

/* clang-format off */
static const struct {
	const char *what, *in;
	const char *holds[4];
	const char *lacks;
} cases[] = {
	{ "swf: a job", SWF "  1  10  5 3600 8 3000.5 2048 8 7200 4096 1 3 1 7 2 -1 -1 -1\n",
	  { "job_end job_id=1 submit_at=1000010 uid=3 gid=1 partition=\"queue2\" name=\"app7\" "
	    "eligible_at=1000010 start_at=1000015 end_at=1003615 timelimit=120 state=3 req_cpus=8 "
	    "req_mem=4 req_mem_per=2 tres_req=\"cpu=8\" tres_alloc=\"cpu=8\" rec_cpu_us=24000000000\n" },
	  "REFUSED" },
	{ "swf: failed, unknown values", SWF "2 0 0 60 1 -1 -1 -1 -1 -1 0 -1 -1 -1 -1 -1 -1 -1\n",
	  { "job_end job_id=2 submit_at=1000000 eligible_at=1000000 start_at=1000000 end_at=1000060 state=5 "
	    "tres_alloc=\"cpu=1\"\n" },
	  "REFUSED" },
	{ "swf: cancelled while it waited", SWF "3 0 100 0 -1 -1 -1 4 -1 -1 5 1 1 1 1 1 -1 -1\n",
	  { "end_at=1000100 state=4 req_cpus=4 tres_req=\"cpu=4\"\n" },
	  "start_at" },
	{ "swf: the wait is not known", SWF "4 7 -1 60 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n",
	  { "submit_at=1000007 ", "rec_elapsed=60" },
	  "start_at" },
	{ "swf: parts of a job", SWF "5 0 0 60 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
	  "5 0 0 30 2 -1 -1 2 -1 -1 2 1 1 1 1 1 -1 -1\n5 30 0 30 2 -1 -1 2 -1 -1 3 1 1 1 1 1 -1 -1\n",
	  { "SKIPPED dump:5 status: is of a part", "SKIPPED dump:6 status: is of a part", "end_at=1000060" },
	  "end_at=1000030" },
	{ "swf: lines that are none", SWF "6 0 0 60 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n6 0 0 x\n7 0\n"
	  "8 0 0 60 2 -1 -1 2 -1 -1 9 1 1 1 1 1 -1 -1\n0 0 0 60 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n"
	  "9 0 0 60 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1 -1\n",
	  { "REFUSED dump:5 run time: field 4 is no number", "REFUSED dump:7 status: 9 is no status",
	    "REFUSED dump:8 job number", "REFUSED dump:9: has more than 18 fields" },
	  "job_id=8" },
	{ "swf: no date", "1 0 0 60 2 -1 -1 2 -1 -1 1 1 1 1 1 1 -1 -1\n",
	  { "NOTE no UnixStartTime", "submit_at=500000 " },
	  "REFUSED" },
	{ "eagle: a job", EAGLE "9,u,a,p,normal,172800.0,2,72,4,184000.0,2019-01-01 08:55:55,2019-01-01 "
	  "08:55:56,2019-01-01 08:56:06,10.0,COMPLETED,n,w,\"s, \"\"t\"\"\"\n",
	  { "job_end job_id=9 submit_at=1546332955 user_name=\"u\" account=\"a\" partition=\"p\" "
	    "qos=\"normal\" name=\"n\" work_dir=\"w\" submit_line=\"s, \\\"t\\\"\" start_at=1546332956 "
	    "end_at=1546332966 timelimit=2880 state=3 alloc_nodes=2 req_cpus=72 req_nodes=2 "
	    "req_mem=184000 req_mem_per=0 tres_req=\"cpu=72,gres/gpu=4,mem=184000,node=2\" "
	    "tres_alloc=\"cpu=72,gres/gpu=4,mem=184000,node=2\"\n" },
	  "REFUSED" },
	{ "eagle: tasks of an array have one number",
	  EAGLE "9,u,a,p,q,60.0,1,1,0,0.0,2019-01-01 08:00:00,2019-01-01 08:00:00,2019-01-01 08:00:09,9.0,"
	  "COMPLETED,n,w,s\n"
	  "8,u,a,p,q,60.0,1,1,0,0.0,2019-01-01 08:00:00,2019-01-01 08:00:00,2019-01-01 08:00:09,9.0,"
	  "COMPLETED,n,w,s\n"
	  "9,u,a,p,q,60.0,1,1,0,0.0,2019-01-01 08:00:00,2019-01-01 08:00:00,2019-01-01 08:00:19,19.0,"
	  "TIMEOUT,n,w,s\n",
	  { "NOTE jobs with one number", "array_job_id=9 array_task_id=0 ", "array_job_id=9 array_task_id=1 ",
	    "job_end job_id=8 submit_at" },
	  "REFUSED" },
	{ "eagle: rows that are none", EAGLE "x,u,a,p,q,60.0,1,1,0,0.0,,,,,COMPLETED,n,w,s\n"
	  "9,u,a,p,q,60.5,1,1,0,0.0,,,,,COMPLETED,n,w,s\n9,u,a\n"
	  "9,u,a,p,q,60.0,1,1,0,0.0,monday,,,,COMPLETED,n,w,s\n",
	  { "REFUSED dump:2 job_id", "REFUSED dump:3 wallclock_req: \"60.5\"", "REFUSED dump:4: has 3 cells",
	    "REFUSED dump:5 submit_time: \"monday\"" },
	  "job_end" },
	{ "FC-098 openb: parts of a GPU are no GPU",
	  OPENB "pod-0000,12000,16384,1,1000,,LS,Running,0,100,0\npod-0001,3152,5600,1,460,V100,BE,Pending,"
	  "10,20,\npod-0002,100,5600,2,1000,,BE,Succeeded,10,20,15\n",
	  { "job_end job_id=1 submit_at=500000 qos=\"LS\" name=\"pod-0000\" eligible_at=500000 "
	    "start_at=500000 end_at=500100 state=4 req_cpus=12 req_mem=16384 req_mem_per=0 "
	    "tres_req=\"cpu=12,gres/gpu=1,mem=16384\" tres_alloc=\"cpu=12,gres/gpu=1,mem=16384\"\n",
	    "end_at=500020 state=4 req_cpus=4 req_mem=5600 req_mem_per=0 "
	    "tres_req=\"cpu=4,gres/gpu_milli=460,mem=5600\"\n", "tres_alloc=\"cpu=1,gres/gpu=2,mem=5600\"" },
	  "REFUSED" },
	{ "openb: an unknown phase", OPENB "pod-0000,1,1,0,0,,LS,Gone,0,1,0\n", { "REFUSED dump:2 pod_phase" },
	  "job_end" },
	{ "philly: length without a start", PHILLY "0,vc_1,4,2,10\n7,vc_2,1,3,0\n",
	  { "job_end job_id=1 submit_at=500120 account=\"vc_1\" eligible_at=500120 "
	    "tres_req=\"gres/gpu=4\" tres_alloc=\"gres/gpu=4\" rec_elapsed=600\n", "job_id=8 " },
	  "REFUSED" },
	{ "a quote that is never closed", PHILLY "1,\"vc,1,1,1\n2,x,1,1,1\n",
	  { "REFUSED dump:2: a quote is never closed" }, "job_end" },
};
/* clang-format on */

static void test_cases(void **state)
{
	struct import_options o = { .zone = zone_utc(), .epoch = 500000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dump d = dump_import("dump", cases[i].in, strlen(cases[i].in), &o);
		const char *text = buf_str(&d.out);

		if (d.rc != 0)
			fail_msg("%s: %s: %s", cases[i].what, d.err.where, d.err.text);
		for (size_t k = 0; k < 4 && cases[i].holds[k]; k++)
			if (strstr(text, cases[i].holds[k]) == NULL)
				fail_msg("%s: no \"%s\" in\n%s", cases[i].what, cases[i].holds[k],
					 text);
		if (cases[i].lacks && strstr(text, cases[i].lacks))
			fail_msg("%s: \"%s\" in\n%s", cases[i].what, cases[i].lacks, text);
		buf_fini(&d.out);
	}
}

/* A number that each job of an array would share is told apart, whatever the order, and the same
 * file gives the same numbers again. */
static void test_same_numbers_again(void **state)
{
	struct import_options o = { .zone = zone_utc() };
	struct buf in = BUF_INIT;
	struct dump a, b;

	(void)state;
	buf_adds(&in, EAGLE);
	for (int i = 0; i < 5000; i++)
		buf_printf(&in,
			   "%d,u,a,p,q,60.0,1,1,0,0.0,2019-01-01 08:00:00,,,,COMPLETED,n,w,s\n",
			   1 + i % 2500);
	a = dump_import("d", in.data, in.len, &o);
	b = dump_import("d", in.data, in.len, &o);
	assert_int_equal(a.counts.jobs, 5000);
	assert_string_equal(buf_str(&a.out), buf_str(&b.out));
	assert_non_null(strstr(buf_str(&a.out), "array_job_id=2500 array_task_id=1 "));
	assert_null(strstr(buf_str(&a.out), "array_task_id=2 "));
	buf_fini(&a.out);
	buf_fini(&b.out);
	buf_fini(&in);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_same_numbers_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

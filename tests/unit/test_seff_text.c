/* test_seff_text.c: the lines of seff, with the field cases about efficiency. */
#include "unit.h"

#include "cli/seff_text.h"
#include "core/exit.h"
#include "core/merge.h"
#include "core/state.h"

#define T0 INT64_C(1700000000)

/* A job with one step of numbers as given; what is derived comes from the code that stores it. */
struct given {
	int64_t state, elapsed_s, nodes;
	const char *tres_alloc, *in_max, *in_tot;
	int64_t ntasks, cpu_us;
};

static char *text_of(const struct given *g, struct arena *arena)
{
	struct step s = { 0 };
	const struct step *steps[] = { &s };
	struct job j = { 0 };
	struct buf out = BUF_INIT;
	char *text;

	job_set(&j, cluster, "c1");
	job_set(&j, job_id, 25);
	job_set(&j, submit_at, T0);
	job_set(&j, array_job_id, 20);
	job_set(&j, array_task_id, 3);
	job_set(&j, user_name, "ann");
	job_set(&j, group_name, "grp");
	job_set(&j, state, g->state);
	job_set(&j, exit, exit_make(0, g->state == STATE_OUT_OF_MEMORY ? 125 : 0));
	job_set(&j, start_at, T0);
	if (state_is_end(g->state))
		job_set(&j, end_at, T0 + g->elapsed_s);
	job_set(&j, alloc_nodes, g->nodes);
	job_set(&j, tres_alloc, g->tres_alloc);
	step_set(&s, step_id, 0);
	step_set(&s, ntasks, g->ntasks);
	if (g->cpu_us >= 0)
		step_set(&s, total_cpu_us, g->cpu_us);
	if (g->in_max)
		step_set(&s, in_max, g->in_max);
	if (g->in_tot)
		step_set(&s, in_tot, g->in_tot);
	job_derive(&j, steps, 1, arena);
	seff_print(&out, &j, T0 + g->elapsed_s);
	text = arena_strdup(arena, buf_str(&out));
	buf_fini(&out);
	return text;
}

/* clang-format off */
static const struct {
	const char *what;
	struct given g;
	const char *holds[5];
	const char *lacks;
} rows[] = {
	{ "FC-024 allocated is not used",
	  { STATE_COMPLETED, 600, 1, "cpu=4,mem=4096", "mem=1610612736", "mem=1610612736", 1, 1200000000 },
	  { "Job ID: 25\nArray Job ID: 20_3\nCluster: c1\nUser/Group: ann/grp\n"
	    "State: COMPLETED (exit code 0)\nNodes: 1\nCores per node: 4\nCPU Utilized: 00:20:00\n"
	    "CPU Efficiency: 50.00% of 00:40:00 core-walltime\nJob Wall-clock time: 00:10:00\n"
	    "Memory Utilized: 1.50 GB\nMemory Efficiency: 37.50% of 4.00 GB\n" },
	  "WARNING" },
	{ "FC-167 tasks times peak is an estimate",
	  { STATE_COMPLETED, 3600, 1, "cpu=8,mem=16000", "mem=1994010624", NULL, 8, 100 },
	  { "Memory Utilized: 14.86 GB (estimate: tasks x peak)\n", "Memory Efficiency: 95.08% of 15.62 GB" },
	  NULL },
	{ "FC-168 a measured total beats it",
	  { STATE_COMPLETED, 3600, 1, "cpu=12,mem=10240", "mem=56492032", "mem=600416256", 12, 100 },
	  { "Memory Utilized: 0.56 GB\n" },
	  "estimate" },
	{ "FC-170 totals over two nodes",
	  { STATE_COMPLETED, 3600, 2, "cpu=8,mem=32768", "mem=5000000000", "mem=8267812045", 2, 100 },
	  { "Nodes: 2\nCores per node: 4\n", "Memory Efficiency: 24.06% of 32.00 GB" },
	  NULL },
	{ "FC-171 5 % is true",
	  { STATE_COMPLETED, 1088199, 20, "cpu=720,mem=1000", NULL, NULL, 1, 39175164000000 },
	  { "CPU Efficiency: 5.00% of ", "Memory Utilized: not measured" },
	  NULL },
	{ "FC-173 killed for memory",
	  { STATE_OUT_OF_MEMORY, 3600, 1, "cpu=1,mem=10240", "mem=6442450944", "mem=6442450944", 1, 100 },
	  { "(exit code 0, signal 125)", "Cores: 1\n", "WARNING: killed for memory: the peak was higher" },
	  NULL },
	{ "FC-174 too short",
	  { STATE_COMPLETED, 20, 1, "cpu=1,mem=10240", "mem=0", "mem=0", 1, 100 },
	  { "Memory Efficiency: not known, of 10.00 GB", "NOTE: too short to measure." },
	  NULL },
	{ "still runs",
	  { STATE_RUNNING, 100, 1, "cpu=3", NULL, NULL, 1, -1 },
	  { "CPU Utilized: not measured\nCPU Efficiency: not known, of 00:05:00 core-walltime\n",
	    "WARNING: Efficiency statistics may be misleading for RUNNING jobs." },
	  "Memory Efficiency" },
};
/* clang-format on */

static void lines(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena = arena_new();
		const char *text = text_of(&rows[i].g, arena);

		for (size_t k = 0; k < ARRAY_LEN(rows[i].holds) && rows[i].holds[k]; k++)
			if (strstr(text, rows[i].holds[k]) == NULL)
				fail_msg("%s: no \"%s\" in\n%s", rows[i].what, rows[i].holds[k],
					 text);
		if (rows[i].lacks && strstr(text, rows[i].lacks))
			fail_msg("%s: \"%s\" in\n%s", rows[i].what, rows[i].lacks, text);
		arena_free(arena);
	}
}

static void pending(void **state UNUSED)
{
	struct job j = { 0 };
	struct buf out = BUF_INIT;

	job_set(&j, job_id, 7);
	job_set(&j, cluster, "c1");
	job_set(&j, state, STATE_PENDING);
	seff_print(&out, &j, T0);
	assert_string_equal(buf_str(&out),
			    "Job ID: 7\nCluster: c1\nState: PENDING\n"
			    "Efficiency not available for jobs in the PENDING state.\n");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(pending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* cli/seff_text.c: the lines of seff, from the figures that are stored with the job. */
#include "cli/seff_text.h"

#include "core/duration.h"
#include "core/exit.h"
#include "core/state.h"
#include "core/tres.h"

#define GIB 1073741824.0

static void print_id(struct buf *out, const struct job *j)
{
	/* An imported task may have no number but one that was made for it. */
	if (j->job_id < JOB_ID_MADE)
		buf_printf(out, "Job ID: %" PRId64 "\n", j->job_id);
	if (job_has(j, array_job_id) && job_has(j, array_task_id))
		buf_printf(out, "Array Job ID: %" PRId64 "_%" PRId64 "\n", j->array_job_id,
			   j->array_task_id);
	if (job_has(j, het_job_id) && job_has(j, het_offset))
		buf_printf(out, "Het Job ID: %" PRId64 "+%" PRId64 "\n", j->het_job_id,
			   j->het_offset);
	buf_printf(out, "Cluster: %s\n", job_get(j, cluster, ""));
	if (job_has(j, user_name) || job_has(j, group_name))
		buf_printf(out, "User/Group: %s/%s\n", job_get(j, user_name, ""),
			   job_get(j, group_name, ""));
}

static void print_state(struct buf *out, const struct job *j)
{
	const char *name = job_has(j, state) ? state_name(job_state_shown(j)) : NULL;

	buf_printf(out, "State: %s", name ? name : "UNKNOWN");
	if (job_has(j, exit) && exit_signal(j->exit) != 0)
		buf_printf(out, " (exit code %" PRId64 ", signal %" PRId64 ")", exit_code(j->exit),
			   exit_signal(j->exit));
	else if (job_has(j, exit))
		buf_printf(out, " (exit code %" PRId64 ")", exit_code(j->exit));
	buf_addc(out, '\n');
}

static int64_t allocated(const struct job *j, const char *name)
{
	int64_t n;

	return tres_get(job_get(j, tres_alloc, NULL), name, &n) ? n : 0;
}

static void print_cores(struct buf *out, int64_t cpus, int64_t nodes)
{
	if (cpus == 0)
		return;
	if (nodes <= 1 && cpus == 1) {
		buf_adds(out, "Cores: 1\n");
		return;
	}
	buf_printf(out, "Nodes: %" PRId64 "\n", nodes ? nodes : 1);
	if (nodes > 1 && cpus % nodes != 0)
		buf_printf(out, "Cores: %" PRId64 "\n", cpus);
	else
		buf_printf(out, "Cores per node: %" PRId64 "\n", cpus / (nodes ? nodes : 1));
}

static void print_cpu(struct buf *out, const struct job *j, int64_t cpus, int64_t elapsed_s)
{
	char used[DURATION_TEXT_SIZE], had[DURATION_TEXT_SIZE], wall[DURATION_TEXT_SIZE];

	duration_format(cpus * elapsed_s, had);
	duration_format(elapsed_s, wall);
	if (job_has(j, cpu_used_us)) {
		duration_format(j->cpu_used_us / 1000000, used);
		buf_printf(out, "CPU Utilized: %s\n", used);
	} else {
		buf_adds(out, "CPU Utilized: not measured\n");
	}
	if (job_has(j, cpu_eff_ppm))
		buf_printf(out, "CPU Efficiency: %.2f%% of %s core-walltime\n",
			   (double)j->cpu_eff_ppm / 10000.0, had);
	else
		buf_printf(out, "CPU Efficiency: not known, of %s core-walltime\n", had);
	buf_printf(out, "Job Wall-clock time: %s\n", wall);
}

/* MiB that the job had; what it asked for where the allocation does not say. */
static int64_t memory_mib(const struct job *j)
{
	int64_t n;

	if (tres_get(job_get(j, tres_alloc, NULL), "mem", &n) ||
	    tres_get(job_get(j, tres_req, NULL), "mem", &n))
		return n;
	return job_has(j, req_mem) && job_get(j, req_mem_per, PER_JOB) == PER_JOB ? j->req_mem : 0;
}

static void print_memory(struct buf *out, const struct job *j)
{
	int64_t had_mib = memory_mib(j);

	if (job_has(j, mem_used))
		buf_printf(out, "Memory Utilized: %.2f GB%s\n", (double)j->mem_used / GIB,
			   job_get(j, mem_estimated, 0) ? " (estimate: tasks x peak)" : "");
	else
		buf_adds(out, "Memory Utilized: not measured\n");
	if (job_has(j, mem_eff_ppm))
		buf_printf(out, "Memory Efficiency: %.2f%% of %.2f GB\n",
			   (double)j->mem_eff_ppm / 10000.0, (double)had_mib / 1024.0);
	else if (had_mib > 0)
		buf_printf(out, "Memory Efficiency: not known, of %.2f GB\n",
			   (double)had_mib / 1024.0);
}

void seff_print(struct buf *out, const struct job *j, int64_t now)
{
	int64_t state = job_has(j, state) ? job_state_shown(j) : STATE_PENDING;
	int64_t elapsed_s = job_elapsed_s(j, now), cpus = allocated(j, "cpu");
	int64_t nodes = job_get(j, alloc_nodes, allocated(j, "node"));

	print_id(out, j);
	print_state(out, j);
	if (state == STATE_PENDING) {
		buf_adds(out, "Efficiency not available for jobs in the PENDING state.\n");
		return;
	}
	print_cores(out, cpus, nodes);
	print_cpu(out, j, cpus, elapsed_s);
	print_memory(out, j);
	/* A peak is sampled: what ran for less than two samples was not seen (FC-174), and what was
	 * killed for memory had more than the last sample (FC-173). */
	if (!state_is_end(state))
		buf_printf(out, "WARNING: Efficiency statistics may be misleading for %s jobs.\n",
			   state_name(state));
	else if (state == STATE_OUT_OF_MEMORY || job_has(j, oom_step))
		buf_adds(out, "WARNING: killed for memory: the peak was higher than what was "
			      "sampled.\n");
	else if (!job_has(j, mem_eff_ppm) && elapsed_s > 0 && elapsed_s < 60)
		buf_adds(out, "NOTE: too short to measure.\n");
}

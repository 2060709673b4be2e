#include "core/why.h"

#include "base/num.h"
#include "core/duration.h"
#include "core/exit.h"
#include "core/merge.h"
#include "core/state.h"
#include "core/tres.h"
#include "core/words.h"

#define PPM	      1000000
#define MIB	      1048576
#define CLOSE_PPM     950000 /* of the memory it had: close to it */
#define CPU_LOW_PPM   500000
#define GPU_LOW_PPM   100000
#define SAMPLING_S    30
#define STEPS_SHOWN   5
#define FINDINGS_MOST (2 * WHY_CODES + 2 * STEPS_SHOWN)

const struct why_row why_rows[WHY_CODES] = {
#define W(code, kind, doc) [WHY_##code] = { #code, WHY_##kind, doc },
#include "core/why.def"
#undef W
};

struct inquest {
	const struct job *j;
	const struct step *steps;
	size_t n_steps;
	int64_t now;
	int64_t state;
	bool ended;
	bool started;
	int64_t start;
	int64_t elapsed;
	struct arena *arena;
	struct why_finding *findings;
	size_t n;
};

static struct why_finding *find(struct inquest *q, enum why_code code, const char *fmt, ...)
	PRINTF_LIKE(3, 4);

static struct why_finding *find(struct inquest *q, enum why_code code, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	assert(q->n < FINDINGS_MOST);
	struct why_finding *f = &q->findings[q->n++];
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	*f = (struct why_finding){ .code = code,
				   .sentence = arena_strdup(q->arena, buf_str(&text)) };
	buf_fini(&text);
	return f;
}

static void number(struct why_finding *f, const char *name, int64_t v)
{
	assert(f->n_evidence < WHY_EVIDENCE_MAX);
	f->evidence[f->n_evidence++] = (struct why_evidence){ .name = name, .number = v };
}

static void text(struct why_finding *f, const char *name, const char *v)
{
	if (v == NULL)
		return;
	assert(f->n_evidence < WHY_EVIDENCE_MAX);
	f->evidence[f->n_evidence++] = (struct why_evidence){ .name = name, .text = v };
}

/* Words for numbers, in the arena. */

static const char *lasting(struct inquest *q, int64_t s)
{
	char out[DURATION_TEXT_SIZE];

	duration_format(s, out);
	return arena_strdup(q->arena, out);
}

static const char *size_of(struct inquest *q, int64_t bytes)
{
	const struct unit_style style = { .scale = SCALE_ROUND };
	char out[SIZE_TEXT_SIZE];

	size_format(bytes, UNIT_NONE, 1024, style, out);
	return arena_strdup(q->arena, out);
}

static const char *percent(struct inquest *q, int64_t ppm)
{
	int64_t tenths = ppm / 1000 + (ppm % 1000 >= 500);

	return arena_printf(q->arena, "%" PRId64 ".%" PRId64 " %%", tenths / 10, tenths % 10);
}

static const char *step_name(struct inquest *q, int64_t id)
{
	switch (id) {
	case STEP_ID_BATCH: return "the batch step";
	case STEP_ID_EXTERN: return "the extern step";
	case STEP_ID_INTERACTIVE: return "the interactive step";
	default: return arena_printf(q->arena, "step %" PRId64, id);
	}
}

static const char *sentence_step(struct inquest *q, int64_t id)
{
	char *name = arena_strdup(q->arena, step_name(q, id));

	name[0] = (char)(name[0] - 'a' + 'A');
	return name;
}

/* " 9 (SIGKILL)" */
static const char *signal_text(struct inquest *q, int64_t signal)
{
	return arena_printf(q->arena, "%" PRId64 " (%s)", signal, signal_name(signal));
}

/* " after it ran 00:05:00", or that it had not started. */
static const char *when_it_stopped(struct inquest *q)
{
	const struct job *j = q->j;

	if (q->started)
		return arena_printf(q->arena, "while it ran, after %s", lasting(q, q->elapsed));
	if (job_has(j, end_at) && job_has(j, submit_at) && j->end_at >= j->submit_at)
		return arena_printf(q->arena, "before it started, %s after its submission",
				    lasting(q, j->end_at - j->submit_at));
	return "before it started";
}

static void ran(struct inquest *q, struct why_finding *f)
{
	if (q->started)
		number(f, "elapsed_s", q->elapsed);
}

/* The state, which is the cause as far as the record knows it. */

static void find_pending(struct inquest *q)
{
	const char *reason = job_get(q->j, reason, NULL);
	bool said = reason != NULL && reason[0] != '\0' && strcmp(reason, "None") != 0;
	struct why_finding *f;

	if (said)
		f = find(q, WHY_pending, "The job has not started; the reason given is %s.",
			 reason);
	else
		f = find(q, WHY_pending, "The job has not started; no reason is given.");
	text(f, "reason", said ? reason : NULL);
	if (job_has(q->j, submit_at))
		number(f, "waiting_s", q->now - q->j->submit_at);
}

static const char *limit_text(struct inquest *q, int64_t limit)
{
	if (limit == LIMIT_UNLIMITED)
		return "no time limit";
	if (limit == LIMIT_PARTITION)
		return "the partition's time limit";
	return arena_printf(q->arena, "a time limit of %s", lasting(q, limit * 60));
}

static void limit_evidence(struct inquest *q, struct why_finding *f)
{
	int64_t limit = job_get(q->j, timelimit, LIMIT_PARTITION);

	if (limit >= 0)
		number(f, "timelimit_min", limit);
}

static void find_running(struct inquest *q)
{
	struct why_finding *f;

	if (job_has(q->j, timelimit))
		f = find(q, WHY_running, "The job is running, for %s by now, with %s.",
			 lasting(q, q->elapsed), limit_text(q, q->j->timelimit));
	else
		f = find(q, WHY_running, "The job is running, for %s by now.",
			 lasting(q, q->elapsed));
	ran(q, f);
	limit_evidence(q, f);
}

static void find_suspended(struct inquest *q)
{
	struct why_finding *f = find(q, WHY_suspended, "The job is suspended; it has run %s.",
				     lasting(q, q->elapsed));

	ran(q, f);
}

static void find_timeout(struct inquest *q)
{
	struct why_finding *f;

	if (job_get(q->j, timelimit, LIMIT_PARTITION) >= 0)
		f = find(q, WHY_timeout,
			 "The job ran into its time limit: it ran %s and its limit was %s.",
			 lasting(q, q->elapsed), lasting(q, q->j->timelimit * 60));
	else
		f = find(
			q, WHY_timeout,
			"The job ran into its time limit: it ran %s; how long the limit was is not "
			"recorded.",
			lasting(q, q->elapsed));
	ran(q, f);
	limit_evidence(q, f);
}

static const char *killer(struct inquest *q)
{
	const struct job *j = q->j;
	const char *name = job_get(j, user_name, NULL);

	if (j->killed_by == 0)
		return "root (uid 0)";
	if (name != NULL && job_has(j, uid) && j->uid == j->killed_by)
		return arena_printf(q->arena, "its own user %s (uid %" PRId64 ")", name,
				    j->killed_by);
	return arena_printf(q->arena, "uid %" PRId64, j->killed_by);
}

static void find_cancelled(struct inquest *q)
{
	struct why_finding *f;

	if (job_has(q->j, killed_by)) {
		f = find(q, WHY_cancelled, "The job was cancelled by %s %s.", killer(q),
			 when_it_stopped(q));
		number(f, "killed_by_uid", q->j->killed_by);
	} else {
		f = find(q, WHY_cancelled, "The job was cancelled %s; by whom is not recorded.",
			 when_it_stopped(q));
	}
	ran(q, f);
}

static void find_node_fail(struct inquest *q)
{
	const char *node = job_get(q->j, failed_node, NULL);
	struct why_finding *f;

	if (node != NULL && node[0] != '\0')
		f = find(q, WHY_node_fail, "The job ended since node %s failed, %s.", node,
			 when_it_stopped(q));
	else
		f = find(q, WHY_node_fail,
			 "The job ended since a node failed, %s; which node is not recorded.",
			 when_it_stopped(q));
	text(f, "failed_node", node);
	text(f, "nodes", job_get(q->j, nodes, NULL));
	ran(q, f);
}

static void find_out_of_memory(struct inquest *q)
{
	struct why_finding *f = find(
		q, WHY_out_of_memory,
		"The job was killed for memory (by the OOM killer): it wanted more than it had.");

	if (job_has(q->j, exit))
		number(f, "exit_signal", exit_signal(q->j->exit));
}

static void find_plainly(struct inquest *q)
{
	static const struct {
		int64_t state;
		enum why_code code;
		const char *sentence;
	} rows[] = {
		{ STATE_COMPLETED, WHY_completed, "The job ended with success" },
		{ STATE_FAILED, WHY_failed, "The job ended with a failure" },
		{ STATE_DEADLINE, WHY_deadline, "The job was ended by its deadline" },
		{ STATE_PREEMPTED, WHY_preempted,
		  "The job was preempted: it had to make room for another" },
		{ STATE_BOOT_FAIL, WHY_boot_fail, "The job ended since a node did not boot" },
		{ STATE_REQUEUED, WHY_requeued,
		  "This run ended when the job was put back into the queue; a later run answers "
		  "for "
		  "the job" },
		{ STATE_RESIZING, WHY_resized,
		  "The job went on with other resources; a later row answers for the rest" },
		{ STATE_REVOKED, WHY_revoked, "The job runs on another cluster of the federation" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (rows[i].state != q->state)
			continue;
		struct why_finding *f = q->started ? find(q, rows[i].code, "%s, after %s.",
							  rows[i].sentence, lasting(q, q->elapsed))
						   : find(q, rows[i].code, "%s.", rows[i].sentence);
		ran(q, f);
	}
}

static void find_state(struct inquest *q)
{
	if (!job_has(q->j, state)) {
		find(q, WHY_unknown_state, "No record says in which state the job is.");
		return;
	}
	switch (q->state) {
	case STATE_PENDING: find_pending(q); break;
	case STATE_RUNNING: find_running(q); break;
	case STATE_SUSPENDED: find_suspended(q); break;
	case STATE_TIMEOUT: find_timeout(q); break;
	case STATE_CANCELLED: find_cancelled(q); break;
	case STATE_NODE_FAIL: find_node_fail(q); break;
	case STATE_OUT_OF_MEMORY: find_out_of_memory(q); break;
	default: find_plainly(q); break;
	}
}

static void find_reason(struct inquest *q)
{
	static const struct {
		const char *reason;
		const char *meaning;
	} rows[] = {
		{ "Priority", "jobs with a higher priority go first" },
		{ "Resources", "it is next, and what it asked for is not free yet" },
		{ "Dependency", "it waits for another job" },
		{ "DependencyNeverSatisfied", "the job it waits for ended otherwise than asked, so "
					      "this one will not start" },
		{ "BeginTime", "the time it asked to begin has not come" },
		{ "JobHeldUser", "its user holds it" },
		{ "JobHeldAdmin", "an administrator holds it" },
		{ "ReqNodeNotAvail", "a node that it needs is down, drained or reserved" },
		{ "PartitionTimeLimit", "it asked for more time than its partition allows" },
		{ "PartitionNodeLimit", "it asked for more nodes than its partition has" },
		{ "Licenses", "a licence that it needs is taken" },
		{ "QOSMaxJobsPerUserLimit", "its user runs as many jobs as the QOS allows" },
		{ "AssocGrpCPUMinutesLimit", "the account's CPU minutes are used up" },
		{ "JobArrayTaskLimit", "as many tasks of the array run as it allows at once" },
	};
	const char *reason = job_get(q->j, reason, NULL);

	if (reason == NULL || q->state != STATE_PENDING)
		return;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (strcmp(rows[i].reason, reason) == 0)
			find(q, WHY_hint_reason, "%s means: %s.", reason, rows[i].meaning);
}

static void find_never_started(struct inquest *q)
{
	if (!q->ended || q->started || q->state == STATE_CANCELLED || q->state == STATE_NODE_FAIL ||
	    q->state == STATE_REVOKED)
		return;
	find(q, WHY_never_started, "No start of the job is recorded: it never ran.");
}

/* Exit statuses. */

static void find_shell_hint(struct inquest *q, int64_t code)
{
	struct why_finding *f;

	if (code > 128 && signal_name(code - 128) != NULL) {
		f = find(q, WHY_hint_shell_signal,
			 "Shells report so a command that was ended by signal %s: %" PRId64
			 " is 128 + %" PRId64 ".",
			 signal_text(q, code - 128), code, code - 128);
		number(f, "signal", code - 128);
	} else if (code == 126 || code == 127) {
		f = find(q, WHY_hint_shell_code,
			 code == 127
				 ? "Shells report so a command that they did not find."
				 : "Shells report so a command that they found and could not run.");
		number(f, "exit_code", code);
	}
}

static void find_signal(struct inquest *q, int64_t signal)
{
	struct why_finding *f;

	if (signal == 0 || signal == EXIT_SIGNAL_OOM)
		return;
	if (signal_name(signal) != NULL) {
		f = find(q, WHY_exit_signal, "The job's exit status says that signal %s ended it.",
			 signal_text(q, signal));
		number(f, "exit_signal", signal);
		return;
	}
	f = find(q, WHY_exit_launch,
		 "The job's exit status has %" PRId64
		 " in the place of the signal, which is no signal "
		 "that a program can get.",
		 signal);
	number(f, "exit_signal", signal);
	f = find(q, WHY_hint_launch,
		 "Slurm puts launch errors of its own there; often the output file could not be "
		 "opened, or the job could not be launched.");
	text(f, "std_out", job_get(q->j, std_out, NULL));
}

static void find_exit(struct inquest *q)
{
	if (!q->ended || !job_has(q->j, exit))
		return;
	int64_t code = exit_code(q->j->exit);
	if (code != 0) {
		struct why_finding *f =
			find(q, WHY_exit_code, "The job's exit code is %" PRId64 ".", code);
		number(f, "exit_code", code);
		find_shell_hint(q, code);
	}
	find_signal(q, exit_signal(q->j->exit));
}

static void find_derived_exit(struct inquest *q)
{
	if (!job_has(q->j, derived_exit) || q->j->derived_exit == job_get(q->j, exit, 0))
		return;
	int64_t code = exit_code(q->j->derived_exit), signal = exit_signal(q->j->derived_exit);
	if (code == 0 && (signal == 0 || signal == EXIT_SIGNAL_OOM))
		return;
	struct why_finding *f =
		signal != 0 && signal_name(signal) != NULL
			? find(q, WHY_step_exit_highest,
			       "The highest exit code of its steps is %" PRId64 ", with signal %s.",
			       code, signal_text(q, signal))
			: find(q, WHY_step_exit_highest,
			       "The highest exit code of its steps is %" PRId64 ".", code);
	number(f, "derived_exit_code", code);
	number(f, "derived_exit_signal", signal);
}

/* Steps. */

static bool step_is_oom(const struct step *s)
{
	return step_get(s, state, STATE_PENDING) == STATE_OUT_OF_MEMORY ||
	       exit_signal(step_get(s, exit, 0)) == EXIT_SIGNAL_OOM;
}

static void find_step_oom(struct inquest *q)
{
	size_t shown = 0;
	int64_t rss;

	for (size_t i = 0; i < q->n_steps; i++) {
		const struct step *s = &q->steps[i];
		if (!step_is_oom(s) || shown++ >= STEPS_SHOWN)
			continue;
		struct why_finding *f = find(q, WHY_step_out_of_memory, "%s was killed for memory.",
					     sentence_step(q, s->step_id));
		number(f, "step_id", s->step_id);
		if (step_has(s, in_max) && tres_get(s->in_max, "mem", &rss))
			number(f, "max_rss_bytes", rss);
	}
	/* A row without its steps at hand still knows of the first. */
	if (shown == 0 && job_has(q->j, oom_step)) {
		struct why_finding *f = find(q, WHY_step_out_of_memory, "%s was killed for memory.",
					     sentence_step(q, q->j->oom_step));
		number(f, "step_id", q->j->oom_step);
	}
}

/* What was done to the job was done to its steps: their signals then say nothing of their own. */
static bool steps_died_with_the_job(const struct inquest *q)
{
	return q->state == STATE_CANCELLED || q->state == STATE_TIMEOUT ||
	       q->state == STATE_NODE_FAIL || q->state == STATE_PREEMPTED ||
	       q->state == STATE_DEADLINE || q->state == STATE_REQUEUED;
}

static void find_step_exits(struct inquest *q)
{
	size_t shown = 0;

	for (size_t i = 0; i < q->n_steps; i++) {
		const struct step *s = &q->steps[i];
		int64_t status = step_get(s, exit, 0);
		if (status == 0 || step_is_oom(s) || s->step_id == STEP_ID_BATCH ||
		    (exit_code(status) == 0 && steps_died_with_the_job(q)) ||
		    shown++ >= STEPS_SHOWN)
			continue;
		int64_t code = exit_code(status), signal = exit_signal(status);
		struct why_finding *f =
			signal == 0 ? find(q, WHY_step_exit, "%s ended with exit code %" PRId64 ".",
					   sentence_step(q, s->step_id), code)
			: signal_name(signal) != NULL
				? find(q, WHY_step_exit, "%s was ended by signal %s.",
				       sentence_step(q, s->step_id), signal_text(q, signal))
				: find(q, WHY_step_exit,
				       "%s ended with %" PRId64 " in the place of the signal.",
				       sentence_step(q, s->step_id), signal);
		number(f, "step_id", s->step_id);
		number(f, "exit_code", code);
		number(f, "exit_signal", signal);
		text(f, "name", step_get(s, name, NULL));
	}
}

/* Use. */

static void find_memory(struct inquest *q)
{
	const struct job *j = q->j;
	bool oom = q->state == STATE_OUT_OF_MEMORY || job_has(j, oom_step);
	struct why_finding *f;
	int64_t mib;

	if (!q->ended || !job_has(j, mem_eff_ppm) || !job_memory_given(j, &mib) ||
	    (!oom && j->mem_eff_ppm < CLOSE_PPM))
		return;
	int64_t had = num_mul(mib, MIB, NULL);
	if (oom && j->mem_used < had) {
		f = find(q, WHY_memory_not_sampled,
			 "The most that was seen is %s of the %s it had: the kill comes before the "
			 "next "
			 "sample, so the peak was not seen and is not known.",
			 size_of(q, j->mem_used), size_of(q, had));
	} else {
		f = find(q, WHY_memory_close, "It used %s of the %s it had (%s)%s: %s.",
			 size_of(q, j->mem_used), size_of(q, had), percent(q, j->mem_eff_ppm),
			 job_get(j, mem_estimated, 0) != 0 ? ", estimated as tasks x peak" : "",
			 oom ? "all of it" : "close to all of it");
	}
	number(f, "mem_used_bytes", j->mem_used);
	number(f, "memory_bytes", had);
	if (job_has(j, peak_rss))
		number(f, "max_rss_bytes", j->peak_rss);
	number(f, "estimated", job_get(j, mem_estimated, 0));
}

static void find_cpus(struct inquest *q)
{
	const struct job *j = q->j;
	int64_t cpus;

	if (!q->ended || !job_has(j, cpu_used_us) || j->cpu_used_us <= 0 || q->elapsed <= 0 ||
	    !job_has(j, cpu_eff_ppm) || j->cpu_eff_ppm >= CPU_LOW_PPM || !job_has(j, tres_alloc) ||
	    !tres_get(j->tres_alloc, "cpu", &cpus))
		return;
	/* As many CPUs as would have done the work, busy all the time. */
	__int128 us = (__int128)q->elapsed * PPM;
	int64_t busy = (int64_t)(((__int128)j->cpu_used_us + us - 1) / us);
	if (busy >= cpus)
		return;
	struct why_finding *f = find(
		q, WHY_cpus_unused,
		"The CPU time it used is that of %" PRId64 " CPU%s (%s of what it had): as much as "
		"%" PRId64 " of its %" PRId64 " CPUs was never used.",
		busy, busy == 1 ? "" : "s", percent(q, j->cpu_eff_ppm), cpus - busy, cpus);
	number(f, "cpus", cpus);
	number(f, "cpus_unused", cpus - busy);
	number(f, "cpu_used_us", j->cpu_used_us);
	number(f, "elapsed_s", q->elapsed);
	number(f, "cpu_efficiency_ppm", j->cpu_eff_ppm);
}

static void find_gpus(struct inquest *q)
{
	const struct step **steps = ARENA_ARRAY(q->arena, const struct step *, q->n_steps);
	int64_t ppm, gpus = 0;

	for (size_t i = 0; i < q->n_steps; i++)
		steps[i] = &q->steps[i];
	if (!q->ended || !job_gpu_use_ppm(q->j, steps, q->n_steps, &ppm) || ppm >= GPU_LOW_PPM)
		return;
	struct why_finding *f =
		find(q, WHY_gpus_unused, "Its GPUs were busy %s of the time.", percent(q, ppm));
	number(f, "gpu_use_ppm", ppm);
	if (tres_gpus(job_get(q->j, tres_alloc, NULL), &gpus))
		number(f, "gpus", gpus);
}

static void find_too_short(struct inquest *q)
{
	const struct job *j = q->j;

	if (!q->ended || !q->started || q->elapsed >= SAMPLING_S || q->elapsed <= 0 ||
	    job_get(j, mem_used, -1) != 0)
		return;
	struct why_finding *f =
		find(q, WHY_too_short, "It ran %s, too short for its memory to be measured.",
		     lasting(q, q->elapsed));
	number(f, "elapsed_s", q->elapsed);
	number(f, "sampling_s", SAMPLING_S);
}

/* The record itself. */

static void find_restarts(struct inquest *q)
{
	if (job_get(q->j, restarts, 0) <= 0)
		return;
	struct why_finding *f = find(q, WHY_restarted, "The job was restarted %" PRId64 " time%s.",
				     q->j->restarts, q->j->restarts == 1 ? "" : "s");
	number(f, "restarts", q->j->restarts);
}

static void find_flaws(struct inquest *q)
{
	int64_t flaws = job_get(q->j, flaws, 0);
	struct why_finding *f;

	if ((flaws & FLAW_END_BEFORE_START) != 0) {
		f = find(q, WHY_end_before_start,
			 "Its end is recorded before its start: a clock stepped back, and how long "
			 "it "
			 "ran is not known.");
		number(f, "start", q->j->start_at);
		number(f, "end", q->j->end_at);
	}
	if ((flaws & FLAW_NO_END_TIME) != 0)
		find(q, WHY_no_end_time, "When it ended is not recorded.");
}

void job_why(const struct job *j, const struct step *steps, size_t n_steps, int64_t now,
	     struct arena *arena, struct why_finding **ret, size_t *ret_n)
{
	static void (*const rules[])(struct inquest *) = {
		find_state,	   find_reason,	    find_never_started, find_step_oom, find_exit,
		find_derived_exit, find_step_exits, find_memory,	find_cpus,     find_gpus,
		find_too_short,	   find_restarts,   find_flaws,
	};
	struct inquest q = {
		.j = j, .steps = steps, .n_steps = n_steps, .now = now, .arena = arena
	};

	q.state = job_has(j, state) ? job_state_shown(j) : -1;
	q.ended = q.state >= 0 && state_is_end(q.state);
	q.started = job_start_shown(j, &q.start);
	q.elapsed = job_elapsed_s(j, now);
	q.findings = ARENA_ARRAY(arena, struct why_finding, FINDINGS_MOST);
	for (size_t i = 0; i < ARRAY_LEN(rules); i++)
		rules[i](&q);
	*ret = q.findings;
	*ret_n = q.n;
}

void why_encode_json(struct buf *out, const struct why_finding *findings, size_t n)
{
	static const char *const kinds[] = {
		[WHY_CAUSE] = "cause", [WHY_FACT] = "fact", [WHY_HINT] = "hint"
	};

	buf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		const struct why_finding *f = &findings[i];
		const struct why_row *row = &why_rows[f->code];
		buf_printf(out, "%s{\"code\":\"%s\",\"kind\":\"%s\",\"text\":", i > 0 ? "," : "",
			   row->code, kinds[row->kind]);
		buf_json_str(out, f->sentence);
		buf_adds(out, ",\"evidence\":{");
		for (size_t k = 0; k < f->n_evidence; k++) {
			const struct why_evidence *e = &f->evidence[k];
			buf_printf(out, "%s\"%s\":", k > 0 ? "," : "", e->name);
			if (e->text != NULL)
				buf_json_str(out, e->text);
			else
				buf_i64(out, e->number);
		}
		buf_adds(out, "}}");
	}
	buf_addc(out, ']');
}

void why_format(struct buf *out, const struct why_finding *findings, size_t n)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(out, "%s%s\n",
			   why_rows[findings[i].code].kind == WHY_HINT ? "Hint: " : "",
			   findings[i].sentence);
}

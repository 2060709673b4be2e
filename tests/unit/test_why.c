/* Why jobs ended: the record as JSON in, codes and sentences out. */
#include "core/why.h"

#include "core/merge.h"
#include "core/record_json.h"

#include <jansson.h>
#include <setjmp.h>
#include <cmocka.h>

#define NOW 1700100000

static struct arena *arena;

/* What follows {"kind":"job_end","job_id":1,"cluster":"c", and is no end when kind says so. */
static void why(const char *kind, const char *members, struct why_finding **ret, size_t *ret_n)
{
	static const struct record_defaults defaults = { .cluster = "c" };
	struct job *row = ARENA_NEW(arena, struct job);
	struct record *rec = ARENA_NEW(arena, struct record);
	struct err err = { 0 };
	const char *json = arena_printf(arena, "{\"kind\":\"%s\",\"job_id\":1,%s}", kind, members);

	if (record_decode(json, strlen(json), &defaults, arena, rec, &err) < 0 ||
	    record_validate(rec, arena, &err) < 0)
		fail_msg("%s\n%s: %s", json, err.where, err.text);
	record_stamp(rec);
	job_merge(row, &rec->job, false, arena);
	if (job_has(&rec->job, submit_at))
		job_set(row, submit_at, rec->job.submit_at);
	const struct step **steps = ARENA_ARRAY(arena, const struct step *, rec->n_steps);
	for (size_t i = 0; i < rec->n_steps; i++)
		steps[i] = &rec->steps[i];
	job_derive(row, steps, rec->n_steps, arena);
	job_why(row, rec->steps, rec->n_steps, NOW, arena, ret, ret_n);
}

static const char *as_text(const struct why_finding *findings, size_t n)
{
	struct buf b = BUF_INIT;

	why_format(&b, findings, n);
	const char *text = arena_strndup(arena, buf_str(&b), b.len);
	buf_fini(&b);
	return text;
}

static const char *codes(const struct why_finding *findings, size_t n)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i > 0 ? " " : "", why_rows[findings[i].code].code);
	const char *text = arena_strndup(arena, buf_str(&b), b.len);
	buf_fini(&b);
	return text;
}

#define RAN(state, rest)                                                                           \
	"\"submit\":1700000000,\"start\":1700000100,\"end\":1700003700,\"state\":\"" state "\"" rest

static void cases(void **state)
{
	static const struct {
		const char *name;
		const char *kind;
		const char *members;
		const char *codes;
		const char *says[4];
	} rows[] = {
		{ "plain success",
		  "job_end",
		  RAN("COMPLETED", ",\"exit_code\":0"),
		  "completed",
		  { "The job ended with success, after 01:00:00." } },
		{ "plain failure",
		  "job_end",
		  RAN("FAILED", ",\"exit_code\":3"),
		  "failed exit_code",
		  { "The job ended with a failure, after 01:00:00.", "exit code is 3." } },
		{ "FC-041: 137 is how a shell reports signal 9",
		  "job_end",
		  RAN("FAILED", ",\"exit_code\":137"),
		  "failed exit_code hint_shell_signal",
		  { "exit code is 137.", "Hint: Shells report so", "signal 9 (SIGKILL)" } },
		{ "FC-041: 200 is no signal",
		  "job_end",
		  RAN("FAILED", ",\"exit_code\":200"),
		  "failed exit_code",
		  { "exit code is 200." } },
		{ "FC-041: killed by signal 9",
		  "job_end",
		  RAN("FAILED", ",\"exit\":\"0:9\""),
		  "failed exit_signal",
		  { "signal 9 (SIGKILL) ended it" } },
		{ "command not found",
		  "job_end",
		  RAN("FAILED", ",\"exit_code\":127"),
		  "failed exit_code hint_shell_code",
		  { "did not find" } },
		{ "FC-043: 0:53 is no signal of a program",
		  "job_end",
		  RAN("FAILED", ",\"exit\":\"0:53\",\"std_out\":\"/no/such/dir/out\""),
		  "failed exit_launch hint_launch",
		  { "has 53 in the place of the signal", "Hint: Slurm puts launch errors",
		    "output file could not be opened" } },
		{ "FC-040: the steps' code beside the signal",
		  "job_end",
		  RAN("FAILED",
		      ",\"exit\":\"0:15\",\"derived_exit_code\":101,\"derived_exit_signal\":0,"
		      "\"steps\":[{\"step_id\":0,\"exit_code\":101,\"name\":\"solve\"}]"),
		  "failed exit_signal step_exit_highest step_exit",
		  { "signal 15 (SIGTERM)", "highest exit code of its steps is 101.",
		    "Step 0 ended with exit code 101." } },
		{ "FC-038: OOM though less was seen",
		  "job_end",
		  RAN("OUT_OF_MEMORY",
		      ",\"exit\":\"0:125\",\"tres_alloc\":{\"cpu\":1,\"mem\":48128},"
		      "\"max_rss_bytes\":42949672960"),
		  "out_of_memory memory_not_sampled",
		  { "killed for memory (by the OOM killer)", "40G of the 47G",
		    "kill comes before the next sample" } },
		{ "FC-173: no advice from a peak that was not seen",
		  "job_end",
		  RAN("OUT_OF_MEMORY", ",\"exit\":\"0:125\",\"req_mem_mib\":10240,"
				       "\"max_rss_bytes\":6442450944"),
		  "out_of_memory memory_not_sampled",
		  { "6G of the 10G", "is not known" } },
		{ "OOM, and all of it was seen",
		  "job_end",
		  RAN("OUT_OF_MEMORY", ",\"req_mem_mib\":1024,\"max_rss_bytes\":1073741824"),
		  "out_of_memory memory_close",
		  { "1G of the 1G it had (100.0 %)", "all of it" } },
		{ "FC-187: a step was killed for memory, the job failed",
		  "job_end",
		  RAN("FAILED", ",\"exit_code\":1,\"derived_exit\":\"0:125\",\"steps\":["
				"{\"step_id\":\"batch\",\"state\":\"FAILED\",\"exit_code\":1},"
				"{\"step_id\":0,\"state\":\"OUT_OF_MEMORY\",\"exit\":\"0:125\"}]"),
		  "failed step_out_of_memory exit_code",
		  { "Step 0 was killed for memory." } },
		{ "FC-187: and the same with success",
		  "job_end",
		  RAN("COMPLETED",
		      ",\"exit_code\":0,\"steps\":[{\"step_id\":0,\"exit\":\"0:125\"}]"),
		  "completed step_out_of_memory",
		  { "Step 0 was killed for memory." } },
		{ "FC-167: close to its memory is not the cause",
		  "job_end",
		  RAN("FAILED",
		      ",\"exit_code\":1,\"tres_alloc\":{\"cpu\":8,\"mem\":16000},\"steps\":["
		      "{\"step_id\":0,\"ntasks\":8,\"usage_in_max\":{\"mem\":1994010624}}]"),
		  "failed exit_code memory_close",
		  { "14.86G of the 15.62G it had (95.1 %), estimated as tasks x peak",
		    "close to all of it" } },
		{ "94 % is not close",
		  "job_end",
		  RAN("FAILED",
		      ",\"exit_code\":1,\"req_mem_mib\":1000,\"max_rss_bytes\":985661440"),
		  "failed exit_code",
		  { "exit code is 1." } },
		{ "time limit",
		  "job_end",
		  RAN("TIMEOUT", ",\"timelimit\":60,\"exit\":\"0:15\""),
		  "timeout exit_signal",
		  { "it ran 01:00:00 and its limit was 01:00:00." } },
		{ "time limit that is not recorded",
		  "job_end",
		  RAN("TIMEOUT", ",\"timelimit\":\"partition\",\"steps\":[{\"step_id\":0,"
				 "\"exit\":\"0:15\"}]"),
		  "timeout",
		  { "how long the limit was is not recorded" } },
		{ "deadline",
		  "job_end",
		  RAN("DEADLINE", ""),
		  "deadline",
		  { "ended by its deadline" } },
		{ "node failure",
		  "job_end",
		  RAN("NODE_FAIL", ",\"failed_node\":\"n7\",\"nodes\":\"n[7-8]\""),
		  "node_fail",
		  { "since node n7 failed, while it ran, after 01:00:00" } },
		{ "FC-059: node failure before the start",
		  "job_end",
		  "\"submit\":1700000000,\"end\":1700000600,\"state\":\"NODE_FAIL\"",
		  "node_fail",
		  { "before it started", "which node is not recorded" } },
		{ "FC-036: cancelled by somebody",
		  "job_end",
		  RAN("CANCELLED by 1000", ",\"exit\":\"0:15\""),
		  "cancelled exit_signal",
		  { "cancelled by uid 1000 while it ran, after 01:00:00." } },
		{ "cancelled by its own user",
		  "job_end",
		  RAN("CANCELLED", ",\"killed_by_uid\":1000,\"uid\":1000,\"user\":\"ann\""),
		  "cancelled",
		  { "by its own user ann (uid 1000)" } },
		{ "FC-036: cancelled by root",
		  "job_end",
		  RAN("CANCELLED by 0", ""),
		  "cancelled",
		  { "by root (uid 0)" } },
		{ "FC-057: cancelled before the start",
		  "job_end",
		  "\"submit\":1700000000,\"end\":1700000330,\"state\":\"CANCELLED\"",
		  "cancelled",
		  { "before it started, 00:05:30 after its submission; by whom is not "
		    "recorded." } },
		{ "preempted", "job_end", RAN("PREEMPTED", ""), "preempted", { "make room" } },
		{ "boot failure",
		  "job_end",
		  "\"submit\":5,\"end\":9,\"state\":\"BOOT_FAIL\"",
		  "boot_fail never_started",
		  { "did not boot", "it never ran" } },
		{ "requeued",
		  "job_end",
		  RAN("REQUEUED", ",\"restarts\":2"),
		  "requeued restarted",
		  { "a later run answers", "restarted 2 times" } },
		{ "resized", "job_end", RAN("RESIZING", ""), "resized", { "other resources" } },
		{ "revoked",
		  "job_end",
		  "\"submit\":5,\"end\":9,\"state\":\"REVOKED\"",
		  "revoked",
		  { "another cluster" } },
		{ "FC-171: CPUs that were not used",
		  "job_end",
		  "\"submit\":1700000000,\"start\":1700000100,\"end\":1701088299,"
		  "\"state\":\"COMPLETED\",\"tres_alloc\":{\"cpu\":720},\"total_cpu_us\":"
		  "39175164000000",
		  "completed cpus_unused",
		  { "that of 36 CPUs (5.0 %", "684 of its 720 CPUs" } },
		{ "FC-174: too short",
		  "job_end",
		  "\"submit\":5,\"start\":10,\"end\":30,\"state\":\"COMPLETED\",\"req_mem_mib\":"
		  "100,"
		  "\"max_rss_bytes\":0",
		  "completed too_short",
		  { "too short" } },
		{ "FC-190: idle GPUs",
		  "job_end",
		  RAN("COMPLETED",
		      ",\"tres_alloc\":{\"cpu\":4,\"gres/gpu\":4},\"steps\":[{\"step_id\":0,"
		      "\"usage_in_tot\":{\"gres/gpuutil\":8}}]"),
		  "completed gpus_unused",
		  { "busy 2.0 % of the time" } },
		{ "FC-061: the clock stepped back",
		  "job_end",
		  "\"submit\":1,\"start\":1700000100,\"end\":1700000040,\"state\":\"COMPLETED\"",
		  "completed end_before_start",
		  { "a clock stepped back" } },
		{ "no time of the end",
		  "job_end",
		  "\"submit\":5,\"start\":9,\"state\":\"FAILED\"",
		  "failed no_end_time",
		  { "When it ended is not recorded." } },
		{ "pending",
		  "job_start",
		  "\"submit\":1700099000,\"reason\":\"Priority\"",
		  "pending hint_reason",
		  { "the reason given is Priority.", "Hint: Priority means: jobs with a higher" } },
		{ "pending without a reason",
		  "job_start",
		  "\"submit\":1700099000,\"reason\":\"None\"",
		  "pending",
		  { "no reason is given" } },
		{ "running",
		  "job_start",
		  "\"submit\":1700090000,\"start\":1700096400,\"timelimit\":120",
		  "running",
		  { "for 01:00:00 by now, with a time limit of 02:00:00." } },
		{ "suspended",
		  "job_start",
		  "\"submit\":1700090000,\"start\":1700096400,\"suspensions\":\"S1700098200\"",
		  "suspended",
		  { "it has run 00:30:00" } },
		{ "nothing is known",
		  "job_suspend",
		  "\"at\":1700098200",
		  "unknown_state",
		  { "No record says" } },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct why_finding *findings;
		size_t n;
		arena_reset(arena);
		why(rows[i].kind, rows[i].members, &findings, &n);
		const char *got = codes(findings, n), *text = as_text(findings, n);
		if (strcmp(got, rows[i].codes) != 0)
			fail_msg("%s: %s\n%s", rows[i].name, got, text);
		for (size_t k = 0; k < ARRAY_LEN(rows[i].says) && rows[i].says[k] != NULL; k++)
			if (strstr(text, rows[i].says[k]) == NULL)
				fail_msg("%s: no \"%s\" in\n%s", rows[i].name, rows[i].says[k],
					 text);
	}
}

static void as_json(void **state)
{
	struct why_finding *findings;
	struct buf b = BUF_INIT;
	size_t n;

	(void)state;
	arena_reset(arena);
	why("job_end", RAN("NODE_FAIL", ",\"failed_node\":\"n\\\"7\""), &findings, &n);
	why_encode_json(&b, findings, n);
	assert_string_equal(
		buf_str(&b),
		"[{\"code\":\"node_fail\",\"kind\":\"cause\",\"text\":\"The job ended since "
		"node n\\\"7 failed, while it ran, after 01:00:00.\",\"evidence\":"
		"{\"failed_node\":\"n\\\"7\",\"elapsed_s\":3600}}]");
	json_t *theirs = json_loads(buf_str(&b), 0, NULL);
	assert_non_null(theirs);
	json_decref(theirs);
	buf_fini(&b);
}

/* Many failed steps are not all told, and the numbers stay with what they belong to. */
static void many_steps(void **state)
{
	struct why_finding *findings;
	struct buf steps = BUF_INIT;
	size_t n, exits = 0, ooms = 0;

	(void)state;
	arena_reset(arena);
	for (int i = 0; i < 200; i++)
		buf_printf(&steps, "%s{\"step_id\":%d,\"exit_code\":%d,\"exit_signal\":%d}",
			   i > 0 ? "," : "", i, i % 2, i % 2 == 0 ? 125 : 0);
	why("job_end", arena_printf(arena, RAN("FAILED", ",\"steps\":[%s]"), buf_str(&steps)),
	    &findings, &n);
	for (size_t i = 0; i < n; i++) {
		exits += findings[i].code == WHY_step_exit;
		ooms += findings[i].code == WHY_step_out_of_memory;
	}
	assert_int_equal(exits, 5);
	assert_int_equal(ooms, 5);
	buf_fini(&steps);
}

/* A hint is called one. */
static void kinds(void **state)
{
	(void)state;
	for (size_t i = 0; i < WHY_CODES; i++) {
		bool hint = strncmp(why_rows[i].code, "hint_", 5) == 0;
		assert_int_equal(why_rows[i].kind == WHY_HINT, hint);
		assert_true(why_rows[i].doc[0] != '\0');
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
		cmocka_unit_test(cases),
		cmocka_unit_test(as_json),
		cmocka_unit_test(many_steps),
		cmocka_unit_test(kinds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

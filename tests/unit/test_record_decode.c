/* Records from JSON: the forms of every type, what is refused and how it is named. */
#include "core/record_json.h"

#include "core/exit.h"
#include "core/keys.h"
#include "core/state.h"
#include "core/words.h"

#include <setjmp.h>
#include <cmocka.h>

static struct arena *arena;
static const struct record_defaults defaults = { .cluster = "home" };

static int decode(const char *json, struct record *rec, struct err *err)
{
	arena_reset(arena);
	*err = (struct err){ 0 };
	return record_decode(json, strlen(json), &defaults, arena, rec, err);
}

static void must(const char *json, struct record *rec)
{
	struct err err;

	if (decode(json, rec, &err) < 0)
		fail_msg("%s\n%s: %s", json, err.where, err.text);
}

/* Every key is found where it is, and by the hash alone. */
static void keys(void **state)
{
	const struct keys *all[] = { &job_keys, &step_keys };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(all); k++)
		for (size_t i = 0; i < all[k]->n; i++) {
			const struct key *key = &all[k]->rows[i];
			if (all[k]->slot(key->text, key->len) != i)
				fail_msg("%s shares its slot: keys.c needs other factors",
					 key->text);
			assert_int_equal(key_find(all[k], key->text, key->len), i);
		}
	assert_int_equal(job_key_find("exit_code", 9), JOB_exit);
	assert_int_equal(job_key_find("derived_exit_signal", 19), JOB_derived_exit);
	assert_int_equal(job_key_find("oom", 3), JOB_X_oom);
	assert_int_equal(step_key_find("user", 4), STEP_X_user_name);
	assert_int_equal(job_key_find("", 0), -1);
	assert_int_equal(job_key_find("x", 1), -1);
	assert_string_equal(job_key(JOB_X_oom)->json, "oom");
	assert_string_equal(job_key(JOB_name)->json, "name");
	assert_string_equal(step_key(STEP_X_elapsed)->json, "elapsed_s");
}

static void a_whole_record(void **state)
{
	static const char json[] =
		"{\"kind\":\"job_end\",\"cluster\":\"c1\",\"as_of\":\"2026-08-21T15:38:00Z\","
		"\"job_id\":4000000000,\"submit\":\"2026-08-21T17:38:00+02:00\","
		"\"start\":1787326680.9,\"end\":1787326780,\"eligible\":0,"
		"\"user\":\"ksa@bio.example\",\"group\":\"dom\\u00e4nen-benutzer\","
		"\"name\":\"x'); drop table jobs;-- 50%_\\\\\",\"priority\":4294967293,"
		"\"state\":\"CANCELLED by 1000\",\"exit_code\":1,\"exit_signal\":9,"
		"\"derived_exit\":\"101:0\",\"timelimit\":\"unlimited\","
		"\"tres_req\":\"mem=32G,cpu=4\",\"tres_alloc\":{\"mem\":8000,\"cpu\":4,"
		"\"gres/gpu:rtx-6000\":2,\"energy\":18446744073709551614},"
		"\"req_mem_mib\":9223372036854779904,\"row_id\":\"18446744073709551613\","
		"\"flags\":[\"SchedMain\",\"StartReceived\"],"
		"\"suspensions\":[{\"at\":1787326700,\"what\":\"resume\"},"
		"{\"what\":\"suspend\",\"at\":\"2026-08-21T15:38:10Z\"}],"
		"\"elapsed_s\":100,\"cpu_efficiency_ppm\":5,\"oom\":{\"any\":[1]},\"x_mine\":{"
		"\"a\":[]},"
		"\"steps\":[{\"step_id\":\"batch\",\"state\":\"FAILED\",\"exit\":\"0:9\"},"
		"{\"step_id\":0,\"het_component\":1,\"job_id\":4000000000,"
		"\"usage_in_max\":{\"vmem\":null,\"mem\":\"1.50T\",\"cpu\":1200},"
		"\"usage_in_max_node\":{\"mem\":\"n2\",\"cpu\":\"n1\"},"
		"\"usage_in_max_task\":{\"mem\":3,\"cpu\":-1},\"energy_j\":4294967294}]}";
	struct record rec;

	(void)state;
	must(json, &rec);
	const struct job *j = &rec.job;
	assert_int_equal(rec.kind, REC_JOB_END);
	assert_string_equal(rec.cluster, "c1");
	assert_int_equal(rec.as_of, 1787326680);
	assert_true(rec.submit_known);
	assert_ptr_equal(rec.raw, json);
	assert_int_equal(rec.raw_len, sizeof(json) - 1);
	assert_int_equal(j->job_id, 4000000000);
	assert_int_equal(j->submit_at, 1787326680);
	assert_int_equal(j->start_at, 1787326680);
	assert_int_equal(j->end_at, 1787326780);
	assert_true(job_has(j, eligible_at) && j->eligible_at == 0);
	assert_string_equal(j->user_name, "ksa@bio.example");
	assert_string_equal(j->group_name, "dom\xc3\xa4nen-benutzer");
	assert_string_equal(j->name, "x'); drop table jobs;-- 50%_\\");
	assert_int_equal(j->priority, 4294967293);
	assert_int_equal(j->state, STATE_CANCELLED);
	assert_int_equal(j->killed_by, 1000);
	assert_int_equal(j->exit, exit_make(1, 9));
	assert_int_equal(j->derived_exit, exit_make(101, 0));
	assert_int_equal(j->timelimit, LIMIT_UNLIMITED);
	assert_string_equal(j->tres_req, "cpu=4,mem=32768");
	assert_string_equal(j->tres_alloc, "cpu=4,gres/gpu:rtx-6000=2,mem=8000");
	assert_int_equal(j->req_mem, 4096);
	assert_int_equal(j->req_mem_per, PER_CPU);
	assert_int_equal((uint64_t)j->row_id, UINT64_C(18446744073709551613));
	assert_int_equal(j->flags, FLAG_SCHED_MAIN | FLAG_START_RECEIVED);
	assert_string_equal(j->moments, "S1787326690,R1787326700");
	assert_int_equal(j->rec_elapsed, 100);
	assert_false(job_has(j, cpu_eff_ppm));
	assert_false(job_has(j, account));
	assert_int_equal(rec.n_steps, 2);
	const struct step *s = rec.steps;
	assert_int_equal(s[0].step_id, STEP_ID_BATCH);
	assert_int_equal(s[0].het_comp, HET_COMP_NONE);
	assert_int_equal(s[0].exit, 9);
	assert_string_equal(s[0].cluster, "c1");
	assert_int_equal(s[0].job_id, 4000000000);
	assert_int_equal(s[0].submit_at, j->submit_at);
	assert_int_equal(s[1].het_comp, 1);
	assert_string_equal(s[1].in_max, "cpu=1200,mem=1649267441664");
	assert_string_equal(s[1].in_max_node, "cpu=n1,mem=n2");
	assert_string_equal(s[1].in_max_task, "cpu=-1,mem=3");
	assert_int_equal(s[1].energy, 4294967294);
}

/* Null and Slurm's numbers for it are "not said"; beside them stand real numbers. */
static void not_said(void **state)
{
	static const struct {
		const char *pair;
		int field;
		bool known;
		int64_t value;
	} rows[] = {
		{ "\"priority\":null", JOB_priority, false, 0 },
		{ "\"priority\":4294967294", JOB_priority, false, 0 },
		{ "\"priority\":4294967295", JOB_priority, false, 0 },
		{ "\"priority\":4294967293", JOB_priority, true, 4294967293 },
		{ "\"priority\":18446744073709551614", JOB_priority, false, 0 },
		{ "\"priority\":18446744073709551615", JOB_priority, false, 0 },
		{ "\"priority\":-1", JOB_priority, false, 0 },
		{ "\"priority\":0", JOB_priority, true, 0 },
		{ "\"max_rss_bytes\":4294967294", JOB_rec_max_rss, true, 4294967294 },
		{ "\"max_rss_bytes\":18446744073709551614", JOB_rec_max_rss, false, 0 },
		{ "\"killed_by_uid\":4294967295", JOB_killed_by, false, 0 },
		{ "\"array_task_id\":4294967294", JOB_array_task_id, false, 0 },
		{ "\"timelimit\":4294967295", JOB_timelimit, true, LIMIT_UNLIMITED },
		{ "\"timelimit\":4294967294", JOB_timelimit, true, LIMIT_PARTITION },
		{ "\"timelimit\":\"partition\"", JOB_timelimit, true, LIMIT_PARTITION },
		{ "\"timelimit\":610", JOB_timelimit, true, 610 },
		{ "\"timelimit\":\"10:10:00\"", JOB_timelimit, true, 610 },
		{ "\"timelimit\":0", JOB_timelimit, true, 0 },
		{ "\"start\":4294967294", JOB_start_at, false, 0 },
		{ "\"end\":null", JOB_end_at, false, 0 },
		{ "\"row_id\":18446744073709551613", JOB_row_id, true, -3 },
		{ "\"row_id\":\"18446744073709551614\"", JOB_row_id, false, 0 },
		{ "\"req_mem_mib\":4294967294", JOB_req_mem, false, 0 },
		{ "\"req_mem_mib\":9223372036854779904", JOB_req_mem, true, 4096 },
		{ "\"exit\":137", JOB_exit, true, 35072 },
		{ "\"exit\":\"0:125\"", JOB_exit, true, 125 },
		{ "\"exit_code\":null", JOB_exit, false, 0 },
		{ "\"exit_code\":200", JOB_exit, true, 51200 },
		{ "\"exit_signal\":9", JOB_exit, true, 9 },
		{ "\"exit_code\":4294967294", JOB_exit, false, 0 },
		{ "\"suspensions\":[]", JOB_moments, false, 0 },
		{ "\"submit_inferred\":true", JOB_submit_inferred, false, 0 },
		{ "\"flaws\":[\"none of ours\"]", JOB_flaws, false, 0 },
	};
	char json[256];
	struct record rec;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		snprintf(json, sizeof(json), "{\"kind\":\"job_end\",\"job_id\":1,%s}",
			 rows[i].pair);
		must(json, &rec);
		if (has_bit(rec.job.has, (size_t)rows[i].field) != rows[i].known)
			fail_msg("%s: known %d", rows[i].pair, !rows[i].known);
		int64_t v;
		memcpy(&v, (char *)&rec.job + job_fields[rows[i].field].offset, sizeof(v));
		if (rows[i].known && v != rows[i].value)
			fail_msg("%s: %" PRId64, rows[i].pair, v);
	}
}

static void refused(void **state)
{
	static const struct {
		const char *json;
		const char *where;
		const char *says;
	} rows[] = {
		{ "{\"job_id\":1}", "kind", "is missing" },
		{ "{\"job_id\":1,\"kind\":\"job_ended\"}", "kind", "did you mean \"job_end\"?" },
		{ "{\"kind\":\"party\"}", "kind", "\"party\" is no kind of record; say job_start" },
		{ "{\"kind\":7}", "kind", "must be a string, not a number" },
		{ "{\"kind\":\"job_end\",\"kind\":\"job_end\"}", "kind", "twice" },
		{ "[]", "", "must be an object, not an array" },
		{ "", "", "the JSON ends" },
		{ "{\"kind\":\"job_end\",\"job_id\":1}}", "job_id", "stands where the end should" },
		{ "{\"kind\":\"job_end\",\"jobid\":1}", "jobid", "did you mean \"job_id\"?" },
		{ "{\"kind\":\"job_end\",\"colour\":1}", "colour", "begin with x_" },
		{ "{\"kind\":\"job_end\",\"a\\u0000\xff\\n\":1}", "a????", "no such key" },
		{ "{\"kind\":\"job_end\",\"name\":\"a\",\"name\":\"b\"}", "name", "twice" },
		{ "{\"kind\":\"job_end\",\"name\":null,\"name\":\"b\"}", "name", "twice" },
		{ "{\"kind\":\"job_end\",\"as_of\":1,\"as_of\":2}", "as_of", "twice" },
		{ "{\"kind\":\"job_end\",\"at\":1}", "at", "does not belong to a job_end" },
		{ "{\"kind\":\"job_start\",\"steps\":[{\"step_id\":0}]}", "steps",
		  "do not belong to a job_start" },
		{ "{\"kind\":\"job_end\",\"steps\":[],\"steps\":[]}", "steps", "twice" },
		{ "{\"kind\":\"step_end\",\"steps\":[]}", "steps",
		  "does not belong to a step_end" },
		{ "{\"kind\":\"node_event\",\"steps\":[]}", "steps", "no such key" },
		{ "{\"kind\":\"job_end\",\"exit\":\"0:9\",\"exit_code\":0}", "exit_code",
		  "whole and in parts" },
		{ "{\"kind\":\"job_end\",\"exit_code\":0,\"exit\":\"0:9\"}", "exit",
		  "whole and in parts" },
		{ "{\"kind\":\"job_end\",\"exit_code\":256}", "exit_code", "from 0 to 255" },
		{ "{\"kind\":\"job_end\",\"exit_code\":-9}", "exit_code", "from 0 to 255" },
		{ "{\"kind\":\"job_end\",\"exit_signal\":128}", "exit_signal", "from 0 to 127" },
		{ "{\"kind\":\"job_end\",\"exit\":\"9:x\"}", "exit", "9:x" },
		{ "{\"kind\":\"job_end\",\"job_id\":\"1\"}", "job_id",
		  "must be a number, not a string" },
		{ "{\"kind\":\"job_end\",\"priority\":-3}", "priority", "is negative" },
		{ "{\"kind\":\"job_end\",\"priority\":1.5}", "priority", "not a whole number" },
		{ "{\"kind\":\"job_end\",\"priority\":9223372036854775808}", "priority",
		  "beyond 64 bits" },
		{ "{\"kind\":\"job_end\",\"priority\":1e30}", "priority", "beyond 64 bits" },
		{ "{\"kind\":\"job_end\",\"submit\":\"2026-08-21T15:38:00\"}", "submit",
		  "is no time" },
		{ "{\"kind\":\"job_end\",\"submit\":\"yesterday\"}", "submit", "is no time" },
		{ "{\"kind\":\"job_end\",\"submit\":-100}", "submit", "is negative" },
		{ "{\"kind\":\"job_end\",\"state\":\"DONE\"}", "state", "COMPLETED" },
		{ "{\"kind\":\"job_end\",\"timelimit\":\"10x\"}", "timelimit", "10x" },
		{ "{\"kind\":\"job_end\",\"tres_alloc\":{\"cpu\":-4}}", "tres_alloc",
		  "\"cpu\" is negative" },
		{ "{\"kind\":\"job_end\",\"tres_alloc\":{\"cpu\":4,\"cpu\":4}}", "tres_alloc",
		  "twice" },
		{ "{\"kind\":\"job_end\",\"tres_alloc\":{\"\":4}}", "tres_alloc",
		  "no name of a TRES" },
		{ "{\"kind\":\"job_end\",\"tres_alloc\":\"cpu=4x\"}", "tres_alloc", "cpu=4x" },
		{ "{\"kind\":\"job_end\",\"tres_alloc\":[]}", "tres_alloc",
		  "must be an object, not an array" },
		{ "{\"kind\":\"job_end\",\"flags\":[\"NoFlag\"]}", "flags", "NoFlag" },
		{ "{\"kind\":\"job_end\",\"req_mem_per\":\"socket\"}", "req_mem_per", "socket" },
		{ "{\"kind\":\"job_end\",\"suspensions\":[{\"at\":1}]}", "suspensions", "what" },
		{ "{\"kind\":\"job_end\",\"row_id\":\"12x\"}", "row_id", "string of digits" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"steps\":[{\"step_id\":0},{\"exit_code\":"
		  "999}]}",
		  "steps[1].exit_code", "from 0 to 255" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"steps\":[{\"step_id\":\"bach\"}]}",
		  "steps[0].step_id", "\"batch\"" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"steps\":[{\"stepid\":0}]}",
		  "steps[0].stepid", "did you mean \"step_id\"?" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"steps\":[{\"step_id\":0,\"job_id\":2}]}",
		  "steps[0].job_id", "is not the job's" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"steps\":[7]}", "steps[0]",
		  "must be an object" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"steps\":{}}", "steps", "must be an array" },
		{ "{\"kind\":\"step_end\",\"step_id\":-7}", "step_id", "is no step" },
		{ "{\"kind\":\"step_end\",\"account\":\"a\"}", "account", "no such key" },
		{ "{\"kind\":\"node_event\",\"node\":\"n1\",\"at\":5}", "up", "is missing" },
		{ "{\"kind\":\"node_event\",\"nod\":\"n1\"}", "nod", "did you mean \"node\"?" },
		{ "{\"kind\":\"node_event\",\"node\":\"n1\",\"node\":\"n1\"}", "node", "twice" },
		{ "{\"kind\":\"node_event\",\"up\":1}", "up", "true or false" },
		{ "{\"kind\":\"cluster_tres\",\"tres\":{\"cpu\":true}}", "tres",
		  "must be a number" },
		{ "{\"kind\":\"job_end\",\"name\":nul}", "name", "not JSON" },
		{ "{\"kind\":\"job_end\",\"name\":\"a\nb\"}", "name", "control byte 0x0a" },
	};
	struct record rec;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (decode(rows[i].json, &rec, &err) == 0)
			fail_msg("taken: %s", rows[i].json);
		assert_int_equal(err.code, ERR_INVALID);
		if (strcmp(err.where, rows[i].where) != 0 || strstr(err.text, rows[i].says) == NULL)
			fail_msg("%s\n%s: %s", rows[i].json, err.where, err.text);
		assert_ptr_equal(rec.raw, rows[i].json);
	}
}

static void cluster_comes_from_the_record_or_the_default(void **state)
{
	static const struct record_defaults none = { NULL };
	static const char *const without[] = {
		"{\"kind\":\"job_end\",\"job_id\":1}",
		"{\"kind\":\"step_end\",\"job_id\":1,\"step_id\":0}",
		"{\"kind\":\"node_event\",\"node\":\"n1\",\"up\":false,\"at\":5}",
		"{\"kind\":\"cluster_tres\",\"tres\":{\"cpu\":4},\"at\":5}",
	};
	struct record rec;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(without); i++) {
		must(without[i], &rec);
		assert_string_equal(rec.cluster, "home");
		assert_int_equal(
			record_decode(without[i], strlen(without[i]), &none, arena, &rec, &err),
			-1);
		assert_string_equal(err.where, "cluster");
	}
	must("{\"cluster\":\"c9\",\"kind\":\"job_end\"}", &rec);
	assert_string_equal(rec.cluster, "c9");
}

static void step_records(void **state)
{
	struct record rec;

	(void)state;
	must("{\"job_id\":7,\"submit\":100,\"step_id\":4294967291,\"kind\":\"step_start\","
	     "\"start\":120,\"x_s\":1,\"user\":\"ann\",\"elapsed_s\":4}",
	     &rec);
	assert_int_equal(rec.kind, REC_STEP_START);
	assert_int_equal(rec.n_steps, 1);
	assert_int_equal(rec.steps->step_id, STEP_ID_BATCH);
	assert_int_equal(rec.steps->start_at, 120);
	assert_string_equal(rec.steps->cluster, "home");
	assert_int_equal(rec.job.job_id, 7);
	assert_int_equal(rec.job.submit_at, 100);
	assert_true(rec.submit_known);
	must("{\"kind\":\"step_end\",\"job_id\":7,\"step_id\":3}", &rec);
	assert_false(rec.submit_known);
	assert_int_equal(rec.as_of, AS_OF_UNKNOWN);
}

static void node_events_and_cluster_tres(void **state)
{
	struct record rec;

	(void)state;
	must("{\"kind\":\"node_event\",\"node\":\"n1\",\"at\":\"2026-01-01T00:00:00Z\",\"up\":"
	     "false,"
	     "\"state\":\"DOWN\",\"state_raw\":1,\"reason\":\"fan | noise\",\"reason_uid\":0,"
	     "\"tres\":\"mem=1G,cpu=8\",\"x_a\":null}",
	     &rec);
	assert_string_equal(rec.node.node, "n1");
	assert_int_equal(rec.node.at, 1767225600);
	assert_false(rec.node.up);
	assert_string_equal(rec.node.state, "DOWN");
	assert_int_equal(rec.node.state_raw, 1);
	assert_int_equal(rec.node.reason_uid, 0);
	assert_string_equal(rec.node.tres, "cpu=8,mem=1024");
	assert_null(rec.node.extra);
	must("{\"kind\":\"node_event\",\"node\":\"n1\",\"at\":5,\"up\":true}", &rec);
	assert_true(rec.node.up);
	assert_int_equal(rec.node.state_raw, -1);
	assert_int_equal(rec.node.reason_uid, -1);
	must("{\"kind\":\"cluster_tres\",\"at\":5,\"nodes\":\"n[1-4]\",\"tres\":{\"cpu\":32}}",
	     &rec);
	assert_int_equal(rec.tres.at, 5);
	assert_string_equal(rec.tres.nodes, "n[1-4]");
	assert_string_equal(rec.tres.tres, "cpu=32");
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
		cmocka_unit_test(keys),
		cmocka_unit_test(a_whole_record),
		cmocka_unit_test(not_said),
		cmocka_unit_test(refused),
		cmocka_unit_test(cluster_comes_from_the_record_or_the_default),
		cmocka_unit_test(step_records),
		cmocka_unit_test(node_events_and_cluster_tres),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

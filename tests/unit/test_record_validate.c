/* What a record needs, what contradicts itself, what follows from it: JSON in, the verdict. */
#include "core/exit.h"
#include "core/merge.h"
#include "core/record_json.h"
#include "core/state.h"
#include "core/words.h"

#include <setjmp.h>
#include <cmocka.h>

static struct arena *arena;
static const struct record_defaults defaults = { .cluster = "home" };

static int validate(const char *json, struct record *rec, struct err *err)
{
	arena_reset(arena);
	*err = (struct err){ 0 };
	if (record_decode(json, strlen(json), &defaults, arena, rec, err) < 0)
		fail_msg("%s\n%s: %s", json, err->where, err->text);
	return record_validate(rec, arena, err);
}

static void must(const char *json, struct record *rec)
{
	struct err err;

	if (validate(json, rec, &err) < 0)
		fail_msg("%s\n%s: %s", json, err.where, err.text);
}

static void refused(void **state)
{
	static const struct {
		const char *json;
		const char *where;
		const char *says;
	} rows[] = {
		{ "{\"kind\":\"job_end\",\"end\":5}", "job_id", "is missing" },
		{ "{\"kind\":\"job_end\",\"end\":5,\"job_id\":0}", "job_id", "from 1 to" },
		{ "{\"kind\":\"job_end\",\"end\":5,\"job_id\":4294967296}", "job_id", "from 1 to" },
		{ "{\"kind\":\"job_end\",\"job_id\":1}", "submit", "submit, start or end" },
		{ "{\"kind\":\"job_start\",\"job_id\":1,\"submit\":0}", "submit",
		  "submit, start or end" },
		{ "{\"kind\":\"step_end\",\"job_id\":1,\"step_id\":0}", "submit",
		  "its job's submit" },
		{ "{\"kind\":\"job_start\",\"job_id\":1,\"start\":253402300800}", "start",
		  "after the year 9999" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":1200798847200,\"end\":9}",
		  "submit", "after the year 9999" }, /* the year 40022 */
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":\"1969-12-31T23:59:59Z\"}", "end",
		  "before 1970" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"as_of\":999999999999999}",
		  "as_of", "after the year 9999" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"suspensions\":\"S999999999999\"}",
		  "suspensions", "after the year 9999" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"steps\":[{\"step_id\":0,"
		  "\"end\":999999999999}]}",
		  "end", "after the year 9999" },
		{ "{\"kind\":\"job_start\",\"job_id\":1,\"start\":5,\"end\":6}", "end",
		  "send a job_end" },
		{ "{\"kind\":\"job_start\",\"job_id\":1,\"start\":5,\"state\":\"FAILED\"}", "state",
		  "send a job_end" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":5,\"state\":\"RUNNING\"}", "state",
		  "has ended" },
		/* FC-060 */
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"start\":0,\"end\":0,"
		  "\"state\":\"COMPLETED\"}",
		  "end", "is 0, and there is no start" },
		{ "{\"kind\":\"job_suspend\",\"job_id\":1,\"submit\":4}", "at", "is missing" },
		{ "{\"kind\":\"job_resume\",\"job_id\":1,\"submit\":4,\"at\":0}", "at",
		  "is missing" },
		{ "{\"kind\":\"job_resize\",\"job_id\":1,\"submit\":4}", "at", "is missing" },
		{ "{\"kind\":\"job_suspend\",\"at\":4}", "job_id", "is missing" },
		{ "{\"kind\":\"step_start\",\"job_id\":1,\"submit\":4}", "step_id", "is missing" },
		{ "{\"kind\":\"step_start\",\"job_id\":1,\"submit\":4,\"step_id\":0,\"end\":5}",
		  "end", "send a step_end" },
		{ "{\"kind\":\"step_start\",\"job_id\":1,\"submit\":4,\"step_id\":0,"
		  "\"state\":\"FAILED\"}",
		  "state", "send a step_end" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"steps\":[{\"step_id\":0},{}]}",
		  "steps[1].step_id", "is missing" },
		{ "{\"kind\":\"node_event\",\"up\":true,\"at\":5}", "node",
		  "must be a node's name" },
		{ "{\"kind\":\"node_event\",\"up\":true,\"at\":5,\"node\":\"\"}", "node",
		  "1 to 255" },
		{ "{\"kind\":\"node_event\",\"up\":true,\"node\":\"n1\"}", "at", "is missing" },
		{ "{\"kind\":\"cluster_tres\",\"at\":5}", "tres", "is missing" },
		{ "{\"kind\":\"cluster_tres\",\"tres\":{\"cpu\":4}}", "at", "is missing" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"cluster\":\"\"}", "cluster",
		  "1 to 255" },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"tres_req\":{\"a\xff\":1,"
		  "\"a\xfe\":2}}",
		  "tres_req", "not UTF-8" },
	};
	struct record rec;
	struct err err;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		if (validate(rows[i].json, &rec, &err) == 0)
			fail_msg("taken: %s", rows[i].json);
		assert_int_equal(err.code, ERR_INVALID);
		if (strcmp(err.where, rows[i].where) != 0 || strstr(err.text, rows[i].says) == NULL)
			fail_msg("%s\n%s: %s", rows[i].json, err.where, err.text);
	}
}

static void little_is_enough(void **state)
{
	static const char *const rows[] = {
		"{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"state\":\"FAILED\"}",
		"{\"kind\":\"job_end\",\"job_id\":4294967295,\"end\":4,\"exit_code\":1,\"elapsed_"
		"s\":3,"
		"\"max_rss_bytes\":77}",
		"{\"kind\":\"job_start\",\"job_id\":1,\"start\":4}",
		"{\"kind\":\"job_start\",\"job_id\":1,\"submit\":\"2009-01-01T00:00:00Z\"}",
		"{\"kind\":\"job_start\",\"job_id\":1,\"submit\":\"2093-12-31T23:59:59Z\"}",
		"{\"kind\":\"job_start\",\"job_id\":1,\"submit\":253402300799}",
		"{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"start\":1700000100,"
		"\"end\":1700000040}",
		"{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"end\":9,\"state\":\"NODE_"
		"FAIL\"}",
		"{\"kind\":\"job_suspend\",\"job_id\":1,\"at\":5}",
		"{\"kind\":\"job_resize\",\"job_id\":1,\"submit\":4,\"at\":5,\"nodes\":\"n1\"}",
		"{\"kind\":\"step_end\",\"job_id\":1,\"step_id\":\"batch\",\"end\":5}",
		"{\"kind\":\"node_event\",\"up\":false,\"at\":5,\"node\":\"n1\"}",
		"{\"kind\":\"cluster_tres\",\"at\":5,\"tres\":{\"cpu\":4}}",
	};
	struct record rec;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		must(rows[i], &rec);
}

/* FC-060: 0 on the wire is "not set". */
static void zero_is_not_a_time(void **state)
{
	struct record rec;

	(void)state;
	must("{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"start\":0,\"end\":1700000600}",
	     &rec);
	assert_false(job_has(&rec.job, start_at));
	assert_int_equal(rec.job.end_at, 1700000600);
	must("{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"start\":1700000000,\"end\":0,"
	     "\"state\":\"COMPLETED\"}",
	     &rec);
	assert_int_equal(rec.job.end_at, 1700000000);
	must("{\"kind\":\"job_end\",\"job_id\":1,\"start\":1700000000,\"end\":0,\"elapsed_s\":9}",
	     &rec);
	assert_int_equal(rec.job.end_at, 1700000009);
	assert_false(rec.submit_known);
	must("{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4,\"start\":0,\"eligible\":0}", &rec);
	assert_false(job_has(&rec.job, start_at));
	assert_true(job_has(&rec.job, eligible_at) && rec.job.eligible_at == 0);
	assert_int_equal(rec.job.state, STATE_PENDING);
	must("{\"kind\":\"step_end\",\"job_id\":1,\"submit\":4,\"step_id\":0,\"start\":0,\"end\":"
	     "0}",
	     &rec);
	assert_false(step_has(rec.steps, start_at) || step_has(rec.steps, end_at));
}

static void states_that_nobody_named(void **state)
{
	static const struct {
		const char *json;
		int64_t want;
	} rows[] = {
		{ "{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4}", STATE_PENDING },
		{ "{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4,\"start\":5}", STATE_RUNNING },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"end\":5}", STATE_COMPLETED },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":5,\"exit_code\":0}",
		  STATE_COMPLETED },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":5,\"exit_code\":3}", STATE_FAILED },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":5,\"exit\":\"0:9\"}", STATE_FAILED },
		{ "{\"kind\":\"job_end\",\"job_id\":1,\"end\":5,\"exit\":\"0:125\"}",
		  STATE_OUT_OF_MEMORY },
		{ "{\"kind\":\"step_start\",\"job_id\":1,\"submit\":4,\"step_id\":0}",
		  STATE_RUNNING },
		{ "{\"kind\":\"step_end\",\"job_id\":1,\"submit\":4,\"step_id\":0}",
		  STATE_COMPLETED },
		{ "{\"kind\":\"step_end\",\"job_id\":1,\"submit\":4,\"step_id\":0,\"exit_code\":1}",
		  STATE_FAILED },
		{ "{\"kind\":\"step_end\",\"job_id\":1,\"submit\":4,\"step_id\":0,\"exit\":\"0:"
		  "15\"}",
		  STATE_CANCELLED },
		{ "{\"kind\":\"step_end\",\"job_id\":1,\"submit\":4,\"step_id\":0,\"exit\":\"0:"
		  "125\"}",
		  STATE_OUT_OF_MEMORY },
		{ "{\"kind\":\"step_end\",\"job_id\":1,\"submit\":4,\"step_id\":0,\"exit_code\":1,"
		  "\"state\":\"RUNNING\"}",
		  STATE_FAILED },
	};
	struct record rec;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		must(rows[i].json, &rec);
		bool step = rec.n_steps > 0;
		int64_t got = step ? rec.steps->state : rec.job.state;
		if (got != rows[i].want)
			fail_msg("%s: %s", rows[i].json, state_name(got));
		assert_int_not_equal(step ? rec.steps->rank[STEP_state] : rec.job.rank[JOB_state],
				     RANK_NONE);
	}
	/* Neither a suspension nor a resize says anything of the state. */
	must("{\"kind\":\"job_suspend\",\"job_id\":1,\"at\":5}", &rec);
	assert_false(job_has(&rec.job, state));
}

static int64_t state_after(const char *const *records, size_t n, bool backwards)
{
	struct arena *a = arena_new();
	struct job row = { 0 };

	for (size_t i = 0; i < n; i++) {
		const char *json = records[backwards ? n - 1 - i : i];
		struct record rec;
		struct err err;
		if (record_decode(json, strlen(json), &defaults, a, &rec, &err) < 0 ||
		    record_validate(&rec, a, &err) < 0)
			fail_msg("%s: %s", json, err.text);
		record_stamp(&rec);
		job_merge(&row, &rec.job, false, a);
	}
	int64_t s = row.state;
	arena_free(a);
	return s;
}

/* What nobody named gives way to what anybody names, whatever the order and the as_of. */
static void a_made_up_state_gives_way(void **state)
{
	static const struct {
		const char *records[3];
		size_t n;
		int64_t want;
	} rows[] = {
		{ { "{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4,\"start\":5,\"as_of\":5}",
		    "{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4,\"comment\":\"x\",\"as_of\":"
		    "9}" },
		  2,
		  STATE_RUNNING },
		{ { "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"end\":9,\"state\":"
		    "\"TIMEOUT\","
		    "\"as_of\":9}",
		    "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"end\":9,\"as_of\":12,"
		    "\"max_rss_bytes\":7}" },
		  2,
		  STATE_TIMEOUT },
		{ { "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"end\":9}",
		    "{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4,\"start\":5,\"as_of\":99,"
		    "\"state\":\"RUNNING\"}" },
		  2,
		  STATE_COMPLETED },
		{ { "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"exit_code\":0}",
		    "{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"state\":\"CANCELLED\"}" },
		  2,
		  STATE_CANCELLED },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(state_after(rows[i].records, rows[i].n, false), rows[i].want);
		assert_int_equal(state_after(rows[i].records, rows[i].n, true), rows[i].want);
	}
}

/* FC-007, FC-010, FC-132: bytes that are not UTF-8 are mended, everything else stays. */
static void text_is_mended(void **state)
{
	struct record rec;
	struct job row = { 0 };

	(void)state;
	must("{\"kind\":\"job_end\",\"job_id\":1,\"submit\":4,\"end\":9,\"name\":\"job\xff\xfe\","
	     "\"comment\":\"\\u001b[31mred \\u001b[0m\\t\\u0007\\u007f\",\"user\":\"DOM\\\\ann\","
	     "\"account\":\"\\udcff\",\"partition\":\"a\\u0000b\","
	     "\"tres_alloc\":{\"gres/gpu:\xff\":1,\"cpu\":4},"
	     "\"steps\":[{\"step_id\":0,\"name\":\"s\xe9\"}]}",
	     &rec);
	assert_string_equal(rec.job.name, "job\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(rec.job.comment, "\x1b[31mred \x1b[0m\t\a\x7f");
	assert_string_equal(rec.job.user_name, "DOM\\ann");
	assert_string_equal(rec.job.account, "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd");
	assert_string_equal(rec.job.partition, "a\xef\xbf\xbd\xef\xbf\xbd"
					       "b");
	assert_string_equal(rec.job.tres_alloc, "cpu=4,gres/gpu:\xef\xbf\xbd=1");
	assert_string_equal(rec.steps->name, "s\xef\xbf\xbd");
	record_stamp(&rec);
	job_merge(&row, &rec.job, false, arena);
	job_derive(&row, NULL, 0, arena);
	assert_true((row.flaws & FLAW_TEXT_MENDED) != 0);
}

/* FC-137: nothing is cut. */
static void names_are_whole(void **state)
{
	static char json[16384], dir[4001], name[1025], account[61];
	struct record rec;

	(void)state;
	memset(dir, 'd', sizeof(dir) - 1);
	memset(name, 'n', sizeof(name) - 1);
	memset(account, 'a', sizeof(account) - 1);
	snprintf(json, sizeof(json),
		 "{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"name\":\"%s\",\"work_dir\":\"%s\","
		 "\"account\":\"%s\"}",
		 name, dir, account);
	must(json, &rec);
	assert_string_equal(rec.job.work_dir, dir);
	assert_string_equal(rec.job.name, name);
	assert_string_equal(rec.job.account, account);
}

static void instants_of_suspension(void **state)
{
	struct record rec;

	(void)state;
	must("{\"kind\":\"job_suspend\",\"job_id\":1,\"submit\":4,\"at\":50}", &rec);
	assert_string_equal(rec.job.moments, "S50");
	must("{\"kind\":\"job_resume\",\"job_id\":1,\"submit\":4,\"at\":60,\"suspensions\":"
	     "\"S50\"}",
	     &rec);
	assert_string_equal(rec.job.moments, "S50,R60");
}

static void what_is_stated_gives_way_to_what_is_finer(void **state)
{
	struct record rec;

	(void)state;
	must("{\"kind\":\"job_end\",\"job_id\":1,\"start\":4,\"end\":9,\"elapsed_s\":77,"
	     "\"max_rss_bytes\":5,\"total_cpu_us\":6}",
	     &rec);
	assert_false(job_has(&rec.job, rec_elapsed));
	assert_int_equal(rec.job.rec_max_rss, 5);
	must("{\"kind\":\"job_end\",\"job_id\":1,\"end\":9,\"elapsed_s\":77,\"max_rss_bytes\":5,"
	     "\"total_cpu_us\":6,\"steps\":[{\"step_id\":0,\"usage_in_max\":{\"mem\":9},"
	     "\"user_cpu_us\":3}]}",
	     &rec);
	assert_int_equal(rec.job.rec_elapsed, 77);
	assert_false(job_has(&rec.job, rec_max_rss));
	assert_false(job_has(&rec.job, rec_cpu_us));
}

/* FC-012, as the controllers' door has it: the raw 64 bits. */
static void memory_per_cpu_in_bit_63(void **state)
{
	struct record rec;
	struct err err;

	(void)state;
	must("{\"kind\":\"job_start\",\"job_id\":1,\"submit\":4}", &rec);
	job_set(&rec.job, req_mem, (int64_t)UINT64_C(9223372036854779904));
	assert_int_equal(record_validate(&rec, arena, &err), 0);
	assert_int_equal(rec.job.req_mem, 4096);
	assert_int_equal(rec.job.req_mem_per, PER_CPU);
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
		cmocka_unit_test(refused),
		cmocka_unit_test(little_is_enough),
		cmocka_unit_test(zero_is_not_a_time),
		cmocka_unit_test(states_that_nobody_named),
		cmocka_unit_test(a_made_up_state_gives_way),
		cmocka_unit_test(text_is_mended),
		cmocka_unit_test(names_are_whole),
		cmocka_unit_test(instants_of_suspension),
		cmocka_unit_test(what_is_stated_gives_way_to_what_is_finer),
		cmocka_unit_test(memory_per_cpu_in_bit_63),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

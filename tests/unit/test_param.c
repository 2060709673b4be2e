/* Parameters: every type's accepted forms and what is refused, from query strings and from JSON. */
#include "unit.h"

#include "api/args.h"
#include "core/state.h"
#include "core/zone.h"

/* 2026-08-21T15:38:00Z */
#define NOW INT64_C(1787326680)

static struct arena *arena;

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

static struct jobs_args *parsed(const char *query)
{
	struct params_context ctx = { .arena = arena, .now = NOW };
	struct err err = { 0 };
	void *args;

	if (params_parse(&params_JOBS, query, &ctx, &args, &err) < 0)
		fail_msg("%s: %s: %s", query, err.where, err.text);
	return args;
}

static struct err refused(const char *query)
{
	struct params_context ctx = { .arena = arena, .now = NOW };
	struct err err = { 0 };
	void *args;

	if (params_parse(&params_JOBS, query, &ctx, &args, &err) == 0)
		fail_msg("%s is accepted", query);
	assert_int_equal(err.code, ERR_INVALID);
	assert_true(err.where[0] != '\0');
	assert_true(err.text[0] != '\0');
	return err;
}

static void nothing_is_the_default(void **state)
{
	static const char *const queries[] = { NULL, "", "&", "&&&" };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(queries); i++) {
		struct jobs_args *a = parsed(queries[i]);
		assert_int_equal(a->limit, -1);
		assert_int_equal(a->filter.start, TIME_UNSET);
		assert_int_equal(a->filter.cpus_min, -1);
		assert_int_equal(a->filter.n_jobs, 0);
		assert_int_equal(a->format, FORMAT_UNSAID);
	}
}

static void lists(void **state)
{
	struct jobs_args *a = parsed("user=ann,bob&account=a%2Cb&user=carl&uid=0,1000,4294967295");

	(void)state;
	assert_int_equal(a->filter.users.n, 3);
	assert_string_equal(a->filter.users.v[0], "ann");
	assert_string_equal(a->filter.users.v[1], "bob");
	assert_string_equal(a->filter.users.v[2], "carl");
	assert_int_equal(a->filter.accounts.n, 2);
	assert_int_equal(a->filter.uids.n, 3);
	assert_int_equal(a->filter.uids.v[2], INT64_C(4294967295));
}

static void names_are_data(void **state)
{
	/* FC-009, FC-132, and + as forms write a blank */
	struct jobs_args *a = parsed("name=x%27%29%3B+drop%20table,50%25_%5C&user=ksa@bio.example,"
				     "DOM%5Cann&name=a%2Bb");

	(void)state;
	assert_string_equal(a->filter.names.v[0], "x'); drop table");
	assert_string_equal(a->filter.names.v[1], "50%_\\");
	assert_string_equal(a->filter.names.v[2], "a+b");
	assert_string_equal(a->filter.users.v[0], "ksa@bio.example");
	assert_string_equal(a->filter.users.v[1], "DOM\\ann");
}

static void times(void **state)
{
	/* FC-156: the same instant in every form */
	static const struct {
		const char *query;
		int64_t want;
	} rows[] = {
		{ "start=1787326680", NOW },
		{ "start=2026-08-21T15:38:00Z", NOW },
		{ "start=2026-08-21T17:38:00%2B02:00", NOW },
		{ "start=2026-08-21T17:38:00+02:00", NOW }, /* a raw + is a plus here */
		{ "start=2026-08-21T17:38:00+0200", NOW },
		{ "start=now", NOW },
		{ "start=now-7days", NOW - 7 * 86400 },
		{ "start=now-1hour", NOW - 3600 },
		{ "start=2026-08-21", NOW - 15 * 3600 - 38 * 60 },
		{ "start=2026-08-21&zone=Europe/Berlin", NOW - 17 * 3600 - 38 * 60 },
		{ "zone=Europe/Berlin&start=2026-08-21", NOW - 17 * 3600 - 38 * 60 },
		{ "start=2026-08-21T17:38:00&zone=Europe/Berlin", NOW },
		{ "start=2026-08-21T15:38:00&zone=UTC", NOW },
		{ "start=2026-08-21T15:38:00Z&zone=America/New_York", NOW },
		{ "start=2026-08-21T11:38&zone=America/New_York", NOW },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(parsed(rows[i].query)->filter.start, rows[i].want);
}

static void a_time_without_an_offset_is_never_silently_local(void **state)
{
	/* FC-071 */
	struct err err = refused("start=2026-08-21T15:38:00");

	(void)state;
	assert_string_equal(err.where, "start");
	assert_non_null(strstr(err.text, "zone="));
}

static void ranges(void **state)
{
	struct jobs_args *a = parsed("ncpus=4&nnodes=2-8");

	(void)state;
	assert_int_equal(a->filter.cpus_min, 4);
	assert_int_equal(a->filter.cpus_max, 4);
	assert_int_equal(a->filter.nodes_min, 2);
	assert_int_equal(a->filter.nodes_max, 8);
	a = parsed("ncpus=4-");
	assert_int_equal(a->filter.cpus_min, 4);
	assert_true(a->filter.cpus_max == INT64_MAX);
}

static void states_and_flags(void **state)
{
	struct jobs_args *a = parsed("state=r,CD,out_of_memory&flags=SchedMain,schedbackfill");

	(void)state;
	assert_int_equal(a->filter.states.n, 3);
	assert_int_equal(a->filter.states.v[0], STATE_RUNNING);
	assert_int_equal(a->filter.states.v[1], STATE_COMPLETED);
	assert_int_equal(a->filter.states.v[2], STATE_OUT_OF_MEMORY);
	assert_true(a->filter.flags_any != 0);
}

static void jobs_and_hets(void **state)
{
	struct jobs_args *a = parsed("job=12,13_4&job=14+1&job=15_[1-2]&whole_het=true");

	(void)state;
	assert_int_equal(a->filter.n_jobs, 5);
	assert_int_equal(a->filter.jobs[0].job_id, 12);
	assert_int_equal(a->filter.jobs[1].array_task, 4);
	assert_int_equal(a->filter.jobs[2].job_id, 14);
	assert_int_equal(a->filter.jobs[2].het_offset, 1);
	assert_int_equal(a->filter.jobs[4].array_task, 2);
	assert_int_equal(a->filter.het, HET_WHOLE);
}

static void fields_and_order(void **state)
{
	struct jobs_args *a = parsed("fields=job_id,state,elapsed_s,job_id&sort=-start&times=epoch"
				     "&format=csv&limit=10&after=abc");

	(void)state;
	assert_int_equal(a->rows.fields.n, 3);
	assert_int_equal(a->rows.fields.keys[0], JOB_job_id);
	assert_true(has_bit(a->rows.fields.mask, JOB_state));
	assert_false(has_bit(a->rows.fields.mask, JOB_name));
	assert_true(a->sort.given && a->sort.descending);
	assert_int_equal(a->sort.key, JOB_start_at);
	assert_true(a->rows.epoch);
	assert_int_equal(a->format, FORMAT_CSV);
	assert_int_equal(a->limit, 10);
	assert_string_equal(a->after, "abc");
}

static void flags(void **state)
{
	(void)state;
	assert_true(parsed("duplicates")->filter.duplicates);
	assert_true(parsed("duplicates=")->filter.duplicates);
	assert_true(parsed("duplicates=true")->filter.duplicates);
	assert_true(parsed("duplicates=1")->filter.duplicates);
	assert_false(parsed("duplicates=no")->filter.duplicates);
}

static void what_is_wrong_names_the_parameter_and_the_forms(void **state)
{
	static const struct {
		const char *query, *where, *says;
	} rows[] = {
		{ "stat=R", "stat", "state" }, /* the nearest */
		{ "no_such_thing_at_all=1", "no_such_thing_at_all", "openapi" },
		{ "state=RUNNIG", "state", "RUNNING" },
		{ "state=", "state", "empty" },
		{ "start=yesterdayish", "start", "now-7days" },
		{ "start=20260821T153800", "start", "accepted" },
		{ "limit=-1", "limit", "whole number" },
		{ "limit=10x", "limit", "whole number" },
		{ "limit=", "limit", "whole number" },
		{ "limit=1&limit=2", "limit", "twice" },
		{ "uid=ann", "uid", "ann" },
		{ "uid=1,,2", "uid", "empty" },
		{ "uid=-5", "uid", "-5" },
		{ "job=abc", "job", "12_3" },
		{ "ncpus=8-4", "ncpus", "smaller" },
		{ "ncpus=x", "ncpus", "N-M" },
		{ "nnodes=1-2-3", "nnodes", "N-M" },
		{ "timelimit_min=soon", "timelimit_min", "accepted" },
		{ "flags=NoSuchFlag", "flags", "SchedMain" },
		{ "nodes=n[1-", "nodes", "hostlist" },
		{ "zone=Mars/Olympus", "zone", "Europe/Berlin" },
		{ "fields=job_id,nope", "fields", "nope" },
		{ "step_fields=array_job_id", "step_fields", "array_job_id" },
		{ "sort=nope", "sort", "nope" },
		{ "sort=", "sort", "key" },
		{ "format=xml", "format", "ndjson" },
		{ "times=unix", "times", "epoch" },
		{ "duplicates=maybe", "duplicates", "true" },
		{ "whole_het=x", "whole_het", "true" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = refused(rows[i].query);
		assert_string_equal(err.where, rows[i].where);
		if (strstr(err.text, rows[i].says) == NULL)
			fail_msg("%s: \"%s\" does not say %s", rows[i].query, err.text,
				 rows[i].says);
	}
}

static void broken_escapes(void **state)
{
	static const char *const texts[] = {
		"%", "%4", "%zz", "%00", "a%", "%ff", "%c3", "%c3%28"
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct err err = { 0 };
		const char *out;
		assert_int_equal(
			percent_decode(texts[i], strlen(texts[i]), true, arena, &out, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
	}
}

static struct jobs_args *from_json(const char *json, int want, struct err *err)
{
	struct params_context ctx = { .arena = arena, .now = NOW };
	void *args;

	assert_int_equal(params_parse(&params_JOBS, NULL, &ctx, &args, err), 0);
	assert_int_equal(params_parse_json(&params_JOBS, json, strlen(json), &ctx, args, err),
			 want);
	return args;
}

static void json_says_the_same(void **state)
{
	struct err err = { 0 };
	struct jobs_args *a = from_json(
		"{\"job\":[1,2,\"3_4\",\"5,6\"],\"user\":[\"a,b\",\"c\"],\"account\":\"x,y\","
		"\"limit\":5,\"duplicates\":true,\"steps\":false,\"name\":null,"
		"\"start\":\"2026-08-21T17:38:00\",\"zone\":\"Europe/Berlin\",\"end\":1787326681}",
		0, &err);

	(void)state;
	assert_int_equal(a->filter.n_jobs, 5);
	assert_int_equal(a->filter.jobs[2].array_task, 4);
	assert_int_equal(a->filter.users.n, 2);
	assert_string_equal(a->filter.users.v[0], "a,b"); /* in an array a comma is a comma */
	assert_int_equal(a->filter.accounts.n, 2);
	assert_int_equal(a->limit, 5);
	assert_true(a->filter.duplicates);
	assert_false(a->filter.with_steps);
	assert_int_equal(a->filter.names.n, 0);
	assert_int_equal(a->filter.start, NOW);
	assert_int_equal(a->filter.end, NOW + 1);
}

static void json_that_is_wrong(void **state)
{
	static const char *const bodies[] = {
		"",
		"[]",
		"{",
		"{}x",
		"12",
		"{\"nope\":1}",
		"{\"job\":{}}",
		"{\"job\":[[1]]}",
		"{\"limit\":[1]}",
		"{\"limit\":1.5}",
		"{\"state\":[\"X\"]}",
		"{\"user\":[\"\\u0000\"]}",
		"{\"user\":[\"\\ud800\"]}",
		"{\"start\":\"2026-08-21T17:38:00\"}",
		"{\"job\":[1,]}",
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
		struct err err = { 0 };
		from_json(bodies[i], -1, &err);
		assert_int_equal(err.code, ERR_INVALID);
		assert_true(err.text[0] != '\0');
	}
}

static void twenty_thousand_ids(void **state)
{
	struct buf b = BUF_INIT;
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < 20000; i++)
		buf_printf(&b, "%s%d", i == 0 ? "{\"job\":[" : ",", i + 1);
	buf_adds(&b, "]}");
	struct jobs_args *a = from_json(buf_str(&b), 0, &err);
	assert_int_equal(a->filter.n_jobs, 20000);
	assert_int_equal(a->filter.jobs[19999].job_id, 20000);
	buf_fini(&b);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(nothing_is_the_default),
		TEST(lists),
		TEST(names_are_data),
		TEST(times),
		TEST(a_time_without_an_offset_is_never_silently_local),
		TEST(ranges),
		TEST(states_and_flags),
		TEST(jobs_and_hets),
		TEST(fields_and_order),
		TEST(flags),
		TEST(what_is_wrong_names_the_parameter_and_the_forms),
		TEST(broken_escapes),
		TEST(json_says_the_same),
		TEST(json_that_is_wrong),
		TEST(twenty_thousand_ids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

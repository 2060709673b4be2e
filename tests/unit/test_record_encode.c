/* Rows as JSON: what they look like, and back again. */
#include "core/record_json.h"

#include "core/exit.h"
#include "core/merge.h"
#include "core/state.h"
#include "core/words.h"

#include <jansson.h>
#include <setjmp.h>
#include <cmocka.h>

static struct arena *arena;

static const char *encode(const struct job *j, const struct step *steps, size_t n,
			  const struct row_style *style)
{
	struct buf out = BUF_INIT;

	buf_adds(&out, "before:");
	job_encode_json(&out, j, steps, n, style);
	assert_false(buf_failed(&out));
	assert_int_equal(strlen(buf_str(&out)), out.len);
	assert_memory_equal(buf_str(&out), "before:", 7);
	const char *text = arena_strndup(arena, out.data + 7, out.len - 7);
	buf_fini(&out);
	return text;
}

static void mask_of(uint64_t mask[HAS_WORDS], const char *const *keys, size_t n)
{
	memset(mask, 0, HAS_WORDS * sizeof(mask[0]));
	for (size_t i = 0; i < n; i++) {
		int k = job_key_find(keys[i], strlen(keys[i]));
		assert_true(k >= 0);
		has_set(mask, (size_t)k);
	}
}

/* Each form, by one key. */
static void forms(void **state)
{
	struct job j = { 0 };
	static const struct {
		const char *key;
		const char *want;
	} rows[] = {
		{ "job_id", "{\"job_id\":4000000000}" },
		{ "row_id", "{\"row_id\":\"18446744073709551613\"}" },
		{ "name", "{\"name\":\"a|b \\\"q\\\" \\u001b[31m\\t\\u007f\\\\\"}" },
		{ "user", "{\"user\":\"DOM\\\\ann\"}" },
		{ "group", "{\"group\":\"dom\xc3\xa4nen\"}" },
		{ "submit", "{\"submit\":\"2026-08-21T15:38:00Z\"}" },
		{ "eligible", "{\"eligible\":null}" },
		{ "start", "{\"start\":null}" },
		{ "end", "{\"end\":\"2026-08-21T15:40:00Z\"}" },
		{ "timelimit", "{\"timelimit\":\"unlimited\"}" },
		{ "state", "{\"state\":\"CANCELLED\"}" },
		{ "exit", "{\"exit_code\":1,\"exit_signal\":9}" },
		{ "derived_exit", "{\"derived_exit_code\":null,\"derived_exit_signal\":null}" },
		{ "tres_alloc", "{\"tres_alloc\":{\"cpu\":4,\"gres/gpu:a\\\"b\":2,\"mem\":8000}}" },
		{ "tres_req", "{\"tres_req\":{}}" },
		{ "flags", "{\"flags\":[\"SchedMain\",\"0x40\"]}" },
		{ "flaws", "{\"flaws\":[]}" },
		{ "req_mem_per", "{\"req_mem_per\":\"node\"}" },
		{ "suspensions", "{\"suspensions\":[{\"at\":\"1970-01-01T00:00:10Z\",\"what\":"
				 "\"suspend\"},{\"at\":\"1970-01-01T00:00:20Z\",\"what\":"
				 "\"resume\"}]}" },
		{ "submit_inferred", "{\"submit_inferred\":true}" },
		{ "elapsed_s", "{\"elapsed_s\":0}" },
		{ "killed_by", "{\"killed_by\":\"root\"}" },
		{ "oom", "{\"oom\":false}" },
		{ "failed", "{\"failed\":true}" },
	};
	struct row_style style = { .now = 1787326800 };

	(void)state;
	job_set(&j, job_id, 4000000000);
	job_set(&j, row_id, -3);
	job_set(&j, name, "a|b \"q\" \x1b[31m\t\x7f\\");
	job_set(&j, user_name, "DOM\\ann");
	job_set(&j, group_name, "dom\xc3\xa4nen");
	job_set(&j, submit_at, 1787326680);
	job_set(&j, eligible_at, 0);
	job_set(&j, end_at, 1787326800);
	job_set(&j, timelimit, LIMIT_UNLIMITED);
	job_set(&j, state, STATE_CANCELLED);
	job_set(&j, exit, exit_make(1, 9));
	job_set(&j, tres_alloc, "cpu=4,gres/gpu:a\"b=2,mem=8000");
	job_set(&j, tres_req, "");
	job_set(&j, flags, FLAG_SCHED_MAIN | 0x40);
	job_set(&j, flaws, 0);
	job_set(&j, req_mem_per, PER_NODE);
	job_set(&j, moments, "S10,R20");
	job_set(&j, submit_inferred, 1);
	job_set(&j, killed_by, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		uint64_t mask[HAS_WORDS];
		mask_of(mask, &rows[i].key, 1);
		style.keys = mask;
		assert_string_equal(encode(&j, NULL, 0, &style), rows[i].want);
	}
}

static void times_as_seconds_and_partition_limit(void **state)
{
	static const char *const keys[] = { "submit", "timelimit", "suspensions", "state" };
	uint64_t mask[HAS_WORDS];
	struct row_style style = { .now = 1000, .epoch = true, .keys = mask };
	struct job j = { 0 };

	(void)state;
	mask_of(mask, keys, ARRAY_LEN(keys));
	job_set(&j, submit_at, 500);
	job_set(&j, start_at, 500);
	job_set(&j, timelimit, LIMIT_PARTITION);
	job_set(&j, moments, "S700");
	job_set(&j, state, STATE_RUNNING);
	assert_string_equal(encode(&j, NULL, 0, &style),
			    "{\"submit\":500,\"suspensions\":[{\"at\":700,\"what\":\"suspend\"}],"
			    "\"timelimit\":\"partition\",\"state\":\"SUSPENDED\"}");
}

static void computed_keys(void **state)
{
	static const char *const keys[] = { "elapsed_s",    "suspended_s", "max_rss_bytes",
					    "total_cpu_us", "killed_by",   "oom",
					    "failed" };
	uint64_t mask[HAS_WORDS];
	struct row_style style = { .now = 5000, .keys = mask };
	struct job j = { 0 };

	(void)state;
	mask_of(mask, keys, ARRAY_LEN(keys));
	job_set(&j, start_at, 1000);
	job_set(&j, state, STATE_RUNNING);
	job_set(&j, moments, "S2000,R3000");
	job_set(&j, rec_max_rss, 7);
	job_set(&j, peak_rss, 9);
	job_set(&j, rec_cpu_us, 11);
	job_set(&j, killed_by, 1000);
	job_set(&j, uid, 1000);
	job_set(&j, user_name, "ann");
	assert_string_equal(encode(&j, NULL, 0, &style),
			    "{\"elapsed_s\":3000,\"max_rss_bytes\":9,\"total_cpu_us\":11,"
			    "\"suspended_s\":1000,\"killed_by\":\"ann\",\"oom\":false,"
			    "\"failed\":null}");
	job_set(&j, end_at, 4000);
	job_set(&j, state, STATE_FAILED);
	job_set(&j, oom_step, 0);
	job_set(&j, killed_by, 4242);
	assert_string_equal(encode(&j, NULL, 0, &style),
			    "{\"elapsed_s\":2000,\"max_rss_bytes\":9,\"total_cpu_us\":11,"
			    "\"suspended_s\":1000,\"killed_by\":null,\"oom\":true,"
			    "\"failed\":true}");
}

static void nothing_chosen(void **state)
{
	uint64_t none[HAS_WORDS] = { 0 };
	struct row_style style = { .keys = none, .step_keys = none };
	struct job j = { 0 };
	struct step s = { 0 };

	(void)state;
	assert_string_equal(encode(&j, NULL, 0, &style), "{}");
	style.steps = true;
	assert_string_equal(encode(&j, NULL, 0, &style), "{\"steps\":[]}");
	assert_string_equal(encode(&j, &s, 1, &style), "{\"steps\":[{}]}");
}

static void steps(void **state)
{
	static const char *const keys[] = { "step_id",		 "het_component",
					    "usage_in_max",	 "usage_in_max_node",
					    "usage_in_max_task", "user",
					    "elapsed_s",	 "suspended_s",
					    "max_rss_bytes",	 "oom" };
	uint64_t none[HAS_WORDS] = { 0 }, mask[HAS_WORDS] = { 0 };
	struct row_style style = { .now = 9000, .keys = none, .step_keys = mask, .steps = true };
	struct job j = { 0 };
	struct step s[2] = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		has_set(mask, (size_t)step_key_find(keys[i], strlen(keys[i])));
	job_set(&j, user_name, "ann");
	job_set(&j, start_at, 900);
	job_set(&j, end_at, 2000);
	job_set(&j, moments, "S1000,R1100");
	step_set(&s[0], step_id, STEP_ID_BATCH);
	step_set(&s[0], het_comp, HET_COMP_NONE);
	step_set(&s[0], start_at, 950);
	step_set(&s[0], exit, 125);
	step_set(&s[0], in_max, "cpu=4,mem=1000");
	step_set(&s[0], in_max_node, "cpu=n1,mem=7");
	step_set(&s[0], in_max_task, "cpu=0,mem=-1,pages=007");
	step_set(&s[1], step_id, 3);
	step_set(&s[1], het_comp, 2);
	assert_string_equal(
		encode(&j, s, 2, &style),
		"{\"steps\":[{\"step_id\":\"batch\",\"het_component\":null,"
		"\"usage_in_max\":{\"cpu\":4,\"mem\":1000},"
		"\"usage_in_max_node\":{\"cpu\":\"n1\",\"mem\":\"7\"},"
		"\"usage_in_max_task\":{\"cpu\":0,\"mem\":-1,\"pages\":\"007\"},"
		"\"user\":\"ann\",\"elapsed_s\":950,\"suspended_s\":100,\"max_rss_bytes\":1000,"
		"\"oom\":true},{\"step_id\":3,\"het_component\":2,\"usage_in_max\":null,"
		"\"usage_in_max_node\":null,\"usage_in_max_task\":null,\"user\":\"ann\","
		"\"elapsed_s\":null,\"suspended_s\":null,\"max_rss_bytes\":null,\"oom\":false}]}");
}

static void past_the_limit_it_fails(void **state)
{
	struct job j = { 0 };
	struct row_style style = { 0 };
	struct buf whole = BUF_INIT;

	(void)state;
	job_set(&j, name, "a name");
	job_set(&j, tres_alloc, "cpu=4");
	job_encode_json(&whole, &j, NULL, 0, &style);
	for (size_t limit = 1; limit <= whole.len; limit++) {
		struct buf out = BUF_INIT;
		buf_limit(&out, limit);
		job_encode_json(&out, &j, NULL, 0, &style);
		assert_int_equal(buf_failed(&out), limit < whole.len);
		if (limit == whole.len)
			assert_string_equal(buf_str(&out), buf_str(&whole));
		buf_fini(&out);
	}
	buf_fini(&whole);
}

/* Random rows there and back. */

static uint64_t seed = 19700101;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static int64_t random_number(const struct field *f)
{
	static const int64_t wide[] = { 0, 1, 255, 4294967293, 4294967294, INT64_MAX };
	int64_t small = (int64_t)(next_random() % 5);

	switch ((int)f->type) {
	case FT_I64:
		if (f == &step_fields[STEP_step_id])
			return small < 4 ? small - 7 + (small == 0 ? 7 : 0) : small;
		if (f == &step_fields[STEP_het_comp])
			return small - 1;
		return (f->flags & FF_WIDE) != 0 ? wide[next_random() % ARRAY_LEN(wide)]
						 : wide[next_random() % 4];
	case FT_U64: return -3 - small;
	case FT_BOOL: return small % 2;
	case FT_TIME: return 1700000000 + (int64_t)(next_random() % 100000);
	case FT_STATE: return state_rows[next_random() % STATE_COUNT].number;
	case FT_EXIT:
		return exit_make((int64_t)(next_random() % 256), (int64_t)(next_random() % 128));
	case FT_LIMIT: return small - 2;
	case FT_WORDS:
		return f == &job_fields[JOB_flags] ? 2 * (int64_t)(next_random() % 64) : small;
	case FT_ENUM: return small % 3;
	default: return 0;
	}
}

static const char *random_text(enum field_type type)
{
	static const char *const texts[] = { "",
					     "plain",
					     "a|b\n",
					     "\xf0\x9f\x98\x80 \"\\\"",
					     "x'); drop table jobs;--",
					     "\x01\x1f\x7f" };
	static const char *const tres[] = { "", "cpu=4", "cpu=4,gres/gpu:a100=2,mem=8000",
					    "a=b=9223372036854775807" };
	static const char *const where[] = { "", "cpu=n1,mem=n2", "cpu=0,mem=-1" };
	static const char *const moments[] = { "S1700000000", "S1700000000,R1700000060" };
	uint64_t r = next_random();

	switch ((int)type) {
	case FT_TRES: return tres[r % ARRAY_LEN(tres)];
	case FT_WHERE: return where[r % ARRAY_LEN(where)];
	case FT_MOMENTS: return moments[r % ARRAY_LEN(moments)];
	default: return texts[r % ARRAY_LEN(texts)];
	}
}

static void random_row(const struct field *fields, size_t n, uint64_t *has, char *base)
{
	for (size_t f = 0; f < n; f++) {
		const char *text = random_text(fields[f].type);
		int64_t number = random_number(&fields[f]);
		if (next_random() % 3 == 0)
			continue;
		has_set(has, f);
		if (field_is_text(fields[f].type))
			memcpy(base + fields[f].offset, &text, sizeof(text));
		else
			memcpy(base + fields[f].offset, &number, sizeof(number));
	}
}

static void same_row(const struct field *fields, size_t n, const uint64_t *has,
		     const uint64_t *got_has, const char *base, const char *got)
{
	for (size_t f = 0; f < n; f++) {
		if (has_bit(has, f) != has_bit(got_has, f))
			fail_msg("%s: known %d", fields[f].json, has_bit(got_has, f));
		if (!has_bit(has, f))
			continue;
		if (field_is_text(fields[f].type)) {
			const char *x, *y;
			memcpy(&x, base + fields[f].offset, sizeof(x));
			memcpy(&y, got + fields[f].offset, sizeof(y));
			assert_string_equal(x, y);
		} else if (memcmp(base + fields[f].offset, got + fields[f].offset, 8) != 0) {
			fail_msg("%s differs", fields[f].json);
		}
	}
}

static void there_and_back(void **state)
{
	struct row_style style = { .now = 1700200000, .steps = true };

	(void)state;
	for (int i = 0; i < 5000; i++) {
		struct job j = { 0 }, back;
		struct step s[2] = { 0 }, *back_steps;
		struct jscan scan;
		struct err err = { 0 };
		size_t n;
		arena_reset(arena);
		style.epoch = i % 2 == 0;
		random_row(job_fields, JOB_FIELDS, j.has, (char *)&j);
		for (size_t k = 0; k < 2; k++) {
			random_row(step_fields, STEP_FIELDS, s[k].has, (char *)&s[k]);
			if (!step_has(&s[k], het_comp))
				step_set(&s[k], het_comp, HET_COMP_NONE);
		}
		const char *text = encode(&j, s, 2, &style);
		json_t *theirs = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
		assert_non_null(theirs);
		json_decref(theirs);
		jscan_init(&scan, text, strlen(text), arena, &err);
		if (job_decode_json(&scan, &back, &back_steps, &n) < 0 || jscan_done(&scan) < 0)
			fail_msg("%s\n%s: %s", text, err.where, err.text);
		assert_int_equal(n, 2);
		assert_string_equal(encode(&back, back_steps, n, &style), text);
		/* What an answer says otherwise than the row. */
		static const int shown[] = { JOB_state, JOB_rec_elapsed, JOB_rec_max_rss,
					     JOB_rec_cpu_us };
		for (size_t k = 0; k < ARRAY_LEN(shown); k++) {
			has_clear(j.has, (size_t)shown[k]);
			has_clear(back.has, (size_t)shown[k]);
		}
		same_row(job_fields, JOB_FIELDS, j.has, back.has, (char *)&j, (char *)&back);
		for (size_t k = 0; k < 2; k++)
			same_row(step_fields, STEP_FIELDS, s[k].has, back_steps[k].has,
				 (char *)&s[k], (char *)&back_steps[k]);
	}
}

/* Record, row, answer, and the answer sent as a record again: the row says the same.  Where it
 * shows what no record said, the answer's word takes that place, once. */
static void an_answer_is_a_record(void **state)
{
	static const struct {
		const char *kind;
		const char *members;
		bool filled;
	} rows[] = {
		{ "job_end",
		  "\"submit\":100,\"start\":110,\"end\":200,\"exit_code\":1,"
		  "\"state\":\"FAILED\",\"elapsed_s\":90,\"tres_alloc\":\"cpu=4,mem=1G\","
		  "\"steps\":[{\"step_id\":\"batch\",\"usage_in_max\":{\"mem\":5},"
		  "\"user_cpu_us\":7,\"state\":\"FAILED\"},{\"step_id\":3,"
		  "\"het_component\":1,\"exit\":\"0:125\"}]",
		  true },
		{ "job_end",
		  "\"submit\":100,\"end\":200,\"elapsed_s\":90,\"max_rss_bytes\":77,"
		  "\"total_cpu_us\":5,\"state\":\"CANCELLED by 0\"",
		  true },
		{ "job_end",
		  "\"submit\":100,\"start\":110,\"end\":300,\"eligible\":105,"
		  "\"suspensions\":\"S120,R150\",\"timelimit\":\"partition\","
		  "\"flags\":[\"SchedMain\"],\"row_id\":\"18446744073709551613\"",
		  true },
		{ "job_start",
		  "\"submit\":100,\"start\":110,\"suspensions\":\"S120\","
		  "\"name\":\"a|b\",\"state\":\"RUNNING\"",
		  true },
		{ "job_start", "\"submit\":100,\"reason\":\"Priority\",\"state\":\"PENDING\"",
		  false },
	};
	static const struct record_defaults defaults = { .cluster = "c" };
	struct row_style style = { .now = 1000, .steps = true };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job row = { 0 };
		struct step steps[2] = { 0 };
		struct record rec;
		struct err err;
		arena_reset(arena);
		const char *json = arena_printf(arena, "{\"kind\":\"%s\",\"job_id\":7,%s}",
						rows[i].kind, rows[i].members);
		const char *first = NULL;
		for (int round = 0; round < 3; round++) {
			const struct step *ptrs[2] = { &steps[0], &steps[1] };
			if (record_decode(json, strlen(json), &defaults, arena, &rec, &err) < 0 ||
			    record_validate(&rec, arena, &err) < 0)
				fail_msg("%s\n%s: %s", json, err.where, err.text);
			record_stamp(&rec);
			bool changed = job_merge(&row, &rec.job, false, arena);
			for (size_t k = 0; k < rec.n_steps; k++) {
				steps[k].step_id = rec.steps[k].step_id;
				steps[k].het_comp = rec.steps[k].het_comp;
				has_set(steps[k].has, STEP_step_id);
				has_set(steps[k].has, STEP_het_comp);
				changed |= step_merge(&steps[k], &rec.steps[k], false, arena);
			}
			assert_int_equal(rec.n_steps, i == 0 ? 2 : 0);
			if (changed != (round <= (int)rows[i].filled))
				fail_msg("row %zu, round %d: %s", i, round, json);
			job_set(&row, job_id, 7);
			job_set(&row, submit_at, rec.job.submit_at);
			job_derive(&row, ptrs, rec.n_steps, arena);
			const char *answer = encode(&row, steps, rec.n_steps, &style);
			if (first == NULL)
				first = answer;
			assert_string_equal(answer, first);
			json = arena_printf(arena, "{\"kind\":\"%s\",%s", rows[i].kind, answer + 1);
		}
	}
}

static void a_newer_daemons_keys_pass(void **state)
{
	static const char text[] = "{\"job_id\":7,\"new_thing\":{\"a\":[1]},"
				   "\"steps\":[{\"step_id\":0,\"newer\":null}]}";
	struct jscan scan;
	struct err err = { 0 };
	struct step *s;
	struct job j;
	size_t n;

	(void)state;
	jscan_init(&scan, text, sizeof(text) - 1, arena, &err);
	assert_int_equal(job_decode_json(&scan, &j, &s, &n), 0);
	assert_int_equal(j.job_id, 7);
	assert_int_equal(n, 1);
	assert_int_equal(s->step_id, 0);
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
		cmocka_unit_test(forms),
		cmocka_unit_test(times_as_seconds_and_partition_limit),
		cmocka_unit_test(computed_keys),
		cmocka_unit_test(nothing_chosen),
		cmocka_unit_test(steps),
		cmocka_unit_test(past_the_limit_it_fails),
		cmocka_unit_test(there_and_back),
		cmocka_unit_test(an_answer_is_a_record),
		cmocka_unit_test(a_newer_daemons_keys_pass),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

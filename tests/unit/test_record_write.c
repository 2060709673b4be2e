/* test_record_write.c: records as JSON and in again: what is written is what is read. */
#include "unit.h"

#include "core/record_json.h"

/* Each is in the form that record_encode_json writes, so it must come back byte by byte. */
static const char *const records[] = {
	"{\"kind\":\"job_start\",\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000}",
	"{\"kind\":\"job_end\",\"cluster\":\"c\",\"job_id\":4294967293,\"submit\":1700000000,"
	"\"as_of\":1700000100,\"user\":\"ann\",\"name\":\"a\\\"b\\n\",\"eligible\":1700000000,"
	"\"start\":1700000010,\"end\":1700000070,\"timelimit\":\"unlimited\",\"state\":\"FAILED\","
	"\"exit_code\":137,\"exit_signal\":0,\"req_mem_mib\":4096,\"req_mem_per\":\"cpu\","
	"\"tres_alloc\":{\"cpu\":4,\"gres/gpu:a100\":2},\"flags\":[\"SchedMain\"]}",
	"{\"kind\":\"job_end\",\"cluster\":\"c\",\"job_id\":4503599711256579,"
	"\"submit\":1700000000,\"state\":\"COMPLETED\","
	"\"steps\":[{\"step_id\":\"batch\",\"name\":\"batch\",\"state\":\"COMPLETED\"},"
	"{\"step_id\":0,\"het_component\":1,\"state\":\"OUT_OF_MEMORY\",\"exit_code\":0,"
	"\"exit_signal\":125,\"usage_in_max\":{\"mem\":4096},\"usage_in_max_node\":{\"mem\":\"n1\"}"
	","
	"\"usage_in_max_task\":{\"mem\":3}}]}",
	"{\"kind\":\"step_end\",\"cluster\":\"c\",\"job_id\":7,\"step_id\":\"extern\","
	"\"start\":1700000000,\"end\":1700000060}",
	"{\"kind\":\"step_start\",\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000,"
	"\"step_id\":3,\"start\":1700000000}",
	"{\"kind\":\"job_resize\",\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000,"
	"\"at\":1700000500,\"nodes\":\"n[1-2]\"}",
};

static void round_trip(void **state UNUSED)
{
	static const struct record_defaults defaults = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(records); i++) {
		struct arena *arena = arena_new();
		struct buf out = BUF_INIT;
		struct record rec;
		struct err err;

		if (record_decode(records[i], strlen(records[i]), &defaults, arena, &rec, &err) < 0)
			fail_msg("%s\n%s: %s", records[i], err.where, err.text);
		record_encode_json(&out, &rec);
		assert_string_equal(buf_str(&out), records[i]);
		buf_fini(&out);
		arena_free(arena);
	}
}

/* Without a cluster it is the receiver's; what is computed is not sent. */
static void leaves_out(void **state UNUSED)
{
	struct record rec = { .kind = REC_JOB_START, .as_of = AS_OF_UNKNOWN };
	struct buf out = BUF_INIT;

	job_set(&rec.job, job_id, 7);
	job_set(&rec.job, peak_rss, 99);
	job_set(&rec.job, submit_inferred, 1);
	job_set(&rec.job, account, "a");
	record_encode_json(&out, &rec);
	assert_string_equal(buf_str(&out),
			    "{\"kind\":\"job_start\",\"job_id\":7,\"account\":\"a\"}");
	buf_fini(&out);
}

/* How long a job ran is kept where start and end do not tell. */
static void elapsed_that_counts(void **state UNUSED)
{
	static const struct {
		const char *what;
		enum record_kind kind;
		int64_t start, end, elapsed;
		const char *moments;
		bool kept;
	} rows[] = {
		{ "no start", REC_JOB_END, -1, 1000, 60, NULL, true },
		{ "no end", REC_JOB_END, 100, -1, 60, NULL, true },
		{ "says the same", REC_JOB_END, 100, 160, 60, NULL, false },
		{ "suspended for a while", REC_JOB_END, 100, 1000, 60, NULL, true },
		{ "suspensions are known", REC_JOB_END, 100, 1000, 60, "S200,R300", false },
		{ "longer than there is room for", REC_JOB_END, 100, 160, 61, NULL, false },
		{ "has not ended", REC_JOB_START, 100, -1, 60, NULL, false },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *arena = arena_new();
		struct record rec = { .kind = rows[i].kind,
				      .cluster = "c",
				      .as_of = AS_OF_UNKNOWN };
		struct err err;

		job_set(&rec.job, job_id, 7);
		job_set(&rec.job, submit_at, 50);
		job_set(&rec.job, rec_elapsed, rows[i].elapsed);
		if (rows[i].start >= 0)
			job_set(&rec.job, start_at, rows[i].start);
		if (rows[i].end >= 0)
			job_set(&rec.job, end_at, rows[i].end);
		if (rows[i].moments)
			job_set(&rec.job, moments, rows[i].moments);
		assert_int_equal(record_validate(&rec, arena, &err), 0);
		if (job_has(&rec.job, rec_elapsed) != rows[i].kept)
			fail_msg("%s", rows[i].what);
		arena_free(arena);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(leaves_out),
		cmocka_unit_test(elapsed_that_counts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

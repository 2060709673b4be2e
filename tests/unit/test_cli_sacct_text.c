#include "unit.h"

#include "cli/sacct_text.h"

static struct buf out;

static const char *job_id(const struct job *j)
{
	buf_clear(&out);
	text_job_id(&out, j, 63);
	return buf_str(&out);
}

static void job_ids(void **state UNUSED)
{
	struct job j = { 0 };

	job_set(&j, job_id, 25);
	assert_string_equal(job_id(&j), "25");
	/* FC-032: the task's name and the raw id belong to one record. */
	job_set(&j, array_job_id, 20);
	job_set(&j, array_task_id, 3);
	assert_string_equal(job_id(&j), "20_3");
	job_unset(&j, array_task_id);
	job_set(&j, array_tasks, "9201-10000%500");
	assert_string_equal(job_id(&j), "20_[9201-10000%500]");
	job_unset(&j, array_tasks);
	job_unset(&j, array_job_id);
	/* FC-029 */
	job_set(&j, job_id, 901);
	job_set(&j, het_job_id, 900);
	job_set(&j, het_offset, 1);
	assert_string_equal(job_id(&j), "900+1");
	job_set(&j, job_id, 4000000000);
	job_unset(&j, het_job_id);
	assert_string_equal(job_id(&j), "4000000000");
}

static void step_ids(void **state UNUSED)
{
	static const struct {
		int64_t id, het;
		const char *want;
	} rows[] = {
		{ 0, HET_COMP_NONE, ".0" },
		{ 12, HET_COMP_NONE, ".12" },
		{ STEP_ID_BATCH, HET_COMP_NONE, ".batch" },
		{ STEP_ID_EXTERN, HET_COMP_NONE, ".extern" },
		{ STEP_ID_INTERACTIVE, HET_COMP_NONE, ".interactive" },
		{ 0, 1, ".0+1" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct step s = { 0 };

		step_set(&s, step_id, rows[i].id);
		step_set(&s, het_comp, rows[i].het);
		buf_clear(&out);
		text_step_id(&out, &s);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

/* FC-035: the squares up to 40000, cut after a whole item within 63 characters. */
static void array_lists(void **state UNUSED)
{
	struct buf squares = BUF_INIT;

	for (int i = 1; i <= 200; i++)
		buf_printf(&squares, "%s%d", i > 1 ? "," : "", i * i);
	buf_clear(&out);
	text_array_tasks(&out, buf_str(&squares), 63);
	assert_string_equal(buf_str(&out), "1,4,9,16,25,36,49,64,81,100,121,144,169,196,225,256,"
					   "289,324,...");
	assert_int_equal(out.len, 63);
	buf_clear(&out);
	text_array_tasks(&out, buf_str(&squares), 0);
	assert_string_equal(buf_str(&out), buf_str(&squares));
	buf_adds(&squares, "%5");
	buf_clear(&out);
	text_array_tasks(&out, buf_str(&squares), 20);
	assert_string_equal(buf_str(&out), "1,4,9,16,25,36,...%5");
	buf_clear(&out);
	text_array_tasks(&out, "1-4%2", 3);
	assert_string_equal(buf_str(&out), "1-4%2");
	buf_fini(&squares);
}

static void array_walk(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "1-3,9%2", "1 2 3 9 " },
		{ "20-30:5", "20 25 30 " },
		{ "7", "7 " },
		{ "", "" },
		{ "x", "" },
		{ "3,", "3 " },
		{ "5-4,6", "6 " },
		{ "1-3:0", "" },
		{ "1,x", "1 " },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct array_range r;
		int64_t task;

		buf_clear(&out);
		array_begin(&r, rows[i].in);
		while (array_next(&r, &task))
			buf_printf(&out, "%" PRId64 " ", task);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

static const char *at(const char *zone, int64_t t, const char *format, int64_t now)
{
	struct arena *arena = arena_new();
	const struct zone *z = NULL;
	struct err err;

	assert_int_equal(zone_open(zone, arena, &z, &err), 0);
	buf_clear(&out);
	text_time(&out, t, format, now, z);
	arena_free(arena);
	return buf_str(&out);
}

static void times(void **state UNUSED)
{
	assert_string_equal(at("UTC", 0, NULL, 0), "1970-01-01T00:00:00");
	/* FC-076: the hour that comes twice. */
	assert_string_equal(at("Europe/Berlin", 1761438600, NULL, 0), "2025-10-26T02:30:00");
	assert_string_equal(at("Europe/Berlin", 1761442200, "standard", 0), "2025-10-26T02:30:00");
	assert_string_equal(at("Europe/Berlin", 1761438600, "%FT%T%z", 0),
			    "2025-10-26T02:30:00+0200");
	assert_string_equal(at("Europe/Berlin", 1761442200, "%FT%T%z", 0),
			    "2025-10-26T02:30:00+0100");
	/* FC-074 */
	assert_string_equal(at("Europe/Berlin", 1762074000, "%FT%T%z", 0),
			    "2025-11-02T10:00:00+0100");
}

static void relative_times(void **state UNUSED)
{
	static const struct {
		int64_t after_s;
		const char *want;
	} rows[] = {
		{ 0, "12:00:00" },
		{ 43199, "23:59:59" },
		{ 43200, "Tomorr 00:00" },
		{ -43201, "Ystday 23:59" },
		{ 2 * 86400, "Fri 12:00" },
		{ 6 * 86400, "Tue 12:00" },
		{ 7 * 86400, "17 Jun 12:00" },
		{ -2 * 86400, "8 Jun 12:00" },
		{ 300 * 86400, "6 Apr 2027" },
	};
	const int64_t now = 1781092800; /* Wednesday, 10 June 2026, noon */

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_string_equal(at("UTC", now + rows[i].after_s, "relative", now),
				    rows[i].want);
}

static void sluids(void **state UNUSED)
{
	buf_clear(&out);
	text_sluid(&out, 1);
	assert_string_equal(buf_str(&out), "s0000000000001");
	buf_clear(&out);
	text_sluid(&out, UINT64_MAX);
	assert_string_equal(buf_str(&out), "sFZZZZZZZZZZZZ");
}

static void patterns(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "slurm-%j.out", "slurm-26.out" },
		{ "%A_%a", "17_3" },
		{ "%4a/%2A", "0003/17" },
		{ "%x by %u on %N", "sim by ann on n01" },
		{ "%J.%s.%t", "26.0.0.0" },
		{ "100%%", "100%" },
		{ "%q and %", "%q and %" },
		{ "%99j", "0000000026" },
		{ "%b", "3" },
	};
	struct job j = { 0 };
	struct step s = { 0 };

	job_set(&j, job_id, 26);
	job_set(&j, array_job_id, 17);
	job_set(&j, array_task_id, 3);
	job_set(&j, name, "sim");
	job_set(&j, user_name, "ann");
	job_set(&j, nodes, "n[01-02],m1");
	step_set(&s, step_id, 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&out);
		text_pattern(&out, rows[i].in, &j, &s);
		assert_string_equal(buf_str(&out), rows[i].want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(job_ids),     cmocka_unit_test(step_ids),
		cmocka_unit_test(array_lists), cmocka_unit_test(array_walk),
		cmocka_unit_test(times),       cmocka_unit_test(relative_times),
		cmocka_unit_test(sluids),      cmocka_unit_test(patterns),
	};
	int failed = cmocka_run_group_tests(tests, NULL, NULL);

	buf_fini(&out);
	return failed;
}

#include "unit.h"

#include "core/job.h"
#include "core/words.h"

static void flags(void **state UNUSED)
{
	static const struct {
		const char *in;
		int rc;
		int64_t bits;
		const char *out;
	} rows[] = {
		{ "", 0, 0, "" },
		{ "SchedSubmit", 0, 2, "SchedSubmit" },
		{ "schedmain", 0, 4, "SchedMain" },
		{ "SchedBackfill,StartRecieved", 0, 24, "SchedBackfill,StartReceived" },
		{ "StartReceived,SchedBackfill", 0, 24, "SchedBackfill,StartReceived" },
		{ "STARTED_ON_SCHEDULE,START_RECEIVED,JOB_ALTERED", 0, 52,
		  "SchedMain,StartReceived,Altered" },
		{ "Altered,0x40,0x8000000000000000", 0, INT64_MIN | 0x60,
		  "Altered,0x40,0x8000000000000000" },
		{ "SchedSubmit,", -1, 0, NULL },
		{ ",SchedSubmit", -1, 0, NULL },
		{ "SchedSubmit,,Altered", -1, 0, NULL },
		{ "Sched", -1, 0, NULL },
		{ "SchedSubmit Altered", -1, 0, NULL },
		{ "0x", -1, 0, NULL },
		{ "0x11223344556677889", -1, 0, NULL },
		{ "16", -1, 0, NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		struct buf out = BUF_INIT;
		int64_t bits = 0;
		assert_int_equal(words_parse(&job_flag_words, rows[i].in, &bits, &err), rows[i].rc);
		assert_int_equal(bits, rows[i].bits);
		if (rows[i].rc == 0) {
			words_format(&job_flag_words, bits, &out);
			assert_string_equal(buf_str(&out), rows[i].out);
		} else {
			assert_int_equal(err.code, ERR_INVALID);
			assert_true(err.text[0] != '\0');
		}
		buf_fini(&out);
	}
}

static void enums(void **state UNUSED)
{
	static const char *const names[] = {
		[PER_JOB] = "job", [PER_NODE] = "node", [PER_CPU] = "cpu"
	};
	char scratch[WORD_TEXT_SIZE];
	struct err err = { 0 };
	int64_t v;

	for (int64_t i = 0; i < 3; i++) {
		v = -1;
		assert_string_equal(word_name(&req_mem_per_words, i, scratch), names[i]);
		assert_int_equal(word_parse(&req_mem_per_words, names[i], &v, NULL), 0);
		assert_int_equal(v, i);
	}
	assert_string_equal(word_name(&req_mem_per_words, 9, scratch), "0x9");
	assert_int_equal(word_parse(&req_mem_per_words, "gpu", &v, &err), -1);
	assert_non_null(strstr(err.text, "job node cpu"));
}

static void every_field_has_words(void **state UNUSED)
{
	for (int i = 0; i < JOB_FIELDS; i++)
		assert_int_equal(words_of(&job_fields[i]) != NULL,
				 job_fields[i].type == FT_WORDS || job_fields[i].type == FT_ENUM);
	for (int i = 0; i < STEP_FIELDS; i++)
		assert_int_equal(words_of(&step_fields[i]) != NULL,
				 step_fields[i].type == FT_WORDS || step_fields[i].type == FT_ENUM);
	assert_ptr_equal(words_of(&job_fields[JOB_flags]), &job_flag_words);
	assert_ptr_equal(words_of(&job_fields[JOB_flaws]), &job_flaw_words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(flags),
		cmocka_unit_test(enums),
		cmocka_unit_test(every_field_has_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

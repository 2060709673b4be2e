#include "base/near.h"

#include <setjmp.h>
#include <cmocka.h>

static void finds_what_was_meant(void **state)
{
	static const char *const right[] = { "job_id",	      "name",  "exit_code", "req_mem_mib",
					     "max_rss_bytes", "start", "state",	    "end" };
	static const struct {
		const char *in;
		const char *want; /* NULL: nothing near */
	} rows[] = {
		{ "jobid", "job_id" },	{ "job-id", "job_id" },
		{ "JOB_ID", "job_id" }, { "exitcode", "exit_code" },
		{ "nmae", "name" },	{ "stat", "start" },
		{ "req_mem", NULL },	{ "req_mem_mb", "req_mem_mib" },
		{ "max_rss", NULL },	{ "xyz", NULL },
		{ "", NULL },		{ "ned", "end" },
		{ "colour", NULL },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct near near;
		near_init(&near, rows[i].in, strlen(rows[i].in));
		for (size_t k = 0; k < ARRAY_LEN(right); k++)
			near_try(&near, right[k]);
		const char *got = near_best(&near);
		if (got == NULL || rows[i].want == NULL)
			assert_true(got == rows[i].want);
		else
			assert_string_equal(got, rows[i].want);
	}
}

static void long_words_are_no_trouble(void **state)
{
	char word[400];
	struct near near;

	(void)state;
	memset(word, 'a', sizeof(word));
	near_init(&near, word, sizeof(word));
	near_try(&near, "abc");
	assert_null(near_best(&near));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(finds_what_was_meant),
		cmocka_unit_test(long_words_are_no_trouble),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

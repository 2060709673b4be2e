/* test_import_tally.c: tally's own answers as an import: what is kept and what is made again. */
#include "import_dump.h"

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

/* clang-format off */
static const struct {
	const char *what, *in, *holds, *lacks;
} cases[] = {
	{ "one a line", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000,\"state\":\"FAILED\"}\n"
	  "{\"cluster\":\"c\",\"job_id\":8,\"submit\":1700000000,\"state\":\"PENDING\"}\n",
	  "job_end cluster=\"c\" job_id=7 submit_at=1700000000 state=5\njob_start cluster=\"c\" job_id=8",
	  "REFUSED" },
	{ "a document", "{\"window\":{\"jobs\":[]},\"jobs\":[\n{\"cluster\":\"c\",\"job_id\":7,\"submit\":"
	  "\"2023-11-14T22:13:20Z\",\"state\":\"FAILED\",\"steps\":[{\"step_id\":\"batch\",\"exit_code\":1,"
	  "\"exit_signal\":0}]}\n],\"next\":null}",
	  "job_end cluster=\"c\" job_id=7 submit_at=1700000000 state=5\n  step cluster=\"c\" job_id=7 "
	  "submit_at=1700000000 step_id=-5 het_comp=-1 exit=256\n", "REFUSED" },
	{ "what is computed is computed again", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000,"
	  "\"state\":\"FAILED\",\"peak_rss_bytes\":5,\"oom\":true,\"visible_from\":1700000000}\n",
	  "state=5\n", "peak_rss" },
	{ "a submit time that was inferred is inferred again", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":"
	  "1700000000,\"submit_inferred\":true,\"start\":1700000000,\"state\":\"FAILED\"}\n",
	  "job_end cluster=\"c\" job_id=7 start_at=1700000000 state=5\n", "submit_at" },
	{ "a suspended job runs", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000,\"state\":"
	  "\"SUSPENDED\",\"suspensions\":[{\"at\":1700000060,\"what\":\"suspend\"}]}\n",
	  "job_start cluster=\"c\" job_id=7 submit_at=1700000000 moments=\"S1700000060\" state=1\n", NULL },
	{ "a broken line spoils itself", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000}\n"
	  "{\"cluster\":\"c\",\"job_id\":\n{\"cluster\":\"c\",\"submit\":1}\n{\"cluster\":\"c\",\"job_id\":9,"
	  "\"submit\":1700000000}\n",
	  "REFUSED jobs:2 job_id: the JSON ends", "job_id=8" },
	{ "no number", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000}\n{\"cluster\":\"c\"}\n",
	  "REFUSED jobs:2 job_id: has no job number", NULL },
	{ "a step without a number", "{\"cluster\":\"c\",\"job_id\":7,\"submit\":1700000000,"
	  "\"state\":\"FAILED\",\"steps\":[{\"step_id\":0},{\"exit_code\":1}]}\n",
	  "REFUSED jobs:1 step_id: step 1 has no number", "job_end" },
};
/* clang-format on */

static void test_cases(void **state)
{
	struct import_options o = { .zone = zone_utc() };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct dump d = dump_import("jobs", cases[i].in, strlen(cases[i].in), &o);
		const char *text = buf_str(&d.out);

		if (d.rc != 0)
			fail_msg("%s: %s: %s", cases[i].what, d.err.where, d.err.text);
		if (strstr(text, cases[i].holds) == NULL)
			fail_msg("%s: no \"%s\" in\n%s", cases[i].what, cases[i].holds, text);
		if (cases[i].lacks && strstr(text, cases[i].lacks))
			fail_msg("%s: \"%s\" in\n%s", cases[i].what, cases[i].lacks, text);
		buf_fini(&d.out);
	}
}

/* Records are for `tally records`, and Slurm's documents for the other importer. */
static void test_not_ours(void **state)
{
	static const char *const texts[] = {
		"{\"kind\":\"job_end\",\"job_id\":7,\"submit\":1700000000}\n",
		"{\"job_id\":7}\n",
		"{\"submit\":7}\n",
		"{\"a\":1}\n",
		"{",
	};
	struct import_options o = { .zone = zone_utc() };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct dump d = dump_import("jobs", texts[i], strlen(texts[i]), &o);

		assert_int_equal(d.rc, -1);
		buf_fini(&d.out);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_not_ours),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* test_import_report.c: what the client shows of an import: the bar, and the reasons counted. */
#include "unit.h"

#include "cli/progress.h"
#include "cli/reasons.h"

static void bars(void **state UNUSED)
{
	static const struct {
		uint64_t done, whole, count;
		int64_t ms;
		int columns;
		const char *want;
	} rows[] = {
		{ 0, 100, 0, 0, 80,
		  "dump.psv   0% [                                        ] 0 records, 0/s" },
		{ 50, 100, 500, 1000, 80,
		  "dump.psv  50% [####################                    ] 500 records, 500/s" },
		{ 100, 100, 12000, 2000, 60, "dump.psv 100% [#####################] 12000 records, 6000/s" },
		{ 200, 100, 1, 1000, 80,
		  "dump.psv 100% [########################################] 1 records, 1/s" },
		{ 0, 0, 0, 1, 80,
		  "dump.psv 100% [########################################] 0 records, 0/s" },
		/* A narrow terminal has no room for a bar, and none at all for more than itself. */
		{ 50, 100, 500, 1000, 30, "dump.psv  50%" },
		{ 50, 100, 500, 1000, 6, "dump." },
		{ 50, 100, 500, 1000, 0, "d" },
	};
	struct progress p = { .what = "dump.psv", .unit = "records" };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char line[256];

		progress_line(&p, rows[i].done, rows[i].whole, rows[i].count, rows[i].ms,
			      rows[i].columns, line, sizeof(line));
		if (strcmp(line, rows[i].want) != 0)
			fail_msg("row %zu: \"%s\"\n  not \"%s\"", i, line, rows[i].want);
		assert_true((int)strlen(line) < (rows[i].columns > 1 ? rows[i].columns : 2));
	}
}

static void nothing_without_a_terminal(void **state UNUSED)
{
	struct progress p;

	progress_begin(&p, "dir/x", "records");
	assert_string_equal(p.what, "x");
	p.shown = false;
	progress_show(&p, 1, 2, 3);
	assert_false(p.drawn);
}

static char *printed(const struct reasons *r, char *text, size_t size)
{
	FILE *f = fmemopen(text, size, "w");

	memset(text, 0, size);
	reasons_print(r, "refused", f);
	fclose(f);
	return text;
}

static void reasons_of_a_kind(void **state UNUSED)
{
	struct reasons *r = reasons_new();
	char text[4096];

	assert_string_equal(printed(r, text, sizeof(text)), "");
	reasons_add(r, "d.psv:2 State", "unknown state \"FOO\"");
	reasons_add(r, "d.psv:3 State", "unknown state \"BAR\"");
	reasons_add(r, "d.psv:4", "has 2 cells instead of 10");
	reasons_add(r, "d.psv:5", "has 12 cells instead of 10");
	reasons_add(r, "d.psv:6", "has 13 cells instead of 10");
	reasons_add(r, "d.psv:7", "has 14 cells instead of 10");
	assert_int_equal(reasons_total(r), 6);
	assert_string_equal(printed(r, text, sizeof(text)),
			    "refused:\n"
			    "       2  State: unknown state \"...\"\n"
			    "          d.psv:2: unknown state \"FOO\"\n"
			    "          d.psv:3: unknown state \"BAR\"\n"
			    "       4  has N cells instead of N\n"
			    "          d.psv:4: has 2 cells instead of 10\n"
			    "          d.psv:5: has 12 cells instead of 10\n"
			    "          d.psv:6: has 13 cells instead of 10\n");
	reasons_free(r);
}

/* A file of another kind has a reason of its own for each row: the list stays short. */
static void many_kinds(void **state UNUSED)
{
	struct reasons *r = reasons_new();
	static char text[1 << 20];

	for (int i = 0; i < 5000; i++) {
		char what[3] = { (char)('a' + i % 26), (char)('a' + i / 26 % 26), '\0' };
		char reason[16];

		snprintf(reason, sizeof(reason), "%s%c", what, 'a' + i / 676);
		reasons_add(r, "f:1", reason);
	}
	assert_int_equal(reasons_total(r), 5000);
	printed(r, text, sizeof(text));
	assert_non_null(strstr(text, "other reasons"));
	assert_true(strlen(text) < 20000);
	reasons_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bars),
		cmocka_unit_test(nothing_without_a_terminal),
		cmocka_unit_test(reasons_of_a_kind),
		cmocka_unit_test(many_kinds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "core/exit.h"

static void split(void **state UNUSED)
{
	/* FC-038, 041, 043: stored status and both halves */
	static const struct {
		int64_t status;
		const char *text;
		int64_t code, signal;
	} rows[] = {
		{ 0, "0:0", 0, 0 },          { 256, "1:0", 1, 0 },     { 35072, "137:0", 137, 0 },
		{ 51200, "200:0", 200, 0 },  { 9, "0:9", 0, 9 },       { 125, "0:125", 0, 125 },
		{ 53, "0:53", 0, 53 },       { 65280, "255:0", 255, 0 }, { 25871, "101:15", 101, 15 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[EXIT_TEXT_SIZE];
		int64_t back = -1;
		assert_int_equal(exit_code(rows[i].status), rows[i].code);
		assert_int_equal(exit_signal(rows[i].status), rows[i].signal);
		assert_int_equal(exit_make(rows[i].code, rows[i].signal), rows[i].status);
		exit_format(rows[i].status, text);
		assert_string_equal(text, rows[i].text);
		assert_int_equal(exit_parse(text, &back, NULL), 0);
		assert_int_equal(back, rows[i].status);
	}
	assert_int_equal(exit_signal(0x8b), 11); /* with core dump */
	int64_t alone = -1;
	assert_int_equal(exit_parse("3", &alone, NULL), 0);
	assert_int_equal(alone, 768);
}

static void parse_refuses(void **state UNUSED)
{
	static const char *const bad[] = { "",      ":",     "1:",   ":1",  "256:0", "0:128",
					   "-1:0",  "1:0:0", "1:0 ", " 1:0", "a:b",
					   "99999999999999999999:0" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		int64_t v = -1;
		assert_int_equal(exit_parse(bad[i], &v, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_int_equal(v, -1);
	}
	assert_false(exit_in_range(-1, 0));
	assert_false(exit_in_range(0, 128));
	assert_true(exit_in_range(255, 127));
}

static void signals(void **state UNUSED)
{
	assert_string_equal(signal_name(9), "SIGKILL");
	assert_string_equal(signal_name(11), "SIGSEGV");
	assert_string_equal(signal_name(15), "SIGTERM");
	assert_string_equal(signal_name(31), "SIGSYS");
	for (int s = 1; s <= 31; s++)
		assert_non_null(signal_name(s));
	static const int none[] = { 0, -1, 32, 53, 64, 125, 127, 1000 };
	for (size_t i = 0; i < ARRAY_LEN(none); i++)
		assert_null(signal_name(none[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(split),
		cmocka_unit_test(parse_refuses),
		cmocka_unit_test(signals),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "core/state.h"

static void names(void **state UNUSED)
{
	/* Slurm's numbers, from its protocol: these must never drift. */
	static const struct {
		int64_t number;
		const char *name, *abbr;
		bool ended;
	} rows[STATE_COUNT] = {
		{ 0, "PENDING", "PD", false },     { 1, "RUNNING", "R", false },
		{ 2, "SUSPENDED", "S", false },    { 3, "COMPLETED", "CD", true },
		{ 4, "CANCELLED", "CA", true },    { 5, "FAILED", "F", true },
		{ 6, "TIMEOUT", "TO", true },      { 7, "NODE_FAIL", "NF", true },
		{ 8, "PREEMPTED", "PR", true },    { 9, "BOOT_FAIL", "BF", true },
		{ 10, "DEADLINE", "DL", true },    { 11, "OUT_OF_MEMORY", "OOM", true },
		{ 1024, "REQUEUED", "RQ", true },  { 8192, "RESIZING", "RS", true },
		{ 524288, "REVOKED", "RV", true },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(state_name(rows[i].number), rows[i].name);
		assert_string_equal(state_short(rows[i].number), rows[i].abbr);
		assert_int_equal(state_is_end(rows[i].number), rows[i].ended);
		assert_true(state_is_known(rows[i].number));
	}
	assert_null(state_name(12));
	assert_null(state_short(-1));
	assert_false(state_is_known(0x8000));
	assert_false(state_is_end(99));
}

static void parse_every_name(void **state UNUSED)
{
	for (size_t i = 0; i < STATE_COUNT; i++) {
		const char *both[] = { state_rows[i].name, state_rows[i].abbr };
		for (size_t k = 0; k < 2; k++) {
			char lower[32];
			int64_t s = -1, uid = 5;
			size_t n = strlen(both[k]);
			for (size_t c = 0; c <= n; c++)
				lower[c] = (char)(both[k][c] >= 'A' && both[k][c] <= 'Z'
							  ? both[k][c] + 32
							  : both[k][c]);
			assert_int_equal(state_parse(both[k], &s, &uid, NULL), 0);
			assert_int_equal(s, state_rows[i].number);
			assert_int_equal(uid, -1);
			s = -1;
			assert_int_equal(state_parse(lower, &s, NULL, NULL), 0);
			assert_int_equal(s, state_rows[i].number);
		}
	}
}

static void parse_cancelled_by(void **state UNUSED)
{
	/* FC-036 */
	static const struct {
		const char *in;
		int rc;
		int64_t uid;
	} rows[] = {
		{ "CANCELLED by 1000", 0, 1000 },
		{ "CANCELLED by 0", 0, 0 },
		{ "cancelled BY 4294967294", 0, 4294967294 },
		{ "CANCELLED", 0, -1 },
		{ "CANCELLED by", -1, -9 },
		{ "CANCELLED by ", -1, -9 },
		{ "CANCELLED by -1", -1, -9 },
		{ "CANCELLED by root", -1, -9 },
		{ "CANCELLED by 10 ", -1, -9 },
		{ "COMPLETED by 10", -1, -9 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t s = -9, uid = -9;
		assert_int_equal(state_parse(rows[i].in, &s, &uid, NULL), rows[i].rc);
		assert_int_equal(s, rows[i].rc == 0 ? STATE_CANCELLED : -9);
		assert_int_equal(uid, rows[i].uid);
	}
}

static void unknown_lists_valid(void **state UNUSED)
{
	static const char *const bad[] = { "FOO", "",		"COMPLETE",  "CDX",
					   "CD ", "COMPLETING", "OUT_OF_ME+" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		int64_t s = -9;
		assert_int_equal(state_parse(bad[i], &s, NULL, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_int_equal(s, -9);
		for (size_t k = 0; k < STATE_COUNT; k++)
			assert_non_null(strstr(err.text, state_rows[k].name));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(parse_every_name),
		cmocka_unit_test(parse_cancelled_by),
		cmocka_unit_test(unknown_lists_valid),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

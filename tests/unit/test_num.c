#include "unit.h"

#include "base/num.h"

static void parse(void **state UNUSED)
{
	static const struct {
		const char *in;
		int rc;
		int64_t v;
	} rows[] = {
		{ "0", 0, 0 },
		{ "007", 0, 7 },
		{ "9223372036854775807", 0, INT64_MAX },
		{ "9223372036854775808", -1, 0 },
		{ "-9223372036854775808", 0, INT64_MIN },
		{ "-9223372036854775809", -1, 0 },
		{ "18446744073709551616", -1, 0 },
		{ "99999999999999999999999", -1, 0 },
		{ "", -1, 0 },
		{ "-", -1, 0 },
		{ "--1", -1, 0 },
		{ "+1", -1, 0 },
		{ " 1", -1, 0 },
		{ "1 ", -1, 0 },
		{ "10x", -1, 0 },
		{ "0x10", -1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t v = 0;
		assert_int_equal(num_parse(rows[i].in, &v), rows[i].rc);
		assert_int_equal(v, rows[i].v);
	}
	uint64_t u = 0;
	assert_int_equal(num_parse_u64("18446744073709551615", &u), 0);
	assert_true(u == UINT64_MAX);
	assert_int_equal(num_parse_u64("-1", &u), -1);
}

static void saturate(void **state UNUSED)
{
	bool sat = false;

	assert_int_equal(num_mul(4608000000, 96, &sat), 442368000000);
	assert_int_equal(num_add(-1, 1, &sat), 0);
	assert_false(sat);
	assert_int_equal(num_mul(INT64_MAX, 2, &sat), INT64_MAX);
	assert_true(sat);
	assert_int_equal(num_mul(INT64_MAX, -2, NULL), INT64_MIN);
	assert_int_equal(num_add(INT64_MIN, -1, NULL), INT64_MIN);
	assert_int_equal(num_add(INT64_MAX, 1, NULL), INT64_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse),
		cmocka_unit_test(saturate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

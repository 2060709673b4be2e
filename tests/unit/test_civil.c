#include "unit.h"

#include "core/civil.h"
#include "core/timespec.h"

static void known_days(void **state UNUSED)
{
	static const struct {
		int64_t year;
		int month, day;
		int64_t days;
		int weekday;
	} rows[] = {
		{ 1970, 1, 1, 0, 4 },	   { 1969, 12, 31, -1, 3 },   { 2000, 2, 29, 11016, 2 },
		{ 2000, 3, 1, 11017, 3 },  { 1900, 3, 1, -25508, 4 }, { 2026, 12, 1, 20788, 2 },
		{ 0, 3, 1, -719468, 3 },   { 2038, 1, 19, 24855, 2 }, { -400, 3, 1, -865565, 3 },
		{ 9999, 12, 31, 2932896, 5 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t y;
		int m, d;
		assert_int_equal(days_from_civil(rows[i].year, rows[i].month, rows[i].day),
				 rows[i].days);
		civil_from_days(rows[i].days, &y, &m, &d);
		assert_int_equal(y, rows[i].year);
		assert_int_equal(m, rows[i].month);
		assert_int_equal(d, rows[i].day);
		assert_int_equal(weekday_of_days(rows[i].days), rows[i].weekday);
	}
	/* FC-079 */
	assert_int_equal(days_in_month(2024, 2), 29);
	assert_int_equal(days_in_month(2023, 2), 28);
	assert_int_equal(days_in_month(1900, 2), 28);
	assert_int_equal(days_in_month(2000, 2), 29);
}

/* The C library is the second statement. */
static void same_as_libc(void **state UNUSED)
{
	uint64_t rnd = test_seed("civil");

	for (int i = 0; i < 200000; i++) {
		/* About years -4700 .. 8700, and every day near now. */
		time_t t = i % 2 ? (time_t)test_below(&rnd, INT64_C(420000000000)) -
					   INT64_C(210000000000)
				 : (time_t)test_below(&rnd, INT64_C(4102444800));
		struct tm tm;
		struct civil c;
		assert_non_null(gmtime_r(&t, &tm));
		civil_from_seconds(t, &c);
		if (c.year != tm.tm_year + INT64_C(1900) || c.month != tm.tm_mon + 1 ||
		    c.day != tm.tm_mday || c.hour != tm.tm_hour || c.minute != tm.tm_min ||
		    c.second != tm.tm_sec ||
		    weekday_of_days(floor_div(t, DAY_S)) != tm.tm_wday)
			fail_msg("%" PRId64, (int64_t)t);
		assert_int_equal(seconds_from_civil(&c), t);
		assert_true(civil_is_valid(&c));
	}
}

static void iso_out(void **state UNUSED)
{
	static const struct {
		int64_t t;
		const char *want;
	} rows[] = {
		{ 0, "1970-01-01T00:00:00Z" },
		{ 1787326680, "2026-08-21T15:38:00Z" },
		{ -1, "1969-12-31T23:59:59Z" },
		{ 253402300799, "9999-12-31T23:59:59Z" },
		{ 253402300800, "+010000-01-01T00:00:00Z" },
		{ -62167219201, "-000001-12-31T23:59:59Z" },
		{ INT64_MAX, "+292277026596-12-04T15:30:07Z" },
		{ INT64_MIN, "-292277022657-01-27T08:29:52Z" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[TIME_TEXT_SIZE];
		time_format_iso(rows[i].t, out);
		assert_string_equal(out, rows[i].want);
	}
}

static void iso_in(void **state UNUSED)
{
	static const struct {
		const char *in;
		int64_t t;
	} rows[] = {
		/* FC-071, 156: all of one moment */
		{ "2026-08-21T15:38:00Z", 1787326680 },
		{ "2026-08-21T15:38Z", 1787326680 },
		{ "2026-08-21T17:38:00+02:00", 1787326680 },
		{ "2026-08-21T11:38:00-0400", 1787326680 },
		{ "2026-08-21T10:38:00-05", 1787326680 },
		{ "2026-08-21T15:38:00.999999Z", 1787326680 },
		{ "1787326680", 1787326680 },
		{ "0", 0 },
		{ "-1", -1 },
		{ "2024-02-29T23:59:59z", 1709251199 },
		{ "0000-01-01T00:00:00Z", -62167219200 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t t = -7;
		assert_int_equal(time_parse_iso(rows[i].in, &t, NULL), 0);
		assert_int_equal(t, rows[i].t);
	}
}

static void iso_refused(void **state UNUSED)
{
	static const char *const bad[] = {
		"", "2026-08-21", "2026-08-21T15:38:00", "2026-08-21 15:38:00Z", "2026-08-21T15:38:00Zx",
		"2026-08-21T15:38:00ZZ", "2026-02-29T00:00:00Z", "2026-13-01T00:00:00Z",
		"2026-00-01T00:00:00Z", "2026-01-00T00:00:00Z", "2026-01-01T24:00:00Z",
		"2026-01-01T00:60:00Z", "2026-01-01T00:00:60Z", "2026-01-01T00:00:00+24:00",
		"2026-01-01T00:00:00+02:60", "2026-01-01T00:00:00.Z", "26-01-01T00:00:00Z",
		"2026-1-1T00:00:00Z", "Unknown", "now", "12345678901234567890", " 5", "1e9",
		"2026-08-21T15:38:00+2", "2026-08-21T15:38:00+02:0", "+010000-01-01T00:00:00Z",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		int64_t t = 0;
		if (time_parse_iso(bad[i], &t, &err) == 0)
			fail_msg("%s taken", bad[i]);
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.text, "2026-08-21T15:38:00Z"));
	}
}

static void iso_round_trip(void **state UNUSED)
{
	uint64_t rnd = test_seed("iso");

	for (int i = 0; i < 50000; i++) {
		int64_t t = test_below(&rnd, 253402300800), back = -1;
		char text[TIME_TEXT_SIZE];
		time_format_iso(t, text);
		assert_int_equal(time_parse_iso(text, &back, NULL), 0);
		assert_int_equal(back, t);
	}
}

static void absent(void **state UNUSED)
{
	/* FC-165 */
	static const char *const yes[] = { "", "Unknown", "None", "N/A", "unknown", "NONE" };
	static const char *const no[] = { "0", "none yet", " ", "2026-08-21", "n/b" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(time_is_absent(yes[i]));
	for (size_t i = 0; i < ARRAY_LEN(no); i++)
		assert_false(time_is_absent(no[i]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_days), cmocka_unit_test(same_as_libc),
		cmocka_unit_test(iso_out),    cmocka_unit_test(iso_in),
		cmocka_unit_test(iso_refused), cmocka_unit_test(iso_round_trip),
		cmocka_unit_test(absent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "core/timespec.h"

#define NOW INT64_C(1787326680) /* Friday 2026-08-21 15:38:00 UTC, 17:38 in Berlin */

static struct arena *arena;
static const struct zone *berlin, *new_york;

static int setup(void **state UNUSED)
{
	arena = arena_new();
	return zone_open("Europe/Berlin", arena, &berlin, NULL) +
	       zone_open("America/New_York", arena, &new_york, NULL);
}

static int teardown(void **state UNUSED)
{
	arena_free(arena);
	return 0;
}

static void every_form(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		/* a time of day, today even when still to come */
		{ "15:38", "2026-08-21T13:38:00Z" },
		{ "15:38:07", "2026-08-21T13:38:07Z" },
		{ "9:05", "2026-08-21T07:05:00Z" },
		{ "23:59:59", "2026-08-21T21:59:59Z" },
		{ "12:00AM", "2026-08-20T22:00:00Z" },
		{ "12:30pm", "2026-08-21T10:30:00Z" },
		{ "1:00PM", "2026-08-21T11:00:00Z" },
		{ "11:59:59Pm", "2026-08-21T21:59:59Z" },
		/* MMDD[YY], and with marks between */
		{ "0821", "2026-08-20T22:00:00Z" },
		{ "0101", "2025-12-31T23:00:00Z" },
		{ "0822", "2025-08-21T22:00:00Z" }, /* not yet this year: last year's */
		{ "1231", "2025-12-30T23:00:00Z" },
		{ "010224", "2024-01-01T23:00:00Z" },
		{ "022924-23:59:59", "2024-02-29T22:59:59Z" },
		{ "0820-12:30", "2026-08-20T10:30:00Z" },
		{ "08.20", "2026-08-19T22:00:00Z" },
		{ "08.20.25", "2025-08-19T22:00:00Z" },
		{ "8/2", "2026-08-01T22:00:00Z" },
		{ "08/20-01:02:03", "2026-08-19T23:02:03Z" },
		{ "08/20/25-01:02", "2025-08-19T23:02:00Z" },
		{ "08/20/25-01:02PM", "2025-08-20T11:02:00Z" },
		/* ISO */
		{ "2026-08-21", "2026-08-20T22:00:00Z" },
		{ "2026-08-21T15:38", "2026-08-21T13:38:00Z" },
		{ "2026-08-21T15:38:00", "2026-08-21T13:38:00Z" },
		{ "2026-08-21T15:38:00Z", "2026-08-21T15:38:00Z" },
		{ "2026-08-21T15:38:00-04:00", "2026-08-21T19:38:00Z" },
		{ "1970-01-01T01:00:00", "1970-01-01T00:00:00Z" },
		/* words */
		{ "today", "2026-08-20T22:00:00Z" },
		{ "MIDNIGHT", "2026-08-20T22:00:00Z" },
		{ "noon", "2026-08-21T10:00:00Z" },
		{ "elevenses", "2026-08-21T09:00:00Z" },
		{ "fika", "2026-08-21T13:00:00Z" },
		{ "teatime", "2026-08-21T14:00:00Z" },
		{ "tomorrow", "2026-08-21T22:00:00Z" },
		{ "yesterday", "2026-08-19T22:00:00Z" },
		/* now */
		{ "now", "2026-08-21T15:38:00Z" },
		{ "NOW", "2026-08-21T15:38:00Z" },
		{ "now-1hour", "2026-08-21T14:38:00Z" }, /* FC-068 */
		{ "now-7days", "2026-08-14T15:38:00Z" }, /* FC-156 */
		{ "now+30", "2026-08-21T15:38:30Z" },
		{ "now-2weeks", "2026-08-07T15:38:00Z" },
		{ "now+5min", "2026-08-21T15:43:00Z" },
		{ "now-1H", "2026-08-21T14:38:00Z" },
		{ "now+0", "2026-08-21T15:38:00Z" },
		/* epoch */
		{ "uts1796102608", "2026-12-01T05:23:28Z" },
		{ "uts0", "1970-01-01T00:00:00Z" },
		{ "1796102608", "2026-12-01T05:23:28Z" },
		{ "100000000", "1973-03-03T09:46:40Z" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t t = -1;
		struct err err = { 0 };
		char out[TIME_TEXT_SIZE];
		if (time_parse(rows[i].in, NOW, berlin, &t, &err) < 0)
			fail_msg("%s: %s", rows[i].in, err.text);
		time_format_iso(t, out);
		if (strcmp(out, rows[i].want) != 0)
			fail_msg("%s: %s, not %s", rows[i].in, out, rows[i].want);
	}
}

static void refused(void **state UNUSED)
{
	static const char *const bad[] = {
		"", " ", "foo", "2026", "82", "082", "08211", "0821266", "08212026", "1332", "0230",
		"022925", "0821-", "0821-25:00", "0821 12:00", "08.20/25", "08/20.25", "13/01", "00/10",
		"08/20/2025", "8/", "24:00", "12:60", "12:5", "12", "1:2:3:4", "0:30AM", "13:00PM",
		"12:00XM", "12:00 PM", "12:00PMx", "2026-8-1", "2026-02-29", "2026-08-21T", "2026-08-21 10:00",
		"2026-08-21T10", "2026-08-21T10:00:00 Z", "todayx", "to", "noon tomorrow", "now-", "now1",
		"now-1fortnight", "now-1hourss", "now--1", "now-1.5hours", "now+9223372036854775807weeks",
		"uts", "uts-5", "utsx", "uts12x", "12345678", "1796102608x", "99999999999999999999",
		"Unknown", "-1",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		int64_t t = 0;
		if (time_parse(bad[i], NOW, berlin, &t, &err) == 0)
			fail_msg("\"%s\" taken as %" PRId64, bad[i], t);
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.text, "MMDD[YY]"));
		assert_non_null(strstr(err.text, "uts"));
	}
}

static void zones_and_clock_changes(void **state UNUSED)
{
	int64_t t = 0;

	/* FC-071 */
	assert_int_equal(time_parse("2026-08-21T15:38", NOW, new_york, &t, NULL), 0);
	assert_int_equal(t, NOW + 4 * 3600);
	/* FC-077: days of 23 and 25 hours */
	int64_t spring = 0, next = 0;
	assert_int_equal(time_parse("2025-03-30", NOW, berlin, &spring, NULL), 0);
	assert_int_equal(time_parse("2025-03-31", NOW, berlin, &next, NULL), 0);
	assert_int_equal(next - spring, 23 * 3600);
	assert_int_equal(midnight_of(spring + 5 * 3600, berlin), spring);
	assert_int_equal(midnight_of(next - 1, berlin), spring);
	assert_int_equal(midnight_of(next, berlin), next);
	/* yesterday, the day after the clocks changed */
	assert_int_equal(time_parse("yesterday", next + 60, berlin, &t, NULL), 0);
	assert_int_equal(t, spring);
	/* 31 March: tomorrow is 1 April */
	assert_int_equal(time_parse("tomorrow", next, berlin, &t, NULL), 0);
	assert_int_equal(t, next + DAY_S);
	assert_int_equal(midnight_of(NOW, zone_utc()), NOW - NOW % DAY_S);
}

static void query(void **state UNUSED)
{
	static const struct {
		const char *in;
		int64_t t;
	} rows[] = {
		{ "1787326680", NOW }, { "0", 0 }, { "0821", 821 }, { "2026-08-21T15:38:00Z", NOW },
		{ "2026-08-21T17:38:00+02:00", NOW }, { "2026-08-21", NOW - 15 * 3600 - 38 * 60 },
		{ "now", NOW }, { "now-7days", NOW - 7 * DAY_S },
	};
	static const char *const bad[] = {
		"", "2026-08-21T15:38:00", "15:38", "today", "08/21", "noon", "x"
	};
	int64_t t = -1;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(time_parse_query(rows[i].in, NOW, NULL, &t, NULL), 0);
		assert_int_equal(t, rows[i].t);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		assert_int_equal(time_parse_query(bad[i], NOW, NULL, &t, &err), -1);
		assert_non_null(strstr(err.text, "2026-08-21T15:38:00+02:00"));
	}
	assert_int_equal(time_parse_query("2026-08-21T17:38:00", NOW, berlin, &t, NULL), 0);
	assert_int_equal(t, NOW);
	assert_int_equal(time_parse_query("5", NOW, berlin, &t, NULL), 0);
	assert_int_equal(t, 5);
}

static void cells(void **state UNUSED)
{
	static const struct {
		const char *in;
		int rc;
		bool known;
		int64_t t;
	} rows[] = {
		{ "2026-08-21T17:38:00", 0, true, NOW },
		{ "2026-08-21T17:38:00+0200", 0, true, NOW },
		{ "1787326680", 0, true, NOW },
		{ "Unknown", 0, false, 0 },
		{ "None", 0, false, 0 },
		{ "N/A", 0, false, 0 },
		{ "", 0, false, 0 },
		{ "0", 0, false, 0 },
		{ "2026-08-21", -1, false, 0 },
		{ "17:38", -1, false, 0 },
		{ "now", -1, false, 0 },
		{ "2026-08-21T17:38:00x", -1, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t t = -1;
		bool known = true;
		assert_int_equal(time_parse_cell(rows[i].in, berlin, &t, &known, NULL), rows[i].rc);
		assert_int_equal(known, rows[i].known);
		assert_int_equal(t, rows[i].t);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_form),
		cmocka_unit_test(refused),
		cmocka_unit_test(zones_and_clock_changes),
		cmocka_unit_test(query),
		cmocka_unit_test(cells),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

#include "unit.h"

#include "core/timespec.h"
#include "core/zone.h"

static struct arena *arena;

static int setup(void **state UNUSED)
{
	arena = arena_new();
	return 0;
}

static int teardown(void **state UNUSED)
{
	arena_free(arena);
	return 0;
}

static const struct zone *open_zone(const char *name)
{
	const struct zone *z = NULL;
	struct err err = { 0 };

	if (zone_open(name, arena, &z, &err) < 0)
		fail_msg("%s: %s", name, err.text);
	return z;
}

static void same_as_libc_in(const char *name, uint64_t *rnd)
{
	const struct zone *z = open_zone(name);
	bool is_rule = strpbrk(name, "0123456789") != NULL;

	setenv("TZ", name, 1);
	tzset();
	for (int i = 0; i < 20000; i++) {
		time_t t =
			i % 3 ? (time_t)test_below(rnd, INT64_C(2600000000))
			      : (time_t)test_below(rnd, INT64_C(12000000000)) - INT64_C(3000000000);
		struct tm want, got;
		char a[64], b[64];
		if (t < 2 * 366 * DAY_S && is_rule)
			continue; /* the C library has one rule for all years before 1971 */
		assert_non_null(localtime_r(&t, &want));
		zone_tm(z, t, &got);
		strftime(a, sizeof(a), "%F %T %z %Z %j %u", &want);
		strftime(b, sizeof(b), "%F %T %z %Z %j %u", &got);
		if (strcmp(a, b) != 0 || want.tm_isdst != got.tm_isdst)
			fail_msg("%s %" PRId64 ": libc %s, ours %s", name, (int64_t)t, a, b);
		/* What the clock shows leads back, unless it shows it twice. */
		struct civil c;
		zone_civil(z, t, &c);
		int64_t back = zone_moment(z, &c);
		struct civil again;
		zone_civil(z, back, &again);
		assert_int_equal(seconds_from_civil(&again), seconds_from_civil(&c));
		assert_true(back <= t);
	}
}

static void same_as_libc(void **state UNUSED)
{
	static const char *const zones[] = {
		"UTC", "Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu",
		"America/Sao_Paulo", "Africa/Casablanca", "Pacific/Apia", "America/St_Johns",
		"Pacific/Chatham", "Asia/Tehran", "America/Havana", "Atlantic/Azores", "Asia/Gaza",
		"CET-1CEST,M3.5.0,M10.5.0/3", "EST5EDT", "<-03>3<-02>,M3.5.0/-2,M10.5.0/-1",
		"AEST-10AEDT,M10.1.0,M4.1.0/3", "FOO0BAR,J60,J300",
	};
	uint64_t rnd = test_seed("zone");

	for (size_t i = 0; i < ARRAY_LEN(zones); i++)
		same_as_libc_in(zones[i], &rnd);
	unsetenv("TZ");
	tzset();
}

static void clock_changes(void **state UNUSED)
{
	const struct zone *berlin = open_zone("Europe/Berlin");
	const char *name;
	bool dst;
	/* FC-076: 02:30 twice; the first is summer time */
	struct civil twice = { 2025, 10, 26, 2, 30, 0 };
	assert_int_equal(zone_moment(berlin, &twice), 1761438600);
	assert_int_equal(zone_offset(berlin, 1761438600, &name, &dst), 7200);
	assert_string_equal(name, "CEST");
	assert_true(dst);
	assert_int_equal(zone_offset(berlin, 1761442200, &name, &dst), 3600);
	assert_string_equal(name, "CET");
	assert_false(dst);
	/* 02:30 never: 03:30 */
	struct civil never = { 2025, 3, 30, 2, 30, 0 }, shown;
	zone_civil(berlin, zone_moment(berlin, &never), &shown);
	assert_int_equal(shown.hour, 3);
	assert_int_equal(shown.minute, 30);
	/* FC-077: days of 23 and 25 hours; day 32 is the first of the next month */
	struct civil spring = { 2025, 3, 30, 0, 0, 0 }, next = { 2025, 3, 31, 0, 0, 0 };
	assert_int_equal(zone_moment(berlin, &next) - zone_moment(berlin, &spring), 82800);
	struct civil autumn = { 2025, 10, 26, 0, 0, 0 }, after = { 2025, 10, 27, 0, 0, 0 };
	assert_int_equal(zone_moment(berlin, &after) - zone_moment(berlin, &autumn), 90000);
	struct civil over = { 2025, 3, 32, 0, 0, 0 }, first = { 2025, 4, 1, 0, 0, 0 };
	assert_int_equal(zone_moment(berlin, &over), zone_moment(berlin, &first));
	struct civil month13 = { 2025, 13, 1, 0, 0, 0 }, january = { 2026, 1, 1, 0, 0, 0 };
	assert_int_equal(zone_moment(berlin, &month13), zone_moment(berlin, &january));
}

/* RFC 8536's way to say "all year"; the C library slips for hours around New Year. */
static void all_year(void **state UNUSED)
{
	const struct zone *z = open_zone("XXX3EDT4,0/0,J365/23");
	uint64_t rnd = test_seed("all year");

	for (int i = 0; i < 20000; i++) {
		int64_t new_year = days_from_civil(1990 + i % 60, 1, 1) * DAY_S;
		assert_int_equal(
			zone_offset(z, new_year + test_below(&rnd, DAY_S) - DAY_S / 2, NULL, NULL),
			-4 * 3600);
	}
}

static void refused(void **state UNUSED)
{
	static const char *const bad[] = {
		"", "Nowhere/City", "../../etc/passwd", "/etc/passwd", "Europe", "Europe/Berlin ",
		"Europe\nBerlin", "AB1", "ABC", "ABC1DEF,M13.1.0,M1.1.0", "ABC1DEF,M3.6.0,M1.1.0",
		"ABC1DEF,M3.1.7,M1.1.0", "ABC1DEF,J0,J5", "ABC1DEF,J1", "ABC25", "ABC1DEF,J1/168,J5",
		"ABC1DEF,J1,J5x", "<AB", "<ABC1", "ABCDEFGHIJKLMN1", "ABC1:60", "ABC1:2:3:4",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const struct zone *z = NULL;
		struct err err = { 0 };
		if (zone_open(bad[i], arena, &z, &err) == 0)
			fail_msg("%s taken", bad[i]);
		assert_int_equal(err.code, ERR_INVALID);
		assert_null(z);
	}
	const struct zone *z = NULL;
	assert_int_equal(zone_parse("TZif", 4, arena, &z, NULL), -1);
	assert_int_equal(zone_parse("", 0, arena, &z, NULL), -1);
}

static void local(void **state UNUSED)
{
	const struct zone *z = NULL;

	assert_int_equal(zone_open_local("", arena, &z, NULL), 0);
	assert_ptr_equal(z, zone_utc());
	assert_int_equal(zone_open_local(":Europe/Berlin", arena, &z, NULL), 0);
	assert_int_equal(zone_offset(z, 1761438600, NULL, NULL), 7200);
	assert_int_equal(zone_open_local("/usr/share/zoneinfo/Asia/Tokyo", arena, &z, NULL), 0);
	assert_int_equal(zone_offset(z, 0, NULL, NULL), 32400);
	assert_int_equal(zone_open_local("/nowhere", arena, &z, NULL), -1);
	z = NULL;
	assert_int_equal(zone_open_local(NULL, arena, &z, NULL), 0);
	assert_non_null(z);
	assert_int_equal(zone_offset(zone_utc(), 12345, NULL, NULL), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(same_as_libc), cmocka_unit_test(clock_changes),
		cmocka_unit_test(all_year),	cmocka_unit_test(refused),
		cmocka_unit_test(local),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

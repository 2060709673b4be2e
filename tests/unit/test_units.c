#include "unit.h"

#include "core/units.h"

static void format(void **state UNUSED)
{
	/* Most are cells of the real sacct (22.05): with --units, --noconvert and without. */
	static const struct {
		int64_t n;
		enum unit base;
		int divisor;
		struct unit_style style;
		const char *want;
	} rows[] = {
		{ 3420160, UNIT_NONE, 1024, { SCALE_EXACT, 0 }, "3340K" },
		{ 3420160, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_KILO }, "3340K" },
		{ 3420160, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_MEGA }, "3.26M" },
		{ 3420160, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_GIGA }, "0.00G" },
		{ 3420160, UNIT_NONE, 1024, { SCALE_NONE, 0 }, "3420160" },
		{ 214700032, UNIT_NONE, 1024, { SCALE_EXACT, 0 }, "209668K" },
		{ 214700032, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_MEGA }, "204.75M" },
		{ 214700032, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_GIGA }, "0.20G" },
		{ 4194304, UNIT_NONE, 1024, { SCALE_EXACT, 0 }, "4M" },
		{ 10997, UNIT_NONE, 1024, { SCALE_EXACT, 0 }, "10997" },
		{ 10997, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_MEGA }, "0.01M" },
		{ 5496424562862, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_MEGA }, "5241798.94M" },
		{ 100, UNIT_MEGA, 1024, { SCALE_EXACT, 0 }, "100M" },
		{ 100, UNIT_MEGA, 1024, { SCALE_NONE, 0 }, "100M" },
		{ 100, UNIT_MEGA, 1024, { SCALE_FIXED, UNIT_KILO }, "102400K" },
		{ 100, UNIT_MEGA, 1024, { SCALE_FIXED, UNIT_MEGA }, "100M" },
		{ 100, UNIT_MEGA, 1024, { SCALE_FIXED, UNIT_GIGA }, "0.10G" },
		{ 1200, UNIT_MEGA, 1024, { SCALE_EXACT, 0 }, "1200M" },
		{ 1200, UNIT_MEGA, 1024, { SCALE_FIXED, UNIT_GIGA }, "1.17G" },
		{ 203776, UNIT_MEGA, 1024, { SCALE_EXACT, 0 }, "199G" },
		{ 49152, UNIT_MEGA, 1024, { SCALE_EXACT, 0 }, "48G" },
		{ 2600, UNIT_KILO, 1000, { SCALE_ROUND, 0 }, "2.60M" },
		{ 8440, UNIT_KILO, 1000, { SCALE_ROUND, 0 }, "8.44M" },
		{ 0, UNIT_KILO, 1000, { SCALE_ROUND, 0 }, "0" },
		{ 0, UNIT_NONE, 1024, { SCALE_FIXED, UNIT_GIGA }, "0" },
		{ 0, UNIT_MEGA, 1024, { SCALE_NONE, 0 }, "0" },
		{ 101630, UNIT_NONE, 1000, { SCALE_ROUND, 0 }, "101.63K" }, /* FC-017 */
		{ 40448000000, UNIT_NONE, 1024, { SCALE_ROUND, 0 }, "37.67G" }, /* FC-016 */
		{ 999, UNIT_NONE, 1000, { SCALE_ROUND, 0 }, "999" },
		{ INT64_MAX, UNIT_NONE, 1024, { SCALE_NONE, 0 }, "9223372036854775807" },
		{ INT64_MAX, UNIT_MEGA, 1024, { SCALE_ROUND, 0 }, "8?" },
		{ 1125899906842624, UNIT_NONE, 1024, { SCALE_EXACT, 0 }, "1P" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[SIZE_TEXT_SIZE];
		size_format(rows[i].n, rows[i].base, rows[i].divisor, rows[i].style, out);
		assert_string_equal(out, rows[i].want);
	}
}

static void parse(void **state UNUSED)
{
	static const struct {
		const char *in;
		enum unit base;
		int divisor;
		int rc;
		bool known;
		int64_t want;
	} rows[] = {
		/* FC-014, 015 */
		{ "1.50T", UNIT_NONE, 1024, 0, true, 1649267441664 },
		{ "0", UNIT_NONE, 1024, 0, true, 0 },
		{ "", UNIT_NONE, 1024, 0, false, 0 },
		{ "16?", UNIT_NONE, 1024, 0, false, 0 },
		{ "16.00?", UNIT_NONE, 1024, 0, false, 0 },
		{ "18446744073709551614", UNIT_NONE, 1024, 0, false, 0 },
		{ "18446744073709551615", UNIT_NONE, 1024, 0, false, 0 },
		{ "18446744073709551613", UNIT_NONE, 1024, -1, false, 0 },
		{ "4M", UNIT_NONE, 1024, 0, true, 4194304 },
		{ "12756K", UNIT_NONE, 1024, 0, true, 13062144 },
		{ "39500000K", UNIT_NONE, 1024, 0, true, 40448000000 },
		{ "7.70G", UNIT_NONE, 1024, 0, true, 8267812045 },
		{ "0.00K", UNIT_NONE, 1024, 0, true, 0 },
		{ "85399.46K", UNIT_NONE, 1024, 0, true, 87449047 },
		{ "1.01K", UNIT_NONE, 1000, 0, true, 1010 },
		{ "2.60M", UNIT_KILO, 1000, 0, true, 2600 },
		{ "32G", UNIT_MEGA, 1024, 0, true, 32768 },
		{ "102400K", UNIT_MEGA, 1024, 0, true, 100 },
		{ "1535K", UNIT_MEGA, 1024, 0, true, 1 },
		{ "1536K", UNIT_MEGA, 1024, 0, true, 2 },
		{ "8000", UNIT_MEGA, 1024, 0, true, 8000 },
		{ "1.5", UNIT_MEGA, 1024, 0, true, 2 },
		{ "0.123456789123K", UNIT_NONE, 1024, 0, true, 126 },
		{ "8P", UNIT_NONE, 1024, 0, true, 9007199254740992 },
		{ "8191.99P", UNIT_NONE, 1024, 0, true, 9223360777855707382 },
		{ "8192P", UNIT_NONE, 1024, -1, false, 0 },
		{ "18446744073709551613P", UNIT_NONE, 1024, -1, false, 0 },
		{ "1.5", UNIT_NONE, 1024, -1, false, 0 },
		{ "10x", UNIT_NONE, 1024, -1, false, 0 },
		{ "4k", UNIT_NONE, 1024, -1, false, 0 },
		{ "4 K", UNIT_NONE, 1024, -1, false, 0 },
		{ "4KB", UNIT_NONE, 1024, -1, false, 0 },
		{ "4K?", UNIT_NONE, 1024, -1, false, 0 },
		{ "?", UNIT_NONE, 1024, -1, false, 0 },
		{ "K", UNIT_NONE, 1024, -1, false, 0 },
		{ "-4K", UNIT_NONE, 1024, -1, false, 0 },
		{ ".5K", UNIT_NONE, 1024, -1, false, 0 },
		{ "5.K", UNIT_NONE, 1024, -1, false, 0 },
		{ "99999999999999999999", UNIT_NONE, 1024, -1, false, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		int64_t v = -1;
		bool known = true;
		int rc = size_parse(rows[i].in, rows[i].base, rows[i].divisor, &v, &known, &err);
		if (rc != rows[i].rc || (rc == 0 && (v != rows[i].want || known != rows[i].known)))
			fail_msg("%s: rc %d, %" PRId64 ", known %d", rows[i].in, rc, v, known);
		assert_true((rc < 0) == (err.code == ERR_INVALID && err.text[0] != '\0'));
	}
}

static void reqmem(void **state UNUSED)
{
	static const struct {
		const char *in;
		int rc;
		bool known;
		int64_t mib;
		enum req_mem_per per;
	} rows[] = {
		/* FC-011 and the real rows of 16.05 whose bit 31 says "per CPU" */
		{ "0c", 0, false, 0, PER_CPU },
		{ "0n", 0, false, 0, PER_NODE },
		{ "", 0, false, 0, PER_JOB },
		{ "0", 0, false, 0, PER_JOB },
		{ "16?", 0, false, 0, PER_JOB },
		{ "3000Mc", 0, true, 3000, PER_CPU },
		{ "48000Mn", 0, true, 48000, PER_NODE },
		{ "100Gn", 0, true, 102400, PER_NODE },
		{ "48G", 0, true, 49152, PER_JOB },
		{ "2252800K", 0, true, 2200, PER_JOB },
		{ "2147486648Mn", 0, true, 3000, PER_CPU },
		{ "1.50T", 0, true, 1572864, PER_JOB },
		{ "c", -1, false, 0, PER_JOB },
		{ "Mc", -1, false, 0, PER_JOB },
		{ "3000Mcc", -1, false, 0, PER_JOB },
		{ "-3M", -1, false, 0, PER_JOB },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		int64_t mib = -1;
		enum req_mem_per per = PER_JOB;
		bool known = true;
		int rc = req_mem_parse(rows[i].in, &mib, &per, &known, NULL);
		assert_int_equal(rc, rows[i].rc);
		if (rc < 0)
			continue;
		assert_int_equal(known, rows[i].known);
		assert_int_equal(mib, rows[i].mib);
		assert_int_equal(per, rows[i].per);
	}
}

static void reqmem_raw(void **state UNUSED)
{
	int64_t mib = -1;
	enum req_mem_per per = PER_JOB;

	/* FC-012 */
	assert_true(req_mem_split(9223372036854779904u, &mib, &per));
	assert_int_equal(mib, 4096);
	assert_int_equal(per, PER_CPU);
	assert_true(req_mem_split(32768, &mib, &per));
	assert_int_equal(mib, 32768);
	assert_int_equal(per, PER_NODE);
	assert_false(req_mem_split(0, &mib, &per));
	assert_false(req_mem_split(9223372036854775808u, &mib, &per));
	assert_false(req_mem_split(NO_VAL64, &mib, &per));
	assert_false(req_mem_split(INFINITE64, &mib, &per));
}

static void unit_names(void **state UNUSED)
{
	enum unit u = UNIT_NONE;

	assert_int_equal(unit_parse("g", &u, NULL), 0);
	assert_int_equal(u, UNIT_GIGA);
	assert_int_equal(unit_parse("P", &u, NULL), 0);
	assert_int_equal(u, UNIT_PETA);
	static const char *const bad[] = { "", "KB", "?", "X", " K" };
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(unit_parse(bad[i], &u, NULL), -1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(format),     cmocka_unit_test(parse),
		cmocka_unit_test(reqmem),     cmocka_unit_test(reqmem_raw),
		cmocka_unit_test(unit_names),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "unit.h"

#include "core/duration.h"

static void seconds(void **state UNUSED)
{
	static const struct {
		const char *in;
		int64_t s;
		const char *out; /* NULL = the same */
	} rows[] = {
		/* FC-021, 087 */
		{ "1-02:03:04", 93784, NULL },
		{ "33-02:03:04", 2858584, NULL },
		{ "130-05:00:00", 11250000, NULL },
		{ "5120000-00:00:00", 442368000000, NULL },
		{ "00:00:00", 0, NULL },
		{ "23:59:59", 86399, NULL },
		{ "05:08", 308, "00:05:08" },
		{ "72:15", 4335, "01:12:15" },
		{ "120:00:00", 432000, "5-00:00:00" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[DURATION_TEXT_SIZE];
		int64_t s = -1;
		assert_int_equal(duration_parse(rows[i].in, &s, NULL), 0);
		assert_int_equal(s, rows[i].s);
		duration_format(s, out);
		assert_string_equal(out, rows[i].out != NULL ? rows[i].out : rows[i].in);
	}
	char out[DURATION_TEXT_SIZE];
	duration_format(-1, out);
	assert_string_equal(out, "INVALID");
	duration_format(INT64_MAX, out);
	assert_string_equal(out, "106751991167300-15:30:07");
}

static void cpu_time(void **state UNUSED)
{
	static const struct {
		const char *in;
		int64_t us;
		const char *out;
	} rows[] = {
		{ "00:00.002", 2000, NULL },
		{ "00:05.908", 5908000, NULL },
		{ "59:59.999", 3599999000, NULL },
		{ "01:55:46", 6946000000, NULL },
		{ "163-00:18:41", 14084321000000, NULL },
		{ "00:00:00", 0, NULL },
		{ "00:00.0029", 2900, "00:00.002" },
		{ "00:00.123456789", 123456, "00:00.123" },
		{ "00:10.000", 10000000, "00:00:10" },
		{ "01:00:00.5", 3600500000, "01:00:00" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[DURATION_TEXT_SIZE];
		int64_t us = -1;
		assert_int_equal(duration_parse_us(rows[i].in, &us, NULL), 0);
		assert_int_equal(us, rows[i].us);
		duration_format_us(us, out);
		assert_string_equal(out, rows[i].out != NULL ? rows[i].out : rows[i].in);
	}
}

static void refused(void **state UNUSED)
{
	static const char *const bad[] = {
		"", "5", "1-02", "1-02:03", "00:60", "00:60:00", "00:00:60", "1-24:00:00", "-1:00:00",
		"1:2:3:4", "1-0:0:0:0", "a:b:c", "00:00:00 ", " 00:00:00", "1--2:03:04", "1-2-3:4:5",
		"00:00:", ":00:00", "00:00:00.", "INVALID", "9223372036854775807:00:00",
		"106751991167301-00:00:00", "99999999999999999999:00",
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		int64_t v = -7;
		assert_int_equal(duration_parse(bad[i], &v, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_int_equal(duration_parse_us(bad[i], &v, &err), -1);
		assert_int_equal(v, -7);
	}
	int64_t v = -7;
	assert_int_equal(duration_parse("00:00.002", &v, NULL), -1);
	assert_int_equal(duration_parse_us("106751991-00:00:00", &v, NULL), 0);
	assert_int_equal(duration_parse_us("106751992-00:00:00", &v, NULL), -1);
}

static void limits(void **state UNUSED)
{
	static const struct {
		const char *in;
		int64_t limit;
		const char *out, *raw;
	} rows[] = {
		/* FC-025 */
		{ "UNLIMITED", LIMIT_UNLIMITED, "UNLIMITED", "UNLIMITED" },
		{ "unlimited", LIMIT_UNLIMITED, "UNLIMITED", "UNLIMITED" },
		{ "infinite", LIMIT_UNLIMITED, "UNLIMITED", "UNLIMITED" },
		{ "-1", LIMIT_UNLIMITED, "UNLIMITED", "UNLIMITED" },
		{ "Partition_Limit", LIMIT_PARTITION, "Partition_Limit", "Partition_Limit" },
		{ "10:10:00", 610, "10:10:00", "610" },
		{ "610", 610, "10:10:00", "610" },
		{ "0", 0, "00:00:00", "0" },
		{ "5:30", 6, "00:06:00", "6" },
		{ "0:01", 1, "00:01:00", "1" },
		{ "7-0", 10080, "7-00:00:00", "10080" },
		{ "1-12", 2160, "1-12:00:00", "2160" },
		{ "1-12:30", 2190, "1-12:30:00", "2190" },
		{ "1-12:30:01", 2191, "1-12:31:00", "2191" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char out[DURATION_TEXT_SIZE];
		int64_t v = -9;
		assert_int_equal(limit_parse(rows[i].in, &v, NULL), 0);
		assert_int_equal(v, rows[i].limit);
		limit_format(v, out);
		assert_string_equal(out, rows[i].out);
		limit_format_raw(v, out);
		assert_string_equal(out, rows[i].raw);
	}
}

static void limits_refused(void **state UNUSED)
{
	/* FC-018 */
	static const char *const bad[] = { "",        "10x",  "1-0:0:0:0", "1:60", "1-24",   "-5",
					   "1-0:60",  "1.5",  "none",      "5:",   "1-",     "Unknown",
					   "1:2:3:4", "5 ",   "1-0:0:0.5", "-",    "99999999999999999-0" };

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct err err = { 0 };
		int64_t v = -9;
		assert_int_equal(limit_parse(bad[i], &v, &err), -1);
		assert_int_equal(err.code, ERR_INVALID);
		assert_non_null(strstr(err.text, "UNLIMITED"));
		assert_int_equal(v, -9);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(seconds),	  cmocka_unit_test(cpu_time),
		cmocka_unit_test(refused),	  cmocka_unit_test(limits),
		cmocka_unit_test(limits_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

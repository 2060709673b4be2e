#include "unit.h"

#include "core/utf8.h"

#define BAD "\xef\xbf\xbd"

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

static void mend(void **state UNUSED)
{
	static const struct {
		const char *in;
		size_t n;
		const char *want; /* NULL = valid as it is */
	} rows[] = {
		{ "", 0, NULL },
		{ "plain", 5, NULL },
		{ "d\xc3\xa9" "d\xc3\xa9 job", 10, NULL },
		{ "\xf0\x9f\x98\x80", 4, NULL },
		{ "\x7f\x1b\x01", 3, NULL },
		{ "\xed\x9f\xbf\xee\x80\x80\xf4\x8f\xbf\xbf", 10, NULL },
		{ "job\xff\xfe", 5, "job" BAD BAD }, /* FC-007 */
		{ "a\0b", 3, "a" BAD "b" },
		{ "\0", 1, BAD },
		{ "\xc3", 1, BAD },
		{ "\xc3(", 2, BAD "(" },
		{ "\xc0\x80", 2, BAD BAD },	       /* overlong NUL */
		{ "\xe0\x80\xaf", 3, BAD BAD BAD },    /* overlong slash */
		{ "\xed\xa0\x80", 3, BAD BAD BAD },    /* surrogate */
		{ "\xf4\x90\x80\x80", 4, BAD BAD BAD BAD }, /* above U+10FFFF */
		{ "\xe2\x82", 2, BAD BAD },
		{ "\xe2\x82\xc3\xa9", 4, BAD BAD "\xc3\xa9" },
		{ "\x80x\xbf", 3, BAD "x" BAD },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		bool mended = false;
		const char *got = utf8_mend(rows[i].in, rows[i].n, arena, &mended);
		assert_int_equal(mended, rows[i].want != NULL);
		assert_int_equal(utf8_valid(rows[i].in, rows[i].n), rows[i].want == NULL);
		if (rows[i].want == NULL) {
			assert_ptr_equal(got, rows[i].in);
			continue;
		}
		assert_string_equal(got, rows[i].want);
		mended = false;
		assert_ptr_equal(utf8_mend(got, strlen(got), arena, &mended), got);
		assert_false(mended);
	}
	bool stays = true;
	utf8_mend("ok", 2, arena, &stays);
	assert_true(stays);
	assert_string_equal(utf8_mend("\xff", 1, arena, NULL), BAD);
}

static void columns(void **state UNUSED)
{
	static const struct {
		const char *in;
		size_t columns;
	} rows[] = {
		{ "", 0 },
		{ "abc", 3 },
		{ "d\xc3\xa9" "d\xc3\xa9 job", 8 }, /* FC-006 */
		{ "e\xcc\x81", 1 },		    /* e and a combining acute */
		{ "\xe4\xbb\xbb\xe5\x8b\x99", 4 },  /* two wide characters */
		{ "\xf0\x9f\x98\x80", 2 },
		{ "\xff\xfe", 2 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(utf8_columns(rows[i].in), rows[i].columns);
}

static void cut(void **state UNUSED)
{
	static const struct {
		const char *in;
		size_t columns, bytes;
	} rows[] = {
		{ "abc", 0, 0 },
		{ "abc", 2, 2 },
		{ "abc", 9, 3 },
		{ "d\xc3\xa9" "d\xc3\xa9 job", 4, 6 },
		{ "d\xc3\xa9" "d\xc3\xa9 job", 2, 3 },
		{ "d\xc3\xa9" "d\xc3\xa9 job", 1, 1 },
		{ "e\xcc\x81x", 1, 3 }, /* what combines stays with its character */
		{ "\xe4\xbb\xbb\xe5\x8b\x99", 3, 3 },
		{ "\xe4\xbb\xbb\xe5\x8b\x99", 1, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(utf8_cut(rows[i].in, rows[i].columns), rows[i].bytes);
}

static void escape(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "", "" },
		{ "plain d\xc3\xa9 \\ x", "plain d\xc3\xa9 \\ x" },
		{ "f20\n", "f20\\n" }, /* FC-004 */
		{ "g\r", "g\\r" },
		{ "\x1b[31mred\x1b[0m\t\a\x7f", "\\x1b[31mred\\x1b[0m\\t\\x07\\x7f" }, /* FC-010 */
		{ "\xc2\x9b" "2J", "\\u009b2J" },		  /* C1: CSI */
		{ "a\xe2\x80\xae" "b\xe2\x81\xa6", "a\\u202eb\\u2066" }, /* turned direction */
		{ "\xe2\x80\xa8", "\\u2028" },
		{ "j\xff\n", "j\\xff\\n" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT;
		utf8_escape(rows[i].in, &out);
		assert_string_equal(buf_str(&out), rows[i].want);
		buf_fini(&out);
	}
}

/* A second statement of what a valid character is: encode every code point. */
static void every_code_point(void **state UNUSED)
{
	for (uint32_t c = 1; c < 0x120000; c++) {
		char s[4];
		size_t n;
		if (c < 0x80) {
			s[0] = (char)c;
			n = 1;
		} else if (c < 0x800) {
			s[0] = (char)(0xc0 | c >> 6);
			n = 2;
		} else if (c < 0x10000) {
			s[0] = (char)(0xe0 | c >> 12);
			n = 3;
		} else {
			s[0] = (char)(0xf0 | c >> 18);
			n = 4;
		}
		for (size_t i = 1; i < n; i++)
			s[i] = (char)(0x80 | (c >> 6 * (n - 1 - i) & 0x3f));
		bool want = c <= 0x10ffff && (c < 0xd800 || c > 0xdfff);
		if (utf8_valid(s, n) != want)
			fail_msg("U+%04X", c);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(mend),	  cmocka_unit_test(columns),	      cmocka_unit_test(cut),
		cmocka_unit_test(escape), cmocka_unit_test(every_code_point),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

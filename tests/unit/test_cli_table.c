#include "unit.h"

#include "cli/table.h"

static const struct table_column two[] = { { "JobID", -8 }, { "JobName", 5 } };

static const char *row(struct buf *out, enum table_form form, const char *delimiter, const char *id,
		       const char *name)
{
	struct table t = {
		.form = form, .delimiter = delimiter, .columns = two, .n_columns = 2, .out = out
	};

	buf_clear(out);
	table_cell(&t, id);
	table_cell(&t, name);
	return buf_str(out);
}

static void headers(void **state UNUSED)
{
	struct buf out = BUF_INIT;
	struct table t = { .columns = two, .n_columns = 2, .out = &out };

	table_header(&t);
	assert_string_equal(buf_str(&out), "JobID    JobNa \n"
					   "-------- ----- \n");
	buf_clear(&out);
	t.form = TABLE_SEPARATED;
	t.delimiter = "|";
	table_header(&t);
	assert_string_equal(buf_str(&out), "JobID|JobName\n");
	buf_fini(&out);
}

/* FC-003: -p ends each row with a delimiter, -P does not. */
static void delimiters(void **state UNUSED)
{
	struct buf out = BUF_INIT;

	assert_string_equal(row(&out, TABLE_ENDED, "|", "102", "mail_test"), "102|mail_test|\n");
	assert_string_equal(row(&out, TABLE_SEPARATED, "|", "102", "mail_test"), "102|mail_test\n");
	/* FC-001: bytes as they are; a longer delimiter keeps them apart. */
	assert_string_equal(row(&out, TABLE_SEPARATED, "|", "101", "a|b"), "101|a|b\n");
	assert_string_equal(row(&out, TABLE_SEPARATED, "^|^", "101", "a|b"), "101^|^a|b\n");
	assert_string_equal(row(&out, TABLE_CSV, NULL, "101", "a|b"), "101,a|b\r\n");
	buf_fini(&out);
}

static void widths(void **state UNUSED)
{
	static const struct {
		const char *name, *cell;
	} rows[] = {
		{ "ab", "   ab" },
		{ "", "     " },
		{ "abcde", "abcde" },
		{ "abcdef", "abcd+" },
		/* FC-006: characters, not bytes, and never half of one. */
		{ "d\xc3\xa9"
		  "d\xc3\xa9 job",
		  "d\xc3\xa9"
		  "d\xc3\xa9+" },
		{ "\xc3\xa9\xc3\xa9", "   \xc3\xa9\xc3\xa9" },
		/* FC-004, FC-010: one row is one line, and no terminal is told what to do. */
		{ "f20\n", "f20\\n" },
		{ "g\r", "  g\\r" },
		{ "\t\x7f", "\\t\\x+" },
		{ "\x1b[", "\\x1b[" },
		{ "\xc2\x9b", " \\x9b" },
		/* Bytes that are no UTF-8 count one each and end nothing early. */
		{ "\xff\xfe", "   \xff\xfe" },
	};
	struct buf out = BUF_INIT, want = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		buf_clear(&want);
		buf_printf(&want, "7        %s \n", rows[i].cell);
		assert_string_equal(row(&out, TABLE_COLUMNS, NULL, "7", rows[i].name),
				    buf_str(&want));
	}
	assert_string_equal(row(&out, TABLE_COLUMNS, NULL, "123456789", "x"), "1234567+     x \n");
	buf_fini(&want);
	buf_fini(&out);
}

static void csv(void **state UNUSED)
{
	struct buf out = BUF_INIT;

	assert_string_equal(row(&out, TABLE_CSV, NULL, "1", "a,\"b\""), "1,\"a,\"\"b\"\"\"\r\n");
	assert_string_equal(row(&out, TABLE_CSV, NULL, "1", "two\nlines"), "1,\"two\nlines\"\r\n");
	assert_string_equal(row(&out, TABLE_CSV, NULL, "", ""), ",\r\n");
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(headers),
		cmocka_unit_test(delimiters),
		cmocka_unit_test(widths),
		cmocka_unit_test(csv),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

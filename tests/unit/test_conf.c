/* The syntax of tally.conf. */
#include "unit.h"

#include "base/buf.h"
#include "base/conf.h"

/* "line key=value;" for each pair, Include as "line <value;". */
static int collect(const struct conf_pair *pair, void *arg, struct err *err UNUSED)
{
	if (pair->key[0] != '\0')
		buf_printf(arg, "%d %s=%s;", pair->line, pair->key, pair->value);
	else
		buf_printf(arg, "%d <%s;", pair->line, pair->value);
	return 0;
}

static const struct {
	const char *in, *out; /* out NULL: an error */
	const char *where;    /* of the error */
} rows[] = {
	{ "", "", NULL },
	{ "A=1", "1 A=1;", NULL },
	{ "A=1\nB=2\n", "1 A=1;2 B=2;", NULL },
	{ "A=1 B=2", "1 A=1;1 B=2;", NULL },
	{ "  A = 1  \r\n", "1 A=1;", NULL },
	{ "# all comment\n\nA=1 # rest\n", "3 A=1;", NULL },
	{ "A=\"one two\" B=x", "1 A=one two;1 B=x;", NULL },
	{ "A=\"with # inside\" # outside", "1 A=with # inside;", NULL },
	{ "A=\"\"", "1 A=;", NULL },
	{ "A=", "1 A=;", NULL },
	{ "A=p\\#w", "1 A=p#w;", NULL },
	{ "A=1 \\\n  B=2\nC=3", "1 A=1;1 B=2;3 C=3;", NULL },
	{ "A=1\\\r\n2\nB=3", "1 A=12;3 B=3;", NULL },
	{ "A=x=y", "1 A=x=y;", NULL },
	{ "A=C:\\dir\\", "1 A=C:\\dir\\;", NULL },
	{ "Include /etc/x.conf\n", "1 </etc/x.conf;", NULL },
	{ "include \"a b\"", "1 <a b;", NULL },
	{ "Include=7", "1 Include=7;", NULL },
	{ "# \\\nA=1", "", NULL }, /* a comment goes on with its line */
	{ "A", NULL, "f:1" },
	{ "\n\nA B=2", NULL, "f:3" },
	{ "=2", NULL, "f:1" },
	{ "A=\"open\nB=2", NULL, "f:1" },
	{ "A=\"x\"y", NULL, "f:1" },
	{ "A=1\n!\n", NULL, "f:2" },
	{ "Include", NULL, "f:1" },
};

static void test_rows(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct arena *a = arena_new();
		struct buf out = BUF_INIT;
		struct err err = { 0 };
		int rc = conf_parse("f", rows[i].in, strlen(rows[i].in), a, collect, &out, &err);

		if (rows[i].out != NULL) {
			if (rc != 0)
				print_error("%s: %s\n", rows[i].in, err.text);
			assert_int_equal(rc, 0);
			assert_string_equal(buf_str(&out), rows[i].out);
		} else {
			assert_int_equal(rc, -1);
			assert_string_equal(err.where, rows[i].where);
		}
		buf_fini(&out);
		arena_free(a);
	}
}

static int refuse(const struct conf_pair *pair UNUSED, void *arg UNUSED, struct err *err)
{
	return err_set(err, ERR_INVALID, "here", "no");
}

static void test_sink_stops(void **state UNUSED)
{
	struct arena *a = arena_new();
	struct err err = { 0 };

	assert_int_equal(conf_parse("f", "A=1\nB=", 6, a, refuse, NULL, &err), -1);
	assert_string_equal(err.where, "here");
	arena_free(a);
}

static void test_limits(void **state UNUSED)
{
	static char longest[70000];
	struct arena *a = arena_new();
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	memset(longest, 'x', sizeof(longest));
	memcpy(longest, "A=", 2);
	assert_int_equal(conf_parse("f", longest, sizeof(longest), a, collect, &out, &err), -1);
	assert_int_equal(conf_parse("f", "A=1\0B", 5, a, collect, &out, &err), -1);
	buf_fini(&out);
	arena_free(a);
}

static void test_where(void **state UNUSED)
{
	char out[16];

	conf_where("a.conf", 7, out, sizeof(out));
	assert_string_equal(out, "a.conf:7");
	conf_where("/etc/tally/tally.conf", 12, out, sizeof(out));
	assert_string_equal(out, "...ally.conf:12");
	conf_where("123456789012", 123, out, sizeof(out));
	assert_string_equal(out, "...56789012:123");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows),
		cmocka_unit_test(test_sink_stops),
		cmocka_unit_test(test_limits),
		cmocka_unit_test(test_where),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

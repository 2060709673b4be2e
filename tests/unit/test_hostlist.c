#include "unit.h"

#include "base/buf.h"
#include "core/hostlist.h"

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

static const char *joined(const char *const *names, size_t n)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < n; i++)
		buf_printf(&b, "%s%s", i > 0 ? " " : "", names[i]);
	const char *text = arena_strdup(arena, buf_str(&b));
	buf_fini(&b);
	return text;
}

static void expand(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		/* FC-176, 177, 179 */
		{ "n[001-003,7]", "n001 n002 n003 n7" },
		{ "host[001,003-004,006]", "host001 host003 host004 host006" },
		{ "node[9,010-011]", "node9 node010 node011" },
		{ "n[008-011]", "n008 n009 n010 n011" },
		{ "n[9-11]", "n9 n10 n11" },
		{ "n[98-101]", "n98 n99 n100 n101" },
		{ "n[08-10,099-100]", "n08 n09 n10 n099 n100" },
		{ "n1", "n1" },
		{ "n1,n1", "n1 n1" },
		{ "n1,,n2, n3\n", "n1 n2 n3" },
		{ "", "" },
		{ "d13n[03,05,07-08,16]", "d13n03 d13n05 d13n07 d13n08 d13n16" },
		{ "r[1-2]n[01-02]", "r1n01 r1n02 r2n01 r2n02" },
		{ "r[1-2]n[1,3]-ib", "r1n1-ib r1n3-ib r2n1-ib r2n3-ib" },
		{ "[1-3]", "1 2 3" },
		{ "a[1-2][3-4]", "a13 a14 a23 a24" },
		{ "d\xc3\xa9[1-2]", "d\xc3\xa9" "1 d\xc3\xa9" "2" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *const *names = NULL;
		size_t n = 0;
		int64_t count = -1;
		assert_int_equal(hostlist_expand(rows[i].in, arena, &names, &n, NULL), 0);
		assert_string_equal(joined(names, n), rows[i].want);
		assert_int_equal(hostlist_count(rows[i].in, &count, NULL), 0);
		assert_int_equal(count, n);
		for (size_t k = 0; k < n; k++)
			assert_true(hostlist_contains(rows[i].in, names[k]));
	}
}

static void real_row(void **state UNUSED)
{
	/* FC-180: 32 nodes, as the row's NNodes says */
	static const char list[] =
		"d07n07s02,d07n19s02,d07n25s01,d07n28s01,d07n29s01,d07n31s02,d07n38s02,d09n04s[01-02],"
		"d09n05s02,d09n06s01,d09n07s01,d09n08s[01-02],d09n09s01,d09n11s[01-02],d09n13s01,"
		"d09n14s01,d09n15s01,d09n16s01,d09n17s01,d09n24s01,d09n25s02,d09n28s01,d09n35s01,"
		"d09n38s02,d13n[03,05,07-08,16]";
	const char *const *names = NULL;
	const char *again = NULL;
	size_t n = 0;

	assert_int_equal(hostlist_expand(list, arena, &names, &n, NULL), 0);
	assert_int_equal(n, 32);
	assert_int_equal(hostlist_compress(names, n, arena, &again, NULL), 0);
	assert_string_equal(again, list);
	assert_int_equal(hostlist_find(list, "d07n07s02"), 0);
	assert_int_equal(hostlist_find(list, "d13n16"), 31);
	assert_int_equal(hostlist_find(list, "d13n6"), -1);
}

static void refused(void **state UNUSED)
{
	static const struct {
		const char *in;
		enum err_code code;
	} rows[] = {
		{ "n[", ERR_INVALID },	      { "n[]", ERR_INVALID },	     { "n]", ERR_INVALID },
		{ "n[1-]", ERR_INVALID },     { "n[-1]", ERR_INVALID },	     { "n[2-1]", ERR_INVALID },
		{ "n[1", ERR_INVALID },	      { "n[1,]", ERR_INVALID },	     { "n[a]", ERR_INVALID },
		{ "n[1-2-3]", ERR_INVALID },  { "n[1-010]", ERR_INVALID },   { "n[[1]]", ERR_INVALID },
		{ "n[1 ,2]", ERR_INVALID },   { "ok,n[x]", ERR_INVALID },
		{ "n[1-9999999999999999999]", ERR_INVALID },
		{ "n\x01", ERR_INVALID },
		{ "[1][1][1][1][1][1][1][1][1]", ERR_INVALID },
		{ "n[1-999999999]", ERR_TOO_LARGE },
		{ "n[1-1000001]", ERR_TOO_LARGE },
		{ "n[1-1000][1-1001]", ERR_TOO_LARGE },
		{ "n[1-999999999999999999][1-999999999999999999]", ERR_TOO_LARGE },
		{ "a[1-600000],b[1-600000]", ERR_TOO_LARGE },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		const char *const *names = NULL;
		size_t n = 7;
		int64_t count = -1;
		assert_int_equal(hostlist_expand(rows[i].in, arena, &names, &n, &err), -1);
		assert_int_equal(err.code, rows[i].code);
		assert_int_equal(hostlist_count(rows[i].in, &count, &err), -1);
		assert_int_equal(hostlist_find(rows[i].in, "n1"), -1);
		assert_null(names);
	}
	/* asking costs nothing, whatever it would expand to */
	assert_true(hostlist_contains("n[1-999999999999]", "n123456789"));
	assert_false(hostlist_contains("n[1-999999999999]", "n0123456789"));
	assert_false(hostlist_contains("n[1-]", "n1"));

	char *longest = arena_zalloc(arena, 300);
	const char *const *names = NULL;
	size_t n = 0;
	struct err err = { 0 };
	memset(longest, 'x', 256);
	assert_int_equal(hostlist_expand(longest, arena, &names, &n, &err), -1);
	assert_int_equal(err.code, ERR_INVALID);
	longest[255] = '\0';
	assert_int_equal(hostlist_expand(longest, arena, &names, &n, &err), 0);
}

static void compress(void **state UNUSED)
{
	static const struct {
		const char *names[8];
		const char *want;
	} rows[] = {
		{ { "n1" }, "n1" },
		{ { "n2", "n1", "n3", "n1" }, "n[1-3]" },
		{ { "node9", "node010", "node011" }, "node[9,010-011]" }, /* FC-177 */
		{ { "a001", "a002", "a01", "a10" }, "a[01,001-002,10]" },
		{ { "n08", "n09", "n10" }, "n[08-10]" },
		{ { "n9", "n10", "n11" }, "n[9-11]" },
		{ { "n98", "n99", "n100" }, "n[98-100]" },
		{ { "n099", "n100", "n9", "n10" }, "n[9-10,099-100]" },
		{ { "login", "n1", "n2", "admin" }, "admin,login,n[1-2]" },
		{ { "n", "n1", "n2" }, "n,n[1-2]" },
		{ { "d2n1", "d1n2", "d1n1" }, "d1n[1-2],d2n1" },
		{ { "n1-ib", "n2-ib" }, "n1-ib,n2-ib" },
		{ { "n0", "n00", "n000" }, "n[0,00,000]" },
		{ { "5", "6" }, "[5-6]" },
		{ { NULL }, "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		size_t n = 0;
		const char *got = NULL;
		while (n < 8 && rows[i].names[n] != NULL)
			n++;
		assert_int_equal(hostlist_compress(rows[i].names, n, arena, &got, NULL), 0);
		assert_string_equal(got, rows[i].want);
	}
	static const char *const bad[] = { "", "a,b", "n[1]", "a b" };
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		const char *got = NULL;
		assert_int_equal(hostlist_compress(&bad[i], 1, arena, &got, NULL), -1);
		assert_null(got);
	}
}

static int name_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

static size_t sort_unique(const char **v, size_t n)
{
	size_t kept = 0;

	qsort(v, n, sizeof(*v), name_order);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || strcmp(v[kept - 1], v[i]) != 0)
			v[kept++] = v[i];
	return kept;
}

/* Compress then expand is the identity, and never more than the text of the names. */
static void round_trip(void **state UNUSED)
{
	static const char *const prefixes[] = { "n", "n1", "node-", "d07n", "", "gpu", "x0" };
	uint64_t rnd = test_seed("hostlist round trip");

	for (int round = 0; round < 3000; round++) {
		size_t n = (size_t)test_below(&rnd, 40) + 1, back_n = 0;
		const char **v = ARENA_ARRAY(arena, const char *, n);
		const char *const *back = NULL;
		const char *text = NULL;
		for (size_t i = 0; i < n; i++) {
			const char *prefix = prefixes[test_below(&rnd, 3)];
			if (test_below(&rnd, 8) == 0)
				prefix = prefixes[test_below(&rnd, (int64_t)ARRAY_LEN(prefixes))];
			if (test_below(&rnd, 12) == 0)
				v[i] = arena_printf(arena, "%sx", prefix);
			else
				v[i] = arena_printf(
					arena, "%s%0*d", prefix, (int)test_below(&rnd, 4) + 1,
					(int)test_below(&rnd, test_below(&rnd, 2) ? 12 : 130));
		}
		size_t want = sort_unique(v, n);
		assert_int_equal(hostlist_compress(v, want, arena, &text, NULL), 0);
		assert_int_equal(hostlist_expand(text, arena, &back, &back_n, NULL), 0);
		assert_int_equal(back_n, want);
		const char **sorted = ARENA_ARRAY(arena, const char *, back_n);
		memcpy(sorted, back, sizeof(*back) * back_n);
		assert_int_equal(sort_unique(sorted, back_n), want);
		for (size_t i = 0; i < want; i++)
			assert_string_equal(sorted[i], v[i]);
	}
}

/* Second statement of expansion: take the first bracket, put each number in, go on. */
static size_t slow_expand(const char *text, const char **out, size_t n)
{
	const char *open = strchr(text, '[');

	if (open == NULL) {
		out[n] = arena_strdup(arena, text);
		return n + 1;
	}
	const char *s = open + 1, *close = strchr(open, ']');
	while (s < close) {
		long first = strtol(s, NULL, 10), last = first;
		int width = (int)strspn(s, "0123456789");
		s += width;
		if (*s == '-') {
			last = strtol(s + 1, NULL, 10);
			s += 1 + strspn(s + 1, "0123456789");
		}
		for (long v = first; v <= last; v++)
			n = slow_expand(arena_printf(arena, "%.*s%0*ld%s", (int)(open - text), text,
						     width, v, close + 1),
					out, n);
		s++;
	}
	return n;
}

static const char *random_word(uint64_t *rnd)
{
	static const char *const literals[] = { "n", "a1", "", "-", "0", "1" };
	struct buf b = BUF_INIT;

	buf_adds(&b, "w");
	for (int64_t g = test_below(rnd, 4); g > 0; g--) {
		buf_printf(&b, "%s[", literals[test_below(rnd, (int64_t)ARRAY_LEN(literals))]);
		for (int64_t r = test_below(rnd, 3); r >= 0; r--) {
			int first = (int)test_below(rnd, 15),
			    last = first + (int)test_below(rnd, 4);
			int width = (int)test_below(rnd, 3) + 1;
			buf_printf(&b, "%0*d", width, first);
			if (test_below(rnd, 2))
				buf_printf(&b, "-%d", last);
			buf_addc(&b, r > 0 ? ',' : ']');
		}
	}
	buf_adds(&b, literals[test_below(rnd, (int64_t)ARRAY_LEN(literals))]);
	const char *text = arena_strdup(arena, buf_str(&b));
	buf_fini(&b);
	return text;
}

static void against_slow(void **state UNUSED)
{
	uint64_t rnd = test_seed("hostlist expand");
	static const char *want[200000];

	for (int round = 0; round < 400; round++) {
		const char *text = random_word(&rnd), *other = random_word(&rnd);
		size_t want_n = slow_expand(text, want, 0), n = 0;
		const char *const *got = NULL;
		bool meets = false;
		const struct hostset *set = NULL;
		assert_int_equal(hostlist_expand(text, arena, &got, &n, NULL), 0);
		assert_int_equal(n, want_n);
		for (size_t i = 0; i < n; i++) {
			assert_string_equal(got[i], want[i]);
			if (!hostlist_contains(text, want[i]))
				fail_msg("%s has not %s", text, want[i]);
			meets |= hostlist_contains(other, want[i]);
		}
		if (meets != hostlist_intersects(text, other) ||
		    meets != hostlist_intersects(other, text))
			fail_msg("%s and %s", text, other);
		assert_int_equal(hostset_new(text, arena, &set, NULL), 0);
		assert_int_equal(hostset_meets(set, other), meets);
		for (size_t i = 0; i < n && i < 50; i++) {
			size_t at = (size_t)test_below(&rnd, (int64_t)n);
			int64_t found = hostlist_find(text, got[at]);
			assert_true(found >= 0 && found <= (int64_t)at);
			assert_string_equal(got[found], got[at]);
			assert_true(hostset_has(set, got[at]));
		}
		arena_reset(arena);
	}
}

/* What is not in the expanded list is not contained: names that nearly are. */
static void contains_no_more(void **state UNUSED)
{
	uint64_t rnd = test_seed("hostlist contains");
	static const char *want[200000];

	for (int round = 0; round < 2000; round++) {
		const char *text = random_word(&rnd);
		size_t n = slow_expand(text, want, 0);
		char *near = arena_strdup(arena, want[test_below(&rnd, (int64_t)n)]);
		near[test_below(&rnd, (int64_t)strlen(near))] = "0123n-w"[test_below(&rnd, 7)];
		bool in = false;
		for (size_t i = 0; i < n; i++)
			in |= strcmp(want[i], near) == 0;
		if (hostlist_contains(text, near) != in)
			fail_msg("%s in %s: %d", near, text, in);
		arena_reset(arena);
	}
}

static void absent(void **state UNUSED)
{
	static const char *const yes[] = { "", "None assigned", "(null)", "(unknown)" };

	for (size_t i = 0; i < ARRAY_LEN(yes); i++)
		assert_true(hostlist_is_absent(yes[i]));
	assert_false(hostlist_is_absent("n1"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(expand),	cmocka_unit_test(real_row),
		cmocka_unit_test(refused),	cmocka_unit_test(compress),
		cmocka_unit_test(round_trip),	cmocka_unit_test(against_slow),
		cmocka_unit_test(contains_no_more), cmocka_unit_test(absent),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

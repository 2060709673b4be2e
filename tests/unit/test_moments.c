#include "unit.h"

#include "core/moments.h"

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

static void parse_format(void **state UNUSED)
{
	static const struct {
		const char *in, *want; /* NULL = refused */
	} rows[] = {
		{ "", "" },
		{ "S1700000000,R1700000060", "S1700000000,R1700000060" },
		{ "R60,S0", "S0,R60" },
		{ "R5,S5", "S5,R5" },
		{ "S5,S5,R6,S5", "S5,R6" },
		{ "S-5,R10", "S-5,R10" },
		{ "X5", NULL },
		{ "S", NULL },
		{ "S5,", NULL },
		{ ",S5", NULL },
		{ "S5 ,R6", NULL },
		{ "S5R6", NULL },
		{ "s5", NULL },
		{ "S99999999999999999999", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		struct moment *m = NULL;
		size_t n = 99;
		int rc = moments_parse(rows[i].in, arena, &m, &n, &err);
		assert_int_equal(rc, rows[i].want != NULL ? 0 : -1);
		if (rc == 0)
			assert_string_equal(moments_format(m, n, arena), rows[i].want);
		else
			assert_int_equal(err.code, ERR_INVALID);
	}
}

static void unions(void **state UNUSED)
{
	const char *a = "S10,R20", *b = "S15,R20,S30", *all = "S10,S15,R20,S30";

	assert_string_equal(moments_union(a, b, arena), all);
	assert_string_equal(moments_union(b, a, arena), all);
	assert_ptr_equal(moments_union(all, b, arena), all);
	assert_ptr_equal(moments_union(a, all, arena), all);
	assert_ptr_equal(moments_union(a, NULL, arena), a);
	assert_ptr_equal(moments_union(NULL, b, arena), b);
	assert_null(moments_union(NULL, NULL, arena));
	assert_string_equal(moments_union("", "S1", arena), "S1");
	assert_string_equal(moments_with(a, (struct moment){ 5, true }, arena), "R5,S10,R20");
	assert_string_equal(moments_with(NULL, (struct moment){ 5, false }, arena), "S5");
	assert_ptr_equal(moments_with(a, (struct moment){ 20, true }, arena), a);
}

static void spans(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "", "" },
		{ "S10,R20", "10-20 " },
		{ "S10,R20,S30", "10-20 30-inf " },
		{ "R5,S10,R20", "10-20 " },
		{ "S10,S15,R20", "10-20 " },
		{ "S10,R20,R25,S30,R31", "10-20 30-31 " },
		/* both in one second: as it was */
		{ "S10,R10", "" },
		{ "S10,S20,R20,R30", "10-30 " },
		{ "S10,R20,S25,R25,S30", "10-20 30-inf " },
		{ "R10", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char got[128] = "";
		size_t n = 0;
		int64_t from, to;
		for (const char *at = rows[i].in; moments_next_span(&at, &from, &to);)
			n += (size_t)(to == INT64_MAX ? snprintf(got + n, sizeof(got) - n,
								 "%d-inf ", (int)from)
						      : snprintf(got + n, sizeof(got) - n, "%d-%d ",
								 (int)from, (int)to));
		assert_string_equal(got, rows[i].want);
	}
	const char *none = NULL;
	int64_t from, to;
	assert_false(moments_next_span(&none, &from, &to));
}

/* Second statement: second by second, a switch that each instant throws. */
static void spans_against_seconds(void **state UNUSED)
{
	uint64_t rnd = test_seed("moments");

	for (int round = 0; round < 3000; round++) {
		bool s[40] = { 0 }, r[40] = { 0 }, on = false, got[40] = { 0 };
		struct moment m[12];
		size_t n = (size_t)test_below(&rnd, 12);
		for (size_t i = 0; i < n; i++) {
			m[i] = (struct moment){ test_below(&rnd, 40), test_below(&rnd, 2) };
			*(m[i].resume ? &r[m[i].at] : &s[m[i].at]) = true;
		}
		const char *text = moments_format(m, n, arena);
		int64_t from, to;
		for (const char *at = text; moments_next_span(&at, &from, &to);)
			for (int64_t t = from; t < to && t < 40; t++)
				got[t] = true;
		for (int t = 0; t < 40; t++) {
			if (s[t] != r[t])
				on = s[t];
			if (got[t] != on)
				fail_msg("%s at %d", text, t);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse_format),
		cmocka_unit_test(unions),
		cmocka_unit_test(spans),
		cmocka_unit_test(spans_against_seconds),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

#include "unit.h"

#include "core/tres.h"
#include "core/where.h"

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

static void parse(void **state UNUSED)
{
	static const struct {
		enum tres_kind kind;
		const char *in, *want; /* NULL = refused */
	} rows[] = {
		{ TRES_AMOUNT, "", "" },
		{ TRES_AMOUNT, "cpu=4,mem=32G,node=1", "cpu=4,mem=32768,node=1" },
		{ TRES_AMOUNT, "node=1,mem=8000M,gres/gpu=2,cpu=4,billing=4",
		  "billing=4,cpu=4,gres/gpu=2,mem=8000,node=1" },
		{ TRES_AMOUNT, "mem=102400K", "mem=100" },
		{ TRES_AMOUNT, "mem=8000", "mem=8000" },
		{ TRES_AMOUNT, "mem=1.50T", "mem=1572864" },
		{ TRES_AMOUNT, "energy=1.01K", "energy=1010" },
		{ TRES_AMOUNT, "energy=101.63K", "energy=101630" },
		{ TRES_AMOUNT, "bb/datawarp=1G", "bb/datawarp=1024" },
		/* FC-097, 098: names reach to the last '=' */
		{ TRES_AMOUNT, "gres/gpu:rtx-6000=2,gres/gpu:1g.5gb=1,gres/gpu:a100=4",
		  "gres/gpu:1g.5gb=1,gres/gpu:a100=4,gres/gpu:rtx-6000=2" },
		{ TRES_AMOUNT, "license/mat=lab=3,gres/gpu:a100=1,gres/gpu=1,gres/shard=4",
		  "gres/gpu=1,gres/gpu:a100=1,gres/shard=4,license/mat=lab=3" },
		/* FC-082: no quantities */
		{ TRES_AMOUNT, "cpu=4,energy=18446744073709551614,node=1", "cpu=4,node=1" },
		{ TRES_AMOUNT, "cpu=18446744073709551615", "" },
		{ TRES_USAGE, "mem=16?,energy=18446744073709551614,fs/disk=18446744073709551615,pages=3",
		  "pages=3" },
		{ TRES_USAGE,
		  "cpu=15:33:58,energy=0,fs/disk=934556828,gres/gpumem=20500736K,gres/gpuutil=90,"
		  "mem=1294440K,pages=3310,vmem=10379460K",
		  "cpu=56038000,energy=0,fs/disk=934556828,gres/gpumem=20992753664,gres/gpuutil=90,"
		  "mem=1325506560,pages=3310,vmem=10628567040" },
		{ TRES_USAGE, "cpu=1-06:35:28,mem=4M,vmem=0", "cpu=110128000,mem=4194304,vmem=0" },
		{ TRES_USAGE, "cpu=00:00.017", "cpu=17" },
		{ TRES_USAGE, "cpu=1200", "cpu=1200" },
		{ TRES_USAGE, "cpu=18446744073709551614", "" },
		{ TRES_USAGE, "energy=101.63K,mem=586344K", "energy=101630,mem=600416256" },
		/* garbage, by the word */
		{ TRES_AMOUNT, "cpu", NULL },
		{ TRES_AMOUNT, "cpu=", NULL },
		{ TRES_AMOUNT, "=4", NULL },
		{ TRES_AMOUNT, ",", NULL },
		{ TRES_AMOUNT, "cpu=4,", NULL },
		{ TRES_AMOUNT, ",cpu=4", NULL },
		{ TRES_AMOUNT, "cpu=4,,mem=1G", NULL },
		{ TRES_AMOUNT, "cpu=-1", NULL },
		{ TRES_AMOUNT, "mem=-1", NULL },
		{ TRES_AMOUNT, "cpu=4k", NULL },
		{ TRES_AMOUNT, "cpu=4K", NULL },
		{ TRES_AMOUNT, "cpu=4.5", NULL },
		{ TRES_AMOUNT, "cpu=10x", NULL },
		{ TRES_AMOUNT, "cpu=4,cpu=4", NULL },
		{ TRES_AMOUNT, "cpu =4", NULL },
		{ TRES_AMOUNT, "1=4", NULL },
		{ TRES_AMOUNT, "cpu=9223372036854775808", NULL },
		{ TRES_AMOUNT, "mem=9007199254740992G", NULL },
		{ TRES_AMOUNT, "mem=0000000000000000000000000000000000000000000000000000000000000000001",
		  NULL },
		{ TRES_AMOUNT, "cpu=01:00:00", NULL },
		{ TRES_USAGE, "cpu=1:99:00", NULL },
		{ TRES_USAGE, "cpu=", NULL },
		{ TRES_USAGE, "cpu=106751991167301-00:00:00", NULL },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		const char *got = NULL, *again = NULL;
		int rc = tres_parse(rows[i].in, rows[i].kind, arena, &got, &err);
		if (rc != (rows[i].want != NULL ? 0 : -1))
			fail_msg("%s: rc %d %s", rows[i].in, rc, err.text);
		if (rc < 0) {
			assert_int_equal(err.code, ERR_INVALID);
			assert_string_equal(err.where, "tres");
			continue;
		}
		assert_string_equal(got, rows[i].want);
		assert_int_equal(tres_parse(got, rows[i].kind, arena, &again, NULL), 0);
		assert_string_equal(again, got);
	}
}

static void errors_quote_the_word(void **state UNUSED)
{
	struct err err = { 0 };
	const char *got = NULL;

	assert_int_equal(tres_parse("cpu=4,mem=3x,node=1", TRES_AMOUNT, arena, &got, &err), -1);
	assert_non_null(strstr(err.text, "\"mem=3x\""));
	assert_int_equal(tres_parse("node=1,cpu=2,node=3", TRES_AMOUNT, arena, &got, &err), -1);
	assert_non_null(strstr(err.text, "\"node\" is there twice"));
	assert_null(got);
}

static void make(void **state UNUSED)
{
	struct tres items[] = { { "node", 4, 2 }, { "cpu", 3, INT64_MAX }, { "gres/gpu", 8, 0 } };
	struct tres bad_names[][1] = { { { "a,b", 3, 1 } },
				       { { "", 0, 1 } },
				       { { "c\np", 3, 1 } } };
	struct tres negative[] = { { "cpu", 3, -1 } };
	const char *got = NULL;

	assert_int_equal(tres_make(items, 3, arena, &got, NULL), 0);
	assert_string_equal(got, "cpu=9223372036854775807,gres/gpu=0,node=2");
	assert_int_equal(tres_make(NULL, 0, arena, &got, NULL), 0);
	assert_string_equal(got, "");
	for (size_t i = 0; i < ARRAY_LEN(bad_names); i++)
		assert_int_equal(tres_make(bad_names[i], 1, arena, &got, NULL), -1);
	assert_int_equal(tres_make(negative, 1, arena, &got, NULL), -1);
}

static void get(void **state UNUSED)
{
	const char *text = "cpu=4,gres/gpu=2,gres/gpu:a100=2,mem=8000";
	int64_t v = -1;
	size_t n = 0;
	struct tres t;

	assert_true(tres_get(text, "mem", &v));
	assert_int_equal(v, 8000);
	assert_true(tres_get(text, "cpu", &v));
	assert_int_equal(v, 4);
	assert_false(tres_get(text, "gres", &v));
	assert_false(tres_get(text, "gres/gpu:a10", &v));
	assert_false(tres_get("", "cpu", &v));
	assert_false(tres_get(NULL, "cpu", &v));
	for (const char *at = text; tres_next(&at, &t);)
		n++;
	assert_int_equal(n, 4);
}

static void gpus(void **state UNUSED)
{
	static const struct {
		const char *in;
		int64_t gpus;
	} rows[] = {
		/* FC-091, 092, 098 */
		{ "gres/gpu=2,gres/gpu:a100=2", 2 },
		{ "gres/gpu:volta=2", 2 },
		{ "gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2", 3 },
		{ "gres/gpu:a100=1,gres/gpu:v100=1", 2 },
		{ "gres/gpu=1,gres/gpu:1g.5gb=1", 1 },
		{ "gres/shard=4", 0 },
		{ "gres/gpumem=5,gres/gpuutil=396", 0 },
		{ "gres/gpu=0,gres/gpu:a100=2", 0 },
		/* the published list of Open XDMoD's parser */
		{ "", 0 },
		{ "billing=1,cpu=1,mem=1000M,node=1", 0 },
		{ "billing=10,cpu=10,gres/gpu=4,mem=374000M,node=2", 4 },
		{ "billing=12,cpu=12,gres/gpu=4,mem=748000M,node=4", 4 },
		{ "billing=6,cpu=6,gres/gpu=2,mem=374000M,node=2", 2 },
		{ "billing=1,cpu=1,gres/gpu=1,mem=125G,node=1", 1 },
		{ "billing=1,cpu=1,gres/gpu:p100=1,mem=125G,node=1", 1 },
		{ "gres/gpu:volta=2,mem=125G,node=1", 2 },
		{ "billing=1,cpu=1,gres/gpu:tesla=4", 4 },
	};
	int64_t v = -1;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *text = NULL;
		assert_int_equal(tres_parse(rows[i].in, TRES_AMOUNT, arena, &text, NULL), 0);
		v = -1;
		assert_true(tres_gpus(text, &v));
		assert_int_equal(v, rows[i].gpus);
	}
	assert_false(tres_gpus(NULL, &v));
}

static void format(void **state UNUSED)
{
	const struct unit_style exact = { SCALE_EXACT, 0 }, kilo = { SCALE_FIXED, UNIT_KILO },
				giga = { SCALE_FIXED, UNIT_GIGA }, none = { SCALE_NONE, 0 };
	const struct {
		enum tres_kind kind;
		struct unit_style style;
		const char *in, *want;
	} rows[] = {
		/* as the real sacct printed them */
		{ TRES_AMOUNT, exact, "billing=22,cpu=2,gres/gpu=2,mem=200,node=1",
		  "billing=22,cpu=2,gres/gpu=2,mem=200M,node=1" },
		{ TRES_AMOUNT, kilo, "billing=1,cpu=1,mem=100,node=1",
		  "billing=1,cpu=1,mem=102400K,node=1" },
		{ TRES_AMOUNT, giga, "cpu=1,mem=100,node=1", "cpu=1,mem=0.10G,node=1" },
		{ TRES_AMOUNT, none, "cpu=1,mem=100,node=1", "cpu=1,mem=100M,node=1" },
		{ TRES_AMOUNT, exact, "cpu=4,mem=32768", "cpu=4,mem=32G" },
		{ TRES_AMOUNT, exact, "cpu=8192,energy=101630,node=1024", "cpu=8192,energy=101630,node=1024" },
		{ TRES_USAGE, exact,
		  "cpu=11,energy=0,fs/disk=10997,mem=3420160,pages=0,vmem=5644288",
		  "cpu=00:00:00,energy=0,fs/disk=10997,mem=3340K,pages=0,vmem=5512K" },
		{ TRES_USAGE, exact, "cpu=56038999,gres/gpumem=20992753664,gres/gpuutil=90",
		  "cpu=15:33:58,gres/gpumem=20500736K,gres/gpuutil=90" },
		{ TRES_USAGE, exact, "mem=0", "mem=0" },
		{ TRES_AMOUNT, exact, "", "" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct buf out = BUF_INIT;
		tres_format(rows[i].in, rows[i].kind, rows[i].style, &out);
		assert_string_equal(buf_str(&out), rows[i].want);
		buf_fini(&out);
	}
}

/* Any order of the same words gives the same text. */
static void order_does_not_matter(void **state UNUSED)
{
	static const char *const words[] = { "cpu=1",        "mem=2",         "node=3",
					     "gres/gpu=4",   "gres/gpu:a=5",  "gres/gpu:a-b=6",
					     "gres/gpu.x=7", "license/é=8", "billing=9" };
	uint64_t rnd = test_seed("tres");
	const char *first = NULL;

	for (int round = 0; round < 500; round++) {
		size_t at[ARRAY_LEN(words)];
		struct buf in = BUF_INIT;
		const char *got = NULL;
		for (size_t i = 0; i < ARRAY_LEN(words); i++) {
			size_t k = (size_t)test_below(&rnd, (int64_t)i + 1);
			at[i] = at[k];
			at[k] = i;
		}
		for (size_t i = 0; i < ARRAY_LEN(words); i++)
			buf_printf(&in, "%s%s", i > 0 ? "," : "", words[at[i]]);
		assert_int_equal(tres_parse(buf_str(&in), TRES_AMOUNT, arena, &got, NULL), 0);
		if (first == NULL)
			first = got;
		assert_string_equal(got, first);
		buf_fini(&in);
	}
	assert_string_equal(first, "billing=9,cpu=1,gres/gpu=4,gres/gpu.x=7,gres/gpu:a=5,"
				   "gres/gpu:a-b=6,license/é=8,mem=2,node=3");
}

static void where(void **state UNUSED)
{
	static const struct {
		const char *in, *want;
	} rows[] = {
		{ "", "" },
		{ "mem=n2,cpu=n1", "cpu=n1,mem=n2" },
		{ "cpu=0,fs/disk=0,mem=3", "cpu=0,fs/disk=0,mem=3" },
		{ "cpu=(null),energy=(null),mem=n1", "mem=n1" },
		{ "cpu=4294967294,mem=18446744073709551614,pages=-1", "pages=-1" },
		{ "cpu=,mem=1", "mem=1" },
		{ "gres/gpu:rtx-6000=node[01-02]", "gres/gpu:rtx-6000=node[01-02]" },
		{ "cpu", NULL },
		{ "cpu=1,", NULL },
		{ "=n1", NULL },
		{ "cpu=1,cpu=2", NULL },
		{ "cpu=a b", NULL },
	};
	struct where w = { 0 };

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		const char *got = NULL;
		int rc = where_parse(rows[i].in, arena, &got, &err);
		assert_int_equal(rc, rows[i].want != NULL ? 0 : -1);
		if (rc == 0)
			assert_string_equal(got, rows[i].want);
		else
			assert_int_equal(err.code, ERR_INVALID);
	}
	assert_true(where_get("cpu=n1,mem=n22", "mem", &w));
	assert_int_equal(w.value_len, 3);
	assert_memory_equal(w.value, "n22", 3);
	assert_false(where_get("cpu=n1,mem=n22", "me", &w));
	assert_false(where_get(NULL, "mem", &w));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parse),
		cmocka_unit_test(errors_quote_the_word),
		cmocka_unit_test(make),
		cmocka_unit_test(get),
		cmocka_unit_test(gpus),
		cmocka_unit_test(format),
		cmocka_unit_test(order_does_not_matter),
		cmocka_unit_test(where),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}

/* Usage of one row: the field cases, and sums over every cut against sums second by second. */
#include "unit.h"

#include "core/civil.h"
#include "core/state.h"
#include "core/usage.h"

#define T0 INT64_C(1700000000)

static struct job ended(int64_t start, int64_t end, const char *tres)
{
	struct job j = { 0 };

	job_set(&j, submit_at, start - 10);
	job_set(&j, start_at, start);
	job_set(&j, end_at, end);
	job_set(&j, state, STATE_COMPLETED);
	job_set(&j, tres_alloc, tres);
	return j;
}

static int64_t used(const struct job *j, const char *name, int64_t from, int64_t to)
{
	struct usage_run run;
	struct usage_tres walk;
	struct tres t;
	int64_t sum = 0;

	if (!usage_run_of(j, &run))
		return 0;
	walk = usage_tres_of(&run);
	while (usage_tres_next(&walk, &t))
		if (t.len == strlen(name) && memcmp(t.name, name, t.len) == 0)
			sum += usage_in(&run, &t, from, to);
	return sum;
}

static void no_run(void **state UNUSED)
{
	struct job back = ended(1700000100, 1700000040, "cpu=16"); /* FC-061 */
	struct job never = ended(T0, T0, "cpu=12,mem=48000,node=1"); /* FC-100, FC-063 */
	struct job pending = { 0 };
	struct usage_run run;

	assert_false(usage_run_of(&back, &run));
	assert_false(usage_run_of(&never, &run));
	job_set(&pending, state, STATE_PENDING);
	assert_false(usage_run_of(&pending, &run));
	job_set(&pending, start_at, T0);
	assert_false(usage_run_of(&pending, &run));
	job_set(&pending, state, STATE_RUNNING);
	assert_true(usage_run_of(&pending, &run));
	assert_true(usage_runs(&run));
}

/* FC-087, FC-091, FC-094, FC-098 */
static void amounts(void **state UNUSED)
{
	static const struct {
		const char *tres, *name;
		int64_t seconds, want;
	} rows[] = {
		{ "cpu=1280000,node=10000", "cpu", 4 * DAY_S, 442368000000 },
		{ "cpu=1280000,node=10000", "cpu", HOUR_S, 4608000000 },
		{ "mem=4194304", "mem", 30 * DAY_S, 10871635968000 }, /* FC-088 */
		{ "gres/gpu=2,gres/gpu:a100=2", "gres/gpu", 1, 2 },
		{ "gres/gpu:volta=2", "gres/gpu", 1, 2 },
		{ "gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2", "gres/gpu", 1, 3 },
		{ "gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2", "gres/gpu:a100", 1, 1 },
		{ "gres/gpu=3,gres/gpu:a100=1,gres/gpu:v100=2", "gres/gpu:v100", 1, 2 },
		{ "gres/gpu:a100=1,gres/gpu:v100=1", "gres/gpu", 1, 2 },
		{ "cpu=96,gres/gpu=8,node=2", "cpu", HOUR_S, 96 * HOUR_S },
		{ "cpu=96,gres/gpu=8,node=2", "gres/gpu", HOUR_S, 8 * HOUR_S },
		{ "gres/gpu:1g.5gb=1,gres/gpu=1", "gres/gpu", 1, 1 },
		{ "gres/gpu:1g.5gb=1,gres/gpu=1", "gres/gpu:1g.5gb", 1, 1 },
		{ "gres/shard=4", "gres/gpu", 1, 0 },
		{ "gres/shard=4", "gres/shard", 1, 4 },
		{ "cpu=4611686018427387904", "cpu", 1, USAGE_COUNT_MOST },
		{ "energy=1000", "energy", 7, 1000 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct job j = ended(T0, T0 + rows[i].seconds, rows[i].tres);

		assert_int_equal(used(&j, rows[i].name, 0, INT64_MAX), rows[i].want);
	}
}

/* FC-101 */
static void suspension(void **state UNUSED)
{
	const int64_t ten = 1700042400; /* an hour of UTC */
	struct job j = ended(ten, ten + 4 * HOUR_S, "cpu=4,gres/gpu=2");

	job_set(&j, moments, "S1700046000,R1700049600");
	assert_int_equal(used(&j, "cpu", 0, INT64_MAX), 43200);
	assert_int_equal(used(&j, "gres/gpu", 0, INT64_MAX), 28800);
	assert_int_equal(used(&j, "cpu", ten + HOUR_S, ten + 2 * HOUR_S), 0);
	assert_int_equal(used(&j, "gres/gpu", ten + HOUR_S, ten + 2 * HOUR_S), 7200);
	job_unset(&j, moments);
	job_set(&j, rec_elapsed, 3 * HOUR_S); /* suspended, but who knows when */
	assert_int_equal(used(&j, "cpu", 0, INT64_MAX), 43200);
	assert_int_equal(used(&j, "cpu", ten, ten + 2 * HOUR_S), 21600);
	assert_int_equal(used(&j, "gres/gpu", 0, INT64_MAX), 28800);
}

static void running(void **state UNUSED)
{
	struct job j = { 0 };
	struct usage_run run;

	job_set(&j, start_at, T0);
	job_set(&j, state, STATE_RUNNING);
	job_set(&j, tres_alloc, "cpu=4,energy=9,mem=1");
	assert_int_equal(used(&j, "cpu", 0, T0 + 600), 2400); /* FC-112 */
	assert_int_equal(used(&j, "energy", 0, T0 + 600), 0);
	assert_int_equal(used(&j, "cpu", 0, T0), 0);
	assert_true(usage_run_of(&j, &run));
	assert_false(usage_is_uneven(&run));
	job_set(&j, moments, "S1700000100");
	assert_int_equal(used(&j, "cpu", 0, T0 + 600), 400);
	assert_int_equal(used(&j, "mem", 0, T0 + 600), 600);
	assert_true(usage_run_of(&j, &run));
	assert_true(usage_is_uneven(&run));
}

/* Months of all lengths: FC-079. */
static void periods(void **state UNUSED)
{
	static const struct {
		enum usage_grain grain;
		int64_t at, start, next;
	} rows[] = {
		{ USAGE_HOUR, 1709164799, 1709161200, 1709164800 },
		{ USAGE_HOUR, 1709164800, 1709164800, 1709168400 },
		{ USAGE_DAY, 1709164799, 1709078400, 1709164800 },
		{ USAGE_MONTH, 1709164800, 1706745600, 1709251200 }, /* 29 February 2024 */
		{ USAGE_MONTH, 1677628799, 1675209600, 1677628800 }, /* the end of February 2023 */
		{ USAGE_MONTH, 0, 0, 31 * DAY_S },
		{ USAGE_MONTH, -1, -31 * DAY_S, 0 },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(usage_period(rows[i].grain, rows[i].at), rows[i].start);
		assert_int_equal(usage_period_next(rows[i].grain, rows[i].at), rows[i].next);
	}
}

static void check_split(int64_t from, int64_t to)
{
	struct usage_part parts[USAGE_PARTS_MOST];
	size_t n = usage_split(from, to, parts);
	int64_t at = from;

	assert_true(n <= USAGE_PARTS_MOST);
	for (size_t i = 0; i < n; i++) {
		enum usage_grain g = parts[i].grain;

		assert_int_equal(parts[i].from, at);
		assert_true(parts[i].to > at);
		at = parts[i].to;
		if (g == USAGE_GRAINS) {
			assert_true(parts[i].to - parts[i].from < 2 * HOUR_S);
			continue;
		}
		assert_int_equal(usage_period(g, parts[i].from), parts[i].from);
		assert_int_equal(usage_period(g, parts[i].to), parts[i].to);
		if (g < USAGE_MONTH) /* no coarser one would have fitted */
			assert_true(parts[i].to - parts[i].from < 62 * DAY_S);
	}
	assert_int_equal(at, from < to ? to : from);
}

static void splits(void **state UNUSED)
{
	uint64_t seed = test_seed("splits");
	static const int64_t lengths[] = { 100, 7000, 3 * DAY_S, 70 * DAY_S, 800 * DAY_S };
	struct usage_part parts[USAGE_PARTS_MOST];

	for (int i = 0; i < 20000; i++) {
		int64_t from = test_below(&seed, 2 * T0) - test_below(&seed, 2) * T0 / 2;

		check_split(from, from + test_below(&seed, lengths[i % (int)ARRAY_LEN(lengths)]));
	}
	/* 2024 as a year, and from its 2nd second to its last but one */
	assert_int_equal(usage_split(1704067200, 1735689600, parts), 1);
	assert_int_equal(parts[0].grain, USAGE_MONTH);
	assert_int_equal(usage_split(1704067201, 1735689599, parts), 7);
}

/* Any cut adds up, and each piece is what single seconds say. */
static void cuts(void **state UNUSED)
{
	uint64_t seed = test_seed("cuts");

	for (int i = 0; i < 2000; i++) {
		int64_t length = 1 + test_below(&seed, 300), count = 1 + test_below(&seed, 9);
		int64_t a = T0 - 5 + test_below(&seed, length + 10), b = a + test_below(&seed, 50);
		int64_t s = T0 - 20 + test_below(&seed, length + 40), r = s + test_below(&seed, 90);
		char tres[64], moments[64];
		int64_t cpu = 0;
		struct job j;

		snprintf(tres, sizeof(tres), "cpu=%d,energy=%d", (int)count, (int)(count * 777));
		snprintf(moments, sizeof(moments), "S%" PRId64 ",R%" PRId64, s, r);
		j = ended(T0, T0 + length, tres);
		job_set(&j, moments, moments);
		for (int64_t at = a; at < b; at++)
			if (at >= T0 && at < T0 + length && !(at >= s && at < r))
				cpu += count;
		assert_int_equal(used(&j, "cpu", a, b), cpu);
		assert_int_equal(used(&j, "energy", 0, a) + used(&j, "energy", a, b) +
				 used(&j, "energy", b, INT64_MAX), count * 777);
	}
}

static void sums(void **state UNUSED)
{
	struct usage_amount list[4];
	size_t n = 0;

	n = usage_add(list, n, 5, 10);
	n = usage_add(list, n, 1, 7);
	n = usage_add(list, n, 1001, 3);
	n = usage_add(list, n, 5, 1);
	assert_int_equal(n, 3);
	assert_int_equal(list[0].tres, 1);
	assert_int_equal(list[1].amount, 11);
	n = usage_add(list, n, 5, -11);
	n = usage_add(list, n, 6, 0);
	assert_int_equal(n, 2);
	assert_int_equal(list[1].tres, 1001);
	n = usage_add(list, n, 1, INT64_MAX);
	assert_int_equal(list[0].amount, INT64_MAX);
}

/* Rates times times that do not fit, and what they differ by. */
static void rates(void **state UNUSED)
{
	const struct usage_rate big = { 2, USAGE_COUNT_MOST,
					(uint64_t)USAGE_COUNT_MOST * (uint64_t)T0 };
	const struct usage_rate less = { 2, -USAGE_COUNT_MOST, -big.rate_start };
	const struct usage_rate cpu = { 1, 4, 4 * (uint64_t)T0 };
	struct usage_rate list[3];
	size_t n = usage_rate_add(list, 0, &big);

	n = usage_rate_add(list, n, &cpu);
	n = usage_rate_add(list, n, &cpu);
	assert_int_equal(n, 2);
	assert_int_equal(usage_rate_until(&list[0], T0 + 600), 4800);
	assert_int_equal(usage_rate_until(&list[1], T0 + 600), 600 * USAGE_COUNT_MOST);
	n = usage_rate_add(list, n, &less);
	assert_int_equal(n, 1);
	assert_int_equal(list[0].tres, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_run),	cmocka_unit_test(amounts),
		cmocka_unit_test(suspension),	cmocka_unit_test(running),
		cmocka_unit_test(periods),	cmocka_unit_test(splits),
		cmocka_unit_test(cuts),		cmocka_unit_test(sums),
		cmocka_unit_test(rates),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Decay and billing: the documentation's worked numbers, the field cases, and decay against a sum
 * second by second. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/billing.h"
#include "core/decay.h"

#define DAY 86400

static void near(double got, double want, double tolerance)
{
	if (!(fabs(got - want) <= tolerance))
		fail_msg("%.12g is not %.12g", got, want);
}

static void half_lives(void **state UNUSED)
{
	struct decay week = decay_of(7 * DAY, DECAY_HALF_LIFE);
	struct decay slurm = decay_of(7 * DAY, DECAY_SLURM);

	near(decay_factor(week, 7 * DAY), 0.5, 1e-15);
	near(decay_factor(week, DAY), 0.905724, 5e-7);
	near(decay_factor(slurm, 7 * DAY), 0.500073, 5e-7);
	near(decay_factor(slurm, DAY), 0.905743, 5e-7);
	/* FC-116: no half-life, no decay and no division by zero. */
	near(decay_factor(decay_of(0, DECAY_SLURM), 30 * DAY), 1.0, 0);
	near(1000 * decay_factor(decay_of(0, DECAY_HALF_LIFE), 30 * DAY), 1000, 0);
	/* FC-109: 600 used one half-life ago. */
	near(600 * decay_factor(decay_of(14 * DAY, DECAY_HALF_LIFE), 14 * DAY), 300, 1e-10);
}

static double by_the_second(struct decay d, int64_t from, int64_t to, int64_t at)
{
	double sum = 0;

	/* The middle of a second stands for it: the error is of the second order. */
	for (int64_t s = from; s < to && s < at; s++)
		sum += decay_factor(d, (double)(at - s) - 0.5);
	return sum;
}

static void intervals(void **state UNUSED)
{
	unsigned seed = 11;

	for (int i = 0; i < 300; i++) {
		struct decay d = decay_of(rand_r(&seed) % 5 == 0 ? 0 : 600 + rand_r(&seed) % 90000,
					  i % 2 ? DECAY_SLURM : DECAY_HALF_LIFE);
		int64_t from = rand_r(&seed) % 5000;
		int64_t to = from + rand_r(&seed) % 3000 - 100;
		int64_t at = rand_r(&seed) % 10000;
		double want = by_the_second(d, from, to, at);
		near(decay_interval(d, from, to, at), want, 1e-6 * (1 + want));
		/* What is split adds up again. */
		int64_t cut = from + (to - from) / 3;
		near(decay_interval(d, from, cut, at) + decay_interval(d, cut, to, at),
		     to > from ? decay_interval(d, from, to, at) : 0, 1e-9 * (1 + want));
	}
}

static const struct {
	const char *weights, *tres;
	enum billing_rule rule;
	double want;
} bills[] = {
	{ NULL, "cpu=4,gres/gpu=2,mem=8000", BILLING_SUM, 4 },
	/* slurm.conf's example */
	{ "CPU=1.0,Mem=0.25G", "cpu=1,mem=61440", BILLING_SUM, 16 },
	{ "CPU=1.0,Mem=0.25G", "cpu=16,mem=1024", BILLING_SUM, 16.25 },
	{ "CPU=1.0,Mem=0.25G", "cpu=16,mem=61440", BILLING_SUM, 31 },
	{ "CPU=1.0,Mem=0.25G", "cpu=1,mem=61440", BILLING_MAX_TRES, 15 },
	{ "CPU=1.0,Mem=0.25G", "cpu=15,mem=1024", BILLING_MAX_TRES, 15 },
	{ "CPU=1.0,Mem=0.25G", "cpu=16,mem=65536", BILLING_MAX_TRES, 16 },
	/* FC-095 */
	{ "CPU=1.0,Mem=0.25G,GRES/gpu=8.5", "cpu=3,gres/gpu=1,mem=10240,node=1", BILLING_SUM, 14 },
	{ "CPU=1.0,Mem=0.25G,GRES/gpu=8.5", "cpu=3,gres/gpu=1,mem=10240,node=1", BILLING_MAX_TRES, 8.5 },
	{ "CPU=1.0,Mem=0.25G,GRES/gpu=8.5", "cpu=3,gres/gpu=1,mem=10240", BILLING_MAX_TRES_GRES, 11.5 },
	/* licences are of no node: always added */
	{ "CPU=2,license/x=3", "cpu=3,license/x=2", BILLING_MAX_TRES, 12 },
	{ "gres/gpu:a100=4,GRES/gpu=1", "gres/gpu=2,gres/gpu:a100=2", BILLING_SUM, 10 },
	{ "Mem=1T", "mem=1048576", BILLING_SUM, 1 },
	{ "Mem=1", "mem=7", BILLING_SUM, 7 },
	{ "CPU=1", "", BILLING_MAX_TRES, 0 },
};

static void billing(void **state UNUSED)
{
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(bills); i++) {
		const struct billing_weights *w;
		struct err err = { 0 };
		assert_int_equal(billing_parse(bills[i].weights, a, &w, &err), 0);
		near(billing_compute(w, bills[i].rule, bills[i].tres), bills[i].want, 1e-12);
	}
	arena_free(a);
}

static void wrong_weights(void **state UNUSED)
{
	static const char *const wrong[] = { "CPU",    "=1",	  "CPU=x",   "CPU=1G",
					     "Mem=1Q", "Mem=1GG", "CPU=-1",  "CPU=1,",
					     ",CPU=1", "CPU=nan", "CPU=inf", "CPU=" };
	struct arena *a = arena_new();

	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		const struct billing_weights *w;
		struct err err = { 0 };
		if (billing_parse(wrong[i], a, &w, &err) == 0)
			fail_msg("\"%s\" was taken", wrong[i]);
		assert_int_equal(err.code, ERR_INVALID);
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(half_lives), cmocka_unit_test(intervals),
		cmocka_unit_test(billing),    cmocka_unit_test(wrong_weights),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

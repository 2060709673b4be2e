/* tests/unit.h: what every unit test starts with: cmocka, and a random source whose seed is
 * printed, so that a failure can be had again with TALLY_TEST_SEED=n. */
#ifndef TALLY_TESTS_UNIT_H
#define TALLY_TESTS_UNIT_H

#include "base/base.h"

#include <setjmp.h>
#include <cmocka.h>

static inline uint64_t test_random(uint64_t *state)
{
	uint64_t z = (*state += 0x9e3779b97f4a7c15u);

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
	z = (z ^ z >> 27) * 0x94d049bb133111ebu;
	return z ^ z >> 31;
}

/* 0 .. n - 1 */
static inline int64_t test_below(uint64_t *state, int64_t n)
{
	return (int64_t)(test_random(state) % (uint64_t)n);
}

static inline uint64_t test_seed(const char *name)
{
	const char *given = getenv("TALLY_TEST_SEED");
	uint64_t seed = given != NULL ? strtoull(given, NULL, 10) : (uint64_t)time(NULL);

	fprintf(stderr, "%s: TALLY_TEST_SEED=%" PRIu64 "\n", name, seed);
	return seed;
}

#endif

/* Stamps as bytes: back to the same, one form only, and nothing else is taken. */
#include "core/merge.h"

#include <setjmp.h>
#include <cmocka.h>

static uint64_t seed = 4711;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static void stamp_all(struct job *j, uint8_t rank, int64_t as_of)
{
	for (size_t f = 0; f < JOB_FIELDS; f++) {
		j->rank[f] = rank;
		j->as_of[f] = as_of;
	}
}

static size_t pack(const struct job *j, uint8_t *out)
{
	return stamps_pack(job_fields, JOB_FIELDS, j->has, j->rank, j->as_of, out, STAMPS_MAX);
}

static int unpack(struct job *j, const uint8_t *in, size_t n, struct err *err)
{
	return stamps_unpack(job_fields, JOB_FIELDS, j->has, in, n, j->rank, j->as_of, err);
}

static void one_group_is_small(void **state)
{
	struct job j = { 0 };
	uint8_t out[STAMPS_MAX];

	(void)state;
	assert_int_equal(pack(&j, out), 0);
	memset(j.has, 0xff, sizeof(j.has));
	stamp_all(&j, RANK_END, AS_OF_UNKNOWN);
	assert_int_equal(pack(&j, out), 1);
	assert_int_equal(out[0], RANK_END);
	stamp_all(&j, RANK_END, 1700000000);
	assert_int_equal(pack(&j, out), 6);
	j.rank[JOB_comment] = RANK_START;
	assert_true(pack(&j, out) <= 6 + 6 + (JOB_FIELDS + 7) / 8);
}

/* Only fields that are merged have a stamp. */
static void identity_and_derived_have_none(void **state)
{
	struct job j = { 0 };
	uint8_t out[STAMPS_MAX];

	(void)state;
	job_set(&j, cluster, "c1");
	job_set(&j, job_id, 7);
	job_set(&j, peak_rss, 1);
	stamp_all(&j, RANK_END, 5);
	assert_int_equal(pack(&j, out), 0);
	assert_int_equal(unpack(&j, out, 0, NULL), 0);
	assert_int_equal(j.rank[JOB_job_id], RANK_NONE);
	assert_int_equal(j.rank[JOB_peak_rss], RANK_NONE);
}

static void random_row(struct job *j, unsigned stamps)
{
	static const int64_t times[] = { AS_OF_UNKNOWN, 0,	   -1,		 1, 63, 64, -65,
					 1700000000,	INT64_MAX, INT64_MIN + 1 };

	*j = (struct job){ 0 };
	for (size_t f = 0; f < JOB_FIELDS; f++) {
		j->as_of[f] = AS_OF_UNKNOWN;
		if (next_random() % 4 == 0)
			continue;
		has_set(j->has, f);
		if ((job_fields[f].flags & (FF_KEY | FF_DERIVED)) != 0)
			continue;
		uint64_t s = next_random() % stamps;
		j->rank[f] = (uint8_t)(1 + s % 3);
		j->as_of[f] = s < ARRAY_LEN(times) ? times[s] : (int64_t)s * 1000;
	}
}

static void round_trip(void **state)
{
	uint8_t out[STAMPS_MAX], again[STAMPS_MAX];

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct job j, back = { 0 };
		struct err err = { 0 };
		random_row(&j, 1 + i % (i % 7 == 0 ? 1000 : 5));
		size_t n = pack(&j, out);
		memcpy(back.has, j.has, sizeof(j.has));
		if (unpack(&back, out, n, &err) < 0)
			fail_msg("%s", err.text);
		assert_memory_equal(back.rank, j.rank, sizeof(j.rank));
		assert_memory_equal(back.as_of, j.as_of, sizeof(j.as_of));
		assert_int_equal(pack(&back, again), n);
		assert_memory_equal(again, out, n);
	}
}

/* Every damaged form is either refused or is itself what pack makes of what it says. */
static void nothing_else_is_taken(void **state)
{
	uint8_t out[STAMPS_MAX + 1], again[STAMPS_MAX];
	size_t refused = 0;

	(void)state;
	for (unsigned i = 0; i < 20000; i++) {
		struct job j;
		struct err err = { 0 };
		random_row(&j, 1 + i % 6);
		size_t n = pack(&j, out);
		switch (i % 3) {
		case 0: out[n++] = (uint8_t)next_random(); break;
		case 1: n -= n > 0; break;
		default:
			if (n > 0)
				out[next_random() % n] ^= (uint8_t)(1u << next_random() % 8);
		}
		if (unpack(&j, out, n, &err) < 0) {
			assert_int_equal(err.code, ERR_INTERNAL);
			refused++;
			continue;
		}
		assert_int_equal(pack(&j, again), n);
		assert_memory_equal(again, out, n);
	}
	assert_true(refused > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_group_is_small),
		cmocka_unit_test(identity_and_derived_have_none),
		cmocka_unit_test(round_trip),
		cmocka_unit_test(nothing_else_is_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Merging does not depend on the order of records nor on their number: by rules, and on random
 * histories that are shuffled and repeated. */
#include "core/merge.h"

#include <setjmp.h>
#include <cmocka.h>

static uint64_t seed = 90210;

static uint64_t next_random(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return seed;
}

static struct record a_record(enum record_kind kind, int64_t as_of)
{
	return (struct record){ .kind = kind, .cluster = "c1", .as_of = as_of };
}

static bool merge_record(struct job *row, struct record rec, struct arena *a)
{
	record_stamp(&rec);
	return job_merge(row, &rec.job, rec.by_arrival, a);
}

static void rank_then_as_of_then_value(void **state)
{
	static const struct {
		enum record_kind kind;
		int64_t as_of;
		int64_t priority;
		bool changes;
		int64_t stands;
	} rows[] = {
		{ REC_JOB_START, AS_OF_UNKNOWN, 50, true, 50 },
		{ REC_JOB_START, AS_OF_UNKNOWN, 40, false,
		  50 }, /* equal stamps: the greater value */
		{ REC_JOB_START, AS_OF_UNKNOWN, 60, true, 60 },
		{ REC_JOB_START, 100, 10, true, 10 },
		{ REC_JOB_START, 99, 90, false, 10 },
		{ REC_JOB_START, AS_OF_UNKNOWN, 90, false, 10 },
		{ REC_JOB_RESIZE, AS_OF_UNKNOWN, 5, true, 5 },
		{ REC_JOB_START, 5000, 90, false, 5 },
		{ REC_JOB_END, AS_OF_UNKNOWN, 3, true, 3 },
		{ REC_JOB_RESIZE, 5000, 90, false, 3 },
		{ REC_JOB_END, AS_OF_UNKNOWN, 3, false, 3 },
		{ REC_JOB_END, 1, 3, true, 3 }, /* the stamp changes */
	};
	struct arena *a = arena_new();
	struct job row = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct record rec = a_record(rows[i].kind, rows[i].as_of);
		job_set(&rec.job, priority, rows[i].priority);
		assert_int_equal(merge_record(&row, rec, a), rows[i].changes);
		assert_int_equal(row.priority, rows[i].stands);
	}
	arena_free(a);
}

static void an_end_is_never_reopened(void **state)
{
	struct arena *a = arena_new();
	struct job row = { 0 };
	struct record end = a_record(REC_JOB_END, AS_OF_UNKNOWN);
	struct record start = a_record(REC_JOB_START, 9999);

	(void)state;
	job_set(&end.job, state, 3);
	job_set(&end.job, end_at, 1000);
	job_set(&start.job, state, 1);
	job_set(&start.job, start_at, 900);
	job_set(&start.job, name, "late");
	merge_record(&row, end, a);
	merge_record(&row, start, a);
	assert_int_equal(row.state, 3);
	assert_int_equal(row.end_at, 1000);
	assert_int_equal(row.start_at, 900);
	assert_string_equal(row.name, "late");
	start.by_arrival = true;
	merge_record(&row, start, a);
	assert_int_equal(row.state, 3);
	arena_free(a);
}

static void less_erases_nothing(void **state)
{
	struct arena *a = arena_new();
	struct job row = { 0 };
	struct record full = a_record(REC_JOB_END, 10), less = a_record(REC_JOB_END, 20);

	(void)state;
	job_set(&full.job, comment, "kept");
	job_set(&full.job, state, 5);
	job_set(&less.job, rec_max_rss, 77);
	merge_record(&row, full, a);
	assert_true(merge_record(&row, less, a));
	assert_string_equal(row.comment, "kept");
	assert_int_equal(row.state, 5);
	assert_int_equal(row.rec_max_rss, 77);
	arena_free(a);
}

static void by_arrival_the_later_wins(void **state)
{
	struct arena *a = arena_new();
	struct job row = { 0 };
	static const int64_t values[] = { 50, 40, 60, 60 };
	static const bool changes[] = { true, true, true, false };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(values); i++) {
		struct record rec = a_record(REC_JOB_START, AS_OF_UNKNOWN);
		rec.by_arrival = true;
		job_set(&rec.job, priority, values[i]);
		assert_int_equal(merge_record(&row, rec, a), changes[i]);
		assert_int_equal(row.priority, values[i]);
	}
	arena_free(a);
}

static void instants_are_a_set(void **state)
{
	static const struct {
		const char *add;
		bool changes;
		const char *stands;
	} rows[] = {
		{ "S1700000000", true, "S1700000000" },
		{ "R1700000060", true, "S1700000000,R1700000060" },
		{ "S1700000000", false, "S1700000000,R1700000060" },
		{ "S999999999", true, "S999999999,S1700000000,R1700000060" },
		{ "R1700000030,S1700000050", true,
		  "S999999999,S1700000000,R1700000030,S1700000050,R1700000060" },
		{ "S1700000060", true,
		  "S999999999,S1700000000,R1700000030,S1700000050,S1700000060,R1700000060" },
		{ "S999999999,R1700000060", false,
		  "S999999999,S1700000000,R1700000030,S1700000050,S1700000060,R1700000060" },
	};
	struct arena *a = arena_new();
	struct job row = { 0 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct record rec = a_record(REC_JOB_SUSPEND, AS_OF_UNKNOWN);
		job_set(&rec.job, moments, rows[i].add);
		assert_int_equal(merge_record(&row, rec, a), rows[i].changes);
		assert_string_equal(row.moments, rows[i].stands);
	}
	arena_free(a);
}

/* What validation made up has a stamp of its own, which record_stamp leaves. */
static void stamps_of_validation_stay(void **state)
{
	struct record rec = a_record(REC_JOB_END, 500);

	(void)state;
	job_set(&rec.job, state, 3);
	job_set(&rec.job, name, "n");
	job_set(&rec.job, job_id, 4);
	rec.job.rank[JOB_state] = RANK_RESIZE;
	rec.job.as_of[JOB_state] = AS_OF_UNKNOWN;
	record_stamp(&rec);
	assert_int_equal(rec.job.rank[JOB_state], RANK_RESIZE);
	assert_int_equal(rec.job.as_of[JOB_state], AS_OF_UNKNOWN);
	assert_int_equal(rec.job.rank[JOB_name], RANK_END);
	assert_int_equal(rec.job.as_of[JOB_name], 500);
	assert_int_equal(rec.job.rank[JOB_job_id], RANK_NONE);
	assert_int_equal(rec.job.rank[JOB_account], RANK_NONE);
}

/* Random histories. */

static void random_value(const struct field *f, void *at)
{
	static const char *const texts[] = { "", "a", "b", "ab", "\xc3\xa9", "cpu=1", "cpu=2" };
	static const char *const instants[] = { "S10", "R20", "S10,R20", "R15,S30", "S30,R40" };
	const char *text = texts[next_random() % ARRAY_LEN(texts)];
	int64_t number = (int64_t)(next_random() % 4) - 1;

	if (f->type == FT_MOMENTS)
		text = instants[next_random() % ARRAY_LEN(instants)];
	if (field_is_text(f->type))
		memcpy(at, &text, sizeof(text));
	else
		memcpy(at, &number, sizeof(number));
}

static void random_record(struct record *rec, struct step *step)
{
	static const int64_t as_of[] = { AS_OF_UNKNOWN, AS_OF_UNKNOWN, 1, 2, 3 };
	static const enum record_kind kinds[] = { REC_JOB_START,  REC_JOB_END,	  REC_JOB_SUSPEND,
						  REC_JOB_RESIZE, REC_STEP_START, REC_STEP_END };

	*rec = a_record(kinds[next_random() % ARRAY_LEN(kinds)],
			as_of[next_random() % ARRAY_LEN(as_of)]);
	*step = (struct step){ 0 };
	rec->steps = step;
	rec->n_steps = 1;
	for (size_t f = 0; f < JOB_FIELDS; f++)
		if (next_random() % 3 == 0) {
			has_set(rec->job.has, f);
			random_value(&job_fields[f], (char *)&rec->job + job_fields[f].offset);
		}
	for (size_t f = 0; f < STEP_FIELDS; f++)
		if (next_random() % 3 == 0) {
			has_set(step->has, f);
			random_value(&step_fields[f], (char *)step + step_fields[f].offset);
		}
	record_stamp(rec);
}

static void same_fields(const struct field *fields, size_t n, const uint64_t *a_has,
			const uint64_t *b_has, const char *a, const char *b)
{
	for (size_t f = 0; f < n; f++) {
		assert_int_equal(has_bit(a_has, f), has_bit(b_has, f));
		if (!has_bit(a_has, f))
			continue;
		if (field_is_text(fields[f].type)) {
			const char *x, *y;
			memcpy(&x, a + fields[f].offset, sizeof(x));
			memcpy(&y, b + fields[f].offset, sizeof(y));
			assert_string_equal(x, y);
		} else {
			assert_memory_equal(a + fields[f].offset, b + fields[f].offset,
					    sizeof(int64_t));
		}
	}
}

enum { HISTORY = 6 };

static void shuffled_and_repeated(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct record recs[HISTORY];
		struct step steps[HISTORY];
		struct job want = { 0 };
		struct step want_step = { 0 };
		arena_reset(a);
		for (size_t i = 0; i < HISTORY; i++) {
			random_record(&recs[i], &steps[i]);
			job_merge(&want, &recs[i].job, false, a);
			step_merge(&want_step, &steps[i], false, a);
		}
		struct job got = { 0 };
		struct step got_step = { 0 };
		size_t order[2 * HISTORY];
		for (size_t i = 0; i < ARRAY_LEN(order); i++)
			order[i] = i % HISTORY;
		for (size_t i = ARRAY_LEN(order) - 1; i > 0; i--) {
			size_t k = next_random() % (i + 1), t = order[i];
			order[i] = order[k];
			order[k] = t;
		}
		for (size_t i = 0; i < ARRAY_LEN(order); i++) {
			job_merge(&got, &recs[order[i]].job, false, a);
			step_merge(&got_step, &steps[order[i]], false, a);
		}
		same_fields(job_fields, JOB_FIELDS, want.has, got.has, (char *)&want, (char *)&got);
		same_fields(step_fields, STEP_FIELDS, want_step.has, got_step.has,
			    (char *)&want_step, (char *)&got_step);
		assert_memory_equal(want.rank, got.rank, sizeof(want.rank));
		assert_memory_equal(want.as_of, got.as_of, sizeof(want.as_of));
		assert_memory_equal(want_step.rank, got_step.rank, sizeof(got_step.rank));
		assert_memory_equal(want_step.as_of, got_step.as_of, sizeof(got_step.as_of));
		for (size_t i = 0; i < HISTORY; i++) { /* and nothing more changes it */
			assert_false(job_merge(&got, &recs[i].job, false, a));
			assert_false(step_merge(&got_step, &steps[i], false, a));
		}
		/* Two halves merged apart and then together. */
		struct job left = { 0 }, right = { 0 };
		for (size_t i = 0; i < HISTORY; i++)
			job_merge(i % 2 == 0 ? &left : &right, &recs[i].job, false, a);
		job_merge(&right, &left, false, a);
		same_fields(job_fields, JOB_FIELDS, want.has, right.has, (char *)&want,
			    (char *)&right);
		assert_memory_equal(want.as_of, right.as_of, sizeof(want.as_of));
	}
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rank_then_as_of_then_value),
		cmocka_unit_test(an_end_is_never_reopened),
		cmocka_unit_test(less_erases_nothing),
		cmocka_unit_test(by_arrival_the_later_wins),
		cmocka_unit_test(instants_are_a_set),
		cmocka_unit_test(stamps_of_validation_stay),
		cmocka_unit_test(shuffled_and_repeated),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

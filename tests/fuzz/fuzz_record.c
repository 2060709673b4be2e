/* A record's JSON on its whole way: decode, validate, stamp, merge, derive, and out as an answer
 * that reads back to the same answer. */
#include "core/merge.h"
#include "core/record_json.h"
#include "core/utf8.h"

static void check(bool ok)
{
	if (!ok)
		abort();
}

static void check_error(const struct err *err)
{
	check(err->code != ERR_OK && err->text[0] != '\0');
	check(utf8_valid(err->text, strlen(err->text)));
	check(utf8_valid(err->where, strlen(err->where)));
}

static void merge_twice(const struct record *rec, struct job *row, struct arena *a)
{
	job_merge(row, &rec->job, false, a);
	check(!job_merge(row, &rec->job, false, a));
	for (size_t i = 0; i < rec->n_steps; i++) {
		struct step s = rec->steps[i];
		check(!step_merge(&s, &rec->steps[i], false, a));
	}
}

static void answer(const struct job *row, const struct record *rec, struct arena *a)
{
	struct row_style style = { .now = 1700000000, .steps = true };
	struct buf first = BUF_INIT, second = BUF_INIT;
	struct err err = { 0 };
	struct jscan j;
	struct job back;
	struct step *steps;
	size_t n;

	job_encode_json(&first, row, rec->steps, rec->n_steps, &style);
	check(utf8_valid(buf_str(&first), first.len));
	jscan_init(&j, buf_str(&first), first.len, a, &err);
	check(job_decode_json(&j, &back, &steps, &n) == 0 && jscan_done(&j) == 0);
	check(n == rec->n_steps);
	job_encode_json(&second, &back, steps, n, &style);
	check(second.len == first.len && memcmp(first.data, second.data, first.len) == 0);
	buf_fini(&first);
	buf_fini(&second);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct record_defaults defaults = { .cluster = "c1" };
	struct arena *a = arena_new();
	struct err err = { 0 };
	struct record rec;
	struct job row = { 0 };
	char *json = xmalloc(size);

	memcpy(json, data, size);
	if (record_decode(json, size, &defaults, a, &rec, &err) < 0 ||
	    record_validate(&rec, a, &err) < 0) {
		check_error(&err);
		goto out;
	}
	record_stamp(&rec);
	merge_twice(&rec, &row, a);
	row.cluster = rec.cluster;
	const struct step **steps = ARENA_ARRAY(a, const struct step *, rec.n_steps);
	for (size_t i = 0; i < rec.n_steps; i++)
		steps[i] = &rec.steps[i];
	job_derive(&row, steps, rec.n_steps, a);
	answer(&row, &rec, a);
out:
	free(json);
	arena_free(a);
	return 0;
}

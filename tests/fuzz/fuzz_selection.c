/* The items of -j. */
#include "fuzz.h"

#include "core/filter.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = fuzz_string(data, size);
	struct job_selection *v;
	struct job j = { 0 };
	size_t n;
	struct err err;

	job_set(&j, job_id, 12);
	job_set(&j, array_job_id, 12);
	job_set(&j, array_tasks, text);
	if (job_selection_parse(text, arena, &v, &n, &err) == 0) {
		CHECK(n > 0 && n <= SELECTIONS_MAX);
		for (size_t i = 0; i < n; i++) {
			CHECK(v[i].job_id > 0 && v[i].array_task >= -1 && v[i].het_offset >= -1);
			CHECK(v[i].step_id >= 0 || v[i].step_id == STEP_ANY ||
			      (v[i].step_id >= STEP_ID_INTERACTIVE &&
			       v[i].step_id <= STEP_ID_EXTERN));
			job_selection_matches(&v[i], &j, HET_DEFAULT);
		}
	} else {
		CHECK(err.code == ERR_INVALID || err.code == ERR_TOO_LARGE);
	}
	job_selection_matches(&(struct job_selection){ 12, 5, -1, STEP_ANY }, &j, HET_DEFAULT);
	free(text);
	arena_free(arena);
	return 0;
}

/* The query string and the JSON body of a question: no crash, and a refusal is an INVALID that
 * names its parameter. */
#include "fuzz.h"

#include "api/args.h"

#define NOW INT64_C(1700000000)

static void check(int rc, const struct err *err)
{
	CHECK(rc == 0 || rc == -1);
	CHECK(rc == 0 || (err->code == ERR_INVALID && err->text[0] != '\0'));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	struct params_context ctx = { .arena = arena, .now = NOW };
	struct err err = { 0 };
	char *text = fuzz_string(data, size);
	void *args;

	if (size > 0 && text[0] == '{') {
		CHECK(params_parse(&params_JOBS, NULL, &ctx, &args, &err) == 0);
		check(params_parse_json(&params_JOBS, text, size, &ctx, args, &err), &err);
	} else {
		check(params_parse(&params_JOBS, text, &ctx, &args, &err), &err);
		check(params_parse(&params_JOB, text, &ctx, &args, &err), &err);
	}
	free(text);
	arena_free(arena);
	return 0;
}

/* TRES and node/task texts: what is accepted is in the one form, and reading it again, as sacct
 * would print it or as it stands, gives the same. */
#include "fuzz.h"

#include "core/tres.h"
#include "core/where.h"

static void try_tres(const char *text, enum tres_kind kind, struct arena *arena)
{
	const struct unit_style styles[] = { { SCALE_EXACT, 0 }, { SCALE_NONE, 0 },
					     { SCALE_FIXED, UNIT_GIGA } };
	const char *one, *again;
	struct err err;
	int64_t gpus, n = 0;
	struct tres t, last = { 0 };

	if (tres_parse(text, kind, arena, &one, &err) < 0) {
		CHECK(err.code == ERR_INVALID && err.text[0] != '\0');
		return;
	}
	CHECK(tres_parse(one, kind, arena, &again, &err) == 0 && strcmp(one, again) == 0);
	for (const char *at = one; tres_next(&at, &t); last = t, n++)
		CHECK(t.count >= 0 &&
		      (n == 0 || tres_name_order(last.name, last.len, t.name, t.len) < 0));
	CHECK((n == 0) == (*one == '\0'));
	CHECK(tres_gpus(one, &gpus) && gpus >= 0);
	for (size_t i = 0; i < ARRAY_LEN(styles); i++) {
		struct buf out = BUF_INIT;
		tres_format(one, kind, styles[i], &out);
		buf_fini(&out);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = fuzz_string(data, size);
	const char *one, *again;
	struct err err;

	try_tres(text, TRES_AMOUNT, arena);
	try_tres(text, TRES_USAGE, arena);
	if (where_parse(text, arena, &one, &err) == 0)
		CHECK(where_parse(one, arena, &again, &err) == 0 && strcmp(one, again) == 0);
	free(text);
	arena_free(arena);
	return 0;
}

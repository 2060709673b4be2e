/* Bytes into text, and instants of suspension. */
#include "fuzz.h"

#include "core/moments.h"
#include "core/utf8.h"

static void try_text(const char *text, size_t size, struct arena *arena)
{
	struct buf out = BUF_INIT;
	bool mended = false, again = false;
	const char *good = utf8_mend(text, size, arena, &mended);

	CHECK(mended == !utf8_valid(text, size) && utf8_valid(good, strlen(good)));
	CHECK(utf8_mend(good, strlen(good), arena, &again) == good && !again);
	size_t columns = utf8_columns(good);
	CHECK(columns <= 2 * strlen(good) && utf8_cut(good, columns) == strlen(good));
	for (size_t c = 0; c < columns && c < 20; c++)
		CHECK(utf8_valid(good, utf8_cut(good, c)));
	utf8_escape(text, &out);
	for (size_t i = 0; i < out.len; i++)
		CHECK((unsigned char)out.data[i] >= 0x20 && out.data[i] != 0x7f);
	CHECK(utf8_valid(buf_str(&out), out.len));
	buf_fini(&out);
}

static void try_moments(const char *text, struct arena *arena)
{
	struct moment *m;
	size_t n, n_again;
	struct err err;
	int64_t from, to, last = INT64_MIN;

	if (moments_parse(text, arena, &m, &n, &err) < 0)
		return;
	const char *one = moments_format(m, n, arena);
	CHECK(moments_parse(one, arena, &m, &n_again, &err) == 0 && n_again <= n);
	CHECK(strcmp(moments_format(m, n_again, arena), one) == 0);
	CHECK(moments_union(one, one, arena) == one &&
	      strcmp(moments_union("", one, arena), one) == 0);
	for (const char *at = one; moments_next_span(&at, &from, &to); last = to)
		CHECK(from >= last && to > from);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = fuzz_string(data, size);

	try_text(text, size, arena);
	try_moments(text, arena);
	free(text);
	arena_free(arena);
	return 0;
}

/* Node lists: count, expand, contain and compress agree. */
#include "fuzz.h"

#include "core/hostlist.h"

static void try_names(const char *text, struct arena *arena)
{
	const char *const *names, *const *again;
	const char *compact;
	const struct hostset *set;
	int64_t count;
	size_t n, n_again;
	struct err err;

	if (hostlist_expand(text, arena, &names, &n, &err) < 0)
		return;
	CHECK(hostlist_count(text, &count, &err) == 0 && (size_t)count == n);
	for (size_t i = 0; i < n && i < 20; i++)
		CHECK(hostlist_contains(text, names[i]) &&
		      hostlist_find(text, names[i]) <= (int64_t)i);
	CHECK(hostset_new(text, arena, &set, &err) == 0);
	CHECK(hostset_meets(set, text) == (n > 0) && hostlist_intersects(text, text) == (n > 0));
	if (hostlist_compress(names, n, arena, &compact, &err) < 0)
		return;
	CHECK(hostlist_expand(compact, arena, &again, &n_again, &err) == 0 && n_again <= n);
	for (size_t i = 0; i < n_again; i++)
		CHECK(hostset_has(set, again[i]));
	for (size_t i = 0; i < n && i < 20; i++)
		CHECK(hostlist_contains(compact, names[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = fuzz_string(data, size);
	int64_t count;

	/* Long lists are tried in tests; here many short ones. */
	if (hostlist_count(text, &count, NULL) < 0 || count < 2000)
		try_names(text, arena);
	hostlist_contains(text, "n10");
	hostlist_find(text, "n1");
	free(text);
	arena_free(arena);
	return 0;
}

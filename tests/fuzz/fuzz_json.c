/* The scanner on any bytes: no crash, and a failure comes with a reason. */
#include "core/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct err err = { 0 };
	struct jscan j;
	/* A copy of just this size, so that a read past the end is seen. */
	char *doc = xmalloc(size);

	memcpy(doc, data, size);
	jscan_init(&j, doc, size, a, &err);
	bool ok = jscan_skip(&j) == 0 && jscan_done(&j) == 0;
	if (!ok && (err.code != ERR_INVALID || err.text[0] == '\0'))
		abort();
	if (ok && j.depth != 0)
		abort();
	free(doc);
	arena_free(a);
	return 0;
}

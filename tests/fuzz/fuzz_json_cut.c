/* The cutter on any bytes: the parts stand in order inside the body, and a body that the scanner
 * takes as an array is cut into its elements. */
#include "core/json.h"

static size_t cut(const char *body, size_t n, bool lines, bool *ret_whole)
{
	struct jcut c;
	struct jtext part;
	struct err err = { 0 };
	const char *from = body;
	size_t parts = 0;
	int rc;

	jcut_init(&c, body, n, lines);
	while ((rc = jcut_next(&c, &part, &err)) > 0) {
		if (part.n == 0 || part.p < from || part.p + part.n > body + n)
			abort();
		from = part.p + part.n;
		parts++;
	}
	if (rc < 0 && err.where[0] == '\0')
		abort();
	*ret_whole = rc == 0;
	return parts;
}

/* Elements of the array that the body is, or -1. */
static long elements(const char *body, size_t n, struct arena *a)
{
	struct err err = { 0 };
	struct jscan j;
	long count = 0;

	jscan_init(&j, body, n, a, &err);
	if (jscan_peek(&j) != JSCAN_ARRAY)
		return -1;
	jscan_enter(&j, JSCAN_ARRAY);
	for (; jscan_element(&j); count++)
		jscan_skip(&j);
	return jscan_done(&j) == 0 ? count : -1;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	char *body = xmalloc(size);
	bool whole;

	memcpy(body, data, size);
	cut(body, size, true, &whole);
	if (!whole)
		abort(); /* lines can always be cut */
	long want = elements(body, size, a);
	size_t got = cut(body, size, false, &whole);
	if (want >= 0 && (!whole || got != (size_t)want))
		abort();
	free(body);
	arena_free(a);
	return 0;
}

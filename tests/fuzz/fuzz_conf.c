/* Any bytes as a configuration file: parsed or refused, never more. */
#include "base/conf.h"

static int take(const struct conf_pair *pair, void *arg, struct err *err)
{
	size_t *n = arg;

	assert(pair->line > 0 && strlen(pair->key) < 64);
	*n += strlen(pair->value);
	return *n > 1000000 ? err_set(err, ERR_TOO_LARGE, NULL, "enough") : 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *a = arena_new();
	struct err err = { 0 };
	size_t n = 0;

	if (conf_parse("fuzz.conf", (const char *)data, size, a, take, &n, &err) < 0)
		assert(err.text[0] != '\0');
	arena_free(a);
	return 0;
}

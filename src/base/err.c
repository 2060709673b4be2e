#include "base/err.h"

#undef err_set
#undef err_prefix

static const struct err_kind kinds[ERR_COUNT] = {
#define E(name, http, dbd, title, hint) { #name, http, dbd, title, hint },
#include "base/errors.def"
#undef E
};

const struct err_kind *err_kind(enum err_code code)
{
	return &kinds[(size_t)code < ERR_COUNT ? (size_t)code : ERR_INTERNAL];
}

int err_set(struct err *err, enum err_code code, const char *where, const char *fmt, ...)
{
	va_list ap;

	if (err == NULL)
		return -1;
	/* The text may quote err's own old text, so it is built aside. */
	char text[sizeof(err->text)];
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	err->code = code;
	snprintf(err->where, sizeof(err->where), "%s", where != NULL ? where : "");
	memcpy(err->text, text, sizeof(text));
	return -1;
}

int err_prefix(struct err *err, const char *fmt, ...)
{
	char head[256];
	char tail[sizeof(((struct err *)0)->text)];
	va_list ap;

	if (err == NULL)
		return -1;
	va_start(ap, fmt);
	vsnprintf(head, sizeof(head), fmt, ap);
	va_end(ap);
	memcpy(tail, err->text, sizeof(tail));
	size_t n = (size_t)snprintf(err->text, sizeof(err->text), "%s", head);
	if (n < sizeof(err->text))
		snprintf(err->text + n, sizeof(err->text) - n, "%s", tail);
	return -1;
}

void err_clear(struct err *err)
{
	if (err != NULL)
		*err = (struct err){ .code = ERR_OK };
}

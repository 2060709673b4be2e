/* base/err.h: failures as values.
 *
 * A function that can fail returns -1 (or NULL) and fills the caller's struct err: which kind
 * (errors.def), where in the input, and a text that says what is wrong and how to mend it.
 * Library code never logs; whoever owns the request or message does, once. */
#ifndef TALLY_BASE_ERR_H
#define TALLY_BASE_ERR_H

#include "base/base.h"

enum err_code {
#define E(name, http, dbd, title, hint) ERR_##name,
#include "base/errors.def"
#undef E
	ERR_COUNT
};

struct err {
	enum err_code code;
	char where[96]; /* field, option, file:line ...; empty if nowhere in particular */
	char text[512];
};

struct err_kind {
	const char *name; /* "INVALID" */
	int http_status;
	int dbd_rc;
	const char *title;
	const char *hint;
};

/* Facts about a code; never NULL. */
const struct err_kind *err_kind(enum err_code code);

/* Fills err (which may be NULL when nobody cares) and returns -1, so that failing is one line.
 * where may be NULL. */
int err_set(struct err *err, enum err_code code, const char *where, const char *fmt, ...)
	PRINTF_LIKE(4, 5);

/* Puts a text in front: "reading x.conf: " + what was there.  Returns -1. */
int err_prefix(struct err *err, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The analyser sees one file at a time, and would follow paths on which failing succeeds. */
#ifdef __clang_analyzer__
#define err_set(...)    ((void)err_set(__VA_ARGS__), -1)
#define err_prefix(...) ((void)err_prefix(__VA_ARGS__), -1)
#endif

/* Forget it. */
void err_clear(struct err *err);

#endif

/* core/where.h: per TRES a node or a task (FT_WHERE), "cpu=n1,mem=n2" or "cpu=0,mem=3": which
 * node or task had the largest or smallest usage.  Names ascending by byte, as in core/tres.h. */
#ifndef TALLY_CORE_WHERE_H
#define TALLY_CORE_WHERE_H

#include "base/arena.h"
#include "base/err.h"

struct where {
	const char *name; /* neither is NUL-terminated */
	size_t len;
	const char *value;
	size_t value_len;
};

/* sacct's text, or ours, into the one form.  A value that is nothing ("(null)", "", 2^64 - 2) is
 * left out. */
int where_parse(const char *text, struct arena *arena, const char **ret, struct err *err);
/* The same from pairs; sorts them in place. */
int where_make(struct where *items, size_t n, struct arena *arena, const char **ret,
	       struct err *err);

bool where_next(const char **at, struct where *ret);
/* False when the text (may be NULL) does not name it. */
bool where_get(const char *text, const char *name, struct where *ret);

#endif

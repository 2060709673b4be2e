/* ingest/names.h: a set of names that grows: what the writer knows to be in the database. */
#ifndef TALLY_INGEST_NAMES_H
#define TALLY_INGEST_NAMES_H

#include "base/base.h"

struct names {
	char **v; /* open addressing; NULL = free */
	size_t cap, n;
};

void names_fini(struct names *s);
void names_clear(struct names *s);
/* name need not end in a NUL. */
bool names_has(const struct names *s, const char *name, size_t len);
void names_add(struct names *s, const char *name, size_t len);

#endif

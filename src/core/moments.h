/* core/moments.h: when a job was suspended and resumed, as text "S1700000000,R1700000060".
 *
 * A set of instants, ascending, suspension before resumption at equal time, each once: union is
 * all that merging needs, and no toggle can get out of step.  From the set, what was suspended is
 * from each S to the next R; an S after an S and an R without an S say nothing new, and an S and
 * an R at the same second change nothing. */
#ifndef TALLY_CORE_MOMENTS_H
#define TALLY_CORE_MOMENTS_H

#include "base/arena.h"
#include "base/err.h"

struct moment {
	int64_t at;
	bool resume; /* else suspend */
};

/* Any order, repeats allowed; *ret_n may be 0. */
int moments_parse(const char *text, struct arena *arena, struct moment **ret, size_t *ret_n,
		  struct err *err);
/* Sorts in place and drops repeats. */
const char *moments_format(struct moment *m, size_t n, struct arena *arena);
/* Two texts in the one form (either may be NULL) into one; one of the two itself where it holds
 * the other. */
const char *moments_union(const char *a, const char *b, struct arena *arena);
const char *moments_with(const char *text, struct moment add, struct arena *arena);

/* Walks the one form; NULL has none. */
bool moments_next(const char **at, struct moment *ret);
/* The next stretch of suspension: from, and to = INT64_MAX where it has no end. */
bool moments_next_span(const char **at, int64_t *ret_from, int64_t *ret_to);

#endif

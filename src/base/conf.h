/* base/conf.h: the syntax of slurmdbd.conf, as a pure parser.
 *
 *	Key=Value Key = "a value with blanks"   # comment
 *	Include more.conf
 *
 * Several pairs may stand on a line; blanks around '=' are allowed; a backslash at the end joins
 * the next line; '\#' is a '#'.  What the keys mean is the caller's business: here is only the
 * text.  Keys are handed over as written. */
#ifndef TALLY_BASE_CONF_H
#define TALLY_BASE_CONF_H

#include "base/arena.h"
#include "base/err.h"

struct conf_pair {
	const char *key;   /* "" for Include, whose file is the value */
	const char *value; /* unquoted; may be empty */
	int line;          /* 1 is the first */
};

/* Return 0, or -1 with err to stop. */
typedef int conf_sink(const struct conf_pair *pair, void *arg, struct err *err);

/* "file:line"; a name that is too long keeps its end, which tells more than its beginning. */
void conf_where(const char *name, int line, char *out, size_t size);

/* Errors name "file:line" in err->where (name is the file's).  The strings given to the sink live
 * in the arena. */
int conf_parse(const char *name, const char *text, size_t len, struct arena *arena,
	       conf_sink *sink, void *arg, struct err *err);

#endif

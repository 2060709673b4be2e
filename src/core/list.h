/* core/list.h: names as one text, "high,normal": ascending by byte, each once; "" has none.
 *
 * A list of changes has a sign before every name, "+high,-low": what is there beside something
 * else, and what is not. */
#ifndef TALLY_CORE_LIST_H
#define TALLY_CORE_LIST_H

#include "base/arena.h"
#include "base/err.h"

/* Names in any order, blanks around them dropped, into the one form.  -1: an empty name, or some
 * with a sign and some without. */
int list_parse(const char *text, struct arena *arena, const char **ret, struct err *err);
/* The same from words; a comma in one of them is an error. */
int list_make(const char *const *names, size_t n, struct arena *arena, const char **ret,
	      struct err *err);

/* Walks it: for (const char *at = list; list_next(&at, &p, &len);).  NULL has none. */
bool list_next(const char **at, const char **ret_name, size_t *ret_len);
bool list_has(const char *list, const char *name, size_t len);
/* Is it a list of changes?  "" is none. */
bool list_is_change(const char *list);
/* The list with the changes made.  Both may be NULL: none. */
const char *list_apply(const char *list, const char *changes, struct arena *arena);
/* Changes that have the effect of the first and then the second. */
const char *list_join(const char *first, const char *second, struct arena *arena);

#endif

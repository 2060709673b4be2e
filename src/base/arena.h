/* base/arena.h: memory with one lifetime.
 *
 * One arena per request, message or batch; everything taken from it goes at once with
 * arena_reset or arena_free.  Allocation cannot fail in the caller's sight: when the machine has
 * no memory left the process ends with a message (as PostgreSQL's and varnish's do for small
 * requests); sizes that come from outside are capped before they get here. */
#ifndef TALLY_BASE_ARENA_H
#define TALLY_BASE_ARENA_H

#include "base/base.h"

struct arena;

struct arena *arena_new(void) NONNULL_RESULT;
void arena_free(struct arena *a); /* takes NULL */
/* Everything taken so far becomes invalid; keeps one block for reuse. */
void arena_reset(struct arena *a);
/* Uninitialised, aligned for any type. */
void *arena_alloc(struct arena *a, size_t size) NONNULL_RESULT;
void *arena_zalloc(struct arena *a, size_t size) NONNULL_RESULT;
char *arena_strdup(struct arena *a, const char *s); /* NULL gives NULL */
char *arena_strndup(struct arena *a, const char *s, size_t n) NONNULL_RESULT;
char *arena_printf(struct arena *a, const char *fmt, ...) PRINTF_LIKE(2, 3) NONNULL_RESULT;
/* Bytes taken from the system, for limits and metrics. */
size_t arena_size(const struct arena *a);

#define ARENA_NEW(a, type) ((type *)arena_zalloc((a), sizeof(type)))
#define ARENA_ARRAY(a, type, n) ((type *)arena_zalloc((a), sizeof(type) * (size_t)(n)))

/* malloc family that ends the process with a message instead of returning NULL. */
void *xmalloc(size_t size) NONNULL_RESULT;
void *xcalloc(size_t n, size_t size) NONNULL_RESULT;
void *xrealloc(void *p, size_t size) NONNULL_RESULT;
char *xstrdup(const char *s) NONNULL_RESULT;

#endif

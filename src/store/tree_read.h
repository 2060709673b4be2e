/* store/tree_read.h: the account tree out of the database, kept until it changes.
 *
 * A snapshot holds committed state and has its version; whether it is the latest is one query of
 * one row.  Several daemons may change the tree: the version is the database's. */
#ifndef TALLY_STORE_TREE_READ_H
#define TALLY_STORE_TREE_READ_H

#include "core/tree.h"
#include "store/store.h"

/* On a connection, as its transaction sees it. */
int tree_read_version(struct pg *pg, int64_t *ret, struct err *err);
/* All of it; NULL on failure.  Outside a transaction it opens one of its own, so that it is of one
 * moment; inside one, the transaction holds the lock of tree_version or sees one moment anyway. */
struct tree *tree_read(struct pg *pg, struct err *err);

struct tree_cache;

struct tree_cache *tree_cache_new(struct store *store);
void tree_cache_free(struct tree_cache *c); /* takes NULL */
/* The latest; the caller unrefs it.  Many may ask at once: one reads. */
struct tree *tree_cache_get(struct tree_cache *c, struct err *err);
/* The one that is kept, if it has that version; else NULL. */
struct tree *tree_cache_kept(struct tree_cache *c, int64_t version);

#endif

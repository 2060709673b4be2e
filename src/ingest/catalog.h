/* ingest/catalog.h: what must be in the database before records can be written: their clusters,
 * the names of their TRES, their place in the account tree, the partitions of their months.  What
 * is missing is made in short transactions of its own; what is known to be there costs a look-up in
 * memory. */
#ifndef TALLY_INGEST_CATALOG_H
#define TALLY_INGEST_CATALOG_H

#include "ingest/obstacle.h"
#include "ingest/plan.h"
#include "ingest/usage.h"
#include "store/write_tx.h"

struct catalog;
struct span;

struct catalog *catalog_new(bool register_clusters, struct usage_book *usage);
void catalog_free(struct catalog *c); /* takes NULL */
/* Knows nothing any more: another daemon may have changed it. */
void catalog_forget(struct catalog *c);

/* As of the last catalog_prepare. */
const struct span *catalog_span(const struct catalog *c);

/* The account tree, in which each of the items then prepared has a place; NULL before the first. */
struct tree;
const struct tree *catalog_tree(const struct catalog *c);

/* Prepares what the items need and sets their month.  An item whose need cannot be met now is held
 * (and the obstacle noted), one whose cluster is unknown is refused (why lies in the arena).
 * -1 with the transaction's fault when the database fails as a whole. */
int catalog_prepare(struct catalog *c, struct write_tx *tx, int64_t epoch, struct obstacles *obs,
		    struct item *const *items, size_t n, struct arena *arena, struct err *err);

#endif

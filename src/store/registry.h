/* store/registry.h: names that records bring along: clusters and TRES.
 *
 * Each call is one short transaction of its own, before the records' one, so that nobody who holds
 * a lock here stops them. */
#ifndef TALLY_STORE_REGISTRY_H
#define TALLY_STORE_REGISTRY_H

#include "store/write_tx.h"

/* $1: names; the way every TRES gets its number. */
extern const struct statement registry_tres_add;

typedef void registry_name(const char *name, void *arg);

int registry_clusters(struct write_tx *tx, registry_name *each, void *arg, struct err *err);
/* With its root associations.  One that was removed comes back. */
int registry_add_cluster(struct write_tx *tx, int64_t epoch, const char *name, int64_t now,
			 struct err *err);
/* Names as in TRES texts, with their numbers: "cpu", "gres/gpu:a100". */
typedef void registry_number(const char *name, int64_t id, void *arg);
int registry_tres(struct write_tx *tx, registry_number *each, void *arg, struct err *err);
int registry_add_tres(struct write_tx *tx, int64_t epoch, const char *const *names, size_t n,
		      struct err *err);

#endif

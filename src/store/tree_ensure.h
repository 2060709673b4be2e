/* store/tree_ensure.h: the writer's part of the tree: what job records name and the tree has not.
 *
 * A short transaction of its own before the records' one; marked made_by_record.  What is there is
 * never changed, but for a user's number that was not known. */
#ifndef TALLY_STORE_TREE_ENSURE_H
#define TALLY_STORE_TREE_ENSURE_H

#include "core/draft.h"
#include "store/write_tx.h"

/* *tree: a snapshot the caller keeps from call to call (NULL at first); made the latest.
 * FAULT_LOCKED while somebody changes the tree, if anything is missing. */
int tree_ensure(struct write_tx *tx, int64_t epoch, const struct draft_need *needs, size_t n,
		int64_t now, struct tree **tree, struct err *err);

#endif

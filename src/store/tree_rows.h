/* store/tree_rows.h: writing a draft's rows on any connection; for the files of store that change
 * the tree. */
#ifndef TALLY_STORE_TREE_ROWS_H
#define TALLY_STORE_TREE_ROWS_H

#include "core/draft_log.h"

struct pg;

/* The transaction holds tree_version's row and has counted it to `version`. */
int tree_write_rows(struct pg *pg, int64_t version, const struct draft_row *rows, size_t n,
		    const struct draft_actor *actor, struct arena *arena, struct err *err);

#endif

/* ops/tree_priv.h: a session's body, and who may do what in it; for tree_*.c of this room. */
#ifndef TALLY_OPS_TREE_PRIV_H
#define TALLY_OPS_TREE_PRIV_H

#include "ingest/names.h"
#include "ops/tree.h"
#include "store/tree_write.h"

struct tree_session {
	struct ops *ops;
	const struct identity *who;
	const char *user; /* name of the asker in the tree; "" = none */
	struct tree_session_rules rules;
	struct arena *arena;
	struct tree_tx *tx;
	struct tree *tree; /* as it was at the beginning */
	struct draft *draft;
	const struct draft_row *rows;
	size_t n_rows;
	struct names put; /* what was put, by kind and names */
};

/* A name in any spelling as the draft has it; "" when it cannot be one. */
const char *tree_spelled(struct tree_session *s, enum entity_kind kind, const char *name);

enum tree_verb { TREE_ADD, TREE_MODIFY, TREE_REMOVE };

/* Whatever the rows are: may they at all?  What is judged with the rows comes later. */
int tree_may(const struct tree_session *s, enum entity_kind kind, enum tree_verb verb,
	     struct err *err);
int tree_may_add(struct tree_session *s, const struct draft_add *add, struct err *err);
int tree_may_modify(struct tree_session *s, enum entity_kind kind, const void *row,
		    const struct change *change, struct err *err);
int tree_may_remove(struct tree_session *s, enum entity_kind kind, const void *row,
		    struct err *err);

#endif

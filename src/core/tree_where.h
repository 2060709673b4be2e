/* core/tree_where.h: which rows of the tree are meant: names and numbers, in any case of letters.
 *
 * Lists are OR inside and AND between them; what does not apply to a kind of row is no condition
 * of it.  The same struct is filled from a query string, from "where" of a change, and by the other
 * doors. */
#ifndef TALLY_CORE_TREE_WHERE_H
#define TALLY_CORE_TREE_WHERE_H

#include "core/filter.h"
#include "core/tree.h"

struct tree_where {
	struct texts names; /* of the row itself: a cluster's, account's, user's, QOS's, wckey's */
	struct texts clusters, accounts, users, partitions;
	struct texts parents;		  /* of associations: accounts directly above */
	struct texts qos;		  /* of associations: that may use one of them */
	struct texts descriptions, organizations;
	struct texts admin_levels;
	struct numbers ids, uids;
	bool subtree;	    /* accounts: and all below them */
	bool only_accounts; /* of associations: those of accounts */
	bool only_users;    /* ... of users */
	bool only_defaults; /* of associations and wckeys */
	bool deleted;	    /* removed ones too */
	bool exact_users;   /* names of users as they are spelled (PreserveCaseUser) */
};

/* Is anything asked for at all? */
bool tree_where_any(const struct tree_where *w);
/* Rows in the order of the tree: of associations parents before children.  Of TRES, events and
 * transactions none: they are no part of it. */
size_t tree_select(const struct tree *t, enum entity_kind kind, const struct tree_where *w,
		   struct arena *arena, const void ***ret);

#endif

/* ops/tree.h: the account tree: what is shown of it and what is changed in it, whichever door asks.
 *
 * Changes are made in a session, which is one transaction: it holds the tree from its beginning, so
 * that nobody else changes it meanwhile; nothing of it is seen by others before its end, and what
 * it changes, the log of it and what controllers are told are committed together.  Over HTTP one
 * request is one session. */
#ifndef TALLY_OPS_TREE_H
#define TALLY_OPS_TREE_H

#include "core/draft.h"
#include "core/tree_where.h"
#include "ops/ops.h"

struct tree_session;

struct tree_session_rules {
	int64_t now;
	bool strict_defaults; /* the slurmdbd door */
	bool dry_run;	      /* commit does everything but keep it */
};

/* BUSY while somebody else's session is open. */
struct tree_session *ops_tree_begin(struct ops *ops, const struct identity *who,
				    const struct tree_session_rules *rules, struct arena *arena,
				    struct err *err);
void ops_tree_end(struct tree_session *s); /* takes NULL; what was not committed never was */

int ops_tree_add(struct tree_session *s, const struct draft_add *add, struct err *err);
/* NOT_FOUND when nothing is meant, INVALID when nothing is said of what is meant. */
int ops_tree_modify(struct tree_session *s, enum entity_kind kind, const struct tree_where *where,
		    const struct change *change, struct err *err);
int ops_tree_remove(struct tree_session *s, enum entity_kind kind, const struct tree_where *where,
		    struct err *err);
/* As it is said to be: added, or changed in what is said of it. */
int ops_tree_put(struct tree_session *s, const struct draft_add *add, struct err *err);
/* Everything of a kind that was not put in this session, roots apart; of associations those of the
 * accounts and users that stay. */
int ops_tree_remove_others(struct tree_session *s, enum entity_kind kind, struct err *err);
/* CONFLICT, with their numbers, when jobs that have not ended need what would go. */
int ops_tree_commit(struct tree_session *s, struct err *err);

/* What the session has changed, and what there is to say about it; they last as long as the arena.
 */
size_t ops_tree_rows(struct tree_session *s, const struct draft_row **ret);
const char *const *ops_tree_notes(struct tree_session *s, size_t *ret_n);
/* The tree as the session would leave it. */
const struct tree *ops_tree_draft(struct tree_session *s);

/* Rows as who may see them, with what is computed for showing.  own: associations as they are set,
 * without what comes from above. */
struct tree_question {
	enum entity_kind kind;
	struct tree_where where;
	bool own;
};
typedef int row_sink(const void *row, void *arg);
int ops_tree_list(struct ops *ops, const struct identity *who, const struct tree_question *q,
		  row_sink *sink, void *arg, struct arena *arena, struct err *err);

/* The rest of what sacctmgr lists: TRES, reservations, periods of nodes and clusters, the log. */
struct list_question {
	enum entity_kind kind;
	struct texts clusters, names, users, accounts, actors, actions;
	struct numbers ids;
	int64_t start, end; /* what touches [start, end); INT64_MIN and INT64_MAX: any */
	int64_t after;	    /* transactions: later ones than this */
	int64_t limit;	    /* -1 = all */
};
int ops_list(struct ops *ops, const struct identity *who, const struct list_question *q,
	     row_sink *sink, void *arg, struct err *err);

/* A reservation's row, from a controller or an operator.  One whose period runs and that changes is
 * the door's to end and begin anew (start tells which). */
struct reservation;
int ops_reservation_put(struct ops *ops, const struct identity *who, const struct reservation *r,
			struct err *err);
/* NOT_FOUND when there is none. */
int ops_reservation_remove(struct ops *ops, const struct identity *who,
			   const struct reservation *key, struct err *err);

/* The asker's own row: by the name that the system has for the uid, or, where it knows none, by the
 * uid; NULL when the tree has neither. */
const struct user *ops_user_in_tree(const struct tree *t, const struct identity *who);

/* The accounts and all that are, or were, below them on the clusters (none named: all); by name, as
 * jobs tell their account. */
void ops_accounts_below(const struct tree *t, const struct texts *clusters, struct arena *arena,
			struct texts *accounts);
/* Accounts that the user coordinates wherever they are. */
void ops_coordinated_accounts(const struct tree *t, const char *user, struct arena *arena,
			      struct texts *ret);

/* The latest tree; the caller unrefs it. */
struct tree *ops_tree_now(struct ops *ops, struct err *err);

#endif

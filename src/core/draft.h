/* core/draft.h: a tree with changes that are not stored yet, and the rules of making them.
 *
 * In: a snapshot and what is wanted.  Out: rows as they are to be, beside what they were, and notes
 * for whoever asked (a default account that has moved, an account that went with the one above).
 * Nothing is stored here, nobody's rights are judged here.  After a failure the draft is of no more
 * use.
 *
 * Rules: names are trimmed and in lower case (user names as they are with keep_user_case, and those
 * of a directory service, with @ or \, always).  A user has one default account on each cluster:
 * the first, until another is named; when it goes, another takes its place and a note says so, or,
 * with strict_defaults, it may not go.  An account that goes takes what is below it along.  What is
 * removed is marked and keeps its number; added again, it is that one, with nothing set. */
#ifndef TALLY_CORE_DRAFT_H
#define TALLY_CORE_DRAFT_H

#include "core/change.h"
#include "core/filter.h"
#include "core/tree.h"

struct draft;

struct draft_rules {
	int64_t now;
	bool strict_defaults; /* as slurmdbd: refuse to take a default away */
	bool keep_user_case;
	bool by_record;	      /* a job record, not a person, names it */
};

/* The tree must live as long. */
struct draft *draft_new(const struct tree *base, const struct draft_rules *rules,
			struct arena *arena);
/* The tree as it would be.  Made anew after changes; valid until the next change. */
const struct tree *draft_tree(struct draft *d);
void draft_free(struct draft *d); /* takes NULL; what came out of it lies in the arena */

/* Rows as they would be, by their names; removed ones too; NULL when there is none. */
const struct cluster *draft_cluster(struct draft *d, const char *name);
const struct account *draft_account(struct draft *d, const char *name);
const struct user *draft_user(struct draft *d, const char *name);
const struct qos *draft_qos(struct draft *d, const char *name);
const struct assoc *draft_assoc(struct draft *d, const char *cluster, const char *account,
				const char *user, const char *partition);
const struct wckey *draft_wckey(struct draft *d, const char *cluster, const char *user,
				const char *name);
const struct coord *draft_coord(struct draft *d, const char *account, const char *user);

/* Everything that differs from the snapshot, or from the last draft_settle, in the order it was
 * first touched. */
struct draft_row {
	enum entity_kind kind;
	const void *now;
	const void *before; /* NULL: it is new */
};
size_t draft_rows(struct draft *d, const struct draft_row **ret);
/* Those are stored: what follows differs from them. */
void draft_settle(struct draft *d);
const char *const *draft_notes(const struct draft *d, size_t *ret_n);

/* A name as the tree has it.  INVALID when it cannot be one. */
int draft_name(const struct draft *d, enum entity_kind kind, const char *text, const char **ret,
	       struct err *err);

/* What is to be added: the row, and for accounts and users their associations. */
struct draft_add {
	struct change row;
	struct change assoc;	/* limits of the associations; of a cluster: of its root */
	struct texts clusters;	/* none = all */
	struct texts accounts;	/* a user's */
	struct texts partitions; /* of these associations; none = for all */
	struct texts wckeys;	/* a user's */
	const char *parent;	/* of an account; NULL = root */
	bool nowhere;		/* an account by itself, on no cluster */
	bool quiet;		/* no note of what is there already */
};
void draft_add_init(struct draft_add *add, enum entity_kind kind);
/* What is there already stays as it is, with a note. */
int draft_add(struct draft *d, const struct draft_add *add, struct err *err);

/* Of a row as draft_tree has it.  clusters: for a user's defaults; none = all. */
int draft_modify(struct draft *d, enum entity_kind kind, const void *row,
		 const struct change *change, const struct texts *clusters, struct err *err);
/* Of rows as draft_tree has them, all of one kind. */
int draft_remove(struct draft *d, enum entity_kind kind, const void *const *rows, size_t n,
		 struct err *err);

/* What a job needs that the tree has not: cluster must be there.  Nothing else is ever changed. */
struct draft_need {
	const char *cluster;
	struct tree_who who;
	int64_t uid;	   /* -1 = not known */
	const char *wckey; /* NULL or "" = none; a leading * is dropped */
	const char *qos;   /* NULL or "" = none */
};
int draft_ensure(struct draft *d, const struct draft_need *need, struct err *err);

#endif

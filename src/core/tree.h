/* core/tree.h: the account trees of all clusters as they stand, with users, QOS and wckeys: one
 * snapshot, never changed once it is built, shared by count.
 *
 * What an association does not set itself comes from above: limits of a user or a job, priority,
 * default QOS and the list of QOS (fields with FF_INHERIT; TRES limits one TRES at a time; changes
 * of the QOS list are applied on the way down; a root that names no QOS has "normal").  Limits of
 * everything below it (grp_...) and shares are its own.
 *
 * Removed associations are kept in their place, for what was used under them.  They have no lft
 * and rgt, and no living one is below them. */
#ifndef TALLY_CORE_TREE_H
#define TALLY_CORE_TREE_H

#include "core/entity.h"

#define ROOT_ACCOUNT "root"
#define ROOT_QOS     "normal"
enum { ASSOC_ROOT = 1, ASSOC_ROOT_USER = 2 }; /* ids on every cluster */

/* How an association stood from one change of its place to the next. */
struct tree_period {
	const char *cluster;
	int64_t id;
	int64_t from, to; /* INT64_MAX: still so */
	int64_t parent_id; /* 0 = none */
	int64_t shares;
	bool deleted;
};

/* What a snapshot is made of.  Rows need no order. */
struct tree_rows {
	const struct cluster *clusters;
	const struct account *accounts;
	const struct user *users;
	const struct assoc *assocs;
	const struct qos *qos;
	const struct wckey *wckeys;
	const struct coord *coords;
	const struct tree_period *periods; /* by cluster, id and from; may leave out associations */
	size_t n_clusters, n_accounts, n_users, n_assocs, n_qos, n_wckeys, n_coords, n_periods;
	int64_t version;
};

struct assoc_node {
	const struct assoc *own;   /* as it is set */
	const struct assoc *whole; /* with what comes from above */
	int32_t parent;		   /* place in nodes; -1 for the root */
	int32_t after;		   /* first place behind everything below it */
	const struct tree_period *periods; /* ascending; none: it always stood as it does */
	size_t n_periods;
};

struct tree_cluster {
	const struct cluster *row;
	/* Parents before children, so what is below nodes[i] is from i + 1 to nodes[i].after.
	 * Children of one parent have the greatest id first. */
	const struct assoc_node *nodes;
	size_t n;
	size_t flaws; /* associations that had no place and were put below the root */
	/* The rest is tree.c's. */
	const int32_t *by_id, *by_name;
	const int32_t *by_user; /* associations of users */
	size_t n_of_users;
};

struct tree;

/* Takes over the arena, in which the rows and their texts must lie.  Each cluster's associations
 * get their shown fields (parent, lineage, lft, rgt, depth). */
struct tree *tree_build(const struct tree_rows *rows, struct arena *arena);
struct tree *tree_ref(struct tree *t);
void tree_unref(struct tree *t); /* takes NULL */
int64_t tree_version(const struct tree *t);
/* As they were given, sorted by key. */
const struct tree_rows *tree_rows(const struct tree *t);

/* NULL when there is none; removed ones are found too, unless it says otherwise. */
const struct tree_cluster *tree_cluster(const struct tree *t, const char *name);
const struct tree_cluster *tree_clusters(const struct tree *t, size_t *ret_n);
const struct account *tree_account(const struct tree *t, const char *name);
const struct user *tree_user(const struct tree *t, const char *name);
const struct user *tree_user_by_uid(const struct tree *t, int64_t uid); /* no removed ones */
const struct qos *tree_qos(const struct tree *t, const char *name);
const struct qos *tree_qos_by_id(const struct tree *t, int64_t id);
const struct wckey *tree_wckey(const struct tree *t, const char *cluster, const char *user,
			       const char *name);
const struct wckey *tree_wckey_by_id(const struct tree *t, const char *cluster, int64_t id);
const struct wckey *tree_default_wckey(const struct tree *t, const char *cluster,
				       const char *user); /* no removed ones */

/* Places in c->nodes; -1 when there is none. */
int32_t tree_by_id(const struct tree_cluster *c, int64_t id);
/* user and partition: "" = none. */
int32_t tree_find(const struct tree_cluster *c, const char *account, const char *user,
		  const char *partition);
/* The associations of a user, removed ones too: n places from *ret_places on. */
size_t tree_of_user(const struct tree_cluster *c, const char *user, const int32_t **ret_places);
/* The default association of a user; no removed ones. */
int32_t tree_default(const struct tree_cluster *c, const char *user);

/* What a job is charged to, from what is known of it (NULL or "" = not known; id 0 = none): the
 * association of that id; else that of account and user for the partition, or the first of a list
 * of partitions that has one, or for all partitions; a living one before a removed one.  Without
 * an account: the user's default, else the user's below root; without a user: the account's.  -1:
 * the tree does not have it yet. */
struct tree_who {
	int64_t assoc_id;
	const char *account, *user, *partition;
};
int32_t tree_place(const struct tree_cluster *c, const struct tree_who *who);
/* The same, and never -1 on a cluster that has a root: who is not in the tree is counted for the
 * account, and an account that is not, for the root. */
int32_t tree_charge(const struct tree_cluster *c, const struct tree_who *who);

static inline bool tree_is_within(const struct tree_cluster *c, int32_t node, int32_t above)
{
	return node >= above && node < c->nodes[above].after;
}
static inline bool assoc_is_user(const struct assoc *a)
{
	return a->user_name[0] != '\0';
}
static inline bool assoc_is_deleted(const struct assoc *a)
{
	return a->deleted != 0;
}

/* How it stood at an instant: what it now is when nothing else is known. */
struct tree_period tree_at(const struct tree_cluster *c, int32_t node, int64_t at);
/* Its parent then: a place in nodes; -1 for the root. */
int32_t tree_parent_at(const struct tree_cluster *c, int32_t node, int64_t at);

/* Does the user coordinate the account on the cluster: named for it or for one above it, or as a
 * user of an account whose users all do? */
bool tree_coordinates(const struct tree *t, const struct tree_cluster *c, const char *user,
		      const char *account);

#endif

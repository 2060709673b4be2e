/* core/draft_priv.h: the body of a draft, for draft*.c alone. */
#ifndef TALLY_CORE_DRAFT_PRIV_H
#define TALLY_CORE_DRAFT_PRIV_H

#include "core/draft.h"

/* A row that has been touched. */
struct entry {
	enum entity_kind kind;
	const char *key;
	void *now;
	const void *before; /* as stored; NULL = not there */
	struct entry *next_hash;
	struct entry *next_of_user; /* associations that are new, of one user on one cluster */
};

/* New numbers and new associations of a cluster. */
struct growth {
	const char *cluster;
	int64_t next_assoc, next_wckey;
	struct growth *next;
};

struct draft {
	const struct tree *base;
	struct draft_rules rules;
	struct arena *arena;
	struct entry **hash;
	size_t n_buckets;
	struct entry **entries;
	size_t n, cap;
	const struct cluster **new_clusters;
	size_t n_new_clusters;
	struct growth *growth;
	int64_t next_qos; /* 0 = not counted yet */
	const char **notes;
	size_t n_notes, cap_notes;
	struct tree *tree; /* as it would be; NULL = not made yet */
	bool stale;	   /* tree: something has changed since */
	struct draft_row *rows;
};

const struct assoc *draft_assoc_by_id(struct draft *d, const char *cluster, int64_t id);

/* The row, to be written to. */
void *draft_touch(struct draft *d, enum entity_kind kind, const void *row);
/* A new row with its key, created now. */
void *draft_create(struct draft *d, enum entity_kind kind, const void *row);

int64_t draft_next_assoc(struct draft *d, const char *cluster);
int64_t draft_next_wckey(struct draft *d, const char *cluster);
int64_t draft_next_qos(struct draft *d);

void draft_note(struct draft *d, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* Associations of a user on a cluster, until one returns false. */
typedef bool assoc_visit(struct draft *d, const struct assoc *a, void *arg);
void draft_each_of_user(struct draft *d, const char *cluster, const char *user, assoc_visit *visit,
			void *arg);
/* Living clusters: those named, else all.  NOT_FOUND for one that is not there. */
int draft_clusters(struct draft *d, const struct texts *named, struct texts *ret, struct err *err);

/* ---- rules shared by adding, changing and removing */

/* Are the QOS and the default QOS that a row names there? */
int draft_check_qos(struct draft *d, enum entity_kind kind, const void *row, struct err *err);
/* The only default of its user on its cluster from now on. */
void draft_make_default(struct draft *d, const struct assoc *a);
void draft_make_default_wckey(struct draft *d, const struct wckey *w);
/* The default has gone: another living one becomes it, with a note. */
void draft_find_default(struct draft *d, const char *cluster, const char *user);
int draft_add_wckey(struct draft *d, const char *cluster, const char *user, const char *name,
		    struct err *err);
/* Makes the row if it is not there, or living again. */
struct user *draft_ensure_user(struct draft *d, const char *name);

#define living(row, PREFIX) ((row) != NULL && row_get(row, PREFIX, deleted, 0) == 0)

#endif

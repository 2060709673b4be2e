/* store/tree_write.h: changes of the account tree: one transaction, all rows of a kind in one
 * statement made from its .def.
 *
 * The transaction holds tree_version's row from its beginning, so changes come one after the other
 * and each sees the one before.  Who finds it held waits five seconds and is then told BUSY. */
#ifndef TALLY_STORE_TREE_WRITE_H
#define TALLY_STORE_TREE_WRITE_H

#include "core/draft_log.h"
#include "store/tree_read.h"

struct tree_tx;

struct tree_tx *tree_tx_begin(struct store *s, struct err *err);
/* The tree as the transaction sees it; the caller unrefs it.  Taken from the cache when that is the
 * latest. */
struct tree *tree_tx_tree(struct tree_tx *tx, struct tree_cache *cache, struct err *err);
/* A draft's rows, and what the log and controllers are told of them.  Also closes and begins the
 * periods of associations whose place, shares or life have changed. */
int tree_tx_write(struct tree_tx *tx, const struct draft_row *rows, size_t n,
		  const struct draft_actor *actor, struct arena *arena, struct err *err);
/* TRES that limits name and the registry does not know yet. */
int tree_tx_add_tres(struct tree_tx *tx, const char *const *names, size_t n, struct err *err);
/* Both end it. */
int tree_tx_commit(struct tree_tx *tx, struct err *err);
void tree_tx_rollback(struct tree_tx *tx); /* takes NULL */

/* A job that has not ended, as far as it tells whose it is. */
struct open_job {
	int64_t job_id;
	bool running;
	const char *cluster, *account, *user, *partition, *qos; /* "" = not known */
	int64_t assoc_id;					/* 0 = not known */
};
typedef void open_job_sink(const struct open_job *job, void *arg);
/* Ascending numbers; of one of these accounts, or of none and of one of these users, or with one of
 * these QOS. */
struct open_jobs_query {
	struct texts accounts, users, qos;
};
int tree_tx_open_jobs(struct tree_tx *tx, const struct open_jobs_query *q, open_job_sink *sink,
		      void *arg, struct err *err);

#endif

/* store/write_tx.h: the writer's session and its transactions.
 *
 * One session of its own, with a short lock_timeout and synchronous_commit=on.  A transaction
 * begins by checking that this daemon is still the active one (its epoch), and that check holds
 * until the end: a daemon that takes over waits for it.
 *
 * When something fails, `fault` says what the writer can do about it, and `scope` which part of
 * the transaction met it. */
#ifndef TALLY_STORE_WRITE_TX_H
#define TALLY_STORE_WRITE_TX_H

#include "store/partition.h"
#include "store/pg.h"

struct store;
struct write_tx;

enum write_fault {
	FAULT_NONE,
	FAULT_DATA,	/* the database refuses a value: one record can be at fault */
	FAULT_LOCKED,	/* somebody holds a lock; the rest can go on */
	FAULT_FENCED,	/* another daemon is the active one */
	FAULT_SCHEMA,	/* a partition has come or gone: plan again */
	FAULT_DATABASE, /* connection, space, shutdown ...: try the same again later */
};

enum write_scope {
	SCOPE_WHOLE,
	SCOPE_MONTH, /* a partition of job and step */
	SCOPE_ASIDE,
	SCOPE_EVENTS,
	SCOPE_QUARANTINE,
};

/* Not connected yet; write_begin connects. */
struct write_tx *write_tx_new(struct store *store, int lock_timeout_ms);
void write_tx_free(struct write_tx *tx); /* takes NULL */

/* These and all that writes: 0, or -1 with err and the fault. */

/* span: what the rows' months were counted by; FAULT_SCHEMA when it is another one now.  NULL: no
 * rows of jobs are written. */
int write_begin(struct write_tx *tx, int64_t epoch, const struct span *span, struct err *err);
int write_commit(struct write_tx *tx, struct err *err);
/* Is anything kept aside (store/aside.h), by the state at write_begin? */
bool write_has_aside(const struct write_tx *tx);
/* What ended before was purged, by the state at write_begin; kind: "job", "step".  INT64_MIN when
 * nothing was. */
int64_t write_horizon(const struct write_tx *tx, const char *cluster, const char *kind);
/* Also frees the rows that were read.  Does nothing when none is open. */
void write_rollback(struct write_tx *tx);

/* Of the last failure. */
enum write_fault write_fault(const struct write_tx *tx);
enum write_scope write_fault_scope(const struct write_tx *tx, int *ret_month);

/* Outside a transaction. */
int write_read_span(struct write_tx *tx, struct span *ret_span, struct err *err);
int write_ensure_month(struct write_tx *tx, int month, struct err *err);

/* --- for the files of store that write */

/* Which part of the transaction the following statements belong to. */
void write_in_scope(struct write_tx *tx, enum write_scope scope, int month);
/* An empty buffer for the arguments of the next statement. */
struct buf *write_args(struct write_tx *tx);
/* Runs it with those arguments.  A result that is asked for is kept until the transaction ends. */
int write_run(struct write_tx *tx, const struct statement *st, PGresult **ret_result,
	      struct err *err);
/* The same outside a transaction; the result is the caller's to PQclear. */
int write_run_alone(struct write_tx *tx, const struct statement *st, PGresult **ret_result,
		    struct err *err);
/* The session, for statements of other files; what fails there is told by write_failed. */
struct pg *write_pg(struct write_tx *tx);
/* What was read makes no sense; err says why.  Returns -1. */
int write_failed(struct write_tx *tx);
/* A statement about one partition: every @ of its text becomes the partition's suffix. */
struct leaf_statement {
	const char *name;
	const char *sql;
};
enum { LEAF_STATEMENTS_MAX = 8 };
/* Also sets the scope.  Stays prepared for the months that are written most. */
int write_run_in(struct write_tx *tx, const struct leaf_statement *st, int month,
		 PGresult **ret_result, struct err *err);
int write_copy_in(struct write_tx *tx, const struct leaf_statement *st, int month,
		  const struct buf *rows, struct err *err);
/* sql is a COPY FROM STDIN (FORMAT binary). */
int write_copy(struct write_tx *tx, const char *sql, const struct buf *rows, struct err *err);

#endif

/* store/pg.h: one connection to PostgreSQL: statements, COPY, and what its failures mean.
 *
 * A thin layer over libpq.  Parameters are the values of a struct buf, written one after the other
 * with the bin_ functions of binrow.h; results come in binary and are read with bin_read_.  Every
 * wait has a limit, so a server that has gone silent costs that long and its connection, not a
 * thread.  A connection belongs to one thread at a time; pg_cancel may come from any. */
#ifndef TALLY_STORE_PG_H
#define TALLY_STORE_PG_H

#include <libpq-fe.h>

#include "base/buf.h"
#include "base/err.h"

struct pg;

struct pg_settings {
	const char *conninfo;	  /* goes to libpq whole: several hosts, target_session_attrs ... */
	const char *name;	  /* application_name, unless conninfo has one */
	int connect_timeout_s;	  /* per host, unless conninfo has one; 0 = 5 */
	int statement_timeout_ms; /* 0 = none */
	int lock_timeout_ms;	  /* 0 = none */
	int idle_timeout_ms;	  /* of an open transaction; 0 = none */
};

/* Connects and sets the session up: synchronous_commit=on, UTF-8, UTC, the limits; no JIT, which
 * takes longer to compile our wide rows than they take to read. */
struct pg *pg_open(const struct pg_settings *settings, struct err *err);
void pg_close(struct pg *pg); /* takes NULL */
/* May another statement be sent? */
bool pg_alive(const struct pg *pg);
/* The same for a connection that has been idle: notices without waiting that the server has gone.
 */
bool pg_still_there(struct pg *pg);
bool pg_in_transaction(const struct pg *pg);
/* Of the last failure, "" when it was not the server's. */
const char *pg_sqlstate(const struct pg *pg);
/* PQserverVersion: 150004. */
int pg_server_version(const struct pg *pg);

/* One or more statements without parameters or results. */
int pg_script(struct pg *pg, const char *sql, struct err *err);

/* A statement with a name, prepared on a connection when it first runs there. */
struct statement {
	const char *name;
	const char *sql;
};

/* The statement, which is about to go, need not stay prepared. */
void pg_forget(struct pg *pg, const struct statement *st);

/* args may be NULL.  ret_result (may be NULL) is the caller's to PQclear. */
int pg_run(struct pg *pg, const struct statement *st, const struct buf *args, PGresult **ret_result,
	   struct err *err);
/* The same without a name: planned for these very values. */
int pg_run_once(struct pg *pg, const char *sql, const struct buf *args, PGresult **ret_result,
		struct err *err);
/* Rows that an INSERT, UPDATE or DELETE touched. */
int64_t pg_affected(const PGresult *result);

int pg_begin(struct pg *pg, struct err *err);
int pg_commit(struct pg *pg, struct err *err);
/* Never fails in the caller's sight: a connection that cannot roll back is dead. */
void pg_rollback(struct pg *pg);

/* COPY ... FROM STDIN: start, put any number of times, done.  After a failure of put or done the
 * COPY is over; pg_copy_abort ends it without its rows. */
int pg_copy_in(struct pg *pg, const char *sql, struct err *err);
int pg_copy_put(struct pg *pg, const void *data, size_t n, struct err *err);
int pg_copy_done(struct pg *pg, int64_t *ret_rows, struct err *err);
void pg_copy_abort(struct pg *pg);

/* COPY ... TO STDOUT: start, then get until it returns 0; 1 = *ret_row has ret_len bytes, to be
 * freed with PQfreemem; -1 = it failed and is over.  pg_copy_stop leaves early. */
int pg_copy_out(struct pg *pg, const char *sql, struct err *err);
int pg_copy_get(struct pg *pg, char **ret_row, size_t *ret_len, struct err *err);
void pg_copy_stop(struct pg *pg);

/* Ends what runs there, if anything does: it fails with ERR_TIMEOUT. */
void pg_cancel(struct pg *pg);
/* Cuts the connection, so that who waits for it comes back at once, also from a server that answers
 * no cancel.  From any thread, while the connection cannot be closed by another. */
void pg_break(struct pg *pg);

#endif

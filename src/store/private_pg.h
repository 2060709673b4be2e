/* store/private_pg.h: the PostgreSQL that tallyd keeps for itself when no database is configured.
 *
 * Its data lie in STATE/pg (made once, kept for ever with the major version they were made by);
 * it listens on a unix socket in a directory of mode 0700 and nowhere else, so trust is its only
 * authentication.  The role `tally` owns the database `tally` and is no superuser; `postgres` is
 * the superuser, for maintenance.
 *
 * A server that an earlier tallyd left running is taken over; one that dies is brought up again by
 * the next private_pg_up.  Must not run as root. */
#ifndef TALLY_STORE_PRIVATE_PG_H
#define TALLY_STORE_PRIVATE_PG_H

#include "base/err.h"

struct private_pg;

struct private_pg_settings {
	const char *state_dir;
	const char *socket_dir; /* exists, ours, mode 0700 */
	const char *bin_dir;    /* of initdb and postgres; NULL = looked for */
	int cancel_fd;          /* readable = give up waiting; -1 = none */
};

/* Finds the programs and makes the data directory if there is none (seconds).  ERR_CONFLICT when
 * the data belong to a major version that is not installed. */
struct private_pg *private_pg_open(const struct private_pg_settings *settings, struct err *err);
/* Brings it up: takes over the running server or starts one, waits until it answers (recovery
 * after a crash may take minutes), makes role and database where missing.  May be called again
 * whenever it is down. */
int private_pg_up(struct private_pg *pg, struct err *err);
/* Readable when the server has ended; -1 when it is not up. */
int private_pg_fd(const struct private_pg *pg);
bool private_pg_adopted(const struct private_pg *pg);
int private_pg_major(const struct private_pg *pg);
/* libpq connection string of the role `tally`. */
const char *private_pg_dsn(const struct private_pg *pg);
/* Fast shutdown, with a checkpoint; immediate past the limit (recovery does the rest at the next
 * start). */
void private_pg_stop(struct private_pg *pg, int timeout_ms);
void private_pg_free(struct private_pg *pg); /* takes NULL; does not stop the server */

/* `tally upgrade-state`: makes data for the newest installed major version (or that of bin_dir)
 * from STATE/pg with pg_upgrade; the old data stay as STATE/pg-MAJOR.  No tallyd may run.
 * ret_to == ret_from: there was nothing to do. */
int private_pg_upgrade(const struct private_pg_settings *settings, int *ret_from, int *ret_to,
		       struct err *err);

#endif

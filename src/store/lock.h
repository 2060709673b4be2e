/* store/lock.h: which of several daemons on one database is the active one.
 *
 * The active daemon holds an advisory lock on a session of its own.  Who gets it counts the epoch
 * up, and every writing transaction checks the epoch (store/write_tx.h): counting waits for those
 * that still run, and after it the daemon that lost the lock can commit nothing more.  The
 * session's keepalives let the server notice within seconds that the machine behind it is gone. */
#ifndef TALLY_STORE_LOCK_H
#define TALLY_STORE_LOCK_H

#include "base/err.h"

struct store;
struct daemon_lock;

struct daemon_lock *daemon_lock_new(struct store *store);
/* Lets go; takes NULL. */
void daemon_lock_free(struct daemon_lock *l);

/* 1: this daemon is active now, *ret_epoch is its epoch.  0: another one is; err (its text) names
 * it.  -1: err.  name and now (UTC seconds) are for people who look. */
int daemon_lock_try(struct daemon_lock *l, const char *name, int64_t now, int64_t *ret_epoch,
		    struct err *err);
/* Asks the server whether the lock is still held: 0, or -1 with err. */
int daemon_lock_check(struct daemon_lock *l, struct err *err);
void daemon_lock_drop(struct daemon_lock *l);

#endif

/* store/store.h: the way to the database: a bounded pool of readers, one writer, and how it is.
 *
 * Opening a store does not connect: connections are made when they are wanted, and made again
 * after a loss, with a growing pause between failed tries.  Safe from every thread; what is handed
 * out belongs to one thread until it is given back. */
#ifndef TALLY_STORE_STORE_H
#define TALLY_STORE_STORE_H

#include "base/err.h"

struct pg;
struct pg_settings;
struct store;

struct store_settings {
	const char *conninfo;	  /* libpq's, whole */
	int readers;		  /* connections for questions; 0 = 16 */
	int reader_wait_ms;	  /* most time to wait for one of them; 0 = 5000 */
	int statement_timeout_ms; /* of a reader's statement; 0 = 300000 */
	int connect_timeout_s;	  /* per host; 0 = 5 */
	const char *spool_dir;	  /* for temporary files; NULL = /var/tmp */
};

/* Copies the settings. */
struct store *store_open(const struct store_settings *settings, struct err *err);
/* Nothing may be handed out any more.  Takes NULL. */
void store_close(struct store *s);

/* A connection for questions.  NULL: BUSY when none comes free in time, DATABASE when there is no
 * connection to be had. */
struct pg *store_reader(struct store *s, struct err *err);
void store_reader_done(struct store *s, struct pg *pg); /* takes NULL */
/* Runs work on a reader.  When its connection is lost on the way it is run again on another: for
 * work that changes nothing. */
typedef int reader_work(struct pg *pg, void *arg, struct err *err);
int store_read(struct store *s, reader_work *work, void *arg, struct err *err);
/* The writer's.  There is one; BUSY while it is out.  It is kept while it lives. */
struct pg *store_writer(struct store *s, int lock_timeout_ms, struct err *err);
void store_writer_done(struct store *s, struct pg *pg); /* takes NULL */
/* A connection apart, without limits on statements, for migrations and partitions: pg_close it. */
struct pg *store_maintainer(struct store *s, struct err *err);
/* The same with limits of the caller's choice; conninfo counts for nothing. */
struct pg *store_session(struct store *s, const struct pg_settings *limits, struct err *err);

/* For an orderly stop: ends what readers are running; cuts the writer's connection. */
void store_cancel_readers(struct store *s);
void store_break_writer(struct store *s);

/* Where readers may put temporary files. */
const char *store_spool_dir(const struct store *s);

/* One round trip on a reader. */
int store_ping(struct store *s, struct err *err);

struct store_health {
	bool up;	    /* the last try to use it worked */
	int64_t changed_ms; /* monotonic_ms when that began */
	struct err why;	    /* !up: the failure */
	int readers, readers_open, readers_busy;
	uint64_t reader_waits, reader_timeouts; /* since the start */
	uint64_t connects, failed_connects;
};
void store_get_health(struct store *s, struct store_health *ret);

#endif

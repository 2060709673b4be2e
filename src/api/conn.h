/* api/conn.h: the connections of the door, and the watchdog that cuts the slow ones.
 *
 * libmicrohttpd's time-out is of inactivity only: one byte a second holds a connection for ever.
 * Here each connection is in a phase, and the watchdog (one thread, twice a second) holds every
 * phase to its limit: waiting for complete headers, a body that comes in, an answer that goes out.
 * It never closes a descriptor, it only shuts it down; the connection's own thread then ends. */
#ifndef TALLY_API_CONN_H
#define TALLY_API_CONN_H

#include "api/api.h"
#include "auth/identity.h"

struct conns;
struct conn;

enum conn_phase {
	CONN_WAITING, /* for a request's complete headers */
	CONN_BODY,    /* a body comes in */
	CONN_WORKING, /* the request is ours: never cut */
	CONN_SENDING, /* an answer goes out */
};

/* Why the watchdog cut, for the counters. */
enum cut_reason { CUT_IDLE, CUT_SLOW_HEADERS, CUT_SLOW_BODY, CUT_SLOW_READER, CUT_REASONS };
extern const char *const cut_reason_names[CUT_REASONS];

struct conns_stats {
	uint64_t opened, refused; /* refused: past max_connections */
	uint64_t cut[CUT_REASONS];
	size_t now;
};

struct conns *conns_new(const struct api_settings *settings, struct err *err);
void conns_free(struct conns *cs); /* every connection is closed by then; takes NULL */
void conns_get_stats(struct conns *cs, struct conns_stats *ret);
/* Shuts down every connection that is between requests (quiesce), or every one (stop). */
void conns_cut_idle(struct conns *cs);
void conns_cut_all(struct conns *cs);
/* Waits until no connection is open, or the deadline (monotonic ms). */
void conns_wait(struct conns *cs, int64_t deadline_ms);

/* A connection came; peer is NULL but on a unix socket. */
struct conn *conn_open(struct conns *cs, int fd, const struct identity *peer, const char *address);
/* Before its descriptor is closed. */
void conn_close(struct conns *cs, struct conn *c);
const struct identity *conn_peer(const struct conn *c); /* NULL over TCP */
const char *conn_address(const struct conn *c);		/* "127.0.0.1:51234", "unix" */
/* Past max_connections: to be answered 503 and closed. */
bool conn_is_surplus(const struct conn *c);

/* Moves to a phase; false when the watchdog has cut the connection meanwhile. */
bool conn_enter(struct conns *cs, struct conn *c, enum conn_phase phase);
/* More of a body came in. */
void conn_received(struct conns *cs, struct conn *c, size_t n);
/* The answer waits for us (true) or again for the reader (false), n more bytes handed over. */
void conn_starve(struct conns *cs, struct conn *c, bool starved, size_t n);
/* The answer stands but the request's body was not read: keeps the descriptor open for a moment
 * and throws away what still comes, lest the kernel resets the answer away. */
void conn_linger(struct conns *cs, struct conn *c);
/* An answer in the middle of a body, where libmicrohttpd takes none; the connection is then done.
 */
void conn_refuse(struct conns *cs, struct conn *c, const struct err *err);

#endif

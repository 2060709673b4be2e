/* api/api.h: the HTTP door.  One listener thread per address, a thread per connection, and one
 * watchdog that cuts what is too slow.  Decodes, asks ops, encodes: nothing is decided here. */
#ifndef TALLY_API_API_H
#define TALLY_API_API_H

#include "auth/munge.h"
#include "base/err.h"

struct api;
struct ops;

struct api_settings {
	/* "127.0.0.1:6820", "[::1]:6820", "0.0.0.0:0" (0 = any free port) ... NULL at the end.
	 * NULL or empty: no TCP. */
	const char *const *listen;
	const char *unix_path; /* NULL = no unix socket; a stale one is replaced */
	unsigned unix_mode;    /* of the socket file, 0666: who asks is known by SO_PEERCRED */
	struct munge_settings munge;

	size_t max_connections;	   /* past it: 503, after the longest idle one was let go */
	size_t max_body_bytes;	   /* of a request, as sent */
	size_t max_inflated_bytes; /* of a gzip body, inflated */
	size_t max_inflate_ratio;  /* inflated per sent byte */
	size_t max_bodies_bytes;   /* of all requests at once; past it: 503 */

	int idle_s;	 /* from one request's end to the next one's complete headers */
	int first_s;	 /* from connecting to the first request's complete headers */
	int grace_s;	 /* a body or a reader may be slower than min_rate for so long */
	size_t min_rate; /* bytes a second, of bodies coming in and answers going out */
};

/* The defaults, for config.c's table to start from: loopback:6820 and no unix socket. */
void api_settings_init(struct api_settings *settings);

/* Binds everything or nothing.  settings' strings must live as long as the door. */
struct api *api_start(struct ops *ops, const struct api_settings *settings, struct err *err);

/* What is served, for the ready line: "http://127.0.0.1:6820 unix:/run/tally/tally.sock". */
const char *api_addresses(const struct api *api);

/* Takes no new connections, and no new request on old ones; what runs goes on. */
void api_quiesce(struct api *api);

/* Waits for what runs until the deadline (monotonic ms), cuts what is left, frees.  Takes NULL. */
void api_stop(struct api *api, int64_t deadline_ms);

#endif

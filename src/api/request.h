/* api/request.h: one request from its first line to its last byte; inside this room only.
 *
 * A handler reads who, args, values and body, and fills reply.  Everything lives in the request's
 * arena, freed when libmicrohttpd says that the request is over. */
#ifndef TALLY_API_REQUEST_H
#define TALLY_API_REQUEST_H

#include <stdatomic.h>

#include "api/conn.h"
#include "api/metrics.h"
#include "api/route.h"
#include "api/stream.h"
#include "base/arena.h"
#include "base/buf.h"

struct api {
	struct ops *ops;
	struct api_settings settings;
	struct conns *conns;
	struct metrics *metrics;
	struct listener *listeners;
	size_t n_listeners;
	char *addresses;
	_Atomic uint64_t next_id;
	_Atomic size_t bodies_bytes; /* of all requests that are being read or worked on */
	_Atomic bool quiesced;
	_Atomic int64_t refusals_since_ms; /* of credentials, in the log's present window */
	_Atomic uint64_t refusals;
};

struct reply {
	unsigned status;	  /* 0 = 200 */
	const char *content_type; /* NULL = application/json */
	struct buf body;	  /* when there is no stream */
	const char *etag;	  /* arena; NULL = none */
	int retry_after_s;	  /* 0 = none */
	/* A streamed answer: fill runs in a thread of its own with fill_arg (arena).  When it turns
	 * out short, tag gives the answer's etag once fill is done; NULL = none. */
	stream_fill *fill;
	void *fill_arg;
	const char *(*tag)(void *fill_arg, struct arena *arena);
};

struct request {
	struct api *api;
	struct conn *conn;
	struct arena *arena;
	char id[24];
	int64_t began_us;
	int64_t now; /* seconds since 1970, the request's moment */

	const char *method;
	const char *target; /* as sent, with its query */
	const char *query;  /* after the ?, or NULL */
	const char *accept;
	const char *if_none_match;
	const struct route *route;
	const char *values[ROUTE_VARIABLES];
	void *args;
	struct identity who;
	struct buf body; /* inflated */
	bool lines;	 /* its sender says that it is NDJSON */

	struct reply reply;
};

/* A reply's body from a format; convenience for the small ones. */
void reply_json(struct request *req, const char *fmt, ...) PRINTF_LIKE(2, 3);

#endif

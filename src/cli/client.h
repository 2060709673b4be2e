/* cli/client.h: the HTTP API of a tallyd, as the subcommands use it.
 *
 * Finds the daemon, signs each request with munge when it goes over TCP, streams answers, and
 * turns problem+json into a struct err.  An answer that breaks off is an error, however much of
 * it has been handed over before. */
#ifndef TALLY_CLI_CLIENT_H
#define TALLY_CLI_CLIENT_H

#include "base/buf.h"
#include "base/err.h"

struct client;

struct client_settings {
	const char *url;	  /* http://HOST:PORT or unix:PATH; NULL = TALLY_URL, else the
				     usual places */
	const char *munge_socket; /* NULL = TALLY_MUNGE_SOCKET, else munge's own default */
};

/* The usual places, in order: /run/tally/tally.sock, the socket that a state directory ./var
 * names (`make run`), 127.0.0.1:6820. */
struct client *client_new(const struct client_settings *settings, struct err *err);
void client_free(struct client *c); /* takes NULL */
/* Where the daemon was found, for messages. */
const char *client_where(const struct client *c);

struct request {
	const char *method;	  /* "GET" */
	const char *target;	  /* path and query, already escaped */
	const char *accept;	  /* NULL = any */
	const char *content_type; /* NULL when there is no body */
	const void *body;
	size_t body_len;
};

struct reply {
	int status;	   /* HTTP; 0 = no answer at all */
	int retry_after_s; /* -1 = none said */
};

/* Gets a piece of a good answer.  Returns 0, or -1 with err to stop. */
typedef int client_sink(const char *p, size_t n, void *arg, struct err *err);

/* The bytes of the answer as they come. */
int client_stream(struct client *c, const struct request *rq, client_sink *sink, void *arg,
		  struct reply *ret_reply, struct err *err);
/* Line by line, without the newline (p[n] is NUL); an answer that does not end in a newline is
 * cut and fails. */
int client_lines(struct client *c, const struct request *rq, client_sink *sink, void *arg,
		 struct reply *ret_reply, struct err *err);
/* All of it, into ret. */
int client_whole(struct client *c, const struct request *rq, struct buf *ret,
		 struct reply *ret_reply, struct err *err);
/* ret_reply may be NULL in all three. */

/* Adds "/" and the segment, escaped, to a target. */
void target_add_path(struct buf *target, const char *segment);
/* Adds "&name=" (or "?name=" as the first) and the value, escaped. */
void target_add(struct buf *target, const char *name, const char *value);

#endif

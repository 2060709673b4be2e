/* api/flow.h: rows on their way into a stream: gathered into pieces, with a tag of what they hold.
 *
 * A handler that streams fills one in the request's arena and gives it to the reply with
 * flow_reply; its body runs in the stream's thread and adds to flow.out, calling flow_push now and
 * then. */
#ifndef TALLY_API_FLOW_H
#define TALLY_API_FLOW_H

#include <openssl/evp.h>

#include "api/request.h"

struct flow;

/* Writes the whole answer; arena is this thread's own. */
typedef int flow_body(struct flow *flow, struct arena *arena, struct err *err);

struct flow {
	struct request *req;
	flow_body *body;
	void *arg;	     /* the body's */
	const char *variant; /* goes into the tag: the format */
	struct buf out;
	/* The rest is flow.c's. */
	struct stream *stream;
	struct buf print;
	EVP_MD_CTX *tag;
	unsigned char digest[EVP_MAX_MD_SIZE];
	size_t made;
};

struct flow *flow_reply(struct request *req, const char *content_type, const char *variant,
			flow_body *body, void *arg);
/* Hands over what has gathered, if it is a piece.  -1: GONE. */
int flow_push(struct flow *flow, struct err *err);
/* The tag changes with what is added here, and with nothing else: not with the clock. */
void flow_print(struct flow *flow, const char *p, size_t n);
void flow_row(struct flow *flow, const struct job *j, const struct step *steps, size_t n);

#endif

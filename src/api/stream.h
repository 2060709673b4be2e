/* api/stream.h: an answer that is made while it is sent.
 *
 * A producer thread (running the query) writes into a bounded ring; the connection's thread reads
 * from it.  A reader that is slow makes the producer wait, one that is gone makes its next write
 * fail, and the memory stays the same however long the answer is.  An answer that fits into the
 * ring is seen whole before its first byte leaves, so that it can have a length, a tag, and a
 * proper error. */
#ifndef TALLY_API_STREAM_H
#define TALLY_API_STREAM_H

#include <sys/types.h>

#include "base/err.h"

#define STREAM_RING ((size_t)256 << 10)

struct stream;

/* Writes the answer; runs in a thread of its own.  Returns 0, or -1 with err. */
typedef int stream_fill(struct stream *s, void *arg, struct err *err);

/* arg must live until stream_free. */
struct stream *stream_start(stream_fill *fill, void *arg, struct err *err);
/* Tells the producer to give up, waits for it, frees; takes NULL. */
void stream_free(struct stream *s);

/* The producer's side.  -1: GONE, nobody reads any more. */
int stream_write(struct stream *s, const void *p, size_t n, struct err *err);

enum stream_state {
	STREAM_WHOLE,  /* all of it is here: stream_peek */
	STREAM_LONGER, /* the ring is full and more is to come */
	STREAM_FAILED, /* before anything was sent: err says why */
};
/* Waits for the first of these. */
enum stream_state stream_settle(struct stream *s, struct err *ret_err);
/* STREAM_WHOLE: the bytes. */
const char *stream_peek(struct stream *s, size_t *ret_n);
/* Would stream_read return at once? */
bool stream_ready(struct stream *s);
/* Up to n bytes; 0 = the end, -1 = it failed half-way (err says why). */
ssize_t stream_read(struct stream *s, void *p, size_t n, struct err *ret_err);

#endif

/* api/listen.h: listening sockets, bound by us so that the errors are ours. */
#ifndef TALLY_API_LISTEN_H
#define TALLY_API_LISTEN_H

#include "base/buf.h"
#include "base/err.h"

/* "127.0.0.1:6820", "[::1]:6820", "localhost:0".  Adds " http://ADDRESS:PORT" with the real port to
 * `names`.  Returns the descriptor or -1. */
int listen_tcp(const char *address, struct buf *names, struct err *err);

/* A socket file with this mode.  One that nobody listens at is replaced; one that answers is
 * another daemon's: an error.  Adds " unix:PATH". */
int listen_unix(const char *path, unsigned mode, struct buf *names, struct err *err);

#endif

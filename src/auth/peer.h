/* auth/peer.h: who is at the other end of a unix socket, as the kernel says. */
#ifndef TALLY_AUTH_PEER_H
#define TALLY_AUTH_PEER_H

#include "auth/identity.h"

/* Returns 0 with uid, gid and proof set, or -1: UNAUTH. */
int peer_identity(int fd, struct identity *ret_who, struct err *err);

#endif

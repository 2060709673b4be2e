/* places.h: where this tallyd lives on disk, and as which user.
 *
 * The state directory is kept for ever.  The runtime directory holds sockets and goes away with an
 * orderly stop: a short path (a socket's has room for 107 bytes), recorded in the state directory
 * as the symbolic link `run`, so that the next tallyd finds what a killed one left running there.
 * Started as root, everything is made for the user `tally` and root is given up here. */
#ifndef TALLY_PLACES_H
#define TALLY_PLACES_H

#include <sys/types.h>

#include "base/err.h"

#define DEFAULT_RUN_DIR "/run/tally"

struct places {
	char state_dir[PATH_MAX]; /* absolute */
	char run_dir[108];	  /* mode 0755: HTTP's and munge's sockets */
	char pg_dir[108];	  /* run_dir/pg, mode 0700: PostgreSQL's */
	bool run_dir_is_ours;	  /* to be removed at the end */
	int lock_fd;
};

/* Makes the directories, becomes `user` when root (NULL user name = do not), takes the lock of the
 * state directory.  Before any thread is started. */
int places_take(const char *state_dir, const char *user, struct places *ret, struct err *err);
/* The file STATE/socket names the HTTP socket for clients that know the state directory only. */
int places_announce(const struct places *p, const char *socket_path, struct err *err);
/* Takes the runtime directory away (what else is in it stays) and lets the lock go. */
void places_leave(struct places *p);

#endif

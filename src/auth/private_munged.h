/* auth/private_munged.h: the munged that tallyd keeps for itself when no munge socket is
 * configured.
 *
 * Key, process number, log and seed lie in STATE/munge (mode 0700); the socket in a directory
 * that every user can reach, since munge is how users prove who they are.  Munged judges the
 * permissions of every directory above its files; those it would refuse are named before it is
 * started.  One that an earlier tallyd left running is taken over. */
#ifndef TALLY_AUTH_PRIVATE_MUNGED_H
#define TALLY_AUTH_PRIVATE_MUNGED_H

#include "base/err.h"

struct private_munged;

struct private_munged_settings {
	const char *state_dir;
	const char *socket_dir;
	int cancel_fd; /* readable = give up waiting; -1 = none */
};

/* Finds the program, judges the paths, makes the key if there is none. */
struct private_munged *private_munged_open(const struct private_munged_settings *settings,
					   struct err *err);
/* Takes over the running one or starts it, and waits until its socket answers.  May be called
 * again whenever it is down. */
int private_munged_up(struct private_munged *m, struct err *err);
int private_munged_fd(const struct private_munged *m); /* readable when it has ended; -1: down */
bool private_munged_adopted(const struct private_munged *m);
const char *private_munged_socket(const struct private_munged *m);
const char *private_munged_key(const struct private_munged *m); /* path of the key file */
void private_munged_stop(struct private_munged *m, int timeout_ms);
void private_munged_free(struct private_munged *m); /* takes NULL; does not stop it */

/* munge's rules for a directory and all above it: owned by root or this user, no one else may
 * write there (a sticky directory such as /tmp excepted), and, for a socket, every user may pass.
 * The error names the first that breaks one, and how to mend it. */
enum munge_dir_use { MUNGE_DIR_PRIVATE, MUNGE_DIR_SOCKET };
int munge_dir_check(const char *dir, enum munge_dir_use use, struct err *err);

#endif

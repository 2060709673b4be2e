/* base/proc.h: other programs, and the users they run as.
 *
 * A child is watched through a pidfd, so that one thread can wait for several with a limit, and a
 * process that an earlier run left behind (not our child any more) is watched the same way.
 * Children start in a session of their own: a Ctrl-C at the terminal reaches tallyd only, which
 * stops them in its own order. */
#ifndef TALLY_BASE_PROC_H
#define TALLY_BASE_PROC_H

#include <sys/types.h>

#include "base/buf.h"
#include "base/err.h"

struct proc {
	pid_t pid; /* 0 = none */
	int fd;    /* pidfd */
	bool child; /* ours to reap */
};

#define PROC_NONE { 0, -1, false }

struct proc_spawn {
	const char *const *argv; /* argv[0] is a path; NULL ends it */
	const char *cwd;         /* NULL = here */
	const char *log_file;    /* standard output and error are added to it; NULL = inherited */
	bool quiet;              /* proc_output: standard error is not collected but inherited */
};

/* Starts it with an empty signal mask, standard input from /dev/null. */
int proc_start(const struct proc_spawn *spawn, struct proc *ret, struct err *err);
/* Runs it to its end, at most timeout_ms (then it is killed).  Anything but exit status 0 is an
 * error that quotes the end of what it printed. */
int proc_run(const struct proc_spawn *spawn, int timeout_ms, struct err *err);
/* The same, and what it printed (standard output and error) goes to out. */
int proc_output(const struct proc_spawn *spawn, int timeout_ms, struct buf *out, struct err *err);
/* Takes hold of a running process that is not our child.  ERR_NOT_FOUND when there is none. */
int proc_adopt(pid_t pid, struct proc *ret, struct err *err);
bool proc_alive(const struct proc *p);
/* Waits for its end: 1 ended (and reaped; p is PROC_NONE again; ret_status, which may be NULL, is
 * as waitpid gives it, -1 when unknown), 0 still there after timeout_ms (-1 = no limit). */
int proc_wait(struct proc *p, int timeout_ms, int *ret_status);
void proc_signal(const struct proc *p, int signo);
/* Signal, wait, and SIGKILL past the limit. */
void proc_stop(struct proc *p, int signo, int timeout_ms);
/* Forgets it without ending it. */
void proc_release(struct proc *p);

/* Is that process a program of that name whose current directory is dir?  What tells a private
 * server that still runs from another process that got its number. */
bool proc_works_in(pid_t pid, const char *program, const char *dir);
/* Sends a signal (0 = none) to each such process of this user; gives how many there are. */
int proc_signal_in(const char *program, const char *dir, int signo);

/* Looks a program up in PATH and in the usual directories of system programs.  Returns 0 with the
 * whole path in ret. */
int proc_find_program(const char *name, char *ret, size_t size, struct err *err);

struct proc_user {
	uid_t uid;
	gid_t gid;
	char name[64];
};

int proc_user_find(const char *name, struct proc_user *ret, struct err *err);
/* Name of a uid, or its number as text when the system knows none. */
void proc_user_name(uid_t uid, char *ret, size_t size);
/* From root to that user, groups too, for good: proves that the way back is closed. */
int proc_become(const struct proc_user *user, struct err *err);

#endif

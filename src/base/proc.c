#include "base/proc.h"

#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"

extern char **environ;

static int open_pidfd(pid_t pid)
{
	return (int)syscall(SYS_pidfd_open, pid, 0);
}

/* Everything that posix_spawn is to do between fork and exec. */
static int spawn_plan(const struct proc_spawn *spawn, int out_fd, posix_spawn_file_actions_t *acts,
		      posix_spawnattr_t *attr)
{
	sigset_t none, all;
	int rc = 0;

	sigemptyset(&none);
	sigfillset(&all);
	rc |= posix_spawnattr_setflags(attr, POSIX_SPAWN_SETSID | POSIX_SPAWN_SETSIGMASK |
						     POSIX_SPAWN_SETSIGDEF);
	rc |= posix_spawnattr_setsigmask(attr, &none);
	rc |= posix_spawnattr_setsigdefault(attr, &all);
	if (out_fd >= 0) {
		rc |= posix_spawn_file_actions_adddup2(acts, out_fd, 1);
		if (!spawn->quiet)
			rc |= posix_spawn_file_actions_adddup2(acts, out_fd, 2);
	} else if (spawn->log_file != NULL) {
		rc |= posix_spawn_file_actions_addopen(acts, 1, spawn->log_file,
						       O_WRONLY | O_CREAT | O_APPEND, 0600);
		rc |= posix_spawn_file_actions_adddup2(acts, 1, 2);
	} else {
		/* What tallyd prints on its standard output is its own (the ready line). */
		rc |= posix_spawn_file_actions_adddup2(acts, 2, 1);
	}
	rc |= posix_spawn_file_actions_addopen(acts, 0, "/dev/null", O_RDONLY, 0);
	if (spawn->cwd != NULL)
		rc |= posix_spawn_file_actions_addchdir_np(acts, spawn->cwd);
	rc |= posix_spawn_file_actions_addclosefrom_np(acts, 3);
	return rc;
}

/* posix_spawn's own argument is not const, but it changes nothing. */
static char *const *argv_of(const struct proc_spawn *spawn)
{
	union {
		const char *const *in;
		char *const *out;
	} u = { .in = spawn->argv };

	return u.out;
}

static int start(const struct proc_spawn *spawn, int out_fd, struct proc *ret, struct err *err)
{
	posix_spawn_file_actions_t acts;
	posix_spawnattr_t attr;
	pid_t pid = 0;
	int rc;

	posix_spawn_file_actions_init(&acts);
	posix_spawnattr_init(&attr);
	rc = spawn_plan(spawn, out_fd, &acts, &attr);
	if (rc == 0)
		rc = posix_spawn(&pid, spawn->argv[0], &acts, &attr, argv_of(spawn), environ);
	posix_spawnattr_destroy(&attr);
	posix_spawn_file_actions_destroy(&acts);
	if (rc != 0)
		return err_set(err, ERR_SYSTEM, spawn->argv[0], "cannot be started: %s",
			       strerror(rc));
	*ret = (struct proc){ pid, open_pidfd(pid), true };
	if (ret->fd < 0) {
		int code = errno;

		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		*ret = (struct proc)PROC_NONE;
		return err_set(err, ERR_SYSTEM, spawn->argv[0],
			       "cannot be watched (pidfd_open): %s; Linux 5.3 or newer is needed",
			       strerror(code));
	}
	return 0;
}

int proc_start(const struct proc_spawn *spawn, struct proc *ret, struct err *err)
{
	return start(spawn, -1, ret, err);
}

/* The last non-empty part of a program's output, for an error. */
static const char *tail_of(struct buf *out, size_t most)
{
	while (out->len > 0 && strchr("\n\r ", out->data[out->len - 1]) != NULL)
		out->data[--out->len] = '\0';
	return out->len > most ? out->data + out->len - most : buf_str(out);
}

/* Reads what the program prints until it closes its output; false when the time is over. */
static bool collect(int fd, int64_t deadline_ms, struct buf *out)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };
	char chunk[4096];

	for (;;) {
		int64_t left = deadline_ms - monotonic_ms();
		ssize_t n;

		if (left <= 0 || poll(&p, 1, (int)left) == 0)
			return false;
		n = read(fd, chunk, sizeof(chunk));
		if (n == 0)
			return true;
		if (n > 0)
			buf_add(out, chunk, (size_t)n);
		else if (errno != EINTR)
			return true;
	}
}

int proc_run(const struct proc_spawn *spawn, int timeout_ms, struct err *err)
{
	struct buf out = BUF_INIT;
	int rc = proc_output(spawn, timeout_ms, &out, err);

	buf_fini(&out);
	return rc;
}

int proc_output(const struct proc_spawn *spawn, int timeout_ms, struct buf *out, struct err *err)
{
	struct proc p = PROC_NONE;
	int64_t deadline = monotonic_ms() + timeout_ms;
	int pipe_fds[2], status = 0, rc = -1;

	if (pipe2(pipe_fds, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYSTEM, "pipe", "%s", strerror(errno));
	rc = start(spawn, pipe_fds[1], &p, err);
	close(pipe_fds[1]);
	if (rc == 0) {
		bool closed = collect(pipe_fds[0], deadline, out);
		int64_t left = deadline - monotonic_ms();

		if (!closed || proc_wait(&p, left > 0 ? (int)left : 0, &status) == 0) {
			proc_stop(&p, SIGKILL, 1000);
			rc = err_set(err, ERR_TIMEOUT, spawn->argv[0],
				     "did not end within %d s: %s", timeout_ms / 1000,
				     tail_of(out, 300));
		} else if (status != 0) {
			rc = err_set(err, ERR_SYSTEM, spawn->argv[0], "failed: %s",
				     tail_of(out, 400));
		}
	}
	close(pipe_fds[0]);
	return rc;
}

int proc_adopt(pid_t pid, struct proc *ret, struct err *err)
{
	int fd = pid > 0 ? open_pidfd(pid) : -1;

	if (fd < 0)
		return err_set(err, ERR_NOT_FOUND, NULL, "no process %ld", (long)pid);
	*ret = (struct proc){ pid, fd, false };
	return 0;
}

bool proc_alive(const struct proc *p)
{
	struct pollfd f = { .fd = p->fd, .events = POLLIN };

	return p->pid > 0 && poll(&f, 1, 0) == 0;
}

int proc_wait(struct proc *p, int timeout_ms, int *ret_status)
{
	struct pollfd f = { .fd = p->fd, .events = POLLIN };
	int64_t deadline = monotonic_ms() + timeout_ms;
	int status = -1, rc;

	if (p->pid > 0) {
		do {
			int64_t left = deadline - monotonic_ms();

			rc = poll(&f, 1, timeout_ms < 0 ? -1 : left > 0 ? (int)left : 0);
		} while (rc < 0 && errno == EINTR);
		if (rc == 0)
			return 0;
		if (p->child)
			waitpid(p->pid, &status, 0);
	}
	proc_release(p);
	if (ret_status != NULL)
		*ret_status = status;
	return 1;
}

void proc_signal(const struct proc *p, int signo)
{
	if (p->pid > 0)
		syscall(SYS_pidfd_send_signal, p->fd, signo, NULL, 0);
}

void proc_stop(struct proc *p, int signo, int timeout_ms)
{
	if (p->pid == 0)
		return;
	proc_signal(p, signo);
	if (proc_wait(p, timeout_ms, NULL) == 0) {
		proc_signal(p, SIGKILL);
		proc_wait(p, 2000, NULL);
	}
}

void proc_release(struct proc *p)
{
	if (p->pid > 0)
		close(p->fd);
	*p = (struct proc)PROC_NONE;
}

bool proc_works_in(pid_t pid, const char *program, const char *dir)
{
	struct stat a, b;
	char path[64], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%ld/comm", (long)pid);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	if (fgets(name, sizeof(name), f) != NULL)
		name[strcspn(name, "\n")] = '\0';
	fclose(f);
	snprintf(path, sizeof(path), "/proc/%ld/cwd", (long)pid);
	return strcmp(name, program) == 0 && stat(path, &a) == 0 && stat(dir, &b) == 0 &&
	       a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

int proc_signal_in(const char *program, const char *dir, int signo)
{
	DIR *d = opendir("/proc");
	int found = 0;

	for (struct dirent *e = NULL; d != NULL && (e = readdir(d)) != NULL;) {
		char *end;
		long pid = strtol(e->d_name, &end, 10);

		if (*end == '\0' && pid > 0 && proc_works_in((pid_t)pid, program, dir)) {
			found++;
			kill((pid_t)pid, signo);
		}
	}
	if (d != NULL)
		closedir(d);
	return found;
}

int proc_find_program(const char *name, char *ret, size_t size, struct err *err)
{
	const char *path = getenv("PATH");
	struct buf dirs = BUF_INIT;
	int rc = -1;

	buf_printf(&dirs, "%s:/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin:/sbin:/bin",
		   path != NULL ? path : "");
	for (char *dir = dirs.data; rc < 0 && dir != NULL;) {
		char *colon = strchr(dir, ':');

		if (colon != NULL)
			*colon++ = '\0';
		if (dir[0] == '/' && snprintf(ret, size, "%s/%s", dir, name) < (int)size &&
		    access(ret, X_OK) == 0)
			rc = 0;
		dir = colon;
	}
	buf_fini(&dirs);
	if (rc < 0)
		return err_set(err, ERR_NOT_FOUND, name, "this program is not installed");
	return 0;
}

int proc_user_find(const char *name, struct proc_user *ret, struct err *err)
{
	struct passwd pw, *found = NULL;
	char room[4096];

	if (getpwnam_r(name, &pw, room, sizeof(room), &found) != 0 || found == NULL)
		return err_set(err, ERR_NOT_FOUND, name,
			       "there is no such user; make it with: useradd --system "
			       "--no-create-home --shell /usr/sbin/nologin %s",
			       name);
	*ret = (struct proc_user){ .uid = pw.pw_uid, .gid = pw.pw_gid };
	snprintf(ret->name, sizeof(ret->name), "%s", name);
	return 0;
}

void proc_user_name(uid_t uid, char *ret, size_t size)
{
	struct passwd pw, *found = NULL;
	char room[4096];

	if (getpwuid_r(uid, &pw, room, sizeof(room), &found) == 0 && found != NULL)
		snprintf(ret, size, "%s", pw.pw_name);
	else
		snprintf(ret, size, "%lu", (unsigned long)uid);
}

int proc_become(const struct proc_user *user, struct err *err)
{
	if (user->uid == 0)
		return err_set(err, ERR_INVALID, user->name, "is root: choose an ordinary user");
	if (initgroups(user->name, user->gid) < 0 ||
	    setresgid(user->gid, user->gid, user->gid) < 0 ||
	    setresuid(user->uid, user->uid, user->uid) < 0)
		return err_set(err, ERR_SYSTEM, user->name, "cannot become this user: %s",
			       strerror(errno));
	if (setuid(0) == 0 || setgid(0) == 0)
		return err_set(err, ERR_INTERNAL, user->name, "root was not given up");
	/* Core dumps, ptrace and /proc as for any process of that user. */
	prctl(PR_SET_DUMPABLE, 1);
	return 0;
}

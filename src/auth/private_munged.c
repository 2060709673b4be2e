#include "auth/private_munged.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/proc.h"
#include "base/state.h"

enum {
	KEY_BYTES = 128,
	ANSWER_MS = 15000,
	LOG_MOST_BYTES = 4 << 20,
};

struct private_munged {
	char program[PATH_MAX];
	char *dir, *key, *pid_file, *log_file, *seed, *socket;
	int cancel_fd;
	bool adopted;
	struct proc daemon;
	struct arena *arena;
};

/* ---- paths ------------------------------------------------------------------------------ */

static int check_one(const char *dir, enum munge_dir_use use, struct err *err)
{
	struct stat st;

	if (stat(dir, &st) < 0)
		return err_set(err, ERR_SYSTEM, dir, "%s", strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return err_set(err, ERR_INVALID, dir, "is not a directory");
	if (st.st_uid != 0 && st.st_uid != geteuid())
		return err_set(
			err, ERR_INVALID, dir,
			"munged accepts no file below a directory of uid %lu; it must belong "
			"to root or to the user that runs munged",
			(unsigned long)st.st_uid);
	if ((st.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (st.st_mode & S_ISVTX) == 0)
		return err_set(err, ERR_INVALID, dir,
			       "munged accepts no file below a directory that others may write to; "
			       "run: chmod go-w %s",
			       dir);
	if (use == MUNGE_DIR_SOCKET &&
	    (st.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH)) != (S_IXUSR | S_IXGRP | S_IXOTH))
		return err_set(err, ERR_INVALID, dir,
			       "munged wants every user to be able to reach its socket; run: "
			       "chmod a+x %s",
			       dir);
	return 0;
}

int munge_dir_check(const char *dir, enum munge_dir_use use, struct err *err)
{
	char path[PATH_MAX];

	if (realpath(dir, path) == NULL)
		return err_set(err, ERR_SYSTEM, dir, "%s", strerror(errno));
	for (;;) {
		char *slash = strrchr(path, '/');

		if (check_one(path[0] != '\0' ? path : "/", use, err) < 0)
			return -1;
		if (slash == NULL || strcmp(path, "/") == 0)
			return 0;
		/* "/a" is followed by "/". */
		slash[slash == path ? 1 : 0] = '\0';
	}
}

static int check_key(const char *key, struct err *err)
{
	struct stat st;

	if (stat(key, &st) < 0)
		return err_set(err, ERR_SYSTEM, key, "%s", strerror(errno));
	if (st.st_uid != geteuid())
		return err_set(err, ERR_INVALID, key,
			       "the key belongs to uid %lu and munged runs as uid %lu",
			       (unsigned long)st.st_uid, (unsigned long)geteuid());
	if ((st.st_mode & (S_IRWXG | S_IRWXO)) != 0)
		return err_set(err, ERR_INVALID, key,
			       "munged accepts no key that others may read; run: chmod 0400 %s",
			       key);
	return 0;
}

/* Written aside and renamed: a half key is never used. */
static int make_key(const struct private_munged *m, struct err *err)
{
	unsigned char bytes[KEY_BYTES];
	const char *fresh = arena_printf(m->arena, "%s.new", m->key);
	int fd;

	if (access(m->key, F_OK) == 0)
		return 0;
	if (getrandom(bytes, sizeof(bytes), 0) != (ssize_t)sizeof(bytes))
		return err_set(err, ERR_SYSTEM, m->key, "no random bytes: %s", strerror(errno));
	unlink(fresh);
	fd = open(fresh, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0400);
	if (fd < 0)
		return err_set(err, ERR_SYSTEM, fresh, "%s", strerror(errno));
	bool written = write(fd, bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes) && fsync(fd) == 0;
	close(fd);
	explicit_bzero(bytes, sizeof(bytes));
	if (!written || rename(fresh, m->key) < 0)
		return err_set(err, ERR_SYSTEM, m->key, "%s", strerror(errno));
	return 0;
}

static int fill_paths(struct private_munged *m, const struct private_munged_settings *s,
		      struct err *err)
{
	struct sockaddr_un un;
	struct arena *a = m->arena;

	m->dir = arena_printf(a, "%s/" STATE_MUNGE, s->state_dir);
	m->key = arena_printf(a, "%s/munge.key", m->dir);
	m->pid_file = arena_printf(a, "%s/munged.pid", m->dir);
	m->log_file = arena_printf(a, "%s/munged.log", m->dir);
	m->seed = arena_printf(a, "%s/munged.seed", m->dir);
	m->socket = arena_printf(a, "%s/munge.socket", s->socket_dir);
	m->cancel_fd = s->cancel_fd;
	if (strlen(m->socket) >= sizeof(un.sun_path))
		return err_set(err, ERR_INVALID, m->socket, "too long for a socket");
	if (mkdir(m->dir, 0700) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYSTEM, m->dir, "%s", strerror(errno));
	return 0;
}

struct private_munged *private_munged_open(const struct private_munged_settings *settings,
					   struct err *err)
{
	struct arena *a = arena_new();
	struct private_munged *m = ARENA_NEW(a, struct private_munged);

	m->arena = a;
	m->daemon = (struct proc)PROC_NONE;
	if (proc_find_program("munged", m->program, sizeof(m->program), err) < 0) {
		err_set(err, ERR_NOT_FOUND, "munged",
			"is not installed; install the package munge, or name a running munged's "
			"socket with AuthInfo=socket=PATH");
		goto fail;
	}
	if (fill_paths(m, settings, err) < 0 ||
	    munge_dir_check(m->dir, MUNGE_DIR_PRIVATE, err) < 0 ||
	    munge_dir_check(settings->socket_dir, MUNGE_DIR_SOCKET, err) < 0 ||
	    make_key(m, err) < 0 || check_key(m->key, err) < 0)
		goto fail;
	return m;
fail:
	private_munged_free(m);
	return NULL;
}

void private_munged_free(struct private_munged *m)
{
	if (m == NULL)
		return;
	proc_release(&m->daemon);
	arena_free(m->arena);
}

int private_munged_fd(const struct private_munged *m)
{
	return m->daemon.pid > 0 ? m->daemon.fd : -1;
}

bool private_munged_adopted(const struct private_munged *m)
{
	return m->adopted;
}

const char *private_munged_socket(const struct private_munged *m)
{
	return m->socket;
}

const char *private_munged_key(const struct private_munged *m)
{
	return m->key;
}

/* ---- up and down ------------------------------------------------------------------------ */

static bool answers(const struct private_munged *m)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	bool ok;

	snprintf(un.sun_path, sizeof(un.sun_path), "%s", m->socket);
	ok = fd >= 0 && connect(fd, (struct sockaddr *)&un, sizeof(un)) == 0;
	if (fd >= 0)
		close(fd);
	return ok;
}

/* One that runs in our directory is ours; one whose socket is gone is no use and is ended. */
static bool adopt(struct private_munged *m)
{
	char line[32] = "";
	int64_t pid = 0;
	FILE *f = fopen(m->pid_file, "re");

	if (f == NULL)
		return false;
	if (fgets(line, sizeof(line), f) == NULL || num_digits(line, &pid) == NULL || pid > INT_MAX)
		pid = 0;
	fclose(f);
	if (pid <= 0 || !proc_works_in((pid_t)pid, "munged", m->dir) ||
	    proc_adopt((pid_t)pid, &m->daemon, NULL) < 0)
		return false;
	m->adopted = answers(m);
	if (!m->adopted)
		proc_stop(&m->daemon, SIGTERM, 3000);
	return m->adopted;
}

static int launch(struct private_munged *m, struct err *err)
{
	struct arena *a = arena_new();
	const char *const argv[] = {
		m->program,
		"--foreground",
		"--num-threads=2",
		arena_printf(a, "--key-file=%s", m->key),
		arena_printf(a, "--socket=%s", m->socket),
		arena_printf(a, "--pid-file=%s", m->pid_file),
		arena_printf(a, "--log-file=%s", m->log_file),
		arena_printf(a, "--seed-file=%s", m->seed),
		NULL,
	};
	struct proc_spawn spawn = { .argv = argv, .cwd = m->dir, .log_file = m->log_file };
	struct stat st;
	int rc;

	if (stat(m->log_file, &st) == 0 && st.st_size > LOG_MOST_BYTES)
		unlink(m->log_file);
	/* Both are left behind by a kill -9, and munged would stumble over them. */
	unlink(m->socket);
	unlink(arena_printf(a, "%s.lock", m->socket));
	m->adopted = false;
	rc = proc_start(&spawn, &m->daemon, err);
	arena_free(a);
	return rc;
}

/* The last line of munged's log. */
static void last_line(const struct private_munged *m, char *ret, size_t size)
{
	FILE *f = fopen(m->log_file, "re");
	char line[512];

	ret[0] = '\0';
	while (f != NULL && fgets(line, sizeof(line), f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] != '\0')
			snprintf(ret, size, "%.*s", (int)size - 1, line);
	}
	if (f != NULL)
		fclose(f);
}

static int wait_for_answer(struct private_munged *m, struct err *err)
{
	struct pollfd cancel = { .fd = m->cancel_fd, .events = POLLIN };
	int64_t deadline = monotonic_ms() + ANSWER_MS;
	char line[300];

	while (!answers(m)) {
		bool ended = !proc_alive(&m->daemon);

		if (ended || monotonic_ms() > deadline) {
			last_line(m, line, sizeof(line));
			proc_stop(&m->daemon, SIGTERM, 1000);
			return err_set(err, ERR_SYSTEM, "munged", "%s: %s",
				       ended ? "ended while starting" : "does not answer", line);
		}
		if (poll(&cancel, 1, 20) > 0)
			return err_set(err, ERR_GONE, "munged", "start given up");
	}
	return 0;
}

int private_munged_up(struct private_munged *m, struct err *err)
{
	if (m->daemon.pid > 0 && !proc_alive(&m->daemon))
		proc_wait(&m->daemon, 0, NULL);
	if (m->daemon.pid > 0 || adopt(m))
		return wait_for_answer(m, err);
	if (launch(m, err) < 0)
		return -1;
	return wait_for_answer(m, err);
}

void private_munged_stop(struct private_munged *m, int timeout_ms)
{
	proc_stop(&m->daemon, SIGTERM, timeout_ms);
}

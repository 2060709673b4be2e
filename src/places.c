#include "places.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "auth/private_munged.h"
#include "base/proc.h"
#include "base/state.h"

/* What PostgreSQL's socket adds to the runtime directory, with its lock file and a final NUL. */
static const char longest_socket[] = "/" RUN_PG "/.s.PGSQL." PRIVATE_PG_PORT_TEXT ".lock";

/* mkdir -p.  ret_made tells whether the last one is new. */
static int make_dirs(const char *path, mode_t mode, bool *ret_made, struct err *err)
{
	char part[PATH_MAX];

	*ret_made = false;
	for (size_t i = 1; i <= strlen(path); i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, path);
		*ret_made = mkdir(part, mode) == 0;
		if (!*ret_made && errno != EEXIST)
			return err_set(err, ERR_SYSTEM, part, "cannot be made: %s",
				       strerror(errno));
	}
	return 0;
}

static bool is_empty_dir(const char *path)
{
	DIR *d = opendir(path);
	int entries = 0;

	if (d == NULL)
		return false;
	while (readdir(d) != NULL)
		entries++;
	closedir(d);
	return entries == 2; /* . and .. */
}

/* As root: a directory that is new, or root's and empty, becomes the user's. */
static int give_to(const char *path, bool made, const struct proc_user *user, struct err *err)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	if (st.st_uid == user->uid)
		return 0;
	if (!made && !(st.st_uid == 0 && is_empty_dir(path)))
		return err_set(err, ERR_INVALID, path,
			       "belongs to another user; tallyd runs as %s: choose another "
			       "directory, or run: chown -R %s %s",
			       user->name, user->name, path);
	if (chown(path, user->uid, user->gid) < 0)
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	return 0;
}

static int as_root(const char *state_dir, bool made, const char *user_name, struct err *err)
{
	struct proc_user user;
	bool run_made;

	if (proc_user_find(user_name, &user, err) < 0)
		return err_prefix(err, "started as root, tallyd runs as an ordinary user: ");
	if (give_to(state_dir, made, &user, err) < 0)
		return -1;
	if (make_dirs(DEFAULT_RUN_DIR, 0755, &run_made, err) < 0 ||
	    give_to(DEFAULT_RUN_DIR, run_made, &user, err) < 0)
		return -1;
	return proc_become(&user, err);
}

/* The first directory above (or the directory itself) that this user cannot pass. */
static int check_reach(const char *dir, struct err *err)
{
	char part[PATH_MAX], user[64];

	proc_user_name(geteuid(), user, sizeof(user));
	for (size_t i = 1; i <= strlen(dir); i++) {
		if (dir[i] != '/' && dir[i] != '\0')
			continue;
		snprintf(part, sizeof(part), "%.*s", (int)i, dir);
		if (access(part, X_OK) < 0)
			return err_set(err, ERR_SYSTEM, part,
				       "user %s may not pass here to %s: %s; choose another "
				       "directory with --state-dir, or open this one",
				       user, dir, strerror(errno));
	}
	if (access(dir, W_OK) < 0)
		return err_set(err, ERR_SYSTEM, dir, "user %s may not write here: %s", user,
			       strerror(errno));
	return 0;
}

static int take_lock(struct places *p, struct err *err)
{
	char path[PATH_MAX], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%.4000s/" STATE_LOCK, p->state_dir);
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0644);
	if (fd < 0)
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		ssize_t n = read(fd, text, sizeof(text) - 1);

		text[n > 0 ? n : 0] = '\0';
		text[strcspn(text, "\n")] = '\0';
		close(fd);
		return err_set(err, ERR_CONFLICT, p->state_dir,
			       "another tallyd (process %s) uses this state directory; stop it, or "
			       "choose another with --state-dir",
			       text[0] != '\0' ? text : "unknown");
	}
	snprintf(text, sizeof(text), "%ld\n", (long)getpid());
	if (ftruncate(fd, 0) < 0 || write(fd, text, strlen(text)) < 0) {
		close(fd);
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	}
	p->lock_fd = fd;
	return 0;
}

/* A runtime directory must be a real directory of ours that no one else writes to, with room for
 * the sockets' names, and every user must be able to pass (munge's rule, and HTTP's need). */
static bool usable(const char *dir)
{
	struct stat st;

	return strlen(dir) + sizeof(longest_socket) <= sizeof(((struct places *)0)->run_dir) &&
	       lstat(dir, &st) == 0 && S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	       (st.st_mode & (S_IWGRP | S_IWOTH)) == 0 &&
	       munge_dir_check(dir, MUNGE_DIR_SOCKET, NULL) == 0;
}

/* A fresh one below `base`, if that will do. */
static bool make_below(const char *base, const char *prefix, char *ret, size_t size)
{
	if (base == NULL || base[0] != '/' || access(base, W_OK | X_OK) < 0 ||
	    munge_dir_check(base, MUNGE_DIR_SOCKET, NULL) < 0)
		return false;
	if (snprintf(ret, size, "%s/%sXXXXXX", base, prefix) >= (int)size || mkdtemp(ret) == NULL)
		return false;
	if (chmod(ret, 0755) == 0 && usable(ret))
		return true;
	rmdir(ret);
	return false;
}

/* The one recorded before, so that servers left running there are found again; else the
 * well-known one for the well-known state; else a fresh one. */
static int choose_run_dir(struct places *p, const char *link, struct err *err)
{
	char *dir = p->run_dir;
	size_t size = sizeof(p->run_dir);
	ssize_t n = readlink(link, dir, size - 1);

	dir[n > 0 ? n : 0] = '\0';
	if (n > 0 && usable(dir)) {
		p->run_dir_is_ours = strcmp(dir, DEFAULT_RUN_DIR) != 0;
		return 0;
	}
	if (strcmp(p->state_dir, STATE_DIR_DEFAULT) == 0 && usable(DEFAULT_RUN_DIR)) {
		snprintf(dir, size, "%s", DEFAULT_RUN_DIR);
		p->run_dir_is_ours = false;
		return 0;
	}
	p->run_dir_is_ours = true;
	if (make_below(DEFAULT_RUN_DIR, "", dir, size) ||
	    make_below(getenv("XDG_RUNTIME_DIR"), "tally-", dir, size) ||
	    make_below("/tmp", "tally-", dir, size))
		return 0;
	return err_set(
		err, ERR_SYSTEM, "runtime directory",
		"neither %s nor $XDG_RUNTIME_DIR nor /tmp will do: it must be writable, and "
		"neither it nor a directory above may be writable by others or closed to them",
		DEFAULT_RUN_DIR);
}

static int take_run_dir(struct places *p, struct err *err)
{
	char link[PATH_MAX];

	snprintf(link, sizeof(link), "%.4000s/" STATE_RUN, p->state_dir);
	if (choose_run_dir(p, link, err) < 0)
		return -1;
	unlink(link);
	if (symlink(p->run_dir, link) < 0)
		return err_set(err, ERR_SYSTEM, link, "%s", strerror(errno));
	snprintf(p->pg_dir, sizeof(p->pg_dir), "%.100s/" RUN_PG, p->run_dir);
	if (mkdir(p->pg_dir, 0700) < 0 && errno != EEXIST)
		return err_set(err, ERR_SYSTEM, p->pg_dir, "%s", strerror(errno));
	if (chmod(p->pg_dir, 0700) < 0)
		return err_set(err, ERR_SYSTEM, p->pg_dir, "%s", strerror(errno));
	return 0;
}

int places_take(const char *state_dir, const char *user, struct places *ret, struct err *err)
{
	bool made;

	*ret = (struct places){ .lock_fd = -1 };
	if (make_dirs(state_dir, 0755, &made, err) < 0)
		return -1;
	if (realpath(state_dir, ret->state_dir) == NULL)
		return err_set(err, ERR_SYSTEM, state_dir, "%s", strerror(errno));
	if (geteuid() == 0 && as_root(ret->state_dir, made, user, err) < 0)
		return -1;
	if (check_reach(ret->state_dir, err) < 0 || chdir(ret->state_dir) < 0 ||
	    take_lock(ret, err) < 0)
		return -1;
	if (take_run_dir(ret, err) < 0) {
		places_leave(ret);
		return -1;
	}
	return 0;
}

int places_announce(const struct places *p, const char *socket_path, struct err *err)
{
	char path[PATH_MAX], fresh[PATH_MAX];
	FILE *f;

	snprintf(path, sizeof(path), "%.4000s/" STATE_SOCKET, p->state_dir);
	snprintf(fresh, sizeof(fresh), "%.4000s/" STATE_SOCKET ".new", p->state_dir);
	f = fopen(fresh, "we");
	if (f == NULL)
		return err_set(err, ERR_SYSTEM, fresh, "%s", strerror(errno));
	fprintf(f, "%s\n", socket_path);
	if (fclose(f) != 0 || rename(fresh, path) < 0)
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	return 0;
}

void places_leave(struct places *p)
{
	char path[PATH_MAX];

	if (p->lock_fd < 0)
		return;
	snprintf(path, sizeof(path), "%.4000s/" STATE_SOCKET, p->state_dir);
	unlink(path);
	rmdir(p->pg_dir);
	if (p->run_dir_is_ours && rmdir(p->run_dir) == 0) {
		snprintf(path, sizeof(path), "%.4000s/" STATE_RUN, p->state_dir);
		unlink(path);
	}
	close(p->lock_fd);
	p->lock_fd = -1;
}

#include "store/private_pg.h"

#include <fcntl.h>
#include <glob.h>
#include <libpq-fe.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"
#include "base/proc.h"
#include "base/state.h"

enum {
	PG_OLDEST = 15,
	VERSION_MS = 10000,
	INITDB_MS = 120000,
	ANSWER_MS = 60000,     /* from start to the first answer of any kind */
	RECOVERY_MS = 1800000, /* while it says that it is starting up */
	ORPHANS_QUIT_MS = 1500,
	ORPHANS_KILL_MS = 6000,
	ORPHANS_MS = 20000,
	UPGRADE_MS = 6 * 3600 * 1000,
	SOCKET_PATH_MOST = 107,
	LOG_MOST_BYTES = 16 << 20,
};

/* What `postgres --version` prints in front of the version. */
#define VERSION_PREFIX "postgres (PostgreSQL) "

struct private_pg {
	char *state_dir, *data_dir, *socket_dir, *bin_dir, *log_file, *dsn, *admin_dsn;
	int cancel_fd;
	int major;
	bool adopted;
	struct proc server;
	struct arena *arena;
};

/* Where distributions put the programs of one or several major versions. */
/* clang-format off */
static const char *const bin_globs[] = {
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin",	"/usr/libexec/postgresql*",
	"/usr/lib/postgresql*/bin",  "/usr/local/pgsql*/bin", "/opt/postgresql*/bin",
};
/* clang-format on */

/* ---- the programs ---------------------------------------------------------------------- */

/* Major version of the server programs in that directory, 0 if there are none. */
static int major_of(const char *bin_dir)
{
	char initdb[PATH_MAX], postgres[PATH_MAX];
	const char *const argv[] = { postgres, "--version", NULL };
	struct proc_spawn spawn = { .argv = argv, .cwd = "/" };
	struct buf out = BUF_INIT;
	const char *after;
	int64_t major = 0;

	snprintf(initdb, sizeof(initdb), "%s/initdb", bin_dir);
	snprintf(postgres, sizeof(postgres), "%s/postgres", bin_dir);
	if (access(initdb, X_OK) == 0 && access(postgres, X_OK) == 0 &&
	    proc_output(&spawn, VERSION_MS, &out, NULL) == 0 &&
	    (after = strstr(buf_str(&out), VERSION_PREFIX)) != NULL &&
	    num_digits(after + strlen(VERSION_PREFIX), &major) == NULL)
		major = 0;
	buf_fini(&out);
	return major < INT_MAX ? (int)major : 0;
}

struct choice {
	int wanted; /* this major only; 0 = the newest */
	int best;
	char dir[PATH_MAX];
	int newest; /* newest seen, whether chosen or not */
};

static void consider(struct choice *c, const char *dir)
{
	int major = major_of(dir);

	if (major > c->newest)
		c->newest = major;
	if (major < PG_OLDEST || (c->wanted != 0 && major != c->wanted) || major <= c->best)
		return;
	c->best = major;
	snprintf(c->dir, sizeof(c->dir), "%s", dir);
}

/* The directory of the `postgres` in PATH, and the one that pg_config names. */
static void consider_path(struct choice *c)
{
	char found[PATH_MAX], real[PATH_MAX];
	const char *const argv[] = { found, "--bindir", NULL };
	struct proc_spawn pg_config = { .argv = argv, .cwd = "/" };
	struct buf out = BUF_INIT;

	if (proc_find_program("postgres", found, sizeof(found), NULL) == 0 &&
	    realpath(found, real) != NULL) {
		*strrchr(real, '/') = '\0';
		consider(c, real);
	}
	if (proc_find_program("pg_config", found, sizeof(found), NULL) == 0 &&
	    proc_output(&pg_config, VERSION_MS, &out, NULL) == 0 && out.len > 0) {
		out.data[strcspn(out.data, "\n")] = '\0';
		consider(c, out.data);
	}
	buf_fini(&out);
}

static void look_everywhere(struct choice *c)
{
	for (size_t i = 0; i < ARRAY_LEN(bin_globs); i++) {
		glob_t g;

		if (glob(bin_globs[i], 0, NULL, &g) == 0)
			for (size_t k = 0; k < g.gl_pathc; k++)
				consider(c, g.gl_pathv[k]);
		globfree(&g);
	}
	consider_path(c);
}

/* The major version of existing data, 0 when there are none. */
static int data_major(const char *data_dir)
{
	char path[PATH_MAX], line[32] = "";
	int64_t major = 0;
	FILE *f;

	snprintf(path, sizeof(path), "%s/PG_VERSION", data_dir);
	f = fopen(path, "re");
	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) == NULL || num_digits(line, &major) == NULL)
		major = 0;
	fclose(f);
	return major < INT_MAX ? (int)major : 0;
}

static int choose_programs(struct private_pg *pg, const char *bin_dir, struct err *err)
{
	struct choice c = { .wanted = data_major(pg->data_dir) };

	if (bin_dir != NULL)
		consider(&c, bin_dir);
	else
		look_everywhere(&c);
	if (c.best == 0 && c.newest == 0)
		return err_set(err, ERR_NOT_FOUND, "PostgreSQL",
			       "the server is not installed%s%s; install the package postgresql "
			       "(%d or newer), or name a database with StorageHost or StorageDSN",
			       bin_dir != NULL ? " in " : "", bin_dir != NULL ? bin_dir : "",
			       PG_OLDEST);
	if (c.best == 0 && c.wanted == 0)
		return err_set(err, ERR_NOT_FOUND, "PostgreSQL",
			       "version %d is installed, %d or newer is needed", c.newest,
			       PG_OLDEST);
	if (c.best == 0 && c.newest > c.wanted)
		return err_set(err, ERR_CONFLICT, pg->data_dir,
			       "these data are of PostgreSQL %d and only %d is installed: run "
			       "`tally upgrade-state` (it keeps the old data), or install "
			       "PostgreSQL %d again",
			       c.wanted, c.newest, c.wanted);
	if (c.best == 0)
		return err_set(err, ERR_CONFLICT, pg->data_dir,
			       "these data are of PostgreSQL %d and only %d is installed: install "
			       "PostgreSQL %d",
			       c.wanted, c.newest, c.wanted);
	pg->major = c.best;
	pg->bin_dir = arena_strdup(pg->arena, c.dir);
	return 0;
}

/* ---- the data directory ---------------------------------------------------------------- */

/* What suits a machine that does other work too.  An administrator may change it: it stands in
 * postgresql.conf.  What tallyd relies on is given on the command line and wins. */
static int write_tuning(const char *path, struct err *err)
{
	struct sysinfo si = { 0 };
	uint64_t mib, buffers;
	FILE *f;

	sysinfo(&si);
	mib = (uint64_t)si.totalram * si.mem_unit >> 20;
	buffers = mib / 8 < 128 ? 128 : mib / 8 > 2048 ? 2048 : mib / 8;
	f = fopen(path, "ae");
	if (f == NULL)
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	fprintf(f,
		"\n# Set by tallyd when it made this directory; change what you like.\n"
		"shared_buffers = %" PRIu64 "MB\n"
		"effective_cache_size = %" PRIu64 "MB\n"
		"max_connections = 120\n"
		"max_wal_size = 4GB\n"
		"checkpoint_timeout = 15min\n"
		"random_page_cost = 1.1\n"
		"jit = off\n"
		"log_checkpoints = off\n"
		"log_line_prefix = '%%m [%%p] '\n",
		buffers, mib / 2 < 256 ? 256 : mib / 2);
	if (fclose(f) != 0)
		return err_set(err, ERR_SYSTEM, path, "%s", strerror(errno));
	return 0;
}

static void remove_tree(const char *path)
{
	const char *const argv[] = { "/bin/rm", "-rf", "--", path, NULL };
	struct proc_spawn rm = { .argv = argv };

	proc_run(&rm, INITDB_MS, NULL);
}

/* initdb works aside and the result is put in place in one step, so that an interrupted one leaves
 * nothing that looks like data. */
static int init_data(struct private_pg *pg, const char *fresh, struct err *err)
{
	const char *program = arena_printf(pg->arena, "%s/initdb", pg->bin_dir);
	/* clang-format off */
	const char *const argv[] = {
		program, "-D", fresh, "-U", "postgres", "-A", "trust", "-E", "UTF8",
		"--locale=C", "--data-checksums", NULL,
	};
	/* clang-format on */
	struct proc_spawn initdb = { .argv = argv, .cwd = "/" };

	remove_tree(fresh);
	if (proc_run(&initdb, INITDB_MS, err) < 0)
		return err_prefix(err, "making the private PostgreSQL's data: ");
	return write_tuning(arena_printf(pg->arena, "%s/postgresql.conf", fresh), err);
}

static int put_in_place(const char *from, const char *to, struct err *err)
{
	if (rename(from, to) < 0)
		return err_set(err, ERR_SYSTEM, to, "%s", strerror(errno));
	return 0;
}

static int make_data(struct private_pg *pg, struct err *err)
{
	const char *fresh = arena_printf(pg->arena, "%s.new", pg->data_dir);

	if (data_major(pg->data_dir) != 0)
		return 0;
	return init_data(pg, fresh, err) < 0 ? -1 : put_in_place(fresh, pg->data_dir, err);
}

static int fill_paths(struct private_pg *pg, const struct private_pg_settings *s, struct err *err)
{
	struct arena *a = pg->arena;

	pg->state_dir = arena_strdup(a, s->state_dir);
	pg->socket_dir = arena_strdup(a, s->socket_dir);
	pg->data_dir = arena_printf(a, "%s/" STATE_PG, s->state_dir);
	pg->log_file = arena_printf(a, "%s/postgresql.log", s->state_dir);
	pg->dsn = arena_printf(a, "host=%s port=%d user=tally dbname=tally", s->socket_dir,
			       PRIVATE_PG_PORT);
	pg->admin_dsn = arena_printf(a, "host=%s port=%d user=postgres dbname=postgres",
				     s->socket_dir, PRIVATE_PG_PORT);
	pg->cancel_fd = s->cancel_fd;
	if (strlen(s->socket_dir) + strlen("/.s.PGSQL." PRIVATE_PG_PORT_TEXT ".lock") >
	    SOCKET_PATH_MOST)
		return err_set(err, ERR_INVALID, s->socket_dir,
			       "too long for PostgreSQL's socket (%d bytes at most with its name)",
			       SOCKET_PATH_MOST);
	return 0;
}

static struct private_pg *new_pg(const struct private_pg_settings *settings, struct err *err)
{
	struct arena *a = arena_new();
	struct private_pg *pg = ARENA_NEW(a, struct private_pg);

	pg->arena = a;
	pg->server = (struct proc)PROC_NONE;
	if (geteuid() == 0)
		err_set(err, ERR_INVALID, "PostgreSQL", "does not run as root");
	else if (fill_paths(pg, settings, err) == 0)
		return pg;
	private_pg_free(pg);
	return NULL;
}

struct private_pg *private_pg_open(const struct private_pg_settings *settings, struct err *err)
{
	struct private_pg *pg = new_pg(settings, err);

	if (pg != NULL && choose_programs(pg, settings->bin_dir, err) == 0 &&
	    make_data(pg, err) == 0)
		return pg;
	private_pg_free(pg);
	return NULL;
}

void private_pg_free(struct private_pg *pg)
{
	if (pg == NULL)
		return;
	proc_release(&pg->server);
	arena_free(pg->arena);
}

int private_pg_fd(const struct private_pg *pg)
{
	return pg->server.pid > 0 ? pg->server.fd : -1;
}

bool private_pg_adopted(const struct private_pg *pg)
{
	return pg->adopted;
}

int private_pg_major(const struct private_pg *pg)
{
	return pg->major;
}

const char *private_pg_dsn(const struct private_pg *pg)
{
	return pg->dsn;
}

/* ---- up and down ----------------------------------------------------------------------- */

/* Sleeps, or says true when the waiting is to be given up. */
static bool cancelled(const struct private_pg *pg, int sleep_ms)
{
	struct pollfd f = { .fd = pg->cancel_fd, .events = POLLIN };

	return poll(&f, 1, sleep_ms) > 0;
}

struct pid_file {
	long pid;
	char socket_dir[256];
};

/* postmaster.pid: process, data directory, start time, port, socket directory, ... a line each. */
static bool read_pid_file(const struct private_pg *pg, struct pid_file *ret)
{
	char path[PATH_MAX], line[512];
	FILE *f;

	*ret = (struct pid_file){ 0 };
	snprintf(path, sizeof(path), "%s/postmaster.pid", pg->data_dir);
	f = fopen(path, "re");
	if (f == NULL)
		return false;
	for (int n = 1; fgets(line, sizeof(line), f) != NULL; n++) {
		line[strcspn(line, "\n")] = '\0';
		if (n == 1)
			ret->pid = strtol(line, NULL, 10);
		else if (n == 5)
			snprintf(ret->socket_dir, sizeof(ret->socket_dir), "%.255s", line);
	}
	fclose(f);
	return ret->pid > 0;
}

/* Ends a server that runs where nobody can reach it any more. */
static void end_unreachable(struct private_pg *pg)
{
	proc_stop(&pg->server, SIGINT, 30000);
	pg->adopted = false;
}

/* Backends outlive a killed postmaster for a moment, busy ones for as long as their statement runs;
 * a new server must not start beside them.  They are told to go as a postmaster would in an
 * emergency, which is safe: recovery does the rest. */
static int wait_for_orphans(struct private_pg *pg, struct err *err)
{
	int64_t began = monotonic_ms(), waited;
	int signo = 0;

	while (proc_signal_in("postgres", pg->data_dir, signo) > 0) {
		waited = monotonic_ms() - began;
		if (waited > ORPHANS_MS)
			return err_set(err, ERR_CONFLICT, pg->data_dir,
				       "processes of an earlier server still run there; end them");
		signo = waited > ORPHANS_KILL_MS ? SIGKILL : waited > ORPHANS_QUIT_MS ? SIGQUIT : 0;
		if (cancelled(pg, 100))
			return err_set(err, ERR_GONE, "PostgreSQL", "start given up");
	}
	return 0;
}

/* Takes over a running server, or makes sure that there is none: 1, 0, -1. */
static int adopt(struct private_pg *pg, struct err *err)
{
	struct pid_file file;
	char path[PATH_MAX];

	if (read_pid_file(pg, &file)) {
		bool ours = proc_works_in((pid_t)file.pid, "postgres", pg->data_dir);

		if (ours && proc_adopt((pid_t)file.pid, &pg->server, NULL) == 0) {
			pg->adopted = true;
			if (strcmp(file.socket_dir, pg->socket_dir) == 0)
				return 1;
			end_unreachable(pg);
		}
	}
	if (wait_for_orphans(pg, err) < 0)
		return -1;
	/* Nobody works there, so what is still there names a process that is no server, or not one
	 * any more: PostgreSQL would take an unreaped zombie for a running one. */
	snprintf(path, sizeof(path), "%s/postmaster.pid", pg->data_dir);
	unlink(path);
	snprintf(path, sizeof(path), "%s/.s.PGSQL.%d.lock", pg->socket_dir, PRIVATE_PG_PORT);
	unlink(path);
	return 0;
}

/* The log does not grow for ever: one old one is kept. */
static void turn_log(const struct private_pg *pg)
{
	struct stat st;
	char old[PATH_MAX];

	snprintf(old, sizeof(old), "%s.1", pg->log_file);
	if (stat(pg->log_file, &st) == 0 && st.st_size > LOG_MOST_BYTES)
		rename(pg->log_file, old);
}

static int launch(struct private_pg *pg, struct err *err)
{
	struct arena *a = arena_new();
	/* clang-format off */
	const char *const argv[] = {
		arena_printf(a, "%s/postgres", pg->bin_dir),
		"-D", pg->data_dir,
		"-c", "listen_addresses=",
		"-c", arena_printf(a, "port=%d", PRIVATE_PG_PORT),
		"-c", arena_printf(a, "unix_socket_directories=%s", pg->socket_dir),
		"-c", "unix_socket_permissions=0700",
		"-c", "logging_collector=off",
		"-c", "log_destination=stderr",
		"-c", "fsync=on",
		"-c", "full_page_writes=on",
		NULL,
	};
	/* clang-format on */
	struct proc_spawn spawn = { .argv = argv, .cwd = "/", .log_file = pg->log_file };
	int rc;

	turn_log(pg);
	pg->adopted = false;
	rc = proc_start(&spawn, &pg->server, err);
	arena_free(a);
	return rc;
}

/* The last lines of the server's log, for an error. */
static void log_tail(const struct private_pg *pg, char *ret, size_t size)
{
	int fd = open(pg->log_file, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0;

	if (fd >= 0) {
		off_t end = lseek(fd, 0, SEEK_END);

		lseek(fd, end > (off_t)size ? end - (off_t)size + 1 : 0, SEEK_SET);
		n = read(fd, ret, size - 1);
		close(fd);
	}
	ret[n > 0 ? n : 0] = '\0';
	for (char *p = ret; *p != '\0'; p++)
		if (*p == '\n')
			*p = ' ';
}

static int wait_for_answer(struct private_pg *pg, struct err *err)
{
	int64_t began = monotonic_ms(), limit = ANSWER_MS;
	char tail[300];

	for (;;) {
		PGPing ping = PQping(pg->admin_dsn);

		if (ping == PQPING_OK)
			return 0;
		if (ping == PQPING_REJECT)
			limit = RECOVERY_MS;
		if (!proc_alive(&pg->server)) {
			proc_wait(&pg->server, 0, NULL);
			log_tail(pg, tail, sizeof(tail));
			return err_set(err, ERR_DATABASE, "private PostgreSQL",
				       "ended while starting: %s", tail);
		}
		if (monotonic_ms() - began > limit)
			return err_set(err, ERR_TIMEOUT, "private PostgreSQL",
				       "did not answer within %d s; see %s", (int)(limit / 1000),
				       pg->log_file);
		if (cancelled(pg, 50))
			return err_set(err, ERR_GONE, "PostgreSQL", "start given up");
	}
}

/* Runs the second statement where the first finds no row. */
static int ensure(PGconn *db, const char *look, const char *make, struct err *err)
{
	PGresult *res = PQexec(db, look);
	bool there = PQresultStatus(res) == PGRES_TUPLES_OK && PQntuples(res) > 0;
	int rc = 0;

	PQclear(res);
	if (there)
		return 0;
	res = PQexec(db, make);
	if (PQresultStatus(res) != PGRES_COMMAND_OK)
		rc = err_set(err, ERR_DATABASE, "private PostgreSQL", "%s: %s", make,
			     PQresultErrorMessage(res));
	PQclear(res);
	return rc;
}

static int make_database(struct private_pg *pg, struct err *err)
{
	PGconn *db = PQconnectdb(pg->admin_dsn);
	int rc = -1;

	if (PQstatus(db) != CONNECTION_OK)
		err_set(err, ERR_DATABASE, "private PostgreSQL", "%s", PQerrorMessage(db));
	else if (ensure(db, "SELECT 1 FROM pg_roles WHERE rolname = 'tally'",
			"CREATE ROLE tally LOGIN NOSUPERUSER", err) == 0 &&
		 ensure(db, "SELECT 1 FROM pg_database WHERE datname = 'tally'",
			"CREATE DATABASE tally OWNER tally TEMPLATE template0 ENCODING 'UTF8' "
			"LC_COLLATE 'C' LC_CTYPE 'C'",
			err) == 0)
		rc = 0;
	PQfinish(db);
	return rc;
}

/* For `tally backup` and whoever else needs the programs that fit the data. */
static void record_programs(const struct private_pg *pg)
{
	char link[PATH_MAX], fresh[PATH_MAX];

	snprintf(link, sizeof(link), "%s/" STATE_PG_BIN, pg->state_dir);
	snprintf(fresh, sizeof(fresh), "%s/" STATE_PG_BIN ".new", pg->state_dir);
	unlink(fresh);
	if (symlink(pg->bin_dir, fresh) == 0)
		rename(fresh, link);
}

int private_pg_up(struct private_pg *pg, struct err *err)
{
	int running;

	if (pg->server.pid > 0 && !proc_alive(&pg->server))
		proc_wait(&pg->server, 0, NULL);
	running = pg->server.pid > 0 ? 1 : adopt(pg, err);
	if (running < 0)
		return -1;
	if (running == 0 && launch(pg, err) < 0)
		return -1;
	record_programs(pg);
	if (wait_for_answer(pg, err) < 0)
		return -1;
	return make_database(pg, err);
}

void private_pg_stop(struct private_pg *pg, int timeout_ms)
{
	if (pg->server.pid == 0)
		return;
	proc_signal(&pg->server, SIGINT);
	if (proc_wait(&pg->server, timeout_ms, NULL) == 1)
		return;
	proc_stop(&pg->server, SIGQUIT, 2000);
}

/* ---- to a newer major version -------------------------------------------------------------- */

static int choose_both(struct private_pg *pg, const char *bin_dir, struct choice *old,
		       struct choice *fresh, struct err *err)
{
	*old = (struct choice){ .wanted = data_major(pg->data_dir) };
	*fresh = (struct choice){ 0 };
	if (old->wanted == 0)
		return err_set(err, ERR_NOT_FOUND, pg->data_dir,
			       "holds no PostgreSQL data: there is nothing to upgrade");
	look_everywhere(old);
	if (bin_dir != NULL)
		consider(fresh, bin_dir);
	else
		look_everywhere(fresh);
	if (fresh->best < old->wanted)
		return err_set(err, ERR_NOT_FOUND, "PostgreSQL",
			       "no version newer than %d is installed", old->wanted);
	if (fresh->best > old->wanted && old->best == 0)
		return err_set(err, ERR_NOT_FOUND, "PostgreSQL",
			       "pg_upgrade needs the programs of both versions and those of %d are "
			       "not installed (Debian: apt-get install postgresql-%d); they can be "
			       "removed afterwards",
			       old->wanted, old->wanted);
	pg->bin_dir = arena_strdup(pg->arena, fresh->dir);
	return 0;
}

static int run_pg_upgrade(struct private_pg *pg, const char *old_bin, const char *fresh,
			  struct err *err)
{
	struct arena *a = pg->arena;
	/* clang-format off */
	const char *const argv[] = {
		arena_printf(a, "%s/pg_upgrade", pg->bin_dir),
		"-U", "postgres",
		"-b", old_bin,
		"-B", pg->bin_dir,
		"-d", pg->data_dir,
		"-D", fresh,
		"-s", pg->socket_dir,
		NULL,
	};
	/* clang-format on */
	struct proc_spawn upgrade = { .argv = argv, .cwd = pg->state_dir };

	return proc_run(&upgrade, UPGRADE_MS, err);
}

static int upgrade(struct private_pg *pg, const struct choice *old, struct err *err)
{
	const char *fresh = arena_printf(pg->arena, "%s.new", pg->data_dir);
	const char *kept = arena_printf(pg->arena, "%s-%d", pg->data_dir, old->wanted);

	if (access(kept, F_OK) == 0)
		return err_set(
			err, ERR_CONFLICT, kept,
			"is in the way: it holds data of an earlier upgrade; move it elsewhere");
	/* A server that a killed tallyd left running is ended first. */
	if (adopt(pg, err) < 0)
		return -1;
	private_pg_stop(pg, ANSWER_MS);
	if (init_data(pg, fresh, err) < 0 || run_pg_upgrade(pg, old->dir, fresh, err) < 0)
		return -1;
	return put_in_place(pg->data_dir, kept, err) < 0 ? -1
							 : put_in_place(fresh, pg->data_dir, err);
}

int private_pg_upgrade(const struct private_pg_settings *settings, int *ret_from, int *ret_to,
		       struct err *err)
{
	struct private_pg *pg = new_pg(settings, err);
	struct choice old, fresh;
	int rc = -1;

	if (pg != NULL && choose_both(pg, settings->bin_dir, &old, &fresh, err) == 0) {
		*ret_from = old.wanted;
		*ret_to = fresh.best;
		rc = fresh.best == old.wanted ? 0 : upgrade(pg, &old, err);
	}
	private_pg_free(pg);
	return rc;
}

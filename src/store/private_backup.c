#include "store/private_backup.h"

#include <fcntl.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/num.h"
#include "base/proc.h"
#include "base/state.h"

enum { ARGS_MOST = 24, HOURS_MS = 24 * 3600 * 1000 };

#define FRESH_DATABASE "tally_restore"

/* A running private PostgreSQL, as it is found from outside. */
struct site {
	struct arena *arena;
	const char *socket_dir, *bin_dir;
	long pid; /* of its tallyd; 0 = unknown */
};

/* ---- finding it ------------------------------------------------------------------------------ */

static const char *read_link(struct arena *a, const char *dir, const char *name)
{
	char target[PATH_MAX];
	ssize_t n = readlink(arena_printf(a, "%s/%s", dir, name), target, sizeof(target) - 1);

	return n > 0 ? arena_strndup(a, target, (size_t)n) : NULL;
}

static long read_pid(struct arena *a, const char *dir)
{
	FILE *f = fopen(arena_printf(a, "%s/" STATE_LOCK, dir), "re");
	char line[32] = "";
	int64_t pid = 0;

	if (f == NULL)
		return 0;
	if (fgets(line, sizeof(line), f) == NULL || num_digits(line, &pid) == NULL || pid > INT_MAX)
		pid = 0;
	fclose(f);
	return (long)pid;
}

static int look_in(const char *dir, struct site *s, struct err *err)
{
	const char *run = read_link(s->arena, dir, STATE_RUN);

	s->bin_dir = read_link(s->arena, dir, STATE_PG_BIN);
	if (run == NULL)
		return err_set(
			err, ERR_NOT_FOUND, dir,
			"no tallyd runs with this state directory; start it, or name another "
			"with --state-dir");
	if (s->bin_dir == NULL)
		return err_set(
			err, ERR_NOT_FOUND, dir,
			"its tallyd uses a configured database (StorageHost), not one of its "
			"own; use pg_dump and pg_restore on that");
	s->socket_dir = arena_printf(s->arena, "%s/" RUN_PG, run);
	s->pid = read_pid(s->arena, dir);
	if (access(s->socket_dir, X_OK) < 0)
		return err_set(err, errno == EACCES ? ERR_DENIED : ERR_SYSTEM, s->socket_dir,
			       "%s; only root and the user that runs tallyd may do this",
			       strerror(errno));
	return 0;
}

static int find(const char *dir, struct site *s, struct err *err)
{
	static const char *const usual[] = { STATE_DIR_DEFAULT, "./var" };

	for (size_t i = 0; dir == NULL && i < ARRAY_LEN(usual); i++)
		if (read_link(s->arena, usual[i], STATE_RUN) != NULL)
			dir = usual[i];
	return look_in(dir != NULL ? dir : STATE_DIR_DEFAULT, s, err);
}

/* ---- asking it ------------------------------------------------------------------------------- */

/* A program of its version, with what leads to the server in front of its other arguments. */
static int run_program(const struct site *s, const char *name, const char *const *args,
		       struct err *err)
{
	const char *argv[ARGS_MOST];
	struct proc_spawn spawn = { .argv = argv };
	size_t n = 0;

	argv[n++] = arena_printf(s->arena, "%s/%s", s->bin_dir, name);
	argv[n++] = arena_printf(s->arena, "--host=%s", s->socket_dir);
	argv[n++] = "--port=" PRIVATE_PG_PORT_TEXT;
	argv[n++] = "--username=" PRIVATE_PG_ADMIN;
	for (; *args != NULL; args++) {
		assert(n + 1 < ARGS_MOST);
		argv[n++] = *args;
	}
	argv[n] = NULL;
	return proc_run(&spawn, HOURS_MS, err);
}

/* Statements, each in a transaction of its own, until the first that fails.  ret (may be NULL): the
 * number in the last result's first cell. */
static int ask(const struct site *s, const char *database, const char *const *statements,
	       int64_t *ret, struct err *err)
{
	PGconn *db = PQconnectdb(arena_printf(s->arena, "host=%s port=%d user=%s dbname=%s",
					      s->socket_dir, PRIVATE_PG_PORT, PRIVATE_PG_ADMIN,
					      database));
	int rc = 0;

	if (PQstatus(db) != CONNECTION_OK)
		rc = err_set(err, ERR_DATABASE, database, "%s", PQerrorMessage(db));
	for (; rc == 0 && *statements != NULL; statements++) {
		PGresult *res = PQexec(db, *statements);
		ExecStatusType status = PQresultStatus(res);

		if (status != PGRES_TUPLES_OK && status != PGRES_COMMAND_OK)
			rc = err_set(err, ERR_DATABASE, database, "%s", PQresultErrorMessage(res));
		else if (ret != NULL &&
			 (PQntuples(res) != 1 || num_parse(PQgetvalue(res, 0, 0), ret) < 0))
			*ret = 0;
		PQclear(res);
	}
	PQfinish(db);
	return rc;
}

static int ask_one(const struct site *s, const char *database, const char *statement, int64_t *ret,
		   struct err *err)
{
	const char *const statements[] = { statement, NULL };

	return ask(s, database, statements, ret, err);
}

/* What a statement gives, 0 where its table is missing. */
static int number(const struct site *s, const char *database, const char *table,
		  const char *statement, int64_t *ret, struct err *err)
{
	const char *look = arena_printf(
		s->arena, "SELECT count(*) FROM pg_class WHERE oid = to_regclass('%s')", table);

	if (ask_one(s, database, look, ret, err) < 0)
		return -1;
	return *ret == 0 ? 0 : ask_one(s, database, statement, ret, err);
}

static int count_jobs(const struct site *s, const char *database, int64_t *ret, struct err *err)
{
	return number(s, database, "job", "SELECT count(*) FROM job", ret, err);
}

static int schema_of(const struct site *s, const char *database, int64_t *ret, struct err *err)
{
	return number(s, database, "migration", "SELECT max(number) FROM migration", ret, err);
}

/* ---- backup ---------------------------------------------------------------------------------- */

/* Written aside, readable by its owner only, and put in place when it is whole. */
static int dump(const struct site *s, const char *file, int64_t *ret_bytes, struct err *err)
{
	const char *part = arena_printf(s->arena, "%s.part", file);
	const char *const args[] = {
		"--format=custom",
		"--dbname=" PRIVATE_PG_DATABASE,
		arena_printf(s->arena, "--file=%s", part),
		NULL,
	};
	struct stat st;
	int rc = -1, fd = open(part, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	if (fd < 0)
		return err_set(err, ERR_SYSTEM, part, "%s", strerror(errno));
	if (run_program(s, "pg_dump", args, err) == 0) {
		if (fsync(fd) < 0 || fstat(fd, &st) < 0 || rename(part, file) < 0)
			err_set(err, ERR_SYSTEM, file, "%s", strerror(errno));
		else
			rc = 0;
	}
	if (rc == 0)
		*ret_bytes = (int64_t)st.st_size;
	else
		unlink(part);
	close(fd);
	return rc;
}

int private_backup(const char *state_dir, const char *file, int64_t *ret_bytes, struct err *err)
{
	struct site s = { .arena = arena_new() };
	int rc = find(state_dir, &s, err) < 0 ? -1 : dump(&s, file, ret_bytes, err);

	arena_free(s.arena);
	return rc;
}

/* ---- restore --------------------------------------------------------------------------------- */

static int make_fresh(const struct site *s, struct err *err)
{
	static const char *const statements[] = {
		"DROP DATABASE IF EXISTS " FRESH_DATABASE,
		"CREATE DATABASE " FRESH_DATABASE " OWNER " PRIVATE_PG_ROLE
		" TEMPLATE template0 ENCODING 'UTF8' LC_COLLATE 'C' LC_CTYPE 'C'",
		NULL,
	};

	return ask(s, PRIVATE_PG_ADMIN, statements, NULL, err);
}

static int fill_fresh(const struct site *s, const char *file, struct err *err)
{
	const char *const args[] = {
		"--dbname=" FRESH_DATABASE,
		"--exit-on-error",
		"--no-owner",
		"--no-privileges",
		"--role=" PRIVATE_PG_ROLE,
		file,
		NULL,
	};

	return run_program(s, "pg_restore", args, err);
}

static int check_fresh(const struct site *s, const char *file, int64_t *ret_jobs, struct err *err)
{
	int64_t theirs = 0, ours = 0;

	if (schema_of(s, FRESH_DATABASE, &theirs, err) < 0 ||
	    schema_of(s, PRIVATE_PG_DATABASE, &ours, err) < 0)
		return -1;
	if (theirs == 0)
		return err_set(err, ERR_INVALID, file, "is no backup of a tally database");
	if (theirs > ours)
		return err_set(err, ERR_NEWER, file,
			       "is of a newer tally (schema %" PRId64 ", here %" PRId64
			       "); install that first",
			       theirs, ours);
	return count_jobs(s, FRESH_DATABASE, ret_jobs, err);
}

/* Nobody may be connected to a database whose name changes; tallyd connects again by itself. */
static int swap(const struct site *s, const char *former, struct err *err)
{
	const char *const statements[] = {
		"ALTER DATABASE " PRIVATE_PG_DATABASE " ALLOW_CONNECTIONS false",
		"SELECT pg_terminate_backend(pid, 10000) FROM pg_stat_activity WHERE datname IN "
		"('" PRIVATE_PG_DATABASE "', '" FRESH_DATABASE "')",
		/* one transaction */
		arena_printf(s->arena,
			     "ALTER DATABASE " PRIVATE_PG_DATABASE
			     " RENAME TO %s; ALTER DATABASE " FRESH_DATABASE
			     " RENAME TO " PRIVATE_PG_DATABASE "; ALTER DATABASE %s "
			     "ALLOW_CONNECTIONS true",
			     former, former),
		NULL,
	};

	if (ask(s, PRIVATE_PG_ADMIN, statements, NULL, err) == 0)
		return 0;
	ask_one(s, PRIVATE_PG_ADMIN,
		"ALTER DATABASE " PRIVATE_PG_DATABASE " ALLOW_CONNECTIONS true", NULL, NULL);
	return -1;
}

static void name_former(char *out, size_t size)
{
	time_t now = time(NULL);
	char stamp[32];
	struct tm tm;

	gmtime_r(&now, &tm);
	strftime(stamp, sizeof(stamp), "%Y%m%d_%H%M%S", &tm);
	snprintf(out, size, "tally_before_%s", stamp);
}

static int restore(const struct site *s, const char *file, bool force, struct restored *ret,
		   struct err *err)
{
	if (access(file, R_OK) < 0)
		return err_set(err, ERR_NOT_FOUND, file, "%s", strerror(errno));
	if (count_jobs(s, PRIVATE_PG_DATABASE, &ret->former_jobs, err) < 0)
		return -1;
	if (ret->former_jobs > 0 && !force)
		return err_set(
			err, ERR_CONFLICT, NULL,
			"the database in use holds %" PRId64
			" jobs; --force puts the backup in its place, and keeps it under another "
			"name",
			ret->former_jobs);
	name_former(ret->former, sizeof(ret->former));
	if (make_fresh(s, err) < 0)
		return -1;
	if (fill_fresh(s, file, err) < 0 || check_fresh(s, file, &ret->jobs, err) < 0 ||
	    swap(s, ret->former, err) < 0) {
		ask_one(s, PRIVATE_PG_ADMIN, "DROP DATABASE IF EXISTS " FRESH_DATABASE, NULL, NULL);
		return -1;
	}
	return 0;
}

int private_restore(const char *state_dir, const char *file, bool force, struct restored *ret,
		    struct err *err)
{
	struct site s = { .arena = arena_new() };
	int rc = -1;

	*ret = (struct restored){ 0 };
	if (find(state_dir, &s, err) < 0 || restore(&s, file, force, ret, err) < 0)
		goto out;
	rc = 0;
	snprintf(ret->socket_dir, sizeof(ret->socket_dir), "%s", s.socket_dir);
	if (ret->former_jobs == 0) {
		ask_one(&s, PRIVATE_PG_ADMIN,
			arena_printf(s.arena, "DROP DATABASE %s", ret->former), NULL, NULL);
		ret->former[0] = '\0';
	}
	/* An older schema is brought up to date by tallyd, which looks again on SIGHUP. */
	if (s.pid > 0)
		kill((pid_t)s.pid, SIGHUP);
out:
	arena_free(s.arena);
	return rc;
}

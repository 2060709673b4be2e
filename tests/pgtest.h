/* tests/pgtest.h: a database of its own for each test program on the private PostgreSQL that
 * tests/with-pg started; made on the first call, dropped at the end of the program. */
#ifndef TALLY_TESTS_PGTEST_H
#define TALLY_TESTS_PGTEST_H

#include <unistd.h>

#include "store/migrate.h"
#include "store/pg.h"
#include "store/store.h"
#include "unit.h"

static inline struct pg *pgtest_connect(const char *conninfo)
{
	const struct pg_settings how = { .conninfo = conninfo, .name = "test" };
	struct err err = { 0 };
	struct pg *pg = pg_open(&how, &err);

	if (pg == NULL)
		fail_msg("%s", err.text);
	return pg;
}

static char pgtest_name[64];

static void pgtest_drop(void)
{
	struct pg *pg = pgtest_connect(getenv("TALLY_TEST_DSN"));
	char sql[128];

	snprintf(sql, sizeof(sql), "DROP DATABASE %s WITH (FORCE)", pgtest_name);
	pg_script(pg, sql, NULL);
	pg_close(pg);
}

/* Its connection string. */
static inline const char *pgtest_conninfo(void)
{
	static char conninfo[512];
	const char *server = getenv("TALLY_TEST_DSN");
	struct pg *pg;
	char sql[128];
	struct err err = { 0 };

	if (conninfo[0] != '\0')
		return conninfo;
	if (server == NULL) {
		fprintf(stderr, "TALLY_TEST_DSN is not set: run tests/with-pg PROGRAM\n");
		exit(1);
	}
	pg = pgtest_connect(server);
	snprintf(pgtest_name, sizeof(pgtest_name), "t%d", (int)getpid());
	snprintf(sql, sizeof(sql), "CREATE DATABASE %s", pgtest_name);
	if (pg_script(pg, sql, &err) < 0)
		fail_msg("%s", err.text);
	pg_close(pg);
	atexit(pgtest_drop);
	/* The later of two dbname counts. */
	snprintf(conninfo, sizeof(conninfo), "%s dbname=%s", server, pgtest_name);
	return conninfo;
}

/* 0, or the test fails with the error's text: assert_ok(do_it(x, e)). */
#define assert_ok(call)                                                                            \
	do {                                                                                       \
		struct err e_ = { 0 };                                                             \
		struct err *e = &e_;                                                               \
		if ((call) < 0)                                                                    \
			fail_msg("%s: %s: %s", #call, e_.where, e_.text);                          \
	} while (0)

static inline void pgtest_run(struct pg *pg, const char *sql)
{
	struct err err = { 0 };

	if (pg_script(pg, sql, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
}

/* The one value of a query, as text cast in SQL. */
static inline const char *pgtest_text(struct pg *pg, const char *sql)
{
	static char text[4096];
	PGresult *res = NULL;
	struct err err = { 0 };

	if (pg_run_once(pg, sql, NULL, &res, &err) < 0)
		fail_msg("%s: %s", sql, err.text);
	snprintf(text, sizeof(text), "%s",
		 PQntuples(res) == 0 ? "(no row)" : PQgetvalue(res, 0, 0));
	PQclear(res);
	return text;
}

static inline int64_t pgtest_i64(struct pg *pg, const char *sql)
{
	char wrapped[4096];

	snprintf(wrapped, sizeof(wrapped), "SELECT (%s)::text", sql);
	return strtoll(pgtest_text(pg, wrapped), NULL, 10);
}

/* The database, empty, with the schema. */
static inline struct pg *pgtest_schema(void)
{
	struct pg *pg = pgtest_connect(pgtest_conninfo());
	struct err err = { 0 };

	/* What an earlier test has left open must not hold this one up. */
	pgtest_run(pg, "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
		       " WHERE datname = current_database() AND pid <> pg_backend_pid()");
	pgtest_run(pg, "DROP SCHEMA IF EXISTS public CASCADE; CREATE SCHEMA public");
	if (migrate(pg, migrations, n_migrations, NULL, &err) < 0)
		fail_msg("%s: %s", err.where, err.text);
	return pg;
}

#endif

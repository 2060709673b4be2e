#include "store/pg.h"

#include <endian.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/clock.h"

#define MAX_ARGS 64
/* What the server may take to say that its own statement_timeout has struck. */
#define GRACE_MS     5000
#define MAX_PREPARED 256
#define NAME_MAX_LEN 64

/* The number makes the server's name unique, so that a name can come back while the server still
 * knows an older statement by it. */
struct prepared {
	const struct statement *st;
	unsigned number;
};

struct pg {
	PGconn *conn;
	pthread_mutex_t lock; /* guards cancel */
	PGcancel *cancel;
	int fd;	     /* of our own: libpq closes its when the connection is lost */
	int wait_ms; /* for the next byte; -1 = for ever */
	bool dead;
	char sqlstate[6];
	struct prepared prepared[MAX_PREPARED];
	int n_prepared;
	unsigned last_number;
	struct buf forgotten; /* DEALLOCATEs that wait for their time */
};

/* ---- what failures mean */

static const struct {
	const char *state; /* a SQLSTATE, or the class it begins with */
	enum err_code code;
} meanings[] = {
	/* the most exact first */
	{ "57014", ERR_TIMEOUT },  /* statement_timeout or a cancel */
	{ "55P03", ERR_BUSY },	   /* lock_timeout */
	{ "25006", ERR_DATABASE }, /* a standby */
	{ "25P03", ERR_DATABASE }, /* idle in transaction for too long */
	{ "40", ERR_BUSY },	   /* serialisation, deadlock */
	{ "55", ERR_BUSY },	   { "08", ERR_DATABASE }, { "28", ERR_DATABASE },
	{ "3D", ERR_DATABASE },	   { "53", ERR_DATABASE }, { "57", ERR_DATABASE },
	{ "58", ERR_DATABASE },	   { "22", ERR_INVALID },  { "23", ERR_CONFLICT },
	{ "42501", ERR_DATABASE }, /* the role may not */
};

static enum err_code meaning(const char *state)
{
	for (size_t i = 0; i < ARRAY_LEN(meanings); i++)
		if (strncmp(state, meanings[i].state, strlen(meanings[i].state)) == 0)
			return meanings[i].code;
	return ERR_INTERNAL;
}

/* libpq's texts end in a newline and may have several lines. */
static int set_text(struct err *err, enum err_code code, const char *where, const char *head,
		    const char *text)
{
	size_t n = strlen(text);

	while (n > 0 && text[n - 1] == '\n')
		n--;
	return err_set(err, code, where, "%s%.*s", head, (int)(n < 400 ? n : 400), text);
}

static int lost(struct pg *pg, const char *where, struct err *err)
{
	pg->dead = true;
	pg->sqlstate[0] = '\0';
	return set_text(err, ERR_DATABASE, where, "connection lost: ", PQerrorMessage(pg->conn));
}

static int refused(struct pg *pg, const PGresult *res, const char *where, struct err *err)
{
	const char *state = PQresultErrorField(res, PG_DIAG_SQLSTATE);
	const char *text = PQresultErrorField(res, PG_DIAG_MESSAGE_PRIMARY);
	const char *detail = PQresultErrorField(res, PG_DIAG_MESSAGE_DETAIL);
	const char *severity = PQresultErrorField(res, PG_DIAG_SEVERITY_NONLOCALIZED);
	char head[24];

	if (state == NULL || PQstatus(pg->conn) == CONNECTION_BAD)
		return lost(pg, where, err);
	if (severity != NULL && strcmp(severity, "ERROR") != 0)
		pg->dead = true; /* FATAL: the session ends with it */
	snprintf(pg->sqlstate, sizeof(pg->sqlstate), "%s", state);
	snprintf(head, sizeof(head), "SQLSTATE %s: ", state);
	set_text(err, meaning(state), where, head, text != NULL ? text : "");
	if (err != NULL && detail != NULL) {
		size_t len = strlen(err->text);

		snprintf(err->text + len, sizeof(err->text) - len, " (%s)", detail);
	}
	return -1;
}

/* ---- waiting */

/* Until the socket is ready; also for writing when want_write. */
static int await(struct pg *pg, bool want_write, const char *where, struct err *err)
{
	struct pollfd fd = { .fd = PQsocket(pg->conn),
			     .events = (short)(want_write ? POLLIN | POLLOUT : POLLIN) };
	int64_t until = pg->wait_ms < 0 ? 0 : monotonic_ms() + pg->wait_ms;
	int left = pg->wait_ms;
	int rc;

	while ((rc = poll(&fd, 1, left)) < 0 && errno == EINTR)
		if (pg->wait_ms >= 0)
			left = until > monotonic_ms() ? (int)(until - monotonic_ms()) : 0;
	if (rc > 0)
		return 0;
	pg->dead = true;
	pg->sqlstate[0] = '\0';
	return err_set(err, ERR_TIMEOUT, where, "no answer from the server within %d s",
		       pg->wait_ms / 1000);
}

static int flush(struct pg *pg, const char *where, struct err *err)
{
	int rc;

	while ((rc = PQflush(pg->conn)) > 0) {
		if (await(pg, true, where, err) < 0)
			return -1;
		if (PQconsumeInput(pg->conn) == 0)
			return lost(pg, where, err);
	}
	return rc < 0 ? lost(pg, where, err) : 0;
}

/* The next result; *ret NULL when the statement is over. */
static int next_result(struct pg *pg, const char *where, PGresult **ret, struct err *err)
{
	if (flush(pg, where, err) < 0)
		return -1;
	while (PQisBusy(pg->conn)) {
		if (await(pg, false, where, err) < 0)
			return -1;
		if (PQconsumeInput(pg->conn) == 0)
			return lost(pg, where, err);
	}
	*ret = PQgetResult(pg->conn);
	return 0;
}

static bool is_copy(const PGresult *res)
{
	ExecStatusType s = PQresultStatus(res);

	return s == PGRES_COPY_IN || s == PGRES_COPY_OUT || s == PGRES_COPY_BOTH;
}

/* Reads results until the statement is over (or has become a COPY) and keeps the last; the first
 * failure counts. */
static int finish(struct pg *pg, const char *where, PGresult **ret_result, struct err *err)
{
	PGresult *last = NULL, *res = NULL;
	int rc = 0;

	for (;;) {
		if (next_result(pg, where, &res, rc == 0 ? err : NULL) < 0) {
			rc = -1;
			break;
		}
		if (res == NULL)
			break;
		if (PQresultStatus(res) == PGRES_FATAL_ERROR && rc == 0)
			rc = refused(pg, res, where, err);
		PQclear(last);
		last = res;
		if (is_copy(res))
			break;
	}
	if (rc == 0 && ret_result != NULL) {
		*ret_result = last;
		last = NULL;
	}
	PQclear(last);
	return rc;
}

static int start(struct pg *pg, int sent, const char *where, PGresult **ret_result, struct err *err)
{
	if (sent == 0)
		return lost(pg, where, err);
	return finish(pg, where, ret_result, err);
}

static int check_alive(struct pg *pg, const char *where, struct err *err)
{
	if (pg_alive(pg))
		return 0;
	pg->sqlstate[0] = '\0';
	return err_set(err, ERR_DATABASE, where, "the connection to the database is lost");
}

/* ---- opening and closing */

static void ignore_notice(void *arg UNUSED, const char *text UNUSED)
{
}

static PGconn *dial(const struct pg_settings *s)
{
	char timeout[16];
	/* Later entries win, so what conninfo says beats the defaults in front of it. */
	const char *keys[] = { "connect_timeout", "tcp_user_timeout", "dbname",
			       "fallback_application_name", NULL };
	const char *values[] = { timeout, "30000", s->conninfo, s->name, NULL };

	snprintf(timeout, sizeof(timeout), "%d",
		 s->connect_timeout_s > 0 ? s->connect_timeout_s : 5);
	return PQconnectdbParams(keys, values, 1);
}

static int set_session(struct pg *pg, const struct pg_settings *s, struct err *err)
{
	char sql[512];

	snprintf(sql, sizeof(sql),
		 "SET synchronous_commit = on; SET client_encoding = 'UTF8'; SET timezone = 'UTC'; "
		 "SET standard_conforming_strings = on; SET client_min_messages = error; SET jit = "
		 "off; "
		 "SET statement_timeout = %d; SET lock_timeout = %d; "
		 "SET idle_in_transaction_session_timeout = %d",
		 s->statement_timeout_ms, s->lock_timeout_ms, s->idle_timeout_ms);
	return pg_script(pg, sql, err);
}

struct pg *pg_open(const struct pg_settings *s, struct err *err)
{
	struct pg *pg = xcalloc(1, sizeof(*pg));

	pthread_mutex_init(&pg->lock, NULL);
	pg->fd = -1;
	pg->wait_ms = s->statement_timeout_ms > 0 ? s->statement_timeout_ms + GRACE_MS : -1;
	pg->conn = dial(s);
	if (pg->conn == NULL || PQstatus(pg->conn) != CONNECTION_OK) {
		set_text(err, ERR_DATABASE, NULL, "cannot connect: ",
			 pg->conn != NULL ? PQerrorMessage(pg->conn) : "out of memory");
		goto fail;
	}
	PQsetNoticeProcessor(pg->conn, ignore_notice, NULL);
	pg->cancel = PQgetCancel(pg->conn);
	pg->fd = fcntl(PQsocket(pg->conn), F_DUPFD_CLOEXEC, 0);
	if (PQsetnonblocking(pg->conn, 1) < 0) {
		lost(pg, NULL, err);
		goto fail;
	}
	if (set_session(pg, s, err) == 0)
		return pg;
fail:
	pg_close(pg);
	return NULL;
}

void pg_close(struct pg *pg)
{
	if (pg == NULL)
		return;
	pthread_mutex_lock(&pg->lock);
	PQfreeCancel(pg->cancel);
	pg->cancel = NULL;
	pthread_mutex_unlock(&pg->lock);
	PQfinish(pg->conn);
	if (pg->fd >= 0)
		close(pg->fd);
	buf_fini(&pg->forgotten);
	pthread_mutex_destroy(&pg->lock);
	free(pg);
}

bool pg_alive(const struct pg *pg)
{
	return !pg->dead && PQstatus(pg->conn) == CONNECTION_OK;
}

bool pg_still_there(struct pg *pg)
{
	struct pollfd fd = { .fd = PQsocket(pg->conn), .events = POLLIN };

	/* What an idle session hears: a setting has changed, or that the server goes, then its end.
	 */
	while (pg_alive(pg) && poll(&fd, 1, 0) > 0)
		if (PQconsumeInput(pg->conn) == 0)
			pg->dead = true;
	return pg_alive(pg);
}

bool pg_in_transaction(const struct pg *pg)
{
	PGTransactionStatusType s = PQtransactionStatus(pg->conn);

	return s == PQTRANS_INTRANS || s == PQTRANS_INERROR;
}

const char *pg_sqlstate(const struct pg *pg)
{
	return pg->sqlstate;
}

int pg_server_version(const struct pg *pg)
{
	return PQserverVersion(pg->conn);
}

void pg_break(struct pg *pg)
{
	if (pg->fd >= 0)
		shutdown(pg->fd, SHUT_RDWR);
}

void pg_cancel(struct pg *pg)
{
	char text[256];

	pthread_mutex_lock(&pg->lock);
	if (pg->cancel != NULL)
		PQcancel(pg->cancel, text, sizeof(text));
	pthread_mutex_unlock(&pg->lock);
}

/* ---- statements */

struct args {
	int n;
	const char *values[MAX_ARGS];
	int lengths[MAX_ARGS];
	int formats[MAX_ARGS];
};

/* Walks the values: each is its length (-1 = null) and its bytes. */
static void split_args(const struct buf *b, struct args *a)
{
	size_t at = 0;

	a->n = 0;
	if (b == NULL)
		return;
	assert(!buf_failed(b));
	while (at < b->len) {
		uint32_t len;

		assert(a->n < MAX_ARGS && b->len - at >= sizeof(len));
		memcpy(&len, b->data + at, sizeof(len));
		len = be32toh(len);
		at += sizeof(len);
		a->formats[a->n] = 1;
		a->lengths[a->n] = len == UINT32_MAX ? 0 : (int)len;
		a->values[a->n] = len == UINT32_MAX ? NULL : b->data + at;
		at += (size_t)a->lengths[a->n];
		a->n++;
	}
	assert(at == b->len);
}

static void server_name(const struct prepared *p, char ret[NAME_MAX_LEN])
{
	snprintf(ret, NAME_MAX_LEN, "%.50s_%u", p->st->name, p->number);
}

static const struct prepared *find_prepared(const struct pg *pg, const struct statement *st)
{
	for (int i = 0; i < pg->n_prepared; i++)
		if (pg->prepared[i].st == st)
			return &pg->prepared[i];
	return NULL;
}

void pg_forget(struct pg *pg, const struct statement *st)
{
	const struct prepared *p = find_prepared(pg, st);
	char name[NAME_MAX_LEN];

	if (p == NULL)
		return;
	server_name(p, name);
	buf_printf(&pg->forgotten, "DEALLOCATE \"%s\";", name);
	pg->prepared[p - pg->prepared] = pg->prepared[--pg->n_prepared];
}

/* A failed transaction would refuse it: then it waits. */
static int deallocate(struct pg *pg, struct err *err)
{
	if (pg->forgotten.len == 0 || PQtransactionStatus(pg->conn) == PQTRANS_INERROR)
		return 0;
	if (pg_script(pg, buf_str(&pg->forgotten), err) < 0)
		return -1;
	buf_clear(&pg->forgotten);
	return 0;
}

static int prepare(struct pg *pg, const struct statement *st, char ret_name[NAME_MAX_LEN],
		   struct err *err)
{
	const struct prepared *known = find_prepared(pg, st);
	struct prepared new = { .st = st };

	if (known != NULL) {
		server_name(known, ret_name);
		return 0;
	}
	assert(pg->n_prepared < MAX_PREPARED);
	if (deallocate(pg, err) < 0)
		return -1;
	new.number = ++pg->last_number;
	server_name(&new, ret_name);
	if (start(pg, PQsendPrepare(pg->conn, ret_name, st->sql, 0, NULL), st->name, NULL, err) < 0)
		return -1;
	pg->prepared[pg->n_prepared++] = new;
	return 0;
}

int pg_run(struct pg *pg, const struct statement *st, const struct buf *args, PGresult **ret_result,
	   struct err *err)
{
	char name[NAME_MAX_LEN];
	struct args a;

	if (check_alive(pg, st->name, err) < 0 || prepare(pg, st, name, err) < 0)
		return -1;
	split_args(args, &a);
	return start(pg,
		     PQsendQueryPrepared(pg->conn, name, a.n, a.values, a.lengths, a.formats, 1),
		     st->name, ret_result, err);
}

int pg_run_once(struct pg *pg, const char *sql, const struct buf *args, PGresult **ret_result,
		struct err *err)
{
	struct args a;

	if (check_alive(pg, NULL, err) < 0)
		return -1;
	split_args(args, &a);
	return start(pg,
		     PQsendQueryParams(pg->conn, sql, a.n, NULL, a.values, a.lengths, a.formats, 1),
		     NULL, ret_result, err);
}

int pg_script(struct pg *pg, const char *sql, struct err *err)
{
	if (check_alive(pg, NULL, err) < 0)
		return -1;
	return start(pg, PQsendQuery(pg->conn, sql), NULL, NULL, err);
}

int64_t pg_affected(const PGresult *result)
{
	/* PQcmdTuples takes what it does not change. */
	union {
		const PGresult *in;
		PGresult *out;
	} r = { .in = result };

	return strtoll(PQcmdTuples(r.out), NULL, 10);
}

int pg_begin(struct pg *pg, struct err *err)
{
	return pg_script(pg, "BEGIN", err);
}

int pg_commit(struct pg *pg, struct err *err)
{
	return pg_script(pg, "COMMIT", err);
}

void pg_rollback(struct pg *pg)
{
	if (pg_alive(pg) && pg_script(pg, "ROLLBACK", NULL) < 0)
		pg->dead = true;
}

/* ---- COPY */

static int start_copy(struct pg *pg, const char *sql, ExecStatusType want, struct err *err)
{
	PGresult *res = NULL;
	int rc;

	if (check_alive(pg, NULL, err) < 0 ||
	    start(pg, PQsendQuery(pg->conn, sql), NULL, &res, err) < 0)
		return -1;
	rc = PQresultStatus(res) == want ? 0 : -1;
	PQclear(res);
	if (rc < 0)
		err_set(err, ERR_INTERNAL, NULL, "not a COPY: %.80s", sql);
	return rc;
}

int pg_copy_in(struct pg *pg, const char *sql, struct err *err)
{
	return start_copy(pg, sql, PGRES_COPY_IN, err);
}

int pg_copy_put(struct pg *pg, const void *data, size_t n, struct err *err)
{
	const char *p = data;

	while (n > 0) {
		int piece = n > 1 << 20 ? 1 << 20 : (int)n;
		int rc = PQputCopyData(pg->conn, p, piece);

		if (rc < 0)
			return lost(pg, NULL, err);
		if (flush(pg, NULL, err) < 0)
			return -1;
		if (rc > 0) {
			p += piece;
			n -= (size_t)piece;
		}
	}
	return 0;
}

static int end_copy_in(struct pg *pg, const char *why, PGresult **ret_result, struct err *err)
{
	int rc;

	while ((rc = PQputCopyEnd(pg->conn, why)) == 0)
		if (flush(pg, NULL, err) < 0)
			return -1;
	return rc < 0 ? lost(pg, NULL, err) : finish(pg, NULL, ret_result, err);
}

int pg_copy_done(struct pg *pg, int64_t *ret_rows, struct err *err)
{
	PGresult *res = NULL;

	if (end_copy_in(pg, NULL, &res, err) < 0)
		return -1;
	if (ret_rows != NULL)
		*ret_rows = pg_affected(res);
	PQclear(res);
	return 0;
}

void pg_copy_abort(struct pg *pg)
{
	if (pg_alive(pg))
		end_copy_in(pg, "not wanted any more", NULL, NULL);
}

int pg_copy_out(struct pg *pg, const char *sql, struct err *err)
{
	return start_copy(pg, sql, PGRES_COPY_OUT, err);
}

int pg_copy_get(struct pg *pg, char **ret_row, size_t *ret_len, struct err *err)
{
	int n;

	while ((n = PQgetCopyData(pg->conn, ret_row, 1)) == 0) {
		if (await(pg, false, NULL, err) < 0)
			return -1;
		if (PQconsumeInput(pg->conn) == 0)
			return lost(pg, NULL, err);
	}
	if (n > 0) {
		*ret_len = (size_t)n;
		return 1;
	}
	if (n == -2)
		return lost(pg, NULL, err);
	return finish(pg, NULL, NULL, err);
}

void pg_copy_stop(struct pg *pg)
{
	char *row;
	size_t len;

	pg_cancel(pg);
	while (pg_copy_get(pg, &row, &len, NULL) > 0)
		PQfreemem(row);
}

#include "store/write_tx.h"

#include "base/arena.h"
#include "store/advisory.h"
#include "store/binrow.h"
#include "store/store.h"

#define LEAVES 12

/* The statements of one month that are prepared. */
struct leaf {
	int month;
	uint64_t used;
	const struct leaf_statement *source[LEAF_STATEMENTS_MAX];
	struct statement prepared[LEAF_STATEMENTS_MAX];
	int n;
};

struct write_tx {
	struct store *store;
	int lock_timeout_ms;
	struct pg *pg;
	bool open;
	enum write_fault fault;
	enum write_scope scope, fault_scope;
	int month, fault_month;
	struct buf args;
	bool has_aside;
	PGresult *horizons; /* NULL = there are none; one of kept */
	PGresult **kept;
	size_t n_kept, cap_kept;
	struct leaf leaves[LEAVES];
	uint64_t clock;
};

struct write_tx *write_tx_new(struct store *store, int lock_timeout_ms)
{
	struct write_tx *tx = xcalloc(1, sizeof(*tx));

	tx->store = store;
	tx->lock_timeout_ms = lock_timeout_ms;
	return tx;
}

static void forget_leaf(struct write_tx *tx, struct leaf *l)
{
	for (int i = 0; i < l->n; i++) {
		if (tx->pg != NULL)
			pg_forget(tx->pg, &l->prepared[i]);
		free((void *)(uintptr_t)l->prepared[i].name);
		free((void *)(uintptr_t)l->prepared[i].sql);
	}
	*l = (struct leaf){ 0 };
}

static void disconnect(struct write_tx *tx)
{
	store_writer_done(tx->store, tx->pg);
	tx->pg = NULL;
	tx->open = false;
	for (int i = 0; i < LEAVES; i++)
		forget_leaf(tx, &tx->leaves[i]);
}

void write_tx_free(struct write_tx *tx)
{
	if (tx == NULL)
		return;
	write_rollback(tx);
	disconnect(tx);
	buf_fini(&tx->args);
	free(tx->kept);
	free(tx);
}

/* ---- what failures mean to the writer */

static const struct {
	const char *state; /* a SQLSTATE, or the class it begins with */
	enum write_fault fault;
} faults[] = {
	{ "55P03", FAULT_LOCKED }, /* lock_timeout */
	{ "40P01", FAULT_LOCKED }, /* a deadlock with somebody else's statement */
	{ "42P01", FAULT_SCHEMA }, /* no such table */
	{ "22", FAULT_DATA },
	{ "23", FAULT_DATA },
	{ "44", FAULT_DATA },
	{ "54", FAULT_DATA }, /* a limit of the server: an index entry too large */
	{ "P0", FAULT_DATA }, /* raised by a trigger of the site */
	{ "XX001", FAULT_DATA }, /* a damaged page: the others' records need not wait for it */
	{ "XX002", FAULT_DATA },
};

int write_failed(struct write_tx *tx)
{
	const char *state = pg_sqlstate(tx->pg);

	tx->fault = FAULT_DATABASE;
	tx->fault_scope = tx->scope;
	tx->fault_month = tx->month;
	for (size_t i = 0; i < ARRAY_LEN(faults); i++)
		if (strncmp(state, faults[i].state, strlen(faults[i].state)) == 0) {
			tx->fault = faults[i].fault;
			break;
		}
	return -1;
}

enum write_fault write_fault(const struct write_tx *tx)
{
	return tx->fault;
}

enum write_scope write_fault_scope(const struct write_tx *tx, int *ret_month)
{
	*ret_month = tx->fault_month;
	return tx->fault_scope;
}

/* ---- transactions */

/* Rows are found by key, and a plan made while a partition was empty must not become a scan when
 * it is not. */
static const char session[] =
	"SET enable_seqscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off; "
	"SET plan_cache_mode = force_generic_plan; SET jit = off";

static int connect_session(struct write_tx *tx, struct err *err)
{
	if (tx->pg != NULL && pg_alive(tx->pg))
		return 0;
	disconnect(tx);
	tx->pg = store_writer(tx->store, tx->lock_timeout_ms, err);
	if (tx->pg == NULL || pg_script(tx->pg, session, err) < 0) {
		disconnect(tx);
		tx->fault = FAULT_DATABASE;
		tx->fault_scope = SCOPE_WHOLE;
		return -1;
	}
	return 0;
}

/* Rows stay in the month they are written to: who moves months waits. */
static int begin(struct write_tx *tx, struct err *err)
{
	char sql[128];

	snprintf(sql, sizeof(sql), "BEGIN; SELECT pg_advisory_xact_lock_shared(%d, %d)",
		 ADVISORY_CLASS, ADVISORY_SPAN);
	return pg_script(tx->pg, sql, err) < 0 ? write_failed(tx) : 0;
}

static int fail_begin(struct write_tx *tx, enum write_fault fault, const char *text,
		      struct err *err)
{
	tx->fault = fault;
	tx->fault_scope = SCOPE_WHOLE;
	return err_set(err, ERR_BUSY, NULL, "%s", text);
}

static int load_horizons(struct write_tx *tx, struct err *err)
{
	static const struct statement load = { "horizons",
					       "SELECT cluster, kind, before FROM purge_horizon" };

	write_args(tx);
	return write_run(tx, &load, &tx->horizons, err);
}

int write_begin(struct write_tx *tx, int64_t epoch, const struct span *span, struct err *err)
{
	static const struct statement check = {
		"write_begin", "SELECT coalesce(s.generation, -1), "
			       "(SELECT count(*) FROM purge_horizon), "
			       "EXISTS (SELECT 1 FROM job_aside) FROM daemon d "
			       "LEFT JOIN job_span s ON true WHERE d.epoch = $1::bigint "
			       "FOR SHARE OF d"
	};
	PGresult *r;

	assert(!tx->open);
	if (connect_session(tx, err) < 0)
		return -1;
	write_in_scope(tx, SCOPE_WHOLE, 0);
	tx->fault = FAULT_NONE;
	tx->open = true;
	if (begin(tx, err) < 0)
		return -1;
	bin_i64(write_args(tx), epoch);
	if (write_run(tx, &check, &r, err) < 0)
		return -1;
	if (PQntuples(r) != 1)
		return fail_begin(tx, FAULT_FENCED, "another tallyd is the active one now", err);
	if (span != NULL && bin_read_i64(r, 0, 0) != span->generation)
		return fail_begin(tx, FAULT_SCHEMA, "the months have moved", err);
	tx->has_aside = PQgetvalue(r, 0, 2)[0] != 0;
	return bin_read_i64(r, 0, 1) > 0 ? load_horizons(tx, err) : 0;
}

bool write_has_aside(const struct write_tx *tx)
{
	return tx->has_aside;
}

int64_t write_horizon(const struct write_tx *tx, const char *cluster, const char *kind)
{
	const PGresult *r = tx->horizons;

	for (int i = 0; r != NULL && i < PQntuples(r); i++)
		if (strcmp(PQgetvalue(r, i, 0), cluster) == 0 &&
		    strcmp(PQgetvalue(r, i, 1), kind) == 0)
			return bin_read_i64(r, i, 2);
	return INT64_MIN;
}

int write_read_span(struct write_tx *tx, struct span *ret_span, struct err *err)
{
	if (connect_session(tx, err) < 0)
		return -1;
	write_in_scope(tx, SCOPE_WHOLE, 0);
	return partition_span(tx->pg, ret_span, err) < 0 ? write_failed(tx) : 0;
}

int write_ensure_month(struct write_tx *tx, int month, struct err *err)
{
	if (connect_session(tx, err) < 0)
		return -1;
	write_in_scope(tx, SCOPE_MONTH, month);
	return partition_ensure(tx->pg, month, err) < 0 ? write_failed(tx) : 0;
}

static void free_kept(struct write_tx *tx)
{
	for (size_t i = 0; i < tx->n_kept; i++)
		PQclear(tx->kept[i]);
	tx->n_kept = 0;
	tx->horizons = NULL;
}

int write_commit(struct write_tx *tx, struct err *err)
{
	write_in_scope(tx, SCOPE_WHOLE, 0);
	if (pg_commit(tx->pg, err) < 0)
		return write_failed(tx);
	tx->open = false;
	free_kept(tx);
	return 0;
}

void write_rollback(struct write_tx *tx)
{
	if (tx->open)
		pg_rollback(tx->pg);
	tx->open = false;
	free_kept(tx);
}

/* ---- statements */

void write_in_scope(struct write_tx *tx, enum write_scope scope, int month)
{
	tx->scope = scope;
	tx->month = month;
}

struct pg *write_pg(struct write_tx *tx)
{
	return tx->pg;
}

struct buf *write_args(struct write_tx *tx)
{
	buf_clear(&tx->args);
	return &tx->args;
}

static void keep(struct write_tx *tx, PGresult *r)
{
	if (tx->n_kept == tx->cap_kept) {
		tx->cap_kept = tx->cap_kept != 0 ? tx->cap_kept * 2 : 32;
		tx->kept = xrealloc(tx->kept, tx->cap_kept * sizeof(PGresult *));
	}
	tx->kept[tx->n_kept++] = r;
}

int write_run(struct write_tx *tx, const struct statement *st, PGresult **ret_result,
	      struct err *err)
{
	if (pg_run(tx->pg, st, &tx->args, ret_result, err) < 0)
		return write_failed(tx);
	if (ret_result != NULL)
		keep(tx, *ret_result);
	return 0;
}

int write_run_alone(struct write_tx *tx, const struct statement *st, PGresult **ret_result,
		    struct err *err)
{
	if (connect_session(tx, err) < 0)
		return -1;
	write_in_scope(tx, SCOPE_WHOLE, 0);
	if (pg_run(tx->pg, st, &tx->args, ret_result, err) < 0)
		return write_failed(tx);
	return 0;
}

/* ---- statements of a partition */

static void add_sql(struct buf *b, const char *sql, int month)
{
	for (; *sql != '\0'; sql++) {
		if (*sql != '@')
			buf_addc(b, *sql);
		else if (month == 0)
			buf_adds(b, "old");
		else if (month == 999999)
			buf_adds(b, "far");
		else
			buf_printf(b, "%06d", month);
	}
}

static struct leaf *find_leaf(struct write_tx *tx, int month)
{
	struct leaf *l = &tx->leaves[0];

	for (int i = 0; i < LEAVES; i++) {
		if (tx->leaves[i].n > 0 && tx->leaves[i].month == month)
			return &tx->leaves[i];
		if (tx->leaves[i].used < l->used)
			l = &tx->leaves[i];
	}
	forget_leaf(tx, l);
	l->month = month;
	return l;
}

static const struct statement *prepared_in(struct write_tx *tx, const struct leaf_statement *st,
					   int month)
{
	struct leaf *l = find_leaf(tx, month);
	struct buf sql = BUF_INIT, name = BUF_INIT;

	l->used = ++tx->clock;
	for (int i = 0; i < l->n; i++)
		if (l->source[i] == st)
			return &l->prepared[i];
	assert(l->n < LEAF_STATEMENTS_MAX);
	add_sql(&sql, st->sql, month);
	buf_printf(&name, "%s_%06d", st->name, month);
	l->source[l->n] = st;
	l->prepared[l->n] = (struct statement){ name.data, sql.data };
	return &l->prepared[l->n++];
}

int write_run_in(struct write_tx *tx, const struct leaf_statement *st, int month,
		 PGresult **ret_result, struct err *err)
{
	write_in_scope(tx, SCOPE_MONTH, month);
	return write_run(tx, prepared_in(tx, st, month), ret_result, err);
}

int write_copy(struct write_tx *tx, const char *sql, const struct buf *rows, struct err *err)
{
	int rc = pg_copy_in(tx->pg, sql, err);

	if (rc == 0)
		rc = pg_copy_put(tx->pg, rows->data, rows->len, err);
	if (rc == 0)
		rc = pg_copy_done(tx->pg, NULL, err);
	return rc < 0 ? write_failed(tx) : 0;
}

int write_copy_in(struct write_tx *tx, const struct leaf_statement *st, int month,
		  const struct buf *rows, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	write_in_scope(tx, SCOPE_MONTH, month);
	add_sql(&sql, st->sql, month);
	rc = write_copy(tx, buf_str(&sql), rows, err);
	buf_fini(&sql);
	return rc;
}

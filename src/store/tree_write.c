#include "store/tree_write.h"

#include "store/binrow.h"
#include "store/pg.h"
#include "store/registry.h"
#include "store/tree_rows.h"

struct tree_tx {
	struct store *store;
	struct pg *pg;
	int64_t version;
	bool counted; /* version is this transaction's own */
};

static void done(struct tree_tx *tx)
{
	store_reader_done(tx->store, tx->pg);
	free(tx);
}

/* Everything that changes the tree stands in line here. */
static int hold_version(struct tree_tx *tx, struct err *err)
{
	static const struct statement hold = { "tree_hold",
					       "SELECT version FROM tree_version FOR UPDATE" };
	PGresult *r;

	if (pg_script(tx->pg, "BEGIN; SET LOCAL lock_timeout = '5s'", err) < 0)
		return -1;
	if (pg_run(tx->pg, &hold, NULL, &r, err) < 0) {
		if (err != NULL && err->code == ERR_BUSY)
			err_set(err, ERR_BUSY, NULL, "somebody else is changing accounts");
		return -1;
	}
	tx->version = bin_read_i64(r, 0, 0);
	PQclear(r);
	return 0;
}

struct tree_tx *tree_tx_begin(struct store *s, struct err *err)
{
	struct tree_tx *tx = xcalloc(1, sizeof(*tx));

	tx->store = s;
	tx->pg = store_reader(s, err);
	if (tx->pg != NULL && hold_version(tx, err) == 0)
		return tx;
	if (tx->pg != NULL)
		pg_rollback(tx->pg);
	done(tx);
	return NULL;
}

void tree_tx_rollback(struct tree_tx *tx)
{
	if (tx == NULL)
		return;
	pg_rollback(tx->pg);
	done(tx);
}

int tree_tx_commit(struct tree_tx *tx, struct err *err)
{
	int rc = pg_commit(tx->pg, err);

	if (rc < 0)
		pg_rollback(tx->pg);
	done(tx);
	return rc;
}

struct tree *tree_tx_tree(struct tree_tx *tx, struct tree_cache *cache, struct err *err)
{
	struct tree *t = tx->counted ? NULL : tree_cache_kept(cache, tx->version);

	return t != NULL ? t : tree_read(tx->pg, err);
}

/* ---- rows

 * On any connection whose transaction holds tree_version. */

static const char *sql_type(const struct field *f)
{
	return field_is_text(f->type) ? "text" : "bigint";
}

/* Numbers that the database gives. */
static bool is_given(enum entity_kind kind, size_t field)
{
	return kind == ENTITY_TXN && field == TXN_id;
}

static bool is_written(enum entity_kind kind, size_t i)
{
	return field_is_column(&entities[kind].fields[i]) && !is_given(kind, i);
}

/* Has it the column `changed`? */
static bool is_versioned(enum entity_kind kind)
{
	return kind != ENTITY_TXN;
}

static void add_names(struct buf *sql, enum entity_kind kind, const char *prefix)
{
	const char *comma = "";

	for (size_t i = 0; i < entities[kind].n; i++)
		if (is_written(kind, i)) {
			buf_printf(sql, "%s%s\"%s\"", comma, prefix, entities[kind].fields[i].name);
			comma = ", ";
		}
}

static void add_conflict(struct buf *sql, enum entity_kind kind)
{
	const struct entity *e = &entities[kind];

	buf_adds(sql, " ON CONFLICT (");
	for (size_t i = 0; i < e->n; i++)
		if ((e->fields[i].flags & FF_KEY) != 0)
			buf_printf(sql, "%s\"%s\"", i > 0 ? ", " : "", e->fields[i].name);
	buf_adds(sql, ") DO UPDATE SET changed = excluded.changed");
	for (size_t i = 0; i < e->n; i++)
		if (is_written(kind, i) && (e->fields[i].flags & FF_KEY) == 0)
			buf_printf(sql, ", \"%s\" = excluded.\"%s\"", e->fields[i].name,
				   e->fields[i].name);
}

/* $1 is the version, then an array for each column. */
static void upsert_text(struct buf *sql, enum entity_kind kind)
{
	const struct entity *e = &entities[kind];
	bool versioned = is_versioned(kind);
	int n = versioned ? 2 : 1;
	const char *comma = "";

	buf_printf(sql, "INSERT INTO %s (", e->table);
	add_names(sql, kind, "");
	buf_printf(sql, "%s) SELECT ", versioned ? ", changed" : "");
	add_names(sql, kind, "u.");
	buf_printf(sql, "%s FROM unnest(", versioned ? ", $1::bigint" : "");
	for (size_t i = 0; i < e->n; i++)
		if (is_written(kind, i)) {
			buf_printf(sql, "%s$%d::%s[]", comma, n++, sql_type(&e->fields[i]));
			comma = ", ";
		}
	buf_adds(sql, ") AS u (");
	add_names(sql, kind, "");
	buf_addc(sql, ')');
	if (versioned)
		add_conflict(sql, kind);
}

static int upsert(struct pg *pg, int64_t version, enum entity_kind kind,
		  const void *const *rows, size_t n, struct err *err)
{
	struct buf sql = BUF_INIT, args = BUF_INIT;
	int rc;

	upsert_text(&sql, kind);
	if (is_versioned(kind))
		bin_i64(&args, version);
	for (size_t i = 0; i < entities[kind].n; i++)
		if (is_written(kind, i))
			bin_entity_array(&args, &entities[kind], i, rows, n);
	rc = pg_run_once(pg, buf_str(&sql), &args, NULL, err);
	buf_fini(&args);
	buf_fini(&sql);
	return rc;
}

/* ---- the dated tree */

/* Of the associations that have changed, those that stand otherwise than in their last period.  A
 * clock that went back makes no period that ends before it begins; a second change in one second
 * writes over the first. */
static const char periods[] =
	"WITH now AS (SELECT w.*, h.id IS NULL AS first, "
	"  greatest($2::bigint, h.valid_from) AS at "
	"  FROM unnest($3::text[], $4::bigint[], $5::bigint[], $6::text[], $7::bigint[], "
	"    $8::bigint[]) AS w (cluster, id, parent_id, account, shares, deleted) "
	"  LEFT JOIN association_history h "
	"    ON h.cluster = w.cluster AND h.id = w.id AND h.valid_to IS NULL "
	"  WHERE h.id IS NULL OR (h.parent_id, h.account, h.shares, h.deleted) IS DISTINCT FROM "
	"    (w.parent_id, w.account, w.shares, w.deleted)), "
	"closed AS (UPDATE association_history h SET valid_to = now.at, changed = $1::bigint "
	"  FROM now WHERE h.cluster = now.cluster AND h.id = now.id AND h.valid_to IS NULL "
	"  AND h.valid_from < now.at) "
	"INSERT INTO association_history AS h (cluster, id, valid_from, parent_id, account, shares, "
	"  deleted, first, changed) "
	"SELECT cluster, id, at, parent_id, account, shares, deleted, first, $1::bigint FROM now "
	"ON CONFLICT (cluster, id, valid_from) DO UPDATE SET parent_id = excluded.parent_id, "
	"  account = excluded.account, shares = excluded.shares, deleted = excluded.deleted, "
	"  changed = excluded.changed";

static int write_periods(struct pg *pg, int64_t version, const void *const *rows, size_t n,
			 int64_t now, struct err *err)
{
	static const enum assoc_field columns[] = { ASSOC_cluster, ASSOC_id,	 ASSOC_parent_id,
						    ASSOC_account, ASSOC_shares, ASSOC_deleted };
	struct buf args = BUF_INIT;
	int rc;

	bin_i64(&args, version);
	bin_i64(&args, now);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		bin_entity_array(&args, &entities[ENTITY_ASSOC], columns[i], rows, n);
	rc = pg_run_once(pg, periods, &args, NULL, err);
	buf_fini(&args);
	return rc;
}

/* ---- what controllers are told */

static int write_outbox(struct pg *pg, int64_t version, const struct outbox_row *rows, size_t n,
			struct err *err)
{
	static const char sql[] = "INSERT INTO outbox (version, kind, cluster, id, body) "
				  "SELECT $1::bigint, kind, cluster, nullif(id, 0), body "
				  "FROM unnest($2::text[], $3::text[], $4::bigint[], $5::text[]) "
				  "WITH ORDINALITY AS u (kind, cluster, id, body, place) "
				  "ORDER BY place";
	struct buf args = BUF_INIT;
	int rc;

	bin_i64(&args, version);
	bin_text_column(&args, &rows->kind, sizeof(*rows), n);
	bin_text_column(&args, &rows->cluster, sizeof(*rows), n);
	bin_i64_column(&args, &rows->id, sizeof(*rows), n);
	bin_text_column(&args, &rows->body, sizeof(*rows), n);
	rc = pg_run_once(pg, sql, &args, NULL, err);
	buf_fini(&args);
	return rc;
}

/* ---- all of it */

static int count_version(struct pg *pg, int64_t *ret, struct err *err)
{
	static const struct statement count = {
		"tree_count", "UPDATE tree_version SET version = version + 1 RETURNING version"
	};
	PGresult *r;

	if (pg_run(pg, &count, NULL, &r, err) < 0)
		return -1;
	*ret = bin_read_i64(r, 0, 0);
	PQclear(r);
	return 0;
}

static int write_kind(struct pg *pg, int64_t version, enum entity_kind kind,
		      const struct draft_row *rows, size_t n, int64_t now, struct arena *arena,
		      struct err *err)
{
	const void **list = ARENA_ARRAY(arena, const void *, n + 1);
	size_t k = 0;

	for (size_t i = 0; i < n; i++)
		if (rows[i].kind == kind)
			list[k++] = rows[i].now;
	if (k == 0)
		return 0;
	if (upsert(pg, version, kind, list, k, err) < 0)
		return -1;
	return kind == ENTITY_ASSOC ? write_periods(pg, version, list, k, now, err) : 0;
}

static int write_log(struct pg *pg, int64_t version, const struct draft_row *rows, size_t n,
		     const struct draft_actor *actor, struct arena *arena, struct err *err)
{
	const void **list = ARENA_ARRAY(arena, const void *, n + 1);
	struct outbox_row *outbox;
	struct txn *txn;

	draft_log(rows, n, actor, arena, &txn, &outbox);
	for (size_t i = 0; i < n; i++)
		list[i] = &txn[i];
	if (upsert(pg, version, ENTITY_TXN, list, n, err) < 0)
		return -1;
	return write_outbox(pg, version, outbox, n, err);
}

int tree_write_rows(struct pg *pg, int64_t version, const struct draft_row *rows, size_t n,
		    const struct draft_actor *actor, struct arena *arena, struct err *err)
{
	for (int k = 0; k < ENTITIES; k++)
		if (write_kind(pg, version, (enum entity_kind)k, rows, n, actor->at, arena,
			       err) < 0)
			return -1;
	return write_log(pg, version, rows, n, actor, arena, err);
}

int tree_tx_write(struct tree_tx *tx, const struct draft_row *rows, size_t n,
		  const struct draft_actor *actor, struct arena *arena, struct err *err)
{
	if (n == 0)
		return 0;
	if (!tx->counted && count_version(tx->pg, &tx->version, err) < 0)
		return -1;
	tx->counted = true;
	return tree_write_rows(tx->pg, tx->version, rows, n, actor, arena, err);
}

int tree_tx_add_tres(struct tree_tx *tx, const char *const *names, size_t n, struct err *err)
{
	struct buf args = BUF_INIT;
	int rc;

	if (n == 0)
		return 0;
	bin_text_array(&args, names, n);
	rc = pg_run(tx->pg, &registry_tres_add, &args, NULL, err);
	buf_fini(&args);
	return rc;
}

int tree_tx_open_jobs(struct tree_tx *tx, const struct open_jobs_query *q, open_job_sink *sink,
		      void *arg, struct err *err)
{
	static const char sql[] =
		"SELECT job_id, (start_at IS NOT NULL)::int::bigint, cluster, "
		"coalesce(account, ''), coalesce(user_name, ''), coalesce(partition, ''), "
		"coalesce(qos, ''), coalesce(assoc_id, 0) FROM job WHERE end_at IS NULL "
		"AND (account = ANY ($1::text[]) OR qos = ANY ($3::text[]) "
		"OR (coalesce(account, '') = '' AND user_name = ANY ($2::text[]))) "
		"ORDER BY job_id";
	struct buf args = BUF_INIT;
	PGresult *r = NULL;
	int rc;

	bin_text_array(&args, q->accounts.v, q->accounts.n);
	bin_text_array(&args, q->users.v, q->users.n);
	bin_text_array(&args, q->qos.v, q->qos.n);
	rc = pg_run_once(tx->pg, sql, &args, &r, err);
	buf_fini(&args);
	for (int i = 0; rc == 0 && i < PQntuples(r); i++) {
		const struct open_job job = {
			.job_id = bin_read_i64(r, i, 0),
			.running = bin_read_i64(r, i, 1) != 0,
			.cluster = PQgetvalue(r, i, 2),
			.account = PQgetvalue(r, i, 3),
			.user = PQgetvalue(r, i, 4),
			.partition = PQgetvalue(r, i, 5),
			.qos = PQgetvalue(r, i, 6),
			.assoc_id = bin_read_i64(r, i, 7),
		};
		sink(&job, arg);
	}
	PQclear(r);
	return rc;
}

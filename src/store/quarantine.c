#include "store/quarantine.h"

#include "base/arena.h"
#include "core/utf8.h"
#include "store/binrow.h"
#include "store/store.h"

static const struct statement put = {
	"quarantine_put",
	"WITH known AS ("
	"SELECT id FROM quarantine WHERE sha256(raw) = sha256($7::bytea) AND raw = $7::bytea "
	"AND length(raw) > 0 AND replayed_at IS NULL ORDER BY id LIMIT 1), "
	"added AS (INSERT INTO quarantine "
	"(received_at, source, who, kind, reason_field, reason_text, raw) "
	"SELECT $1::bigint, $2::text, $3::text, $4::text, $5::text, $6::text, $7::bytea "
	"WHERE NOT EXISTS (SELECT 1 FROM known) RETURNING id) "
	"SELECT id FROM known UNION ALL SELECT id FROM added"
};

/* Reasons quote what was refused, so they may hold bytes that are no text. */
static void add_text(struct buf *args, const char *text, struct arena *arena)
{
	if (text == NULL)
		text = "";
	bin_text(args, utf8_mend(text, strlen(text), arena, NULL));
}

int quarantine_put(struct write_tx *tx, const struct quarantined *q, int64_t *ret_id,
		   struct err *err)
{
	struct buf *args = write_args(tx);
	struct arena *arena = arena_new();
	PGresult *r;

	bin_i64(args, q->received_at);
	add_text(args, q->source, arena);
	add_text(args, q->who, arena);
	add_text(args, q->kind, arena);
	add_text(args, q->field, arena);
	add_text(args, q->reason, arena);
	bin_bytes(args, q->raw_len > 0 ? q->raw : "", q->raw_len);
	arena_free(arena);
	write_in_scope(tx, SCOPE_QUARANTINE, 0);
	if (write_run(tx, &put, &r, err) < 0)
		return -1;
	*ret_id = bin_read_i64(r, 0, 0);
	return 0;
}

/* ---- for the administrator */

#define COLUMNS                                                                                    \
	"id, received_at, source, who, kind, reason_field, reason_text, raw, "                     \
	"coalesce(replayed_at, 0)"

static void read_row(const PGresult *r, int row, struct quarantined *ret)
{
	*ret = (struct quarantined){
		.id = bin_read_i64(r, row, 0),
		.received_at = bin_read_i64(r, row, 1),
		.source = PQgetvalue(r, row, 2),
		.who = PQgetvalue(r, row, 3),
		.kind = PQgetvalue(r, row, 4),
		.field = PQgetvalue(r, row, 5),
		.reason = PQgetvalue(r, row, 6),
		.raw = PQgetvalue(r, row, 7),
		.raw_len = (size_t)PQgetlength(r, row, 7),
		.replayed_at = bin_read_i64(r, row, 8),
	};
}

static int run(struct store *s, const struct statement *st, const struct buf *args,
	       PGresult **ret_result, struct err *err)
{
	struct pg *pg = store_reader(s, err);
	int rc;

	if (pg == NULL)
		return -1;
	rc = pg_run(pg, st, args, ret_result, err);
	store_reader_done(s, pg);
	return rc;
}

int store_quarantine_list(struct store *s, int64_t after, int64_t limit, bool with_replayed,
			  quarantine_sink *sink, void *arg, struct err *err)
{
	static const struct statement all = {
		"quarantine_all", "SELECT " COLUMNS " FROM quarantine WHERE id > $1::bigint "
				  "ORDER BY id LIMIT $2::bigint"
	};
	static const struct statement open = {
		"quarantine_open", "SELECT " COLUMNS " FROM quarantine WHERE id > $1::bigint "
				   "AND replayed_at IS NULL ORDER BY id LIMIT $2::bigint"
	};
	struct buf args = BUF_INIT;
	struct quarantined q;
	PGresult *r;
	int rc;

	bin_i64(&args, after);
	bin_i64(&args, limit);
	rc = run(s, with_replayed ? &all : &open, &args, &r, err);
	buf_fini(&args);
	if (rc < 0)
		return -1;
	for (int i = 0; rc >= 0 && i < PQntuples(r); i++) {
		read_row(r, i, &q);
		rc = sink(&q, arg);
	}
	PQclear(r);
	return rc < 0 ? err_set(err, ERR_GONE, NULL, "the reader stopped") : 0;
}

static void copy_texts(struct quarantined *q, struct arena *arena)
{
	q->source = arena_strdup(arena, q->source);
	q->who = arena_strdup(arena, q->who);
	q->kind = arena_strdup(arena, q->kind);
	q->field = arena_strdup(arena, q->field);
	q->reason = arena_strdup(arena, q->reason);
	q->raw = memcpy(arena_alloc(arena, q->raw_len + 1), q->raw, q->raw_len);
}

int store_quarantine_get(struct store *s, int64_t id, struct arena *arena, struct quarantined *ret,
			 struct err *err)
{
	static const struct statement st = {
		"quarantine_get", "SELECT " COLUMNS " FROM quarantine WHERE id = $1::bigint"
	};
	struct buf args = BUF_INIT;
	PGresult *r;
	int rc;

	bin_i64(&args, id);
	rc = run(s, &st, &args, &r, err);
	buf_fini(&args);
	if (rc < 0)
		return -1;
	if (PQntuples(r) == 1) {
		read_row(r, 0, ret);
		copy_texts(ret, arena);
	} else {
		rc = err_set(err, ERR_NOT_FOUND, "id", "no record %" PRId64 " in quarantine", id);
	}
	PQclear(r);
	return rc;
}

int store_quarantine_mark_replayed(struct store *s, int64_t id, int64_t now, struct err *err)
{
	static const struct statement st = {
		"quarantine_mark",
		"UPDATE quarantine SET replayed_at = $2::bigint WHERE id = $1::bigint"
	};
	struct buf args = BUF_INIT;
	PGresult *r;
	int64_t n;
	int rc;

	bin_i64(&args, id);
	bin_i64(&args, now);
	rc = run(s, &st, &args, &r, err);
	buf_fini(&args);
	if (rc < 0)
		return -1;
	n = pg_affected(r);
	PQclear(r);
	return n == 1 ? 0 : err_set(err, ERR_NOT_FOUND, "id",
				    "no record %" PRId64 " in quarantine", id);
}

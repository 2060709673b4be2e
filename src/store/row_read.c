#include "store/row_read.h"

#include "store/binrow.h"
#include "store/pg.h"

#define PAGE 5000

static const char *name_of(const struct row_query *q, size_t field)
{
	return entities[q->kind].fields[field].name;
}

/* Adds the conditions that there are, each with its parameter. */
static void add_conditions(const struct row_query *q, struct buf *sql, struct buf *args, int *n)
{
	for (size_t i = 0; i < q->n; i++) {
		const struct row_condition *c = &q->conditions[i];
		bool text = c->texts != NULL;

		if ((text ? c->texts->n : c->numbers->n) == 0)
			continue;
		buf_printf(sql, " AND \"%s\" = ANY ($%d::%s[])", name_of(q, c->field), ++*n,
			   text ? "text" : "bigint");
		if (text)
			bin_text_array(args, c->texts->v, c->texts->n);
		else
			bin_i64_array(args, c->numbers->v, c->numbers->n);
	}
}

static void add_window(const struct row_query *q, struct buf *sql, struct buf *args, int *n)
{
	bool instants = q->start_field == q->end_field;

	if (q->end != INT64_MAX) {
		buf_printf(sql, " AND \"%s\" < $%d::bigint", name_of(q, q->start_field), ++*n);
		bin_i64(args, q->end);
	}
	if (q->start != INT64_MIN) {
		buf_printf(sql, instants ? " AND \"%s\" >= $%d::bigint" :
			   " AND coalesce(\"%s\", 9223372036854775807) > $%d::bigint",
			   name_of(q, q->end_field), ++*n);
		bin_i64(args, q->start);
	}
	if (q->after != INT64_MIN) {
		buf_printf(sql, " AND \"%s\" > $%d::bigint", name_of(q, q->after_field), ++*n);
		bin_i64(args, q->after);
	}
}

static void add_keys(const struct entity *e, struct buf *out)
{
	const char *comma = "";

	for (size_t i = 0; i < e->n; i++)
		if ((e->fields[i].flags & FF_KEY) != 0) {
			buf_printf(out, "%s\"%s\"", comma, e->fields[i].name);
			comma = ", ";
		}
}

/* Rows behind the key of last. */
static void add_behind(const struct entity *e, const void *last, struct buf *sql, struct buf *args,
		       int *n)
{
	const char *comma = "";

	if (last == NULL)
		return;
	buf_adds(sql, " AND (");
	add_keys(e, sql);
	buf_adds(sql, ") > (");
	for (size_t i = 0; i < e->n; i++) {
		if ((e->fields[i].flags & FF_KEY) == 0)
			continue;
		bool text = field_is_text(e->fields[i].type);
		buf_printf(sql, "%s$%d::%s", comma, ++*n, text ? "text" : "bigint");
		comma = ", ";
		if (text)
			bin_text(args, row_text(last, &e->fields[i]));
		else
			bin_i64(args, row_number(last, &e->fields[i]));
	}
	buf_addc(sql, ')');
}

static int read_page(struct store *s, const struct row_query *q, const void *last, int64_t limit,
		     PGresult **ret, struct err *err)
{
	const struct entity *e = &entities[q->kind];
	struct buf sql = BUF_INIT, args = BUF_INIT;
	struct pg *pg = store_reader(s, err);
	int n = 0, rc;

	if (pg == NULL)
		return -1;
	buf_adds(&sql, "SELECT ");
	bin_entity_columns(&sql, e, "");
	buf_printf(&sql, " FROM %s WHERE true", e->table);
	add_conditions(q, &sql, &args, &n);
	add_window(q, &sql, &args, &n);
	add_behind(e, last, &sql, &args, &n);
	buf_adds(&sql, " ORDER BY ");
	add_keys(e, &sql);
	buf_printf(&sql, " LIMIT %" PRId64, limit);
	rc = pg_run_once(pg, buf_str(&sql), &args, ret, err);
	store_reader_done(s, pg);
	buf_fini(&args);
	buf_fini(&sql);
	return rc;
}

/* Hands a page over; last becomes its last row, in the arena. */
static int give_page(const struct entity *e, const PGresult *r, row_read_sink *sink, void *arg,
		     void *last, struct arena *arena)
{
	struct arena *scratch = arena_new();
	void *row = arena_alloc(scratch, e->size);
	int rc = 0;

	for (int i = 0; rc >= 0 && i < PQntuples(r); i++) {
		bin_read_entity(r, i, 0, e, row);
		rc = sink(row, arg);
	}
	if (PQntuples(r) > 0)
		row_copy(e, last, row, arena);
	arena_free(scratch);
	return rc;
}

int store_rows_each(struct store *s, const struct row_query *q, row_read_sink *sink, void *arg,
		    struct err *err)
{
	const struct entity *e = &entities[q->kind];
	struct arena *arena = arena_new();
	void *last = arena_alloc(arena, e->size);
	int64_t left = q->limit >= 0 ? q->limit : INT64_MAX;
	bool first = true;
	int rc = 0, n = PAGE;

	while (rc >= 0 && left > 0 && n == PAGE) {
		PGresult *r = NULL;

		rc = read_page(s, q, first ? NULL : last, left < PAGE ? left : PAGE, &r, err);
		if (rc < 0)
			break;
		n = PQntuples(r);
		left -= n;
		first = false;
		if (give_page(e, r, sink, arg, last, arena) < 0)
			rc = err_set(err, ERR_GONE, NULL, "the reader stopped");
		PQclear(r);
	}
	arena_free(arena);
	return rc;
}

/* ---- reservations */

static int run(struct store *s, const struct buf *sql, const struct buf *args, int64_t *ret_rows,
	       struct err *err)
{
	struct pg *pg = store_reader(s, err);
	PGresult *r = NULL;
	int rc;

	if (pg == NULL)
		return -1;
	rc = pg_run_once(pg, buf_str(sql), args, &r, err);
	store_reader_done(s, pg);
	if (rc == 0 && ret_rows != NULL)
		*ret_rows = pg_affected(r);
	PQclear(r);
	return rc;
}

int store_reservation_put(struct store *s, const struct reservation *res, struct err *err)
{
	const struct entity *e = &entities[ENTITY_RESV];
	struct buf sql = BUF_INIT, args = BUF_INIT;
	int rc;

	buf_printf(&sql, "INSERT INTO %s (", e->table);
	bin_entity_columns(&sql, e, "");
	buf_adds(&sql, ") VALUES (");
	for (size_t i = 0; i < e->n; i++) {
		bool text = field_is_text(e->fields[i].type);
		buf_printf(&sql, "%s$%zu::%s", i > 0 ? ", " : "", i + 1, text ? "text" : "bigint");
		if (!has_bit(res->has, i))
			bin_null(&args);
		else if (text)
			bin_text(&args, row_text(res, &e->fields[i]));
		else
			bin_i64(&args, row_number(res, &e->fields[i]));
	}
	buf_adds(&sql, ") ON CONFLICT (");
	add_keys(e, &sql);
	buf_adds(&sql, ") DO UPDATE SET ");
	for (size_t i = 0, n = 0; i < e->n; i++)
		if ((e->fields[i].flags & FF_KEY) == 0)
			buf_printf(&sql, "%s\"%s\" = excluded.\"%s\"", n++ > 0 ? ", " : "",
				   e->fields[i].name, e->fields[i].name);
	rc = run(s, &sql, &args, NULL, err);
	buf_fini(&args);
	buf_fini(&sql);
	return rc;
}

int store_reservation_remove(struct store *s, const struct reservation *key, int64_t *ret_rows,
			     struct err *err)
{
	struct buf sql = BUF_INIT, args = BUF_INIT;
	int rc;

	buf_adds(&sql, "DELETE FROM reservation WHERE cluster = $1::text AND id = $2::bigint "
		       "AND start_at = $3::bigint");
	bin_text(&args, key->cluster);
	bin_i64(&args, key->id);
	bin_i64(&args, key->start_at);
	rc = run(s, &sql, &args, ret_rows, err);
	buf_fini(&args);
	buf_fini(&sql);
	return rc;
}

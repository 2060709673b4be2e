#include "store/note.h"

#include "store/binrow.h"
#include "store/pg.h"

static bool is_note(const struct field *f)
{
	return (f->flags & FF_NOTE) != 0;
}

/* Parameters: the key in 1..3, who and when in 4 and 5, then per field its value and whether it is
 * to be written at all (a null takes the note away). */
static void statement_text(struct buf *sql)
{
	int n = 6;

	buf_adds(sql,
		 "INSERT INTO job_note AS old (cluster, job_id, submit_at, noted_by, noted_at");
	for (size_t i = 0; i < JOB_FIELDS; i++)
		if (is_note(&job_fields[i]))
			buf_printf(sql, ", %s", job_fields[i].name);
	buf_adds(sql, ") VALUES ($1::text, $2::bigint, $3::bigint, $4::text, $5::bigint");
	for (size_t i = 0; i < JOB_FIELDS; i++)
		if (is_note(&job_fields[i])) {
			buf_printf(sql, ", $%d::%s", n,
				   field_is_text(job_fields[i].type) ? "text" : "bigint");
			n += 2;
		}
	buf_adds(sql, ") ON CONFLICT (job_id, cluster, submit_at) DO UPDATE SET "
		      "noted_by = excluded.noted_by, noted_at = excluded.noted_at");
	n = 7;
	for (size_t i = 0; i < JOB_FIELDS; i++)
		if (is_note(&job_fields[i])) {
			const char *name = job_fields[i].name;
			buf_printf(sql,
				   ", %s = CASE WHEN $%d::boolean THEN excluded.%s ELSE old.%s END",
				   name, n, name, name);
			n += 2;
		}
}

static void add_value(struct buf *args, const struct job_note *note, size_t i)
{
	const char *at = (const char *)note->values + job_fields[i].offset;
	bool has = has_bit(note->values->has, i);

	if (!has)
		bin_null(args);
	else if (field_is_text(job_fields[i].type))
		bin_text(args, *(const char *const *)(const void *)at);
	else
		bin_i64(args, *(const int64_t *)(const void *)at);
	bin_bool(args, has || has_bit(note->cleared, i));
}

int store_note_put(struct store *s, const struct job_note *note, struct err *err)
{
	struct buf sql = BUF_INIT, args = BUF_INIT;
	struct pg *pg = store_reader(s, err);
	int rc = -1;

	if (pg == NULL)
		return -1;
	statement_text(&sql);
	bin_text(&args, note->cluster);
	bin_i64(&args, note->job_id);
	bin_i64(&args, note->submit_at);
	bin_text(&args, note->by);
	bin_i64(&args, note->at);
	for (size_t i = 0; i < JOB_FIELDS; i++)
		if (is_note(&job_fields[i]))
			add_value(&args, note, i);
	rc = pg_run_once(pg, buf_str(&sql), &args, NULL, err);
	store_reader_done(s, pg);
	buf_fini(&args);
	buf_fini(&sql);
	return rc;
}

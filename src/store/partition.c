#include "store/partition.h"

#include "base/buf.h"
#include "core/civil.h"
#include "store/advisory.h"
#include "store/binrow.h"
#include "store/pg.h"

#define YEARS_BACK  10
#define YEARS_AHEAD 2
/* Months made before the first row wants them: this one and the next. */
#define MONTHS_READY 2

static const char *const tables[] = { "job", "step" };

/* ---- months */

int month_of(int64_t at)
{
	struct civil c;

	civil_from_seconds(at, &c);
	return (int)c.year * 100 + c.month;
}

int64_t month_start(int month)
{
	return days_from_civil(month / 100, month % 100, 1) * DAY_S;
}

int month_add(int month, int n)
{
	int months = month / 100 * 12 + month % 100 - 1 + n;

	return months / 12 * 100 + months % 12 + 1;
}

int span_month(const struct span *span, int64_t submit_at)
{
	if (submit_at < month_start(span->oldest))
		return MONTH_OLD;
	if (submit_at >= month_start(span->beyond))
		return MONTH_FAR;
	return month_of(submit_at);
}

void span_bounds(const struct span *span, int month, int64_t *ret_from, int64_t *ret_to)
{
	*ret_from = month == MONTH_OLD	 ? INT64_MIN
		    : month == MONTH_FAR ? month_start(span->beyond)
					 : month_start(month);
	*ret_to = month == MONTH_OLD   ? month_start(span->oldest)
		  : month == MONTH_FAR ? INT64_MAX
				       : month_start(month_add(month, 1));
}

const char *leaf_name(const char *table, int month, char ret[LEAF_NAME_MAX])
{
	if (month == MONTH_OLD)
		snprintf(ret, LEAF_NAME_MAX, "%s_old", table);
	else if (month == MONTH_FAR)
		snprintf(ret, LEAF_NAME_MAX, "%s_far", table);
	else
		snprintf(ret, LEAF_NAME_MAX, "%s_%06d", table, month);
	return ret;
}

/* ---- the span */

static int read_span(struct pg *pg, struct span *ret_span, bool *ret_found, struct err *err)
{
	static const struct statement find = { "span",
					       "SELECT oldest, beyond, generation FROM job_span" };
	PGresult *res = NULL;

	if (pg_run(pg, &find, NULL, &res, err) < 0)
		return -1;
	*ret_found = PQntuples(res) > 0;
	if (*ret_found) {
		ret_span->oldest = bin_read_i32(res, 0, 0);
		ret_span->beyond = bin_read_i32(res, 0, 1);
		ret_span->generation = bin_read_i64(res, 0, 2);
	}
	PQclear(res);
	return 0;
}

int partition_span(struct pg *pg, struct span *ret_span, struct err *err)
{
	bool found;

	if (read_span(pg, ret_span, &found, err) < 0)
		return -1;
	if (!found)
		return err_set(err, ERR_DATABASE, "job_span", "the partitions are not made yet");
	return 0;
}

/* ---- scripts: names and bounds are ours, never input */

static int run_script(struct pg *pg, struct buf *sql, struct err *err)
{
	int rc = pg_script(pg, buf_str(sql), err);

	buf_clear(sql);
	return rc;
}

/* Somebody who holds a lock on the tables delays maintenance, not the other way round. */
static int begin_short(struct pg *pg, struct err *err)
{
	return pg_script(pg, "BEGIN; SET LOCAL lock_timeout = '2s'", err);
}

static int end(struct pg *pg, int rc, struct err *err)
{
	if (rc == 0)
		rc = pg_commit(pg, err);
	if (rc < 0)
		pg_rollback(pg);
	return rc;
}

/* The check spares ATTACH from reading the whole table. */
static void add_create(struct buf *sql, const char *table, int month)
{
	char leaf[LEAF_NAME_MAX];

	leaf_name(table, month, leaf);
	buf_printf(sql, "CREATE TABLE IF NOT EXISTS %s (LIKE %s INCLUDING ALL", leaf, table);
	if (month != MONTH_OLD && month != MONTH_FAR)
		buf_printf(sql,
			   ", CONSTRAINT %s_month CHECK (submit_at >= %" PRId64
			   " AND submit_at < %" PRId64 ")",
			   leaf, month_start(month), month_start(month_add(month, 1)));
	buf_adds(sql, ");");
}

static void add_bound(struct buf *sql, int64_t at)
{
	if (at == INT64_MIN)
		buf_adds(sql, "MINVALUE");
	else if (at == INT64_MAX)
		buf_adds(sql, "MAXVALUE");
	else
		buf_i64(sql, at);
}

static void add_attach(struct buf *sql, const char *table, const struct span *span, int month)
{
	char leaf[LEAF_NAME_MAX];
	int64_t from, to;

	span_bounds(span, month, &from, &to);
	buf_printf(sql, "ALTER TABLE %s ATTACH PARTITION %s FOR VALUES FROM (", table,
		   leaf_name(table, month, leaf));
	add_bound(sql, from);
	buf_adds(sql, ") TO (");
	add_bound(sql, to);
	buf_adds(sql, ");");
}

/* ---- which tables there are */

enum leaf_status { LEAF_MISSING, LEAF_APART, LEAF_ATTACHED, LEAF_DETACHING };

/* $1 parent, $2 the leaf's name */
static const struct statement find_leaf = {
	"leaf_status",
	"SELECT CASE WHEN c.oid IS NULL THEN 0 WHEN i.inhrelid IS NULL THEN 1"
	" WHEN NOT i.inhdetachpending THEN 2 ELSE 3 END"
	" FROM (SELECT to_regclass($2::text) AS oid) c"
	" LEFT JOIN pg_inherits i ON i.inhrelid = c.oid AND i.inhparent = to_regclass($1::text)"
};

static int leaf_status(struct pg *pg, const char *table, int month, enum leaf_status *ret_status,
		       struct err *err)
{
	char leaf[LEAF_NAME_MAX];
	struct buf args = BUF_INIT;
	PGresult *res = NULL;
	int rc;

	bin_text(&args, table);
	bin_text(&args, leaf_name(table, month, leaf));
	rc = pg_run(pg, &find_leaf, &args, &res, err);
	if (rc == 0)
		*ret_status = (enum leaf_status)bin_read_i32(res, 0, 0);
	PQclear(res);
	buf_fini(&args);
	return rc;
}

/* Calls `each` with the two names of every row that the query finds. */
typedef int leaf_each(struct pg *pg, const char *table, const char *leaf, struct err *err);

static int each_leaf(struct pg *pg, const char *sql, leaf_each *each, int *ret_n, struct err *err)
{
	PGresult *res = NULL;
	int rc = pg_run_once(pg, sql, NULL, &res, err);

	for (int i = 0; rc == 0 && i < PQntuples(res); i++)
		rc = each(pg, PQgetvalue(res, i, 0), PQgetvalue(res, i, 1), err);
	if (rc == 0 && ret_n != NULL)
		*ret_n = PQntuples(res);
	PQclear(res);
	return rc;
}

/* ---- making months */

static int create_leaves(struct pg *pg, int month, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	/* Two sessions at once would fail at the names instead of waiting. */
	rc = advisory_xact_lock(pg, ADVISORY_PARTITION, err);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++)
		add_create(&sql, tables[i], month);
	if (rc == 0)
		rc = run_script(pg, &sql, err);
	buf_fini(&sql);
	return rc;
}

static int attach_leaf(struct pg *pg, const char *table, const struct span *span, int month,
		       struct err *err)
{
	struct buf sql = BUF_INIT;
	enum leaf_status status;
	int rc;

	if (begin_short(pg, err) < 0)
		return -1;
	rc = advisory_xact_lock(pg, ADVISORY_PARTITION, err);
	if (rc == 0)
		rc = leaf_status(pg, table, month, &status, err);
	if (rc == 0 && status == LEAF_APART) {
		add_attach(&sql, table, span, month);
		rc = run_script(pg, &sql, err);
	}
	buf_fini(&sql);
	return end(pg, rc, err);
}

/* A lock on the parent, or the same month still on its way out: later is soon enough. */
static bool attach_can_wait(const struct pg *pg)
{
	return strcmp(pg_sqlstate(pg), "55P03") == 0 || strcmp(pg_sqlstate(pg), "42P17") == 0;
}

static int attach_leaves(struct pg *pg, const struct span *span, int month, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		struct err why = { 0 };

		if (attach_leaf(pg, tables[i], span, month, &why) < 0 && !attach_can_wait(pg)) {
			if (err != NULL)
				*err = why;
			return -1;
		}
	}
	return 0;
}

int partition_ensure(struct pg *pg, int month, struct err *err)
{
	enum leaf_status status = LEAF_MISSING;
	struct span span;

	if (month == MONTH_OLD || month == MONTH_FAR)
		return 0;
	if (leaf_status(pg, "step", month, &status, err) < 0)
		return -1;
	if (status != LEAF_MISSING)
		return 0;
	if (partition_span(pg, &span, err) < 0)
		return -1;
	if (month < span.oldest || month >= span.beyond)
		return err_set(err, ERR_INTERNAL, "month", "%06d has no partition of its own",
			       month);
	if (begin_short(pg, err) < 0 || end(pg, create_leaves(pg, month, err), err) < 0)
		return -1;
	return attach_leaves(pg, &span, month, err);
}

/* ---- counting */

int partition_recount(struct pg *pg, int month, struct err *err)
{
	char leaf[LEAF_NAME_MAX];
	struct buf sql = BUF_INIT;
	int rc;

	leaf_name("job", month, leaf);
	buf_printf(&sql,
		   "DELETE FROM job_month WHERE month = %d;"
		   "INSERT INTO job_month (cluster, month, least_visible, greatest_end, open_jobs,"
		   " least_job_id, greatest_job_id, max_life_s)"
		   " SELECT cluster, %d, min(least(visible_from, start_at, end_at)), max(end_at),"
		   " count(*) FILTER (WHERE end_at IS NULL),"
		   " min(least(job_id, array_job_id, het_job_id)),"
		   " max(greatest(job_id, array_job_id, het_job_id)),"
		   " coalesce(max(end_at - least(visible_from, start_at, end_at)), 0)"
		   " FROM %s GROUP BY cluster",
		   month, month, leaf);
	rc = run_script(pg, &sql, err);
	buf_fini(&sql);
	return rc;
}

/* ---- the far side gives way */

/* Both ways wait for transactions that use the table; lock_timeout does not count for that. */
static int detach(struct pg *pg, const char *table, const char *leaf, const char *how,
		  struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	rc = pg_script(pg, "SET statement_timeout = '60s'; SET lock_timeout = '2s'", err);
	buf_printf(&sql, "ALTER TABLE %s DETACH PARTITION %s %s", table, leaf, how);
	if (rc == 0)
		rc = run_script(pg, &sql, err);
	if (pg_alive(pg))
		pg_script(pg, "RESET statement_timeout; RESET lock_timeout", NULL);
	buf_fini(&sql);
	return rc;
}

static int finalize(struct pg *pg, const char *table, const char *leaf, struct err *err)
{
	return detach(pg, table, leaf, "FINALIZE", err);
}

static int detach_leaves(struct pg *pg, int month, struct err *err)
{
	char leaf[LEAF_NAME_MAX];
	enum leaf_status status;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(tables); i++) {
		leaf_name(tables[i], month, leaf);
		rc = leaf_status(pg, tables[i], month, &status, err);
		if (rc == 0 && status == LEAF_ATTACHED)
			rc = detach(pg, tables[i], leaf, "CONCURRENTLY", err);
		else if (rc == 0 && status == LEAF_DETACHING)
			rc = finalize(pg, tables[i], leaf, err);
	}
	return rc;
}

static int move_month(struct pg *pg, int month, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	if (create_leaves(pg, month, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char to[LEAF_NAME_MAX], from[LEAF_NAME_MAX];

		leaf_name(tables[i], month, to);
		leaf_name(tables[i], MONTH_FAR, from);
		buf_printf(&sql,
			   "WITH moved AS (DELETE FROM %s WHERE submit_at < %" PRId64
			   " AND submit_at >= %" PRId64
			   " RETURNING *) INSERT INTO %s SELECT * FROM moved;",
			   from, month_start(month_add(month, 1)), month_start(month), to);
	}
	rc = run_script(pg, &sql, err);
	buf_fini(&sql);
	return rc < 0 ? -1 : partition_recount(pg, month, err);
}

/* Which months' rows lie in the far partitions though they are before `beyond`. */
static int find_far_months(struct pg *pg, int beyond, PGresult **ret_months, struct err *err)
{
	struct buf args = BUF_INIT;
	int rc;

	bin_i64(&args, month_start(beyond));
	rc = pg_run_once(pg,
			 "SELECT DISTINCT to_char(to_timestamp(submit_at) AT TIME ZONE 'UTC',"
			 " 'YYYYMM')::integer FROM (SELECT submit_at FROM job_far UNION ALL"
			 " SELECT submit_at FROM step_far) f WHERE submit_at < $1::bigint",
			 &args, ret_months, err);
	buf_fini(&args);
	return rc;
}

static int move_months(struct pg *pg, int beyond, struct err *err)
{
	PGresult *months = NULL;
	int rc = find_far_months(pg, beyond, &months, err);

	for (int i = 0; rc == 0 && i < PQntuples(months); i++)
		rc = move_month(pg, bin_read_i32(months, i, 0), err);
	if (rc == 0 && PQntuples(months) > 0)
		rc = partition_recount(pg, MONTH_FAR, err);
	PQclear(months);
	return rc;
}

static int write_span(struct pg *pg, const struct span *span, struct err *err)
{
	static const struct statement write = {
		"write_span",
		"INSERT INTO job_span (oldest, beyond) VALUES ($1::integer, $2::integer)"
		" ON CONFLICT (id) DO UPDATE SET oldest = EXCLUDED.oldest, beyond = "
		"EXCLUDED.beyond,"
		" generation = job_span.generation + 1"
	};
	struct buf args = BUF_INIT;
	int rc;

	bin_i32(&args, span->oldest);
	bin_i32(&args, span->beyond);
	rc = pg_run(pg, &write, &args, NULL, err);
	buf_fini(&args);
	return rc;
}

/* DETACH CONCURRENTLY has put the old bounds on the table as a check. */
static int drop_check(struct pg *pg, const char *leaf, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	buf_printf(&sql,
		   "DO $$ DECLARE c name; BEGIN FOR c IN SELECT conname FROM pg_constraint"
		   " WHERE conrelid = '%s'::regclass AND contype = 'c' LOOP"
		   " EXECUTE format('ALTER TABLE %s DROP CONSTRAINT %%I', c); END LOOP; END $$",
		   leaf, leaf);
	rc = run_script(pg, &sql, err);
	buf_fini(&sql);
	return rc;
}

static int attach_far(struct pg *pg, const struct span *span, struct err *err)
{
	struct buf sql = BUF_INIT;
	char leaf[LEAF_NAME_MAX];
	int rc = 0;

	for (size_t i = 0; i < ARRAY_LEN(tables) && rc == 0; i++) {
		rc = drop_check(pg, leaf_name(tables[i], MONTH_FAR, leaf), err);
		add_attach(&sql, tables[i], span, MONTH_FAR);
		if (rc == 0)
			rc = run_script(pg, &sql, err);
	}
	buf_fini(&sql);
	return rc;
}

/* With the writer shut out and the far partitions detached: rows, bounds and span change at
 * once. */
static int move_span(struct pg *pg, const struct span *span, struct err *err)
{
	int rc;

	if (begin_short(pg, err) < 0)
		return -1;
	rc = advisory_xact_lock(pg, ADVISORY_SPAN, err);
	if (rc == 0)
		rc = pg_script(pg, "LOCK TABLE job_far, step_far IN ACCESS EXCLUSIVE MODE", err);
	if (rc == 0)
		rc = move_months(pg, span->beyond, err);
	if (rc == 0)
		rc = write_span(pg, span, err);
	if (rc == 0)
		rc = attach_far(pg, span, err);
	return end(pg, rc, err);
}

static int advance(struct pg *pg, struct span *span, int64_t now, struct err *err)
{
	int beyond = month_add(month_of(now), 12 * YEARS_AHEAD);
	enum leaf_status job, step;

	if (leaf_status(pg, "job", MONTH_FAR, &job, err) < 0 ||
	    leaf_status(pg, "step", MONTH_FAR, &step, err) < 0)
		return -1;
	if (beyond <= span->beyond && job == LEAF_ATTACHED && step == LEAF_ATTACHED)
		return 0;
	if (beyond > span->beyond)
		span->beyond = beyond;
	if (detach_leaves(pg, MONTH_FAR, err) < 0)
		return -1;
	return move_span(pg, span, err);
}

/* ---- maintenance */

static int set_up(struct pg *pg, struct span *span, int64_t now, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	span->oldest = month_add(month_of(now), -12 * YEARS_BACK);
	span->beyond = month_add(month_of(now), 12 * YEARS_AHEAD);
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		add_create(&sql, tables[i], MONTH_OLD);
		add_create(&sql, tables[i], MONTH_FAR);
		add_attach(&sql, tables[i], span, MONTH_OLD);
		add_attach(&sql, tables[i], span, MONTH_FAR);
	}
	rc = begin_short(pg, err);
	if (rc == 0)
		rc = run_script(pg, &sql, err);
	if (rc == 0)
		rc = write_span(pg, span, err);
	buf_fini(&sql);
	return end(pg, rc, err);
}

static int load_span(struct pg *pg, struct span *span, int64_t now, struct err *err)
{
	bool found;

	if (read_span(pg, span, &found, err) < 0)
		return -1;
	return found ? 0 : set_up(pg, span, now, err);
}

/* Who was interrupted at it begins again: until then the table is only apart. */
static int finish_detaches(struct pg *pg, struct err *err)
{
	static const char pending[] =
		"SELECT inhparent::regclass::text, inhrelid::regclass::text FROM pg_inherits"
		" WHERE inhdetachpending AND inhparent IN ('job'::regclass, 'step'::regclass)";

	return each_leaf(pg, pending, finalize, NULL, err);
}

static int attach_strays(struct pg *pg, const struct span *span, struct err *err)
{
	static const char strays[] =
		"SELECT DISTINCT substring(relname FROM '[0-9]{6}$')::integer FROM pg_class c"
		" WHERE relkind = 'r' AND relname ~ '^(job|step)_[0-9]{6}$'"
		" AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = "
		"'job'::regclass)"
		" AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid)";
	PGresult *res = NULL;
	int rc = pg_run_once(pg, strays, NULL, &res, err);

	for (int i = 0; rc == 0 && i < PQntuples(res); i++)
		rc = attach_leaves(pg, span, bin_read_i32(res, i, 0), err);
	PQclear(res);
	return rc;
}

/* First what records may need soon, last what readers can delay. */
static int maintain(struct pg *pg, int64_t now, struct err *err)
{
	struct span span;

	if (load_span(pg, &span, now, err) < 0)
		return -1;
	for (int i = 0; i < MONTHS_READY; i++) {
		int month = month_add(month_of(now), i);

		if (month >= span.oldest && month < span.beyond &&
		    partition_ensure(pg, month, err) < 0)
			return -1;
	}
	if (finish_detaches(pg, err) < 0 || advance(pg, &span, now, err) < 0)
		return -1;
	return attach_strays(pg, &span, err);
}

int partition_maintain(struct pg *pg, int64_t now, struct err *err)
{
	bool got = false;
	int rc;

	if (advisory_try_lock(pg, ADVISORY_MAINTAIN, &got, err) < 0)
		return -1;
	if (!got)
		return 0;
	rc = maintain(pg, now, err);
	advisory_unlock(pg, ADVISORY_MAINTAIN);
	return rc;
}

/* ---- taking months away */

static void add_rename(struct buf *sql, int month)
{
	for (size_t i = 0; i < ARRAY_LEN(tables); i++) {
		char leaf[LEAF_NAME_MAX];

		leaf_name(tables[i], month, leaf);
		buf_printf(sql, "ALTER TABLE %s RENAME TO gone_%s;", leaf, leaf);
	}
}

/* Into new tables of the old names. */
static void add_keep(struct buf *sql, int month, int64_t before)
{
	char job[LEAF_NAME_MAX], step[LEAF_NAME_MAX];

	leaf_name("job", month, job);
	leaf_name("step", month, step);
	buf_printf(sql,
		   "WITH kept AS (DELETE FROM gone_%s WHERE end_at IS NULL OR end_at >= %" PRId64
		   " RETURNING *) INSERT INTO %s SELECT * FROM kept;",
		   job, before, job);
	buf_printf(sql,
		   "WITH kept AS (DELETE FROM gone_%s s USING %s j WHERE (s.job_id, s.cluster,"
		   " s.submit_at) = (j.job_id, j.cluster, j.submit_at) RETURNING s.*)"
		   " INSERT INTO %s SELECT * FROM kept;",
		   step, job, step);
}

static int retire(struct pg *pg, int month, int64_t before, struct err *err)
{
	struct buf sql = BUF_INIT;
	struct span span;
	int rc;

	add_rename(&sql, month);
	if (begin_short(pg, err) < 0)
		return -1;
	rc = advisory_xact_lock(pg, ADVISORY_SPAN, err);
	if (rc == 0)
		rc = partition_span(pg, &span, err);
	if (rc == 0)
		rc = run_script(pg, &sql, err);
	if (rc == 0)
		rc = create_leaves(pg, month, err);
	add_keep(&sql, month, before);
	if (rc == 0)
		rc = run_script(pg, &sql, err);
	if (rc == 0)
		rc = partition_recount(pg, month, err);
	if (rc == 0)
		rc = write_span(pg, &span, err);
	buf_fini(&sql);
	rc = end(pg, rc, err);
	return rc < 0 ? -1 : attach_leaves(pg, &span, month, err);
}

int partition_detach(struct pg *pg, int month, int64_t before, struct err *err)
{
	int rc;

	if (month == MONTH_OLD || month == MONTH_FAR)
		return err_set(err, ERR_INVALID, "month", "the outer partitions stay");
	if (advisory_lock(pg, ADVISORY_MAINTAIN, err) < 0)
		return -1;
	rc = detach_leaves(pg, month, err);
	if (rc == 0)
		rc = retire(pg, month, before, err);
	advisory_unlock(pg, ADVISORY_MAINTAIN);
	return rc;
}

static int drop(struct pg *pg, const char *table UNUSED, const char *leaf, struct err *err)
{
	struct buf sql = BUF_INIT;
	int rc;

	buf_printf(&sql, "DROP TABLE %s", leaf);
	if (begin_short(pg, err) < 0)
		return -1;
	rc = end(pg, run_script(pg, &sql, err), err);
	buf_fini(&sql);
	return rc;
}

int partition_drop_gone(struct pg *pg, int *ret_dropped, struct err *err)
{
	static const char gone[] =
		"SELECT '', c.oid::regclass::text FROM pg_class c WHERE relkind = 'r'"
		" AND relname ~ '^gone_(job|step)_[0-9]{6}$'"
		" AND relnamespace = (SELECT relnamespace FROM pg_class WHERE oid = "
		"'job'::regclass)"
		" AND NOT EXISTS (SELECT FROM pg_inherits WHERE inhrelid = c.oid)";

	return each_leaf(pg, gone, drop, ret_dropped, err);
}

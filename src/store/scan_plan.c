#include "store/scan_priv.h"

#include "store/binrow.h"
#include "store/partition.h"
#include "store/pg.h"

/* Times in a row that the partitions may have changed under a scan. */
#define REPLANS 5

/* ---- planning: which partitions, and what of them */

/* The partitions of these clusters whose numbers meet [$2, $3]. */
static const struct statement find_months = {
	"scan_months",
	"SELECT month, min(least_visible), max(greatest_end), sum(open_jobs)::bigint,"
	" min(least_job_id), max(greatest_job_id), max(max_life_s) FROM job_month"
	" WHERE ($1::text[] IS NULL OR cluster = ANY ($1)) AND least_job_id <= $3::bigint"
	" AND greatest_job_id >= $2::bigint GROUP BY month ORDER BY month"
};

static const struct statement find_state = {
	"scan_state", "SELECT generation, EXISTS (SELECT FROM job_note) FROM job_span"
};

static int64_t i64_or(const PGresult *res, int row, int column, int64_t otherwise)
{
	return PQgetisnull(res, row, column) ? otherwise : bin_read_i64(res, row, column);
}

static struct leaf read_leaf(const PGresult *res, int row)
{
	return (struct leaf){
		.month = bin_read_i32(res, row, 0),
		.least_visible = i64_or(res, row, 1, INT64_MAX),
		.greatest_end = i64_or(res, row, 2, INT64_MIN),
		.open_jobs = bin_read_i64(res, row, 3),
		.least_job_id = bin_read_i64(res, row, 4),
		.greatest_job_id = bin_read_i64(res, row, 5),
		.max_life_s = bin_read_i64(res, row, 6),
	};
}

static int load_state(struct job_scan *scan, struct pg *pg, struct err *err)
{
	PGresult *res = NULL;

	if (pg_run(pg, &find_state, NULL, &res, err) < 0)
		return -1;
	if (PQntuples(res) > 0) {
		scan->generation = bin_read_i64(res, 0, 0);
		scan->notes = PQgetvalue(res, 0, 1)[0] != 0;
	}
	PQclear(res);
	return 0;
}

/* Selections are ascending: those of the partition are one stretch. */
static void choose_ids(struct job_scan *scan, struct part *p)
{
	const struct job_filter *f = &scan->filter;

	p->ids = ARENA_ARRAY(scan->arena, int64_t, f->n_jobs);
	for (size_t i = 0; i < f->n_jobs; i++) {
		int64_t id = f->jobs[i].job_id;

		if (id >= p->leaf.least_job_id && id <= p->leaf.greatest_job_id &&
		    (p->n_ids == 0 || p->ids[p->n_ids - 1] != id))
			p->ids[p->n_ids++] = id;
	}
}

/* Behind what has been read already there is nothing. */
static bool is_behind(const struct job_scan *scan, const struct leaf *leaf)
{
	if (!scan->any_last)
		return false;
	return scan->descending ? leaf->least_job_id > scan->last.job_id
				: leaf->greatest_job_id < scan->last.job_id;
}

static bool is_wanted(struct job_scan *scan, struct part *p)
{
	if (is_behind(scan, &p->leaf))
		return false;
	if (scan->filter.n_jobs == 0)
		return where_meets_leaf(&scan->filter, scan->now, &p->leaf);
	choose_ids(scan, p);
	return p->n_ids > 0;
}

static int by_first_id(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->leaf.least_job_id > y->leaf.least_job_id) -
	       (x->leaf.least_job_id < y->leaf.least_job_id);
}

static int by_last_id(const void *a, const void *b)
{
	const struct part *x = a, *y = b;

	return (x->leaf.greatest_job_id < y->leaf.greatest_job_id) -
	       (x->leaf.greatest_job_id > y->leaf.greatest_job_id);
}

void scan_drop_parts(struct job_scan *scan)
{
	scan_drop_ahead(scan);
	for (size_t i = 0; i < scan->n_parts; i++)
		copyrows_fini(&scan->parts[i].page);
	scan->n_parts = scan->opened = scan->n_heap = 0;
	scan->parts = NULL;
	arena_reset(scan->arena);
}

static void build_parts(struct job_scan *scan, const PGresult *months)
{
	int n = PQntuples(months);

	scan_drop_parts(scan);
	scan->any_from = scan->any_last;
	if (scan->any_last)
		scan->from = (struct row_key){ arena_strdup(scan->arena, scan->last.cluster),
					       strlen(scan->last.cluster), scan->last.job_id,
					       scan->last.submit_at };
	scan->parts = ARENA_ARRAY(scan->arena, struct part, n);
	scan->heap = ARENA_ARRAY(scan->arena, struct part *, n);
	for (int i = 0; i < n; i++) {
		struct part p = { .leaf = read_leaf(months, i) };

		if (!is_wanted(scan, &p))
			continue;
		p.page_rows = scan_first_page(scan, &p);
		scan->parts[scan->n_parts++] = p;
	}
	if (scan->n_parts > 0)
		qsort(scan->parts, scan->n_parts, sizeof(scan->parts[0]),
		      scan->descending ? by_last_id : by_first_id);
}

static int load_months(struct job_scan *scan, struct pg *pg, PGresult **ret, struct err *err)
{
	const struct job_filter *f = &scan->filter;
	struct buf args = BUF_INIT;
	int rc;

	if (f->clusters.n > 0)
		bin_text_array(&args, f->clusters.v, f->clusters.n);
	else
		bin_null(&args);
	bin_i64(&args, f->n_jobs > 0 ? f->jobs[0].job_id : INT64_MIN);
	bin_i64(&args, f->n_jobs > 0 ? f->jobs[f->n_jobs - 1].job_id : INT64_MAX);
	rc = pg_run(pg, &find_months, &args, ret, err);
	buf_fini(&args);
	return rc;
}

static int plan(struct pg *pg, void *arg, struct err *err)
{
	struct job_scan *scan = arg;
	PGresult *months = NULL;

	/* In this order: months of a later generation than the one noted do no harm. */
	if (load_state(scan, pg, err) < 0 || load_months(scan, pg, &months, err) < 0)
		return -1;
	build_parts(scan, months);
	PQclear(months);
	return 0;
}

/* ---- selections */

int scan_selection_order(const void *a, const void *b)
{
	const struct job_selection *x = a, *y = b;

	return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

void scan_copy_filter(struct job_scan *scan, const struct job_filter *f, size_t room)
{
	struct job_selection *jobs =
		ARENA_ARRAY(scan->keep, struct job_selection, f->n_jobs + room);

	if (f->n_jobs > 0)
		memcpy(jobs, f->jobs, f->n_jobs * sizeof(jobs[0]));
	scan->filter = *f;
	scan->filter.jobs = jobs;
	if (f->n_jobs > 0)
		qsort(jobs, f->n_jobs, sizeof(jobs[0]), scan_selection_order);
}

/* The leaders of the heterogeneous jobs that a partition's ids are components of. */
static int add_leaders(struct pg *pg, const struct part *p, struct buf *leaders, struct err *err)
{
	char name[LEAF_NAME_MAX];
	struct buf sql = BUF_INIT, args = BUF_INIT;
	PGresult *res = NULL;
	int rc;

	buf_printf(&sql,
		   "SELECT DISTINCT het_job_id FROM %s WHERE job_id = ANY ($1::bigint[])"
		   " AND het_job_id IS NOT NULL",
		   leaf_name("job", p->leaf.month, name));
	bin_i64_array(&args, p->ids, p->n_ids);
	rc = pg_run_once(pg, buf_str(&sql), &args, &res, err);
	for (int i = 0; rc == 0 && i < PQntuples(res); i++) {
		struct job_selection s = { bin_read_i64(res, i, 0), -1, -1, STEP_ANY };

		buf_add(leaders, &s, sizeof(s));
	}
	PQclear(res);
	buf_fini(&sql);
	buf_fini(&args);
	return rc;
}

static int find_leaders(struct job_scan *scan, struct pg *pg, struct err *err)
{
	struct buf leaders = BUF_INIT;
	struct job_filter asked = scan->filter;
	size_t n;
	int rc = 0;

	for (size_t i = 0; rc == 0 && i < scan->n_parts; i++)
		rc = add_leaders(pg, &scan->parts[i], &leaders, err);
	n = leaders.len / sizeof(struct job_selection);
	if (rc == 0 && n > 0) {
		scan_copy_filter(scan, &asked, n);
		memcpy(scan->filter.jobs + asked.n_jobs, leaders.data, leaders.len);
		scan->filter.n_jobs += n;
		qsort(scan->filter.jobs, scan->filter.n_jobs, sizeof(struct job_selection),
		      scan_selection_order);
		rc = plan(pg, scan, err);
	}
	buf_fini(&leaders);
	return rc;
}

/* ---- the plans of a scan */

static int begin(struct pg *pg, void *arg, struct err *err)
{
	struct job_scan *scan = arg;

	if (plan(pg, scan, err) < 0)
		return -1;
	if (scan->filter.het == HET_WHOLE && scan->filter.n_jobs > 0)
		return find_leaders(scan, pg, err);
	return 0;
}

int scan_begin(struct job_scan *scan, struct err *err)
{
	return store_read(scan->store, begin, scan, err);
}

int scan_plan_again(struct job_scan *scan, struct err *err)
{
	if (++scan->replans > REPLANS)
		return err_set(err, ERR_BUSY, NULL,
			       "the partitions are being changed again and again");
	return store_read(scan->store, plan, scan, err);
}

#include "store/job_steps.h"

#include "base/arena.h"
#include "store/partition.h"
#include "store/pg.h"
#include "store/sqltext.h"

#define BATCH 256
/* Of steps in memory; one job alone may have more. */
#define STEP_BYTES (8 << 20)

/* The steps of a batch's jobs in one partition, in the order of the key, and some of other jobs. */
struct month_steps {
	int month;
	struct copyrows rows;
};

/* Of the numbers from the first to the last this part at least is asked for: then the steps
 * between are read in one go. */
#define DENSE 4

struct job_steps {
	struct store *store;
	struct job_scan *scan;
	const struct job_filter *filter;
	int64_t now;
	struct columns columns;
	struct job_row jobs[BATCH];
	size_t n, at; /* jobs that are waiting: at .. n - 1 */
	size_t ready; /* those before it have their steps in `months` */
	size_t batch; /* how many to ask for at a time */
	size_t most;  /* jobs to take from the scan at a time */
	bool scan_ended;
	struct month_steps *months;
	size_t n_months;
	struct arena *memory; /* of the steps that are out */
};

struct job_steps *job_steps_new(struct store *s, struct job_scan *scan,
				const struct job_filter *filter, int64_t now, int64_t expected)
{
	static const uint64_t all[HAS_WORDS];
	struct job_steps *js = xcalloc(1, sizeof(*js));

	js->store = s;
	js->scan = scan;
	js->filter = filter;
	js->now = now;
	js->batch = BATCH;
	js->most = expected >= 0 && expected < BATCH ? (size_t)expected + 1 : BATCH;
	js->months = xcalloc(BATCH, sizeof(js->months[0]));
	js->memory = arena_new();
	columns_choose(&js->columns, step_fields, STEP_FIELDS, all);
	return js;
}

static void drop_steps(struct job_steps *js)
{
	for (size_t i = 0; i < js->n_months; i++)
		copyrows_fini(&js->months[i].rows);
	js->n_months = 0;
	js->ready = js->at;
}

void job_steps_free(struct job_steps *js)
{
	if (js == NULL)
		return;
	drop_steps(js);
	for (size_t i = js->at; i < js->n; i++)
		job_row_free(&js->jobs[i]);
	free(js->months);
	arena_free(js->memory);
	free(js);
}

/* ---- reading */

static int take_jobs(struct job_steps *js, struct err *err)
{
	js->at = js->n = js->ready = 0;
	while (js->n < js->most && !js->scan_ended) {
		int rc = job_scan_next(js->scan, &js->jobs[js->n], err);

		if (rc < 0)
			return -1;
		if (rc == 0)
			js->scan_ended = true;
		else
			js->n++;
	}
	return 0;
}

static int by_value(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

/* Job numbers are enough to find the steps by; other runs' and clusters' are left aside. */
static void where_job_ids(struct buf *sql, const struct job_steps *js, size_t end, int month)
{
	int64_t ids[BATCH];
	size_t n = 0;

	for (size_t i = js->at; i < end; i++)
		if (js->jobs[i].month == month)
			ids[n++] = js->jobs[i].job.job_id;
	qsort(ids, n, sizeof(ids[0]), by_value);
	if (ids[n - 1] - ids[0] < (int64_t)n * DENSE) {
		buf_printf(sql, "s.job_id >= %" PRId64 " AND s.job_id <= %" PRId64, ids[0],
			   ids[n - 1]);
		return;
	}
	buf_adds(sql, "s.job_id = ANY (");
	sql_numbers(sql, ids, n);
	buf_addc(sql, ')');
}

static int read_month(struct job_steps *js, struct pg *pg, size_t end, struct month_steps *m,
		      size_t max_bytes, bool *ret_cut, struct err *err)
{
	struct buf sql = BUF_INIT;
	char name[LEAF_NAME_MAX];
	int rc;

	buf_adds(&sql, "COPY (SELECT ");
	columns_sql(&sql, &js->columns, "s", NULL);
	buf_printf(&sql, " FROM %s s WHERE ", leaf_name("step", m->month, name));
	where_job_ids(&sql, js, end, m->month);
	buf_adds(&sql, " ORDER BY s.job_id, s.cluster, s.submit_at, s.step_id, s.het_comp)"
		       " TO STDOUT (FORMAT binary)");
	rc = copyrows_read(&m->rows, pg, buf_str(&sql), max_bytes, ret_cut, err);
	/* Taken away meanwhile: so were its jobs. */
	if (rc < 0 && strcmp(pg_sqlstate(pg), "42P01") == 0)
		rc = 0;
	buf_fini(&sql);
	return rc;
}

static struct month_steps *month_of_job(struct job_steps *js, int month)
{
	for (size_t i = 0; i < js->n_months; i++)
		if (js->months[i].month == month)
			return &js->months[i];
	return NULL;
}

/* Steps of the jobs before `end`; *ret_cut: they are too many, and the last may be missing. */
static int read_batch(struct job_steps *js, struct pg *pg, size_t end, bool *ret_cut,
		      struct err *err)
{
	size_t left = end - js->at == 1 ? SIZE_MAX : STEP_BYTES;

	*ret_cut = false;
	for (size_t i = js->at; i < end && !*ret_cut; i++) {
		struct month_steps *m = month_of_job(js, js->jobs[i].month);

		if (m != NULL)
			continue;
		m = &js->months[js->n_months++];
		*m = (struct month_steps){ .month = js->jobs[i].month };
		if (read_month(js, pg, end, m, left, ret_cut, err) < 0)
			return -1;
		left -= m->rows.bytes < left ? m->rows.bytes : left;
	}
	return 0;
}

static int read_steps(struct pg *pg, void *arg, struct err *err)
{
	struct job_steps *js = arg;

	for (;;) {
		size_t end = js->at + js->batch < js->n ? js->at + js->batch : js->n;
		bool cut;

		drop_steps(js);
		if (read_batch(js, pg, end, &cut, err) < 0)
			return -1;
		if (!cut) {
			js->ready = end;
			if (js->batch < BATCH)
				js->batch *= 2;
			return 0;
		}
		js->batch = (end - js->at + 1) / 2;
	}
}

/* ---- giving */

static int compare(const struct copyrow *row, const struct row_key *key)
{
	struct row_key k = copyrow_key(row);

	return row_key_compare(&k, key);
}

/* The first row that is not before the job's. */
static size_t first_of(const struct month_steps *m, const struct row_key *key)
{
	size_t from = 0, to = m->rows.n;

	while (from < to) {
		size_t middle = from + (to - from) / 2;

		if (compare(&m->rows.v[middle], key) < 0)
			from = middle + 1;
		else
			to = middle;
	}
	return from;
}

static void steps_of(struct job_steps *js, const struct job_row *row, const struct step **ret_steps,
		     size_t *ret_n)
{
	const struct row_key key = { row->job.cluster, strlen(row->job.cluster), row->job.job_id,
				     row->job.submit_at };
	struct month_steps *m = month_of_job(js, row->month);
	size_t first, n = 0, wanted = 0;
	struct step *steps;

	assert(m != NULL);
	first = first_of(m, &key);
	while (first + n < m->rows.n && compare(&m->rows.v[first + n], &key) == 0)
		n++;
	arena_reset(js->memory);
	steps = ARENA_ARRAY(js->memory, struct step, n);
	for (size_t i = first; i < first + n; i++) {
		struct step *s = &steps[wanted];

		copyrow_decode(&m->rows.v[i], &js->columns, s, s->has);
		if (filter_wants_step(js->filter, &row->job, s, js->now))
			wanted++;
	}
	*ret_steps = steps;
	*ret_n = wanted;
}

int job_steps_next(struct job_steps *js, struct job_row *ret, const struct step **ret_steps,
		   size_t *ret_n, struct err *err)
{
	if (js->at == js->n && take_jobs(js, err) < 0)
		return -1;
	if (js->at == js->n)
		return 0;
	if (js->at == js->ready && store_read(js->store, read_steps, js, err) < 0)
		return -1;
	*ret = js->jobs[js->at++];
	steps_of(js, ret, ret_steps, ret_n);
	return 1;
}

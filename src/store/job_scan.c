#include "store/job_scan.h"

#include "base/arena.h"
#include "core/state.h"
#include "store/binrow.h"
#include "store/job_where.h"
#include "store/partition.h"
#include "store/pg.h"
#include "store/sqltext.h"

#define PAGE_FIRST  512
#define PAGE_MOST   2048 /* larger ones fall out of the cache before they are used */
#define PAGE_OF_IDS 8192
#define PAGE_GROWTH 4
/* Memory of all open pages together; each has at least the least. */
#define PAGE_BYTES	 (8 << 20)
#define PAGE_BYTES_LEAST (256 << 10)
/* Times in a row that the partitions may have changed under a scan. */
#define REPLANS 5

struct part {
	struct leaf leaf;
	int64_t *ids; /* of those asked for, the ones that can be here */
	size_t n_ids;
	struct copyrows page;
	size_t at;	   /* next row of the page */
	int64_t page_rows; /* of the next statement */
	bool more;	   /* behind the page */
	struct row_key head;
};

struct job_scan {
	struct store *store;
	struct job_filter filter; /* jobs: a copy with the leaders, ascending by number */
	int64_t now;
	bool descending;
	struct columns columns;
	struct buf lists; /* conditions that are the same everywhere */
	struct buf sql;
	struct arena *arena; /* of one plan: parts and ids */
	struct arena *keep;  /* of the whole scan */
	int64_t generation;
	bool notes;
	int replans;
	struct part *parts;
	size_t n_parts, opened; /* in the order in which they are opened */
	struct part **heap;	/* the open ones that have a row; the first has the next row */
	size_t n_heap;
	/* The last row that was looked at, and whether one of its (cluster, job id) has passed. */
	struct scan_key last;
	size_t last_cap;
	bool any_last, passed;
	int64_t expected;
};

/* ---- the order of the key */

static int compare_keys(const struct job_scan *scan, const struct row_key *a,
			const struct row_key *b)
{
	int c = row_key_compare(a, b);

	/* Within one id the newest run comes first, both ways. */
	if (a->job_id == b->job_id && a->cluster_len == b->cluster_len &&
	    memcmp(a->cluster, b->cluster, a->cluster_len) == 0)
		return -c;
	return scan->descending ? -c : c;
}

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

/* A page of a list of ids costs as much as all of them: so they come at once. */
static int64_t first_page(const struct job_scan *scan, const struct part *p)
{
	/* One more, to know whether there is one. */
	if (scan->expected >= 0 && scan->expected < PAGE_MOST)
		return scan->expected + 1;
	return p->n_ids > PAGE_FIRST / 4 ? PAGE_OF_IDS : PAGE_FIRST;
}

static void drop_parts(struct job_scan *scan)
{
	for (size_t i = 0; i < scan->n_parts; i++)
		copyrows_fini(&scan->parts[i].page);
	scan->n_parts = scan->opened = scan->n_heap = 0;
	scan->parts = NULL;
	arena_reset(scan->arena);
}

static void build_parts(struct job_scan *scan, const PGresult *months)
{
	int n = PQntuples(months);

	drop_parts(scan);
	scan->parts = ARENA_ARRAY(scan->arena, struct part, n);
	scan->heap = ARENA_ARRAY(scan->arena, struct part *, n);
	for (int i = 0; i < n; i++) {
		struct part p = { .leaf = read_leaf(months, i) };

		if (!is_wanted(scan, &p))
			continue;
		p.page_rows = first_page(scan, &p);
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

static int plan(struct job_scan *scan, struct pg *pg, struct err *err)
{
	PGresult *months = NULL;

	/* In this order: months of a later generation than the one noted do no harm. */
	if (load_state(scan, pg, err) < 0 || load_months(scan, pg, &months, err) < 0)
		return -1;
	build_parts(scan, months);
	PQclear(months);
	return 0;
}

/* ---- selections */

static int by_job_id(const void *a, const void *b)
{
	const struct job_selection *x = a, *y = b;

	return (x->job_id > y->job_id) - (x->job_id < y->job_id);
}

static void copy_selections(struct job_scan *scan, const struct job_filter *f, size_t room)
{
	struct job_selection *jobs =
		ARENA_ARRAY(scan->keep, struct job_selection, f->n_jobs + room);

	if (f->n_jobs > 0)
		memcpy(jobs, f->jobs, f->n_jobs * sizeof(jobs[0]));
	scan->filter = *f;
	scan->filter.jobs = jobs;
	if (f->n_jobs > 0)
		qsort(jobs, f->n_jobs, sizeof(jobs[0]), by_job_id);
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
		copy_selections(scan, &asked, n);
		memcpy(scan->filter.jobs + asked.n_jobs, leaders.data, leaders.len);
		scan->filter.n_jobs += n;
		qsort(scan->filter.jobs, scan->filter.n_jobs, sizeof(struct job_selection),
		      by_job_id);
		rc = plan(scan, pg, err);
	}
	buf_fini(&leaders);
	return rc;
}

/* ---- pages */

static void add_order(struct buf *sql, const struct job_scan *scan)
{
	const char *way = scan->descending ? " DESC" : "";

	buf_printf(sql, " ORDER BY j.job_id%s, j.cluster%s, j.submit_at DESC", way, way);
}

/* Behind this key.  The first condition is what the index can use. */
static void add_behind(struct buf *sql, const struct job_scan *scan, const struct row_key *key)
{
	char way = scan->descending ? '<' : '>';

	buf_printf(sql, " AND j.job_id %c= %" PRId64 " AND (j.job_id %c %" PRId64, way, key->job_id,
		   way, key->job_id);
	buf_printf(sql, " OR j.cluster %c ", way);
	sql_textn(sql, key->cluster, key->cluster_len);
	buf_adds(sql, " OR (j.cluster = ");
	sql_textn(sql, key->cluster, key->cluster_len);
	buf_printf(sql, " AND j.submit_at < %" PRId64 "))", key->submit_at);
}

static void add_rows(struct buf *sql, const struct job_scan *scan, const struct part *p,
		     const struct row_key *behind)
{
	char name[LEAF_NAME_MAX];

	buf_adds(sql, "SELECT ");
	columns_sql(sql, &scan->columns, "j", NULL);
	buf_printf(sql, " FROM %s j WHERE true", leaf_name("job", p->leaf.month, name));
	if (p->n_ids > 0)
		where_ids(sql, p->ids, p->n_ids);
	else
		where_window(sql, &scan->filter, scan->now, &p->leaf);
	buf_add(sql, scan->lists.data, scan->lists.len);
	if (behind != NULL)
		add_behind(sql, scan, behind);
	add_order(sql, scan);
	buf_printf(sql, " LIMIT %" PRId64, p->page_rows);
}

/* Notes are looked up for the rows of the page, one by one: left to itself the planner would read
 * all of them for every page. */
static void add_noted_rows(struct buf *sql, const struct job_scan *scan, const struct part *p,
			   const struct row_key *behind)
{
	buf_adds(sql, "SELECT ");
	columns_sql(sql, &scan->columns, "j", "n");
	buf_adds(sql, " FROM (");
	add_rows(sql, scan, p, behind);
	buf_adds(sql,
		 ") j LEFT JOIN LATERAL (SELECT * FROM job_note o"
		 " WHERE (o.job_id, o.cluster, o.submit_at) = (j.job_id, j.cluster, j.submit_at)"
		 " LIMIT 1) n ON true");
	add_order(sql, scan);
}

static const char *page_sql(struct job_scan *scan, const struct part *p,
			    const struct row_key *behind)
{
	struct buf *sql = &scan->sql;

	buf_clear(sql);
	buf_adds(sql, "COPY (");
	if (scan->notes && columns_have(&scan->columns, FF_NOTE))
		add_noted_rows(sql, scan, p, behind);
	else
		add_rows(sql, scan, p, behind);
	buf_adds(sql, ") TO STDOUT (FORMAT binary)");
	return buf_str(sql);
}

static size_t page_bytes(const struct job_scan *scan)
{
	size_t share = PAGE_BYTES / (scan->n_heap + 1);

	return share > PAGE_BYTES_LEAST ? share : PAGE_BYTES_LEAST;
}

/* Has the span changed since the plan was made?  Asked after a page has been read: if not, the
 * page was read before any row could move. */
static int check_generation(struct job_scan *scan, struct pg *pg, bool *ret_changed,
			    struct err *err)
{
	int64_t planned = scan->generation;

	if (load_state(scan, pg, err) < 0)
		return -1;
	*ret_changed = scan->generation != planned;
	return 0;
}

static bool leaf_is_gone(const struct pg *pg)
{
	return strcmp(pg_sqlstate(pg), "42P01") == 0;
}

/* The next page of a partition; *ret_changed: plan again. */
static int read_page(struct job_scan *scan, struct pg *pg, struct part *p,
		     const struct row_key *behind, bool *ret_changed, struct err *err)
{
	struct copyrows page = { 0 };
	const char *sql = page_sql(scan, p, behind);
	bool cut;

	*ret_changed = false;
	if (copyrows_read(&page, pg, sql, page_bytes(scan), &cut, err) < 0) {
		copyrows_fini(&page);
		if (!leaf_is_gone(pg))
			return -1;
		*ret_changed = true;
		return 0;
	}
	if (check_generation(scan, pg, ret_changed, err) < 0 || *ret_changed) {
		copyrows_fini(&page);
		return *ret_changed ? 0 : -1;
	}
	copyrows_fini(&p->page);
	p->page = page;
	p->at = 0;
	p->more = cut || page.n == (size_t)p->page_rows;
	if (cut)
		p->page_rows = (int64_t)page.n; /* as many as fit */
	else if (p->page_rows < PAGE_MOST)
		p->page_rows *= PAGE_GROWTH;
	return 0;
}

/* ---- merging */

static void heap_down(struct job_scan *scan)
{
	size_t i = 0;

	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < scan->n_heap; child++)
			if (compare_keys(scan, &scan->heap[child]->head, &scan->heap[least]->head) <
			    0)
				least = child;
		if (least == i)
			return;
		struct part *p = scan->heap[i];
		scan->heap[i] = scan->heap[least];
		scan->heap[least] = p;
		i = least;
	}
}

static void heap_add(struct job_scan *scan, struct part *p)
{
	size_t i = scan->n_heap++;

	for (; i > 0 && compare_keys(scan, &p->head, &scan->heap[(i - 1) / 2]->head) < 0;
	     i = (i - 1) / 2)
		scan->heap[i] = scan->heap[(i - 1) / 2];
	scan->heap[i] = p;
}

static void heap_drop(struct job_scan *scan)
{
	scan->heap[0] = scan->heap[--scan->n_heap];
	heap_down(scan);
}

static bool at_row(struct part *p)
{
	if (p->at >= p->page.n)
		return false;
	p->head = copyrow_key(&p->page.v[p->at]);
	return true;
}

/* Whether a partition that is not open yet may hold the next row. */
static bool must_open(const struct job_scan *scan)
{
	const struct leaf *leaf;

	if (scan->opened == scan->n_parts)
		return false;
	if (scan->n_heap == 0)
		return true;
	leaf = &scan->parts[scan->opened].leaf;
	return scan->descending ? leaf->greatest_job_id >= scan->heap[0]->head.job_id
				: leaf->least_job_id <= scan->heap[0]->head.job_id;
}

static int open_part(struct job_scan *scan, struct pg *pg, bool *ret_changed, struct err *err)
{
	struct part *p = &scan->parts[scan->opened];
	struct row_key last;

	if (scan->any_last)
		last = (struct row_key){ scan->last.cluster, strlen(scan->last.cluster),
					 scan->last.job_id, scan->last.submit_at };
	if (read_page(scan, pg, p, scan->any_last ? &last : NULL, ret_changed, err) < 0)
		return -1;
	if (*ret_changed)
		return 0;
	scan->opened++;
	if (at_row(p))
		heap_add(scan, p);
	return 0;
}

/* The first of the heap has used up its page. */
static int turn_page(struct job_scan *scan, struct pg *pg, bool *ret_changed, struct err *err)
{
	struct part *p = scan->heap[0];
	struct row_key last = p->head;
	char *cluster = arena_strndup(scan->arena, last.cluster, last.cluster_len);

	last.cluster = cluster;
	if (read_page(scan, pg, p, &last, ret_changed, err) < 0)
		return -1;
	if (*ret_changed)
		return 0;
	if (at_row(p))
		heap_down(scan);
	else
		heap_drop(scan);
	return 0;
}

static bool page_is_used_up(const struct job_scan *scan)
{
	return scan->n_heap > 0 && scan->heap[0]->at >= scan->heap[0]->page.n;
}

static int read_more(struct job_scan *scan, struct pg *pg, struct err *err)
{
	bool changed = false;
	int rc = 0;

	while (rc == 0 && (page_is_used_up(scan) || must_open(scan))) {
		rc = page_is_used_up(scan) ? turn_page(scan, pg, &changed, err)
					   : open_part(scan, pg, &changed, err);
		if (rc == 0 && changed) {
			if (++scan->replans > REPLANS)
				return err_set(err, ERR_BUSY, NULL,
					       "the partitions are being changed again and again");
			rc = plan(scan, pg, err);
		} else {
			scan->replans = 0;
		}
	}
	return rc;
}

/* With a connection for as long as it takes.  One that was lost is made good once: a page changes
 * nothing, so it may be read again. */
static int with_reader(struct job_scan *scan,
		       int (*work)(struct job_scan *, struct pg *, struct err *), struct err *err)
{
	for (int attempt = 0;; attempt++) {
		struct pg *pg = store_reader(scan->store, err);
		bool lost;
		int rc;

		if (pg == NULL)
			return -1;
		rc = work(scan, pg, err);
		lost = !pg_alive(pg);
		store_reader_done(scan->store, pg);
		if (rc == 0 || !lost || attempt > 0)
			return rc;
	}
}

/* ---- rows */

static void remember(struct job_scan *scan, const struct row_key *key)
{
	struct scan_key *last = &scan->last;
	char *cluster;

	if (key->cluster_len >= scan->last_cap) {
		scan->last_cap = 2 * key->cluster_len + 64;
		cluster = arena_alloc(scan->keep, scan->last_cap);
		last->cluster = cluster;
	}
	cluster = (char *)(uintptr_t)last->cluster;
	memcpy(cluster, key->cluster, key->cluster_len);
	cluster[key->cluster_len] = '\0';
	last->job_id = key->job_id;
	last->submit_at = key->submit_at;
	scan->any_last = true;
}

static bool is_same_id(const struct job_scan *scan, const struct row_key *key)
{
	return scan->any_last && scan->last.job_id == key->job_id &&
	       strlen(scan->last.cluster) == key->cluster_len &&
	       memcmp(scan->last.cluster, key->cluster, key->cluster_len) == 0;
}

/* Only selections whose number is one of the row's three can mean it, and there may be many. */
static bool is_selected(const struct job_scan *scan, const struct job *j)
{
	const int64_t numbers[] = { j->job_id, job_get(j, array_job_id, j->job_id),
				    job_get(j, het_job_id, j->job_id) };
	const struct job_filter *f = &scan->filter;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++) {
		struct job_selection key = { .job_id = numbers[i] };
		const struct job_selection *s =
			bsearch(&key, f->jobs, f->n_jobs, sizeof(key), by_job_id);

		if (s == NULL)
			continue;
		while (s > f->jobs && s[-1].job_id == key.job_id)
			s--;
		for (; s < f->jobs + f->n_jobs && s->job_id == key.job_id; s++)
			if (job_selection_matches(s, j, f->het))
				return true;
	}
	return false;
}

static bool passes(const struct job_scan *scan, const struct job *j)
{
	struct job_selection any = { j->job_id, -1, -1, STEP_ANY };
	struct job_filter f;

	if (scan->filter.n_jobs == 0)
		return filter_matches(&scan->filter, j, scan->now);
	if (!is_selected(scan, j))
		return false;
	/* That is judged: what is left is a question that names this job. */
	f = scan->filter;
	f.jobs = &any;
	f.n_jobs = 1;
	return filter_matches(&f, j, scan->now);
}

/* Of the rows that pass only the newest of an id, and with it those that a resize has ended. */
static bool is_kept(struct job_scan *scan, const struct job *j, bool same_id)
{
	if (!same_id)
		scan->passed = false;
	if (!passes(scan, j))
		return false;
	if (scan->passed && !scan->filter.duplicates &&
	    !(job_has(j, state) && j->state == STATE_RESIZING))
		return false;
	scan->passed = true;
	return true;
}

/* Takes the next row out of its page. */
static void take(struct job_scan *scan, struct job_row *ret, bool *ret_same_id)
{
	struct part *p = scan->heap[0];

	*ret_same_id = is_same_id(scan, &p->head);
	remember(scan, &p->head);
	ret->raw = p->page.v[p->at];
	p->page.v[p->at].base = NULL;
	ret->month = p->leaf.month;
	copyrow_decode(&ret->raw, &scan->columns, &ret->job, ret->job.has);
	p->at++;
	if (at_row(p)) {
		heap_down(scan);
	} else if (!p->more) {
		heap_drop(scan);
	} else { /* the next page begins behind this row, whose bytes are the caller's from now on
		  */
		p->head.cluster = arena_strndup(scan->arena, p->head.cluster, p->head.cluster_len);
	}
}

int job_scan_next(struct job_scan *scan, struct job_row *ret, struct err *err)
{
	bool same_id;

	for (;;) {
		if ((page_is_used_up(scan) || must_open(scan)) &&
		    with_reader(scan, read_more, err) < 0)
			return -1;
		if (scan->n_heap == 0)
			return 0;
		take(scan, ret, &same_id);
		if (is_kept(scan, &ret->job, same_id))
			return 1;
		job_row_free(ret);
	}
}

void job_row_free(struct job_row *row)
{
	copyrow_free(&row->raw);
}

/* ---- beginning and end */

static int begin(struct job_scan *scan, struct pg *pg, struct err *err)
{
	if (plan(scan, pg, err) < 0)
		return -1;
	if (scan->filter.het == HET_WHOLE && scan->filter.n_jobs > 0)
		return find_leaders(scan, pg, err);
	return 0;
}

struct job_scan *job_scan_new(struct store *s, const struct scan_settings *settings,
			      struct err *err)
{
	struct job_scan *scan = xcalloc(1, sizeof(*scan));
	uint64_t wanted[HAS_WORDS];
	bool all = true;

	scan->store = s;
	scan->now = settings->now;
	scan->descending = settings->descending;
	scan->expected = settings->expected;
	scan->arena = arena_new();
	scan->keep = arena_new();
	copy_selections(scan, settings->filter, 0);
	for (size_t i = 0; i < HAS_WORDS; i++) {
		wanted[i] = settings->wanted[i];
		all = all && wanted[i] == 0;
	}
	if (!all)
		where_fields(&scan->filter, wanted);
	columns_choose(&scan->columns, job_fields, JOB_FIELDS, wanted);
	where_lists(&scan->lists, &scan->filter);
	if (settings->after != NULL) {
		const struct scan_key *k = settings->after;

		remember(scan, &(struct row_key){ k->cluster, strlen(k->cluster), k->job_id,
						  k->submit_at });
		scan->passed = true;
	}
	if (with_reader(scan, begin, err) == 0)
		return scan;
	job_scan_free(scan);
	return NULL;
}

const struct columns *job_scan_columns(const struct job_scan *scan)
{
	return &scan->columns;
}

void job_scan_free(struct job_scan *scan)
{
	if (scan == NULL)
		return;
	drop_parts(scan);
	buf_fini(&scan->lists);
	buf_fini(&scan->sql);
	arena_free(scan->arena);
	arena_free(scan->keep);
	free(scan);
}

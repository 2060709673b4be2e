#include "store/scan_priv.h"

#include "store/partition.h"
#include "store/sqltext.h"

#define PAGE_FIRST  512
#define PAGE_MOST   2048 /* larger ones fall out of the cache before they are used */
#define PAGE_OF_IDS 8192
#define PAGE_GROWTH 4
/* Memory of all open pages together; each has at least the least. */
#define PAGE_BYTES	 (8 << 20)
#define PAGE_BYTES_LEAST (256 << 10)

/* ---- statements */

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

/* ---- pages */

/* A page of a list of ids costs as much as all of them: so they come at once. */
int64_t scan_first_page(const struct job_scan *scan, const struct part *p)
{
	/* One more, to know whether there is one. */
	if (scan->expected >= 0 && scan->expected < PAGE_MOST)
		return scan->expected + 1;
	return p->n_ids > PAGE_FIRST / 4 ? PAGE_OF_IDS : PAGE_FIRST;
}

static size_t page_bytes(const struct job_scan *scan)
{
	size_t share = PAGE_BYTES / (scan->n_heap + 1);

	return share > PAGE_BYTES_LEAST ? share : PAGE_BYTES_LEAST;
}

/* The next page of a partition, from the thread if it is at it.  Where that found no connection,
 * here. */
static int get_page(struct job_scan *scan, struct part *p, const struct row_key *behind,
		    struct page *ret, struct err *err)
{
	struct err why = { 0 };

	if (scan->ahead_of == p) {
		scan->ahead_of = NULL;
		if (page_ahead_take(scan->ahead, ret, &why) == 0)
			return 0;
		if (why.code != ERR_BUSY) {
			if (err != NULL)
				*err = why;
			return -1;
		}
	}
	return page_read(scan->store, page_sql(scan, p, behind), page_bytes(scan), ret, err);
}

int scan_read_page(struct job_scan *scan, struct part *p, const struct row_key *behind,
		   bool *ret_changed, struct err *err)
{
	struct page page;

	if (get_page(scan, p, behind, &page, err) < 0)
		return -1;
	*ret_changed = page.gone || page.generation != scan->generation;
	if (*ret_changed) {
		copyrows_fini(&page.rows);
		return 0;
	}
	copyrows_fini(&p->page);
	p->page = page.rows;
	p->at = 0;
	p->more = page.cut || page.rows.n == (size_t)p->page_rows;
	scan->rows_read += (int64_t)page.rows.n;
	if (page.cut)
		p->page_rows = (int64_t)page.rows.n; /* as many as fit */
	else if (p->page_rows < PAGE_MOST)
		p->page_rows *= PAGE_GROWTH;
	return 0;
}

void scan_look_ahead(struct job_scan *scan, struct part *p)
{
	struct row_key last;

	if (scan->ahead_of != NULL || (scan->expected >= 0 && scan->rows_read > scan->expected))
		return;
	if (!p->more && scan->opened == scan->n_parts)
		return;
	if (scan->ahead == NULL)
		scan->ahead = page_ahead_new(scan->store);
	if (scan->ahead == NULL)
		return;
	if (p->more) {
		last = copyrow_key(&p->page.v[p->page.n - 1]);
		page_ahead_start(scan->ahead, page_sql(scan, p, &last), page_bytes(scan));
		scan->ahead_of = p;
		return;
	}
	p = &scan->parts[scan->opened];
	page_ahead_start(scan->ahead, page_sql(scan, p, scan->any_from ? &scan->from : NULL),
			 page_bytes(scan));
	scan->ahead_of = p;
}

void scan_drop_ahead(struct job_scan *scan)
{
	struct page page;

	if (scan->ahead_of != NULL && page_ahead_take(scan->ahead, &page, NULL) == 0)
		copyrows_fini(&page.rows);
	scan->ahead_of = NULL;
}

#include "store/scan_priv.h"

#include "core/state.h"

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

static int open_part(struct job_scan *scan, bool *ret_changed, struct err *err)
{
	struct part *p = &scan->parts[scan->opened];

	if (scan_read_page(scan, p, scan->any_from ? &scan->from : NULL, ret_changed, err) < 0)
		return -1;
	if (*ret_changed)
		return 0;
	scan->opened++;
	if (at_row(p))
		heap_add(scan, p);
	return 0;
}

/* The first of the heap has used up its page. */
static int turn_page(struct job_scan *scan, bool *ret_changed, struct err *err)
{
	struct part *p = scan->heap[0];

	if (scan_read_page(scan, p, &p->head, ret_changed, err) < 0)
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

static int read_more(struct job_scan *scan, struct err *err)
{
	bool changed = false;
	int rc = 0;

	while (rc == 0 && (page_is_used_up(scan) || must_open(scan))) {
		rc = page_is_used_up(scan) ? turn_page(scan, &changed, err)
					   : open_part(scan, &changed, err);
		if (rc == 0 && changed)
			rc = scan_plan_again(scan, err);
		else
			scan->replans = 0;
	}
	if (rc == 0 && scan->n_heap > 0)
		scan_look_ahead(scan, scan->heap[0]);
	return rc;
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
			bsearch(&key, f->jobs, f->n_jobs, sizeof(key), scan_selection_order);

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
		if ((page_is_used_up(scan) || must_open(scan)) && read_more(scan, err) < 0)
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
	scan_copy_filter(scan, settings->filter, 0);
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
	if (scan_begin(scan, err) == 0)
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
	scan_drop_parts(scan);
	page_ahead_free(scan->ahead);
	buf_fini(&scan->lists);
	buf_fini(&scan->sql);
	arena_free(scan->arena);
	arena_free(scan->keep);
	free(scan);
}

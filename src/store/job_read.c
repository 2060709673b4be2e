#include "store/job_read.h"

#include "base/arena.h"
#include "store/job_cursor.h"
#include "store/job_scan.h"
#include "store/job_steps.h"

struct reading {
	struct store *store;
	const struct job_filter *filter;
	const struct job_page *page;
	int64_t now;
	job_sink *sink;
	void *arg;
	struct arena *arena;
	int field; /* of the order */
};

static int order_field(const struct job_page *page)
{
	static const int fields[] = {
		[ORDER_JOB_ID] = JOB_job_id,
		[ORDER_SUBMIT] = JOB_submit_at,
		[ORDER_START] = JOB_start_at,
		[ORDER_END] = JOB_end_at,
	};

	return page->order == ORDER_FIELD ? page->order_field : fields[page->order];
}

static int give(const struct reading *r, const struct job *j, const struct step *steps,
		size_t n_steps, struct err *err)
{
	struct err gone = { 0 };

	if (r->sink(j, steps, n_steps, r->arg) >= 0)
		return 0;
	err_set(&gone, ERR_GONE, NULL, "the reader went away");
	if (err != NULL && err->code == ERR_OK)
		*err = gone;
	return -1;
}

/* ---- the scan, with steps where they are asked for */

struct feed {
	struct job_scan *scan;
	struct job_steps *steps; /* NULL = none are asked for */
};

static int feed_open(struct feed *feed, const struct reading *r, const struct scan_settings *how,
		     struct err *err)
{
	*feed = (struct feed){ .scan = job_scan_new(r->store, how, err) };
	if (feed->scan == NULL)
		return -1;
	if (r->filter->with_steps)
		feed->steps = job_steps_new(r->store, feed->scan, r->filter, r->now, how->expected);
	return 0;
}

static void feed_close(struct feed *feed)
{
	job_steps_free(feed->steps);
	job_scan_free(feed->scan);
}

/* 1 with a row until feed_done, 0, -1. */
static int feed_next(struct feed *feed, struct job_row *row, const struct step **ret_steps,
		     size_t *ret_n_steps, struct err *err)
{
	*ret_steps = NULL;
	*ret_n_steps = 0;
	if (feed->steps != NULL)
		return job_steps_next(feed->steps, row, ret_steps, ret_n_steps, err);
	return job_scan_next(feed->scan, row, err);
}

/* ---- in the order of the key */

static const char *cursor_behind(const struct reading *r, const struct job *j)
{
	struct spool_settings place_of = { .field = r->field };
	struct spool_place place;

	job_spool_place(&place_of, j, &place);
	return job_cursor_format(r->field, r->page->descending, &place, r->arena);
}

static int each_in_key_order(const struct reading *r, struct feed *feed, const char **ret_after,
			     struct err *err)
{
	const char *after = NULL;
	const struct step *steps;
	int64_t given = 0;
	struct job_row row;
	size_t n_steps;
	int rc;

	while ((rc = feed_next(feed, &row, &steps, &n_steps, err)) > 0) {
		bool more = given == r->page->limit;

		if (!more && ++given == r->page->limit)
			after = cursor_behind(r, &row.job);
		if (!more)
			rc = give(r, &row.job, steps, n_steps, err);
		job_row_free(&row);
		if (more)
			*ret_after = after;
		if (more || rc < 0)
			break;
	}
	return rc < 0 ? -1 : 0;
}

static int read_in_key_order(const struct reading *r, const struct spool_place *after,
			     const char **ret_after, struct err *err)
{
	struct scan_key behind = { 0 };
	struct scan_settings how = {
		.filter = r->filter,
		.now = r->now,
		.wanted = r->page->fields,
		.descending = r->page->descending,
		.expected = r->page->limit,
	};
	struct feed feed;
	int rc;

	if (after != NULL) {
		behind = (struct scan_key){ after->cluster, after->job_id, after->submit_at };
		how.after = &behind;
	}
	if (feed_open(&feed, r, &how, err) < 0)
		return -1;
	rc = each_in_key_order(r, &feed, ret_after, err);
	feed_close(&feed);
	return rc;
}

/* ---- in another order */

static int fill_spool(struct feed *feed, struct job_spool *spool, struct err *err)
{
	const struct step *steps;
	struct job_row row;
	size_t n_steps;
	int rc;

	while ((rc = feed_next(feed, &row, &steps, &n_steps, err)) > 0) {
		rc = job_spool_add(spool, &row.job, steps, n_steps, err);
		job_row_free(&row);
		if (rc < 0)
			return -1;
	}
	return rc < 0 ? -1 : job_spool_sort(spool, err);
}

static int empty_spool(const struct reading *r, struct job_spool *spool, const char **ret_after,
		       struct err *err)
{
	const char *after = NULL;
	const struct step *steps;
	int64_t given = 0;
	struct job job;
	size_t n_steps;
	int rc;

	while ((rc = job_spool_next(spool, &job, &steps, &n_steps, err)) > 0) {
		if (++given == r->page->limit)
			after = cursor_behind(r, &job);
		if (give(r, &job, steps, n_steps, err) < 0)
			return -1;
	}
	if (rc == 0 && job_spool_has_more(spool))
		*ret_after = after;
	return rc;
}

static void all_step_columns(struct columns *c)
{
	static const uint64_t all[HAS_WORDS];

	columns_choose(c, step_fields, STEP_FIELDS, all);
}

static int read_by_spool(const struct reading *r, const struct spool_place *after,
			 const char **ret_after, struct err *err)
{
	uint64_t wanted[HAS_WORDS];
	struct scan_settings how = {
		.filter = r->filter, .now = r->now, .wanted = wanted, .expected = -1
	};
	struct spool_settings settings = {
		.dir = store_spool_dir(r->store),
		.field = r->field,
		.descending = r->page->descending,
		.limit = r->page->limit,
		.after = after,
	};
	struct columns steps;
	struct job_spool *spool = NULL;
	struct feed feed;
	int rc = -1;

	memcpy(wanted, r->page->fields, sizeof(wanted));
	if (wanted[0] != 0 || wanted[1] != 0)
		has_set(wanted, (size_t)r->field);
	if (feed_open(&feed, r, &how, err) < 0)
		return -1;
	all_step_columns(&steps);
	settings.jobs = job_scan_columns(feed.scan);
	settings.steps = &steps;
	spool = job_spool_new(&settings, err);
	if (spool != NULL && fill_spool(&feed, spool, err) == 0)
		rc = empty_spool(r, spool, ret_after, err);
	job_spool_free(spool);
	feed_close(&feed);
	return rc;
}

int store_jobs_each(struct store *s, const struct job_filter *filter, const struct job_page *page,
		    int64_t now, job_sink *sink, void *arg, struct arena *arena,
		    const char **ret_after, struct err *err)
{
	struct reading r = { s, filter, page, now, sink, arg, arena, order_field(page) };
	struct spool_place place, *after = NULL;
	const char *ignored;

	if (ret_after == NULL)
		ret_after = &ignored;
	*ret_after = NULL;
	if (page->after != NULL) {
		if (job_cursor_parse(page->after, r.field, page->descending, arena, &place, err) <
		    0)
			return -1;
		after = &place;
	}
	if (r.field == JOB_job_id)
		return read_in_key_order(&r, after, ret_after, err);
	return read_by_spool(&r, after, ret_after, err);
}

#include "store/page_read.h"

#include <pthread.h>
#include <signal.h>

#include "base/arena.h"
#include "store/binrow.h"
#include "store/pg.h"

/* ---- now */

static int read_generation(struct pg *pg, int64_t *ret, struct err *err)
{
	static const struct statement find = { "page_generation",
					       "SELECT generation FROM job_span" };
	PGresult *res = NULL;

	if (pg_run(pg, &find, NULL, &res, err) < 0)
		return -1;
	*ret = PQntuples(res) > 0 ? bin_read_i64(res, 0, 0) : 0;
	PQclear(res);
	return 0;
}

struct request {
	const char *sql;
	size_t max_bytes;
	struct page *page;
};

static int read_with(struct pg *pg, void *arg, struct err *err)
{
	const struct request *r = arg;
	struct page *page = r->page;

	*page = (struct page){ 0 };
	if (copyrows_read(&page->rows, pg, r->sql, r->max_bytes, &page->cut, err) == 0 &&
	    read_generation(pg, &page->generation, err) == 0)
		return 0;
	copyrows_fini(&page->rows);
	page->gone = strcmp(pg_sqlstate(pg), "42P01") == 0;
	return page->gone ? 0 : -1;
}

int page_read(struct store *s, const char *sql, size_t max_bytes, struct page *ret, struct err *err)
{
	struct request r = { sql, max_bytes, ret };

	return store_read(s, read_with, &r, err);
}

/* ---- ahead */

enum ahead_state { AHEAD_IDLE, AHEAD_WANTED, AHEAD_THERE, AHEAD_END };

struct page_ahead {
	struct store *store;
	pthread_t thread;
	pthread_mutex_t lock; /* guards state */
	pthread_cond_t changed;
	enum ahead_state state;
	/* The asker's while IDLE and THERE, the thread's while WANTED. */
	struct buf sql;
	size_t max_bytes;
	struct page page;
	int rc;
	struct err err;
};

static void set_state(struct page_ahead *pa, enum ahead_state state)
{
	pthread_mutex_lock(&pa->lock);
	pa->state = state;
	pthread_cond_broadcast(&pa->changed);
	pthread_mutex_unlock(&pa->lock);
}

/* False: there is no more. */
static bool wait_for_work(struct page_ahead *pa)
{
	bool work;

	pthread_mutex_lock(&pa->lock);
	while (pa->state != AHEAD_WANTED && pa->state != AHEAD_END)
		pthread_cond_wait(&pa->changed, &pa->lock);
	work = pa->state == AHEAD_WANTED;
	pthread_mutex_unlock(&pa->lock);
	return work;
}

static void *read_ahead(void *arg)
{
	struct page_ahead *pa = arg;

	while (wait_for_work(pa)) {
		err_clear(&pa->err);
		pa->rc =
			page_read(pa->store, buf_str(&pa->sql), pa->max_bytes, &pa->page, &pa->err);
		set_state(pa, AHEAD_THERE);
	}
	return NULL;
}

struct page_ahead *page_ahead_new(struct store *s)
{
	struct page_ahead *pa = xcalloc(1, sizeof(*pa));
	sigset_t all, before;
	int rc;

	pa->store = s;
	pthread_mutex_init(&pa->lock, NULL);
	pthread_cond_init(&pa->changed, NULL);
	sigfillset(&all); /* signals are for the main thread */
	pthread_sigmask(SIG_SETMASK, &all, &before);
	rc = pthread_create(&pa->thread, NULL, read_ahead, pa);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (rc == 0)
		return pa;
	pthread_cond_destroy(&pa->changed);
	pthread_mutex_destroy(&pa->lock);
	free(pa);
	return NULL;
}

void page_ahead_free(struct page_ahead *pa)
{
	struct page page;

	if (pa == NULL)
		return;
	if (page_ahead_take(pa, &page, NULL) == 0)
		copyrows_fini(&page.rows);
	set_state(pa, AHEAD_END);
	pthread_join(pa->thread, NULL);
	pthread_cond_destroy(&pa->changed);
	pthread_mutex_destroy(&pa->lock);
	buf_fini(&pa->sql);
	free(pa);
}

void page_ahead_start(struct page_ahead *pa, const char *sql, size_t max_bytes)
{
	buf_clear(&pa->sql);
	buf_adds(&pa->sql, sql);
	pa->max_bytes = max_bytes;
	set_state(pa, AHEAD_WANTED);
}

static bool wait_for_page(struct page_ahead *pa)
{
	bool there;

	pthread_mutex_lock(&pa->lock);
	while (pa->state == AHEAD_WANTED)
		pthread_cond_wait(&pa->changed, &pa->lock);
	there = pa->state == AHEAD_THERE;
	pthread_mutex_unlock(&pa->lock);
	return there;
}

int page_ahead_take(struct page_ahead *pa, struct page *ret, struct err *err)
{
	if (!wait_for_page(pa))
		return err_set(err, ERR_INTERNAL, NULL, "no page was asked for");
	*ret = pa->page;
	pa->page = (struct page){ 0 };
	if (pa->rc < 0 && err != NULL)
		*err = pa->err;
	set_state(pa, AHEAD_IDLE);
	return pa->rc;
}

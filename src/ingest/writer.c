#include "ingest/writer.h"

#include "base/clock.h"
#include "ingest/catalog.h"
#include "ingest/transaction.h"

/* Partitions that come and go, or months that move, while we plan: more often is a fault. */
#define PLANS_MOST 5

struct writer {
	struct write_tx *tx;
	struct catalog *catalog;
	struct obstacles obstacles;
	struct usage_book *usage;
	int64_t epoch;
	struct arena *items_arena; /* of the tickets at hand */
	struct arena *try_arena;   /* of one transaction */
	struct writer_stats stats;
};

struct writer *writer_new(struct store *store, const struct ingest_settings *settings)
{
	struct writer *w = xcalloc(1, sizeof(*w));

	w->tx = write_tx_new(store, settings->lock_timeout_ms);
	w->usage = usage_book_new();
	w->catalog = catalog_new(settings->register_clusters, w->usage);
	w->items_arena = arena_new();
	w->try_arena = arena_new();
	return w;
}

void writer_free(struct writer *w)
{
	if (w == NULL)
		return;
	write_tx_free(w->tx);
	catalog_free(w->catalog);
	usage_book_free(w->usage);
	arena_free(w->items_arena);
	arena_free(w->try_arena);
	free(w);
}

void writer_begin_epoch(struct writer *w, int64_t epoch)
{
	w->epoch = epoch;
	catalog_forget(w->catalog);
	usage_book_forget(w->usage);
	w->obstacles.n = 0;
}

int64_t writer_next_ms(const struct writer *w)
{
	return obstacle_next_ms(&w->obstacles);
}

const struct writer_stats *writer_stats(const struct writer *w)
{
	return &w->stats;
}

/* ---- one transaction, timed */

static void count_commit(struct writer_stats *s, int64_t us)
{
	size_t k = 0;

	while (k < 15 && us > (int64_t)1000 << k)
		k++;
	s->commits++;
	s->commit_us_sum += (uint64_t)us;
	s->commit_us_buckets[k]++;
}

static int run(struct writer *w, struct item **items, size_t n, struct err *err)
{
	struct transaction t = { .tx = w->tx,
				 .epoch = w->epoch,
				 .span = catalog_span(w->catalog),
				 .now = time(NULL),
				 .arena = w->try_arena,
				 .items = items,
				 .n = n,
				 .usage = w->usage };
	int64_t begun = monotonic_us();

	arena_reset(w->try_arena);
	for (size_t i = 0; i < n; i++)
		if (items[i]->outcome != VERDICT_REFUSED)
			items[i]->outcome = VERDICT_PENDING; /* a try before may have judged it */
	if (transaction_run(&t, err) < 0) {
		w->stats.failed_commits++;
		return -1;
	}
	count_commit(&w->stats, monotonic_us() - begun);
	return 0;
}

/* ---- locks */

static const struct {
	enum write_scope scope;
	enum obstacle_kind kind;
} obstacle_of[] = {
	{ SCOPE_MONTH, OBSTACLE_MONTH },
	{ SCOPE_ASIDE, OBSTACLE_ASIDE },
	{ SCOPE_EVENTS, OBSTACLE_EVENTS },
	{ SCOPE_QUARANTINE, OBSTACLE_QUARANTINE },
};

/* 0 when it can be gone round. */
static int note_lock(struct writer *w)
{
	int month;
	enum write_scope scope = write_fault_scope(w->tx, &month);

	for (size_t i = 0; i < ARRAY_LEN(obstacle_of); i++)
		if (obstacle_of[i].scope == scope) {
			obstacle_met(&w->obstacles, obstacle_of[i].kind, month, monotonic_ms());
			return 0;
		}
	return -1;
}

static enum obstacle_kind way_of(const struct item *it)
{
	if (it->outcome == VERDICT_REFUSED)
		return OBSTACLE_QUARANTINE;
	return item_is_of_job(it) ? OBSTACLE_MONTH : OBSTACLE_EVENTS;
}

/* A family has rows in any month. */
static bool meets_obstacle(const struct writer *w, const struct item *it, int64_t now_ms)
{
	if (it->in_family)
		return obstacle_any_stands(&w->obstacles, now_ms);
	return obstacle_stands(&w->obstacles, way_of(it), it->month, now_ms);
}

static void pass_obstacles(struct writer *w, const struct item *it)
{
	if (it->in_family)
		obstacle_gone(&w->obstacles, OBSTACLE_ASIDE, 0);
	else
		obstacle_gone(&w->obstacles, way_of(it), it->month);
}

/* Leaves out those that have to wait; returns how many are left. */
static size_t go_round(const struct writer *w, struct item **items, size_t n)
{
	int64_t now_ms = monotonic_ms();
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		if (w->obstacles.n > 0 && meets_obstacle(w, items[i], now_ms))
			items[i]->held = true;
		if (!items[i]->held)
			items[left++] = items[i];
	}
	return left;
}

/* ---- after it */

static void publish(struct writer *w, struct item *it)
{
	struct writer_stats *s = &w->stats;
	struct verdict *v = it->verdict;

	assert(it->outcome != VERDICT_PENDING);
	v->kind = it->outcome;
	v->row_id = it->row_id;
	if (it->outcome == VERDICT_REFUSED) {
		v->err = *it->err;
		v->quarantine_id = it->quarantine_id;
	}
	it->ticket->left--;
	s->accepted += it->outcome == VERDICT_ACCEPTED;
	s->duplicate += it->outcome == VERDICT_DUPLICATE;
	s->refused += it->outcome == VERDICT_REFUSED;
	s->purged += it->outcome == VERDICT_PURGED;
}

static void publish_all(struct writer *w, struct item **items, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (w->obstacles.n > 0)
			pass_obstacles(w, items[i]);
		publish(w, items[i]);
	}
}

/* ---- values the database refuses */

static enum writer_end write_items(struct writer *w, struct item **items, size_t n,
				   struct err *err);

static enum writer_end refuse_or_halve(struct writer *w, struct item **items, size_t n,
				       struct err *err)
{
	enum writer_end end;
	struct err *why;

	if (n > 1) {
		end = write_items(w, items, n / 2, err);
		return end != WRITER_DONE ? end : write_items(w, items + n / 2, n - n / 2, err);
	}
	if (items[0]->outcome == VERDICT_REFUSED) {
		/* Not even the quarantine takes it. */
		items[0]->quarantine_id = 0;
		publish(w, items[0]);
		return WRITER_DONE;
	}
	why = ARENA_NEW(w->items_arena, struct err);
	*why = *err;
	why->code = ERR_INVALID;
	items[0]->outcome = VERDICT_REFUSED;
	items[0]->err = why;
	return write_items(w, items, 1, err);
}

/* ---- all of it */

static int prepare(struct writer *w, struct item **items, size_t n, struct err *err)
{
	return catalog_prepare(w->catalog, w->tx, w->epoch, &w->obstacles, items, n,
			       w->items_arena, err);
}

static enum writer_end end_of(enum write_fault fault)
{
	return fault == FAULT_FENCED ? WRITER_FENCED : WRITER_LOST;
}

/* Goes round what is locked; fails when that leaves nobody out. */
static enum writer_end go_on_without(struct writer *w, struct item **items, size_t *n)
{
	size_t before = *n;

	if (note_lock(w) < 0)
		return WRITER_LOST;
	*n = go_round(w, items, before);
	return *n < before ? WRITER_DONE : WRITER_LOST;
}

/* The order of items is kept: for records that carry no time of their own, arrival decides. */
static enum writer_end write_items(struct writer *w, struct item **items, size_t n,
				   struct err *err)
{
	enum writer_end end = WRITER_DONE;
	int plans = 0;

	n = go_round(w, items, n);
	while (n > 0 && end == WRITER_DONE) {
		if (run(w, items, n, err) == 0) {
			publish_all(w, items, n);
			break;
		}
		switch (write_fault(w->tx)) {
		case FAULT_DATA: return refuse_or_halve(w, items, n, err);
		case FAULT_LOCKED: end = go_on_without(w, items, &n); break;
		case FAULT_SCHEMA:
			catalog_forget(w->catalog);
			if (++plans > PLANS_MOST || prepare(w, items, n, err) < 0)
				return end_of(write_fault(w->tx));
			n = go_round(w, items, n);
			break;
		case FAULT_NONE:
		case FAULT_FENCED:
		case FAULT_DATABASE: end = end_of(write_fault(w->tx)); break;
		}
	}
	return end;
}

static bool is_open(const struct verdict *v)
{
	return v->kind == VERDICT_PENDING ||
	       (v->kind == VERDICT_REFUSED && v->quarantine_id == 0);
}

static size_t collect(struct writer *w, struct ticket *tickets, struct item ***ret_items)
{
	size_t most = 0, n = 0;
	struct item *v, **items;

	for (struct ticket *t = tickets; t != NULL; t = t->next)
		most += t->batch->n;
	v = ARENA_ARRAY(w->items_arena, struct item, most);
	items = ARENA_ARRAY(w->items_arena, struct item *, most);
	for (struct ticket *t = tickets; t != NULL; t = t->next) {
		struct batch *b = t->batch;

		for (size_t i = 0; i < b->n && t->left > 0; i++) {
			if (!is_open(&b->verdicts[i]))
				continue;
			v[n] = (struct item){ .rec = &b->records[i], .verdict = &b->verdicts[i],
					      .ticket = t, .outcome = b->verdicts[i].kind,
					      .err = &b->verdicts[i].err };
			items[n] = &v[n];
			n++;
		}
	}
	*ret_items = items;
	return n;
}

enum writer_end writer_write(struct writer *w, struct ticket *tickets, struct err *err)
{
	struct item **items;
	size_t n;

	arena_reset(w->items_arena);
	n = collect(w, tickets, &items);
	if (n == 0)
		return WRITER_DONE;
	if (prepare(w, items, n, err) < 0)
		return end_of(write_fault(w->tx));
	return write_items(w, items, n, err);
}

#include "ingest/queue.h"

#include "base/clock.h"

struct queue {
	pthread_mutex_t lock; /* guards everything here and every ticket inside */
	pthread_cond_t filled;
	size_t max_records, max_bytes;
	struct queue_level level; /* in the list and in hand */
	struct ticket *first;     /* oldest first; those in hand are not in the list */
	struct ticket **end;      /* where the next one is linked in */
	uint64_t last_number;
	bool open;
	bool woken;
	struct err closed; /* why, when not open */
};

static void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

struct queue *queue_new(size_t max_records, size_t max_bytes)
{
	struct queue *q = xcalloc(1, sizeof(*q));

	pthread_mutex_init(&q->lock, NULL);
	cond_init(&q->filled);
	q->max_records = max_records;
	q->max_bytes = max_bytes;
	q->end = &q->first;
	err_set(&q->closed, ERR_BUSY, NULL, "records are not taken yet");
	return q;
}

void queue_free(struct queue *q)
{
	if (q == NULL)
		return;
	assert(q->first == NULL && q->level.records == 0);
	pthread_cond_destroy(&q->filled);
	pthread_mutex_destroy(&q->lock);
	free(q);
}

/* False when the deadline passed. */
static bool wait_until(pthread_cond_t *c, pthread_mutex_t *m, int64_t deadline_ms)
{
	struct timespec t = monotonic_timespec(deadline_ms);

	return pthread_cond_timedwait(c, m, &t) != ETIMEDOUT;
}

/* Links it in where its number belongs: at the end, but for what comes back from the writer. */
static void link_in(struct queue *q, struct ticket *t)
{
	struct ticket **p = &q->first;

	if (t->number == q->last_number)
		p = q->end;
	while (*p != NULL && (*p)->number < t->number)
		p = &(*p)->next;
	t->next = *p;
	*p = t;
	if (t->next == NULL)
		q->end = &t->next;
}

/* p is where the list points to it; returns it. */
static struct ticket *link_out(struct queue *q, struct ticket **p)
{
	struct ticket *t = *p;

	*p = t->next;
	if (*p == NULL)
		q->end = p;
	t->next = NULL;
	return t;
}

static void link_out_ticket(struct queue *q, const struct ticket *t)
{
	struct ticket **p = &q->first;

	while (*p != t)
		p = &(*p)->next;
	link_out(q, p);
}

static void leave(struct queue *q, const struct ticket *t)
{
	q->level.records -= t->batch->n;
	q->level.bytes -= t->batch->bytes;
}

static int admit(struct queue *q, const struct ticket *t, struct err *err)
{
	const struct queue_level *l = &q->level;

	if (!q->open) {
		*err = q->closed;
		return -1;
	}
	if (l->records > 0 && (l->records + t->batch->n > q->max_records ||
			       l->bytes + t->batch->bytes > q->max_bytes))
		return err_set(err, ERR_BUSY, NULL, "%zu records are waiting to be written",
			       l->records);
	q->level.records += t->batch->n;
	q->level.bytes += t->batch->bytes;
	return 0;
}

/* The lock is held. */
static int wait_settled(struct queue *q, struct ticket *t, int64_t deadline_ms, struct err *err)
{
	bool in_time = true;

	while (t->state == TICKET_IN_HAND || (t->state == TICKET_WAITING && in_time)) {
		if (in_time)
			t->expired = !(in_time = wait_until(&t->settled, &q->lock, deadline_ms));
		else
			pthread_cond_wait(&t->settled, &q->lock);
	}
	if (t->state == TICKET_DONE)
		return 0;
	if (t->state == TICKET_FAILED) {
		*err = t->err;
		return -1;
	}
	link_out_ticket(q, t);
	leave(q, t);
	if (t->rests)
		return err_set(err, ERR_DATABASE, NULL, "%s",
			       "part of the batch could not be written in time; a resend is safe");
	return err_set(err, ERR_DATABASE, NULL, "the batch could not be written in time");
}

int queue_put(struct queue *q, struct batch *batch, int64_t deadline_ms, struct err *err)
{
	struct ticket t = { .batch = batch, .left = batch->n, .state = TICKET_WAITING };
	int rc;

	cond_init(&t.settled);
	pthread_mutex_lock(&q->lock);
	rc = admit(q, &t, err);
	if (rc == 0) {
		t.number = ++q->last_number;
		link_in(q, &t);
		pthread_cond_signal(&q->filled);
		rc = wait_settled(q, &t, deadline_ms, err);
	}
	pthread_mutex_unlock(&q->lock);
	pthread_cond_destroy(&t.settled);
	return rc;
}

void queue_open(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->open = true;
	pthread_mutex_unlock(&q->lock);
}

void queue_close(struct queue *q, const struct err *why)
{
	pthread_mutex_lock(&q->lock);
	q->open = false;
	q->closed = *why;
	pthread_mutex_unlock(&q->lock);
}

/* Moves what may be taken out of the list; NULL when that is nothing. */
static struct ticket *take_now(struct queue *q, size_t max_records, bool rested)
{
	struct ticket *taken = NULL, **tail = &taken, **p = &q->first, *t;
	size_t records = 0;

	while ((t = *p) != NULL) {
		if (t->expired || (t->rests && !rested)) {
			p = &t->next;
			continue;
		}
		if (taken != NULL && records + t->left > max_records)
			break;
		link_out(q, p);
		t->state = TICKET_IN_HAND;
		records += t->left;
		*tail = t;
		tail = &t->next;
	}
	return taken;
}

struct ticket *queue_take(struct queue *q, size_t max_records, int64_t rested_at_ms,
			  int64_t until_ms)
{
	struct ticket *taken;
	int64_t now;

	pthread_mutex_lock(&q->lock);
	for (;;) {
		now = monotonic_ms();
		taken = take_now(q, max_records, now >= rested_at_ms);
		if (taken != NULL || now >= until_ms || q->woken)
			break;
		wait_until(&q->filled, &q->lock,
			   now < rested_at_ms && rested_at_ms < until_ms ? rested_at_ms : until_ms);
	}
	q->woken = false;
	pthread_mutex_unlock(&q->lock);
	return taken;
}

void queue_pause(struct queue *q, int64_t until_ms)
{
	pthread_mutex_lock(&q->lock);
	while (!q->woken && wait_until(&q->filled, &q->lock, until_ms))
		;
	q->woken = false;
	pthread_mutex_unlock(&q->lock);
}

static void finish(struct queue *q, struct ticket *t, enum ticket_state state)
{
	leave(q, t);
	t->state = state;
	pthread_cond_signal(&t->settled);
}

void queue_settle(struct queue *q, struct ticket *taken)
{
	struct ticket *t, *next;

	pthread_mutex_lock(&q->lock);
	for (t = taken; t != NULL; t = next) {
		next = t->next;
		if (t->left == 0) {
			finish(q, t, TICKET_DONE);
			continue;
		}
		t->rests = true;
		t->state = TICKET_WAITING;
		link_in(q, t);
		pthread_cond_signal(&t->settled); /* its deadline may have passed meanwhile */
	}
	pthread_mutex_unlock(&q->lock);
}

void queue_fail(struct queue *q, const struct err *why)
{
	struct ticket *t, *next;

	pthread_mutex_lock(&q->lock);
	for (t = q->first; t != NULL; t = next) {
		next = t->next;
		t->err = *why;
		finish(q, t, TICKET_FAILED);
	}
	q->first = NULL;
	q->end = &q->first;
	pthread_mutex_unlock(&q->lock);
}

void queue_wake(struct queue *q)
{
	pthread_mutex_lock(&q->lock);
	q->woken = true;
	pthread_cond_signal(&q->filled);
	pthread_mutex_unlock(&q->lock);
}

struct queue_level queue_level(struct queue *q)
{
	struct queue_level l;

	pthread_mutex_lock(&q->lock);
	l = q->level;
	pthread_mutex_unlock(&q->lock);
	return l;
}

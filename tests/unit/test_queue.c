/* The queue between the doors and the writer: bounds, order, who may leave when. */
#include <setjmp.h>
#include "base/base.h"
#include <cmocka.h>

#include "base/clock.h"
#include "ingest/queue.h"

#define SECOND 1000

struct caller {
	struct queue *q;
	struct batch batch;
	struct record records[4];
	struct verdict verdicts[4];
	int64_t wait_ms;
	int rc;
	struct err err;
	pthread_t thread;
};

static void *put(void *arg)
{
	struct caller *c = arg;

	c->rc = queue_put(c->q, &c->batch, monotonic_ms() + c->wait_ms, &c->err);
	return NULL;
}

static void await_level(struct queue *q, size_t records)
{
	int64_t limit = monotonic_ms() + 5 * SECOND;

	while (queue_level(q).records != records) {
		assert_true(monotonic_ms() < limit);
		nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
	}
}

/* Starts a caller and returns when its ticket is in the queue, so that order is known. */
static void start(struct caller *c, struct queue *q, size_t n, size_t bytes, int64_t wait_ms)
{
	size_t before = queue_level(q).records;

	*c = (struct caller){ .q = q, .wait_ms = wait_ms };
	c->batch = (struct batch){ c->records, c->verdicts, n, bytes, "test", "nobody" };
	assert_int_equal(pthread_create(&c->thread, NULL, put, c), 0);
	await_level(q, before + n);
}

static void join(struct caller *c)
{
	assert_int_equal(pthread_join(c->thread, NULL), 0);
}

static void judge(struct ticket *t, size_t n)
{
	for (size_t i = 0; i < n; i++)
		t->batch->verdicts[i].kind = VERDICT_ACCEPTED;
	t->left -= n;
}

static struct queue *open_queue(size_t records, size_t bytes)
{
	struct queue *q = queue_new(records, bytes);

	queue_open(q);
	return q;
}

static struct ticket *take(struct queue *q, size_t max)
{
	return queue_take(q, max, 0, monotonic_ms() + 5 * SECOND);
}

static void commits_in_order(void **state UNUSED)
{
	struct queue *q = open_queue(100, 1000);
	struct caller a, b, c;
	struct ticket *t;

	start(&a, q, 2, 10, 5 * SECOND);
	start(&b, q, 1, 10, 5 * SECOND);
	start(&c, q, 3, 10, 5 * SECOND);
	t = take(q, 3); /* a and b; c does not fit any more */
	assert_ptr_equal(t->batch, &a.batch);
	assert_ptr_equal(t->next->batch, &b.batch);
	assert_null(t->next->next);
	judge(t, 2);
	judge(t->next, 1);
	queue_settle(q, t);
	join(&a);
	join(&b);
	assert_int_equal(a.rc, 0);
	assert_int_equal(b.rc, 0);
	assert_int_equal(queue_level(q).records, 3);
	t = take(q, 1); /* one ticket at least, whatever its size */
	assert_ptr_equal(t->batch, &c.batch);
	judge(t, 3);
	queue_settle(q, t);
	join(&c);
	assert_int_equal(c.rc, 0);
	assert_int_equal(queue_level(q).bytes, 0);
	queue_free(q);
}

static void full_is_busy(void **state UNUSED)
{
	struct queue *q = open_queue(3, 100);
	struct caller a, big;
	struct caller b = { .q = q };
	struct ticket *t;

	start(&a, q, 3, 60, 5 * SECOND);
	b.batch = (struct batch){ b.records, b.verdicts, 1, 1, "test", "nobody" };
	put(&b); /* one record too many */
	assert_int_equal(b.rc, -1);
	assert_int_equal(b.err.code, ERR_BUSY);
	assert_int_equal(b.verdicts[0].kind, VERDICT_PENDING);
	t = take(q, 10);
	put(&b); /* what is in hand still counts */
	assert_int_equal(b.err.code, ERR_BUSY);
	judge(t, 3);
	queue_settle(q, t);
	join(&a);
	start(&big, q, 4, 1000, 5 * SECOND); /* larger than the queue, but alone */
	err_clear(&b.err);
	put(&b);
	assert_int_equal(b.err.code, ERR_BUSY);
	t = take(q, 10);
	judge(t, 4);
	queue_settle(q, t);
	join(&big);
	assert_int_equal(big.rc, 0);
	queue_free(q);
}

static void bytes_are_bounded_too(void **state UNUSED)
{
	struct queue *q = open_queue(100, 100);
	struct caller a;
	struct caller b = { .q = q };
	struct ticket *t;

	start(&a, q, 1, 60, 5 * SECOND);
	b.batch = (struct batch){ b.records, b.verdicts, 1, 41, "test", "nobody" };
	put(&b);
	assert_int_equal(b.err.code, ERR_BUSY);
	t = take(q, 10);
	judge(t, 1);
	queue_settle(q, t);
	join(&a);
	queue_free(q);
}

static void deadline_gives_up(void **state UNUSED)
{
	struct queue *q = open_queue(100, 1000);
	struct caller a;

	start(&a, q, 1, 1, 20);
	join(&a);
	assert_int_equal(a.rc, -1);
	assert_int_equal(a.err.code, ERR_DATABASE);
	assert_int_equal(queue_level(q).records, 0);
	assert_null(queue_take(q, 10, 0, monotonic_ms()));
	queue_free(q);
}

/* The writer reads the batch: its caller must not take the memory away, deadline or not. */
static void in_hand_holds_the_caller(void **state UNUSED)
{
	struct queue *q = open_queue(100, 1000);
	struct caller a;
	struct ticket *t;

	start(&a, q, 2, 1, 20);
	t = take(q, 10);
	nanosleep(&(struct timespec){ .tv_nsec = 60000000 }, NULL);
	assert_int_equal(queue_level(q).records, 2);
	judge(t, 1); /* one of two: what is left would rest, but the caller's time is over */
	queue_settle(q, t);
	join(&a);
	assert_int_equal(a.rc, -1);
	assert_int_equal(a.err.code, ERR_DATABASE);
	assert_null(queue_take(q, 10, 0, monotonic_ms()));
	queue_free(q);
}

static void rests_and_keeps_its_place(void **state UNUSED)
{
	struct queue *q = open_queue(100, 1000);
	struct caller a, b, c;
	struct ticket *t;

	start(&a, q, 1, 1, 5 * SECOND);
	t = take(q, 10);
	start(&b, q, 1, 1, 5 * SECOND);
	queue_settle(q, t); /* not judged: rests */
	start(&c, q, 1, 1, 5 * SECOND);
	t = queue_take(q, 10, INT64_MAX, monotonic_ms() + 5 * SECOND);
	assert_ptr_equal(t->batch, &b.batch); /* fresh ones do not wait for it */
	assert_ptr_equal(t->next->batch, &c.batch);
	queue_settle(q, t);
	t = take(q, 10); /* its time has come: oldest first */
	assert_ptr_equal(t->batch, &a.batch);
	assert_ptr_equal(t->next->batch, &b.batch);
	assert_ptr_equal(t->next->next->batch, &c.batch);
	for (struct ticket *i = t; i != NULL; i = i->next)
		judge(i, 1);
	queue_settle(q, t);
	join(&a);
	join(&b);
	join(&c);
	assert_int_equal(a.rc + b.rc + c.rc, 0);
	queue_free(q);
}

static void closed_and_failed(void **state UNUSED)
{
	struct queue *q = queue_new(100, 1000);
	struct caller a;
	struct caller b = { .q = q };
	struct err why;

	b.batch = (struct batch){ b.records, b.verdicts, 1, 1, "test", "nobody" };
	put(&b);
	assert_int_equal(b.err.code, ERR_BUSY); /* closed at first */
	queue_open(q);
	start(&a, q, 1, 1, 5 * SECOND);
	err_set(&why, ERR_BUSY, NULL, "another daemon writes");
	queue_close(q, &why);
	put(&b);
	assert_string_equal(b.err.text, "another daemon writes");
	queue_fail(q, &why);
	join(&a);
	assert_int_equal(a.rc, -1);
	assert_string_equal(a.err.text, "another daemon writes");
	assert_int_equal(a.verdicts[0].kind, VERDICT_PENDING);
	queue_free(q);
}

static void *wake_later(void *arg)
{
	nanosleep(&(struct timespec){ .tv_nsec = 20000000 }, NULL);
	queue_wake(arg);
	return NULL;
}

static void wakes(void **state UNUSED)
{
	struct queue *q = open_queue(100, 1000);
	pthread_t thread;
	int64_t before = monotonic_ms();

	assert_int_equal(pthread_create(&thread, NULL, wake_later, q), 0);
	assert_null(queue_take(q, 10, 0, before + 60 * SECOND));
	assert_true(monotonic_ms() - before < 30 * SECOND);
	pthread_join(thread, NULL);
	queue_free(q);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(commits_in_order),
		cmocka_unit_test(full_is_busy),
		cmocka_unit_test(bytes_are_bounded_too),
		cmocka_unit_test(deadline_gives_up),
		cmocka_unit_test(in_hand_holds_the_caller),
		cmocka_unit_test(rests_and_keeps_its_place),
		cmocka_unit_test(closed_and_failed),
		cmocka_unit_test(wakes),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "ingest/ingest.h"

#include <pthread.h>
#include <unistd.h>

#include "base/clock.h"
#include "core/merge.h"
#include "base/log.h"
#include "ingest/queue.h"
#include "ingest/upkeep.h"
#include "ingest/writer.h"
#include "store/lock.h"
#include "store/partition.h"
#include "store/pg.h"
#include "store/store.h"

/* Most records in one transaction; more than that gains nothing. */
#define COMMIT_RECORDS	  20000
/* A daemon takes over within ten seconds, so a lock that is lost must be noticed in a few. */
#define LOCK_CHECK_MS	  2000
#define STANDBY_TRY_MS	  1000
#define PAUSE_FIRST_MS	  100
#define PAUSE_MOST_MS	  3000
#define WAIT_MS		  30000
#define RETRY_FULL_S	  1
#define RETRY_LATER_S	  5

enum standing {
	SEEKING, /* nobody is known to be active: trying to be */
	ACTIVE,
	STANDBY, /* another daemon is */
};

struct ingest {
	struct store *store;
	struct ingest_settings settings;
	struct queue *queue;
	struct writer *writer;
	struct daemon_lock *lock;
	struct upkeep *upkeep;
	char name[128]; /* of this daemon */
	pthread_t thread;
	/* the thread's own */
	enum standing standing;
	int64_t lock_checked_ms;
	int64_t rested_at_ms;
	int pause_ms;
	bool outage; /* it has been said that the database cannot be written */
	/* shared */
	pthread_mutex_t mutex; /* guards what follows */
	pthread_cond_t ended_cond;
	bool stop, ended;
	int64_t stop_by_ms;
	struct ingest_stats stats;
};

/* ---- what both sides see */

static bool stopping(struct ingest *in, int64_t *ret_by_ms)
{
	bool stop;

	pthread_mutex_lock(&in->mutex);
	stop = in->stop;
	*ret_by_ms = in->stop_by_ms;
	pthread_mutex_unlock(&in->mutex);
	return stop;
}

static void note_stats(struct ingest *in)
{
	const struct writer_stats *w = writer_stats(in->writer);
	struct ingest_stats *s = &in->stats;

	pthread_mutex_lock(&in->mutex);
	s->accepted = w->accepted;
	s->duplicate = w->duplicate;
	s->refused = w->refused;
	s->purged = w->purged;
	s->commits = w->commits;
	s->failed_commits = w->failed_commits;
	s->commit_us_sum = w->commit_us_sum;
	memcpy(s->commit_us_buckets, w->commit_us_buckets, sizeof(s->commit_us_buckets));
	s->active = in->standing == ACTIVE;
	pthread_mutex_unlock(&in->mutex);
}

void ingest_get_stats(struct ingest *in, struct ingest_stats *ret)
{
	struct queue_level level = queue_level(in->queue);

	pthread_mutex_lock(&in->mutex);
	*ret = in->stats;
	pthread_mutex_unlock(&in->mutex);
	ret->queued_now = level.records;
	ret->queued_bytes = level.bytes;
}

/* ---- the thread: active or not */

static void pause_for(struct ingest *in, int ms)
{
	queue_pause(in->queue, monotonic_ms() + ms);
}

/* Before the first start there is no partition. */
static int make_partitions(struct ingest *in, struct err *err)
{
	struct pg *pg = store_maintainer(in->store, err);
	struct span span;
	int rc;

	if (pg == NULL)
		return -1;
	rc = partition_span(pg, &span, err);
	if (rc < 0)
		rc = partition_maintain(pg, time(NULL), err);
	pg_close(pg);
	return rc;
}

static void step_back(struct ingest *in, const struct err *why)
{
	if (in->standing != STANDBY)
		log_err(LOG_INFO, why, "standing by");
	in->standing = STANDBY;
	upkeep_active(in->upkeep, false);
	queue_close(in->queue, why);
	queue_fail(in->queue, why);
	note_stats(in);
}

/* Once per outage. */
static void note_outage(struct ingest *in, const struct err *err)
{
	if (!in->outage)
		log_err(LOG_WARN, err, "records wait for the database");
	in->outage = true;
}

static void seek(struct ingest *in)
{
	struct err err = { 0 };
	int64_t epoch = 0;
	int rc = daemon_lock_try(in->lock, in->name, time(NULL), &epoch, &err);

	if (rc > 0 && make_partitions(in, &err) < 0)
		rc = -1;
	if (rc > 0) {
		in->standing = ACTIVE;
		in->pause_ms = 0;
		in->outage = false;
		upkeep_active(in->upkeep, true);
		log_info("records are written by this daemon epoch=%" PRId64, epoch);
		in->lock_checked_ms = monotonic_ms();
		writer_begin_epoch(in->writer, epoch);
		queue_open(in->queue);
		note_stats(in);
		return;
	}
	if (rc == 0)
		step_back(in, &err);
	else
		note_outage(in, &err);
	pause_for(in, STANDBY_TRY_MS);
}

static void check_lock(struct ingest *in)
{
	struct err err = { 0 };

	if (monotonic_ms() < in->lock_checked_ms + LOCK_CHECK_MS)
		return;
	in->lock_checked_ms = monotonic_ms();
	if (daemon_lock_check(in->lock, &err) < 0)
		in->standing = SEEKING; /* callers go on waiting: it may well be ours again */
}

/* ---- the thread: writing */

static void recover(struct ingest *in)
{
	in->rested_at_ms = 0;
	in->pause_ms = in->pause_ms == 0 ? PAUSE_FIRST_MS : 2 * in->pause_ms;
	if (in->pause_ms > PAUSE_MOST_MS)
		in->pause_ms = PAUSE_MOST_MS;
	in->lock_checked_ms = 0; /* it may have gone with the connection */
	pause_for(in, in->pause_ms);
}

static void write_tickets(struct ingest *in, struct ticket *tickets)
{
	struct err err = { 0 };
	enum writer_end end = writer_write(in->writer, tickets, &err);
	int64_t next = writer_next_ms(in->writer);

	note_stats(in); /* before its callers can ask */
	queue_settle(in->queue, tickets);
	in->rested_at_ms = next == INT64_MAX ? 0 : next;
	switch (end) {
	case WRITER_DONE:
		in->pause_ms = 0;
		in->outage = false;
		break;
	case WRITER_LOST:
		note_outage(in, &err);
		recover(in);
		break;
	case WRITER_FENCED:
		daemon_lock_drop(in->lock);
		step_back(in, &err);
		break;
	}
}

static void work(struct ingest *in)
{
	struct ticket *tickets;

	if (in->standing != ACTIVE) {
		seek(in);
		return;
	}
	check_lock(in);
	if (in->standing != ACTIVE)
		return;
	tickets = queue_take(in->queue, COMMIT_RECORDS, in->rested_at_ms,
			     in->lock_checked_ms + LOCK_CHECK_MS);
	if (tickets != NULL)
		write_tickets(in, tickets);
}

static void *writer_main(void *arg)
{
	struct ingest *in = arg;
	int64_t by_ms;

	while (!stopping(in, &by_ms) ||
	       (queue_level(in->queue).records > 0 && monotonic_ms() < by_ms))
		work(in);
	pthread_mutex_lock(&in->mutex);
	in->ended = true;
	pthread_cond_signal(&in->ended_cond);
	pthread_mutex_unlock(&in->mutex);
	return NULL;
}

/* ---- beginning and end */

struct ingest *ingest_start(struct store *store, const struct ingest_settings *settings,
			    struct err *err)
{
	struct ingest *in = xcalloc(1, sizeof(*in));
	pthread_condattr_t attr;
	char host[96] = "";
	int rc;

	in->store = store;
	in->settings = *settings;
	in->queue = queue_new(settings->queue_records, settings->queue_bytes);
	in->writer = writer_new(store, settings);
	in->lock = daemon_lock_new(store);
	gethostname(host, sizeof(host) - 1);
	snprintf(in->name, sizeof(in->name), "%s pid %d", host, (int)getpid());
	pthread_mutex_init(&in->mutex, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&in->ended_cond, &attr);
	pthread_condattr_destroy(&attr);
	in->upkeep = upkeep_start(store, err);
	if (in->upkeep == NULL)
		goto fail;
	rc = pthread_create(&in->thread, NULL, writer_main, in);
	if (rc == 0)
		return in;
	err_set(err, ERR_SYSTEM, NULL, "cannot start the writer's thread: %s", strerror(rc));
fail:
	upkeep_stop(in->upkeep);
	ingest_free(in);
	return NULL;
}

/* False when the thread has not ended by then. */
static bool await_end(struct ingest *in, int64_t deadline_ms)
{
	struct timespec by = monotonic_timespec(deadline_ms);
	bool ended;

	pthread_mutex_lock(&in->mutex);
	while (!in->ended &&
	       pthread_cond_timedwait(&in->ended_cond, &in->mutex, &by) != ETIMEDOUT)
		;
	ended = in->ended;
	pthread_mutex_unlock(&in->mutex);
	return ended;
}

void ingest_stop(struct ingest *in, int64_t deadline_ms)
{
	struct err why;

	err_set(&why, ERR_BUSY, NULL, "tallyd is stopping");
	queue_close(in->queue, &why);
	pthread_mutex_lock(&in->mutex);
	in->stop = true;
	in->stop_by_ms = deadline_ms;
	pthread_mutex_unlock(&in->mutex);
	queue_wake(in->queue);
	if (!await_end(in, deadline_ms))
		store_break_writer(in->store);
	pthread_join(in->thread, NULL);
	queue_fail(in->queue, &why);
	upkeep_stop(in->upkeep);
	in->upkeep = NULL;
	daemon_lock_drop(in->lock);
}

void ingest_free(struct ingest *in)
{
	if (in == NULL)
		return;
	daemon_lock_free(in->lock);
	writer_free(in->writer);
	queue_free(in->queue);
	pthread_cond_destroy(&in->ended_cond);
	pthread_mutex_destroy(&in->mutex);
	free(in);
}

/* ---- the callers' side */

/* Records that make no sense go on as refused, to the quarantine. */
static void validate(struct batch *batch, struct arena *arena)
{
	for (size_t i = 0; i < batch->n; i++) {
		struct verdict *v = &batch->verdicts[i];

		if (v->kind == VERDICT_REFUSED)
			continue;
		*v = (struct verdict){ .kind = VERDICT_PENDING };
		if (record_validate(&batch->records[i], arena, &v->err) < 0)
			v->kind = VERDICT_REFUSED;
		else
			record_stamp(&batch->records[i]);
	}
}

/* Which verdicts came with the batch: a bit each. */
static uint8_t *remember_refused(const struct batch *batch, struct arena *arena)
{
	uint8_t *bits = arena_zalloc(arena, batch->n / 8 + 1);

	for (size_t i = 0; i < batch->n; i++)
		if (batch->verdicts[i].kind == VERDICT_REFUSED)
			bits[i / 8] |= (uint8_t)(1u << i % 8);
	return bits;
}

static void take_back_verdicts(struct batch *batch, const uint8_t *refused)
{
	for (size_t i = 0; i < batch->n; i++)
		if (!(refused[i / 8] >> i % 8 & 1))
			batch->verdicts[i] = (struct verdict){ .kind = VERDICT_PENDING };
}

static int retry_after(struct ingest *in, const struct err *err)
{
	bool active;

	pthread_mutex_lock(&in->mutex);
	in->stats.busy += err->code == ERR_BUSY;
	active = in->stats.active;
	pthread_mutex_unlock(&in->mutex);
	return active && err->code == ERR_BUSY ? RETRY_FULL_S : RETRY_LATER_S;
}

int ingest_commit(struct ingest *in, struct batch *batch, int *ret_retry_after_s, struct err *err)
{
	int wait_ms = in->settings.commit_wait_ms > 0 ? in->settings.commit_wait_ms : WAIT_MS;
	struct arena *arena;
	const uint8_t *refused;
	struct err why = { 0 };
	int rc;

	*ret_retry_after_s = 0;
	if (batch->n == 0)
		return 0;
	arena = arena_new();
	refused = remember_refused(batch, arena);
	validate(batch, arena);
	rc = queue_put(in->queue, batch, monotonic_ms() + wait_ms, &why);
	if (rc < 0) {
		take_back_verdicts(batch, refused);
		*ret_retry_after_s = retry_after(in, &why);
		if (err != NULL)
			*err = why;
	}
	arena_free(arena);
	return rc;
}

#include "store/store.h"

#include <pthread.h>

#include "base/arena.h"
#include "base/clock.h"
#include "store/pg.h"

/* Of work whose connection is lost: a server that goes takes several with it. */
#define READ_ATTEMPTS 3
#define PAUSE_FIRST_MS 100
#define PAUSE_MOST_MS  5000
/* A transaction of ours that is silent for so long has lost its thread. */
#define IDLE_MS 60000
/* Callers wait for the writer, and a daemon that takes over waits for its transaction. */
#define WRITER_STATEMENT_MS 20000
#define WRITER_IDLE_MS	    5000

struct slot {
	struct pg *pg; /* NULL = not connected */
	bool busy;
};

struct store {
	char *conninfo;
	char *spool_dir;
	struct store_settings settings;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t freed;
	struct slot *readers;
	struct slot writer;
	struct store_health health;
	int pause_ms; /* before the next try; 0 = the last one worked */
	int64_t try_at_ms;
};

struct store *store_open(const struct store_settings *settings, struct err *err)
{
	pthread_condattr_t attr;
	struct store *s;

	if (settings->conninfo == NULL) {
		err_set(err, ERR_INVALID, "conninfo", "no database is named");
		return NULL;
	}
	s = xcalloc(1, sizeof(*s));
	s->settings = *settings;
	s->conninfo = xstrdup(settings->conninfo);
	s->settings.conninfo = s->conninfo;
	s->spool_dir = xstrdup(settings->spool_dir != NULL ? settings->spool_dir : "/var/tmp");
	if (settings->readers <= 0)
		s->settings.readers = 16;
	if (settings->reader_wait_ms <= 0)
		s->settings.reader_wait_ms = 5000;
	if (settings->statement_timeout_ms <= 0)
		s->settings.statement_timeout_ms = 300000;
	s->readers = xcalloc((size_t)s->settings.readers, sizeof(s->readers[0]));
	s->health.readers = s->settings.readers;
	s->health.changed_ms = monotonic_ms();
	err_set(&s->health.why, ERR_DATABASE, NULL, "not connected yet");
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&s->freed, &attr);
	pthread_condattr_destroy(&attr);
	return s;
}

void store_close(struct store *s)
{
	if (s == NULL)
		return;
	for (int i = 0; i < s->settings.readers; i++) {
		assert(!s->readers[i].busy);
		pg_close(s->readers[i].pg);
	}
	assert(!s->writer.busy);
	pg_close(s->writer.pg);
	pthread_cond_destroy(&s->freed);
	pthread_mutex_destroy(&s->lock);
	free(s->readers);
	free(s->conninfo);
	free(s->spool_dir);
	free(s);
}

/* ---- connecting.  With the lock held, except while libpq is at work. */

static void note_up(struct store *s)
{
	if (!s->health.up)
		s->health.changed_ms = monotonic_ms();
	s->health.up = true;
	s->pause_ms = 0;
	err_clear(&s->health.why);
}

static void note_down(struct store *s, const struct err *why)
{
	if (s->health.up)
		s->health.changed_ms = monotonic_ms();
	s->health.up = false;
	s->health.why = *why;
}

static void note_failed_connect(struct store *s, const struct err *why)
{
	note_down(s, why);
	s->health.failed_connects++;
	s->pause_ms = s->pause_ms == 0 ? PAUSE_FIRST_MS : 2 * s->pause_ms;
	if (s->pause_ms > PAUSE_MOST_MS)
		s->pause_ms = PAUSE_MOST_MS;
	s->try_at_ms = monotonic_ms() + s->pause_ms;
}

/* In the pause after a failure everybody is told that failure at once. */
static int check_pause(struct store *s, struct err *err)
{
	if (s->pause_ms == 0 || monotonic_ms() >= s->try_at_ms)
		return 0;
	if (err != NULL)
		*err = s->health.why;
	return -1;
}

static struct pg *connect_as(struct store *s, const struct pg_settings *how, struct err *err)
{
	struct err why = { 0 };
	struct pg *pg;

	if (check_pause(s, err) < 0)
		return NULL;
	pthread_mutex_unlock(&s->lock);
	pg = pg_open(how, &why);
	pthread_mutex_lock(&s->lock);
	if (pg == NULL) {
		note_failed_connect(s, &why);
		if (err != NULL)
			*err = why;
	} else {
		s->health.connects++;
		note_up(s);
	}
	return pg;
}

/* ---- handing out */

static struct slot *find_reader(struct store *s)
{
	struct slot *unconnected = NULL;

	for (int i = 0; i < s->settings.readers; i++) {
		if (s->readers[i].busy)
			continue;
		if (s->readers[i].pg != NULL)
			return &s->readers[i];
		unconnected = &s->readers[i];
	}
	return unconnected;
}

static struct slot *wait_for_reader(struct store *s, struct err *err)
{
	struct timespec until = monotonic_timespec(monotonic_ms() + s->settings.reader_wait_ms);
	struct slot *slot = find_reader(s);

	if (slot == NULL)
		s->health.reader_waits++;
	while (slot == NULL) {
		int rc = pthread_cond_timedwait(&s->freed, &s->lock, &until);

		slot = find_reader(s);
		if (slot == NULL && rc == ETIMEDOUT) {
			s->health.reader_timeouts++;
			err_set(err, ERR_BUSY, NULL,
				"all %d database connections for questions are in use",
				s->settings.readers);
			return NULL;
		}
	}
	return slot;
}

/* The slot is ours, so only its pg may change while the lock is let go. */
static struct pg *fill(struct store *s, struct slot *slot, const struct pg_settings *how,
		       struct err *err)
{
	struct pg *pg = slot->pg;

	if (pg != NULL && !pg_still_there(pg)) {
		slot->pg = NULL;
		pg_close(pg);
		pg = NULL;
	}
	if (pg == NULL)
		pg = connect_as(s, how, err);
	slot->pg = pg;
	if (pg == NULL) {
		slot->busy = false;
		pthread_cond_signal(&s->freed);
	}
	return pg;
}

struct pg *store_reader(struct store *s, struct err *err)
{
	const struct pg_settings how = {
		.conninfo = s->conninfo,
		.name = "tallyd reader",
		.connect_timeout_s = s->settings.connect_timeout_s,
		.statement_timeout_ms = s->settings.statement_timeout_ms,
		.idle_timeout_ms = IDLE_MS,
	};
	struct slot *slot;
	struct pg *pg = NULL;

	pthread_mutex_lock(&s->lock);
	slot = wait_for_reader(s, err);
	if (slot != NULL) {
		slot->busy = true;
		pg = fill(s, slot, &how, err);
	}
	pthread_mutex_unlock(&s->lock);
	return pg;
}

struct pg *store_writer(struct store *s, int lock_timeout_ms, struct err *err)
{
	const struct pg_settings how = {
		.conninfo = s->conninfo,
		.name = "tallyd writer",
		.connect_timeout_s = s->settings.connect_timeout_s,
		.statement_timeout_ms = WRITER_STATEMENT_MS,
		.lock_timeout_ms = lock_timeout_ms,
		.idle_timeout_ms = WRITER_IDLE_MS,
	};
	struct pg *pg = NULL;

	pthread_mutex_lock(&s->lock);
	if (s->writer.busy) {
		err_set(err, ERR_BUSY, NULL, "the writer's connection is in use");
	} else {
		s->writer.busy = true;
		pg = fill(s, &s->writer, &how, err);
	}
	pthread_mutex_unlock(&s->lock);
	return pg;
}

struct pg *store_session(struct store *s, const struct pg_settings *limits, struct err *err)
{
	struct pg_settings how = *limits;
	struct pg *pg;

	how.conninfo = s->conninfo;
	if (how.connect_timeout_s == 0)
		how.connect_timeout_s = s->settings.connect_timeout_s;
	pthread_mutex_lock(&s->lock);
	pg = connect_as(s, &how, err);
	pthread_mutex_unlock(&s->lock);
	return pg;
}

struct pg *store_maintainer(struct store *s, struct err *err)
{
	static const struct pg_settings no_limits = { .name = "tallyd maintenance" };

	return store_session(s, &no_limits, err);
}

/* ---- taking back */

static void take_back(struct store *s, struct slot *slot)
{
	struct pg *pg = slot->pg;
	struct err why = { 0 };
	bool alive;

	if (pg_alive(pg) && pg_in_transaction(pg))
		pg_rollback(pg);
	alive = pg_alive(pg);
	pthread_mutex_lock(&s->lock);
	if (alive) {
		note_up(s);
	} else {
		err_set(&why, ERR_DATABASE, NULL, "the connection to the database was lost");
		note_down(s, &why);
		slot->pg = NULL;
	}
	slot->busy = false;
	pthread_cond_signal(&s->freed);
	pthread_mutex_unlock(&s->lock);
	if (!alive)
		pg_close(pg);
}

void store_reader_done(struct store *s, struct pg *pg)
{
	int i = 0;

	if (pg == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	while (s->readers[i].pg != pg)
		i++;
	pthread_mutex_unlock(&s->lock);
	take_back(s, &s->readers[i]);
}

int store_read(struct store *s, reader_work *work, void *arg, struct err *err)
{
	for (int attempt = 1;; attempt++) {
		struct pg *pg = store_reader(s, err);
		bool lost;
		int rc;

		if (pg == NULL)
			return -1;
		rc = work(pg, arg, err);
		lost = !pg_alive(pg);
		store_reader_done(s, pg);
		if (rc == 0 || !lost || attempt == READ_ATTEMPTS)
			return rc;
	}
}

void store_writer_done(struct store *s, struct pg *pg)
{
	if (pg == NULL)
		return;
	assert(s->writer.busy && s->writer.pg == pg);
	take_back(s, &s->writer);
}

void store_cancel_readers(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	for (int i = 0; i < s->settings.readers; i++)
		if (s->readers[i].busy && s->readers[i].pg != NULL)
			pg_cancel(s->readers[i].pg);
	pthread_mutex_unlock(&s->lock);
}

void store_break_writer(struct store *s)
{
	pthread_mutex_lock(&s->lock);
	if (s->writer.busy && s->writer.pg != NULL)
		pg_break(s->writer.pg);
	pthread_mutex_unlock(&s->lock);
}

const char *store_spool_dir(const struct store *s)
{
	return s->spool_dir;
}

/* ---- how it is */

int store_ping(struct store *s, struct err *err)
{
	static const struct statement ping = { "ping", "SELECT 1" };
	struct pg *pg = store_reader(s, err);
	int rc;

	if (pg == NULL)
		return -1;
	rc = pg_run(pg, &ping, NULL, NULL, err);
	store_reader_done(s, pg);
	return rc;
}

void store_get_health(struct store *s, struct store_health *ret)
{
	pthread_mutex_lock(&s->lock);
	*ret = s->health;
	ret->readers_open = ret->readers_busy = 0;
	for (int i = 0; i < s->settings.readers; i++) {
		ret->readers_open += s->readers[i].pg != NULL;
		ret->readers_busy += s->readers[i].busy;
	}
	pthread_mutex_unlock(&s->lock);
}

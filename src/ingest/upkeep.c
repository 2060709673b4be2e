#include "ingest/upkeep.h"

#include <pthread.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/partition.h"
#include "store/pg.h"
#include "store/store.h"

#define EVERY_MS (3600 * 1000)
/* After a failure: somebody may hold a lock, or the database is away. */
#define AGAIN_MS (60 * 1000)

struct upkeep {
	struct store *store;
	pthread_t thread;
	pthread_mutex_t lock; /* guards what follows */
	pthread_cond_t changed;
	bool active, stop;
	int64_t due_ms;
	struct pg *pg; /* at work */
};

static void cond_init(pthread_cond_t *c)
{
	pthread_condattr_t attr;

	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(c, &attr);
	pthread_condattr_destroy(&attr);
}

static int maintain(struct upkeep *u, struct err *err)
{
	struct pg *pg = store_maintainer(u->store, err);
	bool stop;
	int rc = -1;

	if (pg == NULL)
		return -1;
	pthread_mutex_lock(&u->lock);
	u->pg = pg;
	stop = u->stop;
	pthread_mutex_unlock(&u->lock);
	if (!stop)
		rc = partition_maintain(pg, time(NULL), err);
	pthread_mutex_lock(&u->lock);
	u->pg = NULL;
	pthread_mutex_unlock(&u->lock);
	pg_close(pg);
	return rc;
}

/* The lock is held. */
static void await_due(struct upkeep *u)
{
	while (!u->stop && !(u->active && monotonic_ms() >= u->due_ms)) {
		if (u->active) {
			struct timespec t = monotonic_timespec(u->due_ms);

			pthread_cond_timedwait(&u->changed, &u->lock, &t);
		} else {
			pthread_cond_wait(&u->changed, &u->lock);
		}
	}
}

static void *upkeep_main(void *arg)
{
	struct upkeep *u = arg;

	pthread_mutex_lock(&u->lock);
	for (await_due(u); !u->stop; await_due(u)) {
		struct err err = { 0 };
		int rc;

		pthread_mutex_unlock(&u->lock);
		rc = maintain(u, &err);
		pthread_mutex_lock(&u->lock);
		if (rc < 0 && !u->stop)
			log_err(LOG_WARN, &err, "the partitions could not be maintained");
		u->due_ms = monotonic_ms() + (rc < 0 ? AGAIN_MS : EVERY_MS);
	}
	pthread_mutex_unlock(&u->lock);
	return NULL;
}

struct upkeep *upkeep_start(struct store *store, struct err *err)
{
	struct upkeep *u = xcalloc(1, sizeof(*u));
	int rc;

	u->store = store;
	pthread_mutex_init(&u->lock, NULL);
	cond_init(&u->changed);
	rc = pthread_create(&u->thread, NULL, upkeep_main, u);
	if (rc == 0)
		return u;
	err_set(err, ERR_SYSTEM, NULL, "cannot start a thread: %s", strerror(rc));
	pthread_cond_destroy(&u->changed);
	pthread_mutex_destroy(&u->lock);
	free(u);
	return NULL;
}

void upkeep_active(struct upkeep *u, bool active)
{
	pthread_mutex_lock(&u->lock);
	if (active && !u->active)
		u->due_ms = 0;
	u->active = active;
	pthread_cond_signal(&u->changed);
	pthread_mutex_unlock(&u->lock);
}

void upkeep_stop(struct upkeep *u)
{
	if (u == NULL)
		return;
	pthread_mutex_lock(&u->lock);
	u->stop = true;
	pthread_cond_signal(&u->changed);
	if (u->pg != NULL)
		pg_break(u->pg); /* what it was doing is finished by the next partition_maintain */
	pthread_mutex_unlock(&u->lock);
	pthread_join(u->thread, NULL);
	pthread_cond_destroy(&u->changed);
	pthread_mutex_destroy(&u->lock);
	free(u);
}

#include "house.h"

#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "auth/private_munged.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "conf_rooms.h"
#include "store/advice.h"
#include "store/private_pg.h"
#include "store/store.h"
#include "store/tree_read.h"

/* From the signal to the end of the process, with room to spare under ten seconds. */
enum {
	WRITER_MS = 5000,
	STOP_INGEST_MS = 4500,
	STOP_API_MS = 6500,
	STOP_SERVERS_MS = 8500,
	STOP_MUNGED_MS = 700,
	BACK_OFF_LEAST_MS = 500,
	BACK_OFF_MOST_MS = 30000,
};

struct house {
	const struct config *config;
	struct places *places;
	uid_t started_by;
	int ready_fd;
	int close_fd; /* readable = the end has begun */
	int64_t close_ms;
	struct private_munged *munged;
	struct private_pg *pg;
	const char *dsn; /* of the database, private or not */
	struct store *store;
	struct ingest *ingest;
	bool ingest_drained;
	struct tree_cache *trees;
	struct ops ops;
	struct api *api;
	char http_socket[108];
	bool schema_ready, said_ready;
	int wake_fd; /* readable = look_again has been set */
	atomic_bool look_again;
};

struct house *house_new(const struct config *config, struct places *places, uid_t started_by,
			int ready_fd)
{
	struct house *h = xcalloc(1, sizeof(*h));

	h->config = config;
	h->places = places;
	h->started_by = started_by;
	h->ready_fd = ready_fd;
	h->close_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	h->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	return h;
}

void house_free(struct house *h)
{
	if (h == NULL)
		return;
	close(h->close_fd);
	close(h->wake_fd);
	free(h);
}

void house_close(struct house *h)
{
	uint64_t one = 1;

	if (write(h->close_fd, &one, sizeof(one)) < 0)
		log_debug("the end has been asked for before");
}

/* Will it be the same tomorrow? */
static bool is_lasting(const struct err *err)
{
	return err->code == ERR_NEWER || err->code == ERR_CONFLICT;
}

static bool closing(const struct house *h)
{
	struct pollfd f = { .fd = h->close_fd, .events = POLLIN };

	return poll(&f, 1, 0) > 0;
}

/* ---- what is started --------------------------------------------------------------------- */

static int munged_up(struct house *h, struct err *err)
{
	return private_munged_up(h->munged, err);
}

static int munged_fd(const struct house *h)
{
	return h->munged != NULL ? private_munged_fd(h->munged) : -1;
}

static int start_munged(struct house *h, struct err *err)
{
	struct private_munged_settings s = {
		.state_dir = h->places->state_dir,
		.socket_dir = h->places->run_dir,
		.cancel_fd = h->close_fd,
	};

	if (h->config->munge_socket != NULL)
		return 0;
	h->munged = private_munged_open(&s, err);
	if (h->munged == NULL || munged_up(h, err) < 0)
		return -1;
	log_info("private munged %s socket=%s",
		 private_munged_adopted(h->munged) ? "taken over" : "started",
		 private_munged_socket(h->munged));
	return 0;
}

static void stop_munged(struct house *h)
{
	if (h->munged != NULL)
		private_munged_stop(h->munged, STOP_MUNGED_MS);
	private_munged_free(h->munged);
	h->munged = NULL;
}

static int pg_up(struct house *h, struct err *err)
{
	return private_pg_up(h->pg, err);
}

static int pg_fd(const struct house *h)
{
	return h->pg != NULL ? private_pg_fd(h->pg) : -1;
}

/* What an administrator's shell may hold for libpq is meant for other servers than our own. */
static void forget_libpq_environment(void)
{
	static const char *const names[] = {
		"PGHOSTADDR",	 "PGOPTIONS",	     "PGSERVICE",
		"PGSERVICEFILE", "PGSSLMODE",	     "PGTARGETSESSIONATTRS",
		"PGREQUIREPEER", "PGCLIENTENCODING", "PGPASSWORD",
		"PGAPPNAME",	 "PGCHANNELBINDING",
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		unsetenv(names[i]);
}

static int start_pg(struct house *h, struct err *err)
{
	struct private_pg_settings s = {
		.state_dir = h->places->state_dir,
		.socket_dir = h->places->pg_dir,
		.bin_dir = h->config->postgres_bin_dir,
		.cancel_fd = h->close_fd,
	};

	if (config_dsn(h->config, &h->dsn, err) < 0)
		return -1;
	if (h->dsn != NULL)
		return 0;
	forget_libpq_environment();
	h->pg = private_pg_open(&s, err);
	if (h->pg == NULL || pg_up(h, err) < 0)
		return -1;
	log_info("private PostgreSQL %d %s dsn=\"%s\"", private_pg_major(h->pg),
		 private_pg_adopted(h->pg) ? "taken over" : "started", private_pg_dsn(h->pg));
	h->dsn = private_pg_dsn(h->pg);
	return 0;
}

static void stop_pg(struct house *h)
{
	int64_t left = h->close_ms + STOP_SERVERS_MS - monotonic_ms();

	if (h->pg != NULL)
		private_pg_stop(h->pg, left > 500 ? (int)left : 500);
	private_pg_free(h->pg);
	h->pg = NULL;
}

static int schema_up(struct house *h, struct err *err)
{
	int applied = 0;

	if (database_prepare(h->store, &applied, err) < 0)
		return -1;
	h->schema_ready = true;
	if (applied > 0)
		log_info("the database's schema is up to date migrations=%d", applied);
	return 0;
}

/* A database of one's own must be right from the start.  One that is configured may be away for a
 * while: tallyd then serves what it can and goes on trying. */
static int start_store(struct house *h, struct err *err)
{
	struct store_settings s;

	conf_store(h->config, h->dsn, &s);
	h->store = store_open(&s, err);
	if (h->store == NULL)
		return -1;
	if (schema_up(h, err) == 0)
		return 0;
	if (h->pg != NULL || is_lasting(err))
		return -1;
	log_err(LOG_ERROR, err, "the database cannot be used yet; going on trying");
	return 0;
}

static void stop_store(struct house *h)
{
	tree_cache_free(h->trees);
	h->trees = NULL;
	store_close(h->store);
	h->store = NULL;
}

static int start_ingest(struct house *h, struct err *err)
{
	struct ingest_settings s;

	conf_ingest(h->config, &s);
	h->ingest = ingest_start(h->store, &s, err);
	return h->ingest != NULL ? 0 : -1;
}

/* Commits what is queued; what comes later is told to come again. */
static void drain_ingest(struct house *h)
{
	if (h->ingest != NULL && !h->ingest_drained)
		ingest_stop(h->ingest, h->close_ms + STOP_INGEST_MS);
	h->ingest_drained = true;
}

static void stop_ingest(struct house *h)
{
	drain_ingest(h);
	ingest_free(h->ingest);
	h->ingest = NULL;
}

static const char *munge_socket(const struct house *h)
{
	return h->munged != NULL ? private_munged_socket(h->munged) : h->config->munge_socket;
}

static int start_api(struct house *h, struct err *err)
{
	struct api_settings s;

	if (conf_ops(h->config, h->started_by, &h->ops.settings, err) < 0 ||
	    conf_api(h->config, h->places, munge_socket(h),
		     h->munged != NULL ? private_munged_key(h->munged) : NULL, h->http_socket, &s,
		     err) < 0)
		return -1;
	h->ops.store = h->store;
	h->ops.ingest = h->ingest;
	h->trees = tree_cache_new(h->store);
	h->ops.trees = h->trees;
	h->api = api_start(&h->ops, &s, err);
	if (h->api == NULL)
		return -1;
	if (h->config->dbd_addr != NULL)
		log_warn("the slurmdbd protocol is not served by this version");
	if (h->config->anonymous_reads)
		log_warn("AllowAnonymousReads: everyone who can connect may read%s",
			 conf_is_local(h->config) ? "" : ", from other machines too");
	return s.unix_path != NULL ? places_announce(h->places, s.unix_path, err) : 0;
}

/* An answer in the making may hang in a statement of its own; past the deadline that is ended. */
static void *cancel_late(void *arg)
{
	struct house *h = arg;
	struct pollfd f = { .fd = h->wake_fd, .events = POLLIN };
	int64_t left = h->close_ms + STOP_API_MS - monotonic_ms();

	while (poll(&f, 1, left > 0 ? (int)left : 0) == 0) {
		store_cancel_readers(h->store);
		left = 100;
	}
	return NULL;
}

/* Takes nothing new, commits what is queued (whoever waits for that is told), lets running answers
 * end until the deadline. */
static void stop_api(struct house *h)
{
	uint64_t one = 1;
	pthread_t thread;
	bool watched;

	if (h->api == NULL)
		return;
	api_quiesce(h->api);
	drain_ingest(h);
	while (read(h->wake_fd, &one, sizeof(one)) > 0)
		one = 1;
	watched = pthread_create(&thread, NULL, cancel_late, h) == 0;
	api_stop(h->api, h->close_ms + STOP_API_MS);
	h->api = NULL;
	one = 1;
	if (watched && write(h->wake_fd, &one, sizeof(one)) > 0)
		pthread_join(thread, NULL);
}

/* The writer takes its lock in a thread of its own, a moment after it was started.  Where another
 * tallyd holds it, this one serves reads, and is as ready as it gets. */
static void wait_for_writer(const struct house *h)
{
	struct pollfd f = { .fd = h->close_fd, .events = POLLIN };
	int64_t deadline = monotonic_ms() + WRITER_MS;
	struct ingest_stats stats;

	for (;;) {
		ingest_get_stats(h->ingest, &stats);
		if (stats.active || poll(&f, 1, 10) > 0)
			return;
		if (monotonic_ms() > deadline)
			break;
	}
	log_warn("another tallyd writes to this database; this one serves reads and stands by");
}

/* Tells those who wait, once: systemd when it is worth waiting no longer, the reader of standard
 * output when everything is up. */
static int say_ready(struct house *h, struct err *err UNUSED)
{
	sd_notify(0, h->schema_ready ? "READY=1\nSTATUS=serving"
				     : "READY=1\nSTATUS=waiting for the database");
	if (!h->schema_ready || h->said_ready)
		return 0;
	h->said_ready = true;
	wait_for_writer(h);
	printf("tallyd: ready %s munge:%s\n", api_addresses(h->api), munge_socket(h));
	fflush(stdout);
	if (h->ready_fd >= 0 && write(h->ready_fd, "r", 1) == 1)
		log_debug("in the background");
	if (h->ready_fd >= 0)
		close(h->ready_fd);
	h->ready_fd = -1;
	return 0;
}

static void say_stopping(struct house *h UNUSED)
{
	sd_notify(0, "STOPPING=1");
}

/* The order of the house: up from the first to the last, down from the last to the first. */
/* clang-format off */
static const struct {
	const char *name;
	int (*start)(struct house *h, struct err *err);
	void (*stop)(struct house *h);
} steps[] = {
	{ "munged", start_munged, stop_munged },
	{ "PostgreSQL", start_pg, stop_pg },
	{ "store", start_store, stop_store },
	{ "ingest", start_ingest, stop_ingest },
	{ "http", start_api, stop_api },
	{ "ready", say_ready, say_stopping },
};
/* clang-format on */

/* ---- keeping it up ------------------------------------------------------------------------ */

static bool munged_is_up(const struct house *h)
{
	return h->munged == NULL || private_munged_fd(h->munged) >= 0;
}

static bool pg_is_up(const struct house *h)
{
	return h->pg == NULL || private_pg_fd(h->pg) >= 0;
}

static bool schema_is_up(const struct house *h)
{
	return h->schema_ready;
}

static int no_fd(const struct house *h UNUSED)
{
	return -1;
}

/* What may be down, and how it comes up again. */
static const struct kept {
	const char *name;
	bool (*is_up)(const struct house *h);
	int (*fd)(const struct house *h); /* readable when it has ended */
	int (*up)(struct house *h, struct err *err);
	bool may_be_lasting; /* some failures are the same tomorrow: then tallyd ends */
} kept[] = {
	{ "private munged", munged_is_up, munged_fd, munged_up, false },
	{ "private PostgreSQL", pg_is_up, pg_fd, pg_up, false },
	{ "the database", schema_is_up, no_fd, schema_up, true },
};

struct trial {
	int64_t again_at_ms, back_off_ms;
};

/* was_down: and not just to be looked at again.  0, or -1 when it is no use to try again. */
static int bring_up(struct house *h, const struct kept *k, bool was_down, struct trial *t,
		    struct err *err)
{
	if (k->up(h, err) == 0) {
		if (was_down || t->back_off_ms > 0)
			log_info("%s is up again", k->name);
		*t = (struct trial){ 0 };
		return 0;
	}
	if (closing(h))
		return 0;
	if (k->may_be_lasting && is_lasting(err))
		return -1;
	t->back_off_ms = t->back_off_ms == 0 ? BACK_OFF_LEAST_MS : 2 * t->back_off_ms;
	if (t->back_off_ms > BACK_OFF_MOST_MS)
		t->back_off_ms = BACK_OFF_MOST_MS;
	t->again_at_ms = monotonic_ms() + t->back_off_ms;
	log_err(LOG_ERROR, err, "%s is not up, next try in %" PRId64 " ms", k->name,
		t->back_off_ms);
	return 0;
}

/* Until something ends, it is time to try something again, or the house is to close. */
static void wait_for_work(const struct house *h, const struct trial *trials)
{
	struct pollfd fds[ARRAY_LEN(kept) + 2];
	int64_t wait_ms = -1;

	for (size_t i = 0; i < ARRAY_LEN(kept); i++) {
		int64_t left = trials[i].again_at_ms - monotonic_ms();

		fds[i] = (struct pollfd){ .fd = kept[i].fd(h), .events = POLLIN };
		if (!kept[i].is_up(h) && (wait_ms < 0 || left < wait_ms))
			wait_ms = left > 0 ? left : 0;
	}
	fds[ARRAY_LEN(kept)] = (struct pollfd){ .fd = h->close_fd, .events = POLLIN };
	fds[ARRAY_LEN(kept) + 1] = (struct pollfd){ .fd = h->wake_fd, .events = POLLIN };
	poll(fds, ARRAY_LEN(fds), (int)wait_ms);
}

static void take_wake(struct house *h)
{
	uint64_t n;

	if (read(h->wake_fd, &n, sizeof(n)) > 0 && atomic_exchange(&h->look_again, false))
		h->schema_ready = false;
}

static bool has_ended(const struct house *h, const struct kept *k)
{
	struct pollfd f = { .fd = k->fd(h), .events = POLLIN };

	return f.fd >= 0 && poll(&f, 1, 0) > 0;
}

/* Waits for the end of the house, and mends what ends before. */
static int keep(struct house *h, struct err *err)
{
	struct trial trials[ARRAY_LEN(kept)] = { 0 };

	while (!closing(h)) {
		wait_for_work(h, trials);
		take_wake(h);
		for (size_t i = 0; i < ARRAY_LEN(kept) && !closing(h); i++) {
			bool ended = has_ended(h, &kept[i]);

			if (ended)
				log_warn("%s has ended; bringing it up again", kept[i].name);
			else if (kept[i].is_up(h) || monotonic_ms() < trials[i].again_at_ms)
				continue;
			if (bring_up(h, &kept[i], ended, &trials[i], err) < 0)
				return -1;
		}
		if (!closing(h))
			say_ready(h, err);
	}
	return 0;
}

int house_run(struct house *h, struct err *err)
{
	size_t up = 0;
	int rc = 0;

	while (up < ARRAY_LEN(steps) && rc == 0) {
		rc = closing(h) ? err_set(err, ERR_GONE, steps[up].name, "start given up")
				: steps[up].start(h, err);
		up++;
	}
	if (rc == 0)
		rc = keep(h, err);
	else if (err->code == ERR_GONE && closing(h))
		rc = 0;
	h->close_ms = monotonic_ms();
	while (up > 0)
		steps[--up].stop(h);
	return rc;
}

/* The schema is looked at again too: a restored backup may be of an older one. */
void house_reload(struct house *h, const struct config *fresh)
{
	uint64_t one = 1;

	conf_ops_reload(fresh, &h->ops.settings);
	atomic_store(&h->look_again, true);
	if (write(h->wake_fd, &one, sizeof(one)) < 0)
		log_debug("the house is awake already");
}

#include "house.h"

#include <poll.h>
#include <sys/eventfd.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "auth/private_munged.h"
#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/log.h"
#include "store/private_pg.h"

/* From the signal to the end of the process, with room to spare under ten seconds. */
enum {
	STOP_SERVERS_MS = 8500,
	STOP_MUNGED_MS = 700,
	BACK_OFF_LEAST_MS = 500,
	BACK_OFF_MOST_MS = 30000,
};

/* A private server as the keeper sees it. */
struct kept {
	const char *name;
	int (*up)(struct house *h, struct err *err);
	int (*fd)(const struct house *h);
	int64_t again_at_ms; /* while it is down */
	int64_t back_off_ms;
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
	return h;
}

void house_free(struct house *h)
{
	if (h == NULL)
		return;
	close(h->close_fd);
	free(h);
}

void house_close(struct house *h)
{
	uint64_t one = 1;

	if (write(h->close_fd, &one, sizeof(one)) < 0)
		log_debug("the end has been asked for before");
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

static int start_pg(struct house *h, struct err *err)
{
	struct private_pg_settings s = {
		.state_dir = h->places->state_dir,
		.socket_dir = h->places->pg_dir,
		.bin_dir = h->config->postgres_bin_dir,
		.cancel_fd = h->close_fd,
	};

	h->pg = private_pg_open(&s, err);
	if (h->pg == NULL || pg_up(h, err) < 0)
		return -1;
	log_info("private PostgreSQL %d %s dsn=\"%s\"", private_pg_major(h->pg),
		 private_pg_adopted(h->pg) ? "taken over" : "started", private_pg_dsn(h->pg));
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

static int say_ready(struct house *h, struct err *err UNUSED)
{
	const char *socket =
		h->munged != NULL ? private_munged_socket(h->munged) : h->config->munge_socket;

	printf("tallyd: ready munge:%s\n", socket);
	fflush(stdout);
	sd_notify(0, "READY=1");
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
static const struct {
	const char *name;
	int (*start)(struct house *h, struct err *err);
	void (*stop)(struct house *h);
} steps[] = {
	{ "munged", start_munged, stop_munged },
	{ "PostgreSQL", start_pg, stop_pg },
	{ "ready", say_ready, say_stopping },
};

/* ---- keeping it up ------------------------------------------------------------------------ */

static void bring_up(struct house *h, struct kept *k)
{
	struct err err = { 0 };
	int64_t now = monotonic_ms();

	if (k->up(h, &err) == 0) {
		log_info("%s is up again", k->name);
		k->back_off_ms = 0;
		return;
	}
	if (closing(h))
		return;
	k->back_off_ms = k->back_off_ms == 0 ? BACK_OFF_LEAST_MS : 2 * k->back_off_ms;
	if (k->back_off_ms > BACK_OFF_MOST_MS)
		k->back_off_ms = BACK_OFF_MOST_MS;
	k->again_at_ms = now + k->back_off_ms;
	log_err(LOG_ERROR, &err, "%s cannot be brought up, next try in %" PRId64 " ms", k->name,
		k->back_off_ms);
}

/* Waits for the end of the house, and mends what ends before. */
static void keep(struct house *h)
{
	struct kept kept[2];
	size_t n = 0;

	if (h->munged != NULL)
		kept[n++] = (struct kept){ "private munged", munged_up, munged_fd, 0, 0 };
	if (h->pg != NULL)
		kept[n++] = (struct kept){ "private PostgreSQL", pg_up, pg_fd, 0, 0 };
	while (!closing(h)) {
		struct pollfd fds[ARRAY_LEN(kept) + 1] = { { .fd = h->close_fd,
							     .events = POLLIN } };
		int wait_ms = -1;

		for (size_t i = 0; i < n; i++) {
			int64_t left = kept[i].again_at_ms - monotonic_ms();

			fds[i + 1] = (struct pollfd){ .fd = kept[i].fd(h), .events = POLLIN };
			if (fds[i + 1].fd < 0 && (wait_ms < 0 || left < wait_ms))
				wait_ms = left > 0 ? (int)left : 0;
		}
		poll(fds, (nfds_t)n + 1, wait_ms);
		for (size_t i = 0; i < n && !closing(h); i++) {
			if (fds[i + 1].revents != 0)
				log_warn("%s has ended; bringing it up again", kept[i].name);
			if (fds[i + 1].revents != 0 ||
			    (fds[i + 1].fd < 0 && monotonic_ms() >= kept[i].again_at_ms))
				bring_up(h, &kept[i]);
		}
	}
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
		keep(h);
	else if (err->code == ERR_GONE && closing(h))
		rc = 0;
	h->close_ms = monotonic_ms();
	while (up > 0)
		steps[--up].stop(h);
	return rc;
}

void house_reload(struct house *h UNUSED, const struct config *fresh UNUSED)
{
}

int house_upgrade_state(const struct config *config, struct err *err)
{
	struct places places;
	int from, to, rc;

	if (places_take(config->state_dir, config->user, &places, err) < 0)
		return -1;
	struct private_pg_settings s = {
		.state_dir = places.state_dir,
		.socket_dir = places.pg_dir,
		.bin_dir = config->postgres_bin_dir,
		.cancel_fd = -1,
	};
	rc = private_pg_upgrade(&s, &from, &to, err);
	if (rc == 0 && from == to)
		printf("the data in %s/pg are of PostgreSQL %d, the newest installed: nothing to "
		       "do\n",
		       places.state_dir, from);
	else if (rc == 0)
		printf("the data in %s/pg are of PostgreSQL %d now; the old ones (%d) are kept in "
		       "%s/pg-%d: remove them when all is well\n",
		       places.state_dir, to, from, places.state_dir, from);
	places_leave(&places);
	return rc;
}

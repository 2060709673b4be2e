#include "api/conn.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "api/problem.h"
#include "base/arena.h"
#include "base/clock.h"

#define TICK_MS	  500
#define LINGER_MS 5000
#define LINGERERS 32
/* Thrown away per lingerer and round, so that none of them holds the watchdog up. */
#define LINGER_ROUND ((size_t)4 << 20)
/* A kept-alive connection that idles for less may be about to be used: not let go for another. */
#define EVICT_AFTER_MS 1000

const char *const cut_reason_names[CUT_REASONS] = {
	[CUT_IDLE] = "idle",
	[CUT_SLOW_HEADERS] = "slow_headers",
	[CUT_SLOW_BODY] = "slow_body",
	[CUT_SLOW_READER] = "slow_reader",
};

struct conn {
	struct conn *prev, *next;
	int fd;
	bool local; /* unix socket: no TCP_INFO */
	bool surplus;
	bool served; /* had a request before */
	bool cut;
	struct identity peer;
	char address[64];
	enum conn_phase phase;
	int64_t since_ms; /* of the phase */
	uint64_t bytes;	  /* received or handed over in this phase */
	bool starved;
	int64_t window_ms;     /* CONN_SENDING: begin of the stretch that is measured, */
	uint64_t window_bytes; /* and what the reader had taken then */
};

struct lingerer {
	int fd;
	int64_t until_ms;
};

struct conns {
	const struct api_settings *settings;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t gone;  /* a connection went */
	struct conn *head;
	struct conns_stats stats;
	struct lingerer lingerers[LINGERERS];
	size_t n_lingerers;
	bool stop;
	int wake; /* eventfd: stop, or a new lingerer */
	pthread_t watchdog;
};

static void *watch(void *arg);

struct conns *conns_new(const struct api_settings *settings, struct err *err)
{
	struct conns *cs = xcalloc(1, sizeof(*cs));
	pthread_condattr_t attr;

	cs->settings = settings;
	pthread_mutex_init(&cs->lock, NULL);
	pthread_condattr_init(&attr);
	pthread_condattr_setclock(&attr, CLOCK_MONOTONIC);
	pthread_cond_init(&cs->gone, &attr);
	pthread_condattr_destroy(&attr);
	cs->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	int rc = cs->wake < 0 ? errno : pthread_create(&cs->watchdog, NULL, watch, cs);
	if (rc == 0)
		return cs;
	err_set(err, ERR_SYSTEM, NULL, "cannot start the HTTP watchdog: %s", strerror(rc));
	if (cs->wake >= 0)
		close(cs->wake);
	free(cs);
	return NULL;
}

static void wake(struct conns *cs)
{
	uint64_t one = 1;

	/* Only fails when it is already due to wake. */
	if (write(cs->wake, &one, sizeof(one)) < 0)
		return;
}

void conns_free(struct conns *cs)
{
	if (cs == NULL)
		return;
	pthread_mutex_lock(&cs->lock);
	assert(cs->head == NULL);
	cs->stop = true;
	pthread_mutex_unlock(&cs->lock);
	wake(cs);
	pthread_join(cs->watchdog, NULL);
	for (size_t i = 0; i < cs->n_lingerers; i++)
		close(cs->lingerers[i].fd);
	close(cs->wake);
	pthread_cond_destroy(&cs->gone);
	pthread_mutex_destroy(&cs->lock);
	free(cs);
}

void conns_get_stats(struct conns *cs, struct conns_stats *ret)
{
	pthread_mutex_lock(&cs->lock);
	*ret = cs->stats;
	pthread_mutex_unlock(&cs->lock);
}

/* ---- cutting; with the lock held ---- */

/* Straight onto the socket.  No answer of libmicrohttpd's is under way where this is called, and
 * none can begin once cut is set. */
static void raw_answer(const struct conn *c, const struct err *err)
{
	const struct err_kind *kind = err_kind(err->code);
	struct buf body = BUF_INIT, out = BUF_INIT;

	problem_print(err, "", &body);
	buf_printf(&out,
		   "HTTP/1.1 %d %s\r\nConnection: close\r\nContent-Type: " PROBLEM_TYPE
		   "\r\nContent-Length: %zu\r\n\r\n%s",
		   kind->http_status, kind->title, body.len, buf_str(&body));
	/* One that cannot be sent without waiting is for a peer that is gone or does not read. */
	ssize_t sent = send(c->fd, buf_str(&out), out.len, MSG_DONTWAIT | MSG_NOSIGNAL);
	(void)sent;
	buf_fini(&out);
	buf_fini(&body);
}

static void cut(struct conns *cs, struct conn *c, enum cut_reason why)
{
	struct err err;

	c->cut = true;
	cs->stats.cut[why]++;
	if (why == CUT_SLOW_BODY || why == CUT_SLOW_HEADERS) {
		err_set(&err, ERR_SLOW, NULL, "the request's %s came in too slowly",
			why == CUT_SLOW_BODY ? "body" : "headers");
		raw_answer(c, &err);
	}
	shutdown(c->fd, SHUT_RDWR);
}

static bool too_slow(const struct conns *cs, uint64_t bytes, int64_t ms)
{
	return bytes < (uint64_t)ms * cs->settings->min_rate / 1000;
}

/* What the reader's side has taken so far: only ever compared with an earlier value. */
static uint64_t taken(const struct conn *c)
{
	struct tcp_info info;
	socklen_t len = sizeof(info);
	int queued = 0;

	if (!c->local && getsockopt(c->fd, IPPROTO_TCP, TCP_INFO, &info, &len) == 0)
		return info.tcpi_bytes_acked;
	if (ioctl(c->fd, SIOCOUTQ, &queued) < 0 || queued < 0 || (uint64_t)queued > c->bytes)
		return c->bytes;
	return c->bytes - (uint64_t)queued;
}

static void window_begin(struct conn *c, int64_t now)
{
	c->window_ms = now;
	c->window_bytes = taken(c);
}

static void watch_reader(struct conns *cs, struct conn *c, int64_t now)
{
	if (c->starved || now - c->window_ms < cs->settings->grace_s * 1000)
		return;
	uint64_t before = c->window_bytes;
	int64_t ms = now - c->window_ms;
	window_begin(c, now);
	/* A unix socket's queue may grow while nothing is handed over: then none was taken. */
	uint64_t got = c->window_bytes > before ? c->window_bytes - before : 0;
	if (too_slow(cs, got, ms))
		cut(cs, c, CUT_SLOW_READER);
}

static void watch_one(struct conns *cs, struct conn *c, int64_t now)
{
	const struct api_settings *s = cs->settings;
	int64_t ms = now - c->since_ms;

	switch (c->phase) {
	case CONN_WAITING:
		if (c->served && ms > s->idle_s * 1000)
			cut(cs, c, CUT_IDLE);
		else if (!c->served && ms > s->first_s * 1000)
			cut(cs, c, CUT_SLOW_HEADERS);
		break;
	case CONN_BODY:
		if (ms > s->grace_s * 1000 && too_slow(cs, c->bytes, ms - s->grace_s * 1000))
			cut(cs, c, CUT_SLOW_BODY);
		break;
	case CONN_SENDING: watch_reader(cs, c, now); break;
	case CONN_WORKING: break;
	}
}

/* ---- the watchdog ---- */

/* Returns false when there is nothing to wait for any more. */
static bool drain(int fd, char *scratch, size_t size)
{
	for (size_t got = 0; got < LINGER_ROUND;) {
		ssize_t n = recv(fd, scratch, size, MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR;
		if (n == 0)
			return false;
		got += (size_t)n;
	}
	return true;
}

static void tend_lingerers(struct conns *cs, char *scratch, size_t size, int64_t now)
{
	size_t kept = 0;

	for (size_t i = 0; i < cs->n_lingerers; i++) {
		struct lingerer l = cs->lingerers[i];
		if (now < l.until_ms && drain(l.fd, scratch, size))
			cs->lingerers[kept++] = l;
		else
			close(l.fd);
	}
	cs->n_lingerers = kept;
}

static void *watch(void *arg)
{
	static const size_t scratch_size = 64 << 10;
	struct conns *cs = arg;
	char *scratch = xmalloc(scratch_size);
	struct pollfd p[1 + LINGERERS];
	int64_t tick = monotonic_ms();
	uint64_t woken;

	pthread_mutex_lock(&cs->lock);
	while (!cs->stop) {
		size_t n = 0;
		p[n++] = (struct pollfd){ .fd = cs->wake, .events = POLLIN };
		for (size_t i = 0; i < cs->n_lingerers; i++)
			p[n++] = (struct pollfd){ .fd = cs->lingerers[i].fd, .events = POLLIN };
		pthread_mutex_unlock(&cs->lock);
		poll(p, n, TICK_MS);
		if (p[0].revents != 0 && read(cs->wake, &woken, sizeof(woken)) < 0)
			woken = 0;
		pthread_mutex_lock(&cs->lock);
		int64_t now = monotonic_ms();
		tend_lingerers(cs, scratch, scratch_size, now);
		if (now - tick < TICK_MS)
			continue;
		tick = now;
		for (struct conn *c = cs->head; c != NULL; c = c->next)
			if (!c->cut)
				watch_one(cs, c, now);
	}
	pthread_mutex_unlock(&cs->lock);
	free(scratch);
	return NULL;
}

/* ---- all of them ---- */

static void cut_where(struct conns *cs, bool idle_only)
{
	pthread_mutex_lock(&cs->lock);
	for (struct conn *c = cs->head; c != NULL; c = c->next) {
		if (c->cut || (idle_only && c->phase != CONN_WAITING))
			continue;
		c->cut = true;
		shutdown(c->fd, SHUT_RDWR);
	}
	pthread_mutex_unlock(&cs->lock);
}

void conns_cut_idle(struct conns *cs)
{
	cut_where(cs, true);
}

void conns_cut_all(struct conns *cs)
{
	cut_where(cs, false);
}

void conns_wait(struct conns *cs, int64_t deadline_ms)
{
	struct timespec until = monotonic_timespec(deadline_ms);

	pthread_mutex_lock(&cs->lock);
	while (cs->head != NULL && pthread_cond_timedwait(&cs->gone, &cs->lock, &until) == 0)
		;
	pthread_mutex_unlock(&cs->lock);
}

/* ---- one of them ---- */

/* Room for a new one: the kept-alive connection that has idled longest goes. */
static void evict(struct conns *cs, int64_t now)
{
	struct conn *oldest = NULL;

	for (struct conn *c = cs->head; c != NULL; c = c->next)
		if (c->phase == CONN_WAITING && !c->cut && now - c->since_ms > EVICT_AFTER_MS &&
		    (oldest == NULL || c->since_ms <= oldest->since_ms))
			oldest = c;
	if (oldest != NULL)
		cut(cs, oldest, CUT_IDLE);
}

struct conn *conn_open(struct conns *cs, int fd, const struct identity *peer, const char *address)
{
	struct conn *c = xcalloc(1, sizeof(*c));

	c->fd = fd;
	c->local = peer != NULL;
	if (peer != NULL)
		c->peer = *peer;
	snprintf(c->address, sizeof(c->address), "%s", address);
	c->since_ms = monotonic_ms();
	pthread_mutex_lock(&cs->lock);
	if (cs->stats.now >= cs->settings->max_connections) {
		c->surplus = true;
		cs->stats.refused++;
		evict(cs, c->since_ms);
	}
	cs->stats.opened++;
	cs->stats.now++;
	c->next = cs->head;
	if (cs->head != NULL)
		cs->head->prev = c;
	cs->head = c;
	pthread_mutex_unlock(&cs->lock);
	return c;
}

void conn_close(struct conns *cs, struct conn *c)
{
	pthread_mutex_lock(&cs->lock);
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		cs->head = c->next;
	if (c->next != NULL)
		c->next->prev = c->prev;
	cs->stats.now--;
	pthread_cond_broadcast(&cs->gone);
	pthread_mutex_unlock(&cs->lock);
	free(c);
}

const struct identity *conn_peer(const struct conn *c)
{
	return c->local ? &c->peer : NULL;
}

const char *conn_address(const struct conn *c)
{
	return c->address;
}

bool conn_is_surplus(const struct conn *c)
{
	return c->surplus;
}

bool conn_enter(struct conns *cs, struct conn *c, enum conn_phase phase)
{
	pthread_mutex_lock(&cs->lock);
	c->phase = phase;
	c->since_ms = monotonic_ms();
	c->bytes = 0;
	c->starved = false;
	if (phase == CONN_SENDING) {
		c->served = true;
		window_begin(c, c->since_ms);
	}
	bool live = !c->cut;
	pthread_mutex_unlock(&cs->lock);
	return live;
}

void conn_received(struct conns *cs, struct conn *c, size_t n)
{
	pthread_mutex_lock(&cs->lock);
	c->bytes += n;
	pthread_mutex_unlock(&cs->lock);
}

void conn_starve(struct conns *cs, struct conn *c, bool starved, size_t n)
{
	pthread_mutex_lock(&cs->lock);
	c->bytes += n;
	if (c->starved && !starved)
		window_begin(c, monotonic_ms());
	c->starved = starved;
	pthread_mutex_unlock(&cs->lock);
}

static bool linger(struct conns *cs, const struct conn *c)
{
	int own = cs->n_lingerers < LINGERERS ? fcntl(c->fd, F_DUPFD_CLOEXEC, 0) : -1;

	if (own < 0)
		return false;
	cs->lingerers[cs->n_lingerers++] = (struct lingerer){ own, monotonic_ms() + LINGER_MS };
	return true;
}

void conn_linger(struct conns *cs, struct conn *c)
{
	pthread_mutex_lock(&cs->lock);
	bool added = linger(cs, c);
	pthread_mutex_unlock(&cs->lock);
	if (added)
		wake(cs);
}

void conn_refuse(struct conns *cs, struct conn *c, const struct err *err)
{
	pthread_mutex_lock(&cs->lock);
	if (!c->cut) {
		c->cut = true;
		raw_answer(c, err);
		linger(cs, c);
		shutdown(c->fd, SHUT_WR);
	}
	pthread_mutex_unlock(&cs->lock);
	wake(cs);
}

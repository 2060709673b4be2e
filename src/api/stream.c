#include "api/stream.h"

#include <pthread.h>

#include "base/arena.h"

struct stream {
	stream_fill *fill;
	void *arg;
	pthread_t producer;
	pthread_mutex_t lock; /* guards all below */
	pthread_cond_t more;  /* bytes, or the end */
	pthread_cond_t room;
	size_t at, len; /* what is in the ring */
	bool waiting;	/* the reader */
	bool ended;
	bool failed;
	bool gone;
	struct err err;
	char ring[STREAM_RING];
};

static void *produce(void *arg)
{
	struct stream *s = arg;
	struct err err = { 0 };
	int rc = s->fill(s, s->arg, &err);

	pthread_mutex_lock(&s->lock);
	s->ended = true;
	s->failed = rc < 0;
	s->err = err;
	pthread_cond_broadcast(&s->more);
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

struct stream *stream_start(stream_fill *fill, void *arg, struct err *err)
{
	struct stream *s = xmalloc(sizeof(*s));
	pthread_attr_t attr;

	memset(s, 0, offsetof(struct stream, ring));
	s->fill = fill;
	s->arg = arg;
	pthread_mutex_init(&s->lock, NULL);
	pthread_cond_init(&s->more, NULL);
	pthread_cond_init(&s->room, NULL);
	pthread_attr_init(&attr);
	pthread_attr_setstacksize(&attr, (size_t)1 << 20);
	int rc = pthread_create(&s->producer, &attr, produce, s);
	pthread_attr_destroy(&attr);
	if (rc == 0)
		return s;
	err_set(err, ERR_BUSY, NULL, "no thread for the answer: %s", strerror(rc));
	free(s);
	return NULL;
}

void stream_free(struct stream *s)
{
	if (s == NULL)
		return;
	pthread_mutex_lock(&s->lock);
	s->gone = true;
	pthread_cond_broadcast(&s->room);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->producer, NULL);
	pthread_cond_destroy(&s->room);
	pthread_cond_destroy(&s->more);
	pthread_mutex_destroy(&s->lock);
	free(s);
}

static size_t min_size(size_t a, size_t b)
{
	return a < b ? a : b;
}

int stream_write(struct stream *s, const void *p, size_t n, struct err *err)
{
	const char *from = p;

	pthread_mutex_lock(&s->lock);
	while (n > 0 && !s->gone) {
		if (s->len == STREAM_RING) {
			if (s->waiting)
				pthread_cond_signal(&s->more);
			pthread_cond_wait(&s->room, &s->lock);
			continue;
		}
		size_t to = (s->at + s->len) % STREAM_RING;
		size_t take = min_size(n, min_size(STREAM_RING - s->len, STREAM_RING - to));
		memcpy(s->ring + to, from, take);
		s->len += take;
		from += take;
		n -= take;
	}
	bool gone = s->gone;
	if (s->waiting)
		pthread_cond_signal(&s->more);
	pthread_mutex_unlock(&s->lock);
	return gone ? err_set(err, ERR_GONE, NULL, "the reader went away") : 0;
}

enum stream_state stream_settle(struct stream *s, struct err *ret_err)
{
	enum stream_state state = STREAM_LONGER;

	pthread_mutex_lock(&s->lock);
	s->waiting = true;
	while (!s->ended && s->len < STREAM_RING)
		pthread_cond_wait(&s->more, &s->lock);
	s->waiting = false;
	if (s->ended)
		state = s->failed ? STREAM_FAILED : STREAM_WHOLE;
	if (state == STREAM_FAILED)
		*ret_err = s->err;
	pthread_mutex_unlock(&s->lock);
	return state;
}

const char *stream_peek(struct stream *s, size_t *ret_n)
{
	/* Nothing was read yet, so it begins at the ring's begin. */
	*ret_n = s->len;
	return s->ring;
}

bool stream_ready(struct stream *s)
{
	pthread_mutex_lock(&s->lock);
	bool ready = s->len > 0 || s->ended;
	pthread_mutex_unlock(&s->lock);
	return ready;
}

ssize_t stream_read(struct stream *s, void *p, size_t n, struct err *ret_err)
{
	char *to = p;
	ssize_t got = 0;

	pthread_mutex_lock(&s->lock);
	s->waiting = true;
	while (s->len == 0 && !s->ended)
		pthread_cond_wait(&s->more, &s->lock);
	s->waiting = false;
	while (s->len > 0 && n > 0) {
		size_t take = min_size(n, min_size(s->len, STREAM_RING - s->at));
		memcpy(to + got, s->ring + s->at, take);
		s->at = (s->at + take) % STREAM_RING;
		s->len -= take;
		n -= take;
		got += (ssize_t)take;
	}
	if (got == 0 && s->failed) {
		*ret_err = s->err;
		got = -1;
	}
	/* Half a ring at a time: for less, the two threads would only wake each other. */
	if (s->len <= STREAM_RING / 2)
		pthread_cond_signal(&s->room);
	pthread_mutex_unlock(&s->lock);
	return got;
}

/* cli/send.c: batches of records, and what the daemon says of each. */
#include "cli/send.h"

#include <time.h>

#include "base/arena.h"
#include "base/clock.h"
#include "core/json.h"

#define BATCH_RECORDS 1000
#define BATCH_BYTES   ((size_t)8 << 20)

struct sender {
	struct sender_settings set;
	struct buf body; /* "[" and records with commas between; the bracket is closed to send */
	size_t *tags;	 /* of the batch */
	size_t n;
	bool talked; /* the daemon has answered before */
	struct arena *arena;
};

struct sender *sender_new(const struct sender_settings *settings)
{
	struct sender *s = xcalloc(1, sizeof(*s));

	s->set = *settings;
	s->tags = xcalloc(BATCH_RECORDS, sizeof(*s->tags));
	s->arena = arena_new();
	return s;
}

void sender_free(struct sender *s)
{
	if (s == NULL)
		return;
	buf_fini(&s->body);
	free(s->tags);
	arena_free(s->arena);
	free(s);
}

/* ---- verdicts -------------------------------------------------------------------------------- */

static int read_verdict(struct jscan *j, size_t *ret_index, struct sent *ret)
{
	struct jtext key;
	int64_t index = -1;

	*ret = (struct sent){ 0 };
	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		if (jtext_is(key, "index"))
			jscan_i64(j, &index);
		else if (jtext_is(key, "verdict"))
			ret->word = jscan_string(j);
		else if (jtext_is(key, "field") && jscan_peek(j) == JSCAN_STRING)
			ret->field = jscan_string(j);
		else if (jtext_is(key, "reason"))
			ret->reason = jscan_string(j);
		else if (jtext_is(key, "quarantine_id"))
			jscan_i64(j, &ret->quarantine_id);
		else
			jscan_skip(j);
	}
	if (!j->failed && (index < 0 || ret->word == NULL))
		return jscan_fail(j, "a verdict has no index or no word");
	*ret_index = (size_t)index;
	return j->failed ? -1 : 0;
}

static int read_verdicts(struct sender *s, struct jscan *j)
{
	size_t seen = 0;

	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		struct sent sent;
		size_t index = 0;

		if (read_verdict(j, &index, &sent) < 0)
			return -1;
		if (index != seen || index >= s->n)
			return jscan_fail(j, "verdict %zu comes where %zu was expected", index,
					  seen);
		sent.tag = s->tags[index];
		s->set.verdict(&sent, s->set.arg);
		seen++;
	}
	if (!j->failed && seen != s->n)
		return jscan_fail(j, "%zu verdicts for %zu records", seen, s->n);
	return j->failed ? -1 : 0;
}

static int read_answer(struct sender *s, const struct buf *answer, struct err *err)
{
	struct jscan j;
	struct jtext key;
	bool found = false;

	arena_reset(s->arena);
	jscan_init(&j, buf_str(answer), answer->len, s->arena, err);
	jscan_enter(&j, JSCAN_OBJECT);
	while (jscan_member(&j, &key)) {
		if (jtext_is(key, "verdicts")) {
			found = true;
			read_verdicts(s, &j);
		} else {
			jscan_skip(&j);
		}
	}
	if (j.failed)
		return err_prefix(err, "the daemon's answer: ");
	return found ? 0 : err_set(err, ERR_INTERNAL, NULL, "the daemon's answer has no verdicts");
}

/* ---- requests -------------------------------------------------------------------------------- */

/* Worth another try?  A daemon that never answered is not there; one that did may come back. */
static bool may_pass(const struct sender *s, const struct err *err)
{
	return err->code == ERR_BUSY || err->code == ERR_DATABASE ||
	       (err->code == ERR_GONE && s->talked);
}

static void wait_s(struct sender *s, const struct err *why, int seconds)
{
	struct timespec t = { .tv_sec = seconds };

	if (s->set.waiting)
		s->set.waiting(why, seconds, s->set.arg);
	nanosleep(&t, NULL);
}

static int post(struct sender *s, struct buf *answer, struct err *err)
{
	const struct request rq = {
		.method = "POST",
		.target = "/v1/records",
		.accept = "application/json",
		.content_type = "application/json",
		.body = buf_str(&s->body),
		.body_len = s->body.len,
	};
	int64_t until = monotonic_ms() + 1000 * (int64_t)s->set.patience_s;

	for (int backoff = 1;; backoff = backoff < 16 ? 2 * backoff : 16) {
		struct reply reply;

		buf_clear(answer);
		if (client_whole(s->set.client, &rq, answer, &reply, err) == 0)
			break;
		if (!may_pass(s, err) || monotonic_ms() >= until)
			return -1;
		wait_s(s, err, reply.retry_after_s > 0 ? reply.retry_after_s : backoff);
	}
	s->talked = true;
	err_clear(err); /* of the tries before */
	return 0;
}

int sender_flush(struct sender *s, struct err *err)
{
	struct buf answer = BUF_INIT;
	int rc;

	if (s->n == 0)
		return 0;
	buf_addc(&s->body, ']');
	rc = post(s, &answer, err);
	if (rc == 0)
		rc = read_answer(s, &answer, err);
	buf_fini(&answer);
	buf_clear(&s->body);
	s->n = 0;
	return rc;
}

int sender_add(struct sender *s, const char *json, size_t n, size_t tag, struct err *err)
{
	if (s->n == BATCH_RECORDS || (s->n > 0 && s->body.len + n > BATCH_BYTES))
		if (sender_flush(s, err) < 0)
			return -1;
	buf_addc(&s->body, s->n ? ',' : '[');
	buf_add(&s->body, json, n);
	s->tags[s->n++] = tag;
	return 0;
}

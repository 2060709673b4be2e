/* api/quarantine.c: what was refused, and another try. */
#include "store/quarantine.h"

#include "api/args.h"
#include "api/handlers.h"
#include "api/verdict.h"
#include "base/num.h"
#include "core/timespec.h"
#include "core/utf8.h"

static void text(struct buf *out, const char *key, const char *value)
{
	buf_printf(out, ",\"%s\":", key);
	if (value == NULL || value[0] == '\0')
		buf_adds(out, "null");
	else
		buf_json_str(out, value);
}

static void moment(struct buf *out, const char *key, int64_t at)
{
	char iso[TIME_TEXT_SIZE];

	buf_printf(out, ",\"%s\":", key);
	if (at == 0) {
		buf_adds(out, "null");
		return;
	}
	time_format_iso(at, iso);
	buf_printf(out, "\"%s\"", iso);
}

struct listing {
	struct request *req;
	size_t n;
	int64_t last;
};

/* The bytes as a text: what is not UTF-8 in them is shown mended. */
static void raw(struct request *req, const struct quarantined *q)
{
	struct buf *out = &req->reply.body;
	const char *bytes = arena_strndup(req->arena, q->raw, q->raw_len);
	const char *shown = utf8_mend(bytes, q->raw_len, req->arena, NULL);

	buf_adds(out, ",\"raw\":");
	buf_json_str(out, shown);
}

static int add(const struct quarantined *q, void *arg)
{
	struct listing *l = arg;
	struct buf *out = &l->req->reply.body;

	buf_printf(out, "%s{\"id\":%" PRId64, l->n > 0 ? ",\n" : "\n", q->id);
	moment(out, "received", q->received_at);
	text(out, "source", q->source);
	text(out, "who", q->who);
	text(out, "kind", q->kind);
	text(out, "field", q->field);
	text(out, "reason", q->reason);
	moment(out, "replayed", q->replayed_at);
	raw(l->req, q);
	buf_addc(out, '}');
	l->n++;
	l->last = q->id;
	return 0;
}

/* An answer is made whole, so that its length has a bound. */
#define MOST_LISTED 1000

int run_quarantine_list(struct request *req, struct err *err)
{
	const struct quarantine_args *args = req->args;
	struct listing l = { .req = req };
	int64_t limit = args->limit < MOST_LISTED ? args->limit : MOST_LISTED;

	reply_json(req, "{\"records\":[");
	if (ops_quarantine(req->api->ops, &req->who, args->after, limit, args->all, add, &l, err) <
	    0)
		return -1;
	reply_json(req, "\n],\"next\":");
	if (l.n > 0 && (int64_t)l.n == limit)
		reply_json(req, "%" PRId64 "}\n", l.last);
	else
		reply_json(req, "null}\n");
	return 0;
}

int run_quarantine_replay(struct request *req, struct err *err)
{
	const char *mended = req->body.len > 0 ? buf_str(&req->body) : NULL;
	struct verdict verdict;
	int64_t id;

	if (num_parse(req->values[0], &id) < 0)
		return err_set(err, ERR_INVALID, "id", "\"%.40s\" is no number", req->values[0]);
	if (ops_quarantine_replay(req->api->ops, &req->who, id, mended, req->body.len, req->now,
				  req->arena, &verdict, &req->reply.retry_after_s, err) < 0)
		return -1;
	verdict_print(&req->reply.body, 0, &verdict);
	buf_addc(&req->reply.body, '\n');
	return 0;
}

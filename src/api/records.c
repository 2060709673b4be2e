/* api/records.c: records in.  The body is cut into records first and each decoded alone, so that
 * one that is wrong refuses itself and no other. */
#include "api/handlers.h"
#include "api/verdict.h"
#include "core/record_json.h"

/* A record of a few bytes still costs a struct record: more at once would be a burst of memory. */
#define MOST_RECORDS ((size_t)20000)

struct intake {
	struct request *req;
	struct batch batch;
	size_t cap;
};

static void grow(struct intake *in)
{
	struct batch *b = &in->batch;

	if (b->n < in->cap)
		return;
	in->cap = in->cap != 0 ? in->cap * 2 : 64;
	b->records = xrealloc(b->records, in->cap * sizeof(b->records[0]));
	b->verdicts = xrealloc(b->verdicts, in->cap * sizeof(b->verdicts[0]));
}

static void decode_one(struct intake *in, struct jtext text)
{
	const struct record_defaults defaults = {
		.cluster = in->req->api->ops->settings.default_cluster,
	};

	grow(in);
	struct record *rec = &in->batch.records[in->batch.n];
	struct verdict *v = &in->batch.verdicts[in->batch.n];
	memset(rec, 0, sizeof(*rec));
	memset(v, 0, sizeof(*v));
	in->batch.n++;
	v->kind = record_decode(text.p, text.n, &defaults, in->req->arena, rec, &v->err) < 0
			  ? VERDICT_REFUSED
			  : VERDICT_PENDING;
}

/* A body that cannot be cut to its end is half a body or none: nothing of it is taken. */
static int decode_all(struct intake *in, struct err *err)
{
	const struct buf *body = &in->req->body;
	struct jcut cut;
	struct jtext text;
	int rc;

	jcut_init(&cut, buf_str(body), body->len, in->req->lines);
	while ((rc = jcut_next(&cut, &text, err)) > 0) {
		if (in->batch.n == MOST_RECORDS)
			return err_set(err, ERR_TOO_LARGE, "body", "more than %zu records",
				       MOST_RECORDS);
		decode_one(in, text);
	}
	if (rc == 0 && in->batch.n == 0)
		return err_set(err, ERR_INVALID, "body", "no record in it");
	return rc;
}

static void print_verdicts(const struct batch *b, struct buf *out)
{
	static const enum verdict_kind kinds[] = { VERDICT_ACCEPTED, VERDICT_DUPLICATE,
						   VERDICT_REFUSED, VERDICT_PURGED };

	for (size_t k = 0; k < ARRAY_LEN(kinds); k++) {
		size_t n = 0;
		for (size_t i = 0; i < b->n; i++)
			n += b->verdicts[i].kind == kinds[k];
		buf_printf(out, "%s\"%s\":%zu", k == 0 ? "{" : ",", verdict_name(kinds[k]), n);
	}
	buf_adds(out, ",\"verdicts\":[");
	for (size_t i = 0; i < b->n; i++) {
		if (i > 0)
			buf_addc(out, ',');
		verdict_print(out, i, &b->verdicts[i]);
	}
	buf_adds(out, "]}\n");
}

int run_records_post(struct request *req, struct err *err)
{
	struct intake in = { .req = req };
	struct batch *b = &in.batch;
	int rc = decode_all(&in, err);

	b->source = "http";
	b->who = arena_printf(req->arena, "uid=%" PRId64 "(%s)", req->who.uid, req->who.user);
	b->bytes = req->body.len + arena_size(req->arena) + in.cap * sizeof(b->records[0]);
	if (rc == 0)
		rc = ops_records(req->api->ops, &req->who, b, &req->reply.retry_after_s, err);
	if (rc == 0)
		print_verdicts(b, &req->reply.body);
	free(b->records);
	free(b->verdicts);
	return rc;
}

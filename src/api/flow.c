#include "api/flow.h"

#include "api/rowout.h"

/* Bytes that are gathered before they are handed to the connection. */
#define PIECE ((size_t)32 << 10)

static int hand_over(struct flow *flow, struct err *err)
{
	int rc = stream_write(flow->stream, buf_str(&flow->out), flow->out.len, err);

	flow->made += flow->out.len;
	buf_clear(&flow->out);
	return rc;
}

int flow_push(struct flow *flow, struct err *err)
{
	return flow->out.len < PIECE ? 0 : hand_over(flow, err);
}

/* Only what fits into the ring gets a tag. */
static bool wants_tag(const struct flow *flow)
{
	return flow->made <= STREAM_RING;
}

void flow_print(struct flow *flow, const char *p, size_t n)
{
	if (wants_tag(flow))
		EVP_DigestUpdate(flow->tag, p, n);
}

void flow_row(struct flow *flow, const struct job *j, const struct step *steps, size_t n)
{
	if (!wants_tag(flow))
		return;
	buf_clear(&flow->print);
	row_fingerprint(j, steps, n, &flow->print);
	flow_print(flow, buf_str(&flow->print), flow->print.len);
}

static int fill(struct stream *s, void *arg, struct err *err)
{
	struct flow *flow = arg;
	struct arena *arena = arena_new(); /* the request's is its own thread's */

	flow->stream = s;
	flow->tag = EVP_MD_CTX_new();
	EVP_DigestInit_ex(flow->tag, EVP_sha256(), NULL);
	int rc = flow->body(flow, arena, err);
	if (rc == 0)
		rc = hand_over(flow, err);
	EVP_DigestFinal_ex(flow->tag, flow->digest, NULL);
	EVP_MD_CTX_free(flow->tag);
	buf_fini(&flow->out);
	buf_fini(&flow->print);
	arena_free(arena);
	return rc;
}

/* Weak: the window, and what runs on with the clock, may differ while the rows are the same. */
static const char *tag(void *arg, struct arena *arena)
{
	const struct flow *flow = arg;
	char hex[33];

	for (size_t i = 0; i < 16; i++)
		snprintf(hex + 2 * i, 3, "%02x", flow->digest[i]);
	return arena_printf(arena, "W/\"%s-%s\"", flow->variant, hex);
}

struct flow *flow_reply(struct request *req, const char *content_type, const char *variant,
			flow_body *body, void *arg)
{
	struct flow *flow = ARENA_NEW(req->arena, struct flow);

	flow->req = req;
	flow->body = body;
	flow->arg = arg;
	flow->variant = variant;
	req->reply.content_type = content_type;
	req->reply.fill = fill;
	req->reply.fill_arg = flow;
	req->reply.tag = tag;
	return flow;
}

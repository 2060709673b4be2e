/* api/answer.c: answers onto libmicrohttpd's queue: whole ones, problems, and streams. */
#include "api/exchange.h"
#include "api/problem.h"
#include "base/log.h"

void reply_json(struct request *req, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&req->reply.body, fmt, ap);
	va_end(ap);
}

static void add(struct MHD_Response *r, const char *name, const char *value)
{
	MHD_add_response_header(r, name, value);
}

static void add_headers(struct exchange *x, struct MHD_Response *r, const char *type)
{
	struct reply *reply = &x->req.reply;
	char number[16];

	add(r, "Content-Type", type);
	add(r, "X-Request-Id", x->req.id);
	add(r, "X-Content-Type-Options", "nosniff");
	if (reply->etag != NULL) {
		add(r, "ETag", reply->etag);
		add(r, "Cache-Control", "no-cache");
		add(r, "Vary", "Accept, Authorization");
	} else {
		add(r, "Cache-Control", "no-store");
	}
	if (reply->retry_after_s > 0) {
		snprintf(number, sizeof(number), "%d", reply->retry_after_s);
		add(r, "Retry-After", number);
	}
	if (x->status == 401)
		add(r, "WWW-Authenticate", "Munge realm=\"tally\"");
	if (atomic_load(&x->req.api->quiesced) || conn_is_surplus(x->req.conn))
		add(r, "Connection", "close");
}

static enum MHD_Result queue(struct exchange *x, struct MHD_Response *r, const char *type,
			     size_t static_bytes)
{
	struct api *api = x->req.api;

	if (r == NULL)
		return MHD_NO;
	x->stage = STAGE_ANSWERED;
	add_headers(x, r, type);
	if (!conn_enter(api->conns, x->req.conn, CONN_SENDING)) {
		MHD_destroy_response(r);
		return MHD_NO;
	}
	conn_starve(api->conns, x->req.conn, false, static_bytes);
	x->sent_bytes = static_bytes;
	enum MHD_Result rc = MHD_queue_response(x->mhd, x->status, r);
	MHD_destroy_response(r);
	return rc;
}

static enum MHD_Result queue_bytes(struct exchange *x, const char *bytes, size_t n,
				   const char *type)
{
	/* The bytes live until http_completed, which comes after the response is done with. */
	return queue(x,
		     MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes,
						     MHD_RESPMEM_PERSISTENT),
		     type, n);
}

enum MHD_Result answer_problem(struct exchange *x)
{
	struct buf *out = &x->req.reply.body;

	if (x->err.code == ERR_INTERNAL || x->err.code == ERR_DATABASE)
		log_err(LOG_ERROR, &x->err, "http: %s failed request=%s",
			x->req.route != NULL ? x->req.route->name : x->req.method, x->req.id);
	if ((x->err.code == ERR_BUSY || x->err.code == ERR_DATABASE) &&
	    x->req.reply.retry_after_s == 0)
		x->req.reply.retry_after_s = RETRY_LATER_S;
	x->req.reply.etag = NULL;
	buf_clear(out);
	problem_print(&x->err, x->req.id, out);
	x->status = (unsigned)err_kind(x->err.code)->http_status;
	return queue_bytes(x, buf_str(out), out->len, PROBLEM_TYPE);
}

static bool etag_matches(const char *given, const char *etag)
{
	return given != NULL && (strcmp(given, "*") == 0 || strstr(given, etag) != NULL);
}

static enum MHD_Result queue_whole(struct exchange *x, const char *bytes, size_t n)
{
	struct reply *reply = &x->req.reply;
	const char *type = reply->content_type != NULL ? reply->content_type : "application/json";

	x->status = reply->status != 0 ? reply->status : 200;
	if (reply->etag != NULL && etag_matches(x->req.if_none_match, reply->etag)) {
		x->status = 304;
		n = 0;
	}
	return queue_bytes(x, bytes, n, type);
}

/* libmicrohttpd's content reader.  An answer that fails half-way ends without its last chunk. */
static ssize_t read_stream(void *cls, uint64_t pos, char *to, size_t max)
{
	struct exchange *x = cls;
	struct conns *conns = x->req.api->conns;
	struct err err = { 0 };

	(void)pos;
	if (!stream_ready(x->stream))
		conn_starve(conns, x->req.conn, true, 0);
	ssize_t n = stream_read(x->stream, to, max, &err);
	conn_starve(conns, x->req.conn, false, n > 0 ? (size_t)n : 0);
	if (n > 0) {
		x->sent_bytes += (uint64_t)n;
		return n;
	}
	if (n == 0)
		return MHD_CONTENT_READER_END_OF_STREAM;
	log_err(LOG_ERROR, &err, "http: %s: answer cut after %" PRIu64 " bytes request=%s",
		x->req.route->name, x->sent_bytes, x->req.id);
	return MHD_CONTENT_READER_END_WITH_ERROR;
}

static enum MHD_Result queue_stream(struct exchange *x)
{
	const struct reply *reply = &x->req.reply;

	x->status = reply->status != 0 ? reply->status : 200;
	return queue(
		x, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_stream, x, NULL),
		reply->content_type, 0);
}

static enum MHD_Result start_stream(struct exchange *x, const char *version)
{
	struct reply *reply = &x->req.reply;
	const char *bytes;
	size_t n;

	x->stream = stream_start(reply->fill, reply->fill_arg, &x->err);
	if (x->stream == NULL)
		return answer_problem(x);
	switch (stream_settle(x->stream, &x->err)) {
	case STREAM_FAILED: return answer_problem(x);
	case STREAM_WHOLE:
		bytes = stream_peek(x->stream, &n);
		if (reply->tag != NULL)
			reply->etag = reply->tag(reply->fill_arg, x->req.arena);
		return queue_whole(x, bytes, n);
	case STREAM_LONGER: break;
	}
	if (strcmp(version, MHD_HTTP_VERSION_1_1) == 0)
		return queue_stream(x);
	/* There an answer ends with the connection, and a cut one would look whole. */
	err_set(&x->err, ERR_INVALID, NULL,
		"an answer this long needs HTTP/1.1, not %s (nginx: "
		"proxy_http_version 1.1); or ask for less with limit=",
		version);
	return answer_problem(x);
}

enum MHD_Result answer_reply(struct exchange *x, const char *version)
{
	if (x->req.reply.fill != NULL)
		return start_stream(x, version);
	return queue_whole(x, buf_str(&x->req.reply.body), x->req.reply.body.len);
}

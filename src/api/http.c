/* api/http.c: the life of a request.
 *
 * libmicrohttpd calls http_begin with the request line, http_access once with complete headers,
 * then per piece of the body, then once more without data, and http_completed at the end.  With
 * complete headers a list of steps judges the request before a byte of its body is read; after the
 * body another list binds the credential to it and runs the handler. */
#include "api/http.h"

#include <ctype.h>
#include <openssl/evp.h>
#include <sys/socket.h>

#include "api/gunzip.h"
#include "api/problem.h"
#include "auth/peer.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"

#define DIGEST_HEX 65
#define RETRY_SURPLUS_S 1
#define RETRY_QUIESCED_S 5
#define RETRY_MUNGED_S 10
/* A body whose length is not stated may keep at most this much of the budget before it is read. */
#define CHUNKED_RESERVE ((size_t)64 << 10)

enum stage {
	STAGE_NEW,     /* headers not seen yet */
	STAGE_BODY,    /* judged; body to come, or none */
	STAGE_REFUSED, /* judged and refused; no body, so the answer goes out at the end */
	STAGE_ANSWERED,
};

/* A request with what only this file needs. */
struct exchange {
	struct request req; /* first */
	struct MHD_Connection *mhd;
	enum stage stage;
	struct err err;
	struct cred cred;
	bool has_cred;
	EVP_MD_CTX *digest;
	struct buf sent; /* the body as sent */
	bool gzip;
	bool has_body;
	size_t length;   /* Content-Length, or SIZE_MAX when chunked */
	size_t reserved; /* of api->bodies_bytes */
	bool unread;     /* answered before its body was read */
	struct stream *stream;
	unsigned status;
	uint64_t sent_bytes;
};

typedef int step_run(struct exchange *x, struct err *err);

void reply_json(struct request *req, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&req->reply.body, fmt, ap);
	va_end(ap);
}

static const char *header(struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

/* ---- steps with complete headers ---- */

static int step_alive(struct exchange *x, struct err *err)
{
	struct request *req = &x->req;

	if (atomic_load(&req->api->quiesced)) {
		req->reply.retry_after_s = RETRY_QUIESCED_S;
		return err_set(err, ERR_BUSY, NULL, "this tallyd is stopping");
	}
	if (conn_is_surplus(req->conn)) {
		req->reply.retry_after_s = RETRY_SURPLUS_S;
		return err_set(err, ERR_BUSY, NULL, "all %zu connections are in use",
			       req->api->settings.max_connections);
	}
	return 0;
}

static int step_route(struct exchange *x, struct err *err)
{
	struct request *req = &x->req;
	const char *mark = strchr(req->target, '?');
	size_t len = mark != NULL ? (size_t)(mark - req->target) : strlen(req->target);

	req->query = mark != NULL ? mark + 1 : NULL;
	return route_find(req->method, req->target, len, req->arena, &req->route, req->values, err);
}

static void log_refusal(const struct exchange *x, const struct err *err)
{
	log_err(LOG_WARN, err, "http: munge credential refused kind=%s from=%s request=%s",
		cred_kind_names[x->cred.kind], conn_address(x->req.conn), x->req.id);
}

/* "Munge CRED": the credential, or NULL. */
static const char *munge_scheme(const char *value)
{
	static const char scheme[] = "munge ";

	if (strncasecmp(value, scheme, sizeof(scheme) - 1) != 0)
		return NULL;
	value += sizeof(scheme) - 1;
	return value + strspn(value, " ");
}

static int judge_munge(struct exchange *x, const char *value, struct err *err)
{
	struct request *req = &x->req;
	const char *text = munge_scheme(value);

	if (text == NULL)
		return err_set(err, ERR_UNAUTH, "Authorization",
			       "unknown scheme; it must be \"Authorization: Munge <credential>\"");
	int rc = cred_judge(&req->api->settings.munge, text, req->arena, &x->cred, &req->who, err);
	if (rc < 0) {
		metrics_cred(req->api->metrics, x->cred.kind);
		log_refusal(x, err);
		if (err->code == ERR_NO_AUTH)
			req->reply.retry_after_s = RETRY_MUNGED_S;
		return -1;
	}
	x->has_cred = true;
	return 0;
}

static int step_identity(struct exchange *x, struct err *err)
{
	struct request *req = &x->req;
	const char *value = header(x, "Authorization");
	const struct identity *peer = conn_peer(req->conn);

	if (value != NULL) {
		if (judge_munge(x, value, err) < 0)
			return -1;
	} else if (peer != NULL) {
		req->who = *peer;
	} else {
		req->who = (struct identity){ .proof = PROOF_NONE, .uid = -1, .gid = -1 };
	}
	ops_identify(req->api->ops, &req->who);
	return 0;
}

static int step_right(struct exchange *x, struct err *err)
{
	return ops_may(x->req.api->ops, &x->req.who, x->req.route->right, err);
}

static int step_params(struct exchange *x, struct err *err)
{
	struct request *req = &x->req;
	struct params_context ctx = { .arena = req->arena, .now = req->now };

	return params_parse(req->route->params, req->query, &ctx, &req->args, err);
}

/* What curl -d sends unless it is told otherwise says nothing about the content, and is taken for
 * JSON like no type at all; every other type must be right. */
static bool type_is_known(const char *type, enum body_kind kind, bool *ret_lines)
{
	static const struct {
		const char *name;
		bool lines;
	} known[] = {
		{ "application/json", false }, { "application/x-www-form-urlencoded", false },
		{ "application/x-ndjson", true }, { "application/jsonl", true },
		{ "application/x-jsonlines", true },
	};
	size_t n = kind == BODY_RECORDS ? ARRAY_LEN(known) : 2;
	size_t len = strcspn(type, "; \t");

	for (size_t i = 0; i < n; i++)
		if (strlen(known[i].name) == len && strncasecmp(type, known[i].name, len) == 0) {
			*ret_lines = known[i].lines;
			return true;
		}
	return false;
}

static int step_media(struct exchange *x, struct err *err)
{
	const char *type = header(x, "Content-Type");
	const char *coding = header(x, "Content-Encoding");

	if (!x->has_body)
		return 0;
	if (x->req.route->body == BODY_NONE)
		return err_set(err, ERR_INVALID, "body", "this request takes no body");
	if (type != NULL && !type_is_known(type, x->req.route->body, &x->req.lines))
		return err_set(err, ERR_MEDIA, "Content-Type", "\"%.100s\"", type);
	if (coding == NULL || strcasecmp(coding, "identity") == 0)
		return 0;
	if (strcasecmp(coding, "gzip") != 0 && strcasecmp(coding, "x-gzip") != 0)
		return err_set(err, ERR_MEDIA, "Content-Encoding", "\"%.100s\"; only gzip is known",
			       coding);
	x->gzip = true;
	return 0;
}

static int too_large(const struct exchange *x, struct err *err)
{
	return err_set(err, ERR_TOO_LARGE, "body", "more than %zu bytes",
		       x->req.api->settings.max_body_bytes);
}

static int too_many(struct err *err)
{
	return err_set(err, ERR_BUSY, NULL, "too many bodies are being sent at once");
}

static int step_size(struct exchange *x, struct err *err)
{
	struct api *api = x->req.api;

	if (!x->has_body)
		return 0;
	if (x->length != SIZE_MAX && x->length > api->settings.max_body_bytes)
		return too_large(x, err);
	size_t want = x->length != SIZE_MAX ? x->length : CHUNKED_RESERVE;
	x->reserved = want;
	if (atomic_fetch_add(&api->bodies_bytes, want) + want > api->settings.max_bodies_bytes) {
		x->req.reply.retry_after_s = RETRY_SURPLUS_S;
		return too_many(err);
	}
	return 0;
}

static step_run *const head_steps[] = {
	step_alive, step_route, step_identity, step_right, step_params, step_media, step_size,
};

/* ---- steps with the complete body ---- */

static int step_bind(struct exchange *x, struct err *err)
{
	unsigned char raw[EVP_MAX_MD_SIZE];
	char hex[DIGEST_HEX];
	unsigned n = 0;

	if (!x->has_cred)
		return 0;
	if (EVP_DigestFinal_ex(x->digest, raw, &n) != 1 || n != 32)
		return err_set(err, ERR_INTERNAL, NULL, "SHA-256 failed");
	for (unsigned i = 0; i < n; i++)
		snprintf(hex + 2 * (size_t)i, 3, "%02x", raw[i]);
	int rc = cred_bind(&x->cred, hex, err);
	metrics_cred(x->req.api->metrics, x->cred.kind);
	if (rc < 0)
		log_refusal(x, err);
	return rc;
}

static int step_inflate(struct exchange *x, struct err *err)
{
	const struct api_settings *s = &x->req.api->settings;

	if (!x->gzip) {
		x->req.body = x->sent;
		buf_init(&x->sent);
		return 0;
	}
	int rc = gunzip(buf_str(&x->sent), x->sent.len, s->max_inflated_bytes, s->max_inflate_ratio,
			&x->req.body, err);
	buf_fini(&x->sent);
	return rc;
}

static int step_run_handler(struct exchange *x, struct err *err)
{
	if (x->req.body.len == 0 && x->req.route->body != BODY_NONE &&
	    x->req.route->body != BODY_OPTIONAL)
		return err_set(err, ERR_INVALID, "body", "there is none");
	return x->req.route->run(&x->req, err);
}

static step_run *const tail_steps[] = { step_bind, step_inflate, step_run_handler };

static int run_steps(struct exchange *x, step_run *const *steps, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (steps[i](x, &x->err) < 0)
			return -1;
	return 0;
}

/* ---- answers ---- */

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

static enum MHD_Result queue_bytes(struct exchange *x, const char *bytes, size_t n, const char *type)
{
	/* The bytes live until http_completed, which comes after the response is done with. */
	return queue(x, MHD_create_response_from_buffer(n, (void *)(uintptr_t)bytes,
							MHD_RESPMEM_PERSISTENT), type, n);
}

static enum MHD_Result queue_problem(struct exchange *x)
{
	struct buf *out = &x->req.reply.body;

	if (x->err.code == ERR_INTERNAL || x->err.code == ERR_DATABASE)
		log_err(LOG_ERROR, &x->err, "http: %s failed request=%s",
			x->req.route != NULL ? x->req.route->name : x->req.method, x->req.id);
	if ((x->err.code == ERR_BUSY || x->err.code == ERR_DATABASE) &&
	    x->req.reply.retry_after_s == 0)
		x->req.reply.retry_after_s = RETRY_QUIESCED_S;
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
	return queue(x, MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, 1024, read_stream, x,
							  NULL), reply->content_type, 0);
}

static enum MHD_Result start_stream(struct exchange *x, const char *version)
{
	struct reply *reply = &x->req.reply;
	const char *bytes;
	size_t n;

	x->stream = stream_start(reply->fill, reply->fill_arg, &x->err);
	if (x->stream == NULL)
		return queue_problem(x);
	switch (stream_settle(x->stream, &x->err)) {
	case STREAM_FAILED:
		return queue_problem(x);
	case STREAM_WHOLE:
		bytes = stream_peek(x->stream, &n);
		if (reply->tag != NULL)
			reply->etag = reply->tag(reply->fill_arg, bytes, n, x->req.arena);
		return queue_whole(x, bytes, n);
	case STREAM_LONGER:
		break;
	}
	if (strcmp(version, MHD_HTTP_VERSION_1_1) == 0)
		return queue_stream(x);
	/* There an answer ends with the connection, and a cut one would look whole. */
	err_set(&x->err, ERR_INVALID, NULL, "an answer this long needs HTTP/1.1, not %s (nginx: "
		"proxy_http_version 1.1); or ask for less with limit=", version);
	return queue_problem(x);
}

static enum MHD_Result answer(struct exchange *x, const char *version)
{
	if (!conn_enter(x->req.api->conns, x->req.conn, CONN_WORKING))
		return MHD_NO;
	if (run_steps(x, tail_steps, ARRAY_LEN(tail_steps)) < 0)
		return queue_problem(x);
	if (x->req.reply.fill != NULL)
		return start_stream(x, version);
	return queue_whole(x, buf_str(&x->req.reply.body), x->req.reply.body.len);
}

/* ---- libmicrohttpd's callbacks ---- */

static void measure_body(struct exchange *x)
{
	const char *length = header(x, "Content-Length");
	int64_t n = 0;

	if (header(x, "Transfer-Encoding") != NULL) {
		x->has_body = true;
		x->length = SIZE_MAX;
	} else if (length != NULL) {
		x->length = num_parse(length, &n) == 0 && n >= 0 ? (size_t)n : SIZE_MAX - 1;
		x->has_body = x->length > 0;
	}
}

static void digest_begin(struct exchange *x)
{
	x->digest = EVP_MD_CTX_new();
	if (x->digest == NULL || EVP_DigestInit_ex(x->digest, EVP_sha256(), NULL) != 1)
		return; /* step_bind sees that it cannot be finished */
	EVP_DigestUpdate(x->digest, x->req.method, strlen(x->req.method));
	EVP_DigestUpdate(x->digest, "\n", 1);
	EVP_DigestUpdate(x->digest, x->req.target, strlen(x->req.target));
	EVP_DigestUpdate(x->digest, "\n", 1);
}

static enum MHD_Result judge_head(struct exchange *x, const char *method)
{
	struct request *req = &x->req;

	/* Nothing of a connection that the watchdog has cut is looked at any more. */
	if (!conn_enter(req->api->conns, req->conn, CONN_WORKING))
		return MHD_NO;
	req->method = arena_strdup(req->arena, method);
	req->accept = arena_strdup(req->arena, header(x, "Accept"));
	req->if_none_match = arena_strdup(req->arena, header(x, "If-None-Match"));
	measure_body(x);
	if (run_steps(x, head_steps, ARRAY_LEN(head_steps)) < 0) {
		/* An answer before the body costs the connection: only when there is a body. */
		x->unread = x->has_body;
		if (x->has_body)
			return queue_problem(x);
		x->stage = STAGE_REFUSED;
		return MHD_YES;
	}
	if (x->has_cred)
		digest_begin(x);
	x->stage = STAGE_BODY;
	if (x->has_body)
		return conn_enter(req->api->conns, req->conn, CONN_BODY) ? MHD_YES : MHD_NO;
	return MHD_YES;
}

static enum MHD_Result refuse_midway(struct exchange *x)
{
	x->status = (unsigned)err_kind(x->err.code)->http_status;
	conn_refuse(x->req.api->conns, x->req.conn, &x->err);
	return MHD_NO;
}

static enum MHD_Result take_body(struct exchange *x, const char *data, size_t n)
{
	struct api *api = x->req.api;

	if (x->stage != STAGE_BODY)
		return MHD_YES;
	conn_received(api->conns, x->req.conn, n);
	metrics_received(api->metrics, n);
	if (x->digest != NULL)
		EVP_DigestUpdate(x->digest, data, n);
	if (x->sent.len + n > x->reserved) {
		atomic_fetch_add(&api->bodies_bytes, x->sent.len + n - x->reserved);
		x->reserved = x->sent.len + n;
	}
	/* Only a chunked body can fail here: one with a length was judged by it. */
	if (x->reserved > api->settings.max_body_bytes) {
		too_large(x, &x->err);
		return refuse_midway(x);
	}
	if (atomic_load(&api->bodies_bytes) > api->settings.max_bodies_bytes) {
		too_many(&x->err);
		return refuse_midway(x);
	}
	buf_add(&x->sent, data, n);
	return MHD_YES;
}

void *http_begin(void *cls, const char *uri, struct MHD_Connection *connection)
{
	struct api *api = cls;
	const union MHD_ConnectionInfo *info =
		MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	struct exchange *x = xcalloc(1, sizeof(*x));
	struct request *req = &x->req;

	x->mhd = connection;
	req->api = api;
	req->conn = info->socket_context;
	req->arena = arena_new();
	req->began_us = monotonic_us();
	req->now = time(NULL);
	req->who = (struct identity){ .proof = PROOF_NONE, .uid = -1, .gid = -1 };
	req->target = arena_strdup(req->arena, uri != NULL ? uri : "");
	snprintf(req->id, sizeof(req->id), "%" PRIx64, atomic_fetch_add(&api->next_id, 1));
	return x;
}

enum MHD_Result http_access(void *cls, struct MHD_Connection *connection, const char *url,
			    const char *method, const char *version, const char *upload_data,
			    size_t *upload_data_size, void **con_cls)
{
	struct exchange *x = *con_cls;
	size_t n = *upload_data_size;

	(void)cls;
	(void)connection;
	(void)url; /* decoded already; routes are matched on the target as sent */
	if (x->stage == STAGE_NEW)
		return judge_head(x, method);
	*upload_data_size = 0;
	if (n > 0)
		return take_body(x, upload_data, n);
	if (x->stage == STAGE_REFUSED)
		return queue_problem(x);
	return answer(x, version);
}

static void printable(char *out, size_t size, const char *text)
{
	size_t i = 0;

	for (; text[i] != '\0' && i < size - 1; i++)
		out[i] = isgraph((unsigned char)text[i]) ? text[i] : '?';
	out[i] = '\0';
}

static void log_access(const struct exchange *x, int64_t us)
{
	char target[256];

	if (!log_wants(LOG_DEBUG))
		return;
	printable(target, sizeof(target), x->req.target);
	log_debug("http: %s %s status=%u us=%" PRId64 " received=%zu sent=%" PRIu64
		  " uid=%" PRId64 " from=%s request=%s",
		  x->req.method != NULL ? x->req.method : "?", target, x->status, us,
		  x->length != SIZE_MAX ? x->length : x->reserved, x->sent_bytes, x->req.who.uid,
		  conn_address(x->req.conn), x->req.id);
}

void http_completed(void *cls, struct MHD_Connection *connection, void **con_cls,
		    enum MHD_RequestTerminationCode toe)
{
	struct api *api = cls;
	struct exchange *x = *con_cls;

	(void)connection;
	(void)toe;
	if (x == NULL)
		return;
	int64_t us = monotonic_us() - x->req.began_us;
	stream_free(x->stream);
	metrics_request(api->metrics,
			x->req.route != NULL ? (size_t)(x->req.route - routes) : n_routes,
			x->status, us);
	metrics_sent(api->metrics, x->sent_bytes);
	log_access(x, us);
	if (x->unread)
		conn_linger(api->conns, x->req.conn);
	atomic_fetch_sub(&api->bodies_bytes, x->reserved);
	conn_enter(api->conns, x->req.conn, CONN_WAITING);
	EVP_MD_CTX_free(x->digest);
	buf_fini(&x->sent);
	buf_fini(&x->req.body);
	buf_fini(&x->req.reply.body);
	arena_free(x->req.arena);
	free(x);
	*con_cls = NULL;
}

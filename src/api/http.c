/* api/http.c: the life of a request.
 *
 * libmicrohttpd calls http_begin with the request line, http_access once with complete headers,
 * then per piece of the body, then once more without data, and http_completed at the end. */
#include "api/http.h"

#include <ctype.h>

#include "api/exchange.h"
#include "base/clock.h"
#include "base/log.h"

static enum MHD_Result work(struct exchange *x, const char *version)
{
	if (!conn_enter(x->req.api->conns, x->req.conn, CONN_WORKING))
		return MHD_NO;
	return judge_body(x) < 0 ? answer_problem(x) : answer_reply(x, version);
}

static enum MHD_Result take_head(struct exchange *x, const char *method)
{
	struct request *req = &x->req;

	/* Nothing of a connection that the watchdog has cut is looked at any more. */
	if (!conn_enter(req->api->conns, req->conn, CONN_WORKING))
		return MHD_NO;
	req->method = arena_strdup(req->arena, method);
	req->accept = arena_strdup(req->arena, exchange_header(x, "Accept"));
	req->if_none_match = arena_strdup(req->arena, exchange_header(x, "If-None-Match"));
	if (judge_head(x) < 0) {
		/* An answer before the body costs the connection: only when there is a body. */
		x->unread = x->has_body;
		if (x->has_body)
			return answer_problem(x);
		x->stage = STAGE_REFUSED;
		return MHD_YES;
	}
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

static int grow(struct exchange *x, size_t to)
{
	if (to > x->req.api->settings.max_body_bytes) {
		too_large(x);
		return -1;
	}
	return reserve(x, to);
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
	/* Only a chunked body grows: one with a length was judged by it. */
	if (x->sent.len + n > x->reserved && grow(x, x->sent.len + n) < 0)
		return refuse_midway(x);
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
		return take_head(x, method);
	*upload_data_size = 0;
	if (n > 0)
		return take_body(x, upload_data, n);
	if (x->stage == STAGE_REFUSED)
		return answer_problem(x);
	return work(x, version);
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
	log_debug("http: %s %s status=%u us=%" PRId64 " received=%zu sent=%" PRIu64 " uid=%" PRId64
		  " from=%s request=%s",
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

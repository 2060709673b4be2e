/* api/judge.c: the two lists of steps that a request must pass: one with its headers complete,
 * before a byte of its body is read, one with its body complete. */
#include "api/exchange.h"
#include "api/gunzip.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/num.h"

#define DIGEST_HEX	65
#define RETRY_SURPLUS_S 1
#define RETRY_MUNGED_S	10
/* A body whose length is not stated keeps at least this much of the budget. */
#define CHUNKED_RESERVE ((size_t)64 << 10)

typedef int step_run(struct exchange *x, struct err *err);

/* ---- steps with complete headers ---- */

static int step_alive(struct exchange *x, struct err *err)
{
	struct request *req = &x->req;

	if (atomic_load(&req->api->quiesced)) {
		req->reply.retry_after_s = RETRY_LATER_S;
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

/* A caller that tries for ever must not fill the disk: so many lines a window, then their number.
 */
#define LOG_WINDOW_MS 10000
#define LOG_LINES     50

static bool may_log(struct api *api)
{
	int64_t now = monotonic_ms(), began = atomic_load(&api->refusals_since_ms);

	if (now - began > LOG_WINDOW_MS &&
	    atomic_compare_exchange_strong(&api->refusals_since_ms, &began, now)) {
		uint64_t n = atomic_exchange(&api->refusals, 0);
		if (n > LOG_LINES)
			log_warn("http: %" PRIu64 " more munge credentials were refused",
				 n - LOG_LINES);
	}
	return atomic_fetch_add(&api->refusals, 1) < LOG_LINES;
}

static void log_refusal(const struct exchange *x, const struct err *err)
{
	if (may_log(x->req.api))
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
	const char *value = exchange_header(x, "Authorization");
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
		{ "application/json", false },	     { "application/x-www-form-urlencoded", false },
		{ "application/x-ndjson", true },    { "application/jsonl", true },
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
	const char *type = exchange_header(x, "Content-Type");
	const char *coding = exchange_header(x, "Content-Encoding");

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

void too_large(struct exchange *x)
{
	err_set(&x->err, ERR_TOO_LARGE, "body", "more than %zu bytes",
		x->req.api->settings.max_body_bytes);
}

/* Of what all bodies together may take; given back at the request's end. */
int reserve(struct exchange *x, size_t bytes)
{
	struct api *api = x->req.api;
	size_t more = bytes - x->reserved;

	x->reserved = bytes;
	if (atomic_fetch_add(&api->bodies_bytes, more) + more <= api->settings.max_bodies_bytes)
		return 0;
	x->req.reply.retry_after_s = RETRY_LATER_S;
	return err_set(&x->err, ERR_BUSY, NULL, "too many bodies are being sent at once");
}

static int step_size(struct exchange *x, struct err *err)
{
	(void)err; /* x->err, as too_large and reserve have it */
	if (!x->has_body)
		return 0;
	if (x->length == SIZE_MAX)
		return reserve(x, CHUNKED_RESERVE);
	if (x->length <= x->req.api->settings.max_body_bytes)
		return reserve(x, x->length);
	too_large(x);
	return -1;
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
	return rc < 0 ? -1 : reserve(x, x->reserved + x->req.body.len);
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

static void measure_body(struct exchange *x)
{
	const char *length = exchange_header(x, "Content-Length");
	int64_t n = 0;

	if (exchange_header(x, "Transfer-Encoding") != NULL) {
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

int judge_head(struct exchange *x)
{
	measure_body(x);
	if (run_steps(x, head_steps, ARRAY_LEN(head_steps)) < 0)
		return -1;
	if (x->has_cred)
		digest_begin(x);
	return 0;
}

int judge_body(struct exchange *x)
{
	return run_steps(x, tail_steps, ARRAY_LEN(tail_steps));
}

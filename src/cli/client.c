#include "cli/client.h"

#include <curl/curl.h>
#include <jansson.h>
#include <munge.h>
#include <openssl/evp.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/arena.h"

#define SYSTEM_SOCKET	  "/run/tally/tally.sock"
#define STATE_SOCKET_NAME "./var/socket" /* one line: the path of the daemon's socket */
#define DEFAULT_URL	  "http://127.0.0.1:6820"
#define CONNECT_TIMEOUT_S 10L
#define SILENCE_S	  600L		    /* no byte for so long: the daemon is gone */
#define MAX_PROBLEM	  (1 << 20)	    /* bytes of an error's body */
#define MAX_LINE	  ((size_t)1 << 30) /* a job with all its steps */

struct client {
	CURL *curl;
	char *base;	   /* "http://host:port" */
	char *socket_path; /* unix socket, or NULL */
	char *where;
	char *munge_socket; /* NULL = munge's default */
	bool munge_named;   /* the user said which socket */
};

/* ---- finding the daemon ------------------------------------------------------------- */

/* A socket file outlives its daemon: only one that accepts is a daemon. */
static bool socket_answers(const char *path)
{
	struct sockaddr_un addr = { .sun_family = AF_UNIX };
	bool ok;
	int fd;

	if (strlen(path) >= sizeof(addr.sun_path))
		return false;
	memcpy(addr.sun_path, path, strlen(path) + 1);
	fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0)
		return false;
	ok = connect(fd, (struct sockaddr *)&addr, sizeof(addr)) == 0;
	close(fd);
	return ok;
}

/* The path written in a state directory, or NULL. */
static char *state_socket(void)
{
	FILE *f = fopen(STATE_SOCKET_NAME, "re");
	char line[sizeof(((struct sockaddr_un *)NULL)->sun_path)];
	char *path = NULL;

	if (f == NULL)
		return NULL;
	if (fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		path = xstrdup(line);
	}
	fclose(f);
	return path;
}

static char *text(const char *fmt, const char *a)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, fmt);
	buf_adds(&b, a);
	return b.data;
}

static void use_socket(struct client *c, const char *path)
{
	c->socket_path = xstrdup(path);
	c->base = xstrdup("http://localhost");
	c->where = text("unix:", path);
}

static int use_url(struct client *c, const char *url, struct err *err)
{
	size_t n = strlen(url);

	if (strncmp(url, "unix:", 5) == 0 && url[5] != '\0') {
		use_socket(c, url + 5);
		return 0;
	}
	if (strncmp(url, "http://", 7) != 0 || url[7] == '\0')
		return err_set(err, ERR_INVALID, "--url",
			       "\"%s\" is not an address; write http://HOST:PORT or unix:PATH",
			       url);
	while (n > 0 && url[n - 1] == '/')
		n--;
	c->base = xstrdup(url);
	c->base[n] = '\0';
	c->where = xstrdup(c->base);
	return 0;
}

static int find_daemon(struct client *c, const char *url, struct err *err)
{
	char *path;

	if (url == NULL || *url == '\0')
		url = getenv("TALLY_URL");
	if (url && *url)
		return use_url(c, url, err);
	if (socket_answers(SYSTEM_SOCKET)) {
		use_socket(c, SYSTEM_SOCKET);
		return 0;
	}
	path = state_socket();
	if (path && socket_answers(path)) {
		use_socket(c, path);
		free(path);
		return 0;
	}
	free(path);
	return use_url(c, DEFAULT_URL, err);
}

struct client *client_new(const struct client_settings *settings, struct err *err)
{
	const char *munge =
		settings->munge_socket ? settings->munge_socket : getenv("TALLY_MUNGE_SOCKET");
	struct client *c = xcalloc(1, sizeof(*c));

	c->munge_named = munge && *munge;
	if (c->munge_named)
		c->munge_socket = xstrdup(munge);
	curl_global_init(CURL_GLOBAL_ALL);
	c->curl = curl_easy_init();
	if (c->curl == NULL) {
		err_set(err, ERR_SYSTEM, NULL, "libcurl does not start");
		client_free(c);
		return NULL;
	}
	if (find_daemon(c, settings->url, err) < 0) {
		client_free(c);
		return NULL;
	}
	return c;
}

void client_free(struct client *c)
{
	if (c == NULL)
		return;
	curl_easy_cleanup(c->curl);
	free(c->base);
	free(c->socket_path);
	free(c->where);
	free(c->munge_socket);
	free(c);
}

const char *client_where(const struct client *c)
{
	return c->where;
}

/* ---- signing ------------------------------------------------------------------------ */

/* Lower-case hex SHA-256 of "METHOD\nTARGET\nBODY": the credential fits this request alone. */
static int request_digest(const struct request *rq, char out[2 * EVP_MAX_MD_SIZE + 1])
{
	static const char hex[] = "0123456789abcdef";
	EVP_MD_CTX *md = EVP_MD_CTX_new();
	unsigned char sum[EVP_MAX_MD_SIZE];
	unsigned len = 0;
	bool ok = md && EVP_DigestInit_ex(md, EVP_sha256(), NULL) &&
		  EVP_DigestUpdate(md, rq->method, strlen(rq->method)) &&
		  EVP_DigestUpdate(md, "\n", 1) &&
		  EVP_DigestUpdate(md, rq->target, strlen(rq->target)) &&
		  EVP_DigestUpdate(md, "\n", 1) &&
		  EVP_DigestUpdate(md, rq->body ? rq->body : "", rq->body_len) &&
		  EVP_DigestFinal_ex(md, sum, &len);

	EVP_MD_CTX_free(md);
	for (unsigned i = 0; ok && i < len; i++) {
		out[2 * i] = hex[sum[i] >> 4];
		out[2 * i + 1] = hex[sum[i] & 15];
	}
	out[ok ? 2 * len : 0] = '\0';
	return ok ? 0 : -1;
}

/* A fresh credential (free it), or NULL with err. */
static char *sign(const struct client *c, const struct request *rq, struct err *err)
{
	char payload[2 * EVP_MAX_MD_SIZE + 1];
	char *cred = NULL;
	munge_ctx_t ctx = munge_ctx_create();
	munge_err_t rc;

	if (ctx == NULL || request_digest(rq, payload) < 0) {
		err_set(err, ERR_SYSTEM, NULL, "cannot sign the request");
		munge_ctx_destroy(ctx);
		return NULL;
	}
	if (c->munge_socket)
		munge_ctx_set(ctx, MUNGE_OPT_SOCKET, c->munge_socket);
	rc = munge_encode(&cred, ctx, payload, (int)strlen(payload));
	if (rc != EMUNGE_SUCCESS) {
		const char *why = munge_ctx_strerror(ctx);

		err_set(err, ERR_UNAUTH, c->munge_named ? c->munge_socket : "munge",
			"munge does not sign: %s", why ? why : munge_strerror(rc));
		free(cred);
		cred = NULL;
	}
	munge_ctx_destroy(ctx);
	return cred;
}

/* ---- errors ------------------------------------------------------------------------- */

static enum err_code code_of_status(int status)
{
	for (int i = 1; i < ERR_COUNT; i++)
		if (err_kind((enum err_code)i)->http_status == status)
			return (enum err_code)i;
	return status >= 500 ? ERR_INTERNAL : ERR_INVALID;
}

static const char *member(const json_t *problem, const char *key)
{
	const char *s = json_string_value(json_object_get(problem, key));

	return s && *s ? s : NULL;
}

/* RFC 9457: the detail says what is wrong; "field" or "where" names the input. */
static int problem_to_err(int status, const struct buf *body, struct err *err)
{
	json_t *problem = json_loadb(buf_str(body), body->len, 0, NULL);
	const char *detail = member(problem, "detail");
	const char *where = member(problem, "field");

	if (detail == NULL)
		detail = member(problem, "title");
	if (where == NULL)
		where = member(problem, "where");
	if (detail)
		err_set(err, code_of_status(status), where, "%s", detail);
	else
		err_set(err, code_of_status(status), NULL, "the daemon answered HTTP status %d",
			status);
	json_decref(problem);
	return -1;
}

/* ---- one exchange ------------------------------------------------------------------- */

struct exchange {
	struct client *c;
	client_sink *sink;
	void *arg;
	struct err *err;
	bool sink_failed;
	int status;
	struct buf problem;
};

static size_t on_data(char *p, size_t size, size_t n, void *arg)
{
	struct exchange *x = arg;
	long status = 0;

	n *= size;
	curl_easy_getinfo(x->c->curl, CURLINFO_RESPONSE_CODE, &status);
	x->status = (int)status;
	if (status >= 300) {
		buf_add(&x->problem, p, n);
		return n;
	}
	if (x->sink(p, n, x->arg, x->err) == 0)
		return n;
	x->sink_failed = true;
	return 0;
}

static struct curl_slist *headers(const struct request *rq, const char *cred)
{
	struct curl_slist *list = NULL;
	struct buf b = BUF_INIT;

	list = curl_slist_append(list, "Expect:");
	if (rq->accept) {
		buf_printf(&b, "Accept: %s", rq->accept);
		list = curl_slist_append(list, buf_str(&b));
		buf_clear(&b);
	}
	if (rq->content_type) {
		buf_printf(&b, "Content-Type: %s", rq->content_type);
		list = curl_slist_append(list, buf_str(&b));
		buf_clear(&b);
	}
	if (cred) {
		buf_printf(&b, "Authorization: Munge %s", cred);
		list = curl_slist_append(list, buf_str(&b));
	}
	buf_fini(&b);
	return list;
}

static void prepare(struct exchange *x, const struct request *rq, const char *url,
		    struct curl_slist *list)
{
	CURL *curl = x->c->curl;

	curl_easy_reset(curl); /* keeps the connection */
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PATH_AS_IS, 1L); /* the signed target is the sent one */
	curl_easy_setopt(curl, CURLOPT_UNIX_SOCKET_PATH, x->c->socket_path);
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, rq->method);
	curl_easy_setopt(curl, CURLOPT_HTTPHEADER, list);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, CONNECT_TIMEOUT_S);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, 1L);
	curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, SILENCE_S);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_data);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, x);
	if (rq->body) {
		curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)rq->body_len);
		curl_easy_setopt(curl, CURLOPT_POSTFIELDS, rq->body);
	}
}

/* What curl's failure means; the sink's own error stands. */
static int failed(const struct exchange *x, CURLcode rc, struct err *err)
{
	if (x->sink_failed)
		return -1;
	if (rc == CURLE_COULDNT_CONNECT || rc == CURLE_COULDNT_RESOLVE_HOST)
		return err_set(err, ERR_GONE, x->c->where,
			       "no tallyd answers (%s); start one, or name it with --url",
			       curl_easy_strerror(rc));
	if (x->status)
		return err_set(err, ERR_GONE, x->c->where, "the answer broke off (%s)",
			       curl_easy_strerror(rc));
	return err_set(err, ERR_GONE, x->c->where, "%s", curl_easy_strerror(rc));
}

/* Sends it once. */
static int exchange(struct exchange *x, const struct request *rq, const char *cred,
		    struct reply *reply, struct err *err)
{
	struct buf url = BUF_INIT;
	struct curl_slist *list = headers(rq, cred);
	curl_off_t retry = 0;
	long status = 0;
	CURLcode rc;

	buf_adds(&url, x->c->base);
	buf_adds(&url, rq->target);
	prepare(x, rq, buf_str(&url), list);
	rc = curl_easy_perform(x->c->curl);
	curl_easy_getinfo(x->c->curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(x->c->curl, CURLINFO_RETRY_AFTER, &retry);
	x->status = reply->status = (int)status;
	reply->retry_after_s = retry > 0 ? (int)retry : -1;
	curl_slist_free_all(list);
	buf_fini(&url);
	if (rc != CURLE_OK)
		return failed(x, rc, err);
	if (status >= 300)
		return problem_to_err((int)status, &x->problem, err);
	return 0;
}

/* Over TCP with a credential.  One from munge's default socket is a guess at which munged the
 * daemon trusts: when it is refused, the same is asked as nobody, who may read if the daemon is
 * set so. */
static int exchange_signed(struct exchange *x, const struct request *rq, struct reply *reply,
			   struct err *err)
{
	struct err first = { 0 };
	char *cred = sign(x->c, rq, &first);
	int rc = -1;

	if (cred)
		rc = exchange(x, rq, cred, reply, &first);
	free(cred);
	if (rc < 0 && first.code == ERR_UNAUTH && !x->c->munge_named) {
		buf_clear(&x->problem);
		rc = exchange(x, rq, NULL, reply, err);
		if (rc == 0 || err == NULL || err->code != ERR_UNAUTH)
			return rc;
	}
	if (rc < 0 && !x->sink_failed && err)
		*err = first;
	return rc;
}

int client_stream(struct client *c, const struct request *rq, client_sink *sink, void *arg,
		  struct reply *ret_reply, struct err *err)
{
	struct reply ignored;
	struct reply *reply = ret_reply ? ret_reply : &ignored;
	struct exchange x = { .c = c, .sink = sink, .arg = arg, .err = err };
	int rc;

	*reply = (struct reply){ .retry_after_s = -1 };
	buf_limit(&x.problem, MAX_PROBLEM);
	if (c->socket_path)
		rc = exchange(&x, rq, NULL, reply, err);
	else
		rc = exchange_signed(&x, rq, reply, err);
	buf_fini(&x.problem);
	return rc;
}

/* ---- lines and wholes --------------------------------------------------------------- */

struct lines {
	struct buf rest; /* the beginning of a line whose end has not come */
	client_sink *sink;
	void *arg;
};

static int on_lines(const char *p, size_t n, void *arg, struct err *err)
{
	struct lines *l = arg;
	const char *end;

	while ((end = memchr(p, '\n', n)) != NULL) {
		buf_add(&l->rest, p, (size_t)(end - p));
		if (buf_failed(&l->rest))
			return err_set(err, ERR_TOO_LARGE, NULL,
				       "a line of the answer is too long");
		if (l->sink(buf_str(&l->rest), l->rest.len, l->arg, err) < 0)
			return -1;
		buf_clear(&l->rest);
		n -= (size_t)(end + 1 - p);
		p = end + 1;
	}
	buf_add(&l->rest, p, n);
	return 0;
}

int client_lines(struct client *c, const struct request *rq, client_sink *sink, void *arg,
		 struct reply *ret_reply, struct err *err)
{
	struct lines l = { .sink = sink, .arg = arg };
	int rc;

	buf_limit(&l.rest, MAX_LINE);
	rc = client_stream(c, rq, on_lines, &l, ret_reply, err);
	if (rc == 0 && l.rest.len > 0)
		rc = err_set(err, ERR_GONE, c->where,
			     "the answer broke off in the middle of a line");
	buf_fini(&l.rest);
	return rc;
}

static int on_whole(const char *p, size_t n, void *arg, struct err *err)
{
	struct buf *b = arg;

	buf_add(b, p, n);
	return buf_failed(b) ? err_set(err, ERR_TOO_LARGE, NULL, "the answer is too long") : 0;
}

int client_whole(struct client *c, const struct request *rq, struct buf *ret,
		 struct reply *ret_reply, struct err *err)
{
	return client_stream(c, rq, on_whole, ret, ret_reply, err);
}

static void escape(struct buf *target, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				    "0123456789-._~,:";

	for (const char *p = text; *p; p++) {
		if (strchr(plain, *p))
			buf_addc(target, *p);
		else
			buf_printf(target, "%%%02X", (unsigned)(unsigned char)*p);
	}
}

void target_add_path(struct buf *target, const char *segment)
{
	buf_addc(target, '/');
	escape(target, segment);
}

void target_add(struct buf *target, const char *name, const char *value)
{
	buf_addc(target, strchr(buf_str(target), '?') ? '&' : '?');
	buf_adds(target, name);
	buf_addc(target, '=');
	escape(target, value);
}

#include "api/api.h"

#include <netdb.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "api/http.h"
#include "api/listen.h"
#include "auth/peer.h"
#include "base/log.h"

/* Beyond max_connections, so that what comes can be told 503. */
#define SURPLUS 64
/* Headers and the answer's buffer together; past it libmicrohttpd answers 431. */
#define CONNECTION_MEMORY ((size_t)64 << 10)
#define THREAD_STACK	  ((size_t)1 << 20)

/* A listening socket with its libmicrohttpd. */
struct listener {
	struct api *api;
	int fd;
	bool local;
	struct MHD_Daemon *daemon;
};

void api_settings_init(struct api_settings *settings)
{
	static const char *const loopback[] = { "127.0.0.1:6820", NULL };

	*settings = (struct api_settings){
		.listen = loopback,
		.unix_mode = 0666,
		.max_connections = 512,
		.max_body_bytes = (size_t)32 << 20,
		.max_inflated_bytes = (size_t)64 << 20,
		.max_inflate_ratio = 200,
		.max_bodies_bytes = (size_t)256 << 20,
		.idle_s = 75,
		.first_s = 20,
		.grace_s = 20,
		.min_rate = 1024,
	};
}

static void address_text(const struct sockaddr *sa, socklen_t len, char *out, size_t size)
{
	char host[NI_MAXHOST] = "?", port[NI_MAXSERV] = "?";

	if (sa != NULL)
		getnameinfo(sa, len, host, sizeof(host), port, sizeof(port),
			    NI_NUMERICHOST | NI_NUMERICSERV);
	snprintf(out, size, "%.46s:%.6s", host, port);
}

static void *connection_open(struct listener *l, struct MHD_Connection *connection)
{
	int fd = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD)->connect_fd;
	struct identity peer = { .proof = PROOF_NONE, .uid = -1, .gid = -1 };
	struct sockaddr_storage sa;
	socklen_t len = sizeof(sa);
	struct err err;
	char address[64] = "unix";

	if (l->local && peer_identity(fd, &peer, &err) < 0)
		log_err(LOG_WARN, &err, "http");
	if (!l->local && getpeername(fd, (struct sockaddr *)&sa, &len) == 0)
		address_text((struct sockaddr *)&sa, len, address, sizeof(address));
	return conn_open(l->api->conns, fd, l->local ? &peer : NULL, address);
}

static void notify_connection(void *cls, struct MHD_Connection *connection, void **socket_context,
			      enum MHD_ConnectionNotificationCode toe)
{
	struct listener *l = cls;

	if (toe == MHD_CONNECTION_NOTIFY_STARTED) {
		*socket_context = connection_open(l, connection);
	} else {
		conn_close(l->api->conns, *socket_context);
		*socket_context = NULL;
	}
}

static void mhd_log(void *cls, const char *fmt, va_list ap)
{
	char text[512];

	(void)cls;
	if (!log_wants(LOG_DEBUG))
		return;
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	vsnprintf(text, sizeof(text), fmt, ap);
#pragma GCC diagnostic pop
	text[strcspn(text, "\n")] = '\0';
	log_debug("http: libmicrohttpd: %s", text);
}

static int serve(struct listener *l, struct err *err)
{
	struct api *api = l->api;
	unsigned flags = MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD |
			 MHD_USE_POLL | MHD_USE_ITC | MHD_USE_ERROR_LOG;

	l->daemon = MHD_start_daemon(
		flags, 0, NULL, NULL, http_access, api, MHD_OPTION_EXTERNAL_LOGGER, mhd_log,
		NULL, /* first: start-up may log */
		MHD_OPTION_LISTEN_SOCKET, l->fd, MHD_OPTION_CONNECTION_LIMIT,
		(unsigned)(api->settings.max_connections + SURPLUS),
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, MHD_OPTION_THREAD_STACK_SIZE,
		THREAD_STACK, MHD_OPTION_URI_LOG_CALLBACK, http_begin, api,
		MHD_OPTION_NOTIFY_COMPLETED, http_completed, api, MHD_OPTION_NOTIFY_CONNECTION,
		notify_connection, l, MHD_OPTION_END);
	if (l->daemon == NULL)
		return err_set(err, ERR_SYSTEM, "http", "libmicrohttpd does not start: %s",
			       strerror(errno));
	return 0;
}

static int add_listener(struct api *api, int fd, bool local)
{
	if (fd < 0)
		return -1;
	struct listener *l = &api->listeners[api->n_listeners++];
	*l = (struct listener){ .api = api, .fd = fd, .local = local };
	return 0;
}

static int listen_all(struct api *api, struct err *err)
{
	const struct api_settings *s = &api->settings;
	struct buf names = BUF_INIT;
	size_t n = 0;
	int rc = 0;

	while (s->listen != NULL && s->listen[n] != NULL)
		n++;
	api->listeners = xcalloc(n + 1, sizeof(*api->listeners));
	for (size_t i = 0; i < n && rc == 0; i++)
		rc = add_listener(api, listen_tcp(s->listen[i], &names, err), false);
	if (rc == 0 && s->unix_path != NULL)
		rc = add_listener(api, listen_unix(s->unix_path, s->unix_mode, &names, err), true);
	api->addresses = xstrdup(buf_str(&names));
	buf_fini(&names);
	return rc;
}

static void api_free(struct api *api)
{
	for (size_t i = 0; i < api->n_listeners; i++) {
		if (api->listeners[i].daemon != NULL)
			MHD_stop_daemon(api->listeners[i].daemon);
		if (api->listeners[i].fd >= 0)
			close(api->listeners[i].fd);
	}
	conns_free(api->conns);
	metrics_free(api->metrics);
	free(api->listeners);
	free(api->addresses);
	free(api);
}

struct api *api_start(struct ops *ops, const struct api_settings *settings, struct err *err)
{
	struct api *api = xcalloc(1, sizeof(*api));

	api->ops = ops;
	api->settings = *settings;
	api->metrics = metrics_new(n_routes);
	api->conns = conns_new(&api->settings, err);
	int rc = api->conns != NULL ? listen_all(api, err) : -1;
	for (size_t i = 0; i < api->n_listeners && rc == 0; i++)
		rc = serve(&api->listeners[i], err);
	if (rc == 0)
		return api;
	api_free(api);
	return NULL;
}

const char *api_addresses(const struct api *api)
{
	return api->addresses;
}

void api_quiesce(struct api *api)
{
	if (atomic_exchange(&api->quiesced, true))
		return;
	for (size_t i = 0; i < api->n_listeners; i++) {
		MHD_quiesce_daemon(api->listeners[i].daemon);
		/* Waiting in its backlog, connections would get no answer at all. */
		shutdown(api->listeners[i].fd, SHUT_RDWR);
		close(api->listeners[i].fd);
		api->listeners[i].fd = -1;
		if (api->listeners[i].local)
			unlink(api->settings.unix_path);
	}
	conns_cut_idle(api->conns);
}

void api_stop(struct api *api, int64_t deadline_ms)
{
	if (api == NULL)
		return;
	api_quiesce(api);
	conns_wait(api->conns, deadline_ms);
	conns_cut_all(api->conns);
	api_free(api);
}

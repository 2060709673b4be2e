#include "api/listen.h"

#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define BACKLOG 512

/* "HOST:PORT" or "[HOST]:PORT" in two. */
static int split(const char *address, char *host, size_t host_size, const char **ret_port,
		 struct err *err)
{
	const char *colon = strrchr(address, ':');
	const char *from = address;

	if (colon == NULL || colon[1] == '\0')
		return err_set(err, ERR_INVALID, address,
			       "no port; write ADDRESS:PORT, such as 127.0.0.1:6820 or [::1]:6820");
	size_t n = (size_t)(colon - address);
	if (n >= 2 && address[0] == '[' && colon[-1] == ']') {
		from++;
		n -= 2;
	}
	if (n == 0 || n >= host_size)
		return err_set(err, ERR_INVALID, address,
			       "no address to listen at; 0.0.0.0 or [::] means every one");
	memcpy(host, from, n);
	host[n] = '\0';
	*ret_port = colon + 1;
	return 0;
}

static int bind_one(const struct addrinfo *ai)
{
	int one = 1;
	int fd = socket(ai->ai_family, ai->ai_socktype | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return -1;
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one));
	if (ai->ai_family == AF_INET6)
		setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one));
	if (bind(fd, ai->ai_addr, ai->ai_addrlen) == 0 && listen(fd, BACKLOG) == 0)
		return fd;
	int saved = errno;
	close(fd);
	errno = saved;
	return -1;
}

static void add_name(int fd, struct buf *names)
{
	struct sockaddr_storage sa = { 0 };
	socklen_t len = sizeof(sa);
	char host[NI_MAXHOST], port[NI_MAXSERV];

	if (getsockname(fd, (struct sockaddr *)&sa, &len) < 0 ||
	    getnameinfo((struct sockaddr *)&sa, len, host, sizeof(host), port, sizeof(port),
			NI_NUMERICHOST | NI_NUMERICSERV) != 0)
		return;
	buf_printf(names, sa.ss_family == AF_INET6 ? "%shttp://[%s]:%s" : "%shttp://%s:%s",
		   names->len > 0 ? " " : "", host, port);
}

int listen_tcp(const char *address, struct buf *names, struct err *err)
{
	const struct addrinfo hints = { .ai_socktype = SOCK_STREAM, .ai_flags = AI_PASSIVE };
	struct addrinfo *found = NULL;
	char host[NI_MAXHOST];
	const char *port = NULL;

	if (split(address, host, sizeof(host), &port, err) < 0)
		return -1;
	int rc = getaddrinfo(host, port, &hints, &found);
	if (rc != 0)
		return err_set(err, ERR_INVALID, address, "cannot listen there: %s",
			       gai_strerror(rc));
	int fd = bind_one(found);
	freeaddrinfo(found);
	if (fd < 0)
		return err_set(
			err, ERR_SYSTEM, address, "cannot listen there: %s%s", strerror(errno),
			errno == EADDRINUSE ? " (another tallyd? `ss -ltnp` shows who has it)"
					    : "");
	add_name(fd, names);
	return fd;
}

static int somebody_answers(const struct sockaddr_un *sa)
{
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

	if (fd < 0)
		return 0;
	int rc = connect(fd, (const struct sockaddr *)sa, sizeof(*sa));
	close(fd);
	return rc == 0;
}

int listen_unix(const char *path, unsigned mode, struct buf *names, struct err *err)
{
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(sa.sun_path))
		return err_set(err, ERR_INVALID, path, "a unix socket's path has at most %zu bytes",
			       sizeof(sa.sun_path) - 1);
	memcpy(sa.sun_path, path, strlen(path) + 1);
	if (somebody_answers(&sa))
		return err_set(err, ERR_CONFLICT, path, "another daemon listens there");
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return err_set(err, ERR_SYSTEM, path, "no socket: %s", strerror(errno));
	unlink(path);
	if (bind(fd, (struct sockaddr *)&sa, sizeof(sa)) < 0 || chmod(path, mode) < 0 ||
	    listen(fd, BACKLOG) < 0) {
		err_set(err, ERR_SYSTEM, path, "cannot listen there: %s", strerror(errno));
		close(fd);
		return -1;
	}
	buf_printf(names, "%sunix:%s", names->len > 0 ? " " : "", path);
	return fd;
}

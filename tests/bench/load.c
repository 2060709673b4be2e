/* load.c: a load generator for one tallyd, over its unix socket only: its user is known there by
 * itself, and nothing of it can reach another machine.  Bounded: so many jobs, so many requests.
 *
 *	load SOCKET complete FIRST JOBS BATCH CONNECTIONS   job_end with its step
 *	load SOCKET split    FIRST JOBS BATCH CONNECTIONS   job_start, later job_end with its step
 *	load SOCKET get      COUNT TARGET FIRST JOBS        one GET after the other; %d in the
 *target is a job number, picked at random load SOCKET stream   TARGET                         one
 *GET, read to its end
 *
 * BENCH_T0 and BENCH_SPAN_S (environment) say between which seconds jobs are submitted.  Prints
 * one JSON object. */
#include <pthread.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/clock.h"
#include "base/num.h"

#define READ_SIZE ((size_t)1 << 16)
#define CHUNKS	  10 /* rates are medians over so many parts of the work */

static void die(const char *what)
{
	fprintf(stderr, "load: %s: %s\n", what, errno ? strerror(errno) : "not as expected");
	exit(1);
}

/* ---- HTTP ------------------------------------------------------------------------------------ */

struct conn {
	int fd;
	char *in; /* READ_SIZE */
	size_t at, len;
};

struct answer {
	int status;
	uint64_t bytes, lines;
	struct buf body; /* what fits its limit */
	int retry_after_s;
};

static struct conn conn_open(const char *path)
{
	struct conn c = { .fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	struct sockaddr_un sa = { .sun_family = AF_UNIX };

	snprintf(sa.sun_path, sizeof(sa.sun_path), "%s", path);
	if (c.fd < 0 || connect(c.fd, (struct sockaddr *)&sa, sizeof(sa)) < 0)
		die(path);
	c.in = xmalloc(READ_SIZE);
	return c;
}

static void conn_close(struct conn *c)
{
	close(c->fd);
	free(c->in);
}

static void send_all(struct conn *c, const char *p, size_t n)
{
	while (n > 0) {
		ssize_t w = write(c->fd, p, n);

		if (w < 0 && errno == EINTR)
			continue;
		if (w <= 0)
			die("write");
		p += w;
		n -= (size_t)w;
	}
}

static void fill(struct conn *c)
{
	ssize_t n;

	do
		n = read(c->fd, c->in, READ_SIZE);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		die("the answer broke off");
	c->at = 0;
	c->len = (size_t)n;
}

static char next_byte(struct conn *c)
{
	if (c->at == c->len)
		fill(c);
	return c->in[c->at++];
}

static void line(struct conn *c, char *out, size_t size)
{
	size_t n = 0;

	for (char ch = next_byte(c); ch != '\n'; ch = next_byte(c))
		if (ch != '\r' && n + 1 < size)
			out[n++] = ch;
	out[n] = '\0';
}

static void take(struct conn *c, size_t n, struct answer *a)
{
	while (n > 0) {
		size_t part;
		const char *p;

		if (c->at == c->len)
			fill(c);
		part = c->len - c->at < n ? c->len - c->at : n;
		p = c->in + c->at;
		a->bytes += part;
		for (const char *q = p; (q = memchr(q, '\n', (size_t)(p + part - q))) != NULL; q++)
			a->lines++;
		if (a->body.len < 65536)
			buf_add(&a->body, p, part);
		c->at += part;
		n -= part;
	}
}

static int64_t header_number(const char *text)
{
	int64_t n = 0;

	text += strspn(text, " ");
	return num_digits(text, &n) ? n : -1;
}

static void take_chunks(struct conn *c, struct answer *a)
{
	for (;;) {
		char text[64];
		char *end;
		size_t n;

		line(c, text, sizeof(text));
		n = strtoul(text, &end, 16);
		if (end == text)
			die("a chunk has no length");
		take(c, n, a);
		line(c, text, sizeof(text));
		if (n == 0)
			return;
	}
}

static void read_answer(struct conn *c, struct answer *a)
{
	char text[1024];
	int64_t length = -1, n;
	bool chunked = false;

	buf_clear(&a->body);
	a->bytes = a->lines = 0;
	a->retry_after_s = -1;
	line(c, text, sizeof(text));
	if (strncmp(text, "HTTP/1.1 ", 9) != 0 || num_digits(text + 9, &n) == NULL)
		die(text);
	a->status = (int)n;
	for (line(c, text, sizeof(text)); text[0]; line(c, text, sizeof(text))) {
		if (strncasecmp(text, "Content-Length:", 15) == 0)
			length = header_number(text + 15);
		else if (strncasecmp(text, "Transfer-Encoding: chunked", 26) == 0)
			chunked = true;
		else if (strncasecmp(text, "Retry-After:", 12) == 0)
			a->retry_after_s = (int)header_number(text + 12);
	}
	if (chunked)
		take_chunks(c, a);
	else if (length >= 0)
		take(c, (size_t)length, a);
	else
		die("an answer has no length");
}

static void get(struct conn *c, const char *target, const char *accept, struct answer *a)
{
	char head[2048];
	int n = snprintf(head, sizeof(head), "GET %s HTTP/1.1\r\nHost: tally\r\nAccept: %s\r\n\r\n",
			 target, accept);

	send_all(c, head, (size_t)n);
	read_answer(c, a);
	if (a->status != 200)
		die(buf_str(&a->body));
}

/* ---- records --------------------------------------------------------------------------------- */

static int64_t t0 = 1769904000; /* 2026-02-01 */
static int64_t span_s = 7776000;
static uint64_t all_jobs = 1; /* the submissions of so many are spread over the span */

static void who_and_what(struct buf *b, int64_t id, int64_t submit)
{
	uint64_t u = (uint64_t)id * 7919 % 500;

	buf_printf(
		b,
		"\"cluster\":\"bench\",\"job_id\":%" PRId64 ",\"submit\":%" PRId64
		",\"eligible\":%" PRId64 ",\"user\":\"user%03d\",\"uid\":%d,\"group\":\"users\","
		"\"gid\":100,\"account\":\"account%02d\",\"assoc_id\":%d,\"partition\":\"%s\","
		"\"qos\":\"normal\",\"qos_id\":1,\"wckey\":\"*\",\"name\":\"simulation-%" PRId64
		"\",\"work_dir\":\"/home/user%03d/project/run%d\",\"submit_line\":\"sbatch "
		"--ntasks=16 --mem-per-cpu=2G --time=04:00:00 run_relax.sh %d\",\"std_in\":"
		"\"/dev/null\",\"std_out\":\"/home/user%03d/project/slurm-%%j.out\",\"std_err\":"
		"\"/home/user%03d/project/"
		"slurm-%%j.out\",\"timelimit\":240,\"reason\":\"Priority\","
		"\"req_cpus\":16,\"req_nodes\":1,\"req_mem_mib\":2048,\"req_mem_per\":\"cpu\","
		"\"tres_req\":{\"billing\":16,\"cpu\":16,\"mem\":32768,\"node\":1},\"priority\":%d",
		id, submit, submit + 1, (int)u, 1000 + (int)u, (int)(id % 60), (int)(id % 1000),
		id % 3 ? "batch" : "gpu", id, (int)u, (int)(id % 1000), (int)(id % 100), (int)u,
		(int)u, 10000 + (int)(id % 5000));
}

static void where_it_ran(struct buf *b, int64_t id, int64_t start)
{
	buf_printf(b,
		   ",\"start\":%" PRId64 ",\"nodes\":\"n[%04d-%04d]\",\"node_inx\":\"%d-%d\","
		   "\"alloc_nodes\":2,\"tres_alloc\":{\"billing\":16,\"cpu\":16,\"mem\":32768,"
		   "\"node\":2},\"flags\":[\"SchedMain\",\"StartReceived\"],\"constraints\":"
		   "\"avx512\"",
		   start, (int)(id % 4000), (int)(id % 4000) + 1, (int)(id % 4000),
		   (int)(id % 4000) + 1);
}

static void step(struct buf *b, int64_t id, int64_t start, int64_t end)
{
	int u = (int)(id % 100000);

	buf_printf(
		b,
		",\"steps\":[{\"step_id\":0,\"name\":\"relax\",\"state\":\"COMPLETED\",\"start\":"
		"%" PRId64 ",\"end\":%" PRId64
		",\"exit_code\":0,\"exit_signal\":0,\"nodes\":\"n[%04d-%04d]\",\"nnodes\":2,"
		"\"ntasks\":16,\"tres_alloc\":{\"cpu\":16,\"mem\":32768,\"node\":2},"
		"\"user_cpu_us\":%d123123,\"sys_cpu_us\":%d123,\"ave_cpufreq_khz\":2400000,"
		"\"energy_j\":%d,\"usage_in_max\":{\"cpu\":9000%d,\"energy\":91000,\"fs/disk\":"
		"123123123,\"mem\":%d000,\"pages\":12,\"vmem\":2123123123},\"usage_in_max_node\":"
		"{\"cpu\":\"n0001\",\"mem\":\"n0001\"},\"usage_in_max_task\":{\"cpu\":3,\"mem\":7},"
		"\"usage_in_min\":{\"cpu\":8000123,\"mem\":1000000},\"usage_in_ave\":{\"cpu\":"
		"8500123,"
		"\"mem\":%d000},\"usage_in_tot\":{\"cpu\":136000%d,\"energy\":182000,\"fs/disk\":"
		"1969969968,\"mem\":%d0000},\"usage_out_max\":{\"fs/disk\":4567890},"
		"\"usage_out_tot\":{\"fs/disk\":73086240}}]",
		start + 1, end, (int)(id % 4000), (int)(id % 4000) + 1, u + 1, u + 1, u, u, u + 1,
		u + 1, u, u + 1);
}

enum part { START, END, COMPLETE };

static void record(struct buf *b, int64_t id, enum part part)
{
	int64_t submit = t0 + (int64_t)((double)((uint64_t)id % all_jobs) / (double)all_jobs *
					(double)span_s);
	int64_t start = submit + 10 + id % 600, end = start + 60 + id % 7200;

	buf_printf(b, "{\"kind\":\"%s\",", part == START ? "job_start" : "job_end");
	who_and_what(b, id, submit);
	where_it_ran(b, id, start);
	if (part != START) {
		buf_printf(b,
			   ",\"end\":%" PRId64
			   ",\"state\":\"%s\",\"exit_code\":%d,\"exit_signal\":0,"
			   "\"derived_exit_code\":0,\"derived_exit_signal\":0,\"restarts\":0,"
			   "\"comment\":\"series %d\"",
			   end, id % 20 ? "COMPLETED" : "FAILED", id % 20 ? 0 : 1, (int)(id % 9));
		step(b, id, start, end);
	}
	buf_adds(b, "}\n");
}

/* ---- sending --------------------------------------------------------------------------------- */

struct share { /* one connection's part of the work */
	const char *socket;
	int64_t first, jobs, batch;
	bool split;
	uint64_t requests, busy;
	int64_t *latency_us; /* one per request */
	size_t cap;
	int64_t chunk_ms[CHUNKS + 1]; /* when each tenth of the jobs was done */
};

static void post(struct conn *c, const struct buf *body, struct answer *a, struct share *s)
{
	int64_t begun;
	char head[256];
	int n = snprintf(head, sizeof(head),
			 "POST /v1/records HTTP/1.1\r\nHost: tally\r\nContent-Type: "
			 "application/x-ndjson\r\nContent-Length: %zu\r\n\r\n",
			 body->len);

	for (;;) {
		struct timespec wait = { .tv_sec = 1 };

		begun = monotonic_us();
		send_all(c, head, (size_t)n);
		send_all(c, body->data, body->len);
		read_answer(c, a);
		if (a->status != 503)
			break;
		s->busy++;
		nanosleep(&wait, NULL);
	}
	if (a->status != 200 || strstr(buf_str(&a->body), "\"refused\":0,") == NULL)
		die(buf_str(&a->body));
	if (s->requests < s->cap)
		s->latency_us[s->requests] = monotonic_us() - begun;
	s->requests++;
}

/* Starts run ahead of ends by so many batches: they never meet in one transaction. */
#define LAG 4

static void *work(void *arg)
{
	struct share *s = arg;
	struct conn c = conn_open(s->socket);
	struct answer a = { 0 };
	struct buf body = BUF_INIT;
	int64_t batches = (s->jobs + s->batch - 1) / s->batch;

	buf_limit(&a.body, 1 << 20);
	s->chunk_ms[0] = monotonic_ms();
	for (int64_t i = 0; i < batches + (s->split ? LAG : 0); i++) {
		for (int pass = 0; pass < (s->split ? 2 : 1); pass++) {
			int64_t at = s->split && pass == 1 ? i - LAG : i;
			int64_t from = at * s->batch, to = from + s->batch;
			enum part part = !s->split ? COMPLETE : pass == 0 ? START : END;

			if (at < 0 || from >= s->jobs)
				continue;
			buf_clear(&body);
			for (int64_t k = from; k < to && k < s->jobs; k++)
				record(&body, s->first + k, part);
			post(&c, &body, &a, s);
			if (part == START)
				continue;
			for (int k = 1; k <= CHUNKS; k++)
				if (from < s->jobs * k / CHUNKS && to >= s->jobs * k / CHUNKS)
					s->chunk_ms[k] = monotonic_ms();
		}
	}
	buf_fini(&body);
	buf_fini(&a.body);
	conn_close(&c);
	return NULL;
}

static int by_size(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;

	return (x > y) - (x < y);
}

static int64_t part_of(int64_t *v, size_t n, double part)
{
	if (n == 0)
		return 0;
	qsort(v, n, sizeof(*v), by_size);
	return v[(size_t)((double)(n - 1) * part)];
}

/* Jobs a second: the median over the tenths of the work of the first connection. */
static double median_rate(const struct share *s, int64_t connections)
{
	int64_t ms[CHUNKS];
	size_t n = 0;

	for (int k = 1; k <= CHUNKS; k++)
		if (s->chunk_ms[k] > s->chunk_ms[k - 1])
			ms[n++] = s->chunk_ms[k] - s->chunk_ms[k - 1];
	if (n == 0)
		return 0;
	return (double)s->jobs / CHUNKS * 1000.0 / (double)part_of(ms, n, 0.5) *
	       (double)connections;
}

static void run_send(const char *socket, bool split, int64_t first, int64_t jobs, int64_t batch,
		     int64_t connections)
{
	struct share *shares = xcalloc((size_t)connections, sizeof(*shares));
	pthread_t *threads = xcalloc((size_t)connections, sizeof(*threads));
	int64_t begun = monotonic_us(), took, each = jobs / connections, *all;
	uint64_t requests = 0, busy = 0;
	size_t n = 0;

	for (int64_t i = 0; i < connections; i++) {
		struct share *s = &shares[i];

		s->socket = socket;
		s->split = split;
		s->first = first + i * each;
		s->jobs = each;
		s->batch = batch;
		s->cap = (size_t)(2 * (each / batch + LAG + 1));
		s->latency_us = xcalloc(s->cap, sizeof(int64_t));
		if (pthread_create(&threads[i], NULL, work, s) != 0)
			die("pthread_create");
	}
	for (int64_t i = 0; i < connections; i++) {
		pthread_join(threads[i], NULL);
		requests += shares[i].requests;
		busy += shares[i].busy;
	}
	took = monotonic_us() - begun;
	all = xcalloc((size_t)requests + 1, sizeof(*all));
	for (int64_t i = 0; i < connections; i++)
		for (size_t k = 0; k < shares[i].requests && k < shares[i].cap; k++)
			all[n++] = shares[i].latency_us[k];
	printf("{\"jobs\":%" PRId64
	       ",\"seconds\":%.3f,\"jobs_per_s\":%.1f,\"median_jobs_per_s\":%.1f,"
	       "\"requests\":%" PRIu64 ",\"busy\":%" PRIu64 ",\"request_ms_median\":%.3f,"
	       "\"request_ms_p99\":%.3f}\n",
	       each * connections, (double)took / 1e6,
	       (double)(each * connections) * 1e6 / (double)took,
	       median_rate(&shares[0], connections), requests, busy,
	       (double)part_of(all, n, 0.5) / 1e3, (double)part_of(all, n, 0.99) / 1e3);
}

/* ---- asking ---------------------------------------------------------------------------------- */

static void put_id(struct buf *b, const char *target, int64_t id)
{
	const char *hole = strstr(target, "%d");

	buf_clear(b);
	if (hole == NULL) {
		buf_adds(b, target);
		return;
	}
	buf_add(b, target, (size_t)(hole - target));
	buf_i64(b, id);
	buf_adds(b, hole + 2);
}

static void run_get(const char *socket, int64_t count, const char *target, int64_t first,
		    int64_t jobs)
{
	struct conn c = conn_open(socket);
	struct answer a = { 0 };
	struct buf path = BUF_INIT;
	int64_t *us = xcalloc((size_t)count + 1, sizeof(*us));
	uint64_t random = 88172645463325252u, bytes = 0;

	buf_limit(&a.body, 1 << 20);
	for (int64_t i = 0; i < count; i++) {
		int64_t begun;

		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		put_id(&path, target, first + (int64_t)(random % (uint64_t)jobs));
		begun = monotonic_us();
		get(&c, buf_str(&path), "application/json", &a);
		us[i] = monotonic_us() - begun;
		bytes += a.bytes;
	}
	printf("{\"requests\":%" PRId64 ",\"ms_median\":%.3f,\"ms_p99\":%.3f,\"bytes\":%" PRIu64
	       "}\n",
	       count, (double)part_of(us, (size_t)count, 0.5) / 1e3,
	       (double)part_of(us, (size_t)count, 0.99) / 1e3, bytes);
	buf_fini(&path);
	buf_fini(&a.body);
	conn_close(&c);
	free(us);
}

static void run_stream(const char *socket, const char *target)
{
	struct conn c = conn_open(socket);
	struct answer a = { 0 };
	int64_t begun = monotonic_us();

	buf_limit(&a.body, 1 << 20);
	get(&c, target, "application/x-ndjson", &a);
	printf("{\"lines\":%" PRIu64 ",\"bytes\":%" PRIu64 ",\"seconds\":%.3f}\n", a.lines, a.bytes,
	       (double)(monotonic_us() - begun) / 1e6);
	buf_fini(&a.body);
	conn_close(&c);
}

/* ---- command line ---------------------------------------------------------------------------- */

static int64_t number(const char *text)
{
	int64_t n;

	if (num_parse(text, &n) < 0 || n < 0)
		die(text);
	return n;
}

static void settings(void)
{
	const char *from = getenv("BENCH_T0"), *span = getenv("BENCH_SPAN_S");
	const char *jobs = getenv("BENCH_SPREAD");

	t0 = from ? number(from) : t0;
	span_s = span ? number(span) : span_s;
	all_jobs = jobs ? (uint64_t)number(jobs) : all_jobs;
}

int main(int argc, char **argv)
{
	settings();
	if (argc == 7 && (strcmp(argv[2], "complete") == 0 || strcmp(argv[2], "split") == 0))
		run_send(argv[1], argv[2][0] == 's', number(argv[3]), number(argv[4]),
			 number(argv[5]), number(argv[6]));
	else if (argc == 7 && strcmp(argv[2], "get") == 0)
		run_get(argv[1], number(argv[3]), argv[4], number(argv[5]), number(argv[6]));
	else if (argc == 4 && strcmp(argv[2], "stream") == 0)
		run_stream(argv[1], argv[3]);
	else
		return fputs("load: see the head of tests/bench/load.c\n", stderr), 2;
	return 0;
}

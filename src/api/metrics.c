#include "api/metrics.h"

#include <stdatomic.h>

#include "api/route.h"
#include "base/arena.h"

/* Upper bounds of the latency buckets, microseconds. */
static const int64_t bounds_us[] = { 500,    1000,   2500,   5000,    10000,   25000,	 50000,
				     100000, 250000, 500000, 1000000, 2500000, 10000000, 60000000 };
#define BUCKETS	       ARRAY_LEN(bounds_us)
#define STATUS_CLASSES 6 /* 0: no answer at all, then 1xx ... 5xx */

struct route_counts {
	_Atomic uint64_t by_class[STATUS_CLASSES];
	_Atomic uint64_t buckets[BUCKETS + 1];
	_Atomic uint64_t us;
};

struct metrics {
	_Atomic uint64_t creds[CRED_KINDS];
	_Atomic uint64_t sent, received;
	size_t n_routes;
	struct route_counts routes[]; /* n_routes + 1: the last is what matched none */
};

struct metrics *metrics_new(size_t n)
{
	struct metrics *m = xcalloc(1, sizeof(*m) + (n + 1) * sizeof(m->routes[0]));

	m->n_routes = n;
	return m;
}

void metrics_free(struct metrics *m)
{
	free(m);
}

void metrics_request(struct metrics *m, size_t route, unsigned status, int64_t us)
{
	struct route_counts *r = &m->routes[route <= m->n_routes ? route : m->n_routes];
	size_t b = 0;

	while (b < BUCKETS && us > bounds_us[b])
		b++;
	atomic_fetch_add(&r->buckets[b], 1);
	atomic_fetch_add(&r->us, (uint64_t)(us > 0 ? us : 0));
	atomic_fetch_add(&r->by_class[status / 100 < STATUS_CLASSES ? status / 100 : 0], 1);
}

void metrics_cred(struct metrics *m, enum cred_kind kind)
{
	atomic_fetch_add(&m->creds[kind], 1);
}

void metrics_sent(struct metrics *m, size_t bytes)
{
	atomic_fetch_add(&m->sent, bytes);
}

void metrics_received(struct metrics *m, size_t bytes)
{
	atomic_fetch_add(&m->received, bytes);
}

/* ---- the text ---- */

static void head(struct buf *out, const char *name, const char *type, const char *help)
{
	buf_printf(out, "# HELP tally_%s %s\n# TYPE tally_%s %s\n", name, help, name, type);
}

static void one(struct buf *out, const char *name, const char *type, const char *help,
		uint64_t value)
{
	head(out, name, type, help);
	buf_printf(out, "tally_%s %" PRIu64 "\n", name, value);
}

static const char *route_name(const struct metrics *m, size_t i)
{
	return i < m->n_routes ? routes[i].name : "none";
}

static void print_requests(struct metrics *m, struct buf *out)
{
	head(out, "http_requests_total", "counter",
	     "Requests by route and class of status; code "
	     "\"cut\" had no answer.");
	for (size_t i = 0; i <= m->n_routes; i++)
		for (size_t c = 0; c < STATUS_CLASSES; c++) {
			uint64_t n = atomic_load(&m->routes[i].by_class[c]);
			if (n == 0)
				continue;
			buf_printf(out, "tally_http_requests_total{route=\"%s\",code=\"",
				   route_name(m, i));
			buf_printf(out, c == 0 ? "cut" : "%zuxx", c);
			buf_printf(out, "\"} %" PRIu64 "\n", n);
		}
}

static void print_latency_of(struct metrics *m, size_t i, struct buf *out)
{
	const char *name = route_name(m, i);
	uint64_t sum = 0;

	for (size_t b = 0; b <= BUCKETS; b++) {
		sum += atomic_load(&m->routes[i].buckets[b]);
		buf_printf(out, "tally_http_request_seconds_bucket{route=\"%s\",le=\"", name);
		if (b < BUCKETS)
			buf_printf(out, "%g", (double)bounds_us[b] / 1e6);
		else
			buf_adds(out, "+Inf");
		buf_printf(out, "\"} %" PRIu64 "\n", sum);
	}
	buf_printf(out, "tally_http_request_seconds_sum{route=\"%s\"} %g\n", name,
		   (double)atomic_load(&m->routes[i].us) / 1e6);
	buf_printf(out, "tally_http_request_seconds_count{route=\"%s\"} %" PRIu64 "\n", name, sum);
}

static void print_latency(struct metrics *m, struct buf *out)
{
	head(out, "http_request_seconds", "histogram",
	     "From a request's first line to its answer's last byte, by route.");
	for (size_t i = 0; i <= m->n_routes; i++)
		print_latency_of(m, i, out);
}

static void print_creds(struct metrics *m, struct buf *out)
{
	head(out, "munge_credentials_total", "counter", "Munge credentials by how judging ended.");
	for (size_t k = 0; k < CRED_KINDS; k++)
		buf_printf(out, "tally_munge_credentials_total{result=\"%s\"} %" PRIu64 "\n",
			   cred_kind_names[k], atomic_load(&m->creds[k]));
}

static void print_connections(struct conns *conns, struct buf *out)
{
	struct conns_stats s;

	conns_get_stats(conns, &s);
	one(out, "http_connections", "gauge", "Connections open now.", s.now);
	one(out, "http_connections_total", "counter", "Connections ever opened.", s.opened);
	one(out, "http_connections_refused_total", "counter",
	    "Connections answered 503 because all were in use.", s.refused);
	head(out, "http_connections_cut_total", "counter", "Connections cut by the watchdog.");
	for (size_t i = 0; i < CUT_REASONS; i++)
		buf_printf(out, "tally_http_connections_cut_total{reason=\"%s\"} %" PRIu64 "\n",
			   cut_reason_names[i], s.cut[i]);
}

static void print_commits(const struct ingest_stats *s, struct buf *out)
{
	uint64_t sum = 0;

	one(out, "ingest_commits_total", "counter", "Transactions of records committed.",
	    s->commits);
	one(out, "ingest_failed_commits_total", "counter", "Transactions of records that failed.",
	    s->failed_commits);
	head(out, "ingest_commit_seconds", "histogram", "Time of a transaction of records.");
	for (size_t i = 0; i < ARRAY_LEN(s->commit_us_buckets); i++) {
		sum += s->commit_us_buckets[i];
		if (i + 1 < ARRAY_LEN(s->commit_us_buckets))
			buf_printf(out,
				   "tally_ingest_commit_seconds_bucket{le=\"%g\"} %" PRIu64 "\n",
				   (double)((uint64_t)1 << i) / 1e3, sum);
		else
			buf_printf(out,
				   "tally_ingest_commit_seconds_bucket{le=\"+Inf\"} %" PRIu64 "\n",
				   sum);
	}
	buf_printf(out, "tally_ingest_commit_seconds_sum %g\n", (double)s->commit_us_sum / 1e6);
	buf_printf(out, "tally_ingest_commit_seconds_count %" PRIu64 "\n", sum);
}

static void print_ingest(const struct ingest_stats *s, struct buf *out)
{
	const struct {
		const char *verdict;
		uint64_t n;
	} verdicts[] = {
		{ "accepted", s->accepted },
		{ "duplicate", s->duplicate },
		{ "refused", s->refused },
		{ "purged", s->purged },
	};

	head(out, "ingest_records_total", "counter", "Records by verdict.");
	for (size_t i = 0; i < ARRAY_LEN(verdicts); i++)
		buf_printf(out, "tally_ingest_records_total{verdict=\"%s\"} %" PRIu64 "\n",
			   verdicts[i].verdict, verdicts[i].n);
	one(out, "ingest_queued_records", "gauge", "Records waiting for the writer.",
	    s->queued_now);
	one(out, "ingest_queued_bytes", "gauge", "Memory of the records that wait.",
	    s->queued_bytes);
	one(out, "ingest_busy_total", "counter",
	    "Batches turned away because the queue was full or "
	    "this daemon is not the active one.",
	    s->busy);
	one(out, "ingest_active", "gauge", "1 when this daemon holds the writer's lock.",
	    s->active);
	print_commits(s, out);
}

static void print_database(const struct ops_health *h, struct buf *out)
{
	one(out, "database_up", "gauge", "1 when the last use of the database worked.",
	    h->database_up);
	one(out, "database_readers", "gauge", "Most connections for questions.", h->readers);
	one(out, "database_readers_busy", "gauge", "Connections that answer one now.",
	    h->readers_busy);
	one(out, "database_reader_waits_total", "counter",
	    "Questions that waited for a connection.", h->reader_waits);
	one(out, "database_reader_timeouts_total", "counter", "Questions that got none in time.",
	    h->reader_timeouts);
	one(out, "database_connects_total", "counter", "Connections made.", h->connects);
	one(out, "database_failed_connects_total", "counter", "Connections that failed.",
	    h->failed_connects);
}

void metrics_print(struct metrics *m, struct conns *conns, struct ops *ops, struct buf *out)
{
	struct ops_health health;

	ops_get_health(ops, &health);
	head(out, "build_info", "gauge", "The running version.");
	buf_adds(out, "tally_build_info{version=\"" TALLY_VERSION "\"} 1\n");
	print_database(&health, out);
	print_ingest(&health.ingest, out);
	print_requests(m, out);
	print_latency(m, out);
	one(out, "http_received_bytes_total", "counter", "Bytes of bodies received.",
	    atomic_load(&m->received));
	one(out, "http_sent_bytes_total", "counter", "Bytes of answers' bodies sent.",
	    atomic_load(&m->sent));
	print_connections(conns, out);
	print_creds(m, out);
}

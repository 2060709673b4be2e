/* The watchdog: each phase of a connection is held to its limit, and what keeps to it is left
 * alone. */
#include "unit.h"

#include <sys/socket.h>
#include <unistd.h>

#include "api/conn.h"
#include "base/clock.h"

static const struct api_settings settings = {
	.max_connections = 3,
	.idle_s = 2,
	.first_s = 1,
	.grace_s = 1,
	.min_rate = 1000,
};

/* A connection and the peer's end of it. */
struct pair {
	struct conn *c;
	int ours, theirs;
};

static const struct identity peer = { .proof = PROOF_PEER, .uid = 7 };

static struct pair pair_open(struct conns *cs)
{
	int fds[2];

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, fds), 0);
	return (struct pair){ conn_open(cs, fds[0], &peer, "test"), fds[0], fds[1] };
}

static void pair_close(struct conns *cs, struct pair *p)
{
	conn_close(cs, p->c);
	close(p->ours);
	close(p->theirs);
}

static struct conns *start(void)
{
	struct err err;
	struct conns *cs = conns_new(&settings, &err);

	assert_non_null(cs);
	return cs;
}

static uint64_t cuts(struct conns *cs, enum cut_reason why)
{
	struct conns_stats s;

	conns_get_stats(cs, &s);
	return s.cut[why];
}

static void pause_ms(long ms)
{
	nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

/* Is it cut within this time?  What the peer then reads goes to `said`. */
static bool cut_within(const struct pair *p, int ms, char *said, size_t size)
{
	size_t got = 0;
	struct timeval tv = { .tv_sec = ms / 1000, .tv_usec = ms % 1000 * 1000 };

	setsockopt(p->theirs, SOL_SOCKET, SO_RCVTIMEO, &tv, sizeof(tv));
	for (;;) {
		ssize_t n = recv(p->theirs, said + got, size - 1 - got, 0);
		if (n <= 0) {
			said[got] = '\0';
			return n == 0;
		}
		got += (size_t)n;
	}
}

static void slow_headers_end_with_408(void **state)
{
	struct conns *cs = start();
	struct pair p = pair_open(cs);
	char said[1024];

	(void)state;
	assert_true(cut_within(&p, 4000, said, sizeof(said)));
	assert_memory_equal(said, "HTTP/1.1 408 ", 13);
	assert_non_null(strstr(said, "\"status\":408"));
	assert_int_equal(cuts(cs, CUT_SLOW_HEADERS), 1);
	assert_false(conn_enter(cs, p.c, CONN_WORKING));
	pair_close(cs, &p);
	conns_free(cs);
}

static void a_slow_body_ends_with_408(void **state)
{
	struct conns *cs = start();
	struct pair p = pair_open(cs);
	char said[1024];
	int64_t began = monotonic_ms();

	(void)state;
	assert_true(conn_enter(cs, p.c, CONN_BODY));
	while (cuts(cs, CUT_SLOW_BODY) == 0 && monotonic_ms() - began < 5000) {
		conn_received(cs, p.c, 1);
		pause_ms(50);
	}
	assert_true(cut_within(&p, 100, said, sizeof(said)));
	assert_memory_equal(said, "HTTP/1.1 408 ", 13);
	pair_close(cs, &p);
	conns_free(cs);
}

static void a_body_at_the_rate_is_left_alone(void **state)
{
	struct conns *cs = start();
	struct pair p = pair_open(cs);

	(void)state;
	assert_true(conn_enter(cs, p.c, CONN_BODY));
	for (int i = 0; i < 30; i++) {
		conn_received(cs, p.c, 150);
		pause_ms(100);
	}
	assert_true(conn_enter(cs, p.c, CONN_WORKING));
	pair_close(cs, &p);
	conns_free(cs);
}

static void work_is_never_cut(void **state)
{
	struct conns *cs = start();
	struct pair p = pair_open(cs);

	(void)state;
	assert_true(conn_enter(cs, p.c, CONN_WORKING));
	pause_ms(3500);
	assert_true(conn_enter(cs, p.c, CONN_SENDING));
	pair_close(cs, &p);
	conns_free(cs);
}

static void a_reader_that_stops_is_cut_and_one_that_waits_for_us_is_not(void **state)
{
	struct conns *cs = start();
	struct pair stopped = pair_open(cs), starved = pair_open(cs);
	char bytes[4096] = { 0 }, said[64];

	(void)state;
	assert_true(conn_enter(cs, stopped.c, CONN_SENDING));
	assert_true(conn_enter(cs, starved.c, CONN_SENDING));
	assert_int_equal(send(stopped.ours, bytes, sizeof(bytes), 0), sizeof(bytes));
	conn_starve(cs, stopped.c, false, sizeof(bytes));
	conn_starve(cs, starved.c, true, 0);
	pause_ms(3500);
	assert_int_equal(cuts(cs, CUT_SLOW_READER), 1);
	assert_false(conn_enter(cs, stopped.c, CONN_WAITING));
	assert_true(conn_enter(cs, starved.c, CONN_WAITING));
	assert_false(cut_within(&starved, 10, said, sizeof(said)));
	pair_close(cs, &stopped);
	pair_close(cs, &starved);
	conns_free(cs);
}

static void past_the_limit_they_are_surplus_and_the_idlest_goes(void **state)
{
	struct conns *cs = start();
	struct pair p[4];
	struct conns_stats s;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		p[i] = pair_open(cs);
		assert_false(conn_is_surplus(p[i].c));
		assert_true(conn_enter(cs, p[i].c, CONN_SENDING));
		assert_true(conn_enter(cs, p[i].c, CONN_WAITING));
	}
	assert_true(conn_enter(cs, p[0].c, CONN_WORKING));
	pause_ms(1200);
	p[3] = pair_open(cs);
	assert_true(conn_is_surplus(p[3].c));
	assert_true(conn_enter(cs, p[0].c, CONN_WORKING));
	assert_false(conn_enter(cs, p[1].c, CONN_WORKING));
	assert_true(conn_enter(cs, p[2].c, CONN_WORKING));
	conns_get_stats(cs, &s);
	assert_int_equal(s.now, 4);
	assert_int_equal(s.refused, 1);
	assert_int_equal(s.cut[CUT_IDLE], 1);
	for (size_t i = 0; i < 4; i++)
		pair_close(cs, &p[i]);
	conns_free(cs);
}

static void quiescing_cuts_only_what_is_between_requests(void **state)
{
	struct conns *cs = start();
	struct pair idle = pair_open(cs), busy = pair_open(cs);

	(void)state;
	assert_true(conn_enter(cs, busy.c, CONN_WORKING));
	conns_cut_idle(cs);
	assert_false(conn_enter(cs, idle.c, CONN_WORKING));
	assert_true(conn_enter(cs, busy.c, CONN_SENDING));
	int64_t began = monotonic_ms();
	conns_wait(cs, began + 100);
	assert_true(monotonic_ms() - began >= 100);
	conns_cut_all(cs);
	assert_false(conn_enter(cs, busy.c, CONN_WAITING));
	pair_close(cs, &idle);
	pair_close(cs, &busy);
	conns_wait(cs, began + 60000);
	assert_true(monotonic_ms() - began < 10000);
	conns_free(cs);
}

/* Without lingering, closing with bytes unread makes the kernel throw the answer away. */
static void a_lingering_answer_is_read_to_its_end(void **state)
{
	struct conns *cs = start();
	struct pair p = pair_open(cs);
	struct err err;
	char said[1024], junk[1000] = { 0 };

	(void)state;
	assert_int_equal(send(p.theirs, junk, sizeof(junk), 0), sizeof(junk));
	err_set(&err, ERR_TOO_LARGE, "body", "more than 10 bytes");
	conn_refuse(cs, p.c, &err);
	conn_close(cs, p.c);
	close(p.ours);
	assert_int_equal(send(p.theirs, junk, sizeof(junk), MSG_NOSIGNAL), sizeof(junk));
	assert_true(cut_within(&p, 2000, said, sizeof(said)));
	assert_memory_equal(said, "HTTP/1.1 413 ", 13);
	close(p.theirs);
	conns_free(cs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(slow_headers_end_with_408),
		cmocka_unit_test(a_slow_body_ends_with_408),
		cmocka_unit_test(a_body_at_the_rate_is_left_alone),
		cmocka_unit_test(work_is_never_cut),
		cmocka_unit_test(a_reader_that_stops_is_cut_and_one_that_waits_for_us_is_not),
		cmocka_unit_test(past_the_limit_they_are_surplus_and_the_idlest_goes),
		cmocka_unit_test(quiescing_cuts_only_what_is_between_requests),
		cmocka_unit_test(a_lingering_answer_is_read_to_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

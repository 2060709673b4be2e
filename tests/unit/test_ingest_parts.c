/* The writer's small parts that need no database: names, obstacles, events, months. */
#include "unit.h"

#include "ingest/event.h"
#include "ingest/month.h"
#include "ingest/names.h"
#include "ingest/obstacle.h"

static struct arena *arena;

static int set_up(void **state UNUSED)
{
	arena = arena_new();
	return 0;
}

static int tear_down(void **state UNUSED)
{
	arena_free(arena);
	return 0;
}

/* ---- names */

static void names_grow(void **state UNUSED)
{
	struct names s = { 0 };
	char name[32];

	assert_false(names_has(&s, "cpu", 3));
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof(name), "gres/g%d", i);
		names_add(&s, name, strlen(name));
		names_add(&s, name, strlen(name));
	}
	assert_int_equal(s.n, 1000);
	assert_true(names_has(&s, "gres/g999", 9));
	assert_true(names_has(&s, "gres/g9990", 9)); /* the length counts, not the NUL */
	assert_false(names_has(&s, "gres/g", 6));
	names_clear(&s);
	assert_false(names_has(&s, "gres/g999", 9));
	names_fini(&s);
}

/* ---- obstacles */

static void tries_grow_apart(void **state UNUSED)
{
	struct obstacles o = { .n = 0 };
	int64_t now = 1000, pause, before = 0;

	assert_true(obstacle_next_ms(&o) == INT64_MAX);
	for (int i = 0; i < 8; i++) {
		obstacle_met(&o, OBSTACLE_MONTH, 202601, now);
		assert_true(obstacle_stands(&o, OBSTACLE_MONTH, 202601, now));
		assert_false(obstacle_stands(&o, OBSTACLE_MONTH, 202602, now));
		assert_false(obstacle_stands(&o, OBSTACLE_EVENTS, 0, now));
		pause = obstacle_next_ms(&o) - now;
		assert_true(pause >= before && pause <= 5000);
		before = pause;
		now = obstacle_next_ms(&o);
		assert_false(obstacle_stands(&o, OBSTACLE_MONTH, 202601, now));
	}
	assert_int_equal(o.n, 1);
	obstacle_met(&o, OBSTACLE_EVENTS, 0, now);
	assert_true(obstacle_any_stands(&o, now));
	obstacle_gone(&o, OBSTACLE_EVENTS, 0);
	obstacle_gone(&o, OBSTACLE_MONTH, 202601);
	assert_int_equal(o.n, 0);
}

static void more_obstacles_than_places(void **state UNUSED)
{
	struct obstacles o = { .n = 0 };

	for (int i = 0; i < 100; i++)
		obstacle_met(&o, OBSTACLE_MONTH, 200000 + i, 1000 + i);
	assert_true(o.n <= ARRAY_LEN(o.v));
	assert_true(obstacle_stands(&o, OBSTACLE_MONTH, 200099, 1100));
}

/* ---- events */

static struct record random_event(uint64_t *random)
{
	static const char *const words[] = { NULL, "a", "b", "c" };
	struct record r = { .kind = REC_NODE_EVENT, .cluster = "c1" };

	r.node = (struct node_event){
		.node = test_below(random, 2) ? "n1" : "n2",
		.at = test_below(random, 3),
		.up = test_below(random, 2),
		.state = words[test_below(random, 4)],
		.state_raw = test_below(random, 3) - 1,
		.reason = words[test_below(random, 4)],
		.reason_uid = test_below(random, 3) - 1,
		.tres = words[test_below(random, 4)],
	};
	return r;
}

static const char *merged(struct record *records, const size_t *order, size_t n)
{
	struct item items[32], *list[32];
	struct event *events;
	struct buf b = BUF_INIT;
	const char *text;
	size_t n_events;

	for (size_t i = 0; i < n; i++) {
		items[i] = (struct item){ .rec = &records[order[i]] };
		list[i] = &items[i];
	}
	events_collect(list, n, arena, &events, &n_events);
	for (size_t i = 0; i < n_events; i++) {
		const struct node_event *e = &events[i].row.node;

		event_merge(&events[i]);
		assert_true(events[i].changed);
		buf_printf(&b, "%s %" PRId64 " %d %s %" PRId64 " %s %" PRId64 " %s|", e->node,
			   e->at, e->up, e->state != NULL ? e->state : "-", e->state_raw,
			   e->reason != NULL ? e->reason : "-", e->reason_uid,
			   e->tres != NULL ? e->tres : "-");
	}
	text = arena_strdup(arena, buf_str(&b));
	buf_fini(&b);
	return text;
}

static void order_of_events_does_not_show(void **state UNUSED)
{
	uint64_t random = test_seed("events");

	for (int round = 0; round < 500; round++) {
		struct record records[10];
		size_t order[20], n = ARRAY_LEN(records);
		const char *want;

		for (size_t i = 0; i < n; i++) {
			records[i] = random_event(&random);
			order[i] = order[n + i] = i;
		}
		want = merged(records, order, n);
		for (size_t i = 2 * n - 1; i > 0; i--) {
			size_t k = (size_t)test_below(&random, (int64_t)i + 1), t = order[i];

			order[i] = order[k];
			order[k] = t;
		}
		assert_string_equal(merged(records, order, 2 * n), want);
	}
}

static void by_arrival_the_later_wins(void **state UNUSED)
{
	struct record records[2] = {
		{ .kind = REC_NODE_EVENT, .cluster = "c1", .by_arrival = true,
		  .node = { .node = "n1", .reason = "z", .state_raw = 5, .reason_uid = -1 } },
		{ .kind = REC_NODE_EVENT, .cluster = "c1", .by_arrival = true,
		  .node = { .node = "n1", .reason = "a", .state_raw = -1, .reason_uid = -1 } },
	};
	static const size_t order[] = { 0, 1 };

	assert_string_equal(merged(records, order, 2), "n1 0 0 - 5 a -1 -|");
}

/* ---- months */

static void months_count(void **state UNUSED)
{
	struct job open = { 0 }, ended = { 0 };
	struct months m;

	job_set(&open, cluster, "c1");
	job_set(&open, job_id, 7);
	job_set(&open, array_job_id, 3);
	ended = open;
	job_set(&ended, visible_from, 110);
	job_set(&ended, start_at, 120);
	job_set(&ended, end_at, 100); /* its clock stepped back */
	months_init(&m, arena);
	months_follow(&m, 202601, NULL, &open);
	assert_int_equal(m.v[0].opened, 1);
	assert_true(m.v[0].least_visible == MONTH_NO_BOUND);
	months_follow(&m, 202601, &open, &ended);
	assert_int_equal(m.v[0].opened, 0);
	assert_int_equal(m.v[0].least_visible, 100);
	assert_int_equal(m.v[0].greatest_end, 100);
	assert_int_equal(m.v[0].least_job_id, 3);
	assert_int_equal(m.v[0].greatest_job_id, 7);
	assert_int_equal(m.v[0].max_life_s, 0);
	months_follow(&m, 202602, &open, NULL);
	assert_int_equal(m.n, 2);
	assert_int_equal(m.v[1].opened, -1);
	job_set(&ended, end_at, 190);
	months_follow(&m, 202601, &ended, &ended);
	assert_int_equal(m.v[0].opened, 0);
	assert_int_equal(m.v[0].max_life_s, 80);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_grow),
		cmocka_unit_test(tries_grow_apart),
		cmocka_unit_test(more_obstacles_than_places),
		cmocka_unit_test(order_of_events_does_not_show),
		cmocka_unit_test(by_arrival_the_later_wins),
		cmocka_unit_test(months_count),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}

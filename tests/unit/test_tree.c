/* The account tree: the edges, paths and inherited limits of a real slurmdbd's tree, and random
 * trees against a plain second statement that walks parent by parent. */
#include "unit.h"

#include "base/clock.h"
#include "core/list.h"
#include "core/tree.h"
#include "core/tres.h"

static struct assoc an_assoc(int64_t id, int64_t parent, const char *account, const char *user)
{
	struct assoc a = { 0 };

	row_set(&a, ASSOC, cluster, "c1");
	row_set(&a, ASSOC, id, id);
	if (parent != 0)
		row_set(&a, ASSOC, parent_id, parent);
	row_set(&a, ASSOC, account, account);
	row_set(&a, ASSOC, user_name, user);
	row_set(&a, ASSOC, partition, "");
	row_set(&a, ASSOC, shares, 1);
	row_set(&a, ASSOC, deleted, 0);
	return a;
}

static struct cluster a_cluster(const char *name)
{
	struct cluster c = { 0 };

	row_set(&c, CLUSTER, name, name);
	return c;
}

static struct tree *build(const struct assoc *assocs, size_t n)
{
	static struct cluster c1;
	struct tree_rows rows = {
		.clusters = &c1, .n_clusters = 1, .assocs = assocs, .n_assocs = n
	};

	c1 = a_cluster("c1");
	return tree_build(&rows, arena_new());
}

/* Of a slurmdbd: ids in the order they were added, its left and right edges, its paths. */
static const struct {
	int64_t id, parent;
	const char *account, *user, *partition;
	int64_t lft, rgt;
	const char *lineage;
} golden[] = {
	{ 1, 0, "root", "", "", 1, 34, "/" },
	{ 2, 1, "root", "root", "", 32, 33, "/0-root/" },
	{ 3, 1, "physics", "", "", 20, 31, "/physics/" },
	{ 4, 3, "astro", "", "", 27, 30, "/physics/astro/" },
	{ 5, 3, "hep", "", "", 21, 26, "/physics/hep/" },
	{ 6, 1, "bio", "", "", 2, 19, "/bio/" },
	{ 7, 6, "genomics", "", "", 11, 18, "/bio/genomics/" },
	{ 8, 6, "imaging", "", "", 7, 10, "/bio/imaging/" },
	{ 9, 6, "tiny", "", "", 3, 6, "/bio/tiny/" },
	{ 10, 5, "hep", "alice", "", 24, 25, "/physics/hep/0-alice/" },
	{ 11, 4, "astro", "alice", "", 28, 29, "/physics/astro/0-alice/" },
	{ 12, 5, "hep", "bob", "", 22, 23, "/physics/hep/0-bob/" },
	{ 13, 7, "genomics", "carol", "", 16, 17, "/bio/genomics/0-carol/" },
	{ 14, 9, "tiny", "dave", "", 4, 5, "/bio/tiny/0-dave/" },
	{ 15, 8, "imaging", "dave", "", 8, 9, "/bio/imaging/0-dave/" },
	{ 16, 7, "genomics", "erin", "", 14, 15, "/bio/genomics/0-erin/" },
	{ 17, 7, "genomics", "erin", "gpu", 12, 13, "/bio/genomics/0-erin/gpu/" },
};

static size_t golden_rows(struct assoc *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(golden); i++) {
		ret[i] = an_assoc(golden[i].id, golden[i].parent, golden[i].account,
				  golden[i].user);
		ret[i].partition = golden[i].partition;
	}
	return ARRAY_LEN(golden);
}

static const struct assoc *whole(const struct tree_cluster *c, int64_t id)
{
	return c->nodes[tree_by_id(c, id)].whole;
}

static void edges_and_paths_as_slurmdbd_has_them(void **state UNUSED)
{
	struct assoc rows[ARRAY_LEN(golden)];
	struct tree *t = build(rows, golden_rows(rows));
	const struct tree_cluster *c = tree_cluster(t, "c1");

	for (size_t i = 0; i < ARRAY_LEN(golden); i++) {
		const struct assoc *a = c->nodes[tree_by_id(c, golden[i].id)].own;
		assert_string_equal(a->lineage, golden[i].lineage);
		assert_int_equal(a->lft, golden[i].lft);
		assert_int_equal(a->rgt, golden[i].rgt);
	}
	assert_int_equal(c->flaws, 0);
	assert_null(tree_cluster(t, "c2"));
	tree_unref(t);
}

static void what_is_not_set_comes_from_above(void **state UNUSED)
{
	struct assoc rows[ARRAY_LEN(golden)];
	size_t n = golden_rows(rows);

	row_set(&rows[5], ASSOC, max_tres_pj, "cpu=64,mem=8192"); /* bio */
	row_set(&rows[5], ASSOC, grp_jobs, 9);
	row_set(&rows[5], ASSOC, qos, "high,normal");
	row_set(&rows[6], ASSOC, max_tres_pj, "cpu=8,gres/gpu:rtx-6000=2"); /* genomics */
	row_set(&rows[6], ASSOC, max_wall_pj, 1440);
	row_set(&rows[6], ASSOC, qos, "+short,-high");
	row_set(&rows[12], ASSOC, max_wall_pj, 60); /* carol */
	row_set(&rows[12], ASSOC, qos, "scavenger");
	row_set(&rows[15], ASSOC, qos, "+high"); /* erin */
	struct tree *t = build(rows, n);
	const struct tree_cluster *c = tree_cluster(t, "c1");

	assert_string_equal(whole(c, 7)->max_tres_pj, "cpu=8,gres/gpu:rtx-6000=2,mem=8192");
	assert_string_equal(whole(c, 13)->max_tres_pj, "cpu=8,gres/gpu:rtx-6000=2,mem=8192");
	assert_int_equal(whole(c, 7)->max_wall_pj, 1440);
	assert_int_equal(whole(c, 13)->max_wall_pj, 60);
	assert_int_equal(whole(c, 16)->max_wall_pj, 1440);
	assert_false(row_has(whole(c, 6), ASSOC, max_wall_pj));
	/* Limits of a whole subtree are not the child's. */
	assert_int_equal(whole(c, 6)->grp_jobs, 9);
	assert_false(row_has(whole(c, 7), ASSOC, grp_jobs));
	assert_string_equal(whole(c, 1)->qos, "normal");
	assert_string_equal(whole(c, 10)->qos, "normal");
	assert_string_equal(whole(c, 7)->qos, "normal,short");
	assert_string_equal(whole(c, 13)->qos, "scavenger");
	assert_string_equal(whole(c, 16)->qos, "high,normal,short");
	/* What is set stays as it is set. */
	assert_string_equal(c->nodes[tree_by_id(c, 16)].own->qos, "+high");
	assert_false(row_has(c->nodes[tree_by_id(c, 13)].own, ASSOC, max_tres_pj));
	tree_unref(t);
}

static void a_job_is_charged_to_its_place(void **state UNUSED)
{
	static const struct {
		struct tree_who who;
		int64_t want; /* 0 = none */
	} cases[] = {
		{ { 0, "genomics", "erin", "gpu" }, 17 },
		{ { 0, "genomics", "erin", "cpu" }, 16 },
		{ { 0, "genomics", "erin", "cpu,gpu" }, 17 },
		{ { 0, "genomics", "erin", NULL }, 16 },
		{ { 14, "genomics", "erin", "gpu" }, 14 },  /* the controller knows */
		{ { 999, "genomics", "erin", "gpu" }, 17 }, /* of another tree */
		{ { 0, "genomics", NULL, "gpu" }, 7 },
		{ { 0, NULL, "dave", NULL }, 14 },	    /* the default */
		{ { 0, NULL, "root", NULL }, 2 },
		{ { 0, NULL, NULL, NULL }, 1 },
		{ { 0, "tiny", "erin", NULL }, 0 },
		{ { 0, NULL, "mallory", NULL }, 0 },
		{ { 0, "none", NULL, NULL }, 0 },
		{ { 0, "hep", "bob", NULL }, 12 },	    /* removed */
		{ { 0, NULL, "bob", NULL }, 0 },
	};
	struct assoc rows[ARRAY_LEN(golden)];
	size_t n = golden_rows(rows);

	row_set(&rows[13], ASSOC, is_default, 1); /* dave in tiny */
	row_set(&rows[11], ASSOC, is_default, 1); /* bob, removed */
	row_set(&rows[11], ASSOC, deleted, 1);
	struct tree *t = build(rows, n);
	const struct tree_cluster *c = tree_cluster(t, "c1");

	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int32_t at = tree_place(c, &cases[i].who);
		assert_int_equal(at >= 0 ? c->nodes[at].own->id : 0, cases[i].want);
		if (at >= 0)
			assert_int_equal(tree_charge(c, &cases[i].who), at);
	}
	assert_int_equal(tree_charge(c, &(struct tree_who){ 0, "tiny", "erin", NULL }),
			 tree_find(c, "tiny", "", ""));
	assert_int_equal(tree_charge(c, &(struct tree_who){ 0, "none", "erin", NULL }), 0);
	assert_int_equal(tree_charge(c, &(struct tree_who){ 0, NULL, "mallory", NULL }), 0);
	tree_unref(t);
}

/* A living association is preferred to a removed one that fits better. */
static void the_living_before_the_removed(void **state UNUSED)
{
	struct assoc rows[ARRAY_LEN(golden)];
	size_t n = golden_rows(rows);
	const struct tree_who who = { 0, "genomics", "erin", "gpu" };

	row_set(&rows[16], ASSOC, deleted, 1);
	struct tree *t = build(rows, n);
	const struct tree_cluster *c = tree_cluster(t, "c1");
	assert_int_equal(c->nodes[tree_place(c, &who)].own->id, 16);
	assert_false(row_has(c->nodes[tree_by_id(c, 17)].own, ASSOC, lft));
	assert_int_equal(c->nodes[0].own->rgt, 32); /* it has no edges any more */
	tree_unref(t);
}

static void a_moved_account_stood_elsewhere(void **state UNUSED)
{
	struct assoc rows[ARRAY_LEN(golden)];
	const struct tree_period periods[] = {
		{ "c1", 5, 1000, 2000, 6, 30, false }, /* hep was below bio */
		{ "c1", 5, 2000, INT64_MAX, 3, 70, false },
	};
	struct cluster c1 = a_cluster("c1");
	const struct tree_rows all = { .clusters = &c1, .n_clusters = 1, .assocs = rows,
				       .n_assocs = golden_rows(rows), .periods = periods,
				       .n_periods = 2 };
	struct tree *t = tree_build(&all, arena_new());
	const struct tree_cluster *c = tree_cluster(t, "c1");
	int32_t hep = tree_by_id(c, 5), bio = tree_by_id(c, 6), physics = tree_by_id(c, 3);

	assert_int_equal(tree_parent_at(c, hep, 0), bio); /* not told: as it began */
	assert_int_equal(tree_parent_at(c, hep, 1999), bio);
	assert_int_equal(tree_parent_at(c, hep, 2000), physics);
	assert_int_equal(tree_at(c, hep, 1999).shares, 30);
	assert_int_equal(tree_at(c, hep, 2001).shares, 70);
	assert_int_equal(tree_parent_at(c, bio, 5), 0);
	assert_int_equal(tree_parent_at(c, 0, 5), -1);
	assert_int_equal(tree_at(c, bio, 5).shares, 1);
	tree_unref(t);
}

static void what_has_no_place_is_put_below_the_root(void **state UNUSED)
{
	struct assoc rows[] = {
		an_assoc(1, 0, "root", ""),  an_assoc(2, 99, "lost", ""),
		an_assoc(3, 4, "ring", ""),  an_assoc(4, 3, "ring2", ""),
		an_assoc(5, 4, "ring2", "u"), an_assoc(6, 6, "self", ""),
	};
	struct tree *t = build(rows, ARRAY_LEN(rows));
	const struct tree_cluster *c = tree_cluster(t, "c1");

	assert_int_equal(c->n, ARRAY_LEN(rows));
	assert_true(c->flaws >= 4);
	for (size_t i = 0; i < c->n; i++)
		assert_true(tree_is_within(c, (int32_t)i, 0));
	assert_int_equal(c->nodes[0].after, c->n);
	tree_unref(t);
}

static void coordinators_of_a_subtree(void **state UNUSED)
{
	struct assoc rows[ARRAY_LEN(golden)];
	struct coord coords[1] = { 0 };
	struct account accounts[1] = { 0 };
	struct cluster c1 = a_cluster("c1");

	row_set(&coords[0], COORD, account, "bio");
	row_set(&coords[0], COORD, user_name, "carol");
	row_set(&accounts[0], ACCOUNT, name, "hep");
	row_set(&accounts[0], ACCOUNT, user_coord, 1);
	const struct tree_rows all = { .clusters = &c1, .n_clusters = 1, .assocs = rows,
				       .n_assocs = golden_rows(rows), .coords = coords,
				       .n_coords = 1, .accounts = accounts, .n_accounts = 1 };
	struct tree *t = tree_build(&all, arena_new());
	const struct tree_cluster *c = tree_cluster(t, "c1");

	assert_true(tree_coordinates(t, c, "carol", "bio"));
	assert_true(tree_coordinates(t, c, "carol", "tiny"));
	assert_false(tree_coordinates(t, c, "carol", "root"));
	assert_false(tree_coordinates(t, c, "carol", "hep"));
	assert_true(tree_coordinates(t, c, "bob", "hep"));
	assert_false(tree_coordinates(t, c, "carol", "hep"));
	assert_false(tree_coordinates(t, c, "dave", "bio"));
	assert_false(tree_coordinates(t, c, "carol", "none"));
	tree_unref(t);
}

/* ---- random trees */

#define MOST 60

static const char *const names[] = { "high", "low", "normal", "short" };

static const char *random_list(uint64_t *rnd, struct arena *a)
{
	const char *list = "";
	const char *sign[] = { "", "+", "-" };
	bool change = test_below(rnd, 2) != 0;

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (test_below(rnd, 3) == 0)
			list = arena_printf(a, "%s%s%s%s", list, *list != '\0' ? "," : "",
					    sign[change ? 1 + test_below(rnd, 2) : 0], names[i]);
	assert_int_equal(list_parse(list, a, &list, NULL), 0);
	return list;
}

static size_t random_tree(uint64_t *rnd, struct assoc *rows, struct arena *a)
{
	size_t n = 2 + (size_t)test_below(rnd, MOST - 2);

	rows[0] = an_assoc(1, 0, "root", "");
	for (size_t i = 1; i < n; i++) {
		int64_t p = test_below(rnd, (int64_t)i);
		while (rows[p].user_name[0] != '\0')
			p--;
		bool user = test_below(rnd, 2) != 0;
		rows[i] = an_assoc((int64_t)i + 1, rows[p].id,
				   user ? rows[p].account : arena_printf(a, "a%zu", i),
				   user ? arena_printf(a, "u%zu", i) : "");
		row_set(&rows[i], ASSOC, deleted, rows[p].deleted != 0 || test_below(rnd, 8) == 0);
		if (test_below(rnd, 3) == 0)
			row_set(&rows[i], ASSOC, max_jobs, test_below(rnd, 100));
		if (test_below(rnd, 3) == 0)
			row_set(&rows[i], ASSOC, max_tres_pj,
				arena_printf(a, test_below(rnd, 2) ? "cpu=%d" : "gres/gpu=%d",
					     (int)test_below(rnd, 9)));
		if (test_below(rnd, 3) == 0)
			row_set(&rows[i], ASSOC, qos, random_list(rnd, a));
	}
	for (size_t i = n; i-- > 1;) { /* the order of rows means nothing */
		size_t k = (size_t)test_below(rnd, (int64_t)i + 1);
		struct assoc swap = rows[i];
		rows[i] = rows[k];
		rows[k] = swap;
	}
	return n;
}

static const struct assoc *plain_find(const struct assoc *rows, size_t n, int64_t id)
{
	for (size_t i = 0; i < n; i++)
		if (rows[i].id == id)
			return &rows[i];
	return NULL;
}

static const struct assoc *plain_above(const struct assoc *rows, size_t n, const struct assoc *a)
{
	return row_has(a, ASSOC, parent_id) ? plain_find(rows, n, a->parent_id) : NULL;
}

static int64_t plain_max_jobs(const struct assoc *rows, size_t n, const struct assoc *a)
{
	for (; a != NULL; a = plain_above(rows, n, a))
		if (row_has(a, ASSOC, max_jobs))
			return a->max_jobs;
	return -1;
}

static int64_t plain_tres(const struct assoc *rows, size_t n, const struct assoc *a,
			  const char *name)
{
	int64_t count;

	for (; a != NULL; a = plain_above(rows, n, a))
		if (row_has(a, ASSOC, max_tres_pj) && tres_get(a->max_tres_pj, name, &count))
			return count;
	return -1;
}

/* Upwards: the first that says yes or no. */
static bool plain_may(const struct assoc *rows, size_t n, const struct assoc *a, const char *qos)
{
	char more[16], less[16];

	snprintf(more, sizeof(more), "+%s", qos);
	snprintf(less, sizeof(less), "-%s", qos);
	for (; a != NULL; a = plain_above(rows, n, a)) {
		if (!row_has(a, ASSOC, qos))
			continue;
		if (list_has(a->qos, less, strlen(less)))
			return false;
		if (list_has(a->qos, more, strlen(more)) || list_has(a->qos, qos, strlen(qos)))
			return true;
		if (!list_is_change(a->qos))
			return false;
	}
	return strcmp(qos, "normal") == 0;
}

static bool plain_within(const struct assoc *rows, size_t n, const struct assoc *a, int64_t above)
{
	for (; a != NULL; a = plain_above(rows, n, a))
		if (a->id == above)
			return true;
	return false;
}

static void compare_one(const struct tree_cluster *c, const struct assoc *rows, size_t n,
			const struct assoc *want)
{
	int32_t at = tree_by_id(c, want->id);
	const struct assoc *got = c->nodes[at].whole;
	int64_t count;

	assert_int_equal(tree_find(c, want->account, want->user_name, ""), at);
	assert_int_equal(row_get(got, ASSOC, max_jobs, -1), plain_max_jobs(rows, n, want));
	for (int g = 0; g < 2; g++) {
		const char *name = g ? "gres/gpu" : "cpu";
		bool any = row_has(got, ASSOC, max_tres_pj) &&
			   tres_get(got->max_tres_pj, name, &count);
		assert_int_equal(any ? count : -1, plain_tres(rows, n, want, name));
	}
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		assert_int_equal(list_has(got->qos, names[i], strlen(names[i])),
				 plain_may(rows, n, want, names[i]));
	for (size_t i = 0; i < n; i++) {
		int32_t other = tree_by_id(c, rows[i].id);
		bool within = plain_within(rows, n, &rows[i], want->id);
		assert_int_equal(tree_is_within(c, other, at), within);
		const struct assoc *o = c->nodes[other].own, *me = c->nodes[at].own;
		if (o->deleted == 0 && me->deleted == 0)
			assert_int_equal(me->lft <= o->lft && o->rgt <= me->rgt, within);
	}
}

static void random_trees_agree_with_a_plain_walk(void **state UNUSED)
{
	uint64_t rnd = test_seed("tree");

	for (int round = 0; round < 300; round++) {
		struct arena *a = arena_new();
		struct assoc rows[MOST];
		size_t n = random_tree(&rnd, rows, a);
		struct tree *t = build(rows, n);
		const struct tree_cluster *c = tree_cluster(t, "c1");

		assert_int_equal(c->n, n);
		assert_int_equal(c->flaws, 0);
		for (size_t i = 0; i < n; i++)
			compare_one(c, rows, n, &rows[i]);
		tree_unref(t);
		arena_free(a);
	}
}

#define LARGE 20000

static void a_large_tree_is_built_and_searched_quickly(void **state UNUSED)
{
	struct arena *a = arena_new();
	struct assoc *rows = ARENA_ARRAY(a, struct assoc, LARGE);
	int64_t sum = 0;

	rows[0] = an_assoc(1, 0, "root", "");
	for (int i = 1; i < LARGE; i++) {
		bool user = i % 20 != 1;
		int64_t account = i - (i - 1) % 20; /* index of the account of a user */
		rows[i] = an_assoc(i + 1, user ? account + 1 : i < 200 ? 1 : (i / 200) * 20 + 2,
				   arena_printf(a, "a%" PRId64, account),
				   user ? arena_printf(a, "u%d", i) : "");
	}
	int64_t begun = monotonic_us();
	struct tree *t = build(rows, LARGE);
	int64_t built = monotonic_us();
	const struct tree_cluster *c = tree_cluster(t, "c1");
	assert_int_equal(c->flaws, 0);
	for (int i = 0; i < LARGE; i++) {
		struct tree_who who = { 0, rows[i].account, rows[i].user_name, "p" };
		int32_t at = tree_place(c, &who);
		assert_true(at >= 0);
		sum += c->nodes[at].own->id;
	}
	int64_t searched = monotonic_us();
	assert_int_equal(sum, (int64_t)LARGE * (LARGE + 1) / 2);
	fprintf(stderr, "tree: %d associations built in %" PRId64 " us, found in %" PRId64
		" ns each\n", LARGE, built - begun, (searched - built) * 1000 / LARGE);
	assert_true(built - begun <
		    2000000); /* some 10 ms; far above it only where sums are squared */
	tree_unref(t);
	arena_free(a);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(edges_and_paths_as_slurmdbd_has_them),
		cmocka_unit_test(what_is_not_set_comes_from_above),
		cmocka_unit_test(a_job_is_charged_to_its_place),
		cmocka_unit_test(the_living_before_the_removed),
		cmocka_unit_test(a_moved_account_stood_elsewhere),
		cmocka_unit_test(what_has_no_place_is_put_below_the_root),
		cmocka_unit_test(coordinators_of_a_subtree),
		cmocka_unit_test(random_trees_agree_with_a_plain_walk),
		cmocka_unit_test(a_large_tree_is_built_and_searched_quickly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

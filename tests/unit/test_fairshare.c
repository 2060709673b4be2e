/* Fair-share factors against published trees (tests/data/fairshare), the worked examples of ties
 * in both readings, and a plain second statement of Fair Tree on random trees. */
#include "base/base.h"

#include <math.h>
#include <setjmp.h>
#include <cmocka.h>

#include "core/fairshare.h"

#define MOST 64

struct named {
	char account[32], user[32], parent[32];
	double want[5]; /* norm_shares norm_usage effective factor level; NAN = not published */
};

struct tree {
	struct fairshare_node nodes[MOST];
	struct named names[MOST];
	size_t n;
};

static char *cell(char **rest, char sep)
{
	char *at = *rest;
	char *end = at + strcspn(at, (char[]){ sep, '\n', '\0' });

	*rest = *end != '\0' ? end + 1 : end;
	*end = '\0';
	return at;
}

static double number(const char *text)
{
	if (*text == '\0')
		return NAN;
	return strcmp(text, "inf") == 0 ? INFINITY : strtod(text, NULL);
}

static int32_t find_account(const struct tree *t, const char *account)
{
	for (size_t i = 0; i < t->n; i++)
		if (!t->nodes[i].is_user && strcmp(t->names[i].account, account) == 0)
			return (int32_t)i;
	return -1;
}

static int64_t shares_of(const char *text)
{
	if (strcmp(text, "parent") == 0)
		return SHARES_PARENT;
	return *text != '\0' ? strtoll(text, NULL, 10) : 1;
}

/* account user parent shares norm_shares raw_usage norm_usage effective_usage factor [level] */
static void load_tsv(struct tree *t, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];

	assert_non_null(f);
	memset(t, 0, sizeof(*t));
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) != NULL) {
		struct fairshare_node *node = &t->nodes[t->n];
		struct named *name = &t->names[t->n];
		char *rest = line;
		assert_true(t->n < MOST);
		snprintf(name->account, sizeof(name->account), "%.31s", cell(&rest, '\t'));
		snprintf(name->user, sizeof(name->user), "%.31s", cell(&rest, '\t'));
		snprintf(name->parent, sizeof(name->parent), "%.31s", cell(&rest, '\t'));
		node->is_user = name->user[0] != '\0';
		node->shares = shares_of(cell(&rest, '\t'));
		name->want[0] = number(cell(&rest, '\t'));
		node->usage = strtoll(cell(&rest, '\t'), NULL, 10);
		for (int i = 1; i < 5; i++)
			name->want[i] = number(cell(&rest, '\t'));
		t->n++;
	}
	fclose(f);
	/* A user's row names its own account twice; parents may come later in the file only for
	 * users of root, which is first. */
	for (size_t i = 0; i < t->n; i++)
		t->nodes[i].parent = i == 0 ? -1 : find_account(t, t->names[i].parent);
	if (t->nodes[0].usage == 0)
		for (size_t i = 1; i < t->n; i++)
			t->nodes[0].usage += t->nodes[i].parent == 0 ? t->nodes[i].usage : 0;
}

/* level,account,user,shares,usage; the parent is the last row one level up */
static void load_flux(struct tree *t, const char *path)
{
	FILE *f = fopen(path, "re");
	char line[512];
	int32_t last[8] = { 0 };

	assert_non_null(f);
	memset(t, 0, sizeof(*t));
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) != NULL) {
		struct fairshare_node *node = &t->nodes[t->n];
		struct named *name = &t->names[t->n];
		char *rest = line;
		long level = strtol(cell(&rest, ','), NULL, 10);
		assert_in_range(level, 0, 7);
		snprintf(name->account, sizeof(name->account), "%.31s", cell(&rest, ','));
		snprintf(name->user, sizeof(name->user), "%.31s", cell(&rest, ','));
		node->is_user = name->user[0] != '\0';
		node->shares = strtoll(cell(&rest, ','), NULL, 10);
		node->usage = strtoll(cell(&rest, ','), NULL, 10);
		node->parent = level == 0 ? -1 : last[level - 1];
		if (!node->is_user)
			last[level] = (int32_t)t->n;
		t->n++;
	}
	fclose(f);
}

static void compute(struct tree *t, enum fairshare_rule rule)
{
	struct arena *a = arena_new();

	fairshare_compute(t->nodes, t->n, rule, 1, a);
	arena_free(a);
}

static void near(const char *what, const struct named *name, double got, double want)
{
	if (isnan(want) || got == want || fabs(got - want) < 1e-6)
		return;
	fail_msg("%s of %s/%s: %f, published %f", what, name->account, name->user, got, want);
}

static void compare(const struct tree *t, bool accounts_have_factors)
{
	for (size_t i = 0; i < t->n; i++) {
		const struct fairshare_node *node = &t->nodes[i];
		const struct named *name = &t->names[i];
		near("norm_usage", name, node->norm_usage, name->want[1]);
		near("effective_usage", name, node->effective_usage, name->want[2]);
		if (i == 0)
			continue; /* the published root rows are of another kind */
		near("norm_shares", name, node->norm_shares, name->want[0]);
		near("level_fs", name, node->level_fs, name->want[4]);
		if (node->is_user || accounts_have_factors)
			near("factor", name, node->factor, name->want[3]);
	}
}

static void published_fair_tree_as_coded(void **state UNUSED)
{
	struct tree t;

	load_tsv(&t, "tests/data/fairshare/fair-tree.tsv");
	assert_int_equal(t.n, 35);
	compute(&t, FAIR_TREE_AS_CODED);
	compare(&t, false);
}

/* uD2 = uD3 = uDA3 exactly (40/170 : 20/110 = 50/170 : 25/110); doubles part them. */
static void exact_ties_where_doubles_differ(void **state UNUSED)
{
	struct tree t;

	load_tsv(&t, "tests/data/fairshare/fair-tree.tsv");
	for (size_t i = 0; i < t.n; i++)
		if (strcmp(t.names[i].user, "uD2") == 0)
			t.names[i].want[3] = 7.0 / 21.0;
	compute(&t, FAIR_TREE);
	compare(&t, false);
}

static void published_classic(void **state UNUSED)
{
	struct tree t;

	load_tsv(&t, "tests/data/fairshare/classic.tsv");
	assert_int_equal(t.n, 14);
	compute(&t, FAIR_CLASSIC);
	compare(&t, true);
	load_tsv(&t, "tests/data/fairshare/classic-parent.tsv");
	assert_int_equal(t.n, 22);
	compute(&t, FAIR_CLASSIC);
	compare(&t, true);
}

static double factor_of(const struct tree *t, const char *user)
{
	for (size_t i = 0; i < t->n; i++)
		if (strcmp(t->names[i].user, user) == 0)
			return t->nodes[i].factor;
	fail_msg("no user %s", user);
	return NAN;
}

static void published_flux(void **state UNUSED)
{
	FILE *f = fopen("tests/data/fairshare/flux-expected.tsv", "re");
	char line[128], path[256];
	size_t seen = 0;
	struct tree t;

	assert_non_null(f);
	assert_non_null(fgets(line, sizeof(line), f));
	while (fgets(line, sizeof(line), f) != NULL) {
		char *rest = line;
		const char *tree = cell(&rest, '\t');
		const char *user = cell(&rest, '\t');
		double want = number(cell(&rest, '\t'));
		snprintf(path, sizeof(path), "tests/data/fairshare/flux-%s.csv", tree);
		load_flux(&t, path);
		compute(&t, FAIR_TREE);
		if (fabs(factor_of(&t, user) - want) > 1e-6)
			fail_msg("%s %s: %f, published %f", tree, user, factor_of(&t, user), want);
		seen++;
	}
	fclose(f);
	assert_int_equal(seen, 24);
}

/* Examples B to E: the documented rule, and the rule as coded.  The latter's values are those of
 * levels compared as doubles: where two equal levels round apart (account2 of small_tie: 0.100 and
 * 0.0999...), the tie is lost, as it is in Slurm. */
static const struct {
	const char *tree, *user;
	double documented, as_coded;
} ties[] = {
	{ "small_tie", "leaf.1.1", 4 / 8.0, 4 / 8.0 },
	{ "small_tie", "leaf.1.2", 4 / 8.0, 5 / 8.0 },
	{ "small_tie", "leaf.1.3", 6 / 8.0, 6 / 8.0 },
	{ "small_tie", "leaf.2.1", 4 / 8.0, 1 / 8.0 },
	{ "small_tie", "leaf.2.2", 4 / 8.0, 2 / 8.0 },
	{ "small_tie", "leaf.2.3", 6 / 8.0, 3 / 8.0 },
	{ "small_tie", "leaf.3.1", 8 / 8.0, 8 / 8.0 },
	{ "small_tie", "leaf.3.2", 7 / 8.0, 7 / 8.0 },
	{ "small_tie_all", "leaf.1.1", 6 / 9.0, 7 / 9.0 },
	{ "small_tie_all", "leaf.2.1", 6 / 9.0, 4 / 9.0 },
	{ "small_tie_all", "leaf.2.3", 9 / 9.0, 7 / 9.0 },
	{ "small_tie_all", "leaf.3.1", 6 / 9.0, 1 / 9.0 },
	{ "small_tie_all", "leaf.3.3", 9 / 9.0, 4 / 9.0 },
	{ "small_tie_diff_type", "leaf.0.1", 4 / 6.0, 1 / 6.0 },
	{ "small_tie_diff_type", "leaf.1.3", 4 / 6.0, 4 / 6.0 },
	{ "small_tie_diff_type", "leaf.1.1", 2 / 6.0, 2 / 6.0 },
	{ "small_tie_diff_type", "leaf.1.2", 2 / 6.0, 3 / 6.0 },
	{ "small_tie_diff_type", "leaf.3.1", 6 / 6.0, 6 / 6.0 },
	{ "small_tie_diff_type", "leaf.3.2", 5 / 6.0, 5 / 6.0 },
	{ "small_zero_shares", "leaf.2.3", 6 / 8.0, 3 / 8.0 },
	{ "small_zero_shares", "leaf.1.3", 5 / 8.0, 6 / 8.0 },
	{ "small_zero_shares", "leaf.1.1", 4 / 8.0, 4 / 8.0 },
	{ "small_zero_shares", "leaf.1.2", 4 / 8.0, 5 / 8.0 },
	{ "small_zero_shares", "leaf.2.1", 2 / 8.0, 2 / 8.0 },
	{ "small_zero_shares", "leaf.2.2", 2 / 8.0, 2 / 8.0 },
};

static void worked_ties(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(ties); i++) {
		char path[256];
		struct tree t;
		snprintf(path, sizeof(path), "tests/data/fairshare/flux-%s.csv", ties[i].tree);
		load_flux(&t, path);
		compute(&t, FAIR_TREE);
		double documented = factor_of(&t, ties[i].user);
		compute(&t, FAIR_TREE_AS_CODED);
		double as_coded = factor_of(&t, ties[i].user);
		if (fabs(documented - ties[i].documented) > 1e-9)
			fail_msg("%s %s documented: %f not %f", ties[i].tree, ties[i].user,
				 documented, ties[i].documented);
		if (fabs(as_coded - ties[i].as_coded) > 1e-9)
			fail_msg("%s %s as coded: %f not %f", ties[i].tree, ties[i].user, as_coded,
				 ties[i].as_coded);
	}
}

/* FC-113, FC-118: below 1 is over-served; 0/0 is 0; no NaN among the users. */
static void levels(void **state UNUSED)
{
	struct arena *a = arena_new();
	struct fairshare_node two[] = { { .parent = -1, .usage = 100 },
					{ .parent = 0, .is_user = true, .shares = 50, .usage = 80 },
					{ .parent = 0, .is_user = true, .shares = 50, .usage = 20 } };
	struct fairshare_node idle[] = { { .parent = -1 },
					 { .parent = 0, .is_user = true, .shares = 0 },
					 { .parent = 0, .is_user = true, .shares = 100 } };

	fairshare_compute(two, ARRAY_LEN(two), FAIR_TREE, 1, a);
	assert_true(two[1].level_fs == 0.625 && two[2].level_fs == 2.5);
	assert_true(two[1].factor == 0.5 && two[2].factor == 1.0);
	fairshare_compute(idle, ARRAY_LEN(idle), FAIR_TREE, 1, a);
	assert_true(idle[1].level_fs == 0.0 && isinf(idle[2].level_fs));
	assert_true(idle[1].factor == 0.5 && idle[2].factor == 1.0);
	fairshare_compute(idle, ARRAY_LEN(idle), FAIR_CLASSIC, 1, a);
	assert_true(idle[1].factor == 0.0 && idle[2].factor == 1.0);
	arena_free(a);
}

/* The rule said again, plainly: repeatedly take the best class of what stands in the row. */
static double plain_level(const struct tree *t, size_t i, int64_t sum)
{
	const struct fairshare_node *node = &t->nodes[i];
	int64_t whole = t->nodes[node->parent].usage;

	if (node->shares == 0)
		return 0;
	if (node->usage == 0)
		return INFINITY;
	return ((double)node->shares / (double)sum) / ((double)node->usage / (double)whole);
}

static uint32_t plain_rank(const struct tree *t, const size_t *row, size_t n, uint32_t counter,
			   uint32_t tie, uint32_t *ranks)
{
	bool done[MOST] = { false };

	for (bool first = true;; first = false) {
		double best = -1;
		size_t below[MOST], n_below = 0, same = 0;
		double level[MOST];
		for (size_t i = 0; i < n; i++) {
			int64_t sum = 0;
			for (size_t k = 1; k < t->n; k++)
				if (t->nodes[k].parent == t->nodes[row[i]].parent)
					sum += t->nodes[k].shares;
			level[i] = plain_level(t, row[i], sum);
			if (!done[i] && level[i] > best)
				best = level[i];
		}
		if (best < 0)
			return counter;
		uint32_t rank = first && tie != 0 ? tie : counter;
		bool users = false;
		for (size_t i = 0; i < n; i++) {
			/* Powers of two as shares and usage: doubles are exact here. */
			if (done[i] || level[i] != best)
				continue;
			done[i] = true;
			if (t->nodes[row[i]].is_user) {
				ranks[row[i]] = rank;
				users = true;
				same++;
			} else {
				for (size_t k = 1; k < t->n; k++)
					if (t->nodes[k].parent == (int32_t)row[i])
						below[n_below++] = k;
			}
		}
		counter -= (uint32_t)same;
		counter = plain_rank(t, below, n_below, counter,
				     users || (first && tie != 0) ? rank : 0, ranks);
	}
}

static void random_trees(void **state UNUSED)
{
	unsigned seed = 20261201;
	struct arena *a = arena_new();

	for (int round = 0; round < 3000; round++) {
		struct tree t = { .n = 2 + (size_t)rand_r(&seed) % 30 };
		uint32_t ranks[MOST] = { 0 };
		size_t top[MOST], n_top = 0;
		t.nodes[0].parent = -1;
		for (size_t i = 1; i < t.n; i++) {
			int32_t parent;
			do {
				parent = (int32_t)((size_t)rand_r(&seed) % i);
			} while (t.nodes[parent].is_user);
			t.nodes[i].parent = parent;
			t.nodes[i].is_user = rand_r(&seed) % 3 != 0;
			t.nodes[i].shares = rand_r(&seed) % 8 == 0 ? 0 : 1 << rand_r(&seed) % 4;
			t.nodes[i].usage = rand_r(&seed) % 4 == 0 ? 0 : 1 << rand_r(&seed) % 4;
			if (parent == 0)
				top[n_top++] = i;
		}
		/* An account's usage need not be the sum here: any numbers will do, but a level's
		 * whole must be a power of two for the plain statement to be exact. */
		t.nodes[0].usage = 16;
		for (size_t i = 0; i < t.n; i++)
			if (!t.nodes[i].is_user && t.nodes[i].usage == 0)
				t.nodes[i].usage = 1;
		uint32_t users = 0;
		for (size_t i = 0; i < t.n; i++)
			users += t.nodes[i].is_user;
		fairshare_compute(t.nodes, t.n, FAIR_TREE, 1, a);
		/* Sums that are no powers of two make doubles unequal where rationals are equal:
		 * such trees are left to the exact published ones. */
		bool exact = true;
		for (size_t i = 0; i < t.n; i++) {
			int64_t sum = 0;
			for (size_t k = 1; k < t.n; k++)
				sum += t.nodes[k].parent == (int32_t)i ? t.nodes[k].shares : 0;
			exact = exact && (sum & (sum - 1)) == 0;
		}
		if (exact) {
			plain_rank(&t, top, n_top, users, 0, ranks);
			for (size_t i = 1; i < t.n; i++)
				if (t.nodes[i].rank != ranks[i])
					fail_msg("round %d node %zu: rank %u, plainly %u", round, i,
						 t.nodes[i].rank, ranks[i]);
		}
		arena_reset(a);
	}
	arena_free(a);
}

static void ratios(void **state UNUSED)
{
	static const struct {
		uint64_t a, b, c, d;
		int want;
	} rows[] = {
		{ 1, 2, 2, 4, 0 },  { 1, 3, 1, 2, -1 }, { 2, 3, 1, 2, 1 }, { 0, 5, 0, 7, 0 },
		{ 5, 0, 7, 0, 0 },  { 5, 0, 7, 1, 1 },  { 7, 1, 5, 0, -1 },
		{ UINT64_MAX, UINT64_MAX - 1, UINT64_MAX - 1, UINT64_MAX - 2, -1 },
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_int_equal(fairshare_ratio_cmp(rows[i].a, rows[i].b, rows[i].c, rows[i].d),
				 rows[i].want);
	unsigned seed = 7;
	for (int i = 0; i < 200000; i++) {
		uint64_t v[4];
		for (int k = 0; k < 4; k++)
			v[k] = (uint64_t)rand_r(&seed) % (i % 2 ? 30 : 1u << 30) + 1;
		unsigned __int128 left = (unsigned __int128)v[0] * v[3];
		unsigned __int128 right = (unsigned __int128)v[2] * v[1];
		int want = (left > right) - (left < right);
		int got = fairshare_ratio_cmp(v[0], v[1], v[2], v[3]);
		assert_int_equal(got, want);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(published_fair_tree_as_coded),
		cmocka_unit_test(exact_ties_where_doubles_differ),
		cmocka_unit_test(published_classic),
		cmocka_unit_test(published_flux),
		cmocka_unit_test(worked_ties),
		cmocka_unit_test(levels),
		cmocka_unit_test(ratios),
		cmocka_unit_test(random_trees),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

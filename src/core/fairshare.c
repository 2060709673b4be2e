#include "core/fairshare.h"

#include <math.h>

typedef unsigned __int128 u128;

/* A tree laid out by level: for each node its level's parent (accounts whose shares are `parent`
 * stand aside, their children take part one level up) and the sums of that level. */
struct level {
	int32_t top;         /* the account whose level this node takes part in; -1 for the root */
	int64_t level_sum;   /* shares of self and siblings at that level */
	u128 num, den;       /* LevelFS = num/den, exact; den = 0: infinite */
};

struct tree {
	struct fairshare_node *nodes;
	struct level *levels;
	int32_t *first_child; /* children of a top, through next_sibling, in input order */
	int32_t *next_sibling;
	size_t n;
	bool as_coded;
	uint32_t counter;   /* next rank to give */
	uint32_t last_rank; /* the one given last */
	struct arena *scratch;
};

int fairshare_ratio_cmp(u128 a, u128 b, u128 c, u128 d)
{
	/* Continued fractions: compare whole parts, then the reciprocals of what is left. */
	for (int sign = 1;; sign = -sign) {
		if (b == 0 || d == 0)
			return b == 0 && d == 0 ? 0 : sign * (b == 0 ? 1 : -1);
		u128 qa = a / b, qc = c / d;
		if (qa != qc)
			return sign * (qa > qc ? 1 : -1);
		u128 ra = a % b, rc = c % d;
		if (ra == 0 || rc == 0)
			return ra == rc ? 0 : sign * (ra != 0 ? 1 : -1);
		/* ra/b against rc/d is d/rc against b/ra the other way round. */
		a = b;
		b = ra;
		c = d;
		d = rc;
	}
}

static bool stands_aside(const struct fairshare_node *node)
{
	return !node->is_user && node->shares == SHARES_PARENT;
}

/* The account at whose level a node takes part. */
static int32_t find_top(const struct fairshare_node *nodes, int32_t node)
{
	int32_t at = nodes[node].parent;

	while (at > 0 && stands_aside(&nodes[at]))
		at = nodes[at].parent;
	return at;
}

static void lay_out(struct tree *t)
{
	int64_t *sums = ARENA_ARRAY(t->scratch, int64_t, t->n);

	for (size_t i = 0; i < t->n; i++) {
		const struct fairshare_node *node = &t->nodes[i];
		struct level *level = &t->levels[i];
		level->top = i == 0 ? -1 : find_top(t->nodes, (int32_t)i);
		if (i != 0 && node->shares != SHARES_PARENT &&
		    __builtin_add_overflow(sums[level->top], node->shares, &sums[level->top]))
			sums[level->top] = INT64_MAX;
	}
	for (size_t i = 1; i < t->n; i++)
		t->levels[i].level_sum = sums[t->levels[i].top];
	/* Backwards, so that each list comes out in input order. */
	for (size_t i = 0; i < t->n; i++)
		t->first_child[i] = -1;
	for (size_t i = t->n; i-- > 1;) {
		int32_t top = t->levels[i].top;
		if (stands_aside(&t->nodes[i]))
			continue;
		t->next_sibling[i] = t->first_child[top];
		t->first_child[top] = (int32_t)i;
	}
}

static double part(int64_t of, int64_t whole)
{
	return whole > 0 ? (double)of / (double)whole : 0.0;
}

static void fair_tree_levels(struct tree *t)
{
	for (size_t i = 0; i < t->n; i++) {
		struct fairshare_node *node = &t->nodes[i];
		struct level *level = &t->levels[i];
		node->norm_usage = part(node->usage, t->nodes[0].usage);
		node->factor = NAN;
		node->level_fs = NAN;
		if (i == 0) {
			node->norm_shares = 0.0;
			node->effective_usage = 1.0;
			continue;
		}
		int64_t parent_usage = t->nodes[level->top].usage;
		node->effective_usage = part(node->usage, parent_usage);
		if (node->shares == SHARES_PARENT) {
			/* It has its parent's place: no part of its own, and first in line. */
			node->norm_shares = t->nodes[node->parent].norm_shares;
			level->num = 1;
			continue;
		}
		node->norm_shares = part(node->shares, level->level_sum);
		level->num = (u128)(uint64_t)node->shares * (uint64_t)parent_usage;
		level->den = (u128)(uint64_t)level->level_sum * (uint64_t)node->usage;
		if (node->shares == 0)
			level->num = 0, level->den = 1;
		else if (node->usage == 0)
			level->num = 1;
		node->level_fs = node->shares == 0 ? 0.0
				 : node->effective_usage > 0
					 ? node->norm_shares / node->effective_usage
					 : INFINITY;
	}
}

static double coded_level(const struct fairshare_node *node)
{
	return node->shares == SHARES_PARENT ? INFINITY : node->level_fs;
}

static int level_cmp(const struct tree *t, int32_t a, int32_t b)
{
	if (t->as_coded) {
		double x = coded_level(&t->nodes[a]), y = coded_level(&t->nodes[b]);
		return (x > y) - (x < y);
	}
	return fairshare_ratio_cmp(t->levels[a].num, t->levels[a].den, t->levels[b].num,
				   t->levels[b].den);
}

/* Best first; users before accounts on equal levels; else in input order, so that the sort is
 * stable whatever qsort does. */
static int best_first(const void *pa, const void *pb, void *arg)
{
	const struct tree *t = arg;
	int32_t a = *(const int32_t *)pa, b = *(const int32_t *)pb;
	int by_level = level_cmp(t, b, a);

	if (by_level != 0)
		return by_level;
	if (t->nodes[a].is_user != t->nodes[b].is_user)
		return t->nodes[a].is_user ? -1 : 1;
	return (a > b) - (a < b);
}

static size_t append_children(const struct tree *t, int32_t top, int32_t *to)
{
	size_t n = 0;

	for (int32_t c = t->first_child[top]; c >= 0; c = t->next_sibling[c]) {
		if (to != NULL)
			to[n] = c;
		n++;
	}
	return n;
}

static void rank_siblings(struct tree *t, int32_t *siblings, size_t n, uint32_t tied_rank);

/* The children of one account, or of several that tie, as one row of siblings. */
static void rank_below(struct tree *t, const int32_t *accounts, size_t n, uint32_t tied_rank)
{
	size_t total = 0;

	for (size_t i = 0; i < n; i++)
		total += append_children(t, accounts[i], NULL);
	int32_t *children = ARENA_ARRAY(t->scratch, int32_t, total + 1);
	size_t at = 0;
	for (size_t i = 0; i < n; i++)
		at += append_children(t, accounts[i], children + at);
	rank_siblings(t, children, total, tied_rank);
}

static void rank_users(struct tree *t, const int32_t *users, size_t n, uint32_t rank)
{
	for (size_t i = 0; i < n; i++) {
		t->nodes[users[i]].rank = rank;
		t->last_rank = rank;
	}
	t->counter -= (uint32_t)n;
}

/* One group of equal siblings: users first, they share a rank; the accounts' best users share it
 * with them.  tied_rank: the rank that whoever comes first here has by an earlier tie; 0 = none. */
static void rank_group(struct tree *t, const int32_t *group, size_t n, uint32_t tied_rank)
{
	size_t users = 0;

	while (users < n && t->nodes[group[users]].is_user)
		users++;
	if (users > 0) {
		uint32_t rank = tied_rank != 0 ? tied_rank : t->counter;
		rank_users(t, group, users, rank);
		tied_rank = rank;
	}
	if (!t->as_coded) {
		rank_below(t, group + users, n - users, tied_rank);
		return;
	}
	for (size_t i = users; i < n; i++) {
		rank_below(t, group + i, 1, tied_rank);
		tied_rank = t->last_rank;
	}
}

static void rank_siblings(struct tree *t, int32_t *siblings, size_t n, uint32_t tied_rank)
{
	qsort_r(siblings, n, sizeof(*siblings), best_first, t);
	for (size_t from = 0, to; from < n; from = to) {
		to = from + 1;
		while (to < n && level_cmp(t, siblings[from], siblings[to]) == 0)
			to++;
		rank_group(t, siblings + from, to - from, from == 0 ? tied_rank : 0);
	}
}

static void fair_tree(struct tree *t)
{
	uint32_t users = 0;
	const int32_t root = 0;

	fair_tree_levels(t);
	for (size_t i = 0; i < t->n; i++) {
		t->nodes[i].rank = 0;
		users += t->nodes[i].is_user;
	}
	t->counter = users;
	rank_below(t, &root, 1, 0);
	for (size_t i = 0; i < t->n; i++)
		if (t->nodes[i].is_user)
			t->nodes[i].factor = (double)t->nodes[i].rank / (double)users;
}

static void classic(struct tree *t, unsigned damping)
{
	for (size_t i = 0; i < t->n; i++) {
		struct fairshare_node *node = &t->nodes[i];
		const struct level *level = &t->levels[i];
		node->rank = 0;
		node->level_fs = NAN;
		node->norm_usage = part(node->usage, t->nodes[0].usage);
		if (i == 0) {
			node->norm_shares = 1.0;
			node->effective_usage = 1.0;
		} else if (node->shares == SHARES_PARENT) {
			node->norm_shares = t->nodes[node->parent].norm_shares;
			node->effective_usage = t->nodes[node->parent].effective_usage;
		} else {
			const struct fairshare_node *top = &t->nodes[level->top];
			double share = part(node->shares, level->level_sum);
			node->norm_shares = top->norm_shares * share;
			/* The first level has no parent whose use could be charged to it. */
			node->effective_usage =
				level->top == 0 ? node->norm_usage
						: node->norm_usage + (top->effective_usage -
								      node->norm_usage) *
									     share;
		}
		node->factor =
			node->norm_shares > 0
				? exp2(-(node->effective_usage / node->norm_shares) / damping)
				: 0.0;
	}
}

void fairshare_compute(struct fairshare_node *nodes, size_t n, enum fairshare_rule rule,
		       unsigned damping, struct arena *scratch)
{
	struct tree t = {
		.nodes = nodes,
		.n = n,
		.as_coded = rule == FAIR_TREE_AS_CODED,
		.scratch = scratch,
	};

	if (n == 0)
		return;
	t.levels = ARENA_ARRAY(scratch, struct level, n);
	t.first_child = ARENA_ARRAY(scratch, int32_t, n);
	t.next_sibling = ARENA_ARRAY(scratch, int32_t, n);
	lay_out(&t);
	if (rule == FAIR_CLASSIC)
		classic(&t, damping > 0 ? damping : 1);
	else
		fair_tree(&t);
}

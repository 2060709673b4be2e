/* ops/tree_scope.c: accounts by their place in the tree, for questions about jobs and usage. */
#include <strings.h>

#include "ops/tree.h"

static bool has_text(const struct texts *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcasecmp(list->v[i], text) == 0)
			return true;
	return false;
}

/* The account of the node, or one above it, is one of them. */
static bool is_below(const struct tree_cluster *c, int32_t node, const struct texts *accounts)
{
	for (; node >= 0; node = c->nodes[node].parent)
		if (has_text(accounts, c->nodes[node].own->account))
			return true;
	return false;
}

static void add_below(const struct tree_cluster *c, const struct texts *accounts,
		      struct arena *arena, struct texts *ret)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct assoc *a = c->nodes[i].own;
		if (!assoc_is_user(a) && is_below(c, (int32_t)i, accounts) &&
		    !has_text(ret, a->account))
			ret->v[ret->n++] = arena_strdup(arena, a->account);
	}
}

void ops_accounts_below(const struct tree *t, const struct texts *clusters, struct arena *arena,
			struct texts *accounts)
{
	size_t n, most = accounts->n + tree_rows(t)->n_assocs + 1;
	const struct tree_cluster *c = tree_clusters(t, &n);
	struct texts all = { ARENA_ARRAY(arena, const char *, most), accounts->n };

	for (size_t i = 0; i < accounts->n; i++)
		all.v[i] = accounts->v[i];
	for (size_t i = 0; i < n; i++)
		if (clusters->n == 0 || has_text(clusters, c[i].row->name))
			add_below(&c[i], accounts, arena, &all);
	*accounts = all;
}

/* An account that another coordinates on another cluster is not wholly theirs, and jobs are asked
 * for by its name alone. */
static bool is_theirs(const struct tree *t, const char *user, const char *account)
{
	size_t n, found = 0;
	const struct tree_cluster *c = tree_clusters(t, &n);

	for (size_t i = 0; i < n; i++) {
		if (tree_find(&c[i], account, "", "") < 0)
			continue;
		if (!tree_coordinates(t, &c[i], user, account))
			return false;
		found++;
	}
	return found > 0;
}

void ops_coordinated_accounts(const struct tree *t, const char *user, struct arena *arena,
			      struct texts *ret)
{
	const struct tree_rows *rows = tree_rows(t);

	*ret = (struct texts){ ARENA_ARRAY(arena, const char *, rows->n_accounts + 1), 0 };
	for (size_t i = 0; i < rows->n_accounts; i++)
		if (is_theirs(t, user, rows->accounts[i].name))
			ret->v[ret->n++] = arena_strdup(arena, rows->accounts[i].name);
}

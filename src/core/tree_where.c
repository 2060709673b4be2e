#include "core/tree_where.h"

#include <strings.h>

#include "core/list.h"
#include "core/words.h"

bool tree_where_any(const struct tree_where *w)
{
	return w->names.n + w->clusters.n + w->accounts.n + w->users.n + w->partitions.n +
		       w->parents.n + w->qos.n + w->descriptions.n + w->organizations.n +
		       w->admin_levels.n + w->ids.n + w->uids.n > 0 ||
	       w->only_defaults;
}

static bool text_in(const struct texts *list, const char *text, bool exact)
{
	for (size_t i = 0; i < list->n; i++)
		if (exact ? strcmp(list->v[i], text) == 0 : strcasecmp(list->v[i], text) == 0)
			return true;
	return list->n == 0;
}

static bool number_in(const struct numbers *list, int64_t n)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == n)
			return true;
	return list->n == 0;
}

static bool alive(const struct tree_where *w, int64_t deleted)
{
	return w->deleted || deleted == 0;
}

static bool user_in(const struct tree_where *w, const struct texts *list, const char *user)
{
	return text_in(list, user, w->exact_users);
}

/* ---- associations */

static bool below_one(const struct tree_cluster *c, int32_t node, const struct texts *accounts)
{
	for (; node >= 0; node = c->nodes[node].parent)
		if (text_in(accounts, c->nodes[node].own->account, false))
			return true;
	return false;
}

static bool may_use(const struct assoc *whole, const struct texts *qos)
{
	for (size_t i = 0; i < qos->n; i++)
		if (row_has(whole, ASSOC, qos) &&
		    list_has(whole->qos, qos->v[i], strlen(qos->v[i])))
			return true;
	return qos->n == 0;
}

static const char *account_above(const struct tree_cluster *c, const struct assoc_node *node)
{
	return node->parent >= 0 ? c->nodes[node->parent].own->account : "";
}

static bool fits_assoc(const struct tree_where *w, const struct tree_cluster *c, int32_t node)
{
	const struct assoc_node *at = &c->nodes[node];
	const struct assoc *a = at->own;
	bool account = w->subtree ? w->accounts.n == 0 || below_one(c, node, &w->accounts) :
				    text_in(&w->accounts, a->account, false);

	return alive(w, a->deleted) && account && user_in(w, &w->users, a->user_name) &&
	       text_in(&w->partitions, a->partition, true) && number_in(&w->ids, a->id) &&
	       text_in(&w->parents, account_above(c, at), false) && may_use(at->whole, &w->qos) &&
	       !(w->only_accounts && assoc_is_user(a)) && !(w->only_users && !assoc_is_user(a)) &&
	       !(w->only_defaults && row_get(a, ASSOC, is_default, 0) == 0);
}

static size_t select_assocs(const struct tree *t, const struct tree_where *w, const void **rows)
{
	size_t n_clusters, n = 0;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);

	for (size_t k = 0; k < n_clusters; k++) {
		if (!text_in(&w->clusters, c[k].row->name, false) ||
		    !alive(w, row_get(c[k].row, CLUSTER, deleted, 0)))
			continue;
		for (size_t i = 0; i < c[k].n; i++)
			if (fits_assoc(w, &c[k], (int32_t)i))
				rows[n++] = c[k].nodes[i].own;
	}
	return n;
}

/* ---- accounts and users by their associations */

/* Has the user an association that fits?  Asked only when that is a condition. */
static bool user_has(const struct tree *t, const struct tree_where *w, const char *user)
{
	size_t n_clusters;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);

	for (size_t k = 0; k < n_clusters; k++) {
		const int32_t *places;
		size_t n = tree_of_user(&c[k], user, &places);
		if (!text_in(&w->clusters, c[k].row->name, false))
			continue;
		for (size_t i = 0; i < n; i++)
			if (fits_assoc(w, &c[k], places[i]))
				return true;
	}
	return false;
}

/* The account's own association, or one of its users'. */
static bool account_has(const struct tree *t, const struct tree_where *w, const char *account)
{
	size_t n_clusters;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);

	for (size_t k = 0; k < n_clusters; k++) {
		int32_t at = tree_find(&c[k], account, "", "");
		if (!text_in(&w->clusters, c[k].row->name, false) || at < 0)
			continue;
		for (int32_t i = at; i < c[k].nodes[at].after; i++)
			if ((i == at || c[k].nodes[i].parent == at) && fits_assoc(w, &c[k], i) &&
			    strcmp(c[k].nodes[i].own->account, account) == 0)
				return true;
	}
	return false;
}

static bool fits_account(const struct tree *t, const struct tree_where *w, const struct account *a)
{
	struct tree_where of = *w;

	of.accounts = (struct texts){ 0 };
	of.ids = (struct numbers){ 0 };
	return alive(w, row_get(a, ACCOUNT, deleted, 0)) && text_in(&w->names, a->name, false) &&
	       (w->subtree || text_in(&w->accounts, a->name, false)) &&
	       text_in(&w->descriptions, row_get(a, ACCOUNT, description, ""), false) &&
	       text_in(&w->organizations, row_get(a, ACCOUNT, organization, ""), false) &&
	       (w->clusters.n + w->users.n + w->parents.n == 0 ||
		account_has(t, &of, a->name)) &&
	       (!w->subtree || w->accounts.n == 0 || account_has(t, w, a->name));
}

static bool fits_user(const struct tree *t, const struct tree_where *w, const struct user *u)
{
	struct tree_where of = *w;
	char scratch[WORD_TEXT_SIZE];

	of.users = (struct texts){ 0 };
	of.ids = (struct numbers){ 0 };
	return alive(w, row_get(u, USER, deleted, 0)) && user_in(w, &w->names, u->name) &&
	       user_in(w, &w->users, u->name) && number_in(&w->uids, row_get(u, USER, uid, -1)) &&
	       text_in(&w->admin_levels,
		       word_name(&admin_level_words, row_get(u, USER, admin_level, ADMIN_NONE),
				 scratch), false) &&
	       (w->clusters.n + w->accounts.n + w->partitions.n == 0 ||
		user_has(t, &of, u->name));
}

/* ---- the rest */

static bool fits(const struct tree *t, enum entity_kind kind, const struct tree_where *w,
		 const void *row)
{
	const struct cluster *c = row;
	const struct qos *q = row;
	const struct wckey *k = row;
	const struct coord *o = row;

	switch ((int)kind) {
	case ENTITY_CLUSTER:
		return alive(w, row_get(c, CLUSTER, deleted, 0)) &&
		       text_in(&w->names, c->name, false) && text_in(&w->clusters, c->name, false);
	case ENTITY_ACCOUNT: return fits_account(t, w, row);
	case ENTITY_USER: return fits_user(t, w, row);
	case ENTITY_QOS:
		return alive(w, row_get(q, QOS, deleted, 0)) &&
		       text_in(&w->names, q->name, false) && text_in(&w->qos, q->name, false) &&
		       number_in(&w->ids, q->id) &&
		       text_in(&w->descriptions, row_get(q, QOS, description, ""), false);
	case ENTITY_WCKEY:
		return alive(w, row_get(k, WCKEY, deleted, 0)) &&
		       text_in(&w->names, k->name, false) &&
		       text_in(&w->clusters, k->cluster, false) &&
		       user_in(w, &w->users, k->user_name) && number_in(&w->ids, k->id) &&
		       !(w->only_defaults && row_get(k, WCKEY, is_default, 0) == 0);
	case ENTITY_COORD:
		return alive(w, row_get(o, COORD, deleted, 0)) &&
		       text_in(&w->accounts, o->account, false) &&
		       user_in(w, &w->users, o->user_name);
	default: return false;
	}
}

size_t tree_select(const struct tree *t, enum entity_kind kind, const struct tree_where *w,
		   struct arena *arena, const void ***ret)
{
	const struct tree_rows *all = tree_rows(t);
	const void *const lists[ENTITIES] = {
		[ENTITY_CLUSTER] = all->clusters, [ENTITY_ACCOUNT] = all->accounts,
		[ENTITY_USER] = all->users,	  [ENTITY_ASSOC] = all->assocs,
		[ENTITY_QOS] = all->qos,	  [ENTITY_WCKEY] = all->wckeys,
		[ENTITY_COORD] = all->coords,
	};
	const size_t counts[ENTITIES] = {
		[ENTITY_CLUSTER] = all->n_clusters, [ENTITY_ACCOUNT] = all->n_accounts,
		[ENTITY_USER] = all->n_users,	    [ENTITY_ASSOC] = all->n_assocs,
		[ENTITY_QOS] = all->n_qos,	    [ENTITY_WCKEY] = all->n_wckeys,
		[ENTITY_COORD] = all->n_coords,
	};
	const void **rows = ARENA_ARRAY(arena, const void *, counts[kind] + 1);
	size_t n = 0;

	*ret = rows;
	if (kind == ENTITY_ASSOC)
		return select_assocs(t, w, rows);
	for (size_t i = 0; i < counts[kind]; i++) {
		const void *row = (const char *)lists[kind] + i * entities[kind].size;
		if (fits(t, kind, w, row))
			rows[n++] = row;
	}
	return n;
}

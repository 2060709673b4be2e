/* core/draft_remove.c: rows that go: marked, and with them what is nothing without them. */
#include "core/draft_priv.h"

#include "core/list.h"

/* Users whose associations went, to see to their defaults at the end. */
struct leaving {
	struct draft *d;
	const struct assoc **gone;
	size_t n;
};

static void mark(struct draft *d, enum entity_kind kind, const void *row, size_t field)
{
	row_put_number(&entities[kind], draft_touch(d, kind, row), field, 1);
}

/* ---- associations */

static bool is_spared(const struct assoc *a)
{
	return a->id == ASSOC_ROOT || a->id == ASSOC_ROOT_USER;
}

/* The association and everything below it. */
static void take_subtree(const struct tree_cluster *c, int32_t from, bool *taken)
{
	for (int32_t i = from; i < c->nodes[from].after; i++)
		taken[i] = !assoc_is_deleted(c->nodes[i].own);
}

static void take_assoc(struct leaving *l, const struct assoc *row)
{
	struct assoc *a = draft_touch(l->d, ENTITY_ASSOC, row);

	row_set(a, ASSOC, deleted, 1);
	if (assoc_is_user(a))
		l->gone[l->n++] = a;
}

static bool any_left(struct draft *d, const struct assoc *a, void *arg)
{
	(void)d;
	*(bool *)arg |= !assoc_is_deleted(a);
	return !*(bool *)arg;
}

/* A default that went: slurmdbd lets none go while the user has others there. */
static int settle_defaults(struct leaving *l, bool user_goes, struct err *err)
{
	for (size_t i = 0; i < l->n; i++) {
		struct assoc *a = draft_touch(l->d, ENTITY_ASSOC, l->gone[i]);
		bool left = false;

		if (row_get(a, ASSOC, is_default, 0) == 0)
			continue;
		draft_each_of_user(l->d, a->cluster, a->user_name, any_left, &left);
		if (left && l->d->rules.strict_defaults)
			return err_set(err, ERR_DEFAULT, "account",
				       "\"%s\" is the default account of \"%s\" on cluster \"%s\"",
				       a->account, a->user_name, a->cluster);
		row_set(a, ASSOC, is_default, 0);
		if (!user_goes)
			draft_find_default(l->d, a->cluster, a->user_name);
	}
	return 0;
}

static int take_marked(struct draft *d, const struct tree *t, bool *const *taken, bool user_goes,
		       struct err *err)
{
	struct leaving l = { .d = d };
	const struct tree_cluster *c;
	size_t n_clusters, most = 1;

	c = tree_clusters(t, &n_clusters);
	for (size_t k = 0; k < n_clusters; k++)
		most += c[k].n;
	l.gone = ARENA_ARRAY(d->arena, const struct assoc *, most);
	for (size_t k = 0; k < n_clusters; k++)
		for (size_t i = 0; i < c[k].n; i++)
			if (taken[k][i] && !is_spared(c[k].nodes[i].own))
				take_assoc(&l, c[k].nodes[i].own);
	return settle_defaults(&l, user_goes, err);
}

static bool **nothing_taken(struct draft *d, const struct tree *t)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(t, &n);
	bool **taken = ARENA_ARRAY(d->arena, bool *, n + 1);

	for (size_t k = 0; k < n; k++)
		taken[k] = ARENA_ARRAY(d->arena, bool, c[k].n + 1);
	return taken;
}

static int remove_assocs(struct draft *d, const struct assoc *const *rows, size_t n,
			 struct err *err)
{
	const struct tree *t = draft_tree(d);
	size_t n_clusters;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);
	bool **taken = nothing_taken(d, t);

	for (size_t i = 0; i < n; i++) {
		const struct tree_cluster *of = tree_cluster(t, rows[i]->cluster);
		int32_t at = of != NULL ? tree_by_id(of, rows[i]->id) : -1;
		if (at < 0)
			continue;
		if (is_spared(rows[i]))
			return err_set(err, ERR_INVALID, "id", "the root of cluster \"%s\" stays",
				       rows[i]->cluster);
		take_subtree(of, at, taken[of - c]);
	}
	return take_marked(d, t, taken, false, err);
}

/* ---- accounts */

static bool is_anywhere(struct draft *d, const struct tree *t, const char *account)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(t, &n);

	for (size_t k = 0; k < n; k++)
		if (living(draft_assoc(d, c[k].row->name, account, "", ""), ASSOC))
			return true;
	return false;
}

static void drop_coords(struct draft *d, const struct tree *t, const char *account,
			const char *user)
{
	const struct tree_rows *rows = tree_rows(t);

	for (size_t i = 0; i < rows->n_coords; i++) {
		const struct coord *c = &rows->coords[i];
		if ((account != NULL && strcmp(c->account, account) == 0) ||
		    (user != NULL && strcmp(c->user_name, user) == 0))
			mark(d, ENTITY_COORD, c, COORD_deleted);
	}
}

static bool is_named(const char *name, const void *const *rows, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(((const struct account *)rows[i])->name, name) == 0)
			return true;
	return false;
}

/* Accounts that went with one above have no association left. */
static void take_orphans(struct draft *d, const struct tree *t, bool *const *taken,
			 const void *const *rows, size_t n)
{
	size_t n_clusters;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);

	for (size_t k = 0; k < n_clusters; k++)
		for (size_t i = 0; i < c[k].n; i++) {
			const struct assoc *a = c[k].nodes[i].own;
			const struct account *account = draft_account(d, a->account);
			if (!taken[k][i] || assoc_is_user(a) || !living(account, ACCOUNT) ||
			    is_anywhere(d, t, a->account))
				continue;
			mark(d, ENTITY_ACCOUNT, account, ACCOUNT_deleted);
			drop_coords(d, t, a->account, NULL);
			if (!is_named(a->account, rows, n))
				draft_note(d, "account %s went with the one above it", a->account);
		}
}

static int remove_accounts(struct draft *d, const void *const *rows, size_t n, struct err *err)
{
	const struct tree *t = draft_tree(d);
	size_t n_clusters;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);
	bool **taken = nothing_taken(d, t);

	for (size_t i = 0; i < n; i++) {
		const struct account *a = rows[i];
		if (strcmp(a->name, ROOT_ACCOUNT) == 0)
			return err_set(err, ERR_INVALID, "name", "the root account stays");
		for (size_t k = 0; k < n_clusters; k++) {
			int32_t at = tree_find(&c[k], a->name, "", "");
			if (at >= 0)
				take_subtree(&c[k], at, taken[k]);
		}
	}
	if (take_marked(d, t, taken, false, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		mark(d, ENTITY_ACCOUNT, rows[i], ACCOUNT_deleted);
		drop_coords(d, t, ((const struct account *)rows[i])->name, NULL);
	}
	take_orphans(d, t, taken, rows, n);
	return 0;
}

/* ---- users */

static int remove_users(struct draft *d, const void *const *rows, size_t n, struct err *err)
{
	const struct tree *t = draft_tree(d);
	size_t n_clusters;
	const struct tree_cluster *c = tree_clusters(t, &n_clusters);
	bool **taken = nothing_taken(d, t);
	const struct tree_rows *all = tree_rows(t);

	for (size_t i = 0; i < n; i++) {
		const struct user *u = rows[i];
		if (strcmp(u->name, "root") == 0)
			return err_set(err, ERR_INVALID, "name", "the user root stays");
		for (size_t k = 0; k < n_clusters; k++) {
			const int32_t *places;
			size_t m = tree_of_user(&c[k], u->name, &places);
			for (size_t j = 0; j < m; j++)
				take_subtree(&c[k], places[j], taken[k]);
		}
	}
	if (take_marked(d, t, taken, true, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		const struct user *u = rows[i];
		mark(d, ENTITY_USER, u, USER_deleted);
		drop_coords(d, t, NULL, u->name);
		for (size_t k = 0; k < all->n_wckeys; k++)
			if (strcmp(all->wckeys[k].user_name, u->name) == 0 &&
			    living(&all->wckeys[k], WCKEY))
				mark(d, ENTITY_WCKEY, &all->wckeys[k], WCKEY_deleted);
	}
	return 0;
}

/* ---- QOS */

static const char *without(struct draft *d, const char *list, const char *name)
{
	const char *bare = list_apply(list, arena_printf(d->arena, "-%s", name), d->arena);

	if (!list_is_change(list))
		return bare;
	bare = list_apply(list, arena_printf(d->arena, "-+%s", name), d->arena);
	return list_apply(bare, arena_printf(d->arena, "--%s", name), d->arena);
}

static int forget_qos_in_assoc(struct draft *d, const struct assoc *row, const char *name,
			       struct err *err)
{
	bool is_default = row_has(row, ASSOC, default_qos) && strcmp(row->default_qos, name) == 0;
	const char *rest = row_has(row, ASSOC, qos) ? without(d, row->qos, name) : NULL;
	struct assoc *a;

	if (!is_default && (rest == NULL || strcmp(rest, row->qos) == 0))
		return 0;
	if (is_default && d->rules.strict_defaults)
		return err_set(err, ERR_DEFAULT_QOS, "qos",
			       "\"%s\" is the default QOS of account \"%s\" on cluster \"%s\"", name,
			       row->account, row->cluster);
	a = draft_touch(d, ENTITY_ASSOC, row);
	if (is_default) {
		row_unset(a, ASSOC, default_qos);
		draft_note(d, "%s%s%s on %s has no default QOS of its own any more", a->account,
			   assoc_is_user(a) ? ", user " : "", a->user_name, a->cluster);
	}
	if (rest != NULL && rest[0] == '\0')
		row_unset(a, ASSOC, qos);
	else if (rest != NULL)
		row_set(a, ASSOC, qos, rest);
	return 0;
}

static int remove_qos(struct draft *d, const struct qos *row, const struct tree_rows *all,
		      struct err *err)
{
	const char *name = row->name;

	for (size_t i = 0; i < all->n_assocs; i++)
		if (living(&all->assocs[i], ASSOC) &&
		    forget_qos_in_assoc(d, draft_assoc(d, all->assocs[i].cluster,
						       all->assocs[i].account,
						       all->assocs[i].user_name,
						       all->assocs[i].partition), name, err) < 0)
			return -1;
	for (size_t i = 0; i < all->n_qos; i++) {
		const struct qos *other = draft_qos(d, all->qos[i].name);
		if (!row_has(other, QOS, preempt) ||
		    !list_has(other->preempt, name, strlen(name)))
			continue;
		struct qos *q = draft_touch(d, ENTITY_QOS, other);
		row_set(q, QOS, preempt, without(d, q->preempt, name));
	}
	mark(d, ENTITY_QOS, row, QOS_deleted);
	return 0;
}

/* ---- clusters */

static int remove_cluster(struct draft *d, const struct cluster *row, const struct tree *t,
			  struct err *err)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(t, &n), *of = tree_cluster(t, row->name);
	const struct tree_rows *all = tree_rows(t);
	bool **taken = nothing_taken(d, t);

	if (of->n > 0)
		take_subtree(of, 0, taken[of - c]);
	if (take_marked(d, t, taken, true, err) < 0)
		return -1;
	for (size_t i = 0; i < all->n_wckeys; i++)
		if (strcmp(all->wckeys[i].cluster, row->name) == 0 &&
		    living(&all->wckeys[i], WCKEY))
			mark(d, ENTITY_WCKEY, &all->wckeys[i], WCKEY_deleted);
	mark(d, ENTITY_CLUSTER, row, CLUSTER_deleted);
	return 0;
}

static int remove_one(struct draft *d, enum entity_kind kind, const void *row,
		      const struct tree *t, struct err *err)
{
	switch ((int)kind) {
	case ENTITY_QOS: return remove_qos(d, row, tree_rows(t), err);
	case ENTITY_CLUSTER: return remove_cluster(d, row, t, err);
	case ENTITY_WCKEY: mark(d, kind, row, WCKEY_deleted); return 0;
	case ENTITY_COORD: mark(d, kind, row, COORD_deleted); return 0;
	default: return err_set(err, ERR_INVALID, NULL, "a %s cannot be removed",
				entities[kind].name);
	}
}

int draft_remove(struct draft *d, enum entity_kind kind, const void *const *rows, size_t n,
		 struct err *err)
{
	const struct tree *t;

	if (kind == ENTITY_ASSOC)
		return remove_assocs(d, (const struct assoc *const *)rows, n, err);
	if (kind == ENTITY_ACCOUNT)
		return remove_accounts(d, rows, n, err);
	if (kind == ENTITY_USER)
		return remove_users(d, rows, n, err);
	t = draft_tree(d);
	for (size_t i = 0; i < n; i++)
		if (remove_one(d, kind, rows[i], t, err) < 0)
			return -1;
	return 0;
}

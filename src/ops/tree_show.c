/* ops/tree_show.c: rows of the tree for showing: those that may be seen, with what is computed. */
#include <strings.h>

#include "core/list.h"
#include "ops/tree_priv.h"
#include "store/cluster_read.h"
#include "store/tree_read.h"

/* What is at work here. */
struct show {
	struct ops *ops;
	const struct identity *who;
	const struct tree *tree;
	const struct tree_question *q;
	const char *user; /* the asker's name in the tree */
	struct arena *arena;
	struct texts coordinators; /* users that coordinate anything */
};

/* ---- who coordinates what */

static void add_text(struct texts *list, const char *text, struct arena *arena)
{
	const char **more;

	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], text) == 0)
			return;
	if ((list->n & (list->n - 1)) == 0) {
		more = ARENA_ARRAY(arena, const char *, list->n > 0 ? list->n * 2 : 1);
		if (list->n > 0)
			memcpy(more, list->v, list->n * sizeof(*more));
		list->v = more;
	}
	list->v[list->n++] = text;
}

/* Users of accounts whose users all do, too. */
static void find_coordinators(struct show *s)
{
	const struct tree_rows *rows = tree_rows(s->tree);
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);

	for (size_t i = 0; i < rows->n_coords; i++)
		add_text(&s->coordinators, rows->coords[i].user_name, s->arena);
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < c[k].n; i++) {
			const struct assoc *a = c[k].nodes[i].own;
			const struct account *row = tree_account(s->tree, a->account);
			if (assoc_is_user(a) && !assoc_is_deleted(a) && row != NULL &&
			    row_get(row, ACCOUNT, user_coord, 0) != 0)
				add_text(&s->coordinators, a->user_name, s->arena);
		}
}

static bool coordinates(const struct show *s, const char *user, const char *account)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);

	for (size_t i = 0; i < n; i++)
		if (tree_coordinates(s->tree, &c[i], user, account))
			return true;
	return false;
}

static const char *make_list(const struct texts *names, struct arena *arena)
{
	const char *list = "";

	list_make(names->v, names->n, arena, &list, NULL);
	return list;
}

static const char *coordinators_of(const struct show *s, const char *account)
{
	struct texts names = { 0 };

	for (size_t i = 0; i < s->coordinators.n; i++)
		if (coordinates(s, s->coordinators.v[i], account))
			add_text(&names, s->coordinators.v[i], s->arena);
	return make_list(&names, s->arena);
}

static const char *coordinated_by(const struct show *s, const char *user)
{
	const struct tree_rows *rows = tree_rows(s->tree);
	struct texts names = { 0 };
	bool any = false;

	for (size_t i = 0; i < s->coordinators.n; i++)
		any |= strcmp(s->coordinators.v[i], user) == 0;
	for (size_t i = 0; any && i < rows->n_accounts; i++)
		if (row_get(&rows->accounts[i], ACCOUNT, deleted, 0) == 0 &&
		    coordinates(s, user, rows->accounts[i].name))
			add_text(&names, rows->accounts[i].name, s->arena);
	return make_list(&names, s->arena);
}

/* ---- who may see what */

static bool is_private(const struct show *s, unsigned what)
{
	return (s->ops->settings.private_data & what) != 0 && s->who->role < ROLE_OPERATOR;
}

static bool is_member(const struct show *s, const char *account)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);

	for (size_t k = 0; s->user[0] != '\0' && k < n; k++) {
		const int32_t *places;
		size_t m = tree_of_user(&c[k], s->user, &places);
		for (size_t i = 0; i < m; i++)
			if (strcmp(c[k].nodes[places[i]].own->account, account) == 0)
				return true;
	}
	return false;
}

/* Of an account the asker has a part in, or one they coordinate. */
static bool sees_account(const struct show *s, const char *account)
{
	return !is_private(s, PRIVATE_ACCOUNTS) || is_member(s, account) ||
	       (s->user[0] != '\0' && coordinates(s, s->user, account));
}

static bool is_coordinated_user(const struct show *s, const char *user)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);

	for (size_t k = 0; s->user[0] != '\0' && k < n; k++) {
		const int32_t *places;
		size_t m = tree_of_user(&c[k], user, &places);
		for (size_t i = 0; i < m; i++)
			if (tree_coordinates(s->tree, &c[k], s->user,
					     c[k].nodes[places[i]].own->account))
				return true;
	}
	return false;
}

static bool sees_user(const struct show *s, const char *user)
{
	return !is_private(s, PRIVATE_USERS) || strcmp(user, s->user) == 0 ||
	       is_coordinated_user(s, user);
}

/* Of users' associations in the coordinated accounts alone. */
static bool sees_assoc(const struct show *s, const struct assoc *a)
{
	const struct tree_cluster *c = tree_cluster(s->tree, a->cluster);

	if (!assoc_is_user(a))
		return sees_account(s, a->account);
	if (!is_private(s, PRIVATE_USERS) && !is_private(s, PRIVATE_ACCOUNTS))
		return true;
	return strcmp(a->user_name, s->user) == 0 ||
	       (s->user[0] != '\0' && tree_coordinates(s->tree, c, s->user, a->account));
}

static bool may_see(const struct show *s, const void *row)
{
	const struct coord *c = row;

	switch ((int)s->q->kind) {
	case ENTITY_ACCOUNT: return sees_account(s, ((const struct account *)row)->name);
	case ENTITY_USER: return sees_user(s, ((const struct user *)row)->name);
	case ENTITY_ASSOC: return sees_assoc(s, row);
	case ENTITY_WCKEY: return sees_user(s, ((const struct wckey *)row)->user_name);
	case ENTITY_COORD: return sees_user(s, c->user_name) && sees_account(s, c->account);
	default: return true;
	}
}

/* ---- what is computed */

static bool is_asked_cluster(const struct show *s, const struct tree_cluster *c)
{
	const struct texts *named = &s->q->where.clusters;

	for (size_t i = 0; i < named->n; i++)
		if (strcasecmp(named->v[i], c->row->name) == 0)
			return true;
	return named->n == 0 && row_get(c->row, CLUSTER, deleted, 0) == 0;
}

/* The same everywhere, or none. */
static void join_default(const char **known, bool *differ, const char *here)
{
	if (here == NULL)
		return;
	*differ |= *known != NULL && strcmp(*known, here) != 0;
	*known = here;
}

static void show_user(const struct show *s, struct user *u)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);
	const char *account = NULL, *wckey = NULL;
	bool accounts_differ = false, wckeys_differ = false;

	for (size_t i = 0; i < n; i++) {
		if (!is_asked_cluster(s, &c[i]))
			continue;
		int32_t at = tree_default(&c[i], u->name);
		const struct wckey *w = tree_default_wckey(s->tree, c[i].row->name, u->name);
		join_default(&account, &accounts_differ,
			     at >= 0 ? c[i].nodes[at].own->account : NULL);
		join_default(&wckey, &wckeys_differ, w != NULL ? w->name : NULL);
	}
	if (account != NULL && !accounts_differ)
		row_set(u, USER, default_account, account);
	if (wckey != NULL && !wckeys_differ)
		row_set(u, USER, default_wckey, wckey);
	row_set(u, USER, coordinates, coordinated_by(s, u->name));
}

static const char *clusters_of(const struct show *s, const char *account)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);
	struct texts names = { 0 };

	for (size_t i = 0; i < n; i++) {
		int32_t at = tree_find(&c[i], account, "", "");
		if (at >= 0 && !assoc_is_deleted(c[i].nodes[at].own))
			add_text(&names, c[i].row->name, s->arena);
	}
	return make_list(&names, s->arena);
}

static const void *shown(const struct show *s, const void *row)
{
	struct user *u;
	struct account *a;
	struct coord *c;
	const struct assoc *own = row;
	const struct tree_cluster *of;

	switch ((int)s->q->kind) {
	case ENTITY_USER:
		u = ARENA_NEW(s->arena, struct user);
		*u = *(const struct user *)row;
		show_user(s, u);
		return u;
	case ENTITY_ACCOUNT:
		a = ARENA_NEW(s->arena, struct account);
		*a = *(const struct account *)row;
		row_set(a, ACCOUNT, coordinators, coordinators_of(s, a->name));
		row_set(a, ACCOUNT, clusters, clusters_of(s, a->name));
		return a;
	case ENTITY_COORD:
		c = ARENA_NEW(s->arena, struct coord);
		*c = *(const struct coord *)row;
		row_set(c, COORD, direct, 1);
		return c;
	case ENTITY_ASSOC:
		of = tree_cluster(s->tree, own->cluster);
		return s->q->own ? row : of->nodes[tree_by_id(of, own->id)].whole;
	default: return row;
	}
}

/* ---- clusters have figures from elsewhere */

struct figures {
	const void **rows;
	size_t n;
	struct arena *arena;
};

static int add_figures(const struct cluster_info *info, void *arg)
{
	struct figures *f = arg;

	for (size_t i = 0; i < f->n; i++) {
		struct cluster *c;
		if (strcmp(((const struct cluster *)f->rows[i])->name, info->name) != 0)
			continue;
		c = ARENA_NEW(f->arena, struct cluster);
		*c = *(const struct cluster *)f->rows[i];
		row_set(c, CLUSTER, open_jobs, info->open_jobs);
		if (info->greatest_job_id != 0) {
			row_set(c, CLUSTER, least_job_id, info->least_job_id);
			row_set(c, CLUSTER, greatest_job_id, info->greatest_job_id);
		}
		if (info->nodes != NULL)
			row_set(c, CLUSTER, nodes, arena_strdup(f->arena, info->nodes));
		if (info->tres != NULL)
			row_set(c, CLUSTER, tres, arena_strdup(f->arena, info->tres));
		f->rows[i] = c;
	}
	return 0;
}

/* ---- coordinators that are so by an account above, or as users of an account whose users all are
 */

static bool in_list(const struct texts *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcasecmp(list->v[i], text) == 0)
			return true;
	return list->n == 0;
}

static bool is_direct(const struct show *s, const char *account, const char *user)
{
	const struct tree_rows *all = tree_rows(s->tree);

	for (size_t i = 0; i < all->n_coords; i++)
		if (strcmp(all->coords[i].account, account) == 0 &&
		    strcmp(all->coords[i].user_name, user) == 0)
			return true;
	return false;
}

static const struct coord *inherited(const struct show *s, const struct account *a,
				     const char *user)
{
	struct coord *c;

	if (row_get(a, ACCOUNT, deleted, 0) != 0 || !in_list(&s->q->where.accounts, a->name) ||
	    !in_list(&s->q->where.users, user) || is_direct(s, a->name, user) ||
	    !coordinates(s, user, a->name))
		return NULL;
	c = ARENA_NEW(s->arena, struct coord);
	row_set(c, COORD, account, a->name);
	row_set(c, COORD, user_name, user);
	row_set(c, COORD, direct, 0);
	return c;
}

static size_t add_inherited(const struct show *s, const void **rows, size_t n, const void ***ret)
{
	const struct tree_rows *all = tree_rows(s->tree);
	const void **more = ARENA_ARRAY(s->arena, const void *,
					n + all->n_accounts * s->coordinators.n + 1);

	if (n > 0)
		memcpy(more, rows, n * sizeof(*more));
	for (size_t i = 0; i < all->n_accounts; i++)
		for (size_t j = 0; j < s->coordinators.n; j++) {
			more[n] = inherited(s, &all->accounts[i], s->coordinators.v[j]);
			n += more[n] != NULL;
		}
	*ret = more;
	return n;
}

static int show_rows(struct show *s, row_sink *sink, void *arg, struct err *err)
{
	struct tree_where where = s->q->where;
	const void **rows;
	size_t n;

	where.exact_users = s->ops->settings.keep_user_case;
	n = tree_select(s->tree, s->q->kind, &where, s->arena, &rows);
	if (s->q->kind == ENTITY_ACCOUNT || s->q->kind == ENTITY_USER || s->q->kind == ENTITY_COORD)
		find_coordinators(s);
	if (s->q->kind == ENTITY_CLUSTER) {
		struct figures f = { rows, n, s->arena };
		if (store_clusters_each(s->ops->store, add_figures, &f, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < n; i++)
		rows[i] = may_see(s, rows[i]) ? shown(s, rows[i]) : NULL;
	if (s->q->kind == ENTITY_COORD && where.subtree)
		n = add_inherited(s, rows, n, &rows);
	for (size_t i = 0; i < n; i++)
		if (rows[i] != NULL && may_see(s, rows[i]) && sink(rows[i], arg) < 0)
			return err_set(err, ERR_GONE, NULL, "the reader stopped");
	return 0;
}

int ops_tree_list(struct ops *ops, const struct identity *who, const struct tree_question *q,
		  row_sink *sink, void *arg, struct arena *arena, struct err *err)
{
	struct show s = { .ops = ops, .who = who, .q = q, .arena = arena };
	const struct user *me;
	struct tree *t;
	int rc;

	if (ops_may(ops, who, RIGHT_READ, err) < 0)
		return -1;
	t = tree_cache_get(ops->trees, err);
	if (t == NULL)
		return -1;
	s.tree = t;
	me = ops_user_in_tree(t, who);
	s.user = me != NULL ? me->name : who->user;
	rc = show_rows(&s, sink, arg, err);
	tree_unref(t);
	return rc;
}

/* core/tree.c: building a snapshot: rows sorted by key, indexes of places, and each cluster's
 * associations laid out with parents before children. */
#include "core/tree.h"

#include <stdatomic.h>

#include "core/list.h"
#include "core/tres.h"

struct tree {
	atomic_int refs;
	struct arena *arena;
	struct tree_rows rows;
	struct tree_cluster *clusters;
	const int32_t *users_by_uid;
	size_t n_users_by_uid;
	const int32_t *qos_by_id;
	const int32_t *wckeys_by_name;
};

/* ---- sorted rows and indexes */

static int key_order(const void *a, const void *b, void *entity)
{
	return row_key_cmp(entity, a, b);
}

static void *sorted(enum entity_kind kind, const void *rows, size_t n, struct arena *arena)
{
	const struct entity *e = &entities[kind];
	void *copy = arena_alloc(arena, n * e->size + 1);

	if (n > 0)
		memcpy(copy, rows, n * e->size);
	if (n > 1)
		qsort_r(copy, n, e->size, key_order, (void *)(uintptr_t)e);
	return copy;
}

/* Places 0 .. n-1 in the order of cmp(place, place, rows). */
typedef int place_cmp(const void *a, const void *b, void *rows);

static const int32_t *index_of(size_t n, place_cmp *cmp, const void *rows, struct arena *arena)
{
	int32_t *places = ARENA_ARRAY(arena, int32_t, n + 1);

	for (size_t i = 0; i < n; i++)
		places[i] = (int32_t)i;
	if (n > 1)
		qsort_r(places, n, sizeof(*places), cmp, (void *)(uintptr_t)rows);
	return places;
}

static int number_cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

/* The first of n for which below(i, key) is false. */
typedef int probe_cmp(const void *rows, size_t i, const void *key);

static size_t lower(const void *rows, size_t n, probe_cmp *cmp, const void *key)
{
	size_t from = 0, to = n;

	while (from < to) {
		size_t mid = from + (to - from) / 2;
		if (cmp(rows, mid, key) < 0)
			from = mid + 1;
		else
			to = mid;
	}
	return from;
}

/* Its place; n when there is none. */
static size_t find(const void *rows, size_t n, probe_cmp *cmp, const void *key)
{
	size_t at = lower(rows, n, cmp, key);

	return at < n && cmp(rows, at, key) == 0 ? at : n;
}

/* ---- laying out a cluster's associations */

struct layout {
	struct arena *arena;
	struct assoc *rows; /* ascending ids */
	size_t n;
	int32_t root;
	int32_t *parent, *first_child, *next_sibling; /* by place in rows */
	int32_t *order;				      /* places in rows, parents first */
	size_t flaws;
};

static int assoc_id_cmp(const void *rows, size_t i, const void *key)
{
	return number_cmp(((const struct assoc *)rows)[i].id, *(const int64_t *)key);
}

static int32_t parent_of(const struct layout *l, size_t i)
{
	int64_t id = row_get(&l->rows[i], ASSOC, parent_id, 0);
	size_t at = find(l->rows, l->n, assoc_id_cmp, &id);

	return at < l->n && at != i ? (int32_t)at : -1;
}

static void link_children(struct layout *l)
{
	memset(l->first_child, 0xff, l->n * sizeof(int32_t));
	/* Each goes in front, so the greatest id comes first. */
	for (size_t i = 0; i < l->n; i++) {
		int32_t p = l->parent[i];
		if (p < 0)
			continue;
		l->next_sibling[i] = l->first_child[p];
		l->first_child[p] = (int32_t)i;
	}
}

/* Parents before children; returns how many were reached. */
static size_t walk(struct layout *l)
{
	size_t n = 0;
	int32_t at = l->root;

	while (at >= 0) {
		l->order[n++] = at;
		if (l->first_child[at] >= 0) {
			at = l->first_child[at];
			continue;
		}
		while (at >= 0 && (at == l->root || l->next_sibling[at] < 0))
			at = at == l->root ? -1 : l->parent[at];
		if (at >= 0)
			at = l->next_sibling[at];
	}
	return n;
}

/* Those that lie in a ring, which only a hand in the database can make. */
static void break_rings(struct layout *l, size_t reached)
{
	bool *seen = ARENA_ARRAY(l->arena, bool, l->n);

	for (size_t i = 0; i < reached; i++)
		seen[l->order[i]] = true;
	for (size_t i = 0; i < l->n; i++)
		if (!seen[i]) {
			l->parent[i] = l->root;
			l->flaws++;
		}
}

static void lay_out(struct layout *l)
{
	size_t reached;

	l->root = -1;
	l->parent = ARENA_ARRAY(l->arena, int32_t, l->n);
	l->first_child = ARENA_ARRAY(l->arena, int32_t, l->n);
	l->next_sibling = ARENA_ARRAY(l->arena, int32_t, l->n);
	l->order = ARENA_ARRAY(l->arena, int32_t, l->n);
	for (size_t i = 0; i < l->n; i++) {
		l->parent[i] = parent_of(l, i);
		if (l->root < 0 && l->parent[i] < 0)
			l->root = (int32_t)i;
	}
	if (l->root < 0)
		l->root = 0; /* a ring through all of it */
	l->parent[l->root] = -1;
	for (size_t i = 0; i < l->n; i++)
		if (l->parent[i] < 0 && (int32_t)i != l->root) {
			l->parent[i] = l->root;
			l->flaws++;
		}
	link_children(l);
	reached = walk(l);
	if (reached == l->n)
		return;
	break_rings(l, reached);
	link_children(l);
	walk(l);
}

/* ---- what comes from above */

/* One's own counts, and what else the parent limits. */
static const char *merge_tres(const char *own, const char *above, struct arena *arena)
{
	struct tres t, *items = ARENA_ARRAY(arena, struct tres, strlen(own) + strlen(above) + 2);
	const char *both = own;
	size_t n = 0;
	bool more = false;

	for (const char *at = own; tres_next(&at, &t);)
		items[n++] = t;
	for (const char *at = above; tres_next(&at, &t);) {
		bool mine = false;
		struct tres other;
		for (const char *o = own; !mine && tres_next(&o, &other);)
			mine = tres_name_order(other.name, other.len, t.name, t.len) == 0;
		if (!mine)
			items[n++] = t;
		more |= !mine;
	}
	if (more && tres_make(items, n, arena, &both, NULL) < 0)
		return own; /* not ours to judge: as it is set */
	return both;
}

static void inherit_field(struct assoc *whole, const struct assoc *above, size_t i,
			  struct arena *arena)
{
	const struct entity *e = &entities[ENTITY_ASSOC];
	const struct field *f = &e->fields[i];

	if (!has_bit(above->has, i))
		return;
	if (!has_bit(whole->has, i))
		row_take(e, whole, i, above);
	else if (f->type == FT_TRES)
		row_put_text(e, whole, i,
			     merge_tres(row_text(whole, f), row_text(above, f), arena));
	else if (f->type == FT_LIST && list_is_change(row_text(whole, f)))
		row_put_text(e, whole, i,
			     list_apply(row_text(above, f), row_text(whole, f), arena));
}

static const struct assoc *inherit(const struct assoc *own, const struct assoc *above,
				   struct arena *arena)
{
	static const struct assoc top = { .qos = ROOT_QOS,
					  .has[ASSOC_qos / 64] = UINT64_C(1) << ASSOC_qos % 64 };
	const struct entity *e = &entities[ENTITY_ASSOC];
	struct assoc *whole = arena_alloc(arena, sizeof(*whole));

	*whole = *own;
	if (above == NULL)
		above = &top;
	for (size_t i = 0; i < e->n; i++)
		if ((e->fields[i].flags & FF_INHERIT) != 0)
			inherit_field(whole, above, i, arena);
	return whole;
}

/* ---- places and paths */

static const char *lineage_of(const struct assoc *a, const struct assoc *above, struct arena *arena)
{
	if (above == NULL)
		return "/";
	if (!assoc_is_user(a))
		return arena_printf(arena, "%s%s/", above->lineage, a->account);
	if (a->partition[0] == '\0')
		return arena_printf(arena, "%s0-%s/", above->lineage, a->user_name);
	return arena_printf(arena, "%s0-%s/%s/", above->lineage, a->user_name, a->partition);
}

/* Where each subtree ends: behind the last one of its children's. */
static void find_ends(struct assoc_node *nodes, size_t n)
{
	for (size_t i = n; i-- > 0;) {
		if (nodes[i].after == 0)
			nodes[i].after = (int32_t)i + 1;
		if (nodes[i].parent >= 0 && nodes[nodes[i].parent].after < nodes[i].after)
			nodes[nodes[i].parent].after = nodes[i].after;
	}
}

/* living[i]: how many living ones come before i. */
static void number_edges(struct assoc_node *nodes, struct assoc **rows, size_t n,
			 const int64_t *living)
{
	for (size_t i = 0; i < n; i++) {
		struct assoc *a = rows[i];
		if (assoc_is_deleted(a))
			continue;
		row_set(a, ASSOC, lft, 2 * living[i] - a->depth + 1);
		row_set(a, ASSOC, rgt, a->lft + 2 * (living[nodes[i].after] - living[i]) - 1);
	}
}

static void place_nodes(const struct layout *l, struct assoc_node *nodes)
{
	int32_t *place = ARENA_ARRAY(l->arena, int32_t, l->n); /* in nodes, by place in rows */
	struct assoc **rows = ARENA_ARRAY(l->arena, struct assoc *, l->n);
	int64_t *living = ARENA_ARRAY(l->arena, int64_t, l->n + 1);

	for (size_t i = 0; i < l->n; i++) {
		struct assoc *a = rows[i] = &l->rows[l->order[i]];
		int32_t p = i == 0 ? -1 : place[l->parent[l->order[i]]];
		const struct assoc *above = p >= 0 ? nodes[p].own : NULL;

		place[l->order[i]] = (int32_t)i;
		nodes[i] = (struct assoc_node){ .own = a, .parent = p };
		row_set(a, ASSOC, depth, above != NULL ? above->depth + 1 : 0);
		row_set(a, ASSOC, lineage, lineage_of(a, above, l->arena));
		row_set(a, ASSOC, parent,
			above != NULL && !assoc_is_user(a) ? above->account : "");
		living[i + 1] = living[i] + !assoc_is_deleted(a);
	}
	find_ends(nodes, l->n);
	number_edges(nodes, rows, l->n, living);
	for (size_t i = 0; i < l->n; i++)
		nodes[i].whole = inherit(nodes[i].own,
					 nodes[i].parent >= 0 ? nodes[nodes[i].parent].whole : NULL,
					 l->arena);
}

/* ---- finding associations */

struct assoc_name {
	const char *account, *user, *partition;
};

static int name_cmp(const struct assoc_name *a, const struct assoc_name *b)
{
	int c = strcmp(a->account, b->account);

	if (c == 0)
		c = strcmp(a->user, b->user);
	return c != 0 ? c : strcmp(a->partition, b->partition);
}

static struct assoc_name name_of(const struct assoc_node *node)
{
	return (struct assoc_name){ node->own->account, node->own->user_name,
				    node->own->partition };
}

static int node_name_order(const void *a, const void *b, void *nodes)
{
	struct assoc_name na = name_of((struct assoc_node *)nodes + *(const int32_t *)a);
	struct assoc_name nb = name_of((struct assoc_node *)nodes + *(const int32_t *)b);

	return name_cmp(&na, &nb);
}

static int node_id_order(const void *a, const void *b, void *nodes)
{
	return number_cmp(((struct assoc_node *)nodes)[*(const int32_t *)a].own->id,
			  ((struct assoc_node *)nodes)[*(const int32_t *)b].own->id);
}

static int node_id_probe(const void *c, size_t i, const void *id)
{
	const struct tree_cluster *in = c;

	return number_cmp(in->nodes[in->by_id[i]].own->id, *(const int64_t *)id);
}

static int node_name_probe(const void *c, size_t i, const void *name)
{
	const struct tree_cluster *in = c;
	struct assoc_name at = name_of(&in->nodes[in->by_name[i]]);

	return name_cmp(&at, name);
}

int32_t tree_by_id(const struct tree_cluster *c, int64_t id)
{
	size_t at = find(c, c->n, node_id_probe, &id);

	return at < c->n ? c->by_id[at] : -1;
}

int32_t tree_find(const struct tree_cluster *c, const char *account, const char *user,
		  const char *partition)
{
	const struct assoc_name name = { account, user, partition };
	size_t at = find(c, c->n, node_name_probe, &name);

	return at < c->n ? c->by_name[at] : -1;
}

static int user_order(const void *a, const void *b, void *nodes)
{
	const struct assoc_node *na = (struct assoc_node *)nodes + *(const int32_t *)a;
	const struct assoc_node *nb = (struct assoc_node *)nodes + *(const int32_t *)b;
	int c = strcmp(na->own->user_name, nb->own->user_name);

	return c != 0 ? c : number_cmp(na->own->id, nb->own->id);
}

static int user_probe_in(const void *c, size_t i, const void *user)
{
	const struct tree_cluster *in = c;

	return strcmp(in->nodes[in->by_user[i]].own->user_name, user);
}

size_t tree_of_user(const struct tree_cluster *c, const char *user, const int32_t **ret_places)
{
	size_t from = lower(c, c->n_of_users, user_probe_in, user), to = from;

	while (to < c->n_of_users && user_probe_in(c, to, user) == 0)
		to++;
	*ret_places = c->by_user + from;
	return to - from;
}

int32_t tree_default(const struct tree_cluster *c, const char *user)
{
	const int32_t *places;
	size_t n = tree_of_user(c, user, &places);

	for (size_t i = 0; i < n; i++) {
		const struct assoc *a = c->nodes[places[i]].own;
		if (!assoc_is_deleted(a) && row_get(a, ASSOC, is_default, 0) != 0)
			return places[i];
	}
	return -1;
}

static void index_users(struct tree_cluster *c, struct arena *arena)
{
	int32_t *places = ARENA_ARRAY(arena, int32_t, c->n + 1);

	for (size_t i = 0; i < c->n; i++)
		if (assoc_is_user(c->nodes[i].own))
			places[c->n_of_users++] = (int32_t)i;
	if (c->n_of_users > 1)
		qsort_r(places, c->n_of_users, sizeof(*places), user_order,
			(void *)(uintptr_t)c->nodes);
	c->by_user = places;
}

/* A living one, unless removed ones are welcome. */
static int32_t find_user(const struct tree_cluster *c, const struct tree_who *who, bool removed)
{
	const char *at = who->partition != NULL ? who->partition : "", *name;
	size_t len;
	char partition[256];
	int32_t node;

	while (list_next(&at, &name, &len)) {
		snprintf(partition, sizeof(partition), "%.*s", (int)(len < 255 ? len : 255), name);
		node = tree_find(c, who->account, who->user, partition);
		if (node >= 0 && (removed || !assoc_is_deleted(c->nodes[node].own)))
			return node;
	}
	node = tree_find(c, who->account, who->user, "");
	return node >= 0 && (removed || !assoc_is_deleted(c->nodes[node].own)) ? node : -1;
}

static const char *known(const char *text)
{
	return text != NULL ? text : "";
}

int32_t tree_place(const struct tree_cluster *c, const struct tree_who *who)
{
	struct tree_who w = *who;
	int32_t node = who->assoc_id > 0 ? tree_by_id(c, who->assoc_id) : -1;

	if (node >= 0)
		return node;
	w.account = known(w.account);
	w.user = known(w.user);
	if (w.account[0] == '\0') {
		node = w.user[0] != '\0' ? tree_default(c, w.user) : -1;
		if (node >= 0)
			return node;
		w.account = ROOT_ACCOUNT;
	}
	if (w.user[0] == '\0')
		w.partition = NULL;
	node = find_user(c, &w, false);
	return node >= 0 ? node : find_user(c, &w, true);
}

int32_t tree_charge(const struct tree_cluster *c, const struct tree_who *who)
{
	int32_t node = tree_place(c, who);

	if (node < 0 && who->account != NULL)
		node = tree_find(c, who->account, "", "");
	return node >= 0 || c->n == 0 ? node : 0;
}

/* ---- how it stood */

static int period_cmp(const void *periods, size_t i, const void *key)
{
	const struct tree_period *p = (const struct tree_period *)periods + i, *k = key;
	int c = strcmp(p->cluster, k->cluster);

	return c != 0 ? c : number_cmp(p->id, k->id);
}

static void give_periods(const struct tree_rows *rows, struct assoc_node *nodes, size_t n)
{
	for (size_t i = 0; i < n && rows->n_periods > 0; i++) {
		struct tree_period key = { .cluster = nodes[i].own->cluster,
					   .id = nodes[i].own->id };
		size_t from = lower(rows->periods, rows->n_periods, period_cmp, &key);
		size_t to = from;

		while (to < rows->n_periods && period_cmp(rows->periods, to, &key) == 0)
			to++;
		nodes[i].periods = rows->periods + from;
		nodes[i].n_periods = to - from;
	}
}

struct tree_period tree_at(const struct tree_cluster *c, int32_t node, int64_t at)
{
	const struct assoc_node *n = &c->nodes[node];
	const struct assoc *a = n->own;

	/* What was before the first change is not told: as it then began. */
	for (size_t i = 0; i < n->n_periods; i++)
		if (at < n->periods[i].to)
			return n->periods[i];
	return (struct tree_period){
		.cluster = a->cluster,
		.id = a->id,
		.from = INT64_MIN,
		.to = INT64_MAX,
		.parent_id = n->parent >= 0 ? c->nodes[n->parent].own->id : 0,
		.shares = row_get(a, ASSOC, shares, 1),
		.deleted = assoc_is_deleted(a),
	};
}

int32_t tree_parent_at(const struct tree_cluster *c, int32_t node, int64_t at)
{
	if (c->nodes[node].parent < 0 || c->nodes[node].n_periods == 0)
		return c->nodes[node].parent;
	int32_t parent = tree_by_id(c, tree_at(c, node, at).parent_id);
	return parent >= 0 ? parent : c->nodes[node].parent;
}

/* ---- all of it */

static int assoc_cluster_cmp(const void *rows, size_t i, const void *key)
{
	return strcmp(((const struct assoc *)rows)[i].cluster, key);
}

static void build_cluster(struct tree *t, struct tree_cluster *c, struct assoc *all, size_t n_all)
{
	struct layout l = { .arena = t->arena };
	size_t from = lower(all, n_all, assoc_cluster_cmp, c->row->name), to = from;
	struct assoc_node *nodes;

	while (to < n_all && strcmp(all[to].cluster, c->row->name) == 0)
		to++;
	l.rows = all + from;
	c->n = l.n = to - from;
	c->nodes = nodes = ARENA_ARRAY(t->arena, struct assoc_node, c->n + 1);
	if (c->n > 0) {
		lay_out(&l);
		place_nodes(&l, nodes);
		give_periods(&t->rows, nodes, c->n);
	}
	c->flaws = l.flaws;
	c->by_id = index_of(c->n, node_id_order, nodes, t->arena);
	c->by_name = index_of(c->n, node_name_order, nodes, t->arena);
	index_users(c, t->arena);
}

static int uid_order(const void *a, const void *b, void *rows)
{
	return number_cmp(((struct user *)rows)[*(const int32_t *)a].uid,
			  ((struct user *)rows)[*(const int32_t *)b].uid);
}

static void index_uids(struct tree *t)
{
	int32_t *places = ARENA_ARRAY(t->arena, int32_t, t->rows.n_users + 1);

	for (size_t i = 0; i < t->rows.n_users; i++)
		if (row_has(&t->rows.users[i], USER, uid) &&
		    row_get(&t->rows.users[i], USER, deleted, 0) == 0)
			places[t->n_users_by_uid++] = (int32_t)i;
	if (t->n_users_by_uid > 1)
		qsort_r(places, t->n_users_by_uid, sizeof(*places), uid_order,
			(void *)(uintptr_t)t->rows.users);
	t->users_by_uid = places;
}

static int qos_id_order(const void *a, const void *b, void *rows)
{
	return number_cmp(((struct qos *)rows)[*(const int32_t *)a].id,
			  ((struct qos *)rows)[*(const int32_t *)b].id);
}

static int wckey_name_cmp(const struct wckey *a, const struct wckey *b)
{
	int c = strcmp(a->cluster, b->cluster);

	if (c == 0)
		c = strcmp(a->user_name, b->user_name);
	return c != 0 ? c : strcmp(a->name, b->name);
}

static int wckey_name_order(const void *a, const void *b, void *rows)
{
	return wckey_name_cmp((struct wckey *)rows + *(const int32_t *)a,
			      (struct wckey *)rows + *(const int32_t *)b);
}

struct tree *tree_build(const struct tree_rows *rows, struct arena *arena)
{
	struct tree *t = ARENA_NEW(arena, struct tree);
	struct assoc *assocs = sorted(ENTITY_ASSOC, rows->assocs, rows->n_assocs, arena);

	atomic_init(&t->refs, 1);
	t->arena = arena;
	t->rows = *rows;
	t->rows.assocs = assocs;
	t->rows.clusters = sorted(ENTITY_CLUSTER, rows->clusters, rows->n_clusters, arena);
	t->rows.accounts = sorted(ENTITY_ACCOUNT, rows->accounts, rows->n_accounts, arena);
	t->rows.users = sorted(ENTITY_USER, rows->users, rows->n_users, arena);
	t->rows.qos = sorted(ENTITY_QOS, rows->qos, rows->n_qos, arena);
	t->rows.wckeys = sorted(ENTITY_WCKEY, rows->wckeys, rows->n_wckeys, arena);
	t->rows.coords = sorted(ENTITY_COORD, rows->coords, rows->n_coords, arena);
	t->clusters = ARENA_ARRAY(arena, struct tree_cluster, rows->n_clusters + 1);
	for (size_t i = 0; i < rows->n_clusters; i++) {
		t->clusters[i].row = &t->rows.clusters[i];
		build_cluster(t, &t->clusters[i], assocs, rows->n_assocs);
	}
	index_uids(t);
	t->qos_by_id = index_of(rows->n_qos, qos_id_order, t->rows.qos, arena);
	t->wckeys_by_name = index_of(rows->n_wckeys, wckey_name_order, t->rows.wckeys, arena);
	return t;
}

struct tree *tree_ref(struct tree *t)
{
	atomic_fetch_add(&t->refs, 1);
	return t;
}

void tree_unref(struct tree *t)
{
	if (t != NULL && atomic_fetch_sub(&t->refs, 1) == 1)
		arena_free(t->arena);
}

int64_t tree_version(const struct tree *t)
{
	return t->rows.version;
}

const struct tree_rows *tree_rows(const struct tree *t)
{
	return &t->rows;
}

/* ---- finding the rest */

static int cluster_probe(const void *rows, size_t i, const void *name)
{
	return strcmp(((const struct cluster *)rows)[i].name, name);
}

const struct tree_cluster *tree_cluster(const struct tree *t, const char *name)
{
	size_t at = find(t->rows.clusters, t->rows.n_clusters, cluster_probe, name);

	return at < t->rows.n_clusters ? &t->clusters[at] : NULL;
}

const struct tree_cluster *tree_clusters(const struct tree *t, size_t *ret_n)
{
	*ret_n = t->rows.n_clusters;
	return t->clusters;
}

static int account_probe(const void *rows, size_t i, const void *name)
{
	return strcmp(((const struct account *)rows)[i].name, name);
}

const struct account *tree_account(const struct tree *t, const char *name)
{
	size_t at = find(t->rows.accounts, t->rows.n_accounts, account_probe, name);

	return at < t->rows.n_accounts ? &t->rows.accounts[at] : NULL;
}

static int user_probe(const void *rows, size_t i, const void *name)
{
	return strcmp(((const struct user *)rows)[i].name, name);
}

const struct user *tree_user(const struct tree *t, const char *name)
{
	size_t at = find(t->rows.users, t->rows.n_users, user_probe, name);

	return at < t->rows.n_users ? &t->rows.users[at] : NULL;
}

static int uid_probe(const void *tree, size_t i, const void *uid)
{
	const struct tree *t = tree;

	return number_cmp(t->rows.users[t->users_by_uid[i]].uid, *(const int64_t *)uid);
}

const struct user *tree_user_by_uid(const struct tree *t, int64_t uid)
{
	size_t at = find(t, t->n_users_by_uid, uid_probe, &uid);

	return at < t->n_users_by_uid ? &t->rows.users[t->users_by_uid[at]] : NULL;
}

static int qos_probe(const void *rows, size_t i, const void *name)
{
	return strcmp(((const struct qos *)rows)[i].name, name);
}

const struct qos *tree_qos(const struct tree *t, const char *name)
{
	size_t at = find(t->rows.qos, t->rows.n_qos, qos_probe, name);

	return at < t->rows.n_qos ? &t->rows.qos[at] : NULL;
}

static int qos_id_probe(const void *tree, size_t i, const void *id)
{
	const struct tree *t = tree;

	return number_cmp(t->rows.qos[t->qos_by_id[i]].id, *(const int64_t *)id);
}

const struct qos *tree_qos_by_id(const struct tree *t, int64_t id)
{
	size_t at = find(t, t->rows.n_qos, qos_id_probe, &id);

	return at < t->rows.n_qos ? &t->rows.qos[t->qos_by_id[at]] : NULL;
}

static int wckey_probe(const void *tree, size_t i, const void *wckey)
{
	const struct tree *t = tree;

	return wckey_name_cmp(&t->rows.wckeys[t->wckeys_by_name[i]], wckey);
}

const struct wckey *tree_wckey(const struct tree *t, const char *cluster, const char *user,
			       const char *name)
{
	const struct wckey key = { .cluster = cluster, .user_name = user, .name = name };
	size_t at = find(t, t->rows.n_wckeys, wckey_probe, &key);

	return at < t->rows.n_wckeys ? &t->rows.wckeys[t->wckeys_by_name[at]] : NULL;
}

static int wckey_id_probe(const void *rows, size_t i, const void *key)
{
	const struct wckey *at = (const struct wckey *)rows + i, *k = key;
	int c = strcmp(at->cluster, k->cluster);

	return c != 0 ? c : number_cmp(at->id, k->id);
}

const struct wckey *tree_wckey_by_id(const struct tree *t, const char *cluster, int64_t id)
{
	const struct wckey key = { .cluster = cluster, .id = id };
	size_t at = find(t->rows.wckeys, t->rows.n_wckeys, wckey_id_probe, &key);

	return at < t->rows.n_wckeys ? &t->rows.wckeys[at] : NULL;
}

const struct wckey *tree_default_wckey(const struct tree *t, const char *cluster, const char *user)
{
	const struct wckey key = { .cluster = cluster, .user_name = user, .name = "" };

	for (size_t i = lower(t, t->rows.n_wckeys, wckey_probe, &key); i < t->rows.n_wckeys; i++) {
		const struct wckey *w = &t->rows.wckeys[t->wckeys_by_name[i]];
		if (strcmp(w->cluster, cluster) != 0 || strcmp(w->user_name, user) != 0)
			break;
		if (row_get(w, WCKEY, is_default, 0) != 0 && row_get(w, WCKEY, deleted, 0) == 0)
			return w;
	}
	return NULL;
}

/* ---- coordinators */

static int coord_probe(const void *rows, size_t i, const void *key)
{
	const struct coord *at = (const struct coord *)rows + i, *k = key;
	int c = strcmp(at->account, k->account);

	return c != 0 ? c : strcmp(at->user_name, k->user_name);
}

static bool is_member(const struct tree_cluster *c, const char *user, const char *account)
{
	const struct assoc_name name = { account, user, "" };
	size_t at = lower(c, c->n, node_name_probe, &name);

	for (; at < c->n; at++) {
		const struct assoc *a = c->nodes[c->by_name[at]].own;
		if (strcmp(a->account, account) != 0 || strcmp(a->user_name, user) != 0)
			return false;
		if (!assoc_is_deleted(a))
			return true;
	}
	return false;
}

static bool coordinates_this(const struct tree *t, const struct tree_cluster *c, const char *user,
			     const char *account)
{
	const struct coord key = { .account = account, .user_name = user };
	const struct account *row = tree_account(t, account);

	if (find(t->rows.coords, t->rows.n_coords, coord_probe, &key) < t->rows.n_coords)
		return true;
	return row != NULL && row_get(row, ACCOUNT, user_coord, 0) != 0 &&
	       is_member(c, user, account);
}

bool tree_coordinates(const struct tree *t, const struct tree_cluster *c, const char *user,
		      const char *account)
{
	int32_t node = tree_find(c, account, "", "");

	for (; node >= 0; node = c->nodes[node].parent)
		if (coordinates_this(t, c, user, c->nodes[node].own->account))
			return true;
	return false;
}

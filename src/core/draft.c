/* core/draft.c: the rows that have been touched, over the snapshot. */
#include "core/draft_priv.h"

#include "core/utf8.h"

struct draft *draft_new(const struct tree *base, const struct draft_rules *rules,
			struct arena *arena)
{
	struct draft *d = ARENA_NEW(arena, struct draft);

	d->base = base;
	d->rules = *rules;
	d->arena = arena;
	d->n_buckets = 64;
	d->hash = ARENA_ARRAY(arena, struct entry *, d->n_buckets);
	return d;
}

void draft_free(struct draft *d)
{
	if (d != NULL)
		tree_unref(d->tree);
}

/* Whoever is at work with rows of the tree goes on with them. */
static void changed(struct draft *d)
{
	d->stale = true;
}

/* ---- keys */

/* The names that tell a row of its kind: for associations and wckeys not their numbers. */
static const struct {
	int n;
	size_t field[4];
} key_fields[ENTITIES] = {
	[ENTITY_CLUSTER] = { 1, { CLUSTER_name } },
	[ENTITY_ACCOUNT] = { 1, { ACCOUNT_name } },
	[ENTITY_USER] = { 1, { USER_name } },
	[ENTITY_ASSOC] = { 4, { ASSOC_cluster, ASSOC_account, ASSOC_user_name, ASSOC_partition } },
	[ENTITY_QOS] = { 1, { QOS_name } },
	[ENTITY_WCKEY] = { 3, { WCKEY_cluster, WCKEY_user_name, WCKEY_name } },
	[ENTITY_COORD] = { 2, { COORD_account, COORD_user_name } },
};

#define SEPARATOR "\001"

static const char *key_of(const struct draft *d, enum entity_kind kind, const void *row)
{
	const struct entity *e = &entities[kind];
	const char *key = "";

	for (int i = 0; i < key_fields[kind].n; i++)
		key = arena_printf(d->arena, "%s" SEPARATOR "%s", key,
				   row_text(row, &e->fields[key_fields[kind].field[i]]));
	return key;
}

static size_t hash_of(enum entity_kind kind, const char *key)
{
	uint64_t h = 14695981039346656037u + (uint64_t)kind;

	for (; *key != '\0'; key++)
		h = (h ^ (unsigned char)*key) * 1099511628211u;
	return h ^ (h >> 32);
}

static struct entry *lookup(const struct draft *d, enum entity_kind kind, const char *key)
{
	struct entry *at = d->hash[hash_of(kind, key) & (d->n_buckets - 1)];

	while (at != NULL && (at->kind != kind || strcmp(at->key, key) != 0))
		at = at->next_hash;
	return at;
}

static void rehash(struct draft *d)
{
	d->n_buckets *= 4;
	d->hash = ARENA_ARRAY(d->arena, struct entry *, d->n_buckets);
	for (size_t i = 0; i < d->n; i++) {
		struct entry *at = d->entries[i];
		size_t b = hash_of(at->kind, at->key) & (d->n_buckets - 1);
		at->next_hash = d->hash[b];
		d->hash[b] = at;
	}
}

static struct entry *insert(struct draft *d, enum entity_kind kind, const char *key)
{
	struct entry *at = ARENA_NEW(d->arena, struct entry);
	size_t b;

	if (d->n == d->cap) {
		struct entry **more;
		d->cap = d->cap != 0 ? d->cap * 2 : 64;
		more = ARENA_ARRAY(d->arena, struct entry *, d->cap);
		if (d->n > 0)
			memcpy(more, d->entries, d->n * sizeof(*more));
		d->entries = more;
	}
	if (d->n >= d->n_buckets)
		rehash(d);
	*at = (struct entry){ .kind = kind, .key = key };
	d->entries[d->n++] = at;
	b = hash_of(kind, key) & (d->n_buckets - 1);
	at->next_hash = d->hash[b];
	d->hash[b] = at;
	return at;
}

/* As it would be: touched, or as the snapshot has it. */
static const void *row_now(const struct draft *d, enum entity_kind kind, const void *key_row,
			   const void *base)
{
	const struct entry *at = lookup(d, kind, key_of(d, kind, key_row));

	return at != NULL ? at->now : base;
}

const struct cluster *draft_cluster(struct draft *d, const char *name)
{
	const struct cluster key = { .name = name };
	const struct tree_cluster *base = tree_cluster(d->base, name);

	return row_now(d, ENTITY_CLUSTER, &key, base != NULL ? base->row : NULL);
}

const struct account *draft_account(struct draft *d, const char *name)
{
	const struct account key = { .name = name };

	return row_now(d, ENTITY_ACCOUNT, &key, tree_account(d->base, name));
}

const struct user *draft_user(struct draft *d, const char *name)
{
	const struct user key = { .name = name };

	return row_now(d, ENTITY_USER, &key, tree_user(d->base, name));
}

const struct qos *draft_qos(struct draft *d, const char *name)
{
	const struct qos key = { .name = name };

	return row_now(d, ENTITY_QOS, &key, tree_qos(d->base, name));
}

static const struct assoc *base_assoc(const struct draft *d, const char *cluster,
				      const char *account, const char *user, const char *partition)
{
	const struct tree_cluster *c = tree_cluster(d->base, cluster);
	int32_t at = c != NULL ? tree_find(c, account, user, partition) : -1;

	return at >= 0 ? c->nodes[at].own : NULL;
}

const struct assoc *draft_assoc(struct draft *d, const char *cluster, const char *account,
				const char *user, const char *partition)
{
	const struct assoc key = { .cluster = cluster, .account = account, .user_name = user,
				   .partition = partition };

	return row_now(d, ENTITY_ASSOC, &key, base_assoc(d, cluster, account, user, partition));
}

const struct assoc *draft_assoc_by_id(struct draft *d, const char *cluster, int64_t id)
{
	const struct tree_cluster *c = tree_cluster(d->base, cluster);
	int32_t at = c != NULL ? tree_by_id(c, id) : -1;

	if (at >= 0)
		return row_now(d, ENTITY_ASSOC, c->nodes[at].own, c->nodes[at].own);
	for (size_t i = d->n; i-- > 0;) {
		const struct assoc *a = d->entries[i]->now;
		if (d->entries[i]->kind == ENTITY_ASSOC && a->id == id &&
		    strcmp(a->cluster, cluster) == 0)
			return a;
	}
	return NULL;
}

const struct wckey *draft_wckey(struct draft *d, const char *cluster, const char *user,
				const char *name)
{
	const struct wckey key = { .cluster = cluster, .user_name = user, .name = name };

	return row_now(d, ENTITY_WCKEY, &key, tree_wckey(d->base, cluster, user, name));
}

static const struct coord *base_coord(const struct tree *t, const char *account, const char *user)
{
	const struct tree_rows *rows = tree_rows(t);

	for (size_t i = 0; i < rows->n_coords; i++)
		if (strcmp(rows->coords[i].account, account) == 0 &&
		    strcmp(rows->coords[i].user_name, user) == 0)
			return &rows->coords[i];
	return NULL;
}

const struct coord *draft_coord(struct draft *d, const char *account, const char *user)
{
	const struct coord key = { .account = account, .user_name = user };

	return row_now(d, ENTITY_COORD, &key, base_coord(d->base, account, user));
}

/* ---- touching */

static int modified_field(enum entity_kind kind)
{
	switch ((int)kind) {
	case ENTITY_CLUSTER: return CLUSTER_modified_at;
	case ENTITY_ACCOUNT: return ACCOUNT_modified_at;
	case ENTITY_USER: return USER_modified_at;
	case ENTITY_ASSOC: return ASSOC_modified_at;
	case ENTITY_QOS: return QOS_modified_at;
	case ENTITY_WCKEY: return WCKEY_modified_at;
	default: return -1;
	}
}

/* What the snapshot has of a row that has not been touched. */
static const void *base_row(struct draft *d, enum entity_kind kind, const void *row)
{
	const struct assoc *a = row;
	const struct wckey *w = row;
	const struct coord *c = row;

	switch ((int)kind) {
	case ENTITY_CLUSTER: return draft_cluster(d, ((const struct cluster *)row)->name);
	case ENTITY_ACCOUNT: return draft_account(d, ((const struct account *)row)->name);
	case ENTITY_USER: return draft_user(d, ((const struct user *)row)->name);
	case ENTITY_QOS: return draft_qos(d, ((const struct qos *)row)->name);
	case ENTITY_WCKEY: return draft_wckey(d, w->cluster, w->user_name, w->name);
	case ENTITY_COORD: return draft_coord(d, c->account, c->user_name);
	default: return draft_assoc(d, a->cluster, a->account, a->user_name, a->partition);
	}
}

void *draft_touch(struct draft *d, enum entity_kind kind, const void *row)
{
	const char *key = key_of(d, kind, row);
	struct entry *at = lookup(d, kind, key);
	int modified = modified_field(kind);

	changed(d);
	if (at == NULL) {
		const void *base = base_row(d, kind, row);
		at = insert(d, kind, key);
		at->before = base;
		at->now = memcpy(arena_alloc(d->arena, entities[kind].size), base,
				 entities[kind].size);
	}
	if (modified >= 0 && at->before != NULL)
		row_put_number(&entities[kind], at->now, (size_t)modified, d->rules.now);
	return at->now;
}

static const char *user_key(const struct draft *d, const char *cluster, const char *user)
{
	return arena_printf(d->arena, "%s" SEPARATOR "%s", cluster, user);
}

/* Under a kind that no row has stand the new associations of each user. */
#define OF_USER ENTITIES

static void chain_new(struct draft *d, struct entry *at)
{
	const struct assoc *a = at->now;
	const char *key = user_key(d, a->cluster, a->user_name);
	struct entry *head = lookup(d, OF_USER, key);

	if (head == NULL)
		head = insert(d, OF_USER, key);
	at->next_of_user = head->next_of_user;
	head->next_of_user = at;
}

static void add_cluster(struct draft *d, const struct cluster *c)
{
	const struct cluster **more = ARENA_ARRAY(d->arena, const struct cluster *,
						  d->n_new_clusters + 1);

	if (d->n_new_clusters > 0)
		memcpy(more, d->new_clusters, d->n_new_clusters * sizeof(*more));
	more[d->n_new_clusters++] = c;
	d->new_clusters = more;
}

void *draft_create(struct draft *d, enum entity_kind kind, const void *row)
{
	struct entry *at = insert(d, kind, key_of(d, kind, row));

	changed(d);
	at->now = memcpy(arena_alloc(d->arena, entities[kind].size), row, entities[kind].size);
	if (kind == ENTITY_ASSOC)
		chain_new(d, at);
	if (kind == ENTITY_CLUSTER)
		add_cluster(d, at->now);
	return at->now;
}

void draft_each_of_user(struct draft *d, const char *cluster, const char *user, assoc_visit *visit,
			void *arg)
{
	const struct tree_cluster *c = tree_cluster(d->base, cluster);
	const struct entry *head = lookup(d, OF_USER, user_key(d, cluster, user));
	const int32_t *places;
	size_t n = c != NULL ? tree_of_user(c, user, &places) : 0;

	for (size_t i = 0; i < n; i++) {
		const struct assoc *a = c->nodes[places[i]].own;
		if (!visit(d, row_now(d, ENTITY_ASSOC, a, a), arg))
			return;
	}
	for (const struct entry *at = head != NULL ? head->next_of_user : NULL; at != NULL;
	     at = at->next_of_user)
		if (!visit(d, at->now, arg))
			return;
}

/* ---- numbers */

static struct growth *growth_of(struct draft *d, const char *cluster)
{
	const struct tree_rows *rows = tree_rows(d->base);
	const struct tree_cluster *c;
	struct growth *g = d->growth;

	while (g != NULL && strcmp(g->cluster, cluster) != 0)
		g = g->next;
	if (g != NULL)
		return g;
	g = ARENA_NEW(d->arena, struct growth);
	*g = (struct growth){ cluster, 1, 1, d->growth };
	d->growth = g;
	c = tree_cluster(d->base, cluster);
	if (c != NULL && c->n > 0)
		g->next_assoc = c->nodes[c->by_id[c->n - 1]].own->id + 1;
	for (size_t i = 0; i < rows->n_wckeys; i++)
		if (strcmp(rows->wckeys[i].cluster, cluster) == 0 &&
		    rows->wckeys[i].id >= g->next_wckey)
			g->next_wckey = rows->wckeys[i].id + 1;
	return g;
}

int64_t draft_next_assoc(struct draft *d, const char *cluster)
{
	return growth_of(d, cluster)->next_assoc++;
}

int64_t draft_next_wckey(struct draft *d, const char *cluster)
{
	return growth_of(d, cluster)->next_wckey++;
}

int64_t draft_next_qos(struct draft *d)
{
	const struct tree_rows *rows = tree_rows(d->base);

	if (d->next_qos == 0) {
		d->next_qos = 1;
		for (size_t i = 0; i < rows->n_qos; i++)
			if (rows->qos[i].id >= d->next_qos)
				d->next_qos = rows->qos[i].id + 1;
	}
	return d->next_qos++;
}

/* ---- what is told */

void draft_note(struct draft *d, const char *fmt, ...)
{
	char text[512];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	if (d->n_notes == d->cap_notes) {
		const char **more;
		d->cap_notes = d->cap_notes != 0 ? d->cap_notes * 2 : 16;
		more = ARENA_ARRAY(d->arena, const char *, d->cap_notes);
		if (d->n_notes > 0)
			memcpy(more, d->notes, d->n_notes * sizeof(*more));
		d->notes = more;
	}
	d->notes[d->n_notes++] = arena_strdup(d->arena, text);
}

const char *const *draft_notes(const struct draft *d, size_t *ret_n)
{
	*ret_n = d->n_notes;
	return d->notes;
}

/* Is the row other than it was, apart from when it was changed? */
static bool differs(enum entity_kind kind, const void *before, const void *now)
{
	const struct entity *e = &entities[kind];

	for (size_t i = 0; i < e->n; i++)
		if ((e->fields[i].flags & FF_SHOWN) == 0 && (int)i != modified_field(kind) &&
		    row_field_cmp(&e->fields[i], i, before, now) != 0)
			return true;
	return false;
}

size_t draft_rows(struct draft *d, const struct draft_row **ret)
{
	size_t n = 0;

	d->rows = ARENA_ARRAY(d->arena, struct draft_row, d->n + 1);
	for (size_t i = 0; i < d->n; i++) {
		const struct entry *at = d->entries[i];
		if (at->kind == OF_USER ||
		    (at->before != NULL && !differs(at->kind, at->before, at->now)))
			continue;
		d->rows[n++] = (struct draft_row){ at->kind, at->now, at->before };
	}
	*ret = d->rows;
	return n;
}

void draft_settle(struct draft *d)
{
	for (size_t i = 0; i < d->n; i++) {
		struct entry *at = d->entries[i];
		if (at->kind != OF_USER)
			at->before = memcpy(arena_alloc(d->arena, entities[at->kind].size),
					    at->now, entities[at->kind].size);
	}
	d->n_notes = 0;
}

/* ---- the tree as it would be */

static void *gather(struct draft *d, enum entity_kind kind, const void *base, size_t n_base,
		    size_t *ret_n, struct arena *arena)
{
	const struct entity *e = &entities[kind];
	size_t most = n_base, n = 0;
	char *rows;

	for (size_t i = 0; i < d->n; i++)
		most += d->entries[i]->kind == kind;
	rows = arena_alloc(arena, most * e->size + 1);
	for (size_t i = 0; i < n_base; i++) {
		const char *row = (const char *)base + i * e->size;
		if (d->n > 0 && lookup(d, kind, key_of(d, kind, row)) != NULL)
			continue;
		memcpy(rows + n++ * e->size, row, e->size);
	}
	for (size_t i = 0; i < d->n; i++)
		if (d->entries[i]->kind == kind) {
			const struct coord *c = d->entries[i]->now;
			if (kind == ENTITY_COORD && !living(c, COORD))
				continue;
			memcpy(rows + n++ * e->size, d->entries[i]->now, e->size);
		}
	*ret_n = n;
	return rows;
}

const struct tree *draft_tree(struct draft *d)
{
	const struct tree_rows *base = tree_rows(d->base);
	struct tree_rows rows = *base;
	struct arena *arena;

	if (d->n == 0)
		return d->base;
	if (d->tree != NULL && !d->stale)
		return d->tree;
	tree_unref(d->tree);
	d->stale = false;
	arena = arena_new();
	rows.clusters = gather(d, ENTITY_CLUSTER, base->clusters, base->n_clusters,
			       &rows.n_clusters, arena);
	rows.accounts = gather(d, ENTITY_ACCOUNT, base->accounts, base->n_accounts,
			       &rows.n_accounts, arena);
	rows.users = gather(d, ENTITY_USER, base->users, base->n_users, &rows.n_users, arena);
	rows.assocs = gather(d, ENTITY_ASSOC, base->assocs, base->n_assocs, &rows.n_assocs, arena);
	rows.qos = gather(d, ENTITY_QOS, base->qos, base->n_qos, &rows.n_qos, arena);
	rows.wckeys = gather(d, ENTITY_WCKEY, base->wckeys, base->n_wckeys, &rows.n_wckeys, arena);
	rows.coords = gather(d, ENTITY_COORD, base->coords, base->n_coords, &rows.n_coords, arena);
	d->tree = tree_build(&rows, arena);
	return d->tree;
}

/* ---- names */

#define NAME_BYTES 250 /* as an index takes them */

int draft_name(const struct draft *d, enum entity_kind kind, const char *text, const char **ret,
	       struct err *err)
{
	size_t n = strlen(text);
	char *name;

	while (n > 0 && (*text == ' ' || *text == '\t')) {
		text++;
		n--;
	}
	while (n > 0 && (text[n - 1] == ' ' || text[n - 1] == '\t'))
		n--;
	if (n == 0 || n > NAME_BYTES)
		return err_set(err, ERR_INVALID, "name", n == 0 ? "is empty" :
			       "\"%.40s...\" is longer than %d bytes", text, NAME_BYTES);
	name = arena_strndup(d->arena, text, n);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)name[i] < ' ' || name[i] == 0x7f || name[i] == ',')
			return err_set(err, ERR_INVALID, "name",
				       "\"%.64s\" has a comma or a control character in it", name);
	if (!utf8_valid(name, n))
		return err_set(err, ERR_INVALID, "name", "is not UTF-8");
	if (kind == ENTITY_QOS && (name[0] == '+' || name[0] == '-'))
		return err_set(err, ERR_INVALID, "name", "\"%.64s\" begins with a sign", name);
	if (kind != ENTITY_USER ||
	    (!d->rules.keep_user_case && strpbrk(name, "@\\") == NULL))
		for (size_t i = 0; i < n; i++)
			if (name[i] >= 'A' && name[i] <= 'Z')
				name[i] = (char)(name[i] - 'A' + 'a');
	*ret = name;
	return 0;
}

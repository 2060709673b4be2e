/* ops/tree_state.c: rows as they are said to be: made when they are missing, changed in what is
 * said of them when they are there. */
#include "ops/tree_priv.h"

const char *tree_spelled(struct tree_session *s, enum entity_kind kind, const char *name)
{
	const char *ret;

	return name != NULL && draft_name(s->draft, kind, name, &ret, NULL) == 0 ? ret : "";
}

/* ---- what was put */

#define SEPARATOR "\001"

static const char *put_key(struct tree_session *s, enum entity_kind kind, const char *a,
			   const char *b, const char *c, const char *d)
{
	return arena_printf(s->arena, "%d" SEPARATOR "%s" SEPARATOR "%s" SEPARATOR "%s" SEPARATOR
			    "%s", (int)kind, a, b, c, d);
}

static void remember(struct tree_session *s, const char *key)
{
	names_add(&s->put, key, strlen(key));
}

static const char *key_of(struct tree_session *s, enum entity_kind kind, const void *row)
{
	const struct assoc *a = row;
	const struct wckey *w = row;
	const struct coord *c = row;

	switch ((int)kind) {
	case ENTITY_ASSOC:
		return put_key(s, kind, a->cluster, a->account, a->user_name, a->partition);
	case ENTITY_WCKEY: return put_key(s, kind, w->cluster, w->user_name, w->name, "");
	case ENTITY_COORD: return put_key(s, kind, c->account, c->user_name, "", "");
	case ENTITY_CLUSTER:
		return put_key(s, kind, ((const struct cluster *)row)->name, "", "", "");
	case ENTITY_ACCOUNT:
		return put_key(s, kind, ((const struct account *)row)->name, "", "", "");
	case ENTITY_USER: return put_key(s, kind, ((const struct user *)row)->name, "", "", "");
	default: return put_key(s, kind, ((const struct qos *)row)->name, "", "", "");
	}
}

/* ---- changing what is there */

/* A change without the fields that tell the row. */
static struct change *without(struct tree_session *s, const struct change *change,
			      const size_t *fields, size_t n)
{
	struct change *rest = ARENA_NEW(s->arena, struct change);

	*rest = *change;
	for (size_t i = 0; i < n; i++)
		rest->v[fields[i]] = (struct change_value){ 0 };
	return rest;
}

static int change_row(struct tree_session *s, enum entity_kind kind, const void *row,
		      const struct change *change, const struct texts *clusters, struct err *err)
{
	remember(s, key_of(s, kind, row));
	if (!change_any(change))
		return 0;
	if (tree_may_modify(s, kind, row, change, err) < 0)
		return -1;
	return draft_modify(s->draft, kind, row, change, clusters, err);
}

static bool lives(const void *row, size_t deleted, enum entity_kind kind)
{
	return row != NULL && (!has_bit(row_known(row), deleted) ||
			       row_number(row, &entities[kind].fields[deleted]) == 0);
}

static const char *given(const struct change *c, size_t field)
{
	return c->v[field].how == CHANGE_SET ? c->v[field].text : NULL;
}

/* Living clusters that are named, else all of them. */
static struct texts clusters_of(struct tree_session *s, const struct texts *named)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(s->tree, &n);
	struct texts ret = { ARENA_ARRAY(s->arena, const char *, n + named->n + 1), 0 };

	for (size_t i = 0; i < named->n; i++)
		ret.v[ret.n++] = tree_spelled(s, ENTITY_CLUSTER, named->v[i]);
	for (size_t i = 0; named->n == 0 && i < n; i++)
		if (row_get(c[i].row, CLUSTER, deleted, 0) == 0)
			ret.v[ret.n++] = c[i].row->name;
	return ret;
}

/* The association, if it lives before anything is added; then it is changed after. */
struct there {
	const struct assoc **rows;
	size_t n;
};

static void find_assoc(struct tree_session *s, struct there *there, const char *cluster,
		       const char *account, const char *user, const char *partition)
{
	const struct assoc *a = draft_assoc(s->draft, cluster, account, user, partition);

	remember(s, put_key(s, ENTITY_ASSOC, cluster, account, user, partition));
	if (lives(a, ASSOC_deleted, ENTITY_ASSOC))
		there->rows[there->n++] = a;
}

static int change_assocs(struct tree_session *s, const struct there *there,
			 const struct change *change, struct err *err)
{
	for (size_t i = 0; i < there->n; i++)
		if (change_row(s, ENTITY_ASSOC, there->rows[i], change, NULL, err) < 0)
			return -1;
	return 0;
}

static int add_missing(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	struct draft_add *quiet = ARENA_NEW(s->arena, struct draft_add);

	*quiet = *add;
	quiet->quiet = true;
	return ops_tree_add(s, quiet, err);
}

static int put_account(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	static const size_t key[] = { ACCOUNT_name };
	const char *name = tree_spelled(s, ENTITY_ACCOUNT, given(&add->row, ACCOUNT_name));
	const struct account *old = draft_account(s->draft, name);
	struct texts clusters = { 0 };
	if (!add->nowhere)
		clusters = clusters_of(s, &add->clusters);
	struct there there = { ARENA_ARRAY(s->arena, const struct assoc *, clusters.n + 1), 0 };
	struct change *limits = ARENA_NEW(s->arena, struct change);
	bool was = lives(old, ACCOUNT_deleted, ENTITY_ACCOUNT);

	remember(s, put_key(s, ENTITY_ACCOUNT, name, "", "", ""));
	for (size_t i = 0; i < clusters.n; i++)
		find_assoc(s, &there, clusters.v[i], name, "", "");
	if (add_missing(s, add, err) < 0)
		return -1;
	if (was && change_row(s, ENTITY_ACCOUNT, old, without(s, &add->row, key, 1), NULL, err) < 0)
		return -1;
	*limits = add->assoc;
	if (add->parent != NULL)
		change_set_text(limits, ASSOC_parent, add->parent);
	return change_assocs(s, &there, limits, err);
}

/* What GET answers for a user who has no default, or several. */
static struct draft_add *without_no_defaults(struct tree_session *s, const struct draft_add *add)
{
	static const size_t fields[] = { USER_default_account, USER_default_wckey };
	struct draft_add *rest = ARENA_NEW(s->arena, struct draft_add);

	*rest = *add;
	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (rest->row.v[fields[i]].how == CHANGE_CLEAR)
			rest->row.v[fields[i]] = (struct change_value){ 0 };
	return rest;
}

static int put_user(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	static const size_t key[] = { USER_name };
	const char *name = tree_spelled(s, ENTITY_USER, given(&add->row, USER_name));
	const struct user *old = draft_user(s->draft, name);
	struct texts clusters = clusters_of(s, &add->clusters);
	size_t n_parts = add->partitions.n > 0 ? add->partitions.n : 1;
	struct there there = { ARENA_ARRAY(s->arena, const struct assoc *,
					   clusters.n * add->accounts.n * n_parts + 1), 0 };
	bool was = lives(old, USER_deleted, ENTITY_USER);

	remember(s, put_key(s, ENTITY_USER, name, "", "", ""));
	for (size_t i = 0; i < clusters.n; i++) {
		for (size_t k = 0; k < add->accounts.n; k++)
			for (size_t p = 0; p < n_parts; p++)
				find_assoc(s, &there, clusters.v[i],
					   tree_spelled(s, ENTITY_ACCOUNT, add->accounts.v[k]),
					   name, add->partitions.n > 0 ? add->partitions.v[p] : "");
		for (size_t k = 0; k < add->wckeys.n; k++)
			remember(s, put_key(s, ENTITY_WCKEY, clusters.v[i], name,
					    tree_spelled(s, ENTITY_WCKEY, add->wckeys.v[k]), ""));
	}
	if (add_missing(s, add, err) < 0)
		return -1;
	if (was && change_row(s, ENTITY_USER, old, without(s, &add->row, key, 1), &add->clusters,
			      err) < 0)
		return -1;
	return change_assocs(s, &there, &add->assoc, err);
}

static int put_assoc(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	static const size_t key[] = { ASSOC_cluster, ASSOC_account, ASSOC_user_name,
				      ASSOC_partition };
	const char *cluster = given(&add->row, ASSOC_cluster);
	const char *partition = given(&add->row, ASSOC_partition);
	struct texts clusters = clusters_of(s, &(struct texts){ &cluster, cluster != NULL });
	struct there there = { ARENA_ARRAY(s->arena, const struct assoc *, clusters.n + 1), 0 };
	struct change *limits = without(s, &add->row, key, ARRAY_LEN(key));

	for (size_t i = 0; i < clusters.n; i++)
		find_assoc(s, &there, clusters.v[i],
			   tree_spelled(s, ENTITY_ACCOUNT, given(&add->row, ASSOC_account)),
			   tree_spelled(s, ENTITY_USER, given(&add->row, ASSOC_user_name)),
			   partition != NULL ? partition : "");
	if (add_missing(s, add, err) < 0)
		return -1;
	/* What GET answers for a user's, and for the root's. */
	if (limits->v[ASSOC_parent].how == CHANGE_SET && limits->v[ASSOC_parent].text[0] == '\0')
		limits->v[ASSOC_parent] = (struct change_value){ 0 };
	if (limits->v[ASSOC_is_default].how == CHANGE_SET &&
	    limits->v[ASSOC_is_default].number == 0)
		limits->v[ASSOC_is_default] = (struct change_value){ 0 };
	return change_assocs(s, &there, limits, err);
}

static int put_qos(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	static const size_t key[] = { QOS_name };
	const char *name = tree_spelled(s, ENTITY_QOS, given(&add->row, QOS_name));
	const struct qos *old = draft_qos(s->draft, name);

	remember(s, put_key(s, ENTITY_QOS, name, "", "", ""));
	if (!lives(old, QOS_deleted, ENTITY_QOS))
		return ops_tree_add(s, add, err);
	return change_row(s, ENTITY_QOS, old, without(s, &add->row, key, 1), NULL, err);
}

static int put_cluster(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	static const size_t key[] = { CLUSTER_name };
	const char *name = tree_spelled(s, ENTITY_CLUSTER, given(&add->row, CLUSTER_name));
	const struct cluster *old = draft_cluster(s->draft, name);
	struct there there = { ARENA_ARRAY(s->arena, const struct assoc *, 1), 0 };

	remember(s, put_key(s, ENTITY_CLUSTER, name, "", "", ""));
	if (!lives(old, CLUSTER_deleted, ENTITY_CLUSTER))
		return ops_tree_add(s, add, err);
	find_assoc(s, &there, name, ROOT_ACCOUNT, "", "");
	if (change_row(s, ENTITY_CLUSTER, old, without(s, &add->row, key, 1), NULL, err) < 0)
		return -1;
	return change_assocs(s, &there, &add->assoc, err);
}

static int put_wckey(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	const char *cluster = given(&add->row, WCKEY_cluster);
	struct texts clusters = clusters_of(s, &(struct texts){ &cluster, cluster != NULL });

	for (size_t i = 0; i < clusters.n; i++)
		remember(s, put_key(s, ENTITY_WCKEY, clusters.v[i],
				    tree_spelled(s, ENTITY_USER, given(&add->row, WCKEY_user_name)),
				    tree_spelled(s, ENTITY_WCKEY, given(&add->row, WCKEY_name)),
				    ""));
	return add_missing(s, add, err);
}

static int put_coord(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	remember(s,
		 put_key(s, ENTITY_COORD,
			 tree_spelled(s, ENTITY_ACCOUNT, given(&add->row, COORD_account)),
			 tree_spelled(s, ENTITY_USER, given(&add->row, COORD_user_name)), "", ""));
	return add_missing(s, add, err);
}

int ops_tree_put(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	switch ((int)(add->row.entity - entities)) {
	case ENTITY_ACCOUNT: return put_account(s, add, err);
	case ENTITY_USER: return put_user(s, without_no_defaults(s, add), err);
	case ENTITY_ASSOC: return put_assoc(s, add, err);
	case ENTITY_QOS: return put_qos(s, add, err);
	case ENTITY_CLUSTER: return put_cluster(s, add, err);
	case ENTITY_WCKEY: return put_wckey(s, add, err);
	case ENTITY_COORD: return put_coord(s, add, err);
	default: return err_set(err, ERR_INVALID, NULL, "a %s is not put", add->row.entity->name);
	}
}

/* ---- what was not put */

static bool is_kept(enum entity_kind kind, const void *row)
{
	const struct assoc *a = row;

	switch ((int)kind) {
	case ENTITY_ACCOUNT: return strcmp(((const struct account *)row)->name, ROOT_ACCOUNT) == 0;
	case ENTITY_USER: return strcmp(((const struct user *)row)->name, "root") == 0;
	case ENTITY_QOS: return strcmp(((const struct qos *)row)->name, ROOT_QOS) == 0;
	case ENTITY_ASSOC: return a->id == ASSOC_ROOT || a->id == ASSOC_ROOT_USER;
	default: return false;
	}
}

int ops_tree_remove_others(struct tree_session *s, enum entity_kind kind, struct err *err)
{
	const struct tree_where all = { .exact_users = true };
	const void **rows;
	size_t n, left = 0;

	n = tree_select(draft_tree(s->draft), kind, &all, s->arena, &rows);
	for (size_t i = 0; i < n; i++) {
		const char *key = key_of(s, kind, rows[i]);
		if (is_kept(kind, rows[i]) || names_has(&s->put, key, strlen(key)))
			continue;
		if (tree_may_remove(s, kind, rows[i], err) < 0)
			return -1;
		rows[left++] = rows[i];
	}
	return left > 0 ? draft_remove(s->draft, kind, rows, left, err) : 0;
}

/* core/draft_add.c: what is added: one association at a time, and the rows it needs. */
#include "core/draft_priv.h"

#include "core/list.h"
#include "core/words.h"

void draft_add_init(struct draft_add *add, enum entity_kind kind)
{
	*add = (struct draft_add){ 0 };
	change_init(&add->row, &entities[kind]);
	change_init(&add->assoc, &entities[ENTITY_ASSOC]);
}

static int named_clusters(struct draft *d, const struct texts *named, struct texts *ret,
			  struct err *err)
{
	ret->v = ARENA_ARRAY(d->arena, const char *, named->n);
	for (size_t i = 0; i < named->n; i++) {
		if (draft_name(d, ENTITY_CLUSTER, named->v[i], &ret->v[ret->n], err) < 0)
			return -1;
		if (!living(draft_cluster(d, ret->v[ret->n]), CLUSTER))
			return err_set(err, ERR_NOT_FOUND, "cluster", "no cluster \"%s\"",
				       ret->v[ret->n]);
		ret->n++;
	}
	return 0;
}

int draft_clusters(struct draft *d, const struct texts *named, struct texts *ret, struct err *err)
{
	const struct tree_rows *base = tree_rows(d->base);

	ret->n = 0;
	if (named->n > 0)
		return named_clusters(d, named, ret, err);
	ret->v = ARENA_ARRAY(d->arena, const char *, base->n_clusters + d->n_new_clusters + 1);
	for (size_t i = 0; i < base->n_clusters; i++)
		if (living(draft_cluster(d, base->clusters[i].name), CLUSTER))
			ret->v[ret->n++] = base->clusters[i].name;
	for (size_t i = 0; i < d->n_new_clusters; i++)
		if (living(d->new_clusters[i], CLUSTER))
			ret->v[ret->n++] = d->new_clusters[i]->name;
	if (ret->n == 0)
		return err_set(err, ERR_NOT_FOUND, "cluster", "there is no cluster yet");
	return 0;
}

/* ---- QOS named in a row */

static int check_qos_name(struct draft *d, const char *name, size_t len, struct err *err)
{
	const char *qos = arena_strndup(d->arena, name, len);

	if (living(draft_qos(d, qos), QOS))
		return 0;
	return err_set(err, ERR_INVALID, "qos", "no QOS \"%s\"", qos);
}

static int check_list(struct draft *d, const char *list, struct err *err)
{
	const char *name;
	size_t len;

	for (const char *at = list; list_next(&at, &name, &len);) {
		bool sign = list_is_change(list);
		if (check_qos_name(d, name + sign, len - sign, err) < 0)
			return -1;
	}
	return 0;
}

int draft_check_qos(struct draft *d, enum entity_kind kind, const void *row, struct err *err)
{
	const struct assoc *a = row;
	const struct qos *q = row;

	if (kind == ENTITY_QOS)
		return row_has(q, QOS, preempt) ? check_list(d, q->preempt, err) : 0;
	if (row_has(a, ASSOC, qos) && check_list(d, a->qos, err) < 0)
		return -1;
	if (!row_has(a, ASSOC, default_qos))
		return 0;
	return check_qos_name(d, a->default_qos, strlen(a->default_qos), err);
}

/* ---- defaults */

struct default_walk {
	const struct assoc *found; /* living */
	bool any_default;
};

static bool clear_default(struct draft *d, const struct assoc *a, void *arg)
{
	const struct assoc *chosen = arg;

	if (a->id != chosen->id && row_get(a, ASSOC, is_default, 0) != 0) {
		struct assoc *other = draft_touch(d, ENTITY_ASSOC, a);
		row_set(other, ASSOC, is_default, 0);
	}
	return true;
}

void draft_make_default(struct draft *d, const struct assoc *a)
{
	struct assoc *row = draft_touch(d, ENTITY_ASSOC, a);

	draft_each_of_user(d, row->cluster, row->user_name, clear_default, row);
	row_set(row, ASSOC, is_default, 1);
}

/* The one for all partitions before those for one; then the oldest. */
static bool is_better(const struct assoc *a, const struct assoc *than)
{
	bool all_a = a->partition[0] == '\0', all_b = than->partition[0] == '\0';

	return all_a != all_b ? all_a : a->id < than->id;
}

static bool look_for_default(struct draft *d, const struct assoc *a, void *arg)
{
	struct default_walk *w = arg;

	(void)d;
	if (assoc_is_deleted(a))
		return true;
	w->any_default |= row_get(a, ASSOC, is_default, 0) != 0;
	if (w->found == NULL || is_better(a, w->found))
		w->found = a;
	return true;
}

void draft_find_default(struct draft *d, const char *cluster, const char *user)
{
	struct default_walk w = { 0 };

	draft_each_of_user(d, cluster, user, look_for_default, &w);
	if (w.any_default)
		return;
	if (w.found == NULL) {
		draft_note(d, "%s has no account on %s any more", user, cluster);
		return;
	}
	draft_note(d, "the default account of %s on %s is now %s", user, cluster, w.found->account);
	draft_make_default(d, w.found);
}

/* ---- rows that others need */

struct user *draft_ensure_user(struct draft *d, const char *name)
{
	const struct user *old = draft_user(d, name);
	struct user u = { 0 }, *row;

	if (living(old, USER))
		return draft_touch(d, ENTITY_USER, old);
	if (old != NULL) {
		row = draft_touch(d, ENTITY_USER, old);
		row_set(row, USER, deleted, 0);
		row_set(row, USER, admin_level, ADMIN_NONE);
		return row;
	}
	row_set(&u, USER, name, name);
	row_set(&u, USER, admin_level, ADMIN_NONE);
	row_set(&u, USER, created_at, d->rules.now);
	row_set(&u, USER, deleted, 0);
	row_set(&u, USER, made_by_record, d->rules.by_record);
	return draft_create(d, ENTITY_USER, &u);
}

/* What was set goes; what it is and since when stays. */
static void reset_row(enum entity_kind kind, void *row)
{
	const struct entity *e = &entities[kind];

	for (size_t i = 0; i < e->n; i++)
		if ((e->fields[i].flags & (FF_KEY | FF_OURS | FF_SHOWN)) == 0)
			has_clear(row_bits(row), i);
}

/* ---- associations */

struct place {
	const char *cluster, *account, *user, *partition;
	const struct assoc *above;
};

static struct assoc *revive_assoc(struct draft *d, const struct assoc *old, const struct place *p)
{
	struct assoc *a = draft_touch(d, ENTITY_ASSOC, old);

	reset_row(ENTITY_ASSOC, a);
	row_set(a, ASSOC, account, p->account);
	row_set(a, ASSOC, user_name, p->user);
	row_set(a, ASSOC, partition, p->partition);
	row_set(a, ASSOC, deleted, 0);
	return a;
}

static struct assoc *create_assoc(struct draft *d, const struct place *p)
{
	struct assoc a = { 0 };

	row_set(&a, ASSOC, cluster, p->cluster);
	row_set(&a, ASSOC, id, draft_next_assoc(d, p->cluster));
	row_set(&a, ASSOC, account, p->account);
	row_set(&a, ASSOC, user_name, p->user);
	row_set(&a, ASSOC, partition, p->partition);
	row_set(&a, ASSOC, created_at, d->rules.now);
	row_set(&a, ASSOC, deleted, 0);
	return draft_create(d, ENTITY_ASSOC, &a);
}

static int set_assoc(struct draft *d, struct assoc *a, const struct change *limits, struct err *err)
{
	struct default_walk w = { 0 };
	bool wanted;

	change_apply(limits, a, d->arena);
	if (!row_has(a, ASSOC, shares))
		row_set(a, ASSOC, shares, 1);
	wanted = row_get(a, ASSOC, is_default, 0) != 0 && assoc_is_user(a);
	row_set(a, ASSOC, is_default, 0);
	row_set(a, ASSOC, made_by_record, d->rules.by_record);
	if (draft_check_qos(d, ENTITY_ASSOC, a, err) < 0)
		return -1;
	if (!assoc_is_user(a))
		return 0;
	draft_each_of_user(d, a->cluster, a->user_name, look_for_default, &w);
	if (wanted || !w.any_default)
		draft_make_default(d, a);
	return 0;
}

static int find_above(struct draft *d, struct place *p, const char *parent, struct err *err)
{
	if (p->user[0] != '\0') {
		p->above = draft_assoc(d, p->cluster, p->account, "", "");
		if (!living(p->above, ASSOC))
			return err_set(err, ERR_NOT_FOUND, "account",
				       "account \"%s\" is not on cluster \"%s\"", p->account,
				       p->cluster);
		return 0;
	}
	p->above = draft_assoc(d, p->cluster, parent != NULL ? parent : ROOT_ACCOUNT, "", "");
	if (!living(p->above, ASSOC))
		return err_set(err, ERR_NOT_FOUND, "parent",
			       "no parent account \"%s\" on cluster \"%s\"",
			       parent != NULL ? parent : ROOT_ACCOUNT, p->cluster);
	return 0;
}

static int add_assoc(struct draft *d, struct place p, const char *parent,
		     const struct change *limits, struct err *err)
{
	const struct assoc *old = draft_assoc(d, p.cluster, p.account, p.user, p.partition);
	struct assoc *a;

	if (!living(draft_account(d, p.account), ACCOUNT))
		return err_set(err, ERR_NOT_FOUND, "account", "no account \"%s\"", p.account);
	if (living(old, ASSOC)) {
		draft_note(d, "%s%s%s%s%s is on %s already", p.account,
			   p.user[0] != '\0' ? ", user " : "", p.user,
			   p.partition[0] != '\0' ? ", partition " : "", p.partition, p.cluster);
		return 0;
	}
	if (find_above(d, &p, parent, err) < 0)
		return -1;
	if (p.user[0] != '\0')
		draft_ensure_user(d, p.user);
	a = old != NULL ? revive_assoc(d, old, &p) : create_assoc(d, &p);
	row_set(a, ASSOC, parent_id, p.above->id);
	return set_assoc(d, a, limits, err);
}

/* ---- accounts */

/* A text that the change gives the row; NULL when it says nothing of it. */
static const char *given_text(const struct change *c, size_t field)
{
	return c->v[field].how == CHANGE_SET ? c->v[field].text : NULL;
}

static int name_of(struct draft *d, const struct change *c, size_t field, enum entity_kind kind,
		   const char **ret, struct err *err)
{
	const char *text = given_text(c, field);

	if (text == NULL)
		return err_set(err, ERR_INVALID, entities[c->entity - entities].fields[field].json,
			       "is needed");
	return draft_name(d, kind, text, ret, err);
}

static struct account *create_account(struct draft *d, const char *name)
{
	struct account a = { 0 };

	row_set(&a, ACCOUNT, name, name);
	row_set(&a, ACCOUNT, created_at, d->rules.now);
	row_set(&a, ACCOUNT, deleted, 0);
	row_set(&a, ACCOUNT, made_by_record, d->rules.by_record);
	return draft_create(d, ENTITY_ACCOUNT, &a);
}

static void ensure_account(struct draft *d, const char *name, const char *parent,
			   const struct change *change)
{
	const struct account *old = draft_account(d, name);
	struct account *row;

	if (living(old, ACCOUNT))
		return;
	if (old == NULL) {
		row = create_account(d, name);
	} else {
		row = draft_touch(d, ENTITY_ACCOUNT, old);
		reset_row(ENTITY_ACCOUNT, row);
		row_set(row, ACCOUNT, deleted, 0);
	}
	if (change != NULL)
		change_apply(change, row, d->arena);
	row_set(row, ACCOUNT, name, name); /* as it is spelled here */
	if (!row_has(row, ACCOUNT, description))
		row_set(row, ACCOUNT, description, name);
	if (!row_has(row, ACCOUNT, organization))
		row_set(row, ACCOUNT, organization,
			strcmp(parent, ROOT_ACCOUNT) != 0 ? parent : name);
}

static int add_account(struct draft *d, const struct draft_add *add, struct err *err)
{
	const char *name, *parent = ROOT_ACCOUNT;
	struct texts clusters = { 0 };

	if (name_of(d, &add->row, ACCOUNT_name, ENTITY_ACCOUNT, &name, err) < 0 ||
	    (add->parent != NULL &&
	     draft_name(d, ENTITY_ACCOUNT, add->parent, &parent, err) < 0) ||
	    (!add->nowhere && draft_clusters(d, &add->clusters, &clusters, err) < 0))
		return -1;
	ensure_account(d, name, parent, &add->row);
	for (size_t i = 0; i < clusters.n; i++)
		if (add_assoc(d, (struct place){ clusters.v[i], name, "", "", NULL }, parent,
			      &add->assoc, err) < 0)
			return -1;
	return 0;
}

/* ---- users */

static int add_in_partitions(struct draft *d, const struct draft_add *add, struct place p,
			     struct err *err)
{
	if (add->partitions.n == 0)
		return add_assoc(d, p, NULL, &add->assoc, err);
	for (size_t i = 0; i < add->partitions.n; i++) {
		p.partition = add->partitions.v[i];
		if (add_assoc(d, p, NULL, &add->assoc, err) < 0)
			return -1;
	}
	return 0;
}

static int add_in_accounts(struct draft *d, const struct draft_add *add, const char *user,
			   const char *cluster, struct err *err)
{
	for (size_t i = 0; i < add->accounts.n; i++) {
		struct place p = { cluster, NULL, user, "", NULL };
		if (draft_name(d, ENTITY_ACCOUNT, add->accounts.v[i], &p.account, err) < 0 ||
		    add_in_partitions(d, add, p, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < add->wckeys.n; i++)
		if (draft_add_wckey(d, cluster, user, add->wckeys.v[i], err) < 0)
			return -1;
	return 0;
}

static int add_user(struct draft *d, const struct draft_add *add, struct err *err)
{
	const char *name;
	struct texts clusters = { 0 };
	struct user *row;

	if (name_of(d, &add->row, USER_name, ENTITY_USER, &name, err) < 0)
		return -1;
	if (add->accounts.n + add->wckeys.n > 0 &&
	    draft_clusters(d, &add->clusters, &clusters, err) < 0)
		return -1;
	if (living(draft_user(d, name), USER)) {
		if (clusters.n == 0)
			draft_note(d, "user %s is there already", name);
	} else {
		row = draft_ensure_user(d, name);
		change_apply(&add->row, row, d->arena);
		row_set(row, USER, name, name);
		if (!row_has(row, USER, admin_level))
			row_set(row, USER, admin_level, ADMIN_NONE);
	}
	for (size_t i = 0; i < clusters.n; i++)
		if (add_in_accounts(d, add, name, clusters.v[i], err) < 0)
			return -1;
	if (!change_has(&add->row, USER_default_account) &&
	    !change_has(&add->row, USER_default_wckey))
		return 0;
	return draft_modify(d, ENTITY_USER, draft_user(d, name), &add->row, &clusters, err);
}

/* ---- an association by itself */

static int add_plain_assoc(struct draft *d, const struct draft_add *add, struct err *err)
{
	const char *cluster = given_text(&add->row, ASSOC_cluster);
	const char *user = given_text(&add->row, ASSOC_user_name);
	const char *partition = given_text(&add->row, ASSOC_partition);
	const char *parent = given_text(&add->row, ASSOC_parent);
	struct place p = { .user = "", .partition = partition != NULL ? partition : "" };
	struct texts one = { &cluster, cluster != NULL }, clusters;
	struct change limits = add->row;
	static const enum assoc_field key[] = { ASSOC_cluster, ASSOC_account, ASSOC_user_name,
						ASSOC_partition, ASSOC_parent };

	for (size_t i = 0; i < ARRAY_LEN(key); i++)
		limits.v[key[i]] = (struct change_value){ 0 };
	if (name_of(d, &add->row, ASSOC_account, ENTITY_ACCOUNT, &p.account, err) < 0 ||
	    (user != NULL && user[0] != '\0' &&
	     draft_name(d, ENTITY_USER, user, &p.user, err) < 0) ||
	    (parent != NULL && parent[0] != '\0' &&
	     draft_name(d, ENTITY_ACCOUNT, parent, &parent, err) < 0) ||
	    draft_clusters(d, &one, &clusters, err) < 0)
		return -1;
	if (p.user[0] == '\0' && p.partition[0] != '\0')
		return err_set(err, ERR_INVALID, "partition", "is for associations of users");
	for (size_t i = 0; i < clusters.n; i++) {
		p.cluster = clusters.v[i];
		if (add_assoc(d, p, parent != NULL && parent[0] != '\0' ? parent : NULL, &limits,
			      err) < 0)
			return -1;
	}
	return 0;
}

/* ---- QOS, wckeys, coordinators, clusters */

static int add_qos(struct draft *d, const struct draft_add *add, struct err *err)
{
	const struct qos *old;
	struct qos q = { 0 }, *row;
	const char *name;

	if (name_of(d, &add->row, QOS_name, ENTITY_QOS, &name, err) < 0)
		return -1;
	old = draft_qos(d, name);
	if (living(old, QOS)) {
		draft_note(d, "QOS %s is there already", name);
		return 0;
	}
	if (old == NULL) {
		row_set(&q, QOS, name, name);
		row_set(&q, QOS, id, draft_next_qos(d));
		row_set(&q, QOS, created_at, d->rules.now);
		row = draft_create(d, ENTITY_QOS, &q);
	} else {
		row = draft_touch(d, ENTITY_QOS, old);
		reset_row(ENTITY_QOS, row);
	}
	change_apply(&add->row, row, d->arena);
	row_set(row, QOS, name, name);
	row_set(row, QOS, deleted, 0);
	row_set(row, QOS, made_by_record, d->rules.by_record);
	if (!row_has(row, QOS, description))
		row_set(row, QOS, description, name);
	if (!row_has(row, QOS, priority))
		row_set(row, QOS, priority, 0);
	if (!row_has(row, QOS, usage_factor))
		row_set(row, QOS, usage_factor, FACTOR_ONE);
	return draft_check_qos(d, ENTITY_QOS, row, err);
}

static void clear_default_wckey(struct draft *d, const struct wckey *w, const struct wckey *chosen)
{
	if (w == NULL || w->id == chosen->id || strcmp(w->cluster, chosen->cluster) != 0 ||
	    strcmp(w->user_name, chosen->user_name) != 0 || row_get(w, WCKEY, is_default, 0) == 0)
		return;
	struct wckey *other = draft_touch(d, ENTITY_WCKEY, w);
	row_set(other, WCKEY, is_default, 0);
}

void draft_make_default_wckey(struct draft *d, const struct wckey *w)
{
	struct wckey *row = draft_touch(d, ENTITY_WCKEY, w);
	const struct wckey *old = tree_default_wckey(d->base, row->cluster, row->user_name);

	if (old != NULL)
		clear_default_wckey(d, draft_wckey(d, old->cluster, old->user_name, old->name),
				    row);
	for (size_t i = 0; i < d->n; i++)
		if (d->entries[i]->kind == ENTITY_WCKEY)
			clear_default_wckey(d, d->entries[i]->now, row);
	row_set(row, WCKEY, is_default, 1);
}

int draft_add_wckey(struct draft *d, const char *cluster, const char *user, const char *name,
		    struct err *err)
{
	const struct wckey *old;
	struct wckey w = { 0 }, *row;

	if (draft_name(d, ENTITY_WCKEY, name, &name, err) < 0)
		return -1;
	draft_ensure_user(d, user);
	old = draft_wckey(d, cluster, user, name);
	if (living(old, WCKEY)) {
		draft_note(d, "wckey %s of %s is on %s already", name, user, cluster);
		return 0;
	}
	if (old != NULL) {
		row = draft_touch(d, ENTITY_WCKEY, old);
	} else {
		row_set(&w, WCKEY, cluster, cluster);
		row_set(&w, WCKEY, id, draft_next_wckey(d, cluster));
		row_set(&w, WCKEY, name, name);
		row_set(&w, WCKEY, user_name, user);
		row_set(&w, WCKEY, created_at, d->rules.now);
		row = draft_create(d, ENTITY_WCKEY, &w);
	}
	row_set(row, WCKEY, deleted, 0);
	row_set(row, WCKEY, is_default, 0);
	row_set(row, WCKEY, made_by_record, d->rules.by_record);
	return 0;
}

static int add_wckey(struct draft *d, const struct draft_add *add, struct err *err)
{
	const char *cluster = given_text(&add->row, WCKEY_cluster), *name, *user;
	struct texts one = { &cluster, cluster != NULL }, clusters;
	bool is_default = add->row.v[WCKEY_is_default].number != 0;

	if (name_of(d, &add->row, WCKEY_name, ENTITY_WCKEY, &name, err) < 0 ||
	    name_of(d, &add->row, WCKEY_user_name, ENTITY_USER, &user, err) < 0 ||
	    draft_clusters(d, &one, &clusters, err) < 0)
		return -1;
	for (size_t i = 0; i < clusters.n; i++) {
		if (draft_add_wckey(d, clusters.v[i], user, name, err) < 0)
			return -1;
		if (is_default)
			draft_make_default_wckey(d, draft_wckey(d, clusters.v[i], user, name));
	}
	return 0;
}

static int add_coord(struct draft *d, const struct draft_add *add, struct err *err)
{
	const struct coord *old;
	struct coord c = { 0 }, *row;
	const char *account, *user;

	if (name_of(d, &add->row, COORD_account, ENTITY_ACCOUNT, &account, err) < 0 ||
	    name_of(d, &add->row, COORD_user_name, ENTITY_USER, &user, err) < 0)
		return -1;
	if (!living(draft_account(d, account), ACCOUNT))
		return err_set(err, ERR_NOT_FOUND, "account", "no account \"%s\"", account);
	if (!living(draft_user(d, user), USER))
		return err_set(err, ERR_NOT_FOUND, "user", "no user \"%s\"", user);
	old = draft_coord(d, account, user);
	if (living(old, COORD)) {
		draft_note(d, "%s coordinates %s already", user, account);
		return 0;
	}
	if (old == NULL) {
		row_set(&c, COORD, account, account);
		row_set(&c, COORD, user_name, user);
		row = draft_create(d, ENTITY_COORD, &c);
	} else {
		row = draft_touch(d, ENTITY_COORD, old);
	}
	row_set(row, COORD, created_at, d->rules.now);
	row_set(row, COORD, deleted, 0);
	return 0;
}

/* The two associations that every cluster has. */
static void plant(struct draft *d, const char *cluster)
{
	const struct assoc *root = draft_assoc(d, cluster, ROOT_ACCOUNT, "", "");
	struct place p = { cluster, ROOT_ACCOUNT, "", "", NULL };
	struct assoc *a;

	if (root == NULL) {
		a = create_assoc(d, &p);
		row_set(a, ASSOC, shares, 1);
		row_set(a, ASSOC, is_default, 0);
		row_set(a, ASSOC, qos, ROOT_QOS);
		row_set(a, ASSOC, made_by_record, 0);
	}
	if (draft_assoc(d, cluster, ROOT_ACCOUNT, "root", "") == NULL) {
		p.user = "root";
		a = create_assoc(d, &p);
		row_set(a, ASSOC, parent_id, ASSOC_ROOT);
		row_set(a, ASSOC, shares, 1);
		row_set(a, ASSOC, is_default, 1);
		row_set(a, ASSOC, made_by_record, 0);
	}
}

static int add_cluster(struct draft *d, const struct draft_add *add, struct err *err)
{
	const struct cluster *old;
	struct cluster c = { 0 }, *row;
	const char *name;
	struct assoc *root;

	if (name_of(d, &add->row, CLUSTER_name, ENTITY_CLUSTER, &name, err) < 0)
		return -1;
	old = draft_cluster(d, name);
	if (living(old, CLUSTER)) {
		draft_note(d, "cluster %s is there already", name);
		return 0;
	}
	if (old == NULL) {
		row_set(&c, CLUSTER, name, name);
		row_set(&c, CLUSTER, registered_at, d->rules.now);
		row = draft_create(d, ENTITY_CLUSTER, &c);
	} else {
		row = draft_touch(d, ENTITY_CLUSTER, old);
	}
	change_apply(&add->row, row, d->arena);
	row_set(row, CLUSTER, name, name);
	row_set(row, CLUSTER, deleted, 0);
	plant(d, name);
	if (!change_any(&add->assoc))
		return 0;
	root = draft_touch(d, ENTITY_ASSOC, draft_assoc(d, name, ROOT_ACCOUNT, "", ""));
	change_apply(&add->assoc, root, d->arena);
	return draft_check_qos(d, ENTITY_ASSOC, root, err);
}

static int add_row(struct draft *d, const struct draft_add *add, struct err *err)
{
	switch ((int)(add->row.entity - entities)) {
	case ENTITY_CLUSTER: return add_cluster(d, add, err);
	case ENTITY_ACCOUNT: return add_account(d, add, err);
	case ENTITY_USER: return add_user(d, add, err);
	case ENTITY_ASSOC: return add_plain_assoc(d, add, err);
	case ENTITY_QOS: return add_qos(d, add, err);
	case ENTITY_WCKEY: return add_wckey(d, add, err);
	case ENTITY_COORD: return add_coord(d, add, err);
	default: return err_set(err, ERR_INVALID, NULL, "a %s cannot be added",
				add->row.entity->name);
	}
}

int draft_add(struct draft *d, const struct draft_add *add, struct err *err)
{
	size_t notes = d->n_notes;
	int rc = add_row(d, add, err);

	/* Adding says nothing else. */
	if (add->quiet)
		d->n_notes = notes;
	return rc;
}

/* ---- what jobs need */

/* In the snapshot, or made for a job before. */
static bool has_place(struct draft *d, const struct draft_need *need, const struct tree_who *who)
{
	const struct tree_cluster *c = tree_cluster(d->base, need->cluster);
	const char *account = who->account[0] != '\0' ? who->account : ROOT_ACCOUNT;
	struct default_walk w = { 0 };

	if ((c != NULL && tree_place(c, who) >= 0) ||
	    draft_assoc(d, need->cluster, account, who->user, "") != NULL)
		return true;
	if (who->account[0] == '\0')
		draft_each_of_user(d, need->cluster, who->user, look_for_default, &w);
	return w.any_default;
}

/* The tree's own spelling where it knows the name in lower case only. */
static const char *spelled(struct draft *d, enum entity_kind kind, const char *name)
{
	const char *folded;

	if (name == NULL || name[0] == '\0')
		return "";
	if (kind == ENTITY_ACCOUNT ? draft_account(d, name) != NULL : draft_user(d, name) != NULL)
		return name;
	return draft_name(d, kind, name, &folded, NULL) == 0 ? folded : "";
}

static int ensure_place(struct draft *d, const struct draft_need *need, struct tree_who who,
			struct err *err)
{
	static const struct change nothing = { .entity = &entities[ENTITY_ASSOC] };
	const char *account = who.account[0] != '\0' ? who.account : ROOT_ACCOUNT;
	struct place p = { need->cluster, account, "", "", NULL };

	ensure_account(d, account, ROOT_ACCOUNT, NULL);
	if (!living(draft_assoc(d, p.cluster, account, "", ""), ASSOC) &&
	    add_assoc(d, p, NULL, &nothing, err) < 0)
		return -1;
	p.user = who.user;
	return p.user[0] != '\0' ? add_assoc(d, p, NULL, &nothing, err) : 0;
}

static int ensure_qos(struct draft *d, const char *name, struct err *err)
{
	struct draft_add add;

	if (name == NULL || name[0] == '\0' || draft_qos(d, name) != NULL)
		return 0;
	draft_add_init(&add, ENTITY_QOS);
	change_set_text(&add.row, QOS_name, name);
	return add_qos(d, &add, err);
}

static void learn_uid(struct draft *d, const char *name, int64_t uid)
{
	const struct user *u = draft_user(d, name);
	struct user *row;

	if (u == NULL || uid < 0 || row_has(u, USER, uid))
		return;
	row = draft_touch(d, ENTITY_USER, u);
	row_set(row, USER, uid, uid);
}

int draft_ensure(struct draft *d, const struct draft_need *need, struct err *err)
{
	struct tree_who who = need->who;
	const struct user *known = NULL;
	const char *wckey = need->wckey != NULL ? need->wckey : "";

	if ((who.user == NULL || who.user[0] == '\0') && need->uid >= 0)
		known = tree_user_by_uid(d->base, need->uid);
	who.user = known != NULL ? known->name : spelled(d, ENTITY_USER, who.user);
	who.account = spelled(d, ENTITY_ACCOUNT, who.account);
	if (!has_place(d, need, &who) && ensure_place(d, need, who, err) < 0)
		return -1;
	if (who.user[0] != '\0')
		learn_uid(d, who.user, need->uid);
	wckey += wckey[0] == '*';
	if (wckey[0] != '\0' && who.user[0] != '\0' &&
	    draft_wckey(d, need->cluster, who.user, wckey) == NULL &&
	    draft_add_wckey(d, need->cluster, who.user, wckey, err) < 0)
		return -1;
	return ensure_qos(d, need->qos, err);
}

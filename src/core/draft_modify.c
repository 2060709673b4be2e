/* core/draft_modify.c: rows that change. */
#include "core/draft_priv.h"

/* What tells a row cannot be set. */
static const struct {
	enum entity_kind kind;
	size_t field;
} fixed[] = {
	{ ENTITY_CLUSTER, CLUSTER_name },   { ENTITY_ACCOUNT, ACCOUNT_name },
	{ ENTITY_USER, USER_name },	    { ENTITY_QOS, QOS_name },
	{ ENTITY_ASSOC, ASSOC_cluster },    { ENTITY_ASSOC, ASSOC_account },
	{ ENTITY_ASSOC, ASSOC_user_name },  { ENTITY_ASSOC, ASSOC_partition },
	{ ENTITY_WCKEY, WCKEY_cluster },    { ENTITY_WCKEY, WCKEY_name },
	{ ENTITY_WCKEY, WCKEY_user_name },
};

static int check_fixed(enum entity_kind kind, const struct change *change, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(fixed); i++)
		if (fixed[i].kind == kind && change_has(change, fixed[i].field))
			return err_set(err, ERR_INVALID,
				       entities[kind].fields[fixed[i].field].json,
				       "tells which %s it is and cannot be set",
				       entities[kind].name);
	return 0;
}

/* ---- moving an account */

static int check_no_ring(struct draft *d, const struct assoc *a, const struct assoc *above,
			 struct err *err)
{
	const struct assoc *at = above;

	while (at != NULL) {
		if (at->id == a->id)
			return err_set(err, ERR_CONFLICT, "parent",
				       "\"%s\" is below \"%s\" on cluster \"%s\"", above->account,
				       a->account, a->cluster);
		at = row_has(at, ASSOC, parent_id) ?
			     draft_assoc_by_id(d, at->cluster, at->parent_id) : NULL;
	}
	return 0;
}

static int move_account(struct draft *d, struct assoc *a, const char *to, struct err *err)
{
	const struct assoc *above;

	if (assoc_is_user(a))
		return err_set(err, ERR_INVALID, "parent",
			       "is of accounts: a user has the place of "
			       "its account");
	if (a->id == ASSOC_ROOT)
		return err_set(err, ERR_INVALID, "parent", "the root cannot move");
	if (draft_name(d, ENTITY_ACCOUNT, to, &to, err) < 0)
		return -1;
	above = draft_assoc(d, a->cluster, to, "", "");
	if (!living(above, ASSOC))
		return err_set(err, ERR_NOT_FOUND, "parent",
			       "no parent account \"%s\" on cluster \"%s\"", to, a->cluster);
	if (check_no_ring(d, a, above, err) < 0)
		return -1;
	row_set(a, ASSOC, parent_id, above->id);
	return 0;
}

static int modify_assoc(struct draft *d, const struct assoc *row, const struct change *change,
			struct err *err)
{
	struct assoc *a = draft_touch(d, ENTITY_ASSOC, row);
	bool was_default = row_get(a, ASSOC, is_default, 0) != 0;
	const struct change_value *parent = &change->v[ASSOC_parent];

	change_apply(change, a, d->arena);
	if (!row_has(a, ASSOC, shares))
		row_set(a, ASSOC, shares, 1);
	if (change_has(change, ASSOC_is_default)) {
		bool wanted = row_get(a, ASSOC, is_default, 0) != 0;
		if (wanted && !assoc_is_user(a))
			return err_set(err, ERR_INVALID, "is_default",
				       "is for associations of users");
		if (was_default && !wanted)
			return err_set(err, ERR_INVALID, "is_default",
				       "make another association the default instead");
		row_set(a, ASSOC, is_default, was_default);
		if (wanted)
			draft_make_default(d, a);
	}
	if (parent->how == CHANGE_SET && move_account(d, a, parent->text, err) < 0)
		return -1;
	if (parent->how == CHANGE_CLEAR && move_account(d, a, ROOT_ACCOUNT, err) < 0)
		return -1;
	return draft_check_qos(d, ENTITY_ASSOC, a, err);
}

/* ---- a user's defaults */

struct pick {
	const char *account;
	const struct assoc *found;
};

static bool pick_account(struct draft *d, const struct assoc *a, void *arg)
{
	struct pick *p = arg;

	(void)d;
	if (!assoc_is_deleted(a) && strcmp(a->account, p->account) == 0 &&
	    (p->found == NULL || a->partition[0] == '\0'))
		p->found = a;
	return true;
}

static int set_default_account(struct draft *d, const char *user, const char *account,
			       const struct texts *clusters, struct err *err)
{
	struct pick p = { 0 };
	size_t n = 0;

	if (draft_name(d, ENTITY_ACCOUNT, account, &p.account, err) < 0)
		return -1;
	for (size_t i = 0; i < clusters->n; i++) {
		p.found = NULL;
		draft_each_of_user(d, clusters->v[i], user, pick_account, &p);
		if (p.found == NULL)
			continue;
		n++;
		if (row_get(p.found, ASSOC, is_default, 0) == 0)
			draft_make_default(d, p.found);
	}
	if (n == 0)
		return err_set(err, ERR_NOT_FOUND, "default_account",
			       "user \"%s\" has no account \"%s\"", user, p.account);
	return 0;
}

static int set_default_wckey(struct draft *d, const char *user, const char *wckey,
			     const struct texts *clusters, struct err *err)
{
	if (draft_name(d, ENTITY_WCKEY, wckey, &wckey, err) < 0)
		return -1;
	for (size_t i = 0; i < clusters->n; i++) {
		const struct wckey *w = draft_wckey(d, clusters->v[i], user, wckey);
		if (!living(w, WCKEY)) {
			if (draft_add_wckey(d, clusters->v[i], user, wckey, err) < 0)
				return -1;
			w = draft_wckey(d, clusters->v[i], user, wckey);
		}
		if (row_get(w, WCKEY, is_default, 0) == 0)
			draft_make_default_wckey(d, w);
	}
	return 0;
}

static int modify_user(struct draft *d, const struct user *row, const struct change *change,
		       const struct texts *named, struct err *err)
{
	const struct change_value *account = &change->v[USER_default_account];
	const struct change_value *wckey = &change->v[USER_default_wckey];
	const char *name = arena_strdup(d->arena, row->name);
	struct texts clusters = { 0 };
	struct user *u;

	if (account->how == CHANGE_CLEAR || wckey->how == CHANGE_CLEAR)
		return err_set(err, ERR_INVALID,
			       account->how == CHANGE_CLEAR ? "default_account" : "default_wckey",
			       "name another one: a user who has any has a default");
	u = draft_touch(d, ENTITY_USER, row);
	change_apply(change, u, d->arena);
	row_set(u, USER, name, name);
	if (!row_has(u, USER, admin_level))
		return err_set(err, ERR_INVALID, "admin_level",
			       "is None, Operator or Administrator");
	if ((account->how == CHANGE_SET || wckey->how == CHANGE_SET) &&
	    draft_clusters(d, named != NULL ? named : &(struct texts){ 0 }, &clusters, err) < 0)
		return -1;
	if (account->how == CHANGE_SET &&
	    set_default_account(d, name, account->text, &clusters, err) < 0)
		return -1;
	if (wckey->how == CHANGE_SET)
		return set_default_wckey(d, name, wckey->text, &clusters, err);
	return 0;
}

/* ---- the rest */

static int modify_wckey(struct draft *d, const struct wckey *row, const struct change *change,
			struct err *err)
{
	const struct change_value *v = &change->v[WCKEY_is_default];

	if (v->how != CHANGE_SET || v->number == 0)
		return err_set(err, ERR_INVALID, "is_default",
			       "can be set to true, and nothing else");
	draft_make_default_wckey(d, row);
	return 0;
}

int draft_modify(struct draft *d, enum entity_kind kind, const void *row,
		 const struct change *change, const struct texts *clusters, struct err *err)
{
	void *now;

	/* draft_add comes by here with the name of a user. */
	if (kind != ENTITY_USER && check_fixed(kind, change, err) < 0)
		return -1;
	switch ((int)kind) {
	case ENTITY_USER: return modify_user(d, row, change, clusters, err);
	case ENTITY_ASSOC: return modify_assoc(d, row, change, err);
	case ENTITY_WCKEY: return modify_wckey(d, row, change, err);
	case ENTITY_QOS:
		now = draft_touch(d, kind, row);
		change_apply(change, now, d->arena);
		return draft_check_qos(d, kind, now, err);
	case ENTITY_CLUSTER:
	case ENTITY_ACCOUNT:
		change_apply(change, draft_touch(d, kind, row), d->arena);
		return 0;
	default: return err_set(err, ERR_INVALID, NULL, "a %s cannot be changed",
				entities[kind].name);
	}
}

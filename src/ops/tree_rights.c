/* ops/tree_rights.c: who may change what of the account tree.
 *
 * The roles and their rights are slurmdbd's: administrators and operators by their AdminLevel,
 * coordinators within the subtree of their accounts, users for their own defaults. */
#include "core/list.h"
#include "core/words.h"
#include "ops/tree_priv.h"

/* From which role on everything is allowed; and whether coordinators may within their accounts, and
 * users with what is theirs. */
static const struct {
	enum role least;
	bool coordinators, self;
} rights[ENTITIES][3] = {
	[ENTITY_CLUSTER] = { { ROLE_ADMIN, false, false },
			     { ROLE_ADMIN, false, false },
			     { ROLE_ADMIN, false, false } },
	[ENTITY_ACCOUNT] = { { ROLE_OPERATOR, true, false },
			     { ROLE_OPERATOR, false, false },
			     { ROLE_OPERATOR, false, false } },
	[ENTITY_USER] = { { ROLE_OPERATOR, true, false },
			  { ROLE_OPERATOR, false, true },
			  { ROLE_OPERATOR, false, false } },
	[ENTITY_ASSOC] = { { ROLE_OPERATOR, true, false },
			   { ROLE_OPERATOR, true, true },
			   { ROLE_OPERATOR, true, false } },
	[ENTITY_QOS] = { { ROLE_ADMIN, false, false },
			 { ROLE_ADMIN, false, false },
			 { ROLE_ADMIN, false, false } },
	[ENTITY_WCKEY] = { { ROLE_OPERATOR, false, false },
			   { ROLE_OPERATOR, false, false },
			   { ROLE_OPERATOR, false, false } },
	[ENTITY_COORD] = { { ROLE_OPERATOR, true, false },
			   { ROLE_OPERATOR, false, false },
			   { ROLE_OPERATOR, true, false } },
};

static const char *const verb_words[] = { "add", "change", "remove" };

static int denied(const struct tree_session *s, enum entity_kind kind, enum tree_verb verb,
		  const char *unless, struct err *err)
{
	char uid[32];

	snprintf(uid, sizeof(uid), "uid %" PRId64, s->who->uid);
	return err_set(err, ERR_DENIED, NULL, "%s may not %s this %s%s%s",
		       s->user[0] != '\0' ? s->user : uid, verb_words[verb], entities[kind].name,
		       unless[0] != '\0' ? ": " : "", unless);
}

/* May they without a look at the rows? */
static bool is_above(const struct tree_session *s, enum entity_kind kind, enum tree_verb verb)
{
	return s->who->role >= rights[kind][verb].least;
}

int tree_may(const struct tree_session *s, enum entity_kind kind, enum tree_verb verb,
	     struct err *err)
{
	if (is_above(s, kind, verb) ||
	    (s->user[0] != '\0' && (rights[kind][verb].coordinators || rights[kind][verb].self)))
		return 0;
	return denied(s, kind, verb, rights[kind][verb].least == ROLE_ADMIN ?
		      "that is for administrators" : "that is for operators and administrators", err);
}

/* ---- coordinators */

static const struct tree *tree_of(struct tree_session *s)
{
	return draft_tree(s->draft);
}

static bool coordinates(struct tree_session *s, const char *cluster, const char *account)
{
	const struct tree_cluster *c = tree_cluster(tree_of(s), cluster);
	const char *name;

	return c != NULL && s->user[0] != '\0' &&
	       draft_name(s->draft, ENTITY_ACCOUNT, account, &name, NULL) == 0 &&
	       tree_coordinates(tree_of(s), c, s->user, name);
}

/* On each of the clusters; none named means all. */
static bool coordinates_on(struct tree_session *s, const struct texts *clusters,
			   const char *account)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(tree_of(s), &n);

	for (size_t i = 0; i < clusters->n; i++)
		if (!coordinates(s, clusters->v[i], account))
			return false;
	for (size_t i = 0; clusters->n == 0 && i < n; i++)
		if (row_get(c[i].row, CLUSTER, deleted, 0) == 0 &&
		    !coordinates(s, c[i].row->name, account))
			return false;
	return clusters->n > 0 || n > 0;
}

/* An account as a whole: wherever it is. */
static bool coordinates_everywhere(struct tree_session *s, const char *account)
{
	size_t n, found = 0;
	const struct tree_cluster *c = tree_clusters(tree_of(s), &n);
	const char *name;

	if (draft_name(s->draft, ENTITY_ACCOUNT, account, &name, NULL) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		int32_t at = tree_find(&c[i], name, "", "");
		if (at < 0 || assoc_is_deleted(c[i].nodes[at].own))
			continue;
		if (!coordinates(s, c[i].row->name, name))
			return false;
		found++;
	}
	return found > 0;
}

/* A coordinator gives no QOS that the account itself may not use. */
static bool gives_only(const struct tree_cluster *c, int32_t account, const struct change *change,
		       struct arena *arena)
{
	const struct assoc *above = c->nodes[account].whole;
	const struct change_value *qos = &change->v[ASSOC_qos];
	const struct change_value *def = &change->v[ASSOC_default_qos];
	const char *name, *list = qos->text;
	size_t len;

	if (qos->how == CHANGE_EDIT)
		list = list_apply("", qos->text, arena);
	if (qos->how == CHANGE_SET || qos->how == CHANGE_EDIT)
		for (const char *at = list; list_next(&at, &name, &len);)
			if (!list_has(above->qos, name, len))
				return false;
	return def->how != CHANGE_SET || list_has(above->qos, def->text, strlen(def->text));
}

static bool gives_only_on(struct tree_session *s, const struct texts *clusters,
			  const char *account, const struct change *change)
{
	size_t n;
	const struct tree_cluster *c = tree_clusters(tree_of(s), &n);
	const char *name;

	if (draft_name(s->draft, ENTITY_ACCOUNT, account, &name, NULL) < 0)
		return false;
	for (size_t i = 0; i < n; i++) {
		int32_t at = tree_find(&c[i], name, "", "");
		bool named = clusters->n == 0;
		for (size_t k = 0; k < clusters->n; k++)
			named |= strcmp(clusters->v[k], c[i].row->name) == 0;
		if (named && at >= 0 && !gives_only(&c[i], at, change, s->arena))
			return false;
	}
	return true;
}

static const char *given(const struct change *c, size_t field, const char *otherwise)
{
	return c->v[field].how == CHANGE_SET ? c->v[field].text : otherwise;
}

static int coordinator_adds(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	enum entity_kind kind = (enum entity_kind)(add->row.entity - entities);
	const char *cluster = given(&add->row, ASSOC_cluster, NULL);
	const struct texts one = { &cluster, cluster != NULL };
	const struct texts *clusters = kind == ENTITY_ASSOC ? &one : &add->clusters;
	const struct change *limits = kind == ENTITY_ASSOC ? &add->row : &add->assoc;
	const char *account = add->parent != NULL ? add->parent : ROOT_ACCOUNT;

	if (kind == ENTITY_COORD) {
		account = given(&add->row, COORD_account, ROOT_ACCOUNT);
		return coordinates_everywhere(s, account) ? 0 :
			denied(s, kind, TREE_ADD, "the account is not one they coordinate", err);
	}
	if (kind == ENTITY_USER && (add->accounts.n == 0 || add->wckeys.n > 0 ||
				    change_has(&add->row, USER_admin_level)))
		return denied(s, kind, TREE_ADD, "a coordinator adds users to accounts", err);
	if (kind == ENTITY_ASSOC)
		account = given(&add->row, ASSOC_user_name, "")[0] != '\0' ?
				  given(&add->row, ASSOC_account, ROOT_ACCOUNT) :
				  given(&add->row, ASSOC_parent, ROOT_ACCOUNT);
	for (size_t i = 0; i < (kind == ENTITY_USER ? add->accounts.n : 1); i++) {
		if (kind == ENTITY_USER)
			account = add->accounts.v[i];
		if (!coordinates_on(s, clusters, account))
			return denied(s, kind, TREE_ADD, "the account is not one they coordinate",
				      err);
		if (!gives_only_on(s, clusters, account, limits))
			return denied(s, kind, TREE_ADD, "the account itself has no such QOS", err);
	}
	return 0;
}

/* ---- levels */

/* Who makes an administrator is one; operators add operators, and leave levels as they are. */
static int check_level(const struct tree_session *s, const struct change *change, bool is_new,
		       struct err *err)
{
	const struct change_value *level = &change->v[USER_admin_level];

	if (level->how != CHANGE_SET || s->who->role >= ROLE_ADMIN ||
	    (is_new && level->number <= ADMIN_OPERATOR))
		return 0;
	return err_set(err, ERR_DENIED, "admin_level", "%s",
		       is_new ? "an administrator is made by one" :
				"levels are changed by administrators");
}

/* ---- rows */

int tree_may_add(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	enum entity_kind kind = (enum entity_kind)(add->row.entity - entities);

	if (tree_may(s, kind, TREE_ADD, err) < 0)
		return -1;
	if (kind == ENTITY_USER && s->who->role >= ROLE_OPERATOR &&
	    check_level(s, &add->row, true, err) < 0)
		return -1;
	return is_above(s, kind, TREE_ADD) ? 0 : coordinator_adds(s, add, err);
}

static bool changes_only(const struct change *change, const size_t *fields, size_t n)
{
	for (size_t i = 0; i < change->entity->n; i++) {
		bool allowed = false;
		for (size_t k = 0; k < n; k++)
			allowed |= fields[k] == i;
		if (change_has(change, i) && !allowed)
			return false;
	}
	return true;
}

/* What users may do with what is theirs. */
static bool is_own_change(const struct tree_session *s, enum entity_kind kind, const void *row,
			  const struct change *change)
{
	static const size_t of_user[] = { USER_default_account, USER_default_wckey };
	static const size_t of_assoc[] = { ASSOC_is_default };
	const struct user *u = row;
	const struct assoc *a = row;

	if (kind == ENTITY_USER)
		return strcmp(u->name, s->user) == 0 && changes_only(change, of_user, 2);
	return kind == ENTITY_ASSOC && strcmp(a->user_name, s->user) == 0 &&
	       changes_only(change, of_assoc, 1);
}

static int coordinator_changes(struct tree_session *s, const struct assoc *a,
			       const struct change *change, struct err *err)
{
	const struct tree_cluster *c = tree_cluster(tree_of(s), a->cluster);
	int32_t at = tree_find(c, a->account, "", "");
	/* What an account's own association may have is for the one above it to give. */
	int32_t giver = assoc_is_user(a) || c->nodes[at].parent < 0 ? at : c->nodes[at].parent;
	const char *parent = given(change, ASSOC_parent, NULL);

	if (!coordinates(s, a->cluster, a->account) ||
	    (change->v[ASSOC_parent].how == CHANGE_CLEAR) ||
	    (parent != NULL && !coordinates(s, a->cluster, parent)))
		return denied(s, ENTITY_ASSOC, TREE_MODIFY,
			      "the account is not one they coordinate", err);
	if (!gives_only(c, giver, change, s->arena))
		return denied(s, ENTITY_ASSOC, TREE_MODIFY, "the account itself has no such QOS",
			      err);
	return 0;
}

int tree_may_modify(struct tree_session *s, enum entity_kind kind, const void *row,
		    const struct change *change, struct err *err)
{
	if (tree_may(s, kind, TREE_MODIFY, err) < 0)
		return -1;
	if (kind == ENTITY_USER && is_above(s, kind, TREE_MODIFY))
		return check_level(s, change, false, err);
	if (is_above(s, kind, TREE_MODIFY) || is_own_change(s, kind, row, change))
		return 0;
	if (rights[kind][TREE_MODIFY].coordinators)
		return coordinator_changes(s, row, change, err);
	return denied(s, kind, TREE_MODIFY, "users may set their own defaults", err);
}

int tree_may_remove(struct tree_session *s, enum entity_kind kind, const void *row,
		    struct err *err)
{
	const struct assoc *a = row;
	const struct coord *o = row;
	bool may;

	if (tree_may(s, kind, TREE_REMOVE, err) < 0)
		return -1;
	if (is_above(s, kind, TREE_REMOVE))
		return 0;
	may = kind == ENTITY_ASSOC ? coordinates(s, a->cluster, a->account) :
				     coordinates_everywhere(s, o->account);
	return may ? 0
		   : denied(s, kind, TREE_REMOVE, "the account is not one they coordinate", err);
}

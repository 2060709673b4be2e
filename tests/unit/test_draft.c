/* Adding, changing and removing in the tree: by rule, by the field cases, and random sequences
 * after each of which what must always be true is true. */
#include "unit.h"

#include "base/clock.h"
#include "core/draft_json.h"

/* A draft over a tree that it is stored into again and again. */
struct world {
	struct arena *arena;
	struct tree *tree;
	struct draft *draft;
	struct draft_rules rules;
};

static struct tree *first_tree(void)
{
	struct arena *a = arena_new();
	struct cluster *c = ARENA_ARRAY(a, struct cluster, 2);
	struct assoc *rows = ARENA_ARRAY(a, struct assoc, 4);
	struct account *root = ARENA_NEW(a, struct account);
	struct user *user = ARENA_NEW(a, struct user);
	struct qos *normal = ARENA_NEW(a, struct qos);
	const struct tree_rows all = { .clusters = c, .n_clusters = 2, .assocs = rows,
				       .n_assocs = 4, .accounts = root, .n_accounts = 1,
				       .users = user, .n_users = 1, .qos = normal, .n_qos = 1,
				       .version = 1 };

	row_set(root, ACCOUNT, name, "root");
	row_set(user, USER, name, "root");
	row_set(user, USER, admin_level, 3);
	row_set(normal, QOS, name, "normal");
	row_set(normal, QOS, id, 1);
	for (int i = 0; i < 4; i++) {
		const char *cluster = i < 2 ? "c1" : "c2";
		if (i % 2 == 0)
			row_set(&c[i / 2], CLUSTER, name, cluster);
		row_set(&rows[i], ASSOC, cluster, cluster);
		row_set(&rows[i], ASSOC, id, i % 2 + 1);
		if (i % 2 != 0)
			row_set(&rows[i], ASSOC, parent_id, 1);
		row_set(&rows[i], ASSOC, account, "root");
		row_set(&rows[i], ASSOC, user_name, i % 2 != 0 ? "root" : "");
		row_set(&rows[i], ASSOC, partition, "");
		row_set(&rows[i], ASSOC, shares, 1);
		row_set(&rows[i], ASSOC, is_default, i % 2);
		row_set(&rows[i], ASSOC, deleted, 0);
	}
	return tree_build(&all, a);
}

static int setup(void **state)
{
	struct world *w = xcalloc(1, sizeof(*w));

	w->arena = arena_new();
	w->tree = first_tree();
	w->rules = (struct draft_rules){ .now = 1000 };
	w->draft = draft_new(w->tree, &w->rules, w->arena);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	draft_free(w->draft);
	tree_unref(w->tree);
	arena_free(w->arena);
	free(w);
	return 0;
}

static int try_add(struct world *w, enum entity_kind kind, const char *json, struct err *err)
{
	struct draft_add *add = ARENA_NEW(w->arena, struct draft_add);
	struct jscan j;

	jscan_init(&j, json, strlen(json), w->arena, err);
	if (draft_add_read(&j, kind, false, add) < 0)
		fail_msg("%s: %s", json, err->text);
	return draft_add(w->draft, add, err);
}

static void add(struct world *w, enum entity_kind kind, const char *json)
{
	struct err err = { 0 };

	if (try_add(w, kind, json, &err) < 0)
		fail_msg("%s: %s: %s", json, err.where, err.text);
}

static const struct assoc *assoc(struct world *w, const char *cluster, const char *account,
				 const char *user)
{
	const struct tree_cluster *c = tree_cluster(draft_tree(w->draft), cluster);
	int32_t at = tree_find(c, account, user, "");

	assert_true(at >= 0);
	return c->nodes[at].own;
}

static bool lives(struct world *w, const char *cluster, const char *account, const char *user)
{
	const struct tree_cluster *c = tree_cluster(draft_tree(w->draft), cluster);
	int32_t at = tree_find(c, account, user, "");

	return at >= 0 && !assoc_is_deleted(c->nodes[at].own);
}

static const char *default_of(struct world *w, const char *cluster, const char *user)
{
	const struct tree_cluster *c = tree_cluster(draft_tree(w->draft), cluster);
	int32_t at = tree_default(c, user);

	return at >= 0 ? c->nodes[at].own->account : "none";
}

static int try_modify(struct world *w, enum entity_kind kind, const void *row, const char *json,
		      struct err *err)
{
	struct change *change = ARENA_NEW(w->arena, struct change);
	struct jscan j;

	change_init(change, &entities[kind]);
	jscan_init(&j, json, strlen(json), w->arena, err);
	if (change_read(&j, change, false, NULL, NULL, NULL) < 0)
		fail_msg("%s: %s", json, err->text);
	return draft_modify(w->draft, kind, row, change, NULL, err);
}

static void modify(struct world *w, enum entity_kind kind, const void *row, const char *json)
{
	struct err err = { 0 };

	if (try_modify(w, kind, row, json, &err) < 0)
		fail_msg("%s: %s", json, err.text);
}

static int try_remove(struct world *w, enum entity_kind kind, const void *row, struct err *err)
{
	return draft_remove(w->draft, kind, &row, 1, err);
}

static void remove_row(struct world *w, enum entity_kind kind, const void *row)
{
	struct err err = { 0 };

	assert_non_null(row);
	if (try_remove(w, kind, row, &err) < 0)
		fail_msg("%s", err.text);
}

static bool noted(struct world *w, const char *text)
{
	size_t n;
	const char *const *notes = draft_notes(w->draft, &n);

	for (size_t i = 0; i < n; i++)
		if (strstr(notes[i], text) != NULL)
			return true;
	return false;
}

static void people(struct world *w)
{
	add(w, ENTITY_ACCOUNT, "{\"name\":\"physics\",\"association\":{\"shares\":60}}");
	add(w, ENTITY_ACCOUNT, "{\"name\":\"astro\",\"parent\":\"physics\"}");
	add(w, ENTITY_ACCOUNT, "{\"name\":\"bio\",\"clusters\":[\"c1\"]}");
	add(w, ENTITY_USER,
	    "{\"name\":\"alice\",\"accounts\":[\"astro\",\"bio\"],\"clusters\":[\"c1\"]}");
	add(w, ENTITY_USER,
	    "{\"name\":\"alice\",\"accounts\":[\"physics\"],\"clusters\":[\"c2\"]}");
	add(w, ENTITY_USER, "{\"name\":\"bob\",\"accounts\":[\"bio\"],\"clusters\":[\"c1\"]}");
}

static void accounts_and_users_are_added(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };

	people(w);
	assert_true(lives(w, "c1", "physics", "") && lives(w, "c2", "physics", ""));
	assert_int_equal(assoc(w, "c1", "physics", "")->shares, 60);
	assert_string_equal(assoc(w, "c2", "astro", "")->lineage, "/physics/astro/");
	assert_false(lives(w, "c2", "bio", ""));
	assert_string_equal(tree_account(draft_tree(w->draft), "astro")->organization, "physics");
	assert_string_equal(default_of(w, "c1", "alice"), "astro"); /* the first */
	assert_string_equal(default_of(w, "c2", "alice"), "physics");
	assert_int_equal(assoc(w, "c1", "physics", "")->id, 3);
	/* what is there stays as it is */
	size_t before = draft_rows(w->draft, &(const struct draft_row *){ 0 });
	add(w, ENTITY_ACCOUNT, "{\"name\":\"physics\",\"association\":{\"shares\":7}}");
	assert_int_equal(draft_rows(w->draft, &(const struct draft_row *){ 0 }), before);
	assert_true(noted(w, "already"));
	assert_int_equal(
		try_add(w, ENTITY_USER, "{\"name\":\"eve\",\"accounts\":[\"none\"]}", &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void names_are_tidied(void **state)
{
	struct world *w = *state;
	static const char *const bad[] = { "{\"name\":\" \"}", "{\"name\":\"a,b\"}",
					   "{\"name\":\"a\\u0007b\"}" };
	struct err err = { 0 };

	add(w, ENTITY_ACCOUNT, "{\"name\":\"  TEST \"}");
	add(w, ENTITY_USER, "{\"name\":\" Alice \",\"accounts\":[\"Test\"]}");
	assert_true(lives(w, "c1", "test", "alice"));
	add(w, ENTITY_USER, "{\"name\":\"DOM\\\\Ann\",\"accounts\":[\"test\"]}");
	add(w, ENTITY_USER, "{\"name\":\"Ksa@Bio.example\",\"accounts\":[\"test\"]}");
	assert_true(lives(w, "c1", "test", "DOM\\Ann"));
	assert_true(lives(w, "c1", "test", "Ksa@Bio.example"));
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_int_equal(try_add(w, ENTITY_USER, bad[i], &err), -1);
	draft_free(w->draft);
	w->rules.keep_user_case = true;
	w->draft = draft_new(w->tree, &w->rules, w->arena);
	add(w, ENTITY_ACCOUNT, "{\"name\":\"TEST\"}");
	add(w, ENTITY_USER, "{\"name\":\"Alice\",\"accounts\":[\"TEST\"]}");
	assert_true(lives(w, "c1", "test", "Alice"));
	assert_false(lives(w, "c1", "test", "alice"));
}

/* FC-123, FC-130: the default moves and it is said; per cluster. */
static void a_default_that_goes_is_replaced(void **state)
{
	struct world *w = *state;

	people(w);
	remove_row(w, ENTITY_ASSOC, assoc(w, "c1", "astro", "alice"));
	assert_string_equal(default_of(w, "c1", "alice"), "bio");
	assert_true(noted(w, "the default account of alice on c1 is now bio"));
	assert_string_equal(default_of(w, "c2", "alice"), "physics");
	remove_row(w, ENTITY_ASSOC, assoc(w, "c1", "bio", "alice"));
	assert_string_equal(default_of(w, "c1", "alice"), "none");
	assert_true(noted(w, "alice has no account on c1 any more"));
	assert_false(lives(w, "c1", "bio", "alice"));
}

static void strict_doors_refuse_it(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };

	draft_free(w->draft);
	w->rules.strict_defaults = true;
	w->draft = draft_new(w->tree, &w->rules, w->arena);
	people(w);
	remove_row(w, ENTITY_ASSOC, assoc(w, "c1", "bio", "bob")); /* has no other */
	remove_row(w, ENTITY_ASSOC, assoc(w, "c1", "bio", "alice")); /* not the default */
	add(w, ENTITY_USER, "{\"name\":\"alice\",\"accounts\":[\"bio\"],\"clusters\":[\"c1\"]}");
	assert_int_equal(try_remove(w, ENTITY_ASSOC, assoc(w, "c1", "astro", "alice"), &err), -1);
	assert_int_equal(err_kind(err.code)->dbd_rc, 7009);
}

static void a_user_may_name_another_default(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };

	people(w);
	modify(w, ENTITY_USER, tree_user(draft_tree(w->draft), "alice"),
	       "{\"default_account\":\"bio\"}");
	assert_string_equal(default_of(w, "c1", "alice"), "bio");
	assert_string_equal(default_of(w, "c2", "alice"), "physics"); /* not there: as it was */
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "astro", "alice"), "{\"is_default\":true}");
	assert_string_equal(default_of(w, "c1", "alice"), "astro");
	assert_int_equal(assoc(w, "c1", "bio", "alice")->is_default, 0);
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c1", "astro", "alice"),
				    "{\"is_default\":false}", &err), -1);
	assert_int_equal(try_modify(w, ENTITY_USER, tree_user(draft_tree(w->draft), "bob"),
				    "{\"default_account\":\"physics\"}", &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
}

static void wckeys_have_one_default(void **state)
{
	struct world *w = *state;

	people(w);
	add(w, ENTITY_WCKEY, "{\"name\":\"survey\",\"user\":\"alice\",\"is_default\":true}");
	add(w, ENTITY_WCKEY, "{\"name\":\"calib\",\"user\":\"alice\",\"cluster\":\"c1\"}");
	const struct tree *t = draft_tree(w->draft);
	assert_string_equal(tree_default_wckey(t, "c1", "alice")->name, "survey");
	assert_int_equal(tree_wckey(t, "c1", "alice", "calib")->id, 2);
	modify(w, ENTITY_USER, tree_user(t, "alice"), "{\"default_wckey\":\"calib\"}");
	t = draft_tree(w->draft);
	assert_string_equal(tree_default_wckey(t, "c1", "alice")->name, "calib");
	assert_string_equal(tree_default_wckey(t, "c2", "alice")->name, "calib"); /* made */
	assert_int_equal(tree_wckey(t, "c1", "alice", "survey")->is_default, 0);
}

static void accounts_move_but_not_below_themselves(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };

	people(w);
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "astro", ""), "{\"parent\":\"bio\"}");
	assert_string_equal(assoc(w, "c1", "astro", "alice")->lineage, "/bio/astro/0-alice/");
	assert_string_equal(assoc(w, "c2", "astro", "")->lineage, "/physics/astro/");
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c1", "bio", ""),
				    "{\"parent\":\"astro\"}", &err), -1);
	assert_int_equal(err.code, ERR_CONFLICT);
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c1", "bio", ""),
				    "{\"parent\":\"bio\"}", &err), -1);
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c1", "astro", "alice"),
				    "{\"parent\":\"physics\"}", &err), -1);
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c2", "physics", ""),
				    "{\"parent\":\"bio\"}", &err), -1); /* bio is not on c2 */
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c1", "astro", ""),
				    "{\"account\":\"x\"}", &err), -1);
}

static void an_account_takes_along_what_is_below(void **state)
{
	struct world *w = *state;

	people(w);
	add(w, ENTITY_COORD, "{\"account\":\"astro\",\"user\":\"bob\"}");
	assert_true(tree_coordinates(draft_tree(w->draft), tree_cluster(draft_tree(w->draft), "c1"),
				     "bob", "astro"));
	remove_row(w, ENTITY_ACCOUNT, tree_account(draft_tree(w->draft), "physics"));
	const struct tree *t = draft_tree(w->draft);
	assert_true(tree_account(t, "physics")->deleted && tree_account(t, "astro")->deleted);
	assert_false(lives(w, "c1", "astro", "alice") || lives(w, "c2", "physics", "alice"));
	assert_string_equal(default_of(w, "c1", "alice"), "bio");
	assert_true(noted(w, "account astro went"));
	assert_false(tree_coordinates(t, tree_cluster(t, "c1"), "bob", "astro"));
	/* FC-128: added again it is the one it was, with nothing set */
	int64_t id = assoc(w, "c1", "physics", "")->id;
	draft_settle(w->draft);
	add(w, ENTITY_ACCOUNT, "{\"name\":\"physics\"}");
	assert_int_equal(assoc(w, "c1", "physics", "")->id, id);
	assert_int_equal(assoc(w, "c1", "physics", "")->shares, 1);
	assert_false(lives(w, "c1", "astro", ""));
}

static void a_user_goes_everywhere(void **state)
{
	struct world *w = *state;

	people(w);
	add(w, ENTITY_WCKEY, "{\"name\":\"survey\",\"user\":\"alice\"}");
	remove_row(w, ENTITY_USER, tree_user(draft_tree(w->draft), "alice"));
	const struct tree *t = draft_tree(w->draft);
	assert_true(tree_user(t, "alice")->deleted != 0);
	assert_string_equal(default_of(w, "c1", "alice"), "none");
	assert_false(lives(w, "c2", "physics", "alice"));
	assert_true(tree_wckey(t, "c1", "alice", "survey")->deleted != 0);
	add(w, ENTITY_USER, "{\"name\":\"alice\",\"accounts\":[\"bio\"],\"clusters\":[\"c1\"]}");
	assert_string_equal(default_of(w, "c1", "alice"), "bio");
}

static void a_qos_is_forgotten_everywhere(void **state)
{
	struct world *w = *state;
	struct err err = { 0 };

	add(w, ENTITY_QOS, "{\"name\":\"high\",\"priority\":100}");
	add(w, ENTITY_QOS, "{\"name\":\"low\",\"preempt\":[\"high\",\"normal\"]}");
	people(w);
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "physics", ""),
	       "{\"qos\":[\"+high\",\"+low\"],\"default_qos\":\"high\"}");
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "bio", ""), "{\"qos\":[\"high\"]}");
	assert_string_equal(tree_qos(draft_tree(w->draft), "low")->preempt, "high,normal");
	assert_int_equal(try_modify(w, ENTITY_ASSOC, assoc(w, "c2", "physics", ""),
				    "{\"qos\":[\"none\"]}", &err), -1);
	assert_non_null(strstr(err.text, "none"));
	draft_free(w->draft);
	w->draft = draft_new(w->tree, &w->rules, w->arena);
	add(w, ENTITY_QOS, "{\"name\":\"high\",\"priority\":100}");
	add(w, ENTITY_QOS, "{\"name\":\"low\",\"preempt\":[\"high\",\"normal\"]}");
	people(w);
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "physics", ""),
	       "{\"qos\":[\"+high\",\"+low\"],\"default_qos\":\"high\"}");
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "bio", ""), "{\"qos\":[\"high\"]}");
	remove_row(w, ENTITY_QOS, tree_qos(draft_tree(w->draft), "high"));
	assert_string_equal(assoc(w, "c1", "physics", "")->qos, "+low");
	assert_false(row_has(assoc(w, "c1", "physics", ""), ASSOC, default_qos));
	assert_false(row_has(assoc(w, "c1", "bio", ""), ASSOC, qos));
	assert_string_equal(tree_qos(draft_tree(w->draft), "low")->preempt, "normal");
	assert_true(noted(w, "default QOS"));
}

static void clusters_come_and_go(void **state)
{
	struct world *w = *state;

	add(w, ENTITY_CLUSTER, "{\"name\":\"C3\",\"association\":{\"grp_jobs\":10}}");
	assert_int_equal(assoc(w, "c3", "root", "")->grp_jobs, 10);
	assert_string_equal(default_of(w, "c3", "root"), "root");
	people(w);
	assert_true(lives(w, "c3", "astro", ""));
	remove_row(w, ENTITY_CLUSTER, tree_cluster(draft_tree(w->draft), "c3")->row);
	assert_false(lives(w, "c3", "astro", ""));
	assert_true(lives(w, "c1", "astro", ""));
	assert_true(lives(w, "c3", "root", "root")); /* its roots stay for when it comes back */
}

static void a_job_brings_what_is_missing(void **state)
{
	struct world *w = *state;
	struct draft_need need = { .cluster = "c1", .uid = 5001, .wckey = "*survey", .qos = "burst",
				   .who = { .account = "NEW", .user = "Zoe", .partition = "gpu" } };
	struct err err = { 0 };

	w->rules.by_record = true;
	draft_free(w->draft);
	w->draft = draft_new(w->tree, &w->rules, w->arena);
	assert_int_equal(draft_ensure(w->draft, &need, &err), 0);
	const struct tree *t = draft_tree(w->draft);
	const struct tree_cluster *c = tree_cluster(t, "c1");
	const struct assoc *a = assoc(w, "c1", "new", "zoe");
	assert_int_equal(a->made_by_record, 1);
	assert_int_equal(a->is_default, 1);
	assert_string_equal(a->lineage, "/new/0-zoe/");
	assert_int_equal(tree_user_by_uid(t, 5001)->uid, 5001);
	assert_string_equal(tree_wckey(t, "c1", "zoe", "survey")->name, "survey");
	assert_int_equal(tree_qos(t, "burst")->id, 2);
	assert_true(tree_place(c, &(struct tree_who){ 0, "new", "zoe", "gpu" }) >= 0);
	size_t n = draft_rows(w->draft, &(const struct draft_row *){ 0 });
	assert_int_equal(draft_ensure(w->draft, &need, &err), 0); /* nothing is missing now */
	need.who = (struct tree_who){ 0, NULL, NULL, NULL };
	assert_int_equal(draft_ensure(w->draft, &need, &err),
			 0); /* by uid, in the default account */
	need.who = (struct tree_who){ a->id, "x", "y", NULL };
	need.uid = -1;
	assert_int_equal(draft_rows(w->draft, &(const struct draft_row *){ 0 }), n);
}

/* FC-131: a user without uid gets it from the first job; FC-128: nobody is brought back by a job.
 */
static void a_job_leaves_the_rest_alone(void **state)
{
	struct world *w = *state;
	struct draft_need need = { .cluster = "c1",
				   .uid = 77,
				   .who = { .account = "bio", .user = "bob" } };
	struct err err = { 0 };
	struct tree *old = w->tree;
	struct draft *before = w->draft;

	people(w);
	remove_row(w, ENTITY_ASSOC, assoc(w, "c1", "bio", "alice"));
	w->tree = tree_ref((struct tree *)(uintptr_t)draft_tree(w->draft));
	w->draft = draft_new(w->tree, &w->rules, w->arena);
	assert_int_equal(draft_ensure(w->draft, &need, &err), 0);
	need.who.user = "alice";
	need.uid = -1;
	assert_int_equal(draft_ensure(w->draft, &need, &err), 0);
	const struct draft_row *rows;
	assert_int_equal(draft_rows(w->draft, &rows), 1);
	assert_int_equal(rows[0].kind, ENTITY_USER);
	assert_int_equal(((const struct user *)rows[0].now)->uid, 77);
	assert_false(lives(w, "c1", "bio", "alice"));
	draft_free(w->draft);
	tree_unref(w->tree);
	w->tree = old;
	w->draft = before;
}

static void rows_are_what_differs(void **state)
{
	struct world *w = *state;
	const struct draft_row *rows;

	people(w);
	assert_true(draft_rows(w->draft, &rows) > 8);
	draft_settle(w->draft);
	assert_int_equal(draft_rows(w->draft, &rows), 0);
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "bio", ""), "{\"shares\":1}"); /* as it is */
	assert_int_equal(draft_rows(w->draft, &rows), 0);
	modify(w, ENTITY_ASSOC, assoc(w, "c1", "bio", ""), "{\"shares\":2}");
	assert_int_equal(draft_rows(w->draft, &rows), 1);
	assert_int_equal(((const struct assoc *)rows[0].before)->shares, 1);
	assert_int_equal(((const struct assoc *)rows[0].now)->shares, 2);
}

/* ---- what must always be true */

static void check_world(struct world *w)
{
	size_t n;
	const struct tree *t = draft_tree(w->draft);
	const struct tree_cluster *c = tree_clusters(t, &n);

	for (size_t k = 0; k < n; k++) {
		assert_int_equal(c[k].flaws, 0);
		for (size_t i = 0; i < c[k].n; i++) {
			const struct assoc *a = c[k].nodes[i].own;
			const int32_t *places;
			size_t defaults = 0, living = 0, m;
			if (assoc_is_deleted(a))
				continue;
			if (c[k].nodes[i].parent >= 0) /* nobody lives below the dead */
				assert_false(
					assoc_is_deleted(c[k].nodes[c[k].nodes[i].parent].own));
			assert_int_equal(tree_account(t, a->account)->deleted, 0);
			if (!assoc_is_user(a))
				continue;
			assert_int_equal(tree_user(t, a->user_name)->deleted, 0);
			m = tree_of_user(&c[k], a->user_name, &places);
			for (size_t j = 0; j < m; j++) {
				const struct assoc *o = c[k].nodes[places[j]].own;
				living += !assoc_is_deleted(o);
				defaults += !assoc_is_deleted(o) && o->is_default != 0;
			}
			assert_true(living > 0);
			assert_int_equal(defaults, 1);
		}
		for (size_t i = 1; i < c[k].n; i++) /* numbers are given once */
			assert_true(c[k].nodes[c[k].by_id[i]].own->id >
				    c[k].nodes[c[k].by_id[i - 1]].own->id);
	}
}

static const void *any_row(uint64_t *rnd, const void *rows, size_t n, size_t size)
{
	return n > 0 ? (const char *)rows + (size_t)test_below(rnd, (int64_t)n) * size : NULL;
}

static void random_step(struct world *w, uint64_t *rnd)
{
	const struct tree_rows *rows = tree_rows(draft_tree(w->draft));
	char *json;
	struct err err = { 0 };
	const struct assoc *a = any_row(rnd, rows->assocs, rows->n_assocs, sizeof(*a));
	const struct account *acct = any_row(rnd, rows->accounts, rows->n_accounts, sizeof(*acct));
	const struct user *u = any_row(rnd, rows->users, rows->n_users, sizeof(*u));
	int account = (int)test_below(rnd, 8), other = (int)test_below(rnd, 8);

	switch (test_below(rnd, 7)) {
	case 0:
		json = arena_printf(w->arena, "{\"name\":\"a%d\",\"parent\":\"a%d\"}", account,
				    other);
		try_add(w, ENTITY_ACCOUNT, account == other ? "{\"name\":\"a1\"}" : json, &err);
		break;
	case 1:
	case 2:
		json = arena_printf(
			w->arena, "{\"name\":\"u%d\",\"accounts\":[\"a%d\"],\"partitions\":[%s]}",
			(int)test_below(rnd, 6), account, test_below(rnd, 3) == 0 ? "\"gpu\"" : "");
		try_add(w, ENTITY_USER, json, &err);
		break;
	case 3:
		if (!assoc_is_deleted(a))
			try_remove(w, ENTITY_ASSOC, a, &err);
		break;
	case 4:
		if (acct->deleted == 0 && test_below(rnd, 3) == 0)
			try_remove(w, ENTITY_ACCOUNT, acct, &err);
		break;
	case 5:
		if (u->deleted == 0 && test_below(rnd, 3) == 0)
			try_remove(w, ENTITY_USER, u, &err);
		break;
	default:
		if (!assoc_is_deleted(a) && assoc_is_user(a))
			try_modify(w, ENTITY_ASSOC, a, "{\"is_default\":true}", &err);
		else if (!assoc_is_deleted(a))
			try_modify(w, ENTITY_ASSOC, a,
				   arena_printf(w->arena, "{\"parent\":\"a%d\"}", other), &err);
	}
}

/* Each step is stored if it may be; a failed one is as if it had not been. */
static void random_sequences_leave_a_sound_tree(void **state)
{
	struct world *w = *state;
	uint64_t rnd = test_seed("draft");

	for (int i = 0; i < 400; i++) {
		random_step(w, &rnd);
		struct arena *scratch = w->arena;
		if (i % 3 == 0)
			draft_settle(w->draft);
		w->arena = scratch;
		check_world(w);
	}
}

#define LARGE 20000

static void a_large_tree_is_added_quickly(void **state)
{
	struct world *w = *state;
	int64_t begun = monotonic_us();

	for (int i = 0; i < LARGE / 2; i++) { /* on two clusters */
		int account = i - i % 20;
		add(w, i % 20 == 0 ? ENTITY_ACCOUNT : ENTITY_USER,
		    arena_printf(w->arena, i % 20 == 0 ? "{\"name\":\"a%d\"}" :
				 "{\"name\":\"u%d\",\"accounts\":[\"a%d\"]}", i, account));
	}
	int64_t added = monotonic_us();
	assert_int_equal(tree_rows(draft_tree(w->draft))->n_assocs, LARGE + 4);
	fprintf(stderr, "draft: %d associations added in %" PRId64 " ms, laid out in %" PRId64
		" ms\n", LARGE, (added - begun) / 1000, (monotonic_us() - added) / 1000);
	assert_true(added - begun < 10000000);
}

#define T(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		T(accounts_and_users_are_added),
		T(names_are_tidied),
		T(a_default_that_goes_is_replaced),
		T(strict_doors_refuse_it),
		T(a_user_may_name_another_default),
		T(wckeys_have_one_default),
		T(accounts_move_but_not_below_themselves),
		T(an_account_takes_along_what_is_below),
		T(a_user_goes_everywhere),
		T(a_qos_is_forgotten_everywhere),
		T(clusters_come_and_go),
		T(a_job_brings_what_is_missing),
		T(a_job_leaves_the_rest_alone),
		T(rows_are_what_differs),
		T(random_sequences_leave_a_sound_tree),
		T(a_large_tree_is_added_quickly),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

/* ops/tree_session.c: changes of the account tree: judged, made in a draft, committed with the log
 * of them. */
#include "base/log.h"
#include "core/tres.h"
#include "ops/tree_priv.h"
#include "store/tree_read.h"

struct tree *ops_tree_now(struct ops *ops, struct err *err)
{
	return tree_cache_get(ops->trees, err);
}

static const char *name_in_tree(const struct tree *t, const struct identity *who,
				struct arena *arena)
{
	const struct user *u = ops_user_in_tree(t, who);

	return u != NULL ? arena_strdup(arena, u->name) : who->user;
}

struct tree_session *ops_tree_begin(struct ops *ops, const struct identity *who,
				    const struct tree_session_rules *rules, struct arena *arena,
				    struct err *err)
{
	const struct draft_rules draft = { .now = rules->now,
					   .strict_defaults = rules->strict_defaults,
					   .keep_user_case = ops->settings.keep_user_case };
	struct tree_session *s;

	if (ops_may(ops, who, RIGHT_TREE, err) < 0)
		return NULL;
	s = ARENA_NEW(arena, struct tree_session);
	*s = (struct tree_session){ .ops = ops, .who = who, .rules = *rules, .arena = arena };
	s->tx = tree_tx_begin(ops->store, err);
	if (s->tx == NULL)
		return NULL;
	s->tree = tree_tx_tree(s->tx, ops->trees, err);
	if (s->tree == NULL) {
		ops_tree_end(s);
		return NULL;
	}
	s->user = name_in_tree(s->tree, who, arena);
	s->draft = draft_new(s->tree, &draft, arena);
	return s;
}

void ops_tree_end(struct tree_session *s)
{
	if (s == NULL)
		return;
	tree_tx_rollback(s->tx);
	draft_free(s->draft);
	tree_unref(s->tree);
	names_fini(&s->put);
	s->tx = NULL;
	s->draft = NULL;
	s->tree = NULL;
}

int ops_tree_add(struct tree_session *s, const struct draft_add *add, struct err *err)
{
	if (tree_may_add(s, add, err) < 0)
		return -1;
	return draft_add(s->draft, add, err);
}

static size_t meant(struct tree_session *s, enum entity_kind kind, const struct tree_where *where,
		    const void ***ret, struct err *err)
{
	struct tree_where w = *where;
	size_t n;

	w.exact_users = s->ops->settings.keep_user_case;
	w.deleted = false;
	if (!tree_where_any(&w)) {
		err_set(err, ERR_INVALID, "where", "say which %s are meant", entities[kind].plural);
		return 0;
	}
	n = tree_select(draft_tree(s->draft), kind, &w, s->arena, ret);
	if (n == 0)
		err_set(err, ERR_NOT_FOUND, "where", "there is no such %s", entities[kind].name);
	return n;
}

/* Copies: a changed draft lays its tree out anew. */
static void keep_rows(struct tree_session *s, enum entity_kind kind, const void **rows, size_t n)
{
	size_t size = entities[kind].size;
	char *copies = arena_alloc(s->arena, n * size + 1);

	for (size_t i = 0; i < n; i++)
		rows[i] = memcpy(copies + i * size, rows[i], size);
}

int ops_tree_modify(struct tree_session *s, enum entity_kind kind, const struct tree_where *where,
		    const struct change *change, struct err *err)
{
	const void **rows;
	size_t n;

	if (tree_may(s, kind, TREE_MODIFY, err) < 0)
		return -1;
	if (!change_any(change))
		return err_set(err, ERR_INVALID, "set", "says nothing to change");
	n = meant(s, kind, where, &rows, err);
	if (n == 0)
		return -1;
	keep_rows(s, kind, rows, n);
	for (size_t i = 0; i < n; i++)
		if (tree_may_modify(s, kind, rows[i], change, err) < 0)
			return -1;
	for (size_t i = 0; i < n; i++)
		if (draft_modify(s->draft, kind, rows[i], change, &where->clusters, err) < 0)
			return -1;
	return 0;
}

int ops_tree_remove(struct tree_session *s, enum entity_kind kind, const struct tree_where *where,
		    struct err *err)
{
	const void **rows;
	size_t n;

	if (tree_may(s, kind, TREE_REMOVE, err) < 0)
		return -1;
	n = meant(s, kind, where, &rows, err);
	if (n == 0)
		return -1;
	keep_rows(s, kind, rows, n);
	for (size_t i = 0; i < n; i++)
		if (tree_may_remove(s, kind, rows[i], err) < 0)
			return -1;
	return draft_remove(s->draft, kind, rows, n, err);
}

/* ---- jobs that are in the way */

struct in_way {
	struct tree_session *s;
	const bool *const *gone; /* by cluster, then place */
	struct texts qos;
	struct buf jobs;
	size_t n;
};

#define JOBS_NAMED 20

static bool has_text(const struct texts *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], text) == 0)
			return true;
	return false;
}

static bool needs_what_goes(const struct in_way *w, const struct open_job *job)
{
	size_t n;
	const struct tree_cluster *all = tree_clusters(w->s->tree, &n);
	const struct tree_cluster *c = tree_cluster(w->s->tree, job->cluster);
	const struct tree_who who = { job->assoc_id, job->account, job->user, job->partition };
	int32_t at = c != NULL ? tree_place(c, &who) : -1;

	return (at >= 0 && w->gone[c - all] != NULL && w->gone[c - all][at]) ||
	       has_text(&w->qos, job->qos);
}

static void look_at_job(const struct open_job *job, void *arg)
{
	struct in_way *w = arg;

	if (!needs_what_goes(w, job))
		return;
	if (w->n++ < JOBS_NAMED)
		buf_printf(&w->jobs, "%s%" PRId64 " (%s, %s)", w->n > 1 ? ", " : "", job->job_id,
			   job->cluster, job->running ? "running" : "pending");
}

static bool goes(const struct draft_row *row)
{
	return draft_verb(row) == DRAFT_REMOVE && row->before != NULL;
}

/* Marks what goes, and says whose jobs are to be looked at. */
static size_t collect_gone(struct tree_session *s, struct in_way *w, struct open_jobs_query *q)
{
	size_t n_clusters, n = 0;
	const struct tree_cluster *c = tree_clusters(s->tree, &n_clusters);
	bool **gone = ARENA_ARRAY(s->arena, bool *, n_clusters + 1);

	q->accounts.v = ARENA_ARRAY(s->arena, const char *, s->n_rows + 1);
	q->users.v = ARENA_ARRAY(s->arena, const char *, s->n_rows + 1);
	q->qos.v = ARENA_ARRAY(s->arena, const char *, s->n_rows + 1);
	for (size_t i = 0; i < s->n_rows; i++) {
		const struct draft_row *row = &s->rows[i];
		if (row->kind == ENTITY_QOS && goes(row)) {
			q->qos.v[q->qos.n++] = ((const struct qos *)row->now)->name;
			n++;
		}
		if (row->kind != ENTITY_ASSOC || !goes(row))
			continue;
		const struct assoc *a = row->now;
		const struct tree_cluster *of = tree_cluster(s->tree, a->cluster);
		if (gone[of - c] == NULL)
			gone[of - c] = ARENA_ARRAY(s->arena, bool, of->n + 1);
		gone[of - c][tree_by_id(of, a->id)] = true;
		q->accounts.v[q->accounts.n++] = a->account;
		if (assoc_is_user(a))
			q->users.v[q->users.n++] = a->user_name;
		n++;
	}
	w->gone = (const bool *const *)gone;
	w->qos = q->qos;
	return n;
}

static int check_jobs(struct tree_session *s, struct err *err)
{
	struct in_way w = { .s = s };
	struct open_jobs_query q = { 0 };
	int rc = 0;

	if (collect_gone(s, &w, &q) == 0)
		return 0;
	rc = tree_tx_open_jobs(s->tx, &q, look_at_job, &w, err);
	if (rc == 0 && w.n > 0)
		rc = err_set(err, ERR_CONFLICT, "jobs",
			     "%zu job%s that need%s what would go: %s%s", w.n,
			     w.n == 1 ? "" : "s", w.n == 1 ? "s" : "", buf_str(&w.jobs),
			     w.n > JOBS_NAMED ? " and others" : "");
	buf_fini(&w.jobs);
	return rc;
}

/* ---- all of it */

/* TRES that limits name get a number, for controllers that know them by it. */
static int add_tres(struct tree_session *s, struct err *err)
{
	const char **names = NULL;
	size_t n = 0, cap = 0;
	struct tres t;

	for (size_t i = 0; i < s->n_rows; i++) {
		const struct entity *e = &entities[s->rows[i].kind];
		for (size_t f = 0; f < e->n; f++) {
			if (e->fields[f].type != FT_TRES ||
			    !has_bit(row_known(s->rows[i].now), f))
				continue;
			for (const char *at = row_text(s->rows[i].now, &e->fields[f]);
			     tres_next(&at, &t);) {
				if (n == cap) {
					cap = cap != 0 ? cap * 2 : 16;
					const char **more =
						ARENA_ARRAY(s->arena, const char *, cap);
					if (n > 0)
						memcpy(more, names, n * sizeof(*more));
					names = more;
				}
				names[n++] = arena_strndup(s->arena, t.name, t.len);
			}
		}
	}
	return n > 0 ? tree_tx_add_tres(s->tx, names, n, err) : 0;
}

static const char *actor_name(const struct tree_session *s)
{
	return s->user[0] != '\0' ? s->user :
				    arena_printf(s->arena, "uid=%" PRId64, s->who->uid);
}

static void log_changes(const struct tree_session *s)
{
	size_t n;
	const char *const *notes = draft_notes(s->draft, &n);

	log_info("tree: %zu row%s changed by=%s", s->n_rows, s->n_rows == 1 ? "" : "s",
		 actor_name(s));
	for (size_t i = 0; i < n; i++)
		log_info("tree: %s by=%s", notes[i], actor_name(s));
}

int ops_tree_commit(struct tree_session *s, struct err *err)
{
	const struct draft_actor actor = { actor_name(s), s->who->uid, s->rules.now };
	struct tree_tx *tx = s->tx;

	s->n_rows = draft_rows(s->draft, &s->rows);
	if (check_jobs(s, err) < 0)
		return -1;
	if (s->n_rows == 0 || s->rules.dry_run)
		return 0;
	if (add_tres(s, err) < 0 ||
	    tree_tx_write(tx, s->rows, s->n_rows, &actor, s->arena, err) < 0)
		return -1;
	s->tx = NULL;
	if (tree_tx_commit(tx, err) < 0)
		return -1;
	log_changes(s);
	if (s->ops->told != NULL)
		s->ops->told(s->ops->told_arg);
	return 0;
}

size_t ops_tree_rows(struct tree_session *s, const struct draft_row **ret)
{
	*ret = s->rows;
	return s->n_rows;
}

const char *const *ops_tree_notes(struct tree_session *s, size_t *ret_n)
{
	return draft_notes(s->draft, ret_n);
}

const struct tree *ops_tree_draft(struct tree_session *s)
{
	return draft_tree(s->draft);
}

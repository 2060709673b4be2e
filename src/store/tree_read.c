#include "store/tree_read.h"

#include <pthread.h>

#include "store/binrow.h"
#include "store/pg.h"

int tree_read_version(struct pg *pg, int64_t *ret, struct err *err)
{
	static const struct statement st = { "tree_version", "SELECT version FROM tree_version" };
	PGresult *r;

	if (pg_run(pg, &st, NULL, &r, err) < 0)
		return -1;
	*ret = PQntuples(r) == 1 ? bin_read_i64(r, 0, 0) : 0;
	PQclear(r);
	return 0;
}

/* A result's rows with their texts in the arena. */
static void *copy_rows(const PGresult *r, const struct entity *e, struct arena *arena)
{
	int n = PQntuples(r);
	char *rows = arena_alloc(arena, (size_t)n * e->size + 1);
	struct arena *scratch = arena_new();
	void *row = arena_alloc(scratch, e->size);

	for (int i = 0; i < n; i++) {
		bin_read_entity(r, i, 0, e, row);
		row_copy(e, rows + (size_t)i * e->size, row, arena);
	}
	arena_free(scratch);
	return rows;
}

static int read_rows(struct pg *pg, enum entity_kind kind, struct arena *arena, const void **ret,
		     size_t *ret_n, struct err *err)
{
	const struct entity *e = &entities[kind];
	struct buf sql = BUF_INIT;
	PGresult *r;
	int rc;

	buf_adds(&sql, "SELECT ");
	bin_entity_columns(&sql, e, "");
	buf_printf(&sql, " FROM %s%s", e->table,
		   kind == ENTITY_COORD ? " WHERE deleted = 0" : "");
	rc = pg_run_once(pg, buf_str(&sql), NULL, &r, err);
	buf_fini(&sql);
	if (rc < 0)
		return -1;
	*ret = copy_rows(r, e, arena);
	*ret_n = (size_t)PQntuples(r);
	PQclear(r);
	return 0;
}

/* Those of associations that did not always stand as they do. */
static int read_periods(struct pg *pg, struct arena *arena, struct tree_rows *rows, struct err *err)
{
	static const struct statement st = {
		"tree_periods", "SELECT cluster, id, valid_from, valid_to, coalesce(parent_id, 0), "
				"shares, deleted FROM association_history "
				"WHERE valid_to IS NOT NULL OR NOT first "
				"ORDER BY cluster, id, valid_from"
	};
	struct tree_period *periods;
	PGresult *r;

	if (pg_run(pg, &st, NULL, &r, err) < 0)
		return -1;
	rows->n_periods = (size_t)PQntuples(r);
	periods = ARENA_ARRAY(arena, struct tree_period, rows->n_periods + 1);
	for (int i = 0; i < PQntuples(r); i++)
		periods[i] = (struct tree_period){
			.cluster = arena_strdup(arena, PQgetvalue(r, i, 0)),
			.id = bin_read_i64(r, i, 1),
			.from = bin_read_i64(r, i, 2),
			.to = PQgetisnull(r, i, 3) ? INT64_MAX : bin_read_i64(r, i, 3),
			.parent_id = bin_read_i64(r, i, 4),
			.shares = bin_read_i64(r, i, 5),
			.deleted = bin_read_i64(r, i, 6) != 0,
		};
	rows->periods = periods;
	PQclear(r);
	return 0;
}

static int read_all(struct pg *pg, struct arena *arena, struct tree_rows *rows, struct err *err)
{
	const void *v[ENTITIES] = { 0 };
	size_t n[ENTITIES] = { 0 };
	static const enum entity_kind kinds[] = { ENTITY_CLUSTER, ENTITY_ACCOUNT, ENTITY_USER,
						  ENTITY_ASSOC,	  ENTITY_QOS,	  ENTITY_WCKEY,
						  ENTITY_COORD };

	if (tree_read_version(pg, &rows->version, err) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (read_rows(pg, kinds[i], arena, &v[kinds[i]], &n[kinds[i]], err) < 0)
			return -1;
	rows->clusters = v[ENTITY_CLUSTER], rows->n_clusters = n[ENTITY_CLUSTER];
	rows->accounts = v[ENTITY_ACCOUNT], rows->n_accounts = n[ENTITY_ACCOUNT];
	rows->users = v[ENTITY_USER], rows->n_users = n[ENTITY_USER];
	rows->assocs = v[ENTITY_ASSOC], rows->n_assocs = n[ENTITY_ASSOC];
	rows->qos = v[ENTITY_QOS], rows->n_qos = n[ENTITY_QOS];
	rows->wckeys = v[ENTITY_WCKEY], rows->n_wckeys = n[ENTITY_WCKEY];
	rows->coords = v[ENTITY_COORD], rows->n_coords = n[ENTITY_COORD];
	return read_periods(pg, arena, rows, err);
}

struct tree *tree_read(struct pg *pg, struct err *err)
{
	struct arena *arena = arena_new();
	struct tree_rows rows = { 0 };
	bool own = !pg_in_transaction(pg);
	int rc = own ? pg_script(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err) : 0;

	if (rc == 0)
		rc = read_all(pg, arena, &rows, err);
	if (own)
		pg_rollback(pg);
	if (rc == 0)
		return tree_build(&rows, arena);
	arena_free(arena);
	return NULL;
}

/* ---- the cache */

struct tree_cache {
	struct store *store;
	pthread_mutex_t lock; /* of tree */
	struct tree *tree;    /* the latest that was read; NULL = none yet */
	pthread_mutex_t reading; /* held while one reads */
};

struct tree_cache *tree_cache_new(struct store *store)
{
	struct tree_cache *c = xcalloc(1, sizeof(*c));

	c->store = store;
	pthread_mutex_init(&c->lock, NULL);
	pthread_mutex_init(&c->reading, NULL);
	return c;
}

void tree_cache_free(struct tree_cache *c)
{
	if (c == NULL)
		return;
	tree_unref(c->tree);
	pthread_mutex_destroy(&c->lock);
	pthread_mutex_destroy(&c->reading);
	free(c);
}

struct tree *tree_cache_kept(struct tree_cache *c, int64_t version)
{
	struct tree *t = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->tree != NULL && tree_version(c->tree) == version)
		t = tree_ref(c->tree);
	pthread_mutex_unlock(&c->lock);
	return t;
}

static void keep(struct tree_cache *c, struct tree *t)
{
	struct tree *old = NULL;

	pthread_mutex_lock(&c->lock);
	if (c->tree == NULL || tree_version(c->tree) < tree_version(t)) {
		old = c->tree;
		c->tree = tree_ref(t);
	}
	pthread_mutex_unlock(&c->lock);
	tree_unref(old);
}

static struct tree *read_latest(struct tree_cache *c, struct pg *pg, struct err *err)
{
	struct tree *t;
	int64_t version;

	/* Whoever waited for the reading of another may find it done. */
	if (tree_read_version(pg, &version, err) < 0)
		return NULL;
	t = tree_cache_kept(c, version);
	if (t != NULL)
		return t;
	t = tree_read(pg, err);
	if (t != NULL)
		keep(c, t);
	return t;
}

struct tree *tree_cache_get(struct tree_cache *c, struct err *err)
{
	struct pg *pg = store_reader(c->store, err);
	struct tree *t = NULL;
	int64_t version;

	if (pg == NULL)
		return NULL;
	if (tree_read_version(pg, &version, err) == 0) {
		t = tree_cache_kept(c, version);
		if (t == NULL) {
			pthread_mutex_lock(&c->reading);
			t = read_latest(c, pg, err);
			pthread_mutex_unlock(&c->reading);
		}
	}
	store_reader_done(c->store, pg);
	return t;
}

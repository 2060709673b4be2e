#include "store/tree_ensure.h"

#include "store/binrow.h"
#include "store/tree_read.h"
#include "store/tree_rows.h"

/* In the open transaction, or alone. */
static int make_latest(struct write_tx *tx, int64_t version, struct tree **tree, struct err *err)
{
	struct tree *t;

	if (*tree != NULL && tree_version(*tree) == version)
		return 0;
	t = tree_read(write_pg(tx), err);
	if (t == NULL)
		return write_failed(tx);
	tree_unref(*tree);
	*tree = t;
	return 0;
}

static int look(struct write_tx *tx, struct tree **tree, struct err *err)
{
	static const struct statement st = { "tree_version", "SELECT version FROM tree_version" };
	int64_t version;
	PGresult *r;

	write_args(tx);
	if (write_run_alone(tx, &st, &r, err) < 0)
		return -1;
	version = bin_read_i64(r, 0, 0);
	PQclear(r);
	return make_latest(tx, version, tree, err);
}

/* What is missing, or -1 when a need cannot be met. */
static struct draft *plan(const struct tree *tree, const struct draft_need *needs, size_t n,
			  int64_t now, struct arena *arena, const struct draft_row **ret_rows,
			  size_t *ret_n)
{
	const struct draft_rules rules = { .now = now, .by_record = true };
	struct draft *d = draft_new(tree, &rules, arena);
	struct err err;

	/* A name that cannot stand in the tree (a comma, too long) is no reason to refuse a job:
	 * its use is counted where tree_charge puts it. */
	for (size_t i = 0; i < n; i++)
		draft_ensure(d, &needs[i], &err);
	*ret_n = draft_rows(d, ret_rows);
	return d;
}

static int write_missing(struct write_tx *tx, const struct draft_need *needs, size_t n,
			 int64_t now, struct tree **tree, struct arena *arena, struct err *err)
{
	static const struct statement count = {
		"tree_count", "UPDATE tree_version SET version = version + 1 RETURNING version"
	};
	const struct draft_actor actor = { "records", -1, now };
	const struct draft_row *rows;
	size_t n_rows;
	struct draft *d;
	int64_t version;
	PGresult *r;
	int rc = 0;

	write_args(tx);
	if (write_run(tx, &count, &r, err) < 0)
		return -1;
	version = bin_read_i64(r, 0, 0);
	if (make_latest(tx, version - 1, tree, err) < 0)
		return -1;
	d = plan(*tree, needs, n, now, arena, &rows, &n_rows);
	if (n_rows > 0 &&
	    tree_write_rows(write_pg(tx), version, rows, n_rows, &actor, arena, err) < 0)
		rc = write_failed(tx);
	draft_free(d);
	return rc;
}

int tree_ensure(struct write_tx *tx, int64_t epoch, const struct draft_need *needs, size_t n,
		int64_t now, struct tree **tree, struct err *err)
{
	struct arena *arena = arena_new();
	const struct draft_row *rows;
	size_t n_rows;
	int rc = look(tx, tree, err);

	if (rc == 0) {
		draft_free(plan(*tree, needs, n, now, arena, &rows, &n_rows));
		if (n_rows > 0) {
			rc = -1;
			if (write_begin(tx, epoch, NULL, err) == 0 &&
			    write_missing(tx, needs, n, now, tree, arena, err) == 0)
				rc = write_commit(tx, err);
			/* Its own rows are not in the snapshot. */
			if (rc == 0)
				rc = look(tx, tree, err);
		}
	}
	arena_free(arena);
	return rc;
}

#include "store/registry.h"

#include "store/binrow.h"

static int each_name(struct write_tx *tx, const struct statement *st, registry_name *each,
		     void *arg, struct err *err)
{
	PGresult *r;

	write_args(tx);
	if (write_run_alone(tx, st, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		each(PQgetvalue(r, i, 0), arg);
	PQclear(r);
	return 0;
}

int registry_clusters(struct write_tx *tx, registry_name *each, void *arg, struct err *err)
{
	static const struct statement st = { "clusters",
					     "SELECT name FROM cluster WHERE deleted = 0" };

	return each_name(tx, &st, each, arg, err);
}

int registry_tres(struct write_tx *tx, registry_number *each, void *arg, struct err *err)
{
	static const struct statement st = {
		"tres_names", "SELECT type || CASE name WHEN '' THEN '' ELSE '/' || name END, id "
			      "FROM tres"
	};
	PGresult *r;

	write_args(tx);
	if (write_run_alone(tx, &st, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		each(PQgetvalue(r, i, 0), bin_read_i64(r, i, 1), arg);
	PQclear(r);
	return 0;
}

/* With its root associations, as a change of the tree; one that was removed comes back. */
int registry_add_cluster(struct write_tx *tx, int64_t epoch, const char *name, int64_t now,
			 struct err *err)
{
	static const struct statement count = {
		"tree_count", "UPDATE tree_version SET version = version + 1"
	};
	static const struct statement add = {
		"cluster_add", "WITH c AS (INSERT INTO cluster AS c (name, registered_at, changed) "
			       "SELECT $1::text, $2::bigint, version FROM tree_version "
			       "ON CONFLICT (name) DO UPDATE SET deleted = 0, "
			       "changed = excluded.changed "
			       "RETURNING c.name, c.changed) "
			       "SELECT tally_plant(name, $2::bigint, changed) FROM c"
	};
	struct buf *args;

	if (write_begin(tx, epoch, NULL, err) < 0)
		return -1;
	write_args(tx);
	if (write_run(tx, &count, NULL, err) < 0)
		return -1;
	args = write_args(tx);
	bin_text(args, name);
	bin_i64(args, now);
	if (write_run(tx, &add, NULL, err) < 0)
		return -1;
	return write_commit(tx, err);
}

/* "gres/gpu:a100" is type "gres", name "gpu:a100".  Ids are given in the order of the names, and
 * none is lost on a name that is there already. */
const struct statement registry_tres_add = {
	"tres_add", "INSERT INTO tres (id, type, name) "
		    "SELECT nextval('tres_id'), type, name FROM ("
		    "SELECT split_part(t, '/', 1) AS type, "
		    "substr(t, length(split_part(t, '/', 1)) + 2) AS name "
		    "FROM unnest($1::text[]) AS t) AS want "
		    "WHERE NOT EXISTS (SELECT 1 FROM tres "
		    "WHERE tres.type = want.type AND tres.name = want.name) "
		    "ORDER BY type COLLATE \"C\", name COLLATE \"C\" "
		    "ON CONFLICT (type, name) DO NOTHING"
};

int registry_add_tres(struct write_tx *tx, int64_t epoch, const char *const *names, size_t n,
		      struct err *err)
{
	if (write_begin(tx, epoch, NULL, err) < 0)
		return -1;
	bin_text_array(write_args(tx), names, n);
	if (write_run(tx, &registry_tres_add, NULL, err) < 0)
		return -1;
	return write_commit(tx, err);
}

#include "store/migrate.h"

#include <openssl/sha.h>

#include "store/advisory.h"
#include "store/binrow.h"
#include "store/pg.h"

const struct migration migrations[] = {
#include "migrations.inc"
};
const size_t n_migrations = ARRAY_LEN(migrations);

static const char make_table[] = "CREATE TABLE IF NOT EXISTS migration ("
				 " number integer PRIMARY KEY,"
				 " file text COLLATE \"C\" NOT NULL,"
				 " checksum text COLLATE \"C\" NOT NULL,"
				 " applied_at timestamptz NOT NULL DEFAULT now())";

static const char find_applied[] = "SELECT number, file, checksum FROM migration ORDER BY number";

static const char record_applied[] =
	"INSERT INTO migration (number, file, checksum) VALUES ($1, $2, $3)";

#define CHECKSUM_LEN (2 * SHA256_DIGEST_LENGTH + 1)

static void checksum(const char *text, char ret[CHECKSUM_LEN])
{
	unsigned char digest[SHA256_DIGEST_LENGTH];

	SHA256((const unsigned char *)text, strlen(text), digest);
	for (size_t i = 0; i < sizeof(digest); i++)
		snprintf(ret + 2 * i, 3, "%02x", digest[i]);
}

/* Is what was applied the beginning of our list, unchanged? */
static int compare(const PGresult *applied, const struct migration *list, size_t n, struct err *err)
{
	int rows = PQntuples(applied);

	for (int i = 0; i < rows; i++) {
		int number = bin_read_i32(applied, i, 0);
		const char *file = PQgetvalue(applied, i, 1);
		char sum[CHECKSUM_LEN];

		if ((size_t)i >= n)
			return err_set(err, ERR_NEWER, file,
				       "the schema has migration %d, this program knows %zu",
				       number, n);
		if (number != list[i].number)
			return err_set(err, ERR_CONFLICT, file,
				       "migration %d was applied where %d is expected", number,
				       list[i].number);
		checksum(list[i].text, sum);
		if (strcmp(sum, PQgetvalue(applied, i, 2)) != 0)
			return err_set(
				err, ERR_CONFLICT, list[i].file,
				"the migration has been edited since it was applied as %s; a "
				"change needs a migration of its own",
				file);
	}
	return 0;
}

static int apply(struct pg *pg, const struct migration *m, struct err *err)
{
	struct buf args = BUF_INIT;
	char sum[CHECKSUM_LEN];
	int rc = -1;

	checksum(m->text, sum);
	bin_i32(&args, m->number);
	bin_text(&args, m->file);
	bin_text(&args, sum);
	if (pg_begin(pg, err) == 0 && pg_script(pg, m->text, err) == 0 &&
	    pg_run_once(pg, record_applied, &args, NULL, err) == 0 && pg_commit(pg, err) == 0)
		rc = 0;
	if (rc < 0) {
		pg_rollback(pg);
		err_prefix(err, "migration %s: ", m->file);
	}
	buf_fini(&args);
	return rc;
}

static int apply_missing(struct pg *pg, const struct migration *list, size_t n, int *ret_applied,
			 struct err *err)
{
	PGresult *applied = NULL;
	size_t done;
	int rc;

	if (pg_script(pg, make_table, err) < 0 ||
	    pg_run_once(pg, find_applied, NULL, &applied, err) < 0)
		return -1;
	done = (size_t)PQntuples(applied);
	rc = compare(applied, list, n, err);
	PQclear(applied);
	for (size_t i = done; rc == 0 && i < n; i++) {
		rc = apply(pg, &list[i], err);
		if (rc == 0)
			++*ret_applied;
	}
	return rc;
}

int migrate(struct pg *pg, const struct migration *list, size_t n, int *ret_applied,
	    struct err *err)
{
	int count = 0;
	int rc;

	if (advisory_lock(pg, ADVISORY_MIGRATE, err) < 0)
		return -1;
	rc = apply_missing(pg, list, n, &count, err);
	advisory_unlock(pg, ADVISORY_MIGRATE);
	if (ret_applied != NULL)
		*ret_applied = count;
	return rc;
}

#include "store/aside.h"

#include "store/binrow.h"

static const struct statement which = {
	"aside_which",
	"SELECT DISTINCT cluster, job_id FROM job_aside WHERE job_id = ANY ($1::bigint[])"
};

#define F(name, type, flags, json, doc) "\"" #name "\", "
static const struct statement load_parts = { "aside_load", "SELECT "
#include "core/job.def"
	"stamps FROM job_aside WHERE job_id = ANY ($1::bigint[])" };
static const struct statement load_steps = { "aside_load_steps", "SELECT "
#include "core/step.def"
	"stamps FROM step_aside WHERE job_id = ANY ($1::bigint[])" };
static const char copy_parts[] = "COPY job_aside ("
#include "core/job.def"
	"stamps) FROM STDIN (FORMAT binary)";
static const char copy_steps[] = "COPY step_aside ("
#include "core/step.def"
	"stamps) FROM STDIN (FORMAT binary)";
#undef F

/* The form of the plan is forced, as in job_write.c. */
#define DELETE_OF(table)                                                                           \
	"DELETE FROM " table " WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM "                        \
	"unnest($1::bigint[], $2::text[], $3::bigint[]) AS k(job_id, cluster, submit_at) "         \
	"CROSS JOIN LATERAL (SELECT s.ctid FROM " table " s WHERE s.job_id = k.job_id "            \
	"AND s.cluster = k.cluster AND s.submit_at = k.submit_at OFFSET 0) AS r))"

static const struct statement delete_parts = { "aside_delete", DELETE_OF("job_aside") };
static const struct statement delete_steps = { "aside_delete_steps", DELETE_OF("step_aside") };

static struct buf *ids(struct write_tx *tx, const int64_t *job_ids, size_t n)
{
	struct buf *args = write_args(tx);

	write_in_scope(tx, SCOPE_ASIDE, 0);
	bin_i64_array(args, job_ids, n);
	return args;
}

int aside_which(struct write_tx *tx, const int64_t *job_ids, size_t n, aside_found *found,
		void *arg, struct err *err)
{
	PGresult *r;

	ids(tx, job_ids, n);
	if (write_run(tx, &which, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		found(PQgetvalue(r, i, 0), bin_read_i64(r, i, 1), arg);
	return 0;
}

int aside_load(struct write_tx *tx, const int64_t *job_ids, size_t n, struct arena *arena,
	       job_found *found, step_found *found_step, void *arg, struct err *err)
{
	PGresult *r;

	ids(tx, job_ids, n);
	if (write_run(tx, &load_parts, &r, err) < 0 ||
	    write_each_job(tx, r, arena, found, arg, err) < 0)
		return -1;
	ids(tx, job_ids, n);
	if (write_run(tx, &load_steps, &r, err) < 0)
		return -1;
	return write_each_step(tx, r, found_step, arg, err);
}

static void add_keys(struct buf *args, const struct job_key *k, size_t n)
{
	bin_i64_column(args, &k->job_id, sizeof(*k), n);
	bin_text_column(args, &k->cluster, sizeof(*k), n);
	bin_i64_column(args, &k->submit_at, sizeof(*k), n);
}

static int delete(struct write_tx *tx, const struct job *const *parts, size_t n, struct err *err)
{
	struct job_key *keys = xcalloc(n, sizeof(*keys));
	int rc;

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct job_key){ parts[i]->cluster, parts[i]->job_id,
					    parts[i]->submit_at };
	add_keys(write_args(tx), keys, n);
	rc = write_run(tx, &delete_parts, NULL, err);
	if (rc == 0) {
		add_keys(write_args(tx), keys, n);
		rc = write_run(tx, &delete_steps, NULL, err);
	}
	free(keys);
	return rc;
}

int aside_put(struct write_tx *tx, const struct job *const *parts, size_t n,
	      const struct step *const *steps, size_t n_steps, struct err *err)
{
	struct buf *b;

	write_in_scope(tx, SCOPE_ASIDE, 0);
	if (delete (tx, parts, n, err) < 0)
		return -1;
	b = write_args(tx);
	bin_head(b);
	for (size_t i = 0; i < n; i++)
		bin_job(b, parts[i]);
	bin_end(b);
	if (write_copy(tx, copy_parts, b, err) < 0)
		return -1;
	if (n_steps == 0)
		return 0;
	b = write_args(tx);
	bin_head(b);
	for (size_t i = 0; i < n_steps; i++)
		bin_step(b, steps[i]);
	bin_end(b);
	return write_copy(tx, copy_steps, b, err);
}

int job_months(struct write_tx *tx, const char *cluster, const int64_t *job_ids, size_t n,
	       month_found *found, void *arg, struct err *err)
{
	static const struct statement st = {
		"job_months",
		"SELECT m.month, k.job_id FROM unnest($1::bigint[]) AS k(job_id) "
		"CROSS JOIN LATERAL (SELECT month FROM job_month WHERE cluster = $2::text "
		"AND least_job_id <= k.job_id AND greatest_job_id >= k.job_id OFFSET 0) AS m "
		"ORDER BY m.month"
	};
	struct buf *args = write_args(tx);
	PGresult *r;

	write_in_scope(tx, SCOPE_WHOLE, 0);
	bin_i64_array(args, job_ids, n);
	bin_text(args, cluster);
	if (write_run(tx, &st, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		found(bin_read_i32(r, i, 0), bin_read_i64(r, i, 1), arg);
	return 0;
}

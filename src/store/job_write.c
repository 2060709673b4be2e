#include "store/job_write.h"

#include "store/binrow.h"

/* A plan is made once, often while the partition is empty, and must still be right when it is not:
 * so nothing here leaves a choice.  An index is probed for a list of ids; or for each of a list of
 * whole keys, which OFFSET 0 keeps from being turned round into a scan. */
#define JOB_KEYS                                                                                   \
	"unnest($1::bigint[], $2::text[], $3::bigint[]) AS k(job_id, cluster, submit_at)"
#define STEP_KEYS                                                                                  \
	"unnest($1::bigint[], $2::text[], $3::bigint[], $4::bigint[], $5::bigint[]) "              \
	"AS k(job_id, cluster, submit_at, step_id, het_comp)"
#define SAME_JOB                                                                                   \
	"s.job_id = k.job_id AND s.cluster = k.cluster AND s.submit_at = k.submit_at"
#define SAME_STEP SAME_JOB " AND s.step_id = k.step_id AND s.het_comp = k.het_comp"

#define F(name, type, flags, json, doc) "r.\"" #name "\", "
static const char job_load_sql[] = "SELECT "
#include "core/job.def"
	"r.stamps FROM job_@ r WHERE r.job_id = ANY($1::bigint[]) AND r.cluster = $2::text";
static const char step_load_all_sql[] = "SELECT "
#include "core/step.def"
	"r.stamps FROM step_@ r WHERE r.job_id = ANY($1::bigint[]) AND r.cluster = $2::text";
static const char step_load_sql[] = "SELECT "
#include "core/step.def"
	"r.stamps FROM " STEP_KEYS " CROSS JOIN LATERAL (SELECT * FROM step_@ s WHERE " SAME_STEP
	" OFFSET 0) AS r";
#undef F
#define F(name, type, flags, json, doc) "\"" #name "\", "
static const char job_copy_sql[] = "COPY job_@ ("
#include "core/job.def"
	"stamps) FROM STDIN (FORMAT binary)";
static const char step_copy_sql[] = "COPY step_@ ("
#include "core/step.def"
	"stamps) FROM STDIN (FORMAT binary)";
#undef F

static const struct leaf_statement load_jobs = { "job_load", job_load_sql };
static const struct leaf_statement load_steps = { "step_load", step_load_sql };
static const struct leaf_statement load_all_steps = { "step_load_all", step_load_all_sql };
static const struct leaf_statement copy_jobs = { "job_copy", job_copy_sql };
static const struct leaf_statement copy_steps = { "step_copy", step_copy_sql };
static const struct leaf_statement delete_jobs = {
	"job_delete", "DELETE FROM job_@ WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM " JOB_KEYS
		      " CROSS JOIN LATERAL (SELECT s.ctid FROM job_@ s WHERE " SAME_JOB
		      " OFFSET 0) AS r))"
};
static const struct leaf_statement delete_steps = {
	"step_delete", "DELETE FROM step_@ WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM " STEP_KEYS
		       " CROSS JOIN LATERAL (SELECT s.ctid FROM step_@ s WHERE " SAME_STEP
		       " OFFSET 0) AS r))"
};

/* ---- arguments */

static void add_job_keys(struct buf *args, const struct job_key *k, size_t n)
{
	bin_i64_column(args, &k->job_id, sizeof(*k), n);
	bin_text_column(args, &k->cluster, sizeof(*k), n);
	bin_i64_column(args, &k->submit_at, sizeof(*k), n);
}

static void add_step_keys(struct buf *args, const struct step_key *k, size_t n)
{
	bin_i64_column(args, &k->job.job_id, sizeof(*k), n);
	bin_text_column(args, &k->job.cluster, sizeof(*k), n);
	bin_i64_column(args, &k->job.submit_at, sizeof(*k), n);
	bin_i64_column(args, &k->step_id, sizeof(*k), n);
	bin_i64_column(args, &k->het_comp, sizeof(*k), n);
}

/* ---- reading */

int write_each_job(struct write_tx *tx, const PGresult *r, struct arena *arena, job_found *found,
		   void *arg, struct err *err)
{
	int n = PQntuples(r);
	struct job *rows = ARENA_ARRAY(arena, struct job, n);

	for (int i = 0; i < n; i++) {
		if (bin_read_job(r, i, &rows[i], err) < 0)
			return write_failed(tx);
		found(&rows[i], arg);
	}
	return 0;
}

int write_each_step(struct write_tx *tx, const PGresult *r, step_found *found, void *arg,
		    struct err *err)
{
	struct step s;
	int n = PQntuples(r);

	for (int i = 0; i < n; i++) {
		if (bin_read_step(r, i, &s, err) < 0)
			return write_failed(tx);
		found(&s, arg);
	}
	return 0;
}

int job_load(struct write_tx *tx, int month, const struct job_key *keys, size_t n,
	     struct arena *arena, job_found *found, void *arg, struct err *err)
{
	struct buf *args = write_args(tx);
	PGresult *r;

	bin_i64_column(args, &keys->job_id, sizeof(*keys), n);
	bin_text(args, keys->cluster);
	if (write_run_in(tx, &load_jobs, month, &r, err) < 0)
		return -1;
	return write_each_job(tx, r, arena, found, arg, err);
}

int step_load_all(struct write_tx *tx, int month, const struct job_key *keys, size_t n,
		  step_found *found, void *arg, struct err *err)
{
	struct buf *args = write_args(tx);
	PGresult *r;

	bin_i64_column(args, &keys->job_id, sizeof(*keys), n);
	bin_text(args, keys->cluster);
	if (write_run_in(tx, &load_all_steps, month, &r, err) < 0)
		return -1;
	return write_each_step(tx, r, found, arg, err);
}

int step_load(struct write_tx *tx, int month, const struct step_key *keys, size_t n,
	      step_found *found, void *arg, struct err *err)
{
	PGresult *r;

	add_step_keys(write_args(tx), keys, n);
	if (write_run_in(tx, &load_steps, month, &r, err) < 0)
		return -1;
	return write_each_step(tx, r, found, arg, err);
}

/* ---- writing */

int job_delete(struct write_tx *tx, int month, const struct job_key *keys, size_t n,
	       struct err *err)
{
	add_job_keys(write_args(tx), keys, n);
	return write_run_in(tx, &delete_jobs, month, NULL, err);
}

int step_delete(struct write_tx *tx, int month, const struct step_key *keys, size_t n,
		struct err *err)
{
	add_step_keys(write_args(tx), keys, n);
	return write_run_in(tx, &delete_steps, month, NULL, err);
}

int job_copy(struct write_tx *tx, int month, const struct job *const *rows, size_t n,
	     struct err *err)
{
	struct buf *b = write_args(tx);

	bin_head(b);
	for (size_t i = 0; i < n; i++)
		bin_job(b, rows[i]);
	bin_end(b);
	return write_copy_in(tx, &copy_jobs, month, b, err);
}

int step_copy(struct write_tx *tx, int month, const struct step *const *rows, size_t n,
	      struct err *err)
{
	struct buf *b = write_args(tx);

	bin_head(b);
	for (size_t i = 0; i < n; i++)
		bin_step(b, rows[i]);
	bin_end(b);
	return write_copy_in(tx, &copy_steps, month, b, err);
}

/* ---- what a partition holds */

static const struct statement change_months = {
	"job_month_change",
	"INSERT INTO job_month AS m (cluster, month, open_jobs, least_visible, greatest_end, "
	"least_job_id, greatest_job_id, max_life_s) "
	"SELECT cluster, month::integer, opened, nullif(least_visible, $9::bigint), "
	"nullif(greatest_end, $9::bigint), least_job_id, greatest_job_id, max_life_s "
	"FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], "
	"$6::bigint[], $7::bigint[], $8::bigint[]) AS c(cluster, month, opened, least_visible, "
	"greatest_end, least_job_id, greatest_job_id, max_life_s) "
	"ORDER BY cluster, month "
	"ON CONFLICT (cluster, month) DO UPDATE SET "
	"open_jobs = m.open_jobs + excluded.open_jobs, "
	"least_visible = least(m.least_visible, excluded.least_visible), "
	"greatest_end = greatest(m.greatest_end, excluded.greatest_end), "
	"least_job_id = least(m.least_job_id, excluded.least_job_id), "
	"greatest_job_id = greatest(m.greatest_job_id, excluded.greatest_job_id), "
	"max_life_s = greatest(m.max_life_s, excluded.max_life_s)"
};

int job_month_change(struct write_tx *tx, const struct month_change *c, size_t n, struct err *err)
{
	struct buf *args = write_args(tx);

	write_in_scope(tx, SCOPE_WHOLE, 0);
	bin_text_column(args, &c->cluster, sizeof(*c), n);
	bin_i64_column(args, &c->month, sizeof(*c), n);
	bin_i64_column(args, &c->opened, sizeof(*c), n);
	bin_i64_column(args, &c->least_visible, sizeof(*c), n);
	bin_i64_column(args, &c->greatest_end, sizeof(*c), n);
	bin_i64_column(args, &c->least_job_id, sizeof(*c), n);
	bin_i64_column(args, &c->greatest_job_id, sizeof(*c), n);
	bin_i64_column(args, &c->max_life_s, sizeof(*c), n);
	bin_i64(args, MONTH_NO_BOUND);
	return write_run(tx, &change_months, NULL, err);
}

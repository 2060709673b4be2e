#include "store/usage_read.h"

#include "base/num.h"
#include "store/binrow.h"
#include "store/job_where.h"
#include "store/partition.h"
#include "store/pg.h"

/* Times in a row that a partition may go while it is asked. */
#define TRIES 3

const char *const usage_by_names[USAGE_BY] = { "cluster", "account", "user", "qos", "wckey" };

struct charge_total {
	int64_t charge;
	struct usage_total *total; /* NULL: not asked for */
};

struct reading {
	struct pg *pg;
	const struct usage_query *q;
	int64_t now;
	struct arena *arena;
	int64_t from, to;
	struct usage_total **totals; /* in order of their names */
	size_t n, cap;
	struct charge_total *charges; /* ascending */
	size_t n_charges;
	const char **tres; /* by number; NULL where there is none */
	size_t n_tres, n_names;
	struct leaf *leaves;
	size_t n_leaves;
	int64_t uneven;
};

/* ---- totals */

static int compare_names(const char *const *a, const char *const *b)
{
	int c = 0;

	for (size_t i = 0; i < USAGE_BY && c == 0; i++)
		if (a[i] != NULL && b[i] != NULL)
			c = strcmp(a[i], b[i]);
	return c;
}

static bool is_asked(const struct reading *r, const char *const *names)
{
	for (size_t i = 0; i < USAGE_BY; i++) {
		const struct texts *only = &r->q->only[i];
		bool found = only->n == 0;

		for (size_t k = 0; k < only->n && !found; k++)
			found = strcmp(only->v[k], names[i]) == 0;
		if (!found)
			return false;
	}
	return true;
}

static void make_room(struct reading *r)
{
	struct usage_total **v;

	if (r->n < r->cap)
		return;
	r->cap = r->cap != 0 ? r->cap * 2 : 64;
	v = ARENA_ARRAY(r->arena, struct usage_total *, r->cap);
	if (r->n > 0)
		memcpy(v, r->totals, r->n * sizeof(struct usage_total *));
	r->totals = v;
}

/* The total of a charge with these names; NULL when it is not asked for. */
static struct usage_total *total_of(struct reading *r, const char *const *all)
{
	const char *names[USAGE_BY];
	size_t low = 0, high = r->n;

	if (!is_asked(r, all))
		return NULL;
	for (size_t i = 0; i < USAGE_BY; i++)
		names[i] = (r->q->by & 1u << i) != 0 ? all[i] : NULL;
	while (low < high) {
		size_t mid = (low + high) / 2;
		int c = compare_names(r->totals[mid]->names, names);

		if (c == 0)
			return r->totals[mid];
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
	make_room(r);
	memmove(&r->totals[low + 1], &r->totals[low], (r->n - low) * sizeof(struct usage_total *));
	r->n++;
	r->totals[low] = ARENA_NEW(r->arena, struct usage_total);
	for (size_t i = 0; i < USAGE_BY; i++)
		r->totals[low]->names[i] = arena_strdup(r->arena, names[i]);
	return r->totals[low];
}

/* A total has a place for every TRES there is. */
static void add(struct reading *r, struct usage_total *t, int32_t tres, int64_t amount)
{
	if (t->list == NULL)
		t->list = ARENA_ARRAY(r->arena, struct usage_amount, r->n_names + 1);
	t->n = usage_add(t->list, t->n, tres, amount);
}

static struct usage_total *total_of_charge(const struct reading *r, int64_t charge)
{
	size_t low = 0, high = r->n_charges;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (r->charges[mid].charge == charge)
			return r->charges[mid].total;
		if (r->charges[mid].charge < charge)
			low = mid + 1;
		else
			high = mid;
	}
	return NULL;
}

/* ---- what names and numbers there are */

static int read_charges(struct reading *r, struct err *err)
{
	static const struct statement st = {
		"usage_charges", "SELECT id, cluster, account, user_name, qos, wckey FROM charge "
				 "ORDER BY id"
	};
	PGresult *res = NULL;

	if (pg_run(r->pg, &st, NULL, &res, err) < 0)
		return -1;
	r->n_charges = (size_t)PQntuples(res);
	r->charges = ARENA_ARRAY(r->arena, struct charge_total, r->n_charges);
	for (int i = 0; i < (int)r->n_charges; i++) {
		const char *names[USAGE_BY];

		for (int k = 0; k < USAGE_BY; k++)
			names[k] = PQgetvalue(res, i, k + 1);
		r->charges[i] =
			(struct charge_total){ bin_read_i64(res, i, 0), total_of(r, names) };
	}
	PQclear(res);
	return 0;
}

static int read_tres(struct reading *r, struct err *err)
{
	static const struct statement st = {
		"usage_tres",
		"SELECT id, concat_ws('/', type, nullif(name, '')) FROM tres ORDER BY id"
	};
	PGresult *res = NULL;
	int n;

	if (pg_run(r->pg, &st, NULL, &res, err) < 0)
		return -1;
	n = PQntuples(res);
	r->n_names = (size_t)n;
	r->n_tres = n > 0 ? (size_t)bin_read_i64(res, n - 1, 0) + 1 : 0;
	r->tres = ARENA_ARRAY(r->arena, const char *, r->n_tres);
	for (int i = 0; i < n; i++)
		r->tres[bin_read_i64(res, i, 0)] = arena_strdup(r->arena, PQgetvalue(res, i, 1));
	PQclear(res);
	return 0;
}

static int32_t tres_number(const struct reading *r, const struct tres *t)
{
	for (size_t i = 0; i < r->n_tres; i++)
		if (r->tres[i] != NULL && strlen(r->tres[i]) == t->len &&
		    memcmp(r->tres[i], t->name, t->len) == 0)
			return (int32_t)i;
	return 0;
}

static int64_t i64_or(const PGresult *res, int row, int column, int64_t otherwise)
{
	return PQgetisnull(res, row, column) ? otherwise : bin_read_i64(res, row, column);
}

static int read_leaves(struct reading *r, struct err *err)
{
	static const struct statement st = {
		"usage_leaves",
		"SELECT month, min(least_visible), max(greatest_end), sum(open_jobs)::bigint, "
		"max(max_life_s) FROM job_month GROUP BY month ORDER BY month"
	};
	PGresult *res = NULL;

	if (pg_run(r->pg, &st, NULL, &res, err) < 0)
		return -1;
	r->n_leaves = (size_t)PQntuples(res);
	r->leaves = ARENA_ARRAY(r->arena, struct leaf, r->n_leaves);
	for (int i = 0; i < (int)r->n_leaves; i++)
		r->leaves[i] = (struct leaf){
			.month = bin_read_i32(res, i, 0),
			.least_visible = i64_or(res, i, 1, INT64_MAX),
			.greatest_end = i64_or(res, i, 2, INT64_MIN),
			.open_jobs = bin_read_i64(res, i, 3),
			.max_life_s = bin_read_i64(res, i, 4),
		};
	PQclear(res);
	return 0;
}

/* Where jobs have been purged, only their sums can answer. */
static int widen(struct reading *r, struct err *err)
{
	static const struct statement st = {
		"usage_horizon", "SELECT max(before) FROM purge_horizon WHERE kind = 'job'"
	};
	PGresult *res = NULL;
	int64_t before;

	if (pg_run(r->pg, &st, NULL, &res, err) < 0)
		return -1;
	before = i64_or(res, 0, 0, INT64_MIN);
	PQclear(res);
	if (r->from < before)
		r->from = usage_period(USAGE_HOUR, r->from);
	if (r->to < before && usage_period(USAGE_HOUR, r->to) != r->to)
		r->to = usage_period_next(USAGE_HOUR, r->to);
	return 0;
}

/* ---- sums */

static int add_sums(struct reading *r, const struct usage_part *part, struct err *err)
{
#define SUMS(name)                                                                                 \
	{                                                                                          \
		"usage_sums_" name, "SELECT charge, tres, amount FROM usage_" name                 \
				    " WHERE period >= $1::bigint AND period < $2::bigint"          \
	}
	static const struct statement sums[USAGE_GRAINS] = { SUMS("hour"), SUMS("day"),
							     SUMS("month") };
#undef SUMS
	struct buf args = BUF_INIT;
	PGresult *res = NULL;
	int rc;

	bin_i64(&args, part->from);
	bin_i64(&args, part->to);
	rc = pg_run(r->pg, &sums[part->grain], &args, &res, err);
	buf_fini(&args);
	if (rc < 0)
		return -1;
	for (int i = 0; i < PQntuples(res); i++) {
		struct usage_total *t = total_of_charge(r, bin_read_i64(res, i, 0));
		size_t n = bin_array_length(res, i, 1);

		for (size_t k = 0; t != NULL && k < n; k++)
			add(r, t, bin_array_i32(res, i, 1, k), bin_array_i64(res, i, 2, k));
	}
	PQclear(res);
	return 0;
}

/* ---- what runs now, as if all of it had begun in the window */

static int add_rates(struct reading *r, int64_t until, struct err *err)
{
	static const struct statement st = {
		"usage_rates", "SELECT charge, uneven, tres, rate, rate_start FROM run_rate"
	};
	PGresult *res = NULL;

	if (pg_run(r->pg, &st, NULL, &res, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(res); i++) {
		struct usage_total *t = total_of_charge(r, bin_read_i64(res, i, 0));
		size_t n = bin_array_length(res, i, 2);

		r->uneven += bin_read_i64(res, i, 1);
		for (size_t k = 0; t != NULL && k < n; k++) {
			struct usage_rate rate = { bin_array_i32(res, i, 2, k),
						   bin_array_i64(res, i, 3, k),
						   (uint64_t)bin_array_i64(res, i, 4, k) };

			add(r, t, rate.tres, usage_rate_until(&rate, until));
		}
	}
	PQclear(res);
	return 0;
}

/* ---- runs one by one */

enum walk { WALK_EDGE, WALK_LONG, WALK_RUNNING, WALK_RUNNING_PAST };

static void select_runs(const struct reading *r, struct buf *sql, const struct leaf *leaf,
			enum walk walk, int64_t from, int64_t to)
{
	char name[LEAF_NAME_MAX];

	if (sql->len > 0)
		buf_adds(sql, " UNION ALL ");
	buf_printf(
		sql,
		"SELECT %d::bigint, %" PRId64 "::bigint, %" PRId64 "::bigint, j.cluster, "
		"j.account, j.user_name, j.qos, j.wckey, j.start_at, j.end_at, j.state, j.flaws, "
		"j.rec_elapsed, j.moments, j.tres_alloc FROM %s j WHERE ",
		(int)walk, from, to, leaf_name("job", leaf->month, name));
	if (walk == WALK_EDGE)
		buf_printf(sql,
			   "least(j.visible_from, j.start_at, j.end_at) >= %" PRId64
			   " AND least(j.visible_from, j.start_at, j.end_at) < %" PRId64
			   " AND j.end_at > %" PRId64 " AND j.start_at < %" PRId64
			   " AND j.end_at - j.start_at <= %" PRId64,
			   num_add(from, -leaf->max_life_s, NULL), to, from, to, USAGE_LONG_S);
	else if (walk == WALK_LONG)
		buf_printf(sql,
			   "j.end_at - j.start_at > %" PRId64 " AND j.end_at > %" PRId64
			   " AND j.start_at < %" PRId64,
			   USAGE_LONG_S, from, to);
	else
		buf_printf(sql,
			   "j.end_at IS NULL AND j.start_at IS NOT NULL AND (j.start_at < %" PRId64,
			   walk == WALK_RUNNING ? from : to);
	if (walk == WALK_RUNNING)
		buf_printf(sql, " OR j.start_at > %" PRId64 "%s", to,
			   r->uneven > 0 ? " OR j.moments IS NOT NULL" : "");
	if (walk == WALK_RUNNING || walk == WALK_RUNNING_PAST)
		buf_addc(sql, ')');
}

static void select_ended(const struct reading *r, struct buf *sql, const struct usage_part *parts,
			 size_t n)
{
	for (size_t i = 0; i < r->n_leaves; i++) {
		const struct leaf *leaf = &r->leaves[i];

		for (size_t k = 0; k < n; k++)
			if (parts[k].grain == USAGE_GRAINS && leaf->least_visible < parts[k].to &&
			    leaf->greatest_end > parts[k].from)
				select_runs(r, sql, leaf, WALK_EDGE, parts[k].from, parts[k].to);
		if (leaf->max_life_s > USAGE_LONG_S && leaf->least_visible < r->to &&
		    leaf->greatest_end > r->from)
			select_runs(r, sql, leaf, WALK_LONG, r->from, r->to);
	}
}

static void set_text(struct job *j, enum job_field f, const char **member, const PGresult *res,
		     int row, int column)
{
	if (PQgetisnull(res, row, column))
		return;
	*member = PQgetvalue(res, row, column);
	has_set(j->has, f);
}

static void set_number(struct job *j, enum job_field f, int64_t *member, const PGresult *res,
		       int row, int column)
{
	if (PQgetisnull(res, row, column))
		return;
	*member = bin_read_i64(res, row, column);
	has_set(j->has, f);
}

static void read_run(const PGresult *res, int row, struct job *j, const char **names)
{
	*j = (struct job){ 0 };
	for (int i = 0; i < USAGE_BY; i++)
		names[i] = PQgetisnull(res, row, 3 + i) ? "" : PQgetvalue(res, row, 3 + i);
	names[BY_WCKEY] += names[BY_WCKEY][0] == '*';
	set_number(j, JOB_start_at, &j->start_at, res, row, 8);
	set_number(j, JOB_end_at, &j->end_at, res, row, 9);
	set_number(j, JOB_state, &j->state, res, row, 10);
	set_number(j, JOB_flaws, &j->flaws, res, row, 11);
	set_number(j, JOB_rec_elapsed, &j->rec_elapsed, res, row, 12);
	set_text(j, JOB_moments, &j->moments, res, row, 13);
	set_text(j, JOB_tres_alloc, &j->tres_alloc, res, row, 14);
}

static void add_run(struct reading *r, const PGresult *res, int row)
{
	enum walk walk = (enum walk)bin_read_i64(res, row, 0);
	int64_t from = bin_read_i64(res, row, 1), to = bin_read_i64(res, row, 2);
	const char *names[USAGE_BY];
	struct usage_total *total;
	struct usage_tres held;
	struct usage_run run;
	struct tres t;
	struct job j;

	read_run(res, row, &j, names);
	if (!usage_run_of(&j, &run) || (total = total_of(r, names)) == NULL)
		return;
	held = usage_tres_of(&run);
	while (usage_tres_next(&held, &t)) {
		int64_t amount = usage_in(&run, &t, from, to);

		if (walk == WALK_RUNNING && !usage_is_uneven(&run) &&
		    usage_kind_of(&t) != USAGE_TOTAL) /* in the rates already */
			amount -= num_mul(t.count, to - run.start, NULL);
		add(r, total, tres_number(r, &t), amount);
	}
}

static int add_runs(struct reading *r, const struct buf *sql, struct err *err)
{
	PGresult *res = NULL;

	if (sql->len == 0)
		return 0;
	if (pg_run_once(r->pg, sql->data, NULL, &res, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(res); i++)
		add_run(r, res, i);
	PQclear(res);
	return 0;
}

/* ---- all of it */

static int read_in_snapshot(struct reading *r, struct err *err)
{
	struct usage_part parts[USAGE_PARTS_MOST];
	struct buf sql = BUF_INIT;
	int64_t until;
	size_t n;
	int rc = -1;

	if (read_charges(r, err) < 0 || read_tres(r, err) < 0 || read_leaves(r, err) < 0 ||
	    widen(r, err) < 0)
		return -1;
	n = usage_split(r->from, r->to, parts);
	for (size_t i = 0; i < n; i++)
		if (parts[i].grain != USAGE_GRAINS && add_sums(r, &parts[i], err) < 0)
			return -1;
	until = r->to < r->now ? r->to : r->now;
	if (r->from < until && until == r->now && add_rates(r, until, err) < 0)
		return -1;
	select_ended(r, &sql, parts, n);
	for (size_t i = 0; i < r->n_leaves && r->from < until; i++)
		if (r->leaves[i].open_jobs > 0)
			select_runs(r, &sql, &r->leaves[i],
				    until == r->now ? WALK_RUNNING : WALK_RUNNING_PAST, r->from,
				    until);
	rc = add_runs(r, &sql, err);
	buf_fini(&sql);
	return rc;
}

static void answer(const struct reading *r, struct usage_answer *ret)
{
	*ret = (struct usage_answer){
		.from = r->from,
		.to = r->to,
		.running_to = r->to < r->now ? r->to : r->now,
		.totals = ARENA_ARRAY(r->arena, struct usage_total, r->n),
		.tres = r->tres,
		.n_tres = r->n_tres,
	};
	for (size_t i = 0; i < r->n; i++)
		if (r->totals[i]->n > 0)
			ret->totals[ret->n++] = *r->totals[i];
}

int usage_read(struct store *s, const struct usage_query *q, int64_t now, struct arena *arena,
	       struct usage_answer *ret, struct err *err)
{
	struct pg *pg = store_reader(s, err);
	int rc = -1;

	for (int i = 0; pg != NULL && i < TRIES; i++) {
		struct reading r = {
			.pg = pg, .q = q, .now = now, .arena = arena, .from = q->from, .to = q->to
		};
		bool gone;

		rc = pg_script(pg, "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY", err);
		if (rc == 0)
			rc = read_in_snapshot(&r, err);
		gone = rc < 0 && strcmp(pg_sqlstate(pg), "42P01") == 0;
		pg_rollback(pg);
		if (rc == 0)
			answer(&r, ret);
		if (!gone)
			break;
		err_clear(err);
	}
	store_reader_done(s, pg);
	return rc;
}

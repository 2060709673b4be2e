#include "store/usage_write.h"

#include <endian.h>

#include "core/tres.h"
#include "store/binrow.h"

/* ---- charges */

#define CHARGE_KEYS                                                                                \
	"unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::bigint[], "        \
	"$7::bigint[], $8::bigint[]) WITH ORDINALITY "                                             \
	"AS k(cluster, account, user_name, qos, wckey, assoc_id, qos_id, wckey_id, n)"

static const struct statement find_charges = {
	"charge_find",
	"SELECT k.n, r.id FROM " CHARGE_KEYS " CROSS JOIN LATERAL (SELECT c.id FROM charge c "
	"WHERE c.cluster = k.cluster AND c.account = k.account AND c.user_name = k.user_name "
	"AND c.qos = k.qos AND c.wckey = k.wckey AND c.assoc_id = k.assoc_id "
	"AND c.qos_id = k.qos_id AND c.wckey_id = k.wckey_id OFFSET 0) AS r"
};
static const struct statement make_charges = {
	"charge_make",
	"INSERT INTO charge (cluster, account, user_name, qos, wckey, assoc_id, qos_id, wckey_id) "
	"SELECT cluster, account, user_name, qos, wckey, assoc_id, qos_id, wckey_id "
	"FROM " CHARGE_KEYS " ORDER BY n"
};

static void add_texts(struct buf *args, struct charge *const *charges, size_t n, size_t member)
{
	const char **v = xcalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = *(const char *const *)(const void *)((const char *)charges[i] + member);
	bin_text_array(args, v, n);
	free(v);
}

static void add_numbers(struct buf *args, struct charge *const *charges, size_t n, size_t member)
{
	int64_t *v = xcalloc(n + 1, sizeof(*v));

	for (size_t i = 0; i < n; i++)
		v[i] = *(const int64_t *)(const void *)((const char *)charges[i] + member);
	bin_i64_array(args, v, n);
	free(v);
}

static void add_charges(struct buf *args, struct charge *const *charges, size_t n)
{
	static const size_t texts[] = {
		offsetof(struct charge, cluster), offsetof(struct charge, account),
		offsetof(struct charge, user_name), offsetof(struct charge, qos),
		offsetof(struct charge, wckey),
	};
	static const size_t numbers[] = {
		offsetof(struct charge, assoc_id),
		offsetof(struct charge, qos_id),
		offsetof(struct charge, wckey_id),
	};

	for (size_t i = 0; i < ARRAY_LEN(texts); i++)
		add_texts(args, charges, n, texts[i]);
	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		add_numbers(args, charges, n, numbers[i]);
}

static int look_up(struct write_tx *tx, struct charge *const *charges, size_t n, struct err *err)
{
	PGresult *r;

	add_charges(write_args(tx), charges, n);
	if (write_run(tx, &find_charges, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		charges[bin_read_i64(r, i, 0) - 1]->id = bin_read_i64(r, i, 1);
	return 0;
}

int charge_ids(struct write_tx *tx, struct charge *const *charges, size_t n, struct err *err)
{
	struct charge **missing;
	size_t left = 0;
	int rc = 0;

	write_in_scope(tx, SCOPE_WHOLE, 0);
	if (look_up(tx, charges, n, err) < 0)
		return -1;
	missing = xcalloc(n + 1, sizeof(*missing));
	for (size_t i = 0; i < n; i++)
		if (charges[i]->id == 0)
			missing[left++] = charges[i];
	if (left > 0) {
		add_charges(write_args(tx), missing, left);
		rc = write_run(tx, &make_charges, NULL, err);
		if (rc == 0)
			rc = look_up(tx, missing, left, err);
	}
	free(missing);
	return rc;
}

/* ---- TRES */

int usage_tres_ids(struct write_tx *tx, const char *const *names, size_t n, int32_t *ret_ids,
		   struct err *err)
{
	static const struct statement make = {
		"usage_tres_make",
		"INSERT INTO tres (id, type, name) SELECT nextval('tres_id'), type, name FROM ("
		"SELECT split_part(t, '/', 1) AS type, "
		"substr(t, length(split_part(t, '/', 1)) + 2) AS name "
		"FROM unnest($1::text[]) AS t) AS want WHERE NOT EXISTS (SELECT 1 FROM tres "
		"WHERE tres.type = want.type AND tres.name = want.name)"
	};
	static const struct statement find = {
		"usage_tres_find",
		"SELECT k.n, t.id FROM unnest($1::text[]) WITH ORDINALITY AS k(t, n) JOIN tres t "
		"ON t.type = split_part(k.t, '/', 1) "
		"AND t.name = substr(k.t, length(split_part(k.t, '/', 1)) + 2)"
	};
	PGresult *r;

	write_in_scope(tx, SCOPE_WHOLE, 0);
	bin_text_array(write_args(tx), names, n);
	if (write_run(tx, &make, NULL, err) < 0)
		return -1;
	bin_text_array(write_args(tx), names, n);
	if (write_run(tx, &find, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		ret_ids[bin_read_i64(r, i, 0) - 1] = (int32_t)bin_read_i64(r, i, 1);
	return 0;
}

/* ---- arrays: written as text, which PostgreSQL casts, and read in binary */

struct array_text {
	struct buf text;
	size_t *at; /* where each of them begins in the text */
	size_t n;
};

static void array_text_init(struct array_text *a, size_t n)
{
	*a = (struct array_text){ .at = xcalloc(n + 1, sizeof(size_t)) };
}

static void array_text_fini(struct array_text *a)
{
	buf_fini(&a->text);
	free(a->at);
}

static void array_text_begin(struct array_text *a)
{
	a->at[a->n++] = a->text.len;
	buf_addc(&a->text, '{');
}

static void array_text_item(struct array_text *a, int64_t v)
{
	if (a->text.data[a->text.len - 1] != '{')
		buf_addc(&a->text, ',');
	buf_i64(&a->text, v);
}

static void array_text_end(struct array_text *a)
{
	buf_add(&a->text, "}", 2); /* with its NUL */
}

static void array_text_arg(struct buf *args, const struct array_text *a)
{
	const char **v = xcalloc(a->n + 1, sizeof(*v));

	for (size_t i = 0; i < a->n; i++)
		v[i] = a->text.data + a->at[i];
	bin_text_array(args, v, a->n);
	free(v);
}

/* ---- sums */

/* clang-format off */
static const struct {
	struct statement find, put, drop;
} grains[USAGE_GRAINS] = {
#define KEYS "unnest($1::bigint[], $2::bigint[])"
#define GRAIN(name)                                                                                \
	{                                                                                          \
		{ "usage_find_" name,                                                              \
		  "SELECT k.n, r.tres, r.amount FROM " KEYS " WITH ORDINALITY "                    \
		  "AS k(period, charge, n) CROSS JOIN LATERAL (SELECT u.tres, u.amount "           \
		  "FROM usage_" name " u WHERE u.period = k.period AND u.charge = k.charge "       \
		  "OFFSET 0) AS r" },                                                              \
		{ "usage_put_" name,                                                               \
		  "INSERT INTO usage_" name " AS u (period, charge, tres, amount) "                \
		  "SELECT period, charge, tres::integer[], amount::bigint[] "                      \
		  "FROM unnest($1::bigint[], $2::bigint[], $3::text[], $4::text[]) "               \
		  "AS k(period, charge, tres, amount) "                                            \
		  "ON CONFLICT (period, charge) DO UPDATE "                                        \
		  "SET tres = excluded.tres, amount = excluded.amount" },                          \
		{ "usage_drop_" name,                                                              \
		  "DELETE FROM usage_" name " WHERE ctid = ANY (ARRAY(SELECT r.ctid FROM " KEYS    \
		  " AS k(period, charge) CROSS JOIN LATERAL (SELECT u.ctid FROM usage_" name       \
		  " u WHERE u.period = k.period AND u.charge = k.charge OFFSET 0) AS r))" },       \
	}
	[USAGE_HOUR] = GRAIN("hour"),
	[USAGE_DAY] = GRAIN("day"),
	[USAGE_MONTH] = GRAIN("month"),
#undef GRAIN
#undef KEYS
};
/* clang-format on */

static void add_row_keys(struct buf *args, const struct usage_row *rows, size_t n)
{
	bin_i64_column(args, &rows->period, sizeof(*rows), n);
	bin_i64_column(args, &rows->charge, sizeof(*rows), n);
}

static void add_stored(struct usage_row *row, const PGresult *r, int at, struct arena *arena)
{
	size_t n = bin_array_length(r, at, 1);
	struct usage_amount *list = ARENA_ARRAY(arena, struct usage_amount, n + row->n);

	for (size_t i = 0; i < n; i++)
		list[i] = (struct usage_amount){ bin_array_i32(r, at, 1, i),
						 bin_array_i64(r, at, 2, i) };
	for (size_t i = 0; i < row->n; i++)
		n = usage_add(list, n, row->list[i].tres, row->list[i].amount);
	row->list = list;
	row->n = n;
}

static int put_sums(struct write_tx *tx, enum usage_grain grain, const struct usage_row *rows,
		    size_t n, struct err *err)
{
	struct array_text tres, amount;
	struct buf *args = write_args(tx);

	array_text_init(&tres, n);
	array_text_init(&amount, n);
	for (size_t i = 0; i < n; i++) {
		array_text_begin(&tres);
		array_text_begin(&amount);
		for (size_t k = 0; k < rows[i].n; k++) {
			array_text_item(&tres, rows[i].list[k].tres);
			array_text_item(&amount, rows[i].list[k].amount);
		}
		array_text_end(&tres);
		array_text_end(&amount);
	}
	add_row_keys(args, rows, n);
	array_text_arg(args, &tres);
	array_text_arg(args, &amount);
	array_text_fini(&tres);
	array_text_fini(&amount);
	return write_run(tx, &grains[grain].put, NULL, err);
}

/* Those with an amount first, in their order; returns how many. */
static size_t empty_last(struct usage_row *rows, size_t n)
{
	size_t left = 0;

	for (size_t i = 0; i < n; i++) {
		struct usage_row row = rows[i];

		if (row.n > 0) {
			rows[i] = rows[left];
			rows[left++] = row;
		}
	}
	return left;
}

int usage_change(struct write_tx *tx, enum usage_grain grain, struct usage_row *rows, size_t n,
		 struct arena *arena, struct err *err)
{
	PGresult *r;
	size_t left;

	write_in_scope(tx, SCOPE_WHOLE, 0);
	add_row_keys(write_args(tx), rows, n);
	if (write_run(tx, &grains[grain].find, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		add_stored(&rows[bin_read_i64(r, i, 0) - 1], r, i, arena);
	left = empty_last(rows, n);
	if (left > 0 && put_sums(tx, grain, rows, left, err) < 0)
		return -1;
	if (left == n)
		return 0;
	add_row_keys(write_args(tx), rows + left, n - left);
	return write_run(tx, &grains[grain].drop, NULL, err);
}

/* ---- what runs */

static const struct statement find_rates = {
	"rate_find",
	"SELECT k.n, r.runs, r.uneven, r.tres, r.rate, r.rate_start FROM unnest($1::bigint[]) "
	"WITH ORDINALITY AS k(charge, n) CROSS JOIN LATERAL (SELECT * FROM run_rate q "
	"WHERE q.charge = k.charge OFFSET 0) AS r"
};
static const struct statement put_rates = {
	"rate_put",
	"INSERT INTO run_rate AS q (charge, runs, uneven, tres, rate, rate_start) "
	"SELECT charge, runs, uneven, tres::integer[], rate::bigint[], rate_start::bigint[] "
	"FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::text[], $5::text[], "
	"$6::text[]) AS k(charge, runs, uneven, tres, rate, rate_start) "
	"ON CONFLICT (charge) DO UPDATE SET runs = excluded.runs, uneven = excluded.uneven, "
	"tres = excluded.tres, rate = excluded.rate, rate_start = excluded.rate_start"
};
static const struct statement drop_rates = {
	"rate_drop", "DELETE FROM run_rate WHERE charge = ANY ($1::bigint[]) AND runs = 0"
};

static void add_stored_rates(struct rate_row *row, const PGresult *r, int at, struct arena *arena)
{
	size_t n = bin_array_length(r, at, 3);
	struct usage_rate *list = ARENA_ARRAY(arena, struct usage_rate, n + row->n);

	for (size_t i = 0; i < n; i++)
		list[i] = (struct usage_rate){ bin_array_i32(r, at, 3, i),
					       bin_array_i64(r, at, 4, i),
					       (uint64_t)bin_array_i64(r, at, 5, i) };
	for (size_t i = 0; i < row->n; i++)
		n = usage_rate_add(list, n, &row->list[i]);
	row->runs += bin_read_i64(r, at, 1);
	row->uneven += bin_read_i64(r, at, 2);
	row->list = list;
	row->n = n;
}

int rate_change(struct write_tx *tx, struct rate_row *rows, size_t n, struct arena *arena,
		struct err *err)
{
	struct array_text tres, rate, rate_start;
	struct buf *args;
	bool any_empty = false;
	PGresult *r;

	write_in_scope(tx, SCOPE_WHOLE, 0);
	bin_i64_column(write_args(tx), &rows->charge, sizeof(*rows), n);
	if (write_run(tx, &find_rates, &r, err) < 0)
		return -1;
	for (int i = 0; i < PQntuples(r); i++)
		add_stored_rates(&rows[bin_read_i64(r, i, 0) - 1], r, i, arena);
	array_text_init(&tres, n);
	array_text_init(&rate, n);
	array_text_init(&rate_start, n);
	for (size_t i = 0; i < n; i++) {
		any_empty |= rows[i].runs == 0;
		array_text_begin(&tres);
		array_text_begin(&rate);
		array_text_begin(&rate_start);
		for (size_t k = 0; k < rows[i].n; k++) {
			array_text_item(&tres, rows[i].list[k].tres);
			array_text_item(&rate, rows[i].list[k].rate);
			array_text_item(&rate_start, (int64_t)rows[i].list[k].rate_start);
		}
		array_text_end(&tres);
		array_text_end(&rate);
		array_text_end(&rate_start);
	}
	args = write_args(tx);
	bin_i64_column(args, &rows->charge, sizeof(*rows), n);
	bin_i64_column(args, &rows->runs, sizeof(*rows), n);
	bin_i64_column(args, &rows->uneven, sizeof(*rows), n);
	array_text_arg(args, &tres);
	array_text_arg(args, &rate);
	array_text_arg(args, &rate_start);
	array_text_fini(&tres);
	array_text_fini(&rate);
	array_text_fini(&rate_start);
	if (write_run(tx, &put_rates, NULL, err) < 0)
		return -1;
	if (!any_empty)
		return 0;
	bin_i64_column(write_args(tx), &rows->charge, sizeof(*rows), n);
	return write_run(tx, &drop_rates, NULL, err);
}

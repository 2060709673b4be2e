/* Rows as JSON, NDJSON and CSV: what a name holds cannot break a row, and a cell says what the JSON
 * says. */
#include "unit.h"

#include "api/rowout.h"
#include "core/exit.h"
#include "core/state.h"

#define NOW INT64_C(1700000600)

static struct job sample(const char *name)
{
	struct job j = { 0 };

	job_set(&j, cluster, "c1");
	job_set(&j, job_id, 101);
	job_set(&j, submit_at, 1700000000);
	job_set(&j, start_at, 1700000000);
	job_set(&j, end_at, 1700000060);
	job_set(&j, state, STATE_FAILED);
	job_set(&j, exit, exit_make(1, 0));
	job_set(&j, name, name);
	job_set(&j, tres_alloc, "cpu=4,gres/gpu:a100=2,mem=8000");
	job_set(&j, timelimit, LIMIT_UNLIMITED);
	job_set(&j, work_dir, "");
	return j;
}

static void want(struct row_args *args, const char *const *keys, size_t n)
{
	memset(args, 0, sizeof(*args));
	for (size_t i = 0; i < n; i++) {
		int key = job_key_find(keys[i], strlen(keys[i]));
		assert_true(key >= 0);
		args->fields.keys[args->fields.n++] = key;
		has_set(args->fields.mask, (size_t)key);
	}
}

static const char *rows(enum answer_format format, const struct row_args *args, const struct job *j,
			size_t n)
{
	static struct buf out;
	struct rowout r;

	buf_clear(&out);
	rowout_init(&r, format, args, NOW, false);
	rowout_head(&r, &out);
	for (size_t i = 0; i < n; i++)
		rowout_add(&r, &j[i], NULL, 0, &out);
	rowout_fini(&r);
	return buf_str(&out);
}

/* One record of RFC 4180 into cells (NULL for an empty cell without quotes); where the next is. */
static const char *csv_record(const char *at, struct arena *arena, const char **cells,
			      size_t *ret_n)
{
	*ret_n = 0;
	for (;;) {
		struct buf b = BUF_INIT;
		bool quoted = *at == '"';
		if (quoted) {
			for (at++; *at != '"' || at[1] == '"'; at++) {
				assert_true(*at != '\0');
				buf_addc(&b, *at);
				at += *at == '"';
			}
			at++;
		} else {
			size_t n = strcspn(at, ",\"\r\n");
			buf_add(&b, at, n);
			at += n;
		}
		assert_true(*at == ',' || (at[0] == '\r' && at[1] == '\n'));
		cells[(*ret_n)++] = quoted || b.len > 0 ? arena_strdup(arena, buf_str(&b)) : NULL;
		buf_fini(&b);
		if (*at == '\r')
			return at + 2;
		at++;
	}
}

static void any_name_comes_back_from_csv(void **state)
{
	static const char *const names[] = {
		"a|b",
		"f20\n",
		"g\r",
		"x'); drop table jobs;--",
		"50%_\\",
		"say \"hi\"",
		",",
		"\"",
		"",
		" blank ",
		"d\xc3\xa9"
		"d\xc3\xa9 job",
		"\x1b[31mred\x1b[0m\t\a\x7f",
		"a,b,c\r\n\"d\"",
	};
	static const char *const keys[] = { "job_id", "name", "work_dir" };
	struct arena *arena = arena_new();
	struct job j[ARRAY_LEN(names)];
	struct row_args args;
	const char *cells[8];
	size_t n;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		j[i] = sample(names[i]);
	want(&args, keys, ARRAY_LEN(keys));
	const char *at = csv_record(rows(FORMAT_CSV, &args, j, ARRAY_LEN(j)), arena, cells, &n);
	assert_int_equal(n, 3);
	assert_string_equal(cells[1], "name");
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		at = csv_record(at, arena, cells, &n);
		assert_int_equal(n, 3);
		assert_string_equal(cells[0], "101");
		assert_string_equal(cells[1], names[i]);
		assert_string_equal(cells[2], ""); /* an empty text, not a null */
	}
	assert_string_equal(at, "");
	arena_free(arena);
}

static void ndjson_is_a_line_a_row(void **state)
{
	struct job j[2] = { sample("f20\n"), sample("g\r\xe2\x80\xa8") };
	static const char *const keys[] = { "job_id", "name" };
	struct row_args args;

	(void)state;
	want(&args, keys, ARRAY_LEN(keys));
	assert_string_equal(rows(FORMAT_NDJSON, &args, j, 2),
			    "{\"job_id\":101,\"name\":\"f20\\n\"}\n"
			    "{\"job_id\":101,\"name\":\"g\\r\xe2\x80\xa8\"}\n");
}

static void columns_come_in_the_order_asked_for(void **state)
{
	static const char *const keys[] = {
		"state", "job_id",   "exit_code", "tres_alloc", "timelimit",
		"start", "eligible", "elapsed_s", "failed",
	};
	struct job j = sample("n");
	struct row_args args;

	(void)state;
	want(&args, keys, ARRAY_LEN(keys));
	assert_string_equal(
		rows(FORMAT_CSV, &args, &j, 1),
		"state,job_id,exit_code,exit_signal,tres_alloc,timelimit,start,eligible,"
		"elapsed_s,failed\r\n"
		"FAILED,101,1,0,\"cpu=4,gres/gpu:a100=2,mem=8000\",unlimited,"
		"2023-11-14T22:13:20Z,,60,true\r\n");
	args.epoch = true;
	assert_non_null(strstr(rows(FORMAT_CSV, &args, &j, 1), ",1700000000,,60,true\r\n"));
}

static void every_key_has_a_column(void **state)
{
	struct arena *arena = arena_new();
	struct job j = sample("n");
	struct row_args args = { 0 };
	const char *head[2 * JOB_KEYS], *cells[2 * JOB_KEYS];
	size_t n_head, n;

	(void)state;
	const char *at = csv_record(rows(FORMAT_CSV, &args, &j, 1), arena, head, &n_head);
	assert_true(n_head > JOB_KEYS);
	at = csv_record(at, arena, cells, &n);
	assert_int_equal(n, n_head);
	assert_string_equal(at, "");
	for (size_t i = 0; i < n; i++) {
		assert_non_null(head[i]);
		for (size_t k = 0; k < i; k++)
			assert_string_not_equal(head[i], head[k]);
	}
	arena_free(arena);
}

/* Whatever a cell is made from, it must say what the row's JSON says. */
static void cells_and_json_agree(void **state)
{
	struct job j = sample("n");
	struct row_args args = { 0 };
	struct arena *arena = arena_new();
	const char *head[2 * JOB_KEYS], *cells[2 * JOB_KEYS];
	char pattern[160];
	size_t n;

	(void)state;
	const char *at = csv_record(rows(FORMAT_CSV, &args, &j, 1), arena, head, &n);
	csv_record(at, arena, cells, &n);
	const char *json = arena_strdup(arena, rows(FORMAT_NDJSON, &args, &j, 1));
	for (size_t i = 0; i < n; i++) {
		snprintf(pattern, sizeof(pattern), "\"%s\":null", head[i]);
		bool null = strstr(json, pattern) != NULL;
		snprintf(pattern, sizeof(pattern), "\"%s\":", head[i]);
		if (strstr(json, pattern) == NULL)
			fail_msg("%s is no key of the JSON", head[i]);
		if (null != (cells[i] == NULL))
			fail_msg("%s: cell %s, JSON %s", head[i], cells[i] ? cells[i] : "(null)",
				 null ? "null" : "a value");
	}
	arena_free(arena);
}

static void accept_headers(void **state)
{
	static const struct {
		const char *accept;
		enum answer_format want;
	} rows_[] = {
		{ NULL, FORMAT_JSON },
		{ "", FORMAT_JSON },
		{ "*/*", FORMAT_JSON },
		{ "text/csv", FORMAT_CSV },
		{ "TEXT/CSV; q=0.9, */*;q=0.1", FORMAT_CSV },
		{ "application/x-ndjson", FORMAT_NDJSON },
		{ "text/html, application/xhtml+xml, application/json;q=0.5", FORMAT_JSON },
		{ "image/png", FORMAT_JSON },
		{ "application/jsonl , text/csv", FORMAT_NDJSON },
		{ ",,;;,", FORMAT_JSON },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows_); i++)
		assert_int_equal(format_from_accept(rows_[i].accept), rows_[i].want);
}

static void columns_that_are_read(void **state)
{
	static const char *const keys[] = { "user", "elapsed_s", "oom" };
	struct row_args args;
	uint64_t columns[HAS_WORDS];

	(void)state;
	want(&args, keys, ARRAY_LEN(keys));
	rowout_columns(&args.fields, columns);
	assert_true(has_bit(columns, JOB_user_name));
	assert_true(has_bit(columns, JOB_cluster) && has_bit(columns, JOB_submit_at));
	assert_true(has_bit(columns, JOB_start_at) && has_bit(columns, JOB_moments));
	assert_false(has_bit(columns, JOB_submit_line));
	memset(&args, 0, sizeof(args));
	rowout_columns(&args.fields, columns);
	for (size_t w = 0; w < HAS_WORDS; w++)
		assert_int_equal(columns[w], 0);
}

static void the_fingerprint_is_the_row_and_not_the_clock(void **state)
{
	struct job a = sample("n"), b = sample("n");
	struct buf x = BUF_INIT, y = BUF_INIT;

	(void)state;
	row_fingerprint(&a, NULL, 0, &x);
	row_fingerprint(&b, NULL, 0, &y);
	assert_int_equal(x.len, y.len);
	assert_memory_equal(x.data, y.data, x.len);
	buf_clear(&y);
	job_unset(&b, name);
	row_fingerprint(&b, NULL, 0, &y);
	assert_true(x.len != y.len || memcmp(x.data, y.data, x.len) != 0);
	buf_fini(&x);
	buf_fini(&y);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(any_name_comes_back_from_csv),
		cmocka_unit_test(ndjson_is_a_line_a_row),
		cmocka_unit_test(columns_come_in_the_order_asked_for),
		cmocka_unit_test(every_key_has_a_column),
		cmocka_unit_test(cells_and_json_agree),
		cmocka_unit_test(accept_headers),
		cmocka_unit_test(columns_that_are_read),
		cmocka_unit_test(the_fingerprint_is_the_row_and_not_the_clock),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

#include "api/rowout.h"

#include <strings.h>

#include "core/words.h"

const char *const format_types[] = {
	[FORMAT_JSON] = "application/json",
	[FORMAT_NDJSON] = "application/x-ndjson",
	[FORMAT_CSV] = "text/csv; charset=utf-8; header=present",
};

const char *const format_names[] = {
	[FORMAT_JSON] = "json",
	[FORMAT_NDJSON] = "ndjson",
	[FORMAT_CSV] = "csv",
};

enum answer_format format_from_accept(const char *accept)
{
	static const struct {
		const char *type;
		enum answer_format format;
	} known[] = {
		{ "application/json", FORMAT_JSON },
		{ "*/*", FORMAT_JSON },
		{ "application/*", FORMAT_JSON },
		{ "application/x-ndjson", FORMAT_NDJSON },
		{ "application/jsonl", FORMAT_NDJSON },
		{ "application/x-jsonlines", FORMAT_NDJSON },
		{ "text/csv", FORMAT_CSV },
	};

	while (accept != NULL && *accept != '\0') {
		accept += strspn(accept, " \t,");
		size_t n = strcspn(accept, ",; \t");
		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			if (strlen(known[i].type) == n &&
			    strncasecmp(known[i].type, accept, n) == 0)
				return known[i].format;
		accept += strcspn(accept, ",");
	}
	return FORMAT_JSON;
}

/* What elapsed_s, the shown state and their like are computed from; all narrow. */
static const enum job_field always[] = {
	JOB_cluster,	 JOB_job_id,	 JOB_submit_at, JOB_state,	 JOB_start_at,
	JOB_end_at,	 JOB_moments,	 JOB_exit,	JOB_killed_by,	 JOB_rec_elapsed,
	JOB_rec_max_rss, JOB_rec_cpu_us, JOB_peak_rss,	JOB_cpu_used_us, JOB_oom_step,
};

void rowout_columns(const struct key_list *keys, uint64_t *ret_columns)
{
	memset(ret_columns, 0, HAS_WORDS * sizeof(ret_columns[0]));
	if (keys->n == 0)
		return;
	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		has_set(ret_columns, always[i]);
	for (size_t i = 0; i < keys->n; i++)
		if (keys->keys[i] < JOB_FIELDS)
			has_set(ret_columns, (size_t)keys->keys[i]);
}

void rowout_init(struct rowout *r, enum answer_format format, const struct row_args *args,
		 int64_t now, bool steps)
{
	*r = (struct rowout){ .format = format, .args = args };
	r->style = (struct row_style){
		.now = now,
		.epoch = args->epoch,
		.steps = steps && format != FORMAT_CSV,
		.keys = args->fields.n > 0 ? args->fields.mask : NULL,
		.step_keys = args->step_fields.n > 0 ? args->step_fields.mask : NULL,
	};
	r->scratch = arena_new();
}

void rowout_fini(struct rowout *r)
{
	arena_free(r->scratch);
}

/* ---- CSV (RFC 4180) ---- */

static size_t key_count(const struct rowout *r)
{
	return r->args->fields.n > 0 ? r->args->fields.n : JOB_KEYS;
}

static int key_at(const struct rowout *r, size_t i)
{
	return r->args->fields.n > 0 ? r->args->fields.keys[i] : (int)i;
}

void rowout_head(struct rowout *r, struct buf *out)
{
	if (r->format != FORMAT_CSV)
		return;
	for (size_t i = 0; i < key_count(r); i++) {
		const struct field *f = job_key(key_at(r, i));
		if (i > 0)
			buf_addc(out, ',');
		if (f->type == FT_EXIT)
			buf_printf(out, "%s_code,%s_signal", f->json, f->json);
		else
			buf_adds(out, f->json);
	}
	buf_adds(out, "\r\n");
}

/* A member of the row's own JSON: what a cell and a JSON value say is the same by construction. */
struct member {
	struct jtext key, value;
};

static size_t members(struct rowout *r, const char *json, size_t n, struct member *ret, size_t max)
{
	struct jscan j;
	struct err err;
	size_t count = 0;

	jscan_init(&j, json, n, r->scratch, &err);
	jscan_enter(&j, JSCAN_OBJECT);
	while (count < max && jscan_member(&j, &ret[count].key)) {
		jscan_peek(&j);
		ret[count].value.p = j.at;
		jscan_skip(&j);
		ret[count].value.n = (size_t)(j.at - ret[count].value.p);
		count++;
	}
	return count;
}

static void cell_json(struct rowout *r, struct jtext value, struct buf *out)
{
	struct jscan j;
	struct err err;

	jscan_init(&j, value.p, value.n, r->scratch, &err);
	switch (jscan_peek(&j)) {
	case JSCAN_STRING: buf_csv_str(out, jscan_string(&j)); break;
	case JSCAN_ARRAY:
	case JSCAN_OBJECT: buf_csv_str(out, arena_strndup(r->scratch, value.p, value.n)); break;
	case JSCAN_BOOL:
	case JSCAN_NUMBER: buf_add(out, value.p, value.n); break;
	case JSCAN_NULL:
	case JSCAN_BAD: break;
	}
}

/* hint: where the member of this column was in the row before, which is nearly always where it is
 * now. */
static void cell(struct rowout *r, const struct member *m, size_t n, const char *key,
		 const char *suffix, size_t *hint, struct buf *out)
{
	size_t len = strlen(key), more = strlen(suffix);

	for (size_t k = 0; k < n; k++) {
		size_t i = (*hint + k) % n;
		if (m[i].key.n == len + more && memcmp(m[i].key.p, key, len) == 0 &&
		    memcmp(m[i].key.p + len, suffix, more) == 0) {
			*hint = i;
			cell_json(r, m[i].value, out);
			return;
		}
	}
}

/* The forms that are objects or arrays in JSON have a text of their own in a cell. */
static bool cell_text(const struct job *j, int key, struct buf *out)
{
	const struct field *f = job_key(key);
	struct buf words = BUF_INIT;

	if (key >= JOB_FIELDS || (f->type != FT_TRES && f->type != FT_WHERE &&
				  f->type != FT_WORDS && f->type != FT_MOMENTS))
		return false;
	if (!has_bit(j->has, (size_t)key))
		return true;
	const char *at = (const char *)j + f->offset;
	if (f->type == FT_WORDS) {
		words_format(words_of(f), *(const int64_t *)(const void *)at, &words);
		buf_csv_str(out, buf_str(&words));
		buf_fini(&words);
	} else {
		buf_csv_str(out, *(const char *const *)(const void *)at);
	}
	return true;
}

static void add_csv(struct rowout *r, const struct job *j, struct buf *out)
{
	struct member m[JOB_KEYS + 16];
	struct buf json = BUF_INIT;

	job_encode_json(&json, j, NULL, 0, &r->style);
	size_t n = members(r, buf_str(&json), json.len, m, ARRAY_LEN(m));
	for (size_t i = 0; i < key_count(r); i++) {
		int key = key_at(r, i);
		const struct field *f = job_key(key);
		if (i > 0)
			buf_addc(out, ',');
		if (cell_text(j, key, out))
			continue;
		if (f->type == FT_EXIT) {
			cell(r, m, n, f->json, "_code", &r->hints[key], out);
			buf_addc(out, ',');
			cell(r, m, n, f->json, "_signal", &r->hints[JOB_KEYS + key], out);
		} else {
			cell(r, m, n, f->json, "", &r->hints[key], out);
		}
	}
	buf_adds(out, "\r\n");
	buf_fini(&json);
	arena_reset(r->scratch);
}

void rowout_add(struct rowout *r, const struct job *j, const struct step *steps, size_t n,
		struct buf *out)
{
	switch (r->format) {
	case FORMAT_CSV: add_csv(r, j, out); break;
	case FORMAT_NDJSON:
		job_encode_json(out, j, steps, n, &r->style);
		buf_addc(out, '\n');
		break;
	case FORMAT_JSON:
	case FORMAT_UNSAID:
		buf_adds(out, r->count > 0 ? ",\n" : "\n");
		job_encode_json(out, j, steps, n, &r->style);
		break;
	}
	r->count++;
}

/* ---- fingerprints ---- */

static void fingerprint(const struct field *fields, size_t n, const uint64_t *has, const void *row,
			struct buf *out)
{
	buf_add(out, has, HAS_WORDS * sizeof(has[0]));
	for (size_t i = 0; i < n; i++) {
		const char *at = (const char *)row + fields[i].offset;
		if (!has_bit(has, i))
			continue;
		if (field_is_text(fields[i].type)) {
			const char *text = *(const char *const *)(const void *)at;
			buf_add(out, text, strlen(text) + 1);
		} else {
			buf_add(out, at, sizeof(int64_t));
		}
	}
}

void row_fingerprint(const struct job *j, const struct step *steps, size_t n, struct buf *out)
{
	fingerprint(job_fields, JOB_FIELDS, j->has, j, out);
	for (size_t i = 0; i < n; i++)
		fingerprint(step_fields, STEP_FIELDS, steps[i].has, &steps[i], out);
}

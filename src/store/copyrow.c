#include "store/copyrow.h"

#include <endian.h>

#include "base/arena.h"
#include "store/binrow.h"
#include "store/pg.h"

/* ---- columns */

void columns_choose(struct columns *c, const struct field *fields, size_t n_fields,
		    const uint64_t *wanted)
{
	bool all = true;

	for (size_t i = 0; i < HAS_WORDS; i++)
		all = all && wanted[i] == 0;
	c->fields = fields;
	c->n = 0;
	for (size_t i = 0; i < n_fields; i++)
		if (all || (fields[i].flags & FF_KEY) || has_bit(wanted, i))
			c->field[c->n++] = (uint8_t)i;
}

bool columns_have(const struct columns *c, unsigned flag)
{
	for (size_t i = 0; i < c->n; i++)
		if (c->fields[c->field[i]].flags & flag)
			return true;
	return false;
}

void columns_sql(struct buf *b, const struct columns *c, const char *row, const char *notes)
{
	for (size_t i = 0; i < c->n; i++) {
		const struct field *f = &c->fields[c->field[i]];

		if (i > 0)
			buf_adds(b, ", ");
		if (notes != NULL && (f->flags & FF_NOTE))
			buf_printf(b, "coalesce(%s.\"%s\", %s.\"%s\")", notes, f->name, row,
				   f->name);
		else
			buf_printf(b, "%s.\"%s\"", row, f->name);
	}
}

/* ---- reading */

#define HEAD_LEN 19 /* signature, flags, length of an extension that is never there */

void copyrow_free(struct copyrow *row)
{
	PQfreemem(row->base);
	row->base = NULL;
}

void copyrows_fini(struct copyrows *rows)
{
	for (size_t i = 0; i < rows->n; i++)
		copyrow_free(&rows->v[i]);
	free(rows->v);
	*rows = (struct copyrows){ 0 };
}

static void add_row(struct copyrows *rows, char *base, uint32_t at, size_t len)
{
	if (rows->n == rows->cap) {
		rows->cap = rows->cap == 0 ? 64 : 2 * rows->cap;
		rows->v = xrealloc(rows->v, rows->cap * sizeof(rows->v[0]));
	}
	rows->v[rows->n++] = (struct copyrow){ base, at, (uint32_t)len - at };
	rows->bytes += len + sizeof(rows->v[0]);
}

int copyrows_read(struct copyrows *rows, struct pg *pg, const char *sql, size_t max_bytes,
		  bool *ret_cut, struct err *err)
{
	uint32_t at = HEAD_LEN; /* the header comes with the first row */
	char *base;
	size_t len;
	int rc;

	*ret_cut = false;
	if (pg_copy_out(pg, sql, err) < 0)
		return -1;
	while ((rc = pg_copy_get(pg, &base, &len, err)) > 0) {
		if (len < at + 2 || (uint8_t)base[at] == 0xff) { /* -1 columns: the trailer */
			PQfreemem(base);
			continue;
		}
		add_row(rows, base, at, len);
		at = 0;
		if (rows->bytes > max_bytes) {
			pg_copy_stop(pg);
			*ret_cut = true;
			return 0;
		}
	}
	return rc;
}

/* ---- decoding */

static inline uint32_t get_u32(const char *p)
{
	uint32_t v;

	memcpy(&v, p, sizeof(v));
	return be32toh(v);
}

static inline int64_t get_i64(const char *p)
{
	uint64_t v;

	memcpy(&v, p, sizeof(v));
	return (int64_t)be64toh(v);
}

/* cluster, job_id, submit_at; no key is null. */
struct row_key copyrow_key(const struct copyrow *row)
{
	const char *p = row->base + row->at + 2;
	struct row_key key = { .cluster = p + 4, .cluster_len = get_u32(p) };

	p += 4 + key.cluster_len;
	key.job_id = get_i64(p + 4);
	key.submit_at = get_i64(p + 16);
	return key;
}

int row_key_compare(const struct row_key *a, const struct row_key *b)
{
	size_t len = a->cluster_len < b->cluster_len ? a->cluster_len : b->cluster_len;
	int c = (a->job_id > b->job_id) - (a->job_id < b->job_id);

	if (c == 0)
		c = memcmp(a->cluster, b->cluster, len);
	if (c == 0)
		c = (a->cluster_len > b->cluster_len) - (a->cluster_len < b->cluster_len);
	return c != 0 ? c : (a->submit_at > b->submit_at) - (a->submit_at < b->submit_at);
}

void copyrow_decode(struct copyrow *row, const struct columns *c, void *out, uint64_t *has)
{
	char *p = row->base + row->at + 2;
	char *text_end = NULL; /* where the last text wants its NUL: in the next length */

	memset(has, 0, HAS_WORDS * sizeof(has[0]));
	for (size_t i = 0; i < c->n; i++) {
		size_t number = c->field[i];
		const struct field *f = &c->fields[number];
		char *to = (char *)out + f->offset;
		uint32_t len = get_u32(p);

		if (text_end != NULL)
			*text_end = '\0';
		text_end = NULL;
		p += 4;
		if (len == UINT32_MAX)
			continue;
		has_set(has, number);
		if (field_is_text(f->type)) {
			*(const char **)(void *)to = p;
			text_end = p + len;
		} else {
			*(int64_t *)(void *)to = get_i64(p);
		}
		p += len;
	}
	if (text_end != NULL)
		*text_end = '\0'; /* libpq keeps a byte behind the row */
}

void copyrow_encode(struct buf *b, const struct columns *c, const void *in, const uint64_t *has)
{
	bin_row(b, (int)c->n);
	for (size_t i = 0; i < c->n; i++) {
		const struct field *f = &c->fields[c->field[i]];
		const char *at = (const char *)in + f->offset;

		if (!has_bit(has, c->field[i]))
			bin_null(b);
		else if (field_is_text(f->type))
			bin_text(b, *(const char *const *)(const void *)at);
		else
			bin_i64(b, *(const int64_t *)(const void *)at);
	}
}

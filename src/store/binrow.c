#include "store/binrow.h"

#include <endian.h>

#include "core/merge.h"

static const char signature[] = "PGCOPY\n\377\r\n";

void bin_head(struct buf *b)
{
	buf_add(b, signature, sizeof(signature)); /* its NUL is part of it */
	buf_add(b, "\0\0\0\0\0\0\0\0", 8);        /* flags, length of the header's extension */
}

void bin_end(struct buf *b)
{
	buf_add(b, "\377\377", 2);
}

void bin_row(struct buf *b, int columns)
{
	uint16_t n = htobe16((uint16_t)columns);

	buf_add(b, &n, sizeof(n));
}

void bin_null(struct buf *b)
{
	buf_add(b, "\377\377\377\377", 4);
}

void bin_i64(struct buf *b, int64_t v)
{
	char *p = buf_reserve(b, 12);
	uint64_t n = htobe64((uint64_t)v);

	if (p == NULL)
		return;
	memcpy(p, "\0\0\0\10", 4);
	memcpy(p + 4, &n, 8);
	b->len += 12;
}

void bin_i32(struct buf *b, int32_t v)
{
	uint32_t n[2] = { htobe32(4), htobe32((uint32_t)v) };

	buf_add(b, n, sizeof(n));
}

void bin_bytes(struct buf *b, const void *data, size_t n)
{
	char *p = buf_reserve(b, 4 + n);
	uint32_t len = htobe32((uint32_t)n);

	if (p == NULL)
		return;
	memcpy(p, &len, 4);
	memcpy(p + 4, data, n);
	b->len += 4 + n;
}

void bin_text(struct buf *b, const char *s)
{
	if (s == NULL)
		bin_null(b);
	else
		bin_bytes(b, s, strlen(s));
}

void bin_bool(struct buf *b, bool v)
{
	bin_bytes(b, v ? "\1" : "\0", 1);
}

static void add_field(struct buf *b, const struct field *f, const void *row)
{
	const char *at = (const char *)row + f->offset;

	if (field_is_text(f->type))
		bin_text(b, *(const char *const *)(const void *)at);
	else
		bin_i64(b, *(const int64_t *)(const void *)at);
}

static void add_row(struct buf *b, const struct field *fields, size_t n, const void *row,
		    const uint64_t *has, const uint8_t *rank, const int64_t *as_of)
{
	uint8_t stamps[STAMPS_MAX];

	bin_row(b, (int)n + 1);
	for (size_t i = 0; i < n; i++) {
		if (has_bit(has, i))
			add_field(b, &fields[i], row);
		else
			bin_null(b);
	}
	bin_bytes(b, stamps, stamps_pack(fields, n, has, rank, as_of, stamps, sizeof(stamps)));
}

void bin_job(struct buf *b, const struct job *j)
{
	add_row(b, job_fields, JOB_FIELDS, j, j->has, j->rank, j->as_of);
}

void bin_step(struct buf *b, const struct step *s)
{
	add_row(b, step_fields, STEP_FIELDS, s, s->has, s->rank, s->as_of);
}

#define OID_BOOL 16
#define OID_INT8 20
#define OID_TEXT 25

/* One dimension from 1.  Returns where the length stands that array_end fills in. */
static size_t array_begin(struct buf *b, uint32_t type, size_t n)
{
	uint32_t head[6] = { 0,		   htobe32(n > 0),	 htobe32(1),
			     htobe32(type), htobe32((uint32_t)n), htobe32(1) };
	size_t at = b->len;

	buf_add(b, head, n > 0 ? sizeof(head) : 4 * sizeof(head[0]));
	return at;
}

static void array_end(struct buf *b, size_t at)
{
	uint32_t len = htobe32((uint32_t)(b->len - at - sizeof(len)));

	if (!buf_failed(b))
		memcpy(b->data + at, &len, sizeof(len));
}

void bin_i64_column(struct buf *b, const int64_t *first, size_t stride, size_t n)
{
	const char *p = (const char *)first;
	size_t at = array_begin(b, OID_INT8, n);

	for (size_t i = 0; i < n; i++)
		bin_i64(b, *(const int64_t *)(const void *)(p + i * stride));
	array_end(b, at);
}

void bin_text_column(struct buf *b, const char *const *first, size_t stride, size_t n)
{
	const char *p = (const char *)first;
	size_t at = array_begin(b, OID_TEXT, n);

	for (size_t i = 0; i < n; i++)
		bin_text(b, *(const char *const *)(const void *)(p + i * stride));
	array_end(b, at);
}

void bin_bool_column(struct buf *b, const bool *first, size_t stride, size_t n)
{
	const char *p = (const char *)first;
	size_t at = array_begin(b, OID_BOOL, n);

	for (size_t i = 0; i < n; i++)
		bin_bool(b, *(const bool *)(const void *)(p + i * stride));
	array_end(b, at);
}

void bin_i64_array(struct buf *b, const int64_t *v, size_t n)
{
	bin_i64_column(b, v, sizeof(*v), n);
}

void bin_text_array(struct buf *b, const char *const *v, size_t n)
{
	bin_text_column(b, v, sizeof(*v), n);
}

int64_t bin_read_i64(const PGresult *r, int row, int column)
{
	uint64_t n;

	memcpy(&n, PQgetvalue(r, row, column), sizeof(n));
	return (int64_t)be64toh(n);
}

int32_t bin_read_i32(const PGresult *r, int row, int column)
{
	uint32_t n;

	memcpy(&n, PQgetvalue(r, row, column), sizeof(n));
	return (int32_t)be32toh(n);
}

/* Dimensions, flags and type; then, unless it has none, length and lower bound; then the items. */
enum { ARRAY_DIMENSIONS = 0, ARRAY_LENGTH = 12, ARRAY_ITEMS = 20 };

static uint32_t array_word(const PGresult *r, int row, int column, size_t at)
{
	uint32_t n;

	memcpy(&n, PQgetvalue(r, row, column) + at, sizeof(n));
	return be32toh(n);
}

size_t bin_array_length(const PGresult *r, int row, int column)
{
	if (array_word(r, row, column, ARRAY_DIMENSIONS) == 0)
		return 0;
	return array_word(r, row, column, ARRAY_LENGTH);
}

int32_t bin_array_i32(const PGresult *r, int row, int column, size_t i)
{
	return (int32_t)array_word(r, row, column, ARRAY_ITEMS + i * 8 + 4);
}

int64_t bin_array_i64(const PGresult *r, int row, int column, size_t i)
{
	uint64_t n;

	memcpy(&n, PQgetvalue(r, row, column) + ARRAY_ITEMS + i * 12 + 4, sizeof(n));
	return (int64_t)be64toh(n);
}

static void read_field(const PGresult *r, int row, int column, const struct field *f, void *out)
{
	char *at = (char *)out + f->offset;

	if (field_is_text(f->type))
		*(const char **)(void *)at = PQgetvalue(r, row, column);
	else
		*(int64_t *)(void *)at = bin_read_i64(r, row, column);
}

static int read_row(const PGresult *r, int row, const struct field *fields, size_t n, void *out,
		    uint64_t *has, uint8_t *rank, int64_t *as_of, struct err *err)
{
	int last = (int)n;

	for (int i = 0; i < last; i++) {
		if (PQgetisnull(r, row, i))
			continue;
		read_field(r, row, i, &fields[i], out);
		has_set(has, (size_t)i);
	}
	return stamps_unpack(fields, n, has, (const uint8_t *)PQgetvalue(r, row, last),
			     (size_t)PQgetlength(r, row, last), rank, as_of, err);
}

int bin_read_job(const PGresult *r, int row, struct job *j, struct err *err)
{
	memset(j, 0, sizeof(*j));
	return read_row(r, row, job_fields, JOB_FIELDS, j, j->has, j->rank, j->as_of, err);
}

int bin_read_step(const PGresult *r, int row, struct step *s, struct err *err)
{
	memset(s, 0, sizeof(*s));
	return read_row(r, row, step_fields, STEP_FIELDS, s, s->has, s->rank, s->as_of, err);
}

static void add_columns(struct buf *b, const struct field *fields, size_t n, const char *prefix)
{
	for (size_t i = 0; i < n; i++)
		buf_printf(b, "%s\"%s\", ", prefix, fields[i].name);
	buf_printf(b, "%sstamps", prefix);
}

void bin_job_columns(struct buf *b, const char *prefix)
{
	add_columns(b, job_fields, JOB_FIELDS, prefix);
}

void bin_step_columns(struct buf *b, const char *prefix)
{
	add_columns(b, step_fields, STEP_FIELDS, prefix);
}

void bin_entity_columns(struct buf *b, const struct entity *e, const char *prefix)
{
	const char *comma = "";

	for (size_t i = 0; i < e->n; i++)
		if (field_is_column(&e->fields[i])) {
			buf_printf(b, "%s%s\"%s\"", comma, prefix, e->fields[i].name);
			comma = ", ";
		}
}

void bin_read_entity(const PGresult *r, int row, int column, const struct entity *e, void *ret)
{
	memset(ret, 0, e->size);
	for (size_t i = 0; i < e->n; i++) {
		if (!field_is_column(&e->fields[i]))
			continue;
		if (!PQgetisnull(r, row, column)) {
			read_field(r, row, column, &e->fields[i], ret);
			has_set(row_bits(ret), i);
		}
		column++;
	}
}

void bin_entity_array(struct buf *b, const struct entity *e, size_t field, const void *const *rows,
		      size_t n)
{
	const struct field *f = &e->fields[field];
	size_t at = array_begin(b, field_is_text(f->type) ? OID_TEXT : OID_INT8, n);

	for (size_t i = 0; i < n; i++) {
		if (has_bit(row_known(rows[i]), field))
			add_field(b, f, rows[i]);
		else
			bin_null(b);
	}
	array_end(b, at);
}

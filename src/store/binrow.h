/* store/binrow.h: values and rows in PostgreSQL's binary form, into COPY and parameters and out of
 * results.
 *
 * Every column of the large tables is a bigint or a text (core/field.h), with one bytea behind
 * them, the stamps; so a row is written and read by walking the field table. */
#ifndef TALLY_STORE_BINROW_H
#define TALLY_STORE_BINROW_H

#include <libpq-fe.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"
#include "core/entity.h"
#include "core/job.h"

/* COPY ... FROM STDIN (FORMAT binary): head, rows, end. */
void bin_head(struct buf *b);
void bin_end(struct buf *b);
void bin_job(struct buf *b, const struct job *j);
void bin_step(struct buf *b, const struct step *s);
/* A row of any other table: bin_row, then its columns one by one. */
void bin_row(struct buf *b, int columns);
void bin_null(struct buf *b);
void bin_i64(struct buf *b, int64_t v);
void bin_i32(struct buf *b, int32_t v);
void bin_bytes(struct buf *b, const void *p, size_t n);
void bin_text(struct buf *b, const char *s); /* NULL is a null */
void bin_bool(struct buf *b, bool v);

/* Parameters: bigint[], text[] and boolean[]. */
void bin_i64_array(struct buf *b, const int64_t *v, size_t n);
void bin_text_array(struct buf *b, const char *const *v, size_t n);
/* The same of one member of each struct of an array; stride is the size of the struct.  n may be
 * 0, first then counts for nothing. */
void bin_i64_column(struct buf *b, const int64_t *first, size_t stride, size_t n);
void bin_text_column(struct buf *b, const char *const *first, size_t stride, size_t n);
void bin_bool_column(struct buf *b, const bool *first, size_t stride, size_t n);

/* Row `row` of a binary result whose columns are those of bin_job_columns.  Texts point into the
 * result, which must live as long. */
int bin_read_job(const PGresult *r, int row, struct job *ret, struct err *err);
int bin_read_step(const PGresult *r, int row, struct step *ret, struct err *err);
int64_t bin_read_i64(const PGresult *r, int row, int column);
int32_t bin_read_i32(const PGresult *r, int row, int column);
/* An integer[] or bigint[] without nulls: how many, and the i-th from 0. */
size_t bin_array_length(const PGresult *r, int row, int column);
int32_t bin_array_i32(const PGresult *r, int row, int column, size_t i);
int64_t bin_array_i64(const PGresult *r, int row, int column, size_t i);

/* "cluster, job_id, ..., stamps": for SELECT and COPY.  prefix goes before every name ("j."). */
void bin_job_columns(struct buf *b, const char *prefix);
void bin_step_columns(struct buf *b, const char *prefix);

/* Rows of core/entity.h: every field that is a column, in order.  prefix as above. */
void bin_entity_columns(struct buf *b, const struct entity *e, const char *prefix);
static inline bool field_is_column(const struct field *f)
{
	return (f->flags & FF_SHOWN) == 0;
}
/* From column `column` on. */
void bin_read_entity(const PGresult *r, int row, int column, const struct entity *e, void *ret);
/* A field of many rows as a parameter: bigint[] or text[], nulls where it is not known. */
void bin_entity_array(struct buf *b, const struct entity *e, size_t field, const void *const *rows,
		      size_t n);

#endif

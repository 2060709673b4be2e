/* store/copyrow.h: rows as COPY (FORMAT binary) sends them, read column by column.
 *
 * Which fields a statement selects is a list of field numbers, the key first; the same list reads
 * its rows.  A row stays the bytes that libpq gave; a struct job or step made of it points into
 * them. */
#ifndef TALLY_STORE_COPYROW_H
#define TALLY_STORE_COPYROW_H

#include "base/buf.h"
#include "base/err.h"
#include "core/job.h"

struct pg;

/* The table of fields (job_fields or step_fields) and those chosen of it, in the order of the
 * statement.  The key (cluster, job_id, submit_at ...) stands first in both tables and here. */
struct columns {
	const struct field *fields;
	size_t n;
	uint8_t field[64 * HAS_WORDS];
};

/* The key and what `wanted` names; nothing wanted means everything. */
void columns_choose(struct columns *c, const struct field *fields, size_t n_fields,
		    const uint64_t *wanted);
/* Is any of them a field with this flag? */
bool columns_have(const struct columns *c, unsigned flag);
/* "j."cluster", ...".  With notes (may be NULL) a field that people may write is theirs first:
 * coalesce(n."comment", j."comment"). */
void columns_sql(struct buf *b, const struct columns *c, const char *row, const char *notes);

struct copyrow {
	char *base; /* PQfreemem */
	uint32_t at, len;
};

struct row_key {
	const char *cluster; /* cluster_len bytes */
	size_t cluster_len;
	int64_t job_id, submit_at;
};

/* Rows of one statement, in its order. */
struct copyrows {
	struct copyrow *v;
	size_t n, cap;
	size_t bytes;
};

void copyrows_fini(struct copyrows *rows);
/* Runs the COPY and adds its rows until more than max_bytes have come: *ret_cut then says that
 * there are more. */
int copyrows_read(struct copyrows *rows, struct pg *pg, const char *sql, size_t max_bytes,
		  bool *ret_cut, struct err *err);
void copyrow_free(struct copyrow *row);

/* Of a row not decoded yet, or decoded. */
struct row_key copyrow_key(const struct copyrow *row);
/* By job id, cluster, submission. */
int row_key_compare(const struct row_key *a, const struct row_key *b);
/* Fills the fields and `has` of a struct job or step; once, since it puts an end behind each
 * text. */
void copyrow_decode(struct copyrow *row, const struct columns *c, void *out, uint64_t *has);

/* The same bytes again, from a decoded row: for the spool. */
void copyrow_encode(struct buf *b, const struct columns *c, const void *in, const uint64_t *has);

#endif

/* ingest/import_csv.h: comma-separated rows with a header, quoted as RFC 4180 says. */
#ifndef TALLY_INGEST_IMPORT_CSV_H
#define TALLY_INGEST_IMPORT_CSV_H

#include "base/arena.h"
#include "base/err.h"

#define CSV_COLUMNS_MAX 64

struct csv {
	const char *at, *end;
	size_t line; /* of `at`, from 1 */
};

struct csv_row {
	const char *cells[CSV_COLUMNS_MAX]; /* in the arena */
	size_t n;
	size_t line; /* where it begins */
};

void csv_init(struct csv *c, const char *data, size_t len);
/* 1 and a row; 0 at the end; -1 with err for one that is not well-formed. */
int csv_next(struct csv *c, struct arena *arena, struct csv_row *ret, struct err *err);
/* Does the first row hold exactly these names, in this order? */
bool csv_has_header(const char *data, size_t len, const char *const *names, size_t n);

#endif

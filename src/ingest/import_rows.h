/* ingest/import_rows.h: the rows of a delimited dump that quotes nothing.
 *
 * `sacct -P` prints job names, directories and command lines as they are, so a cell may hold the
 * delimiter or a newline.  Lines are joined until a row has its number of cells; cells too many
 * belong to free texts, and are given to them in the one way that leaves every other column with
 * a cell that fits it.  Where there is more than one way the row is refused: a guess would be
 * stored as a fact. */
#ifndef TALLY_INGEST_IMPORT_ROWS_H
#define TALLY_INGEST_IMPORT_ROWS_H

#include "base/arena.h"
#include "base/err.h"

#define ROW_COLUMNS_MAX 256

struct row_shape {
	const char *delimiter;
	size_t delimiter_len;
	size_t columns;
	bool trailing; /* a delimiter after the last cell too (sacct -p) */
	bool crlf;     /* lines end in CR LF */
	bool free_text[ROW_COLUMNS_MAX];
	/* May the column hold this cell?  Asked only where a row could be read in several ways,
	 * and of column 0 to see where a row begins. */
	bool (*fits)(size_t column, const char *cell, const void *arg);
	const void *arg;
};

struct rows {
	const struct row_shape *shape;
	const char *at, *end;
	size_t line; /* of `at`, from 1 */
};

struct row {
	const char **cells; /* shape->columns of them, in the arena */
	size_t line;	    /* where it begins */
	bool guessed;	    /* several ways were possible, one of them with a single long text */
};

void rows_init(struct rows *r, const struct row_shape *shape, const char *data, size_t len,
	       size_t first_line);
/* 1 and a row; 0 at the end; -1 with err for a row that cannot be read (the next call goes on
 * after it; ret->line is set). */
int rows_next(struct rows *r, struct arena *arena, struct row *ret, struct err *err);

#endif

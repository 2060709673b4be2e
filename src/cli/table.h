/* cli/table.h: rows of text in the forms of the tools: columns of a width, delimited, or CSV.
 *
 * Widths count characters of UTF-8, whatever the locale.  In columns, what is too long is cut and
 * ends in '+', and control characters are shown as \n, \x1b, so that one row is one line and a
 * terminal obeys nobody's job name.  Delimited rows are the bytes as they are; CSV is RFC 4180. */
#ifndef TALLY_CLI_TABLE_H
#define TALLY_CLI_TABLE_H

#include "base/buf.h"

enum table_form {
	TABLE_COLUMNS,
	TABLE_ENDED,	 /* a delimiter after every cell (-p) */
	TABLE_SEPARATED, /* a delimiter between cells (-P) */
	TABLE_CSV,
};

struct table_column {
	const char *name;
	int width; /* negative = left-aligned */
};

struct table {
	enum table_form form;
	const char *delimiter;
	const struct table_column *columns;
	size_t n_columns;
	struct buf *out;
	size_t next; /* column of the next cell */
};

/* The names, and in TABLE_COLUMNS a line of dashes. */
void table_header(struct table *t);
/* The next cell of the row; after the last one the row is ended. */
void table_cell(struct table *t, const char *text);

#endif

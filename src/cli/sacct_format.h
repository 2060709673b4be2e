/* cli/sacct_format.h: which columns, how wide: -o, -l, -b and the default. */
#ifndef TALLY_CLI_SACCT_FORMAT_H
#define TALLY_CLI_SACCT_FORMAT_H

#include "base/arena.h"
#include "base/err.h"
#include "cli/sacct_print.h"

extern const char sacct_default_format[], sacct_brief_format[], sacct_long_format[];

struct sacct_columns {
	const struct sacct_field **fields; /* in the arena, as are the table's */
	struct table_column *columns;
	size_t n;
};

/* "jobid,state%20,jobname%-25,ALL": a width right-aligned, with a minus left-aligned.  An unknown
 * name is an error that quotes it; of one that was removed it tells the successor. */
int sacct_format_parse(const char *format, struct arena *arena, struct sacct_columns *ret,
		       struct err *err);
/* Four names a line, as --helpformat prints them. */
void sacct_format_help(struct buf *out);

#endif

/* cli/sacct_print.h: a job or a step as cells of text, column by column, as sacct shows them.
 *
 * sacct_fields.def has a row per column; sacct_cells.c the printers that the rows name.  Pure: the
 * moment, the time zone and the style come from outside, so all of it can be tested on a struct
 * job. */
#ifndef TALLY_CLI_SACCT_PRINT_H
#define TALLY_CLI_SACCT_PRINT_H

#include "base/buf.h"
#include "cli/table.h"
#include "core/job.h"
#include "core/units.h"
#include "core/zone.h"

struct sacct_style {
	int64_t now;		 /* stands for the end of what has not ended */
	const struct zone *zone; /* of all times */
	const char *time_format; /* SLURM_TIME_FORMAT; NULL = standard */
	bool units_given;	 /* --units */
	enum unit unit;
	bool noconvert;
	size_t array_text;    /* most characters of a list of array tasks; 0 = all */
	bool expand_patterns; /* %j and the like in StdOut, StdErr, StdIn */
	bool local_uid;	      /* --use-local-uid */
};
#define SACCT_ARRAY_TEXT 63 /* a buffer of 64 bytes and its NUL: SLURM_BITSTR_LEN's default */

/* One line of the listing. */
struct sacct_row {
	const struct job *job;
	const struct step *steps; /* the job's, for sums over them */
	size_t n_steps;
	const struct step *step; /* NULL = the job's own line */
	const struct sacct_style *style;
};

struct sacct_cell;
/* Adds the cell's text to out; nothing when it is not known. */
typedef void sacct_printer(struct buf *out, const struct sacct_row *r, const struct sacct_cell *c);

struct sacct_cell {
	sacct_printer *print; /* NULL = always empty */
	bool of_step;	      /* whose field it is */
	int field;	      /* JOB_* or STEP_* */
	const char *tres;     /* of that field, or NULL */
};

enum sacct_flag {
	SACCT_OLD = 1,	/* a former name: taken, not listed */
	SACCT_SUMS = 2, /* the job line adds up its steps: they are needed with -X too */
};

struct sacct_field {
	const char *name;
	int width;
	unsigned flags;
	struct sacct_cell job, step;
};

#define SACCT_FIELDS 126
extern const struct sacct_field sacct_fields[SACCT_FIELDS];

/* By name in any case; NULL if there is none. */
const struct sacct_field *sacct_field_find(const char *name);

void sacct_print(struct buf *out, const struct sacct_field *f, const struct sacct_row *r);

#endif

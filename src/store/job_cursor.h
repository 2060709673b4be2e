/* store/job_cursor.h: where an answer was cut, as a text that a later question brings back.
 *
 * It names the order and the last row's place in it, so it stays true whatever comes and goes
 * meanwhile.  Letters, digits and dots only. */
#ifndef TALLY_STORE_JOB_CURSOR_H
#define TALLY_STORE_JOB_CURSOR_H

#include "base/arena.h"
#include "base/err.h"
#include "store/job_spool.h"

/* field: JOB_* of the order. */
const char *job_cursor_format(int field, bool descending, const struct spool_place *place,
			      struct arena *arena);
/* Refuses what is no cursor, or one of another order. */
int job_cursor_parse(const char *text, int field, bool descending, struct arena *arena,
		     struct spool_place *ret, struct err *err);

#endif

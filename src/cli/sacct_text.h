/* cli/sacct_text.h: the longer pieces of a cell: job ids, lists of array tasks, local times, file
 * name patterns. */
#ifndef TALLY_CLI_SACCT_TEXT_H
#define TALLY_CLI_SACCT_TEXT_H

#include "base/buf.h"
#include "core/job.h"
#include "core/zone.h"

/* "12", "12_3", "12_[1-4%2]", "12+1"; max as in text_array_tasks. */
void text_job_id(struct buf *out, const struct job *j, size_t max);
/* ".batch", ".0", ".0+1" */
void text_step_id(struct buf *out, const struct step *s);
/* "1-5,9%2": more than max characters end in "..." after a whole item, the limit after it;
 * max 0 = all. */
void text_array_tasks(struct buf *out, const char *tasks, size_t max);
/* Walks the task numbers of a list, "1-5,9,20-30:5%2"; ends at what is no list. */
struct array_range {
	const char *at;
	int64_t next, last, step; /* of the item that is being walked */
};
void array_begin(struct array_range *r, const char *tasks);
bool array_next(struct array_range *r, int64_t *ret_task);
/* On the zone's clocks.  format: NULL or "standard" = 2026-01-02T03:04:05, "relative" = as people
 * say it, seen from now, else strftime's. */
void text_time(struct buf *out, int64_t t, const char *format, int64_t now, const struct zone *z);
/* A 64-bit run id as "s" and 13 digits of base 32. */
void text_sluid(struct buf *out, uint64_t id);
/* sbatch's file name patterns (%j, %3a ...); s may be NULL. */
void text_pattern(struct buf *out, const char *pattern, const struct job *j, const struct step *s);

#endif

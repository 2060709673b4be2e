/* store/note.h: what people write about jobs, in a table of its own (job_note): never waits for the
 * writer and never makes it wait. */
#ifndef TALLY_STORE_NOTE_H
#define TALLY_STORE_NOTE_H

#include "core/job.h"
#include "store/store.h"

struct job_note {
	const char *cluster;
	int64_t job_id, submit_at;
	const struct job *values; /* the fields with FF_NOTE that it has are written */
	/* Fields (HAS_WORDS words) whose note is taken away, so that the record's value shows
	 * again. */
	const uint64_t *cleared;
	const char *by;
	int64_t at;
};

/* One short transaction.  What is neither in values nor cleared stays as it was. */
int store_note_put(struct store *s, const struct job_note *note, struct err *err);

#endif

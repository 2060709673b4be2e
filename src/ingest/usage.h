/* ingest/usage.h: what the rows of one transaction change about usage.
 *
 * Of each row what it had used is taken back and what it now has is put in; the whole transaction
 * is summed here first, so that each sum that changes is written once.
 *
 * A book remembers numbers of charges and TRES from one transaction to the next.  The charges that
 * a failed transaction has made never were: forget them. */
#ifndef TALLY_INGEST_USAGE_H
#define TALLY_INGEST_USAGE_H

#include "store/usage_write.h"

struct usage_book;
struct usage_changes;

struct usage_book *usage_book_new(void);
void usage_book_free(struct usage_book *b); /* takes NULL */
void usage_book_forget(struct usage_book *b);
/* The number of a TRES name, which never changes. */
void usage_book_number(struct usage_book *b, const char *name, int32_t id);

struct usage_changes *usage_changes_new(struct usage_book *book, struct arena *arena);
/* old: as stored, NULL = no row; now: NULL = the row goes. */
void usage_follow(struct usage_changes *c, const struct job *old, const struct job *now);
/* Once, after all of them. */
int usage_write(struct usage_changes *c, struct write_tx *tx, struct err *err);

#endif

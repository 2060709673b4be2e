/* ingest/writer.h: works on tickets until each of their records has its verdict.
 *
 * All records of the tickets go into one transaction.  When the database refuses it for a value,
 * it is halved until the one record is found, which is refused and kept in quarantine; when
 * somebody's lock is met, what needs the locked thing is held and the rest goes on. */
#ifndef TALLY_INGEST_WRITER_H
#define TALLY_INGEST_WRITER_H

#include "ingest/queue.h"

struct writer;

struct writer *writer_new(struct store *store, const struct ingest_settings *settings);
void writer_free(struct writer *w); /* takes NULL */
/* This daemon is active from now on; what was known about the database is forgotten. */
void writer_begin_epoch(struct writer *w, int64_t epoch);

enum writer_end {
	WRITER_DONE,   /* everything has been tried; what is left met a lock */
	WRITER_FENCED, /* this daemon is not the active one any more */
	WRITER_LOST,   /* the database failed: try again after a pause */
};

/* Counts down what is left of each ticket.  err is set unless DONE. */
enum writer_end writer_write(struct writer *w, struct ticket *tickets, struct err *err);
/* When what met a lock is to be tried again (monotonic ms); INT64_MAX when nothing did. */
int64_t writer_next_ms(const struct writer *w);

struct writer_stats {
	uint64_t accepted, duplicate, refused, purged;
	uint64_t commits, failed_commits;
	uint64_t commit_us_sum;
	uint64_t commit_us_buckets[16];
};
/* Of the writer's thread only. */
const struct writer_stats *writer_stats(const struct writer *w);

#endif

/* ingest/ingest.h: the write path of records.
 *
 * A door decodes records into a batch and hands it over; the call returns when every record has
 * its verdict, that is after the commit.  One writer thread takes all that is queued, from every
 * caller, and commits it in one transaction.  The queue is bounded: when it is full the call
 * fails with ERR_BUSY and nothing of the batch was taken. */
#ifndef TALLY_INGEST_INGEST_H
#define TALLY_INGEST_INGEST_H

#include "core/record.h"

struct store;
struct ingest;

struct ingest_settings {
	size_t queue_records;   /* most records waiting */
	size_t queue_bytes;     /* most memory waiting */
	int lock_timeout_ms;    /* the writer's */
	bool register_clusters; /* an unknown cluster registers itself with its first record */
	const char *default_cluster; /* for records that name none */
	bool quarantine_is_success;  /* unused by HTTP; the slurmdbd door answers success */
	int commit_wait_ms;     /* most time a caller waits for the database; 0 = 30000 */
};

/* A door's batch; everything it points to must live until ingest_commit returns. */
struct batch {
	struct record *records;
	struct verdict *verdicts; /* one each; those already REFUSED by the door are skipped */
	size_t n;
	size_t bytes;     /* memory it holds, for the queue's limit */
	const char *source; /* "http", "dbd", "import": for the quarantine */
	const char *who;    /* identity as text, for the quarantine */
};

struct ingest *ingest_start(struct store *store, const struct ingest_settings *settings,
			    struct err *err);
/* Validates, queues, waits for the commit.  Returns 0 with every verdict set, or -1: BUSY (queue
 * full, or this daemon is not the active one), DATABASE (not committed, try again), each with
 * a retry time and every verdict as it came.  The records are used up either way: what validation
 * has made of them is gone with the call. */
int ingest_commit(struct ingest *in, struct batch *batch, int *ret_retry_after_s,
		  struct err *err);
/* Drain: what is queued is committed until the deadline (monotonic ms), then the thread ends.  From
 * now on callers are told BUSY. */
void ingest_stop(struct ingest *in, int64_t deadline_ms);
/* After ingest_stop, when no caller is left.  Takes NULL. */
void ingest_free(struct ingest *in);

struct ingest_stats {
	uint64_t accepted, duplicate, refused, purged; /* records */
	uint64_t commits, failed_commits, busy;
	uint64_t queued_now, queued_bytes;
	uint64_t commit_us_sum;
	uint64_t commit_us_buckets[16]; /* upper bounds 2^k ms, k = 0..14, then +Inf */
	bool active;                    /* holds the writer's lock */
};
void ingest_get_stats(struct ingest *in, struct ingest_stats *ret);

#endif

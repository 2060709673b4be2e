/* ingest/queue.h: where the doors' threads meet the writer.
 *
 * Bounded by records and by bytes, what rests (see below) included.  A caller puts a ticket in and
 * waits; the writer takes the tickets out, works on their records, and settles them.  A settled
 * ticket of which nothing is left is done; any other rests in the queue, in its old place, until
 * the writer takes it again.
 *
 * A ticket and its batch live on the caller's side.  While the writer has it in hand the caller
 * cannot leave; at any other time it may give up, and the writer never sees the batch again. */
#ifndef TALLY_INGEST_QUEUE_H
#define TALLY_INGEST_QUEUE_H

#include <pthread.h>

#include "ingest/ingest.h"

struct queue;

enum ticket_state { TICKET_WAITING, TICKET_IN_HAND, TICKET_DONE, TICKET_FAILED };

struct ticket {
	struct batch *batch;
	size_t left; /* records to be worked on; the writer counts them down */
	enum ticket_state state;
	bool rests;   /* the writer has tried it and could not finish */
	bool expired; /* its caller is about to leave */
	uint64_t number; /* order of arrival */
	struct err err; /* TICKET_FAILED: why */
	pthread_cond_t settled;
	struct ticket *next;
};

struct queue *queue_new(size_t max_records, size_t max_bytes);
void queue_free(struct queue *q); /* nobody may wait any more; takes NULL */

/* Puts the ticket in and waits until it is done, or the deadline (monotonic ms) has passed.
 * Returns 0 when it is done; -1 with BUSY when the queue is full or
 * closed (a batch larger than the queue is taken when the queue is empty), DATABASE when the
 * deadline passed, or what queue_fail said. */
int queue_put(struct queue *q, struct batch *batch, int64_t deadline_ms, struct err *err);

/* Opens for callers, or closes with the reason that they are told.  Closed at first. */
void queue_open(struct queue *q);
void queue_close(struct queue *q, const struct err *why);

/* The writer's side.  Takes tickets in order, up to max_records (always at least one), and links
 * them by `next`.  Those that rest are taken once `rested_at_ms` has come, with all others; before
 * it only fresh ones.  Waits until there is something to take or until_ms; NULL when there is
 * not. */
struct ticket *queue_take(struct queue *q, size_t max_records, int64_t rested_at_ms,
			  int64_t until_ms);
/* Gives back what was taken, judged or not. */
void queue_settle(struct queue *q, struct ticket *taken);
/* Fails every ticket that waits. */
void queue_fail(struct queue *q, const struct err *why);
/* Waits, whatever comes in, until then or until queue_wake. */
void queue_pause(struct queue *q, int64_t until_ms);
/* Wakes a writer that waits. */
void queue_wake(struct queue *q);

struct queue_level {
	size_t records, bytes;
};
struct queue_level queue_level(struct queue *q);

#endif

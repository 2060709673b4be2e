/* store/quarantine.h: records that were refused, kept as they came, for an administrator. */
#ifndef TALLY_STORE_QUARANTINE_H
#define TALLY_STORE_QUARANTINE_H

#include "base/arena.h"
#include "store/write_tx.h"

struct quarantined {
	int64_t id;
	int64_t received_at;
	const char *source; /* "http", "dbd", "import" */
	const char *who;
	const char *kind; /* "job_end"; "" when it could not be read */
	const char *field; /* of the reason; "" = none */
	const char *reason;
	const char *raw;
	size_t raw_len;
	int64_t replayed_at; /* 0 = not yet */
};

/* Keeps it, in the open transaction; id and replayed_at count for nothing.  The same bytes, not
 * replayed yet, are kept once: *ret_id is then the id they have. */
int quarantine_put(struct write_tx *tx, const struct quarantined *q, int64_t *ret_id,
		   struct err *err);

/* Return < 0 to stop.  What q points to is gone afterwards. */
typedef int quarantine_sink(const struct quarantined *q, void *arg);

/* Ascending ids greater than `after`, at most limit; with_replayed takes also those that have been
 * replayed. */
int store_quarantine_list(struct store *s, int64_t after, int64_t limit, bool with_replayed,
			  quarantine_sink *sink, void *arg, struct err *err);
/* NOT_FOUND when there is none. */
int store_quarantine_get(struct store *s, int64_t id, struct arena *arena, struct quarantined *ret,
			 struct err *err);
int store_quarantine_mark_replayed(struct store *s, int64_t id, int64_t now, struct err *err);

#endif

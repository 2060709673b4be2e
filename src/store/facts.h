/* store/facts.h: figures of the database for whoever watches over it (metrics). */
#ifndef TALLY_STORE_FACTS_H
#define TALLY_STORE_FACTS_H

#include "store/store.h"

struct store_facts {
	int64_t database_bytes;
	int64_t job_bytes, step_bytes; /* all partitions, with their indexes */
	int64_t partitions;	       /* of jobs */
	int64_t open_jobs;	       /* as job_month counts them */
	int64_t quarantined;	       /* refused records that have not been replayed */
	int64_t connections, max_connections;
	/* Age of the oldest transaction, s: what holds back the cleaning of dead rows. */
	int64_t oldest_transaction_s;
	bool standby;
	/* On a primary: standbys, and how far the last of them is behind; on a standby: itself.
	 * -1 = nobody follows, or our role may not see it. */
	int64_t standbys, lag_bytes;
	double lag_s;
};

/* One statement on a reader; some 10 ms with hundreds of partitions. */
int store_facts_read(struct store *s, struct store_facts *ret, struct err *err);

#endif

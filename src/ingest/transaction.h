/* ingest/transaction.h: everything that a set of records changes, in one transaction. */
#ifndef TALLY_INGEST_TRANSACTION_H
#define TALLY_INGEST_TRANSACTION_H

#include "ingest/plan.h"
#include "ingest/usage.h"
#include "store/write_tx.h"

struct transaction {
	struct write_tx *tx;
	int64_t epoch;
	const struct span *span; /* what the items' months were counted by */
	int64_t now;             /* UTC seconds, for the quarantine */
	struct arena *arena;     /* lives until the verdicts are told */
	struct item **items;
	size_t n;
	struct usage_book *usage; /* forgets what a failed one has learned */
};

/* 0: committed, and each item's outcome is what is to be told.  -1: nothing is written, and the
 * fault of the write_tx says why. */
int transaction_run(struct transaction *t, struct err *err);

#endif

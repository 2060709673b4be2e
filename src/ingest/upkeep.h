/* ingest/upkeep.h: what the active daemon does to the partitions beside writing, in a thread of
 * its own, so that the writer waits for none of it: at first and then every hour. */
#ifndef TALLY_INGEST_UPKEEP_H
#define TALLY_INGEST_UPKEEP_H

#include "base/err.h"

struct store;
struct upkeep;

/* NULL with err when there can be no thread.  Idle until upkeep_active. */
struct upkeep *upkeep_start(struct store *store, struct err *err);
void upkeep_active(struct upkeep *u, bool active);
/* Ends what it is doing.  Takes NULL. */
void upkeep_stop(struct upkeep *u);

#endif

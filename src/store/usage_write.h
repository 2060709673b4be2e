/* store/usage_write.h: usage sums, kept by the writer inside its transactions.
 *
 * Nobody else writes these tables, so a row that was read stays as it was until it is written. */
#ifndef TALLY_STORE_USAGE_WRITE_H
#define TALLY_STORE_USAGE_WRITE_H

#include "base/arena.h"
#include "core/usage.h"
#include "store/write_tx.h"

/* What a run is charged to; "" and 0: not told. */
struct charge {
	const char *cluster, *account, *user_name, *qos, *wckey;
	int64_t assoc_id, qos_id, wckey_id;
	int64_t id; /* 0: not looked up */
};
/* Gives each its id; those that are new are made. */
int charge_ids(struct write_tx *tx, struct charge *const *charges, size_t n, struct err *err);

/* The numbers of TRES names; those that are new are made. */
int usage_tres_ids(struct write_tx *tx, const char *const *names, size_t n, int32_t *ret_ids,
		   struct err *err);

/* What a period's sum changes by, and after usage_change what it has become. */
struct usage_row {
	int64_t charge, period;
	struct usage_amount *list; /* ascending by TRES */
	size_t n;
};
/* Rows of one grain, each once; new lists are the arena's. */
int usage_change(struct write_tx *tx, enum usage_grain grain, struct usage_row *rows, size_t n,
		 struct arena *arena, struct err *err);

/* The same of what runs. */
struct rate_row {
	int64_t charge;
	int64_t runs, uneven;
	struct usage_rate *list;
	size_t n;
};
int rate_change(struct write_tx *tx, struct rate_row *rows, size_t n, struct arena *arena,
		struct err *err);

#endif

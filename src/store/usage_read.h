/* store/usage_read.h: what was used in a window, to the second, and by whom.
 *
 * Whole months, days and hours come from their sums; what the window cuts comes from the runs that
 * touch it; what runs comes from its rates, without a look at each.  All in one snapshot, so that
 * no run is missed or counted twice while it ends. */
#ifndef TALLY_STORE_USAGE_READ_H
#define TALLY_STORE_USAGE_READ_H

#include "core/filter.h"
#include "core/usage.h"
#include "store/store.h"

/* What totals are told apart by, a bit each; also the places of their names. */
enum usage_by { BY_CLUSTER, BY_ACCOUNT, BY_USER, BY_QOS, BY_WCKEY, USAGE_BY };
extern const char *const usage_by_names[USAGE_BY]; /* "cluster", ... */

struct usage_query {
	int64_t from, to;
	unsigned by;		     /* 1 << BY_... */
	struct texts only[USAGE_BY]; /* empty = all; "" is what was not told */
};

struct usage_total {
	const char *names[USAGE_BY]; /* NULL where totals are not told apart by it */
	struct usage_amount *list;   /* in order of TRES numbers; at least one */
	size_t n;
};

struct usage_answer {
	int64_t from, to;   /* wider than asked where jobs have been purged: whole hours then */
	int64_t running_to; /* runs are counted until then */
	struct usage_total *totals; /* in order of their names */
	size_t n;
	const char **tres; /* names by number */
	size_t n_tres;
};

int usage_read(struct store *s, const struct usage_query *q, int64_t now, struct arena *arena,
	       struct usage_answer *ret, struct err *err);

#endif

/* ingest/families.h: job ids whose records do not all say which run they mean, inside a
 * transaction.  All that is kept of such a job id is read, all its rows are made anew
 * (core/family.h), and the plan is told the difference. */
#ifndef TALLY_INGEST_FAMILIES_H
#define TALLY_INGEST_FAMILIES_H

#include "ingest/transaction.h"

struct family_work;

struct families {
	const struct transaction *t;
	struct family_work **v;
	size_t n, cap;
};

/* Takes the items that belong to such job ids (in_family is set), keeps their parts, judges them,
 * and puts their rows into the plan. */
int families_write(struct families *fs, const struct transaction *t, struct plan *plan,
		   struct err *err);
/* Tells the items the numbers of their rows; after plan_derive. */
void families_tell(const struct families *fs, const struct plan *plan);

#endif

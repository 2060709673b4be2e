/* ops/usage.h: what was used, as the asker may see it. */
#ifndef TALLY_OPS_USAGE_H
#define TALLY_OPS_USAGE_H

#include "ops/ops.h"
#include "store/usage_read.h"

/* With PrivateData=usage an ordinary user sees what is his own. */
int ops_usage(struct ops *ops, const struct identity *who, struct usage_query *q, int64_t now,
	      struct arena *arena, struct usage_answer *ret, struct err *err);

#endif

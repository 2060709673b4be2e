/* ops/records.c: records in. */
#include "ops/ops.h"

int ops_records(struct ops *ops, const struct identity *who, struct batch *batch,
		int *ret_retry_after_s, struct err *err)
{
	if (ops_may(ops, who, RIGHT_RECORDS, err) < 0)
		return -1;
	return ingest_commit(ops->ingest, batch, ret_retry_after_s, err);
}

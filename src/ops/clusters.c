/* ops/clusters.c: which clusters there are. */
#include "store/cluster_read.h"

#include "ops/ops.h"

int ops_clusters(struct ops *ops, const struct identity *who, cluster_sink *sink, void *arg,
		 struct err *err)
{
	if (ops_may(ops, who, RIGHT_READ, err) < 0)
		return -1;
	return store_clusters_each(ops->store, sink, arg, err);
}

/* store/cluster_read.h: the clusters that have sent records, with what is known of each. */
#ifndef TALLY_STORE_CLUSTER_READ_H
#define TALLY_STORE_CLUSTER_READ_H

#include "store/store.h"

struct cluster_info {
	const char *name;
	int64_t registered_at;
	int64_t open_jobs; /* not ended */
	const char *nodes, *tres; /* by its last record of them; NULL = there is none */
	/* From the months: 0 = no job yet. */
	int64_t least_job_id, greatest_job_id;
};

typedef int cluster_sink(const struct cluster_info *c, void *arg);

/* By name. */
int store_clusters_each(struct store *s, cluster_sink *sink, void *arg, struct err *err);

#endif

/* store/event_read.h: the periods of nodes and of clusters, as the instants of their events part
 * them (store/event_write.h). */
#ifndef TALLY_STORE_EVENT_READ_H
#define TALLY_STORE_EVENT_READ_H

#include "core/record.h"
#include "store/store.h"

struct period_query {
	const char *const *clusters; /* NULL = all */
	size_t n_clusters;
	const char *const *nodes; /* exact names; NULL = all.  Of no use for clusters */
	size_t n_nodes;
	int64_t start, end; /* periods that touch [start, end) */
};

struct node_period {
	const char *cluster;
	struct node_event event; /* at: the beginning */
	bool ended;
	int64_t end_at;
};

struct cluster_period {
	const char *cluster;
	struct cluster_tres tres; /* at: the beginning */
	bool ended;
	int64_t end_at;
};

/* What they are given lives until they return; < 0 stops (ERR_GONE). */
typedef int node_period_sink(const struct node_period *p, void *arg);
typedef int cluster_period_sink(const struct cluster_period *p, void *arg);

/* By cluster, node, beginning; in pages, so that nothing is held while the sink is at work. */
int store_node_periods_each(struct store *s, const struct period_query *q, node_period_sink *sink,
			    void *arg, struct err *err);
int store_cluster_periods_each(struct store *s, const struct period_query *q,
			       cluster_period_sink *sink, void *arg, struct err *err);

#endif

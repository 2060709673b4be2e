/* store/event_write.h: the instants of nodes and clusters, and the periods between them. */
#ifndef TALLY_STORE_EVENT_WRITE_H
#define TALLY_STORE_EVENT_WRITE_H

#include "core/record.h"
#include "store/write_tx.h"

/* Of a node; or of the cluster itself when node.node is "": then only at, tres and nodes count. */
struct event_row {
	const char *cluster;
	struct node_event node;
	const char *nodes; /* of a cluster: its node list */
};

/* By cluster, node, at: the key. */
int event_row_order(const struct event_row *a, const struct event_row *b);

typedef void event_found(const struct event_row *stored, void *arg);

/* The stored ones of these keys; they live until the transaction ends. */
int event_load(struct write_tx *tx, const struct event_row *keys, size_t n, event_found *found,
	       void *arg, struct err *err);
/* Writes them, over what is stored under their keys, and mends the ends of the periods around. */
int event_put(struct write_tx *tx, const struct event_row *rows, size_t n, struct err *err);

#endif

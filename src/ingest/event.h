/* ingest/event.h: node events and cluster TRES of one transaction, merged by key.
 *
 * A node's history is the set of its instants (cluster, node, at), a cluster's that of
 * (cluster, at); the periods between them follow.  So order and repetition do not matter, and an
 * event that comes late cuts the period it falls in.  Two records of one instant are merged: up
 * wins over down, else field by field the greater value; by_arrival the later record's. */
#ifndef TALLY_INGEST_EVENT_H
#define TALLY_INGEST_EVENT_H

#include "ingest/plan.h"
#include "store/event_write.h"

struct event {
	struct event_row row;
	struct item **items; /* that named this instant, in order of arrival */
	size_t n_items;
	bool stored, changed;
};

/* Groups the node_event and cluster_tres records among them by key, in event_row_order. */
void events_collect(struct item *const *items, size_t n, struct arena *arena,
		    struct event **ret_events, size_t *ret_n);
/* What is stored under the event's key; before event_merge. */
void event_stored(struct event *ev, const struct event_row *stored);
/* Merges its records into what is stored; sets changed and each record's outcome. */
void event_merge(struct event *ev);

#endif

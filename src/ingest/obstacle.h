/* ingest/obstacle.h: locks that the writer has met, and when it will try again.
 *
 * While one stands, what needs the locked thing is held and everything else goes on; so a lock
 * costs the others one lock_timeout per try, and tries grow apart.  Everything that is held by one
 * lock is tried again at the same time, in its order of arrival. */
#ifndef TALLY_INGEST_OBSTACLE_H
#define TALLY_INGEST_OBSTACLE_H

#include "store/write_tx.h"

enum obstacle_kind {
	OBSTACLE_MONTH,    /* a partition of job and step */
	OBSTACLE_ASIDE,
	OBSTACLE_EVENTS,
	OBSTACLE_QUARANTINE,
	OBSTACLE_REGISTRY, /* clusters and TRES that are not known yet */
	OBSTACLE_TREE,     /* accounts, users, QOS and wckeys that are not */
};

struct obstacle {
	enum obstacle_kind kind;
	int month;
	int64_t until_ms;
	int pause_ms;
};

struct obstacles {
	struct obstacle v[32];
	size_t n;
};

/* Does it stand now? */
bool obstacle_stands(const struct obstacles *o, enum obstacle_kind kind, int month,
		     int64_t now_ms);
bool obstacle_any_stands(const struct obstacles *o, int64_t now_ms);
/* It was met (again). */
void obstacle_met(struct obstacles *o, enum obstacle_kind kind, int month, int64_t now_ms);
/* It was passed. */
void obstacle_gone(struct obstacles *o, enum obstacle_kind kind, int month);
/* When the next one is to be tried again; INT64_MAX when there is none. */
int64_t obstacle_next_ms(const struct obstacles *o);

#endif

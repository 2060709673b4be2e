/* house.h: everything that tallyd starts, in order, keeps up while it runs, and stops in reverse.
 *
 * The house runs in a thread of its own, so that the main thread is free for signals from the
 * first moment: whatever is being waited for, a signal ends the wait. */
#ifndef TALLY_HOUSE_H
#define TALLY_HOUSE_H

#include "config.h"
#include "places.h"

struct house;

/* ready_fd: gets a byte when everything is up, then is closed; -1 = none. */
struct house *house_new(const struct config *config, struct places *places, uid_t started_by,
			int ready_fd);
/* Brings everything up, keeps it up until house_close, takes it down.  0, or -1 with what made
 * starting impossible (logged by the caller). */
int house_run(struct house *h, struct err *err);
/* From any thread, any number of times: end now, in order. */
void house_close(struct house *h);
/* From any thread: takes over what may change while running.  `fresh` must outlive the house. */
void house_reload(struct house *h, const struct config *fresh);
void house_free(struct house *h);

#endif

/* core/state.h: states by number, name and short name. */
#ifndef TALLY_CORE_STATE_H
#define TALLY_CORE_STATE_H

#include "base/err.h"

enum state {
#define S(name, number, abbr, ended) STATE_##name = (number),
#include "core/state.def"
#undef S
};

struct state_row {
	int64_t number;
	const char *name;  /* "COMPLETED" */
	const char *abbr;  /* "CD" */
	bool ended;
};

#define STATE_COUNT 15
extern const struct state_row state_rows[STATE_COUNT];

/* NULL for a number that is no state. */
const char *state_name(int64_t state);
const char *state_short(int64_t state);
bool state_is_known(int64_t state);
/* A row in this state has ended; REQUEUED, RESIZING and REVOKED included. */
bool state_is_end(int64_t state);

/* The long or the short name in any case, and sacct's "CANCELLED by 1000".  *ret_uid (may be NULL)
 * is who cancelled, -1 when the text does not say.  An unknown name is an error that lists the
 * valid ones. */
int state_parse(const char *text, int64_t *ret_state, int64_t *ret_uid, struct err *err);

#endif

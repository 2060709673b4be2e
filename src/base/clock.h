/* base/clock.h: clocks that never step back, for waits and measurements.  The time of day is not
 * asked here: whoever needs it passes `now` in seconds down. */
#ifndef TALLY_BASE_CLOCK_H
#define TALLY_BASE_CLOCK_H

#include "base/base.h"

int64_t monotonic_ms(void);
int64_t monotonic_us(void);
/* The same moment as a timespec, for pthread_cond_timedwait on CLOCK_MONOTONIC. */
struct timespec monotonic_timespec(int64_t at_ms);

#endif

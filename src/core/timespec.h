/* core/timespec.h: moments as text.
 *
 * Three readers: time_parse takes every form that sacct's -S and -E take, relative to a given now
 * and zone; time_parse_iso is the API's, strict: an offset or epoch seconds, never a silent local
 * time; time_parse_cell reads a cell of a dump. */
#ifndef TALLY_CORE_TIMESPEC_H
#define TALLY_CORE_TIMESPEC_H

#include "base/err.h"

/* "2026-08-21T15:38:00Z".  Years beyond 0..9999 get a sign and six digits or more, as ISO 8601
 * wants them. */
#define TIME_TEXT_SIZE 40
void time_format_iso(int64_t t, char out[TIME_TEXT_SIZE]);

/* YYYY-MM-DDTHH:MM[:SS[.fraction]] with Z, +HH:MM or +HHMM (the fraction is cut off), or seconds
 * since 1970 as digits. */
int time_parse_iso(const char *text, int64_t *ret, struct err *err);

/* What dumps write where there is no time: "", Unknown, None, N/A. */
bool time_is_absent(const char *text);

#endif

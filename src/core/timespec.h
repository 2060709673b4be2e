/* core/timespec.h: moments as text.
 *
 * Four readers, from strict to lenient: time_parse_iso (records) wants an offset or epoch seconds;
 * time_parse_query (the API's parameters) also takes a date and now-7days, and local times where a
 * zone was named; time_parse (sacct's -S and -E) takes every form of sacct, in a zone;
 * time_parse_cell reads a cell of a dump.  None is ever silently local. */
#ifndef TALLY_CORE_TIMESPEC_H
#define TALLY_CORE_TIMESPEC_H

#include "core/zone.h"

/* "2026-08-21T15:38:00Z".  Years beyond 0..9999 get a sign and six digits or more, as ISO 8601
 * wants them. */
#define TIME_TEXT_SIZE 40
void time_format_iso(int64_t t, char out[TIME_TEXT_SIZE]);

/* YYYY-MM-DDTHH:MM[:SS[.fraction]] with Z, +HH:MM or +HHMM (the fraction is cut off), or seconds
 * since 1970 as digits. */
int time_parse_iso(const char *text, int64_t *ret, struct err *err);

/* Every form of sacct, relative to now, on z's clocks:
 *   HH:MM[:SS][AM|PM]            today, also when that is still to come
 *   MMDD[YY][-HH:MM[:SS]]        and with '.' or '/' between: MM.DD[.YY], MM/DD[/YY]; without a
 *                                year the last such day, today included
 *   YYYY-MM-DD[THH:MM[:SS]]      Z or an offset may follow the time
 *   today midnight noon elevenses fika teatime tomorrow yesterday
 *   now[+|-N[seconds|minutes|hours|days|weeks]]   days of 86400 s; units may be cut short
 *   uts1796102608, 1796102608    epoch seconds, nine digits or more without uts */
int time_parse(const char *text, int64_t now, const struct zone *z, int64_t *ret,
	       struct err *err);

/* z NULL: no zone was named, so times must carry an offset; a date alone is then its midnight in
 * UTC.  Digits are always epoch seconds here, but for the forms with '-', '.', '/' or ':'. */
int time_parse_query(const char *text, int64_t now, const struct zone *z, int64_t *ret,
		     struct err *err);

/* A cell of a dump: YYYY-MM-DDTHH:MM:SS on z's clocks or with an offset, or epoch seconds.  No
 * time (time_is_absent, or 0): *ret_known is false. */
int time_parse_cell(const char *text, const struct zone *z, int64_t *ret, bool *ret_known,
		    struct err *err);

/* The moment at which the day of `now` began on z's clocks. */
int64_t midnight_of(int64_t now, const struct zone *z);

/* What dumps write where there is no time: "", Unknown, None, N/A. */
bool time_is_absent(const char *text);

#endif

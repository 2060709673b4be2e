/* core/zone.h: time zones as values.
 *
 * Read from the system's zone files, so that any number of zones serve at once in any thread,
 * without TZ, tzset or the C library's lock.  A zone that is read is never changed and lives in
 * the arena it was given. */
#ifndef TALLY_CORE_ZONE_H
#define TALLY_CORE_ZONE_H

#include "base/arena.h"
#include "base/err.h"
#include "core/civil.h"

struct zone;

const struct zone *zone_utc(void);
/* "Europe/Berlin", "UTC", or a POSIX rule ("CET-1CEST,M3.5.0,M10.5.0/3").  Names come from
 * requests: only letters, digits and _+-/ are looked for among the zone files. */
int zone_open(const char *name, struct arena *arena, const struct zone **ret, struct err *err);
/* The process's zone: tz is the value of TZ (NULL = not set: /etc/localtime, else UTC). */
int zone_open_local(const char *tz, struct arena *arena, const struct zone **ret,
		    struct err *err);
/* The bytes of a zone file (RFC 8536, version 1 to 4). */
int zone_parse(const void *bytes, size_t n, struct arena *arena, const struct zone **ret,
	       struct err *err);

/* Seconds east of UTC at that moment; ret_name ("CEST") and ret_dst may be NULL. */
int zone_offset(const struct zone *z, int64_t at, const char **ret_name, bool *ret_dst);
void zone_civil(const struct zone *z, int64_t at, struct civil *ret);
/* For strftime: all fields, tm_gmtoff and tm_zone too. */
void zone_tm(const struct zone *z, int64_t at, struct tm *ret);

/* The moment at which the zone's clocks show this; month, day and time beyond their range count
 * on (day 32 is the first of the next month).  Shown twice (an hour set back): the first.  Never
 * shown (an hour set forward): as if the clocks had not been changed, so 02:30 becomes 03:30. */
int64_t zone_moment(const struct zone *z, const struct civil *c);

#endif

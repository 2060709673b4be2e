/* core/civil.h: calendar arithmetic of the proleptic Gregorian calendar, without the C library:
 * no locks, no zone, any year that int64 seconds reach. */
#ifndef TALLY_CORE_CIVIL_H
#define TALLY_CORE_CIVIL_H

#include "base/base.h"

#define DAY_S INT64_C(86400)

struct civil {
	int64_t year;
	int month; /* 1..12 */
	int day;   /* 1..31 */
	int hour, minute, second;
};

/* Days since 1970-01-01 and back.  month must be 1..12; day may be any number. */
int64_t days_from_civil(int64_t year, int month, int64_t day);
void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day);
int days_in_month(int64_t year, int month);
bool year_is_leap(int64_t year);
/* 0 = Sunday */
int weekday_of_days(int64_t days);

/* Seconds since 1970-01-01T00:00:00 of one and the same clock (UTC, or local with its offset). */
int64_t seconds_from_civil(const struct civil *c);
void civil_from_seconds(int64_t s, struct civil *ret);
/* Month, day and time are what a calendar and a clock show. */
bool civil_is_valid(const struct civil *c);

/* Division that rounds down, and what it leaves (0 <= rest < b). */
static inline int64_t floor_div(int64_t a, int64_t b)
{
	return a / b - (a % b < 0);
}

static inline int64_t floor_mod(int64_t a, int64_t b)
{
	return a % b < 0 ? a % b + b : a % b;
}

#endif

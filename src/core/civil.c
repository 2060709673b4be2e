#include "core/civil.h"

/* Years are counted from 1 March, so that the leap day is the last of its year: the days before a
 * month are then a straight line, (153 m + 2) / 5 for m = 0 (March) .. 11 (February). */
#define DAYS_TO_1970 719468 /* from 0000-03-01 */
#define DAYS_PER_400_YEARS 146097

bool year_is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

int days_in_month(int64_t year, int month)
{
	static const int days[] = { 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31 };

	return days[month - 1] + (month == 2 && year_is_leap(year));
}

int64_t days_from_civil(int64_t year, int month, int64_t day)
{
	int64_t y = month > 2 ? year : year - 1;
	int64_t m = month > 2 ? month - 3 : month + 9;

	return 365 * y + floor_div(y, 4) - floor_div(y, 100) + floor_div(y, 400) +
	       (153 * m + 2) / 5 + day - 1 - DAYS_TO_1970;
}

void civil_from_days(int64_t days, int64_t *ret_year, int *ret_month, int *ret_day)
{
	int64_t from_march = days + DAYS_TO_1970;
	int64_t cycle = floor_div(from_march, DAYS_PER_400_YEARS);
	int64_t in_cycle = from_march - cycle * DAYS_PER_400_YEARS;
	/* Take the leap days off first: one in 1460 days, but for every 36524th, but ... */
	int64_t y = (in_cycle - in_cycle / 1460 + in_cycle / 36524 - in_cycle / 146096) / 365;
	int64_t in_year = in_cycle - (365 * y + y / 4 - y / 100);
	int64_t m = (5 * in_year + 2) / 153;

	*ret_day = (int)(in_year - (153 * m + 2) / 5 + 1);
	*ret_month = (int)(m < 10 ? m + 3 : m - 9);
	*ret_year = cycle * 400 + y + (*ret_month <= 2);
}

int weekday_of_days(int64_t days)
{
	return (int)floor_mod(days + 4, 7); /* 1970-01-01 was a Thursday */
}

int64_t seconds_from_civil(const struct civil *c)
{
	return days_from_civil(c->year, c->month, c->day) * DAY_S + c->hour * 3600 +
	       c->minute * 60 + c->second;
}

void civil_from_seconds(int64_t s, struct civil *ret)
{
	int in_day = (int)floor_mod(s, DAY_S);

	civil_from_days(floor_div(s, DAY_S), &ret->year, &ret->month, &ret->day);
	ret->hour = in_day / 3600;
	ret->minute = in_day / 60 % 60;
	ret->second = in_day % 60;
}

bool civil_is_valid(const struct civil *c)
{
	return c->month >= 1 && c->month <= 12 && c->day >= 1 &&
	       c->day <= days_in_month(c->year, c->month) && c->hour >= 0 && c->hour <= 23 &&
	       c->minute >= 0 && c->minute <= 59 && c->second >= 0 && c->second <= 59;
}

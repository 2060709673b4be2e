/* core/duration.h: lengths of time as the tools print and read them, and time limits. */
#ifndef TALLY_CORE_DURATION_H
#define TALLY_CORE_DURATION_H

#include "base/err.h"
#include "core/field.h"

#define DURATION_TEXT_SIZE 40

/* Seconds as [D-]HH:MM:SS; below 0 "INVALID", as sacct prints a wait that cannot be. */
void duration_format(int64_t s, char out[DURATION_TEXT_SIZE]);
/* CPU time as sacct prints it: MM:SS.mmm below an hour when there are milliseconds, else
 * [D-]HH:MM:SS. */
void duration_format_us(int64_t us, char out[DURATION_TEXT_SIZE]);

/* [D-]HH:MM:SS, no upper bound on the first number; MM:SS too. */
int duration_parse(const char *text, int64_t *ret_s, struct err *err);
/* The same with decimals of a second. */
int duration_parse_us(const char *text, int64_t *ret_us, struct err *err);

/* Time limits in minutes, or LIMIT_*.  Read: minutes, minutes:seconds, h:m:s, d-h, d-h:m, d-h:m:s
 * (seconds round up), UNLIMITED, INFINITE, -1, Partition_Limit, in any case. */
int limit_parse(const char *text, int64_t *ret_limit, struct err *err);
void limit_format(int64_t limit, char out[DURATION_TEXT_SIZE]);     /* "10:10:00" */
void limit_format_raw(int64_t limit, char out[DURATION_TEXT_SIZE]); /* "610" */

#endif

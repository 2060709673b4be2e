/* base/num.h: numbers from text, strictly: nothing skipped, nothing after, nothing wrapped. */
#ifndef TALLY_BASE_NUM_H
#define TALLY_BASE_NUM_H

#include "base/base.h"

/* Reads the decimal digits at s (no sign, no blanks) and returns where they end; NULL when there
 * is no digit or the value passes the type. */
const char *num_digits(const char *s, int64_t *ret);
const char *num_digits_u64(const char *s, uint64_t *ret);

/* The whole text is a number: digits, for num_parse with an optional '-' in front.  0 or -1. */
int num_parse(const char *s, int64_t *ret);
int num_parse_u64(const char *s, uint64_t *ret);

/* a * b and a + b held at INT64_MAX (INT64_MIN) when they pass it; *saturated (may be NULL) is set
 * then and never cleared, so that one check follows a whole sum. */
int64_t num_mul(int64_t a, int64_t b, bool *saturated);
int64_t num_add(int64_t a, int64_t b, bool *saturated);

#endif

/* core/usage.h: what a job has used, by when.
 *
 * A row that ran is a run: a stretch of time and, for each TRES it held, an amount that grows along
 * it.  What it used in a window is the difference of that amount at the window's two ends, so the
 * parts of a run add up to the whole to the last unit, however it is cut into hours and edges.
 *
 *	cpu		count x seconds, less what it was suspended
 *	energy		a total in J, put evenly over the run once it has ended
 *	any other	count x seconds, suspended or not
 *	gres/gpu	every GPU once: where only types are named, their sum
 *
 * Rows made by a requeue or a resize are runs of their own.  What never started, is pending, or
 * whose clock stepped back (end before start), is none. */
#ifndef TALLY_CORE_USAGE_H
#define TALLY_CORE_USAGE_H

#include "core/job.h"
#include "core/tres.h"

#define HOUR_S INT64_C(3600)

/* More than this of a TRES counts as this much, so that no single record can fill a sum. */
#define USAGE_COUNT_MOST INT64_C(1000000000000)

/* A run that is longer stands in no sum and is added when it is asked for: a wrong clock makes
 * centuries, and a century has 876,600 hours. */
#define USAGE_LONG_S (400 * INT64_C(86400))

struct usage_run {
	int64_t start, end;  /* end: INT64_MAX while it runs */
	const char *moments; /* of suspension; NULL = none */
	int64_t unplaced_s;  /* suspended at times that nobody told: taken off evenly */
	const char *tres;    /* allocated; NULL = not known */
};

/* False when the row is no run. */
bool usage_run_of(const struct job *j, struct usage_run *ret);
static inline bool usage_runs(const struct usage_run *r)
{
	return r->end == INT64_MAX;
}
static inline bool usage_is_long(const struct usage_run *r)
{
	return r->end != INT64_MAX && r->end - r->start > USAGE_LONG_S;
}
/* While it runs: is what it has used anything but count x (now - start) for each TRES? */
static inline bool usage_is_uneven(const struct usage_run *r)
{
	return r->moments != NULL;
}

/* What it holds, one TRES at a time, names not in order; counts above 0. */
struct usage_tres {
	const struct usage_run *run;
	const char *at;
	bool gpus_told; /* gres/gpu was named or has been given */
};
struct usage_tres usage_tres_of(const struct usage_run *r);
bool usage_tres_next(struct usage_tres *walk, struct tres *ret);

/* How an amount grows. */
enum usage_kind { USAGE_HELD, USAGE_CPU, USAGE_TOTAL };
enum usage_kind usage_kind_of(const struct tres *t);
/* Seconds that count of [start, at), for USAGE_HELD and USAGE_CPU; at may be any time. */
int64_t usage_seconds(const struct usage_run *r, enum usage_kind kind, int64_t at);
/* The amount by then: 0 before the start, the whole from the end on. */
int64_t usage_until(const struct usage_run *r, const struct tres *t, int64_t at);
/* In [from, to); to is no later than now while it runs. */
int64_t usage_in(const struct usage_run *r, const struct tres *t, int64_t from, int64_t to);

/* ---- periods of UTC */

enum usage_grain { USAGE_HOUR, USAGE_DAY, USAGE_MONTH, USAGE_GRAINS };

/* Start of the period that holds `at`, and of the one behind it. */
int64_t usage_period(enum usage_grain grain, int64_t at);
int64_t usage_period_next(enum usage_grain grain, int64_t at);

/* A window as whole periods, the longest that fit, and what is left at its ends; in order and
 * without gaps. */
struct usage_part {
	int64_t from, to;
	enum usage_grain grain; /* of the periods in it; USAGE_GRAINS: less than an hour */
};
enum { USAGE_PARTS_MOST = 7 };
size_t usage_split(int64_t from, int64_t to, struct usage_part ret[USAGE_PARTS_MOST]);

/* ---- sums per TRES */

/* An amount of one TRES, by its number in the registry. */
struct usage_amount {
	int32_t tres;
	int64_t amount;
};

/* Adds an amount to a list of n, ascending by TRES, with room for one more; what comes to 0 goes.
 * Sums stop at the ends of int64.  Returns the new n. */
size_t usage_add(struct usage_amount *list, size_t n, int32_t tres, int64_t amount);

/* What runs of one TRES: by t, when all of them have begun, they used rate x t - rate_start.  The
 * latter is modulo 2^64, and so is the difference, which fits where the use does. */
struct usage_rate {
	int32_t tres;
	int64_t rate;	     /* sum of counts */
	uint64_t rate_start; /* sum of count x start */
};
static inline int64_t usage_rate_until(const struct usage_rate *r, int64_t t)
{
	return (int64_t)((uint64_t)r->rate * (uint64_t)t - r->rate_start);
}
/* As usage_add. */
size_t usage_rate_add(struct usage_rate *list, size_t n, const struct usage_rate *more);

#endif

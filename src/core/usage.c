#include "core/usage.h"

#include "base/num.h"
#include "core/civil.h"
#include "core/moments.h"
#include "core/state.h"

#define GPU "gres/gpu"

static bool has_ended(const struct job *j)
{
	return job_has(j, end_at) || (job_has(j, state) && state_is_end(j->state));
}

bool usage_run_of(const struct job *j, struct usage_run *ret)
{
	struct usage_run r = { .end = INT64_MAX };

	if (!job_start_shown(j, &r.start) || r.start <= 0)
		return false;
	if (!has_ended(j)) {
		if (job_has(j, state) && j->state == STATE_PENDING)
			return false;
	} else if (!job_has(j, end_at) || j->end_at <= j->start_at) {
		return false;
	} else {
		r.end = j->end_at;
	}
	r.moments = job_get(j, moments, NULL);
	if (r.moments != NULL && r.moments[0] == '\0')
		r.moments = NULL;
	if (r.moments == NULL && r.end != INT64_MAX)
		r.unplaced_s = job_suspended_s(j, INT64_MIN, INT64_MAX, r.end);
	r.tres = job_get(j, tres_alloc, NULL);
	*ret = r;
	return true;
}

/* ---- what it holds */

static bool is_named(const struct tres *t, const char *name)
{
	return t->len == strlen(name) && memcmp(t->name, name, t->len) == 0;
}

struct usage_tres usage_tres_of(const struct usage_run *r)
{
	int64_t told;

	return (struct usage_tres){ .run = r,
				    .at = r->tres,
				    .gpus_told = tres_get(r->tres, GPU, &told) };
}

bool usage_tres_next(struct usage_tres *walk, struct tres *ret)
{
	int64_t gpus;

	while (tres_next(&walk->at, ret)) {
		if (ret->count <= 0)
			continue;
		if (ret->count > USAGE_COUNT_MOST)
			ret->count = USAGE_COUNT_MOST;
		return true;
	}
	if (walk->gpus_told || !tres_gpus(walk->run->tres, &gpus) || gpus <= 0)
		return false;
	walk->gpus_told = true;
	*ret = (struct tres){ GPU, strlen(GPU), gpus < USAGE_COUNT_MOST ? gpus : USAGE_COUNT_MOST };
	return true;
}

/* ---- how much by when */

enum usage_kind usage_kind_of(const struct tres *t)
{
	return is_named(t, "cpu") ? USAGE_CPU : is_named(t, "energy") ? USAGE_TOTAL : USAGE_HELD;
}

/* The part of a whole that falls on the first `ran` of `all` seconds. */
static int64_t part_of(int64_t whole, int64_t ran, int64_t all)
{
	return all > 0 ? (int64_t)((__int128)whole * ran / all) : 0;
}

static int64_t suspended_until(const struct usage_run *r, int64_t at)
{
	int64_t from, to, sum = 0;

	if (r->unplaced_s > 0)
		return part_of(r->unplaced_s, at - r->start, r->end - r->start);
	for (const char *m = r->moments; moments_next_span(&m, &from, &to);) {
		from = from > r->start ? from : r->start;
		to = to < at ? to : at;
		if (from < to)
			sum += to - from;
	}
	return sum;
}

static int64_t clamp(const struct usage_run *r, int64_t at)
{
	return at < r->start ? r->start : at > r->end ? r->end : at;
}

int64_t usage_seconds(const struct usage_run *r, enum usage_kind kind, int64_t at)
{
	at = clamp(r, at);
	return at - r->start - (kind == USAGE_CPU ? suspended_until(r, at) : 0);
}

int64_t usage_until(const struct usage_run *r, const struct tres *t, int64_t at)
{
	enum usage_kind kind = usage_kind_of(t);

	if (kind != USAGE_TOTAL)
		return num_mul(t->count, usage_seconds(r, kind, at), NULL);
	if (usage_runs(r))
		return 0;
	return part_of(t->count, clamp(r, at) - r->start, r->end - r->start);
}

int64_t usage_in(const struct usage_run *r, const struct tres *t, int64_t from, int64_t to)
{
	return from < to ? usage_until(r, t, to) - usage_until(r, t, from) : 0;
}

/* ---- periods */

int64_t usage_period(enum usage_grain grain, int64_t at)
{
	int64_t year;
	int month, day;

	if (grain == USAGE_HOUR)
		return at - floor_mod(at, HOUR_S);
	if (grain == USAGE_DAY)
		return at - floor_mod(at, DAY_S);
	civil_from_days(floor_div(at, DAY_S), &year, &month, &day);
	return days_from_civil(year, month, 1) * DAY_S;
}

int64_t usage_period_next(enum usage_grain grain, int64_t at)
{
	int64_t start = usage_period(grain, at), year;
	int month, day;

	if (grain != USAGE_MONTH)
		return start + (grain == USAGE_HOUR ? HOUR_S : DAY_S);
	civil_from_days(start / DAY_S, &year, &month, &day);
	return start + days_in_month(year, month) * DAY_S;
}

static int64_t period_at_or_after(enum usage_grain grain, int64_t at)
{
	return usage_period(grain, at) == at ? at : usage_period_next(grain, at);
}

static size_t add_part(struct usage_part *parts, size_t n, int64_t from, int64_t to,
		       enum usage_grain grain)
{
	if (from < to)
		parts[n++] = (struct usage_part){ from, to, grain };
	return n;
}

/* What a grain fills is in the middle; the rest on both sides is for the next finer one. */
static size_t split(struct usage_part *parts, size_t n, int64_t from, int64_t to, int grain)
{
	int64_t first, last;

	if (grain < 0)
		return add_part(parts, n, from, to, USAGE_GRAINS);
	first = period_at_or_after((enum usage_grain)grain, from);
	last = usage_period((enum usage_grain)grain, to);
	if (first >= last)
		return split(parts, n, from, to, grain - 1);
	n = split(parts, n, from, first, grain - 1);
	n = add_part(parts, n, first, last, (enum usage_grain)grain);
	return split(parts, n, last, to, grain - 1);
}

size_t usage_split(int64_t from, int64_t to, struct usage_part ret[USAGE_PARTS_MOST])
{
	return split(ret, 0, from, to, USAGE_MONTH);
}

/* ---- sums */

size_t usage_add(struct usage_amount *list, size_t n, int32_t tres, int64_t amount)
{
	size_t i = 0;

	while (i < n && list[i].tres < tres)
		i++;
	if (i < n && list[i].tres == tres) {
		list[i].amount = num_add(list[i].amount, amount, NULL);
		if (list[i].amount != 0)
			return n;
		memmove(&list[i], &list[i + 1], (n - i - 1) * sizeof(*list));
		return n - 1;
	}
	if (amount == 0)
		return n;
	memmove(&list[i + 1], &list[i], (n - i) * sizeof(*list));
	list[i] = (struct usage_amount){ tres, amount };
	return n + 1;
}

size_t usage_rate_add(struct usage_rate *list, size_t n, const struct usage_rate *more)
{
	size_t i = 0;

	while (i < n && list[i].tres < more->tres)
		i++;
	if (i < n && list[i].tres == more->tres) {
		list[i].rate = num_add(list[i].rate, more->rate, NULL);
		list[i].rate_start += more->rate_start;
		if (list[i].rate != 0 || list[i].rate_start != 0)
			return n;
		memmove(&list[i], &list[i + 1], (n - i - 1) * sizeof(*list));
		return n - 1;
	}
	if (more->rate == 0 && more->rate_start == 0)
		return n;
	memmove(&list[i + 1], &list[i], (n - i) * sizeof(*list));
	list[i] = *more;
	return n + 1;
}

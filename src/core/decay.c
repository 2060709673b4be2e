#include "core/decay.h"

#include <math.h>

struct decay decay_of(int64_t half_life_s, enum decay_rule rule)
{
	if (half_life_s <= 0)
		return (struct decay){ 0 };
	if (rule == DECAY_HALF_LIFE)
		return (struct decay){ (double)half_life_s };
	return (struct decay){ M_LN2 / -log1p(-0.693 / (double)half_life_s) };
}

double decay_factor(struct decay d, double age_s)
{
	return d.half_life_s > 0 && age_s > 0 ? exp2(-age_s / d.half_life_s) : 1.0;
}

double decay_interval(struct decay d, int64_t from, int64_t to, int64_t at)
{
	if (to > at)
		to = at;
	if (to <= from)
		return 0.0;
	double length = (double)(to - from);
	if (d.half_life_s <= 0)
		return length;
	/* f(to) - f(from) without cancellation: f(to) (1 - 2^(-length/H)) H / ln 2. */
	return decay_factor(d, (double)(at - to)) * (d.half_life_s / M_LN2) *
	       -expm1(-length * M_LN2 / d.half_life_s);
}

/* core/decay.h: usage that fades with a half-life, in closed form.
 *
 * What was used u seconds ago counts 2^(-u/H).  An interval of use counts the integral of that, so
 * the value at any instant is exact and needs no periodic job.  H = 0 is no decay (slurm.conf,
 * PriorityDecayHalfLife).  DECAY_SLURM follows Slurm's code, which fades by 1 - 0.693/H a second
 * (after exactly H the rest is 0.500073): the same form with a slightly longer half-life.
 * Facts: priority/multifactor; reference values in its documentation. */
#ifndef TALLY_CORE_DECAY_H
#define TALLY_CORE_DECAY_H

#include "base/base.h"

enum decay_rule { DECAY_HALF_LIFE, DECAY_SLURM };

struct decay {
	double half_life_s; /* in force: of the rule; 0 = none */
};

struct decay decay_of(int64_t half_life_s, enum decay_rule rule);

/* What one second of use `age_s` seconds ago still counts; ages below 0 count 1. */
double decay_factor(struct decay d, double age_s);

/* What use from `from` to `to` at one unit a second counts at the instant `at`; what lies after
 * `at` does not count yet.  0 when to <= from. */
double decay_interval(struct decay d, int64_t from, int64_t to, int64_t at);

#endif

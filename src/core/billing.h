/* core/billing.h: billable TRES of a job from a partition's weights (TRESBillingWeights).
 *
 * SUM: every TRES times its weight, added up.  MAX_TRES: the largest of those on nodes (cpu, mem,
 * node, gres/...) plus the sum of the others (licences, burst buffers).  MAX_TRES_GRES: the largest
 * of cpu, mem, node, plus all gres, plus the others.  (slurm.conf: TRESBillingWeights,
 * PriorityFlags.)  Where the controller sent a billing TRES that is used as it is and none of this
 * is asked. */
#ifndef TALLY_CORE_BILLING_H
#define TALLY_CORE_BILLING_H

#include "base/arena.h"
#include "base/err.h"

enum billing_rule { BILLING_SUM, BILLING_MAX_TRES, BILLING_MAX_TRES_GRES };

struct billing_weights;

/* "CPU=1.0,Mem=0.25G,GRES/gpu=8.5": names in any case; a weight of mem (or bb/...) may name the
 * unit it is per (K M G T P; none = MiB).  NULL and "" give the default CPU=1.  -1 with the word
 * that is wrong. */
int billing_parse(const char *text, struct arena *arena, const struct billing_weights **ret,
		  struct err *err);

/* Of a TRES text; the fraction is kept: round at the end of a sum. */
double billing_compute(const struct billing_weights *weights, enum billing_rule rule,
		       const char *tres);

#endif

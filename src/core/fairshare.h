/* core/fairshare.h: fair-share factors of a whole association tree.
 *
 * In: every association of one cluster, parents before children, with its shares and its usage
 * (decayed, weighted; any one integer unit: what counts are proportions; an account's usage holds
 * that of everything below it).  Out: shares, usage and factor of each.  Nothing is kept.
 *
 * Fair Tree and the classic algorithm are defined in Slurm's documentation (fair_tree,
 * priority_multifactor).  Equal siblings are found exactly, in rationals.  Where Slurm's code
 * departs from its documentation (accounts that tie are not merged; levels are compared as
 * doubles), FAIR_TREE follows the documentation and FAIR_TREE_AS_CODED the code. */
#ifndef TALLY_CORE_FAIRSHARE_H
#define TALLY_CORE_FAIRSHARE_H

#include "base/arena.h"
#include "core/field.h"

enum fairshare_rule { FAIR_TREE, FAIR_TREE_AS_CODED, FAIR_CLASSIC };

struct fairshare_node {
	/* in */
	int32_t parent; /* index of an earlier node; -1 for the root, which is node 0 */
	bool is_user;
	int64_t shares; /* >= 0, or SHARES_PARENT */
	int64_t usage;  /* >= 0 */
	/* out */
	double norm_shares; /* Fair Tree: part of the level's shares; classic: product down the tree
			     */
	double norm_usage;  /* part of the root's usage */
	double effective_usage;
	double level_fs; /* INFINITY without use; NAN where the rule has none (root, parent,
			    classic) */
	double factor;   /* 0..1; NAN where the rule has none (Fair Tree: accounts) */
	uint32_t rank;   /* Fair Tree: of `users`, best = users; 0 for accounts */
};

/* Fills the out members.  damping: FairShareDampeningFactor, >= 1, classic only.  Scratch memory
 * comes from the arena. */
void fairshare_compute(struct fairshare_node *nodes, size_t n, enum fairshare_rule rule,
		       unsigned damping, struct arena *scratch);

/* Less than, equal to or greater than 0 as a/b stands to c/d, exactly; b or d = 0 with a positive
 * numerator is infinite.  For the tests. */
int fairshare_ratio_cmp(unsigned __int128 a, unsigned __int128 b, unsigned __int128 c,
			unsigned __int128 d);

#endif

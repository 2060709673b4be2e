/* base/near.h: the word that a mistyped one was meant to be.
 *
 *	struct near near;
 *	near_init(&near, word, strlen(word));
 *	for (each right word)
 *		near_try(&near, right);
 *	... near_best(&near) ...
 */
#ifndef TALLY_BASE_NEAR_H
#define TALLY_BASE_NEAR_H

#include "base/base.h"

#define NEAR_MAX 48 /* longer words are compared by their beginning */

struct near {
	char word[NEAR_MAX]; /* lower case */
	size_t len;
	const char *best;
	unsigned distance;
};

void near_init(struct near *n, const char *word, size_t len);
/* The candidate must live as long as n. */
void near_try(struct near *n, const char *candidate);
/* NULL when none is near: more than a third of its letters would have to change. */
const char *near_best(const struct near *n);

#endif

#include "base/near.h"

static char lower(char c)
{
	if (c >= 'A' && c <= 'Z')
		return (char)(c - 'A' + 'a');
	return c == '-' ? '_' : c;
}

static size_t fold(char to[NEAR_MAX], const char *word, size_t len)
{
	size_t n = len < NEAR_MAX ? len : NEAR_MAX;

	for (size_t i = 0; i < n; i++)
		to[i] = lower(word[i]);
	return n;
}

static unsigned least(unsigned a, unsigned b)
{
	return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that lead from a to b. */
static unsigned distance(const char *a, size_t n, const char *b, size_t m)
{
	unsigned rows[3][NEAR_MAX + 1];
	unsigned *before = rows[0], *last = rows[1], *row = rows[2];

	for (size_t j = 0; j <= m; j++)
		last[j] = (unsigned)j;
	for (size_t i = 1; i <= n; i++) {
		row[0] = (unsigned)i;
		for (size_t j = 1; j <= m; j++) {
			row[j] = least(least(last[j], row[j - 1]) + 1,
				       last[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], before[j - 2] + 1);
		}
		unsigned *oldest = before;
		before = last;
		last = row;
		row = oldest;
	}
	return last[m];
}

void near_init(struct near *n, const char *word, size_t len)
{
	*n = (struct near){ .distance = UINT_MAX };
	n->len = fold(n->word, word, len);
}

void near_try(struct near *n, const char *candidate)
{
	char folded[NEAR_MAX];
	size_t len = fold(folded, candidate, strlen(candidate));
	unsigned d = distance(n->word, n->len, folded, len);

	if (d <= len / 3 && d < n->distance) {
		n->distance = d;
		n->best = candidate;
	}
}

const char *near_best(const struct near *n)
{
	return n->best;
}

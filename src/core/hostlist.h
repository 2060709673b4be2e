/* core/hostlist.h: lists of nodes as the tools write them, "n[001-003,7],d07n04s[01-02]".
 *
 * A number keeps its own width: n[001-003,7] is n001 n002 n003 n7, and n[9-10] is n9 n10.  Several
 * groups of brackets in one word count like an odometer.  Written are ranges of the last number
 * only, which is what every reader understands.  Words are parted by commas or blanks.
 *
 * Lists come from outside: what would be more than HOSTLIST_MAX names is an error, found before
 * any memory is taken. */
#ifndef TALLY_CORE_HOSTLIST_H
#define TALLY_CORE_HOSTLIST_H

#include "base/arena.h"
#include "base/err.h"

#define HOSTLIST_MAX 1000000
#define HOSTLIST_GROUPS 8
#define HOST_NAME_SIZE 256

/* "", "None assigned", "(null)", "(unknown)": no nodes. */
bool hostlist_is_absent(const char *text);

/* Names in the order of the text, repeats kept. */
int hostlist_expand(const char *text, struct arena *arena, const char *const **ret, size_t *ret_n,
		    struct err *err);
int hostlist_count(const char *text, int64_t *ret, struct err *err);
/* Sorted, each once. */
int hostlist_compress(const char *const *names, size_t n, struct arena *arena, const char **ret,
		      struct err *err);

/* False also when the text is no list.  Neither takes memory nor expands. */
bool hostlist_contains(const char *text, const char *name);
/* Place in the expanded list, from 0; -1 when it is not in it. */
int64_t hostlist_find(const char *text, const char *name);

/* Walks without memory: hostlist_start, then hostlist_next until false; err (may be NULL) says
 * whether it stopped at something that is no list (its code is not ERR_OK). */
struct hostlist_walk {
	const char *rest; /* behind the word being walked */
	struct host_group {
		const char *literal; /* before the bracket; n bytes */
		size_t literal_len;
		const char *list, *at; /* behind '[', and behind the current range */
		int64_t now, last;
		int width;
	} group[HOSTLIST_GROUPS];
	int n_groups;
	const char *tail;
	size_t tail_len;
	bool in_word;
	char name[HOST_NAME_SIZE];
};

void hostlist_start(struct hostlist_walk *w, const char *text);
const char *hostlist_next(struct hostlist_walk *w, struct err *err);

/* A set of names to ask many times. */
struct hostset;
int hostset_new(const char *text, struct arena *arena, const struct hostset **ret,
		struct err *err);
bool hostset_has(const struct hostset *set, const char *name);
/* Is any node of the list in the set? */
bool hostset_meets(const struct hostset *set, const char *text);
/* The same without a set. */
bool hostlist_intersects(const char *a, const char *b);

#endif

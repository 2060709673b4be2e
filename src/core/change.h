/* core/change.h: what is to be changed of a row: the keys of an object, as an administrator says
 * them.
 *
 *	null, -1 or "-1"       takes the value away (no limit of its own)
 *	a value                sets it; a text where a number belongs is read strictly
 *	of TRES: only those named change; a count of -1 or null takes that one away
 *	of names: ["+a","-b"]  adds and takes away; without signs the list is set
 *
 * A number with something behind it ("10x") is refused by name, and nothing changes. */
#ifndef TALLY_CORE_CHANGE_H
#define TALLY_CORE_CHANGE_H

#include "core/entity.h"
#include "core/json.h"

enum change_how { CHANGE_KEEP, CHANGE_CLEAR, CHANGE_SET, CHANGE_EDIT };

struct change_value {
	enum change_how how;
	int64_t number;	  /* or, bits to add */
	int64_t less;	  /* EDIT: bits to take away */
	const char *text; /* or, a list of changes, or TRES to set */
	const char *drop; /* EDIT: TRES to take away, a list */
};

struct change {
	const struct entity *entity;
	struct change_value v[64 * HAS_WORDS]; /* by field */
};

void change_init(struct change *c, const struct entity *e);
/* Keys of its own that an object may have beside the fields: takes the value and returns 1, or 0
 * when the key is none of them, or -1. */
typedef int change_more(struct jscan *j, struct jtext key, void *arg);
/* Reads one object; failures are the scanner's.  Fields that tally keeps are passed over when
 * answer is true (a row sent back), else refused.  others: the further keys, for messages; both may
 * be NULL. */
int change_read(struct jscan *j, struct change *ret, bool answer, change_more *more, void *arg,
		const char *const *others);

static inline bool change_has(const struct change *c, size_t field)
{
	return c->v[field].how != CHANGE_KEEP;
}
/* Does it touch anything? */
bool change_any(const struct change *c);
/* Sets one as if it had been read. */
void change_set_text(struct change *c, size_t field, const char *text);
void change_set_number(struct change *c, size_t field, int64_t number);

/* The fields of the row that are columns.  A changed list of QOS of an association that has none of
 * its own becomes a list of changes of what comes from above. */
void change_apply(const struct change *c, void *row, struct arena *arena);

#endif

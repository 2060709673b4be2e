/* core/draft_json.h: rows to be added to the tree, from JSON.
 *
 * An object has the fields of its kind.  Beside them an account has "parent", "clusters" (by
 * default all; an empty list: none) and "association" (an object: its limits there); a user
 * "accounts", "clusters", "partitions", "wckeys" and "association"; a cluster "association" (of its
 * root).  Lists are arrays, or texts with commas; "cluster", "account", "partition" and "wckey"
 * serve for one. */
#ifndef TALLY_CORE_DRAFT_JSON_H
#define TALLY_CORE_DRAFT_JSON_H

#include "core/draft.h"

/* Failures are the scanner's.  answer: a row as GET gives it may be sent back: what tally keeps
 * itself is passed over. */
int draft_add_read(struct jscan *j, enum entity_kind kind, bool answer, struct draft_add *ret);

#endif

/* api/tree.h: what the handlers of the account tree share; inside this room only. */
#ifndef TALLY_API_TREE_H
#define TALLY_API_TREE_H

#include "api/args.h"
#include "api/request.h"
#include "core/entity.h"

/* The fields that are asked for as a mask of a kind's fields (HAS_WORDS words); none = all.
 * -1: INVALID naming the nearest. */
int row_fields(const struct texts *fields, enum entity_kind kind, uint64_t *ret_mask,
	       struct err *err);

/* The group of parameters that "where" of a kind's changes has. */
const struct param_group *where_group(enum entity_kind kind);

#endif

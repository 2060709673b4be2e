/* core/row_json.h: rows of core/entity.h as JSON. */
#ifndef TALLY_CORE_ROW_JSON_H
#define TALLY_CORE_ROW_JSON_H

#include "core/entity.h"
#include "core/record_json.h"

/* One object, no newline, a key for each field of the mask (style->keys; NULL = all); what is not
 * known is null. */
void row_encode_json(struct buf *out, const struct entity *e, const void *row,
		     const struct row_style *style);

#endif

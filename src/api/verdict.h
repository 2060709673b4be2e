/* api/verdict.h: verdicts as JSON. */
#ifndef TALLY_API_VERDICT_H
#define TALLY_API_VERDICT_H

#include "base/buf.h"
#include "core/record.h"

/* {"index":0,"verdict":"accepted"}; a refusal has field, reason and quarantine_id. */
void verdict_print(struct buf *out, size_t index, const struct verdict *v);
const char *verdict_name(enum verdict_kind kind);

#endif

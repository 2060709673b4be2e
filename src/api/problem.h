/* api/problem.h: errors as RFC 9457 problem documents. */
#ifndef TALLY_API_PROBLEM_H
#define TALLY_API_PROBLEM_H

#include "base/buf.h"
#include "base/err.h"

#define PROBLEM_TYPE "application/problem+json"

/* {"type","title","status","detail","field","hint","request"}; field and hint when there are any.
 */
void problem_print(const struct err *err, const char *request_id, struct buf *out);

#endif

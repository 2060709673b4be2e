/* api/metrics.h: what the door counts about itself, and the text that Prometheus reads. */
#ifndef TALLY_API_METRICS_H
#define TALLY_API_METRICS_H

#include "api/conn.h"
#include "auth/munge.h"
#include "base/buf.h"
#include "ops/ops.h"

struct metrics;

struct metrics *metrics_new(size_t n_routes);
void metrics_free(struct metrics *m); /* takes NULL */

/* route = index in routes, or n_routes for what matched none. */
void metrics_request(struct metrics *m, size_t route, unsigned status, int64_t us);
void metrics_cred(struct metrics *m, enum cred_kind kind);
void metrics_sent(struct metrics *m, size_t bytes);
void metrics_received(struct metrics *m, size_t bytes);

/* Everything in the text exposition format. */
void metrics_print(struct metrics *m, struct conns *conns, struct ops *ops, struct buf *out);

#endif

/* cli/sacct_query.h: what sacct_opts understood, as a request to /v1/jobs. */
#ifndef TALLY_CLI_SACCT_QUERY_H
#define TALLY_CLI_SACCT_QUERY_H

#include "base/buf.h"
#include "cli/client.h"
#include "cli/sacct_opts.h"

struct sacct_query {
	struct buf target, body;
	struct request rq; /* points into the two */
};

/* GET with a query string; what is too long for one (a long -j) is a POST to /v1/jobs/query. */
void sacct_query_make(const struct sacct_opts *o, struct sacct_query *ret);
void sacct_query_fini(struct sacct_query *q);
/* Steps must be asked for: they are shown, or a column of the job's line adds them up. */
bool sacct_wants_steps(const struct sacct_opts *o);

#endif

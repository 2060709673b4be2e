/* api/job.h: what the handlers of one job share. */
#ifndef TALLY_API_JOB_H
#define TALLY_API_JOB_H

#include "api/args.h"
#include "api/request.h"

/* Every run of the job that the address names, on these clusters (none = all). */
int job_filter_for_id(struct request *req, const struct texts *clusters, struct job_filter *f,
		      struct err *err);
int no_such_job(const struct request *req, struct err *err);

#endif

/* api/job.h: what the handlers of one job share. */
#ifndef TALLY_API_JOB_H
#define TALLY_API_JOB_H

#include "api/request.h"

/* Every run of the job that the address names, with the parameters of group JOB. */
int job_filter_for_id(struct request *req, struct job_filter *f, struct err *err);

#endif

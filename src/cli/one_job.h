/* cli/one_job.h: the answer of GET /v1/jobs/{id}: what `tally why` and `tally seff` are about. */
#ifndef TALLY_CLI_ONE_JOB_H
#define TALLY_CLI_ONE_JOB_H

#include "cli/cli.h"
#include "core/job.h"

/* Gets each job that the id stands for (an array: all of its tasks), its newest run. */
typedef void one_job_sink(const struct job *j, const struct step *steps, size_t n_steps, void *arg);

struct one_job {
	const char *command; /* "tally seff", for messages */
	const char *cluster; /* NULL = every one */
	bool steps;
	one_job_sink *sink;
	void *arg;
};

/* Asks for each id.  The exit status: 1 when one of them could not be had. */
int one_job_each(const struct one_job *q, const struct cli *cli, int n, char **ids);

#endif

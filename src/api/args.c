#include "api/args.h"

static void init_jobs(void *p)
{
	struct jobs_args *args = p;

	job_filter_init(&args->filter);
	args->limit = -1;
}

static void init_job(void *p)
{
	struct job_args *args = p;

	args->steps = true;
}

static void init_quarantine(void *p)
{
	struct quarantine_args *args = p;

	args->limit = 100;
}

/* params.def once per group: only that group's rows are expanded. */
#define P(group, name, type, member, doc) ROW_##group(name, type, member, doc)
#define ROW(args, name, type, member, doc)                                                         \
	{ name, &param_##type, offsetof(struct args, member), doc },

#define ROW_JOBS(...) ROW(jobs_args, __VA_ARGS__)
#define ROW_JOB(...)
#define ROW_QUARANTINE(...)
static const struct param jobs[] = {
#include "api/params.def"
};
#undef ROW_JOBS
#undef ROW_JOB
#define ROW_JOBS(...)
#define ROW_JOB(...) ROW(job_args, __VA_ARGS__)
static const struct param job[] = {
#include "api/params.def"
};
#undef ROW_JOB
#undef ROW_QUARANTINE
#define ROW_JOB(...)
#define ROW_QUARANTINE(...) ROW(quarantine_args, __VA_ARGS__)
static const struct param quarantine[] = {
#include "api/params.def"
};

const struct param_group params_NONE = { NULL, 0, 1, NULL };
const struct param_group params_JOBS = { jobs, ARRAY_LEN(jobs), sizeof(struct jobs_args),
					 init_jobs };
const struct param_group params_JOB = { job, ARRAY_LEN(job), sizeof(struct job_args), init_job };
const struct param_group params_QUARANTINE = { quarantine, ARRAY_LEN(quarantine),
					       sizeof(struct quarantine_args), init_quarantine };

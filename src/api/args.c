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

static void init_usage(void *p)
{
	struct usage_args *args = p;

	args->query.from = args->query.to = TIME_UNSET;
}

void key_list_add(struct key_list *list, int key)
{
	if (has_bit(list->mask, (size_t)key))
		return;
	has_set(list->mask, (size_t)key);
	list->keys[list->n++] = key;
}

/* Every row of params.def with its group; a group's rows stand together, so each is a range. */
enum group { GROUP_JOBS, GROUP_JOB, GROUP_WHY, GROUP_NOTE, GROUP_QUARANTINE, GROUP_USAGE };
#define ARGS_JOBS	struct jobs_args
#define ARGS_JOB	struct job_args
#define ARGS_WHY	struct why_args
#define ARGS_NOTE	struct note_args
#define ARGS_QUARANTINE struct quarantine_args
#define ARGS_USAGE	struct usage_args

static const struct param rows[] = {
#define P(group, name, type, member, doc)                                                          \
	{ name, &param_##type, offsetof(ARGS_##group, member), doc },
#include "api/params.def"
#undef P
};

/* How many rows there are of each group, and before it. */
#define P(group, name, type, member, doc) +(GROUP_##group == WANTED)
enum {
#define WANTED GROUP_JOBS
	N_JOBS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_JOB
	N_JOB = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_WHY
	N_WHY = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_NOTE
	N_NOTE = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_QUARANTINE
	N_QUARANTINE = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_USAGE
	N_USAGE = 0
#include "api/params.def"
#undef WANTED
};
#undef P
_Static_assert(N_JOBS + N_JOB + N_WHY + N_NOTE + N_QUARANTINE + N_USAGE == ARRAY_LEN(rows),
	       "every group");

#define GROUP(name, before, init)                                                                  \
	const struct param_group params_##name = { rows + (before), N_##name, sizeof(ARGS_##name), \
						   init }
const struct param_group params_NONE = { NULL, 0, 1, NULL };
GROUP(JOBS, 0, init_jobs);
GROUP(JOB, N_JOBS, init_job);
GROUP(WHY, N_JOBS + N_JOB, NULL);
GROUP(NOTE, N_JOBS + N_JOB + N_WHY, NULL);
GROUP(QUARANTINE, N_JOBS + N_JOB + N_WHY + N_NOTE, init_quarantine);
GROUP(USAGE, N_JOBS + N_JOB + N_WHY + N_NOTE + N_QUARANTINE, init_usage);

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

static void init_tree(void *p)
{
	struct tree_args *args = p;

	args->inherited = true;
}

static void init_list(void *p)
{
	struct list_args *args = p;

	args->q.start = INT64_MIN;
	args->q.end = INT64_MAX;
	args->q.after = INT64_MIN;
	args->q.limit = -1;
}

void key_list_add(struct key_list *list, int key)
{
	if (has_bit(list->mask, (size_t)key))
		return;
	has_set(list->mask, (size_t)key);
	list->keys[list->n++] = key;
}

/* Every row of params.def with its group; a group's rows stand together, so each is a range. */
enum group {
	GROUP_JOBS,
	GROUP_JOB,
	GROUP_WHY,
	GROUP_NOTE,
	GROUP_QUARANTINE,
	GROUP_USAGE,
	GROUP_CHANGE,
	GROUP_CLUSTERS,
	GROUP_ACCOUNTS,
	GROUP_USERS,
	GROUP_ASSOCS,
	GROUP_QOS,
	GROUP_WCKEYS,
	GROUP_COORDS,
	GROUP_TRES,
	GROUP_RESERVATIONS,
	GROUP_EVENTS,
	GROUP_TXNS,
};
#define ARGS_JOBS	struct jobs_args
#define ARGS_JOB	struct job_args
#define ARGS_WHY	struct why_args
#define ARGS_NOTE	struct note_args
#define ARGS_QUARANTINE struct quarantine_args
#define ARGS_CHANGE struct tree_args
#define ARGS_CLUSTERS struct tree_args
#define ARGS_ACCOUNTS struct tree_args
#define ARGS_USERS struct tree_args
#define ARGS_ASSOCS struct tree_args
#define ARGS_QOS struct tree_args
#define ARGS_WCKEYS struct tree_args
#define ARGS_COORDS struct tree_args
#define ARGS_TRES struct list_args
#define ARGS_RESERVATIONS struct list_args
#define ARGS_EVENTS struct list_args
#define ARGS_TXNS struct list_args
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
	,
#undef WANTED
#define WANTED GROUP_CHANGE
	N_CHANGE = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_CLUSTERS
	N_CLUSTERS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_ACCOUNTS
	N_ACCOUNTS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_USERS
	N_USERS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_ASSOCS
	N_ASSOCS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_QOS
	N_QOS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_WCKEYS
	N_WCKEYS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_COORDS
	N_COORDS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_TRES
	N_TRES = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_RESERVATIONS
	N_RESERVATIONS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_EVENTS
	N_EVENTS = 0
#include "api/params.def"
	,
#undef WANTED
#define WANTED GROUP_TXNS
	N_TXNS = 0
#include "api/params.def"
#undef WANTED
};
#undef P

/* Where each group's rows begin. */
enum {
	AT_JOBS = 0,
	AT_JOB = AT_JOBS + N_JOBS,
	AT_WHY = AT_JOB + N_JOB,
	AT_NOTE = AT_WHY + N_WHY,
	AT_QUARANTINE = AT_NOTE + N_NOTE,
	AT_USAGE = AT_QUARANTINE + N_QUARANTINE,
	AT_CHANGE = AT_USAGE + N_USAGE,
	AT_CLUSTERS = AT_CHANGE + N_CHANGE,
	AT_ACCOUNTS = AT_CLUSTERS + N_CLUSTERS,
	AT_USERS = AT_ACCOUNTS + N_ACCOUNTS,
	AT_ASSOCS = AT_USERS + N_USERS,
	AT_QOS = AT_ASSOCS + N_ASSOCS,
	AT_WCKEYS = AT_QOS + N_QOS,
	AT_COORDS = AT_WCKEYS + N_WCKEYS,
	AT_TRES = AT_COORDS + N_COORDS,
	AT_RESERVATIONS = AT_TRES + N_TRES,
	AT_EVENTS = AT_RESERVATIONS + N_RESERVATIONS,
	AT_TXNS = AT_EVENTS + N_EVENTS,
	AT_END = AT_TXNS + N_TXNS
};
_Static_assert(AT_END == ARRAY_LEN(rows), "every group");

#define GROUP(name, init)                                                                          \
	const struct param_group params_##name = { rows + AT_##name, N_##name,                     \
						   sizeof(ARGS_##name), init }
const struct param_group params_NONE = { NULL, 0, 1, NULL };
GROUP(JOBS, init_jobs);
GROUP(JOB, init_job);
GROUP(WHY, NULL);
GROUP(NOTE, NULL);
GROUP(QUARANTINE, init_quarantine);
GROUP(USAGE, init_usage);
GROUP(CHANGE, init_tree);
GROUP(CLUSTERS, init_tree);
GROUP(ACCOUNTS, init_tree);
GROUP(USERS, init_tree);
GROUP(ASSOCS, init_tree);
GROUP(QOS, init_tree);
GROUP(WCKEYS, init_tree);
GROUP(COORDS, init_tree);
GROUP(TRES, init_list);
GROUP(RESERVATIONS, init_list);
GROUP(EVENTS, init_list);
GROUP(TXNS, init_list);

/* api/args.h: what the parameters of params.def fill, a struct per group. */
#ifndef TALLY_API_ARGS_H
#define TALLY_API_ARGS_H

#include "api/param.h"
#include "core/filter.h"
#include "core/record_json.h"
#include "ops/tree.h"
#include "ops/usage.h"

enum answer_format { FORMAT_UNSAID, FORMAT_JSON, FORMAT_NDJSON, FORMAT_CSV };

/* Keys of job_key or step_key in the order they were asked for. */
struct key_list {
	int keys[64 * HAS_WORDS];
	size_t n; /* 0 = every key */
	uint64_t mask[HAS_WORDS];
};

struct sort_order {
	bool given;
	int key; /* of job_key */
	bool descending;
};

/* How rows are written; the common part of both groups. */
struct row_args {
	struct key_list fields;
	struct key_list step_fields;
	bool epoch;
	const struct zone *zone;
};

struct jobs_args {
	struct job_filter filter;
	struct row_args rows;
	struct sort_order sort;
	int64_t limit; /* -1 = all */
	const char *after;
	enum answer_format format;
};

struct job_args {
	struct texts clusters;
	struct row_args rows;
	bool steps;
};

struct why_args {
	struct texts clusters;
	bool epoch;
};

struct note_args {
	struct texts clusters;
};

struct quarantine_args {
	int64_t limit;
	int64_t after; /* id */
	bool all;      /* replayed ones too */
};

struct usage_args {
	struct usage_query query; /* from and to: TIME_UNSET until they are filled in */
	const struct zone *zone;
	struct texts group;
	struct texts tres;
	bool epoch;
};

/* Of the account tree: which rows, and how they are written. */
struct tree_args {
	struct tree_where where;
	bool inherited; /* associations */
	struct texts fields;
	bool epoch;
	bool dry_run;
};

struct list_args {
	struct list_question q;
	struct texts fields;
	bool epoch;
};

/* Adds a key that is not in it. */
void key_list_add(struct key_list *list, int key);

extern const struct param_group params_NONE, params_JOBS, params_JOB, params_WHY, params_NOTE,
	params_QUARANTINE, params_USAGE, params_CHANGE, params_CLUSTERS, params_ACCOUNTS,
	params_USERS, params_ASSOCS, params_QOS, params_WCKEYS, params_COORDS, params_TRES,
	params_RESERVATIONS, params_EVENTS, params_TXNS;

#endif

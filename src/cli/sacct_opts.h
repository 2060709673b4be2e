/* cli/sacct_opts.h: sacct's command line and environment, understood: which jobs are asked for
 * (as parameters of the API) and how they are to be shown.  No daemon is asked here. */
#ifndef TALLY_CLI_SACCT_OPTS_H
#define TALLY_CLI_SACCT_OPTS_H

#include "base/arena.h"
#include "cli/options.h"
#include "cli/sacct_format.h"

enum sacct_action { SACCT_LIST, SACCT_HELP, SACCT_HELPFORMAT, SACCT_VERSION };

struct sacct_condition {
	const char *name, *value; /* of the API */
};

struct sacct_opts {
	struct arena *arena;
	enum sacct_action action;
	struct sacct_condition *conditions; /* of a list parameter any number, else one */
	size_t n_conditions, cap_conditions;
	/* the window */
	int64_t start, end; /* TIME_UNSET when not given */
	bool jobs_given, states_given;
	/* whom and what */
	bool users_given, all_users, clusters_given, all_clusters;
	bool allocations, duplicates, truncate, array;
	/* how */
	struct buf format; /* comma list; empty = default */
	struct sacct_columns columns;
	enum table_form form;
	const char *delimiter;
	bool no_header, json, verbose, ignored;
	struct sacct_style style;
};

extern const struct option_set sacct_options;

/* Who asks, when and where. */
struct sacct_asker {
	int64_t now;
	const struct zone *zone;
	unsigned uid; /* whose jobs are the default; root's are everybody's */
};

/* 0; -1 with err; 1 when getopt has already said what is wrong. */
int sacct_opts_parse(int argc, char **argv, const struct sacct_asker *who, struct arena *arena,
		     struct sacct_opts *ret, struct err *err);
void sacct_opts_fini(struct sacct_opts *o);

/* The window's ends, those that were not given resolved; -1 in sacct's words when the end comes
 * first. */
int sacct_window(const struct sacct_opts *o, int64_t *ret_start, int64_t *ret_end, struct err *err);

#endif

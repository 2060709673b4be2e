/* core/filter.h: which jobs a question is about; every condition of sacct and of the slurmdbd
 * job condition in one struct, whichever door asked.
 *
 * Lists: OR inside, AND between; an empty list is no condition.  Texts match exactly.  Two lists
 * that name the same thing twice (users and uids, groups and gids, reservations and their ids) are
 * one condition.  What a row does not know matches nothing that is asked of it. */
#ifndef TALLY_CORE_FILTER_H
#define TALLY_CORE_FILTER_H

#include "base/arena.h"
#include "base/err.h"
#include "core/hostlist.h"
#include "core/job.h"

struct texts {
	const char **v;
	size_t n;
};

struct numbers {
	int64_t *v;
	size_t n;
};

/* One item of -j: 12, 12_3, 12_[1-4], 12+1, 12.batch, 12_3.0, 12+1.0 */
struct job_selection {
	int64_t job_id;
	int64_t array_task; /* -1 = none said */
	int64_t het_offset; /* -1 = none said */
	int64_t step_id;    /* STEP_ID_*, >= 0, or STEP_ANY */
};
#define STEP_ANY INT64_MIN

enum het_choice { HET_DEFAULT, HET_WHOLE, HET_NOT_WHOLE };

#define TIME_UNSET INT64_MIN

struct job_filter {
	struct texts clusters;
	struct job_selection *jobs;
	size_t n_jobs;
	enum het_choice het;
	struct texts users;
	struct numbers uids;
	struct texts groups;
	struct numbers gids;
	struct texts accounts; /* exact; `subtree` takes the accounts below too (ops resolves it) */
	bool subtree;
	struct numbers assoc_ids;
	struct texts partitions;
	struct texts qos;
	struct texts wckeys; /* matches with or without the leading * */
	struct texts names;
	struct texts reasons;
	struct texts reservations;
	struct numbers reservation_ids;
	struct texts constraints; /* AND: each must be contained */
	const char *nodes;        /* hostlist: ran on any of them */
	const struct hostset *node_set; /* made of it by job_filter_prepare */
	struct numbers states;
	/* -1 = unset; min alone = equal, max alone = at most */
	int64_t cpus_min, cpus_max;   /* allocated */
	int64_t nodes_min, nodes_max; /* allocated */
	int64_t limit_min, limit_max; /* minutes */
	int64_t flags_any;            /* FT_WORDS bits of job flags; 0 = unset */
	int64_t start, end;           /* the window; TIME_UNSET until filter_window */
	bool submit_window;           /* the window is about submission instead */
	bool duplicates;              /* -D */
	bool truncate;                /* -T */
	bool with_steps;
	/* What the caller may see (ops fills it in): NULL texts = everything. */
	bool restrict_to_own;
	const char *own_user;
	int64_t own_uid;
	struct texts own_accounts; /* coordinated, subtree resolved */
};

void job_filter_init(struct job_filter *f);

/* sacct's defaults for what was not given (data/windows: all 513 rows follow from it):
 * start = given, else 0 with jobs, else now with states, else last midnight in zone; end = given,
 * else start if states and start were given, else start if states without jobs, else now.
 * `midnight` is the last one in the caller's zone.  end before start: -1, err names both. */
int filter_window(struct job_filter *f, int64_t now, int64_t midnight, struct err *err);

/* Checks what needs checking before the filter is asked (nodes); after filling it in, once. */
int job_filter_prepare(struct job_filter *f, struct arena *arena, struct err *err);

/* Is the job in the window, by the state rules if states are given?  The exact rule in C, also
 * what the SQL must agree with. `now` for jobs that have not ended.
 *
 * The window is [S, E), E being filter_end_open's: one second more than what was asked when that is
 * S or now.  A job's end is end_at; of a row in a final state without one, its start, else its
 * submission; else it has not ended.  Started is what job_start_shown says.
 *   no states, no jobs:  visible_from < E and not ended before S
 *   no states, jobs:     submit < E and not ended before S
 *   PENDING:    visible_from < E and S < its start; never started: S < its end; not ended: PENDING
 *   RUNNING:    start < E and S < its end; not ended: RUNNING or SUSPENDED now
 *   SUSPENDED:  a suspension that begins <= E and ends >= S
 *   any other:  that state, S <= its end <= E
 *   S = E = 0 (both given): that state now
 *   submit_window: S <= submit < E; with states, that state now
 *
 * These are slurmdbd's rules as found on a live one (semantics 3), to the equal sign, but for one:
 * there RUNNING misses a job that ran in the window and is suspended now, which is not what the
 * manual says (all that were running in it). */
bool filter_in_window(const struct job_filter *f, const struct job *j, int64_t now);
int64_t filter_end_open(const struct job_filter *f, int64_t now);
/* Every condition, the window included. */
bool filter_matches(const struct job_filter *f, const struct job *j, int64_t now);
/* Of a job that matches: is this step asked for?  Started <= E, not ended before S; where only
 * steps of the job were selected, one of them; none when PENDING is the only state asked for. */
bool filter_wants_step(const struct job_filter *f, const struct job *j, const struct step *s,
		       int64_t now);

/* Parses one item or a comma list of -j.  A list of tasks becomes an item per task, at most
 * SELECTIONS_MAX in all; a throttle ("12_[1-9%2]") is taken and means nothing. */
#define SELECTIONS_MAX 100000
int job_selection_parse(const char *text, struct arena *arena, struct job_selection **ret_items,
			size_t *ret_n, struct err *err);
/* A number alone means the job, every task of that array, and, unless HET_NOT_WHOLE, every
 * component of the heterogeneous job it leads.  A task matches the row that stands for tasks not
 * yet started while the task is among them.  HET_WHOLE: a component's number means the whole job
 * too; a row does not say which numbers its siblings have, so whoever has the rows first looks
 * up the leader of each number and adds it to the list. */
bool job_selection_matches(const struct job_selection *s, const struct job *j,
			   enum het_choice het);

#endif

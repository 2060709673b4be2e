#include "core/filter.h"

#include "core/moments.h"
#include "core/state.h"
#include "core/timespec.h"
#include "core/tres.h"

void job_filter_init(struct job_filter *f)
{
	*f = (struct job_filter){
		.cpus_min = -1,
		.cpus_max = -1,
		.nodes_min = -1,
		.nodes_max = -1,
		.limit_min = -1,
		.limit_max = -1,
		.start = TIME_UNSET,
		.end = TIME_UNSET,
	};
}

int job_filter_prepare(struct job_filter *f, struct arena *arena, struct err *err)
{
	if (f->nodes == NULL)
		return 0;
	return hostset_new(f->nodes, arena, &f->node_set, err);
}

int filter_window(struct job_filter *f, int64_t now, int64_t midnight, struct err *err)
{
	bool start_given = f->start != TIME_UNSET, jobs = f->n_jobs > 0, states = f->states.n > 0;
	char start[TIME_TEXT_SIZE], end[TIME_TEXT_SIZE];

	if (!start_given)
		f->start = jobs ? 0 : states ? now : midnight;
	if (f->end == TIME_UNSET)
		f->end = states && (start_given || !jobs) ? f->start : now;
	if (f->end >= f->start)
		return 0;
	time_format_iso(f->start, start);
	time_format_iso(f->end, end);
	return err_set(err, ERR_INVALID, "window", "the start, %s, is after the end, %s", start,
		       end);
}

/* --- the window --- */

int64_t filter_end_open(const struct job_filter *f, int64_t now)
{
	return f->end + (f->end == f->start || f->end == now);
}

struct window {
	int64_t start, end; /* [start, end) */
	bool at_all;	    /* both 0: whenever */
};

static struct window window_of(const struct job_filter *f, int64_t now)
{
	return (struct window){ f->start, filter_end_open(f, now), f->start == 0 && f->end == 0 };
}

static bool life_end(const struct job *j, int64_t *ret_end)
{
	if (!job_has(j, end_at) && !(job_has(j, state) && state_is_end(j->state)))
		return false;
	*ret_end = job_has(j, end_at) ? j->end_at : job_get(j, start_at, j->submit_at);
	return true;
}

static bool ended_before(const struct job *j, int64_t t)
{
	int64_t end;

	return life_end(j, &end) && end < t;
}

static bool shows_state(const struct job *j, int64_t state)
{
	return job_has(j, state) && job_state_shown(j) == state;
}

static bool waited_in(const struct job *j, struct window w)
{
	int64_t until;

	if (!job_has(j, visible_from) || j->visible_from >= w.end)
		return false;
	if (job_start_shown(j, &until) || life_end(j, &until))
		return w.start < until;
	return shows_state(j, STATE_PENDING);
}

static bool ran_in(const struct job *j, struct window w)
{
	int64_t start, end;

	if (!job_start_shown(j, &start) || start >= w.end)
		return false;
	if (life_end(j, &end))
		return w.start < end;
	return shows_state(j, STATE_RUNNING) || shows_state(j, STATE_SUSPENDED);
}

static bool suspended_in(const struct job *j, struct window w)
{
	int64_t from, to, end = INT64_MAX;

	life_end(j, &end);
	if (!job_has(j, moments)) /* nobody said since when */
		return end == INT64_MAX && shows_state(j, STATE_SUSPENDED);
	for (const char *at = j->moments; moments_next_span(&at, &from, &to);)
		if (from <= w.end && from <= end && (to < end ? to : end) >= w.start)
			return true;
	return false;
}

static bool ended_in(const struct job *j, int64_t state, struct window w)
{
	int64_t end;

	return job_has(j, state) && j->state == state && life_end(j, &end) && w.start <= end &&
	       end <= w.end;
}

static bool state_in(const struct job *j, int64_t state, struct window w)
{
	if (w.at_all)
		return shows_state(j, state);
	switch (state) {
	case STATE_PENDING: return waited_in(j, w);
	case STATE_RUNNING: return ran_in(j, w);
	case STATE_SUSPENDED: return suspended_in(j, w);
	default: return ended_in(j, state, w);
	}
}

bool filter_in_window(const struct job_filter *f, const struct job *j, int64_t now)
{
	struct window w = window_of(f, now);

	if (f->submit_window) {
		if (j->submit_at < w.start || j->submit_at >= w.end)
			return false;
		w.at_all = true;
	}
	for (size_t i = 0; i < f->states.n; i++)
		if (state_in(j, f->states.v[i], w))
			return true;
	if (f->states.n > 0 || f->submit_window)
		return f->states.n == 0;
	if (f->n_jobs == 0 && !job_has(j, visible_from))
		return false;
	int64_t from = f->n_jobs > 0 ? j->submit_at : j->visible_from;
	return from < w.end && !ended_before(j, w.start);
}

/* --- the other conditions --- */

static bool text_in(const struct texts *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], text) == 0)
			return true;
	return false;
}

static bool number_in(const struct numbers *list, int64_t v)
{
	for (size_t i = 0; i < list->n; i++)
		if (list->v[i] == v)
			return true;
	return false;
}

#define HAS_TEXT(f, j, list, field) \
	((f)->list.n == 0 || (job_has(j, field) && text_in(&(f)->list, (j)->field)))
#define HAS_NUMBER(f, j, list, field) \
	((f)->list.n == 0 || (job_has(j, field) && number_in(&(f)->list, (j)->field)))
/* A thing that may be asked for by name and by number. */
#define HAS_EITHER(f, j, texts, text, numbers, number)                    \
	(((f)->texts.n == 0 && (f)->numbers.n == 0) ||                    \
	 (job_has(j, text) && text_in(&(f)->texts, (j)->text)) ||         \
	 (job_has(j, number) && number_in(&(f)->numbers, (j)->number)))

static const char *without_star(const char *wckey)
{
	return *wckey == '*' ? wckey + 1 : wckey;
}

static bool has_wckey(const struct job_filter *f, const struct job *j)
{
	for (size_t i = 0; i < f->wckeys.n && job_has(j, wckey); i++)
		if (strcmp(without_star(f->wckeys.v[i]), without_star(j->wckey)) == 0)
			return true;
	return f->wckeys.n == 0;
}

static bool has_constraints(const struct job_filter *f, const struct job *j)
{
	for (size_t i = 0; i < f->constraints.n; i++)
		if (!job_has(j, constraints) || strstr(j->constraints, f->constraints.v[i]) == NULL)
			return false;
	return true;
}

static bool has_nodes(const struct job_filter *f, const struct job *j)
{
	if (f->nodes == NULL)
		return true;
	if (!job_has(j, nodes))
		return false;
	return f->node_set != NULL ? hostset_meets(f->node_set, j->nodes)
				   : hostlist_intersects(j->nodes, f->nodes);
}

static bool within(int64_t min, int64_t max, bool known, int64_t v)
{
	if (min < 0 && max < 0)
		return true;
	return known && (max < 0 ? v == min : v >= (min < 0 ? 0 : min) && v <= max);
}

static bool has_size(const struct job_filter *f, const struct job *j)
{
	int64_t cpus = 0;
	bool known = job_has(j, tres_alloc) && tres_get(j->tres_alloc, "cpu", &cpus);

	return within(f->cpus_min, f->cpus_max, known, cpus) &&
	       within(f->nodes_min, f->nodes_max, job_has(j, alloc_nodes), j->alloc_nodes) &&
	       within(f->limit_min, f->limit_max, job_has(j, timelimit), j->timelimit);
}

static bool is_selected(const struct job_filter *f, const struct job *j)
{
	for (size_t i = 0; i < f->n_jobs; i++)
		if (job_selection_matches(&f->jobs[i], j, f->het))
			return true;
	return f->n_jobs == 0;
}

static bool may_be_seen(const struct job_filter *f, const struct job *j)
{
	if (!f->restrict_to_own)
		return true;
	return (f->own_user != NULL && job_has(j, user_name) &&
		strcmp(f->own_user, j->user_name) == 0) ||
	       (job_has(j, uid) && j->uid == f->own_uid) ||
	       (job_has(j, account) && text_in(&f->own_accounts, j->account));
}

bool filter_matches(const struct job_filter *f, const struct job *j, int64_t now)
{
	return HAS_TEXT(f, j, clusters, cluster) && is_selected(f, j) && may_be_seen(f, j) &&
	       HAS_EITHER(f, j, users, user_name, uids, uid) &&
	       HAS_EITHER(f, j, groups, group_name, gids, gid) &&
	       HAS_EITHER(f, j, reservations, reservation, reservation_ids, reservation_id) &&
	       HAS_TEXT(f, j, accounts, account) && HAS_NUMBER(f, j, assoc_ids, assoc_id) &&
	       HAS_TEXT(f, j, partitions, partition) && HAS_TEXT(f, j, qos, qos) &&
	       HAS_TEXT(f, j, names, name) && HAS_TEXT(f, j, reasons, reason) && has_wckey(f, j) &&
	       has_constraints(f, j) && has_size(f, j) &&
	       (f->flags_any == 0 || (job_get(j, flags, 0) & f->flags_any) != 0) &&
	       has_nodes(f, j) && filter_in_window(f, j, now);
}

static bool step_is_selected(const struct job_filter *f, const struct job *j, int64_t step_id)
{
	for (size_t i = 0; i < f->n_jobs; i++)
		if ((f->jobs[i].step_id == STEP_ANY || f->jobs[i].step_id == step_id) &&
		    job_selection_matches(&f->jobs[i], j, f->het))
			return true;
	return f->n_jobs == 0;
}

bool filter_wants_step(const struct job_filter *f, const struct job *j, const struct step *s,
		       int64_t now)
{
	struct window w = window_of(f, now);
	int64_t end = INT64_MAX;

	if (f->states.n == 1 && f->states.v[0] == STATE_PENDING)
		return false;
	if (step_has(s, end_at))
		end = s->end_at;
	else
		life_end(j, &end); /* an open step of an ended job ended with it */
	return step_is_selected(f, j, s->step_id) &&
	       (w.at_all || f->submit_window ||
		((!step_has(s, start_at) || s->start_at <= w.end) && end >= w.start));
}

#include "store/job_where.h"

#include "base/num.h"
#include "core/state.h"
#include "store/sqltext.h"

/* ---- lists */

#define NONE (-1)

/* Lists that hold a field's exact values; where there are two, either will do. */
static const struct list {
	size_t texts;
	int text_field;
	size_t numbers;
	int number_field;
} lists[] = {
#define T(member) offsetof(struct job_filter, member)
	{ T(clusters), JOB_cluster, 0, NONE },
	{ T(users), JOB_user_name, T(uids), JOB_uid },
	{ T(groups), JOB_group_name, T(gids), JOB_gid },
	{ T(accounts), JOB_account, 0, NONE },
	{ 0, NONE, T(assoc_ids), JOB_assoc_id },
	{ T(partitions), JOB_partition, 0, NONE },
	{ T(qos), JOB_qos, 0, NONE },
	{ T(names), JOB_name, 0, NONE },
	{ T(reasons), JOB_reason, 0, NONE },
	{ T(reservations), JOB_reservation, T(reservation_ids), JOB_reservation_id },
#undef T
};

static const struct texts *texts_of(const struct job_filter *f, const struct list *l)
{
	static const struct texts none;

	return l->text_field == NONE
		       ? &none
		       : (const struct texts *)(const void *)((const char *)f + l->texts);
}

static const struct numbers *numbers_of(const struct job_filter *f, const struct list *l)
{
	static const struct numbers none;

	return l->number_field == NONE
		       ? &none
		       : (const struct numbers *)(const void *)((const char *)f + l->numbers);
}

static void any_text(struct buf *sql, int field, const struct texts *t)
{
	buf_printf(sql, "j.\"%s\" = ANY (", job_fields[field].name);
	sql_texts(sql, t->v, t->n);
	buf_addc(sql, ')');
}

static void any_number(struct buf *sql, int field, const struct numbers *v)
{
	buf_printf(sql, "j.\"%s\" = ANY (", job_fields[field].name);
	sql_numbers(sql, v->v, v->n);
	buf_addc(sql, ')');
}

static void where_list(struct buf *sql, const struct job_filter *f, const struct list *l)
{
	const struct texts *texts = texts_of(f, l);
	const struct numbers *numbers = numbers_of(f, l);

	if (texts->n == 0 && numbers->n == 0)
		return;
	buf_adds(sql, " AND (");
	if (texts->n > 0)
		any_text(sql, l->text_field, texts);
	if (texts->n > 0 && numbers->n > 0)
		buf_adds(sql, " OR ");
	if (numbers->n > 0)
		any_number(sql, l->number_field, numbers);
	buf_addc(sql, ')');
}

static void where_own(struct buf *sql, const struct job_filter *f)
{
	if (!f->restrict_to_own)
		return;
	buf_printf(sql, " AND (j.uid = %" PRId64, f->own_uid);
	if (f->own_user != NULL) {
		buf_adds(sql, " OR j.user_name = ");
		sql_text(sql, f->own_user);
	}
	if (f->own_accounts.n > 0) {
		buf_adds(sql, " OR ");
		any_text(sql, JOB_account, &f->own_accounts);
	}
	buf_addc(sql, ')');
}

void where_lists(struct buf *sql, const struct job_filter *f)
{
	for (size_t i = 0; i < ARRAY_LEN(lists); i++)
		where_list(sql, f, &lists[i]);
	where_own(sql, f);
}

void where_ids(struct buf *sql, const int64_t *ids, size_t n)
{
	static const int fields[] = { JOB_job_id, JOB_array_job_id, JOB_het_job_id };
	int64_t only = n == 1 ? ids[0] : 0;

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		buf_printf(sql, i == 0 ? " AND (j.\"%s\"" : " OR j.\"%s\"",
			   job_fields[fields[i]].name);
		if (n == 1) {
			buf_printf(sql, " = %" PRId64, only);
		} else {
			buf_adds(sql, " = ANY (");
			sql_numbers(sql, ids, n);
			buf_addc(sql, ')');
		}
	}
	buf_addc(sql, ')');
}

/* ---- windows */

/* From when on a job can be seen at all: the first column of the window index. */
#define SEEN "least(j.visible_from, j.start_at, j.end_at)"

/* The rules of filter_in_window, sorted by what SQL must look at. */
struct shape {
	bool at_all;	/* whenever: only states count */
	bool touching;	/* lives that touch the window: no states, PENDING, RUNNING, SUSPENDED */
	bool suspended; /* suspensions stand in moments, and may be older than anything else */
	bool ended;	/* states with an end in the window */
	int64_t start, end; /* both inside */
};

static struct shape shape_of(const struct job_filter *f, int64_t now)
{
	struct shape s = {
		.at_all = f->submit_window || (f->start == 0 && f->end == 0),
		.touching = f->states.n == 0,
		.start = f->start,
		.end = filter_end_open(f, now),
	};

	for (size_t i = 0; i < f->states.n; i++) {
		if (state_is_end(f->states.v[i]))
			s.ended = true;
		else
			s.touching = true;
		if (f->states.v[i] == STATE_SUSPENDED)
			s.suspended = true;
	}
	return s;
}

bool where_meets_leaf(const struct job_filter *f, int64_t now, const struct leaf *leaf)
{
	struct shape s = shape_of(f, now);

	/* Jobs without an end may be in a final state all the same, and have ended when they were
	 * submitted; suspensions may be of any time. */
	if (s.at_all || s.suspended || (s.ended && leaf->open_jobs > 0))
		return true;
	return leaf->least_visible <= s.end &&
	       (leaf->greatest_end >= s.start || leaf->open_jobs > 0);
}

/* Which of RUNNING and SUSPENDED is shown is for the suspensions to say, not for the stored state.
 */
static void where_states(struct buf *sql, const struct job_filter *f, bool ended_only)
{
	bool first = true;

	buf_adds(sql, "j.state IN (");
	for (size_t i = 0; i < f->states.n; i++) {
		int64_t state = f->states.v[i];

		if (ended_only && !state_is_end(state))
			continue;
		buf_printf(sql, "%s%" PRId64, first ? "" : ", ", state);
		if (state == STATE_RUNNING || state == STATE_SUSPENDED)
			buf_printf(sql, ", %d, %d", STATE_RUNNING, STATE_SUSPENDED);
		first = false;
	}
	buf_addc(sql, ')');
}

static void where_submitted(struct buf *sql, const struct job_filter *f, const struct shape *s)
{
	if (f->submit_window)
		buf_printf(sql, " AND j.submit_at >= %" PRId64 " AND j.submit_at <= %" PRId64,
			   s->start, s->end);
	if (f->states.n > 0) {
		buf_adds(sql, " AND ");
		where_states(sql, f, false);
	}
}

/* Jobs that have ended.  No life there is longer than max_life_s, so the first column of the index
 * has two bounds. */
static void where_closed(struct buf *sql, const struct job_filter *f, const struct shape *s,
			 const struct leaf *leaf)
{
	buf_printf(sql,
		   "(" SEEN " >= %" PRId64 " AND " SEEN " <= %" PRId64 " AND j.end_at >= %" PRId64,
		   num_add(s->start, -leaf->max_life_s, NULL), s->end, s->start);
	if (!s->touching) {
		buf_printf(sql, " AND j.end_at <= %" PRId64 " AND ", s->end);
		where_states(sql, f, true);
	}
	buf_addc(sql, ')');
}

static void where_open(struct buf *sql, const struct job_filter *f, const struct shape *s)
{
	if (s->touching)
		buf_printf(sql, " OR (j.end_at IS NULL AND " SEEN " <= %" PRId64 ")", s->end);
	if (s->ended) {
		buf_adds(sql, " OR (j.end_at IS NULL AND ");
		where_states(sql, f, true);
		buf_addc(sql, ')');
	}
	if (s->suspended)
		buf_printf(sql, " OR (j.end_at IS NULL AND j.state IN (%d, %d))", STATE_RUNNING,
			   STATE_SUSPENDED);
}

void where_window(struct buf *sql, const struct job_filter *f, int64_t now, const struct leaf *leaf)
{
	struct shape s = shape_of(f, now);

	if (s.at_all) {
		where_submitted(sql, f, &s);
		return;
	}
	buf_adds(sql, " AND (");
	where_closed(sql, f, &s, leaf);
	if (leaf->open_jobs > 0)
		where_open(sql, f, &s);
	if (s.suspended)
		buf_adds(sql, " OR j.moments IS NOT NULL");
	buf_addc(sql, ')');
}

/* ---- fields */

static void want(uint64_t *wanted, bool asked, int field)
{
	if (asked)
		has_set(wanted, (size_t)field);
}

void where_fields(const struct job_filter *f, uint64_t *wanted)
{
	/* the window, states as they are shown, repeats */
	static const int always[] = { JOB_visible_from, JOB_start_at, JOB_end_at,
				      JOB_moments,	JOB_state,    JOB_flaws };
	static const int of_selections[] = { JOB_array_job_id, JOB_array_task_id, JOB_array_tasks,
					     JOB_het_job_id, JOB_het_offset };

	for (size_t i = 0; i < ARRAY_LEN(always); i++)
		want(wanted, true, always[i]);
	for (size_t i = 0; i < ARRAY_LEN(of_selections); i++)
		want(wanted, f->n_jobs > 0, of_selections[i]);
	for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
		want(wanted, texts_of(f, &lists[i])->n > 0, lists[i].text_field);
		want(wanted, numbers_of(f, &lists[i])->n > 0, lists[i].number_field);
	}
	want(wanted, f->restrict_to_own, JOB_user_name);
	want(wanted, f->restrict_to_own, JOB_uid);
	want(wanted, f->restrict_to_own, JOB_account);
	want(wanted, f->wckeys.n > 0, JOB_wckey);
	want(wanted, f->constraints.n > 0, JOB_constraints);
	want(wanted, f->nodes != NULL, JOB_nodes);
	want(wanted, f->cpus_min >= 0 || f->cpus_max >= 0, JOB_tres_alloc);
	want(wanted, f->nodes_min >= 0 || f->nodes_max >= 0, JOB_alloc_nodes);
	want(wanted, f->limit_min >= 0 || f->limit_max >= 0, JOB_timelimit);
	want(wanted, f->flags_any != 0, JOB_flags);
}

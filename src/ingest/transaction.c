#include "ingest/transaction.h"

#include "ingest/event.h"
#include "ingest/families.h"
#include "ingest/month.h"
#include "store/job_write.h"
#include "store/quarantine.h"

/* ---- refused records */

static int keep_refused(const struct transaction *t, struct item *it, struct err *err)
{
	const struct record *rec = it->rec;
	const struct batch *batch = it->ticket->batch;
	struct quarantined q = {
		.received_at = t->now,
		.source = batch->source,
		.who = batch->who,
		.kind = (unsigned)rec->kind < REC_KINDS ? record_kind_names[rec->kind] : "",
		.field = it->err->where,
		.reason = it->err->text,
		.raw = rec->raw,
		.raw_len = rec->raw_len,
	};

	return quarantine_put(t->tx, &q, &it->quarantine_id, err);
}

static int write_quarantine(const struct transaction *t, struct err *err)
{
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i]->outcome == VERDICT_REFUSED &&
		    keep_refused(t, t->items[i], err) < 0)
			return -1;
	return 0;
}

/* ---- events */

struct event_list {
	struct event *v;
	size_t n;
};

static void found_event(const struct event_row *stored, void *arg)
{
	const struct event_list *list = arg;
	size_t low = 0, high = list->n;

	while (low < high) {
		size_t mid = (low + high) / 2;
		int c = event_row_order(&list->v[mid].row, stored);

		if (c == 0) {
			event_stored(&list->v[mid], stored);
			return;
		}
		if (c < 0)
			low = mid + 1;
		else
			high = mid;
	}
}

static int write_events(const struct transaction *t, struct err *err)
{
	struct event_list list;
	struct event_row *rows;
	size_t changed = 0;

	events_collect(t->items, t->n, t->arena, &list.v, &list.n);
	if (list.n == 0)
		return 0;
	rows = ARENA_ARRAY(t->arena, struct event_row, list.n);
	for (size_t i = 0; i < list.n; i++)
		rows[i] = list.v[i].row;
	if (event_load(t->tx, rows, list.n, found_event, &list, err) < 0)
		return -1;
	for (size_t i = 0; i < list.n; i++) {
		event_merge(&list.v[i]);
		if (list.v[i].changed)
			rows[changed++] = list.v[i].row;
	}
	return changed > 0 ? event_put(t->tx, rows, changed, err) : 0;
}

/* ---- jobs and steps: reading what is there */

/* The plan's jobs [from, to) of one partition and one cluster; false at the end. */
static bool next_group(const struct plan *p, size_t *from, size_t *to)
{
	const struct plan_job *first;

	*from = *to;
	if (*from == p->n_jobs)
		return false;
	first = p->jobs[*from];
	while (*to < p->n_jobs && p->jobs[*to]->month == first->month &&
	       strcmp(p->jobs[*to]->cluster, first->cluster) == 0)
		++*to;
	return true;
}

static struct job_key key_of(const struct plan_job *j)
{
	return (struct job_key){ j->cluster, j->job_id, j->submit_at };
}

static void found_job(struct job *stored, void *arg)
{
	plan_job_stored(arg, stored);
}

static void found_step(const struct step *stored, void *arg)
{
	plan_step_stored(arg, stored);
}

static int load_jobs(const struct transaction *t, struct plan *p, struct err *err)
{
	struct job_key *keys = ARENA_ARRAY(t->arena, struct job_key, p->n_jobs);
	size_t from, to = 0, n;

	while (next_group(p, &from, &to)) {
		n = 0;
		for (size_t i = from; i < to; i++)
			if (!p->jobs[i]->resolved)
				keys[n++] = key_of(p->jobs[i]);
		if (n > 0 &&
		    job_load(t->tx, p->jobs[from]->month, keys, n, t->arena, found_job, p, err) < 0)
			return -1;
	}
	return 0;
}

static int load_all_steps(const struct transaction *t, struct plan *p, size_t from, size_t to,
			  struct err *err)
{
	struct job_key *keys = ARENA_ARRAY(t->arena, struct job_key, to - from);
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if (p->jobs[i]->need == STEPS_ALL)
			keys[n++] = key_of(p->jobs[i]);
	if (n == 0)
		return 0;
	return step_load_all(t->tx, p->jobs[from]->month, keys, n, found_step, p, err);
}

static size_t count_named(const struct plan *p, size_t from, size_t to)
{
	size_t n = 0;

	for (size_t i = from; i < to; i++)
		if (p->jobs[i]->need == STEPS_NAMED)
			for (const struct item *it = p->jobs[i]->items; it != NULL; it = it->next)
				n += it->rec->n_steps;
	return n;
}

static int load_named_steps(const struct transaction *t, struct plan *p, size_t from, size_t to,
			    struct err *err)
{
	size_t n = count_named(p, from, to), at = 0;
	struct step_key *keys;

	if (n == 0)
		return 0;
	keys = ARENA_ARRAY(t->arena, struct step_key, n);
	for (size_t i = from; i < to; i++) {
		if (p->jobs[i]->need != STEPS_NAMED)
			continue;
		for (const struct item *it = p->jobs[i]->items; it != NULL; it = it->next)
			for (size_t s = 0; s < it->rec->n_steps; s++)
				keys[at++] = (struct step_key){ key_of(p->jobs[i]),
								it->rec->steps[s].step_id,
								it->rec->steps[s].het_comp };
	}
	return step_load(t->tx, p->jobs[from]->month, keys, n, found_step, p, err);
}

static int load_steps(const struct transaction *t, struct plan *p, struct err *err)
{
	size_t from, to = 0;

	while (next_group(p, &from, &to))
		if (load_all_steps(t, p, from, to, err) < 0 ||
		    load_named_steps(t, p, from, to, err) < 0)
			return -1;
	return 0;
}

/* ---- jobs and steps: writing what has changed, partition by partition */

static bool next_month(const struct plan *p, size_t *from, size_t *to)
{
	*from = *to;
	if (*from == p->n_jobs)
		return false;
	while (*to < p->n_jobs && p->jobs[*to]->month == p->jobs[*from]->month)
		++*to;
	return true;
}

static int put_jobs(const struct transaction *t, const struct plan *p, size_t from, size_t to,
		    struct err *err)
{
	struct job_key *gone = ARENA_ARRAY(t->arena, struct job_key, to - from);
	const struct job **rows = ARENA_ARRAY(t->arena, const struct job *, to - from);
	int month = p->jobs[from]->month;
	size_t n_gone = 0, n = 0;

	for (size_t i = from; i < to; i++) {
		const struct plan_job *j = p->jobs[i];

		if (!plan_job_is_written(j))
			continue;
		if (j->old != NULL)
			gone[n_gone++] = key_of(j);
		if (!j->gone)
			rows[n++] = &j->now;
	}
	if (n_gone > 0 && job_delete(t->tx, month, gone, n_gone, err) < 0)
		return -1;
	return n > 0 ? job_copy(t->tx, month, rows, n, err) : 0;
}

static int put_steps(const struct transaction *t, const struct plan *p, size_t from, size_t to,
		     struct err *err)
{
	struct step_key *gone = ARENA_ARRAY(t->arena, struct step_key, p->n_steps);
	const struct step **rows = ARENA_ARRAY(t->arena, const struct step *, p->n_steps);
	int month = p->jobs[from]->month;
	size_t n_gone = 0, n = 0;

	for (size_t i = from; i < to; i++) {
		for (const struct plan_step *s = p->jobs[i]->steps; s != NULL; s = s->next) {
			if (!s->changed && !s->gone)
				continue;
			if (s->stored)
				gone[n_gone++] = (struct step_key){ key_of(p->jobs[i]),
								    s->now.step_id,
								    s->now.het_comp };
			if (!s->gone)
				rows[n++] = &s->now;
		}
	}
	if (n_gone > 0 && step_delete(t->tx, month, gone, n_gone, err) < 0)
		return -1;
	return n > 0 ? step_copy(t->tx, month, rows, n, err) : 0;
}

static int put_rows(const struct transaction *t, const struct plan *p, struct err *err)
{
	size_t from, to = 0;

	while (next_month(p, &from, &to))
		if (put_jobs(t, p, from, to, err) < 0 || put_steps(t, p, from, to, err) < 0)
			return -1;
	return 0;
}

/* The one place that sees each job's row as it was and as it is now, inside the transaction that
 * writes it: what is kept about jobs elsewhere (the months; usage) is kept from here. */
static int follow_changes(const struct transaction *t, const struct plan *p, struct err *err)
{
	struct usage_changes *usage = usage_changes_new(t->usage, t->arena);
	struct months months;

	months_init(&months, t->arena);
	for (size_t i = 0; i < p->n_jobs; i++) {
		const struct plan_job *j = p->jobs[i];

		if (!plan_job_is_written(j))
			continue;
		months_follow(&months, j->month, j->old, j->gone ? NULL : &j->now);
		usage_follow(usage, j->old, j->gone ? NULL : &j->now);
	}
	if (months.n > 0 && job_month_change(t->tx, months.v, months.n, err) < 0)
		return -1;
	return usage_write(usage, t->tx, err);
}

static struct horizon horizon(const char *cluster, void *tx)
{
	return (struct horizon){ write_horizon(tx, cluster, "job"),
				 write_horizon(tx, cluster, "step") };
}

static int write_jobs(const struct transaction *t, struct err *err)
{
	struct families families;
	struct plan plan;

	plan_init(&plan, t->arena);
	if (families_write(&families, t, &plan, err) < 0)
		return -1;
	for (size_t i = 0; i < t->n; i++)
		if (t->items[i]->outcome == VERDICT_PENDING && item_is_of_job(t->items[i]) &&
		    !t->items[i]->in_family)
			plan_add(&plan, t->items[i]);
	if (plan.n_jobs == 0)
		return 0;
	plan_sort(&plan);
	if (load_jobs(t, &plan, err) < 0)
		return -1;
	plan_merge_jobs(&plan, horizon, t->tx);
	if (load_steps(t, &plan, err) < 0)
		return -1;
	plan_merge_steps(&plan, horizon, t->tx);
	if (load_steps(t, &plan, err) < 0)
		return -1;
	plan_derive(&plan);
	families_tell(&families, &plan);
	if (put_rows(t, &plan, err) < 0)
		return -1;
	return follow_changes(t, &plan, err);
}

/* ---- all of it */

int transaction_run(struct transaction *t, struct err *err)
{
	if (write_begin(t->tx, t->epoch, t->span, err) == 0 && write_quarantine(t, err) == 0 &&
	    write_events(t, err) == 0 && write_jobs(t, err) == 0 && write_commit(t->tx, err) == 0)
		return 0;
	write_rollback(t->tx);
	usage_book_forget(t->usage);
	return -1;
}

#include "core/family.h"

#include "base/buf.h"
#include "core/merge.h"
#include "core/moments.h"
#include "core/state.h"

/* Keys: a time and what it is.  A run can end in the second in which the next starts; and what an
 * end says is kept apart from what was said before, since a resize may have come between. */

enum key_kind {
	KEY_BEGIN,    /* no submit; the time of a start, a step, a suspension */
	KEY_END,      /* no submit; an end that names no start: its time */
	KEY_WHOLE,    /* no submit; an end that names its start: the time of that */
	KEY_SUBMITTED_END, /* an end with a submit: that */
	KEY_RESIZE,   /* the moment of a resize */
	KEY_KINDS
};

static int64_t made_key(int64_t time, enum key_kind kind)
{
	return -(KEY_KINDS * time + (int64_t)kind) - 1;
}

static int64_t key_time(int64_t key)
{
	return (-key - 1) / KEY_KINDS;
}

static enum key_kind key_kind(int64_t key)
{
	return (enum key_kind)((-key - 1) % KEY_KINDS);
}

static bool is_step(enum record_kind kind)
{
	return kind == REC_STEP_START || kind == REC_STEP_END;
}

bool family_is_needed(const struct record *rec)
{
	return rec->kind == REC_JOB_RESIZE || !job_has(&rec->job, submit_at);
}

static int64_t key_of(const struct record *rec)
{
	const struct job *j = &rec->job;
	const struct step *s = rec->steps;

	if (rec->kind == REC_JOB_RESIZE)
		return made_key(rec->at, KEY_RESIZE);
	if (job_has(j, submit_at))
		return rec->kind == REC_JOB_END ? made_key(j->submit_at, KEY_SUBMITTED_END)
						: j->submit_at;
	if (rec->kind == REC_JOB_SUSPEND || rec->kind == REC_JOB_RESUME)
		return made_key(rec->at, KEY_BEGIN);
	if (is_step(rec->kind))
		return step_has(s, start_at) ? made_key(s->start_at, KEY_BEGIN)
					     : made_key(s->end_at, KEY_END);
	if (!job_has(j, start_at))
		return made_key(j->end_at, KEY_END);
	return made_key(j->start_at, rec->kind == REC_JOB_END ? KEY_WHOLE : KEY_BEGIN);
}

/* Parts. */

void family_init(struct family *f, const char *cluster, int64_t job_id, struct arena *arena)
{
	*f = (struct family){ .arena = arena, .cluster = cluster, .job_id = job_id };
}

static void *widen(struct arena *a, void *items, size_t n, size_t *cap, size_t size)
{
	if (n < *cap)
		return items;
	*cap = *cap == 0 ? 4 : *cap * 2;
	void *wider = arena_alloc(a, *cap * size);
	if (n > 0)
		memcpy(wider, items, n * size);
	return wider;
}

static struct family_part *part_of(struct family *f, int64_t key)
{
	size_t at = f->n;

	while (at > 0 && f->parts[at - 1]->job.submit_at >= key)
		at--;
	if (at < f->n && f->parts[at]->job.submit_at == key)
		return f->parts[at];
	f->parts = widen(f->arena, f->parts, f->n, &f->cap, sizeof(*f->parts));
	memmove(&f->parts[at + 1], &f->parts[at], (f->n - at) * sizeof(*f->parts));
	struct family_part *p = ARENA_NEW(f->arena, struct family_part);
	job_set(&p->job, cluster, f->cluster);
	job_set(&p->job, job_id, f->job_id);
	job_set(&p->job, submit_at, key);
	f->parts[at] = p;
	f->n++;
	p->changed = true;
	return p;
}

static struct step *step_of(struct step **steps, size_t *n, size_t *cap, const struct job *j,
			    const struct step *like, struct arena *arena)
{
	for (size_t i = 0; i < *n; i++)
		if ((*steps)[i].step_id == like->step_id && (*steps)[i].het_comp == like->het_comp)
			return &(*steps)[i];
	*steps = widen(arena, *steps, *n, cap, sizeof(**steps));
	struct step *s = &(*steps)[(*n)++];
	*s = (struct step){ 0 };
	step_set(s, cluster, j->cluster);
	step_set(s, job_id, j->job_id);
	step_set(s, submit_at, j->submit_at);
	step_set(s, step_id, like->step_id);
	step_set(s, het_comp, like->het_comp);
	return s;
}

/* Moves the fields that an end said out of a row. */
static bool take_end_out(struct job *from, struct job *to)
{
	bool any = false;

	for (size_t f = 0; f < JOB_FIELDS; f++) {
		size_t at = job_fields[f].offset;
		if (!has_bit(from->has, f) || from->rank[f] < RANK_RESIZE)
			continue;
		memcpy((char *)to + at, (const char *)from + at, sizeof(int64_t));
		has_set(to->has, f);
		to->rank[f] = from->rank[f];
		to->as_of[f] = from->as_of[f];
		has_clear(from->has, f);
		any = true;
	}
	return any;
}

/* What no record said: a number that we gave, what a resize carried over. */
static void forget_unsaid(struct job *j)
{
	for (size_t f = 0; f < JOB_FIELDS; f++)
		if (!(job_fields[f].flags & FF_KEY) && j->rank[f] == RANK_NONE)
			has_clear(j->has, f);
}

struct family_part *family_load(struct family *f, const struct job *job)
{
	struct family_part *p = part_of(f, job->submit_at);
	struct job end = { 0 };

	p->job = *job;
	job_forget_derived(&p->job);
	forget_unsaid(&p->job);
	p->changed = false;
	if (!family_key_is_made(job->submit_at) && take_end_out(&p->job, &end))
		job_merge(&part_of(f, made_key(job->submit_at, KEY_SUBMITTED_END))->job, &end,
			  false, f->arena);
	return p;
}

void family_load_step(struct family *f, struct family_part *part, const struct step *step)
{
	*step_of(&part->steps, &part->n_steps, &part->cap_steps, &part->job, step, f->arena) =
		*step;
}

static bool add_steps(struct family *f, struct family_part *p, const struct record *rec)
{
	bool changed = false;

	for (size_t i = 0; i < rec->n_steps; i++) {
		size_t before = p->n_steps;
		struct step *s = step_of(&p->steps, &p->n_steps, &p->cap_steps, &p->job,
					 &rec->steps[i], f->arena);
		changed |= step_merge(s, &rec->steps[i], rec->by_arrival, f->arena);
		changed |= p->n_steps != before;
	}
	p->changed |= changed;
	return changed;
}

bool family_add(struct family *f, const struct record *rec)
{
	size_t parts = f->n;
	struct family_part *p = part_of(f, key_of(rec));
	bool changed = job_merge(&p->job, &rec->job, rec->by_arrival, f->arena);

	p->changed |= changed;
	/* The steps of a run with a submit time are together, whatever brought them. */
	if (job_has(&rec->job, submit_at))
		p = part_of(f, rec->job.submit_at);
	changed |= add_steps(f, p, rec);
	return changed || f->n != parts;
}

/* Runs. */

#define NEVER INT64_MAX

struct run {
	struct family_run row;
	size_t cap_steps;
	struct job end; /* what ends said of it, until a resize does not take it away */
	int64_t begin;	/* submit, or what stands for it */
	const struct family_part *resize; /* that opened it */
};

/* A part without a submit time. */
struct stray {
	const struct family_part *part;
	int64_t time;
	enum key_kind kind;
	int64_t begin; /* where its life begins as far as it says */
};

struct resolver {
	const struct family *f;
	struct arena *arena;
	struct run *runs; /* those with a submit time first, ascending */
	size_t n;
	size_t keyed;
	bool *idle; /* per part: a resize that finds no run alive */
};

static void take_steps(struct resolver *r, struct run *run, const struct family_part *p)
{
	struct family_run *row = &run->row;

	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *s = step_of(&row->steps, &row->n_steps, &run->cap_steps, &row->job,
					 &p->steps[i], r->arena);
		step_merge(s, &p->steps[i], false, r->arena);
	}
}

static void run_take(struct resolver *r, struct run *run, const struct family_part *p)
{
	enum key_kind kind = family_key_is_made(p->job.submit_at) ? key_kind(p->job.submit_at)
								   : KEY_BEGIN;

	job_merge(kind == KEY_BEGIN ? &run->row.job : &run->end, &p->job, false, r->arena);
	take_steps(r, run, p);
}

static struct run *run_new(struct resolver *r, int64_t submit, bool inferred)
{
	struct run *run = &r->runs[r->n++];

	*run = (struct run){ .begin = submit };
	job_set(&run->row.job, cluster, r->f->cluster);
	job_set(&run->row.job, job_id, r->f->job_id);
	job_set(&run->row.job, submit_at, submit);
	job_set(&run->row.job, submit_inferred, inferred);
	return run;
}

static const struct job *who_says_start(const struct run *run)
{
	return job_has(&run->end, start_at) ? &run->end : &run->row.job;
}

static const struct job *who_says_end(const struct run *run)
{
	return job_has(&run->end, end_at) ? &run->end : &run->row.job;
}

/* The last moment of a run, as far as is known by now. */
static int64_t run_end(const struct run *run)
{
	const struct job *j = who_says_end(run);

	if (!job_has(j, end_at))
		return NEVER;
	return j->end_at > run->begin ? j->end_at : run->begin;
}

/* When the next run with a submit time begins. */
static int64_t next_submit(const struct resolver *r, int64_t after)
{
	for (size_t i = 0; i < r->keyed; i++)
		if (r->runs[i].begin > after)
			return r->runs[i].begin;
	return NEVER;
}

/* The run with a submit time whose life holds t.  An end belongs rather to the run that was
 * there before than to one that begins in the same second. */
static struct run *run_at(const struct resolver *r, int64_t t, bool is_end)
{
	for (size_t i = 0; is_end && i < r->keyed; i++) {
		struct run *run = &r->runs[i];

		if (run->begin < t && t <= next_submit(r, run->begin) && t <= run_end(run))
			return run;
	}
	for (size_t i = r->keyed; i-- > 0;) {
		struct run *run = &r->runs[i];
		if (run->begin <= t)
			return t <= run_end(run) ? run : NULL;
	}
	return NULL;
}

/* Does it belong to the last run that was made up?  Strays come by where they begin.  A run whose
 * end is not known goes on until another start or another submission. */
static bool run_holds(const struct resolver *r, const struct run *run, const struct stray *s)
{
	const struct job *own = who_says_start(run), *other = &s->part->job;

	if (s->begin >= next_submit(r, run->begin))
		return false;
	if (job_has(who_says_end(run), end_at))
		return s->begin <= run_end(run);
	return !job_has(own, start_at) || !job_has(other, start_at) ||
	       own->start_at == other->start_at;
}

static void place(struct resolver *r, const struct stray *s)
{
	struct run *last = r->n > r->keyed ? &r->runs[r->n - 1] : NULL;
	struct run *run = run_at(r, s->time, s->kind == KEY_END);

	if (run == NULL)
		run = run_at(r, s->begin, false);
	if (run == NULL && last != NULL && run_holds(r, last, s))
		run = last;
	if (run == NULL)
		run = run_new(r, s->begin, true);
	run_take(r, run, s->part);
}

static int stray_cmp(const void *pa, const void *pb)
{
	const struct stray *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (int)a->kind - (int)b->kind;
}

static struct stray stray_of(const struct family_part *p)
{
	int64_t time = key_time(p->job.submit_at);
	struct stray s = { p, time, key_kind(p->job.submit_at), time };
	int64_t ran = job_get(&p->job, rec_elapsed, 0);

	if (s.kind == KEY_END && ran > 0 && ran < s.time)
		s.begin = s.time - ran;
	return s;
}

/* Resizes. */

/* What speaks of the run that ended, and not of the one that goes on. */
static bool stays_behind(size_t f)
{
	static const enum job_field fields[] = {
		JOB_row_id,  JOB_sluid,	      JOB_eligible_at, JOB_start_at,  JOB_end_at,
		JOB_state,   JOB_exit,	      JOB_derived_exit, JOB_derived_es, JOB_killed_by,
		JOB_moments, JOB_failed_node, JOB_rec_elapsed, JOB_rec_max_rss, JOB_rec_cpu_us,
	};

	for (size_t i = 0; i < ARRAY_LEN(fields); i++)
		if (fields[i] == f)
			return true;
	return (job_fields[f].flags & (FF_KEY | FF_DERIVED)) != 0;
}

/* Fills in what `to` does not know, as something that no record said of it. */
static void carry(struct job *to, const struct job *from, const struct job *except)
{
	for (size_t f = 0; f < JOB_FIELDS; f++) {
		size_t at = job_fields[f].offset;
		if (has_bit(to->has, f) || !has_bit(from->has, f) || stays_behind(f) ||
		    (except != NULL && has_bit(except->has, f)))
			continue;
		memcpy((char *)to + at, (const char *)from + at, sizeof(int64_t));
		has_set(to->has, f);
		to->rank[f] = RANK_NONE;
		to->as_of[f] = AS_OF_UNKNOWN;
	}
}

static void set_resize(struct job *j, enum job_field f, int64_t value)
{
	memcpy((char *)j + job_fields[f].offset, &value, sizeof(value));
	has_set(j->has, f);
	j->rank[f] = RANK_RESIZE;
	j->as_of[f] = AS_OF_UNKNOWN;
}

/* Suspensions from `at` on are the new run's. */
static void split_moments(struct resolver *r, struct job *old, struct job *new, int64_t at)
{
	struct buf before = BUF_INIT, after = BUF_INIT;
	struct job later = { 0 };
	struct moment m;

	if (!job_has(old, moments))
		return;
	for (const char *p = old->moments; moments_next(&p, &m);) {
		struct buf *b = m.at < at ? &before : &after;
		buf_printf(b, "%s%c%" PRId64, b->len > 0 ? "," : "", m.resume ? 'R' : 'S', m.at);
	}
	old->moments = arena_strdup(r->arena, buf_str(&before));
	if (before.len == 0)
		job_unset(old, moments);
	if (after.len > 0) {
		job_set(&later, moments, arena_strdup(r->arena, buf_str(&after)));
		later.rank[JOB_moments] = old->rank[JOB_moments];
		later.as_of[JOB_moments] = old->as_of[JOB_moments];
		job_merge(new, &later, false, r->arena);
	}
	buf_fini(&before);
	buf_fini(&after);
}

static void split_steps(struct resolver *r, struct run *old, struct run *new, int64_t at)
{
	struct family_run *row = &old->row;
	size_t left = 0;

	for (size_t i = 0; i < row->n_steps; i++) {
		const struct step *s = &row->steps[i];
		if (step_get(s, start_at, step_get(s, end_at, at - 1)) < at)
			row->steps[left++] = *s;
		else
			step_merge(step_of(&new->row.steps, &new->row.n_steps, &new->cap_steps,
					   &new->row.job, s, r->arena),
				   s, false, r->arena);
	}
	row->n_steps = left;
}

/* Of an end, what is of the run that began before: the old one. */
static void give_back(struct job *end, struct job *old)
{
	static const enum job_field fields[] = { JOB_row_id, JOB_sluid, JOB_start_at,
						 JOB_eligible_at };

	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		enum job_field f = fields[i];
		size_t at = job_fields[f].offset;
		if (!has_bit(end->has, f))
			continue;
		has_clear(end->has, f);
		memcpy((char *)old + at, (const char *)end + at, sizeof(int64_t));
		has_set(old->has, f);
		old->rank[f] = end->rank[f];
		old->as_of[f] = end->as_of[f];
	}
}

/* An end after the moment is the new run's. */
static void split_end(struct run *old, struct run *new, struct arena *arena)
{
	struct job *end = &old->end;

	if (!job_has(end, end_at) || end->end_at <= new->begin)
		return;
	give_back(end, &old->row.job);
	carry(&old->row.job, end, &new->resize->job);
	job_merge(&new->end, end, false, arena);
	*end = (struct job){ 0 };
}

/* Instants are a set: which of the two says them does not matter. */
static void gather_moments(struct resolver *r, struct run *run)
{
	struct job only = { 0 };

	if (!job_has(&run->end, moments))
		return;
	job_set(&only, moments, run->end.moments);
	only.rank[JOB_moments] = run->end.rank[JOB_moments];
	only.as_of[JOB_moments] = run->end.as_of[JOB_moments];
	job_merge(&run->row.job, &only, false, r->arena);
	job_unset(&run->end, moments);
}

static void resize(struct resolver *r, struct run *old, struct run *new)
{
	struct job *was = &old->row.job, *is = &new->row.job;

	gather_moments(r, old);
	split_end(old, new, r->arena);
	split_moments(r, was, is, new->begin);
	split_steps(r, old, new, new->begin);
	set_resize(was, JOB_end_at, new->begin);
	set_resize(was, JOB_state, STATE_RESIZING);
	job_merge(is, &new->resize->job, false, r->arena);
	set_resize(is, JOB_start_at, new->begin);
	set_resize(is, JOB_eligible_at, new->begin);
	set_resize(is, JOB_state, STATE_RUNNING);
	carry(is, was, &new->end);
}

/* Alive when the resize comes: begun, and not ended by then, but as one that is resized. */
static bool can_be_resized(const struct run *run, int64_t at)
{
	const struct job *j = who_says_end(run);

	if (run->begin >= at)
		return false;
	if (!job_has(j, end_at) || j->end_at > at)
		return true;
	return j->end_at == at && job_has(j, state) && j->state == STATE_RESIZING;
}

static int run_cmp(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

/* The run with this submit time, made when there is none. */
static struct run *run_of(struct resolver *r, int64_t submit)
{
	for (size_t i = 0; i < r->n; i++)
		if (r->runs[i].begin == submit)
			return &r->runs[i];
	return run_new(r, submit, false);
}

/* The submit time that a part names or makes; false for a stray. */
static bool part_submit(const struct resolver *r, size_t i, int64_t *ret_submit)
{
	int64_t key = r->f->parts[i]->job.submit_at;

	if (!family_key_is_made(key))
		*ret_submit = key;
	else if (key_kind(key) == KEY_SUBMITTED_END || key_kind(key) == KEY_RESIZE)
		*ret_submit = key_time(key);
	else
		return false;
	return true;
}

static bool is_resize(const struct family_part *p)
{
	return family_key_is_made(p->job.submit_at) && key_kind(p->job.submit_at) == KEY_RESIZE;
}

static void make_keyed_runs(struct resolver *r)
{
	int64_t submit;

	for (size_t i = 0; i < r->f->n; i++)
		if (!r->idle[i] && part_submit(r, i, &submit))
			run_of(r, submit);
	if (r->n > 1)
		qsort(r->runs, r->n, sizeof(*r->runs), run_cmp);
	r->keyed = r->n;
	for (size_t i = 0; i < r->f->n; i++) {
		const struct family_part *p = r->f->parts[i];

		if (r->idle[i] || !part_submit(r, i, &submit))
			continue;
		if (is_resize(p))
			run_of(r, submit)->resize = p;
		else
			run_take(r, run_of(r, submit), p);
	}
}

static void place_strays(struct resolver *r)
{
	struct stray *strays = ARENA_ARRAY(r->arena, struct stray, r->f->n);
	size_t n = 0;
	int64_t submit;

	for (size_t i = 0; i < r->f->n; i++)
		if (!part_submit(r, i, &submit))
			strays[n++] = stray_of(r->f->parts[i]);
	if (n > 1)
		qsort(strays, n, sizeof(*strays), stray_cmp);
	for (size_t i = 0; i < n; i++)
		place(r, &strays[i]);
	if (r->n > 1)
		qsort(r->runs, r->n, sizeof(*r->runs), run_cmp);
}

/* False when one finds no run alive; it is idle then, and everything is to be done again. */
static bool do_resizes(struct resolver *r)
{
	for (size_t i = 0; i < r->n; i++) {
		struct run *new = &r->runs[i];

		if (new->resize == NULL)
			continue;
		if (i > 0 && can_be_resized(new - 1, new->begin)) {
			resize(r, new - 1, new);
			continue;
		}
		for (size_t p = 0; p < r->f->n; p++)
			r->idle[p] |= r->f->parts[p] == new->resize;
		return false;
	}
	return true;
}

void family_resolve(const struct family *f, struct family_run **ret, size_t *ret_n)
{
	struct resolver r = { .f = f, .arena = f->arena };

	r.runs = ARENA_ARRAY(f->arena, struct run, f->n);
	r.idle = ARENA_ARRAY(f->arena, bool, f->n);
	do {
		r.n = 0;
		make_keyed_runs(&r);
		place_strays(&r);
	} while (!do_resizes(&r));
	*ret = ARENA_ARRAY(f->arena, struct family_run, r.n);
	for (size_t i = 0; i < r.n; i++) {
		job_merge(&r.runs[i].row.job, &r.runs[i].end, false, r.arena);
		(*ret)[i] = r.runs[i].row;
	}
	*ret_n = r.n;
}

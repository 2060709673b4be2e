#include "core/family.h"

#include "core/merge.h"

/* Keys. */

/* Times of starts and ends are kept apart: a run can end in the second in which the next starts. */
static int64_t made_key(int64_t time, bool is_end)
{
	return -(2 * time + is_end) - 1;
}

static int64_t key_time(int64_t key)
{
	return (-key - 1) / 2;
}

static bool key_is_end(int64_t key)
{
	return (-key - 1) % 2 != 0;
}

int64_t family_key(const struct record *rec)
{
	const struct job *j = &rec->job;
	const struct step *s = rec->n_steps > 0 ? rec->steps : NULL;

	if (job_has(j, submit_at))
		return j->submit_at;
	if (rec->kind == REC_JOB_SUSPEND || rec->kind == REC_JOB_RESUME ||
	    rec->kind == REC_JOB_RESIZE)
		return made_key(rec->at, false);
	if (rec->kind == REC_STEP_START || rec->kind == REC_STEP_END) {
		assert(s != NULL);
		return step_has(s, start_at) ? made_key(s->start_at, false)
					     : made_key(s->end_at, true);
	}
	return job_has(j, start_at) ? made_key(j->start_at, false) : made_key(j->end_at, true);
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

struct family_part *family_load(struct family *f, const struct job *job)
{
	struct family_part *p = part_of(f, job->submit_at);

	p->job = *job;
	job_forget_derived(&p->job);
	job_unset(&p->job, submit_inferred);
	p->changed = false;
	return p;
}

void family_load_step(struct family *f, struct family_part *part, const struct step *step)
{
	*step_of(&part->steps, &part->n_steps, &part->cap_steps, &part->job, step, f->arena) =
		*step;
}

bool family_add(struct family *f, const struct record *rec)
{
	size_t parts = f->n;
	struct family_part *p = part_of(f, family_key(rec));
	bool changed = f->n != parts;

	changed |= job_merge(&p->job, &rec->job, rec->by_arrival, f->arena);

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

/* Runs. */

#define NEVER INT64_MAX

struct run {
	struct family_run row;
	size_t cap_steps;
	int64_t begin; /* submit, or what stands for it */
	bool inferred;
};

/* A part without a submit time. */
struct stray {
	const struct family_part *part;
	int64_t time;
	bool is_end;
	int64_t begin; /* where its life begins as far as it says */
};

struct resolver {
	struct arena *arena;
	struct run *runs; /* those with a submit time first, ascending */
	size_t n;
	size_t keyed;
};

static void run_take(struct resolver *r, struct run *run, const struct family_part *p)
{
	struct family_run *row = &run->row;

	job_merge(&row->job, &p->job, false, r->arena);
	for (size_t i = 0; i < p->n_steps; i++) {
		struct step *s = step_of(&row->steps, &row->n_steps, &run->cap_steps, &row->job,
					 &p->steps[i], r->arena);
		step_merge(s, &p->steps[i], false, r->arena);
	}
}

static struct run *run_new(struct resolver *r, const struct family_part *p, int64_t submit,
			   bool inferred)
{
	struct run *run = &r->runs[r->n++];

	*run = (struct run){ .begin = submit, .inferred = inferred };
	job_set(&run->row.job, cluster, p->job.cluster);
	job_set(&run->row.job, job_id, p->job.job_id);
	job_set(&run->row.job, submit_at, submit);
	job_set(&run->row.job, submit_inferred, inferred);
	run_take(r, run, p);
	return run;
}

/* The last moment of a run, as far as is known by now. */
static int64_t run_end(const struct run *run)
{
	if (!job_has(&run->row.job, end_at))
		return NEVER;
	return run->row.job.end_at > run->begin ? run->row.job.end_at : run->begin;
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
	const struct job *own = &run->row.job, *other = &s->part->job;

	if (s->begin >= next_submit(r, run->begin))
		return false;
	if (job_has(own, end_at))
		return s->begin <= run_end(run);
	return !job_has(own, start_at) || !job_has(other, start_at) ||
	       own->start_at == other->start_at;
}

static void place(struct resolver *r, const struct stray *s)
{
	struct run *last = r->n > r->keyed ? &r->runs[r->n - 1] : NULL;
	struct run *run = run_at(r, s->time, s->is_end);

	if (run == NULL)
		run = run_at(r, s->begin, false);
	if (run == NULL && last != NULL && run_holds(r, last, s))
		run = last;
	if (run != NULL)
		run_take(r, run, s->part);
	else
		run_new(r, s->part, s->begin, true);
}

static int stray_cmp(const void *pa, const void *pb)
{
	const struct stray *a = pa, *b = pb;

	if (a->begin != b->begin)
		return a->begin < b->begin ? -1 : 1;
	if (a->time != b->time)
		return a->time < b->time ? -1 : 1;
	return (int)a->is_end - (int)b->is_end;
}

static struct stray stray_of(const struct family_part *p)
{
	int64_t key = p->job.submit_at;
	struct stray s = { p, key_time(key), key_is_end(key), key_time(key) };
	int64_t ran = job_get(&p->job, rec_elapsed, 0);

	if (s.is_end && ran > 0 && ran < s.time)
		s.begin = s.time - ran;
	return s;
}

static int run_cmp(const void *pa, const void *pb)
{
	const struct run *a = pa, *b = pb;

	return (a->begin > b->begin) - (a->begin < b->begin);
}

void family_resolve(const struct family *f, struct family_run **ret, size_t *ret_n)
{
	struct resolver r = { .arena = f->arena };
	struct stray *strays = ARENA_ARRAY(f->arena, struct stray, f->n);
	size_t n_strays = 0;

	r.runs = ARENA_ARRAY(f->arena, struct run, f->n);
	for (size_t i = 0; i < f->n; i++) {
		const struct family_part *p = f->parts[i];
		if (family_key_is_made(p->job.submit_at))
			strays[n_strays++] = stray_of(p);
		else
			run_new(&r, p, p->job.submit_at, false);
	}
	r.keyed = r.n;
	if (n_strays > 1)
		qsort(strays, n_strays, sizeof(*strays), stray_cmp);
	for (size_t i = 0; i < n_strays; i++)
		place(&r, &strays[i]);
	if (r.n > 1)
		qsort(r.runs, r.n, sizeof(*r.runs), run_cmp);
	*ret = ARENA_ARRAY(f->arena, struct family_run, r.n);
	for (size_t i = 0; i < r.n; i++)
		(*ret)[i] = r.runs[i].row;
	*ret_n = r.n;
}

#include "ingest/plan.h"

#include "core/merge.h"
#include "core/state.h"

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static uint64_t hash_text(const char *s)
{
	uint64_t h = 0;

	for (; *s != '\0'; s++)
		h = h * 31 + (unsigned char)*s;
	return h;
}

uint64_t plan_row_id(int64_t job_id, int64_t submit_at)
{
	uint64_t id;

	if (job_id >= 0 && job_id <= UINT32_MAX && submit_at > 0 && submit_at <= UINT32_MAX)
		return (uint64_t)submit_at << 32 | (uint64_t)job_id;
	id = mix(mix(1, (uint64_t)job_id), (uint64_t)submit_at);
	return id != 0 ? id : 1;
}

/* --- rows compared */

struct row {
	const struct field *fields;
	size_t n;
	const void *base;
	const uint64_t *has;
	const uint8_t *rank;
	const int64_t *as_of;
};

#define ROW(r, fields, n) ((struct row){ fields, n, r, (r)->has, (r)->rank, (r)->as_of })
#define JOB_ROW(j)	  ROW(j, job_fields, JOB_FIELDS)
#define STEP_ROW(s)	  ROW(s, step_fields, STEP_FIELDS)

static bool field_same(const struct row *a, const struct row *b, size_t f)
{
	const struct field *field = &a->fields[f];
	const char *va = (const char *)a->base + field->offset;
	const char *vb = (const char *)b->base + field->offset;

	if (has_bit(a->has, f) != has_bit(b->has, f))
		return false;
	if (!has_bit(a->has, f))
		return true;
	if (!(field->flags & (FF_KEY | FF_DERIVED)) &&
	    (a->rank[f] != b->rank[f] || a->as_of[f] != b->as_of[f]))
		return false;
	if (field_is_text(field->type))
		return strcmp(*(const char *const *)(const void *)va,
			      *(const char *const *)(const void *)vb) == 0;
	return memcmp(va, vb, sizeof(int64_t)) == 0;
}

/* In everything that is stored. */
static bool row_same(const struct row *a, const struct row *b)
{
	for (size_t f = 0; f < a->n; f++)
		if (!field_same(a, b, f))
			return false;
	return true;
}

#define BUCKETS_MIN 64

void plan_init(struct plan *p, struct arena *arena)
{
	*p = (struct plan){ .arena = arena };
	p->job_buckets = p->step_buckets = BUCKETS_MIN;
	p->job_hash = ARENA_ARRAY(arena, struct plan_job *, BUCKETS_MIN);
	p->step_hash = ARENA_ARRAY(arena, struct plan_step *, BUCKETS_MIN);
}

/* --- the two hash tables; buckets are a power of two */

static uint64_t hash_job(const char *cluster, int64_t job_id, int64_t submit_at)
{
	return mix(mix(hash_text(cluster), (uint64_t)job_id), (uint64_t)submit_at);
}

struct plan_job *plan_find(const struct plan *p, const char *cluster, int64_t job_id,
			   int64_t submit_at)
{
	uint64_t h = hash_job(cluster, job_id, submit_at);
	struct plan_job *j = p->job_hash[h & (p->job_buckets - 1)];

	while (j != NULL && !(j->job_id == job_id && j->submit_at == submit_at &&
			      strcmp(j->cluster, cluster) == 0))
		j = j->next_hash;
	return j;
}

static void hash_in_job(struct plan *p, struct plan_job *j)
{
	uint64_t h = hash_job(j->cluster, j->job_id, j->submit_at);
	struct plan_job **bucket = &p->job_hash[h & (p->job_buckets - 1)];

	j->next_hash = *bucket;
	*bucket = j;
}

static void grow_jobs(struct plan *p)
{
	size_t cap = p->cap_jobs != 0 ? p->cap_jobs * 2 : BUCKETS_MIN;
	struct plan_job **jobs = ARENA_ARRAY(p->arena, struct plan_job *, cap);

	if (p->n_jobs > 0)
		memcpy(jobs, p->jobs, p->n_jobs * sizeof(*jobs));
	p->jobs = jobs;
	p->cap_jobs = cap;
	p->job_buckets = cap;
	p->job_hash = ARENA_ARRAY(p->arena, struct plan_job *, cap);
	for (size_t i = 0; i < p->n_jobs; i++)
		hash_in_job(p, jobs[i]);
}

static uint64_t hash_step(const char *cluster, const struct step *s)
{
	uint64_t h = hash_job(cluster, s->job_id, s->submit_at);

	return mix(mix(h, (uint64_t)s->step_id), (uint64_t)s->het_comp);
}

static bool same_step(const struct step *a, const struct step *b)
{
	return a->step_id == b->step_id && a->het_comp == b->het_comp && a->job_id == b->job_id &&
	       a->submit_at == b->submit_at && strcmp(a->cluster, b->cluster) == 0;
}

static struct plan_step *find_step(const struct plan *p, const struct step *key)
{
	struct plan_step *s = p->step_hash[hash_step(key->cluster, key) & (p->step_buckets - 1)];

	while (s != NULL && !same_step(&s->now, key))
		s = s->next_hash;
	return s;
}

static void hash_in_step(struct plan *p, struct plan_step *s)
{
	uint64_t h = hash_step(s->now.cluster, &s->now);
	struct plan_step **bucket = &p->step_hash[h & (p->step_buckets - 1)];

	s->next_hash = *bucket;
	*bucket = s;
}

static void grow_step_hash(struct plan *p)
{
	struct plan_step **old = p->step_hash, *s, *next;
	size_t n = p->step_buckets;

	p->step_buckets = n * 4;
	p->step_hash = ARENA_ARRAY(p->arena, struct plan_step *, p->step_buckets);
	for (size_t i = 0; i < n; i++) {
		for (s = old[i]; s != NULL; s = next) {
			next = s->next_hash;
			hash_in_step(p, s);
		}
	}
}

/* --- adding */

static struct plan_job *place_job(struct plan *p, const char *cluster, int64_t job_id,
				  int64_t submit_at, int month)
{
	struct plan_job *j = plan_find(p, cluster, job_id, submit_at);

	if (j != NULL)
		return j;
	j = ARENA_NEW(p->arena, struct plan_job);
	j->cluster = cluster;
	j->job_id = job_id;
	j->submit_at = submit_at;
	j->month = month;
	j->items_end = &j->items;
	if (p->n_jobs == p->cap_jobs)
		grow_jobs(p);
	p->jobs[p->n_jobs++] = j;
	hash_in_job(p, j);
	return j;
}

void plan_add(struct plan *p, struct item *it)
{
	const struct record *rec = it->rec;
	struct plan_job *j = place_job(p, rec->cluster, rec->job.job_id, rec->job.submit_at,
				       it->month);

	it->next = NULL;
	*j->items_end = it;
	j->items_end = &it->next;
}

struct plan_job *plan_put(struct plan *p, int month, struct job *old, const struct job *now)
{
	const struct job *key = now != NULL ? now : old;
	struct plan_job *j = place_job(p, key->cluster, key->job_id, key->submit_at, month);

	j->resolved = true;
	j->old = old;
	j->gone = now == NULL;
	j->now = *key;
	j->all_steps = true;
	return j;
}

static int compare_jobs(const void *pa, const void *pb)
{
	const struct plan_job *a = *(struct plan_job *const *)pa;
	const struct plan_job *b = *(struct plan_job *const *)pb;
	int c;

	if (a->month != b->month)
		return a->month < b->month ? -1 : 1;
	c = strcmp(a->cluster, b->cluster);
	if (c != 0)
		return c;
	if (a->job_id != b->job_id)
		return a->job_id < b->job_id ? -1 : 1;
	return (a->submit_at > b->submit_at) - (a->submit_at < b->submit_at);
}

void plan_sort(struct plan *p)
{
	if (p->n_jobs > 1)
		qsort(p->jobs, p->n_jobs, sizeof(struct plan_job *), compare_jobs);
}

/* --- jobs */

void plan_job_stored(struct plan *p, struct job *stored)
{
	struct plan_job *j = plan_find(p, stored->cluster, stored->job_id, stored->submit_at);

	if (j != NULL)
		j->old = stored;
}

static void give_row_id(struct plan_job *j)
{
	job_set(&j->now, row_id, (int64_t)plan_row_id(j->job_id, j->submit_at));
	j->now.rank[JOB_row_id] = RANK_NONE;
	j->now.as_of[JOB_row_id] = AS_OF_UNKNOWN;
}

static void begin_row(struct plan_job *j)
{
	if (j->old != NULL) {
		j->now = *j->old;
		return;
	}
	job_set(&j->now, cluster, j->cluster);
	job_set(&j->now, job_id, j->job_id);
	job_set(&j->now, submit_at, j->submit_at);
	job_set(&j->now, submit_inferred, 0);
	give_row_id(j);
	j->changed = true;
}

/* A producer may know that it has ended, but not when. */
static bool has_ended(const struct job *j)
{
	return job_has(j, end_at) || (job_has(j, state) && state_is_end(j->state));
}

static bool ended_before(const struct job *j, int64_t before)
{
	return job_has(j, end_at) && j->end_at < before;
}

static bool is_step_kind(enum record_kind kind)
{
	return kind == REC_STEP_START || kind == REC_STEP_END;
}

static bool step_purged(const struct step *s, int64_t before)
{
	return step_has(s, end_at) && s->end_at < before;
}

static bool record_purged(const struct record *rec, const struct horizon *h)
{
	if (rec->kind == REC_JOB_END)
		return ended_before(&rec->job, h->job);
	return is_step_kind(rec->kind) && step_purged(&rec->steps[0], h->step);
}

/* A job that was purged has no row.  What else came with its end belongs to it; and steps that
 * were purged alone do not make their job anew. */
static void judge_purged(struct plan_job *j, const struct horizon *h)
{
	bool job = false, all = true;

	for (struct item *it = j->items; it != NULL; it = it->next) {
		if (record_purged(it->rec, h)) {
			it->outcome = VERDICT_PURGED;
			job |= it->rec->kind == REC_JOB_END;
		} else {
			all = false;
		}
	}
	j->purged = j->old == NULL && (job || all);
	for (struct item *it = j->items; j->purged && it != NULL; it = it->next)
		it->outcome = VERDICT_PURGED;
}

static bool names_steps(const struct plan_job *j)
{
	for (const struct item *it = j->items; it != NULL; it = it->next)
		if (it->rec->n_steps > 0 && it->outcome != VERDICT_PURGED)
			return true;
	return false;
}

static void merge_job(struct plan *p, struct plan_job *j)
{
	bool changed = j->old == NULL; /* by the first record */

	for (struct item *it = j->items; it != NULL; it = it->next) {
		if (it->outcome == VERDICT_PURGED)
			continue;
		changed |= job_merge(&j->now, &it->rec->job, it->rec->by_arrival, p->arena);
		it->outcome = changed ? VERDICT_ACCEPTED : VERDICT_DUPLICATE;
		j->changed |= changed;
		changed = false;
	}
}

static void merge_one(struct plan *p, struct plan_job *j, const struct horizon *h)
{
	judge_purged(j, h);
	if (j->purged)
		return;
	begin_row(j);
	merge_job(p, j);
	if (j->old == NULL)
		j->all_steps = true;
	else if (j->changed && has_ended(&j->now))
		j->need = STEPS_ALL;
	else if (names_steps(j))
		j->need = STEPS_NAMED;
}

void plan_merge_jobs(struct plan *p, horizon_of *horizon, void *arg)
{
	struct horizon h;

	for (size_t i = 0; i < p->n_jobs; i++) {
		struct plan_job *j = p->jobs[i];

		h = horizon(j->cluster, arg);
		j->figures_kept = j->old != NULL && ended_before(j->old, h.step);
		if (!j->resolved)
			merge_one(p, j, &h);
	}
}

/* --- steps */

static struct plan_step *add_step(struct plan *p, struct plan_job *j, const struct step *key)
{
	struct plan_step *s = ARENA_NEW(p->arena, struct plan_step);

	if (p->n_steps++ == p->step_buckets)
		grow_step_hash(p);
	step_set(&s->now, cluster, j->cluster);
	step_set(&s->now, job_id, j->job_id);
	step_set(&s->now, submit_at, j->submit_at);
	step_set(&s->now, step_id, key->step_id);
	step_set(&s->now, het_comp, key->het_comp);
	s->next = j->steps;
	j->steps = s;
	hash_in_step(p, s);
	return s;
}

void plan_step_stored(struct plan *p, const struct step *stored)
{
	struct plan_job *j = plan_find(p, stored->cluster, stored->job_id, stored->submit_at);
	struct plan_step *s;

	if (j == NULL || find_step(p, stored) != NULL)
		return;
	s = add_step(p, j, stored);
	s->now = *stored;
	s->stored = true;
}

void plan_put_step(struct plan *p, struct plan_job *j, const struct step *now)
{
	struct plan_step *s = add_step(p, j, now);

	s->now = *now;
	s->changed = true;
}

void plan_put_stored_step(struct plan *p, struct plan_job *j, const struct step *stored)
{
	struct plan_step *s = find_step(p, stored);

	if (s == NULL) {
		s = add_step(p, j, stored);
		s->now = *stored;
		s->gone = true;
	} else {
		s->changed = !row_same(&STEP_ROW(stored), &STEP_ROW(&s->now));
	}
	s->stored = true;
}

/* True if anything changed. */
static bool merge_step(struct plan *p, struct plan_job *j, const struct step *from, bool by_arrival)
{
	struct step key = { .cluster = j->cluster, .job_id = j->job_id, .submit_at = j->submit_at,
			    .step_id = from->step_id, .het_comp = from->het_comp };
	struct plan_step *s = find_step(p, &key);
	bool changed = s == NULL;

	if (s == NULL)
		s = add_step(p, j, &key);
	changed |= step_merge(&s->now, from, by_arrival, p->arena);
	s->changed |= changed;
	return changed;
}

static bool merge_steps_of(struct plan *p, struct plan_job *j, struct item *it, int64_t before)
{
	const struct record *rec = it->rec;
	bool changed = false;

	for (size_t i = 0; i < rec->n_steps; i++)
		if (!step_purged(&rec->steps[i], before))
			changed |= merge_step(p, j, &rec->steps[i], rec->by_arrival);
	if (changed)
		it->outcome = VERDICT_ACCEPTED;
	return changed;
}

void plan_merge_steps(struct plan *p, horizon_of *horizon, void *arg)
{
	for (size_t i = 0; i < p->n_jobs; i++) {
		struct plan_job *j = p->jobs[i];
		int64_t before = horizon(j->cluster, arg).step;
		bool changed = false;

		if (j->resolved)
			continue;
		j->all_steps |= j->need == STEPS_ALL;
		j->need = STEPS_NONE;
		for (struct item *it = j->items; it != NULL; it = it->next)
			if (it->outcome != VERDICT_PURGED)
				changed |= merge_steps_of(p, j, it, before);
		if (changed && !j->all_steps && has_ended(&j->now))
			j->need = STEPS_ALL;
	}
}

/* --- what follows */

/* Some of the steps may have been purged: what was made of all of them stays. */
static void keep_figures(struct job *now, const struct job *old)
{
	static const enum job_field figures[] = {
		JOB_peak_rss,	 JOB_mem_used,	  JOB_mem_estimated, JOB_cpu_used_us,
		JOB_cpu_eff_ppm, JOB_mem_eff_ppm, JOB_oom_step,
	};

	for (size_t i = 0; i < ARRAY_LEN(figures); i++) {
		enum job_field f = figures[i];
		size_t at = job_fields[f].offset;

		memcpy((char *)now + at, (const char *)old + at, sizeof(int64_t));
		if (has_bit(old->has, f))
			has_set(now->has, f);
		else
			has_clear(now->has, f);
	}
}

static bool is_touched(const struct plan_job *j)
{
	if (j->changed || j->resolved)
		return true;
	for (const struct plan_step *s = j->steps; s != NULL; s = s->next)
		if (s->changed)
			return true;
	return false;
}

/* Figures of the whole job are made once it has ended, so that a step costs nothing while it runs;
 * which steps have come by then does not matter, they are made anew. */
static void derive(struct plan *p, struct plan_job *j)
{
	const struct step **steps;
	size_t n = 0;

	for (const struct plan_step *s = j->steps; s != NULL; s = s->next)
		n++;
	steps = ARENA_ARRAY(p->arena, const struct step *, n);
	n = 0;
	if (has_ended(&j->now))
		for (const struct plan_step *s = j->steps; s != NULL; s = s->next)
			if (!s->gone)
				steps[n++] = &s->now;
	job_derive(&j->now, steps, n, p->arena);
	if (j->figures_kept)
		keep_figures(&j->now, j->old);
	j->changed = j->old == NULL || !row_same(&JOB_ROW(j->old), &JOB_ROW(&j->now));
}

void plan_derive(struct plan *p)
{
	for (size_t i = 0; i < p->n_jobs; i++) {
		struct plan_job *j = p->jobs[i];

		if (j->purged || j->gone)
			continue;
		if (!job_has(&j->now, row_id))
			give_row_id(j);
		if (is_touched(j))
			derive(p, j);
		for (struct item *it = j->items; it != NULL; it = it->next)
			it->row_id = (uint64_t)job_get(&j->now, row_id, 0);
	}
}

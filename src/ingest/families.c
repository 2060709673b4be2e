#include "ingest/families.h"

#include "core/family.h"
#include "store/aside.h"

/* A row of the job id as it is stored. */
struct stored {
	struct job *row;
	int month;
	struct step *steps;
	size_t n_steps, cap_steps;
};

struct family_work {
	struct family f;
	bool kept;    /* its parts are there already */
	bool changed; /* by the records at hand */
	struct item *items, **items_end;
	struct stored *stored;
	size_t n_stored, cap_stored;
};

/* For the store's callbacks. */
struct loading {
	struct families *fs;
	int month;
};

static void *grow(struct arena *a, void *items, size_t n, size_t *cap, size_t size)
{
	void *wider;

	if (n < *cap)
		return items;
	*cap = *cap != 0 ? *cap * 2 : 4;
	wider = arena_zalloc(a, *cap * size);
	if (n > 0)
		memcpy(wider, items, n * size);
	return wider;
}

/* ---- which job ids; sorted by job id, then cluster */

static int order(const struct family_work *w, const char *cluster, int64_t job_id)
{
	if (w->f.job_id != job_id)
		return w->f.job_id < job_id ? -1 : 1;
	return strcmp(w->f.cluster, cluster);
}

/* Where it is or would be. */
static size_t place(const struct families *fs, const char *cluster, int64_t job_id)
{
	size_t low = 0, high = fs->n;

	while (low < high) {
		size_t mid = (low + high) / 2;

		if (order(fs->v[mid], cluster, job_id) < 0)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct family_work *find(const struct families *fs, const char *cluster, int64_t job_id)
{
	size_t at = place(fs, cluster, job_id);

	return at < fs->n && order(fs->v[at], cluster, job_id) == 0 ? fs->v[at] : NULL;
}

static struct family_work *add(struct families *fs, const char *cluster, int64_t job_id)
{
	struct arena *arena = fs->t->arena;
	struct family_work *w = find(fs, cluster, job_id);
	size_t at;

	if (w != NULL)
		return w;
	at = place(fs, cluster, job_id);
	fs->v = grow(arena, fs->v, fs->n, &fs->cap, sizeof(struct family_work *));
	memmove(&fs->v[at + 1], &fs->v[at], (fs->n - at) * sizeof(struct family_work *));
	w = fs->v[at] = ARENA_NEW(arena, struct family_work);
	fs->n++;
	family_init(&w->f, cluster, job_id, arena);
	w->items_end = &w->items;
	return w;
}

static void found_kept(const char *cluster, int64_t job_id, void *arg)
{
	struct families *fs = arg;

	add(fs, arena_strdup(fs->t->arena, cluster), job_id)->kept = true;
}

static bool is_to_do(const struct item *it)
{
	return it->outcome == VERDICT_PENDING && item_is_of_job(it);
}

static int find_families(struct families *fs, struct err *err)
{
	const struct transaction *t = fs->t;
	int64_t *ids = ARENA_ARRAY(t->arena, int64_t, t->n);
	size_t n = 0;

	for (size_t i = 0; i < t->n; i++) {
		const struct record *rec = t->items[i]->rec;

		t->items[i]->in_family = false; /* a try before may have been with others */
		if (!is_to_do(t->items[i]))
			continue;
		ids[n++] = rec->job.job_id;
		if (family_is_needed(rec))
			add(fs, rec->cluster, rec->job.job_id);
	}
	if (n == 0 || !write_has_aside(t->tx))
		return 0;
	return aside_which(t->tx, ids, n, found_kept, fs, err);
}

static void take_items(struct families *fs)
{
	for (size_t i = 0; i < fs->t->n; i++) {
		struct item *it = fs->t->items[i];
		struct family_work *w;

		if (!is_to_do(it))
			continue;
		w = find(fs, it->rec->cluster, it->rec->job.job_id);
		if (w == NULL)
			continue;
		it->in_family = true;
		it->next = NULL;
		*w->items_end = it;
		w->items_end = &it->next;
	}
}

/* ---- what is stored */

static void found_part(struct job *stored, void *arg)
{
	const struct loading *l = arg;
	struct family_work *w = find(l->fs, stored->cluster, stored->job_id);

	if (w != NULL)
		family_load(&w->f, stored);
}

static void found_part_step(const struct step *stored, void *arg)
{
	const struct loading *l = arg;
	struct family_work *w = find(l->fs, stored->cluster, stored->job_id);

	for (size_t i = 0; w != NULL && i < w->f.n; i++)
		if (w->f.parts[i]->job.submit_at == stored->submit_at)
			family_load_step(&w->f, w->f.parts[i], stored);
}

static void found_row(struct job *stored, void *arg)
{
	const struct loading *l = arg;
	struct family_work *w = find(l->fs, stored->cluster, stored->job_id);

	if (w == NULL)
		return;
	w->stored = grow(l->fs->t->arena, w->stored, w->n_stored, &w->cap_stored,
			 sizeof(*w->stored));
	w->stored[w->n_stored++] = (struct stored){ .row = stored, .month = l->month };
}

static void found_step(const struct step *step, void *arg)
{
	const struct loading *l = arg;
	struct family_work *w = find(l->fs, step->cluster, step->job_id);

	for (size_t i = 0; w != NULL && i < w->n_stored; i++) {
		struct stored *s = &w->stored[i];

		if (s->row->submit_at != step->submit_at)
			continue;
		s->steps = grow(l->fs->t->arena, s->steps, s->n_steps, &s->cap_steps,
				sizeof(*s->steps));
		s->steps[s->n_steps++] = *step;
	}
}

/* Job ids of one cluster and the months that may have them. */
struct months_of {
	struct arena *arena;
	struct month_of_id {
		int month;
		int64_t job_id;
	} *v; /* by month */
	size_t n, cap;
};

static void found_month(int month, int64_t job_id, void *arg)
{
	struct months_of *m = arg;

	m->v = grow(m->arena, m->v, m->n, &m->cap, sizeof(*m->v));
	m->v[m->n++] = (struct month_of_id){ month, job_id };
}

static int load_month(struct loading *l, const char *cluster, const struct month_of_id *v,
		      size_t n, struct err *err)
{
	const struct transaction *t = l->fs->t;
	struct job_key *keys = ARENA_ARRAY(t->arena, struct job_key, n);

	for (size_t i = 0; i < n; i++)
		keys[i] = (struct job_key){ .cluster = cluster, .job_id = v[i].job_id };
	l->month = v[0].month;
	if (job_load(t->tx, l->month, keys, n, t->arena, found_row, l, err) < 0)
		return -1;
	return step_load_all(t->tx, l->month, keys, n, found_step, l, err);
}

static int load_rows_of(struct families *fs, const char *cluster, struct err *err)
{
	const struct transaction *t = fs->t;
	int64_t *ids = ARENA_ARRAY(t->arena, int64_t, fs->n);
	struct months_of months = { .arena = t->arena };
	struct loading l = { .fs = fs };
	size_t n = 0, from, to;

	for (size_t i = 0; i < fs->n; i++)
		if (strcmp(fs->v[i]->f.cluster, cluster) == 0)
			ids[n++] = fs->v[i]->f.job_id;
	if (job_months(t->tx, cluster, ids, n, found_month, &months, err) < 0)
		return -1;
	for (from = to = 0; from < months.n; from = to) {
		while (to < months.n && months.v[to].month == months.v[from].month)
			to++;
		if (load_month(&l, cluster, &months.v[from], to - from, err) < 0)
			return -1;
	}
	return 0;
}

static bool cluster_is_first(const struct families *fs, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(fs->v[k]->f.cluster, fs->v[i]->f.cluster) == 0)
			return false;
	return true;
}

static int load(struct families *fs, struct err *err)
{
	const struct transaction *t = fs->t;
	int64_t *ids = ARENA_ARRAY(t->arena, int64_t, fs->n);
	struct loading l = { .fs = fs };
	size_t n = 0;

	for (size_t i = 0; i < fs->n; i++)
		if (fs->v[i]->kept)
			ids[n++] = fs->v[i]->f.job_id;
	if (n > 0 &&
	    aside_load(t->tx, ids, n, t->arena, found_part, found_part_step, &l, err) < 0)
		return -1;
	for (size_t i = 0; i < fs->n; i++)
		if (cluster_is_first(fs, i) && load_rows_of(fs, fs->v[i]->f.cluster, err) < 0)
			return -1;
	return 0;
}

/* ---- what is new */

/* The rows that there are become parts. */
static void make_parts(struct family_work *w)
{
	for (size_t i = 0; i < w->n_stored; i++) {
		const struct stored *s = &w->stored[i];
		struct family_part *p = family_load(&w->f, s->row);

		for (size_t k = 0; k < s->n_steps; k++)
			family_load_step(&w->f, p, &s->steps[k]);
	}
	for (size_t i = 0; i < w->f.n; i++)
		w->f.parts[i]->changed = true;
}

static bool is_purged(const struct record *rec, const struct transaction *t)
{
	return rec->kind == REC_JOB_END && job_has(&rec->job, end_at) &&
	       rec->job.end_at < write_horizon(t->tx, rec->cluster, "job");
}

/* True if anything changed. */
static bool add_records(struct family_work *w, const struct transaction *t)
{
	bool any = false;

	for (struct item *it = w->items; it != NULL; it = it->next) {
		bool changed;

		if (is_purged(it->rec, t)) {
			it->outcome = VERDICT_PURGED;
			continue;
		}
		changed = family_add(&w->f, it->rec);
		it->outcome = changed ? VERDICT_ACCEPTED : VERDICT_DUPLICATE;
		any |= changed;
	}
	return any;
}

static int keep_parts(const struct families *fs, struct err *err)
{
	struct arena *arena = fs->t->arena;
	size_t most = 0, most_steps = 0, n = 0, n_steps = 0;
	const struct job **parts;
	const struct step **steps;

	for (size_t i = 0; i < fs->n; i++)
		for (size_t p = 0; p < fs->v[i]->f.n; p++) {
			most++;
			most_steps += fs->v[i]->f.parts[p]->n_steps;
		}
	parts = ARENA_ARRAY(arena, const struct job *, most);
	steps = ARENA_ARRAY(arena, const struct step *, most_steps);
	for (size_t i = 0; i < fs->n; i++)
		for (size_t p = 0; p < fs->v[i]->f.n; p++) {
			const struct family_part *part = fs->v[i]->f.parts[p];

			if (!part->changed || !fs->v[i]->changed)
				continue;
			parts[n++] = &part->job;
			for (size_t s = 0; s < part->n_steps; s++)
				steps[n_steps++] = &part->steps[s];
		}
	return n > 0 ? aside_put(fs->t->tx, parts, n, steps, n_steps, err) : 0;
}

/* ---- the rows as they now are */

static const struct stored *stored_of(const struct family_work *w, int64_t submit_at)
{
	for (size_t i = 0; i < w->n_stored; i++)
		if (w->stored[i].row->submit_at == submit_at)
			return &w->stored[i];
	return NULL;
}

static bool has_run(const struct family_run *runs, size_t n, int64_t submit_at)
{
	for (size_t i = 0; i < n; i++)
		if (runs[i].job.submit_at == submit_at)
			return true;
	return false;
}

static void put_run(const struct family_work *w, struct plan *plan, const struct family_run *run,
		    const struct span *span)
{
	const struct stored *s = stored_of(w, run->job.submit_at);
	struct plan_job *j = plan_put(plan, span_month(span, run->job.submit_at),
				      s != NULL ? s->row : NULL, &run->job);

	for (size_t i = 0; i < run->n_steps; i++)
		plan_put_step(plan, j, &run->steps[i]);
	for (size_t i = 0; s != NULL && i < s->n_steps; i++)
		plan_put_stored_step(plan, j, &s->steps[i]);
}

static void put_gone(struct plan *plan, const struct stored *s)
{
	struct plan_job *j = plan_put(plan, s->month, s->row, NULL);

	for (size_t i = 0; i < s->n_steps; i++)
		plan_put_stored_step(plan, j, &s->steps[i]);
}

static void resolve(const struct family_work *w, struct plan *plan, const struct span *span)
{
	struct family_run *runs;
	size_t n;

	family_resolve(&w->f, &runs, &n);
	for (size_t i = 0; i < n; i++)
		put_run(w, plan, &runs[i], span);
	for (size_t i = 0; i < w->n_stored; i++)
		if (!has_run(runs, n, w->stored[i].row->submit_at))
			put_gone(plan, &w->stored[i]);
}

int families_write(struct families *fs, const struct transaction *t, struct plan *plan,
		   struct err *err)
{
	*fs = (struct families){ .t = t };
	if (find_families(fs, err) < 0)
		return -1;
	if (fs->n == 0)
		return 0;
	take_items(fs);
	if (load(fs, err) < 0)
		return -1;
	for (size_t i = 0; i < fs->n; i++) {
		struct family_work *w = fs->v[i];

		if (!w->kept)
			make_parts(w);
		w->changed = add_records(w, t);
		if (w->changed)
			resolve(w, plan, t->span);
	}
	return keep_parts(fs, err);
}

void families_tell(const struct families *fs, const struct plan *plan)
{
	for (size_t i = 0; i < fs->n; i++)
		for (struct item *it = fs->v[i]->items; it != NULL; it = it->next) {
			const struct record *rec = it->rec;
			const struct plan_job *j = NULL;

			if (rec->submit_known)
				j = plan_find(plan, rec->cluster, rec->job.job_id,
					      rec->job.submit_at);
			if (j != NULL && !j->gone)
				it->row_id = (uint64_t)job_get(&j->now, row_id, 0);
		}
}

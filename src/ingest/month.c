#include "ingest/month.h"

void months_init(struct months *m, struct arena *arena)
{
	*m = (struct months){ .arena = arena };
}

static struct month_change *new_change(struct months *m, const char *cluster, int month)
{
	struct month_change *v;

	if (m->n == m->cap) {
		m->cap = m->cap != 0 ? m->cap * 2 : 8;
		v = ARENA_ARRAY(m->arena, struct month_change, m->cap);
		if (m->n > 0)
			memcpy(v, m->v, m->n * sizeof(*v));
		m->v = v;
	}
	v = &m->v[m->n++];
	*v = (struct month_change){ .cluster = cluster, .month = month,
				    .least_visible = MONTH_NO_BOUND,
				    .greatest_end = MONTH_NO_BOUND,
				    .least_job_id = INT64_MAX, .greatest_job_id = INT64_MIN };
	return v;
}

static struct month_change *find(struct months *m, const char *cluster, int month)
{
	for (size_t i = m->n; i > 0; i--)
		if (m->v[i - 1].month == month && strcmp(m->v[i - 1].cluster, cluster) == 0)
			return &m->v[i - 1];
	return new_change(m, cluster, month);
}

static void add_id(struct month_change *c, int64_t id)
{
	if (id < c->least_job_id)
		c->least_job_id = id;
	if (id > c->greatest_job_id)
		c->greatest_job_id = id;
}

static void add_visible(struct month_change *c, bool has, int64_t at)
{
	if (has && (c->least_visible == MONTH_NO_BOUND || at < c->least_visible))
		c->least_visible = at;
}

/* From when on the job can be seen, whatever is asked; false when never. */
static bool seen_from(const struct job *j, int64_t *ret)
{
	*ret = INT64_MAX;
	if (job_has(j, visible_from) && j->visible_from < *ret)
		*ret = j->visible_from;
	if (job_has(j, start_at) && j->start_at < *ret)
		*ret = j->start_at;
	if (job_has(j, end_at) && j->end_at < *ret)
		*ret = j->end_at;
	return *ret != INT64_MAX;
}

static void widen(struct month_change *c, const struct job *j)
{
	int64_t seen;
	bool has = seen_from(j, &seen);

	add_id(c, j->job_id);
	if (job_has(j, array_job_id))
		add_id(c, j->array_job_id);
	if (job_has(j, het_job_id))
		add_id(c, j->het_job_id);
	add_visible(c, has, seen);
	if (!job_has(j, end_at))
		return;
	if (c->greatest_end == MONTH_NO_BOUND || j->end_at > c->greatest_end)
		c->greatest_end = j->end_at;
	if (has && j->end_at - seen > c->max_life_s)
		c->max_life_s = j->end_at - seen;
}

void months_follow(struct months *m, int month, const struct job *old, const struct job *now)
{
	/* A bound may be wider than the rows: that of a row that goes does no harm. */
	const struct job *row = now != NULL ? now : old;
	assert(row != NULL);
	struct month_change *c;

	assert(row != NULL);
	c = find(m, row->cluster, month);
	if (old != NULL)
		c->opened -= !job_has(old, end_at);
	if (now != NULL)
		c->opened += !job_has(now, end_at);
	widen(c, row);
}

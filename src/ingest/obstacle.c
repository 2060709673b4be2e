#include "ingest/obstacle.h"

#define PAUSE_FIRST_MS 250
#define PAUSE_MOST_MS  4000

static struct obstacle *find(struct obstacles *o, enum obstacle_kind kind, int month)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].kind == kind && o->v[i].month == month)
			return &o->v[i];
	return NULL;
}

bool obstacle_stands(const struct obstacles *o, enum obstacle_kind kind, int month, int64_t now_ms)
{
	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].kind == kind && o->v[i].month == month)
			return now_ms < o->v[i].until_ms;
	return false;
}

bool obstacle_any_stands(const struct obstacles *o, int64_t now_ms)
{
	for (size_t i = 0; i < o->n; i++)
		if (now_ms < o->v[i].until_ms)
			return true;
	return false;
}

/* When all places are taken the one that is tried again first gives way: it is met once more. */
static struct obstacle *new_place(struct obstacles *o)
{
	struct obstacle *first = &o->v[0];

	if (o->n < ARRAY_LEN(o->v))
		return &o->v[o->n++];
	for (size_t i = 1; i < o->n; i++)
		if (o->v[i].until_ms < first->until_ms)
			first = &o->v[i];
	return first;
}

void obstacle_met(struct obstacles *o, enum obstacle_kind kind, int month, int64_t now_ms)
{
	struct obstacle *b = find(o, kind, month);

	if (b == NULL) {
		b = new_place(o);
		*b = (struct obstacle){ .kind = kind, .month = month };
	}
	b->pause_ms = b->pause_ms == 0 ? PAUSE_FIRST_MS : 2 * b->pause_ms;
	if (b->pause_ms > PAUSE_MOST_MS)
		b->pause_ms = PAUSE_MOST_MS;
	b->until_ms = now_ms + b->pause_ms;
}

void obstacle_gone(struct obstacles *o, enum obstacle_kind kind, int month)
{
	struct obstacle *b = find(o, kind, month);

	if (b != NULL)
		*b = o->v[--o->n];
}

int64_t obstacle_next_ms(const struct obstacles *o)
{
	int64_t next = INT64_MAX;

	for (size_t i = 0; i < o->n; i++)
		if (o->v[i].until_ms < next)
			next = o->v[i].until_ms;
	return next;
}

#include "core/merge.h"

#include "core/moments.h"

/* A row of either kind, seen through its field table. */
struct view {
	const uint64_t *has;
	const uint8_t *rank;
	const int64_t *as_of;
	const char *base;
};

struct row {
	const struct field *fields;
	uint64_t *has;
	uint8_t *rank;
	int64_t *as_of;
	char *base;
	struct arena *arena;
	bool by_arrival;
};

/* What one field is in a row. */
struct cell {
	uint8_t rank;
	int64_t as_of;
	const void *value;
};

_Static_assert(sizeof(const char *) == sizeof(int64_t), "a value has one size");

static bool is_merged(const struct field *f)
{
	return (f->flags & (FF_KEY | FF_DERIVED)) == 0;
}

static int number_cmp(int64_t a, int64_t b)
{
	return (a > b) - (a < b);
}

static const char *text_of(const void *value)
{
	return *(const char *const *)value;
}

static int value_cmp(enum field_type type, const void *a, const void *b)
{
	if (field_is_text(type))
		return strcmp(text_of(a), text_of(b));
	return number_cmp(*(const int64_t *)a, *(const int64_t *)b);
}

static int stamp_cmp(const struct cell *a, const struct cell *b)
{
	return a->rank != b->rank ? number_cmp(a->rank, b->rank) : number_cmp(a->as_of, b->as_of);
}

static void take(struct row *into, size_t f, const struct cell *from)
{
	const struct field *field = &into->fields[f];

	has_set(into->has, f);
	into->rank[f] = from->rank;
	into->as_of[f] = from->as_of;
	memcpy(into->base + field->offset, from->value, sizeof(int64_t));
}

/* Instants of both, and the greater stamp. */
static bool merge_moments(struct row *into, size_t f, const struct cell *mine,
			  const struct cell *theirs)
{
	const char *old = text_of(mine->value);
	const char *both = moments_union(old, text_of(theirs->value), into->arena);
	bool greater = stamp_cmp(theirs, mine) > 0;
	struct cell joined = greater ? *theirs : *mine;

	if (!greater && strcmp(both, old) == 0)
		return false;
	joined.value = &both;
	take(into, f, &joined);
	return true;
}

static bool merge_field(struct row *into, size_t f, const struct cell *theirs)
{
	const struct field *field = &into->fields[f];
	struct cell mine = { into->rank[f], into->as_of[f], into->base + field->offset };

	if (!has_bit(into->has, f)) {
		take(into, f, theirs);
		return true;
	}
	if (field->type == FT_MOMENTS)
		return merge_moments(into, f, &mine, theirs);
	int stamp = stamp_cmp(theirs, &mine);
	int value = value_cmp(field->type, theirs->value, mine.value);
	bool wins = stamp > 0 || (stamp == 0 && value > 0);
	if (into->by_arrival && theirs->rank == mine.rank)
		wins = stamp != 0 || value != 0;
	if (wins)
		take(into, f, theirs);
	return wins;
}

static bool merge(struct row *into, const struct view *from)
{
	bool changed = false;

	for (size_t w = 0; w < HAS_WORDS; w++)
		for (uint64_t bits = from->has[w]; bits != 0; bits &= bits - 1) {
			size_t f = 64 * w + (size_t)__builtin_ctzll(bits);
			const struct field *field = &into->fields[f];
			struct cell theirs = { from->rank[f], from->as_of[f],
					       from->base + field->offset };
			if (is_merged(field))
				changed |= merge_field(into, f, &theirs);
		}
	return changed;
}

bool job_merge(struct job *into, const struct job *from, bool by_arrival, struct arena *arena)
{
	struct view v = { from->has, from->rank, from->as_of, (const char *)from };
	struct row r = { job_fields,   into->has, into->rank, into->as_of,
			 (char *)into, arena,	  by_arrival };

	return merge(&r, &v);
}

bool step_merge(struct step *into, const struct step *from, bool by_arrival, struct arena *arena)
{
	struct view v = { from->has, from->rank, from->as_of, (const char *)from };
	struct row r = { step_fields,  into->has, into->rank, into->as_of,
			 (char *)into, arena,	  by_arrival };

	return merge(&r, &v);
}

static enum rank kind_rank(enum record_kind kind)
{
	switch (kind) {
	case REC_JOB_END:
	case REC_STEP_END: return RANK_END;
	case REC_JOB_RESIZE: return RANK_RESIZE;
	case REC_JOB_START:
	case REC_STEP_START:
	case REC_JOB_SUSPEND:
	case REC_JOB_RESUME:
	case REC_NODE_EVENT:
	case REC_CLUSTER_TRES:
	case REC_KINDS: break;
	}
	return RANK_START;
}

/* A field that has a rank already got it from validation, which made up the value. */
static void stamp(const struct field *fields, size_t n, const uint64_t *has, uint8_t *rank,
		  int64_t *as_of, const struct record *rec)
{
	uint8_t r = (uint8_t)kind_rank(rec->kind);

	for (size_t f = 0; f < n; f++) {
		bool stamped = has_bit(has, f) && is_merged(&fields[f]);
		if (stamped && rank[f] != RANK_NONE)
			continue;
		rank[f] = stamped ? r : RANK_NONE;
		as_of[f] = stamped ? rec->as_of : AS_OF_UNKNOWN;
	}
}

void record_stamp(struct record *rec)
{
	struct job *j = &rec->job;

	stamp(job_fields, JOB_FIELDS, j->has, j->rank, j->as_of, rec);
	for (size_t i = 0; i < rec->n_steps; i++) {
		struct step *s = &rec->steps[i];
		stamp(step_fields, STEP_FIELDS, s->has, s->rank, s->as_of, rec);
	}
}

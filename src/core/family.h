/* core/family.h: the runs of one job id, when some records do not say which run they mean, or the
 * job was resized.
 *
 * A run's identity is its submit time.  A record that names none belongs to the run whose life
 * holds the record's time (its start, else its end, else the moment it is about); if there is
 * none, a run is made from such records alone, with submit = start, else end less the seconds it
 * ran, and marked submit_inferred; and when the true submit time comes, its run takes that one
 * over.
 *
 * A resize ends the run that is alive at its moment as RESIZING and opens one with submit = start
 * = eligible = the moment, which takes what the resize does not name from the run before.  What
 * is said of a later time under the old submit time (the end, steps, suspensions) belongs to the
 * new run.  A resize when no run is alive does nothing, until one is.
 *
 * Which record belongs where can change with every record that comes, so merged rows are not
 * enough: what each record said is kept in parts, and the runs are computed from all parts at
 * once.  So the order of arrival cannot show.
 *
 * A part is what all records of one (cluster, job id) with the same key said, merged.  The key of
 * records with a submit time is that time; of the others, and of ends and resizes, a negative
 * number made from a time.  Parts are rows like any (submit_at = key), so they can be stored as
 * such.  Only job ids that have a record without a submit time, or a resize, need parts; the first
 * such record makes the rows that there are into parts.  (There alone something is lost: where an
 * end has already written over what a start said, and then a resize comes that says it was of
 * before the end, the run before it has the end's word or, where the resize speaks of it, none.)
 *
 *	family_init(&f, cluster, job_id, arena);
 *	family_load(&f, ...)          what is kept of it, or the rows that there are
 *	family_add(&f, &rec)          new records, validated and stamped
 *	... keep the parts that have changed ...
 *	family_resolve(&f, &runs, &n) the rows as they now are: job_derive is for the caller
 */
#ifndef TALLY_CORE_FAMILY_H
#define TALLY_CORE_FAMILY_H

#include "core/record.h"

struct family_part {
	struct job job; /* submit_at: the key */
	struct step *steps;
	size_t n_steps;
	bool changed; /* by family_add */
	size_t cap_steps;
};

struct family {
	struct arena *arena;
	const char *cluster;
	int64_t job_id;
	struct family_part **parts; /* ascending by key */
	size_t n;
	size_t cap;
};

struct family_run {
	struct job job;	    /* identity and submit_inferred set, the rest merged; not derived */
	struct step *steps; /* each with the run's identity */
	size_t n_steps;
};

/* Does the record need parts?  The record must be valid. */
bool family_is_needed(const struct record *rec);
static inline bool family_key_is_made(int64_t key)
{
	return key < 0;
}

void family_init(struct family *f, const char *cluster, int64_t job_id, struct arena *arena);
/* A kept part, or a row; texts are shared.  Returns the part, for its steps.  What job_derive had
 * filled in is taken out, and what an end said becomes a part of its own. */
struct family_part *family_load(struct family *f, const struct job *job);
void family_load_step(struct family *f, struct family_part *part, const struct step *step);
/* True when it said anything new. */
bool family_add(struct family *f, const struct record *rec);
/* Ascending by submit time. */
void family_resolve(const struct family *f, struct family_run **ret, size_t *ret_n);

#endif

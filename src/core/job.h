/* core/job.h: a job's row and a step's row.
 *
 * Strings point into memory that somebody else owns (a request's arena, a result set).  A field
 * counts only when its bit in `has` is set; read through job_has or the field tables.  Each field
 * carries the stamp of the record that gave it (rank and as_of), which is all that merging needs:
 * see core/merge.h. */
#ifndef TALLY_CORE_JOB_H
#define TALLY_CORE_JOB_H

#include "core/field.h"

enum job_field {
#define F(name, type, flags, json, doc) JOB_##name,
#include "core/job.def"
#undef F
	JOB_FIELDS
};

enum step_field {
#define F(name, type, flags, json, doc) STEP_##name,
#include "core/step.def"
#undef F
	STEP_FIELDS
};

_Static_assert(JOB_FIELDS <= 64 * HAS_WORDS && STEP_FIELDS <= 64 * HAS_WORDS, "widen has");

/* Which kind of record a field came from: end beats resize beats start. */
enum rank { RANK_NONE, RANK_START, RANK_RESIZE, RANK_END };

#define AS_OF_UNKNOWN INT64_MIN /* the record did not say when it was true */

struct job {
	uint64_t has[HAS_WORDS];
	uint8_t rank[JOB_FIELDS];
	int64_t as_of[JOB_FIELDS];
#define F(name, type, flags, json, doc) CT_##type name;
#include "core/job.def"
#undef F
};

struct step {
	uint64_t has[HAS_WORDS];
	uint8_t rank[STEP_FIELDS];
	int64_t as_of[STEP_FIELDS];
#define F(name, type, flags, json, doc) CT_##type name;
#include "core/step.def"
#undef F
};

extern const struct field job_fields[JOB_FIELDS];
extern const struct field step_fields[STEP_FIELDS];

#define job_has(j, f) has_bit((j)->has, JOB_##f)
#define step_has(s, f) has_bit((s)->has, STEP_##f)
/* job_set(j, start_at, 1700000000) */
#define job_set(j, f, v) ((void)((j)->f = (v)), has_set((j)->has, JOB_##f))
#define step_set(s, f, v) ((void)((s)->f = (v)), has_set((s)->has, STEP_##f))
#define job_unset(j, f) has_clear((j)->has, JOB_##f)
#define step_unset(s, f) has_clear((s)->has, STEP_##f)
/* The value, or a default when unknown. */
#define job_get(j, f, otherwise) (job_has(j, f) ? (j)->f : (otherwise))
#define step_get(s, f, otherwise) (step_has(s, f) ? (s)->f : (otherwise))

/* By JSON key or C name; -1 if there is none. */
int job_field_find(const char *name);
int step_field_find(const char *name);

/* Numbers of jobs have 32 bits.  From here on are those that an import made for an array's tasks
 * whose own numbers the file did not tell.  Below 2^53: JSON's readers may have doubles only. */
#define JOB_ID_MADE ((int64_t)1 << 52)

/* Step numbers that are words.  (slurmdbd protocol: 0xfffffffb batch, ...) */
enum { STEP_ID_EXTERN = -4, STEP_ID_BATCH = -5, STEP_ID_INTERACTIVE = -6 };
#define HET_COMP_NONE (-1)

enum req_mem_per { PER_JOB, PER_NODE, PER_CPU };

/* What sacct shows, from the raw fields (rules: slurmdbd semantics 3, cases FC-057, 060, 061).
 * `now` stands for the end of what has not ended. */
/* Start as shown: end when the clock stepped back; false when it never started. */
bool job_start_shown(const struct job *j, int64_t *ret_start);
/* Seconds run, suspension taken off; 0 when never started or the clock stepped back. */
int64_t job_elapsed_s(const struct job *j, int64_t now);
/* Seconds suspended inside [from, to); INT64_MIN/INT64_MAX for all of its life. */
int64_t job_suspended_s(const struct job *j, int64_t from, int64_t to, int64_t now);
/* RUNNING becomes SUSPENDED while its last instant is a suspension and it has not ended, and
 * SUSPENDED becomes RUNNING when its last instant is a resumption. */
int64_t job_state_shown(const struct job *j);
bool job_is_final(const struct job *j); /* ended, and not REQUEUED or RESIZING */

/* The flaws (enum job_flaw) that follow from the row and its stamps, for job_derive: all but
 * FLAW_TEXT_MENDED, which is for who mended it. */
int64_t job_flaws_of(const struct job *j);

#endif

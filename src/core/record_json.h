/* core/record_json.h: records in from JSON, rows out as JSON, and rows in again for the client.
 *
 * All three are driven by job.def and step.def: a field's key, type and form stand there
 * (core/field.h says what each type looks like in JSON).  Beside them a record has "kind",
 * "cluster", "as_of", "at" (suspend, resume, resize, node event, cluster TRES), "steps" (job_end)
 * and, for node_event and cluster_tres, the keys of those two.
 *
 * In a record:
 * - null is "not said".  So are Slurm's numbers for it: 2^64-2 and 2^64-1 everywhere, 2^32-2 and
 *   2^32-1 where no value can be that large, and 0 for a start or end.
 * - A key given twice is refused, as is a key that nobody knows (the message names the nearest),
 *   unless it begins with "x_": those are the sender's own.  Keys that are computed from others
 *   are passed over, so that an answer can be sent back as a record.
 * - Times are ISO 8601 with an offset, or seconds since 1970; fractions of a second are dropped.
 *   A time without an offset is refused: it is some clock's, and we do not know whose. */
#ifndef TALLY_CORE_RECORD_JSON_H
#define TALLY_CORE_RECORD_JSON_H

#include "base/buf.h"
#include "core/json.h"
#include "core/record.h"

struct record_defaults {
	const char *cluster; /* for records that name none; NULL: they are refused */
};

/* Decodes one record.  What ret holds lies in the arena, except raw, which is `json` itself.
 * Returns 0, or -1 with err (where: the key; of a step "steps[3].exit_code"); then only raw,
 * raw_len and what had been read of kind and cluster count. */
int record_decode(const char *json, size_t len, const struct record_defaults *defaults,
		  struct arena *arena, struct record *ret, struct err *err);

/* A record of a job or a step as record_decode takes it: what is known and nothing else; times as
 * seconds.  A cluster of NULL is left to whoever receives it. */
void record_encode_json(struct buf *out, const struct record *rec);

/* What an answer has beyond the fields (core/computed.def).  Their numbers follow those of the
 * fields, so one mask selects both.  "state", "elapsed_s", "max_rss_bytes" and "total_cpu_us" are
 * fields, but written as they follow from the whole row. */
enum job_computed {
	JOB_X_BEFORE = JOB_FIELDS - 1,
#define J(name, type, json, doc) JOB_X_##name,
#include "core/computed.def"
	JOB_KEYS
};

enum step_computed {
	STEP_X_BEFORE = STEP_FIELDS - 1,
#define S(name, type, json, doc) STEP_X_##name,
#include "core/computed.def"
	STEP_KEYS
};

_Static_assert(JOB_KEYS <= 64 * HAS_WORDS && (int)STEP_KEYS <= 64 * HAS_WORDS, "widen has");

/* Every key of an answer, fields first: for the contract, fields= and CSV headers.  name, type,
 * json and doc count; offset only below JOB_FIELDS. */
const struct field *job_key(int key);
const struct field *step_key(int key);
/* By JSON key; -1 if there is none. */
int job_key_find(const char *json, size_t n);
int step_key_find(const char *json, size_t n);

struct row_style {
	int64_t now;	      /* stands for the end of what has not ended */
	bool epoch;	      /* times as seconds since 1970 instead of ISO 8601 */
	bool steps;	      /* a job has "steps", even if there are none */
	const uint64_t *keys; /* HAS_WORDS words: which keys of a job; NULL = all */
	const uint64_t *step_keys;
};

/* One JSON object, no newline.  Unknown is null. */
void job_encode_json(struct buf *out, const struct job *j, const struct step *steps, size_t n_steps,
		     const struct row_style *style);
void step_encode_json(struct buf *out, const struct step *s, const struct job *j,
		      const struct row_style *style);

/* The value of one field, for rows of other tables.  Not for FT_EXIT. */
void field_encode_json(struct buf *out, const struct field *f, const void *value,
		       const struct row_style *style);

/* Takes one object as job_encode_json writes it, derived fields too; keys it does not know (a newer
 * daemon's) are passed over.  Texts lie in the scanner's arena.  0, or -1 with the scanner's err.
 */
int job_decode_json(struct jscan *json, struct job *ret, struct step **ret_steps,
		    size_t *ret_n_steps);

#endif

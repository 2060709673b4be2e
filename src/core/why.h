/* core/why.h: why a job ended as it did, from its row and its steps.
 *
 * A list of findings, the cause first: each with a code that stays the same for programs, a
 * sentence for people, and the numbers it was concluded from.  What the record says is a cause;
 * what was measured beside it is a fact and is not called the cause; what a number often means is
 * a hint and says so.  Nothing is guessed. */
#ifndef TALLY_CORE_WHY_H
#define TALLY_CORE_WHY_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/job.h"

enum why_code {
#define W(code, kind, doc) WHY_##code,
#include "core/why.def"
#undef W
	WHY_CODES
};

enum why_kind { WHY_CAUSE, WHY_FACT, WHY_HINT };

struct why_row {
	const char *code;
	enum why_kind kind;
	const char *doc;
};

extern const struct why_row why_rows[WHY_CODES];

#define WHY_EVIDENCE_MAX 6

struct why_evidence {
	const char *name; /* with its unit: "elapsed_s", "max_rss_bytes" */
	const char *text; /* NULL: a number */
	int64_t number;
};

struct why_finding {
	enum why_code code;
	const char *sentence;
	struct why_evidence evidence[WHY_EVIDENCE_MAX];
	size_t n_evidence;
};

/* The job must be derived (job_derive, or as the store and an answer have it).  `now` is for what
 * has not ended.  At least one finding; all of it lies in the arena. */
void job_why(const struct job *j, const struct step *steps, size_t n_steps, int64_t now,
	     struct arena *arena, struct why_finding **ret, size_t *ret_n);

/* [{"code":"timeout","kind":"cause","text":"...","evidence":{"elapsed_s":60}}] */
void why_encode_json(struct buf *out, const struct why_finding *findings, size_t n);
/* The sentences, a line each; hints begin with "Hint: ". */
void why_format(struct buf *out, const struct why_finding *findings, size_t n);

#endif

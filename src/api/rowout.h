/* api/rowout.h: jobs as JSON, NDJSON or CSV, one after the other. */
#ifndef TALLY_API_ROWOUT_H
#define TALLY_API_ROWOUT_H

#include "api/args.h"
#include "base/buf.h"

struct rowout {
	enum answer_format format; /* never FORMAT_UNSAID */
	const struct row_args *args;
	struct row_style style;
	struct arena *scratch; /* CSV: reset with each row */
	uint64_t count;
	size_t hints[2 * JOB_KEYS]; /* CSV: see cell */
};

/* args must live as long. */
void rowout_init(struct rowout *r, enum answer_format format, const struct row_args *args,
		 int64_t now, bool steps);
void rowout_fini(struct rowout *r);

/* CSV's first line; nothing in the other formats. */
void rowout_head(struct rowout *r, struct buf *out);
/* One job: an object with what must stand before it, a line, or a record. */
void rowout_add(struct rowout *r, const struct job *j, const struct step *steps, size_t n,
		struct buf *out);

/* The columns that must be read for these keys (HAS_WORDS words; 0 = all). */
void rowout_columns(const struct key_list *keys, uint64_t *ret_columns);

/* What an Accept header wants; JSON when it says nothing that we know. */
enum answer_format format_from_accept(const char *accept);
extern const char *const format_types[], *const format_names[];

/* Adds what the row holds, for a tag that changes when it does and not with the clock. */
void row_fingerprint(const struct job *j, const struct step *steps, size_t n, struct buf *out);

#endif

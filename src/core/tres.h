/* core/tres.h: TRES as text, "cpu=4,gres/gpu=2,mem=8000": names ascending by byte, each once,
 * counts plain int64.  That one form is stored, compared and hashed; what people and tools write
 * ("mem=32G,cpu=4") is read into it.  A name reaches to the last '=' of its word, so it may hold
 * '-', '.', ':' and '='.
 *
 * Units: in allocations and requests mem and bb/... are MiB, energy J.  In usage cpu is ms, mem,
 * vmem, gres/gpumem and fs/disk bytes, energy J. */
#ifndef TALLY_CORE_TRES_H
#define TALLY_CORE_TRES_H

#include "base/arena.h"
#include "base/buf.h"
#include "core/units.h"

enum tres_kind { TRES_AMOUNT, TRES_USAGE };

struct tres {
	const char *name; /* not NUL-terminated */
	size_t len;
	int64_t count;
};

/* sacct's text, or ours, into the one form.  Counts that mean "no value" (2^64 - 2, 2^64 - 1,
 * "16?") are left out.  A word that is no name=count, a negative count, a name that comes twice:
 * -1, err quotes the word.  "" gives "". */
int tres_parse(const char *text, enum tres_kind kind, struct arena *arena, const char **ret,
	       struct err *err);
/* The same from pairs (a JSON object); sorts them in place. */
int tres_make(struct tres *items, size_t n, struct arena *arena, const char **ret,
	      struct err *err);
/* One count as text, "32G" of mem, "1-02:03:04" of cpu in usage. */
int tres_count_parse(const char *name, size_t len, enum tres_kind kind, const char *text,
		     int64_t *ret, bool *ret_known, struct err *err);

/* Walks the one form: for (const char *at = text; tres_next(&at, &t);).  NULL has none. */
bool tres_next(const char **at, struct tres *ret);
/* False when the text (may be NULL) does not name it. */
bool tres_get(const char *text, const char *name, int64_t *ret);
/* GPUs whatever their type: gres/gpu where it is named, else the sum over gres/gpu:TYPE.  Shards
 * are no GPUs.  A text that names none has 0; NULL is not known: false. */
bool tres_gpus(const char *text, int64_t *ret);

/* As sacct prints it: "mem=32G", "cpu=00:10:00" of usage. */
void tres_format(const char *text, enum tres_kind kind, struct unit_style style, struct buf *out);

/* Names, for what else is kept per TRES: by bytes, the shorter first; what a name may be. */
int tres_name_order(const char *a, size_t a_len, const char *b, size_t b_len);
int tres_name_check(const char *name, size_t len, struct err *err);

#endif

/* core/words.h: the names of bits (FT_WORDS) and of numbers (FT_ENUM), by field.
 *
 * A number or bit that has no name is written as "0x40" and read back, so that nothing a newer
 * controller sends is lost. */
#ifndef TALLY_CORE_WORDS_H
#define TALLY_CORE_WORDS_H

#include "base/buf.h"
#include "base/err.h"
#include "core/field.h"

enum job_flag { /* the controller's bits */
	FLAG_SCHED_SUBMIT = 2,
	FLAG_SCHED_MAIN = 4,
	FLAG_SCHED_BACKFILL = 8,
	FLAG_START_RECEIVED = 16,
	FLAG_ALTERED = 32,
};

enum job_flaw { /* ours */
	FLAW_END_BEFORE_START = 1, /* the clock stepped back */
	FLAW_NO_END_TIME = 2,      /* ended, with no time of its end */
	FLAW_TEXT_MENDED = 4,      /* a text was not UTF-8 */
	FLAW_NEVER_STARTED = 8,    /* its start only repeats its end: it was never allocated */
};

enum admin_level { ADMIN_NONE = 1, ADMIN_OPERATOR, ADMIN_ADMINISTRATOR };

enum qos_flag { /* the controller's bits */
	QOS_PARTITION_MIN_NODES = 1,
	QOS_PARTITION_MAX_NODES = 2,
	QOS_PARTITION_TIME_LIMIT = 4,
	QOS_ENFORCE_USAGE_THRESHOLD = 8,
	QOS_NO_RESERVE = 16,
	QOS_REQUIRES_RESERVATION = 32,
	QOS_DENY_ON_LIMIT = 64,
	QOS_OVER_PART_QOS = 128,
	QOS_NO_DECAY = 256,
	QOS_USAGE_FACTOR_SAFE = 512,
	QOS_RELATIVE = 1024,
	QOS_PARTITION_QOS = 0x1000,
};

enum resv_flag { /* the controller's bits that matter here */
	RESV_MAINT = 1,
	RESV_IGNORE_JOBS = 64,
};

struct word {
	int64_t value;
	const char *name;
};

/* The first row with a value is its name; later ones are read only. */
struct words {
	const char *what; /* for messages: "job flag" */
	const struct word *rows;
	size_t n;
};

extern const struct words admin_level_words, qos_flag_words, preempt_mode_words;
extern const struct words cluster_flag_words, cluster_class_words, resv_flag_words;
extern const struct words job_flag_words, job_flaw_words, req_mem_per_words;

/* The words of an FT_WORDS or FT_ENUM field; NULL for any other field. */
const struct words *words_of(const struct field *f);

#define WORD_TEXT_SIZE 24
/* The name of a number, or its "0x..." made in `scratch`. */
const char *word_name(const struct words *w, int64_t value, char scratch[WORD_TEXT_SIZE]);
/* Takes the lowest bit out of *bits and names it; NULL when none is left. */
const char *words_next(const struct words *w, int64_t *bits, char scratch[WORD_TEXT_SIZE]);
/* One name, in any case. */
int word_parse(const struct words *w, const char *text, int64_t *ret, struct err *err);

/* Bits as a comma list, lowest first; "" for none. */
void words_format(const struct words *w, int64_t bits, struct buf *out);
int words_parse(const struct words *w, const char *text, int64_t *ret_bits, struct err *err);

#endif

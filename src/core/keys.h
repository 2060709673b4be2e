/* core/keys.h: the JSON keys of jobs and steps, found by a hash.
 *
 * Every field has one key, an exit status three: "exit" ("0:9") and its halves "exit_code" and
 * "exit_signal".  Behind them come the keys that are only computed (core/computed.def). */
#ifndef TALLY_CORE_KEYS_H
#define TALLY_CORE_KEYS_H

#include "core/record_json.h"

enum key_part { KEY_WHOLE, KEY_CODE, KEY_SIGNAL };

struct key {
	const char *text;
	size_t len;
	int field; /* JOB_*, STEP_*, or a computed one */
	enum key_part part;
};

/* The keys of one kind of row. */
struct keys {
	const struct key *rows;
	size_t n;
	const struct field *fields;
	int n_fields; /* a key with a higher number is computed */
	/* Where the key may be; the row says whether it is. */
	size_t (*slot)(const char *p, size_t n);
};

#define KEYS_MAX (64 * HAS_WORDS)

extern const struct keys job_keys, step_keys;

/* Its place in rows; -1 if there is none. */
int key_find(const struct keys *k, const char *p, size_t n);

#endif

/* core/keys.c: the hash is over the length and seven letters of a key, with factors that were
 * found by trying odd numbers at random until no two keys shared a slot.  The compiler knows the
 * slots of all keys and makes a jump table of the comparisons.  Should a new field's key fall on
 * a taken slot, it is still found, by walking the table; the unit test then asks for new
 * factors. */
#include "core/keys.h"

#define SLOTS 512u
#define HASH(n, a, b, c, d, e, f, g)                                                               \
	(((uint32_t)(n)*20595u + (a)*39663u + (b)*21713u + (c)*14935u + (d)*33521u + (e)*18123u +  \
	  (f)*57497u + (g)*22873u) >>                                                              \
		 8 &                                                                               \
	 (SLOTS - 1))
#define AT(p, i) ((uint32_t)(unsigned char)(p)[i])
#define HASH_OF(p, n)                                                                              \
	HASH(n, AT(p, 0), AT(p, (n) / 4), AT(p, (n) / 3), AT(p, (n) / 2), AT(p, 2 * (n) / 3),      \
	     AT(p, 3 * (n) / 4), AT(p, (n)-1))
#define LEN(text) (sizeof(text) - 1)

/* X(id, text, field, part) for every key of a row of field table T. */
#define ONE(T, name, json) X(T##_##name, json, T##_##name, KEY_WHOLE)
#define THREE(T, name, json)                                                                       \
	ONE(T, name, json)                                                                         \
	X(T##_##name##_CODE, json "_code", T##_##name, KEY_CODE)                                   \
	X(T##_##name##_SIGNAL, json "_signal", T##_##name, KEY_SIGNAL)
#define KEYS_I64     ONE
#define KEYS_U64     ONE
#define KEYS_BOOL    ONE
#define KEYS_TIME    ONE
#define KEYS_TEXT    ONE
#define KEYS_STATE   ONE
#define KEYS_EXIT    THREE
#define KEYS_LIMIT   ONE
#define KEYS_TRES    ONE
#define KEYS_WHERE   ONE
#define KEYS_WORDS   ONE
#define KEYS_ENUM    ONE
#define KEYS_MOMENTS ONE

#define F(name, type, flags, json, doc) KEYS_##type(JOB, name, json)
#define J(name, type, json, doc)	X(JOB_X_##name, json, JOB_X_##name, KEY_WHOLE)

enum job_slot {
#define X(id, text, field, part) SLOT_##id,
#include "core/job.def"
#include "core/computed.def"
#undef X
	JOB_SLOTS
};

static const struct key job_rows[] = {
#define J(name, type, json, doc) X(JOB_X_##name, json, JOB_X_##name, KEY_WHOLE)
#define X(id, text, field, part) [SLOT_##id] = { text, LEN(text), field, part },
#include "core/job.def"
#include "core/computed.def"
#undef X
};

static size_t job_slot(const char *p, size_t n)
{
	uint32_t h = HASH_OF(p, n);

#define J(name, type, json, doc) X(JOB_X_##name, json, JOB_X_##name, KEY_WHOLE)
#define X(id, text, field, part)                                                                   \
	if (h == HASH_OF(text, LEN(text)))                                                         \
		return SLOT_##id;
#include "core/job.def"
#include "core/computed.def"
#undef X
	return 0;
}

#undef F
#define F(name, type, flags, json, doc) KEYS_##type(STEP, name, json)

enum step_slot {
#define S(name, type, json, doc) X(STEP_X_##name, json, STEP_X_##name, KEY_WHOLE)
#define X(id, text, field, part) SLOT_##id,
#include "core/step.def"
#include "core/computed.def"
#undef X
	STEP_SLOTS
};

static const struct key step_rows[] = {
#define S(name, type, json, doc) X(STEP_X_##name, json, STEP_X_##name, KEY_WHOLE)
#define X(id, text, field, part) [SLOT_##id] = { text, LEN(text), field, part },
#include "core/step.def"
#include "core/computed.def"
#undef X
};

static size_t step_slot(const char *p, size_t n)
{
	uint32_t h = HASH_OF(p, n);

#define S(name, type, json, doc) X(STEP_X_##name, json, STEP_X_##name, KEY_WHOLE)
#define X(id, text, field, part)                                                                   \
	if (h == HASH_OF(text, LEN(text)))                                                         \
		return SLOT_##id;
#include "core/step.def"
#include "core/computed.def"
#undef X
	return 0;
}

_Static_assert(JOB_SLOTS <= KEYS_MAX && (int)STEP_SLOTS <= KEYS_MAX, "widen the masks of keys");

const struct keys job_keys = { job_rows, JOB_SLOTS, job_fields, JOB_FIELDS, job_slot };
const struct keys step_keys = { step_rows, STEP_SLOTS, step_fields, STEP_FIELDS, step_slot };

static bool is_key(const struct key *k, const char *p, size_t n)
{
	return k->len == n && memcmp(k->text, p, n) == 0;
}

int key_find(const struct keys *k, const char *p, size_t n)
{
	if (n == 0)
		return -1;
	size_t slot = k->slot(p, n);
	if (is_key(&k->rows[slot], p, n))
		return (int)slot;
	for (size_t i = 0; i < k->n; i++)
		if (is_key(&k->rows[i], p, n))
			return (int)i;
	return -1;
}

/* The computed keys as fields, for the contract. */
static const struct field job_computed[] = {
#define J(name, type, json, doc)                                                                   \
	[JOB_X_##name - JOB_FIELDS] = { #name, FT_##type, FF_DERIVED, json, doc, 0 },
#include "core/computed.def"
};

static const struct field step_computed[] = {
#define S(name, type, json, doc)                                                                   \
	[STEP_X_##name - STEP_FIELDS] = { #name, FT_##type, FF_DERIVED, json, doc, 0 },
#include "core/computed.def"
};

const struct field *job_key(int key)
{
	assert(key >= 0 && key < JOB_KEYS);
	return key < JOB_FIELDS ? &job_fields[key] : &job_computed[key - JOB_FIELDS];
}

const struct field *step_key(int key)
{
	assert(key >= 0 && key < STEP_KEYS);
	return key < STEP_FIELDS ? &step_fields[key] : &step_computed[key - STEP_FIELDS];
}

int job_key_find(const char *json, size_t n)
{
	int i = key_find(&job_keys, json, n);

	return i < 0 ? -1 : job_rows[i].field;
}

int step_key_find(const char *json, size_t n)
{
	int i = key_find(&step_keys, json, n);

	return i < 0 ? -1 : step_rows[i].field;
}

/* core/entity.h: clusters, accounts, users, associations, QOS, wckeys, coordinators, reservations,
 * TRES, events and transactions as rows, each driven by a .def of its fields (assoc.def says what F
 * is).
 *
 * Every struct begins with `has`; strings are somebody else's, as in core/job.h. */
#ifndef TALLY_CORE_ENTITY_H
#define TALLY_CORE_ENTITY_H

#include "base/arena.h"
#include "core/field.h"

#define F(name, type, flags, json, word, doc) CLUSTER_##name,
enum cluster_field {
#include "core/cluster.def"
	CLUSTER_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) ACCOUNT_##name,
enum account_field {
#include "core/account.def"
	ACCOUNT_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) USER_##name,
enum user_field {
#include "core/user.def"
	USER_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) ASSOC_##name,
enum assoc_field {
#include "core/assoc.def"
	ASSOC_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) QOS_##name,
enum qos_field {
#include "core/qos.def"
	QOS_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) WCKEY_##name,
enum wckey_field {
#include "core/wckey.def"
	WCKEY_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) COORD_##name,
enum coord_field {
#include "core/coord.def"
	COORD_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) RESV_##name,
enum reservation_field {
#include "core/reservation.def"
	RESV_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) TRES_ENTRY_##name,
enum tres_entry_field {
#include "core/tres_entry.def"
	TRES_ENTRY_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) EVENT_##name,
enum event_field {
#include "core/event.def"
	EVENT_FIELDS
};
#undef F
#define F(name, type, flags, json, word, doc) TXN_##name,
enum txn_field {
#include "core/txn.def"
	TXN_FIELDS
};
#undef F

#define F(name, type, flags, json, word, doc) CT_##type name;
struct cluster {
	uint64_t has[HAS_WORDS];
#include "core/cluster.def"
};
struct account {
	uint64_t has[HAS_WORDS];
#include "core/account.def"
};
struct user {
	uint64_t has[HAS_WORDS];
#include "core/user.def"
};
struct assoc {
	uint64_t has[HAS_WORDS];
#include "core/assoc.def"
};
struct qos {
	uint64_t has[HAS_WORDS];
#include "core/qos.def"
};
struct wckey {
	uint64_t has[HAS_WORDS];
#include "core/wckey.def"
};
struct coord {
	uint64_t has[HAS_WORDS];
#include "core/coord.def"
};
struct reservation {
	uint64_t has[HAS_WORDS];
#include "core/reservation.def"
};
struct tres_entry {
	uint64_t has[HAS_WORDS];
#include "core/tres_entry.def"
};
struct event {
	uint64_t has[HAS_WORDS];
#include "core/event.def"
};
struct txn {
	uint64_t has[HAS_WORDS];
#include "core/txn.def"
};
#undef F

enum entity_kind {
#define E(type, PREFIX, file, table, name, plural) ENTITY_##PREFIX,
#include "core/entity.def"
#undef E
	ENTITIES
};

struct entity {
	const char *name;   /* "association" */
	const char *plural; /* "associations": the key of a list, and its address */
	const char *table;
	const struct field *fields;
	const char *const *words; /* sacctmgr's, by field; "" = none */
	size_t n;
	size_t size; /* of the struct */
};

extern const struct entity entities[ENTITIES];

#define E(type, PREFIX, file, table, name, plural)                                                 \
	extern const struct field type##_fields[PREFIX##_FIELDS];
#include "core/entity.def"
#undef E

/* Of any of the structs, by the prefix of its fields: row_has(a, ASSOC, shares). */
#define row_has(row, PREFIX, f) has_bit((row)->has, PREFIX##_##f)
#define row_set(row, PREFIX, f, v) ((void)((row)->f = (v)), has_set((row)->has, PREFIX##_##f))
#define row_unset(row, PREFIX, f)  has_clear((row)->has, PREFIX##_##f)
#define row_get(row, PREFIX, f, otherwise) (row_has(row, PREFIX, f) ? (row)->f : (otherwise))

/* Of a row of some entity. */
static inline uint64_t *row_bits(void *row)
{
	return row;
}

static inline const uint64_t *row_known(const void *row)
{
	return row;
}

/* The value, for a field that is known. */
static inline int64_t row_number(const void *row, const struct field *f)
{
	return *(const int64_t *)(const void *)((const char *)row + f->offset);
}

static inline const char *row_text(const void *row, const struct field *f)
{
	return *(const char *const *)(const void *)((const char *)row + f->offset);
}

void row_put_number(const struct entity *e, void *row, size_t field, int64_t value);
void row_put_text(const struct entity *e, void *row, size_t field, const char *value);
/* The field as it is in the other row, known or not. */
void row_take(const struct entity *e, void *row, size_t field, const void *from);
/* By bytes of texts and by numbers; not known comes first. */
int row_field_cmp(const struct field *f, size_t field, const void *a, const void *b);
/* Do the fields with FF_KEY agree?  Less than, equal to or greater than 0. */
int row_key_cmp(const struct entity *e, const void *a, const void *b);
/* A copy with its texts. */
void row_copy(const struct entity *e, void *to, const void *from, struct arena *arena);

/* By JSON key; -1 if there is none. */
int entity_field_find(const struct entity *e, const char *json, size_t n);

#endif

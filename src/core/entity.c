#include "core/entity.h"

#define FIELD(type_, PREFIX, name_, type, flags, json, doc) \
	[PREFIX##_##name_] = { #name_, FT_##type, flags, json, doc, offsetof(struct type_, name_) },

const struct field cluster_fields[CLUSTER_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(cluster, CLUSTER, name, type, flags, json, doc)
#include "core/cluster.def"
#undef F
};
const struct field account_fields[ACCOUNT_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(account, ACCOUNT, name, type, flags, json, doc)
#include "core/account.def"
#undef F
};
const struct field user_fields[USER_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(user, USER, name, type, flags, json, doc)
#include "core/user.def"
#undef F
};
const struct field assoc_fields[ASSOC_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(assoc, ASSOC, name, type, flags, json, doc)
#include "core/assoc.def"
#undef F
};
const struct field qos_fields[QOS_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(qos, QOS, name, type, flags, json, doc)
#include "core/qos.def"
#undef F
};
const struct field wckey_fields[WCKEY_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(wckey, WCKEY, name, type, flags, json, doc)
#include "core/wckey.def"
#undef F
};
const struct field coord_fields[COORD_FIELDS] = {
#define F(name, type, flags, json, word, doc) FIELD(coord, COORD, name, type, flags, json, doc)
#include "core/coord.def"
#undef F
};
const struct field reservation_fields[RESV_FIELDS] = {
#define F(name, type, flags, json, word, doc) \
	FIELD(reservation, RESV, name, type, flags, json, doc)
#include "core/reservation.def"
#undef F
};

const struct field tres_entry_fields[TRES_ENTRY_FIELDS] = {
#define F(name, type, flags, json, word, doc) \
	FIELD(tres_entry, TRES_ENTRY, name, type, flags, json, doc)
#include "core/tres_entry.def"
#undef F
};
const struct field event_fields[EVENT_FIELDS] = {
#define F(name, type, flags, json, word, doc) \
	FIELD(event, EVENT, name, type, flags, json, doc)
#include "core/event.def"
#undef F
};
const struct field txn_fields[TXN_FIELDS] = {
#define F(name, type, flags, json, word, doc) \
	FIELD(txn, TXN, name, type, flags, json, doc)
#include "core/txn.def"
#undef F
};

#define F(name, type, flags, json, word, doc) word,
static const char *const cluster_words[] = {
#include "core/cluster.def"
};
static const char *const account_words[] = {
#include "core/account.def"
};
static const char *const user_words[] = {
#include "core/user.def"
};
static const char *const assoc_words[] = {
#include "core/assoc.def"
};
static const char *const qos_words[] = {
#include "core/qos.def"
};
static const char *const wckey_words[] = {
#include "core/wckey.def"
};
static const char *const coord_words[] = {
#include "core/coord.def"
};
static const char *const reservation_words[] = {
#include "core/reservation.def"
};
static const char *const tres_entry_words[] = {
#include "core/tres_entry.def"
};
static const char *const event_words[] = {
#include "core/event.def"
};
static const char *const txn_words[] = {
#include "core/txn.def"
};
#undef F

const struct entity entities[ENTITIES] = {
#define E(type, PREFIX, file, table, name, plural)                                                 \
	[ENTITY_##PREFIX] = { name,	       plural,		     table,                        \
			      type##_fields,   type##_words,	     PREFIX##_FIELDS,              \
			      sizeof(struct type) },
#include "core/entity.def"
#undef E
};

#define E(type, PREFIX, file, table, name, plural)                                                 \
	_Static_assert(PREFIX##_FIELDS <= 64 * HAS_WORDS && offsetof(struct type, has) == 0,       \
		       "has comes first and has a bit for each field");
#include "core/entity.def"
#undef E

void row_put_number(const struct entity *e, void *row, size_t field, int64_t value)
{
	*(int64_t *)(void *)((char *)row + e->fields[field].offset) = value;
	has_set(row, field);
}

void row_put_text(const struct entity *e, void *row, size_t field, const char *value)
{
	*(const char **)(void *)((char *)row + e->fields[field].offset) = value;
	has_set(row, field);
}

void row_take(const struct entity *e, void *row, size_t field, const void *from)
{
	const struct field *f = &e->fields[field];

	if (!has_bit(from, field))
		has_clear(row, field);
	else if (field_is_text(f->type))
		row_put_text(e, row, field, row_text(from, f));
	else
		row_put_number(e, row, field, row_number(from, f));
}

int row_field_cmp(const struct field *f, size_t field, const void *a, const void *b)
{
	bool in_a = has_bit(a, field), in_b = has_bit(b, field);

	if (!in_a || !in_b)
		return in_a - in_b;
	if (field_is_text(f->type))
		return strcmp(row_text(a, f), row_text(b, f));
	return (row_number(a, f) > row_number(b, f)) - (row_number(a, f) < row_number(b, f));
}

int row_key_cmp(const struct entity *e, const void *a, const void *b)
{
	int c = 0;

	for (size_t i = 0; c == 0 && i < e->n && (e->fields[i].flags & FF_KEY) != 0; i++)
		c = row_field_cmp(&e->fields[i], i, a, b);
	return c;
}

void row_copy(const struct entity *e, void *to, const void *from, struct arena *arena)
{
	memcpy(to, from, e->size);
	for (size_t i = 0; i < e->n; i++)
		if (has_bit(from, i) && field_is_text(e->fields[i].type))
			row_put_text(e, to, i, arena_strdup(arena, row_text(from, &e->fields[i])));
}

int entity_field_find(const struct entity *e, const char *json, size_t n)
{
	for (size_t i = 0; i < e->n; i++)
		if (strlen(e->fields[i].json) == n && memcmp(e->fields[i].json, json, n) == 0)
			return (int)i;
	return -1;
}

/* core/json.h: JSON in, pulled value by value, and bodies cut into records.
 *
 * The scanner takes strict JSON (RFC 8259: no comments, no trailing commas, no leading zeros, no
 * raw control bytes in strings) from bytes in memory.  Nothing is allocated per token: a string
 * without escapes is a view into the input, one with escapes is written once into the arena.  A
 * failure sticks: err is filled once, and from then on every call fails, so a caller may check at
 * the end of a group.
 *
 * Three things that JSON leaves open:
 * - Bytes of a string that are not UTF-8 are let through, since controllers pass what users
 *   typed: record_validate mends them.  A lone surrogate (\udcff) becomes its three bytes and
 *   \u0000 becomes C0 80; neither is UTF-8, so both are mended there too.
 * - A number is an integer of 64 bits or it says that it is not: nothing goes through a double.
 * - A repeated key is the caller's to judge (the records' decoder refuses it by name). */
#ifndef TALLY_CORE_JSON_H
#define TALLY_CORE_JSON_H

#include "base/arena.h"
#include "base/err.h"

#define JSCAN_DEPTH 64 /* most containers inside each other */

enum jtype {
	JSCAN_BAD, /* failed, or no value stands here */
	JSCAN_NULL,
	JSCAN_BOOL,
	JSCAN_NUMBER,
	JSCAN_STRING,
	JSCAN_ARRAY,
	JSCAN_OBJECT
};

struct jscan {
	const char *at; /* next byte */
	const char *end;
	const char *start;
	struct arena *arena;
	struct err *err;
	const char *where; /* set by the caller: the field named in errors; may be NULL */
	unsigned depth;
	bool fresh; /* a container was just entered: no comma before its first value */
	bool failed;
};

struct jtext {
	const char *p; /* not NUL-terminated */
	size_t n;
};

struct jnumber {
	uint64_t magnitude; /* the whole part; UINT64_MAX when big */
	bool negative;
	bool fraction; /* something is left after the whole part */
	bool big;      /* does not fit magnitude */
};

void jscan_init(struct jscan *j, const char *p, size_t n, struct arena *arena, struct err *err);

/* What the next value is; takes nothing. */
enum jtype jscan_peek(struct jscan *j);

/* Each takes one value and fails when it is of another type.  0, or -1. */
int jscan_null(struct jscan *j);
int jscan_bool(struct jscan *j, bool *ret);
int jscan_number(struct jscan *j, struct jnumber *ret);
int jscan_i64(struct jscan *j, int64_t *ret); /* whole and in range, or it fails by name */
int jscan_text(struct jscan *j, struct jtext *ret);
const char *jscan_string(struct jscan *j); /* NUL-terminated, in the arena; NULL on failure */

/* while (jscan_member(&j, &key)) { take one value } -- after jscan_enter of an object; false at its
 * end (which it takes) and on failure.  jscan_element likewise for arrays. */
int jscan_enter(struct jscan *j, enum jtype type);
bool jscan_member(struct jscan *j, struct jtext *ret_key);
bool jscan_element(struct jscan *j);

/* Takes one value, whatever it is, and checks its form. */
int jscan_skip(struct jscan *j);
/* Nothing but blanks may be left. */
int jscan_done(struct jscan *j);
/* Fails at the present position: for what is well-formed but wrong.  Returns -1. */
int jscan_fail(struct jscan *j, const char *fmt, ...) PRINTF_LIKE(2, 3);

static inline bool jtext_is(struct jtext t, const char *s)
{
	return strlen(s) == t.n && memcmp(t.p, s, t.n) == 0;
}

/* A body is an array of records, one record, or records one after the other (NDJSON: one a
 * line).  Cutting looks at brackets and strings only, so a record with something wrong inside it
 * spoils no other one.  In NDJSON a line is a record whatever is in it. */
struct jcut {
	const char *at;
	const char *end;
	int form;
	size_t index; /* of the record that comes next */
};

/* lines: the sender said NDJSON; else the body's look decides. */
void jcut_init(struct jcut *c, const char *body, size_t n, bool lines);
/* 1 and where the next record is; 0 when there are no more; -1 with err (where: "record 7") when
 * the rest cannot be cut: what was cut before is good. */
int jcut_next(struct jcut *c, struct jtext *ret, struct err *err);

#endif

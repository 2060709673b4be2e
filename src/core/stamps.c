/* core/stamps.c: the stamps of a row as bytes.
 *
 * Groups of fields with the same (rank, as_of), in ascending order of the stamp.  A group is
 *   a byte: rank, with 0x80 when as_of is known, with 0x40 when another group follows
 *   as_of as a zigzag varint, when known
 *   a bit for each field that has no group yet (in field order, first = bit 0 of the first byte),
 *   set for those of this group; the last group has none of it: it is what is left
 * A row without stamped fields has no bytes.  There is one form for one set of stamps, so equal
 * rows have equal bytes, and unpacking refuses every other form. */
#include "core/merge.h"

#define KNOWN	   0x80u
#define MORE	   0x40u
#define RANK_BITS  0x3fu
#define VARINT_MAX 10

#define FIELDS_MAX (64 * HAS_WORDS)
_Static_assert(STAMPS_MAX >= FIELDS_MAX * (1 + VARINT_MAX) + FIELDS_MAX * (FIELDS_MAX / 8 + 1) / 2,
	       "room for every field with a stamp of its own");

struct stamp {
	uint8_t rank;
	int64_t as_of;
};

/* Fields that take part: known, not of the identity, not derived. */
static size_t stamped(const struct field *fields, size_t n_fields, const uint64_t *has,
		      uint8_t *ret)
{
	size_t n = 0;

	for (size_t f = 0; f < n_fields; f++)
		if (has_bit(has, f) && (fields[f].flags & (FF_KEY | FF_DERIVED)) == 0)
			ret[n++] = (uint8_t)f;
	return n;
}

static int stamp_cmp(struct stamp a, struct stamp b)
{
	if (a.rank != b.rank)
		return a.rank < b.rank ? -1 : 1;
	return (a.as_of > b.as_of) - (a.as_of < b.as_of);
}

static struct stamp least(const uint8_t *left, size_t n, const uint8_t *rank, const int64_t *as_of)
{
	struct stamp min = { rank[left[0]], as_of[left[0]] };

	for (size_t i = 1; i < n; i++) {
		struct stamp s = { rank[left[i]], as_of[left[i]] };
		if (stamp_cmp(s, min) < 0)
			min = s;
	}
	return min;
}

static uint8_t *put_varint(uint8_t *to, int64_t v)
{
	uint64_t z = (uint64_t)v << 1 ^ (uint64_t)(v >> 63);

	for (; z >= 0x80; z >>= 7)
		*to++ = (uint8_t)(z | 0x80);
	*to++ = (uint8_t)z;
	return to;
}

/* Takes the fields with stamp s out of left and marks them in bits; returns how many are left. */
static size_t split(uint8_t *left, size_t n, struct stamp s, const uint8_t *rank,
		    const int64_t *as_of, uint8_t *bits)
{
	size_t rest = 0;

	memset(bits, 0, (n + 7) / 8);
	for (size_t i = 0; i < n; i++) {
		uint8_t f = left[i];
		if (rank[f] == s.rank && as_of[f] == s.as_of)
			bits[i / 8] |= (uint8_t)(1u << i % 8);
		else
			left[rest++] = f;
	}
	return rest;
}

size_t stamps_pack(const struct field *fields, size_t n_fields, const uint64_t *has,
		   const uint8_t *rank, const int64_t *as_of, uint8_t *out, size_t cap)
{
	uint8_t left[FIELDS_MAX];
	size_t n = stamped(fields, n_fields, has, left);
	uint8_t *to = out;

	while (n > 0) {
		uint8_t bits[FIELDS_MAX / 8];
		struct stamp s = least(left, n, rank, as_of);
		size_t rest = split(left, n, s, rank, as_of, bits);
		size_t n_bits = rest > 0 ? (n + 7) / 8 : 0;
		assert((size_t)(to - out) + 1 + VARINT_MAX + n_bits <= cap);
		*to++ = (uint8_t)(s.rank | (s.as_of != AS_OF_UNKNOWN ? KNOWN : 0) |
				  (rest > 0 ? MORE : 0));
		if (s.as_of != AS_OF_UNKNOWN)
			to = put_varint(to, s.as_of);
		memcpy(to, bits, n_bits);
		to += n_bits;
		n = rest;
	}
	return (size_t)(to - out);
}

struct reader {
	const uint8_t *at;
	const uint8_t *end;
	bool failed;
};

static uint8_t take(struct reader *r)
{
	if (r->at >= r->end) {
		r->failed = true;
		return 0;
	}
	return *r->at++;
}

static int64_t take_varint(struct reader *r)
{
	uint64_t z = 0;
	uint8_t b = 0;

	for (unsigned shift = 0; shift < 64; shift += 7) {
		b = take(r);
		if (shift == 63 && b > 1)
			r->failed = true;
		z |= (uint64_t)(b & 0x7fu) << shift;
		if ((b & 0x80u) == 0) {
			if (b == 0 && shift > 0)
				r->failed = true; /* longer than it must be */
			return (int64_t)(z >> 1 ^ (0 - (z & 1)));
		}
	}
	r->failed = true;
	return 0;
}

static struct stamp take_stamp(struct reader *r, bool *ret_more)
{
	uint8_t head = take(r);
	struct stamp s = { head & RANK_BITS, AS_OF_UNKNOWN };

	*ret_more = (head & MORE) != 0;
	if ((head & KNOWN) != 0) {
		s.as_of = take_varint(r);
		r->failed |= s.as_of == AS_OF_UNKNOWN;
	}
	r->failed |= s.rank > RANK_END;
	return s;
}

/* Gives the stamp to the group's fields; returns how many are left. */
static size_t take_group(struct reader *r, bool more, struct stamp s, uint8_t *left, size_t n,
			 uint8_t *rank, int64_t *as_of)
{
	size_t rest = 0, n_bits = more ? (n + 7) / 8 : 0;
	const uint8_t *bits = r->at;

	if ((size_t)(r->end - r->at) < n_bits) {
		r->failed = true;
		return 0;
	}
	r->at += n_bits;
	for (size_t i = 0; i < n; i++) {
		uint8_t f = left[i];
		if (more && (bits[i / 8] >> i % 8 & 1) == 0) {
			left[rest++] = f;
			continue;
		}
		rank[f] = s.rank;
		as_of[f] = s.as_of;
	}
	if (more && (rest == 0 || rest == n || (n % 8 != 0 && bits[n_bits - 1] >> n % 8 != 0)))
		r->failed = true;
	return rest;
}

int stamps_unpack(const struct field *fields, size_t n_fields, const uint64_t *has,
		  const uint8_t *in, size_t len, uint8_t *rank, int64_t *as_of, struct err *err)
{
	struct reader r = { in, in + len, false };
	uint8_t left[FIELDS_MAX];
	size_t n = stamped(fields, n_fields, has, left);
	struct stamp last = { 0, 0 };
	bool more = n > 0, first = true;

	memset(rank, RANK_NONE, n_fields);
	for (size_t f = 0; f < n_fields; f++)
		as_of[f] = AS_OF_UNKNOWN;
	while (more && !r.failed) {
		struct stamp s = take_stamp(&r, &more);
		if (!first && stamp_cmp(last, s) >= 0)
			r.failed = true;
		n = take_group(&r, more, s, left, n, rank, as_of);
		last = s;
		first = false;
	}
	if (r.failed || r.at != r.end)
		return err_set(err, ERR_INTERNAL, "stamps",
			       "the %zu bytes of stamps do not fit the row", len);
	return 0;
}

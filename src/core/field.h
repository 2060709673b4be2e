/* core/field.h: what a field of a record is.
 *
 * One row per field in job.def, step.def, ... drives the struct, the JSON codec, the SQL columns,
 * the contract and the documentation.  Two storage classes only: an int64 or a string.  "Unknown"
 * is the field's bit in `has` being 0 (NULL in the database, null or absent in JSON); it is never
 * a number.  Unlimited and "the partition's" are values of their own type (FT_LIMIT). */
#ifndef TALLY_CORE_FIELD_H
#define TALLY_CORE_FIELD_H

#include "base/base.h"

/* F(storage, JSON in and out) */
enum field_type {
	FT_I64,   /* int64; a JSON number */
	FT_U64,   /* 64 unsigned bits kept in an int64; a JSON string of digits (numbers
		     taken too) */
	FT_BOOL,  /* 0 or 1; true/false */
	FT_TIME,  /* seconds since 1970 UTC; out: ISO 8601 with Z (epoch on request), in: both */
	FT_TEXT,  /* UTF-8 */
	FT_STATE, /* core/state.h numbers; "COMPLETED" */
	FT_EXIT,  /* a wait(2) status; the JSON key K gives two: K_code and K_signal.  In also:
		     "code:signal" */
	FT_LIMIT, /* minutes, or LIMIT_UNLIMITED, LIMIT_PARTITION; a number, "unlimited",
		     "partition" */
	FT_TRES,  /* text "cpu=4,gres/gpu=2,mem=8000": names ascending by byte, counts plain
		     integers (mem MiB in allocations and requests, bytes in usage; energy J; cpu ms
		     in usage); a JSON object, in also the string with units ("mem=32G") */
	FT_WHERE, /* text "cpu=n1,mem=n2" or "cpu=0,mem=3": per TRES a node or a task; an object */
	FT_WORDS, /* bits with names (core/flags.h); an array of strings */
	FT_ENUM,  /* a number with a name (req_mem_per, governors...); a string */
	FT_MOMENTS, /* text "S1700000000,R1700000060": suspend and resume instants, ascending; an
		       array of {"at","what"} */
	FT_SHARES,  /* fair-share shares, or SHARES_PARENT; a number or "parent" */
	FT_MINUTES, /* a number; in also "[D-]HH:MM:SS" and what else limit_parse takes */
	FT_SECONDS, /* a number; in also "[D-]HH:MM:SS" */
	FT_FACTOR,  /* millionths; a number with at most six decimals */
	FT_LIST,    /* text "a,b": names ascending by byte, each once (core/list.h); an array of
		       strings, in also the text */
	FT_JSON,    /* text that is JSON already; out only */
};

/* FT_LIMIT's two values that are not minutes. */
#define LIMIT_UNLIMITED (-1)
#define LIMIT_PARTITION (-2)

/* FT_SHARES: takes part at its parent's level. */
#define SHARES_PARENT (-1)

/* FT_FACTOR: 1.0. */
#define FACTOR_ONE 1000000

enum field_flag {
	FF_KEY = 1,     /* part of the row's identity: never merged */
	FF_DERIVED = 2, /* computed by job_derive from the others; never taken from a record */
	FF_NOTE = 4,    /* what people may write later: job_note's value wins over the record's */
	FF_WIDE = 8,    /* 2^32-2 and 2^32-1 are numbers in it and not Slurm's "no value" */
	FF_OURS = 16,   /* of the tree: kept by tally, nobody sets it */
	FF_SHOWN = 32,  /* of the tree: no column, computed when the row is shown */
	FF_INHERIT = 64, /* of an association: the parent's, where it is not set */
};

struct field {
	const char *name; /* C member, SQL column */
	enum field_type type;
	unsigned flags;
	const char *json; /* key; for FT_EXIT the prefix */
	const char *doc;  /* one sentence with the unit, for the contract and the manual */
	size_t offset;    /* of an int64_t or a const char * in the struct */
};

static inline bool field_is_text(enum field_type t)
{
	return t == FT_TEXT || t == FT_TRES || t == FT_WHERE || t == FT_MOMENTS || t == FT_LIST ||
	       t == FT_JSON;
}

/* The C type of a storage class, for the struct expansions. */
#define CT_I64 int64_t
#define CT_U64 int64_t
#define CT_BOOL int64_t
#define CT_TIME int64_t
#define CT_TEXT const char *
#define CT_STATE int64_t
#define CT_EXIT int64_t
#define CT_LIMIT int64_t
#define CT_TRES const char *
#define CT_WHERE const char *
#define CT_WORDS int64_t
#define CT_ENUM int64_t
#define CT_MOMENTS const char *
#define CT_SHARES int64_t
#define CT_MINUTES int64_t
#define CT_SECONDS int64_t
#define CT_FACTOR int64_t
#define CT_LIST const char *
#define CT_JSON const char *

#define HAS_WORDS 2 /* 128 fields at most */

static inline bool has_bit(const uint64_t *has, size_t f)
{
	return (has[f / 64] >> (f % 64)) & 1u;
}

static inline void has_set(uint64_t *has, size_t f)
{
	has[f / 64] |= (uint64_t)1 << (f % 64);
}

static inline void has_clear(uint64_t *has, size_t f)
{
	has[f / 64] &= ~((uint64_t)1 << (f % 64));
}

#endif

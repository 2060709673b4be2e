/* core/units.h: sizes as sacct prints and reads them: a number and one of K M G T P.
 *
 * Memory scales by 1024, energy and frequency by 1000.  A count that scales past P has no letter
 * and is printed as "16?": that is what is left of a count that was never measured (2^64 - 2), so
 * it is read as not known. */
#ifndef TALLY_CORE_UNITS_H
#define TALLY_CORE_UNITS_H

#include "base/err.h"
#include "core/job.h"

enum unit { UNIT_NONE, UNIT_KILO, UNIT_MEGA, UNIT_GIGA, UNIT_TERA, UNIT_PETA };

/* Numbers that mean "no value" and "no limit" where 64 unsigned bits are sent. */
#define NO_VAL64 UINT64_C(0xfffffffffffffffe)
#define INFINITE64 UINT64_C(0xffffffffffffffff)

enum unit_scale {
	SCALE_EXACT, /* up while it divides evenly: 3340K, 100M, 1200M (sacct's memory sizes) */
	SCALE_ROUND, /* up while it is at least the divisor: 2.60M, 37.67G (energy, frequency) */
	SCALE_FIXED, /* to the unit `to`: --units=G, and disk sizes, always in M */
	SCALE_NONE,  /* --noconvert: as it is, with the letter of its base */
};

struct unit_style {
	enum unit_scale scale;
	enum unit to; /* SCALE_FIXED only */
};

/* n counts base units.  0 is "0" in every style; a result that is not whole has two decimals. */
#define SIZE_TEXT_SIZE 32
void size_format(int64_t n, enum unit base, int divisor, struct unit_style style,
		 char out[SIZE_TEXT_SIZE]);

/* K M G T P in any case; what --units takes. */
int unit_parse(const char *text, enum unit *ret, struct err *err);

/* "1.50T", "12756K", "0", "4M" in base units, rounded to the nearest; a number without a letter
 * counts base units already.  Not known ("", "16?", a number that means no value): *ret_known is
 * false and *ret 0. */
int size_parse(const char *text, enum unit base, int divisor, int64_t *ret, bool *ret_known,
	       struct err *err);

/* ReqMem in every spelling: "48G" for the job, "3000Mc" per CPU, "48000Mn" per node, and
 * "2147486648Mn", where bit 31 is an old mark for "per CPU".  Nothing asked ("0c", "0n", "0", "",
 * "16?"): *ret_known is false. */
int req_mem_parse(const char *text, int64_t *ret_mib, enum req_mem_per *ret_per, bool *ret_known,
		  struct err *err);
/* The controller's number: bit 63 marks "per CPU", else per node.  False when none was asked. */
bool req_mem_split(uint64_t raw, int64_t *ret_mib, enum req_mem_per *ret_per);

#endif

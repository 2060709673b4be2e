/* core/field_json.h: one value of a field's type from JSON, by the forms that core/field.h names.
 *
 * What stands for "not known" (null and Slurm's numbers for it, see record_json.h) is read, and
 * known is false. */
#ifndef TALLY_CORE_FIELD_JSON_H
#define TALLY_CORE_FIELD_JSON_H

#include "core/job.h"
#include "core/json.h"

#define NOTHING_MORE INT64_MIN

struct field_value {
	bool known;
	int64_t number;	  /* or */
	const char *text; /* in the scanner's arena */
	/* What the value says beside itself: who cancelled ("CANCELLED by 1000"), or what requested
	 * memory counts for (bit 63); else NOTHING_MORE. */
	int64_t more;
};

/* 0, or -1 with the scanner's err (where: the scanner's).  Not for FT_EXIT and FT_JSON. */
int field_json_read(struct jscan *j, const struct field *f, struct field_value *ret);

/* An exit status whole ("0:9", or a code alone), and a half of one. */
int exit_json_read(struct jscan *j, struct field_value *ret);
int exit_half_json_read(struct jscan *j, int64_t most, struct field_value *ret);

/* FT_TIME: 0 is a value here; what it means is for who asks. */
int time_json_read(struct jscan *j, struct field_value *ret);

#endif

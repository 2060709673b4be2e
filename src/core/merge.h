/* core/merge.h: how records become rows, whatever the order they come in.
 *
 * Each field keeps the stamp (rank, as_of) of the record that gave it, and the greater of two
 * (stamp, value) pairs stays: rank first (end > resize > start), then as_of (unknown is least),
 * then the value itself (numbers by size, texts by bytes).  Suspend and resume instants are a
 * set: union.  So merging is commutative, associative and idempotent: a resend changes nothing, a
 * shuffle ends in the same rows, and a record with less in it erases nothing.  With by_arrival
 * (the slurmdbd door, whose records carry no as_of) the later arrival wins within a rank.
 *
 * Fields that are part of the identity or derived are left alone here.  Texts are not copied:
 * what `into` takes over, it shares with `from`. */
#ifndef TALLY_CORE_MERGE_H
#define TALLY_CORE_MERGE_H

#include "core/record.h"

/* Gives every field that rec names rec's own stamp (kind's rank, as_of), except those that
 * record_validate made up and gave a weaker one.  Call it after record_validate. */
void record_stamp(struct record *rec);

/* Merges `from` into `into`; true if anything in `into` changed (values or stamps).  The arena
 * takes a union of instants. */
bool job_merge(struct job *into, const struct job *from, bool by_arrival, struct arena *arena);
bool step_merge(struct step *into, const struct step *from, bool by_arrival, struct arena *arena);

/* Sets every FF_DERIVED field of the job from its fields and its steps, except submit_inferred,
 * which is for who found the submit time.  An end (a start) that no record named is filled in
 * where it follows from the rest; any record's word replaces it. */
void job_derive(struct job *j, const struct step *const *steps, size_t n_steps,
		struct arena *arena);
/* Takes all of that out again, leaving what the records said. */
void job_forget_derived(struct job *j);
/* MiB of the whole job: allocated, else asked for; what mem_efficiency_ppm is a part of. */
bool job_memory_given(const struct job *j, int64_t *ret_mib);
/* Use of the GPUs in the step that used most, of all that it had, parts per million: the figure
 * that is measured (gres/gpuutil) adds a per cent for each GPU.  False when not measured. */
bool job_gpu_use_ppm(const struct job *j, const struct step *const *steps, size_t n_steps,
		     int64_t *ret);

/* The stamps of a row as bytes for its `stamps` column, and back.  One group of fields with one
 * stamp is the common case and is eight bytes; n groups take n times that and less than n times
 * a bit per field.  Fields of the identity and derived ones have no stamp.  Returns the number of
 * bytes, at most STAMPS_MAX. */
#define STAMPS_MAX 3072
size_t stamps_pack(const struct field *fields, size_t n_fields, const uint64_t *has,
		   const uint8_t *rank, const int64_t *as_of, uint8_t *out, size_t cap);
/* Fills rank and as_of of every field (RANK_NONE where there is no stamp).  Refuses what pack did
 * not make from the same `has`. */
int stamps_unpack(const struct field *fields, size_t n_fields, const uint64_t *has,
		  const uint8_t *in, size_t len, uint8_t *rank, int64_t *as_of, struct err *err);

#endif

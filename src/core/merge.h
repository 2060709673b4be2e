/* core/merge.h: how records become rows, whatever the order they come in.
 *
 * Each field keeps the stamp (rank, as_of) of the record that gave it, and the greater of two
 * (stamp, value) pairs stays: rank first (end > resize > start), then as_of (unknown is least),
 * then the value itself (numbers by size, texts by bytes).  Suspend and resume instants are a
 * set: union.  So merging is commutative, associative and idempotent: a resend changes nothing, a
 * shuffle ends in the same rows, and a record with less in it erases nothing.  With by_arrival
 * (the slurmdbd door, whose records carry no as_of) the later arrival wins within a rank. */
#ifndef TALLY_CORE_MERGE_H
#define TALLY_CORE_MERGE_H

#include "core/record.h"

/* Gives every field that rec names rec's own stamp (kind's rank, as_of). */
void record_stamp(struct record *rec);

/* Merges `from` into `into`; true if anything in `into` changed (values or stamps). */
bool job_merge(struct job *into, const struct job *from, bool by_arrival, struct arena *arena);
bool step_merge(struct step *into, const struct step *from, bool by_arrival, struct arena *arena);

/* Sets every FF_DERIVED field of the job from its fields and its steps. */
void job_derive(struct job *j, const struct step *const *steps, size_t n_steps,
		struct arena *arena);

/* The stamps of a row as bytes for its `stamps` column, and back.  One group of fields with one
 * stamp is the common case and is a dozen bytes.  Unpack refuses what pack did not make. */
size_t stamps_pack(const uint64_t *has, const uint8_t *rank, const int64_t *as_of, size_t n_fields,
		   uint8_t *out, size_t cap);
int stamps_unpack(const uint8_t *in, size_t len, const uint64_t *has, uint8_t *rank,
		  int64_t *as_of, size_t n_fields, struct err *err);

#endif

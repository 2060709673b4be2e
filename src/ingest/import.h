/* ingest/import.h: job records out of the formats that others write.
 *
 * Pure conversion: bytes go in, struct record comes out, one job at a time, whatever the size of
 * the file.  Nothing here opens, stores or sends anything.  A row that cannot be read is refused
 * with file, line, column and reason, and the rest goes on: no row disappears without a word. */
#ifndef TALLY_INGEST_IMPORT_H
#define TALLY_INGEST_IMPORT_H

#include "core/record.h"
#include "core/zone.h"

struct import_source {
	const char *name; /* of the file, for messages */
	const char *data; /* all of it; not NUL-terminated */
	size_t len;
};

struct import_options {
	const char *cluster;	 /* for rows that name none; a row that names another is skipped;
				    NULL = whatever the rows say */
	const struct zone *zone; /* of times without an offset */
	const char *delimiter;	 /* of sacct -P; NULL = found in the header */
	int64_t epoch; /* what 0 means in a trace that counts seconds from its own start */
};

/* What became of the rows; each row is in exactly one of jobs, steps, refused, skipped. */
struct import_counts {
	uint64_t rows; /* read: lines of a table, jobs and steps of a document */
	uint64_t jobs;
	uint64_t steps;
	uint64_t refused; /* could not be read */
	uint64_t skipped; /* of another cluster than the one asked for */
	uint64_t records; /* given to the handler */
	uint64_t bytes;	  /* of the file, gone through so far */
};

struct import_handler {
	/* One record with what it points to, valid until the call returns.  A job with its steps
	 * is one job_end; what has not ended is a job_start and a record per step.  < 0 stops. */
	int (*record)(const struct record *rec, size_t line, void *arg);
	/* A row that was refused or skipped; err->where is "FILE:LINE COLUMN". */
	void (*refused)(const struct err *err, bool skipped, void *arg);
	/* Something to know about the file, said once: a column that is not taken, a guess. */
	void (*note)(const char *text, void *arg);
	void *arg;
};

struct import_run;

struct import_format {
	const char *name; /* "sacct-parsable" */
	const char *doc;
	bool (*recognise)(const struct import_source *source);
	int (*convert)(struct import_run *run, struct err *err);
	bool relative; /* its times count from options->epoch */
};

/* By content alone.  NULL with err, which lists what there is. */
const struct import_format *import_recognise(const struct import_source *source, struct err *err);

/* Converts all of it.  0 when the end was reached, refused rows or not; -1 with err when the file
 * as a whole cannot be read, or when the handler stopped. */
int import_convert(const struct import_format *format, const struct import_source *source,
		   const struct import_options *options, const struct import_handler *handler,
		   struct import_counts *counts, struct err *err);

#endif

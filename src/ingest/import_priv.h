/* ingest/import_priv.h: what the importers share: the run they are part of, the job they are
 * putting together, and how it becomes records. */
#ifndef TALLY_INGEST_IMPORT_PRIV_H
#define TALLY_INGEST_IMPORT_PRIV_H

#include "ingest/import.h"

struct import_run {
	const struct import_source *source;
	const struct import_options *options;
	const struct import_handler *handler;
	struct import_counts *counts;
	struct arena *arena; /* of the job at hand: reset when it has been handed over */
	bool stopped;	     /* the handler wants no more */
	/* The job at hand: what has been read of it so far. */
	struct job job;
	bool has_job; /* a job row came; else the steps are orphans */
	bool ended;   /* by its state, or by having an end when it has none */
	struct step *steps;
	size_t n_steps, cap_steps;
	size_t line;
	int64_t dropped; /* number of the job whose row was refused last: its steps go too */
	uint64_t noted;	 /* bits: notes already given */
};

extern const struct import_format import_tally, import_sacct, import_sacct_json, import_swf,
	import_eagle, import_openb, import_philly;

/* Begins a job at `line`, handing the one before it over first; NULL when the handler stopped. */
struct job *import_begin_job(struct import_run *run, size_t line);
/* Begins steps whose job has no row of its own here. */
struct job *import_begin_orphans(struct import_run *run, size_t line);
/* A step of the job at hand.  Its identity is filled in when it is handed over. */
struct step *import_add_step(struct import_run *run);
/* Hands the job at hand over, if there is one.  -1 when the handler stopped. */
int import_flush(struct import_run *run);
/* Forgets the job at hand: its row was refused. */
void import_drop_job(struct import_run *run);

/* Puts a value into a field of the job at hand, or of its step; -1 is no field.  Texts are copied.
 */
void import_put_number(struct import_run *run, struct step *step, int field, int64_t v);
void import_put_text(struct import_run *run, struct step *step, int field, const char *text);
/* What sacct and its wrappers print where there is nothing: "", Unknown, None, N/A ... */
bool import_is_nothing(const char *cell);
/* Elapsed leaves suspensions out, so it may be less than end - start; it is kept for an ended job
 * where it says more than they do.  -1 = not said. */
void import_settle_elapsed(struct import_run *run, int64_t elapsed_s);
/* A time of a dump, in the zone given: 1 when the cell has one, 0 when it says that there is none,
 * -1 with err. */
int import_time(const struct import_run *run, const char *text, int64_t *ret, struct err *err);
/* In the hour that a clock set back shows twice, a local time may mean either; how long the job
 * was there (elapsed and suspended) tells which. */
void import_untwist(struct import_run *run, int64_t elapsed_s);

/* Refuses the row at `line`; column may be NULL. */
void import_refuse(struct import_run *run, size_t line, const char *column, const struct err *err);
/* A row that is well and not taken. */
void import_skip(struct import_run *run, size_t line, const struct err *err);
/* True when the job belongs to another cluster than the one asked for: then it has been skipped. */
bool import_other_cluster(struct import_run *run, size_t line, const char *cluster);
/* Says it once per run and kind (0..63). */
void import_note(struct import_run *run, unsigned kind, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* What JobID says: 12, 12_3, 12_[1-4%2], 12+1, each with .0, .batch ... behind. */
struct job_name {
	int64_t id;	    /* before any _ or + */
	int64_t array_task; /* -1 */
	const char *tasks;  /* inside the brackets, or NULL */
	size_t tasks_len;
	int64_t het_offset; /* -1 */
	bool has_step;
	int64_t step_id;
	int64_t het_comp; /* HET_COMP_NONE */
};
int job_name_parse(const char *text, struct job_name *ret, struct err *err);
/* The job's own number: raw (JobIDRaw), or when that is not known (-1) one made from the name.
 * Of an array's task only the array's number is known then, and two tasks must not become one
 * row: it gets a number above any that a controller gives (those have 32 bits), the same whenever
 * the same task is read.  The record that stands for waiting tasks has the array's number, and a
 * component of a heterogeneous job the leader's plus its offset. */
int64_t job_number(const struct job_name *name, int64_t raw);
/* Can one be made? */
bool job_number_known(const struct job_name *name);
/* Puts the array and heterogeneous parts of a name into the job. */
void job_set_name(struct job *j, const struct job_name *name, struct arena *arena);
/* How many tasks "1-5,9,10-20:2%3" stands for, and the number after %, -1 when there is none.
 * -1 when it is no such expression (or one that was cut: "1-5,..."). */
int64_t task_count(const char *text, size_t n, int64_t *ret_max);

#endif

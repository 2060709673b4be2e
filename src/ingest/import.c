/* ingest/import.c: the formats there are, and how a converted job becomes records. */
#include "ingest/import_priv.h"

#include "base/buf.h"
#include "core/state.h"

#include <strings.h>

/* Asked in this order. */
static const struct import_format *const formats[] = {
	&import_tally, &import_sacct_json, &import_sacct, &import_eagle,
	&import_openb, &import_philly,	   &import_swf,
};

const struct import_format *import_recognise(const struct import_source *source, struct err *err)
{
	struct buf known = BUF_INIT;

	for (size_t i = 0; i < ARRAY_LEN(formats); i++) {
		if (formats[i]->recognise(source))
			return formats[i];
	}
	for (size_t i = 0; i < ARRAY_LEN(formats); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", formats[i]->doc);
	err_set(err, ERR_INVALID, source->name,
		"is in no format that can be imported.  There are: %s", buf_str(&known));
	buf_fini(&known);
	return NULL;
}

int import_convert(const struct import_format *format, const struct import_source *source,
		   const struct import_options *options, const struct import_handler *handler,
		   struct import_counts *counts, struct err *err)
{
	struct import_run run = {
		.source = source,
		.options = options,
		.handler = handler,
		.counts = counts,
		.arena = arena_new(),
		.dropped = -1,
	};
	int rc = format->convert(&run, err);

	/* Also when the file broke off: the job at hand was complete. */
	if (!run.stopped)
		import_flush(&run);
	if (run.stopped)
		rc = err_set(err, ERR_GONE, source->name, "stopped at line %zu", run.line);
	free(run.steps);
	arena_free(run.arena);
	return rc;
}

/* ---- the job at hand --------------------------------------------------------------------- */

static void begin(struct import_run *run, size_t line, bool has_job)
{
	memset(&run->job, 0, sizeof(run->job));
	run->has_job = has_job;
	run->ended = false;
	run->n_steps = 0;
	run->line = line;
}

struct job *import_begin_job(struct import_run *run, size_t line)
{
	if (import_flush(run) < 0)
		return NULL;
	begin(run, line, true);
	return &run->job;
}

struct job *import_begin_orphans(struct import_run *run, size_t line)
{
	if (import_flush(run) < 0)
		return NULL;
	begin(run, line, false);
	return &run->job;
}

struct step *import_add_step(struct import_run *run)
{
	struct step *s;

	if (run->n_steps == run->cap_steps) {
		run->cap_steps = run->cap_steps ? 2 * run->cap_steps : 8;
		run->steps = xrealloc(run->steps, run->cap_steps * sizeof(*run->steps));
	}
	s = &run->steps[run->n_steps++];
	memset(s, 0, sizeof(*s));
	return s;
}

void import_drop_job(struct import_run *run)
{
	run->dropped = job_get(&run->job, job_id, -1);
	begin(run, 0, false);
	arena_reset(run->arena);
}

static int hand_over(struct import_run *run, const struct record *rec)
{
	run->counts->records++;
	if (run->handler->record(rec, run->line, run->handler->arg) < 0)
		run->stopped = true;
	return run->stopped ? -1 : 0;
}

static void identify_steps(struct import_run *run)
{
	const struct job *j = &run->job;

	for (size_t i = 0; i < run->n_steps; i++) {
		struct step *s = &run->steps[i];

		if (job_has(j, cluster))
			step_set(s, cluster, j->cluster);
		step_set(s, job_id, j->job_id);
		if (job_has(j, submit_at))
			step_set(s, submit_at, j->submit_at);
	}
}

/* A record of its own for each step: their job has not ended, or is not here. */
static int hand_over_steps(struct import_run *run, const struct record *job_rec)
{
	struct record rec = *job_rec;

	memset(&rec.job, 0, sizeof(rec.job));
	if (job_has(&run->job, cluster))
		job_set(&rec.job, cluster, run->job.cluster);
	job_set(&rec.job, job_id, run->job.job_id);
	if (job_has(&run->job, submit_at))
		job_set(&rec.job, submit_at, run->job.submit_at);
	for (size_t i = 0; i < run->n_steps; i++) {
		struct step *s = &run->steps[i];
		bool ended = step_has(s, state) ? state_is_end(s->state) : step_has(s, end_at);

		rec.kind = ended ? REC_STEP_END : REC_STEP_START;
		rec.steps = s;
		rec.n_steps = 1;
		if (hand_over(run, &rec) < 0)
			return -1;
	}
	return 0;
}

int import_flush(struct import_run *run)
{
	struct record rec = { .as_of = AS_OF_UNKNOWN };
	int rc = 0;

	if (run->stopped)
		return -1;
	if (!run->has_job && run->n_steps == 0)
		return 0;
	if (!job_has(&run->job, cluster) && run->options->cluster)
		job_set(&run->job, cluster, run->options->cluster);
	identify_steps(run);
	rec.kind = run->ended ? REC_JOB_END : REC_JOB_START;
	rec.cluster = job_get(&run->job, cluster, NULL);
	rec.submit_known = job_has(&run->job, submit_at);
	rec.job = run->job;
	if (run->has_job && run->ended) {
		rec.steps = run->steps;
		rec.n_steps = run->n_steps;
		rc = hand_over(run, &rec);
	} else {
		if (run->has_job)
			rc = hand_over(run, &rec);
		if (rc == 0)
			rc = hand_over_steps(run, &rec);
	}
	begin(run, 0, false);
	arena_reset(run->arena);
	return rc;
}

/* ---- values ---------------------------------------------------------------------------------- */

static void *slot(struct import_run *run, struct step *step, int field)
{
	if (step) {
		has_set(step->has, (size_t)field);
		return (char *)step + step_fields[field].offset;
	}
	has_set(run->job.has, (size_t)field);
	return (char *)&run->job + job_fields[field].offset;
}

void import_put_number(struct import_run *run, struct step *step, int field, int64_t v)
{
	if (field >= 0)
		*(int64_t *)slot(run, step, field) = v;
}

void import_put_text(struct import_run *run, struct step *step, int field, const char *text)
{
	if (field >= 0)
		*(const char **)slot(run, step, field) = arena_strdup(run->arena, text);
}

bool import_is_nothing(const char *cell)
{
	static const char *const words[] = {
		"", "Unknown", "None", "N/A", "None assigned", "(null)", "(unknown)", "Invalid",
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(cell, words[i]) == 0)
			return true;
	return false;
}

void import_settle_elapsed(struct import_run *run, int64_t elapsed_s)
{
	struct job *j = &run->job;
	bool both = job_has(j, start_at) && job_has(j, end_at);

	if (elapsed_s < 0 || !run->ended)
		return;
	if (!both || j->end_at - j->start_at != elapsed_s)
		job_set(j, rec_elapsed, elapsed_s);
}

/* ---- what is said about rows ----------------------------------------------------------------- */

static void say_refused(struct import_run *run, size_t line, const char *column,
			const struct err *err, bool skipped)
{
	struct err e = *err;
	const char *where = column ? column : err->where;
	const char *slash = strrchr(run->source->name, '/');

	snprintf(e.where, sizeof(e.where), "%.36s:%zu%s%.32s",
		 slash ? slash + 1 : run->source->name, line, *where ? " " : "", where);
	if (skipped)
		run->counts->skipped++;
	else
		run->counts->refused++;
	run->handler->refused(&e, skipped, run->handler->arg);
}

void import_refuse(struct import_run *run, size_t line, const char *column, const struct err *err)
{
	say_refused(run, line, column, err, false);
}

void import_skip(struct import_run *run, size_t line, const struct err *err)
{
	say_refused(run, line, NULL, err, true);
}

bool import_other_cluster(struct import_run *run, size_t line, const char *cluster)
{
	struct err e;

	if (cluster == NULL || run->options->cluster == NULL ||
	    strcmp(cluster, run->options->cluster) == 0)
		return false;
	err_set(&e, ERR_INVALID, "Cluster", "is of cluster %.100s, not of %.100s", cluster,
		run->options->cluster);
	say_refused(run, line, NULL, &e, true);
	return true;
}

void import_note(struct import_run *run, unsigned kind, const char *fmt, ...)
{
	uint64_t bit = (uint64_t)1 << kind;
	char text[512];
	va_list ap;

	if (run->noted & bit)
		return;
	run->noted |= bit;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	run->handler->note(text, run->handler->arg);
}

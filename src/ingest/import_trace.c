/* ingest/import_trace.c: published traces in CSV: NREL's Eagle, Alibaba's openb pods, and Philly
 * as prepared for the Chronus simulator.
 *
 * A trace's header says which it is.  Each has one table of columns; what a trace does not say
 * stays unknown, and what has to be read into it (an allocation out of a request) is said in a
 * note. */
#include "ingest/import_csv.h"
#include "ingest/import_priv.h"

#include "base/num.h"
#include "core/state.h"
#include "core/tres.h"

#include <strings.h>

#define TRES_MAX 8

struct trace_job {
	struct job *job;
	struct tres tres[TRES_MAX];
	size_t n_tres;
};

static void add_tres(struct trace_job *t, const char *name, int64_t count)
{
	if (count > 0 && t->n_tres < TRES_MAX)
		t->tres[t->n_tres++] = (struct tres){ name, strlen(name), count };
}

/* A whole number, or one with a fraction of zeros ("172800.0"). */
static int whole(const char *cell, const char *column, int64_t *ret, struct err *err)
{
	const char *p = num_digits(cell, ret);

	if (p && *p == '.')
		p += 1 + strspn(p + 1, "0");
	if (p == NULL || *p != '\0')
		return err_set(err, ERR_INVALID, column, "\"%.40s\" is no whole number", cell);
	return 0;
}

/* ---- rows of any trace ----------------------------------------------------------------------- */

struct trace {
	const char *const *names;
	size_t n;
	/* Fills in the job from a row, or refuses it. */
	int (*row)(struct import_run *run, struct trace_job *t, const struct csv_row *row,
		   void *state, struct err *err);
};

static int one_row(struct import_run *run, const struct trace *trace, const struct csv_row *row,
		   void *state)
{
	struct trace_job t = { .job = import_begin_job(run, row->line) };
	struct err err;
	const char *text = "";
	int rc;

	if (t.job == NULL)
		return -1;
	if (row->n != trace->n)
		rc = err_set(&err, ERR_INVALID, NULL, "has %zu cells instead of %zu", row->n,
			     trace->n);
	else
		rc = trace->row(run, &t, row, state, &err);
	if (rc == 0)
		rc = tres_make(t.tres, t.n_tres, run->arena, &text, &err);
	if (rc < 0) {
		import_refuse(run, row->line, NULL, &err);
		import_drop_job(run);
		return 0;
	}
	if (*text) {
		job_set(t.job, tres_req, text);
		if (job_has(t.job, start_at) || job_has(t.job, rec_elapsed))
			job_set(t.job, tres_alloc, text);
	}
	run->ended = true;
	run->counts->jobs++;
	return 0;
}

static int convert_trace(struct import_run *run, const struct trace *trace, void *state)
{
	const struct import_source *s = run->source;
	struct arena *arena = arena_new();
	struct csv_row row;
	struct csv c;
	struct err err;
	int rc = 0;

	csv_init(&c, s->data, s->len);
	csv_next(&c, arena, &row, &err); /* the header, known from recognise */
	import_note(run, 0,
		    "the allocation is taken to be what was asked for: the trace has no other");
	while (!run->stopped && (rc = csv_next(&c, arena, &row, &err)) != 0) {
		run->counts->rows++;
		run->counts->bytes = (uint64_t)(c.at - s->data);
		if (rc < 0)
			import_refuse(run, row.line, NULL, &err);
		else if (one_row(run, trace, &row, state) < 0)
			break;
		arena_reset(arena);
	}
	arena_free(arena);
	return 0;
}

static void put_text(struct import_run *run, int field, const char *cell)
{
	if (*cell)
		import_put_text(run, NULL, field, cell);
}

/* ---- Eagle ------------------------------------------------------------------------------------
 */

/* clang-format off */
enum {
	EAGLE_job_id, EAGLE_user, EAGLE_account, EAGLE_partition, EAGLE_qos, EAGLE_wallclock_req,
	EAGLE_nodes_req, EAGLE_processors_req, EAGLE_gpus_req, EAGLE_mem_req, EAGLE_submit_time,
	EAGLE_start_time, EAGLE_end_time, EAGLE_run_time, EAGLE_state, EAGLE_name, EAGLE_work_dir,
	EAGLE_submit_line
};
/* clang-format on */

static const char *const eagle_names[] = {
	"job_id",    "user",	       "account",  "partition", "qos",	       "wallclock_req",
	"nodes_req", "processors_req", "gpus_req", "mem_req",	"submit_time", "start_time",
	"end_time",  "run_time",       "state",	   "name",	"work_dir",    "submit_line",
};

/* How often each job number stands in the file: an array's tasks all have the array's number. */
struct seen {
	struct seen_id {
		int64_t id;
		uint32_t times, given;
	} * slots;
	size_t mask, used;
};

static struct seen_id *seen_slot(struct seen *s, int64_t id)
{
	size_t i = ((uint64_t)id * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & s->mask;

	while (s->slots[i].times && s->slots[i].id != id)
		i = (i + 1) & s->mask;
	s->slots[i].id = id;
	return &s->slots[i];
}

static void seen_add(struct seen *s, int64_t id)
{
	struct seen_id *slot;

	if (2 * s->used >= s->mask) {
		struct seen old = *s;

		s->mask = old.mask ? 2 * old.mask + 1 : 1023;
		s->slots = xcalloc(s->mask + 1, sizeof(*s->slots));
		for (size_t i = 0; old.slots && i <= old.mask; i++)
			if (old.slots[i].times)
				*seen_slot(s, old.slots[i].id) = old.slots[i];
		free(old.slots);
	}
	slot = seen_slot(s, id);
	s->used += slot->times++ == 0;
}

static void count_ids(const struct import_source *source, struct seen *s)
{
	struct arena *arena = arena_new();
	struct csv_row row;
	struct csv c;
	int64_t id;
	int rc;

	csv_init(&c, source->data, source->len);
	while ((rc = csv_next(&c, arena, &row, NULL)) != 0) {
		if (rc > 0 && row.n > 0 && num_parse(row.cells[EAGLE_job_id], &id) == 0)
			seen_add(s, id);
		arena_reset(arena);
	}
	arena_free(arena);
}

static int eagle_id(struct import_run *run, struct job *j, const char *cell, struct seen *s,
		    struct err *err)
{
	struct job_name name = { .array_task = -1, .het_offset = -1 };
	struct seen_id *slot;

	if (whole(cell, "job_id", &name.id, err) < 0)
		return -1;
	if (name.id <= 0 || name.id > UINT32_MAX)
		return err_set(err, ERR_INVALID, "job_id", "%" PRId64 " is no job number", name.id);
	slot = seen_slot(s, name.id);
	if (slot->times > 1) {
		name.array_task = slot->given++;
		import_note(
			run, 1,
			"jobs with one number are tasks of an array whose indices the trace leaves "
			"out: numbered from 0 in the order of the file");
	}
	if (!job_number_known(&name))
		return err_set(err, ERR_INVALID, "job_id", "%" PRId64 " has too many tasks",
			       name.id);
	job_set(j, job_id, job_number(&name, -1));
	job_set_name(j, &name, run->arena);
	return 0;
}

static int eagle_times(struct import_run *run, const struct csv_row *row, struct err *err)
{
	static const struct {
		int column, field;
	} times[] = {
		{ EAGLE_submit_time, JOB_submit_at },
		{ EAGLE_start_time, JOB_start_at },
		{ EAGLE_end_time, JOB_end_at },
	};
	int64_t t, run_time;
	int rc;

	for (size_t i = 0; i < ARRAY_LEN(times); i++) {
		const char *cell = row->cells[times[i].column];

		if (import_is_nothing(cell))
			continue;
		rc = import_time(run, cell, &t, err);
		if (rc < 0) {
			snprintf(err->where, sizeof(err->where), "%s",
				 eagle_names[times[i].column]);
			return -1;
		}
		if (rc > 0)
			import_put_number(run, NULL, times[i].field, t);
	}
	if (import_is_nothing(row->cells[EAGLE_run_time]))
		return 0;
	if (whole(row->cells[EAGLE_run_time], "run_time", &run_time, err) < 0)
		return -1;
	run->ended = true;
	import_untwist(run, run_time);
	import_settle_elapsed(run, run_time);
	return 0;
}

static int eagle_row(struct import_run *run, struct trace_job *t, const struct csv_row *row,
		     void *state, struct err *err)
{
	struct job *j = t->job;
	const char *const *c = row->cells;
	int64_t limit_s, nodes, cpus, gpus, mem, st;

	if (eagle_id(run, j, c[EAGLE_job_id], state, err) < 0 || eagle_times(run, row, err) < 0 ||
	    whole(c[EAGLE_wallclock_req], "wallclock_req", &limit_s, err) < 0 ||
	    whole(c[EAGLE_nodes_req], "nodes_req", &nodes, err) < 0 ||
	    whole(c[EAGLE_processors_req], "processors_req", &cpus, err) < 0 ||
	    whole(c[EAGLE_gpus_req], "gpus_req", &gpus, err) < 0 ||
	    whole(c[EAGLE_mem_req], "mem_req", &mem, err) < 0)
		return -1;
	if (state_parse(c[EAGLE_state], &st, NULL, err) < 0) {
		snprintf(err->where, sizeof(err->where), "state");
		return -1;
	}
	put_text(run, JOB_user_name, c[EAGLE_user]);
	put_text(run, JOB_account, c[EAGLE_account]);
	put_text(run, JOB_partition, c[EAGLE_partition]);
	put_text(run, JOB_qos, c[EAGLE_qos]);
	put_text(run, JOB_name, c[EAGLE_name]);
	put_text(run, JOB_work_dir, c[EAGLE_work_dir]);
	put_text(run, JOB_submit_line, c[EAGLE_submit_line]);
	job_set(j, state, st);
	job_set(j, timelimit, (limit_s + 59) / 60);
	job_set(j, req_nodes, nodes);
	job_set(j, req_cpus, cpus);
	if (job_has(j, start_at))
		job_set(j, alloc_nodes, nodes);
	add_tres(t, "cpu", cpus);
	add_tres(t, "gres/gpu", gpus);
	add_tres(t, "node", nodes);
	if (mem > 0) { /* of the whole job; 0 = not asked */
		job_set(j, req_mem, mem);
		job_set(j, req_mem_per, PER_JOB);
		add_tres(t, "mem", mem);
	}
	return 0;
}

static const struct trace eagle = { eagle_names, ARRAY_LEN(eagle_names), eagle_row };

static int convert_eagle(struct import_run *run, struct err *err)
{
	struct seen seen = { 0 };

	(void)err;
	count_ids(run->source, &seen);
	if (seen.slots)
		convert_trace(run, &eagle, &seen);
	free(seen.slots);
	return 0;
}

static bool is_eagle(const struct import_source *s)
{
	return csv_has_header(s->data, s->len, eagle_names, ARRAY_LEN(eagle_names));
}

const struct import_format import_eagle = { "eagle", "Eagle's job CSV", is_eagle, convert_eagle,
					    false };

/* ---- openb ------------------------------------------------------------------------------------
 */

/* clang-format off */
enum {
	OPENB_name, OPENB_cpu_milli, OPENB_memory_mib, OPENB_num_gpu, OPENB_gpu_milli, OPENB_gpu_spec,
	OPENB_qos, OPENB_pod_phase, OPENB_creation_time, OPENB_deletion_time, OPENB_scheduled_time
};
/* clang-format on */

static const char *const openb_names[] = {
	"name", "cpu_milli", "memory_mib",    "num_gpu",       "gpu_milli",	 "gpu_spec",
	"qos",	"pod_phase", "creation_time", "deletion_time", "scheduled_time",
};

/* A pod that was waiting or running when it was deleted was ended by that. */
static const struct {
	const char *phase;
	int64_t state;
} openb_phases[] = {
	{ "Succeeded", STATE_COMPLETED },
	{ "Failed", STATE_FAILED },
	{ "Running", STATE_CANCELLED },
	{ "Pending", STATE_CANCELLED },
};

static int openb_state(struct job *j, const char *phase, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(openb_phases); i++)
		if (strcmp(phase, openb_phases[i].phase) == 0) {
			job_set(j, state, openb_phases[i].state);
			return 0;
		}
	return err_set(err, ERR_INVALID, "pod_phase",
		       "\"%.40s\" is no phase: there are Pending, Running, Succeeded, Failed",
		       phase);
}

/* Seconds from the start of the trace; an empty cell is not known. */
static int trace_second(struct import_run *run, int field, const char *cell, const char *column,
			struct err *err)
{
	int64_t s;

	if (*cell == '\0')
		return 0;
	if (whole(cell, column, &s, err) < 0)
		return -1;
	import_put_number(run, NULL, field, num_add(run->options->epoch, s, NULL));
	return 0;
}

static int openb_row(struct import_run *run, struct trace_job *t, const struct csv_row *row,
		     void *state, struct err *err)
{
	const char *const *c = row->cells;
	const char *dash = strrchr(c[OPENB_name], '-');
	int64_t number, cpu_milli, mib, gpus, gpu_milli;

	(void)state;
	if (dash == NULL || num_parse(dash + 1, &number) < 0)
		return err_set(err, ERR_INVALID, "name", "\"%.40s\" does not end in -NUMBER",
			       c[OPENB_name]);
	if (whole(c[OPENB_cpu_milli], "cpu_milli", &cpu_milli, err) < 0 ||
	    whole(c[OPENB_memory_mib], "memory_mib", &mib, err) < 0 ||
	    whole(c[OPENB_num_gpu], "num_gpu", &gpus, err) < 0 ||
	    whole(c[OPENB_gpu_milli], "gpu_milli", &gpu_milli, err) < 0 ||
	    trace_second(run, JOB_submit_at, c[OPENB_creation_time], "creation_time", err) < 0 ||
	    trace_second(run, JOB_eligible_at, c[OPENB_creation_time], "creation_time", err) < 0 ||
	    trace_second(run, JOB_start_at, c[OPENB_scheduled_time], "scheduled_time", err) < 0 ||
	    trace_second(run, JOB_end_at, c[OPENB_deletion_time], "deletion_time", err) < 0 ||
	    openb_state(t->job, c[OPENB_pod_phase], err) < 0)
		return -1;
	import_note(run, 1,
		    "pods are numbered from 0 and jobs from 1; parts of a CPU are rounded up; "
		    "part of a GPU is gres/gpu_milli; pods deleted while Running or Pending "
		    "are CANCELLED");
	job_set(t->job, job_id, number + 1);
	put_text(run, JOB_name, c[OPENB_name]);
	put_text(run, JOB_qos, c[OPENB_qos]);
	put_text(run, JOB_constraints, c[OPENB_gpu_spec]);
	job_set(t->job, req_cpus, (cpu_milli + 999) / 1000);
	job_set(t->job, req_mem, mib);
	job_set(t->job, req_mem_per, PER_JOB);
	add_tres(t, "cpu", (cpu_milli + 999) / 1000);
	add_tres(t, "mem", mib);
	if (gpu_milli == 1000)
		add_tres(t, "gres/gpu", gpus);
	else
		add_tres(t, "gres/gpu_milli", num_mul(gpus, gpu_milli, NULL));
	return 0;
}

static const struct trace openb = { openb_names, ARRAY_LEN(openb_names), openb_row };

static int convert_openb(struct import_run *run, struct err *err)
{
	(void)err;
	return convert_trace(run, &openb, NULL);
}

static bool is_openb(const struct import_source *s)
{
	return csv_has_header(s->data, s->len, openb_names, ARRAY_LEN(openb_names));
}

const struct import_format import_openb = { "openb", "openb's pod CSV", is_openb, convert_openb,
					    true };

/* ---- Philly -----------------------------------------------------------------------------------
 */

enum { PHILLY_job_id, PHILLY_vc, PHILLY_num_gpu, PHILLY_submit_min, PHILLY_duration_min };

static const char *const philly_names[] = { "job_id", "vc", "num_gpu", "submit_min",
					    "duration_min" };

static int philly_row(struct import_run *run, struct trace_job *t, const struct csv_row *row,
		      void *state, struct err *err)
{
	const char *const *c = row->cells;
	int64_t id, gpus, submit_min, duration_min, submit;

	(void)state;
	if (whole(c[PHILLY_job_id], "job_id", &id, err) < 0 ||
	    whole(c[PHILLY_num_gpu], "num_gpu", &gpus, err) < 0 ||
	    whole(c[PHILLY_submit_min], "submit_min", &submit_min, err) < 0 ||
	    whole(c[PHILLY_duration_min], "duration_min", &duration_min, err) < 0)
		return -1;
	import_note(run, 1,
		    "the trace has no end states and no starts: jobs are known by submission, "
		    "length and GPUs, and are numbered one higher than there, where they "
		    "begin at 0");
	submit = num_add(run->options->epoch, num_mul(submit_min, 60, NULL), NULL);
	job_set(t->job, job_id, id + 1);
	put_text(run, JOB_account, c[PHILLY_vc]);
	job_set(t->job, submit_at, submit);
	job_set(t->job, eligible_at, submit);
	job_set(t->job, rec_elapsed, num_mul(duration_min, 60, NULL));
	add_tres(t, "gres/gpu", gpus);
	return 0;
}

static const struct trace philly = { philly_names, ARRAY_LEN(philly_names), philly_row };

static int convert_philly(struct import_run *run, struct err *err)
{
	(void)err;
	return convert_trace(run, &philly, NULL);
}

static bool is_philly(const struct import_source *s)
{
	return csv_has_header(s->data, s->len, philly_names, ARRAY_LEN(philly_names));
}

const struct import_format import_philly = { "philly", "Philly's CSV of the Chronus simulator",
					     is_philly, convert_philly, true };

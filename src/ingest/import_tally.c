/* ingest/import_tally.c: what tallyd itself answers: /v1/jobs as NDJSON, or `tally sacct --json`.
 *
 * So that history can move from one database to another: the rows come back as they were.  What is
 * computed from the others is left out and computed again. */
#include "core/record_json.h"
#include "core/state.h"
#include "ingest/import_priv.h"

static void adopt_steps(struct import_run *run, const struct step *steps, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct step *s = import_add_step(run);

		*s = steps[i];
		if (!step_has(s, het_comp))
			step_set(s, het_comp, HET_COMP_NONE);
	}
}

static void adopt_job(struct import_run *run, const struct job *from)
{
	struct job *j = &run->job;

	*j = *from;
	for (size_t f = 0; f < JOB_FIELDS; f++)
		if (job_fields[f].flags & FF_DERIVED)
			has_clear(j->has, f);
	/* A submit time that was made from the record is made again. */
	if (job_get(from, submit_inferred, 0))
		job_unset(j, submit_at);
	run->ended = job_has(j, state) && state_is_end(j->state);
	/* A suspended job is one that runs, with an instant that says so. */
	if (job_has(j, state) && j->state == STATE_SUSPENDED && job_has(j, moments))
		j->state = STATE_RUNNING;
}

static int one_job(struct import_run *run, struct jtext text, size_t line)
{
	struct step *steps = NULL;
	struct jscan scan;
	struct err err;
	struct job job;
	size_t n = 0;

	if (import_begin_job(run, line) == NULL)
		return -1;
	run->counts->rows++;
	run->counts->bytes = (uint64_t)(text.p + text.n - run->source->data);
	jscan_init(&scan, text.p, text.n, run->arena, &err);
	if (job_decode_json(&scan, &job, &steps, &n) < 0 || jscan_done(&scan) < 0) {
		import_refuse(run, line, NULL, &err);
		import_drop_job(run);
		return 0;
	}
	if (!job_has(&job, job_id)) {
		err_set(&err, ERR_INVALID, NULL, "has no job number");
		import_refuse(run, line, "job_id", &err);
		import_drop_job(run);
		return 0;
	}
	for (size_t i = 0; i < n; i++) {
		if (step_has(&steps[i], step_id))
			continue;
		err_set(&err, ERR_INVALID, NULL, "step %zu has no number", i);
		import_refuse(run, line, "step_id", &err);
		import_drop_job(run);
		return 0;
	}
	run->counts->rows += n;
	if (import_other_cluster(run, line, job_get(&job, cluster, NULL))) {
		run->counts->skipped += n;
		import_drop_job(run);
		return 0;
	}
	run->counts->jobs++;
	run->counts->steps += n;
	adopt_job(run, &job);
	adopt_steps(run, steps, n);
	return 0;
}

struct lines {
	const char *counted;
	size_t line;
};

static size_t line_of(struct lines *l, const char *p)
{
	for (; l->counted < p; l->counted++)
		l->line += *l->counted == '\n';
	return l->line;
}

/* {"jobs":[JOB,...],...} */
static int whole_document(struct import_run *run, struct err *err)
{
	const struct import_source *s = run->source;
	struct lines lines = { s->data, 1 };
	struct arena *arena = arena_new();
	struct jscan j;
	struct jtext key;

	jscan_init(&j, s->data, s->len, arena, err);
	jscan_enter(&j, JSCAN_OBJECT);
	while (!run->stopped && jscan_member(&j, &key)) {
		if (!jtext_is(key, "jobs")) {
			jscan_skip(&j);
			continue;
		}
		jscan_enter(&j, JSCAN_ARRAY);
		while (!run->stopped && jscan_element(&j)) {
			struct jtext job;

			jscan_peek(&j); /* past the blanks */
			job.p = j.at;
			if (jscan_skip(&j) < 0)
				break;
			job.n = (size_t)(j.at - job.p);
			one_job(run, job, line_of(&lines, job.p));
		}
	}
	arena_free(arena);
	if (j.failed)
		return err_prefix(err, "after %" PRIu64 " jobs: ", run->counts->jobs);
	return 0;
}

static int one_a_line(struct import_run *run, struct err *err)
{
	const struct import_source *s = run->source;
	struct lines lines = { s->data, 1 };
	struct jcut cut;
	struct jtext text;
	int rc = 0;

	jcut_init(&cut, s->data, s->len, true);
	while (!run->stopped && (rc = jcut_next(&cut, &text, err)) > 0)
		if (one_job(run, text, line_of(&lines, text.p)) < 0)
			break;
	return rc < 0 ? -1 : 0;
}

/* The first object's keys tell: a job of ours has "submit" where Slurm's has "time". */
static bool is_job(struct jscan *j)
{
	bool submit = false, job_id = false;
	struct jtext key;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return false;
	while (jscan_member(j, &key)) {
		submit |= jtext_is(key, "submit");
		job_id |= jtext_is(key, "job_id");
		if (jtext_is(key, "kind"))
			return false; /* a record: for `tally records` */
		if (jscan_skip(j) < 0)
			break;
	}
	return submit && job_id;
}

static bool is_document(const struct import_source *s)
{
	struct arena *arena = arena_new();
	struct jscan j;
	struct jtext key;
	bool found = false;

	jscan_init(&j, s->data, s->len, arena, NULL);
	jscan_enter(&j, JSCAN_OBJECT);
	while (jscan_member(&j, &key)) {
		if (jtext_is(key, "jobs")) {
			found = jscan_enter(&j, JSCAN_ARRAY) == 0 && jscan_element(&j) &&
				is_job(&j);
			break;
		}
		if (jscan_skip(&j) < 0)
			break;
	}
	arena_free(arena);
	return found;
}

static bool recognise(const struct import_source *s)
{
	const char *nl = memchr(s->data, '\n', s->len);
	struct arena *arena;
	struct jscan j;
	bool found;

	if (s->len == 0 || s->data[0] != '{')
		return false;
	arena = arena_new();
	jscan_init(&j, s->data, nl ? (size_t)(nl - s->data) : s->len, arena, NULL);
	found = is_job(&j);
	arena_free(arena);
	return found || is_document(s);
}

static int convert(struct import_run *run, struct err *err)
{
	return is_document(run->source) ? whole_document(run, err) : one_a_line(run, err);
}

const struct import_format import_tally = {
	.name = "tally",
	.doc = "tally's own jobs as JSON",
	.recognise = recognise,
	.convert = convert,
};

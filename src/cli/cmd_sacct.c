/* cli/cmd_sacct.c: `tally sacct`: asks for the jobs and prints them as they come.
 *
 * sacct lists by time of submission, and within one second by job, array tasks in their order.
 * The daemon sorts by submission; the rows of one second are held back here and put in order, so
 * memory does not grow with the answer. */
#include "cli/cli.h"

#include <unistd.h>

#include "cli/sacct_opts.h"
#include "cli/sacct_query.h"
#include "cli/sacct_text.h"
#include "core/filter.h"
#include "core/record_json.h"

#define PENDING_OUTPUT_MAX 65536
#define ARENA_KEPT	   ((size_t)1 << 20)

struct entry {
	struct job job;
	struct step *steps;
	size_t n_steps;
};

struct listing {
	const struct sacct_opts *o;
	struct table table;
	struct buf out, cell;
	bool header_done;
	struct arena *arena; /* of the rows held back */
	struct entry **held; /* of one second of submission */
	size_t n_held, cap_held;
	/* -j with steps in it: only those are shown. */
	struct job_selection *selections;
	size_t n_selections;
	bool steps_selected;
};

/* ---- output ------------------------------------------------------------------------- */

static int write_out(struct listing *l, size_t more_than, struct err *err)
{
	if (l->out.len <= more_than)
		return 0;
	if (fwrite(l->out.data, 1, l->out.len, stdout) != l->out.len)
		return err_set(err, ERR_SYSTEM, NULL, "writing: %s", strerror(errno));
	buf_clear(&l->out);
	return 0;
}

static void header(struct listing *l)
{
	if (!l->header_done && !l->o->no_header)
		table_header(&l->table);
	l->header_done = true;
}

static void print_row(struct listing *l, const struct sacct_row *row)
{
	for (size_t i = 0; i < l->o->columns.n; i++) {
		buf_clear(&l->cell);
		sacct_print(&l->cell, l->o->columns.fields[i], row);
		table_cell(&l->table, buf_str(&l->cell));
	}
}

/* ---- which lines of a job ----------------------------------------------------------- */

/* Without steps in -j everything of a job that the daemon sends. */
static bool selected(const struct listing *l, const struct job *j, int64_t step_id)
{
	if (!l->steps_selected)
		return true;
	for (size_t i = 0; i < l->n_selections; i++) {
		const struct job_selection *s = &l->selections[i];

		if ((s->step_id == STEP_ANY || s->step_id == step_id) &&
		    job_selection_matches(s, j, HET_DEFAULT))
			return true;
	}
	return false;
}

static void print_steps(struct listing *l, struct sacct_row row)
{
	for (size_t i = 0; i < row.n_steps; i++) {
		row.step = &row.steps[i];
		if (selected(l, row.job, row.step->step_id))
			print_row(l, &row);
	}
}

/* --array: a line for each task that the record stands for. */
static void print_tasks(struct listing *l, struct sacct_row row)
{
	struct job task = *row.job;
	struct array_range range;
	int64_t id;

	array_begin(&range, task.array_tasks);
	job_unset(&task, array_tasks);
	row.job = &task;
	while (array_next(&range, &id)) {
		job_set(&task, array_task_id, id);
		print_row(l, &row);
	}
}

static void print_entry(struct listing *l, const struct entry *e)
{
	struct sacct_row row = {
		.job = &e->job, .steps = e->steps, .n_steps = e->n_steps, .style = &l->o->style
	};

	if (l->o->array && job_has(&e->job, array_tasks) && !job_has(&e->job, array_task_id))
		print_tasks(l, row);
	else if (selected(l, &e->job, STEP_ANY))
		print_row(l, &row);
	if (!l->o->allocations)
		print_steps(l, row);
}

/* ---- order -------------------------------------------------------------------------- */

#define COMPARE(a, b) (((a) > (b)) - ((a) < (b)))

static int64_t array_or_self(const struct job *j)
{
	return job_get(j, array_job_id, j->job_id);
}

static int entry_compare(const void *pa, const void *pb)
{
	const struct job *a = &(*(struct entry *const *)pa)->job;
	const struct job *b = &(*(struct entry *const *)pb)->job;
	int c = COMPARE(array_or_self(a), array_or_self(b));

	if (c == 0)
		c = COMPARE(job_get(a, array_task_id, INT64_MAX),
			    job_get(b, array_task_id, INT64_MAX));
	if (c == 0)
		c = COMPARE(a->job_id, b->job_id);
	return c ? c : strcmp(job_get(a, cluster, ""), job_get(b, cluster, ""));
}

static int flush_held(struct listing *l, struct err *err)
{
	if (l->n_held > 1)
		qsort(l->held, l->n_held, sizeof(struct entry *), entry_compare);
	for (size_t i = 0; i < l->n_held; i++)
		print_entry(l, l->held[i]);
	l->n_held = 0;
	return write_out(l, PENDING_OUTPUT_MAX, err);
}

static void hold(struct listing *l, struct entry *e)
{
	if (l->n_held == l->cap_held) {
		l->cap_held = l->cap_held ? 2 * l->cap_held : 64;
		l->held = xrealloc(l->held, l->cap_held * sizeof(struct entry *));
	}
	l->held[l->n_held++] = e;
}

static struct entry *decode(struct listing *l, const char *line, size_t n, struct err *err)
{
	struct entry *e = ARENA_NEW(l->arena, struct entry);
	struct jscan scan;

	jscan_init(&scan, line, n, l->arena, err);
	if (job_decode_json(&scan, &e->job, &e->steps, &e->n_steps) < 0 || jscan_done(&scan) < 0) {
		err_prefix(err, "the daemon's answer is not understood: ");
		return NULL;
	}
	return e;
}

/* A row of another second: what was held back is complete. */
static bool begins_anew(const struct listing *l, const struct entry *e)
{
	return l->n_held > 0 && l->held[0]->job.submit_at != e->job.submit_at;
}

static int on_line(const char *line, size_t n, void *arg, struct err *err)
{
	struct listing *l = arg;
	struct entry *e;

	if (n == 0)
		return 0;
	header(l);
	e = decode(l, line, n, err);
	if (e && begins_anew(l, e)) {
		if (flush_held(l, err) < 0)
			return -1;
		if (arena_size(l->arena) > ARENA_KEPT) {
			arena_reset(l->arena);
			e = decode(l, line, n, err);
		}
	}
	if (e == NULL)
		return -1;
	hold(l, e);
	return 0;
}

/* ---- the command -------------------------------------------------------------------- */

static int read_selections(struct listing *l, struct err *err)
{
	for (size_t i = 0; i < l->o->n_conditions; i++) {
		const struct sacct_condition *c = &l->o->conditions[i];
		struct job_selection *more;
		size_t n;

		if (strcmp(c->name, "job") != 0)
			continue;
		if (job_selection_parse(c->value, l->o->arena, &more, &n, err) < 0)
			return -1;
		l->selections =
			xrealloc(l->selections, (l->n_selections + n) * sizeof(*l->selections));
		memcpy(l->selections + l->n_selections, more, n * sizeof(*more));
		l->n_selections += n;
	}
	for (size_t i = 0; i < l->n_selections; i++)
		l->steps_selected |= l->selections[i].step_id != STEP_ANY;
	return 0;
}

static int print_table(const struct sacct_opts *o, struct client *client,
		       const struct sacct_query *q, struct err *err)
{
	struct listing l = {
		.o = o,
		.table = { .form = o->form,
			   .delimiter = o->delimiter,
			   .columns = o->columns.columns,
			   .n_columns = o->columns.n },
		.arena = arena_new(),
	};
	int rc;

	l.table.out = &l.out;
	rc = read_selections(&l, err);
	if (rc == 0)
		rc = client_lines(client, &q->rq, on_line, &l, NULL, err);
	if (rc == 0) {
		header(&l);
		rc = flush_held(&l, err);
	}
	if (write_out(&l, 0, rc == 0 ? err : NULL) < 0)
		rc = -1;
	buf_fini(&l.out);
	buf_fini(&l.cell);
	arena_free(l.arena);
	free(l.held);
	free(l.selections);
	return rc;
}

static int write_bytes(const char *p, size_t n, void *arg UNUSED, struct err *err)
{
	if (fwrite(p, 1, n, stdout) != n)
		return err_set(err, ERR_SYSTEM, NULL, "writing: %s", strerror(errno));
	return 0;
}

static int list(const struct cli *cli, const struct sacct_opts *o, struct err *err)
{
	struct client_settings settings = { cli->url, cli->munge_socket };
	struct client *client = client_new(&settings, err);
	struct sacct_query q;
	int rc;

	if (client == NULL)
		return -1;
	sacct_query_make(o, &q);
	if (o->json)
		rc = client_stream(client, &q.rq, write_bytes, NULL, NULL, err);
	else
		rc = print_table(o, client, &q, err);
	if (rc == 0 && fflush(stdout) != 0)
		rc = err_set(err, ERR_SYSTEM, NULL, "writing: %s", strerror(errno));
	sacct_query_fini(&q);
	client_free(client);
	return rc;
}

static void tell_window(const struct sacct_opts *o, int64_t start, int64_t end)
{
	struct buf b = BUF_INIT;

	buf_adds(&b, "sacct: jobs in the window from ");
	text_time(&b, start, NULL, o->style.now, o->style.zone);
	buf_adds(&b, " to ");
	text_time(&b, end, NULL, o->style.now, o->style.zone);
	fprintf(stderr, "%s\n", buf_str(&b));
	buf_fini(&b);
}

static int checked_list(const struct cli *cli, const struct sacct_opts *o, struct err *err)
{
	int64_t start, end;

	if (sacct_window(o, &start, &end, err) < 0)
		return -1;
	if (o->verbose)
		tell_window(o, start, end);
	return list(cli, o, err);
}

static void help(void)
{
	puts("usage: tally sacct [OPTION...]\n\n"
	     "Lists jobs and their steps. Without -j and -s: those that were eligible, running or\n"
	     "ended since midnight.\n\noptions:");
	options_help(&sacct_options, stdout);
}

static void helpformat(void)
{
	struct buf b = BUF_INIT;

	sacct_format_help(&b);
	fputs(buf_str(&b), stdout);
	buf_fini(&b);
}

static int act(const struct cli *cli, const struct sacct_opts *o, struct err *err)
{
	switch (o->action) {
	case SACCT_HELP: help(); return 0;
	case SACCT_HELPFORMAT: helpformat(); return 0;
	case SACCT_VERSION: puts("tally " TALLY_VERSION); return 0;
	case SACCT_LIST: return checked_list(cli, o, err);
	}
	return -1;
}

int cmd_sacct(const struct cli *cli, int argc, char **argv)
{
	struct arena *arena = arena_new();
	struct sacct_asker who = { .now = (int64_t)time(NULL), .uid = geteuid() };
	struct sacct_opts o = { 0 };
	struct err err = { 0 };
	int rc = zone_open_local(getenv("TZ"), arena, &who.zone, &err);

	if (rc == 0)
		rc = sacct_opts_parse(argc, argv, &who, arena, &o, &err);
	if (rc == 0)
		rc = act(cli, &o, &err);
	if (rc < 0)
		cli_fail("sacct", &err);
	sacct_opts_fini(&o);
	arena_free(arena);
	return rc != 0;
}

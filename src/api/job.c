/* api/job.c: one job id, with its steps and its earlier runs. */
#include "api/args.h"
#include "api/flow.h"
#include "api/handlers.h"
#include "api/job.h"
#include "api/rowout.h"

/* Rows come newest run first; the runs of one job are gathered until another begins. */
struct runs {
	struct flow *flow;
	struct job_filter filter;
	struct job_page page;
	struct rowout rows;
	struct err *err;
	size_t jobs;
	/* of the job that is being gathered */
	char *cluster;
	int64_t job_id;
	struct buf newest, earlier; /* rows without their braces' first, run numbers to come */
	size_t *cuts;		    /* where the rows in `earlier` end */
	size_t n, cap;
};

/* {"run":3,"runs":3,ROW,"earlier":[{"run":2,ROW},...]}; the oldest run is number 1. */
static void print_job(struct runs *r)
{
	struct buf *out = &r->flow->out;

	if (r->n == 0)
		return;
	buf_printf(out, "%s{\"run\":%zu,\"runs\":%zu,", r->jobs > 0 ? ",\n" : "\n", r->n, r->n);
	buf_add(out, buf_str(&r->newest) + 1, r->newest.len - 2);
	buf_adds(out, ",\"earlier\":[");
	for (size_t i = 1, at = 0; i < r->n; at = r->cuts[i++]) {
		buf_printf(out, "%s{\"run\":%zu,", i > 1 ? "," : "", r->n - i);
		buf_add(out, r->earlier.data + at + 1, r->cuts[i] - at - 1);
	}
	buf_adds(out, "]}");
	r->jobs++;
	r->n = 0;
	buf_clear(&r->newest);
	buf_clear(&r->earlier);
}

static void next_job(struct runs *r, const struct job *j)
{
	if (r->n > 0 && r->job_id == j->job_id && strcmp(r->cluster, j->cluster) == 0)
		return;
	print_job(r);
	free(r->cluster);
	r->cluster = xstrdup(j->cluster);
	r->job_id = j->job_id;
}

static int add_run(const struct job *j, const struct step *steps, size_t n, void *arg)
{
	struct runs *r = arg;

	flow_row(r->flow, j, steps, n);
	next_job(r, j);
	if (r->n == r->cap) {
		r->cap = r->cap != 0 ? r->cap * 2 : 8;
		r->cuts = xrealloc(r->cuts, r->cap * sizeof(r->cuts[0]));
	}
	job_encode_json(r->n == 0 ? &r->newest : &r->earlier, j, steps, n, &r->rows.style);
	r->cuts[r->n++] = r->earlier.len;
	return flow_push(r->flow, r->err);
}

static int print_runs(struct flow *flow, struct arena *arena, struct err *err)
{
	struct runs *r = flow->arg;
	struct request *req = flow->req;
	const char *next = NULL;

	buf_adds(&flow->out, "{\"jobs\":[");
	if (ops_jobs(req->api->ops, &req->who, &r->filter, &r->page, req->now, add_run, r, arena,
		     &next, err) < 0)
		return -1;
	print_job(r);
	if (r->jobs == 0)
		return no_such_job(req, err);
	buf_adds(&flow->out, "\n]}\n");
	return 0;
}

static int runs_body(struct flow *flow, struct arena *arena, struct err *err)
{
	struct runs *r = flow->arg;
	const struct job_args *args = flow->req->args;

	r->flow = flow;
	r->err = err;
	rowout_init(&r->rows, FORMAT_JSON, &args->rows, flow->req->now, args->steps);
	int rc = print_runs(flow, arena, err);
	rowout_fini(&r->rows);
	buf_fini(&r->newest);
	buf_fini(&r->earlier);
	free(r->cuts);
	free(r->cluster);
	return rc;
}

int no_such_job(const struct request *req, struct err *err)
{
	return err_set(err, ERR_NOT_FOUND, "id", "no job %.60s that you may see", req->values[0]);
}

int job_filter_for_id(struct request *req, const struct texts *clusters, struct job_filter *f,
		      struct err *err)
{
	job_filter_init(f);
	f->clusters = *clusters;
	if (job_selection_parse(req->values[0], req->arena, &f->jobs, &f->n_jobs, err) < 0)
		return err_set(err, ERR_INVALID, "id",
			       "\"%.60s\" is no job id; accepted: 12, 12_3 of an "
			       "array, 12+1 of a heterogeneous job",
			       req->values[0]);
	f->duplicates = true;
	f->with_steps = true;
	return filter_window(f, req->now, 0, err);
}

int run_job_get(struct request *req, struct err *err)
{
	struct runs *r = ARENA_NEW(req->arena, struct runs);
	const struct job_args *args = req->args;

	if (job_filter_for_id(req, &args->clusters, &r->filter, err) < 0)
		return -1;
	r->filter.with_steps = args->steps;
	r->page = (struct job_page){ .order = ORDER_JOB_ID, .limit = -1 };
	rowout_columns(&args->rows.fields, r->page.fields);
	flow_reply(req, "application/json", "job", runs_body, r);
	return 0;
}

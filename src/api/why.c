/* api/why.c: why a job ended as it did. */
#include "core/why.h"

#include "api/args.h"
#include "api/flow.h"
#include "api/handlers.h"
#include "api/job.h"
#include "api/rowout.h"

/* What of the job stands beside the findings. */
static const int keys[] = {
	JOB_cluster, JOB_job_id,   JOB_submit_at, JOB_user_name, JOB_name,
	JOB_state,   JOB_start_at, JOB_end_at,	  JOB_exit,
};

struct reasons {
	struct flow *flow;
	struct job_filter filter;
	struct row_args rows;
	struct rowout out;
	struct arena *scratch;
	struct err *err;
	size_t n;
};

static int add_job(const struct job *j, const struct step *steps, size_t n, void *arg)
{
	struct reasons *r = arg;
	struct buf *out = &r->flow->out;
	struct why_finding *findings;
	size_t count;

	flow_row(r->flow, j, steps, n);
	job_why(j, steps, n, r->flow->req->now, r->scratch, &findings, &count);
	buf_adds(out, r->n++ > 0 ? ",\n" : "\n");
	job_encode_json(out, j, steps, n, &r->out.style);
	out->len--; /* the row's } */
	buf_adds(out, ",\"findings\":");
	why_encode_json(out, findings, count);
	buf_addc(out, '}');
	arena_reset(r->scratch);
	return flow_push(r->flow, r->err);
}

static int print_reasons(struct flow *flow, struct arena *arena, struct err *err)
{
	const struct job_page page = { .order = ORDER_JOB_ID, .limit = -1 };
	struct reasons *r = flow->arg;
	struct request *req = flow->req;

	buf_adds(&flow->out, "{\"jobs\":[");
	if (ops_jobs(req->api->ops, &req->who, &r->filter, &page, req->now, add_job, r, arena, NULL,
		     err) < 0)
		return -1;
	buf_adds(&flow->out, "\n]}\n");
	if (r->n == 0)
		return no_such_job(req, err);
	return 0;
}

static int reasons_body(struct flow *flow, struct arena *arena, struct err *err)
{
	struct reasons *r = flow->arg;

	r->flow = flow;
	r->err = err;
	r->scratch = arena_new();
	rowout_init(&r->out, FORMAT_JSON, &r->rows, flow->req->now, false);
	int rc = print_reasons(flow, arena, err);
	rowout_fini(&r->out);
	arena_free(r->scratch);
	return rc;
}

int run_job_why(struct request *req, struct err *err)
{
	struct reasons *r = ARENA_NEW(req->arena, struct reasons);
	const struct why_args *args = req->args;

	if (job_filter_for_id(req, &args->clusters, &r->filter, err) < 0)
		return -1;
	r->filter.duplicates = false;
	r->rows.epoch = args->epoch;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		key_list_add(&r->rows.fields, keys[i]);
	flow_reply(req, "application/json", "why", reasons_body, r);
	return 0;
}

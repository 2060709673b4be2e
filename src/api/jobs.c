/* api/jobs.c: lists of jobs, streamed. */
#include "api/args.h"
#include "api/flow.h"
#include "api/handlers.h"
#include "api/rowout.h"
#include "core/timespec.h"

struct listing {
	struct flow *flow;
	struct jobs_args *args;
	struct job_page page;
	struct rowout rows;
	struct err *err;
};

static int add_row(const struct job *j, const struct step *steps, size_t n, void *arg)
{
	struct listing *l = arg;

	flow_row(l->flow, j, steps, n);
	rowout_add(&l->rows, j, steps, n, &l->flow->out);
	return flow_push(l->flow, l->err);
}

static void print_window(const struct job_filter *f, bool epoch, struct buf *out)
{
	char start[TIME_TEXT_SIZE], end[TIME_TEXT_SIZE];

	if (epoch) {
		buf_printf(out, "{\"window\":{\"start\":%" PRId64 ",\"end\":%" PRId64 "}", f->start,
			   f->end);
		return;
	}
	time_format_iso(f->start, start);
	time_format_iso(f->end, end);
	buf_printf(out, "{\"window\":{\"start\":\"%s\",\"end\":\"%s\"}", start, end);
}

static void print_head(struct listing *l)
{
	struct buf *out = &l->flow->out;

	if (l->rows.format == FORMAT_JSON) {
		print_window(&l->args->filter, l->args->rows.epoch, out);
		buf_adds(out, ",\"jobs\":[");
	}
	rowout_head(&l->rows, out);
}

static void print_tail(struct listing *l, const char *next)
{
	struct buf *out = &l->flow->out;

	if (l->rows.format != FORMAT_JSON)
		return;
	buf_adds(out, "\n],\"next\":");
	if (next != NULL)
		buf_json_str(out, next);
	else
		buf_adds(out, "null");
	buf_adds(out, "}\n");
}

static int list(struct flow *flow, struct arena *arena, struct err *err)
{
	struct listing *l = flow->arg;
	struct request *req = flow->req;
	const char *next = NULL;

	l->flow = flow;
	l->err = err;
	rowout_init(&l->rows, l->args->format, &l->args->rows, req->now,
		    l->args->filter.with_steps);
	print_head(l);
	int rc = ops_jobs(req->api->ops, &req->who, &l->args->filter, &l->page, req->now, add_row,
			  l, arena, &next, err);
	if (rc == 0)
		print_tail(l, next);
	rowout_fini(&l->rows);
	return rc;
}

static void page_from(struct jobs_args *args, struct job_page *page)
{
	static const struct {
		int key;
		enum job_order order;
	} orders[] = {
		{ JOB_job_id, ORDER_JOB_ID },
		{ JOB_submit_at, ORDER_SUBMIT },
		{ JOB_start_at, ORDER_START },
		{ JOB_end_at, ORDER_END },
	};

	*page = (struct job_page){ .order = ORDER_JOB_ID,
				   .limit = args->limit,
				   .after = args->after };
	rowout_columns(&args->rows.fields, page->fields);
	if (!args->sort.given)
		return;
	page->order = ORDER_FIELD;
	page->order_field = args->sort.key;
	page->descending = args->sort.descending;
	for (size_t i = 0; i < ARRAY_LEN(orders); i++)
		if (orders[i].key == args->sort.key)
			page->order = orders[i].order;
}

static int answer_with(struct request *req, struct jobs_args *args, struct err *err)
{
	struct listing *l = ARENA_NEW(req->arena, struct listing);
	const struct zone *zone = args->rows.zone != NULL ? args->rows.zone : zone_utc();

	if (args->format == FORMAT_UNSAID)
		args->format = format_from_accept(req->accept);
	if (args->format == FORMAT_CSV && args->filter.with_steps)
		return err_set(err, ERR_INVALID, "steps",
			       "CSV has a record per job and no room for "
			       "steps; ask for JSON or NDJSON");
	if (filter_window(&args->filter, req->now, midnight_of(req->now, zone), err) < 0)
		return -1;
	l->args = args;
	page_from(args, &l->page);
	flow_reply(req, format_types[args->format], format_names[args->format], list, l);
	return 0;
}

int run_jobs_list(struct request *req, struct err *err)
{
	return answer_with(req, req->args, err);
}

int run_jobs_query(struct request *req, struct err *err)
{
	struct params_context ctx = { .arena = req->arena, .now = req->now };

	if (params_parse_json(&params_JOBS, buf_str(&req->body), req->body.len, &ctx, req->args,
			      err) < 0)
		return -1;
	return answer_with(req, req->args, err);
}

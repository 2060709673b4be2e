/* api/clusters.c: which clusters there are. */
#include "store/cluster_read.h"

#include "api/handlers.h"
#include "core/timespec.h"

static int add(const struct cluster_info *c, void *arg)
{
	struct request *req = arg;
	struct buf *out = &req->reply.body;
	char registered[TIME_TEXT_SIZE];

	time_format_iso(c->registered_at, registered);
	buf_adds(out, out->data[out->len - 1] == '[' ? "\n{\"name\":" : ",\n{\"name\":");
	buf_json_str(out, c->name);
	buf_printf(out, ",\"registered\":\"%s\",\"open_jobs\":%" PRId64, registered, c->open_jobs);
	if (c->greatest_job_id == 0)
		buf_adds(out, ",\"least_job_id\":null,\"greatest_job_id\":null}");
	else
		buf_printf(out, ",\"least_job_id\":%" PRId64 ",\"greatest_job_id\":%" PRId64 "}",
			   c->least_job_id, c->greatest_job_id);
	return 0;
}

int run_clusters_list(struct request *req, struct err *err)
{
	reply_json(req, "{\"clusters\":[");
	if (ops_clusters(req->api->ops, &req->who, add, req, err) < 0)
		return -1;
	reply_json(req, "\n]}\n");
	return 0;
}

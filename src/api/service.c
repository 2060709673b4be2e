/* api/service.c: what everybody may ask: is it alive, what does it offer, who am I. */
#include "api/handlers.h"
#include "base/clock.h"

static const char contract[] =
#include "openapi.inc"
	;

int run_healthz(struct request *req, struct err *err)
{
	(void)err;
	reply_json(req, "{\"status\":\"ok\"}\n");
	return 0;
}

/* 503 while the database is away or another daemon holds the writer's lock, so that a load balancer
 * sends records elsewhere; the members say which. */
int run_readyz(struct request *req, struct err *err)
{
	struct buf *out = &req->reply.body;
	struct ops_health h;
	struct err why = { 0 };

	(void)err;
	bool up = ops_ping_database(req->api->ops, &why) == 0;
	ops_get_health(req->api->ops, &h);
	bool ready = up && h.ingest.active;
	req->reply.status = ready ? 200 : 503;
	buf_printf(out,
		   "{\"status\":\"%s\",\"database\":\"%s\",\"writer\":\"%s\",\"reads\":%s,"
		   "\"records\":%s,\"detail\":",
		   ready ? "ready" : "not ready", up ? "up" : "down",
		   h.ingest.active ? "active" : "standby", up ? "true" : "false",
		   ready ? "true" : "false");
	if (up)
		buf_adds(out, "null}\n");
	else {
		buf_json_str(out, why.text);
		buf_adds(out, "}\n");
	}
	return 0;
}

int run_metrics(struct request *req, struct err *err)
{
	(void)err;
	req->reply.content_type = "text/plain; version=0.0.4; charset=utf-8";
	metrics_print(req->api->metrics, req->api->conns, req->api->ops, &req->reply.body);
	return 0;
}

int run_openapi(struct request *req, struct err *err)
{
	(void)err;
	req->reply.content_type = "application/yaml";
	buf_add(&req->reply.body, contract, sizeof(contract) - 1);
	return 0;
}

int run_ping(struct request *req, struct err *err)
{
	static const char *const proofs[] = { [PROOF_NONE] = "none",
					      [PROOF_MUNGE] = "munge",
					      [PROOF_PEER] = "peer",
					      [PROOF_TOKEN] = "token" };
	static const char *const roles[] = { [ROLE_ANONYMOUS] = "anonymous",
					     [ROLE_USER] = "user",
					     [ROLE_OPERATOR] = "operator",
					     [ROLE_ADMIN] = "admin" };
	const struct identity *who = &req->who;
	struct buf *out = &req->reply.body;

	(void)err;
	buf_printf(out, "{\"version\":\"%s\",\"time\":%" PRId64 ",\"proof\":\"%s\",\"uid\":",
		   TALLY_VERSION, req->now, proofs[who->proof]);
	if (who->proof == PROOF_NONE)
		buf_adds(out, "null,\"user\":");
	else
		buf_printf(out, "%" PRId64 ",\"user\":", who->uid);
	if (who->user[0] != '\0')
		buf_json_str(out, who->user);
	else
		buf_adds(out, "null");
	buf_printf(out, ",\"role\":\"%s\",\"controller\":%s}\n", roles[who->role],
		   who->controller ? "true" : "false");
	return 0;
}

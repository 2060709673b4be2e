/* api/route.h: the addresses of the door.  Each is a row of routes.def with its handler, who may,
 * and a group of params.def; matching, parsing and the contract's check are generic code over the
 * rows. */
#ifndef TALLY_API_ROUTE_H
#define TALLY_API_ROUTE_H

#include "api/param.h"
#include "ops/ops.h"

struct request;

enum http_method { HTTP_GET, HTTP_POST, HTTP_PATCH, HTTP_PUT, HTTP_DELETE };

enum body_kind {
	BODY_NONE,
	BODY_JSON,     /* one JSON document */
	BODY_RECORDS,  /* JSON object or array, or NDJSON */
	BODY_OPTIONAL, /* JSON document or nothing */
};

/* Answers by filling req->reply; -1 with err becomes a problem document. */
typedef int route_run(struct request *req, struct err *err);

struct route {
	enum http_method method;
	const char *path; /* "/v1/jobs/{id}" */
	const char *name; /* operationId, and the metrics' label */
	route_run *run;
	enum right right;
	const struct param_group *params;
	enum body_kind body;
	const char *summary;
};

extern const struct route routes[];
extern const size_t n_routes;

#define ROUTE_VARIABLES 1

/* Finds the row; ret_values get the {...} parts, decoded, in the arena.  HEAD counts as GET.
 * -1: NOT_FOUND, METHOD (err names what is allowed) or INVALID (escapes). */
int route_find(const char *method, const char *path, size_t path_len, struct arena *arena,
	       const struct route **ret_route, const char *ret_values[ROUTE_VARIABLES],
	       struct err *err);

#endif

#include "api/route.h"

#include "api/args.h"
#include "api/handlers.h"

const struct route routes[] = {
#define R(method, path, name, right, params, body, summary)                                        \
	{ HTTP_##method,    path,	 #name,	 run_##name, RIGHT_##right,                        \
	  &params_##params, BODY_##body, summary },
#include "api/routes.def"
#undef R
};
const size_t n_routes = ARRAY_LEN(routes);

static const char *const method_names[] = {
	[HTTP_GET] = "GET",
	[HTTP_POST] = "POST",
	[HTTP_PATCH] = "PATCH",
	[HTTP_PUT] = "PUT",
	[HTTP_DELETE] = "DELETE",
};

/* Does path fit the pattern?  The part that {...} stands for goes to *ret (never empty). */
static bool path_matches(const char *pattern, const char *path, size_t len, const char **ret,
			 size_t *ret_len)
{
	const char *end = path + len;

	*ret = NULL;
	while (*pattern != '\0') {
		if (*pattern != '{') {
			if (path == end || *path++ != *pattern++)
				return false;
			continue;
		}
		const char *from = path;
		while (path < end && *path != '/')
			path++;
		if (path == from)
			return false;
		*ret = from;
		*ret_len = (size_t)(path - from);
		pattern = strchr(pattern, '}') + 1;
	}
	return path == end;
}

static bool method_is(const struct route *r, const char *method)
{
	return strcmp(method_names[r->method], method) == 0 ||
	       (r->method == HTTP_GET && strcmp(method, "HEAD") == 0);
}

int route_find(const char *method, const char *path, size_t path_len, struct arena *arena,
	       const struct route **ret_route, const char *ret_values[ROUTE_VARIABLES],
	       struct err *err)
{
	const char *allowed = NULL, *value = NULL;
	size_t value_len = 0;

	for (size_t i = 0; i < n_routes; i++) {
		const struct route *r = &routes[i];
		if (!path_matches(r->path, path, path_len, &value, &value_len))
			continue;
		if (!method_is(r, method)) {
			allowed = allowed == NULL ? method_names[r->method]
						  : arena_printf(arena, "%s, %s", allowed,
								 method_names[r->method]);
			continue;
		}
		*ret_route = r;
		if (value == NULL)
			return 0;
		return percent_decode(value, value_len, true, arena, &ret_values[0], err);
	}
	if (allowed != NULL)
		return err_set(err, ERR_METHOD, NULL, "%s is not for this address; it takes %s",
			       method, allowed);
	return err_set(err, ERR_NOT_FOUND, NULL, "no such address: %.*s; see /openapi.yaml",
		       path_len < 200 ? (int)path_len : 200, path);
}

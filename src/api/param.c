#include "api/param.h"

#include "base/near.h"
#include "core/json.h"
#include "core/utf8.h"

static int hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

int percent_decode(const char *in, size_t n, bool plus_is_plus, struct arena *arena,
		   const char **ret_text, struct err *err)
{
	char *out = arena_alloc(arena, n + 1);
	size_t len = 0;

	for (size_t i = 0; i < n; i++) {
		char c = in[i];
		if (c == '+' && !plus_is_plus)
			c = ' ';
		if (c == '%') {
			int high = i + 2 < n ? hex(in[i + 1]) : -1;
			int low = i + 2 < n ? hex(in[i + 2]) : -1;
			if (high < 0 || low < 0)
				return err_set(err, ERR_INVALID, NULL,
					       "\"%.*s\" has a %% without two "
					       "hexadecimal digits; a plain %% is written %%25",
					       n < 100 ? (int)n : 100, in);
			c = (char)(high << 4 | low);
			i += 2;
		}
		out[len++] = c;
	}
	out[len] = '\0';
	if (!utf8_valid(out, len))
		return err_set(err, ERR_INVALID, NULL, "\"%.*s\" is not UTF-8, or has %%00 in it",
			       n < 100 ? (int)n : 100, in);
	*ret_text = out;
	return 0;
}

static const struct param *find(const struct param_group *group, const char *name)
{
	for (size_t i = 0; i < group->n; i++)
		if (strcmp(group->params[i].name, name) == 0)
			return &group->params[i];
	return NULL;
}

static int unknown(const struct param_group *group, const char *name, struct err *err)
{
	struct near near;

	if (group->n == 0)
		return err_set(err, ERR_INVALID, name,
			       "no such parameter; this address takes none");
	near_init(&near, name, strlen(name));
	for (size_t i = 0; i < group->n; i++)
		near_try(&near, group->params[i].name);
	const char *best = near_best(&near);
	return err_set(err, ERR_INVALID, name, "no such parameter%s%s%s; /openapi.yaml lists them",
		       best != NULL ? "; do you mean \"" : "", best != NULL ? best : "",
		       best != NULL ? "\"?" : "");
}

static int parse_one(const struct param *p, const struct params_context *ctx, const char *text,
		     bool whole, void *args, struct err *err)
{
	char why[sizeof(err->text)];

	err_clear(err);
	if (p->type->parse(ctx, text, whole, (char *)args + p->offset, err) == 0)
		return 0;
	memcpy(why, err->text, sizeof(why));
	return err_set(err, ERR_INVALID, p->name, "\"%.100s\": %s%saccepted: %s", text, why,
		       why[0] != '\0' ? "; " : "", p->type->forms);
}

/* ---- a query string ---- */

struct pairs {
	const struct param_group *group;
	struct params_context *ctx;
	void *args;
	bool *seen;
	bool zones; /* which are looked at: zones, or all others */
};

static int parse_pair(struct pairs *q, const char *pair, size_t n, struct err *err)
{
	const char *equals = memchr(pair, '=', n);
	size_t name_len = equals != NULL ? (size_t)(equals - pair) : n;
	const char *name, *text = "";

	if (percent_decode(pair, name_len, false, q->ctx->arena, &name, err) < 0)
		return -1;
	const struct param *p = find(q->group, name);
	if (p == NULL)
		return unknown(q->group, name, err);
	if ((p->type == &param_zone) != q->zones)
		return 0;
	if (equals != NULL && percent_decode(equals + 1, n - name_len - 1, p->type->plus_is_plus,
					     q->ctx->arena, &text, err) < 0)
		return -1;
	bool *seen = &q->seen[p - q->group->params];
	if (*seen && !p->type->is_list)
		return err_set(err, ERR_INVALID, name, "given twice");
	*seen = true;
	if (parse_one(p, q->ctx, text, false, q->args, err) < 0)
		return -1;
	if (q->zones)
		q->ctx->zone = *(const struct zone **)((char *)q->args + p->offset);
	return 0;
}

static int parse_pairs(struct pairs *q, const char *query, struct err *err)
{
	while (query != NULL && *query != '\0') {
		size_t n = strcspn(query, "&");
		if (n > 0 && parse_pair(q, query, n, err) < 0)
			return -1;
		query += n + (query[n] == '&' ? 1 : 0);
	}
	return 0;
}

int params_parse(const struct param_group *group, const char *query, struct params_context *ctx,
		 void **ret_args, struct err *err)
{
	struct pairs q = { .group = group, .ctx = ctx, .zones = true };

	q.args = arena_zalloc(ctx->arena, group->args_size);
	q.seen = ARENA_ARRAY(ctx->arena, bool, group->n + 1);
	if (group->init != NULL)
		group->init(q.args);
	*ret_args = q.args;
	/* How a time is read depends on the zone, wherever that stands. */
	if (parse_pairs(&q, query, err) < 0)
		return -1;
	q.zones = false;
	return parse_pairs(&q, query, err);
}

/* ---- a JSON object ---- */

/* Any scalar as the text that a query string would have. */
static int scalar_text(struct jscan *j, struct arena *arena, const char **ret)
{
	int64_t number;
	bool yes;

	switch (jscan_peek(j)) {
	case JSCAN_STRING: *ret = jscan_string(j); return *ret != NULL ? 0 : -1;
	case JSCAN_NUMBER:
		if (jscan_i64(j, &number) < 0)
			return -1;
		*ret = arena_printf(arena, "%" PRId64, number);
		return 0;
	case JSCAN_BOOL:
		if (jscan_bool(j, &yes) < 0)
			return -1;
		*ret = yes ? "true" : "false";
		return 0;
	case JSCAN_BAD:
	case JSCAN_NULL:
	case JSCAN_ARRAY:
	case JSCAN_OBJECT: break;
	}
	return jscan_fail(j, "a text, a number, true or false must stand here");
}

static int parse_scalar(struct jscan *j, struct pairs *q, const struct param *p, bool whole,
			struct err *err)
{
	const char *text = "";

	if (scalar_text(j, q->ctx->arena, &text) < 0)
		return -1;
	if (!utf8_valid(text, strlen(text)))
		return err_set(err, ERR_INVALID, p->name, "not UTF-8");
	if (parse_one(p, q->ctx, text, whole, q->args, err) < 0)
		return -1;
	if (p->type == &param_zone)
		q->ctx->zone = *(const struct zone **)((char *)q->args + p->offset);
	return 0;
}

static int parse_member(struct jscan *j, struct pairs *q, struct jtext key, struct err *err)
{
	const char *name = arena_strndup(q->ctx->arena, key.p, key.n);
	const struct param *p = find(q->group, name);

	if (p == NULL)
		return unknown(q->group, name, err);
	j->where = p->name;
	if ((p->type == &param_zone) != q->zones || jscan_peek(j) == JSCAN_NULL)
		return jscan_skip(j);
	if (!p->type->is_list || jscan_peek(j) != JSCAN_ARRAY)
		return parse_scalar(j, q, p, false, err);
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j))
		if (parse_scalar(j, q, p, true, err) < 0)
			return -1;
	return j->failed ? -1 : 0;
}

static int parse_object(struct pairs *q, const char *json, size_t n, struct err *err)
{
	struct jscan j;
	struct jtext key;

	jscan_init(&j, json, n, q->ctx->arena, err);
	j.where = "body";
	if (jscan_enter(&j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(&j, &key))
		if (parse_member(&j, q, key, err) < 0)
			return -1;
	return j.failed ? -1 : jscan_done(&j);
}

int params_parse_json(const struct param_group *group, const char *json, size_t n,
		      struct params_context *ctx, void *args, struct err *err)
{
	struct pairs q = { .group = group, .ctx = ctx, .args = args, .zones = true };

	if (parse_object(&q, json, n, err) < 0)
		return -1;
	q.zones = false;
	return parse_object(&q, json, n, err);
}

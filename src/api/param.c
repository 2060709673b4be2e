#include "api/param.h"

#include "api/args.h"

const struct param_group params_NONE = { .args_size = 1 };

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
			int high = i + 1 < n ? hex(in[i + 1]) : -1;
			int low = i + 2 < n ? hex(in[i + 2]) : -1;
			if (high < 0 || low < 0 || (high == 0 && low == 0))
				return err_set(err, ERR_INVALID, NULL,
					       "\"%.*s\" has a %% without two hexadecimal digits, or "
					       "%%00; a plain %% is written %%25",
					       n < 100 ? (int)n : 100, in);
			c = (char)(high << 4 | low);
			i += 2;
		}
		out[len++] = c;
	}
	out[len] = '\0';
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

static int unknown(const struct param_group *group, const char *name, struct arena *arena,
		   struct err *err)
{
	const char *known = "";

	for (size_t i = 0; i < group->n; i++)
		known = arena_printf(arena, "%s%s%s", known, i > 0 ? " " : "",
				     group->params[i].name);
	if (group->n == 0)
		return err_set(err, ERR_INVALID, name, "no such parameter; this address takes none");
	return err_set(err, ERR_INVALID, name, "no such parameter; there are: %s", known);
}

static int wrong(const struct param *p, const char *text, struct err *err)
{
	char why[sizeof(err->text)];

	memcpy(why, err->text, sizeof(why));
	return err_set(err, ERR_INVALID, p->name, "\"%.100s\": %s%saccepted: %s", text, why,
		       why[0] != '\0' ? "; " : "", p->type->forms);
}

static int parse_one(const struct param *p, const struct params_context *ctx, const char *text,
		     bool whole, void *args, struct err *err)
{
	err_clear(err);
	if (p->type->parse(ctx, text, whole, (char *)args + p->offset, err) == 0)
		return 0;
	return wrong(p, text, err);
}

/* One name=value of a query string. */
static int parse_pair(const struct param_group *group, const char *pair, size_t n,
		      struct params_context *ctx, bool *seen, void *args, struct err *err)
{
	const char *equals = memchr(pair, '=', n);
	size_t name_len = equals != NULL ? (size_t)(equals - pair) : n;
	const char *name, *text = "";

	if (percent_decode(pair, name_len, false, ctx->arena, &name, err) < 0)
		return -1;
	const struct param *p = find(group, name);
	if (p == NULL)
		return unknown(group, name, ctx->arena, err);
	if (equals != NULL && percent_decode(equals + 1, n - name_len - 1, p->type->plus_is_plus,
					     ctx->arena, &text, err) < 0)
		return -1;
	size_t i = (size_t)(p - group->params);
	if (seen[i] && !p->type->is_list)
		return err_set(err, ERR_INVALID, name, "given twice");
	seen[i] = true;
	return parse_one(p, ctx, text, false, args, err);
}

int params_parse(const struct param_group *group, const char *query, struct params_context *ctx,
		 void **ret_args, struct err *err)
{
	void *args = arena_zalloc(ctx->arena, group->args_size);
	bool *seen = ARENA_ARRAY(ctx->arena, bool, group->n + 1);

	if (group->init != NULL)
		group->init(args);
	*ret_args = args;
	while (query != NULL && *query != '\0') {
		size_t n = strcspn(query, "&");
		if (n > 0 && parse_pair(group, query, n, ctx, seen, args, err) < 0)
			return -1;
		query += n + (query[n] == '&' ? 1 : 0);
	}
	return 0;
}

/* api/param.h: typed parameters.  A row of params.def names a parameter, its type and the member
 * of the handler's argument struct that it fills; a type is a row of param_types.def and a parser.
 * The same rows read a query string and a JSON body. */
#ifndef TALLY_API_PARAM_H
#define TALLY_API_PARAM_H

#include "base/arena.h"
#include "base/err.h"

struct zone;

struct params_context {
	struct arena *arena;
	int64_t now;
	/* Of dates, and of times without an offset; NULL: dates are UTC's and such times refused.
	 */
	const struct zone *zone;
};

struct param_type {
	const char *name;
	const char *forms; /* what a 400 says is accepted */
	bool is_list;	   /* may come several times, and as a JSON array */
	bool plus_is_plus; /* else + is a blank, as HTML forms write it */
	/* whole: text is one item of a JSON array, commas in it are its own. */
	int (*parse)(const struct params_context *ctx, const char *text, bool whole, void *into,
		     struct err *err);
};

#define T(name, list, plus, schema, forms) extern const struct param_type param_##name;
#include "api/param_types.def"
#undef T

struct param {
	const char *name;
	const struct param_type *type;
	size_t offset;
	const char *doc;
};

struct param_group {
	const struct param *params;
	size_t n;
	size_t args_size;
	void (*init)(void *args); /* NULL = zeroes do */
};

/* Parses "a=1&b=2" (without the ?, NULL = none) into args (args_size bytes, from the arena).
 * -1: INVALID naming the parameter and the accepted forms. */
int params_parse(const struct param_group *group, const char *query, struct params_context *ctx,
		 void **ret_args, struct err *err);

/* The same names as members of a JSON object: texts, numbers, true and false, arrays of them.
 * args were made by params_parse; what both say, the body says last. */
int params_parse_json(const struct param_group *group, const char *json, size_t n,
		      struct params_context *ctx, void *args, struct err *err);

/* Percent-decoding.  -1: INVALID for a broken escape, a NUL, or what is not UTF-8. */
int percent_decode(const char *in, size_t n, bool plus_is_plus, struct arena *arena,
		   const char **ret_text, struct err *err);

#endif

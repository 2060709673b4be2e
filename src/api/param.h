/* api/param.h: typed parameters.  A row of params.def names a parameter, its type and the member
 * of the handler's argument struct that it fills; a type is its parser and the text that says
 * which forms it takes.  The same rows read a query string and a JSON body. */
#ifndef TALLY_API_PARAM_H
#define TALLY_API_PARAM_H

#include "base/arena.h"
#include "base/err.h"

struct params_context {
	struct arena *arena;
	int64_t now;
	const char *zone; /* of times without an offset; NULL = they are refused */
};

struct param_type {
	const char *name;  /* in the contract: components/schemas */
	const char *forms; /* what a 400 says is accepted */
	bool is_list;      /* may come several times, and as a JSON array */
	bool plus_is_plus; /* else + is a blank, as HTML forms write it */
	/* whole: text is one item of a JSON array, commas in it are its own. */
	int (*parse)(const struct params_context *ctx, const char *text, bool whole, void *into,
		     struct err *err);
};

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
int params_parse(const struct param_group *group, const char *query,
		 struct params_context *ctx, void **ret_args, struct err *err);

/* The same from a JSON object; args were made by params_parse. */
struct json_t;
int params_parse_json(const struct param_group *group, const struct json_t *object,
		      struct params_context *ctx, void *args, struct err *err);

/* Percent-decoding.  -1: INVALID for a broken escape, a NUL, or what is not UTF-8. */
int percent_decode(const char *in, size_t n, bool plus_is_plus, struct arena *arena,
		   const char **ret_text, struct err *err);

#endif

/* api/param_types.c: a parser for each row of param_types.def. */
#include <strings.h>

#include "api/args.h"
#include "api/rowout.h"
#include "base/num.h"
#include "core/duration.h"
#include "core/hostlist.h"
#include "core/state.h"
#include "core/timespec.h"
#include "core/words.h"
#include "core/zone.h"

#define PARSE(name)                                                                                \
	static int parse_##name(const struct params_context *ctx UNUSED, const char *text UNUSED,  \
				bool whole UNUSED, void *into UNUSED, struct err *err UNUSED)

/* ---- lists ---- */

/* Room for one more in an array that only ever grows by one; n is how many there are. */
static void *more(struct arena *arena, void *old, size_t n, size_t size)
{
	if (n != 0 && (n & (n - 1)) != 0)
		return old;
	void *fresh = arena_alloc(arena, (n != 0 ? 2 * n : 1) * size);
	if (n != 0)
		memcpy(fresh, old, n * size);
	return fresh;
}

typedef int item_parse(const struct params_context *ctx, const char *item, void *into,
		       struct err *err);

/* Each item of a comma list, or the whole text as one. */
static int each(const struct params_context *ctx, const char *text, bool whole, item_parse *parse,
		void *into, struct err *err)
{
	size_t n = whole ? strlen(text) : strcspn(text, ",");

	for (;;) {
		if (n == 0)
			return err_set(err, ERR_INVALID, NULL, "an empty item");
		if (parse(ctx, arena_strndup(ctx->arena, text, n), into, err) < 0)
			return -1;
		text += n;
		if (*text == '\0')
			return 0;
		text++;
		n = strcspn(text, ",");
	}
}

static int add_text(const struct params_context *ctx, const char *item, void *into, struct err *err)
{
	struct texts *list = into;

	(void)err;
	list->v = more(ctx->arena, list->v, list->n, sizeof(list->v[0]));
	list->v[list->n++] = item;
	return 0;
}

static void add_i64(const struct params_context *ctx, struct numbers *list, int64_t v)
{
	list->v = more(ctx->arena, list->v, list->n, sizeof(list->v[0]));
	list->v[list->n++] = v;
}

static int add_number(const struct params_context *ctx, const char *item, void *into,
		      struct err *err)
{
	int64_t v;

	if (num_parse(item, &v) < 0 || v < 0)
		return err_set(err, ERR_INVALID, NULL, "\"%.40s\" is no such number", item);
	add_i64(ctx, into, v);
	return 0;
}

static int add_state(const struct params_context *ctx, const char *item, void *into,
		     struct err *err)
{
	int64_t state;

	if (state_parse(item, &state, NULL, err) < 0)
		return -1;
	add_i64(ctx, into, state);
	return 0;
}

PARSE(texts)
{
	return each(ctx, text, whole, add_text, into, err);
}

PARSE(numbers)
{
	return each(ctx, text, whole, add_number, into, err);
}

PARSE(states)
{
	return each(ctx, text, whole, add_state, into, err);
}

/* job_selection_parse knows which commas are inside brackets. */
PARSE(jobs)
{
	struct job_filter *f = into;
	struct job_selection *items;
	size_t n;

	if (job_selection_parse(text, ctx->arena, &items, &n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++) {
		f->jobs = more(ctx->arena, f->jobs, f->n_jobs, sizeof(f->jobs[0]));
		f->jobs[f->n_jobs++] = items[i];
	}
	return 0;
}

/* ---- one value ---- */

PARSE(text)
{
	*(const char **)into = text;
	return 0;
}

PARSE(count)
{
	int64_t v;

	if (num_parse(text, &v) < 0 || v < 0)
		return -1;
	*(int64_t *)into = v;
	return 0;
}

static int yes_or_no(const char *text, bool *ret)
{
	static const struct {
		const char *word;
		bool value;
	} words[] = {
		{ "", true },	    { "true", true }, { "1", true },   { "yes", true },
		{ "false", false }, { "0", false },   { "no", false },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(words[i].word, text) == 0) {
			*ret = words[i].value;
			return 0;
		}
	return -1;
}

PARSE(flag)
{
	return yes_or_no(text, into);
}

PARSE(het)
{
	bool yes;

	if (yes_or_no(text, &yes) < 0)
		return -1;
	*(enum het_choice *)into = yes ? HET_WHOLE : HET_NOT_WHOLE;
	return 0;
}

/* Into two neighbours, least and most. */
PARSE(range)
{
	int64_t *out = into;
	const char *rest = num_digits(text, &out[0]);

	if (rest == NULL)
		return -1;
	out[1] = out[0];
	if (*rest == '\0')
		return 0;
	if (*rest != '-')
		return -1;
	out[1] = INT64_MAX;
	if (rest[1] == '\0')
		return 0;
	rest = num_digits(rest + 1, &out[1]);
	if (rest == NULL || *rest != '\0')
		return -1;
	return out[0] <= out[1] ? 0 : err_set(err, ERR_INVALID, NULL, "the second is the smaller");
}
_Static_assert(offsetof(struct job_filter, cpus_max) ==
		       offsetof(struct job_filter, cpus_min) + sizeof(int64_t),
	       "a range is two neighbours");
_Static_assert(offsetof(struct job_filter, nodes_max) ==
		       offsetof(struct job_filter, nodes_min) + sizeof(int64_t),
	       "a range is two neighbours");

PARSE(limit)
{
	return limit_parse(text, into, err);
}

PARSE(job_flags)
{
	return words_parse(&job_flag_words, text, into, err);
}

PARSE(nodes)
{
	const struct hostset *set;

	if (hostset_new(text, ctx->arena, &set, err) < 0)
		return -1;
	*(const char **)into = text;
	return 0;
}

/* ---- times ---- */

PARSE(zone)
{
	return zone_open(text, ctx->arena, into, err);
}

PARSE(time)
{
	return time_parse_query(text, ctx->now, ctx->zone, into, err);
}

PARSE(times)
{
	if (strcmp(text, "iso") != 0 && strcmp(text, "epoch") != 0)
		return -1;
	*(bool *)into = strcmp(text, "epoch") == 0;
	return 0;
}

/* ---- keys of rows ---- */

static int add_key(struct key_list *list, int key, const char *name, const char *of,
		   struct err *err)
{
	if (key < 0)
		return err_set(err, ERR_INVALID, NULL, "%s has no key \"%.60s\"", of, name);
	key_list_add(list, key);
	return 0;
}

static int add_job_key(const struct params_context *ctx, const char *item, void *into,
		       struct err *err)
{
	(void)ctx;
	return add_key(into, job_key_find(item, strlen(item)), item, "a job", err);
}

static int add_step_key(const struct params_context *ctx, const char *item, void *into,
			struct err *err)
{
	(void)ctx;
	return add_key(into, step_key_find(item, strlen(item)), item, "a step", err);
}

PARSE(fields)
{
	return each(ctx, text, whole, add_job_key, into, err);
}

PARSE(step_fields)
{
	return each(ctx, text, whole, add_step_key, into, err);
}

PARSE(sort)
{
	struct sort_order *sort = into;

	sort->descending = text[0] == '-';
	if (sort->descending)
		text++;
	sort->key = job_key_find(text, strlen(text));
	if (sort->key < 0 || sort->key >= JOB_FIELDS)
		return err_set(err, ERR_INVALID, NULL, "a job has no key \"%.60s\" to sort by",
			       text);
	sort->given = true;
	return 0;
}

PARSE(format)
{
	for (size_t i = FORMAT_JSON; i <= FORMAT_CSV; i++)
		if (strcmp(format_names[i], text) == 0) {
			*(enum answer_format *)into = (enum answer_format)i;
			return 0;
		}
	return -1;
}

#define T(name, list, plus, schema, forms)                                                         \
	const struct param_type param_##name = { #name, forms, list, plus, parse_##name };
#include "api/param_types.def"
#undef T

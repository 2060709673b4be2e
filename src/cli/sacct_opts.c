#include "cli/sacct_opts.h"

#include <strings.h>

#include "base/num.h"
#include "cli/sacct_text.h"
#include "core/filter.h"
#include "core/state.h"
#include "core/timespec.h"

/* ---- the table of options ----------------------------------------------------------- */

struct rule {
	int (*apply)(struct sacct_opts *o, const struct rule *rule, const char *arg,
		     struct err *err);
	const char *param;
	size_t flag; /* offset of a bool */
};

enum {
	FIRST_LONG = OPTION_LONG - 1,
#define O(id, ...) OPT_##id,
#include "cli/sacct_options.def"
#undef O
};

static const char sacct_field_names[] =
#define OLD	     SACCT_OLD
#define F(name, ...) #name " "
#include "cli/sacct_fields.def"
#undef F
#undef OLD
	"ALL";

static const struct option_row rows[] = {
#define O(id, name, letter, arg, arg_name, help, values, rule)                                     \
	{ name, letter ? letter : OPT_##id, ARG_##arg, arg_name, help, values },
#include "cli/sacct_options.def"
#undef O
};
const struct option_set sacct_options = { rows, ARRAY_LEN(rows) };

/* ---- rules -------------------------------------------------------------------------- */

static void condition(struct sacct_opts *o, const char *name, const char *value)
{
	if (o->n_conditions == o->cap_conditions) {
		size_t cap = o->cap_conditions ? 2 * o->cap_conditions : 16;
		struct sacct_condition *more = ARENA_ARRAY(o->arena, struct sacct_condition, cap);

		if (o->n_conditions)
			memcpy(more, o->conditions, o->n_conditions * sizeof(*more));
		o->conditions = more;
		o->cap_conditions = cap;
	}
	o->conditions[o->n_conditions++] = (struct sacct_condition){ name, value };
}

/* A parameter that the API takes once: the last one counts, as with every tool. */
static void condition_once(struct sacct_opts *o, const char *name, const char *value)
{
	for (size_t i = 0; i < o->n_conditions; i++) {
		if (strcmp(o->conditions[i].name, name) == 0) {
			o->conditions[i].value = value;
			return;
		}
	}
	condition(o, name, value);
}

static int apply_list(struct sacct_opts *o, const struct rule *rule, const char *arg,
		      struct err *err UNUSED)
{
	condition(o, rule->param, arg);
	return 0;
}

static int apply_once(struct sacct_opts *o, const struct rule *rule, const char *arg,
		      struct err *err UNUSED)
{
	condition_once(o, rule->param, arg);
	return 0;
}

static int apply_flag(struct sacct_opts *o, const struct rule *rule, const char *arg UNUSED,
		      struct err *err UNUSED)
{
	*(bool *)((char *)o + rule->flag) = true;
	return 0;
}

#define RULE(name)                                                                                 \
	static int apply_##name(struct sacct_opts *o UNUSED, const struct rule *rule UNUSED,       \
				const char *arg UNUSED, struct err *err UNUSED)

RULE(help)
{
	o->action = SACCT_HELP;
	return 0;
}

RULE(helpformat)
{
	o->action = SACCT_HELPFORMAT;
	return 0;
}

RULE(version)
{
	o->action = SACCT_VERSION;
	return 0;
}

RULE(format)
{
	buf_printf(&o->format, "%s%s", o->format.len ? "," : "", arg);
	return 0;
}

RULE(brief)
{
	return apply_format(o, rule, sacct_brief_format, err);
}

RULE(long_format)
{
	return apply_format(o, rule, sacct_long_format, err);
}

RULE(ended)
{
	o->form = TABLE_ENDED;
	return 0;
}

RULE(separated)
{
	o->form = TABLE_SEPARATED;
	return 0;
}

RULE(csv)
{
	o->form = TABLE_CSV;
	return 0;
}

RULE(delimiter)
{
	o->delimiter = arg;
	return 0;
}

RULE(json)
{
	if (arg && strcasecmp(arg, "v1") != 0)
		return err_set(err, ERR_INVALID, NULL,
			       "no form \"%.40s\" of the answer; there is v1, the rows of GET "
			       "/v1/jobs",
			       arg);
	o->json = true;
	return 0;
}

RULE(units)
{
	o->style.units_given = true;
	return unit_parse(arg, &o->style.unit, err);
}

RULE(start)
{
	return time_parse(arg, o->style.now, o->style.zone, &o->start, err);
}

RULE(end)
{
	return time_parse(arg, o->style.now, o->style.zone, &o->end, err);
}

RULE(jobs)
{
	o->jobs_given = true;
	condition(o, "job", arg);
	return 0;
}

RULE(hetjob)
{
	if (arg && strcasecmp(arg, "yes") != 0 && strcasecmp(arg, "no") != 0)
		return err_set(err, ERR_INVALID, NULL, "--whole-hetjob takes yes or no");
	condition_once(o, "whole_het", arg && strcasecmp(arg, "no") == 0 ? "false" : "true");
	return 0;
}

RULE(clusters)
{
	o->clusters_given = true;
	if (strcasecmp(arg, "all") == 0 || strcmp(arg, "-1") == 0)
		o->all_clusters = true;
	else
		condition(o, "cluster", arg);
	return 0;
}

/* Each name on its own: the daemon would refuse them too, but not in one breath. */
RULE(states)
{
	char *rest = arena_strdup(o->arena, arg), *word;
	int64_t state;

	o->states_given = true;
	condition(o, "state", arg);
	while ((word = strsep(&rest, ",")) != NULL)
		if (*word && state_parse(word, &state, NULL, err) < 0)
			return -1;
	return 0;
}

/* Names and numbers in one list, for two parameters. */
static int names_and_numbers(struct sacct_opts *o, const char *list, const char *name,
			     const char *number)
{
	char *rest = arena_strdup(o->arena, list), *word;
	int64_t n;

	while ((word = strsep(&rest, ",")) != NULL)
		if (*word)
			condition(o, num_parse(word, &n) == 0 ? number : name, word);
	return 0;
}

RULE(users)
{
	o->users_given = true;
	return names_and_numbers(o, arg, "user", "uid");
}

RULE(groups)
{
	return names_and_numbers(o, arg, "group", "gid");
}

RULE(no_completion)
{
	return err_set(err, ERR_INVALID, NULL, "Slurm job completion is disabled");
}

RULE(no_script)
{
	return err_set(err, ERR_INVALID, NULL, "job scripts are not kept by tally");
}

RULE(no_env)
{
	return err_set(err, ERR_INVALID, NULL, "job environments are not kept by tally");
}

#define LIST(param)                                                                                \
	{                                                                                          \
		apply_list, param, 0                                                               \
	}
#define ONCE(param)                                                                                \
	{                                                                                          \
		apply_once, param, 0                                                               \
	}
#define FLAG(member)                                                                               \
	{                                                                                          \
		apply_flag, NULL, offsetof(struct sacct_opts, member)                              \
	}
#define CALL(function)                                                                             \
	{                                                                                          \
		apply_##function, NULL, 0                                                          \
	}

static const struct rule rules[ARRAY_LEN(rows)] = {
#define O(id, name, letter, arg, arg_name, help, values, rule) rule,
#include "cli/sacct_options.def"
#undef O
};

static int apply(struct sacct_opts *o, int key, const char *arg, struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		if (rows[i].key == key)
			return rules[i].apply(o, &rules[i], arg, err);
	assert(!"a key that is in no row");
	return -1;
}

/* ---- the whole line ----------------------------------------------------------------- */

/* SLURM_BITSTR_LEN is a buffer's size with its NUL; 0 is no limit. */
static size_t array_text_from_env(void)
{
	const char *size = getenv("SLURM_BITSTR_LEN");
	int64_t n;

	if (size == NULL || num_parse(size, &n) < 0 || n < 0)
		return SACCT_ARRAY_TEXT;
	return n > 0 ? (size_t)n - 1 : 0;
}

static void defaults(struct sacct_opts *o, const struct sacct_asker *who, struct arena *arena)
{
	*o = (struct sacct_opts){
		.arena = arena,
		.start = TIME_UNSET,
		.end = TIME_UNSET,
		.delimiter = "|",
		.style = {
			.now = who->now,
			.zone = who->zone,
			.time_format = getenv("SLURM_TIME_FORMAT"),
			.array_text = array_text_from_env(),
		},
	};
}

/* What follows when everything has been read. */
static int settle(struct sacct_opts *o, unsigned uid, struct err *err)
{
	const char *format = getenv("SACCT_FORMAT");
	const char *cluster = getenv("TALLY_CLUSTER");

	if (o->format.len)
		format = buf_str(&o->format);
	else if (format == NULL || *format == '\0')
		format = sacct_default_format;
	if (!o->users_given && !o->all_users && !o->jobs_given && uid != 0)
		condition(o, "uid", arena_printf(o->arena, "%u", uid));
	if (cluster && *cluster && !o->clusters_given && !o->all_clusters)
		condition(o, "cluster", cluster);
	return sacct_format_parse(format, o->arena, &o->columns, err);
}

int sacct_opts_parse(int argc, char **argv, const struct sacct_asker *who, struct arena *arena,
		     struct sacct_opts *ret, struct err *err)
{
	struct options *opts = options_new(&sacct_options, argc, argv);
	const char *arg;
	char **words;
	int key, rc = 0;

	defaults(ret, who, arena);
	while (rc == 0 && (key = options_next(opts, &arg)) != OPTION_END)
		rc = key == OPTION_BAD ? 1 : apply(ret, key, arg, err);
	if (rc == 0 && options_rest(opts, &words) > 0)
		rc = err_set(err, ERR_INVALID, NULL, "\"%.200s\" is no option", words[0]);
	options_free(opts);
	return rc ? rc : settle(ret, who->uid, err);
}

void sacct_opts_fini(struct sacct_opts *o)
{
	buf_fini(&o->format);
}

/* ---- the window --------------------------------------------------------------------- */

int sacct_window(const struct sacct_opts *o, int64_t *ret_start, int64_t *ret_end, struct err *err)
{
	struct job_selection any_job = { 0 };
	int64_t any_state = 0;
	struct job_filter f;
	struct buf from = BUF_INIT, to = BUF_INIT;
	int rc;

	job_filter_init(&f);
	f.start = o->start;
	f.end = o->end;
	f.jobs = &any_job;
	f.n_jobs = o->jobs_given;
	f.states.v = &any_state;
	f.states.n = o->states_given;
	rc = filter_window(&f, o->style.now, midnight_of(o->style.now, o->style.zone), err);
	*ret_start = f.start;
	*ret_end = f.end;
	if (rc == 0)
		return 0;
	text_time(&from, f.start, NULL, o->style.now, o->style.zone);
	text_time(&to, f.end, NULL, o->style.now, o->style.zone);
	err_set(err, ERR_INVALID, NULL, "Start time (%s) requested is after end time (%s).",
		buf_str(&from), buf_str(&to));
	buf_fini(&from);
	buf_fini(&to);
	return -1;
}

/* cli/cmd_why.c: `tally why JOB`: how a job ended, and from which figures that is concluded. */
#include "cli/one_job.h"
#include "core/duration.h"
#include "core/exit.h"
#include "core/record_json.h"
#include "core/state.h"
#include "core/why.h"

#define COMMAND "tally why"

enum { OPT_JSON = OPTION_LONG };

static const struct option_row rows[] = {
	{ "cluster", 'M', ARG_REQUIRED, "NAME", "of this cluster (else of every one)", NULL },
	{ "json", OPT_JSON, ARG_NONE, NULL, "as JSON, one object a line, with the figures", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set why_options = { rows, ARRAY_LEN(rows) };

struct printing {
	bool json;
	size_t printed;
	struct arena *arena;
};

static void print_name(struct buf *out, const struct job *j)
{
	if (job_has(j, array_job_id) && job_has(j, array_task_id))
		buf_printf(out, "Job %" PRId64 "_%" PRId64, j->array_job_id, j->array_task_id);
	else if (job_has(j, het_job_id) && job_has(j, het_offset))
		buf_printf(out, "Job %" PRId64 "+%" PRId64, j->het_job_id, j->het_offset);
	else
		buf_printf(out, "Job %" PRId64, j->job_id);
	if (job_has(j, name)) {
		buf_adds(out, " ");
		/* In quotes, and with no byte that a terminal would obey. */
		buf_json_str(out, j->name);
	}
	if (job_has(j, user_name))
		buf_printf(out, " of %s", j->user_name);
	buf_printf(out, " on %s", job_get(j, cluster, "?"));
}

/* Job 4711_3 "sim" of ann on c1: OUT_OF_MEMORY, exit 0:125, ran 01:02:03 */
static void print_head(struct buf *out, const struct job *j, int64_t now)
{
	const char *state = job_has(j, state) ? state_name(job_state_shown(j)) : NULL;
	char exit_text[EXIT_TEXT_SIZE], ran[DURATION_TEXT_SIZE];

	print_name(out, j);
	buf_printf(out, ": %s", state ? state : "state not known");
	if (job_has(j, exit) && job_has(j, state) && state_is_end(j->state)) {
		exit_format(j->exit, exit_text);
		buf_printf(out, ", exit %s", exit_text);
	}
	duration_format(job_elapsed_s(j, now), ran);
	buf_printf(out, ", ran %s\n", ran);
}

static void print_text(struct buf *out, const struct job *j, const struct why_finding *findings,
		       size_t n, int64_t now)
{
	print_head(out, j, now);
	why_format(out, findings, n);
}

static void print_json(struct buf *out, const struct job *j, const struct why_finding *findings,
		       size_t n, int64_t now)
{
	static const int keys[] = { JOB_cluster, JOB_job_id, JOB_submit_at, JOB_state, JOB_exit };
	uint64_t mask[HAS_WORDS] = { 0 };
	const struct row_style style = { .now = now, .keys = mask };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		has_set(mask, (size_t)keys[i]);
	job_encode_json(out, j, NULL, 0, &style);
	out->len--; /* the brace: more follows */
	buf_adds(out, ",\"why\":");
	why_encode_json(out, findings, n);
	buf_adds(out, "}\n");
}

static void print_one(const struct job *j, const struct step *steps, size_t n_steps, void *arg)
{
	struct printing *p = arg;
	struct why_finding *findings;
	struct buf out = BUF_INIT;
	int64_t now = (int64_t)time(NULL);
	size_t n;

	arena_reset(p->arena);
	job_why(j, steps, n_steps, now, p->arena, &findings, &n);
	if (!p->json && p->printed > 0)
		buf_addc(&out, '\n');
	(p->json ? print_json : print_text)(&out, j, findings, n, now);
	fputs(buf_str(&out), stdout);
	buf_fini(&out);
	p->printed++;
}

static void help(void)
{
	puts("usage: tally why [OPTION...] JOB...\n\n"
	     "How a job ended, and from which figures that is concluded.\n");
	options_help(&why_options, stdout);
}

int cmd_why(const struct cli *cli, int argc, char **argv)
{
	struct printing p = { 0 };
	struct one_job q = { .command = COMMAND, .steps = true, .sink = print_one, .arg = &p };
	struct options *o = options_new(&why_options, argc, argv);
	const char *arg;
	char **words;
	int key, n, rc = -1;

	while (rc < 0 && (key = options_next(o, &arg)) != OPTION_END) {
		switch (key) {
		case 'M': q.cluster = arg; break;
		case OPT_JSON: p.json = true; break;
		case 'h':
			help();
			rc = 0;
			break;
		default: rc = 1; break;
		}
	}
	if (rc < 0) {
		p.arena = arena_new();
		n = options_rest(o, &words);
		rc = one_job_each(&q, cli, n, words);
		arena_free(p.arena);
	}
	options_free(o);
	return rc;
}

/* cli/cmd_seff.c: `tally seff JOB`: CPU and memory efficiency of a job. */
#include "cli/one_job.h"
#include "cli/seff_text.h"

#define COMMAND "tally seff"

static const struct option_row rows[] = {
	{ "cluster", 'M', ARG_REQUIRED, "NAME", "of this cluster (else of every one)", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set seff_options = { rows, ARRAY_LEN(rows) };

static void print_one(const struct job *j, const struct step *steps, size_t n_steps, void *arg)
{
	size_t *printed = arg;
	struct buf out = BUF_INIT;

	(void)steps;
	(void)n_steps;
	if ((*printed)++ > 0)
		buf_addc(&out, '\n');
	seff_print(&out, j, (int64_t)time(NULL));
	fputs(buf_str(&out), stdout);
	buf_fini(&out);
}

static void help(void)
{
	puts("usage: tally seff [OPTION...] JOB...\n\n"
	     "How much of its CPUs and memory a job used.\n");
	options_help(&seff_options, stdout);
}

int cmd_seff(const struct cli *cli, int argc, char **argv)
{
	size_t printed = 0;
	struct one_job q = { .command = COMMAND, .sink = print_one, .arg = &printed };
	struct options *o = options_new(&seff_options, argc, argv);
	const char *arg;
	char **words;
	int key, n, rc = -1;

	while (rc < 0 && (key = options_next(o, &arg)) != OPTION_END) {
		switch (key) {
		case 'M': q.cluster = arg; break;
		case 'h':
			help();
			rc = 0;
			break;
		default: rc = 1; break;
		}
	}
	if (rc < 0) {
		n = options_rest(o, &words);
		rc = one_job_each(&q, cli, n, words);
	}
	options_free(o);
	return rc;
}

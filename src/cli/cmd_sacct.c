/* cli/cmd_sacct.c: `tally sacct`. */
#include "cli/cli.h"

static const struct option_row rows[] = {
	{ "version", 'V', ARG_NONE, NULL, "the version", NULL },
};
const struct option_set sacct_options = { rows, ARRAY_LEN(rows) };

int cmd_sacct(const struct cli *cli UNUSED, int argc, char **argv)
{
	struct options *o = options_new(&sacct_options, argc, argv);
	const char *arg;
	int key = options_next(o, &arg);

	options_free(o);
	if (key != 'V')
		return 1;
	puts("tally " TALLY_VERSION);
	return 0;
}

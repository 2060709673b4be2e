/* cli/main.c: the `tally` program: finds the subcommand in the table and runs it.
 *
 * --url and --munge-socket may stand before or after the subcommand; they are taken out of argv
 * here, so that no subcommand has to know them. */
#include "cli/cli.h"

#include <locale.h>

static void help(FILE *out)
{
	fputs("usage: tally [--url=ADDRESS] COMMAND [OPTION...]\n\ncommands:\n", out);
	for (size_t i = 0; i < cli_commands_n; i++)
		fprintf(out, "  %-30s %s\n", cli_commands[i].name, cli_commands[i].summary);
	fputs("\noptions:\n", out);
	options_help(&cli_options, out);
	fputs("\n`tally COMMAND --help` says more about each.\n", out);
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < cli_commands_n; i++)
		if (strcmp(cli_commands[i].name, name) == 0)
			return &cli_commands[i];
	return NULL;
}

/* If argv[i] is --NAME or --NAME=VALUE gives the value and how many words it took. */
static int take(char **argv, int argc, int i, const char *name, const char **ret)
{
	size_t n = strlen(name);

	if (strncmp(argv[i], name, n) != 0)
		return 0;
	if (argv[i][n] == '=') {
		*ret = argv[i] + n + 1;
		return 1;
	}
	if (argv[i][n] != '\0' || i + 1 >= argc)
		return 0;
	*ret = argv[i + 1];
	return 2;
}

/* Takes the options of every subcommand out of argv; gives the new argc. */
static int take_globals(int argc, char **argv, struct cli *cli)
{
	int kept = 1;

	for (int i = 1; i < argc;) {
		int n = 0;

		if (strcmp(argv[i], "--") == 0) {
			while (i < argc)
				argv[kept++] = argv[i++];
			break;
		}
		n = take(argv, argc, i, "--url", &cli->url);
		if (n == 0)
			n = take(argv, argc, i, "--munge-socket", &cli->munge_socket);
		if (n == 0) {
			argv[kept++] = argv[i];
			n = 1;
		}
		i += n;
	}
	argv[kept] = NULL;
	return kept;
}

static int completions(const char *name)
{
	const struct command *command = name ? command_find(name) : NULL;

	if (name && command == NULL)
		return 1;
	if (command) {
		options_completions(command->options, stdout);
		return 0;
	}
	for (size_t i = 0; i < cli_commands_n; i++)
		puts(cli_commands[i].name);
	options_completions(&cli_options, stdout);
	return 0;
}

static int run_global(int argc, char **argv)
{
	struct options *o = options_new(&cli_options, argc, argv);
	const char *arg;
	int key = options_next(o, &arg);

	options_free(o);
	if (key == 'h')
		help(stdout);
	else if (key == 'V')
		puts("tally " TALLY_VERSION);
	else if (key == OPT_COMPLETIONS)
		return completions(argc > 2 ? argv[2] : NULL);
	else if (key == OPTION_END)
		help(stderr);
	return key == OPTION_END || key == OPTION_BAD;
}

int main(int argc, char **argv)
{
	struct cli cli = { 0 };
	const struct command *command;

	setlocale(LC_CTYPE, "");
	argc = take_globals(argc, argv, &cli);
	if (argc < 2 || argv[1][0] == '-')
		return run_global(argc, argv);
	command = command_find(argv[1]);
	if (command == NULL) {
		fprintf(stderr, "tally: error: no command \"%s\"; see tally --help\n", argv[1]);
		return 1;
	}
	return command->run(&cli, argc - 1, argv + 1);
}

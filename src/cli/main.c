/* cli/main.c: the `tally` program: finds the subcommand in the table and runs it.
 *
 * --url and --munge-socket may stand before or after the subcommand; they are taken out of argv
 * here, so that no subcommand has to know them. */
#include "cli/cli.h"

#include <locale.h>

/* A new subcommand is a row here and a declaration in cli.h. */
static const struct command commands[] = {
	{ "backup", cmd_backup, "write tallyd's own database to a file", &backup_options },
	{ "import", cmd_import, "send the jobs of sacct dumps and other files", &import_options },
	{ "records", cmd_records, "send records given as JSON", &records_options },
	{ "restore", cmd_restore, "bring a backup back", &restore_options },
	{ "sacct", cmd_sacct, "list jobs and job steps, as sacct does", &sacct_options },
	{ "seff", cmd_seff, "how much of its CPUs and memory a job used", &seff_options },
	{ "upgrade-state", cmd_upgrade_state, "move tallyd's own database to a newer PostgreSQL",
	  &upgrade_options },
};

enum { OPT_URL = OPTION_LONG, OPT_MUNGE, OPT_COMPLETIONS };

static const struct option_row global_rows[] = {
	{ "url", OPT_URL, ARG_REQUIRED, "ADDRESS",
	  "the daemon: http://HOST:PORT or unix:PATH (else TALLY_URL, else the usual places)",
	  NULL },
	{ "munge-socket", OPT_MUNGE, ARG_REQUIRED, "PATH",
	  "the munged that signs requests over http (else TALLY_MUNGE_SOCKET)", NULL },
	{ "completions", OPT_COMPLETIONS, ARG_NONE, NULL, "what the shell may complete", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
	{ "version", 'V', ARG_NONE, NULL, "the version", NULL },
};
static const struct option_set global_options = { global_rows, ARRAY_LEN(global_rows) };

int cli_fail(const char *command, const struct err *err)
{
	fprintf(stderr, "%s: error: %s%s%s\n", command, err->where, err->where[0] ? ": " : "",
		err->text);
	return 1;
}

static void help(FILE *out)
{
	fputs("usage: tally [--url=ADDRESS] COMMAND [OPTION...]\n\ncommands:\n", out);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-30s %s\n", commands[i].name, commands[i].summary);
	fputs("\noptions:\n", out);
	options_help(&global_options, out);
	fputs("\n`tally COMMAND --help` says more about each.\n", out);
}

static const struct command *command_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
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
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		puts(commands[i].name);
	options_completions(&global_options, stdout);
	return 0;
}

static int run_global(int argc, char **argv)
{
	struct options *o = options_new(&global_options, argc, argv);
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

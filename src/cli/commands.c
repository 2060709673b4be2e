/* cli/commands.c: the subcommands of `tally` and the options that all of them take: for main.c, the
 * completions and the manual. */
#include "cli/cli.h"

/* A new subcommand is a row here and a declaration in cli.h. */
const struct command cli_commands[] = {
	{ "backup", cmd_backup, "write tallyd's own database to a file", &backup_options },
	{ "import", cmd_import, "send the jobs of sacct dumps and other files", &import_options },
	{ "records", cmd_records, "send records given as JSON", &records_options },
	{ "restore", cmd_restore, "bring a backup back", &restore_options },
	{ "sacct", cmd_sacct, "list jobs and job steps, as sacct does", &sacct_options },
	{ "seff", cmd_seff, "how much of its CPUs and memory a job used", &seff_options },
	{ "upgrade-state", cmd_upgrade_state, "move tallyd's own database to a newer PostgreSQL",
	  &upgrade_options },
	{ "why", cmd_why, "how a job ended, and from which figures that is concluded", &why_options },
};

const size_t cli_commands_n = ARRAY_LEN(cli_commands);

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
const struct option_set cli_options = { global_rows, ARRAY_LEN(global_rows) };

int cli_fail(const char *command, const struct err *err)
{
	fprintf(stderr, "%s: error: %s%s%s\n", command, err->where, err->where[0] ? ": " : "",
		err->text);
	return 1;
}

/* cli/cli.h: what main.c and the subcommands share.
 *
 * A subcommand is a row in commands.c: a name, a function that gets argv from its own name on
 * (so that getopt's messages begin with "sacct: ", as users expect), a line of help, and the
 * options it takes, from which `tally --completions` and the bash completion come. */
#ifndef TALLY_CLI_CLI_H
#define TALLY_CLI_CLI_H

#include "base/err.h"
#include "cli/options.h"

/* Options that every subcommand takes, wherever they stand on the line; main.c removes them from
 * argv.  NULL = not given. */
struct cli {
	const char *url;
	const char *munge_socket;
};

struct command {
	const char *name;
	int (*run)(const struct cli *cli, int argc, char **argv); /* gives the exit status */
	const char *summary;
	const struct option_set *options;
};

extern const struct command cli_commands[];
extern const size_t cli_commands_n;

/* Options of `tally` itself. */
enum { OPT_URL = OPTION_LONG, OPT_MUNGE, OPT_COMPLETIONS };
extern const struct option_set cli_options;

/* "COMMAND: error: WHERE: TEXT" on standard error; returns 1, an exit status. */
int cli_fail(const char *command, const struct err *err);

/* sacct */
int cmd_sacct(const struct cli *cli, int argc, char **argv);
extern const struct option_set sacct_options;

/* import, records: jobs into a tallyd */
int cmd_import(const struct cli *cli, int argc, char **argv);
int cmd_records(const struct cli *cli, int argc, char **argv);
extern const struct option_set import_options, records_options;

/* seff, why: one job */
int cmd_seff(const struct cli *cli, int argc, char **argv);
int cmd_why(const struct cli *cli, int argc, char **argv);
extern const struct option_set seff_options, why_options;

/* backup, restore, upgrade-state: on the private PostgreSQL of this machine */
int cmd_backup(const struct cli *cli, int argc, char **argv);
int cmd_restore(const struct cli *cli, int argc, char **argv);
int cmd_upgrade_state(const struct cli *cli, int argc, char **argv);
extern const struct option_set backup_options, restore_options, upgrade_options;

#endif

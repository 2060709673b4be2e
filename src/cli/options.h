/* cli/options.h: a subcommand's options as a table, from which parsing (getopt_long), --help and
 * the completions are made. */
#ifndef TALLY_CLI_OPTIONS_H
#define TALLY_CLI_OPTIONS_H

#include "base/base.h"

enum option_arg { ARG_NONE, ARG_REQUIRED, ARG_OPTIONAL };

/* Long options without a letter have keys from here on. */
#define OPTION_LONG 256
#define OPTION_END  (-1)
#define OPTION_BAD  '?' /* getopt has said on standard error what is wrong */

struct option_row {
	const char *name; /* without dashes */
	int key;	  /* the letter, or >= OPTION_LONG */
	enum option_arg arg;
	const char *arg_name; /* NULL when it takes none */
	const char *help;     /* one line; NULL for another spelling of the row above */
	const char *values;   /* words the argument is made of, separated by blanks; NULL = any */
};

struct option_set {
	const struct option_row *rows;
	size_t n;
};

struct options;

/* Goes over argv (argv[0] is the command's name).  The rows must outlive it. */
struct options *options_new(const struct option_set *set, int argc, char **argv);
void options_free(struct options *o); /* takes NULL */
/* The next option's key with its argument (NULL if none), OPTION_END or OPTION_BAD. */
int options_next(struct options *o, const char **ret_arg);
/* After OPTION_END: how many words are left, and the first of them. */
int options_rest(const struct options *o, char ***ret_words);

/* Two columns: the spellings and what they do. */
void options_help(const struct option_set *set, FILE *out);
/* One spelling a line, "--units=" when it takes an argument, then the words the argument is made
 * of: for the shell. */
void options_completions(const struct option_set *set, FILE *out);

#endif

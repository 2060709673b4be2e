/* tools/gen-man.c: the manual pages out of man/NAME.SECTION.in and the tables of the programs.
 *
 *	gen-man man/tally.1.in > build/man/tally.1
 *
 * The pages are mdoc.  A line "@WORD [NAME]" is replaced by what a table says: @commands,
 * @options COMMAND ("tally" for those of every command), @config, @config-unused, @states,
 * @sacct-fields. */
#include "cli/cli.h"
#include "config.h"
#include "core/state.h"

#define LINE_MAX_LEN 4096
#define FOLD	     78

/* The word at s; moves s behind it and the blanks after it. */
static size_t next_word(const char **s, const char **ret)
{
	size_t n = strcspn(*s, " \n");

	*ret = *s;
	*s += n;
	*s += strspn(*s, " \n");
	return n;
}

static bool ends_sentence(const char *word, size_t n)
{
	return n > 2 && word[n - 1] == '.' && word[n - 2] != '.';
}

/* Text in lines of mdoc: folded, a new line after a sentence, and no dot or quote where a request
 * would begin. */
static void text(const char *s)
{
	size_t column = 0;

	while (*s) {
		const char *word;
		size_t n = next_word(&s, &word);

		if (column > 0 && column + 1 + n > FOLD) {
			putchar('\n');
			column = 0;
		}
		if (column > 0)
			putchar(' ');
		else if (*word == '.' || *word == '\'')
			fputs("\\&", stdout);
		column += n + 1;
		for (size_t i = 0; i < n; i++) {
			/* In a page's own text \e and \& are meant. */
			if (word[i] == '\\' && strchr("e&(", word[i + 1]) == NULL)
				fputs("\\e", stdout);
			else
				putchar(word[i]);
		}
		if (*s && ends_sentence(word, n)) {
			putchar('\n');
			column = 0;
		}
	}
	putchar('\n');
}

/* With a capital letter and a full stop, as a sentence. */
static void sentence(const char *s)
{
	char buf[LINE_MAX_LEN];
	size_t n = strlen(s);

	if (n == 0 || n + 2 > sizeof(buf))
		return;
	memcpy(buf, s, n + 1);
	if (buf[0] >= 'a' && buf[0] <= 'z')
		buf[0] = (char)(buf[0] - 'a' + 'A');
	if (buf[n - 1] != '.') {
		buf[n] = '.';
		buf[n + 1] = '\0';
	}
	text(buf);
}

/* ---- commands and options -------------------------------------------------------------------- */

static int commands(void)
{
	puts(".Bl -tag -width upgrade-state");
	for (size_t i = 0; i < cli_commands_n; i++) {
		printf(".It Cm %s\n", cli_commands[i].name);
		sentence(cli_commands[i].summary);
	}
	puts(".El");
	return 0;
}

static const struct option_set *options_of(const char *command)
{
	if (strcmp(command, "tally") == 0)
		return &cli_options;
	for (size_t i = 0; i < cli_commands_n; i++)
		if (strcmp(cli_commands[i].name, command) == 0)
			return cli_commands[i].options;
	return NULL;
}

static void option_item(const struct option_row *row)
{
	bool letter = row->key > 0 && row->key < OPTION_LONG;

	fputs(".It ", stdout);
	if (letter)
		printf("Fl %c , ", row->key);
	printf("Fl Fl %s", row->name);
	if (row->arg == ARG_REQUIRED)
		printf(" Ns = Ns Ar \\&%s", row->arg_name);
	else if (row->arg == ARG_OPTIONAL)
		printf(" Ns Oo = Ns Ar \\&%s Oc", row->arg_name);
	putchar('\n');
}

static int options(const char *command)
{
	const struct option_set *set = options_of(command);

	if (set == NULL) {
		fprintf(stderr, "gen-man: no command \"%s\"\n", command);
		return -1;
	}
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < set->n; i++) {
		option_item(&set->rows[i]);
		if (set->rows[i].help)
			sentence(set->rows[i].help);
		else
			puts("Another spelling of the one above.");
	}
	puts(".El");
	return 0;
}

/* ---- tally.conf ------------------------------------------------------------------------------ */

struct key {
	const char *name, *type, *otherwise, *reload, *help;
};

static const struct key keys[] = {
#define C(key, type, member, otherwise, least, most, reload, help)                                 \
	{ #key, #type, otherwise, #reload, help },
#define N(key, help) { #key, NULL, NULL, NULL, help },
#include "config.def"
#undef C
#undef N
};

static const char *type_text(const char *type)
{
	static const char *const types[][2] = {
		{ "STR", "text" },
		{ "PATH", "absolute path" },
		{ "LIST", "words, commas between" },
		{ "BOOL", "yes or no" },
		{ "INT", "number" },
		{ "SIZE", "bytes; K, M or G may follow" },
		{ "SPAN", "minutes or [D-]HH:MM:SS" },
	};

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (strcmp(types[i][0], type) == 0)
			return types[i][1];
	return NULL;
}

static int config(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		const struct key *k = &keys[i];
		char facts[256];
		const char *type = k->type ? type_text(k->type) : NULL;

		if (k->type == NULL)
			continue;
		printf(".It Sy %s\n", k->name);
		sentence(k->help);
		snprintf(facts, sizeof(facts), "%s%s%s%s%s", type ? type : "", type ? "; " : "",
			 *k->otherwise ? "default " : "", k->otherwise, *k->otherwise ? "; " : "");
		printf("(%s%s)\n", facts,
		       strcmp(k->reload, "RELOAD") == 0 ? "taken over on SIGHUP"
							: "needs a restart");
	}
	puts(".El");
	return 0;
}

static int config_unused(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		if (keys[i].type)
			continue;
		printf(".It Sy %s\n", keys[i].name);
		if (*keys[i].help)
			sentence(keys[i].help);
		else
			puts("No effect.");
	}
	puts(".El");
	return 0;
}

/* ---- states and columns ---------------------------------------------------------------------- */

static int states(void)
{
	puts(".Bl -column OUT_OF_MEMORY OOM");
	for (size_t i = 0; i < STATE_COUNT; i++)
		printf(".It %s Ta %s\n", state_rows[i].name, state_rows[i].abbr);
	puts(".El");
	return 0;
}

static const char *const columns[] = {
#define F(name, width, flags, job, step) #name,
#include "cli/sacct_fields.def"
#undef F
};

static const struct {
	const char *name, *doc;
} column_docs[] = {
#define D(name, doc) { #name, doc },
#include "../man/sacct-fields.def"
#undef D
};

static const char *column_doc(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(column_docs); i++)
		if (strcmp(column_docs[i].name, name) == 0)
			return column_docs[i].doc;
	return NULL;
}

static int sacct_fields(void)
{
	puts(".Bl -tag -width Ds");
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		const char *doc = column_doc(columns[i]);

		if (doc == NULL) {
			fprintf(stderr, "gen-man: %s has no row in man/sacct-fields.def\n",
				columns[i]);
			return -1;
		}
		printf(".It Sy %s\n", columns[i]);
		text(doc);
	}
	puts(".El");
	return 0;
}

/* ---- a page ---------------------------------------------------------------------------------- */

static int directive(char *line)
{
	static const struct {
		const char *name;
		int (*print)(void);
	} plain[] = {
		{ "@commands", commands },	     { "@config", config },
		{ "@config-unused", config_unused }, { "@states", states },
		{ "@sacct-fields", sacct_fields },
	};

	line[strcspn(line, "\n")] = '\0';
	if (strncmp(line, "@options ", 9) == 0)
		return options(line + 9);
	for (size_t i = 0; i < ARRAY_LEN(plain); i++)
		if (strcmp(line, plain[i].name) == 0)
			return plain[i].print();
	fprintf(stderr, "gen-man: unknown \"%s\"\n", line);
	return -1;
}

/* Blocks that are shown as they are. */
static bool literal(const char *line, bool was)
{
	if (strncmp(line, ".Bd -literal", 12) == 0)
		return true;
	return was && strncmp(line, ".Ed", 3) != 0;
}

static int page(FILE *in)
{
	char line[LINE_MAX_LEN];
	bool as_is = false;
	int rc = 0;

	while (rc == 0 && fgets(line, sizeof(line), in)) {
		as_is = literal(line, as_is);
		if (line[0] == '@' && !as_is)
			rc = directive(line);
		else if (line[0] == '.' || as_is)
			fputs(line, stdout);
		else
			text(line);
	}
	return rc;
}

int main(int argc, char **argv)
{
	FILE *in = argc == 2 ? fopen(argv[1], "re") : NULL;
	int rc;

	if (in == NULL) {
		fprintf(stderr, "usage: gen-man PAGE.in\n");
		return 2;
	}
	rc = page(in);
	fclose(in);
	return rc < 0 || fflush(stdout) != 0;
}

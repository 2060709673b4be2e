#include "cli/options.h"

#include <getopt.h>

#include "base/arena.h"
#include "base/buf.h"

struct options {
	int argc;
	char **argv;
	struct option *longs;
	struct buf shorts;
};

static bool has_letter(const struct option_row *row)
{
	return row->key > 0 && row->key < OPTION_LONG;
}

static void add_letter(struct buf *shorts, const struct option_row *row)
{
	char letter[2] = { (char)row->key, 0 };

	if (!has_letter(row) || strchr(buf_str(shorts), letter[0]))
		return;
	buf_adds(shorts, letter);
	if (row->arg == ARG_REQUIRED)
		buf_adds(shorts, ":");
	else if (row->arg == ARG_OPTIONAL)
		buf_adds(shorts, "::");
}

struct options *options_new(const struct option_set *set, int argc, char **argv)
{
	static const int has_arg[] = { no_argument, required_argument, optional_argument };
	struct options *o = xcalloc(1, sizeof(*o));

	o->argc = argc;
	o->argv = argv;
	o->longs = xcalloc(set->n + 1, sizeof(*o->longs));
	for (size_t i = 0; i < set->n; i++) {
		const struct option_row *row = &set->rows[i];

		o->longs[i] = (struct option){ row->name, has_arg[row->arg], NULL, row->key };
		add_letter(&o->shorts, row);
	}
	optind = 0; /* glibc: start anew */
	return o;
}

void options_free(struct options *o)
{
	if (o == NULL)
		return;
	buf_fini(&o->shorts);
	free(o->longs);
	free(o);
}

int options_next(struct options *o, const char **ret_arg)
{
	int key = getopt_long(o->argc, o->argv, buf_str(&o->shorts), o->longs, NULL);

	*ret_arg = optarg;
	return key;
}

int options_rest(const struct options *o, char ***ret_words)
{
	*ret_words = o->argv + optind;
	return o->argc - optind;
}

static void spelling(struct buf *b, const struct option_row *row)
{
	if (has_letter(row))
		buf_printf(b, "-%c, ", row->key);
	else
		buf_adds(b, "    ");
	buf_printf(b, "--%s", row->name);
	if (row->arg == ARG_REQUIRED)
		buf_printf(b, "=%s", row->arg_name);
	else if (row->arg == ARG_OPTIONAL)
		buf_printf(b, "[=%s]", row->arg_name);
}

void options_help(const struct option_set *set, FILE *out)
{
	struct buf b = BUF_INIT;

	for (size_t i = 0; i < set->n; i++) {
		const char *help = set->rows[i].help;

		buf_clear(&b);
		spelling(&b, &set->rows[i]);
		if (help == NULL)
			fprintf(out, "  %s\n", buf_str(&b));
		else if (b.len > 30)
			fprintf(out, "  %s\n  %-30s %s\n", buf_str(&b), "", help);
		else
			fprintf(out, "  %-30s %s\n", buf_str(&b), help);
	}
	buf_fini(&b);
}

void options_completions(const struct option_set *set, FILE *out)
{
	for (size_t i = 0; i < set->n; i++) {
		const struct option_row *row = &set->rows[i];
		const char *values = row->values ? row->values : "";
		const char *blank = row->values ? " " : "";

		fprintf(out, "--%s%s%s%s\n", row->name, row->arg == ARG_NONE ? "" : "=", blank,
			values);
		if (has_letter(row))
			fprintf(out, "-%c%s%s\n", row->key, blank, values);
	}
}

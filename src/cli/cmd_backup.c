/* cli/cmd_backup.c: `tally backup`, `tally restore` and `tally upgrade-state`.
 *
 * These work on the private PostgreSQL of this machine and not through HTTP; tallyd knows how, so
 * they hand over to it: it lies beside this program, or where programs of its kind do. */
#include <unistd.h>

#include "base/arena.h"
#include "base/proc.h"
#include "base/state.h"
#include "cli/cli.h"

enum { OPT_STATE_DIR = OPTION_LONG, OPT_FORCE };

#define WORDS_MOST 8

static const struct option_row rows[] = {
	{ "state-dir", OPT_STATE_DIR, ARG_REQUIRED, "DIR",
	  "state directory of the tallyd (else " STATE_DIR_DEFAULT ", else ./var)", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set backup_options = { rows, ARRAY_LEN(rows) };
const struct option_set upgrade_options = { rows, ARRAY_LEN(rows) };

static const struct option_row restore_rows[] = {
	{ "force", OPT_FORCE, ARG_NONE, NULL, "even if the database in use holds jobs", NULL },
	{ "state-dir", OPT_STATE_DIR, ARG_REQUIRED, "DIR",
	  "state directory of the tallyd (else " STATE_DIR_DEFAULT ", else ./var)", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set restore_options = { restore_rows, ARRAY_LEN(restore_rows) };

/* The command line that tallyd gets. */
struct handover {
	const char *words[WORDS_MOST + 1];
	size_t n;
};

static void add(struct handover *h, const char *word)
{
	assert(h->n < WORDS_MOST);
	h->words[h->n++] = word;
}

static int find_tallyd(char *ret, size_t size, struct err *err)
{
	static const char *const places[] = { "tallyd", "../sbin/tallyd" };
	char self[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

	self[n > 0 ? n : 0] = '\0';
	for (size_t i = 0; n > 0 && i < ARRAY_LEN(places); i++) {
		snprintf(ret, size, "%.*s/%s", (int)(strrchr(self, '/') - self), self, places[i]);
		if (access(ret, X_OK) == 0)
			return 0;
	}
	return proc_find_program("tallyd", ret, size, err);
}

static int hand_over(const char *command, const struct handover *h)
{
	union {
		const char *const *in;
		char *const *out;
	} argv = { .in = h->words };
	char program[PATH_MAX];
	struct err err = { 0 };

	if (find_tallyd(program, sizeof(program), &err) < 0)
		return cli_fail(command, &err);
	execv(program, argv.out);
	err_set(&err, ERR_SYSTEM, program, "%s", strerror(errno));
	return cli_fail(command, &err);
}

static int usage(const struct option_set *set, const char *command, bool file)
{
	printf("usage: tally %s [OPTION...]%s\n\n", command, file ? " FILE" : "");
	options_help(set, stdout);
	return 0;
}

/* Reads the options, and hands over to tallyd with `action`. */
static int run(const struct option_set *set, const char *action, bool file, int argc, char **argv)
{
	struct options *o = options_new(set, argc, argv);
	struct handover h = { .words = { "tallyd", action }, .n = 2 };
	const char *arg;
	char **words;
	int key, rc = -1;

	while (rc < 0 && (key = options_next(o, &arg)) != OPTION_END) {
		switch (key) {
		case OPT_STATE_DIR:
			add(&h, "--state-dir");
			add(&h, arg);
			break;
		case OPT_FORCE: add(&h, "--force"); break;
		case 'h': rc = usage(set, argv[0], file); break;
		default: rc = 1; break;
		}
	}
	if (rc < 0 && options_rest(o, &words) != (file ? 1 : 0)) {
		fprintf(stderr, "%s: error: %s; `tally %s --help` says more\n", argv[0],
			file ? "name one file" : "unexpected word", argv[0]);
		rc = 1;
	}
	if (rc < 0) {
		if (file) {
			add(&h, "--");
			add(&h, words[0]);
		}
		rc = hand_over(argv[0], &h);
	}
	options_free(o);
	return rc;
}

int cmd_backup(const struct cli *cli UNUSED, int argc, char **argv)
{
	return run(&backup_options, "--backup", true, argc, argv);
}

int cmd_restore(const struct cli *cli UNUSED, int argc, char **argv)
{
	return run(&restore_options, "--restore", true, argc, argv);
}

int cmd_upgrade_state(const struct cli *cli UNUSED, int argc, char **argv)
{
	return run(&upgrade_options, "--upgrade-state", false, argc, argv);
}

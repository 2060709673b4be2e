/* cli/cmd_records.c: `tally records`: records as JSON to a tallyd, and its verdicts.
 *
 * A line for each record that was not plainly accepted; nothing where all were.  Exit status: 0
 * every record is kept, 1 some were refused, 2 they could not be sent. */
#include "cli/cli.h"

#include "cli/client.h"
#include "cli/input.h"
#include "cli/send.h"
#include "core/json.h"

#define COMMAND	   "tally records"
#define PATIENCE_S 60

static const struct option_row rows[] = {
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set records_options = { rows, ARRAY_LEN(rows) };

static void on_verdict(const struct sent *sent, void *arg)
{
	size_t *refused = arg;

	if (strcmp(sent->word, "accepted") == 0)
		return;
	printf("record %zu: %s", sent->tag, sent->word);
	if (sent->reason) {
		printf(": %s%s%s", sent->field ? sent->field : "", sent->field ? ": " : "",
		       sent->reason);
		++*refused;
	}
	if (sent->quarantine_id)
		printf(" (quarantine %" PRId64 ")", sent->quarantine_id);
	putchar('\n');
}

static void on_waiting(const struct err *why, int seconds, void *arg)
{
	(void)arg;
	fprintf(stderr, COMMAND ": %s; trying again in %d s\n", why->text, seconds);
}

/* Half a file is none: it is cut to its end before anything is sent. */
static int check_cut(const struct input *in, size_t *ret_n, struct err *err)
{
	struct jcut cut;
	struct jtext text;
	int rc;

	*ret_n = 0;
	jcut_init(&cut, in->data ? in->data : "", in->len, false);
	while ((rc = jcut_next(&cut, &text, err)) > 0)
		++*ret_n;
	if (rc == 0 && *ret_n == 0)
		return err_set(err, ERR_INVALID, in->name, "no record in it");
	return rc;
}

static int send_all(struct client *client, const struct input *in, size_t *refused, struct err *err)
{
	struct sender_settings set = { client, on_verdict, on_waiting, refused, PATIENCE_S };
	struct sender *sender = sender_new(&set);
	struct jcut cut;
	struct jtext text;
	size_t n = 0;
	int rc = 0;

	jcut_init(&cut, in->data, in->len, false);
	while (rc == 0 && jcut_next(&cut, &text, err) > 0)
		rc = sender_add(sender, text.p, text.n, n++, err);
	if (rc == 0)
		rc = sender_flush(sender, err);
	sender_free(sender);
	return rc;
}

static int run(const struct cli *cli, const char *path)
{
	const struct client_settings where = { cli->url, cli->munge_socket };
	struct client *client = NULL;
	struct input in = { 0 };
	size_t n, refused = 0;
	struct err err;
	int rc = input_open(path, &in, &err);

	if (rc == 0)
		rc = check_cut(&in, &n, &err);
	if (rc == 0) {
		client = client_new(&where, &err);
		rc = client ? send_all(client, &in, &refused, &err) : -1;
	}
	if (rc < 0)
		cli_fail(COMMAND, &err);
	client_free(client);
	input_close(&in);
	return rc < 0 ? 2 : refused > 0;
}

static void help(void)
{
	puts("usage: tally records FILE\n\n"
	     "Sends the records in FILE (- is standard input) to tallyd: one JSON document, an\n"
	     "array, or one a line.  Prints the verdict on each that was not plainly accepted.\n"
	     "Exit status: 0 all are kept, 1 some were refused, 2 they could not be sent.\n");
	options_help(&records_options, stdout);
}

int cmd_records(const struct cli *cli, int argc, char **argv)
{
	struct options *o = options_new(&records_options, argc, argv);
	const char *arg;
	char **words;
	int key = options_next(o, &arg), rc;

	if (key == 'h') {
		help();
		rc = 0;
	} else if (key == OPTION_BAD) {
		rc = 2;
	} else if (options_rest(o, &words) != 1) {
		fputs(COMMAND ": error: name one file, or -\n", stderr);
		rc = 2;
	} else {
		rc = run(cli, words[0]);
	}
	options_free(o);
	return rc;
}

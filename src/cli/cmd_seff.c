/* cli/cmd_seff.c: `tally seff JOB`: CPU and memory efficiency of a job. */
#include "cli/cli.h"

#include "base/arena.h"
#include "cli/client.h"
#include "cli/seff_text.h"
#include "core/record_json.h"

#define COMMAND "tally seff"

static const struct option_row rows[] = {
	{ "cluster", 'M', ARG_REQUIRED, "NAME", "of this cluster (else of every one)", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set seff_options = { rows, ARRAY_LEN(rows) };

/* {"jobs":[JOB,...]}: the newest run of each. */
static int print_jobs(const struct buf *answer, size_t *printed, struct err *err)
{
	struct arena *arena = arena_new();
	struct buf out = BUF_INIT;
	int64_t now = (int64_t)time(NULL);
	struct jscan scan;
	struct jtext key;

	jscan_init(&scan, buf_str(answer), answer->len, arena, err);
	jscan_enter(&scan, JSCAN_OBJECT);
	while (jscan_member(&scan, &key)) {
		if (!jtext_is(key, "jobs")) {
			jscan_skip(&scan);
			continue;
		}
		jscan_enter(&scan, JSCAN_ARRAY);
		while (jscan_element(&scan)) {
			struct step *steps;
			struct job j;
			size_t n;

			if (job_decode_json(&scan, &j, &steps, &n) < 0)
				break;
			if ((*printed)++ > 0)
				buf_addc(&out, '\n');
			seff_print(&out, &j, now);
		}
	}
	fputs(buf_str(&out), stdout);
	buf_fini(&out);
	arena_free(arena);
	return scan.failed ? err_prefix(err, "the daemon's answer is not understood: ") : 0;
}

static int show(struct client *client, const char *id, const char *cluster, size_t *printed,
		struct err *err)
{
	struct buf target = BUF_INIT, answer = BUF_INIT;
	struct request rq = { .method = "GET", .accept = "application/json" };
	int rc;

	buf_adds(&target, "/v1/jobs");
	target_add_path(&target, id);
	target_add(&target, "steps", "false");
	if (cluster)
		target_add(&target, "cluster", cluster);
	rq.target = buf_str(&target);
	rc = client_whole(client, &rq, &answer, NULL, err);
	if (rc == 0)
		rc = print_jobs(&answer, printed, err);
	buf_fini(&target);
	buf_fini(&answer);
	return rc;
}

static int show_all(const struct cli *cli, const char *cluster, int n, char **ids)
{
	const struct client_settings where = { cli->url, cli->munge_socket };
	struct client *client;
	size_t printed = 0;
	struct err err;
	int status = 0;

	if (n == 0) {
		fputs(COMMAND ": error: name a job: 12, 12_3 or 12+1\n", stderr);
		return 1;
	}
	client = client_new(&where, &err);
	if (client == NULL)
		return cli_fail(COMMAND, &err);
	for (int i = 0; i < n; i++)
		if (show(client, ids[i], cluster, &printed, &err) < 0)
			status = cli_fail(COMMAND, &err);
	client_free(client);
	return status;
}

static void help(void)
{
	puts("usage: tally seff [OPTION...] JOB...\n\n"
	     "How much of its CPUs and memory a job used.\n");
	options_help(&seff_options, stdout);
}

int cmd_seff(const struct cli *cli, int argc, char **argv)
{
	struct options *o = options_new(&seff_options, argc, argv);
	const char *arg, *cluster = NULL;
	char **words;
	int key, n, rc = -1;

	while (rc < 0 && (key = options_next(o, &arg)) != OPTION_END) {
		if (key == 'M')
			cluster = arg;
		else if (key == 'h')
			help();
		if (key != 'M')
			rc = key == 'h' ? 0 : 1;
	}
	if (rc < 0) {
		n = options_rest(o, &words);
		rc = show_all(cli, cluster, n, words);
	}
	options_free(o);
	return rc;
}

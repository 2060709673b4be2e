/* cli/one_job.c: asks for jobs by id and hands over what comes. */
#include "cli/one_job.h"

#include "base/arena.h"
#include "cli/client.h"
#include "core/record_json.h"

static int read_list(const struct one_job *q, struct jscan *scan)
{
	if (jscan_enter(scan, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(scan)) {
		struct step *steps;
		struct job j;
		size_t n;

		if (job_decode_json(scan, &j, &steps, &n) < 0)
			return -1;
		q->sink(&j, steps, n, q->arg);
	}
	return scan->failed ? -1 : 0;
}

/* {"jobs":[JOB,...]} */
static int read_answer(const struct one_job *q, const struct buf *answer, struct err *err)
{
	struct arena *arena = arena_new();
	struct jscan scan;
	struct jtext key;

	jscan_init(&scan, buf_str(answer), answer->len, arena, err);
	jscan_enter(&scan, JSCAN_OBJECT);
	while (jscan_member(&scan, &key)) {
		if (jtext_is(key, "jobs"))
			read_list(q, &scan);
		else
			jscan_skip(&scan);
	}
	arena_free(arena);
	return scan.failed ? err_prefix(err, "the daemon's answer is not understood: ") : 0;
}

static int ask(const struct one_job *q, struct client *client, const char *id, struct err *err)
{
	struct buf target = BUF_INIT, answer = BUF_INIT;
	struct request rq = { .method = "GET", .accept = "application/json" };
	int rc;

	buf_adds(&target, "/v1/jobs");
	target_add_path(&target, id);
	target_add(&target, "steps", q->steps ? "true" : "false");
	if (q->cluster)
		target_add(&target, "cluster", q->cluster);
	rq.target = buf_str(&target);
	rc = client_whole(client, &rq, &answer, NULL, err);
	if (rc == 0)
		rc = read_answer(q, &answer, err);
	buf_fini(&target);
	buf_fini(&answer);
	return rc;
}

int one_job_each(const struct one_job *q, const struct cli *cli, int n, char **ids)
{
	const struct client_settings where = { cli->url, cli->munge_socket };
	struct client *client;
	struct err err;
	int status = 0;

	if (n == 0) {
		fprintf(stderr, "%s: error: name a job: 12, 12_3 or 12+1\n", q->command);
		return 1;
	}
	client = client_new(&where, &err);
	if (client == NULL)
		return cli_fail(q->command, &err);
	for (int i = 0; i < n; i++)
		if (ask(q, client, ids[i], &err) < 0)
			status = cli_fail(q->command, &err);
	client_free(client);
	return status;
}

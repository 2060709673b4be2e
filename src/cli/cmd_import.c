/* cli/cmd_import.c: `tally import`: jobs out of other people's files into a tallyd.
 *
 * Every row is accounted for: stored, already there, refused or skipped, the latter two with the
 * reason.  Stopped half-way it is simply begun again: what is there already changes nothing. */
#include "cli/cli.h"

#include "base/arena.h"
#include "cli/client.h"
#include "cli/input.h"
#include "cli/progress.h"
#include "cli/reasons.h"
#include "cli/send.h"
#include "core/record_json.h"
#include "core/timespec.h"
#include "ingest/import.h"

#define COMMAND	      "tally import"
#define PATIENCE_S    300
#define EPOCH_DEFAULT INT64_C(1577836800) /* 2020-01-01T00:00:00Z */

enum { OPT_CLUSTER = OPTION_LONG, OPT_ZONE, OPT_EPOCH, OPT_DELIMITER, OPT_DRY_RUN, OPT_STRICT };

static const struct option_row rows[] = {
	{ "cluster", OPT_CLUSTER, ARG_REQUIRED, "NAME",
	  "cluster of rows that name none; rows that name another are skipped", NULL },
	{ "zone", OPT_ZONE, ARG_REQUIRED, "ZONE",
	  "time zone of local times, such as Europe/Berlin (else that of TZ or the system)", NULL },
	{ "epoch", OPT_EPOCH, ARG_REQUIRED, "TIME",
	  "when second 0 of a trace without dates was (2020-01-01T00:00:00Z)", NULL },
	{ "delimiter", OPT_DELIMITER, ARG_REQUIRED, "CHARS",
	  "delimiter of sacct --parsable (else found in the header)", NULL },
	{ "dry-run", OPT_DRY_RUN, ARG_NONE, NULL, "read and judge, send nothing", NULL },
	{ "strict", OPT_STRICT, ARG_NONE, NULL, "exit status 1 if any row was refused", NULL },
	{ "help", 'h', ARG_NONE, NULL, "this text", NULL },
};
const struct option_set import_options = { rows, ARRAY_LEN(rows) };

struct importer {
	struct import_options options;
	bool dry_run, strict;
	struct arena *arena; /* of the options */
	struct client *client;
	struct sender *sender;
	struct progress progress;
	struct reasons *refused, *skipped;
	struct import_counts total;
	uint64_t accepted, duplicate, purged;
	/* Of the file at hand: */
	const struct input *input;
	struct import_counts counts;
	struct arena *scratch;
	struct buf json;
	bool unsent; /* sending failed: */
	struct err err;
};

/* ---- one record ------------------------------------------------------------------------------ */

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

static void refuse(struct importer *im, size_t line, const char *field, const char *reason)
{
	char where[160];

	snprintf(where, sizeof(where), "%.60s:%zu %.80s", base_name(im->input->name), line,
		 field ? field : "");
	reasons_add(im->refused, where, reason);
}

static void on_verdict(const struct sent *sent, void *arg)
{
	struct importer *im = arg;

	if (strcmp(sent->word, "accepted") == 0)
		im->accepted++;
	else if (strcmp(sent->word, "duplicate") == 0)
		im->duplicate++;
	else if (strcmp(sent->word, "purged") == 0)
		im->purged++;
	else
		refuse(im, sent->tag, sent->field, sent->reason ? sent->reason : "no reason given");
}

static void on_waiting(const struct err *why, int seconds, void *arg)
{
	struct importer *im = arg;

	progress_clear(&im->progress);
	fprintf(stderr, COMMAND ": %s; trying again in %d s\n", why->text, seconds);
}

/* What the daemon would say, as far as that can be known here. */
static void judge(struct importer *im, const struct record *rec, size_t line)
{
	struct record copy = *rec;
	struct err err;

	arena_reset(im->scratch);
	if (copy.cluster == NULL)
		copy.cluster = "its-own";
	if (record_validate(&copy, im->scratch, &err) < 0)
		refuse(im, line, err.where, err.text);
	else
		im->accepted++;
}

static int on_record(const struct record *rec, size_t line, void *arg)
{
	struct importer *im = arg;

	progress_show(&im->progress, im->counts.bytes, im->input->len, im->counts.records);
	if (im->dry_run) {
		judge(im, rec, line);
		return 0;
	}
	buf_clear(&im->json);
	record_encode_json(&im->json, rec);
	im->unsent = sender_add(im->sender, buf_str(&im->json), im->json.len, line, &im->err) < 0;
	return im->unsent ? -1 : 0;
}

static void on_refused(const struct err *err, bool skipped, void *arg)
{
	struct importer *im = arg;

	reasons_add(skipped ? im->skipped : im->refused, err->where, err->text);
}

static void on_note(const char *text, void *arg)
{
	struct importer *im = arg;

	progress_clear(&im->progress);
	printf("%s: note: %s\n", base_name(im->input->name), text);
}

/* ---- one file -------------------------------------------------------------------------------- */

static void add_counts(struct import_counts *to, const struct import_counts *from)
{
	to->rows += from->rows;
	to->jobs += from->jobs;
	to->steps += from->steps;
	to->refused += from->refused;
	to->skipped += from->skipped;
	to->records += from->records;
}

static int convert(struct importer *im, struct err *err)
{
	struct import_source source = { im->input->name, im->input->data, im->input->len };
	const struct import_format *format = import_recognise(&source, err);
	struct import_handler handler = { on_record, on_refused, on_note, im };
	int rc;

	if (format == NULL)
		return -1;
	printf("%s: %s\n", base_name(im->input->name), format->doc);
	if (format->relative)
		on_note("its times count from --epoch", im);
	rc = import_convert(format, &source, &im->options, &handler, &im->counts, err);
	/* What was read before a file broke off is sent all the same. */
	if (!im->unsent && !im->dry_run)
		im->unsent = sender_flush(im->sender, &im->err) < 0;
	if (im->unsent)
		*err = im->err;
	return im->unsent ? -1 : rc;
}

static int import_path(struct importer *im, const char *path, struct err *err)
{
	struct input input;
	int rc;

	if (input_open(path, &input, err) < 0)
		return -1;
	im->input = &input; // cppcheck-suppress autoVariables ; for as long as it is there
	im->counts = (struct import_counts){ 0 };
	progress_begin(&im->progress, input.name, "records");
	rc = convert(im, err);
	progress_clear(&im->progress);
	add_counts(&im->total, &im->counts);
	im->input = NULL;
	input_close(&input);
	return rc;
}

/* ---- the report ------------------------------------------------------------------------------ */

static void report(const struct importer *im)
{
	printf("read %" PRIu64 " rows: %" PRIu64 " jobs, %" PRIu64 " steps, %" PRIu64
	       " refused, %" PRIu64 " skipped\n",
	       im->total.rows, im->total.jobs, im->total.steps, im->total.refused,
	       im->total.skipped);
	printf("%s %" PRIu64 " of %" PRIu64 " records: %" PRIu64 " stored, %" PRIu64
	       " duplicate, %" PRIu64 " refused",
	       im->dry_run ? "would send" : "sent",
	       im->accepted + im->duplicate + im->purged + reasons_total(im->refused) -
		       im->total.refused,
	       im->total.records, im->dry_run ? 0 : im->accepted, im->duplicate,
	       reasons_total(im->refused) - im->total.refused);
	if (im->purged)
		printf(", %" PRIu64 " older than what is kept", im->purged);
	putchar('\n');
	reasons_print(im->refused, "refused", stdout);
	reasons_print(im->skipped, "skipped", stdout);
}

/* Nothing taken where there was something to take is a failure, however good the reasons. */
static int status_of(const struct importer *im)
{
	uint64_t kept = im->accepted + im->duplicate + im->purged;
	uint64_t lost = reasons_total(im->refused) + im->total.skipped;

	if (kept == 0 && lost > 0 && !im->unsent) {
		fprintf(stderr, COMMAND ": error: none of %" PRIu64 " rows was taken\n",
			im->total.rows);
		return 1;
	}
	return im->strict && reasons_total(im->refused) > 0;
}

/* ---- the command ----------------------------------------------------------------------------- */

static int take_option(struct importer *im, int key, const char *arg, struct err *err)
{
	switch (key) {
	case OPT_CLUSTER: im->options.cluster = arg; return 0;
	case OPT_ZONE: return zone_open(arg, im->arena, &im->options.zone, err);
	case OPT_EPOCH: return time_parse_iso(arg, &im->options.epoch, err);
	case OPT_DELIMITER: im->options.delimiter = arg; return 0;
	case OPT_DRY_RUN: im->dry_run = true; return 0;
	case OPT_STRICT: im->strict = true; return 0;
	default: return 0;
	}
}

static void help(void)
{
	puts("usage: tally import [OPTION...] FILE...\n\n"
	     "Sends the jobs of each FILE (- is standard input) to tallyd: dumps of sacct\n"
	     "--parsable with their header, sacct --json, tally's own jobs as JSON, the Standard\n"
	     "Workload Format, and the CSV files of Eagle, openb and Philly; which it is, is seen\n"
	     "from its content.\n"
	     "Stopped half-way, begin again: what is there already is not stored twice.\n");
	options_help(&import_options, stdout);
}

static int connect_to(struct importer *im, const struct cli *cli, struct err *err)
{
	const struct client_settings where = { cli->url, cli->munge_socket };
	struct sender_settings set = {
		.verdict = on_verdict,
		.waiting = on_waiting,
		.arg = im,
		.patience_s = PATIENCE_S,
	};

	if (im->dry_run)
		return 0;
	im->client = client_new(&where, err);
	if (im->client == NULL)
		return -1;
	set.client = im->client;
	im->sender = sender_new(&set);
	return 0;
}

static int import_all(struct importer *im, const struct cli *cli, int n, char **paths)
{
	struct err err;
	int failed = 0;

	if (n == 0) {
		fputs(COMMAND ": error: no file named; see tally import --help\n", stderr);
		return 1;
	}
	if (im->options.zone == NULL &&
	    zone_open_local(getenv("TZ"), im->arena, &im->options.zone, &err) < 0)
		return cli_fail(COMMAND, &err);
	if (connect_to(im, cli, &err) < 0)
		return cli_fail(COMMAND, &err);
	for (int i = 0; i < n; i++) {
		if (import_path(im, paths[i], &err) == 0)
			continue;
		failed = cli_fail(COMMAND, &err);
		if (im->unsent)
			break; /* the daemon is gone: the next file would fare no better */
	}
	report(im);
	return status_of(im) || failed;
}

int cmd_import(const struct cli *cli, int argc, char **argv)
{
	struct importer im = { .options = { .epoch = EPOCH_DEFAULT } };
	struct options *o = options_new(&import_options, argc, argv);
	const char *arg;
	struct err err;
	char **paths;
	int key, n, rc = -1;

	im.arena = arena_new();
	im.scratch = arena_new();
	im.refused = reasons_new();
	im.skipped = reasons_new();
	while (rc < 0 && (key = options_next(o, &arg)) != OPTION_END) {
		if (key == 'h') {
			help();
			rc = 0;
		} else if (key == OPTION_BAD) {
			rc = 1;
		} else if (take_option(&im, key, arg, &err) < 0) {
			rc = cli_fail(COMMAND, &err);
		}
	}
	if (rc < 0) {
		n = options_rest(o, &paths);
		rc = import_all(&im, cli, n, paths);
	}
	options_free(o);
	sender_free(im.sender);
	client_free(im.client);
	reasons_free(im.refused);
	reasons_free(im.skipped);
	buf_fini(&im.json);
	arena_free(im.scratch);
	arena_free(im.arena);
	return rc;
}

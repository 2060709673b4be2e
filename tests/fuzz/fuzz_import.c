/* The importers on any bytes: no crash, every row in exactly one of taken, refused, skipped, and a
 * reason with each refusal. */
#include "fuzz.h"

#include "ingest/import.h"

static int take(const struct record *rec, size_t line, void *arg)
{
	(void)line;
	(void)arg;
	CHECK(rec->kind <= REC_STEP_END);
	CHECK(job_has(&rec->job, job_id) && rec->job.job_id > 0);
	for (size_t i = 0; i < rec->n_steps; i++)
		CHECK(step_has(&rec->steps[i], step_id));
	return 0;
}

static void refuse(const struct err *err, bool skipped, void *arg)
{
	(void)skipped;
	(void)arg;
	CHECK(err->text[0] != '\0' && err->where[0] != '\0');
}

static void note(const char *text, void *arg)
{
	(void)arg;
	CHECK(text[0] != '\0');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct import_options options = { .zone = zone_utc() };
	struct import_handler handler = { take, refuse, note, NULL };
	struct import_counts c = { 0 };
	struct err err = { 0 };
	/* A copy of just this size, so that a read past the end is seen. */
	char *copy = xmalloc(size + !size);
	struct import_source source = { "fuzz", copy, size };
	const struct import_format *format;

	memcpy(copy, data, size);
	format = import_recognise(&source, &err);
	if (format) {
		int rc = import_convert(format, &source, &options, &handler, &c, &err);

		CHECK(rc == 0 || err.text[0] != '\0');
		CHECK(c.rows == c.jobs + c.steps + c.refused + c.skipped);
	}
	free(copy);
	return 0;
}

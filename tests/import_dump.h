/* import_dump.h: what an importer makes of a file, as text, for the tests of the importers.
 *
 * One line per record, "job_end job_id=1 cluster=c ...", every field that is known by its name,
 * and one indented line per step; then what was refused, skipped and noted. */
#ifndef TALLY_TESTS_IMPORT_DUMP_H
#define TALLY_TESTS_IMPORT_DUMP_H

#include "base/buf.h"
#include "ingest/import.h"

struct dump {
	struct buf out;
	struct import_counts counts;
	struct err err;
	int rc;
};

static void dump_row(struct buf *out, const struct field *fields, int n, const uint64_t *has,
		     const void *row)
{
	for (int f = 0; f < n; f++) {
		const char *p = (const char *)row + fields[f].offset;

		if (!has_bit(has, (size_t)f))
			continue;
		buf_printf(out, " %s=", fields[f].name);
		if (field_is_text(fields[f].type))
			buf_json_str(out, *(const char *const *)(const void *)p);
		else
			buf_i64(out, *(const int64_t *)(const void *)p);
	}
	buf_addc(out, '\n');
}

static const char *const dump_kinds[REC_KINDS] = {
	"job_start",
	"job_end",
	"step_start",
	"step_end",
};

static int dump_record(const struct record *rec, size_t line, void *arg)
{
	struct dump *d = arg;

	(void)line;
	buf_adds(&d->out, dump_kinds[rec->kind]);
	dump_row(&d->out, job_fields, JOB_FIELDS, rec->job.has, &rec->job);
	for (size_t i = 0; i < rec->n_steps; i++) {
		buf_adds(&d->out, "  step");
		dump_row(&d->out, step_fields, STEP_FIELDS, rec->steps[i].has, &rec->steps[i]);
	}
	return 0;
}

static void dump_refused(const struct err *err, bool skipped, void *arg)
{
	struct dump *d = arg;

	buf_printf(&d->out, "%s %s: %s\n", skipped ? "SKIPPED" : "REFUSED", err->where, err->text);
}

static void dump_note(const char *text, void *arg)
{
	struct dump *d = arg;

	buf_printf(&d->out, "NOTE %s\n", text);
}

/* buf_fini(&ret.out) when done. */
static UNUSED struct dump dump_import(const char *name, const char *data, size_t len,
				      const struct import_options *options)
{
	struct dump d = { 0 };
	struct import_source source = { name, data, len };
	struct import_handler handler = { dump_record, dump_refused, dump_note, &d };
	const struct import_format *format = import_recognise(&source, &d.err);

	d.rc = format ? import_convert(format, &source, options, &handler, &d.counts, &d.err) : -1;
	if (format)
		assert(d.counts.rows ==
		       d.counts.jobs + d.counts.steps + d.counts.refused + d.counts.skipped);
	return d;
}

#endif

/* ingest/import_swf.c: the Standard Workload Format of the Parallel Workloads Archive.
 *
 * Lines of 18 numbers, -1 for what is not known; above them comments, of which UnixStartTime says
 * when second 0 was (else options->epoch).  Definition: the archive's page on the format, 2.2. */
#include "ingest/import_priv.h"

#include "base/num.h"
#include "core/state.h"
#include "core/tres.h"

#include <strings.h>

/* clang-format off */
enum {
	SWF_job, SWF_submit, SWF_wait, SWF_run, SWF_procs, SWF_cpu_each, SWF_mem_each, SWF_req_procs,
	SWF_req_time, SWF_req_mem, SWF_status, SWF_user, SWF_group, SWF_app, SWF_queue, SWF_part,
	SWF_after, SWF_think, SWF_FIELDS
};
/* clang-format on */

static const char *const names[SWF_FIELDS] = {
	"job number",	  "submit time",      "wait time",   "run time",
	"processors",	  "CPU time used",    "memory used", "processors requested",
	"time requested", "memory requested", "status",	     "user",
	"group",	  "application",      "queue",	     "partition",
	"preceding job",  "think time",
};

/* 2, 3 and 4 are parts of a job whose line with 0, 1 or 5 tells all of it. */
static const int64_t states[] = { STATE_FAILED, STATE_COMPLETED, -1, -1, -1, STATE_CANCELLED };

static bool is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\r';
}

/* "-1", "17", "12.50" (the part behind the point is dropped: the unit is a second or a kilobyte);
 * *p moves behind it. */
static int number(const char **p, const char *end, int64_t *ret)
{
	char text[32];
	size_t n = 0;
	const char *digits, *rest;

	while (*p < end && is_blank(**p))
		(*p)++;
	while (*p < end && !is_blank(**p) && n < sizeof(text) - 1)
		text[n++] = *(*p)++;
	text[n] = '\0';
	digits = text[0] == '-' ? text + 1 : text;
	rest = num_digits(digits, ret);
	if (rest && *rest == '.')
		rest += 1 + strspn(rest + 1, "0123456789");
	if (rest == NULL || *rest != '\0')
		return -1;
	if (text[0] == '-')
		*ret = -1;
	return 0;
}

static int fields(const char *p, const char *end, int64_t v[SWF_FIELDS], struct err *err)
{
	for (int i = 0; i < SWF_FIELDS; i++)
		if (number(&p, end, &v[i]) < 0)
			return err_set(err, ERR_INVALID, names[i], "field %d is no number", i + 1);
	while (p < end && is_blank(*p))
		p++;
	return p == end ? 0
			: err_set(err, ERR_INVALID, NULL, "has more than %d fields", SWF_FIELDS);
}

static void put_name(struct import_run *run, int field, const char *what, int64_t n)
{
	if (n >= 0)
		import_put_text(run, NULL, field, arena_printf(run->arena, "%s%" PRId64, what, n));
}

static void put_times(struct job *j, const int64_t v[SWF_FIELDS], int64_t epoch)
{
	int64_t submit = num_add(epoch, v[SWF_submit], NULL);
	int64_t start = num_add(submit, v[SWF_wait], NULL);
	/* A job cancelled while it waited has no run time: its wait ended then. */
	bool ran = v[SWF_run] > 0 || (v[SWF_run] == 0 && v[SWF_status] != 5);

	job_set(j, submit_at, submit);
	job_set(j, eligible_at, submit);
	if (v[SWF_wait] < 0) {
		if (v[SWF_run] >= 0)
			job_set(j, rec_elapsed, v[SWF_run]);
		return;
	}
	if (ran)
		job_set(j, start_at, start);
	if (v[SWF_run] >= 0)
		job_set(j, end_at, num_add(start, v[SWF_run], NULL));
	else if (v[SWF_status] == 5)
		job_set(j, end_at, start);
}

static void put_resources(struct import_run *run, struct job *j, const int64_t v[SWF_FIELDS])
{
	if (v[SWF_req_procs] > 0) {
		job_set(j, req_cpus, v[SWF_req_procs]);
		job_set(j, tres_req, arena_printf(run->arena, "cpu=%" PRId64, v[SWF_req_procs]));
	}
	if (v[SWF_procs] > 0 && (job_has(j, start_at) || job_has(j, rec_elapsed))) {
		job_set(j, tres_alloc, arena_printf(run->arena, "cpu=%" PRId64, v[SWF_procs]));
		if (v[SWF_cpu_each] >= 0)
			job_set(j, rec_cpu_us,
				num_mul(num_mul(v[SWF_cpu_each], v[SWF_procs], NULL), 1000000,
					NULL));
	}
	if (v[SWF_req_time] >= 0)
		job_set(j, timelimit, (v[SWF_req_time] + 59) / 60);
	if (v[SWF_req_mem] > 0) {
		job_set(j, req_mem, (v[SWF_req_mem] + 1023) / 1024);
		job_set(j, req_mem_per, PER_CPU);
	}
}

static int job_line(struct import_run *run, const int64_t v[SWF_FIELDS], int64_t epoch,
		    struct err *err)
{
	struct job *j = &run->job;

	if (v[SWF_job] <= 0 || v[SWF_job] > UINT32_MAX)
		return err_set(err, ERR_INVALID, names[SWF_job], "%" PRId64 " is no job number",
			       v[SWF_job]);
	if (v[SWF_submit] < 0)
		return err_set(err, ERR_INVALID, names[SWF_submit], "is not known");
	if (v[SWF_status] >= (int64_t)ARRAY_LEN(states))
		return err_set(err, ERR_INVALID, names[SWF_status],
			       "%" PRId64 " is no status: there are -1 and 0 to 5", v[SWF_status]);
	job_set(j, job_id, v[SWF_job]);
	put_times(j, v, epoch);
	put_resources(run, j, v);
	if (v[SWF_status] >= 0)
		job_set(j, state, states[v[SWF_status]]);
	if (v[SWF_user] >= 0)
		job_set(j, uid, v[SWF_user]);
	if (v[SWF_group] >= 0)
		job_set(j, gid, v[SWF_group]);
	put_name(run, JOB_name, "app", v[SWF_app]);
	put_name(run, JOB_partition, "queue", v[SWF_queue]);
	run->ended = true;
	return 0;
}

static int one_line(struct import_run *run, const char *p, const char *end, size_t line,
		    int64_t epoch)
{
	int64_t v[SWF_FIELDS];
	struct err err;
	int rc;

	run->counts->rows++;
	if (import_begin_job(run, line) == NULL)
		return -1;
	rc = fields(p, end, v, &err);
	if (rc == 0 && v[SWF_status] >= 2 && v[SWF_status] <= 4) {
		err_set(&err, ERR_INVALID, names[SWF_status],
			"is of a part of a job that has a line for all of it");
		import_skip(run, line, &err);
		import_drop_job(run);
		return 0;
	}
	if (rc == 0)
		rc = job_line(run, v, epoch, &err);
	if (rc < 0) {
		import_refuse(run, line, NULL, &err);
		import_drop_job(run);
		return 0;
	}
	run->counts->jobs++;
	return 0;
}

/* "; UnixStartTime: 844099200" */
static bool start_time(const char *p, const char *end, int64_t *ret)
{
	static const char key[] = "UnixStartTime:";
	const char *hit = memmem(p, (size_t)(end - p), key, sizeof(key) - 1);

	if (hit == NULL)
		return false;
	hit += sizeof(key) - 1;
	return number(&hit, end, ret) == 0 && *ret > 0;
}

static int convert(struct import_run *run, struct err *err)
{
	const char *p = run->source->data, *end = p + run->source->len;
	int64_t epoch = run->options->epoch;
	size_t line = 0;
	bool dated = false;

	(void)err;
	import_note(run, 0,
		    "not taken: memory used (a mean), partition, preceding job, think time");
	while (p < end && !run->stopped) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end, *q = p;

		line++;
		run->counts->bytes = (uint64_t)(stop - run->source->data);
		while (q < stop && is_blank(*q))
			q++;
		if (q < stop && *q == ';') {
			if (start_time(q, stop, &epoch))
				dated = true;
		} else if (q < stop) {
			if (!dated)
				import_note(run, 1, "no UnixStartTime: times count from --epoch");
			if (one_line(run, q, stop, line, epoch) < 0)
				break;
		}
		p = nl ? nl + 1 : end;
	}
	return 0;
}

/* Comments of its kind, or a first line of 18 numbers. */
static bool recognise(const struct import_source *source)
{
	const char *p = source->data, *end = p + source->len;

	while (p < end) {
		const char *nl = memchr(p, '\n', (size_t)(end - p));
		const char *stop = nl ? nl : end;
		int64_t v[SWF_FIELDS];

		while (p < stop && is_blank(*p))
			p++;
		if (p < stop && *p != ';')
			return fields(p, stop, v, NULL) == 0;
		if (p < stop && memmem(p, (size_t)(stop - p), "UnixStartTime:", 14))
			return true;
		p = nl ? nl + 1 : end;
	}
	return false;
}

const struct import_format import_swf = {
	.name = "swf",
	.doc = "Standard Workload Format",
	.recognise = recognise,
	.convert = convert,
};

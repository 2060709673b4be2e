/* test_import_data.c: every file of real records, imported: how many jobs in which state, what
 * they used, and that no row is lost.  The sums were made from the files by other means. */
#include "import_dump.h"

#include "core/state.h"
#include "core/tres.h"

#include <fcntl.h>
#include <glob.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define STATES_MAX 16

struct tally {
	int64_t states[STATES_MAX];
	int64_t jobs, records, with_steps, no_nodes;
	int64_t cpu_s, gpu_s; /* of what has ended */
	int64_t refused, skipped;
	struct err last;
};

static int count_record(const struct record *rec, size_t line, void *arg)
{
	struct tally *t = arg;
	const struct job *j = &rec->job;
	int64_t elapsed, n;

	assert_true(line > 0);
	t->records++;
	if (rec->kind != REC_JOB_START && rec->kind != REC_JOB_END)
		return 0;
	assert_true(job_has(j, job_id));
	t->jobs++;
	t->with_steps += rec->n_steps > 0;
	t->no_nodes += !job_has(j, nodes);
	if (job_has(j, state))
		t->states[j->state < STATES_MAX ? j->state : STATES_MAX - 1]++;
	if (rec->kind == REC_JOB_START)
		return 0;
	elapsed = job_elapsed_s(j, 0);
	if (tres_get(job_get(j, tres_alloc, NULL), "cpu", &n))
		t->cpu_s += n * elapsed;
	if (tres_get(job_get(j, tres_alloc, NULL), "gres/gpu", &n))
		t->gpu_s += n * elapsed;
	return 0;
}

static void count_refused(const struct err *err, bool skipped, void *arg)
{
	struct tally *t = arg;

	if (skipped)
		t->skipped++;
	else
		t->refused++;
	t->last = *err;
}

static void no_note(const char *text, void *arg)
{
	(void)text;
	(void)arg;
}

/* want < 0: not looked at. */
static void same(const char *path, const char *what, int64_t got, int64_t want)
{
	if (want >= 0 && got != want)
		fail_msg("%s: %s is %" PRId64 ", not %" PRId64, path, what, got, want);
}

/* False when the file is not there. */
static bool import_file(const char *path, const char *want_format, const char *zone,
			struct tally *t, struct import_counts *counts)
{
	struct arena *arena;
	struct import_options o = { .zone = zone_utc(), .epoch = 1577836800 };
	struct import_handler h = { count_record, count_refused, no_note, t };
	struct import_source source = { path, NULL, 0 };
	const struct import_format *f;
	struct stat st;
	struct err err;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	*t = (struct tally){ 0 };
	*counts = (struct import_counts){ 0 };
	if (fd < 0)
		return false;
	arena = arena_new();
	if (zone)
		assert_int_equal(zone_open(zone, arena, &o.zone, NULL), 0);
	assert_int_equal(fstat(fd, &st), 0);
	source.len = (size_t)st.st_size;
	source.data = mmap(NULL, source.len, PROT_READ, MAP_PRIVATE, fd, 0);
	assert_ptr_not_equal(source.data, MAP_FAILED);
	f = import_recognise(&source, &err);
	if (f == NULL)
		fail_msg("%s: %s", path, err.text);
	assert_string_equal(f->name, want_format);
	if (import_convert(f, &source, &o, &h, counts, &err) < 0)
		fail_msg("%s: %s: %s", path, err.where, err.text);
	munmap((void *)(uintptr_t)source.data, source.len);
	close(fd);
	arena_free(arena);
	assert_int_equal(counts->rows,
			 counts->jobs + counts->steps + counts->refused + counts->skipped);
	assert_int_equal(counts->jobs, t->jobs);
	assert_int_equal(counts->records, t->records);
	return true;
}

/* clang-format off */
static const struct {
	const char *path; /* "+" in front: of the shared data, which may be missing */
	const char *format;
	int64_t jobs, steps, refused;
	int64_t completed, failed, cancelled, timeout, running, pending, other;
	int64_t no_nodes;
	int64_t cpu_s, gpu_s;
	const char *zone; /* of its local times; NULL = UTC */
} files[] = {
	{ "+xdmod/phillips.sacct.psv", "sacct-parsable", 4285, 0, 0,
	  2324, 1717, 243, 1, 0, 0, 0, 239, 42364758, 1824886, NULL },
	{ "+xdmod/pozidriv.sacct.psv", "sacct-parsable", 11704, 0, 0,
	  10134, 1007, 468, 9, 0, 0, 86, 419, 259143395, 0, NULL },
	/* FOO and BAR are no states. */
	{ "+xdmod/odd-rows.sacct.psv", "sacct-parsable", 13, 0, 2,
	  2, 0, 1, 8, 1, 1, 0, 0, 478060176, 0, NULL },
	{ "samples/hb-jobinfo.sacct", "sacct-parsable", 100, 142, 0,
	  66, 8, 8, 7, 3, 7, 1, 10, 434239256, -1, "Europe/Amsterdam" },
	{ "samples/slurm-jobinfo.sacct", "sacct-parsable", 37, 48, 0,
	  18, 2, 0, 0, 14, 3, 0, 3, 9527008, 0, NULL },
	{ "samples/eagle.csv", "eagle", 1000, 0, 0,
	  985, 0, 0, 15, 0, 0, 0, 1000, 408806428, -1, NULL },
	{ "tests/data/import/slurm2sql/test-data1.sacct.psv", "sacct-parsable", 2, 3, 0,
	  0, 0, 2, 0, 0, 0, 0, 0, 25627, 0, NULL },
	{ "tests/data/import/slurm2sql/test-data2.sacct.psv", "sacct-parsable", 2, 3, 0,
	  0, 0, 2, 0, 0, 0, 0, 0, 25627, 0, NULL },
	{ "tests/data/import/sacct-json/sacct-21.8.8.json", "sacct-json", 1, 0, 0,
	  0, 0, 0, 0, 0, 0, 0, 0, 345204, 86301, NULL },
	{ "tests/data/import/sacct-json/sacct-22.5.9.json", "sacct-json", 1, 0, 0,
	  0, 1, 0, 0, 0, 0, 0, 0, 11942688, 1990448, NULL },
	{ "tests/data/import/sacct-json/sacct-23.2.6.json", "sacct-json", 1, 0, 0,
	  0, 0, 0, 0, 1, 0, 0, 0, 0, 0, NULL },
	{ "tests/data/import/sacct-json/sacct-23.11.5.json", "sacct-json", 1, 0, 0,
	  0, 0, 0, 0, 1, 0, 0, 0, 0, 0, NULL },
	{ "tests/data/import/sacct-json/synthetic-25.05-fromage_1714003200.json", "sacct-json",
	  13, 26, 0, 7, 2, 1, 0, 3, 0, 0, -1, -1, -1, NULL },
	{ "tests/data/import/sacct-json/synthetic-25.05-mila_1706227200.json", "sacct-json",
	  7, 14, 0, 5, 1, 1, 0, 0, 0, 0, -1, -1, -1, NULL },
	{ "tests/data/import/sacct-json/synthetic-25.05-raisin_1719187200.json", "sacct-json",
	  7, 12, 0, 3, 0, 1, 0, 2, 1, 0, -1, -1, -1, NULL },
	{ "tests/data/import/firecrest/slurm_get_job_from_db.json", "sacct-json", 1, 1, 0,
	  1, 0, 0, 0, 0, 0, 0, 0, -1, 0, NULL },
	{ "tests/data/import/firecrest/slurm_get_allusers_jobs_from_db.json", "sacct-json", 2, 2, 0,
	  2, 0, 0, 0, 0, 0, 0, 0, -1, 0, NULL },
	{ "tests/data/import/firecrest/slurm_get_jobs_by_name_from_db.json", "sacct-json", 5, 5, 0,
	  5, 0, 0, 0, 0, 0, 0, 0, -1, 0, NULL },
	/* Deleted while Running (5,193) or Pending (897). */
	{ "tests/data/import/gpu-traces/openb_pod_list_default.csv", "openb", 8152, 0, 0,
	  192, 1870, 6090, 0, 0, 0, 0, 8152, 2513058351, 159815474, NULL },
	{ "tests/data/import/gpu-traces/philly-chronus.csv", "philly", 30940, 0, 0,
	  0, 0, 0, 0, 0, 0, 0, 30940, 0, 1326639300, NULL },
};
/* clang-format on */

static const char *full_path(const char *path, char buf[512])
{
	const char *shared = getenv("TALLY_TEST_SHARED");

	if (*path != '+')
		return path;
	snprintf(buf, 512, "%s/%s", shared ? shared : "../shared/data", path + 1);
	return buf;
}

static void test_files(void **state)
{
	size_t missing = 0;

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		char buf[512];
		const char *path = full_path(files[i].path, buf);
		struct tally t;
		struct import_counts c;

		if (!import_file(path, files[i].format, files[i].zone, &t, &c)) {
			if (*files[i].path != '+')
				fail_msg("%s is missing", path);
			missing++;
			continue;
		}
		same(path, "jobs", t.jobs, files[i].jobs);
		same(path, "steps", (int64_t)c.steps, files[i].steps);
		same(path, "refused", t.refused, files[i].refused);
		same(path, "skipped", t.skipped, 0);
		same(path, "completed", t.states[STATE_COMPLETED], files[i].completed);
		same(path, "failed", t.states[STATE_FAILED], files[i].failed);
		same(path, "cancelled", t.states[STATE_CANCELLED], files[i].cancelled);
		same(path, "timeout", t.states[STATE_TIMEOUT], files[i].timeout);
		same(path, "running", t.states[STATE_RUNNING], files[i].running);
		same(path, "pending", t.states[STATE_PENDING], files[i].pending);
		same(path, "other", t.states[STATE_PREEMPTED] + t.states[STATE_NODE_FAIL],
		     files[i].other);
		same(path, "without nodes", t.no_nodes, files[i].no_nodes);
		same(path, "cpu-seconds", t.cpu_s, files[i].cpu_s);
		same(path, "gpu-seconds", t.gpu_s, files[i].gpu_s);
	}
	if (missing)
		print_message("%zu files of the shared data are not here\n", missing);
}

/* Replies of slurmrestd of four releases: each one's jobs, by what the file's name says of it. */
static void test_rest(void **state)
{
	static const struct {
		const char *part;
		int64_t state; /* -1: any */
	} names[] = {
		{ "-failed", STATE_FAILED },	       { "-timeout", STATE_TIMEOUT },
		{ "-job-completed", STATE_COMPLETED }, { "-job-running", STATE_RUNNING },
		{ "-job-pending", STATE_PENDING },
	};
	size_t held = 0;
	glob_t g;

	(void)state;
	assert_int_equal(glob("tests/data/import/rest/*/*.json", 0, NULL, &g), 0);
	assert_true(g.gl_pathc > 80);
	for (size_t i = 0; i < g.gl_pathc; i++) {
		const char *path = g.gl_pathv[i];
		struct tally t;
		struct import_counts c;

		assert_true(import_file(path, "sacct-json", NULL, &t, &c));
		if (t.refused)
			fail_msg("%s: %s", t.last.where, t.last.text);
		if (strstr(path, "unfound"))
			same(path, "jobs", t.jobs, 0);
		for (size_t n = 0; n < ARRAY_LEN(names); n++) {
			if (strstr(path, names[n].part) == NULL)
				continue;
			same(path, "jobs", t.jobs, 1);
			same(path, "in its state", t.states[names[n].state], 1);
			held++;
		}
	}
	assert_true(held >= 20);
	globfree(&g);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_files),
		cmocka_unit_test(test_rest),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

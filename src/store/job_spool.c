#include "store/job_spool.h"

#include <fcntl.h>
#include <unistd.h>

#include "base/arena.h"

/* What is sorted at a time. */
#define RUN_ENTRIES 65536
#define RUN_TEXT    (4 << 20)
#define WRITE_AT    (256 << 10)
#define READ_AT	    (16 << 10)

/* A row: its value, and where it lies in the file.  Rows are added in the order of the key, so the
 * place in the file is that order. */
struct entry {
	bool unknown;
	uint32_t length;
	int64_t number;
	const char *text;
	uint64_t offset;
};

/* Appended to, then read at any place. */
struct file {
	int fd;
	uint64_t size; /* with what waits in `tail` */
	struct buf tail;
};

/* A sorted stretch of entries in the second file, as it is read back. */
struct run {
	uint64_t at, end;
	struct buf window; /* bytes from `at - window.len + used` on */
	size_t used;
	struct entry head;
};

struct job_spool {
	struct spool_settings settings;
	enum field_type type;
	struct file rows, sorted;
	struct entry *entries;
	size_t n;
	struct arena *texts;
	bool full; /* there were more than the limit's: entries[n - 1] is the worst that counts */
	struct run *runs;
	size_t n_runs, cap_runs;
	struct run **heap;
	size_t n_heap;
	size_t next; /* of entries, when one stretch was enough */
	int64_t given;
	struct arena *memory; /* of the row that is out */
};

/* ---- files */

static int file_open(struct file *f, const char *dir, struct err *err)
{
	char path[4096];

	f->fd = open(dir, O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
	if (f->fd >= 0)
		return 0;
	snprintf(path, sizeof(path), "%s/tally-spool.XXXXXX", dir);
	f->fd = mkostemp(path, O_CLOEXEC);
	if (f->fd < 0)
		return err_set(err, ERR_SYSTEM, dir, "cannot make a temporary file: %s",
			       strerror(errno));
	unlink(path);
	return 0;
}

static int file_flush(struct file *f, struct err *err)
{
	const char *p = f->tail.data;
	size_t n = f->tail.len;

	while (n > 0) {
		ssize_t done = write(f->fd, p, n);

		if (done < 0 && errno == EINTR)
			continue;
		if (done < 0)
			return err_set(err, ERR_SYSTEM, "spool", "cannot write: %s",
				       strerror(errno));
		p += done;
		n -= (size_t)done;
	}
	buf_clear(&f->tail);
	return 0;
}

/* After adding to the tail. */
static int file_added(struct file *f, size_t n, struct err *err)
{
	f->size += n;
	return f->tail.len >= WRITE_AT ? file_flush(f, err) : 0;
}

static int file_read(const struct file *f, uint64_t at, char *to, size_t n, struct err *err)
{
	while (n > 0) {
		ssize_t got = pread(f->fd, to, n, (off_t)at);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return err_set(err, ERR_SYSTEM, "spool", "cannot read: %s",
				       got < 0 ? strerror(errno) : "the file is too short");
		to += got;
		at += (uint64_t)got;
		n -= (size_t)got;
	}
	return 0;
}

static void file_close(struct file *f)
{
	if (f->fd >= 0)
		close(f->fd);
	buf_fini(&f->tail);
}

/* ---- order */

static int compare_values(const struct job_spool *sp, bool a_unknown, int64_t a, const char *a_text,
			  bool b_unknown, int64_t b, const char *b_text)
{
	int c;

	if (a_unknown || b_unknown)
		return a_unknown - b_unknown;
	c = field_is_text(sp->type) ? strcmp(a_text, b_text) : (a > b) - (a < b);
	return sp->settings.descending ? -c : c;
}

static int compare_entries(const void *x, const void *y, void *arg)
{
	const struct entry *a = x, *b = y;
	int c = compare_values(arg, a->unknown, a->number, a->text, b->unknown, b->number, b->text);

	return c != 0 ? c : (a->offset > b->offset) - (a->offset < b->offset);
}

/* The order of the key. */
static int compare_keys(const struct spool_place *a, const struct spool_place *b)
{
	int c = (a->job_id > b->job_id) - (a->job_id < b->job_id);

	if (c == 0)
		c = strcmp(a->cluster, b->cluster);
	return c != 0 ? c : (a->submit_at < b->submit_at) - (a->submit_at > b->submit_at);
}

static bool is_after(const struct job_spool *sp, const struct spool_place *p)
{
	const struct spool_place *after = sp->settings.after;
	int c;

	if (after == NULL)
		return true;
	c = compare_values(sp, p->unknown, p->number, p->text, after->unknown, after->number,
			   after->text);
	return c != 0 ? c > 0 : compare_keys(p, after) > 0;
}

void job_spool_place(const struct spool_settings *s, const struct job *j, struct spool_place *ret)
{
	const struct field *f = &job_fields[s->field];
	const char *at = (const char *)j + f->offset;
	bool text = field_is_text(f->type);
	bool known = has_bit(j->has, (size_t)s->field);

	*ret = (struct spool_place){
		.unknown = !known,
		.number = known && !text ? *(const int64_t *)(const void *)at : 0,
		.text = known && text ? *(const char *const *)(const void *)at : NULL,
		.cluster = j->cluster,
		.job_id = j->job_id,
		.submit_at = j->submit_at,
	};
}

/* ---- beginning and end */

struct job_spool *job_spool_new(const struct spool_settings *settings, struct err *err)
{
	struct job_spool *sp = xcalloc(1, sizeof(*sp));

	sp->settings = *settings;
	sp->type = job_fields[settings->field].type;
	sp->rows.fd = sp->sorted.fd = -1;
	sp->entries = xcalloc(RUN_ENTRIES, sizeof(sp->entries[0]));
	sp->texts = arena_new();
	sp->memory = arena_new();
	if (file_open(&sp->rows, settings->dir, err) == 0)
		return sp;
	job_spool_free(sp);
	return NULL;
}

void job_spool_free(struct job_spool *sp)
{
	if (sp == NULL)
		return;
	file_close(&sp->rows);
	file_close(&sp->sorted);
	for (size_t i = 0; i < sp->n_runs; i++)
		buf_fini(&sp->runs[i].window);
	free(sp->runs);
	free(sp->heap);
	free(sp->entries);
	arena_free(sp->texts);
	arena_free(sp->memory);
	free(sp);
}

/* ---- adding */

static void sort_entries(struct job_spool *sp)
{
	qsort_r(sp->entries, sp->n, sizeof(sp->entries[0]), compare_entries, sp);
}

/* One more than the limit is kept, to know that there are more. */
static bool keeps_the_first(const struct job_spool *sp)
{
	return sp->settings.limit >= 0 && sp->settings.limit < RUN_ENTRIES / 4;
}

/* Only the texts of what stays are needed. */
static void forget_texts(struct job_spool *sp)
{
	struct arena *kept = arena_new();

	for (size_t i = 0; i < sp->n; i++)
		sp->entries[i].text = arena_strdup(kept, sp->entries[i].text);
	arena_free(sp->texts);
	sp->texts = kept;
}

static void keep_the_first(struct job_spool *sp)
{
	size_t most = (size_t)sp->settings.limit + 1;

	sort_entries(sp);
	if (sp->n < most)
		return;
	sp->n = most;
	sp->full = true;
	forget_texts(sp);
}

static void put_entry(struct buf *b, const struct entry *e)
{
	uint32_t text_len = e->text == NULL ? 0 : (uint32_t)strlen(e->text) + 1;

	buf_add(b, &e->unknown, sizeof(e->unknown));
	buf_add(b, &e->length, sizeof(e->length));
	buf_add(b, &e->number, sizeof(e->number));
	buf_add(b, &e->offset, sizeof(e->offset));
	buf_add(b, &text_len, sizeof(text_len));
	buf_add(b, e->text, text_len);
}

static struct run *new_run(struct job_spool *sp)
{
	if (sp->n_runs == sp->cap_runs) {
		sp->cap_runs = sp->cap_runs == 0 ? 16 : 2 * sp->cap_runs;
		sp->runs = xrealloc(sp->runs, sp->cap_runs * sizeof(sp->runs[0]));
	}
	sp->runs[sp->n_runs] = (struct run){ .at = sp->sorted.size };
	return &sp->runs[sp->n_runs++];
}

static int write_run(struct job_spool *sp, struct err *err)
{
	struct run *run;

	if (sp->sorted.fd < 0 && file_open(&sp->sorted, sp->settings.dir, err) < 0)
		return -1;
	run = new_run(sp);
	sort_entries(sp);
	for (size_t i = 0; i < sp->n; i++) {
		size_t before = sp->sorted.tail.len;

		put_entry(&sp->sorted.tail, &sp->entries[i]);
		if (file_added(&sp->sorted, sp->sorted.tail.len - before, err) < 0)
			return -1;
	}
	run->end = sp->sorted.size;
	sp->n = 0;
	sp->full = false;
	arena_reset(sp->texts);
	return 0;
}

static int make_room(struct job_spool *sp, struct err *err)
{
	if (sp->n < RUN_ENTRIES && arena_size(sp->texts) < RUN_TEXT)
		return 0;
	if (!keeps_the_first(sp))
		return write_run(sp, err);
	keep_the_first(sp);
	/* Few values, but so long that they fill the memory by themselves. */
	return arena_size(sp->texts) >= RUN_TEXT ? write_run(sp, err) : 0;
}

static void put_row(struct buf *b, const struct columns *c, const void *row, const uint64_t *has)
{
	uint32_t len = 0;
	size_t at = b->len;

	buf_add(b, &len, sizeof(len));
	copyrow_encode(b, c, row, has);
	len = (uint32_t)(b->len - at - sizeof(len));
	memcpy(b->data + at, &len, sizeof(len));
}

static int put_rows(struct job_spool *sp, const struct job *j, const struct step *steps,
		    size_t n_steps, struct entry *e, struct err *err)
{
	struct buf *b = &sp->rows.tail;
	size_t before = b->len;
	uint32_t n = (uint32_t)n_steps;

	put_row(b, sp->settings.jobs, j, j->has);
	buf_add(b, &n, sizeof(n));
	for (size_t i = 0; i < n_steps; i++)
		put_row(b, sp->settings.steps, &steps[i], steps[i].has);
	e->offset = sp->rows.size;
	e->length = (uint32_t)(b->len - before);
	return file_added(&sp->rows, e->length, err);
}

int job_spool_add(struct job_spool *sp, const struct job *j, const struct step *steps,
		  size_t n_steps, struct err *err)
{
	struct spool_place place;
	struct entry e = { 0 };

	job_spool_place(&sp->settings, j, &place);
	if (!is_after(sp, &place))
		return 0;
	e.unknown = place.unknown;
	e.number = place.number;
	e.text = place.text;
	e.offset = sp->rows.size;
	if (sp->full && compare_entries(&e, &sp->entries[(size_t)sp->settings.limit], sp) > 0)
		return 0;
	if (put_rows(sp, j, steps, n_steps, &e, err) < 0 || make_room(sp, err) < 0)
		return -1;
	e.text = arena_strdup(sp->texts, e.text);
	sp->entries[sp->n++] = e;
	return 0;
}

/* ---- merging */

/* At least n bytes in the window, from `used` on; fewer only at the end. */
static int run_fill(struct job_spool *sp, struct run *r, size_t n, struct err *err)
{
	size_t left = r->window.len - r->used, more;
	char *to;

	if (left >= n || r->at == r->end)
		return 0;
	if (left > 0)
		memmove(r->window.data, r->window.data + r->used, left);
	r->window.len = left;
	r->used = 0;
	more = n - left > READ_AT ? n - left : READ_AT;
	if (more > r->end - r->at)
		more = (size_t)(r->end - r->at);
	to = buf_reserve(&r->window, more);
	if (file_read(&sp->sorted, r->at, to, more, err) < 0)
		return -1;
	r->window.len += more;
	r->at += more;
	return 0;
}

static void run_get(struct run *r, void *to, size_t n)
{
	memcpy(to, r->window.data + r->used, n);
	r->used += n;
}

#define ENTRY_FIXED (sizeof(bool) + 2 * sizeof(uint32_t) + 2 * sizeof(uint64_t))

/* 1 with the next entry in r->head, 0 at the end.  Its text lives in the window. */
static int run_next(struct job_spool *sp, struct run *r, struct err *err)
{
	struct entry *e = &r->head;
	uint32_t text_len;

	if (run_fill(sp, r, ENTRY_FIXED, err) < 0)
		return -1;
	if (r->used == r->window.len)
		return 0;
	run_get(r, &e->unknown, sizeof(e->unknown));
	run_get(r, &e->length, sizeof(e->length));
	run_get(r, &e->number, sizeof(e->number));
	run_get(r, &e->offset, sizeof(e->offset));
	run_get(r, &text_len, sizeof(text_len));
	if (run_fill(sp, r, text_len, err) < 0)
		return -1;
	e->text = text_len > 0 ? r->window.data + r->used : NULL;
	r->used += text_len;
	return 1;
}

static bool run_before(struct job_spool *sp, size_t a, size_t b)
{
	return compare_entries(&sp->heap[a]->head, &sp->heap[b]->head, sp) < 0;
}

static void heap_down(struct job_spool *sp, size_t i)
{
	for (;;) {
		size_t least = i;

		for (size_t child = 2 * i + 1; child <= 2 * i + 2 && child < sp->n_heap; child++)
			if (run_before(sp, child, least))
				least = child;
		if (least == i)
			return;
		struct run *r = sp->heap[i];
		sp->heap[i] = sp->heap[least];
		sp->heap[least] = r;
		i = least;
	}
}

static int begin_merge(struct job_spool *sp, struct err *err)
{
	if (sp->n > 0 && write_run(sp, err) < 0)
		return -1;
	if (file_flush(&sp->sorted, err) < 0)
		return -1;
	sp->heap = xcalloc(sp->n_runs, sizeof(sp->heap[0]));
	for (size_t i = 0; i < sp->n_runs; i++) {
		int rc = run_next(sp, &sp->runs[i], err);

		if (rc < 0)
			return -1;
		if (rc > 0)
			sp->heap[sp->n_heap++] = &sp->runs[i];
	}
	for (size_t i = sp->n_heap; i-- > 0;)
		heap_down(sp, i);
	return 0;
}

int job_spool_sort(struct job_spool *sp, struct err *err)
{
	if (file_flush(&sp->rows, err) < 0)
		return -1;
	if (sp->n_runs > 0)
		return begin_merge(sp, err);
	sort_entries(sp);
	return 0;
}

/* The place of the next row, in order. */
static int next_entry(struct job_spool *sp, uint64_t *ret_offset, uint32_t *ret_length,
		      struct err *err)
{
	const struct entry *e;
	int rc = 1;

	if (sp->n_runs == 0) {
		if (sp->next == sp->n)
			return 0;
		e = &sp->entries[sp->next++];
		*ret_offset = e->offset;
		*ret_length = e->length;
		return 1;
	}
	if (sp->n_heap == 0)
		return 0;
	*ret_offset = sp->heap[0]->head.offset;
	*ret_length = sp->heap[0]->head.length;
	rc = run_next(sp, sp->heap[0], err);
	if (rc == 0)
		sp->heap[0] = sp->heap[--sp->n_heap];
	if (rc >= 0)
		heap_down(sp, 0);
	return rc < 0 ? -1 : 1;
}

/* ---- giving back */

static uint32_t get_u32(const char **at)
{
	uint32_t v;

	memcpy(&v, *at, sizeof(v));
	*at += sizeof(v);
	return v;
}

/* A copy of its own, since decoding writes behind each text. */
static void get_row(struct job_spool *sp, const char **at, const struct columns *c, void *out,
		    uint64_t *has)
{
	uint32_t len = get_u32(at);
	struct copyrow row = { .len = len };

	row.base = arena_alloc(sp->memory, len + 1);
	memcpy(row.base, *at, len);
	*at += len;
	copyrow_decode(&row, c, out, has);
}

int job_spool_next(struct job_spool *sp, struct job *ret_job, const struct step **ret_steps,
		   size_t *ret_n_steps, struct err *err)
{
	uint64_t offset;
	uint32_t length;
	struct step *steps;
	const char *at;
	char *bytes;
	int rc;

	if (sp->settings.limit >= 0 && sp->given == sp->settings.limit)
		return 0;
	rc = next_entry(sp, &offset, &length, err);
	if (rc <= 0)
		return rc;
	arena_reset(sp->memory);
	at = bytes = arena_alloc(sp->memory, length);
	if (file_read(&sp->rows, offset, bytes, length, err) < 0)
		return -1;
	get_row(sp, &at, sp->settings.jobs, ret_job, ret_job->has);
	*ret_n_steps = get_u32(&at);
	*ret_steps = steps = ARENA_ARRAY(sp->memory, struct step, *ret_n_steps);
	for (size_t i = 0; i < *ret_n_steps; i++)
		get_row(sp, &at, sp->settings.steps, &steps[i], steps[i].has);
	sp->given++;
	return 1;
}

bool job_spool_has_more(const struct job_spool *sp)
{
	return sp->n_runs == 0 ? sp->next < sp->n : sp->n_heap > 0;
}

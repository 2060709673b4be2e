/* ingest/import_sacct.c: dumps of `sacct --parsable` with any list of fields under a header.
 *
 * The header tells the columns and the delimiter.  A job's row comes before those of its steps
 * (.batch, .extern, .0 ...); neighbours with one number become one record.  Facts about the
 * cells: sacct(1) and what releases from 15.08 on have printed (import_sacct.def). */
#include "ingest/import_priv.h"
#include "ingest/import_rows.h"

#include "base/buf.h"
#include "base/num.h"
#include "core/duration.h"
#include "core/exit.h"
#include "core/state.h"
#include "core/tres.h"
#include "core/where.h"
#include "core/words.h"
#include "core/zone.h"

#include <ctype.h>
#include <strings.h>

/* clang-format off */
enum syntax {
	X_TEXT,    /* anything */
	X_PATH,    /* anything that begins with / */
	X_NAME,    /* anything without blanks at its ends */
	X_COUNT,
	X_CPUS,
	X_NODES,   /* number of nodes: allocated, or asked for while there are none */
	X_HOSTS,
	X_TIME,
	X_ELAPSED,
	X_PAUSED,  /* how long it was suspended */
	X_SPAN,    /* [D-]HH:MM:SS, MM:SS.mmm; to microseconds */
	X_TOTAL,   /* the same, of user and system together */
	X_LIMIT,
	X_STATE,
	X_EXIT,
	X_REQMEM,
	X_FLAGS,
	X_KHZ,
	X_ENERGY,
	X_TRES,
	X_USAGE,
	X_WHERE,
	X_RSS,     /* X_SIZE_OF, and of the whole job where a job's row has it */
	X_SIZE_OF, /* one count of a usage text: bytes, */
	X_NUM_OF,  /* a number, */
	X_SPAN_OF, /* a duration; to milliseconds */
	X_WORD_OF, /* one node or */
	X_TASK_OF, /* task of a where text */
	X_JOBID,
	X_RAWID,
	X_SKIP,
	X_GONE,
	X_UNKNOWN, /* a column that is not in the table */
};
/* clang-format on */

#define NONE (-1)

struct column {
	const char *name;
	enum syntax syntax;
	int job_field, step_field;
	const char *tres;
};

static const struct column columns[] = {
#define C(name, syntax, job, step, tres) { name, X_##syntax, job, step, tres },
#include "ingest/import_sacct.def"
#undef C
};

static const struct column unknown_column = { "", X_UNKNOWN, NONE, NONE, NULL };

/* One count or word of a TRES text that has a column of its own. */
struct part {
	int step_field;
	const char *tres;
	int64_t count;
	const char *word;
};

#define PARTS_MAX     64
#define DELIMITER_MAX 16

struct reader {
	struct import_run *run;
	struct row_shape shape;
	const struct column *columns[ROW_COLUMNS_MAX];
	int id_column, raw_column, cluster_column;
	char delimiter[DELIMITER_MAX + 1];
	/* Of the row at hand: */
	struct step *step; /* NULL: a job's row */
	bool has_hosts;	   /* there is a NodeList, and it names nodes */
	bool hosts_said;
	int64_t cpus, nodes, elapsed; /* -1 = not said */
	int64_t paused;
	struct part parts[PARTS_MAX];
	size_t n_parts;
	bool dropped_skipped;
	bool lost; /* the row before could not be cut into cells: it may have been a job's */
};

/* ---- putting values where they go ------------------------------------------------------------ */

static void put_number(struct reader *r, const struct column *c, int64_t v)
{
	import_put_number(r->run, r->step, r->step ? c->step_field : c->job_field, v);
}

static void put_text(struct reader *r, const struct column *c, const char *text)
{
	import_put_text(r->run, r->step, r->step ? c->step_field : c->job_field, text);
}

static bool wanted(const struct reader *r, const struct column *c)
{
	return (r->step ? c->step_field : c->job_field) != NONE;
}

static int add_part(struct reader *r, const struct column *c, int64_t count, const char *word)
{
	if (r->step && r->n_parts < PARTS_MAX)
		r->parts[r->n_parts++] = (struct part){
			c->step_field,
			c->tres,
			count,
			arena_strdup(r->run->arena, word),
		};
	return 0;
}

/* ---- cells ----------------------------------------------------------------------------------- */

/* Unsigned 32-bit words for "no value" and "no limit" that some releases print as numbers. */
static bool is_no_value(int64_t n)
{
	return n == 4294967294 || n == 4294967295;
}

static int count_read(const char *cell, int64_t *ret, bool *ret_known, struct err *err)
{
	if (num_parse(cell, ret) == 0) {
		*ret_known = !is_no_value(*ret);
		return 0;
	}
	return size_parse(cell, UNIT_NONE, 1024, ret, ret_known, err);
}

static int read_text(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)err;
	if (*cell && strcmp(cell, "(null)") != 0)
		put_text(r, c, cell);
	return 0;
}

static int read_hosts(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)err;
	r->hosts_said = true;
	r->has_hosts = !import_is_nothing(cell);
	if (r->has_hosts)
		put_text(r, c, cell);
	return 0;
}

static int read_count(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t n;
	bool known;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (count_read(cell, &n, &known, err) < 0)
		return -1;
	if (known)
		put_number(r, c, n);
	return 0;
}

static int read_aside(const char *cell, int64_t *ret, struct err *err)
{
	int64_t n;
	bool known;

	if (import_is_nothing(cell))
		return 0;
	if (count_read(cell, &n, &known, err) < 0)
		return -1;
	if (known)
		*ret = n;
	return 0;
}

static int read_cpus(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)c;
	return read_aside(cell, &r->cpus, err);
}

static int read_nodes(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)c;
	return read_aside(cell, &r->nodes, err);
}

static int read_time(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t t;
	int rc;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	rc = import_time(r->run, cell, &t, err);
	if (rc > 0)
		put_number(r, c, t);
	return rc < 0 ? -1 : 0;
}

static int read_elapsed(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)c;
	if (import_is_nothing(cell))
		return 0;
	return num_parse(cell, &r->elapsed) == 0 ? 0 : duration_parse(cell, &r->elapsed, err);
}

static int read_paused(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)c;
	return import_is_nothing(cell) ? 0 : duration_parse(cell, &r->paused, err);
}

static int read_span(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t us;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (duration_parse_us(cell, &us, err) < 0)
		return -1;
	/* A job's own row has the sum over its steps, or 0 where none was measured. */
	if (r->step || us > 0)
		put_number(r, c, us);
	return 0;
}

static int read_limit(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t minutes;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (limit_parse(cell, &minutes, err) < 0)
		return -1;
	put_number(r, c, minutes);
	return 0;
}

static int read_state(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t state, uid = -1;

	if (*cell == '\0')
		return 0;
	if (state_parse(cell, &state, &uid, err) < 0)
		return -1;
	put_number(r, c, state);
	if (uid >= 0 && r->step)
		step_set(r->step, killed_by, uid);
	else if (uid >= 0)
		job_set(&r->run->job, killed_by, uid);
	return 0;
}

static int read_exit(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t status;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (exit_parse(cell, &status, err) < 0)
		return -1;
	put_number(r, c, status);
	return 0;
}

static int read_reqmem(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t mib;
	enum req_mem_per per;
	bool known;

	if (import_is_nothing(cell) || r->step)
		return 0;
	if (req_mem_parse(cell, &mib, &per, &known, err) < 0)
		return -1;
	if (known) {
		put_number(r, c, mib);
		job_set(&r->run->job, req_mem_per, per);
	}
	return 0;
}

static int read_flags(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t bits;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (words_parse(&job_flag_words, cell, &bits, err) < 0)
		return -1;
	put_number(r, c, bits);
	return 0;
}

static int read_scaled(struct reader *r, const struct column *c, const char *cell, enum unit base,
		       struct err *err)
{
	int64_t n;
	bool known;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (size_parse(cell, base, 1000, &n, &known, err) < 0)
		return -1;
	if (known)
		put_number(r, c, n);
	return 0;
}

static int read_khz(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	/* Governors and "highm1" stand in the same columns. */
	if (!isdigit((unsigned char)*cell))
		return 0;
	/* 2.60M kHz: the letter scales what the column counts. */
	return read_scaled(r, c, cell, UNIT_NONE, err);
}

static int read_energy(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	return read_scaled(r, c, cell, UNIT_NONE, err);
}

static int read_tres_text(struct reader *r, const struct column *c, const char *cell,
			  enum tres_kind kind, struct err *err)
{
	const char *text;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (tres_parse(cell, kind, r->run->arena, &text, err) < 0)
		return -1;
	if (*text)
		put_text(r, c, text);
	return 0;
}

static int read_tres(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	return read_tres_text(r, c, cell, TRES_AMOUNT, err);
}

static int read_usage(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	return read_tres_text(r, c, cell, TRES_USAGE, err);
}

static int read_where(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	const char *text;

	if (import_is_nothing(cell) || !wanted(r, c))
		return 0;
	if (where_parse(cell, r->run->arena, &text, err) < 0)
		return -1;
	if (*text)
		put_text(r, c, text);
	return 0;
}

static int read_size_of(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t n;
	bool known;

	if (import_is_nothing(cell) || r->step == NULL)
		return 0;
	if (size_parse(cell, UNIT_NONE, 1024, &n, &known, err) < 0)
		return -1;
	return known ? add_part(r, c, n, NULL) : 0;
}

static int read_rss(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t n;
	bool known;

	if (r->step)
		return read_size_of(r, c, cell, err);
	if (import_is_nothing(cell))
		return 0;
	if (size_parse(cell, UNIT_NONE, 1024, &n, &known, err) < 0)
		return -1;
	if (known)
		put_number(r, c, n);
	return 0;
}

static int read_span_of(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t us;

	if (import_is_nothing(cell) || r->step == NULL)
		return 0;
	if (duration_parse_us(cell, &us, err) < 0)
		return -1;
	return add_part(r, c, us / 1000, NULL);
}

static int read_word_of(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)err;
	return import_is_nothing(cell) ? 0 : add_part(r, c, 0, cell);
}

static int read_task_of(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	int64_t n;

	if (import_is_nothing(cell))
		return 0;
	if (num_parse(cell, &n) < 0)
		return err_set(err, ERR_INVALID, NULL, "\"%.40s\" is no task number", cell);
	/* 65534: the 16-bit "no value" of older releases. */
	return n == 65534 || is_no_value(n) ? 0 : add_part(r, c, 0, cell);
}

static int read_nothing(struct reader *r, const struct column *c, const char *cell, struct err *err)
{
	(void)r;
	(void)c;
	(void)cell;
	(void)err;
	return 0;
}

/* ---- what a cell may look like ----------------------------------------------------------------
 */

static bool fits_text(const char *cell)
{
	(void)cell;
	return true;
}

static bool fits_path(const char *cell)
{
	return *cell == '\0' || *cell == '/' || *cell == '%';
}

static bool fits_name(const char *cell)
{
	size_t n = strlen(cell);

	return n == 0 || (!isspace((unsigned char)cell[0]) &&
			  !isspace((unsigned char)cell[n - 1]) && cell[0] != '/');
}

static bool fits_number(const char *cell)
{
	int64_t n;
	bool known;

	return import_is_nothing(cell) || count_read(cell, &n, &known, NULL) == 0;
}

static bool fits_span(const char *cell)
{
	int64_t us;

	return import_is_nothing(cell) || num_parse(cell, &us) == 0 ||
	       duration_parse_us(cell, &us, NULL) == 0;
}

static bool fits_time(const char *cell)
{
	return import_is_nothing(cell) || strspn(cell, "0123456789-T:+Z. ") == strlen(cell);
}

static bool fits_limit(const char *cell)
{
	int64_t n;

	return import_is_nothing(cell) || limit_parse(cell, &n, NULL) == 0;
}

static bool fits_state(const char *cell)
{
	return *cell == '\0' ||
	       (isupper((unsigned char)cell[0]) && isupper((unsigned char)cell[1]));
}

static bool fits_exit(const char *cell)
{
	int64_t n;

	return import_is_nothing(cell) || exit_parse(cell, &n, NULL) == 0;
}

static bool fits_pairs(const char *cell)
{
	return import_is_nothing(cell) || (strchr(cell, '=') != NULL && strchr(cell, ' ') == NULL);
}

static bool fits_jobid(const char *cell)
{
	struct job_name name;

	return job_name_parse(cell, &name, NULL) == 0;
}

static const struct {
	int (*read)(struct reader *r, const struct column *c, const char *cell, struct err *err);
	bool (*fits)(const char *cell);
	bool free_text;
} syntaxes[] = {
	[X_TEXT] = { read_text, fits_text, true },
	[X_PATH] = { read_text, fits_path, true },
	[X_NAME] = { read_text, fits_name, false },
	[X_COUNT] = { read_count, fits_number, false },
	[X_CPUS] = { read_cpus, fits_number, false },
	[X_NODES] = { read_nodes, fits_number, false },
	[X_HOSTS] = { read_hosts, fits_name, false },
	[X_TIME] = { read_time, fits_time, false },
	[X_ELAPSED] = { read_elapsed, fits_span, false },
	[X_PAUSED] = { read_paused, fits_span, false },
	[X_SPAN] = { read_span, fits_span, false },
	[X_TOTAL] = { read_span, fits_span, false },
	[X_LIMIT] = { read_limit, fits_limit, false },
	[X_STATE] = { read_state, fits_state, false },
	[X_EXIT] = { read_exit, fits_exit, false },
	[X_REQMEM] = { read_reqmem, fits_name, false },
	[X_FLAGS] = { read_flags, fits_name, false },
	[X_KHZ] = { read_khz, fits_name, false },
	[X_ENERGY] = { read_energy, fits_number, false },
	[X_TRES] = { read_tres, fits_pairs, false },
	[X_USAGE] = { read_usage, fits_pairs, false },
	[X_WHERE] = { read_where, fits_pairs, false },
	[X_RSS] = { read_rss, fits_number, false },
	[X_SIZE_OF] = { read_size_of, fits_number, false },
	[X_NUM_OF] = { read_size_of, fits_number, false },
	[X_SPAN_OF] = { read_span_of, fits_span, false },
	[X_WORD_OF] = { read_word_of, fits_name, false },
	[X_TASK_OF] = { read_task_of, fits_number, false },
	[X_JOBID] = { read_nothing, fits_jobid, false },
	[X_RAWID] = { read_nothing, fits_jobid, false },
	[X_SKIP] = { read_nothing, fits_text, false },
	[X_GONE] = { read_nothing, fits_text, false },
	[X_UNKNOWN] = { read_nothing, fits_text, true },
};

static bool cell_fits(size_t column, const char *cell, const void *arg)
{
	const struct reader *r = arg;

	return syntaxes[r->columns[column]->syntax].fits(cell);
}

/* ---- the header ------------------------------------------------------------------------------ */

static const struct column *column_find(const char *name, size_t n)
{
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (strlen(columns[i].name) == n && strncasecmp(columns[i].name, name, n) == 0)
			return &columns[i];
	return NULL;
}

/* Cuts the header by a delimiter.  Gives how many columns are in the table; 0 when it cannot be a
 * header cut that way (no job number, a name that is no word). */
static size_t header_cut(struct reader *r, const char *p, size_t len)
{
	const char *d = r->delimiter, *end = p + len;
	size_t dn = strlen(d), known = 0;

	r->shape = (struct row_shape){
		.delimiter = d, .delimiter_len = dn, .fits = cell_fits, .arg = r
	};
	r->id_column = r->raw_column = r->cluster_column = NONE;
	for (;;) {
		const char *hit = dn ? memmem(p, (size_t)(end - p), d, dn) : NULL;
		size_t n = (size_t)((hit ? hit : end) - p), c = r->shape.columns;

		if (n == 0 && hit == NULL && c > 0) {
			r->shape.trailing = true;
			break;
		}
		if (n == 0 || c == ROW_COLUMNS_MAX)
			return 0;
		r->columns[c] = column_find(p, n);
		known += r->columns[c] != NULL;
		if (r->columns[c] == NULL)
			r->columns[c] = &unknown_column;
		r->shape.free_text[c] = syntaxes[r->columns[c]->syntax].free_text;
		if (r->columns[c]->syntax == X_JOBID)
			r->id_column = (int)c;
		else if (r->columns[c]->syntax == X_RAWID)
			r->raw_column = (int)c;
		else if (r->columns[c]->job_field == JOB_cluster)
			r->cluster_column = (int)c;
		r->shape.columns++;
		if (hit == NULL)
			break;
		p = hit + dn;
	}
	return r->id_column == NONE && r->raw_column == NONE ? 0 : known;
}

static const char *header_line(const struct import_source *s, size_t *ret_len, size_t *ret_line)
{
	const char *p = s->data, *end = s->data + s->len, *nl;

	*ret_line = 1;
	if (s->len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
		p += 3;
	while (p < end && (*p == '\n' || *p == '\r'))
		*ret_line += *p++ == '\n';
	nl = memchr(p, '\n', (size_t)(end - p));
	*ret_len = (size_t)((nl ? nl : end) - p);
	return p;
}

/* Finds the delimiter as what stands between two names: the cut that knows the most columns. */
static size_t header_read(struct reader *r, const char *p, size_t len, const char *delimiter)
{
	char best[DELIMITER_MAX + 1] = "";
	size_t most = 0, name = 0;

	if (len > 0 && p[len - 1] == '\r')
		len--;
	if (delimiter) {
		snprintf(r->delimiter, sizeof(r->delimiter), "%s", delimiter);
		return header_cut(r, p, len);
	}
	while (name < len && isalnum((unsigned char)p[name]))
		name++;
	for (size_t n = name == len ? 0 : 1; n <= DELIMITER_MAX && name + n <= len; n++) {
		size_t known;

		memcpy(r->delimiter, p + name, n);
		r->delimiter[n] = '\0';
		known = header_cut(r, p, len);
		if (known > most) {
			most = known;
			memcpy(best, r->delimiter, n + 1);
		}
		if (n == 0)
			break;
	}
	memcpy(r->delimiter, best, sizeof(best));
	return most ? header_cut(r, p, len) : 0;
}

static bool recognise(const struct import_source *source)
{
	struct reader r = { 0 };
	size_t len, line;
	const char *p = header_line(source, &len, &line);

	/* A table made for reading has blanks between its columns: convert says what to do. */
	return len < 65536 && header_read(&r, p, len, NULL) > 0;
}

static void note_columns(struct reader *r)
{
	struct buf gone = BUF_INIT, unknown = BUF_INIT;

	for (size_t c = 0; c < r->shape.columns; c++) {
		if (r->columns[c]->syntax == X_GONE)
			buf_printf(&gone, "%s%s", gone.len ? ", " : "", r->columns[c]->name);
		if (r->columns[c]->syntax == X_UNKNOWN)
			buf_printf(&unknown, "%s%zu", unknown.len ? ", " : "", c + 1);
	}
	if (gone.len)
		import_note(r->run, 0,
			    "not taken: %s (of that installation only, or gone from sacct)",
			    buf_str(&gone));
	if (unknown.len)
		import_note(r->run, 1, "columns that sacct does not have are not taken: number %s",
			    buf_str(&unknown));
	buf_fini(&gone);
	buf_fini(&unknown);
}

/* ---- rows ------------------------------------------------------------------------------------ */

/* Joins the counts that had columns of their own with the text of their field, which wins. */
static int join_counts(struct reader *r, int field, struct err *err)
{
	const char **text = (const char **)((char *)r->step + step_fields[field].offset);
	struct tres items[PARTS_MAX * 2], t;
	bool has = has_bit(r->step->has, (size_t)field);
	size_t n = 0;

	for (const char *at = has ? *text : NULL; n < PARTS_MAX && tres_next(&at, &t);)
		items[n++] = t;
	for (size_t i = 0; i < r->n_parts; i++) {
		const struct part *p = &r->parts[i];
		int64_t there;

		if (p->step_field == field && !(has && tres_get(*text, p->tres, &there)))
			items[n++] = (struct tres){ p->tres, strlen(p->tres), p->count };
	}
	if (n == 0)
		return 0;
	if (tres_make(items, n, r->run->arena, text, err) < 0)
		return -1;
	has_set(r->step->has, (size_t)field);
	return 0;
}

static int join_words(struct reader *r, int field, struct err *err)
{
	const char **text = (const char **)((char *)r->step + step_fields[field].offset);
	struct where items[PARTS_MAX * 2], w;
	bool has = has_bit(r->step->has, (size_t)field);
	size_t n = 0;

	for (const char *at = has ? *text : NULL; n < PARTS_MAX && where_next(&at, &w);)
		items[n++] = w;
	for (size_t i = 0; i < r->n_parts; i++) {
		const struct part *p = &r->parts[i];

		if (p->step_field == field && !(has && where_get(*text, p->tres, &w)))
			items[n++] = (struct where){ p->tres, strlen(p->tres), p->word,
						     strlen(p->word) };
	}
	if (n == 0)
		return 0;
	if (where_make(items, n, r->run->arena, text, err) < 0)
		return -1;
	has_set(r->step->has, (size_t)field);
	return 0;
}

static int join_parts(struct reader *r, struct err *err)
{
	uint64_t done = 0;

	for (size_t i = 0; i < r->n_parts; i++) {
		int field = r->parts[i].step_field;
		int rc;

		if (done & (uint64_t)1 << field)
			continue;
		done |= (uint64_t)1 << field;
		rc = step_fields[field].type == FT_TRES ? join_counts(r, field, err)
							: join_words(r, field, err);
		if (rc < 0)
			return -1;
	}
	return 0;
}

/* NCPUS is in AllocTRES where a release has that; else it is all that is known. */
static int cpus_into_tres(struct reader *r, const char **text, bool has, struct err *err)
{
	struct tres items[PARTS_MAX], t;
	int64_t there;
	size_t n = 0;

	if (r->cpus <= 0 || (has && tres_get(*text, "cpu", &there)))
		return 0;
	for (const char *at = has ? *text : NULL; n < PARTS_MAX - 2 && tres_next(&at, &t);)
		items[n++] = t;
	items[n++] = (struct tres){ "cpu", 3, r->cpus };
	if (!has && r->nodes > 0)
		items[n++] = (struct tres){ "node", 4, r->nodes };
	return tres_make(items, n, r->run->arena, text, err) < 0 ? -1 : 1;
}

static int finish_step(struct reader *r, struct err *err)
{
	struct step *s = r->step;
	int rc;

	if (r->nodes >= 0 && !step_has(s, node_cnt))
		step_set(s, node_cnt, r->nodes);
	if (step_has(s, user_cpu_us) || step_has(s, sys_cpu_us))
		step_unset(s, total_cpu_us);
	rc = cpus_into_tres(r, &s->tres_alloc, step_has(s, tres_alloc), err);
	if (rc > 0)
		has_set(s->has, STEP_tres_alloc);
	return rc < 0 ? -1 : join_parts(r, err);
}

static int finish_job(struct reader *r, struct err *err)
{
	struct job *j = &r->run->job;
	bool started = r->hosts_said ? r->has_hosts : job_has(j, start_at);
	int rc = 0;

	r->run->ended = job_has(j, state) ? state_is_end(j->state) : job_has(j, end_at);
	/* sacct of a job that runs may have been cut to a window (-T). */
	if (!r->run->ended)
		job_unset(j, end_at);
	if (r->elapsed >= 0)
		import_untwist(r->run, r->elapsed + r->paused);
	import_settle_elapsed(r->run, r->elapsed);
	if (started) {
		if (r->nodes >= 0 && !job_has(j, alloc_nodes))
			job_set(j, alloc_nodes, r->nodes);
		rc = cpus_into_tres(r, &j->tres_alloc, job_has(j, tres_alloc), err);
		if (rc > 0)
			has_set(j->has, JOB_tres_alloc);
		return rc < 0 ? -1 : 0;
	}
	/* Nothing was allocated: NNodes and NCPUS are what was asked for. */
	if (r->nodes > 0 && !job_has(j, req_nodes))
		job_set(j, req_nodes, r->nodes);
	if (r->cpus > 0 && !job_has(j, req_cpus))
		job_set(j, req_cpus, r->cpus);
	return 0;
}

static int read_cells(struct reader *r, const struct row *row, struct err *err)
{
	r->has_hosts = r->hosts_said = false;
	r->cpus = r->nodes = r->elapsed = -1;
	r->paused = 0;
	r->n_parts = 0;
	for (size_t c = 0; c < r->shape.columns; c++) {
		const struct column *col = r->columns[c];

		if (syntaxes[col->syntax].read(r, col, row->cells[c], err) < 0) {
			snprintf(err->where, sizeof(err->where), "%s", col->name);
			return -1;
		}
	}
	return r->step ? finish_step(r, err) : finish_job(r, err);
}

static int row_name(const struct reader *r, const struct row *row, struct job_name *ret,
		    int64_t *ret_number, struct err *err)
{
	struct job_name raw;
	int id = r->id_column == NONE ? r->raw_column : r->id_column;

	if (job_name_parse(row->cells[id], ret, err) < 0)
		return -1;
	*ret_number = job_number(ret, -1);
	if (r->raw_column == NONE || r->raw_column == id) {
		if (!job_number_known(ret))
			return err_set(err, ERR_INVALID, "JobID",
				       "its own number is not known: add JobIDRaw to the dump");
		return 0;
	}
	if (job_name_parse(row->cells[r->raw_column], &raw, err) < 0) {
		snprintf(err->where, sizeof(err->where), "JobIDRaw");
		return -1;
	}
	*ret_number = raw.id;
	return 0;
}

static int job_row(struct reader *r, const struct row *row, const struct job_name *name,
		   int64_t number)
{
	struct import_run *run = r->run;
	struct job *j = import_begin_job(run, row->line);
	const char *cluster = r->cluster_column == NONE ? NULL : row->cells[r->cluster_column];
	struct err err;

	if (j == NULL)
		return -1;
	r->step = NULL;
	job_set(j, job_id, number);
	job_set_name(j, name, run->arena);
	if (import_other_cluster(run, row->line, cluster && *cluster ? cluster : NULL)) {
		import_drop_job(run);
		r->dropped_skipped = true;
	} else if (read_cells(r, row, &err) < 0) {
		import_refuse(run, row->line, NULL, &err);
		import_drop_job(run);
		r->dropped_skipped = false;
	} else {
		run->counts->jobs++;
	}
	return 0;
}

static int step_row(struct reader *r, const struct row *row, const struct job_name *name,
		    int64_t number)
{
	struct import_run *run = r->run;
	struct err err;

	if (run->dropped == number) {
		if (r->dropped_skipped)
			run->counts->skipped++;
		else
			err_set(&err, ERR_INVALID, NULL,
				"is a step of a job whose row was refused");
		if (!r->dropped_skipped)
			import_refuse(run, row->line, "JobID", &err);
		return 0;
	}
	if (!job_has(&run->job, job_id) || run->job.job_id != number) {
		if (r->lost) {
			err_set(&err, ERR_INVALID, NULL, "comes after a row that was refused");
			import_refuse(run, row->line, "JobID", &err);
			return 0;
		}
		if (import_begin_orphans(run, row->line) == NULL)
			return -1;
		job_set(&run->job, job_id, number);
	}
	r->step = import_add_step(run);
	step_set(r->step, step_id, name->step_id);
	step_set(r->step, het_comp, name->het_comp);
	if (read_cells(r, row, &err) < 0) {
		run->n_steps--;
		import_refuse(run, row->line, NULL, &err);
	} else {
		run->counts->steps++;
	}
	return 0;
}

static int one_row(struct reader *r, const struct row *row)
{
	struct job_name name;
	int64_t number;
	struct err err;

	if (row->guessed)
		import_note(r->run, 2,
			    "line %zu and maybe others hold the delimiter in a text; the only "
			    "column that "
			    "can hold it alone was taken",
			    row->line);
	if (row_name(r, row, &name, &number, &err) < 0) {
		import_refuse(r->run, row->line, NULL, &err);
		return 0;
	}
	if (!name.has_step)
		r->run->dropped = -1;
	r->lost = r->lost && name.has_step;
	return name.has_step ? step_row(r, row, &name, number) : job_row(r, row, &name, number);
}

static int convert(struct import_run *run, struct err *err)
{
	struct reader r = { .run = run };
	const struct import_source *s = run->source;
	size_t len, line;
	const char *p = header_line(s, &len, &line);
	struct arena *arena;
	struct rows rows;
	struct row row;
	struct err e;
	int rc;

	if (header_read(&r, p, len, run->options->delimiter) == 0)
		return err_set(err, ERR_INVALID, s->name,
			       "has no header of sacct fields%s: dump with --parsable2 and without "
			       "--noheader",
			       run->options->delimiter ? " cut by that delimiter" : "");
	if (strspn(r.delimiter, " ") == strlen(r.delimiter) && r.shape.columns > 1)
		return err_set(err, ERR_INVALID, s->name,
			       "is a table made for reading, with cells cut short: dump again with "
			       "--parsable2");
	note_columns(&r);
	r.shape.crlf = len > 0 && p[len - 1] == '\r';
	p += len < (size_t)(s->data + s->len - p) ? len + 1 : len;
	rows_init(&rows, &r.shape, p, (size_t)(s->data + s->len - p), line + 1);
	arena = arena_new();
	while (!run->stopped && (rc = rows_next(&rows, arena, &row, &e)) != 0) {
		run->counts->rows++;
		run->counts->bytes = (uint64_t)(rows.at - s->data);
		if (rc < 0) {
			r.lost = true;
			import_refuse(run, row.line, NULL, &e);
		} else if (one_row(&r, &row) < 0) {
			break;
		}
		arena_reset(arena);
	}
	arena_free(arena);
	return 0;
}

const struct import_format import_sacct = {
	.name = "sacct-parsable",
	.doc = "sacct --parsable with its header",
	.recognise = recognise,
	.convert = convert,
};

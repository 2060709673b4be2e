/* ingest/import_rows.c: joining lines and giving cells back to the texts they were cut from. */
#include "ingest/import_rows.h"

/* More than any command line: what goes on for longer is not a row. */
#define ROW_BYTES_MAX (1u << 20)
/* Delimiters inside one row's texts that are sorted out. */
#define ROW_EXTRA_MAX 256

struct line {
	const char *p;
	size_t n;
};

void rows_init(struct rows *r, const struct row_shape *shape, const char *data, size_t len,
	       size_t first_line)
{
	*r = (struct rows){ .shape = shape, .at = data, .end = data + len, .line = first_line };
}

/* The line at p without its end; *ret_next is where the next one begins. */
static struct line line_at(const struct rows *r, const char *p, const char **ret_next)
{
	const char *nl = memchr(p, '\n', (size_t)(r->end - p));
	struct line l = { p, (size_t)((nl ? nl : r->end) - p) };

	*ret_next = nl ? nl + 1 : r->end;
	if (r->shape->crlf && l.n > 0 && l.p[l.n - 1] == '\r')
		l.n--;
	return l;
}

static size_t count_cells(const struct row_shape *s, const char *p, size_t n)
{
	size_t cells = 1;
	const char *hit;

	while ((hit = memmem(p, n, s->delimiter, s->delimiter_len)) != NULL) {
		cells++;
		n -= (size_t)(hit - p) + s->delimiter_len;
		p = hit + s->delimiter_len;
	}
	return cells;
}

/* Cells a complete row has, the empty one after a trailing delimiter included. */
static size_t cells_wanted(const struct row_shape *s)
{
	return s->columns + (s->trailing ? 1 : 0);
}

/* Does a row begin with this line?  Its first cell must look like one; where the first column may
 * hold anything the number of cells has to say. */
static bool begins_row(const struct row_shape *s, struct line l)
{
	const char *hit = memmem(l.p, l.n, s->delimiter, s->delimiter_len);
	size_t n = hit ? (size_t)(hit - l.p) : l.n;
	char first[256];

	if (s->free_text[0])
		return count_cells(s, l.p, l.n) >= cells_wanted(s);
	if (n >= sizeof(first) || (hit == NULL && s->columns > 1))
		return false;
	memcpy(first, l.p, n);
	first[n] = '\0';
	return s->fits(0, first, s->arg);
}

static bool only_blank_lines_left(const struct rows *r, const char *p)
{
	for (; p < r->end; p++)
		if (*p != '\n' && *p != '\r')
			return false;
	return true;
}

/* Where the row that begins at r->at ends.  *ret_n is its length, *ret_next what follows.  -1 when
 * it has too few cells. */
static int gather(const struct rows *r, size_t *ret_n, const char **ret_next, size_t *ret_cells)
{
	const struct row_shape *s = r->shape;
	size_t want = cells_wanted(s);
	const char *next;
	struct line l = line_at(r, r->at, &next);
	size_t cells = count_cells(s, l.p, l.n);
	bool goes_on = s->free_text[s->columns - 1] && !s->trailing;

	*ret_n = l.n;
	for (;;) {
		*ret_next = next;
		*ret_cells = cells;
		if (next >= r->end || only_blank_lines_left(r, next) ||
		    (size_t)(next - r->at) > ROW_BYTES_MAX)
			break;
		l = line_at(r, next, &next);
		if (begins_row(s, l) && (cells >= want || count_cells(s, l.p, l.n) >= want))
			break;
		if (cells >= want && !goes_on)
			break;
		*ret_n = (size_t)(l.p - r->at) + l.n;
		cells += count_cells(s, l.p, l.n) - 1;
	}
	return cells >= want ? 0 : -1;
}

static size_t cut(const struct row_shape *s, char *text, char **pieces, size_t max)
{
	size_t n = 0;
	char *hit;

	while (n + 1 < max && (hit = strstr(text, s->delimiter)) != NULL) {
		*hit = '\0';
		pieces[n++] = text;
		text = hit + s->delimiter_len;
	}
	pieces[n++] = text;
	return n;
}

/* Puts the delimiters back between pieces [from, to): they are one text. */
static char *glue(const struct row_shape *s, char **pieces, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++)
		memcpy(pieces[i] - s->delimiter_len, s->delimiter, s->delimiter_len);
	return pieces[from];
}

static void unglue(const struct row_shape *s, char **pieces, size_t from, size_t to)
{
	for (size_t i = from + 1; i < to; i++)
		pieces[i][-(ptrdiff_t)s->delimiter_len] = '\0';
}

static bool fits(const struct row_shape *s, size_t column, char **pieces, size_t from, size_t to)
{
	bool ok = s->fits(column, glue(s, pieces, from, to), s->arg);

	unglue(s, pieces, from, to);
	return ok;
}

/* ways[c][e]: how the columns from c on can take the pieces when e extra ones have gone to the
 * columns before; counted up to 2. */
static unsigned char *count_ways(const struct row_shape *s, char **pieces, size_t extra,
				 struct arena *arena)
{
	size_t width = extra + 1;
	unsigned char *ways = arena_zalloc(arena, (s->columns + 1) * width);

	ways[s->columns * width + extra] = 1;
	for (size_t c = s->columns; c-- > 0;) {
		for (size_t e = 0; e <= extra; e++) {
			size_t most = s->free_text[c] ? extra - e : 0, sum = 0;

			for (size_t take = 0; take <= most; take++) {
				size_t rest = ways[(c + 1) * width + e + take];

				if (rest && fits(s, c, pieces, c + e, c + e + take + 1))
					sum += rest;
			}
			ways[c * width + e] = (unsigned char)(sum > 2 ? 2 : sum);
		}
	}
	return ways;
}

/* The only column that could hold all the extra pieces alone, or -1 when none or several could. */
static ptrdiff_t single_absorber(const struct row_shape *s, char **pieces, size_t extra)
{
	ptrdiff_t found = -1;

	for (size_t c = 0; c < s->columns; c++) {
		bool ok = s->free_text[c];

		for (size_t i = 0; ok && i < s->columns; i++) {
			size_t from = i + (i > c ? extra : 0);

			ok = fits(s, i, pieces, from, from + 1 + (i == c ? extra : 0));
		}
		if (ok && found >= 0)
			return -1;
		if (ok)
			found = (ptrdiff_t)c;
	}
	return found;
}

static int share_out(const struct row_shape *s, char **pieces, size_t extra, struct arena *arena,
		     struct row *ret, struct err *err)
{
	unsigned char *ways = count_ways(s, pieces, extra, arena);
	size_t width = extra + 1, e = 0;
	ptrdiff_t absorber = -1;

	if (ways[0] == 0)
		return err_set(err, ERR_INVALID, NULL,
			       "has %zu cells instead of %zu, and no free text can hold the rest",
			       s->columns + extra, s->columns);
	if (ways[0] > 1) {
		absorber = single_absorber(s, pieces, extra);
		if (absorber < 0)
			return err_set(err, ERR_INVALID, NULL,
				       "the delimiter stands inside a text and the row can be read "
				       "in several ways: dump it again with another --delimiter");
		ret->guessed = true;
	}
	for (size_t c = 0; c < s->columns; c++) {
		size_t take = 0;

		if (absorber >= 0)
			take = c == (size_t)absorber ? extra : 0;
		else
			while (!ways[(c + 1) * width + e + take] ||
			       !fits(s, c, pieces, c + e, c + e + take + 1))
				take++;
		ret->cells[c] = glue(s, pieces, c + e, c + e + take + 1);
		e += take;
	}
	return 0;
}

int rows_next(struct rows *r, struct arena *arena, struct row *ret, struct err *err)
{
	const struct row_shape *s = r->shape;
	size_t want = cells_wanted(s), n, cells, extra;
	const char *next, *begin = r->at;
	char **pieces;
	int rc;

	if (r->at >= r->end || only_blank_lines_left(r, r->at))
		return 0;
	*ret = (struct row){ .line = r->line };
	rc = gather(r, &n, &next, &cells);
	for (const char *p = begin; p < next; p++)
		r->line += *p == '\n';
	r->at = next;
	if (rc < 0)
		return err_set(err, ERR_INVALID, NULL, "has %zu cells instead of %zu", cells, want);
	if (memchr(begin, '\0', n))
		return err_set(err, ERR_INVALID, NULL, "holds a zero byte: this is not text");
	extra = cells - want;
	if (extra > ROW_EXTRA_MAX)
		return err_set(err, ERR_INVALID, NULL, "has %zu cells instead of %zu", cells, want);
	pieces = ARENA_ARRAY(arena, char *, cells + 1);
	cells = cut(s, arena_strndup(arena, begin, n), pieces, cells);
	if (s->trailing && *pieces[--cells] != '\0')
		return err_set(err, ERR_INVALID, NULL,
			       "does not end in the delimiter, as the header does");
	ret->cells = ARENA_ARRAY(arena, const char *, s->columns);
	if (extra > 0)
		return share_out(s, pieces, extra, arena, ret, err) < 0 ? -1 : 1;
	for (size_t c = 0; c < s->columns; c++)
		ret->cells[c] = pieces[c];
	return 1;
}

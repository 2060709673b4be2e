#include "cli/table.h"

/* ---- columns ------------------------------------------------------------------------ */

/* Bytes of the character at s, a stray byte counting as one. */
static size_t char_len(const char *s)
{
	size_t n = 1;

	while (((unsigned char)s[n] & 0xc0) == 0x80 && n < 4)
		n++;
	return n;
}

static bool is_control(const char *s, size_t n)
{
	unsigned char c = (unsigned char)s[0];

	if (n == 1)
		return c < 0x20 || c == 0x7f;
	return n == 2 && c == 0xc2 && (unsigned char)s[1] < 0xa0; /* U+0080 to U+009F */
}

static void add_control(struct buf *b, const char *s, size_t n)
{
	if (*s == '\n')
		buf_adds(b, "\\n");
	else if (*s == '\r')
		buf_adds(b, "\\r");
	else if (*s == '\t')
		buf_adds(b, "\\t");
	else
		buf_printf(b, "\\x%02x", (unsigned)(unsigned char)s[n - 1]);
}

/* The text with its control characters made visible. */
static void make_visible(struct buf *b, const char *text)
{
	while (*text) {
		size_t n = char_len(text);

		if (is_control(text, n))
			add_control(b, text, n);
		else
			buf_add(b, text, n);
		text += n;
	}
}

static size_t chars(const char *text)
{
	size_t n = 0;

	for (; *text; text += char_len(text))
		n++;
	return n;
}

/* Bytes of the first n characters. */
static size_t prefix(const char *text, size_t n)
{
	const char *p = text;

	while (n-- > 0 && *p)
		p += char_len(p);
	return (size_t)(p - text);
}

static void pad(struct buf *out, size_t n)
{
	while (n-- > 0)
		buf_addc(out, ' ');
}

static void add_column(struct buf *out, const char *text, int width, const char *cut_mark)
{
	size_t w = (size_t)(width < 0 ? -width : width);
	size_t n = chars(text);

	if (n > w) {
		buf_add(out, text, prefix(text, w - strlen(cut_mark)));
		buf_adds(out, cut_mark);
	} else if (width < 0) {
		buf_adds(out, text);
		pad(out, w - n);
	} else {
		pad(out, w - n);
		buf_adds(out, text);
	}
	buf_addc(out, ' ');
}

static void columns_cell(struct table *t, const char *text)
{
	struct buf visible = BUF_INIT;

	make_visible(&visible, text);
	add_column(t->out, buf_str(&visible), t->columns[t->next].width, "+");
	buf_fini(&visible);
}

static void columns_header(struct table *t)
{
	for (size_t i = 0; i < t->n_columns; i++)
		add_column(t->out, t->columns[i].name, t->columns[i].width, "");
	buf_addc(t->out, '\n');
	for (size_t i = 0; i < t->n_columns; i++) {
		for (int k = abs(t->columns[i].width); k > 0; k--)
			buf_addc(t->out, '-');
		buf_addc(t->out, ' ');
	}
	buf_addc(t->out, '\n');
}

/* ---- the other forms ---------------------------------------------------------------- */

static void ended_cell(struct table *t, const char *text)
{
	buf_adds(t->out, text);
	buf_adds(t->out, t->delimiter);
}

static void separated_cell(struct table *t, const char *text)
{
	if (t->next > 0)
		buf_adds(t->out, t->delimiter);
	buf_adds(t->out, text);
}

/* An empty cell is nothing at all: unknown, not an empty text. */
static void csv_cell(struct table *t, const char *text)
{
	if (t->next > 0)
		buf_addc(t->out, ',');
	if (*text)
		buf_csv_str(t->out, text);
}

static void (*const cells[])(struct table *t, const char *text) = {
	[TABLE_COLUMNS] = columns_cell,
	[TABLE_ENDED] = ended_cell,
	[TABLE_SEPARATED] = separated_cell,
	[TABLE_CSV] = csv_cell,
};

void table_cell(struct table *t, const char *text)
{
	cells[t->form](t, text);
	if (++t->next < t->n_columns)
		return;
	t->next = 0;
	buf_adds(t->out, t->form == TABLE_CSV ? "\r\n" : "\n");
}

void table_header(struct table *t)
{
	if (t->form == TABLE_COLUMNS) {
		columns_header(t);
		return;
	}
	for (size_t i = 0; i < t->n_columns; i++)
		table_cell(t, t->columns[i].name);
}

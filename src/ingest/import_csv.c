/* ingest/import_csv.c: a row at a time, cells copied into the arena without their quotes. */
#include "ingest/import_csv.h"

#include "base/buf.h"

void csv_init(struct csv *c, const char *data, size_t len)
{
	*c = (struct csv){ data, data + len, 1 };
	if (len >= 3 && memcmp(data, "\xef\xbb\xbf", 3) == 0)
		c->at += 3;
}

static bool at_row_end(const struct csv *c)
{
	return c->at >= c->end || *c->at == '\n' ||
	       (*c->at == '\r' && (c->at + 1 == c->end || c->at[1] == '\n'));
}

/* Behind the opening quote, up to and with the closing one. */
static int quoted(struct csv *c, struct buf *out, struct err *err)
{
	while (c->at < c->end) {
		char ch = *c->at++;

		if (ch == '"' && (c->at == c->end || *c->at != '"'))
			return 0;
		if (ch == '"')
			c->at++;
		c->line += ch == '\n';
		buf_addc(out, ch);
	}
	return err_set(err, ERR_INVALID, NULL, "a quote is never closed");
}

static int cell(struct csv *c, struct buf *out, struct err *err)
{
	buf_clear(out);
	if (c->at < c->end && *c->at == '"') {
		c->at++;
		if (quoted(c, out, err) < 0)
			return -1;
	}
	while (!at_row_end(c) && *c->at != ',') {
		if (*c->at == '\0')
			return err_set(err, ERR_INVALID, NULL,
				       "holds a zero byte: this is not text");
		buf_addc(out, *c->at++);
	}
	return 0;
}

int csv_next(struct csv *c, struct arena *arena, struct csv_row *ret, struct err *err)
{
	struct buf out = BUF_INIT;
	int rc = 1;

	while (c->at < c->end && at_row_end(c))
		c->line += *c->at++ == '\n';
	if (c->at >= c->end)
		return 0;
	ret->n = 0;
	ret->line = c->line;
	for (;;) {
		rc = cell(c, &out, err);
		if (rc == 0 && ret->n == CSV_COLUMNS_MAX)
			rc = err_set(err, ERR_INVALID, NULL, "has more than %d cells",
				     CSV_COLUMNS_MAX);
		if (rc < 0)
			break;
		ret->cells[ret->n++] = arena_strdup(arena, buf_str(&out));
		rc = 1;
		if (at_row_end(c))
			break;
		c->at++;
	}
	while (rc < 0 && !at_row_end(c))
		c->at++;
	buf_fini(&out);
	return rc;
}

bool csv_has_header(const char *data, size_t len, const char *const *names, size_t n)
{
	struct arena *arena = arena_new();
	struct csv_row row;
	struct csv c;
	bool same;

	csv_init(&c, data, len < 4096 ? len : 4096);
	same = csv_next(&c, arena, &row, NULL) == 1 && row.n == n;
	for (size_t i = 0; same && i < n; i++)
		same = strcmp(row.cells[i], names[i]) == 0;
	arena_free(arena);
	return same;
}

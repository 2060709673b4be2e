#include "base/buf.h"

#include "base/arena.h"

void buf_init(struct buf *b)
{
	*b = (struct buf)BUF_INIT;
}

void buf_fini(struct buf *b)
{
	free(b->data);
	buf_init(b);
}

void buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->data != NULL)
		b->data[0] = '\0';
}

void buf_limit(struct buf *b, size_t limit)
{
	b->limit = limit;
}

char *buf_reserve(struct buf *b, size_t n)
{
	if (b->failed || n > SIZE_MAX / 4 || (b->limit != 0 && n > b->limit - b->len)) {
		b->failed = true;
		return NULL;
	}
	if (b->cap - b->len < n + 1) {
		size_t cap = b->cap != 0 ? b->cap : 256;
		while (cap - b->len < n + 1)
			cap *= 2;
		b->data = xrealloc(b->data, cap);
		b->cap = cap;
	}
	return b->data + b->len;
}

void buf_add(struct buf *b, const void *p, size_t n)
{
	char *to = buf_reserve(b, n);

	if (to == NULL)
		return;
	if (n != 0)
		memcpy(to, p, n);
	to[n] = '\0';
	b->len += n;
}

void buf_addc(struct buf *b, char c)
{
	buf_add(b, &c, 1);
}

void buf_adds(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void buf_vprintf(struct buf *b, const char *fmt, va_list ap)
{
	va_list again;

	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	char *to = n >= 0 ? buf_reserve(b, (size_t)n) : NULL;
	if (to != NULL) {
		vsnprintf(to, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	} else {
		b->failed = true;
	}
	va_end(again);
}

void buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(b, fmt, ap);
	va_end(ap);
}

void buf_u64(struct buf *b, uint64_t v)
{
	char digits[20];
	size_t at = sizeof(digits);

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	buf_add(b, digits + at, sizeof(digits) - at);
}

void buf_i64(struct buf *b, int64_t v)
{
	if (v < 0) {
		buf_addc(b, '-');
		buf_u64(b, 0 - (uint64_t)v);
	} else {
		buf_u64(b, (uint64_t)v);
	}
}

static void json_escape(struct buf *b, unsigned char c)
{
	switch (c) {
	case '"': buf_add(b, "\\\"", 2); break;
	case '\\': buf_add(b, "\\\\", 2); break;
	case '\n': buf_add(b, "\\n", 2); break;
	case '\r': buf_add(b, "\\r", 2); break;
	case '\t': buf_add(b, "\\t", 2); break;
	case '\b': buf_add(b, "\\b", 2); break;
	case '\f': buf_add(b, "\\f", 2); break;
	default: buf_printf(b, "\\u%04x", c); break;
	}
}

void buf_json_strn(struct buf *b, const char *s, size_t n)
{
	size_t from = 0;

	buf_addc(b, '"');
	for (size_t i = 0; i < n; i++) {
		unsigned char c = (unsigned char)s[i];
		/* DEL is legal in JSON, but it steers terminals that show the text. */
		if (c >= 0x20 && c != '"' && c != '\\' && c != 0x7f)
			continue;
		buf_add(b, s + from, i - from);
		json_escape(b, c);
		from = i + 1;
	}
	buf_add(b, s + from, n - from);
	buf_addc(b, '"');
}

void buf_json_str(struct buf *b, const char *s)
{
	buf_json_strn(b, s, strlen(s));
}

void buf_csv_str(struct buf *b, const char *s)
{
	size_t n = strlen(s);
	bool quote = n == 0 || s[0] == ' ' || s[n - 1] == ' ' || strpbrk(s, ",\"\r\n") != NULL;

	if (!quote) {
		buf_add(b, s, n);
		return;
	}
	buf_addc(b, '"');
	for (const char *at; (at = strchr(s, '"')) != NULL; s = at + 1) {
		buf_add(b, s, (size_t)(at - s));
		buf_add(b, "\"\"", 2);
	}
	buf_adds(b, s);
	buf_addc(b, '"');
}

const char *buf_str(const struct buf *b)
{
	return b->data != NULL ? b->data : "";
}

bool buf_failed(const struct buf *b)
{
	return b->failed;
}

#include "core/utf8.h"

static const char replacement[] = "\xef\xbf\xbd";

static bool is_tail(unsigned char c)
{
	return (c & 0xc0) == 0x80;
}

/* Bytes of the valid character at s, 0 when there is none.  n > 0. */
static size_t character_read(const char *s, size_t n, uint32_t *ret)
{
	const unsigned char *p = (const unsigned char *)s;
	uint32_t c = p[0];

	if (c < 0x80) {
		*ret = c;
		return c != 0;
	}
	if (c >= 0xc2 && c < 0xe0 && n >= 2 && is_tail(p[1])) {
		*ret = (c & 0x1f) << 6 | (p[1] & 0x3fu);
		return 2;
	}
	if (c >= 0xe0 && c < 0xf0 && n >= 3 && is_tail(p[1]) && is_tail(p[2])) {
		*ret = (c & 0x0f) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3fu);
		return *ret >= 0x800 && (*ret < 0xd800 || *ret > 0xdfff) ? 3 : 0;
	}
	if (c >= 0xf0 && c < 0xf5 && n >= 4 && is_tail(p[1]) && is_tail(p[2]) && is_tail(p[3])) {
		*ret = (c & 0x07) << 18 | (p[1] & 0x3fu) << 12 | (p[2] & 0x3fu) << 6 |
		       (p[3] & 0x3fu);
		return *ret >= 0x10000 && *ret <= 0x10ffff ? 4 : 0;
	}
	return 0;
}

#define ONES  UINT64_C(0x0101010101010101)
#define HIGHS UINT64_C(0x8080808080808080)

/* How many bytes from s are plain ASCII and no NUL, by eights: nearly all text is. */
static size_t ascii_length(const char *s, size_t n)
{
	size_t at = 0;
	uint64_t w;

	for (; n - at >= sizeof(w); at += sizeof(w)) {
		memcpy(&w, s + at, sizeof(w));
		if (((w | (w - ONES)) & HIGHS) != 0)
			break;
	}
	return at;
}

/* How many bytes from s are valid. */
static size_t valid_length(const char *s, size_t n)
{
	size_t at = ascii_length(s, n), len;
	uint32_t c;

	while (at < n && (len = character_read(s + at, n - at, &c)) > 0)
		at += len;
	return at;
}

bool utf8_valid(const char *s, size_t n)
{
	return valid_length(s, n) == n;
}

const char *utf8_mend(const char *s, size_t n, struct arena *arena, bool *ret_mended)
{
	size_t good = valid_length(s, n);

	if (good == n)
		return s;
	char *text = arena_alloc(arena, n * (sizeof(replacement) - 1) + 1);
	char *to = text;
	for (size_t at = 0; at < n;) {
		good = valid_length(s + at, n - at);
		to = mempcpy(to, s + at, good);
		at += good;
		if (at < n) {
			to = mempcpy(to, replacement, sizeof(replacement) - 1);
			at++;
		}
	}
	*to = '\0';
	if (ret_mended != NULL)
		*ret_mended = true;
	return text;
}

struct range {
	uint32_t first, last;
};

/* Ascending.  The blocks that matter, not every character of Unicode: what is missing is a column
 * off in a table, nothing more. */
static const struct range combining[] = {
	{ 0x0300, 0x036f }, { 0x0483, 0x0489 }, { 0x0591, 0x05bd }, { 0x064b, 0x065f },
	{ 0x1ab0, 0x1aff }, { 0x1dc0, 0x1dff }, { 0x200b, 0x200f }, { 0x202a, 0x202e },
	{ 0x2060, 0x2069 }, { 0x20d0, 0x20ff }, { 0xfe00, 0xfe0f }, { 0xfe20, 0xfe2f },
	{ 0xfeff, 0xfeff },
};

static const struct range wide[] = {
	{ 0x1100, 0x115f },   { 0x2e80, 0x303e },   { 0x3041, 0x33ff },	  { 0x3400, 0x4dbf },
	{ 0x4e00, 0x9fff },   { 0xa000, 0xa4cf },   { 0xac00, 0xd7a3 },	  { 0xf900, 0xfaff },
	{ 0xfe30, 0xfe6f },   { 0xff00, 0xff60 },   { 0xffe0, 0xffe6 },	  { 0x1f300, 0x1f64f },
	{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff }, { 0x20000, 0x3fffd },
};

static bool in_ranges(const struct range *r, size_t n, uint32_t c)
{
	for (size_t i = 0; i < n && c >= r[i].first; i++)
		if (c <= r[i].last)
			return true;
	return false;
}

static size_t character_columns(uint32_t c)
{
	if (c < 0x0300)
		return 1;
	if (in_ranges(combining, ARRAY_LEN(combining), c))
		return 0;
	return in_ranges(wide, ARRAY_LEN(wide), c) ? 2 : 1;
}

/* Text that was not mended is walked byte by byte where it is not valid. */
static size_t character_next(const char *s, size_t n, size_t *ret_columns)
{
	uint32_t c;
	size_t len = character_read(s, n, &c);

	*ret_columns = len > 0 ? character_columns(c) : 1;
	return len > 0 ? len : 1;
}

size_t utf8_columns(const char *s)
{
	size_t n = strlen(s), sum = 0, columns;

	for (size_t at = 0; at < n; sum += columns)
		at += character_next(s + at, n - at, &columns);
	return sum;
}

size_t utf8_cut(const char *s, size_t columns)
{
	size_t n = strlen(s), at = 0, wanted;

	while (at < n) {
		size_t len = character_next(s + at, n - at, &wanted);
		if (wanted > columns)
			break;
		columns -= wanted;
		at += len;
	}
	return at;
}

static bool is_control(uint32_t c)
{
	return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x200e && c <= 0x200f) ||
	       (c >= 0x2028 && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
}

static void control_escape(uint32_t c, struct buf *out)
{
	switch (c) {
	case '\n': buf_adds(out, "\\n"); break;
	case '\r': buf_adds(out, "\\r"); break;
	case '\t': buf_adds(out, "\\t"); break;
	default: buf_printf(out, c < 0x80 ? "\\x%02x" : "\\u%04x", (unsigned)c); break;
	}
}

void utf8_escape(const char *s, struct buf *out)
{
	size_t n = strlen(s), from = 0, len;
	uint32_t c;

	for (size_t at = 0; at < n; at += len) {
		len = character_read(s + at, n - at, &c);
		if (len > 0 && !is_control(c))
			continue;
		buf_add(out, s + from, at - from);
		if (len > 0)
			control_escape(c, out);
		else
			buf_printf(out, "\\x%02x", (unsigned char)s[at]);
		len = len > 0 ? len : 1;
		from = at + len;
	}
	buf_add(out, s + from, n - from);
}

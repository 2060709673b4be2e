#include "core/json.h"

#define ONES	 0x0101010101010101u
#define HIGHS	 0x8080808080808080u
#define BYTES(c) (ONES * (uint64_t)(unsigned char)(c))
/* The high bit of each byte that is 0 (of bytes before the first hit, none is wrongly set). */
#define ZERO_BYTES(w) (((w)-ONES) & ~(w)&HIGHS)

static void skip_blanks(struct jscan *j)
{
	while (j->at < j->end) {
		char c = *j->at;
		if (c != ' ' && c != '\n' && c != '\t' && c != '\r')
			break;
		j->at++;
	}
}

void jscan_init(struct jscan *j, const char *p, size_t n, struct arena *arena, struct err *err)
{
	*j = (struct jscan){
		.at = p, .end = p + n, .start = p, .arena = arena, .err = err, .fresh = true
	};
}

int jscan_fail(struct jscan *j, const char *fmt, ...)
{
	char text[256];
	va_list ap;

	if (j->failed)
		return -1;
	j->failed = true;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	return err_set(j->err, ERR_INVALID, j->where, "%s (byte %zu of the record)", text,
		       (size_t)(j->at - j->start) + 1);
}

/* "found X" for messages: never a raw byte of the input. */
static int fail_found(struct jscan *j, const char *wanted)
{
	unsigned char c = j->at < j->end ? (unsigned char)*j->at : 0;

	if (j->at >= j->end)
		return jscan_fail(j, "the JSON ends where %s should stand", wanted);
	if (c > 0x20 && c < 0x7f)
		return jscan_fail(j, "not JSON: '%c' stands where %s should", c, wanted);
	return jscan_fail(j, "not JSON: byte 0x%02x stands where %s should", c, wanted);
}

enum jtype jscan_peek(struct jscan *j)
{
	if (j->failed)
		return JSCAN_BAD;
	skip_blanks(j);
	if (j->at >= j->end)
		return JSCAN_BAD;
	switch (*j->at) {
	case 'n': return JSCAN_NULL;
	case 't':
	case 'f': return JSCAN_BOOL;
	case '"': return JSCAN_STRING;
	case '[': return JSCAN_ARRAY;
	case '{': return JSCAN_OBJECT;
	case '-': return JSCAN_NUMBER;
	default: return *j->at >= '0' && *j->at <= '9' ? JSCAN_NUMBER : JSCAN_BAD;
	}
}

static const char *const type_words[] = { "a value",  "null",	  "true or false", "a number",
					  "a string", "an array", "an object" };

/* The next value must be of this type. */
static int expect(struct jscan *j, enum jtype type)
{
	enum jtype found = jscan_peek(j);

	if (found == type)
		return 0;
	if (found == JSCAN_BAD)
		return fail_found(j, type_words[type]);
	return jscan_fail(j, "must be %s, not %s", type_words[type], type_words[found]);
}

static int literal(struct jscan *j, const char *word)
{
	size_t n = strlen(word);

	if ((size_t)(j->end - j->at) < n || memcmp(j->at, word, n) != 0)
		return fail_found(j,
				  "null, true, false, a number, a string, an array or an object");
	j->at += n;
	j->fresh = false;
	return 0;
}

int jscan_null(struct jscan *j)
{
	return expect(j, JSCAN_NULL) < 0 ? -1 : literal(j, "null");
}

int jscan_bool(struct jscan *j, bool *ret)
{
	if (expect(j, JSCAN_BOOL) < 0)
		return -1;
	*ret = *j->at == 't';
	return literal(j, *ret ? "true" : "false");
}

static bool is_digit(const struct jscan *j)
{
	return j->at < j->end && *j->at >= '0' && *j->at <= '9';
}

/* Adds the digits that stand here to the mantissa.  What does not fit is counted in *dropped and
 * remembered if it was not 0. */
struct mantissa {
	uint64_t v;
	int64_t dropped;
	bool lost;
};

static int64_t take_digits(struct jscan *j, struct mantissa *m)
{
	const char *from = j->at;

	for (; is_digit(j); j->at++) {
		unsigned d = (unsigned)(*j->at - '0');
		if (m->dropped == 0 && (m->v < UINT64_MAX / 10 || m->v <= (UINT64_MAX - d) / 10)) {
			m->v = m->v * 10 + d;
		} else {
			m->dropped++;
			m->lost |= d != 0;
		}
	}
	return j->at - from;
}

static int take_exponent(struct jscan *j, int64_t *ret)
{
	bool negative = false;
	int64_t e = 0;

	j->at++;
	if (j->at < j->end && (*j->at == '+' || *j->at == '-'))
		negative = *j->at++ == '-';
	if (!is_digit(j))
		return fail_found(j, "a digit of the exponent");
	for (; is_digit(j); j->at++)
		if (e < INT32_MAX)
			e = e * 10 + (*j->at - '0');
	*ret = negative ? -e : e;
	return 0;
}

/* v x 10^e as whole part, fraction and too big. */
static void scale(struct jnumber *n, const struct mantissa *m, int64_t e)
{
	n->magnitude = m->v;
	n->fraction = m->lost && e <= 0;
	n->big = m->lost && e > 0;
	for (; e > 0 && n->magnitude != 0 && !n->big; e--)
		n->big = __builtin_mul_overflow(n->magnitude, 10u, &n->magnitude);
	for (; e < 0 && n->magnitude != 0; e++) {
		n->fraction |= n->magnitude % 10 != 0;
		n->magnitude /= 10;
	}
	if (n->big)
		n->magnitude = UINT64_MAX;
}

int jscan_number(struct jscan *j, struct jnumber *ret)
{
	struct mantissa m = { 0 };
	int64_t e = 0;

	if (expect(j, JSCAN_NUMBER) < 0)
		return -1;
	bool negative = *j->at == '-';
	if (negative)
		j->at++;
	if (!is_digit(j))
		return fail_found(j, "a digit");
	bool zero = *j->at == '0';
	if (take_digits(j, &m) > 1 && zero)
		return jscan_fail(j, "not JSON: a number has no leading zeros");
	if (j->at < j->end && *j->at == '.') {
		j->at++;
		int64_t places = take_digits(j, &m);
		if (places == 0)
			return fail_found(j, "a digit after the point");
		e -= places;
	}
	if (j->at < j->end && (*j->at == 'e' || *j->at == 'E')) {
		int64_t given = 0;
		if (take_exponent(j, &given) < 0)
			return -1;
		e += given;
	}
	ret->negative = negative;
	scale(ret, &m, e + m.dropped);
	j->fresh = false;
	return 0;
}

int jscan_i64(struct jscan *j, int64_t *ret)
{
	struct jnumber n = { 0 };
	const char *from;

	skip_blanks(j);
	from = j->at;
	if (jscan_number(j, &n) < 0)
		return -1;
	if (n.fraction)
		return jscan_fail(j, "%.*s is not a whole number",
				  j->at - from < 40 ? (int)(j->at - from) : 40, from);
	if (n.big || n.magnitude > (uint64_t)INT64_MAX + n.negative)
		return jscan_fail(j, "%.*s is beyond 64 bits",
				  j->at - from < 40 ? (int)(j->at - from) : 40, from);
	*ret = (int64_t)(n.negative ? 0 - n.magnitude : n.magnitude);
	return 0;
}

/* The first byte that ends a run inside a string: quote, backslash or control byte. */
static const char *text_run(const char *p, const char *end)
{
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
	for (; end - p >= 8; p += 8) {
		uint64_t w;
		memcpy(&w, p, sizeof(w));
		uint64_t hit = ZERO_BYTES(w ^ BYTES('"')) | ZERO_BYTES(w ^ BYTES('\\')) |
			       ((w - BYTES(0x20)) & ~w & HIGHS);
		if (hit != 0)
			return p + __builtin_ctzll(hit) / 8;
	}
#endif
	while (p < end && *p != '"' && *p != '\\' && (unsigned char)*p >= 0x20)
		p++;
	return p;
}

/* Behind the opening quote: moves to the closing one.  -1 when there is none. */
static int text_close(struct jscan *j, bool *ret_escaped)
{
	*ret_escaped = false;
	for (;;) {
		j->at = text_run(j->at, j->end);
		if (j->at >= j->end)
			return jscan_fail(j, "the JSON ends inside a string");
		if (*j->at == '"')
			return 0;
		if (*j->at != '\\')
			return jscan_fail(j,
					  "not JSON: control byte 0x%02x in a string; "
					  "write \\u%04x",
					  (unsigned char)*j->at, (unsigned char)*j->at);
		*ret_escaped = true;
		j->at++;
		if (j->at < j->end)
			j->at++;
	}
}

static int hex4(const char *p, const char *end)
{
	int v = 0;

	if (end - p < 4)
		return -1;
	for (int i = 0; i < 4; i++) {
		char c = p[i];
		int d = c >= '0' && c <= '9'   ? c - '0'
			: c >= 'a' && c <= 'f' ? c - 'a' + 10
			: c >= 'A' && c <= 'F' ? c - 'A' + 10
					       : -1;
		if (d < 0)
			return -1;
		v = v << 4 | d;
	}
	return v;
}

static char *put_code(char *to, int code)
{
	if (code == 0) { /* no C string holds it: see json.h */
		*to++ = (char)0xc0;
		*to++ = (char)0x80;
	} else if (code < 0x80) {
		*to++ = (char)code;
	} else if (code < 0x800) {
		*to++ = (char)(0xc0 | code >> 6);
		*to++ = (char)(0x80 | (code & 0x3f));
	} else if (code < 0x10000) {
		*to++ = (char)(0xe0 | code >> 12);
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	} else {
		*to++ = (char)(0xf0 | code >> 18);
		*to++ = (char)(0x80 | (code >> 12 & 0x3f));
		*to++ = (char)(0x80 | (code >> 6 & 0x3f));
		*to++ = (char)(0x80 | (code & 0x3f));
	}
	return to;
}

/* *p stands behind "\u": one code point, of two escapes when they are a surrogate pair. */
static int take_code(const char **p, const char *end)
{
	int code = hex4(*p, end);

	if (code < 0)
		return -1;
	*p += 4;
	if (code >= 0xd800 && code < 0xdc00 && end - *p >= 6 && (*p)[0] == '\\' && (*p)[1] == 'u') {
		int low = hex4(*p + 2, end);
		if (low >= 0xdc00 && low < 0xe000) {
			*p += 6;
			code = 0x10000 + ((code - 0xd800) << 10) + (low - 0xdc00);
		}
	}
	return code;
}

static char unescaped(char c)
{
	switch (c) {
	case '"':
	case '\\':
	case '/': return c;
	case 'b': return '\b';
	case 'f': return '\f';
	case 'n': return '\n';
	case 'r': return '\r';
	case 't': return '\t';
	default: return 0;
	}
}

/* Writes [p, end) without its escapes; an escape is never shorter than what it stands for. */
static int unescape(struct jscan *j, const char *p, const char *end, struct jtext *ret)
{
	char *base = arena_alloc(j->arena, (size_t)(end - p) + 1);
	char *to = base;

	while (p < end) {
		if (*p != '\\') {
			*to++ = *p++;
			continue;
		}
		p++;
		if (*p == 'u') {
			p++;
			int code = take_code(&p, end);
			if (code < 0)
				return jscan_fail(j, "not JSON: \\u needs four hex digits");
			to = put_code(to, code);
		} else {
			*to = unescaped(*p++);
			if (*to++ == 0)
				return jscan_fail(j, "not JSON: unknown escape in a string");
		}
	}
	*to = '\0';
	*ret = (struct jtext){ base, (size_t)(to - base) };
	return 0;
}

/* One string; *ret_owned: it is in the arena and NUL-terminated already. */
static int take_text(struct jscan *j, struct jtext *ret, bool *ret_owned)
{
	const char *from;

	if (expect(j, JSCAN_STRING) < 0)
		return -1;
	from = ++j->at;
	if (text_close(j, ret_owned) < 0)
		return -1;
	*ret = (struct jtext){ from, (size_t)(j->at - from) };
	if (*ret_owned && unescape(j, from, j->at, ret) < 0)
		return -1;
	j->at++;
	j->fresh = false;
	return 0;
}

int jscan_text(struct jscan *j, struct jtext *ret)
{
	bool owned;

	return take_text(j, ret, &owned);
}

const char *jscan_string(struct jscan *j)
{
	struct jtext t;
	bool owned;

	if (take_text(j, &t, &owned) < 0)
		return NULL;
	return owned ? t.p : arena_strndup(j->arena, t.p, t.n);
}

int jscan_enter(struct jscan *j, enum jtype type)
{
	if (expect(j, type) < 0)
		return -1;
	if (j->depth >= JSCAN_DEPTH)
		return jscan_fail(j, "more than %d arrays and objects inside each other",
				  JSCAN_DEPTH);
	j->depth++;
	j->at++;
	j->fresh = true;
	return 0;
}

/* Between the values of a container: true when one more follows, false when it is closed. */
static bool next_value(struct jscan *j, char close, const char *wanted)
{
	if (j->failed)
		return false;
	skip_blanks(j);
	if (j->at < j->end && *j->at == close) {
		j->at++;
		j->depth--;
		j->fresh = false;
		return false;
	}
	if (j->fresh)
		return true;
	if (j->at >= j->end || *j->at != ',') {
		fail_found(j, wanted);
		return false;
	}
	j->at++;
	skip_blanks(j);
	return true;
}

bool jscan_member(struct jscan *j, struct jtext *ret_key)
{
	if (!next_value(j, '}', "a comma or }"))
		return false;
	if (j->at >= j->end || *j->at != '"') {
		fail_found(j, "a key in quotes");
		return false;
	}
	if (jscan_text(j, ret_key) < 0)
		return false;
	skip_blanks(j);
	if (j->at >= j->end || *j->at != ':') {
		fail_found(j, "a colon");
		return false;
	}
	j->at++;
	return true;
}

bool jscan_element(struct jscan *j)
{
	if (!next_value(j, ']', "a comma or ]"))
		return false;
	if (jscan_peek(j) == JSCAN_BAD) {
		fail_found(j, "a value");
		return false;
	}
	return true;
}

int jscan_skip(struct jscan *j)
{
	struct jtext text;
	struct jnumber number;
	bool b;

	switch (jscan_peek(j)) {
	case JSCAN_NULL: return jscan_null(j);
	case JSCAN_BOOL: return jscan_bool(j, &b);
	case JSCAN_NUMBER: return jscan_number(j, &number);
	case JSCAN_STRING: return jscan_text(j, &text);
	case JSCAN_ARRAY:
		jscan_enter(j, JSCAN_ARRAY);
		while (jscan_element(j))
			jscan_skip(j);
		break;
	case JSCAN_OBJECT:
		jscan_enter(j, JSCAN_OBJECT);
		while (jscan_member(j, &text))
			jscan_skip(j);
		break;
	case JSCAN_BAD: fail_found(j, "a value"); break;
	}
	return j->failed ? -1 : 0;
}

int jscan_done(struct jscan *j)
{
	if (j->failed)
		return -1;
	skip_blanks(j);
	return j->at < j->end ? fail_found(j, "the end") : 0;
}

/* The cutter. */

enum { CUT_LINES, CUT_SEQUENCE, CUT_ARRAY, CUT_OVER };

static const char *past_blanks(const char *p, const char *end)
{
	while (p < end && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r'))
		p++;
	return p;
}

/* Behind the opening quote: past the closing one, or NULL. */
static const char *past_string(const char *p, const char *end)
{
	for (;;) {
		p = text_run(p, end);
		if (p >= end || (*p != '"' && *p != '\\'))
			return NULL;
		if (*p++ == '"')
			return p;
		if (p >= end)
			return NULL;
		p++;
	}
}

static const char *past_scalar(const char *p, const char *end)
{
	while (p < end && strchr(",]} \n\t\r", *p) == NULL)
		p++;
	return p;
}

/* The kinds of the open brackets, as bits; beyond JSCAN_DEPTH they are only counted. */
struct brackets {
	uint64_t curly;
	size_t depth;
};

static void bracket_open(struct brackets *b, bool curly)
{
	if (b->depth < JSCAN_DEPTH)
		b->curly = (b->curly & ~((uint64_t)1 << b->depth)) | (uint64_t)curly << b->depth;
	b->depth++;
}

static bool bracket_close(struct brackets *b, bool curly)
{
	b->depth--;
	return b->depth >= JSCAN_DEPTH || (b->curly >> b->depth & 1) == curly;
}

/* Past the value that begins at p, or NULL and why there is no end of it. */
static const char *past_value(const char *p, const char *end, const char **ret_why)
{
	struct brackets open = { 0 };

	if (*p == '"') {
		*ret_why = "a string is not closed";
		return past_string(p + 1, end);
	}
	if (*p != '{' && *p != '[')
		return past_scalar(p, end);
	while (p < end) {
		char c = *p++;
		switch (c) {
		case '"':
			p = past_string(p, end);
			if (p == NULL) {
				*ret_why = "a string in it is not closed on its line";
				return NULL;
			}
			break;
		case '{':
		case '[': bracket_open(&open, c == '{'); break;
		case '}':
		case ']':
			if (!bracket_close(&open, c == '}')) {
				*ret_why = "its brackets do not match";
				return NULL;
			}
			if (open.depth == 0)
				return p;
			break;
		default: break;
		}
	}
	*ret_why = "the body ends inside it";
	return NULL;
}

static const char *line_end(const char *p, const char *end)
{
	const char *nl = memchr(p, '\n', (size_t)(end - p));

	return nl != NULL ? nl : end;
}

/* Does a whole value stand on this line, with nothing behind it? */
static bool line_is_value(const char *p, const char *end)
{
	const char *nl = line_end(p, end), *why;
	const char *past = past_value(p, nl, &why);

	return past != NULL && past_blanks(past, nl) == nl;
}

void jcut_init(struct jcut *c, const char *body, size_t n, bool lines)
{
	*c = (struct jcut){ .at = body, .end = body + n, .form = CUT_SEQUENCE };
	if (n >= 3 && memcmp(body, "\xef\xbb\xbf", 3) == 0)
		c->at += 3; /* a byte order mark, as Windows' editors write it */
	if (lines) {
		c->form = CUT_LINES;
		return;
	}
	c->at = past_blanks(c->at, c->end);
	if (c->at < c->end && *c->at == '[') {
		c->form = CUT_ARRAY;
		c->at++;
	} else if (c->at < c->end && *c->at == '{' && line_is_value(c->at, c->end)) {
		c->form = CUT_LINES;
	}
}

static int cut_fail(struct jcut *c, const char *why, struct err *err)
{
	char where[32];

	c->form = CUT_OVER;
	snprintf(where, sizeof(where), "record %zu", c->index);
	return err_set(err, ERR_INVALID, where, "%s, so the rest of the body cannot be read", why);
}

static int cut_line(struct jcut *c, struct jtext *ret)
{
	c->at = past_blanks(c->at, c->end);
	if (c->at >= c->end)
		return 0;
	const char *nl = line_end(c->at, c->end);
	*ret = (struct jtext){ c->at, (size_t)(nl - c->at) };
	c->at = nl;
	c->index++;
	return 1;
}

static int cut_value(struct jcut *c, struct jtext *ret, struct err *err)
{
	const char *why = "";
	const char *past = past_value(c->at, c->end, &why);

	if (past == NULL)
		return cut_fail(c, why, err);
	if (past == c->at)
		return cut_fail(c, "a record is missing", err);
	*ret = (struct jtext){ c->at, (size_t)(past - c->at) };
	c->at = past;
	c->index++;
	return 1;
}

static int cut_sequence(struct jcut *c, struct jtext *ret, struct err *err)
{
	c->at = past_blanks(c->at, c->end);
	if (c->at >= c->end)
		return 0;
	if (*c->at != '{')
		return cut_fail(c, "no JSON object stands here", err);
	return cut_value(c, ret, err);
}

/* Behind "]": only blanks. */
static int cut_close(struct jcut *c, struct err *err)
{
	c->at = past_blanks(c->at + 1, c->end);
	if (c->at < c->end)
		return cut_fail(c, "something follows the array", err);
	c->form = CUT_OVER;
	return 0;
}

static int cut_element(struct jcut *c, struct jtext *ret, struct err *err)
{
	c->at = past_blanks(c->at, c->end);
	if (c->at < c->end && *c->at == ']')
		return cut_close(c, err);
	if (c->index > 0) {
		if (c->at >= c->end)
			return cut_fail(c, "the array is not closed", err);
		if (*c->at != ',')
			return cut_fail(c, "no comma stands before it", err);
		c->at = past_blanks(c->at + 1, c->end);
	}
	if (c->at >= c->end)
		return cut_fail(c, "the array is not closed", err);
	return cut_value(c, ret, err);
}

int jcut_next(struct jcut *c, struct jtext *ret, struct err *err)
{
	switch (c->form) {
	case CUT_LINES: return cut_line(c, ret);
	case CUT_SEQUENCE: return cut_sequence(c, ret, err);
	case CUT_ARRAY: return cut_element(c, ret, err);
	default: return 0;
	}
}

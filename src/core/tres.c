#include "core/tres.h"

#include "base/num.h"
#include "core/duration.h"

#define NAME_MAX_BYTES 255

/* How a count is written.  Names that end in '/' stand for all that begin so; the first row that
 * fits counts. */
struct writing {
	enum tres_kind kind;
	const char *name;
	enum { COUNT_PLAIN, COUNT_TIME, COUNT_SIZE } as;
	enum unit base;
	int divisor;
	bool scaled_out; /* sacct prints it with a unit */
};

static const struct writing writings[] = {
	{ TRES_AMOUNT, "mem", COUNT_SIZE, UNIT_MEGA, 1024, true },
	{ TRES_AMOUNT, "bb/", COUNT_SIZE, UNIT_MEGA, 1024, true },
	{ TRES_AMOUNT, "energy", COUNT_SIZE, UNIT_NONE, 1000, false },
	{ TRES_AMOUNT, "", COUNT_PLAIN, UNIT_NONE, 1, false },
	{ TRES_USAGE, "cpu", COUNT_TIME, UNIT_NONE, 1, true },
	{ TRES_USAGE, "mem", COUNT_SIZE, UNIT_NONE, 1024, true },
	{ TRES_USAGE, "vmem", COUNT_SIZE, UNIT_NONE, 1024, true },
	{ TRES_USAGE, "gres/gpumem", COUNT_SIZE, UNIT_NONE, 1024, true },
	{ TRES_USAGE, "energy", COUNT_SIZE, UNIT_NONE, 1000, false },
	{ TRES_USAGE, "", COUNT_SIZE, UNIT_NONE, 1024, false },
};

static const struct writing *writing_of(const char *name, size_t len, enum tres_kind kind)
{
	const struct writing *w = writings;

	for (; w < writings + ARRAY_LEN(writings) - 1; w++) {
		size_t n = strlen(w->name);
		bool prefix = n == 0 || w->name[n - 1] == '/';
		if (w->kind == kind && (prefix ? len >= n : len == n) &&
		    memcmp(w->name, name, n) == 0)
			break;
	}
	return w;
}

int tres_name_check(const char *name, size_t len, struct err *err)
{
	bool good = len > 0 && len <= NAME_MAX_BYTES &&
		    ((name[0] >= 'a' && name[0] <= 'z') || (name[0] >= 'A' && name[0] <= 'Z'));

	for (size_t i = 0; good && i < len; i++)
		good = (unsigned char)name[i] > ' ' && name[i] != 0x7f && name[i] != ',';
	if (!good)
		return err_set(err, ERR_INVALID, "tres",
			       "\"%.*s\" is no name of a TRES; write such as cpu, mem or gres/gpu:a100",
			       len < 64 ? (int)len : 64, name);
	return 0;
}

/* ms of "[D-]HH:MM:SS" or of a plain number, which is ms already. */
static int time_count_parse(const char *text, int64_t *ret, bool *ret_known, struct err *err)
{
	int64_t us;

	if (strchr(text, ':') == NULL)
		return size_parse(text, UNIT_NONE, 1000, ret, ret_known, err);
	if (duration_parse_us(text, &us, err) < 0)
		return -1;
	*ret = us / 1000;
	*ret_known = true;
	return 0;
}

int tres_count_parse(const char *name, size_t len, enum tres_kind kind, const char *text,
		     int64_t *ret, bool *ret_known, struct err *err)
{
	const struct writing *w = writing_of(name, len, kind);
	struct err why;
	int rc = -1;

	switch (w->as) {
	case COUNT_TIME: rc = time_count_parse(text, ret, ret_known, &why); break;
	case COUNT_SIZE: rc = size_parse(text, w->base, w->divisor, ret, ret_known, &why); break;
	case COUNT_PLAIN:
		if (text[strspn(text, "0123456789")] == '\0')
			rc = size_parse(text, UNIT_NONE, 1, ret, ret_known, &why);
		break;
	}
	if (rc < 0 || *text == '\0')
		return err_set(err, ERR_INVALID, "tres",
			       "\"%.*s=%.64s\" is no count; write name=count, 0 or more%s",
			       len < 64 ? (int)len : 64, name, text,
			       w->as == COUNT_SIZE ? ", with K, M, G, T or P" : "");
	return 0;
}

int tres_name_order(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int c = memcmp(a, b, a_len < b_len ? a_len : b_len);

	return c != 0 ? c : a_len < b_len ? -1 : a_len > b_len;
}

static int item_order(const void *pa, const void *pb)
{
	const struct tres *a = pa, *b = pb;

	return tres_name_order(a->name, a->len, b->name, b->len);
}

/* Most texts come sorted already. */
static void items_sort(struct tres *items, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (item_order(&items[i - 1], &items[i]) > 0) {
			qsort(items, n, sizeof(*items), item_order);
			return;
		}
}

static int items_check(const struct tres *items, size_t n, struct err *err)
{
	for (size_t i = 0; i < n; i++) {
		const struct tres *t = &items[i];
		int shown = t->len < 64 ? (int)t->len : 64;
		if (tres_name_check(t->name, t->len, err) < 0)
			return -1;
		if (t->count < 0)
			return err_set(err, ERR_INVALID, "tres",
				       "\"%.*s=%" PRId64 "\" is negative; write name=count, 0 or more",
				       shown, t->name, t->count);
		if (i > 0 && item_order(t - 1, t) == 0)
			return err_set(err, ERR_INVALID, "tres", "\"%.*s\" is there twice", shown,
				       t->name);
	}
	return 0;
}

#define COUNT_DIGITS 20

static char *count_write(char *to, int64_t count)
{
	char digits[COUNT_DIGITS];
	size_t at = sizeof(digits);
	uint64_t v = (uint64_t)count;

	do {
		digits[--at] = (char)('0' + v % 10);
		v /= 10;
	} while (v != 0);
	memcpy(to, digits + at, sizeof(digits) - at);
	return to + sizeof(digits) - at;
}

int tres_make(struct tres *items, size_t n, struct arena *arena, const char **ret,
	      struct err *err)
{
	size_t size = 1;

	items_sort(items, n);
	if (items_check(items, n, err) < 0)
		return -1;
	for (size_t i = 0; i < n; i++)
		size += items[i].len + COUNT_DIGITS + 2;
	char *text = arena_alloc(arena, size);
	char *to = text;
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			*to++ = ',';
		memcpy(to, items[i].name, items[i].len);
		to += items[i].len;
		*to++ = '=';
		to = count_write(to, items[i].count);
	}
	*to = '\0';
	*ret = text;
	return 0;
}

/* One word, name=count, of n bytes. */
static int word_parse(const char *word, size_t n, enum tres_kind kind, struct tres *ret,
		      bool *ret_known, struct err *err)
{
	char count[64];
	const char *sign = memrchr(word, '=', n);

	if (sign == NULL || (size_t)(word + n - sign) > sizeof(count))
		return err_set(err, ERR_INVALID, "tres", "\"%.*s\" is no name=count",
			       n < 64 ? (int)n : 64, word);
	ret->name = word;
	ret->len = (size_t)(sign - word);
	size_t digits = n - ret->len - 1;
	memcpy(count, sign + 1, digits);
	count[digits] = '\0';
	return tres_count_parse(ret->name, ret->len, kind, count, &ret->count, ret_known, err);
}

static size_t words_in(const char *text)
{
	size_t n = *text != '\0';

	for (; *text != '\0'; text++)
		n += *text == ',';
	return n;
}

int tres_parse(const char *text, enum tres_kind kind, struct arena *arena, const char **ret,
	       struct err *err)
{
	size_t words = words_in(text), n = 0;
	struct tres *items = ARENA_ARRAY(arena, struct tres, words);
	const char *at = text;

	for (size_t i = 0; i < words; i++) {
		size_t len = strcspn(at, ",");
		bool known = false;
		if (word_parse(at, len, kind, &items[n], &known, err) < 0)
			return -1;
		n += known;
		at += len + 1;
	}
	return tres_make(items, n, arena, ret, err);
}

bool tres_next(const char **at, struct tres *ret)
{
	const char *word = *at;

	if (word == NULL || *word == '\0')
		return false;
	size_t n = strcspn(word, ",");
	const char *sign = memrchr(word, '=', n);
	if (sign == NULL || num_digits(sign + 1, &ret->count) != word + n)
		return false;
	ret->name = word;
	ret->len = (size_t)(sign - word);
	*at = word + n + (word[n] == ',');
	return true;
}

bool tres_get(const char *text, const char *name, int64_t *ret)
{
	size_t len = strlen(name);
	struct tres t;

	for (const char *at = text; tres_next(&at, &t);)
		if (t.len == len && memcmp(t.name, name, len) == 0) {
			*ret = t.count;
			return true;
		}
	return false;
}

bool tres_gpus(const char *text, int64_t *ret)
{
	static const char typed[] = "gres/gpu:";
	int64_t sum = 0;
	struct tres t;

	if (text == NULL)
		return false;
	if (tres_get(text, "gres/gpu", ret))
		return true;
	for (const char *at = text; tres_next(&at, &t);)
		if (t.len >= sizeof(typed) - 1 && memcmp(t.name, typed, sizeof(typed) - 1) == 0)
			sum = num_add(sum, t.count, NULL);
	*ret = sum;
	return true;
}

static void count_format(const struct tres *t, enum tres_kind kind, struct unit_style style,
			 struct buf *out)
{
	const struct writing *w = writing_of(t->name, t->len, kind);
	char text[SIZE_TEXT_SIZE + DURATION_TEXT_SIZE];

	if (!w->scaled_out) {
		buf_i64(out, t->count);
		return;
	}
	if (w->as == COUNT_TIME)
		duration_format(t->count / 1000, text);
	else
		size_format(t->count, w->base, w->divisor, style, text);
	buf_adds(out, text);
}

void tres_format(const char *text, enum tres_kind kind, struct unit_style style, struct buf *out)
{
	struct tres t;
	bool first = true;

	for (const char *at = text; tres_next(&at, &t); first = false) {
		if (!first)
			buf_addc(out, ',');
		buf_add(out, t.name, t.len);
		buf_addc(out, '=');
		count_format(&t, kind, style, out);
	}
}

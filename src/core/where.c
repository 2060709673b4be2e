#include "core/where.h"

#include "core/tres.h"

static int item_order(const void *pa, const void *pb)
{
	const struct where *a = pa, *b = pb;

	return tres_name_order(a->name, a->len, b->name, b->len);
}

/* "no value" as it comes out of Slurm: of a node, of a task in 32 and in 64 bits. */
static bool value_is_nothing(const char *value, size_t len)
{
	static const char *const nothing[] = { "(null)", "4294967294", "4294967295",
					       "18446744073709551614", "18446744073709551615" };

	for (size_t i = 0; i < ARRAY_LEN(nothing); i++)
		if (len == strlen(nothing[i]) && memcmp(value, nothing[i], len) == 0)
			return true;
	return len == 0;
}

static int item_check(const struct where *w, struct err *err)
{
	if (tres_name_check(w->name, w->len, err) < 0)
		return -1;
	for (size_t i = 0; i < w->value_len; i++)
		if ((unsigned char)w->value[i] <= ' ' || w->value[i] == ',' || w->value[i] == '=' ||
		    w->value[i] == 0x7f)
			return err_set(err, ERR_INVALID, "where",
				       "\"%.*s\" is no node and no task",
				       w->value_len < 64 ? (int)w->value_len : 64, w->value);
	return 0;
}

int where_make(struct where *items, size_t n, struct arena *arena, const char **ret,
	       struct err *err)
{
	size_t size = 1;

	if (n > 1)
		qsort(items, n, sizeof(*items), item_order);
	for (size_t i = 0; i < n; i++) {
		if (item_check(&items[i], err) < 0)
			return -1;
		if (i > 0 && item_order(&items[i - 1], &items[i]) == 0)
			return err_set(err, ERR_INVALID, "where", "\"%.*s\" is there twice",
				       items[i].len < 64 ? (int)items[i].len : 64, items[i].name);
		size += items[i].len + items[i].value_len + 2;
	}
	char *text = arena_alloc(arena, size);
	char *to = text;
	for (size_t i = 0; i < n; i++) {
		if (value_is_nothing(items[i].value, items[i].value_len))
			continue;
		if (to > text)
			*to++ = ',';
		to = mempcpy(to, items[i].name, items[i].len);
		*to++ = '=';
		to = mempcpy(to, items[i].value, items[i].value_len);
	}
	*to = '\0';
	*ret = text;
	return 0;
}

static bool word_read(const char *word, size_t n, struct where *ret)
{
	const char *sign = memrchr(word, '=', n);

	if (sign == NULL)
		return false;
	*ret = (struct where){ .name = word,
			       .len = (size_t)(sign - word),
			       .value = sign + 1,
			       .value_len = (size_t)(word + n - sign - 1) };
	return true;
}

int where_parse(const char *text, struct arena *arena, const char **ret, struct err *err)
{
	size_t words = *text != '\0';

	for (const char *c = text; *c != '\0'; c++)
		words += *c == ',';
	struct where *items = ARENA_ARRAY(arena, struct where, words);
	const char *at = text;
	for (size_t i = 0; i < words; i++) {
		size_t len = strcspn(at, ",");
		if (!word_read(at, len, &items[i]))
			return err_set(err, ERR_INVALID, "where",
				       "\"%.*s\" is no name=node or name=task",
				       len < 64 ? (int)len : 64, at);
		at += len + 1;
	}
	return where_make(items, words, arena, ret, err);
}

bool where_next(const char **at, struct where *ret)
{
	const char *word = *at;

	if (word == NULL || *word == '\0')
		return false;
	size_t n = strcspn(word, ",");
	*at = word + n + (word[n] == ',');
	return word_read(word, n, ret);
}

bool where_get(const char *text, const char *name, struct where *ret)
{
	size_t len = strlen(name);

	for (const char *at = text; where_next(&at, ret);)
		if (ret->len == len && memcmp(ret->name, name, len) == 0)
			return true;
	return false;
}

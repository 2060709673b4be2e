#include "core/list.h"

bool list_next(const char **at, const char **ret_name, size_t *ret_len)
{
	if (*at == NULL || **at == '\0')
		return false;
	*ret_name = *at;
	*ret_len = strcspn(*at, ",");
	*at += *ret_len;
	if (**at == ',')
		++*at;
	return true;
}

bool list_has(const char *list, const char *name, size_t len)
{
	const char *p;
	size_t n;

	for (const char *at = list; list_next(&at, &p, &n);)
		if (n == len && memcmp(p, name, n) == 0)
			return true;
	return false;
}

bool list_is_change(const char *list)
{
	return list != NULL && (list[0] == '+' || list[0] == '-');
}

/* A name that is not NUL-terminated. */
struct name {
	const char *p;
	size_t n;
};

static int name_order(const void *pa, const void *pb)
{
	const struct name *a = pa, *b = pb;
	int c = memcmp(a->p, b->p, a->n < b->n ? a->n : b->n);

	return c != 0 ? c : (a->n > b->n) - (a->n < b->n);
}

/* Sorts, drops repetitions, writes. */
static const char *write_names(struct name *names, size_t n, struct arena *arena)
{
	size_t size = 1, kept = 0;
	char *text, *to;

	if (n > 1)
		qsort(names, n, sizeof(*names), name_order);
	for (size_t i = 0; i < n; i++)
		if (kept == 0 || name_order(&names[kept - 1], &names[i]) != 0)
			names[kept++] = names[i];
	for (size_t i = 0; i < kept; i++)
		size += names[i].n + 1;
	text = to = arena_alloc(arena, size);
	for (size_t i = 0; i < kept; i++) {
		if (i > 0)
			*to++ = ',';
		to = mempcpy(to, names[i].p, names[i].n);
	}
	*to = '\0';
	return text;
}

static int check_names(const struct name *names, size_t n, struct err *err)
{
	size_t signs = 0;

	for (size_t i = 0; i < n; i++) {
		bool sign = names[i].n > 0 && (names[i].p[0] == '+' || names[i].p[0] == '-');
		signs += sign;
		if (names[i].n == (size_t)sign)
			return err_set(err, ERR_INVALID, NULL, "a name in the list is empty");
	}
	if (signs != 0 && signs != n)
		return err_set(err, ERR_INVALID, NULL,
			       "some names of the list have + or - in front and some have not");
	return 0;
}

int list_make(const char *const *words, size_t n, struct arena *arena, const char **ret,
	      struct err *err)
{
	struct name *names = ARENA_ARRAY(arena, struct name, n + 1);

	for (size_t i = 0; i < n; i++) {
		names[i] = (struct name){ words[i], strlen(words[i]) };
		if (memchr(words[i], ',', names[i].n) != NULL)
			return err_set(err, ERR_INVALID, NULL, "\"%.64s\" has a comma in it",
				       words[i]);
	}
	if (check_names(names, n, err) < 0)
		return -1;
	*ret = write_names(names, n, arena);
	return 0;
}

static struct name trimmed(const char *p, size_t n)
{
	while (n > 0 && (*p == ' ' || *p == '\t')) {
		p++;
		n--;
	}
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	return (struct name){ p, n };
}

int list_parse(const char *text, struct arena *arena, const char **ret, struct err *err)
{
	size_t n = 0;
	struct name *names = ARENA_ARRAY(arena, struct name, strlen(text) + 1);

	for (const char *at = text; *text != '\0';) {
		size_t len = strcspn(at, ",");
		names[n++] = trimmed(at, len);
		if (at[len] == '\0')
			break;
		at += len + 1;
	}
	if (check_names(names, n, err) < 0)
		return -1;
	*ret = write_names(names, n, arena);
	return 0;
}

static size_t count(const char *list)
{
	size_t n = list != NULL && *list != '\0';

	for (; list != NULL && *list != '\0'; list++)
		n += *list == ',';
	return n;
}

static bool has_signed(const char *changes, char sign, const char *name, size_t len)
{
	const char *p;
	size_t n;

	for (const char *at = changes; list_next(&at, &p, &n);)
		if (n == len + 1 && p[0] == sign && memcmp(p + 1, name, len) == 0)
			return true;
	return false;
}

const char *list_apply(const char *list, const char *changes, struct arena *arena)
{
	struct name *names = ARENA_ARRAY(arena, struct name, count(list) + count(changes) + 1);
	const char *p;
	size_t n = 0, len;

	for (const char *at = list; list_next(&at, &p, &len);)
		if (!has_signed(changes, '-', p, len))
			names[n++] = (struct name){ p, len };
	for (const char *at = changes; list_next(&at, &p, &len);)
		if (p[0] == '+' && !has_signed(changes, '-', p + 1, len - 1))
			names[n++] = (struct name){ p + 1, len - 1 };
	return write_names(names, n, arena);
}

const char *list_join(const char *first, const char *second, struct arena *arena)
{
	struct name *names = ARENA_ARRAY(arena, struct name, count(first) + count(second) + 1);
	const char *p;
	size_t n = 0, len;

	for (const char *at = first; list_next(&at, &p, &len);)
		if (!has_signed(second, p[0] == '+' ? '-' : '+', p + 1, len - 1))
			names[n++] = (struct name){ p, len };
	for (const char *at = second; list_next(&at, &p, &len);)
		names[n++] = (struct name){ p, len };
	return write_names(names, n, arena);
}

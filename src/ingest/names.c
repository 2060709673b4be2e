#include "ingest/names.h"

#include "base/arena.h"

void names_clear(struct names *s)
{
	for (size_t i = 0; i < s->cap; i++) {
		free(s->v[i]);
		s->v[i] = NULL;
	}
	s->n = 0;
}

void names_fini(struct names *s)
{
	names_clear(s);
	free(s->v);
	*s = (struct names){ 0 };
}

static size_t hash(const char *name, size_t len)
{
	uint64_t h = 14695981039346656037u;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)name[i]) * 1099511628211u;
	return h ^ (h >> 32);
}

/* Where it is, or the free place where it would be; cap is a power of two and never full. */
static size_t place(const struct names *s, const char *name, size_t len)
{
	size_t i = hash(name, len) & (s->cap - 1);

	while (s->v[i] != NULL && !(strncmp(s->v[i], name, len) == 0 && s->v[i][len] == '\0'))
		i = (i + 1) & (s->cap - 1);
	return i;
}

bool names_has(const struct names *s, const char *name, size_t len)
{
	return s->n > 0 && s->v[place(s, name, len)] != NULL;
}

static void grow(struct names *s)
{
	struct names old = *s;

	s->cap = old.cap != 0 ? old.cap * 2 : 64;
	s->v = xcalloc(s->cap, sizeof(char *));
	for (size_t i = 0; i < old.cap; i++)
		if (old.v[i] != NULL)
			s->v[place(s, old.v[i], strlen(old.v[i]))] = old.v[i];
	free(old.v);
}

void names_add(struct names *s, const char *name, size_t len)
{
	size_t at;

	if (s->n * 2 >= s->cap)
		grow(s);
	at = place(s, name, len);
	if (s->v[at] != NULL)
		return;
	s->v[at] = xmalloc(len + 1);
	memcpy(s->v[at], name, len);
	s->v[at][len] = '\0';
	s->n++;
}

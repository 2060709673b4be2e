#include "base/arena.h"

#define FIRST_BLOCK 8192u
#define LARGEST_BLOCK (1u << 20)

struct block {
	struct block *next;
	size_t size;
	size_t used;
	_Alignas(max_align_t) unsigned char bytes[];
};

struct arena {
	struct block *head; /* the one being filled; older ones follow */
	size_t total;
};

static void out_of_memory(size_t size)
{
	fprintf(stderr, "fatal: out of memory (%zu bytes wanted)\n", size);
	abort();
}

void *xmalloc(size_t size)
{
	void *p = malloc(size != 0 ? size : 1);

	if (p == NULL)
		out_of_memory(size);
	return p;
}

void *xcalloc(size_t n, size_t size)
{
	void *p = calloc(n != 0 ? n : 1, size != 0 ? size : 1);

	if (p == NULL)
		out_of_memory(size);
	return p;
}

void *xrealloc(void *p, size_t size)
{
	void *q = realloc(p, size != 0 ? size : 1);

	if (q == NULL)
		out_of_memory(size);
	return q;
}

char *xstrdup(const char *s)
{
	size_t n = strlen(s) + 1;

	return memcpy(xmalloc(n), s, n);
}

static struct block *block_add(struct arena *a, size_t least)
{
	size_t size = a->head != NULL ? a->head->size * 2 : FIRST_BLOCK;

	if (size > LARGEST_BLOCK)
		size = LARGEST_BLOCK;
	if (size < least)
		size = least;
	struct block *b = xmalloc(sizeof(*b) + size);
	b->next = a->head;
	b->size = size;
	b->used = 0;
	a->head = b;
	a->total += size;
	return b;
}

struct arena *arena_new(void)
{
	return xcalloc(1, sizeof(struct arena));
}

void arena_reset(struct arena *a)
{
	struct block *keep = a->head;

	if (keep == NULL)
		return;
	for (struct block *b = keep->next, *next; b != NULL; b = next) {
		next = b->next;
		free(b);
	}
	keep->next = NULL;
	keep->used = 0;
	a->total = keep->size;
}

void arena_free(struct arena *a)
{
	if (a == NULL)
		return;
	arena_reset(a);
	free(a->head);
	free(a);
}

void *arena_alloc(struct arena *a, size_t size)
{
	const size_t align = _Alignof(max_align_t);
	size_t need = (size + align - 1) / align * align;
	struct block *b = a->head;

	if (need < size)
		out_of_memory(size);
	if (b == NULL || b->size - b->used < need)
		b = block_add(a, need);
	void *p = b->bytes + b->used;
	b->used += need;
	return p;
}

void *arena_zalloc(struct arena *a, size_t size)
{
	return memset(arena_alloc(a, size), 0, size);
}

char *arena_strndup(struct arena *a, const char *s, size_t n)
{
	char *p = arena_alloc(a, n + 1);

	memcpy(p, s, n);
	p[n] = '\0';
	return p;
}

char *arena_strdup(struct arena *a, const char *s)
{
	return s != NULL ? arena_strndup(a, s, strlen(s)) : NULL;
}

char *arena_printf(struct arena *a, const char *fmt, ...)
{
	va_list ap, again;

	va_start(ap, fmt);
	va_copy(again, ap);
	int n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	char *p = arena_alloc(a, (size_t)(n > 0 ? n : 0) + 1);
	p[0] = '\0';
	vsnprintf(p, (size_t)(n > 0 ? n : 0) + 1, fmt, again);
	va_end(again);
	return p;
}

size_t arena_size(const struct arena *a)
{
	return a->total;
}

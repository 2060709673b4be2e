/* cli/reasons.c: kinds of reasons by their text without its particulars. */
#include "cli/reasons.h"

#include <ctype.h>

#include "base/arena.h"
#include "base/buf.h"

#define SAMPLES	  3
#define KINDS_MAX 200 /* a file of another kind altogether; what comes beyond is counted as one */

struct kind {
	const char *text;
	uint64_t count;
	const char *samples[SAMPLES];
	size_t n_samples;
};

struct reasons {
	struct arena *arena;
	struct kind kinds[KINDS_MAX];
	size_t n;
	uint64_t total;
};

struct reasons *reasons_new(void)
{
	struct reasons *r = xcalloc(1, sizeof(*r));

	r->arena = arena_new();
	return r;
}

void reasons_free(struct reasons *r)
{
	if (r == NULL)
		return;
	arena_free(r->arena);
	free(r);
}

uint64_t reasons_total(const struct reasons *r)
{
	return r->total;
}

/* Column and text, with "..." for what is quoted and N for numbers. */
static void generalise(const char *column, const char *text, struct buf *out)
{
	if (*column)
		buf_printf(out, "%s: ", column);
	for (const char *p = text; *p;) {
		if (*p == '"' && strchr(p + 1, '"')) {
			buf_adds(out, "\"...\"");
			p = strchr(p + 1, '"') + 1;
		} else if (isdigit((unsigned char)*p) &&
			   (p == text || !isalnum((unsigned char)p[-1]))) {
			buf_addc(out, 'N');
			p += strspn(p, "0123456789");
		} else {
			buf_addc(out, *p++);
		}
	}
}

static struct kind *kind_of(struct reasons *r, const char *text)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->kinds[i].text, text) == 0)
			return &r->kinds[i];
	if (r->n == KINDS_MAX - 1)
		text = "other reasons";
	if (r->n < KINDS_MAX)
		r->kinds[r->n++].text = arena_strdup(r->arena, text);
	return &r->kinds[r->n - 1];
}

void reasons_add(struct reasons *r, const char *where, const char *text)
{
	const char *blank = strchr(where, ' ');
	struct buf b = BUF_INIT;
	struct kind *k;

	generalise(blank ? blank + 1 : "", text, &b);
	k = kind_of(r, buf_str(&b));
	buf_fini(&b);
	k->count++;
	r->total++;
	if (k->n_samples < SAMPLES)
		k->samples[k->n_samples++] = arena_printf(
			r->arena, "%.*s: %s",
			(int)(blank ? blank - where : (ptrdiff_t)strlen(where)), where, text);
}

void reasons_print(const struct reasons *r, const char *title, FILE *out)
{
	if (r->total == 0)
		return;
	fprintf(out, "%s:\n", title);
	for (size_t i = 0; i < r->n; i++) {
		const struct kind *k = &r->kinds[i];

		fprintf(out, "%8" PRIu64 "  %s\n", k->count, k->text);
		for (size_t s = 0; s < k->n_samples; s++)
			fprintf(out, "          %s\n", k->samples[s]);
	}
}

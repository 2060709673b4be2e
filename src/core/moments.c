#include "core/moments.h"

#include "base/buf.h"
#include "base/num.h"

static int moment_order(const struct moment *a, const struct moment *b)
{
	if (a->at != b->at)
		return a->at < b->at ? -1 : 1;
	return (int)a->resume - (int)b->resume;
}

static int moment_compare(const void *a, const void *b)
{
	return moment_order(a, b);
}

/* "S1700000000" at *at, up to a comma or the end. */
static bool moment_read(const char **at, struct moment *ret)
{
	const char *s = *at;

	if (*s != 'S' && *s != 'R')
		return false;
	ret->resume = *s == 'R';
	bool negative = s[1] == '-';
	s = num_digits(s + 1 + negative, &ret->at);
	if (s == NULL || (*s != ',' && *s != '\0'))
		return false;
	if (negative)
		ret->at = -ret->at;
	*at = s + (*s == ',');
	return true;
}

int moments_parse(const char *text, struct arena *arena, struct moment **ret, size_t *ret_n,
		  struct err *err)
{
	size_t commas = 0, n = 0;

	for (const char *c = text; *c != '\0'; c++)
		commas += *c == ',';
	struct moment *m = ARENA_ARRAY(arena, struct moment, commas + 1);
	for (const char *at = text; *at != '\0'; n++) {
		const char *word = at;
		if (!moment_read(&at, &m[n]) || (*at == '\0' && at[-1] == ','))
			return err_set(err, ERR_INVALID, "suspensions",
				       "\"%.40s\" is no suspension; write S or R and epoch seconds",
				       word);
	}
	*ret = m;
	*ret_n = n;
	return 0;
}

const char *moments_format(struct moment *m, size_t n, struct arena *arena)
{
	struct buf out = BUF_INIT;

	if (n > 1)
		qsort(m, n, sizeof(*m), moment_compare);
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && moment_order(&m[i - 1], &m[i]) == 0)
			continue;
		if (out.len > 0)
			buf_addc(&out, ',');
		buf_addc(&out, m[i].resume ? 'R' : 'S');
		buf_i64(&out, m[i].at);
	}
	const char *text = arena_strndup(arena, buf_str(&out), out.len);
	buf_fini(&out);
	return text;
}

static size_t moments_all(const char *text, struct moment *m)
{
	size_t n = 0;

	for (const char *at = text; moments_next(&at, &m[n]);)
		n++;
	return n;
}

const char *moments_union(const char *a, const char *b, struct arena *arena)
{
	if (a == NULL || b == NULL || strcmp(a, b) == 0)
		return a != NULL ? a : b;
	/* The shortest moment is "S0,": three bytes. */
	struct moment *m = ARENA_ARRAY(arena, struct moment, (strlen(a) + strlen(b)) / 3 + 4);
	size_t n = moments_all(a, m);
	n += moments_all(b, m + n);
	const char *both = moments_format(m, n, arena);
	return strcmp(both, a) == 0 ? a : strcmp(both, b) == 0 ? b : both;
}

const char *moments_with(const char *text, struct moment add, struct arena *arena)
{
	return moments_union(text, moments_format(&add, 1, arena), arena);
}

bool moments_next(const char **at, struct moment *ret)
{
	struct moment m;

	if (*at == NULL || **at == '\0' || !moment_read(at, &m))
		return false;
	*ret = m;
	return true;
}

/* All that happened at one instant.  A suspension and a resumption in the same second leave it as
 * it was, whichever of them came first. */
enum turn { TURN_NONE, TURN_SUSPEND, TURN_RESUME };

static bool instant_next(const char **at, int64_t *ret_at, enum turn *ret_turn)
{
	struct moment m, more;

	if (!moments_next(at, &m))
		return false;
	*ret_at = m.at;
	*ret_turn = m.resume ? TURN_RESUME : TURN_SUSPEND;
	for (const char *ahead = *at; moments_next(&ahead, &more) && more.at == m.at; *at = ahead)
		if (more.resume != m.resume)
			*ret_turn = TURN_NONE;
	return true;
}

bool moments_next_span(const char **at, int64_t *ret_from, int64_t *ret_to)
{
	enum turn turn;
	int64_t when;

	do {
		if (!instant_next(at, ret_from, &turn))
			return false;
	} while (turn != TURN_SUSPEND);
	*ret_to = INT64_MAX;
	while (instant_next(at, &when, &turn))
		if (turn == TURN_RESUME) {
			*ret_to = when;
			break;
		}
	return true;
}

#include "base/conf.h"

#include <ctype.h>
#include <strings.h>

#include "base/buf.h"

enum { WORD_MOST = 64, LINE_MOST = 65536 };

struct reader {
	const char *name;
	const char *p, *end;
	int line;  /* of p */
	int first; /* of the logical line */
	struct arena *arena;
	struct err *err;
};

void conf_where(const char *name, int line, char *out, size_t size)
{
	char number[16];
	size_t n = strlen(name), room;

	snprintf(number, sizeof(number), ":%d", line);
	room = size - strlen(number) - 1;
	if (n <= room)
		snprintf(out, size, "%s%s", name, number);
	else
		snprintf(out, size, "...%s%s", name + n - room + 3, number);
}

static int fail(const struct reader *r, const char *before, const char *what, const char *after)
{
	char where[sizeof(r->err->where)];

	conf_where(r->name, r->first, where, sizeof(where));
	return err_set(r->err, ERR_INVALID, where, "%s%.60s%s", before, what, after);
}

/* One logical line into `out`: joined, without its comment.  A '#' within quotes is text. */
static bool next_line(struct reader *r, struct buf *out)
{
	bool quoted = false, comment = false;

	buf_clear(out);
	if (r->p >= r->end)
		return false;
	r->first = r->line;
	while (r->p < r->end) {
		char c = *r->p++;
		char next = r->p < r->end ? *r->p : '\0';

		if (c == '\n') {
			r->line++;
			break;
		}
		if (c == '\\' &&
		    (next == '\n' || (next == '\r' && r->p + 1 < r->end && r->p[1] == '\n'))) {
			r->p += next == '\r' ? 2 : 1;
			r->line++;
			continue;
		}
		if (comment)
			continue;
		if (c == '\\' && next == '#') {
			buf_addc(out, *r->p++);
			continue;
		}
		if (c == '"')
			quoted = !quoted;
		comment = c == '#' && !quoted;
		if (!comment)
			buf_addc(out, c);
	}
	return true;
}

static const char *skip_blanks(const char *s)
{
	while (*s != '\0' && isspace((unsigned char)*s))
		s++;
	return s;
}

/* A value at s: quoted, or up to the next blank.  Gives where it ends, NULL on an open quote. */
static const char *take_value(const struct reader *r, const char *s, const char **ret_value)
{
	const char *end;

	if (*s != '"') {
		end = s;
		while (*end != '\0' && !isspace((unsigned char)*end))
			end++;
		*ret_value = arena_strndup(r->arena, s, (size_t)(end - s));
		return end;
	}
	end = strchr(s + 1, '"');
	if (end == NULL)
		return NULL;
	*ret_value = arena_strndup(r->arena, s + 1, (size_t)(end - s - 1));
	return end + 1;
}

static bool is_key_char(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '.';
}

/* One "Key=Value" or "Include FILE" at s; NULL on an error. */
static const char *take_pair(const struct reader *r, const char *s, struct conf_pair *ret)
{
	const char *end = s, *value;
	size_t n;

	while (is_key_char(*end))
		end++;
	n = (size_t)(end - s);
	*ret = (struct conf_pair){ .line = r->first };
	if (n == 0 || n >= WORD_MOST) {
		fail(r, "expected Key=Value at \"", s, "\"");
		return NULL;
	}
	ret->key = arena_strndup(r->arena, s, n);
	value = skip_blanks(end);
	if (*value != '=' && strcasecmp(ret->key, "Include") == 0 && *value != '\0') {
		ret->key = "";
	} else if (*value != '=') {
		fail(r, "expected '=' after \"", ret->key, "\"");
		return NULL;
	} else {
		value = skip_blanks(value + 1);
	}
	end = take_value(r, value, &ret->value);
	if (end == NULL)
		fail(r, "the quote of ", ret->key[0] != '\0' ? ret->key : "Include",
		     " is not closed");
	else if (*end != '\0' && !isspace((unsigned char)*end)) {
		fail(r, "unexpected text after the closing quote: \"", end, "\"");
		end = NULL;
	}
	return end;
}

static int take_line(const struct reader *r, const char *text, conf_sink *sink, void *arg)
{
	const char *s = skip_blanks(text);

	while (*s != '\0') {
		struct conf_pair pair;

		s = take_pair(r, s, &pair);
		if (s == NULL || sink(&pair, arg, r->err) < 0)
			return -1;
		s = skip_blanks(s);
	}
	return 0;
}

int conf_parse(const char *name, const char *text, size_t len, struct arena *arena, conf_sink *sink,
	       void *arg, struct err *err)
{
	struct reader r = { name, text, text + len, 1, 1, arena, err };
	struct err unused;
	struct buf line = BUF_INIT;
	int rc = 0;

	if (err == NULL)
		r.err = &unused;
	buf_limit(&line, LINE_MOST);
	while (rc == 0 && next_line(&r, &line)) {
		if (buf_failed(&line))
			rc = fail(&r, "the line is too long", "", "");
		else if (line.len > 0 && memchr(line.data, '\0', line.len) != NULL)
			rc = fail(&r, "there is a NUL byte in the line", "", "");
		else
			rc = take_line(&r, buf_str(&line), sink, arg);
	}
	buf_fini(&line);
	return rc;
}

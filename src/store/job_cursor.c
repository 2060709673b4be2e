#include "store/job_cursor.h"

#include "base/buf.h"
#include "base/num.h"

/* 1.FIELD.WAY.VALUE.JOB_ID.SUBMIT.CLUSTER; FIELD by its name, so that it survives a new version;
 * VALUE is "u", "n" and a number, or "t" and a text; texts are in hexadecimal. */

static void add_hex(struct buf *b, const char *s)
{
	for (; *s != '\0'; s++)
		buf_printf(b, "%02x", (unsigned char)*s);
}

const char *job_cursor_format(int field, bool descending, const struct spool_place *p,
			      struct arena *arena)
{
	struct buf b = BUF_INIT;
	const char *text;

	buf_printf(&b, "1.%s.%c.", job_fields[field].name, descending ? 'd' : 'a');
	if (p->unknown) {
		buf_addc(&b, 'u');
	} else if (p->text != NULL) {
		buf_addc(&b, 't');
		add_hex(&b, p->text);
	} else {
		buf_printf(&b, "n%" PRId64, p->number);
	}
	buf_printf(&b, ".%" PRId64 ".%" PRId64 ".", p->job_id, p->submit_at);
	add_hex(&b, p->cluster);
	text = arena_strdup(arena, buf_str(&b));
	buf_fini(&b);
	return text;
}

#define PARTS 7

static int hex_digit(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static char *get_hex(const char *s, struct arena *arena)
{
	size_t n = strlen(s) / 2;
	char *text = arena_alloc(arena, n + 1);

	for (size_t i = 0; i < n; i++) {
		int high = hex_digit(s[2 * i]), low = hex_digit(s[2 * i + 1]);

		if (high < 0 || low < 0 || (high == 0 && low == 0))
			return NULL;
		text[i] = (char)(high << 4 | low);
	}
	text[n] = '\0';
	return s[2 * n] == '\0' ? text : NULL;
}

static bool get_value(const char *s, const struct field *f, struct arena *arena,
		      struct spool_place *ret)
{
	bool text = field_is_text(f->type);

	ret->unknown = strcmp(s, "u") == 0;
	if (ret->unknown)
		return true;
	if (text && *s == 't') {
		ret->text = get_hex(s + 1, arena);
		return ret->text != NULL;
	}
	return !text && *s == 'n' && num_parse(s + 1, &ret->number) == 0;
}

static int split(char *text, char *parts[PARTS])
{
	int n = 0;

	for (char *p = text; n < PARTS; p++) {
		parts[n++] = p;
		p = strchr(p, '.');
		if (p == NULL)
			break;
		*p = '\0';
	}
	return n;
}

int job_cursor_parse(const char *text, int field, bool descending, struct arena *arena,
		     struct spool_place *ret, struct err *err)
{
	char *parts[PARTS];

	*ret = (struct spool_place){ 0 };
	if (split(arena_strdup(arena, text), parts) != PARTS || strcmp(parts[0], "1") != 0 ||
	    num_parse(parts[4], &ret->job_id) < 0 || num_parse(parts[5], &ret->submit_at) < 0)
		return err_set(err, ERR_INVALID, "after", "is not a cursor of an earlier answer");
	if (strcmp(parts[1], job_fields[field].name) != 0 ||
	    strcmp(parts[2], descending ? "d" : "a") != 0)
		return err_set(err, ERR_INVALID, "after",
			       "is a cursor of another order; ask for the same order again");
	ret->cluster = get_hex(parts[6], arena);
	if (ret->cluster == NULL || !get_value(parts[3], &job_fields[field], arena, ret))
		return err_set(err, ERR_INVALID, "after", "is not a cursor of an earlier answer");
	return 0;
}

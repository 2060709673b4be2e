#include "api/problem.h"

#include <ctype.h>

static void member(struct buf *out, const char *key, const char *value)
{
	if (value[0] == '\0')
		return;
	buf_printf(out, ",\"%s\":", key);
	buf_json_str(out, value);
}

/* "NOT_FOUND" as "urn:tally:problem:not-found". */
static void type(struct buf *out, const char *name)
{
	buf_adds(out, "{\"type\":\"urn:tally:problem:");
	for (; *name != '\0'; name++)
		buf_addc(out, *name == '_' ? '-' : (char)tolower((unsigned char)*name));
	buf_addc(out, '"');
}

void problem_print(const struct err *err, const char *request_id, struct buf *out)
{
	const struct err_kind *kind = err_kind(err->code);

	type(out, kind->name);
	member(out, "title", kind->title);
	buf_printf(out, ",\"status\":%d", kind->http_status);
	member(out, "detail", err->text);
	member(out, "field", err->where);
	member(out, "hint", kind->hint);
	member(out, "request", request_id);
	buf_addc(out, '}');
}

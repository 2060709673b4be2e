#include "api/verdict.h"

static const char *const names[] = {
	[VERDICT_PENDING] = "pending",	   [VERDICT_ACCEPTED] = "accepted",
	[VERDICT_DUPLICATE] = "duplicate", [VERDICT_REFUSED] = "refused",
	[VERDICT_PURGED] = "purged",
};

const char *verdict_name(enum verdict_kind kind)
{
	return names[kind];
}

static void print_refusal(struct buf *out, const struct verdict *v)
{
	buf_adds(out, ",\"field\":");
	if (v->err.where[0] != '\0')
		buf_json_str(out, v->err.where);
	else
		buf_adds(out, "null");
	buf_adds(out, ",\"reason\":");
	buf_json_str(out, v->err.text);
	if (v->quarantine_id != 0)
		buf_printf(out, ",\"quarantine_id\":%" PRId64, v->quarantine_id);
}

void verdict_print(struct buf *out, size_t index, const struct verdict *v)
{
	buf_adds(out, "{\"index\":");
	buf_u64(out, index);
	buf_adds(out, ",\"verdict\":\"");
	buf_adds(out, names[v->kind]);
	buf_addc(out, '"');
	if (v->kind == VERDICT_REFUSED)
		print_refusal(out, v);
	buf_addc(out, '}');
}

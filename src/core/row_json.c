#include "core/row_json.h"

void row_encode_json(struct buf *out, const struct entity *e, const void *row,
		     const struct row_style *style)
{
	char mark = '{';

	for (size_t i = 0; i < e->n; i++) {
		const struct field *f = &e->fields[i];

		if (style->keys != NULL && !has_bit(style->keys, i))
			continue;
		buf_addc(out, mark);
		buf_addc(out, '"');
		buf_adds(out, f->json);
		buf_adds(out, "\":");
		if (has_bit(row_known(row), i))
			field_encode_json(out, f, (const char *)row + f->offset, style);
		else
			buf_adds(out, "null");
		mark = ',';
	}
	buf_adds(out, mark == '{' ? "{}" : "}");
}

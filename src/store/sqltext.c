#include "store/sqltext.h"

void sql_textn(struct buf *b, const char *s, size_t n)
{
	buf_addc(b, '\'');
	for (size_t i = 0; i < n; i++) {
		if (s[i] == '\'')
			buf_addc(b, '\'');
		buf_addc(b, s[i]);
	}
	buf_addc(b, '\'');
}

void sql_text(struct buf *b, const char *s)
{
	sql_textn(b, s, strlen(s));
}

void sql_texts(struct buf *b, const char *const *v, size_t n)
{
	buf_adds(b, "ARRAY[");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(b, ',');
		sql_text(b, v[i]);
	}
	buf_adds(b, "]::text[]");
}

void sql_numbers(struct buf *b, const int64_t *v, size_t n)
{
	buf_adds(b, "'{");
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(b, ',');
		buf_i64(b, v[i]);
	}
	buf_adds(b, "}'::bigint[]");
}

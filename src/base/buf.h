/* base/buf.h: a growing byte builder whose failure sticks.
 *
 * buf_limit caps it; past the cap, adds are dropped and buf_failed says so: check once at the
 * end.  The bytes are always followed by a NUL that does not count. */
#ifndef TALLY_BASE_BUF_H
#define TALLY_BASE_BUF_H

#include "base/base.h"

struct buf {
	char *data; /* NULL until the first add; use buf_str for a string */
	size_t len;
	size_t cap;
	size_t limit; /* 0 = none */
	bool failed;
};

#define BUF_INIT { 0 }

void buf_init(struct buf *b);
void buf_fini(struct buf *b);  /* frees; b may be used again */
void buf_clear(struct buf *b); /* empty and not failed; keeps the memory */
void buf_limit(struct buf *b, size_t limit);
/* Makes room for n more bytes and returns where they go, or NULL when past the limit.  The caller
 * writes and then adds to b->len. */
char *buf_reserve(struct buf *b, size_t n);
void buf_add(struct buf *b, const void *p, size_t n);
void buf_addc(struct buf *b, char c);
void buf_adds(struct buf *b, const char *s);
void buf_printf(struct buf *b, const char *fmt, ...) PRINTF_LIKE(2, 3);
void buf_vprintf(struct buf *b, const char *fmt, va_list ap);
/* Decimal, fast: the encoders' most frequent call. */
void buf_i64(struct buf *b, int64_t v);
void buf_u64(struct buf *b, uint64_t v);
/* A JSON string with its quotes.  Control bytes become \uXXXX or the short escapes; the input must
 * be UTF-8 (validation mends it at the doors). */
void buf_json_str(struct buf *b, const char *s);
void buf_json_strn(struct buf *b, const char *s, size_t n);
/* One CSV field by RFC 4180: quoted when it holds a comma, quote, CR, LF or leading/trailing
 * blank, or is empty (a null is written by the caller as nothing at all). */
void buf_csv_str(struct buf *b, const char *s);
const char *buf_str(const struct buf *b); /* "" when empty */
bool buf_failed(const struct buf *b);

#endif

/* store/sqltext.h: values as SQL literals, for COPY, which takes no parameters.
 *
 * Every session has standard_conforming_strings=on and UTF-8 (store/pg.c), so doubling the quote is
 * all that a text needs. */
#ifndef TALLY_STORE_SQLTEXT_H
#define TALLY_STORE_SQLTEXT_H

#include "base/buf.h"

void sql_text(struct buf *b, const char *s);
void sql_textn(struct buf *b, const char *s, size_t n);
/* A constant text[] or bigint[], n may be 0. */
void sql_texts(struct buf *b, const char *const *v, size_t n);
void sql_numbers(struct buf *b, const int64_t *v, size_t n);

#endif

/* core/utf8.h: text as UTF-8: valid or mended, counted, cut and shown without harm.
 *
 * The one rule of mending: each byte that is not part of a valid sequence (RFC 3629: no overlong
 * forms, no surrogates, nothing above U+10FFFF), and each NUL, becomes U+FFFD.  Everything else
 * stays as it is.  Mending again changes nothing. */
#ifndef TALLY_CORE_UTF8_H
#define TALLY_CORE_UTF8_H

#include "base/arena.h"
#include "base/buf.h"

/* NUL inside counts as not valid. */
bool utf8_valid(const char *s, size_t n);
/* s holds n bytes and a NUL behind them.  Returns s itself when it is valid; *ret_mended (may be
 * NULL) is set when it was not, and never cleared, so that one flag serves a whole record. */
const char *utf8_mend(const char *s, size_t n, struct arena *arena, bool *ret_mended);

/* Columns on a terminal: one per character, two for the wide ones of East Asia and emoji, none
 * for those that combine with the one before.  Does not depend on the locale. */
size_t utf8_columns(const char *s);
/* Bytes of the longest beginning that fits into so many columns; never half a character. */
size_t utf8_cut(const char *s, size_t columns);

/* For terminals: control characters become \n \r \t, \xHH or \uHHHH (C1, direction marks, line
 * separators).  Not reversible, since a backslash stays itself. */
void utf8_escape(const char *s, struct buf *out);

#endif

/* api/gunzip.h: a gzip body, inflated under two caps: of its size and of how much a byte may
 * become.  What would burst them is refused before it has the memory. */
#ifndef TALLY_API_GUNZIP_H
#define TALLY_API_GUNZIP_H

#include "base/buf.h"
#include "base/err.h"

/* Adds the inflated bytes to out (several gzip members in a row are one body).  -1: TOO_LARGE, or
 * INVALID when it is no gzip, is damaged, ends early or has something behind it. */
int gunzip(const void *in, size_t n, size_t max_bytes, size_t max_ratio, struct buf *out,
	   struct err *err);

#endif

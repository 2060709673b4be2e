#include "api/gunzip.h"

#define ZLIB_CONST
#include <zlib.h>

#define WHERE "Content-Encoding"
#define STEP  ((size_t)64 << 10)
/* Small bodies may be as repetitive as they like. */
#define FREE_BYTES ((size_t)1 << 20)

static int over(size_t have, size_t n, size_t max_bytes, size_t max_ratio, struct err *err)
{
	if (have > max_bytes)
		return err_set(err, ERR_TOO_LARGE, "body",
			       "inflated it is more than %zu bytes; send "
			       "fewer records at once",
			       max_bytes);
	if (have > FREE_BYTES && have / max_ratio > n)
		return err_set(err, ERR_TOO_LARGE, "body",
			       "inflated it is more than %zu times its "
			       "%zu bytes; send it uncompressed, or fewer records at once",
			       max_ratio, n);
	return 0;
}

static int inflate_all(z_stream *z, size_t n, size_t max_bytes, size_t max_ratio, struct buf *out,
		       struct err *err)
{
	for (;;) {
		char *to = buf_reserve(out, STEP);
		z->next_out = (unsigned char *)to;
		z->avail_out = STEP;
		int rc = inflate(z, Z_NO_FLUSH);
		out->len += STEP - z->avail_out;
		out->data[out->len] = '\0';
		if (over(out->len, n, max_bytes, max_ratio, err) < 0)
			return -1;
		if (rc == Z_STREAM_END && z->avail_in == 0)
			return 0;
		if (rc == Z_STREAM_END)
			rc = inflateReset(z);
		if (rc == Z_BUF_ERROR || (rc == Z_OK && z->avail_in == 0 && z->avail_out != 0))
			return err_set(err, ERR_INVALID, WHERE,
				       "the gzip body ends early, after %zu "
				       "bytes",
				       n);
		if (rc != Z_OK)
			return err_set(err, ERR_INVALID, WHERE, "not a gzip body, or damaged: %s",
				       z->msg != NULL ? z->msg : "unknown trouble");
	}
}

int gunzip(const void *in, size_t n, size_t max_bytes, size_t max_ratio, struct buf *out,
	   struct err *err)
{
	z_stream z = { 0 };

	if (n > UINT_MAX)
		return err_set(err, ERR_TOO_LARGE, "body", "%zu bytes", n);
	if (inflateInit2(&z, 15 + 16) != Z_OK)
		return err_set(err, ERR_BUSY, NULL, "no memory to inflate the body");
	z.next_in = (const unsigned char *)in;
	z.avail_in = (unsigned)n;
	int rc = inflate_all(&z, n, max_bytes, max_ratio, out, err);
	inflateEnd(&z);
	return rc;
}

/* A gzip body: no crash, no more memory than the cap allows, whatever comes. */
#include "fuzz.h"

#include "api/gunzip.h"

#define MOST ((size_t)1 << 20)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	int rc = gunzip(data, size, MOST, 100, &out, &err);
	CHECK(rc == 0 || err.code == ERR_INVALID || err.code == ERR_TOO_LARGE);
	CHECK(out.len <= MOST + ((size_t)64 << 10));
	buf_fini(&out);
	return 0;
}

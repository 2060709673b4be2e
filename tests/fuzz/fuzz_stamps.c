/* Bytes as stamps of a row whose fields are known from the first bytes: what is taken is what
 * packing makes of it again. */
#include "core/merge.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct job j = { 0 };
	struct err err = { 0 };
	uint8_t out[STAMPS_MAX];

	if (size < sizeof(j.has))
		return 0;
	memcpy(j.has, data, sizeof(j.has));
	for (size_t f = JOB_FIELDS; f < 64 * HAS_WORDS; f++)
		has_clear(j.has, f);
	const uint8_t *in = data + sizeof(j.has);
	size_t n = size - sizeof(j.has);
	if (stamps_unpack(job_fields, JOB_FIELDS, j.has, in, n, j.rank, j.as_of, &err) < 0)
		return 0;
	size_t packed =
		stamps_pack(job_fields, JOB_FIELDS, j.has, j.rank, j.as_of, out, sizeof(out));
	if (packed != n || memcmp(out, in, n) != 0)
		abort();
	return 0;
}

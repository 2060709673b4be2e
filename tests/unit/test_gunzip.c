/* Inflating bodies: what is whole, what is cut, what is damaged, what would burst. */
#include "unit.h"

#include <zlib.h>

#include "api/gunzip.h"

#define MIB ((size_t)1 << 20)

/* n bytes that compress as badly (noise) or as well (blanks) as can be. */
static struct buf made(size_t n, bool noise)
{
	uint64_t state = 1;
	struct buf b = BUF_INIT;
	char *to = buf_reserve(&b, n);

	for (size_t i = 0; i < n; i++)
		to[i] = noise ? (char)test_random(&state) : ' ';
	b.len = n;
	return b;
}

static struct buf zipped(const struct buf *in)
{
	struct buf out = BUF_INIT;
	z_stream z = { 0 };

	assert_int_equal(deflateInit2(&z, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY), Z_OK);
	size_t cap = deflateBound(&z, in->len);
	z.next_in = (unsigned char *)in->data;
	z.avail_in = (unsigned)in->len;
	z.next_out = (unsigned char *)buf_reserve(&out, cap);
	z.avail_out = (unsigned)cap;
	assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
	out.len = cap - z.avail_out;
	deflateEnd(&z);
	return out;
}

static void whole_bodies_come_back(void **state)
{
	static const size_t sizes[] = { 0, 1, 100, 65535, 65536, 65537, 300000 };

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++)
		for (int noise = 0; noise < 2; noise++) {
			struct buf in = made(sizes[i], noise), z = zipped(&in), out = BUF_INIT;
			struct err err = { 0 };
			assert_int_equal(gunzip(z.data, z.len, 4 * MIB, 100, &out, &err), 0);
			assert_int_equal(out.len, in.len);
			assert_memory_equal(buf_str(&out), buf_str(&in), in.len);
			buf_fini(&in);
			buf_fini(&z);
			buf_fini(&out);
		}
}

static void members_in_a_row_are_one_body(void **state)
{
	struct buf in = made(1000, true), z = zipped(&in), out = BUF_INIT;
	size_t n = z.len;
	struct err err = { 0 };

	(void)state;
	buf_reserve(&z, n);
	buf_add(&z, z.data, n);
	assert_int_equal(gunzip(z.data, z.len, MIB, 100, &out, &err), 0);
	assert_int_equal(out.len, 2000);
	assert_memory_equal(out.data, in.data, 1000);
	assert_memory_equal(out.data + 1000, in.data, 1000);
	buf_fini(&in);
	buf_fini(&z);
	buf_fini(&out);
}

static void refused(const struct buf *z, size_t n, size_t max, size_t ratio, enum err_code want)
{
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	assert_int_equal(gunzip(z->data, n, max, ratio, &out, &err), -1);
	assert_int_equal(err.code, want);
	assert_true(out.len <= max + 2 * 65536);
	buf_fini(&out);
}

static void a_body_cut_anywhere_is_refused(void **state)
{
	struct buf in = made(500, true), z = zipped(&in);

	(void)state;
	for (size_t n = 0; n < z.len; n++)
		refused(&z, n, MIB, 100, ERR_INVALID);
	buf_fini(&in);
	buf_fini(&z);
}

static void damage_is_refused(void **state)
{
	struct buf in = made(500, true), z = zipped(&in);

	(void)state;
	z.data[z.len - 6] ^= 1; /* of the checksum */
	refused(&z, z.len, MIB, 100, ERR_INVALID);
	z.data[0] = 'x';
	refused(&z, z.len, MIB, 100, ERR_INVALID);
	buf_fini(&in);
	buf_fini(&z);
}

static void bombs_are_refused(void **state)
{
	struct buf in = made(32 * MIB, false), z = zipped(&in);

	(void)state;
	assert_true(z.len < 64 * 1024);
	refused(&z, z.len, 8 * MIB, 100000, ERR_TOO_LARGE); /* by size */
	refused(&z, z.len, 64 * MIB, 50, ERR_TOO_LARGE);    /* by ratio */
	buf_fini(&in);
	buf_fini(&z);
}

static void a_small_body_may_be_repetitive(void **state)
{
	struct buf in = made(MIB, false), z = zipped(&in), out = BUF_INIT;
	struct err err = { 0 };

	(void)state;
	assert_true(in.len / z.len > 500);
	assert_int_equal(gunzip(z.data, z.len, 4 * MIB, 50, &out, &err), 0);
	buf_fini(&in);
	buf_fini(&z);
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_bodies_come_back),
		cmocka_unit_test(members_in_a_row_are_one_body),
		cmocka_unit_test(a_body_cut_anywhere_is_refused),
		cmocka_unit_test(damage_is_refused),
		cmocka_unit_test(bombs_are_refused),
		cmocka_unit_test(a_small_body_may_be_repetitive),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

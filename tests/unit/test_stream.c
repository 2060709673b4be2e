/* Answers that are made while they are sent: whole, long, failing, and with no reader left. */
#include "unit.h"

#include "api/stream.h"

/* Writes `total` numbered bytes in pieces of `piece`, then ends as told. */
struct source {
	size_t total, piece;
	int rc;
	int write_rc; /* of the last write */
	enum err_code write_code;
};

static char byte_at(size_t i)
{
	return (char)(i * 31 + i / 251);
}

static int fill(struct stream *s, void *arg, struct err *err)
{
	struct source *src = arg;
	char piece[8192];

	for (size_t at = 0; at < src->total;) {
		size_t n = src->total - at < src->piece ? src->total - at : src->piece;
		for (size_t i = 0; i < n; i++)
			piece[i] = byte_at(at + i);
		src->write_rc = stream_write(s, piece, n, err);
		if (src->write_rc < 0) {
			src->write_code = err->code;
			return -1;
		}
		at += n;
	}
	return src->rc < 0 ? err_set(err, ERR_DATABASE, NULL, "gone at %zu", src->total) : 0;
}

static void short_answers_are_seen_whole(void **state)
{
	static const size_t sizes[] = { 0, 1, 8192, STREAM_RING - 1 };

	(void)state;
	for (size_t k = 0; k < ARRAY_LEN(sizes); k++) {
		struct source src = { .total = sizes[k], .piece = 1000 };
		struct err err = { 0 };
		size_t n;
		struct stream *s = stream_start(fill, &src, &err);
		assert_int_equal(stream_settle(s, &err), STREAM_WHOLE);
		const char *p = stream_peek(s, &n);
		assert_int_equal(n, sizes[k]);
		for (size_t i = 0; i < n; i++)
			assert_int_equal(p[i], byte_at(i));
		stream_free(s);
	}
}

static void an_early_failure_is_seen_before_a_byte_leaves(void **state)
{
	struct source src = { .total = 5000, .piece = 1000, .rc = -1 };
	struct err err = { 0 };
	struct stream *s = stream_start(fill, &src, &err);

	(void)state;
	assert_int_equal(stream_settle(s, &err), STREAM_FAILED);
	assert_int_equal(err.code, ERR_DATABASE);
	assert_string_equal(err.text, "gone at 5000");
	stream_free(s);
}

/* Reads to the end in odd pieces; returns what the last read returned. */
static ssize_t read_all(struct stream *s, size_t *ret_total, struct err *err)
{
	char piece[7001];
	ssize_t n;

	*ret_total = 0;
	while ((n = stream_read(s, piece, sizeof(piece), err)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			assert_int_equal(piece[i], byte_at(*ret_total + (size_t)i));
		*ret_total += (size_t)n;
	}
	return n;
}

static void long_answers_pass_through_the_ring(void **state)
{
	struct source src = { .total = 5 * STREAM_RING + 12345, .piece = 8191 };
	struct err err = { 0 };
	size_t total;
	struct stream *s = stream_start(fill, &src, &err);

	(void)state;
	assert_int_equal(stream_settle(s, &err), STREAM_LONGER);
	assert_int_equal(read_all(s, &total, &err), 0);
	assert_int_equal(total, src.total);
	stream_free(s);
}

static void a_late_failure_ends_with_an_error_after_the_last_byte(void **state)
{
	struct source src = { .total = 2 * STREAM_RING, .piece = 4096, .rc = -1 };
	struct err err = { 0 };
	size_t total;
	struct stream *s = stream_start(fill, &src, &err);

	(void)state;
	assert_int_equal(stream_settle(s, &err), STREAM_LONGER);
	assert_int_equal(read_all(s, &total, &err), -1);
	assert_int_equal(total, src.total);
	assert_int_equal(err.code, ERR_DATABASE);
	stream_free(s);
}

static void a_reader_that_goes_ends_the_producer(void **state)
{
	struct source src = { .total = 100 * STREAM_RING, .piece = 4096 };
	struct err err = { 0 };
	struct stream *s = stream_start(fill, &src, &err);

	(void)state;
	assert_int_equal(stream_settle(s, &err), STREAM_LONGER);
	stream_free(s);
	assert_int_equal(src.write_rc, -1);
	assert_int_equal(src.write_code, ERR_GONE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(short_answers_are_seen_whole),
		cmocka_unit_test(an_early_failure_is_seen_before_a_byte_leaves),
		cmocka_unit_test(long_answers_pass_through_the_ring),
		cmocka_unit_test(a_late_failure_ends_with_an_error_after_the_last_byte),
		cmocka_unit_test(a_reader_that_goes_ends_the_producer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

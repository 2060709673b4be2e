/* Sizes, ReqMem, durations and limits: what is taken is printed and taken again. */
#include "fuzz.h"

#include "core/duration.h"
#include "core/units.h"

static void try_size(const char *text, enum unit base, int divisor)
{
	const struct unit_style none = { SCALE_NONE, 0 }, exact = { SCALE_EXACT, 0 };
	char out[SIZE_TEXT_SIZE];
	int64_t v, again;
	bool known, known_again;
	struct err err;

	if (size_parse(text, base, divisor, &v, &known, &err) < 0)
		return;
	CHECK(v >= 0 && (known || v == 0));
	size_format(v, base, divisor, none, out);
	CHECK(size_parse(out, base, divisor, &again, &known_again, &err) == 0 && again == v);
	size_format(v, base, divisor, exact, out);
	if (v < INT64_C(1) << 53 && strchr(out, '?') == NULL)
		CHECK(size_parse(out, base, divisor, &again, &known_again, &err) == 0 &&
		      again == v);
}

static void try_durations(const char *text)
{
	char out[DURATION_TEXT_SIZE];
	int64_t v, again;
	struct err err;

	if (duration_parse(text, &v, &err) == 0) {
		duration_format(v, out);
		CHECK(duration_parse(out, &again, &err) == 0 && again == v);
	}
	if (duration_parse_us(text, &v, &err) == 0) {
		duration_format_us(v, out);
		CHECK(v >= 0 && duration_parse_us(out, &again, &err) == 0 && again <= v);
	}
	if (limit_parse(text, &v, &err) == 0) {
		limit_format_raw(v, out);
		CHECK(limit_parse(out, &again, &err) == 0 || v > INT64_MAX / 60);
		limit_format(v, out);
		CHECK(limit_parse(out, &again, &err) == 0);
		CHECK(again == v || v > INT64_MAX / 60);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	enum req_mem_per per;
	int64_t v;
	bool known;
	struct err err;

	try_size(text, UNIT_NONE, 1024);
	try_size(text, UNIT_NONE, 1000);
	try_size(text, UNIT_MEGA, 1024);
	try_size(text, UNIT_KILO, 1000);
	if (req_mem_parse(text, &v, &per, &known, &err) == 0)
		CHECK(v >= 0 && (v > 0 || !known));
	try_durations(text);
	free(text);
	return 0;
}

/* Times in every form, and zones: a zone file or a rule from outside, then what its clocks say. */
#include "fuzz.h"

#include "core/timespec.h"

static void try_zone(const struct zone *z, const char *text, int64_t now)
{
	struct civil c;
	char out[TIME_TEXT_SIZE];
	int64_t t, again;
	bool known;
	struct err err;

	if (time_parse(text, now, z, &t, &err) == 0) {
		time_format_iso(t, out);
		zone_civil(z, t, &c);
		CHECK(civil_is_valid(&c));
	}
	if (time_parse_query(text, now, z, &t, &err) == 0)
		CHECK(time_parse_query(text, now, z, &again, &err) == 0 && again == t);
	time_parse_cell(text, z, &t, &known, &err);
	/* Only a zone that jumps by hours again and again could begin a day after the moment. */
	t = midnight_of(now, z);
	CHECK(t <= now + 2 * DAY_S && t >= now - 2 * DAY_S);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct arena *arena = arena_new();
	char *text = fuzz_string(data, size);
	const struct zone *z;
	char out[TIME_TEXT_SIZE];
	int64_t t, again, now = 1787326680;
	struct err err;

	if (time_parse_iso(text, &t, &err) == 0) {
		time_format_iso(t, out);
		if (t >= -62167219200 && t <= 253402300799) /* years 0 to 9999 */
			CHECK(time_parse_iso(out, &again, &err) == 0 && again == t);
	}
	try_zone(zone_utc(), text, now);
	if (zone_open(text, arena, &z, &err) == 0 || zone_parse(data, size, arena, &z, &err) == 0) {
		static const char *const texts[] = { "today", "0330-02:30", "2025-10-26T02:30:00" };
		for (size_t i = 0; i < ARRAY_LEN(texts); i++)
			try_zone(z, texts[i], now + (int64_t)i * 10000000);
	}
	free(text);
	arena_free(arena);
	return 0;
}

#include "core/timespec.h"

#include "base/num.h"
#include "core/civil.h"

#include <strings.h>

static char *two_digits(char *to, int v)
{
	to[0] = (char)('0' + v / 10);
	to[1] = (char)('0' + v % 10);
	return to + 2;
}

void time_format_iso(int64_t t, char out[TIME_TEXT_SIZE])
{
	struct civil c;
	char *to = out;

	civil_from_seconds(t, &c);
	if (c.year >= 0 && c.year <= 9999) {
		to = two_digits(to, (int)(c.year / 100));
		to = two_digits(to, (int)(c.year % 100));
	} else {
		to += snprintf(out, 20, "%+07" PRId64, c.year);
	}
	*to++ = '-';
	to = two_digits(to, c.month);
	*to++ = '-';
	to = two_digits(to, c.day);
	*to++ = 'T';
	to = two_digits(to, c.hour);
	*to++ = ':';
	to = two_digits(to, c.minute);
	*to++ = ':';
	to = two_digits(to, c.second);
	*to++ = 'Z';
	*to = '\0';
}

/* Exactly n digits, or NULL. */
static const char *digits_read(const char *s, int n, int *ret)
{
	int v = 0;

	for (int i = 0; i < n; i++) {
		if (s[i] < '0' || s[i] > '9')
			return NULL;
		v = v * 10 + (s[i] - '0');
	}
	*ret = v;
	return s + n;
}

static const char *expect(const char *s, char c)
{
	return s != NULL && *s == c ? s + 1 : NULL;
}

static const char *expect_digits(const char *s, char c, int n, int *ret)
{
	s = expect(s, c);
	return s != NULL ? digits_read(s, n, ret) : NULL;
}

/* YYYY-MM-DD */
static const char *date_read(const char *s, struct civil *c)
{
	int year = 0;

	s = digits_read(s, 4, &year);
	c->year = year;
	s = expect_digits(s, '-', 2, &c->month);
	return expect_digits(s, '-', 2, &c->day);
}

/* HH:MM[:SS] */
static const char *clock_read(const char *s, struct civil *c)
{
	s = digits_read(s, 2, &c->hour);
	s = expect_digits(s, ':', 2, &c->minute);
	c->second = 0;
	if (s != NULL && *s == ':')
		s = digits_read(s + 1, 2, &c->second);
	return s;
}

/* Z, +HH:MM, +HHMM, +HH */
static const char *offset_read(const char *s, int *ret_s)
{
	int sign = *s == '-' ? -1 : 1, h = 0, m = 0;

	if (*s == 'Z' || *s == 'z') {
		*ret_s = 0;
		return s + 1;
	}
	if (*s != '+' && *s != '-')
		return NULL;
	s = digits_read(s + 1, 2, &h);
	if (s != NULL && *s == ':')
		s = digits_read(s + 1, 2, &m);
	else if (s != NULL && *s != '\0')
		s = digits_read(s, 2, &m);
	if (s == NULL || h > 23 || m > 59)
		return NULL;
	*ret_s = sign * (h * 3600 + m * 60);
	return s;
}

static const char *fraction_skip(const char *s)
{
	if (s != NULL && *s == '.' && s[1] >= '0' && s[1] <= '9')
		s += 1 + strspn(s + 1, "0123456789");
	return s;
}

/* YYYY-MM-DD[THH:MM[:SS[.fraction]][offset]], to the end of the text. */
struct iso {
	struct civil c;
	bool has_clock, has_offset;
	int offset;
};

static bool iso_read(const char *s, struct iso *ret)
{
	*ret = (struct iso){ 0 };
	s = date_read(s, &ret->c);
	if (s != NULL && *s == 'T') {
		ret->has_clock = true;
		s = fraction_skip(clock_read(s + 1, &ret->c));
		if (s != NULL && *s != '\0') {
			ret->has_offset = true;
			s = offset_read(s, &ret->offset);
		}
	}
	return s != NULL && *s == '\0' && civil_is_valid(&ret->c);
}

static int64_t iso_moment(const struct iso *iso, const struct zone *z)
{
	return iso->has_offset ? seconds_from_civil(&iso->c) - iso->offset
			       : zone_moment(z, &iso->c);
}

int time_parse_iso(const char *text, int64_t *ret, struct err *err)
{
	struct iso iso;

	if (num_parse(text, ret) == 0)
		return 0;
	if (!iso_read(text, &iso) || !iso.has_offset)
		return err_set(err, ERR_INVALID, "time",
			       "\"%.64s\" is no time; write such as 2026-08-21T15:38:00Z, "
			       "2026-08-21T15:38:00+02:00 or seconds since 1970", text);
	*ret = iso_moment(&iso, NULL);
	return 0;
}

/* One or two digits. */
static const char *short_number_read(const char *s, int *ret)
{
	const char *end = digits_read(s, 2, ret);

	return end != NULL ? end : digits_read(s, 1, ret);
}

/* H[H]:MM[:SS][AM|PM], to the end of the text. */
static bool sacct_clock_read(const char *s, struct civil *c)
{
	s = short_number_read(s, &c->hour);
	s = expect_digits(s, ':', 2, &c->minute);
	c->second = 0;
	if (s != NULL && *s == ':')
		s = digits_read(s + 1, 2, &c->second);
	if (s == NULL || *s == '\0')
		return s != NULL;
	bool pm = strcasecmp(s, "PM") == 0;
	if ((!pm && strcasecmp(s, "AM") != 0) || c->hour < 1 || c->hour > 12)
		return false;
	c->hour = c->hour % 12 + (pm ? 12 : 0);
	return true;
}

/* MMDD[YY], MM.DD[.YY], MM/DD[/YY]; *ret_year says whether the year was there. */
static const char *sacct_date_read(const char *s, struct civil *c, bool *ret_year)
{
	int year = 0;
	const char *at = short_number_read(s, &c->month);
	char sep = at != NULL && (*at == '.' || *at == '/') ? *at : '\0';

	if (sep != '\0') {
		at = short_number_read(at + 1, &c->day);
	} else {
		at = digits_read(s, 2, &c->month);
		at = at != NULL ? digits_read(at, 2, &c->day) : NULL;
	}
	*ret_year = at != NULL && (sep != '\0' ? *at == sep : *at >= '0' && *at <= '9');
	if (*ret_year)
		at = digits_read(at + (sep != '\0'), 2, &year);
	c->year = 2000 + year;
	return at;
}

static bool sacct_day_read(const char *s, const struct civil *today, struct civil *c)
{
	bool has_year;

	s = sacct_date_read(s, c, &has_year);
	if (s == NULL || (*s == '-' && !sacct_clock_read(s + 1, c)) || (*s != '-' && *s != '\0'))
		return false;
	if (!has_year) {
		bool to_come = c->month > today->month ||
			       (c->month == today->month && c->day > today->day);
		c->year = today->year - to_come;
	}
	return true;
}

/* Words for a time of today, or for a day. */
static bool word_read(const char *s, struct civil *c)
{
	static const struct {
		const char *word;
		int hour, days;
	} words[] = {
		{ "today", 0, 0 },    { "midnight", 0, 0 }, { "noon", 12, 0 },
		{ "elevenses", 11, 0 }, { "fika", 15, 0 },  { "teatime", 16, 0 },
		{ "tomorrow", 0, 1 }, { "yesterday", 0, -1 },
	};

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(s, words[i].word) == 0) {
			c->hour = words[i].hour;
			c->minute = c->second = 0;
			c->day += words[i].days;
			return true;
		}
	return false;
}

/* now[+|-N[unit]] */
static bool now_read(const char *s, int64_t now, int64_t *ret)
{
	static const struct {
		const char *name;
		int64_t s;
	} units[] = { { "seconds", 1 }, { "minutes", 60 }, { "hours", 3600 }, { "days", 86400 },
		      { "weeks", 604800 } };
	int64_t count = 0;
	bool too_much = false;

	if (strncasecmp(s, "now", 3) != 0)
		return false;
	s += 3;
	int64_t unit = 1, sign = *s == '-' ? -1 : 1;
	if (*s != '\0') {
		if (*s != '+' && *s != '-')
			return false;
		s = num_digits(s + 1, &count);
		if (s == NULL)
			return false;
		size_t n = strlen(s), i = 0;
		while (i < ARRAY_LEN(units) && strncasecmp(units[i].name, s, n) != 0)
			i++;
		if (i == ARRAY_LEN(units))
			return false;
		unit = units[i].s;
	}
	*ret = num_add(now, num_mul(sign * count, unit, &too_much), &too_much);
	return !too_much;
}

#define EPOCH_DIGITS_MIN 9 /* fewer could be a MMDD or MMDDYY with a slip in it */

static bool epoch_read(const char *s, size_t digits_min, int64_t *ret)
{
	if (strncmp(s, "uts", 3) == 0)
		return s[3] != '-' && num_parse(s + 3, ret) == 0;
	return strspn(s, "0123456789") >= digits_min && num_parse(s, ret) == 0;
}

static bool sacct_read(const char *text, int64_t now, const struct zone *z, int64_t *ret)
{
	struct iso iso;
	struct civil today, c;

	if (now_read(text, now, ret) || epoch_read(text, EPOCH_DIGITS_MIN, ret))
		return true;
	if (iso_read(text, &iso)) {
		*ret = iso_moment(&iso, z);
		return true;
	}
	zone_civil(z, now, &today);
	c = today;
	if (word_read(text, &c)) {
		*ret = zone_moment(z, &c);
		return true;
	}
	c.hour = c.minute = c.second = 0;
	if (!sacct_day_read(text, &today, &c)) {
		c = today;
		if (!sacct_clock_read(text, &c))
			return false;
	}
	if (!civil_is_valid(&c))
		return false;
	*ret = zone_moment(z, &c);
	return true;
}

int time_parse(const char *text, int64_t now, const struct zone *z, int64_t *ret, struct err *err)
{
	if (sacct_read(text, now, z, ret))
		return 0;
	return err_set(err, ERR_INVALID, "time",
		       "\"%.64s\" is no time; write HH:MM[:SS][AM|PM], MMDD[YY][-HH:MM[:SS]], "
		       "MM.DD[.YY], MM/DD[/YY][-HH:MM[:SS]], YYYY-MM-DD[THH:MM[:SS]], today, midnight, "
		       "noon, elevenses, fika, teatime, tomorrow, yesterday, "
		       "now[+|-N[seconds|minutes|hours|days|weeks]] or uts and epoch seconds", text);
}

int time_parse_query(const char *text, int64_t now, const struct zone *z, int64_t *ret,
		     struct err *err)
{
	struct iso iso;

	if (num_parse(text, ret) == 0 || now_read(text, now, ret))
		return 0;
	if (z != NULL)
		return time_parse(text, now, z, ret, err);
	if (!iso_read(text, &iso) || (iso.has_clock && !iso.has_offset))
		return err_set(err, ERR_INVALID, "time",
			       "\"%.64s\" is no time here; write 2026-08-21T15:38:00Z, "
			       "2026-08-21T15:38:00+02:00, 2026-08-21, seconds since 1970, or "
			       "now[+|-N[seconds|minutes|hours|days|weeks]]; name a time zone to use "
			       "local times", text);
	*ret = iso_moment(&iso, zone_utc());
	return 0;
}

int time_parse_cell(const char *text, const struct zone *z, int64_t *ret, bool *ret_known,
		    struct err *err)
{
	struct iso iso;

	*ret = 0;
	*ret_known = false;
	if (time_is_absent(text))
		return 0;
	if (num_parse(text, ret) < 0) {
		if (!iso_read(text, &iso) || !iso.has_clock)
			return err_set(err, ERR_INVALID, "time",
				       "\"%.64s\" is no time; sacct writes YYYY-MM-DDTHH:MM:SS, "
				       "Unknown or None", text);
		*ret = iso_moment(&iso, z);
	}
	*ret_known = *ret != 0;
	return 0;
}

int64_t midnight_of(int64_t now, const struct zone *z)
{
	struct civil c;

	zone_civil(z, now, &c);
	c.hour = c.minute = c.second = 0;
	return zone_moment(z, &c);
}

bool time_is_absent(const char *text)
{
	static const char *const absent[] = { "", "Unknown", "None", "N/A" };

	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (strcasecmp(text, absent[i]) == 0)
			return true;
	return false;
}

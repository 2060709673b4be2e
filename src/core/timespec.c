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

int time_parse_iso(const char *text, int64_t *ret, struct err *err)
{
	struct civil c = { 0 };
	int offset = 0;

	if (num_parse(text, ret) == 0)
		return 0;
	const char *at = date_read(text, &c);
	at = expect(at, 'T');
	if (at != NULL)
		at = clock_read(at, &c);
	if (at != NULL && *at == '.' && at[1] >= '0' && at[1] <= '9')
		at += 1 + strspn(at + 1, "0123456789");
	if (at != NULL)
		at = offset_read(at, &offset);
	if (at == NULL || *at != '\0' || !civil_is_valid(&c))
		return err_set(err, ERR_INVALID, "time",
			       "\"%.64s\" is no time; write such as 2026-08-21T15:38:00Z, "
			       "2026-08-21T15:38:00+02:00 or seconds since 1970", text);
	*ret = seconds_from_civil(&c) - offset;
	return 0;
}

bool time_is_absent(const char *text)
{
	static const char *const absent[] = { "", "Unknown", "None", "N/A" };

	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (strcasecmp(text, absent[i]) == 0)
			return true;
	return false;
}

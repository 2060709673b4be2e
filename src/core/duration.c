#include "core/duration.h"

#include "base/num.h"

#include <strings.h>

void duration_format(int64_t s, char out[DURATION_TEXT_SIZE])
{
	int64_t days = s / 86400;
	int h = (int)(s / 3600 % 24), m = (int)(s / 60 % 60), sec = (int)(s % 60);

	if (s < 0)
		snprintf(out, DURATION_TEXT_SIZE, "INVALID");
	else if (days > 0)
		snprintf(out, DURATION_TEXT_SIZE, "%" PRId64 "-%02d:%02d:%02d", days, h, m, sec);
	else
		snprintf(out, DURATION_TEXT_SIZE, "%02d:%02d:%02d", h, m, sec);
}

void duration_format_us(int64_t us, char out[DURATION_TEXT_SIZE])
{
	int64_t s = us / 1000000;
	int ms = (int)(us / 1000 % 1000);

	if (us > 0 && s < 3600 && ms != 0)
		snprintf(out, DURATION_TEXT_SIZE, "%02d:%02d.%03d", (int)(s / 60), (int)(s % 60),
			 ms);
	else
		duration_format(us < 0 ? -1 : s, out);
}

enum { DAYS, HOURS, MINUTES, SECONDS, PARTS };

static const struct {
	int64_t seconds;
	int64_t bound; /* where it is not the first number given */
} parts[PARTS] = { { 86400, 0 }, { 3600, 24 }, { 60, 60 }, { 1, 60 } };

/* [days-]n[:n[:n]][.decimals] */
struct clock {
	int64_t v[PARTS];
	int first; /* the first part given, and how many stand behind the days */
	int n;
	int64_t us;
	bool has_decimals;
};

static const char *decimals_read(const char *at, struct clock *c)
{
	int64_t unit = 1000000;

	if (*at < '0' || *at > '9')
		return NULL;
	c->has_decimals = true;
	for (; *at >= '0' && *at <= '9'; at++) {
		unit /= 10;
		c->us += unit * (*at - '0');
	}
	return at;
}

static bool clock_read(const char *text, struct clock *c)
{
	int64_t v[3] = { 0 };
	bool days = false;

	*c = (struct clock){ .n = 1 };
	const char *at = num_digits(text, &v[0]);
	if (at != NULL && *at == '-') {
		days = true;
		c->v[DAYS] = v[0];
		at = num_digits(at + 1, &v[0]);
	}
	while (at != NULL && *at == ':' && c->n < 3)
		at = num_digits(at + 1, &v[c->n++]);
	if (at != NULL && *at == '.')
		at = decimals_read(at + 1, c);
	/* After days hours come first; without, "n:n" and "n" begin with minutes. */
	int from = days || c->n == 3 ? HOURS : MINUTES;
	memcpy(&c->v[from], v, sizeof(v[0]) * (size_t)c->n);
	c->first = days ? DAYS : from;
	return at != NULL && *at == '\0';
}

/* Only the first number may be as large as it likes. */
static bool clock_seconds(const struct clock *c, int64_t *ret)
{
	bool too_much = false;
	int64_t s = 0;

	for (int i = c->first; i < PARTS; i++) {
		if (i > c->first && c->v[i] >= parts[i].bound)
			return false;
		s = num_add(s, num_mul(c->v[i], parts[i].seconds, &too_much), &too_much);
	}
	*ret = s;
	return !too_much;
}

static int duration_error(const char *text, struct err *err)
{
	return err_set(err, ERR_INVALID, "duration", "\"%.40s\" is no duration; write [D-]HH:MM:SS",
		       text);
}

static bool duration_read(const char *text, struct clock *c, int64_t *ret_s)
{
	if (!clock_read(text, c))
		return false;
	int down_to_seconds = c->first == MINUTES ? 2 : 3;
	return c->n == down_to_seconds && clock_seconds(c, ret_s);
}

int duration_parse(const char *text, int64_t *ret_s, struct err *err)
{
	struct clock c;
	int64_t s;

	if (!duration_read(text, &c, &s) || c.has_decimals)
		return duration_error(text, err);
	*ret_s = s;
	return 0;
}

int duration_parse_us(const char *text, int64_t *ret_us, struct err *err)
{
	struct clock c;
	int64_t s;
	bool too_much = false;

	if (!duration_read(text, &c, &s))
		return duration_error(text, err);
	int64_t us = num_add(num_mul(s, 1000000, &too_much), c.us, &too_much);
	if (too_much)
		return duration_error(text, err);
	*ret_us = us;
	return 0;
}

int limit_parse(const char *text, int64_t *ret_limit, struct err *err)
{
	static const struct {
		const char *name;
		int64_t limit;
	} words[] = {
		{ "UNLIMITED", LIMIT_UNLIMITED },
		{ "INFINITE", LIMIT_UNLIMITED },
		{ "-1", LIMIT_UNLIMITED },
		{ "Partition_Limit", LIMIT_PARTITION },
	};
	struct clock c;
	int64_t s;

	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (strcasecmp(words[i].name, text) == 0) {
			*ret_limit = words[i].limit;
			return 0;
		}
	if (!clock_read(text, &c) || c.has_decimals || !clock_seconds(&c, &s))
		return err_set(err, ERR_INVALID, "timelimit",
			       "\"%.40s\" is no time limit; write minutes, minutes:seconds, h:m:s, "
			       "days-h, days-h:m, days-h:m:s or UNLIMITED", text);
	*ret_limit = s / 60 + (s % 60 != 0);
	return 0;
}

static const char *limit_word(int64_t limit)
{
	return limit == LIMIT_UNLIMITED ? "UNLIMITED" :
	       limit == LIMIT_PARTITION ? "Partition_Limit" : NULL;
}

void limit_format(int64_t limit, char out[DURATION_TEXT_SIZE])
{
	const char *word = limit_word(limit);

	if (word != NULL)
		snprintf(out, DURATION_TEXT_SIZE, "%s", word);
	else
		duration_format(num_mul(limit, 60, NULL), out);
}

void limit_format_raw(int64_t limit, char out[DURATION_TEXT_SIZE])
{
	const char *word = limit_word(limit);

	if (word != NULL)
		snprintf(out, DURATION_TEXT_SIZE, "%s", word);
	else
		snprintf(out, DURATION_TEXT_SIZE, "%" PRId64, limit);
}

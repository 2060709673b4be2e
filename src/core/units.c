#include "core/units.h"

#include "base/num.h"

#include <math.h>

static const char letters[] = "?KMGTP"; /* [UNIT_NONE] is no letter at all */

static double scale_up(double n, int divisor, bool exact, int *unit)
{
	while (n >= divisor && (!exact || (uint64_t)n % (uint64_t)divisor == 0)) {
		n /= divisor;
		(*unit)++;
	}
	return n;
}

/* By steps, as the real tool divides: the two decimals of the result depend on it. */
static double scale_to(double n, int divisor, int to, int *unit)
{
	for (; *unit > to; (*unit)--)
		n *= divisor;
	for (; *unit < to; (*unit)++)
		n /= divisor;
	return n;
}

static const char *unit_suffix(int unit, char out[2])
{
	out[0] = unit == UNIT_NONE ? '\0' : unit <= UNIT_PETA ? letters[unit] : '?';
	out[1] = '\0';
	return out;
}

void size_format(int64_t n, enum unit base, int divisor, struct unit_style style,
		 char out[SIZE_TEXT_SIZE])
{
	char suffix[2];
	int unit = (int)base;
	double v = (double)n;

	if (n == 0) {
		snprintf(out, SIZE_TEXT_SIZE, "0");
		return;
	}
	switch (style.scale) {
	case SCALE_NONE:
		snprintf(out, SIZE_TEXT_SIZE, "%" PRId64 "%s", n, unit_suffix(unit, suffix));
		return;
	case SCALE_FIXED: v = scale_to(v, divisor, (int)style.to, &unit); break;
	case SCALE_EXACT: v = scale_up(v, divisor, true, &unit); break;
	case SCALE_ROUND: v = scale_up(v, divisor, false, &unit); break;
	}
	if (unit == (int)base) /* untouched: digits of the integer, not of a double */
		snprintf(out, SIZE_TEXT_SIZE, "%" PRId64 "%s", n, unit_suffix(unit, suffix));
	else
		snprintf(out, SIZE_TEXT_SIZE, "%.*f%s", trunc(v) == v ? 0 : 2, v,
			 unit_suffix(unit, suffix));
}

static bool letter_unit(char c, enum unit *ret)
{
	const char *at = c != '\0' && c != '?' ? strchr(letters, c) : NULL;

	if (at == NULL)
		return false;
	*ret = (enum unit)(at - letters);
	return true;
}

int unit_parse(const char *text, enum unit *ret, struct err *err)
{
	char c = text[0] >= 'a' && text[0] <= 'z' ? (char)(text[0] - 'a' + 'A') : text[0];

	if (text[0] == '\0' || text[1] != '\0' || !letter_unit(c, ret))
		return err_set(err, ERR_INVALID, "units",
			       "\"%.32s\" is no unit; valid are K M G T P", text);
	return 0;
}

/* Nine decimals are more than any tool prints and keep the arithmetic in 128 bits. */
#define DECIMALS_MAX 9

struct decimal {
	uint64_t whole;
	uint64_t fraction;
	uint64_t per; /* fraction is of this: 100 for two decimals */
};

static const char *decimal_read(const char *s, struct decimal *ret)
{
	const char *at = num_digits_u64(s, &ret->whole);

	ret->fraction = 0;
	ret->per = 1;
	if (at == NULL || *at != '.')
		return at;
	const char *first = ++at;
	for (; *at >= '0' && *at <= '9'; at++)
		if (at - first < DECIMALS_MAX) {
			ret->fraction = ret->fraction * 10 + (uint64_t)(*at - '0');
			ret->per *= 10;
		}
	return at > first ? at : NULL;
}

/* d * divisor^(unit - base), to the nearest integer; false when it passes int64. */
static bool decimal_scale(struct decimal d, enum unit unit, enum unit base, int divisor,
			  int64_t *ret)
{
	unsigned __int128 up, down = d.per;

	if (__builtin_mul_overflow((unsigned __int128)d.whole, d.per, &up))
		return false;
	up += d.fraction;
	for (int u = (int)base; u < (int)unit; u++)
		if (__builtin_mul_overflow(up, (unsigned)divisor, &up))
			return false;
	for (int u = (int)unit; u < (int)base; u++)
		down *= (unsigned)divisor;
	up = up / down + (up % down * 2 >= down ? 1 : 0);
	if (up > INT64_MAX)
		return false;
	*ret = (int64_t)up;
	return true;
}

static int size_error(const char *text, struct err *err)
{
	return err_set(err, ERR_INVALID, "size",
		       "\"%.40s\" is no size; write a number and K, M, G, T or P", text);
}

/* "", "16?", or a number that means none. */
static bool size_is_absent(const char *text)
{
	struct decimal d;
	const char *at = decimal_read(text, &d);

	if (at == NULL)
		return *text == '\0';
	if (*at == '\0')
		return d.per == 1 && d.whole >= NO_VAL64;
	return *at == '?' && at[1] == '\0';
}

int size_parse(const char *text, enum unit base, int divisor, int64_t *ret, bool *ret_known,
	       struct err *err)
{
	struct decimal d;
	enum unit unit = base;

	*ret = 0;
	*ret_known = false;
	if (size_is_absent(text))
		return 0;
	const char *at = decimal_read(text, &d);
	if (at == NULL)
		return size_error(text, err);
	bool lettered = letter_unit(*at, &unit);
	if (at[lettered] != '\0' || (!lettered && base == UNIT_NONE && d.per != 1))
		return size_error(text, err); /* garbage after it, or a part of one byte */
	if (!decimal_scale(d, unit, base, divisor, ret))
		return err_set(err, ERR_INVALID, "size", "\"%.40s\" is too large", text);
	*ret_known = true;
	return 0;
}

#define OLD_PER_CPU (INT64_C(1) << 31) /* of a number of 32 bits */

int req_mem_parse(const char *text, int64_t *ret_mib, enum req_mem_per *ret_per, bool *ret_known,
		  struct err *err)
{
	char size[48];
	size_t n = strlen(text);
	enum req_mem_per per = PER_JOB;
	int64_t mib;
	bool known;

	if (n > 0 && (text[n - 1] == 'c' || text[n - 1] == 'n'))
		per = text[--n] == 'c' ? PER_CPU : PER_NODE;
	if (n >= sizeof(size) || (n == 0 && per != PER_JOB))
		return size_error(text, err);
	memcpy(size, text, n);
	size[n] = '\0';
	if (size_parse(size, UNIT_MEGA, 1024, &mib, &known, err) < 0)
		return -1;
	if (per == PER_NODE && mib >= OLD_PER_CPU && mib < 2 * OLD_PER_CPU) {
		mib -= OLD_PER_CPU;
		per = PER_CPU;
	}
	*ret_mib = mib;
	*ret_per = per;
	*ret_known = known && mib != 0;
	return 0;
}

bool req_mem_split(uint64_t raw, int64_t *ret_mib, enum req_mem_per *ret_per)
{
	const uint64_t per_cpu = UINT64_C(1) << 63;

	if (raw >= NO_VAL64 || (raw & ~per_cpu) == 0)
		return false;
	*ret_mib = (int64_t)(raw & ~per_cpu);
	*ret_per = (raw & per_cpu) != 0 ? PER_CPU : PER_NODE;
	return true;
}

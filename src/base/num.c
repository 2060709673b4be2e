#include "base/num.h"

const char *num_digits_u64(const char *s, uint64_t *ret)
{
	uint64_t v = 0;
	const char *at = s;

	for (; *at >= '0' && *at <= '9'; at++)
		if (__builtin_mul_overflow(v, 10u, &v) ||
		    __builtin_add_overflow(v, (uint64_t)(*at - '0'), &v))
			return NULL;
	if (at == s)
		return NULL;
	*ret = v;
	return at;
}

const char *num_digits(const char *s, int64_t *ret)
{
	uint64_t v;
	const char *end = num_digits_u64(s, &v);

	if (end == NULL || v > INT64_MAX)
		return NULL;
	*ret = (int64_t)v;
	return end;
}

int num_parse_u64(const char *s, uint64_t *ret)
{
	uint64_t v;
	const char *end = num_digits_u64(s, &v);

	if (end == NULL || *end != '\0')
		return -1;
	*ret = v;
	return 0;
}

int num_parse(const char *s, int64_t *ret)
{
	bool negative = *s == '-';
	uint64_t v;

	if (num_parse_u64(s + negative, &v) < 0 || v > (uint64_t)INT64_MAX + negative)
		return -1;
	*ret = negative ? (int64_t)(0 - v) : (int64_t)v;
	return 0;
}

int64_t num_mul(int64_t a, int64_t b, bool *saturated)
{
	int64_t v;

	if (!__builtin_mul_overflow(a, b, &v))
		return v;
	if (saturated != NULL)
		*saturated = true;
	return (a < 0) == (b < 0) ? INT64_MAX : INT64_MIN;
}

int64_t num_add(int64_t a, int64_t b, bool *saturated)
{
	int64_t v;

	if (!__builtin_add_overflow(a, b, &v))
		return v;
	if (saturated != NULL)
		*saturated = true;
	return a < 0 ? INT64_MIN : INT64_MAX;
}

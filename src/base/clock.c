#include "base/clock.h"

int64_t monotonic_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

int64_t monotonic_ms(void)
{
	return monotonic_us() / 1000;
}

struct timespec monotonic_timespec(int64_t at_ms)
{
	return (struct timespec){ .tv_sec = at_ms / 1000, .tv_nsec = at_ms % 1000 * 1000000 };
}

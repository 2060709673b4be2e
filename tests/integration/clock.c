/* A clock for tests: a program under LD_PRELOAD of this believes that it is TALLY_TEST_NOW. */
#include <stdlib.h>
#include <time.h>

time_t time(time_t *ret)
{
	const char *now = getenv("TALLY_TEST_NOW");
	struct timespec real;
	time_t t;

	clock_gettime(CLOCK_REALTIME, &real);
	t = now ? (time_t)strtoll(now, NULL, 10) : real.tv_sec;
	if (ret)
		*ret = t;
	return t;
}

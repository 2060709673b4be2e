/* Preloaded into a program, it shifts what time() and its like tell by CLOCK_SHIFT_S seconds, so
 * that a sender whose clock is wrong can be had on one machine; or they stand still at
 * CLOCK_AT_S. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/time.h>
#include <time.h>

static time_t shift(void)
{
	const char *s = getenv("CLOCK_SHIFT_S");

	return s != NULL ? (time_t)strtol(s, NULL, 10) : 0;
}

int clock_gettime(clockid_t id, struct timespec *ts)
{
	static int (*real)(clockid_t, struct timespec *);

	if (real == NULL)
		real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
	int rc = real(id, ts);
	const char *at = getenv("CLOCK_AT_S");
	if (rc == 0 && id == CLOCK_REALTIME)
		ts->tv_sec = at != NULL ? (time_t)strtoll(at, NULL, 10) : ts->tv_sec + shift();
	return rc;
}

time_t time(time_t *out)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	if (out != NULL)
		*out = ts.tv_sec;
	return ts.tv_sec;
}

int gettimeofday(struct timeval *restrict tv, void *restrict zone)
{
	struct timespec ts;

	(void)zone;
	clock_gettime(CLOCK_REALTIME, &ts);
	tv->tv_sec = ts.tv_sec;
	tv->tv_usec = ts.tv_nsec / 1000;
	return 0;
}

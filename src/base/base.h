/* base/base.h: what every file of tally may take for granted: the C library's headers, a few
 * macros, and the calls nobody may use.  Include it first. */
#ifndef TALLY_BASE_BASE_H
#define TALLY_BASE_BASE_H

#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))
#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define UNUSED __attribute__((unused))
#define NONNULL_RESULT __attribute__((returns_nonnull))

/* No unbounded copies, no hidden state, no silent number parsing. */
#pragma GCC poison strcpy strcat sprintf vsprintf strtok atoi atol atoll gmtime localtime gets

#endif

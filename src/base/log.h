/* base/log.h: one line per event, with context as key=value.
 *
 * error = someone must act, warn = we coped, info = a state changed, debug = the rest.  Two
 * formats: slurmdbd's ("[2026-01-02T03:04:05.678] level: text key=value") and one JSON object a
 * line.  Safe from every thread.  Only owners of a request, message or task log; library code
 * returns errors. */
#ifndef TALLY_BASE_LOG_H
#define TALLY_BASE_LOG_H

#include "base/err.h"

enum log_level { LOG_QUIET, LOG_FATAL, LOG_ERROR, LOG_WARN, LOG_INFO, LOG_VERBOSE, LOG_DEBUG };
enum log_format { LOG_SLURM, LOG_JSON };

struct log_settings {
	enum log_level level;
	enum log_format format;
	const char *file; /* NULL = standard error */
};

/* Opens (or opens again: for log rotation) and takes over the settings.  On failure the old log
 * stays.  Returns 0, or -1 with err. */
int log_open(const struct log_settings *settings, struct err *err);
bool log_wants(enum log_level level);
/* fmt may end in " key=value" pairs; keep values free of blanks or quote them. */
void log_at(enum log_level level, const char *fmt, ...) PRINTF_LIKE(2, 3);
/* "text: where: what (hint)". */
void log_err(enum log_level level, const struct err *err, const char *fmt, ...) PRINTF_LIKE(3, 4);

#define log_error(...) log_at(LOG_ERROR, __VA_ARGS__)
#define log_warn(...) log_at(LOG_WARN, __VA_ARGS__)
#define log_info(...) log_at(LOG_INFO, __VA_ARGS__)
#define log_debug(...) log_at(LOG_DEBUG, __VA_ARGS__)

#endif

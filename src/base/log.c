#include "base/log.h"

#include <pthread.h>

#include "base/arena.h"
#include "base/buf.h"

static const char *const level_names[] = { "quiet", "fatal", "error",  "warning",
					   "info",  "verbose", "debug" };

static struct {
	pthread_mutex_t lock; /* guards the rest */
	enum log_level level;
	enum log_format format;
	FILE *file; /* NULL = standard error */
} state = { PTHREAD_MUTEX_INITIALIZER, LOG_INFO, LOG_SLURM, NULL };

int log_open(const struct log_settings *settings, struct err *err)
{
	FILE *file = NULL;

	if (settings->file != NULL) {
		file = fopen(settings->file, "ae");
		if (file == NULL)
			return err_set(err, ERR_SYSTEM, "LogFile", "cannot open %s: %s",
				       settings->file, strerror(errno));
	}
	pthread_mutex_lock(&state.lock);
	FILE *old = state.file;
	state.level = settings->level;
	state.format = settings->format;
	state.file = file;
	pthread_mutex_unlock(&state.lock);
	if (old != NULL)
		fclose(old);
	return 0;
}

bool log_wants(enum log_level level)
{
	return level <= state.level;
}

static void stamp(char *out, size_t size, bool utc)
{
	struct timespec now;
	struct tm tm;
	char date[32];

	clock_gettime(CLOCK_REALTIME, &now);
	if (utc)
		gmtime_r(&now.tv_sec, &tm);
	else
		localtime_r(&now.tv_sec, &tm);
	strftime(date, sizeof(date), "%Y-%m-%dT%H:%M:%S", &tm);
	snprintf(out, size, "%s.%03ld%s", date, now.tv_nsec / 1000000, utc ? "Z" : "");
}

static void emit(enum log_level level, const char *text)
{
	char when[48];
	struct buf line = BUF_INIT;

	pthread_mutex_lock(&state.lock);
	stamp(when, sizeof(when), state.format == LOG_JSON);
	if (state.format == LOG_JSON) {
		buf_printf(&line, "{\"time\":\"%s\",\"level\":\"%s\",\"text\":", when,
			   level_names[level]);
		buf_json_str(&line, text);
		buf_adds(&line, "}\n");
	} else if (level == LOG_INFO) {
		buf_printf(&line, "[%s] %s\n", when, text);
	} else {
		buf_printf(&line, "[%s] %s: %s\n", when, level_names[level], text);
	}
	FILE *to = state.file != NULL ? state.file : stderr;
	fwrite(buf_str(&line), 1, line.len, to);
	fflush(to);
	pthread_mutex_unlock(&state.lock);
	buf_fini(&line);
}

void log_at(enum log_level level, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	emit(level, buf_str(&text));
	buf_fini(&text);
}

void log_err(enum log_level level, const struct err *err, const char *fmt, ...)
{
	struct buf text = BUF_INIT;
	va_list ap;

	if (!log_wants(level))
		return;
	va_start(ap, fmt);
	buf_vprintf(&text, fmt, ap);
	va_end(ap);
	if (err->where[0] != '\0')
		buf_printf(&text, ": %s", err->where);
	buf_printf(&text, ": %s", err->text);
	if (err_kind(err->code)->hint[0] != '\0')
		buf_printf(&text, " (%s)", err_kind(err->code)->hint);
	emit(level, buf_str(&text));
	buf_fini(&text);
}

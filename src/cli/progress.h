/* cli/progress.h: a bar on the terminal for what takes long; nothing at all where standard error
 * is no terminal. */
#ifndef TALLY_CLI_PROGRESS_H
#define TALLY_CLI_PROGRESS_H

#include "base/base.h"

struct progress {
	const char *what;
	const char *unit; /* "records" */
	bool shown;
	bool drawn; /* something stands on the line */
	int64_t begun_ms, last_ms;
};

void progress_begin(struct progress *p, const char *what, const char *unit);
/* How much of the whole is done, and how many things that made; draws at most ten times a
 * second. */
void progress_show(struct progress *p, uint64_t done, uint64_t whole, uint64_t count);
/* Wipes the line: call it before anything else is printed, and at the end. */
void progress_clear(struct progress *p);
/* The line itself, for a terminal of so many columns. */
void progress_line(const struct progress *p, uint64_t done, uint64_t whole, uint64_t count,
		   int64_t elapsed_ms, int columns, char *out, size_t size);

#endif

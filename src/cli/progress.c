/* cli/progress.c: "dump.psv  42% [########            ] 51,234 records, 12,300/s" */
#include "cli/progress.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/clock.h"

#define BAR_MAX	      40
#define REDRAW_MS     100
#define LINE_SIZE     256
#define COLUMNS_USUAL 80

void progress_begin(struct progress *p, const char *what, const char *unit)
{
	const char *slash = strrchr(what, '/');

	*p = (struct progress){ .what = slash ? slash + 1 : what, .unit = unit };
	p->shown = isatty(STDERR_FILENO);
	p->begun_ms = monotonic_ms();
}

void progress_line(const struct progress *p, uint64_t done, uint64_t whole, uint64_t count,
		   int64_t elapsed_ms, int columns, char *out, size_t size)
{
	double part = whole > 0 ? (double)done / (double)whole : 1;
	uint64_t rate = elapsed_ms > 0 ? count * 1000 / (uint64_t)elapsed_ms : 0;
	char head[64], tail[96], bar[BAR_MAX + 1] = "";
	int room, full;

	part = part > 1 ? 1 : part;
	snprintf(head, sizeof(head), "%.30s %3d%%", p->what, (int)(100 * part));
	snprintf(tail, sizeof(tail), "%" PRIu64 " %s, %" PRIu64 "/s", count, p->unit, rate);
	room = columns - 1 - (int)strlen(head) - (int)strlen(tail) - 4;
	room = room > BAR_MAX ? BAR_MAX : room;
	if (room < 5) {
		snprintf(out, size, "%.*s", columns > 1 ? columns - 1 : 1, head);
		return;
	}
	full = (int)(part * room);
	memset(bar, ' ', (size_t)room);
	memset(bar, '#', (size_t)full);
	snprintf(out, size, "%s [%s] %s", head, bar, tail);
}

void progress_show(struct progress *p, uint64_t done, uint64_t whole, uint64_t count)
{
	struct winsize w = { 0 };
	char line[LINE_SIZE];
	int64_t now;

	if (!p->shown)
		return;
	now = monotonic_ms();
	if (now - p->last_ms < REDRAW_MS)
		return;
	p->last_ms = now;
	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &w) < 0 || w.ws_col == 0)
		w.ws_col = COLUMNS_USUAL;
	progress_line(p, done, whole, count, now - p->begun_ms, w.ws_col, line, sizeof(line));
	fprintf(stderr, "\r%s\033[K", line);
	fflush(stderr);
	p->drawn = true;
}

void progress_clear(struct progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
	p->drawn = false;
}

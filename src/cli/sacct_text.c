#include "cli/sacct_text.h"

#include "base/num.h"

/* ---- ids ---------------------------------------------------------------------------- */

void text_array_tasks(struct buf *out, const char *tasks, size_t max)
{
	static const char more[] = "...";
	const char *limit = strchr(tasks, '%');
	size_t n = limit ? (size_t)(limit - tasks) : strlen(tasks);

	if (max > 0 && n > max) {
		n = max > strlen(more) ? max - strlen(more) : 0;
		while (n > 0 && tasks[n - 1] != ',')
			n--;
		buf_add(out, tasks, n);
		buf_adds(out, more);
	} else {
		buf_add(out, tasks, n);
	}
	if (limit)
		buf_adds(out, limit);
}

void array_begin(struct array_range *r, const char *tasks)
{
	*r = (struct array_range){ .at = tasks, .next = 1, .last = 0 };
}

/* The next item: "5", "1-5" or "20-30:5". */
static bool array_item(struct array_range *r)
{
	const char *at = num_digits(r->at, &r->next);

	r->last = r->next;
	r->step = 1;
	if (at && *at == '-')
		at = num_digits(at + 1, &r->last);
	if (at && *at == ':')
		at = num_digits(at + 1, &r->step);
	if (at == NULL || r->step == 0)
		return false;
	r->at = at + (*at == ',');
	return true;
}

bool array_next(struct array_range *r, int64_t *ret_task)
{
	while (r->next > r->last)
		if (!array_item(r))
			return false;
	*ret_task = r->next;
	r->next += r->step;
	return true;
}

void text_job_id(struct buf *out, const struct job *j, size_t max)
{
	if (job_has(j, array_job_id) && job_has(j, array_task_id)) {
		buf_i64(out, j->array_job_id);
		buf_addc(out, '_');
		buf_i64(out, j->array_task_id);
	} else if (job_has(j, array_tasks)) {
		buf_i64(out, job_get(j, array_job_id, j->job_id));
		buf_adds(out, "_[");
		text_array_tasks(out, j->array_tasks, max);
		buf_addc(out, ']');
	} else if (job_has(j, het_job_id)) {
		buf_i64(out, j->het_job_id);
		buf_addc(out, '+');
		buf_i64(out, job_get(j, het_offset, 0));
	} else {
		buf_i64(out, j->job_id);
	}
}

static const struct {
	int64_t id;
	const char *name;
} step_names[] = {
	{ STEP_ID_BATCH, "batch" },
	{ STEP_ID_EXTERN, "extern" },
	{ STEP_ID_INTERACTIVE, "interactive" },
};

static void step_name(struct buf *out, int64_t id)
{
	for (size_t i = 0; i < ARRAY_LEN(step_names); i++) {
		if (step_names[i].id == id) {
			buf_adds(out, step_names[i].name);
			return;
		}
	}
	buf_i64(out, id);
}

void text_step_id(struct buf *out, const struct step *s)
{
	buf_addc(out, '.');
	step_name(out, s->step_id);
	if (step_get(s, het_comp, HET_COMP_NONE) != HET_COMP_NONE)
		buf_printf(out, "+%" PRId64, s->het_comp);
}

void text_sluid(struct buf *out, uint64_t id)
{
	static const char digits[] = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

	buf_addc(out, 's');
	for (int shift = 60; shift >= 0; shift -= 5)
		buf_addc(out, digits[(id >> shift) & 31]);
}

/* ---- times -------------------------------------------------------------------------- */

#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral" /* the format is the user's, for strftime */
static void add_strftime(struct buf *out, const char *format, const struct tm *tm)
{
	char text[256];

	if (strftime(text, sizeof(text), format, tm) > 0)
		buf_adds(out, text);
}
#pragma GCC diagnostic pop

/* Days since 1970 of a date on the zone's clocks. */
static int64_t day_number(const struct tm *tm)
{
	return days_from_civil(tm->tm_year + 1900, tm->tm_mon + 1, tm->tm_mday);
}

static const char *relative_format(const struct tm *tm, const struct tm *today)
{
	int64_t days = day_number(tm) - day_number(today);

	if (days == 0)
		return "%H:%M:%S";
	if (days == 1)
		return "Tomorr %H:%M";
	if (days == -1)
		return "Ystday %H:%M";
	if (days > 0 && days < 7)
		return "%a %H:%M";
	return tm->tm_year == today->tm_year ? "%-d %b %H:%M" : "%-d %b %Y";
}

void text_time(struct buf *out, int64_t t, const char *format, int64_t now, const struct zone *z)
{
	struct tm tm, today;

	zone_tm(z, t, &tm);
	zone_tm(z, now, &today);
	if (format == NULL || *format == '\0' || strcmp(format, "standard") == 0)
		format = "%Y-%m-%dT%H:%M:%S";
	else if (strcmp(format, "relative") == 0)
		format = relative_format(&tm, &today);
	add_strftime(out, format, &tm);
}

/* ---- patterns ----------------------------------------------------------------------- */

/* The first node of a hostlist: "n[1-2],x" begins with n1. */
static void first_node(struct buf *out, const char *nodes)
{
	size_t n = strcspn(nodes, "[,");

	buf_add(out, nodes, n);
	if (nodes[n] == '[')
		buf_add(out, nodes + n + 1, strcspn(nodes + n + 1, "-,]"));
}

static void padded(struct buf *out, int64_t v, int width)
{
	buf_printf(out, "%0*" PRId64, width, v);
}

/* One letter after %; false when it stands for nothing. */
static bool pattern_letter(struct buf *out, char letter, int width, const struct job *j,
			   const struct step *s)
{
	switch (letter) {
	case 'A': padded(out, job_get(j, array_job_id, j->job_id), width); return true;
	case 'a':
		if (job_has(j, array_task_id))
			padded(out, j->array_task_id, width);
		return job_has(j, array_task_id);
	case 'b': padded(out, job_get(j, array_task_id, 0) % 10, width); return true;
	case 'j': padded(out, j->job_id, width); return true;
	case 'J':
		buf_i64(out, j->job_id);
		if (s)
			text_step_id(out, s);
		return true;
	case 'N': first_node(out, job_get(j, nodes, "")); return true;
	case 'n':
	case 't': padded(out, 0, width); return true;
	case 's': step_name(out, s ? s->step_id : STEP_ID_BATCH); return true;
	case 'u': buf_adds(out, job_get(j, user_name, "")); return true;
	case 'x': buf_adds(out, job_get(j, name, "")); return true;
	case '%': buf_addc(out, '%'); return true;
	default: return false;
	}
}

#define PATTERN_WIDTH_MAX 10

void text_pattern(struct buf *out, const char *pattern, const struct job *j, const struct step *s)
{
	for (const char *p = pattern; *p; p++) {
		const char *at = p + 1;
		int width = 0;

		if (*p != '%') {
			buf_addc(out, *p);
			continue;
		}
		for (; *at >= '0' && *at <= '9'; at++)
			if (width < PATTERN_WIDTH_MAX)
				width = width * 10 + (*at - '0');
		if (width > PATTERN_WIDTH_MAX)
			width = PATTERN_WIDTH_MAX;
		if (pattern_letter(out, *at, width, j, s))
			p = at;
		else
			buf_addc(out, '%');
	}
}

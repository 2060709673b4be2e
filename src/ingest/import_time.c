/* ingest/import_time.c: local times of dumps, in the zone that the user says they are in. */
#include "ingest/import_priv.h"

#include "core/timespec.h"
#include "core/zone.h"

int import_time(const struct import_run *run, const char *text, int64_t *ret, struct err *err)
{
	char iso[TIME_TEXT_SIZE];
	size_t n = strlen(text);
	bool known;

	/* Spreadsheets and databases write a blank where ISO 8601 has its T. */
	if (n < sizeof(iso) && n > 10 && text[10] == ' ') {
		memcpy(iso, text, n + 1);
		iso[10] = 'T';
		text = iso;
	}
	if (time_parse_cell(text, run->options->zone, ret, &known, err) < 0)
		return -1;
	return known;
}

/* Do the zone's clocks show the same an hour later? */
static bool shown_twice(const struct zone *z, int64_t t)
{
	struct civil a, b;

	zone_civil(z, t, &a);
	zone_civil(z, t + 3600, &b);
	return a.hour == b.hour && a.minute == b.minute && a.day == b.day;
}

void import_untwist(struct import_run *run, int64_t elapsed_s)
{
	const struct zone *z = run->options->zone;
	struct job *j = &run->job;
	int64_t lacking;

	if (elapsed_s < 0 || !job_has(j, start_at) || !job_has(j, end_at))
		return;
	lacking = elapsed_s - (j->end_at - j->start_at);
	if (lacking == 3600 && shown_twice(z, j->end_at))
		j->end_at += 3600;
	else if (lacking == -3600 && shown_twice(z, j->start_at))
		j->start_at += 3600;
}

#include "core/words.h"

#include "core/job.h"

#include <strings.h>

static const struct word job_flags[] = {
	{ FLAG_SCHED_SUBMIT, "SchedSubmit" },
	{ FLAG_SCHED_MAIN, "SchedMain" },
	{ FLAG_SCHED_BACKFILL, "SchedBackfill" },
	{ FLAG_START_RECEIVED, "StartReceived" },
	{ FLAG_ALTERED, "Altered" },
	/* sacct up to 22.05 spells it so; the rest are the names in sacct --json */
	{ FLAG_START_RECEIVED, "StartRecieved" },
	{ FLAG_SCHED_SUBMIT, "STARTED_ON_SUBMIT" },
	{ FLAG_SCHED_MAIN, "STARTED_ON_SCHEDULE" },
	{ FLAG_SCHED_BACKFILL, "STARTED_ON_BACKFILL" },
	{ FLAG_START_RECEIVED, "START_RECEIVED" },
	{ FLAG_ALTERED, "JOB_ALTERED" },
};

static const struct word job_flaws[] = {
	{ FLAW_END_BEFORE_START, "EndBeforeStart" },
	{ FLAW_NO_END_TIME, "NoEndTime" },
	{ FLAW_TEXT_MENDED, "TextMended" },
	{ FLAW_NEVER_STARTED, "NeverStarted" },
};

static const struct word mem_per[] = {
	{ PER_JOB, "job" },
	{ PER_NODE, "node" },
	{ PER_CPU, "cpu" },
};

const struct words job_flag_words = { "job flag", job_flags, ARRAY_LEN(job_flags) };
const struct words job_flaw_words = { "job flaw", job_flaws, ARRAY_LEN(job_flaws) };
const struct words req_mem_per_words = { "req_mem_per", mem_per, ARRAY_LEN(mem_per) };

static const struct {
	const struct field *field;
	const struct words *words;
} by_field[] = {
	{ &job_fields[JOB_flags], &job_flag_words },
	{ &job_fields[JOB_flaws], &job_flaw_words },
	{ &job_fields[JOB_req_mem_per], &req_mem_per_words },
};

const struct words *words_of(const struct field *f)
{
	for (size_t i = 0; i < ARRAY_LEN(by_field); i++)
		if (by_field[i].field == f)
			return by_field[i].words;
	return NULL;
}

const char *word_name(const struct words *w, int64_t value, char scratch[WORD_TEXT_SIZE])
{
	for (size_t i = 0; i < w->n; i++)
		if (w->rows[i].value == value)
			return w->rows[i].name;
	snprintf(scratch, WORD_TEXT_SIZE, "0x%" PRIx64, (uint64_t)value);
	return scratch;
}

const char *words_next(const struct words *w, int64_t *bits, char scratch[WORD_TEXT_SIZE])
{
	uint64_t rest = (uint64_t)*bits;
	uint64_t bit = rest & (0 - rest);

	if (bit == 0)
		return NULL;
	*bits = (int64_t)(rest ^ bit);
	return word_name(w, (int64_t)bit, scratch);
}

static const char *valid_names(const struct words *w, char *out, size_t size)
{
	size_t at = 0;

	out[0] = '\0';
	for (size_t i = 0; i < w->n && at < size; i++)
		at += (size_t)snprintf(out + at, size - at, " %s", w->rows[i].name);
	return out;
}

static bool hex_parse(const char *text, int64_t *ret)
{
	char *end;

	if (strncmp(text, "0x", 2) != 0 || text[2] == '\0' || strlen(text) > 18 ||
	    strspn(text + 2, "0123456789abcdefABCDEF") != strlen(text + 2))
		return false;
	*ret = (int64_t)strtoull(text + 2, &end, 16);
	return true;
}

int word_parse(const struct words *w, const char *text, int64_t *ret, struct err *err)
{
	char valid[256];

	for (size_t i = 0; i < w->n; i++)
		if (strcasecmp(w->rows[i].name, text) == 0) {
			*ret = w->rows[i].value;
			return 0;
		}
	if (hex_parse(text, ret))
		return 0;
	return err_set(err, ERR_INVALID, w->what, "unknown %s \"%.64s\"; valid are%s", w->what,
		       text, valid_names(w, valid, sizeof(valid)));
}

void words_format(const struct words *w, int64_t bits, struct buf *out)
{
	char scratch[WORD_TEXT_SIZE];
	bool first = true;

	for (const char *name; (name = words_next(w, &bits, scratch)) != NULL; first = false) {
		if (!first)
			buf_addc(out, ',');
		buf_adds(out, name);
	}
}

int words_parse(const struct words *w, const char *text, int64_t *ret_bits, struct err *err)
{
	int64_t bits = 0;

	for (const char *at = text; *at != '\0';) {
		char word[64];
		size_t n = strcspn(at, ",");
		int64_t one = 0;

		snprintf(word, sizeof(word), "%.*s", n < sizeof(word) ? (int)n : (int)sizeof(word),
			 at);
		if (word_parse(w, word, &one, err) < 0)
			return -1;
		bits |= one;
		at += n;
		if (*at != ',')
			continue;
		at++;
		if (*at == '\0')
			return err_set(err, ERR_INVALID, w->what, "\"%.64s\" ends in a comma",
				       text);
	}
	*ret_bits = bits;
	return 0;
}


#include "core/words.h"

#include "core/entity.h"
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

static const struct word admin_levels[] = {
	{ ADMIN_NONE, "None" },
	{ ADMIN_OPERATOR, "Operator" },
	{ ADMIN_ADMINISTRATOR, "Administrator" },
	{ ADMIN_ADMINISTRATOR, "Admin" },
};

static const struct word qos_flags[] = {
	{ QOS_PARTITION_MIN_NODES, "PartitionMinNodes" },
	{ QOS_PARTITION_MAX_NODES, "PartitionMaxNodes" },
	{ QOS_PARTITION_TIME_LIMIT, "PartitionTimeLimit" },
	{ QOS_ENFORCE_USAGE_THRESHOLD, "EnforceUsageThreshold" },
	{ QOS_NO_RESERVE, "NoReserve" },
	{ QOS_REQUIRES_RESERVATION, "RequiresReservation" },
	{ QOS_DENY_ON_LIMIT, "DenyOnLimit" },
	{ QOS_OVER_PART_QOS, "OverPartQOS" },
	{ QOS_NO_DECAY, "NoDecay" },
	{ QOS_USAGE_FACTOR_SAFE, "UsageFactorSafe" },
	{ QOS_RELATIVE, "Relative" },
	{ QOS_PARTITION_QOS, "PartitionQOS" },
};

static const struct word preempt_modes[] = {
	{ 1, "Suspend" }, { 2, "Requeue" },	{ 8, "Cancel" },
	{ 16, "CondOff" }, { 0x2000, "Priority" }, { 0x4000, "Within" },
	{ 0x8000, "Gang" },
};

static const struct word cluster_flags[] = {
	{ 1, "Registered" },	   { 128, "MultipleSlurmd" }, { 2048, "Federation" },
	{ 0x1000, "External" },
};

static const struct word cluster_classes[] = {
	{ 0, "None" },
	{ 1, "Capability" },
	{ 2, "Capacity" },
	{ 3, "Capapacity" },
};

static const struct word resv_flags[] = {
	{ RESV_MAINT, "MAINT" },
	{ 2, "NO_MAINT" },
	{ 4, "DAILY" },
	{ 16, "WEEKLY" },
	{ RESV_IGNORE_JOBS, "IGNORE_JOBS" },
	{ 0x20000, "TIME_FLOAT" },
	{ 0x2000000, "FLEX" },
	{ INT64_C(0x400000000), "SKIP" },
	{ INT64_C(0x800000000), "HOURLY" },
	{ INT64_C(0x8000000000), "USER_DELETE" },
};

#define WORDS(name, what, rows) const struct words name = { what, rows, ARRAY_LEN(rows) }
WORDS(admin_level_words, "admin level", admin_levels);
WORDS(qos_flag_words, "QOS flag", qos_flags);
WORDS(preempt_mode_words, "preempt mode", preempt_modes);
WORDS(cluster_flag_words, "cluster flag", cluster_flags);
WORDS(cluster_class_words, "classification", cluster_classes);
WORDS(resv_flag_words, "reservation flag", resv_flags);
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
	{ &user_fields[USER_admin_level], &admin_level_words },
	{ &qos_fields[QOS_flags], &qos_flag_words },
	{ &qos_fields[QOS_preempt_mode], &preempt_mode_words },
	{ &cluster_fields[CLUSTER_flags], &cluster_flag_words },
	{ &cluster_fields[CLUSTER_classification], &cluster_class_words },
	{ &reservation_fields[RESV_flags], &resv_flag_words },
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


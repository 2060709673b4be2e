/* ingest/import_name.c: the names of jobs and steps as sacct prints them. */
#include "ingest/import_priv.h"

#include "base/num.h"

static const struct {
	const char *word;
	int64_t id;
} step_words[] = {
	{ "batch", STEP_ID_BATCH },
	{ "extern", STEP_ID_EXTERN },
	{ "interactive", STEP_ID_INTERACTIVE },
};

/* Reads what stands behind the dot.  NULL when it is no step. */
static const char *parse_step(const char *p, struct job_name *ret)
{
	ret->has_step = true;
	for (size_t i = 0; i < ARRAY_LEN(step_words); i++) {
		size_t n = strlen(step_words[i].word);

		if (strncmp(p, step_words[i].word, n) == 0) {
			ret->step_id = step_words[i].id;
			return p + n;
		}
	}
	p = num_digits(p, &ret->step_id);
	if (p && *p == '+')
		p = num_digits(p + 1, &ret->het_comp);
	return p;
}

/* Reads what stands between the number and the dot. */
static const char *parse_part(const char *p, struct job_name *ret)
{
	const char *close;

	if (*p == '+')
		return num_digits(p + 1, &ret->het_offset);
	if (*p != '_')
		return p;
	if (p[1] != '[')
		return num_digits(p + 1, &ret->array_task);
	close = strchr(p, ']');
	if (close == NULL)
		return NULL;
	ret->tasks = p + 2;
	ret->tasks_len = (size_t)(close - ret->tasks);
	return close + 1;
}

int job_name_parse(const char *text, struct job_name *ret, struct err *err)
{
	const char *p;

	*ret = (struct job_name){ .array_task = -1, .het_offset = -1, .het_comp = HET_COMP_NONE };
	p = num_digits(text, &ret->id);
	if (p)
		p = parse_part(p, ret);
	if (p && *p == '.')
		p = parse_step(p + 1, ret);
	if (p == NULL || *p != '\0' || ret->id <= 0 || ret->id > UINT32_MAX ||
	    ret->array_task > INT32_MAX || ret->het_offset > UINT16_MAX)
		return err_set(err, ERR_INVALID, "JobID",
			       "\"%.60s\" is no job or step: write 12, 12_3, 12_[1-4], 12+1, "
			       "12.batch or 12.0",
			       text);
	return 0;
}

int64_t task_count(const char *text, size_t n, int64_t *ret_max)
{
	const char *p = text, *end = text + n;
	int64_t count = 0;

	*ret_max = -1;
	while (p < end && *p != '%') {
		int64_t first, last, by = 1;

		p = num_digits(p, &first);
		last = first;
		if (p && *p == '-')
			p = num_digits(p + 1, &last);
		if (p && *p == ':')
			p = num_digits(p + 1, &by);
		if (p == NULL || p > end || last < first || by < 1)
			return -1;
		count = num_add(count, (last - first) / by + 1, NULL);
		if (p < end && *p == ',')
			p++;
		else if (p < end && *p != '%')
			return -1;
	}
	if (p < end && num_digits(p + 1, ret_max) != end)
		return -1;
	return count;
}

/* An array has at most 4,000,001 tasks.  An array's number that leaves no room for them is no
 * controller's but for federations, which number from 2^26 on. */
#define TASK_BITS 22

bool job_number_known(const struct job_name *name)
{
	return name->array_task < 0 ||
	       (name->id < JOB_ID_MADE >> TASK_BITS && name->array_task < 1 << TASK_BITS);
}

int64_t job_number(const struct job_name *name, int64_t raw)
{
	if (raw >= 0)
		return raw;
	if (name->array_task >= 0)
		return name->id << TASK_BITS | name->array_task | JOB_ID_MADE;
	return name->het_offset > 0 ? name->id + name->het_offset : name->id;
}

void job_set_name(struct job *j, const struct job_name *name, struct arena *arena)
{
	int64_t max, tasks;

	if (name->array_task >= 0 || name->tasks)
		job_set(j, array_job_id, name->id);
	if (name->array_task >= 0)
		job_set(j, array_task_id, name->array_task);
	if (name->het_offset >= 0) {
		job_set(j, het_job_id, name->id);
		job_set(j, het_offset, name->het_offset);
	}
	tasks = name->tasks ? task_count(name->tasks, name->tasks_len, &max) : -1;
	if (tasks < 0)
		return;
	job_set(j, array_tasks, arena_strndup(arena, name->tasks, name->tasks_len));
	job_set(j, array_task_pending, tasks);
	if (max >= 0)
		job_set(j, array_max_tasks, max);
}

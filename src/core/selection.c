/* The items of -j: 12, 12_3, 12_[1-4,7%2], 12+1, each with .STEP behind. */
#include "base/num.h"
#include "core/filter.h"

struct items {
	struct arena *arena;
	struct job_selection *v;
	size_t n, cap;
};

static int item_add(struct items *items, const struct job_selection *item, struct err *err)
{
	if (items->n >= SELECTIONS_MAX)
		return err_set(err, ERR_TOO_LARGE, "jobs", "more than %d jobs and tasks at once",
			       SELECTIONS_MAX);
	if (items->n == items->cap) {
		size_t cap = items->cap != 0 ? items->cap * 2 : 16;
		struct job_selection *v = ARENA_ARRAY(items->arena, struct job_selection, cap);
		if (items->n > 0)
			memcpy(v, items->v, sizeof(*v) * items->n);
		items->v = v;
		items->cap = cap;
	}
	items->v[items->n++] = *item;
	return 0;
}

static int item_error(const char *word, struct err *err)
{
	return err_set(err, ERR_INVALID, "jobs",
		       "\"%.48s\" is no job; write 12, 12_3, 12_[1-4,7], 12+1, and .STEP (a number, "
		       "batch, extern, interactive) behind it for one step", word);
}

/* ".0", ".batch" ..., or nothing. */
static const char *step_read(const char *s, int64_t *ret)
{
	static const struct {
		const char *name;
		int64_t id;
	} words[] = { { "batch", STEP_ID_BATCH },
		      { "extern", STEP_ID_EXTERN },
		      { "interactive", STEP_ID_INTERACTIVE } };

	*ret = STEP_ANY;
	if (*s != '.')
		return s;
	s++;
	for (size_t i = 0; i < ARRAY_LEN(words); i++) {
		size_t n = strlen(words[i].name);
		if (strncmp(s, words[i].name, n) == 0) {
			*ret = words[i].id;
			return s + n;
		}
	}
	return num_digits(s, ret);
}

/* "1", "1-4", "1-9:2"; returns what is behind it. */
static const char *range_read(const char *s, int64_t *first, int64_t *last, int64_t *by)
{
	*by = 1;
	s = num_digits(s, first);
	*last = *first;
	if (s != NULL && *s == '-')
		s = num_digits(s + 1, last);
	if (s != NULL && *s == ':')
		s = num_digits(s + 1, by);
	return s != NULL && *last >= *first && *by > 0 ? s : NULL;
}

/* "[1-4,7%2]" with the step behind it: an item per task. */
static const char *tasks_read(const char *word, struct job_selection item, struct items *items,
			      struct err *err)
{
	const char *close = strchr(word, ']'), *s = word, *end = NULL;
	int64_t first, last, by, throttle;

	if (close != NULL)
		end = step_read(close + 1, &item.step_id);
	if (end == NULL)
		return NULL;
	do {
		s = range_read(s + 1, &first, &last, &by);
		for (int64_t t = first; s != NULL && t <= last; t += by) {
			item.array_task = t;
			if (item_add(items, &item, err) < 0)
				return NULL;
			if (last - t < by)
				break;
		}
	} while (s != NULL && *s == ',');
	if (s != NULL && *s == '%')
		s = num_digits(s + 1, &throttle);
	return s == close ? end : NULL;
}

/* One item; returns what is behind it.  NULL: err may say why already. */
static const char *item_read(const char *s, struct items *items, struct err *err)
{
	struct job_selection item = { .array_task = -1, .het_offset = -1, .step_id = STEP_ANY };

	s = num_digits(s, &item.job_id);
	if (s == NULL || item.job_id == 0)
		return NULL;
	if (*s == '_' && s[1] == '[')
		return tasks_read(s + 1, item, items, err);
	if (*s == '_')
		s = num_digits(s + 1, &item.array_task);
	else if (*s == '+')
		s = num_digits(s + 1, &item.het_offset);
	s = s != NULL ? step_read(s, &item.step_id) : NULL;
	if (s == NULL || item_add(items, &item, err) < 0)
		return NULL;
	return s;
}

int job_selection_parse(const char *text, struct arena *arena, struct job_selection **ret_items,
			size_t *ret_n, struct err *err)
{
	struct items items = { .arena = arena };
	struct err why = { .code = ERR_OK };
	const char *s = text;

	for (;;) {
		const char *word = s;
		s = item_read(s, &items, &why);
		if (why.code != ERR_OK)
			return err_set(err, why.code, why.where, "%s", why.text);
		if (s == NULL || (*s != ',' && *s != '\0'))
			return item_error(word, err);
		if (*s++ == '\0')
			break;
	}
	*ret_items = items.v;
	*ret_n = items.n;
	return 0;
}

/* "1-5,9%2": the tasks that a row stands for. */
static bool tasks_contain(const char *s, int64_t task)
{
	int64_t first, last, by;

	s += *s == '[';
	while ((s = range_read(s, &first, &last, &by)) != NULL) {
		if (task >= first && task <= last && (task - first) % by == 0)
			return true;
		if (*s++ != ',')
			break;
	}
	return false;
}

static bool task_matches(const struct job_selection *s, const struct job *j)
{
	if (job_get(j, array_job_id, -1) != s->job_id)
		return false;
	if (job_has(j, array_task_id))
		return j->array_task_id == s->array_task;
	return job_has(j, array_tasks) && tasks_contain(j->array_tasks, s->array_task);
}

bool job_selection_matches(const struct job_selection *s, const struct job *j, enum het_choice het)
{
	if (s->array_task >= 0)
		return task_matches(s, j);
	if (s->het_offset >= 0)
		return job_get(j, het_job_id, -1) == s->job_id &&
		       job_get(j, het_offset, -1) == s->het_offset;
	return j->job_id == s->job_id || job_get(j, array_job_id, -1) == s->job_id ||
	       (het != HET_NOT_WHOLE && job_get(j, het_job_id, -1) == s->job_id);
}

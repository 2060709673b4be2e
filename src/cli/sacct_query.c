#include "cli/sacct_query.h"

#include "core/filter.h"
#include "core/timespec.h"

/* Longer targets meet limits of servers and of what stands between. */
#define TARGET_MAX 4000

/* Fields that printers read beside their own, or that the listing is ordered and told apart by. */
static const int job_base[] = {
	JOB_cluster,	 JOB_job_id,	  JOB_submit_at,   JOB_array_job_id, JOB_array_task_id,
	JOB_array_tasks, JOB_het_job_id,  JOB_het_offset,  JOB_eligible_at,  JOB_start_at,
	JOB_end_at,	 JOB_moments,	  JOB_state,	   JOB_killed_by,    JOB_req_cpus,
	JOB_req_nodes,	 JOB_req_mem,	  JOB_req_mem_per, JOB_tres_req,     JOB_tres_alloc,
	JOB_alloc_nodes, JOB_rec_elapsed, JOB_name,	   JOB_user_name,    JOB_nodes,
	JOB_flaws,
};
static const int step_base[] = {
	STEP_step_id,	  STEP_het_comp,   STEP_start_at,     STEP_end_at,
	STEP_state,	  STEP_moments,	   STEP_killed_by,    STEP_tres_alloc,
	STEP_user_cpu_us, STEP_sys_cpu_us, STEP_total_cpu_us, STEP_task_dist,
};

struct wanted {
	uint64_t job[HAS_WORDS], step[HAS_WORDS];
};

static void want_cell(struct wanted *w, const struct sacct_cell *c)
{
	if (c->print)
		has_set(c->of_step ? w->step : w->job, (size_t)c->field);
}

static void want_columns(struct wanted *w, const struct sacct_columns *columns)
{
	for (size_t i = 0; i < ARRAY_LEN(job_base); i++)
		has_set(w->job, (size_t)job_base[i]);
	for (size_t i = 0; i < ARRAY_LEN(step_base); i++)
		has_set(w->step, (size_t)step_base[i]);
	for (size_t i = 0; i < columns->n; i++) {
		want_cell(w, &columns->fields[i]->job);
		want_cell(w, &columns->fields[i]->step);
	}
}

static const char *keys(const uint64_t *wanted, const struct field *fields, size_t n,
			struct arena *arena)
{
	struct buf b = BUF_INIT;
	const char *list;

	for (size_t i = 0; i < n; i++)
		if (has_bit(wanted, i))
			buf_printf(&b, "%s%s", b.len ? "," : "", fields[i].json);
	list = arena_strdup(arena, buf_str(&b));
	buf_fini(&b);
	return list;
}

bool sacct_wants_steps(const struct sacct_opts *o)
{
	if (!o->allocations)
		return true;
	for (size_t i = 0; i < o->columns.n; i++)
		if (o->columns.fields[i]->flags & SACCT_SUMS)
			return true;
	return false;
}

/* Everything as name and value, whichever way it goes. */
typedef void adder(struct sacct_query *q, const char *name, const char *value);

static void add_time(const struct sacct_opts *o, struct sacct_query *q, adder *add,
		     const char *name, int64_t t)
{
	add(q, name, arena_printf(o->arena, "%" PRId64, t));
}

/* The window's beginning depends on the user's midnight, which the daemon does not know. */
static void add_window(const struct sacct_opts *o, struct sacct_query *q, adder *add)
{
	int64_t start = o->start;

	if (start == TIME_UNSET && !o->jobs_given && !o->states_given)
		start = midnight_of(o->style.now, o->style.zone);
	if (start != TIME_UNSET)
		add_time(o, q, add, "start", start);
	if (o->end != TIME_UNSET)
		add_time(o, q, add, "end", o->end);
}

static void add_fields(const struct sacct_opts *o, struct sacct_query *q, adder *add, bool steps)
{
	struct wanted w = { 0 };

	want_columns(&w, &o->columns);
	add(q, "fields", keys(w.job, job_fields, JOB_FIELDS, o->arena));
	if (steps)
		add(q, "step_fields", keys(w.step, step_fields, STEP_FIELDS, o->arena));
}

static void add_all(const struct sacct_opts *o, struct sacct_query *q, adder *add)
{
	bool steps = o->json ? !o->allocations : sacct_wants_steps(o);

	for (size_t i = 0; i < o->n_conditions; i++)
		add(q, o->conditions[i].name, o->conditions[i].value);
	add_window(o, q, add);
	if (o->duplicates)
		add(q, "duplicates", "true");
	if (o->truncate)
		add(q, "truncate", "true");
	add(q, "steps", steps ? "true" : "false");
	add(q, "sort", "submit");
	if (!o->json)
		add_fields(o, q, add, steps);
}

/* ---- as a query string -------------------------------------------------------------- */

static void add_to_target(struct sacct_query *q, const char *name, const char *value)
{
	target_add(&q->target, name, value);
}

/* ---- as a JSON object --------------------------------------------------------------- */

static void add_to_body(struct sacct_query *q, const char *name, const char *value)
{
	buf_addc(&q->body, q->body.len ? ',' : '{');
	buf_json_str(&q->body, name);
	buf_addc(&q->body, ':');
	buf_json_str(&q->body, value);
}

/* A list parameter that was given several times is one key of the object. */
static void join_conditions(struct sacct_opts *o)
{
	size_t kept = 0;

	for (size_t i = 0; i < o->n_conditions; i++) {
		struct sacct_condition c = o->conditions[i];
		size_t k = 0;

		while (k < kept && strcmp(o->conditions[k].name, c.name) != 0)
			k++;
		if (k == kept)
			o->conditions[kept++] = c;
		else
			o->conditions[k].value =
				arena_printf(o->arena, "%s,%s", o->conditions[k].value, c.value);
	}
	o->n_conditions = kept;
}

static void make_post(const struct sacct_opts *o, struct sacct_query *q)
{
	struct sacct_opts joined = *o;

	joined.conditions = ARENA_ARRAY(o->arena, struct sacct_condition, o->n_conditions);
	memcpy(joined.conditions, o->conditions, o->n_conditions * sizeof(*o->conditions));
	join_conditions(&joined);
	add_all(&joined, q, add_to_body);
	buf_addc(&q->body, '}');
	q->rq = (struct request){
		.method = "POST",
		.target = "/v1/jobs/query",
		.content_type = "application/json",
		.body = buf_str(&q->body),
		.body_len = q->body.len,
	};
}

void sacct_query_make(const struct sacct_opts *o, struct sacct_query *ret)
{
	*ret = (struct sacct_query){ 0 };
	buf_adds(&ret->target, "/v1/jobs");
	add_all(o, ret, add_to_target);
	if (ret->target.len <= TARGET_MAX)
		ret->rq = (struct request){ .method = "GET", .target = buf_str(&ret->target) };
	else
		make_post(o, ret);
	ret->rq.accept = o->json ? "application/json" : "application/x-ndjson";
}

void sacct_query_fini(struct sacct_query *q)
{
	buf_fini(&q->target);
	buf_fini(&q->body);
}

/* ingest/import_sacct_json.c: `sacct --json` and slurmrestd's job lists, of any version.
 *
 * The shape of a value differs between data_parser versions (a number, {set, infinite, number}, a
 * string; one state or a list), its place hardly: so a table says which path goes to which field,
 * and each kind of value is read in every shape that was seen (21.08 to 25.11). */
#include "ingest/import_priv.h"

#include "base/num.h"
#include "core/exit.h"
#include "core/json.h"
#include "core/state.h"
#include "core/tres.h"
#include "core/where.h"
#include "core/words.h"

#include <strings.h>

struct reader;

struct path {
	const char *path; /* keys joined by '.' */
	int (*read)(struct reader *r, const struct path *p, struct jscan *j);
	int field, more; /* of the job or the step; `more` is the reader's own */
};

/* What the job at hand says beside its fields. */
struct reader {
	struct import_run *run;
	const struct path *paths; /* of a job, or of a step while step is set */
	size_t n_paths;
	struct step *step;
	int64_t elapsed, alloc_nodes; /* -1 = not said */
	const char *array_tasks;
	char where[96];
};

#define PATH_MAX_LEN 96
#define NONE	     (-1)

/* ---- values in every shape ------------------------------------------------------------------- */

struct value {
	bool known;
	bool infinite;
	bool unset; /* a number that says it has none, as opposed to null */
	uint64_t bits;
};

static void judge(struct value *v)
{
	v->infinite = v->bits == UINT32_MAX || v->bits == INFINITE64;
	v->unset = v->bits == UINT32_MAX - 1 || v->bits == NO_VAL64;
	v->known = !v->infinite && !v->unset;
}

static int read_object_value(struct jscan *j, struct value *ret)
{
	bool set = true, infinite = false;
	struct jtext key;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		struct jnumber n;

		if (jtext_is(key, "set"))
			jscan_bool(j, &set);
		else if (jtext_is(key, "infinite"))
			jscan_bool(j, &infinite);
		else if (jtext_is(key, "number") && jscan_number(j, &n) == 0)
			ret->bits = n.negative ? -n.magnitude : n.magnitude;
		else if (!j->failed && !jtext_is(key, "number"))
			jscan_skip(j);
	}
	judge(ret);
	ret->infinite |= infinite;
	ret->unset |= !set && !infinite;
	ret->known &= set && !infinite;
	return j->failed ? -1 : 0;
}

static int read_value(struct jscan *j, struct value *ret)
{
	struct jnumber n;
	const char *text;

	*ret = (struct value){ 0 };
	switch (jscan_peek(j)) {
	case JSCAN_NUMBER:
		if (jscan_number(j, &n) < 0)
			return -1;
		if (n.big)
			return jscan_fail(j, "does not fit 64 bits");
		ret->bits = n.negative ? -n.magnitude : n.magnitude;
		judge(ret);
		return 0;
	case JSCAN_OBJECT: return read_object_value(j, ret);
	case JSCAN_STRING:
		text = jscan_string(j);
		if (text == NULL)
			return -1;
		ret->known = num_parse_u64(text, &ret->bits) == 0;
		return 0;
	case JSCAN_NULL: return jscan_null(j);
	case JSCAN_BOOL:
	case JSCAN_ARRAY:
	case JSCAN_BAD: break;
	}
	return jscan_fail(j, "is no number");
}

/* A text, or null for what is not said; a number 0 stands where old versions have no name. */
static int read_string(struct jscan *j, const char **ret)
{
	*ret = NULL;
	if (jscan_peek(j) != JSCAN_STRING)
		return jscan_skip(j);
	*ret = jscan_string(j);
	if (*ret && **ret == '\0')
		*ret = NULL;
	return j->failed ? -1 : 0;
}

/* ---- fields ---------------------------------------------------------------------------------- */

static void put(struct reader *r, const struct path *p, int64_t v)
{
	import_put_number(r->run, r->step, p->field, v);
}

/* `more`: 1 = None, Unknown and the like say that there is none. */
static int get_text(struct reader *r, const struct path *p, struct jscan *j)
{
	const char *text;

	if (read_string(j, &text) < 0)
		return -1;
	if (text && !(p->more && import_is_nothing(text)))
		import_put_text(r->run, r->step, p->field, text);
	return 0;
}

/* `more`: 1 = a zero says that there is none. */
static int get_number(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value v;

	if (read_value(j, &v) < 0)
		return -1;
	if (v.known && v.bits <= INT64_MAX && !(p->more && v.bits == 0))
		put(r, p, (int64_t)v.bits);
	return 0;
}

static int get_elapsed(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value v;

	(void)p;
	if (read_value(j, &v) < 0)
		return -1;
	if (v.known && v.bits <= INT64_MAX)
		r->elapsed = (int64_t)v.bits;
	return 0;
}

static int get_alloc_nodes(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value v;

	(void)p;
	if (read_value(j, &v) < 0)
		return -1;
	if (v.known && v.bits <= INT64_MAX)
		r->alloc_nodes = (int64_t)v.bits;
	return 0;
}

static int get_limit(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value v;

	if (read_value(j, &v) < 0)
		return -1;
	if (v.infinite)
		put(r, p, LIMIT_UNLIMITED);
	else if (v.unset && r->step == NULL)
		put(r, p, LIMIT_PARTITION);
	else if (v.known && v.bits <= INT64_MAX)
		put(r, p, (int64_t)v.bits);
	return 0;
}

/* {seconds, microseconds} */
static int get_span(struct reader *r, const struct path *p, struct jscan *j)
{
	int64_t total = 0;
	struct jtext key;

	if (jscan_peek(j) != JSCAN_OBJECT)
		return jscan_skip(j);
	jscan_enter(j, JSCAN_OBJECT);
	while (jscan_member(j, &key)) {
		int64_t n;

		if (jscan_i64(j, &n) < 0)
			return -1;
		total = num_add(total, jtext_is(key, "seconds") ? num_mul(n, 1000000, NULL) : n,
				NULL);
	}
	/* A job's own is the sum over its steps, or 0 where none was measured. */
	if (r->step || total > 0)
		put(r, p, total);
	return j->failed ? -1 : 0;
}

static int one_state(struct reader *r, const struct path *p, struct jscan *j, bool first)
{
	const char *name = jscan_string(j);
	struct err err;
	int64_t state;

	if (name == NULL)
		return -1;
	if (state_parse(name, &state, NULL, &err) < 0)
		/* Behind the state stand flags (COMPLETING, ...) that are no states. */
		return first ? jscan_fail(j, "%s", err.text) : 0;
	if (first || state == STATE_REQUEUED || state == STATE_RESIZING || state == STATE_REVOKED)
		put(r, p, state);
	return 0;
}

static int get_state(struct reader *r, const struct path *p, struct jscan *j)
{
	bool first = true;

	if (jscan_peek(j) == JSCAN_STRING)
		return one_state(r, p, j, true);
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		if (one_state(r, p, j, first) < 0)
			return -1;
		first = false;
	}
	return j->failed ? -1 : 0;
}

/* {"status": ..., "return_code": ..., "signal": {"id" or "signal_id": ...}} */
static int get_signal(struct jscan *j, struct value *ret)
{
	struct jtext key;

	if (jscan_peek(j) != JSCAN_OBJECT)
		return jscan_skip(j);
	jscan_enter(j, JSCAN_OBJECT);
	while (jscan_member(j, &key)) {
		if (jtext_is(key, "id") || jtext_is(key, "signal_id"))
			read_value(j, ret);
		else
			jscan_skip(j);
	}
	return j->failed ? -1 : 0;
}

static int get_exit(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value code = { 0 }, signal = { 0 };
	struct jtext key;

	if (jscan_peek(j) != JSCAN_OBJECT)
		return jscan_skip(j);
	jscan_enter(j, JSCAN_OBJECT);
	while (jscan_member(j, &key)) {
		if (jtext_is(key, "return_code"))
			read_value(j, &code);
		else if (jtext_is(key, "signal"))
			get_signal(j, &signal);
		else
			jscan_skip(j);
	}
	if (j->failed)
		return -1;
	if (!code.known && !signal.known)
		return 0;
	if (code.bits > 255 || (signal.known && signal.bits > 127))
		return jscan_fail(j, "exit code %" PRIu64 " or signal %" PRIu64 " is out of range",
				  code.bits, signal.bits);
	put(r, p,
	    exit_make(code.known ? (int64_t)code.bits : 0,
		      signal.known ? (int64_t)signal.bits : 0));
	return 0;
}

/* "memory" of 21.08 and 22.05: the controller's number, bit 63 marks "per CPU". */
static int get_memory(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value v;
	enum req_mem_per per;
	int64_t mib;

	if (read_value(j, &v) < 0)
		return -1;
	if (v.known && req_mem_split(v.bits, &mib, &per)) {
		put(r, p, mib);
		job_set(&r->run->job, req_mem_per, per);
	}
	return 0;
}

/* "memory_per_cpu" and "memory_per_node" of later ones; `more` is which. */
static int get_memory_per(struct reader *r, const struct path *p, struct jscan *j)
{
	struct value v;

	if (read_value(j, &v) < 0)
		return -1;
	if (v.known && v.bits > 0 && v.bits <= INT64_MAX) {
		put(r, p, (int64_t)v.bits);
		job_set(&r->run->job, req_mem_per, p->more);
	}
	return 0;
}

static int get_flags(struct reader *r, const struct path *p, struct jscan *j)
{
	static const struct {
		const char *name;
		int64_t bit;
	} names[] = {
		{ "STARTED_ON_SUBMIT", FLAG_SCHED_SUBMIT },
		{ "STARTED_ON_SCHEDULE", FLAG_SCHED_MAIN },
		{ "STARTED_ON_BACKFILL", FLAG_SCHED_BACKFILL },
		{ "START_RECEIVED", FLAG_START_RECEIVED },
		{ "JOB_ALTERED", FLAG_ALTERED },
	};
	int64_t bits = 0;

	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		struct jtext name;

		if (jscan_text(j, &name) < 0)
			return -1;
		for (size_t i = 0; i < ARRAY_LEN(names); i++)
			if (jtext_is(name, names[i].name))
				bits |= names[i].bit;
	}
	if (bits)
		put(r, p, bits);
	return j->failed ? -1 : 0;
}

/* A user's name, which cannot be turned into a uid here, or a number. */
static int get_killer(struct reader *r, const struct path *p, struct jscan *j)
{
	const char *name;
	int64_t uid;

	if (read_string(j, &name) < 0)
		return -1;
	if (name && num_parse(name, &uid) == 0)
		put(r, p, uid);
	else if (name)
		import_note(r->run, 0,
			    "who cancelled a job is given by name only (\"%s\"): not taken", name);
	return 0;
}

static int get_array_tasks(struct reader *r, const struct path *p, struct jscan *j)
{
	(void)p;
	return read_string(j, &r->array_tasks);
}

/* ---- TRES lists ------------------------------------------------------------------------------ */

#define TRES_MAX 128

struct tres_list {
	struct tres counts[TRES_MAX];
	struct where nodes[TRES_MAX], tasks[TRES_MAX];
	size_t n_counts, n_nodes, n_tasks;
};

struct tres_item {
	const char *type, *name, *node;
	struct value count, task;
};

static int read_tres_item(struct jscan *j, struct tres_item *ret)
{
	struct jtext key;

	*ret = (struct tres_item){ 0 };
	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		if (jtext_is(key, "type"))
			read_string(j, &ret->type);
		else if (jtext_is(key, "name"))
			read_string(j, &ret->name);
		else if (jtext_is(key, "node"))
			read_string(j, &ret->node);
		else if (jtext_is(key, "count"))
			read_value(j, &ret->count);
		else if (jtext_is(key, "task"))
			read_value(j, &ret->task);
		else
			jscan_skip(j);
	}
	if (ret->type == NULL) {
		if (!j->failed)
			jscan_fail(j, "a TRES has no type");
		return -1;
	}
	return j->failed ? -1 : 0;
}

static void add_tres_item(struct tres_list *l, const struct tres_item *it, struct arena *arena)
{
	const char *name = it->name ? arena_printf(arena, "%s/%s", it->type, it->name) : it->type;
	size_t len = strlen(name);

	if (it->count.known && it->count.bits <= INT64_MAX)
		l->counts[l->n_counts++] = (struct tres){ name, len, (int64_t)it->count.bits };
	if (it->node)
		l->nodes[l->n_nodes++] = (struct where){ name, len, it->node, strlen(it->node) };
	if (it->task.known) {
		const char *task = arena_printf(arena, "%" PRIu64, it->task.bits);

		l->tasks[l->n_tasks++] = (struct where){ name, len, task, strlen(task) };
	}
}

/* `more`: the field of the nodes, the one behind it is that of the tasks; NONE where a list has
 * counts only. */
static int get_tres(struct reader *r, const struct path *p, struct jscan *j)
{
	struct arena *arena = r->run->arena;
	struct tres_list *l = ARENA_NEW(arena, struct tres_list);
	const char *text;
	struct err err;

	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		struct tres_item it;

		if (read_tres_item(j, &it) < 0)
			return -1;
		if (l->n_counts == TRES_MAX || l->n_nodes == TRES_MAX || l->n_tasks == TRES_MAX)
			return jscan_fail(j, "names more than %d TRES", TRES_MAX);
		add_tres_item(l, &it, arena);
	}
	if (j->failed)
		return -1;
	if (tres_make(l->counts, l->n_counts, arena, &text, &err) < 0)
		return jscan_fail(j, "%s", err.text);
	if (*text)
		import_put_text(r->run, r->step, p->field, text);
	if (p->more == NONE)
		return 0;
	if (where_make(l->nodes, l->n_nodes, arena, &text, &err) < 0)
		return jscan_fail(j, "%s", err.text);
	if (*text)
		import_put_text(r->run, r->step, p->more, text);
	if (where_make(l->tasks, l->n_tasks, arena, &text, &err) < 0)
		return jscan_fail(j, "%s", err.text);
	if (*text)
		import_put_text(r->run, r->step, p->more + 1, text);
	return 0;
}

/* ---- steps ----------------------------------------------------------------------------------- */

/* "5185.batch", 5185.0 as a number never; 22.05 has the id alone as a number or a word. */
static int get_step_id(struct reader *r, const struct path *p, struct jscan *j)
{
	struct job_name name;
	const char *text;
	struct err err;
	int64_t id;

	(void)p;
	if (jscan_peek(j) == JSCAN_NUMBER) {
		if (jscan_i64(j, &id) < 0)
			return -1;
		step_set(r->step, step_id, id);
		return 0;
	}
	if (read_string(j, &text) < 0)
		return -1;
	if (text == NULL)
		return jscan_fail(j, "is empty");
	if (strchr(text, '.') == NULL)
		text = arena_printf(r->run->arena, "1.%s", text);
	if (job_name_parse(text, &name, &err) < 0 || !name.has_step)
		return jscan_fail(j, "\"%.40s\" is no step", text);
	step_set(r->step, step_id, name.step_id);
	step_set(r->step, het_comp, name.het_comp);
	return 0;
}

static const struct path step_paths[] = {
	{ "step.id", get_step_id, NONE, 0 },
	{ "step.het.component", get_number, STEP_het_comp, 0 },
	{ "step.name", get_text, STEP_name, 0 },
	{ "step.stdin", get_text, STEP_std_in, 0 },
	{ "step.stdout", get_text, STEP_std_out, 0 },
	{ "step.stderr", get_text, STEP_std_err, 0 },
	{ "submit_line", get_text, STEP_submit_line, 0 },
	{ "container", get_text, STEP_container, 0 },
	{ "working_directory", get_text, STEP_work_dir, 0 },
	{ "state", get_state, STEP_state, 0 },
	{ "exit_code", get_exit, STEP_exit, 0 },
	{ "kill_request_user", get_killer, STEP_killed_by, 0 },
	{ "time.start", get_number, STEP_start_at, 1 },
	{ "time.end", get_number, STEP_end_at, 1 },
	{ "time.limit", get_limit, STEP_timelimit, 0 },
	{ "time.user", get_span, STEP_user_cpu_us, 0 },
	{ "time.system", get_span, STEP_sys_cpu_us, 0 },
	{ "nodes.count", get_number, STEP_node_cnt, 0 },
	{ "nodes.range", get_text, STEP_nodes, 1 },
	{ "tasks.count", get_number, STEP_ntasks, 1 },
	{ "task.distribution", get_text, STEP_layout, 1 },
	{ "CPU.requested_frequency.min", get_number, STEP_req_cpufreq_min, 1 },
	{ "CPU.requested_frequency.max", get_number, STEP_req_cpufreq_max, 1 },
	{ "statistics.CPU.actual_frequency", get_number, STEP_act_cpufreq, 0 },
	{ "statistics.energy.consumed", get_number, STEP_energy, 0 },
	{ "tres.allocated", get_tres, STEP_tres_alloc, NONE },
	{ "tres.requested.max", get_tres, STEP_in_max, STEP_in_max_node },
	{ "tres.requested.min", get_tres, STEP_in_min, STEP_in_min_node },
	{ "tres.requested.average", get_tres, STEP_in_ave, NONE },
	{ "tres.requested.total", get_tres, STEP_in_tot, NONE },
	{ "tres.consumed.max", get_tres, STEP_out_max, STEP_out_max_node },
	{ "tres.consumed.min", get_tres, STEP_out_min, STEP_out_min_node },
	{ "tres.consumed.average", get_tres, STEP_out_ave, NONE },
	{ "tres.consumed.total", get_tres, STEP_out_tot, NONE },
};

_Static_assert(STEP_in_max_task == STEP_in_max_node + 1 &&
		       STEP_in_min_task == STEP_in_min_node + 1 &&
		       STEP_out_max_task == STEP_out_max_node + 1 &&
		       STEP_out_min_task == STEP_out_min_node + 1,
	       "get_tres puts the tasks behind the nodes");

static int walk(struct reader *r, struct jscan *j, char *path, size_t len);

static int get_steps(struct reader *r, const struct path *p, struct jscan *j)
{
	struct reader mine = *r;
	char path[PATH_MAX_LEN + 1] = "";

	(void)p;
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	mine.paths = step_paths;
	mine.n_paths = ARRAY_LEN(step_paths);
	while (jscan_element(j)) {
		mine.step = import_add_step(r->run);
		step_set(mine.step, het_comp, HET_COMP_NONE);
		if (walk(&mine, j, path, 0) < 0) {
			snprintf(r->where, sizeof(r->where), "%s", mine.where);
			return -1;
		}
		if (!step_has(mine.step, step_id))
			return jscan_fail(j, "step %zu has no id", r->run->n_steps - 1);
	}
	return j->failed ? -1 : 0;
}

/* ---- jobs ------------------------------------------------------------------------------------ */

static const struct path job_paths[] = {
	{ "job_id", get_number, JOB_job_id, 0 },
	{ "cluster", get_text, JOB_cluster, 0 },
	{ "account", get_text, JOB_account, 0 },
	{ "association.id", get_number, JOB_assoc_id, 1 },
	{ "user", get_text, JOB_user_name, 0 },
	{ "group", get_text, JOB_group_name, 0 },
	{ "partition", get_text, JOB_partition, 0 },
	{ "qos", get_text, JOB_qos, 0 },
	{ "qosreq", get_text, JOB_qos_req, 0 },
	{ "wckey.wckey", get_text, JOB_wckey, 0 },
	{ "name", get_text, JOB_name, 0 },
	{ "working_directory", get_text, JOB_work_dir, 0 },
	{ "submit_line", get_text, JOB_submit_line, 0 },
	{ "stdin", get_text, JOB_std_in, 0 },
	{ "stdout", get_text, JOB_std_out, 0 },
	{ "stderr", get_text, JOB_std_err, 0 },
	{ "container", get_text, JOB_container, 0 },
	{ "constraints", get_text, JOB_constraints, 0 },
	{ "licenses", get_text, JOB_licenses, 0 },
	{ "mcs.label", get_text, JOB_mcs_label, 0 },
	{ "array.job_id", get_number, JOB_array_job_id, 1 },
	{ "array.task_id", get_number, JOB_array_task_id, 0 },
	{ "array.task", get_array_tasks, NONE, 0 },
	{ "array.limits.max.running.tasks", get_number, JOB_array_max_tasks, 1 },
	{ "het.job_id", get_number, JOB_het_job_id, 1 },
	{ "het.job_offset", get_number, JOB_het_offset, 0 },
	{ "time.submission", get_number, JOB_submit_at, 1 },
	{ "time.eligible", get_number, JOB_eligible_at, 1 },
	{ "time.start", get_number, JOB_start_at, 1 },
	{ "time.end", get_number, JOB_end_at, 1 },
	{ "time.elapsed", get_elapsed, NONE, 0 },
	{ "time.limit", get_limit, JOB_timelimit, 0 },
	{ "time.total", get_span, JOB_rec_cpu_us, 0 },
	{ "state.current", get_state, JOB_state, 0 },
	{ "state.reason", get_text, JOB_reason, 0 },
	{ "exit_code", get_exit, JOB_exit, 0 },
	{ "derived_exit_code", get_exit, JOB_derived_exit, 0 },
	{ "kill_request_user", get_killer, JOB_killed_by, 0 },
	{ "failed_node", get_text, JOB_failed_node, 0 },
	{ "restart_cnt", get_number, JOB_restarts, 0 },
	{ "nodes", get_text, JOB_nodes, 1 },
	{ "allocation_nodes", get_alloc_nodes, NONE, 0 },
	{ "required.CPUs", get_number, JOB_req_cpus, 0 },
	{ "required.memory", get_memory, JOB_req_mem, 0 },
	{ "required.memory_per_cpu", get_memory_per, JOB_req_mem, PER_CPU },
	{ "required.memory_per_node", get_memory_per, JOB_req_mem, PER_NODE },
	{ "tres.requested", get_tres, JOB_tres_req, NONE },
	{ "tres.allocated", get_tres, JOB_tres_alloc, NONE },
	{ "used_gres", get_text, JOB_gres_used, 0 },
	{ "priority", get_number, JOB_priority, 0 },
	{ "reservation.name", get_text, JOB_reservation, 0 },
	{ "reservation.id", get_number, JOB_reservation_id, 1 },
	{ "reservation.requested", get_text, JOB_reservation_req, 0 },
	{ "flags", get_flags, JOB_flags, 0 },
	{ "segment_size", get_number, JOB_segment_size, 1 },
	{ "comment.job", get_text, JOB_comment, 0 },
	{ "comment.administrator", get_text, JOB_admin_comment, 0 },
	{ "comment.system", get_text, JOB_system_comment, 0 },
	{ "extra", get_text, JOB_extra, 0 },
	{ "steps", get_steps, NONE, 0 },
};

static const struct path *path_find(const struct reader *r, const char *path)
{
	for (size_t i = 0; i < r->n_paths; i++)
		if (strcmp(r->paths[i].path, path) == 0)
			return &r->paths[i];
	return NULL;
}

/* Goes through an object; path is the way to it, with len bytes of it written. */
static int walk(struct reader *r, struct jscan *j, char *path, size_t len)
{
	struct jtext key;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		const struct path *p;
		size_t n = len;
		int rc;

		if (len + 1 + key.n > PATH_MAX_LEN) {
			jscan_skip(j);
			continue;
		}
		if (len)
			path[n++] = '.';
		memcpy(path + n, key.p, key.n);
		n += key.n;
		path[n] = '\0';
		p = path_find(r, path);
		if (p)
			rc = p->read(r, p, j);
		else if (jscan_peek(j) == JSCAN_OBJECT)
			rc = walk(r, j, path, n);
		else
			rc = jscan_skip(j);
		if (rc < 0) {
			if (r->where[0] == '\0')
				snprintf(r->where, sizeof(r->where), "%.90s", path);
			return -1;
		}
		path[len] = '\0';
	}
	return j->failed ? -1 : 0;
}

static void finish_job(struct reader *r)
{
	struct job *j = &r->run->job;
	int64_t max, tasks;

	r->run->ended = job_has(j, state) ? state_is_end(j->state) : job_has(j, end_at);
	if (!r->run->ended)
		job_unset(j, end_at);
	import_settle_elapsed(r->run, r->elapsed);
	if (r->alloc_nodes >= 0 && job_has(j, nodes))
		job_set(j, alloc_nodes, r->alloc_nodes);
	if (r->run->n_steps > 0)
		job_unset(j, rec_cpu_us);
	if (!job_has(j, array_job_id))
		job_unset(j, array_task_id);
	if (!job_has(j, het_job_id))
		job_unset(j, het_offset);
	if (r->array_tasks == NULL)
		return;
	tasks = task_count(r->array_tasks, strlen(r->array_tasks), &max);
	if (tasks <= 0)
		return;
	job_set(j, array_tasks, arena_strdup(r->run->arena, r->array_tasks));
	job_set(j, array_task_pending, tasks);
}

static int one_job(struct import_run *run, const char *p, size_t n, size_t line)
{
	struct reader r = { .run = run,
			    .paths = job_paths,
			    .n_paths = ARRAY_LEN(job_paths),
			    .elapsed = -1,
			    .alloc_nodes = -1 };
	char path[PATH_MAX_LEN + 1] = "";
	struct err err;
	struct jscan j;

	if (import_begin_job(run, line) == NULL)
		return -1;
	run->counts->rows++;
	jscan_init(&j, p, n, run->arena, &err);
	if (walk(&r, &j, path, 0) < 0) {
		import_refuse(run, line, r.where, &err);
		import_drop_job(run);
		return 0;
	}
	if (!job_has(&run->job, job_id)) {
		err_set(&err, ERR_INVALID, NULL, "has no job number");
		import_refuse(run, line, "job_id", &err);
		import_drop_job(run);
		return 0;
	}
	run->counts->rows += run->n_steps;
	if (import_other_cluster(run, line, job_get(&run->job, cluster, NULL))) {
		run->counts->skipped += run->n_steps;
		import_drop_job(run);
		return 0;
	}
	run->counts->jobs++;
	run->counts->steps += run->n_steps;
	finish_job(&r);
	return 0;
}

static int all_jobs(struct import_run *run, struct jscan *j)
{
	const char *counted = j->start;
	size_t line = 1;

	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	while (jscan_element(j)) {
		const char *begin;

		jscan_peek(j); /* past the blanks */
		begin = j->at;
		if (jscan_skip(j) < 0)
			return -1;
		for (; counted < begin; counted++)
			line += *counted == '\n';
		run->counts->bytes = (uint64_t)(j->at - j->start);
		if (one_job(run, begin, (size_t)(j->at - begin), line) < 0)
			return -1;
	}
	return j->failed ? -1 : 0;
}

static int convert(struct import_run *run, struct err *err)
{
	const struct import_source *s = run->source;
	struct arena *arena = arena_new();
	bool found = false;
	struct jscan j;
	struct jtext key;
	int rc = 0;

	jscan_init(&j, s->data, s->len, arena, err);
	jscan_enter(&j, JSCAN_OBJECT);
	while (rc == 0 && jscan_member(&j, &key)) {
		if (jtext_is(key, "jobs")) {
			found = true;
			rc = all_jobs(run, &j);
		} else {
			rc = jscan_skip(&j);
		}
	}
	if (rc == 0 && !run->stopped && jscan_done(&j) < 0)
		rc = -1;
	if (rc == 0 && !found)
		rc = err_set(err, ERR_INVALID, s->name, "has no list of jobs");
	if (rc < 0 && j.failed)
		err_prefix(err, "after %" PRIu64 " jobs: ", run->counts->jobs);
	arena_free(arena);
	return rc;
}

static bool recognise(const struct import_source *source)
{
	const char *p = source->data, *end = p + source->len;

	while (p < end && strchr(" \t\r\n", *p) && *p)
		p++;
	return p < end && *p == '{' && memmem(p, (size_t)(end - p), "\"jobs\"", 6) != NULL;
}

const struct import_format import_sacct_json = {
	.name = "sacct-json",
	.doc = "sacct --json",
	.recognise = recognise,
	.convert = convert,
};

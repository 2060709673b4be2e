/* core/record_decode.c: records and answers from JSON, by the field tables. */
#include "core/record_json.h"

#include "base/near.h"
#include "core/exit.h"
#include "core/field_json.h"
#include "core/keys.h"
#include "core/utf8.h"

const char *const record_kind_names[REC_KINDS] = {
	[REC_JOB_START] = "job_start",	     [REC_JOB_END] = "job_end",
	[REC_STEP_START] = "step_start",     [REC_STEP_END] = "step_end",
	[REC_JOB_SUSPEND] = "job_suspend",   [REC_JOB_RESUME] = "job_resume",
	[REC_JOB_RESIZE] = "job_resize",     [REC_NODE_EVENT] = "node_event",
	[REC_CLUSTER_TRES] = "cluster_tres",
};

/* A row that is being read. */
struct row_in {
	const struct keys *keys;
	uint64_t *has;
	char *base;
	bool answer; /* as the daemon writes it: derived fields count, unknown keys pass */
	uint64_t seen[HAS_WORDS]; /* by place in keys */
};

static int fail_twice(struct jscan *j)
{
	return jscan_fail(j, "stands there twice");
}

static void row_set(struct row_in *r, int field, const struct field_value *v)
{
	const struct field *f = &r->keys->fields[field];
	char *at = r->base + f->offset;

	has_set(r->has, (size_t)field);
	if (field_is_text(f->type))
		memcpy(at, &v->text, sizeof(v->text));
	else
		memcpy(at, &v->number, sizeof(v->number));
}

static int64_t row_number(const struct row_in *r, int field)
{
	int64_t v;

	memcpy(&v, r->base + r->keys->fields[field].offset, sizeof(v));
	return v;
}

/* The exit status comes whole or in halves. */
static int read_exit(struct jscan *j, struct row_in *r, size_t slot)
{
	const struct key *k = &r->keys->rows[slot];
	size_t whole = slot - k->part;
	struct field_value v;

	if (k->part == KEY_WHOLE ? has_bit(r->seen, whole + 1) || has_bit(r->seen, whole + 2)
				 : has_bit(r->seen, whole))
		return jscan_fail(j, "is there whole and in parts; say %s or %s and %s",
				  r->keys->rows[whole].text, r->keys->rows[whole + 1].text,
				  r->keys->rows[whole + 2].text);
	if (k->part == KEY_WHOLE) {
		if (exit_json_read(j, &v) < 0)
			return -1;
	} else {
		int64_t other = has_bit(r->has, (size_t)k->field) ? row_number(r, k->field) : 0;
		bool code = k->part == KEY_CODE;
		if (exit_half_json_read(j, code ? 255 : 127, &v) < 0)
			return -1;
		v.number = code ? exit_make(v.number, exit_signal(other))
				: exit_make(exit_code(other), v.number);
	}
	if (v.known)
		row_set(r, k->field, &v);
	return 0;
}

/* What a value says beside itself goes to its own field, unless that was said. */
static void row_more(struct row_in *r, const struct field *f, int64_t more)
{
	struct field_value v = { .known = true, .number = more };
	int field = f == &job_fields[JOB_state]	    ? (int)JOB_killed_by
		    : f == &step_fields[STEP_state] ? (int)STEP_killed_by
						    : (int)JOB_req_mem_per;

	if (!has_bit(r->has, (size_t)field))
		row_set(r, field, &v);
}

static int read_field(struct jscan *j, struct row_in *r, size_t slot)
{
	const struct key *k = &r->keys->rows[slot];
	struct field_value v;

	if (k->field >= r->keys->n_fields)
		return jscan_skip(j);
	const struct field *f = &r->keys->fields[k->field];
	if ((f->flags & FF_DERIVED) != 0 && !r->answer)
		return jscan_skip(j);
	j->where = k->text;
	if (has_bit(r->seen, slot))
		return fail_twice(j);
	has_set(r->seen, slot);
	if (f->type == FT_EXIT)
		return read_exit(j, r, slot);
	if (field_json_read(j, f, &v) < 0)
		return -1;
	if (!v.known)
		return 0;
	row_set(r, k->field, &v);
	if (v.more != NOTHING_MORE)
		row_more(r, f, v.more);
	return 0;
}

static struct row_in job_in(struct job *j, bool answer)
{
	return (struct row_in){ &job_keys, j->has, (char *)j, answer, { 0 } };
}

static struct row_in step_in(struct step *s, bool answer)
{
	return (struct row_in){ &step_keys, s->has, (char *)s, answer, { 0 } };
}

/* Keys that are no field of the row. */

struct decoder {
	struct jscan j;
	const struct record_defaults *defaults;
	struct record *rec;
	bool saw_kind, saw_as_of, saw_at, saw_steps;
};

static bool is_own_key(struct jtext key)
{
	return key.n >= 2 && key.p[0] == 'x' && key.p[1] == '_';
}

static int fail_unknown(struct jscan *j, struct jtext key, const struct keys *keys,
			const char *const *others)
{
	struct near near;

	near_init(&near, key.p, key.n);
	for (size_t i = 0; keys != NULL && i < keys->n; i++)
		near_try(&near, keys->rows[i].text);
	for (size_t i = 0; others[i] != NULL; i++)
		near_try(&near, others[i]);
	const char *best = near_best(&near);
	j->where = arena_strndup(j->arena, key.p, key.n < 64 ? key.n : 64);
	if (best != NULL)
		return jscan_fail(j, "no such key; did you mean \"%s\"?", best);
	return jscan_fail(j, "no such key; keys of your own begin with x_");
}

/* A step's row in an array, numbered in errors. */
static int read_step(struct jscan *j, struct step *s, size_t index, bool answer)
{
	static const char *const others[] = { NULL };
	struct row_in r = step_in(s, answer);
	struct jtext key;

	j->where = NULL;
	jscan_enter(j, JSCAN_OBJECT);
	while (jscan_member(j, &key)) {
		int slot = key_find(&step_keys, key.p, key.n);
		int rc = slot >= 0		     ? read_field(j, &r, (size_t)slot)
			 : answer || is_own_key(key) ? jscan_skip(j)
						     : fail_unknown(j, key, &step_keys, others);
		if (rc < 0)
			break;
	}
	if (!j->failed)
		return 0;
	if (j->err != NULL) {
		const char *within = j->err->where;
		char where[sizeof(j->err->where)];
		int n = snprintf(where, sizeof(where), "steps[%zu]%s", index,
				 within[0] != '\0' ? "." : "");
		snprintf(where + n, sizeof(where) - (size_t)n, "%.*s", (int)sizeof(where) - n - 1,
			 within);
		memcpy(j->err->where, where, sizeof(where));
	}
	return -1;
}

static int read_steps(struct jscan *j, struct step **ret, size_t *ret_n, bool answer)
{
	struct step *steps = NULL;
	size_t n = 0, cap = 0;

	if (jscan_peek(j) == JSCAN_NULL)
		return jscan_null(j);
	if (jscan_enter(j, JSCAN_ARRAY) < 0)
		return -1;
	for (; jscan_element(j); n++) {
		if (n == cap) {
			struct step *old = steps;
			cap = cap == 0 ? 1 : cap * 4;
			steps = arena_alloc(j->arena, cap * sizeof(*steps));
			if (n > 0)
				memcpy(steps, old, n * sizeof(*steps));
		}
		steps[n] = (struct step){ 0 };
		if (read_step(j, &steps[n], n, answer) < 0)
			return -1;
	}
	*ret = steps;
	*ret_n = n;
	return j->failed ? -1 : 0;
}

static bool kind_has_moment(enum record_kind k)
{
	return k == REC_JOB_SUSPEND || k == REC_JOB_RESUME || k == REC_JOB_RESIZE ||
	       k == REC_NODE_EVENT || k == REC_CLUSTER_TRES;
}

static int read_time_key(struct jscan *j, const char *where, bool *saw, int64_t *ret)
{
	struct field_value v;

	j->where = where;
	if (*saw)
		return fail_twice(j);
	*saw = true;
	if (time_json_read(j, &v) < 0)
		return -1;
	if (v.known && v.number != 0)
		*ret = v.number;
	return 0;
}

/* Only an end brings steps along; none at all may stand anywhere, as in an answer. */
static int read_record_steps(struct decoder *d)
{
	struct record *rec = d->rec;
	struct jscan *j = &d->j;

	j->where = "steps";
	if (d->saw_steps)
		return fail_twice(j);
	d->saw_steps = true;
	if (read_steps(j, &rec->steps, &rec->n_steps, false) < 0)
		return -1;
	j->where = "steps";
	if (rec->n_steps > 0 && rec->kind != REC_JOB_END)
		return jscan_fail(j, "do not belong to a %s; send each as a record",
				  record_kind_names[rec->kind]);
	return 0;
}

static int read_other(struct decoder *d, struct jtext key, const struct keys *keys)
{
	static const char *const others[] = { "kind", "as_of", "at", "steps", NULL };
	struct record *rec = d->rec;
	struct jscan *j = &d->j;

	if (jtext_is(key, "kind")) {
		j->where = "kind";
		if (d->saw_kind)
			return fail_twice(j);
		d->saw_kind = true;
		return jscan_skip(j);
	}
	if (jtext_is(key, "as_of"))
		return read_time_key(j, "as_of", &d->saw_as_of, &rec->as_of);
	if (jtext_is(key, "at") && kind_has_moment(rec->kind))
		return read_time_key(j, "at", &d->saw_at, &rec->at);
	if (jtext_is(key, "steps") && keys == &job_keys)
		return read_record_steps(d);
	if (is_own_key(key))
		return jscan_skip(j);
	if (jtext_is(key, "at") || jtext_is(key, "steps")) {
		j->where = key.p[0] == 'a' ? "at" : "steps";
		return jscan_fail(j, "does not belong to a %s", record_kind_names[rec->kind]);
	}
	return fail_unknown(j, key, keys, others);
}

static int read_row(struct decoder *d, struct row_in *r)
{
	struct jtext key;

	if (jscan_enter(&d->j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(&d->j, &key)) {
		int slot = key_find(r->keys, key.p, key.n);
		if ((slot >= 0 ? read_field(&d->j, r, (size_t)slot) : read_other(d, key, r->keys)) <
		    0)
			return -1;
	}
	return jscan_done(&d->j);
}

/* A step of a job_end is the job's: what it says of its own must be the same. */
static int adopt_step(struct record *rec, size_t i, struct err *err)
{
	struct job *j = &rec->job;
	struct step *s = &rec->steps[i];
	const char *wrong = NULL;

	if (step_has(s, cluster) && strcmp(s->cluster, j->cluster) != 0)
		wrong = "cluster";
	if (step_has(s, job_id) && s->job_id != job_get(j, job_id, 0))
		wrong = "job_id";
	if (step_has(s, submit_at) && job_has(j, submit_at) && s->submit_at != j->submit_at)
		wrong = "submit";
	if (wrong != NULL) {
		char where[64];
		snprintf(where, sizeof(where), "steps[%zu].%s", i, wrong);
		return err_set(err, ERR_INVALID, where, "is not the job's; leave it out");
	}
	step_set(s, cluster, j->cluster);
	if (job_has(j, job_id))
		step_set(s, job_id, j->job_id);
	step_unset(s, submit_at);
	if (job_has(j, submit_at))
		step_set(s, submit_at, j->submit_at);
	return 0;
}

static void default_cluster(struct record *rec, const struct record_defaults *defaults)
{
	if (!job_has(&rec->job, cluster) && defaults->cluster != NULL)
		job_set(&rec->job, cluster, defaults->cluster);
	rec->cluster = job_get(&rec->job, cluster, NULL);
}

static int need_cluster(const struct record *rec, struct err *err)
{
	if (rec->cluster == NULL)
		return err_set(err, ERR_INVALID, "cluster",
			       "is missing, and no default cluster is configured");
	return 0;
}

static void default_component(struct step *s)
{
	if (!step_has(s, het_comp))
		step_set(s, het_comp, HET_COMP_NONE);
}

static int decode_job(struct decoder *d)
{
	struct record *rec = d->rec;
	struct row_in r = job_in(&rec->job, false);
	int rc = read_row(d, &r);

	default_cluster(rec, d->defaults);
	if (rc < 0 || need_cluster(rec, d->j.err) < 0)
		return -1;
	for (size_t i = 0; i < rec->n_steps; i++) {
		if (adopt_step(rec, i, d->j.err) < 0)
			return -1;
		default_component(&rec->steps[i]);
	}
	return 0;
}

static int decode_step(struct decoder *d)
{
	struct record *rec = d->rec;
	struct step *s = ARENA_NEW(d->j.arena, struct step);
	struct row_in r = step_in(s, false);
	int rc = read_row(d, &r);

	if (step_has(s, cluster))
		job_set(&rec->job, cluster, s->cluster);
	if (step_has(s, job_id))
		job_set(&rec->job, job_id, s->job_id);
	if (step_has(s, submit_at))
		job_set(&rec->job, submit_at, s->submit_at);
	default_cluster(rec, d->defaults);
	if (rc < 0 || need_cluster(rec, d->j.err) < 0)
		return -1;
	step_set(s, cluster, rec->cluster);
	default_component(s);
	rec->steps = s;
	rec->n_steps = 1;
	return 0;
}

/* Node events and cluster TRES have a few keys only. */

struct few_in {
	const char *cluster, *node, *state, *reason, *tres, *extra, *instance_id, *instance_type;
	const char *nodes;
	int64_t up, state_raw, reason_uid;
};

enum { FEW_NODE = 1, FEW_TRES = 2 };

static const struct few_key {
	struct field field;
	unsigned kinds;
} few_keys[] = {
#define FEW(name, type, kinds)                                                                     \
	{                                                                                          \
		{ #name, FT_##type, 0, #name, NULL, offsetof(struct few_in, name) }, kinds         \
	}
	FEW(cluster, TEXT, FEW_NODE | FEW_TRES),
	FEW(node, TEXT, FEW_NODE),
	FEW(up, BOOL, FEW_NODE),
	FEW(state, TEXT, FEW_NODE),
	FEW(state_raw, I64, FEW_NODE),
	FEW(reason, TEXT, FEW_NODE),
	FEW(reason_uid, I64, FEW_NODE),
	FEW(extra, TEXT, FEW_NODE),
	FEW(instance_id, TEXT, FEW_NODE),
	FEW(instance_type, TEXT, FEW_NODE),
	FEW(nodes, TEXT, FEW_TRES),
	FEW(tres, TRES, FEW_NODE | FEW_TRES),
#undef FEW
};

#define FEW_UP_UNKNOWN (-1)

static const struct few_key *few_find(struct jtext key, unsigned kind, size_t *ret_index)
{
	for (size_t i = 0; i < ARRAY_LEN(few_keys); i++)
		if ((few_keys[i].kinds & kind) != 0 && jtext_is(key, few_keys[i].field.json)) {
			*ret_index = i;
			return &few_keys[i];
		}
	return NULL;
}

static int fail_unknown_few(struct decoder *d, struct jtext key, unsigned kind)
{
	const char *others[ARRAY_LEN(few_keys) + 4] = { "kind", "as_of", "at" };
	size_t n = 3;

	for (size_t i = 0; i < ARRAY_LEN(few_keys); i++)
		if ((few_keys[i].kinds & kind) != 0)
			others[n++] = few_keys[i].field.json;
	return fail_unknown(&d->j, key, NULL, others);
}

static int read_few(struct decoder *d, unsigned kind, struct few_in *ret)
{
	struct jscan *j = &d->j;
	struct field_value v;
	struct jtext key;
	uint64_t seen = 0;
	size_t i;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		const struct few_key *k = few_find(key, kind, &i);
		if (k == NULL) {
			bool common = jtext_is(key, "kind") || jtext_is(key, "as_of") ||
				      jtext_is(key, "at") || is_own_key(key);
			if ((common ? read_other(d, key, NULL) : fail_unknown_few(d, key, kind)) <
			    0)
				return -1;
			continue;
		}
		j->where = k->field.json;
		if ((seen >> i & 1) != 0)
			return fail_twice(j);
		seen |= (uint64_t)1 << i;
		if (field_json_read(j, &k->field, &v) < 0)
			return -1;
		if (!v.known)
			continue;
		if (field_is_text(k->field.type))
			memcpy((char *)ret + k->field.offset, &v.text, sizeof(v.text));
		else
			memcpy((char *)ret + k->field.offset, &v.number, sizeof(v.number));
	}
	return jscan_done(j);
}

static int decode_few(struct decoder *d)
{
	struct record *rec = d->rec;
	bool node = rec->kind == REC_NODE_EVENT;
	struct few_in in = { .up = FEW_UP_UNKNOWN, .state_raw = -1, .reason_uid = -1 };
	int rc = read_few(d, node ? FEW_NODE : FEW_TRES, &in);

	if (in.cluster != NULL)
		job_set(&rec->job, cluster, in.cluster);
	default_cluster(rec, d->defaults);
	if (rc < 0 || need_cluster(rec, d->j.err) < 0)
		return -1;
	if (node && in.up == FEW_UP_UNKNOWN)
		return err_set(d->j.err, ERR_INVALID, "up",
			       "is missing: true, or false when the node is not to be used");
	if (node)
		rec->node = (struct node_event){
			.node = in.node,
			.at = rec->at,
			.up = in.up != 0,
			.state = in.state,
			.state_raw = in.state_raw,
			.reason = in.reason,
			.reason_uid = in.reason_uid,
			.tres = in.tres,
			.extra = in.extra,
			.instance_id = in.instance_id,
			.instance_type = in.instance_type,
		};
	else
		rec->tres = (struct cluster_tres){ rec->at, in.nodes, in.tres };
	return 0;
}

/* The kind decides what the keys mean, and it mostly comes first. */
static int read_kind(struct jscan *j, enum record_kind *ret)
{
	struct jtext key, name;

	if (jscan_enter(j, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(j, &key)) {
		if (!jtext_is(key, "kind")) {
			jscan_skip(j);
			continue;
		}
		j->where = "kind";
		if (jscan_text(j, &name) < 0)
			return -1;
		for (int k = 0; k < REC_KINDS; k++)
			if (jtext_is(name, record_kind_names[k])) {
				*ret = (enum record_kind)k;
				return 0;
			}
		struct near near;
		near_init(&near, name.p, name.n);
		for (int k = 0; k < REC_KINDS; k++)
			near_try(&near, record_kind_names[k]);
		return jscan_fail(j, "\"%.*s\" is no kind of record; %s%s%s",
				  name.n < 40 ? (int)name.n : 40, name.p,
				  near_best(&near) != NULL ? "did you mean \""
							   : "say job_start, "
							     "job_end, step_start, step_end, "
							     "job_suspend, job_resume, job_resize, "
							     "node_event or cluster_tres",
				  near_best(&near) != NULL ? near_best(&near) : "",
				  near_best(&near) != NULL ? "\"?" : "");
	}
	j->where = "kind";
	return j->failed ? -1
			 : jscan_fail(j, "is missing; say what the record tells, such as job_end");
}

static int decode(struct decoder *d)
{
	struct jscan look = d->j;

	if (read_kind(&look, &d->rec->kind) < 0)
		return -1;
	switch (d->rec->kind) {
	case REC_JOB_START:
	case REC_JOB_END:
	case REC_JOB_SUSPEND:
	case REC_JOB_RESUME:
	case REC_JOB_RESIZE: return decode_job(d);
	case REC_STEP_START:
	case REC_STEP_END: return decode_step(d);
	case REC_NODE_EVENT:
	case REC_CLUSTER_TRES: return decode_few(d);
	case REC_KINDS: break;
	}
	return -1;
}

/* Errors quote the input, and answers and logs must not be harmed by it. */
static void make_plain(char *text)
{
	bool valid = utf8_valid(text, strlen(text));

	for (; *text != '\0'; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c == 0x7f || (c >= 0x80 && !valid))
			*text = '?';
	}
}

int record_decode(const char *json, size_t len, const struct record_defaults *defaults,
		  struct arena *arena, struct record *ret, struct err *err)
{
	struct err local;
	struct decoder d = { .defaults = defaults, .rec = ret };

	if (err == NULL)
		err = &local;
	*ret = (struct record){
		.kind = REC_KINDS, .as_of = AS_OF_UNKNOWN, .raw = json, .raw_len = len
	};
	jscan_init(&d.j, json, len, arena, err);
	int rc = decode(&d);
	ret->submit_known = job_has(&ret->job, submit_at) && ret->job.submit_at != 0;
	if (rc < 0) {
		make_plain(err->where);
		make_plain(err->text);
	}
	return rc;
}

int job_decode_json(struct jscan *json, struct job *ret, struct step **ret_steps,
		    size_t *ret_n_steps)
{
	struct row_in r = job_in(ret, true);
	struct jtext key;

	*ret = (struct job){ 0 };
	*ret_steps = NULL;
	*ret_n_steps = 0;
	if (jscan_enter(json, JSCAN_OBJECT) < 0)
		return -1;
	while (jscan_member(json, &key)) {
		int slot = key_find(&job_keys, key.p, key.n);
		int rc = slot >= 0		  ? read_field(json, &r, (size_t)slot)
			 : jtext_is(key, "steps") ? read_steps(json, ret_steps, ret_n_steps, true)
						  : jscan_skip(json);
		if (rc < 0)
			return -1;
	}
	for (size_t i = 0; i < *ret_n_steps; i++)
		default_component(&(*ret_steps)[i]);
	return json->failed ? -1 : 0;
}

/* api/note.c: what people write about a job. */
#include "api/args.h"
#include "api/handlers.h"
#include "api/job.h"
#include "core/exit.h"
#include "core/field_json.h"
#include "core/keys.h"
#include "core/utf8.h"

struct patch {
	struct job values;
	uint64_t cleared[HAS_WORDS];
};

static void set(struct patch *p, const struct key *k, const struct field_value *v)
{
	const struct field *f = &job_fields[k->field];
	char *at = (char *)&p->values + f->offset;

	has_set(p->values.has, (size_t)k->field);
	if (field_is_text(f->type))
		memcpy(at, &v->text, sizeof(v->text));
	else
		memcpy(at, &v->number, sizeof(v->number));
}

/* A half of an exit status stands for the whole with the other half 0. */
static int read_value(struct jscan *j, const struct key *k, struct field_value *v)
{
	if (job_fields[k->field].type != FT_EXIT)
		return field_json_read(j, &job_fields[k->field], v);
	if (k->part == KEY_WHOLE)
		return exit_json_read(j, v);
	if (exit_half_json_read(j, k->part == KEY_CODE ? 255 : 127, v) < 0)
		return -1;
	if (v->known)
		v->number = k->part == KEY_CODE ? exit_make(v->number, 0) : exit_make(0, v->number);
	return 0;
}

static int read_member(struct jscan *j, struct jtext key, struct patch *p)
{
	int slot = key_find(&job_keys, key.p, key.n);
	const struct key *k = slot >= 0 ? &job_keys.rows[slot] : NULL;
	struct field_value v = { 0 };

	j->where = arena_strndup(j->arena, key.p, key.n < 64 ? key.n : 64);
	if (k == NULL || k->field >= JOB_FIELDS || (job_fields[k->field].flags & FF_NOTE) == 0)
		return jscan_fail(j, "cannot be written; these can: comment, admin_comment, "
				     "system_comment, extra, derived_comment, derived_exit, wckey");
	if (has_bit(p->values.has, (size_t)k->field) || has_bit(p->cleared, (size_t)k->field))
		return jscan_fail(j, "stands there twice, or whole and in parts");
	if (read_value(j, k, &v) < 0)
		return -1;
	if (!v.known)
		has_set(p->cleared, (size_t)k->field);
	else if (v.text != NULL && !utf8_valid(v.text, strlen(v.text)))
		return jscan_fail(j, "is not UTF-8");
	else
		set(p, k, &v);
	return 0;
}

static int read_patch(struct request *req, struct patch *p, struct err *err)
{
	struct jscan j;
	struct jtext key;
	size_t n = 0;

	jscan_init(&j, buf_str(&req->body), req->body.len, req->arena, err);
	j.where = "body";
	if (jscan_enter(&j, JSCAN_OBJECT) < 0)
		return -1;
	for (; jscan_member(&j, &key); n++)
		if (read_member(&j, key, p) < 0)
			return -1;
	if (j.failed || jscan_done(&j) < 0)
		return -1;
	return n > 0 ? 0 : err_set(err, ERR_INVALID, "body", "nothing to write in it");
}

int run_job_note(struct request *req, struct err *err)
{
	struct patch *p = ARENA_NEW(req->arena, struct patch);
	const struct note_args *args = req->args;
	struct job_filter filter;

	if (read_patch(req, p, err) < 0 ||
	    job_filter_for_id(req, &args->clusters, &filter, err) < 0)
		return -1;
	filter.with_steps = false;
	if (ops_job_note(req->api->ops, &req->who, &filter, &p->values, p->cleared, req->now,
			 req->arena, err) < 0)
		return -1;
	reply_json(req, "{\"status\":\"noted\"}\n");
	return 0;
}

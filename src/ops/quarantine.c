/* ops/quarantine.c: records that were refused, looked at and tried again. */
#include "store/quarantine.h"

#include "core/record_json.h"
#include "ops/ops.h"

int ops_quarantine(struct ops *ops, const struct identity *who, int64_t after, int64_t limit,
		   bool with_replayed, quarantine_sink *sink, void *arg, struct err *err)
{
	if (ops_may(ops, who, RIGHT_ADMIN, err) < 0)
		return -1;
	return store_quarantine_list(ops->store, after, limit, with_replayed, sink, arg, err);
}

static int try_again(struct ops *ops, const struct identity *who, const char *json, size_t len,
		     struct arena *arena, struct verdict *ret, int *ret_retry_after_s,
		     struct err *err)
{
	const struct record_defaults defaults = { .cluster = ops->settings.default_cluster };
	struct record *rec = ARENA_NEW(arena, struct record);
	struct batch batch = {
		.records = rec,
		.verdicts = ret,
		.n = 1,
		.bytes = len + sizeof(*rec),
		.source = "replay",
		.who = arena_printf(arena, "uid=%" PRId64 "(%s)", who->uid, who->user),
	};

	*ret = (struct verdict){ .kind = VERDICT_PENDING };
	if (record_decode(json, len, &defaults, arena, rec, &ret->err) < 0)
		ret->kind = VERDICT_REFUSED;
	return ingest_commit(ops->ingest, &batch, ret_retry_after_s, err);
}

int ops_quarantine_replay(struct ops *ops, const struct identity *who, int64_t id,
			  const char *mended, size_t mended_len, int64_t now, struct arena *arena,
			  struct verdict *ret, int *ret_retry_after_s, struct err *err)
{
	struct quarantined q;

	if (ops_may(ops, who, RIGHT_ADMIN, err) < 0 ||
	    store_quarantine_get(ops->store, id, arena, &q, err) < 0)
		return -1;
	if (q.replayed_at != 0)
		return err_set(err, ERR_CONFLICT, "id",
			       "record %" PRId64 " was replayed and taken "
			       "already",
			       id);
	const char *json = mended != NULL ? mended : q.raw;
	size_t len = mended != NULL ? mended_len : q.raw_len;
	if (try_again(ops, who, json, len, arena, ret, ret_retry_after_s, err) < 0)
		return -1;
	if (ret->kind == VERDICT_REFUSED)
		return 0;
	return store_quarantine_mark_replayed(ops->store, id, now, err);
}

/* ops/note.c: what people write about a job.  The owner may say how it went; what is the site's is
 * for operators. */
#include "store/note.h"

#include "ops/ops.h"

static const enum job_field owners[] = { JOB_comment, JOB_derived_exit, JOB_derived_es, JOB_extra };

/* The newest run of what the filter finds, and whether it finds another job. */
struct target {
	bool found, several;
	char *cluster;
	int64_t job_id, submit_at, uid;
	char *user;
};

static int look(const struct job *j, const struct step *steps, size_t n, void *arg)
{
	struct target *t = arg;

	(void)steps;
	(void)n;
	if (t->found) {
		t->several |= t->job_id != j->job_id || strcmp(t->cluster, j->cluster) != 0;
		return 0;
	}
	t->found = true;
	t->cluster = xstrdup(j->cluster);
	t->job_id = j->job_id;
	t->submit_at = j->submit_at;
	t->uid = job_get(j, uid, -1);
	t->user = xstrdup(job_get(j, user_name, ""));
	return 0;
}

static bool owners_only(const uint64_t *has, const uint64_t *cleared)
{
	uint64_t rest[HAS_WORDS];

	for (size_t w = 0; w < HAS_WORDS; w++)
		rest[w] = has[w] | cleared[w];
	for (size_t i = 0; i < ARRAY_LEN(owners); i++)
		has_clear(rest, owners[i]);
	for (size_t w = 0; w < HAS_WORDS; w++)
		if (rest[w] != 0)
			return false;
	return true;
}

static int may_note(const struct identity *who, const struct target *t, const struct job *values,
		    const uint64_t *cleared, struct err *err)
{
	bool own = t->uid >= 0 ? t->uid == who->uid
			       : who->user[0] != '\0' && strcmp(t->user, who->user) == 0;

	if (who->role >= ROLE_OPERATOR)
		return 0;
	if (!own)
		return err_set(err, ERR_DENIED, "id", "job %" PRId64 " is not yours", t->job_id);
	if (!owners_only(values->has, cleared))
		return err_set(err, ERR_DENIED, NULL,
			       "the owner of a job may set comment, extra, "
			       "derived_comment and derived_exit; the rest is for operators");
	return 0;
}

static int note(struct ops *ops, const struct identity *who, const struct target *t,
		const struct job *values, const uint64_t *cleared, int64_t now, struct err *err)
{
	struct arena *arena = arena_new();
	const struct job_note put = {
		.cluster = t->cluster,
		.job_id = t->job_id,
		.submit_at = t->submit_at,
		.values = values,
		.cleared = cleared,
		.at = now,
		.by = arena_printf(arena, "uid=%" PRId64 "(%s)", who->uid, who->user),
	};
	int rc = store_note_put(ops->store, &put, err);

	arena_free(arena);
	return rc;
}

int ops_job_note(struct ops *ops, const struct identity *who, struct job_filter *filter,
		 const struct job *values, const uint64_t *cleared, int64_t now,
		 struct arena *arena, struct err *err)
{
	const struct job_page page = { .order = ORDER_JOB_ID, .limit = -1 };
	struct target t = { 0 };
	const char *after;
	int rc = -1;

	if (ops_may(ops, who, RIGHT_NOTES, err) < 0 ||
	    ops_jobs(ops, who, filter, &page, now, look, &t, arena, &after, err) < 0)
		goto out;
	if (!t.found)
		err_set(err, ERR_NOT_FOUND, "id", "no such job that you may see");
	else if (t.several)
		err_set(err, ERR_CONFLICT, "id",
			"that names several jobs; say cluster=, or the number "
			"of one job");
	else if (may_note(who, &t, values, cleared, err) == 0)
		rc = note(ops, who, &t, values, cleared, now, err);
out:
	free(t.cluster);
	free(t.user);
	return rc;
}

/* ops/jobs.c: jobs out, as the asker may see them. */
#include "ops/tree.h"
#include "store/job_read.h"

/* Without a window of its own a list of job ids is a list of look-ups, however far back. */
static int check_range(const struct ops *ops, const struct identity *who,
		       const struct job_filter *f, int64_t now, struct err *err)
{
	int64_t most = ops->settings.max_query_range_s;
	int64_t end = f->end < now ? f->end : now;

	if (most == 0 || who->role >= ROLE_OPERATOR || f->n_jobs > 0 || end - f->start <= most)
		return 0;
	return err_set(err, ERR_DENIED, "start",
		       "the window has %" PRId64 " s and MaxQueryTimeRange allows %" PRId64
		       " s; ask for less at once, or by job id",
		       end - f->start, most);
}

/* With PrivateData=jobs an ordinary user sees own jobs and those of coordinated accounts. */
static bool is_restricted(const struct ops *ops, const struct identity *who)
{
	return (ops->settings.private_data & PRIVATE_JOBS) != 0 && who->role < ROLE_OPERATOR;
}

static void restrict_to(const struct identity *who, const struct tree *t, struct job_filter *f,
			struct arena *arena)
{
	const struct user *me = ops_user_in_tree(t, who);

	f->restrict_to_own = true;
	f->own_user = who->user;
	f->own_uid = who->uid;
	f->own_accounts = (struct texts){ 0 };
	if (me != NULL)
		ops_coordinated_accounts(t, me->name, arena, &f->own_accounts);
}

/* What the filter needs the account tree for. */
static int resolve(struct ops *ops, const struct identity *who, struct job_filter *f,
		   struct arena *arena, struct err *err)
{
	struct tree *t;

	f->restrict_to_own = false;
	if (!f->subtree && !is_restricted(ops, who))
		return 0;
	t = ops_tree_now(ops, err);
	if (t == NULL)
		return -1;
	if (f->subtree)
		ops_accounts_below(t, &f->clusters, arena, &f->accounts);
	f->subtree = false;
	if (is_restricted(ops, who))
		restrict_to(who, t, f, arena);
	tree_unref(t);
	return 0;
}

/* -T: the life inside the window; one that never started has no length in it. */
struct truncation {
	const struct job_filter *filter;
	int64_t now;
	job_sink *sink;
	void *arg;
};

static int truncate_row(const struct job *j, const struct step *steps, size_t n, void *arg)
{
	const struct truncation *t = arg;
	struct job cut = *j;
	int64_t from = t->filter->start, to = t->filter->end < t->now ? t->filter->end : t->now;

	if (job_has(&cut, start_at)) {
		if (cut.start_at < from)
			cut.start_at = from;
		if (!job_has(&cut, end_at) || cut.end_at > to)
			job_set(&cut, end_at, to);
		if (cut.start_at > cut.end_at)
			cut.start_at = cut.end_at;
		job_unset(&cut, rec_elapsed);
	}
	return t->sink(&cut, steps, n, t->arg);
}

int ops_jobs(struct ops *ops, const struct identity *who, struct job_filter *filter,
	     const struct job_page *page, int64_t now, job_sink *sink, void *arg,
	     struct arena *arena, const char **ret_after, struct err *err)
{
	struct truncation t = { filter, now, sink, arg };

	if (ops_may(ops, who, RIGHT_READ, err) < 0 || check_range(ops, who, filter, now, err) < 0)
		return -1;
	if (resolve(ops, who, filter, arena, err) < 0)
		return -1;
	if (job_filter_prepare(filter, arena, err) < 0)
		return -1;
	if (filter->truncate) {
		sink = truncate_row;
		arg = &t;
	}
	return store_jobs_each(ops->store, filter, page, now, sink, arg, arena, ret_after, err);
}

#include "ops/usage.h"

/* Nobody else's: of the users asked for, the asker alone is left. */
static int restrict_to(const struct identity *who, struct usage_query *q, struct arena *arena,
		       struct err *err)
{
	struct texts *users = &q->only[BY_USER];

	if (who->user[0] == '\0')
		return err_set(
			err, ERR_DENIED, "user",
			"PrivateData=usage shows you your own use, and you have no name here");
	for (size_t i = 0; i < users->n; i++)
		if (strcmp(users->v[i], who->user) != 0)
			return err_set(err, ERR_DENIED, "user",
				       "PrivateData=usage keeps the use of \"%.64s\" from you",
				       users->v[i]);
	users->v = ARENA_ARRAY(arena, const char *, 1);
	users->v[0] = who->user;
	users->n = 1;
	return 0;
}

int ops_usage(struct ops *ops, const struct identity *who, struct usage_query *q, int64_t now,
	      struct arena *arena, struct usage_answer *ret, struct err *err)
{
	if (ops_may(ops, who, RIGHT_READ, err) < 0)
		return -1;
	if (q->to < q->from)
		return err_set(err, ERR_INVALID, "end",
			       "the window ends before it begins; start is %" PRId64
			       " and end %" PRId64,
			       q->from, q->to);
	if ((ops->settings.private_data & PRIVATE_USAGE) != 0 && who->role < ROLE_OPERATOR &&
	    restrict_to(who, q, arena, err) < 0)
		return -1;
	return usage_read(ops->store, q, now, arena, ret, err);
}

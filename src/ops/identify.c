/* ops/identify.c: who a caller is here, and what that allows. */
#include <pwd.h>

#include "base/arena.h"
#include "core/tree.h"
#include "core/words.h"
#include "ops/tree.h"
#include "store/tree_read.h"

#define PASSWD_BUF ((size_t)16 << 10)

static void user_name(struct identity *who)
{
	struct passwd pw, *found = NULL;
	char *scratch = xmalloc(PASSWD_BUF);

	if (getpwuid_r((uid_t)who->uid, &pw, scratch, PASSWD_BUF, &found) == 0 && found != NULL)
		snprintf(who->user, sizeof(who->user), "%s", found->pw_name);
	free(scratch);
}

const struct user *ops_user_in_tree(const struct tree *t, const struct identity *who)
{
	if (who->user[0] != '\0')
		return tree_user(t, who->user);
	return who->uid >= 0 ? tree_user_by_uid(t, who->uid) : NULL;
}

/* Without a database everybody is a user. */
static enum role role_in_tree(const struct ops *ops, const struct identity *who)
{
	struct tree *t = ops->trees != NULL ? tree_cache_get(ops->trees, NULL) : NULL;
	const struct user *u;
	enum role role = ROLE_USER;

	if (t == NULL)
		return role;
	u = ops_user_in_tree(t, who);
	if (u != NULL && row_get(u, USER, deleted, 0) == 0) {
		int64_t level = row_get(u, USER, admin_level, ADMIN_NONE);
		role = level == ADMIN_ADMINISTRATOR ? ROLE_ADMIN :
		       level == ADMIN_OPERATOR	    ? ROLE_OPERATOR : ROLE_USER;
	}
	tree_unref(t);
	return role;
}

void ops_identify(const struct ops *ops, struct identity *who)
{
	const struct ops_settings *s = &ops->settings;

	who->user[0] = '\0';
	who->controller = false;
	who->role = ROLE_ANONYMOUS;
	if (who->proof == PROOF_NONE || who->uid < 0)
		return;
	user_name(who);
	who->controller =
		who->uid == 0 || who->uid == s->slurm_user_uid || who->uid == s->started_by_uid;
	who->role = who->controller ? ROLE_ADMIN : role_in_tree(ops, who);
}

static int unauthenticated(struct err *err)
{
	return err_set(
		err, ERR_UNAUTH, "Authorization",
		"this needs to know who asks: send \"Authorization: Munge <credential>\", or "
		"use the unix socket");
}

int ops_may(const struct ops *ops, const struct identity *who, enum right right, struct err *err)
{
	bool known = who->proof != PROOF_NONE;

	if (right == RIGHT_PUBLIC || (right == RIGHT_READ && ops->settings.anonymous_reads))
		return 0;
	if (!known)
		return unauthenticated(err);
	if (right == RIGHT_RECORDS && !who->controller)
		return err_set(err, ERR_DENIED, NULL,
			       "uid %" PRId64 " may not send records; root, SlurmUser (uid %" PRId64
			       ") and the user that started tallyd (uid %" PRId64 ") may",
			       who->uid, ops->settings.slurm_user_uid,
			       ops->settings.started_by_uid);
	if (right == RIGHT_ADMIN && who->role < ROLE_ADMIN)
		return err_set(err, ERR_DENIED, NULL, "uid %" PRId64 " is no administrator",
			       who->uid);
	return 0;
}

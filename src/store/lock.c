#include "store/lock.h"

#include "base/arena.h"
#include "store/advisory.h"
#include "store/binrow.h"
#include "store/pg.h"
#include "store/store.h"

struct daemon_lock {
	struct store *store;
	struct pg *pg;
};

struct daemon_lock *daemon_lock_new(struct store *store)
{
	struct daemon_lock *l = xcalloc(1, sizeof(*l));

	l->store = store;
	return l;
}

void daemon_lock_drop(struct daemon_lock *l)
{
	pg_close(l->pg);
	l->pg = NULL;
}

void daemon_lock_free(struct daemon_lock *l)
{
	if (l == NULL)
		return;
	daemon_lock_drop(l);
	free(l);
}

/* Take-over is promised within ten seconds, so neither side may take longer to notice. */
static int open_session(struct daemon_lock *l, struct err *err)
{
	static const struct pg_settings how = {
		.name = "tallyd lock",
		.connect_timeout_s = 3,
		.statement_timeout_ms = 6000,
		.lock_timeout_ms = 6000,
		.idle_timeout_ms = 6000,
	};
	static const char keepalives[] =
		"SET tcp_keepalives_idle = 2; SET tcp_keepalives_interval = 1; "
		"SET tcp_keepalives_count = 3; SET tcp_user_timeout = 5000";

	if (l->pg != NULL && pg_still_there(l->pg))
		return 0;
	daemon_lock_drop(l);
	l->pg = store_session(l->store, &how, err);
	return l->pg == NULL ? -1 : pg_script(l->pg, keepalives, err);
}

static int count_epoch(struct daemon_lock *l, const char *name, int64_t now, int64_t *ret_epoch,
		       struct err *err)
{
	static const struct statement count = {
		"lock_epoch", "UPDATE daemon SET epoch = epoch + 1, name = $1::text, "
			      "since = $2::bigint RETURNING epoch"
	};
	struct buf args = BUF_INIT;
	PGresult *r;
	int rc;

	bin_text(&args, name);
	bin_i64(&args, now);
	rc = pg_run(l->pg, &count, &args, &r, err);
	buf_fini(&args);
	if (rc < 0)
		return -1;
	*ret_epoch = bin_read_i64(r, 0, 0);
	PQclear(r);
	return 0;
}

static void name_holder(struct daemon_lock *l, struct err *err)
{
	static const struct statement who = { "lock_holder", "SELECT name FROM daemon" };
	PGresult *r;

	if (pg_run(l->pg, &who, NULL, &r, NULL) < 0)
		return;
	err_set(err, ERR_BUSY, NULL, "the active tallyd is %s",
		PQntuples(r) > 0 ? PQgetvalue(r, 0, 0) : "another one");
	PQclear(r);
}

int daemon_lock_try(struct daemon_lock *l, const char *name, int64_t now, int64_t *ret_epoch,
		    struct err *err)
{
	bool got = false;

	if (open_session(l, err) < 0 || advisory_try_lock(l->pg, ADVISORY_ACTIVE, &got, err) < 0)
		goto fail;
	if (!got) {
		err_set(err, ERR_BUSY, NULL, "another tallyd is the active one");
		name_holder(l, err);
		return 0;
	}
	if (count_epoch(l, name, now, ret_epoch, err) == 0)
		return 1;
fail:
	daemon_lock_drop(l); /* and with it the lock */
	return -1;
}

int daemon_lock_check(struct daemon_lock *l, struct err *err)
{
	/* The lock lives as long as its session. */
	static const struct statement there = { "lock_there", "SELECT 1" };

	if (l->pg == NULL)
		return err_set(err, ERR_DATABASE, NULL, "the lock's session is lost");
	if (pg_run(l->pg, &there, NULL, NULL, err) == 0)
		return 0;
	daemon_lock_drop(l);
	return -1;
}

#include "store/advisory.h"

#include "store/binrow.h"
#include "store/pg.h"

static const struct statement lock = { "advisory_lock", "SELECT pg_advisory_lock($1, $2)" };
static const struct statement try_lock = { "advisory_try_lock",
					   "SELECT pg_try_advisory_lock($1, $2)" };
static const struct statement unlock = { "advisory_unlock", "SELECT pg_advisory_unlock($1, $2)" };
static const struct statement xact_lock = { "advisory_xact_lock",
					    "SELECT pg_advisory_xact_lock($1, $2)" };

static int run(struct pg *pg, const struct statement *st, enum advisory which, PGresult **ret,
	       struct err *err)
{
	struct buf args = BUF_INIT;
	int rc;

	bin_i32(&args, ADVISORY_CLASS);
	bin_i32(&args, (int32_t)which);
	rc = pg_run(pg, st, &args, ret, err);
	buf_fini(&args);
	return rc;
}

int advisory_lock(struct pg *pg, enum advisory which, struct err *err)
{
	return run(pg, &lock, which, NULL, err);
}

int advisory_try_lock(struct pg *pg, enum advisory which, bool *ret_got, struct err *err)
{
	PGresult *res = NULL;

	if (run(pg, &try_lock, which, &res, err) < 0)
		return -1;
	*ret_got = PQgetvalue(res, 0, 0)[0] != 0;
	PQclear(res);
	return 0;
}

void advisory_unlock(struct pg *pg, enum advisory which)
{
	/* A connection that cannot is lost, and the lock with it. */
	if (pg_alive(pg))
		run(pg, &unlock, which, NULL, NULL);
}

int advisory_xact_lock(struct pg *pg, enum advisory which, struct err *err)
{
	return run(pg, &xact_lock, which, NULL, err);
}

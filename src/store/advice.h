/* store/advice.h: what an administrator can do about a database that will not have us. */
#ifndef TALLY_STORE_ADVICE_H
#define TALLY_STORE_ADVICE_H

#include "base/err.h"

#define POSTGRES_OLDEST 15

struct store;

/* Adds to a failure's text what to do about it, where its cause is one of the usual ones: wrong
 * password, no such database or role, no entry in pg_hba.conf, nobody listening, no rights, a
 * standby. */
void database_advise(struct err *err);

/* Brings the schema of the store's database to this program's version, after a look at whether the
 * server is one we can use.  *ret_applied may be NULL.  NEWER and CONFLICT do not go away by
 * themselves. */
int database_prepare(struct store *store, int *ret_applied, struct err *err);

#endif

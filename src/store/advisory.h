/* store/advisory.h: the advisory locks that tally's sessions take on the database, all in one
 * place, so that no two mean the same number.  The first key is ours ("TALY"). */
#ifndef TALLY_STORE_ADVISORY_H
#define TALLY_STORE_ADVISORY_H

#include "base/err.h"

struct pg;

enum advisory {
	ADVISORY_MIGRATE = 1, /* session: one program changes the schema */
	ADVISORY_ACTIVE,      /* session: this daemon is the one that writes */
	ADVISORY_SPAN,	    /* transaction: shared by who writes rows, alone by who moves months */
	ADVISORY_MAINTAIN,  /* session: one program moves and takes away partitions */
	ADVISORY_PARTITION, /* transaction: one session makes tables */
};
#define ADVISORY_CLASS 0x54414c59

/* Of the session: waits (for lock_timeout, if the session has one), and stays until unlocked. */
int advisory_lock(struct pg *pg, enum advisory which, struct err *err);
int advisory_try_lock(struct pg *pg, enum advisory which, bool *ret_got, struct err *err);
void advisory_unlock(struct pg *pg, enum advisory which);
/* Of the transaction. */
int advisory_xact_lock(struct pg *pg, enum advisory which, struct err *err);

#endif

/* store/migrate.h: bringing the schema to this program's version.
 *
 * sql/NNNN_name.sql, embedded at build time, applied in order, each in a transaction of its own
 * that also records it with its checksum.  Several programs may try at once: an advisory lock lets
 * one work and the others find it done.  A schema that is newer than this program, or a migration
 * that has been edited since it was applied, is refused and nothing is changed. */
#ifndef TALLY_STORE_MIGRATE_H
#define TALLY_STORE_MIGRATE_H

#include "base/err.h"

struct pg;

struct migration {
	int number; /* from 1, ascending, no gaps */
	const char *file;
	const char *text;
};

/* The embedded ones. */
extern const struct migration migrations[];
extern const size_t n_migrations;

/* Applies those of the list that are not applied yet; *ret_applied (may be NULL) says how many. */
int migrate(struct pg *pg, const struct migration *list, size_t n, int *ret_applied,
	    struct err *err);

#endif

/* store/private_backup.h: backup and restore of a running tallyd's private PostgreSQL.
 *
 * A backup is a custom-format dump of the whole database, taken while everything runs.  A restore
 * fills a fresh database beside the one in use and then changes their names, so that a failure
 * half-way leaves everything as it was; a former database that held jobs is kept. */
#ifndef TALLY_STORE_PRIVATE_BACKUP_H
#define TALLY_STORE_PRIVATE_BACKUP_H

#include "base/err.h"

/* state_dir NULL: the default one, else ./var, whichever has a running tallyd. */
int private_backup(const char *state_dir, const char *file, int64_t *ret_bytes,
		   struct err *err);

struct restored {
	int64_t jobs, former_jobs;
	char former[64]; /* name of the database that is kept; empty when there was nothing in it */
	char socket_dir[128];
};

/* CONFLICT when the database in use holds jobs, unless force; NEWER when the backup is of a newer
 * schema. */
int private_restore(const char *state_dir, const char *file, bool force, struct restored *ret,
		    struct err *err);

#endif

#include "store/advice.h"

#include "store/migrate.h"
#include "store/pg.h"
#include "store/store.h"

/* libpq has no code for why a connection was refused, so its text is what there is to go by; a
 * server that speaks another language than English gets its text shown without advice. */
static const struct {
	const char *text, *advice;
} advices[] = {
	{ "password authentication failed", "the password is wrong: mend StoragePass (or "
					    "StoragePassScript), or set it with ALTER ROLE "
					    "... PASSWORD" },
	{ "no password supplied",
	  "the server wants a password: set StoragePass or StoragePassScript" },
	{ "no pg_hba.conf entry", "the server's pg_hba.conf must let this role in from this host" },
	{ "peer authentication failed",
	  "the server wants the role's name to be the system user's: set StorageUser, or use a "
	  "password" },
	{ "role \"", "make the role: CREATE ROLE name LOGIN PASSWORD '...'" },
	{ "database \"", "make the database: CREATE DATABASE name OWNER role" },
	{ "permission denied", "the role may not make tables: ALTER DATABASE name OWNER TO role, "
			       "or GRANT CREATE ON SCHEMA "
			       "public TO role" },
	{ "Connection refused", "nobody listens there: is PostgreSQL running, and are StorageHost "
				"and StoragePort right?" },
	{ "No such file or directory",
	  "there is no such socket: is PostgreSQL running, and are StorageHost (the socket's "
	  "directory) and StoragePort right?" },
	{ "could not translate host name", "check the spelling of StorageHost" },
	{ "timeout expired", "the host does not answer: check StorageHost and the firewall" },
	{ "read-only", "this is a standby: name its primary, or both in StorageDSN with "
		       "target_session_attrs=read-write" },
	{ "remaining connection slots", "raise max_connections, or lower StorageConnections" },
	{ "too many clients", "raise max_connections, or lower StorageConnections" },
};

void database_advise(struct err *err)
{
	for (size_t i = 0; i < ARRAY_LEN(advices); i++) {
		if (strstr(err->text, advices[i].text) != NULL) {
			size_t n = strlen(err->text);

			snprintf(err->text + n, sizeof(err->text) - n, "; %s", advices[i].advice);
			return;
		}
	}
}

static int check_server(struct pg *pg, struct err *err)
{
	int version = pg_server_version(pg);

	if (version / 10000 < POSTGRES_OLDEST)
		return err_set(err, ERR_DATABASE, "PostgreSQL",
			       "the server is of version %d.%d; %d or newer is needed",
			       version / 10000, version % 10000, POSTGRES_OLDEST);
	return 0;
}

int database_prepare(struct store *store, int *ret_applied, struct err *err)
{
	struct pg *pg = store_maintainer(store, err);
	int rc = -1;

	if (pg != NULL && check_server(pg, err) == 0 &&
	    migrate(pg, migrations, n_migrations, ret_applied, err) == 0)
		rc = 0;
	else
		database_advise(err);
	pg_close(pg);
	return rc;
}

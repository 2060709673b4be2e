#include "maintain.h"

#include "base/state.h"
#include "places.h"
#include "store/private_backup.h"
#include "store/private_pg.h"

int maintain_backup(const char *state_dir, const char *file, struct err *err)
{
	int64_t bytes;

	if (private_backup(state_dir, file, &bytes, err) < 0)
		return -1;
	printf("%s: %" PRId64 " bytes; `tally restore %s` brings it back\n", file, bytes, file);
	return 0;
}

int maintain_restore(const char *state_dir, const char *file, bool force, struct err *err)
{
	struct restored r;

	if (private_restore(state_dir, file, force, &r, err) < 0)
		return -1;
	printf("%" PRId64 " jobs are back from %s\n", r.jobs, file);
	if (r.former[0] != '\0')
		printf("the former database (%" PRId64 " jobs) is kept; this removes it: "
		       "dropdb -h %s -p %d -U %s %s\n",
		       r.former_jobs, r.socket_dir, PRIVATE_PG_PORT, PRIVATE_PG_ADMIN, r.former);
	return 0;
}

int maintain_upgrade_state(const struct config *config, struct err *err)
{
	struct places places;
	int from, to, rc;

	if (places_take(config->state_dir, config->user, &places, err) < 0)
		return -1;
	struct private_pg_settings s = {
		.state_dir = places.state_dir,
		.socket_dir = places.pg_dir,
		.bin_dir = config->postgres_bin_dir,
		.cancel_fd = -1,
	};
	rc = private_pg_upgrade(&s, &from, &to, err);
	if (rc == 0 && from == to)
		printf("the data in %s/pg are of PostgreSQL %d, the newest installed: nothing to "
		       "do\n",
		       places.state_dir, from);
	else if (rc == 0)
		printf("the data in %s/pg are of PostgreSQL %d now; the old ones (%d) are kept in "
		       "%s/pg-%d: remove them when all is well\n",
		       places.state_dir, to, from, places.state_dir, from);
	places_leave(&places);
	return rc;
}

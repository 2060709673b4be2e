#include "store/facts.h"

#include "store/binrow.h"
#include "store/pg.h"

#define PARTITIONS_OF(table)                                                                       \
	"(SELECT coalesce(sum(pg_total_relation_size(inhrelid)), 0)::bigint FROM pg_inherits"      \
	" WHERE inhparent = '" table "'::regclass)"

static const struct statement facts = {
	"facts",
	"SELECT pg_database_size(current_database()), " PARTITIONS_OF("job") ", " PARTITIONS_OF(
		"step") ","
			" (SELECT count(*) FROM pg_inherits WHERE inhparent = 'job'::regclass),"
			" (SELECT coalesce(sum(open_jobs), 0)::bigint FROM job_month),"
			" (SELECT count(*) FROM quarantine WHERE replayed_at IS NULL),"
			" (SELECT count(*) FROM pg_stat_activity WHERE backend_type = 'client "
			"backend'),"
			" current_setting('max_connections')::bigint,"
			" (SELECT coalesce(extract(epoch FROM max(now() - xact_start)), 0)::bigint"
			"  FROM pg_stat_activity WHERE datname = current_database()),"
			" pg_is_in_recovery(),"
			" (SELECT count(*) FROM pg_stat_replication),"
			" CASE WHEN pg_is_in_recovery() THEN"
			"  pg_wal_lsn_diff(pg_last_wal_receive_lsn(), "
			"pg_last_wal_replay_lsn())::bigint"
			" ELSE (SELECT max(pg_wal_lsn_diff(pg_current_wal_lsn(), "
			"replay_lsn))::bigint"
			"  FROM pg_stat_replication) END,"
			" CASE WHEN pg_is_in_recovery() THEN"
			"  extract(epoch FROM now() - pg_last_xact_replay_timestamp())::double "
			"precision"
			" ELSE (SELECT extract(epoch FROM max(replay_lag))::double precision"
			"  FROM pg_stat_replication) END"
};

static double read_double(const PGresult *r, int column)
{
	uint64_t bits = (uint64_t)bin_read_i64(r, 0, column);
	double v;

	memcpy(&v, &bits, sizeof(v));
	return v;
}

static void fill(const PGresult *r, struct store_facts *ret)
{
	int64_t *const numbers[] = { &ret->database_bytes,	&ret->job_bytes,
				     &ret->step_bytes,		&ret->partitions,
				     &ret->open_jobs,		&ret->quarantined,
				     &ret->connections,		&ret->max_connections,
				     &ret->oldest_transaction_s };
	int column = 0;

	for (size_t i = 0; i < ARRAY_LEN(numbers); i++)
		*numbers[i] = bin_read_i64(r, 0, column++);
	ret->standby = PQgetvalue(r, 0, column++)[0] != 0;
	ret->standbys = bin_read_i64(r, 0, column++);
	ret->lag_bytes = PQgetisnull(r, 0, column) ? -1 : bin_read_i64(r, 0, column);
	column++;
	ret->lag_s = PQgetisnull(r, 0, column) ? -1 : read_double(r, column);
}

static int read_facts(struct pg *pg, void *arg, struct err *err)
{
	PGresult *r = NULL;

	if (pg_run(pg, &facts, NULL, &r, err) < 0)
		return -1;
	fill(r, arg);
	PQclear(r);
	return 0;
}

int store_facts_read(struct store *s, struct store_facts *ret, struct err *err)
{
	return store_read(s, read_facts, ret, err);
}

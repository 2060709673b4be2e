/* ops/health.c: is everything there? */
#include "ops/ops.h"
#include "store/store.h"

void ops_get_health(struct ops *ops, struct ops_health *ret)
{
	struct store_health store;

	*ret = (struct ops_health){ 0 };
	ingest_get_stats(ops->ingest, &ret->ingest);
	store_get_health(ops->store, &store);
	ret->database_up = store.up;
	ret->readers = (uint64_t)store.readers;
	ret->readers_busy = (uint64_t)store.readers_busy;
	ret->reader_waits = store.reader_waits;
	ret->reader_timeouts = store.reader_timeouts;
	ret->connects = store.connects;
	ret->failed_connects = store.failed_connects;
}

int ops_ping_database(struct ops *ops, struct err *err)
{
	return store_ping(ops->store, err);
}

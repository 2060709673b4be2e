/* ops/health.c: is everything there? */
#include "ops/ops.h"

void ops_get_health(struct ops *ops, struct ops_health *ret)
{
	*ret = (struct ops_health){ 0 };
	ingest_get_stats(ops->ingest, &ret->ingest);
	/* The writer's lock is held in the database: whoever has it has a database. */
	ret->database_up = ret->ingest.active;
}

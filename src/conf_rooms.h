/* conf_rooms.h: from the keys of tally.conf to the settings that each room declares. */
#ifndef TALLY_CONF_ROOMS_H
#define TALLY_CONF_ROOMS_H

#include <sys/types.h>

#include "api/api.h"
#include "config.h"
#include "ingest/ingest.h"
#include "ops/ops.h"
#include "places.h"
#include "store/store.h"

/* The strings belong to config and places, which must outlive what is made of the settings. */
void conf_store(const struct config *config, const char *dsn, struct store_settings *ret);
void conf_ingest(const struct config *config, struct ingest_settings *ret);
/* http_socket has room for the socket's path. */
int conf_api(const struct config *config, const struct places *places, const char *munge_socket,
	     const char *munge_key, char http_socket[108], struct api_settings *ret,
	     struct err *err);
int conf_ops(const struct config *config, uid_t started_by, struct ops_settings *ret,
	     struct err *err);
/* What of these may change while running. */
void conf_ops_reload(const struct config *config, struct ops_settings *settings);

/* Are all addresses loopback?  What AllowAnonymousReads should be kept to. */
bool conf_is_local(const struct config *config);

#endif

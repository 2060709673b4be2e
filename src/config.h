/* config.h: the settings of one tallyd. */
#ifndef TALLY_CONFIG_H
#define TALLY_CONFIG_H

#include "base/err.h"
#include "base/log.h"

struct config {
	const char *state_dir;
	const char *user;         /* whom root becomes */
	const char *munge_socket; /* NULL = a private munged */
	const char *http;
	struct log_settings log;
};

#endif

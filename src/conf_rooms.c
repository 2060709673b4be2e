#include "conf_rooms.h"

#include <strings.h>

#include "base/num.h"
#include "base/proc.h"

void conf_store(const struct config *config, const char *dsn, struct store_settings *ret)
{
	*ret = (struct store_settings){
		.conninfo = dsn,
		.readers = (int)config->storage_connections,
	};
}

void conf_ingest(const struct config *config, struct ingest_settings *ret)
{
	*ret = (struct ingest_settings){
		.queue_records = (size_t)config->queue_records,
		.queue_bytes = (size_t)config->queue_bytes,
		.lock_timeout_ms = (int)config->lock_timeout_ms,
		.register_clusters = config->register_clusters,
		.default_cluster = config->cluster,
	};
}

static int unix_path(const struct config *config, const struct places *places, char out[108],
		     const char **ret, struct err *err)
{
	const char *given = config->http_socket;
	int n;

	*ret = NULL;
	if (given != NULL && strcasecmp(given, "none") == 0)
		return 0;
	if (given != NULL && given[0] != '/')
		return err_set(err, ERR_INVALID, "HttpSocket", "\"%.60s\" is not an absolute path",
			       given);
	n = given != NULL ? snprintf(out, 108, "%s", given)
			  : snprintf(out, 108, "%s/tally.sock", places->run_dir);
	if (n >= 108)
		return err_set(err, ERR_INVALID, "HttpSocket",
			       "the path is longer than the 107 bytes that a socket's may have");
	*ret = out;
	return 0;
}

int conf_api(const struct config *config, const struct places *places, const char *munge_socket,
	     const char *munge_key, char http_socket[108], struct api_settings *ret,
	     struct err *err)
{
	api_settings_init(ret);
	ret->listen = config->http_addr;
	ret->munge.socket = munge_socket;
	ret->munge.key_file = munge_key;
	ret->max_connections = (size_t)config->max_connections;
	ret->max_body_bytes = (size_t)config->max_body_bytes;
	ret->max_inflated_bytes = (size_t)config->max_inflated_bytes;
	ret->max_inflate_ratio = (size_t)config->max_inflate_ratio;
	ret->max_bodies_bytes = (size_t)config->max_bodies_bytes;
	ret->idle_s = (int)config->idle_s;
	ret->first_s = (int)config->first_s;
	ret->grace_s = (int)config->grace_s;
	ret->min_rate = (size_t)config->min_rate;
	return unix_path(config, places, http_socket, &ret->unix_path, err);
}

/* A name that this system knows, or a number. */
static int find_uid(const char *text, int64_t *ret, struct err *err)
{
	struct proc_user user;

	if (num_parse(text, ret) == 0)
		return 0;
	if (proc_user_find(text, &user, NULL) < 0)
		return err_set(err, ERR_INVALID, "SlurmUser",
			       "this system knows no user \"%.60s\"; name one, or give its number",
			       text);
	*ret = user.uid;
	return 0;
}

int conf_ops(const struct config *config, uid_t started_by, struct ops_settings *ret,
	     struct err *err)
{
	*ret = (struct ops_settings){
		.started_by_uid = started_by,
		.default_cluster = config->cluster,
		.keep_user_case = config->keep_user_case,
	};
	conf_ops_reload(config, ret);
	return find_uid(config->slurm_user, &ret->slurm_user_uid, err);
}

void conf_ops_reload(const struct config *config, struct ops_settings *settings)
{
	settings->private_data = config->private_data;
	settings->anonymous_reads = config->anonymous_reads;
	settings->max_query_range_s = config->max_query_range_s;
}

bool conf_is_local(const struct config *config)
{
	static const char *const local[] = { "127.", "localhost:", "[::1]:" };

	for (size_t i = 0; config->http_addr[i] != NULL; i++) {
		bool good = false;

		for (size_t k = 0; k < ARRAY_LEN(local); k++)
			good = good ||
			       strncmp(config->http_addr[i], local[k], strlen(local[k])) == 0;
		if (!good)
			return false;
	}
	return true;
}

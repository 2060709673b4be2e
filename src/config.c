#include "config.h"

#include <ctype.h>
#include <fcntl.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/arena.h"
#include "base/buf.h"
#include "base/conf.h"
#include "base/near.h"
#include "base/num.h"
#include "base/proc.h"
#include "core/duration.h"
#include "core/job.h"
#include "ops/ops.h"

enum { FILE_MOST_BYTES = 1 << 20, INCLUDE_DEPTH = 8, SCRIPT_MS = 30000 };

enum reload { RESTART, RELOAD, UNUSED_KEY };

struct setter;
typedef int set_fn(const struct setter *s, const char *value, void *member, struct err *err);

struct key {
	const char *name;
	const char *type;
	set_fn *set; /* NULL: accepted, without effect */
	size_t offset;
	const char *default_text;
	int64_t least, most;
	enum reload reload;
	const char *help;
};

/* What a setting function may need. */
struct setter {
	const struct key *key;
	struct config *config;
	const char *where; /* "tally.conf:12" */
};

static set_fn set_STR, set_PATH, set_LIST, set_BOOL, set_INT, set_SIZE, set_SPAN, set_LEVEL,
	set_FORMAT, set_PRIVATE, set_AUTH, set_PARAMETERS;

static const struct key keys[CONFIG_KEYS] = {
#define C(key, type, member, default_text, least, most, reload, help)                              \
	{ #key, #type,	set_##type, offsetof(struct config, member), default_text, least,          \
	  most, reload, help },
#define N(key, help) { #key, "-", NULL, 0, "", 0, 0, UNUSED_KEY, help },
#include "config.def"
#undef C
#undef N
};

/* ---- values ------------------------------------------------------------------------------- */

static int bad(const struct setter *s, struct err *err, const char *value, const char *want)
{
	return err_set(err, ERR_INVALID, s->where, "%s: \"%.80s\" is not %s", s->key->name, value,
		       want);
}

static int set_STR(const struct setter *s, const char *value, void *member, struct err *err UNUSED)
{
	const char *text = value[0] != '\0' ? arena_strdup(s->config->arena, value) : NULL;

	memcpy(member, &text, sizeof(text));
	return 0;
}

static int set_PATH(const struct setter *s, const char *value, void *member, struct err *err)
{
	if (value[0] != '\0' && value[0] != '/')
		return bad(s, err, value, "an absolute path");
	if (strlen(value) > 4000)
		return bad(s, err, value, "a path: it is too long");
	return set_STR(s, value, member, err);
}

static int set_LIST(const struct setter *s, const char *value, void *member, struct err *err UNUSED)
{
	struct arena *a = s->config->arena;
	size_t n = 0, most = 1;

	for (const char *p = value; *p != '\0'; p++)
		most += *p == ',';
	const char **list = ARENA_ARRAY(a, const char *, most + 1);
	for (const char *p = value; *p != '\0';) {
		size_t len = strcspn(p, ",");

		if (len > 0)
			list[n++] = arena_strndup(a, p, len);
		p += len + (p[len] == ',');
	}
	if (n == 1 && strcasecmp(list[0], "none") == 0)
		list[0] = NULL;
	memcpy(member, &list, sizeof(list));
	return 0;
}

/* Words and their values, the last with a NULL name. */
struct choice {
	const char *name;
	int value;
};

static int choose(const struct choice *choices, const char *value, int *ret)
{
	for (; choices->name != NULL; choices++) {
		if (strcasecmp(choices->name, value) == 0) {
			*ret = choices->value;
			return 0;
		}
	}
	return -1;
}

static int set_BOOL(const struct setter *s, const char *value, void *member, struct err *err)
{
	static const struct choice words[] = { { "yes", 1 },   { "no", 0 }, { "true", 1 },
					       { "false", 0 }, { "on", 1 }, { "off", 0 },
					       { "1", 1 },     { "0", 0 },  { NULL, 0 } };
	int n;

	if (choose(words, value, &n) < 0)
		return bad(s, err, value, "yes or no");
	*(bool *)member = n != 0;
	return 0;
}

static int set_INT(const struct setter *s, const char *value, void *member, struct err *err)
{
	int64_t n;

	if (num_parse(value, &n) < 0 || n < s->key->least || n > s->key->most)
		return err_set(err, ERR_INVALID, s->where,
			       "%s: \"%.80s\" is not a number from %" PRId64 " to %" PRId64,
			       s->key->name, value, s->key->least, s->key->most);
	*(int64_t *)member = n;
	return 0;
}

static int set_SIZE(const struct setter *s, const char *value, void *member, struct err *err)
{
	static const char letters[] = "KMGT";
	int64_t n = 0;
	const char *end = num_digits(value, &n), *letter;
	bool good = end != NULL;

	if (good && *end != '\0') {
		letter = strchr(letters, toupper((unsigned char)*end));
		good = letter != NULL && (end[1] == '\0' || strcasecmp(end + 1, "B") == 0 ||
					  strcasecmp(end + 1, "iB") == 0);
		if (good)
			n = num_mul(n, INT64_C(1) << 10 * (letter - letters + 1), NULL);
	}
	if (!good || n < s->key->least || n > s->key->most)
		return err_set(err, ERR_INVALID, s->where,
			       "%s: \"%.80s\" is not a size from %" PRId64 " to %" PRId64
			       " bytes (K, M, G allowed)",
			       s->key->name, value, s->key->least, s->key->most);
	*(int64_t *)member = n;
	return 0;
}

static int set_SPAN(const struct setter *s, const char *value, void *member, struct err *err)
{
	int64_t minutes;

	if (limit_parse(value, &minutes, NULL) < 0 || (minutes <= 0 && minutes != LIMIT_UNLIMITED))
		return bad(s, err, value, "minutes, [D-]HH:MM:SS, or INFINITE");
	*(int64_t *)member = minutes == LIMIT_UNLIMITED ? 0 : num_mul(minutes, 60, NULL);
	return 0;
}

static int set_LEVEL(const struct setter *s, const char *value, void *member, struct err *err)
{
	/* clang-format off */
	static const struct choice words[] = {
		{ "quiet", LOG_QUIET },	    { "fatal", LOG_FATAL },  { "error", LOG_ERROR },
		{ "info", LOG_INFO },	    { "warn", LOG_WARN },    { "warning", LOG_WARN },
		{ "verbose", LOG_VERBOSE }, { "debug", LOG_DEBUG },  { "debug2", LOG_DEBUG },
		{ "debug3", LOG_DEBUG },    { "debug4", LOG_DEBUG }, { "debug5", LOG_DEBUG },
		{ "0", LOG_QUIET },	    { "1", LOG_FATAL },	     { "2", LOG_ERROR },
		{ "3", LOG_INFO },	    { "4", LOG_VERBOSE },    { "5", LOG_DEBUG },
		{ "6", LOG_DEBUG },	    { "7", LOG_DEBUG },	     { "8", LOG_DEBUG },
		{ "9", LOG_DEBUG },	    { NULL, 0 },
	};
	/* clang-format on */
	int n;

	if (choose(words, value, &n) < 0)
		return bad(s, err, value, "one of quiet, fatal, error, info, verbose, debug");
	*(enum log_level *)member = (enum log_level)n;
	return 0;
}

static int set_FORMAT(const struct setter *s, const char *value, void *member, struct err *err)
{
	static const struct choice words[] = { { "slurm", LOG_SLURM },
					       { "json", LOG_JSON },
					       { NULL, 0 } };
	int n;

	if (choose(words, value, &n) < 0)
		return bad(s, err, value, "slurm or json");
	*(enum log_format *)member = (enum log_format)n;
	return 0;
}

static int set_PRIVATE(const struct setter *s, const char *value, void *member, struct err *err)
{
	/* clang-format off */
	static const struct choice words[] = {
		{ "accounts", PRIVATE_ACCOUNTS }, { "events", PRIVATE_EVENTS },
		{ "jobs", PRIVATE_JOBS },	  { "reservations", PRIVATE_RESERVATIONS },
		{ "usage", PRIVATE_USAGE },	  { "users", PRIVATE_USERS },
		{ "none", 0 },			  { NULL, 0 },
	};
	/* clang-format on */
	const char *const *list;
	unsigned bits = 0;

	set_LIST(s, value, &list, err);
	for (; *list != NULL; list++) {
		int n;

		if (choose(words, *list, &n) < 0)
			return bad(s, err, *list,
				   "one of accounts, events, jobs, reservations, usage, users");
		bits |= (unsigned)n;
	}
	*(unsigned *)member = bits;
	return 0;
}

static int set_PARAMETERS(const struct setter *s, const char *value, void *member, struct err *err)
{
	const char *const *list;
	bool *keep = member;

	*keep = false;
	set_LIST(s, value, &list, err);
	for (; *list != NULL; list++)
		*keep = *keep || strcasecmp(*list, "PreserveCaseUser") == 0;
	return 0;
}

/* "socket=PATH,ttl=60": of these only the socket has a meaning here. */
static int set_AUTH(const struct setter *s, const char *value, void *member, struct err *err)
{
	static const char *const known[] = { "ttl=", "cred_expire=", "use_client_ids",
					     "disable_send_gids" };
	const char *const *list;
	const char *path = "";

	set_LIST(s, value, &list, err);
	for (; *list != NULL; list++) {
		bool good = false;

		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			good = good || strncasecmp(*list, known[i], strlen(known[i])) == 0;
		if (strncasecmp(*list, "socket=", 7) == 0) {
			path = *list + 7;
			good = *path != '\0';
		}
		if (!good)
			return bad(s, err, *list, "socket=PATH");
	}
	return set_PATH(s, path, member, err);
}

/* ---- keys --------------------------------------------------------------------------------- */

static const struct key *key_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (strcasecmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static int unknown_key(const char *name, const char *where, struct err *err)
{
	struct near near;

	near_init(&near, name, strlen(name));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		near_try(&near, keys[i].name);
	if (near_best(&near) != NULL)
		return err_set(err, ERR_INVALID, where,
			       "there is no key \"%.60s\"; did you mean %s?", name,
			       near_best(&near));
	return err_set(err, ERR_INVALID, where,
		       "there is no key \"%.60s\"; tally.conf(5) and tallyd --dump-config-keys "
		       "list them",
		       name);
}

static int set_key(struct config *config, const char *name, const char *value, const char *where,
		   struct err *err)
{
	struct setter s = { .key = key_find(name), .config = config, .where = where };

	if (s.key == NULL)
		return unknown_key(name, where, err);
	if (s.key == &keys[CONFIG_StorageType] && strcasestr(value, "mysql") != NULL)
		return err_set(
			err, ERR_INVALID, where,
			"StorageType: tally keeps its records in PostgreSQL; remove this line, "
			"and let the Storage keys name a PostgreSQL");
	config->given[s.key - keys] = arena_strdup(config->arena, value);
	if (s.key->set == NULL)
		return 0;
	return s.key->set(&s, value, (char *)config + s.key->offset, err);
}

static struct config *config_new(void)
{
	struct arena *a = arena_new();
	struct config *config = ARENA_NEW(a, struct config);

	config->arena = a;
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		struct setter s = { .key = &keys[i], .config = config, .where = keys[i].name };
		struct err err = { 0 };

		if (keys[i].set != NULL && keys[i].set(&s, keys[i].default_text,
						       (char *)config + keys[i].offset, &err) < 0)
			assert(!"a default of config.def is out of its range");
	}
	return config;
}

void config_free(struct config *config)
{
	while (config != NULL) {
		struct config *older = config->older;

		arena_free(config->arena);
		config = older;
	}
}

/* ---- files -------------------------------------------------------------------------------- */

struct reading {
	struct config *config;
	const char *name; /* of the file */
	const char *dir;  /* Include's relative paths start here; NULL = Include is refused */
	int depth;
};

static int read_file(struct config *config, const char *path, int depth, struct err *err);

static int take_pair(const struct conf_pair *pair, void *arg, struct err *err)
{
	struct reading *r = arg;
	char where[96];
	const char *path = pair->value;

	conf_where(r->name, pair->line, where, sizeof(where));
	if (pair->key[0] != '\0')
		return set_key(r->config, pair->key, pair->value, where, err);
	if (r->dir == NULL || r->depth >= INCLUDE_DEPTH)
		return err_set(err, ERR_INVALID, where, "Include goes too deep");
	if (path[0] != '/')
		path = arena_printf(r->config->arena, "%s/%s", r->dir, path);
	return read_file(r->config, path, r->depth + 1, err);
}

struct config *config_parse(const char *name, const char *text, size_t len, struct err *err)
{
	struct config *config = config_new();
	struct reading r = { .config = config, .name = name };

	if (conf_parse(name, text, len, config->arena, take_pair, &r, err) == 0)
		return config;
	config_free(config);
	return NULL;
}

/* A password is for the owner and the group of the file only. */
static int check_secret(const struct config *config, const char *path, const struct stat *st,
			struct err *err)
{
	struct proc_user user = { .uid = 0 };
	bool secret = config->storage_pass != NULL ||
		      (config->storage_dsn != NULL &&
		       strcasestr(config->storage_dsn, "password") != NULL);

	if (!secret)
		return 0;
	if ((st->st_mode & 0137) != 0)
		return err_set(err, ERR_INVALID, path,
			       "holds a password and has mode %04o; run: chmod 640 %s (or 600)",
			       (unsigned)st->st_mode & 07777, path);
	if (st->st_uid != 0 && st->st_uid != geteuid() &&
	    (proc_user_find(config->user != NULL ? config->user : "tally", &user, NULL) < 0 ||
	     st->st_uid != user.uid))
		return err_set(
			err, ERR_INVALID, path,
			"holds a password and belongs to uid %lu; it must belong to root or to "
			"the user that runs tallyd",
			(unsigned long)st->st_uid);
	return 0;
}

static int slurp(const char *path, struct buf *out, struct stat *st, struct err *err)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n = 0;

	if (fd < 0)
		return err_set(err, errno == ENOENT ? ERR_NOT_FOUND : ERR_SYSTEM, path,
			       "cannot be read: %s", strerror(errno));
	buf_limit(out, FILE_MOST_BYTES);
	if (fstat(fd, st) == 0 && !S_ISREG(st->st_mode) && !S_ISCHR(st->st_mode)) {
		close(fd);
		return err_set(err, ERR_INVALID, path, "is not a file");
	}
	for (;;) {
		char *room = buf_reserve(out, 65536);

		n = room != NULL ? read(fd, room, 65536) : 0;
		if (n <= 0)
			break;
		out->len += (size_t)n;
	}
	close(fd);
	if (n < 0)
		return err_set(err, ERR_SYSTEM, path, "cannot be read: %s", strerror(errno));
	if (buf_failed(out))
		return err_set(err, ERR_TOO_LARGE, path, "is larger than 1 MiB");
	return 0;
}

static int read_file(struct config *config, const char *path, int depth, struct err *err)
{
	const char *slash = strrchr(path, '/');
	struct reading r = {
		.config = config,
		.name = path,
		.dir = slash != NULL ? arena_strndup(config->arena, path, (size_t)(slash - path))
				     : ".",
		.depth = depth,
	};
	struct buf text = BUF_INIT;
	struct stat st = { 0 };
	int rc = slurp(path, &text, &st, err);

	if (rc == 0)
		rc = conf_parse(path, buf_str(&text), text.len, config->arena, take_pair, &r, err);
	if (rc == 0)
		rc = check_secret(config, path, &st, err);
	buf_fini(&text);
	return rc;
}

static int take_override(struct config *config, const struct config_override *o, struct err *err)
{
	const char *value = o->value;
	char cwd[PATH_MAX];

	/* What is typed at a command line may be relative to where it is typed. */
	if (strcmp(o->key, "StateDir") == 0 && value[0] != '/' && getcwd(cwd, sizeof(cwd)) != NULL)
		value = arena_printf(config->arena, "%s/%s", cwd, value);
	if (strcmp(o->key, "AuthInfo") == 0)
		value = value[0] != '/' && getcwd(cwd, sizeof(cwd)) != NULL
				? arena_printf(config->arena, "socket=%s/%s", cwd, value)
				: arena_printf(config->arena, "socket=%s", value);
	return set_key(config, o->key, value, o->where, err);
}

static int check_whole(const struct config *c, struct err *err)
{
	if (c->storage_dsn != NULL && c->storage_host != NULL)
		return err_set(err, ERR_INVALID, c->file,
			       "StorageDSN and StorageHost are both given; keep one of them");
	if (c->storage_pass != NULL && c->storage_pass_script != NULL)
		return err_set(
			err, ERR_INVALID, c->file,
			"StoragePass and StoragePassScript are both given; keep one of them");
	return 0;
}

struct config *config_load(const char *file, const struct config_override *overrides, size_t n,
			   struct err *err)
{
	struct config *config = config_new();
	const char *path = file != NULL ? file : DEFAULT_CONFIG_FILE;
	int rc = 0;

	if (file != NULL || access(path, F_OK) == 0) {
		config->file = arena_strdup(config->arena, path);
		rc = read_file(config, path, 0, err);
	}
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = take_override(config, &overrides[i], err);
	if (rc == 0)
		rc = check_whole(config, err);
	if (rc == 0)
		return config;
	config_free(config);
	return NULL;
}

/* ---- what follows from them ---------------------------------------------------------------- */

static bool same(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

void config_compare(const struct config *old, const struct config *fresh, config_change *change,
		    void *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (!same(old->given[i], fresh->given[i]) && keys[i].set != NULL)
			change(keys[i].name, keys[i].reload == RELOAD, arg);
}

void config_each_unused(const struct config *config,
			void (*unused)(const char *key, const char *why, void *arg), void *arg)
{
	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		if (config->given[i] != NULL && keys[i].set == NULL)
			unused(keys[i].name, keys[i].help, arg);
}

/* libpq's quoting: backslash before ' and \. */
static void add_param(struct buf *out, const char *name, const char *value)
{
	buf_printf(out, "%s%s='", out->len > 0 ? " " : "", name);
	for (; *value != '\0'; value++) {
		if (*value == '\'' || *value == '\\')
			buf_addc(out, '\\');
		buf_addc(out, *value);
	}
	buf_addc(out, '\'');
}

static int password_of(const struct config *c, const char **ret, struct err *err)
{
	const char *const argv[] = { c->storage_pass_script, NULL };
	struct proc_spawn script = { .argv = argv, .cwd = "/", .quiet = true };
	struct buf out = BUF_INIT;

	*ret = c->storage_pass;
	if (c->storage_pass_script == NULL)
		return 0;
	if (proc_output(&script, SCRIPT_MS, &out, err) < 0) {
		buf_fini(&out);
		return err_prefix(err, "StoragePassScript: ");
	}
	*ret = arena_strndup(c->arena, buf_str(&out), strcspn(buf_str(&out), "\r\n"));
	buf_fini(&out);
	return 0;
}

int config_dsn(const struct config *c, const char **ret_dsn, struct err *err)
{
	const char *password;
	struct buf dsn = BUF_INIT;
	char port[32];

	*ret_dsn = c->storage_dsn;
	if (c->storage_dsn != NULL || c->storage_host == NULL)
		return 0;
	if (password_of(c, &password, err) < 0)
		return -1;
	snprintf(port, sizeof(port), "%" PRId64, c->storage_port);
	if (c->storage_backup_host == NULL) {
		add_param(&dsn, "host", c->storage_host);
	} else {
		add_param(&dsn, "host",
			  arena_printf(c->arena, "%s,%s", c->storage_host, c->storage_backup_host));
		add_param(&dsn, "target_session_attrs", "read-write");
	}
	add_param(&dsn, "port", port);
	add_param(&dsn, "user", c->storage_user != NULL ? c->storage_user : "tally");
	add_param(&dsn, "dbname", c->storage_loc != NULL ? c->storage_loc : "tally");
	if (password != NULL)
		add_param(&dsn, "password", password);
	*ret_dsn = arena_strdup(c->arena, buf_str(&dsn));
	buf_fini(&dsn);
	return 0;
}

void config_dump_keys(FILE *out)
{
	static const char *const reloads[] = { "restart", "reload", "accepted" };

	for (size_t i = 0; i < ARRAY_LEN(keys); i++)
		fprintf(out, "%s\t%s\t%s\t%s\t%" PRId64 "\t%" PRId64 "\t%s\n", keys[i].name,
			keys[i].type, keys[i].default_text, reloads[keys[i].reload], keys[i].least,
			keys[i].most, keys[i].help);
}

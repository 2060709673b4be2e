/* config.h: the settings of one tallyd, from tally.conf and the command line.  The keys are the
 * rows of config.def. */
#ifndef TALLY_CONFIG_H
#define TALLY_CONFIG_H

#include "base/err.h"
#include "base/log.h"

#define DEFAULT_CONFIG_FILE "/etc/tally/tally.conf"

typedef const char *config_STR;
typedef const char *config_PATH;
typedef const char *const *config_LIST; /* NULL ends it; never NULL itself */
typedef bool config_BOOL;
typedef int64_t config_INT;
typedef int64_t config_SIZE;
typedef int64_t config_SPAN; /* seconds; 0 = no limit */
typedef enum log_level config_LEVEL;
typedef enum log_format config_FORMAT;
typedef unsigned config_PRIVATE; /* PRIVATE_* of ops */
typedef const char *config_AUTH; /* path of munge's socket */
typedef bool config_PARAMETERS; /* is PreserveCaseUser among them? */

enum {
#define C(key, ...) CONFIG_##key,
#define N(key, ...) CONFIG_##key,
#include "config.def"
#undef C
#undef N
	CONFIG_KEYS
};

/* Texts are NULL where nothing is set. */
struct config {
#define C(key, type, member, ...) config_##type member;
#define N(key, ...)
#include "config.def"
#undef C
#undef N
	const char *file;		/* that was read; NULL = none */
	const char *given[CONFIG_KEYS]; /* the text of each key that was given, else NULL */
	struct config *older;		/* that this one took over from; freed with it */
	struct arena *arena;		/* holds all of it, and the struct itself */
};

/* A setting that overrides the file's: from the command line. */
struct config_override {
	const char *key;   /* spelled as in config.def */
	const char *value;
	const char *where; /* for messages: "--http" */
};

/* file NULL: the default file, which may be missing.  A file that holds a password must not be
 * readable by others. */
struct config *config_load(const char *file, const struct config_override *overrides, size_t n,
			   struct err *err);
void config_free(struct config *config); /* takes NULL */

/* The text of a file's content as config_load takes it; for tests and fuzzing. */
struct config *config_parse(const char *name, const char *text, size_t len, struct err *err);

/* Each key whose given text differs: whether it can be taken over while running. */
typedef void config_change(const char *key, bool reloadable, void *arg);
void config_compare(const struct config *old, const struct config *fresh, config_change *change,
		    void *arg);
/* Each key that was given and has no effect here. */
void config_each_unused(const struct config *config,
			void (*unused)(const char *key, const char *why, void *arg), void *arg);

/* The libpq connection string of the configured database (arena of the config), NULL when there is
 * none; runs StoragePassScript. */
int config_dsn(const struct config *config, const char **ret_dsn, struct err *err);

/* One line a key, tab separated: key, type, default, "reload" or "restart" or "accepted", least,
 * most, help: what tally.conf(5) is made from. */
void config_dump_keys(FILE *out);

#endif

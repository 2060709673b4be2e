/* tallyd: the command line, the signals, and nothing else: the house is in house.c. */
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "house.h"
#include "maintain.h"

enum { EXIT_WRONG_USE = 2 };

enum {
	OPT_STATE_DIR = 256,
	OPT_HTTP,
	OPT_DBD,
	OPT_MUNGE,
	OPT_DUMP_KEYS,
	OPT_BACKUP,
	OPT_RESTORE,
	OPT_FORCE,
	OPT_UPGRADE_STATE,
};

/* An option that sets a key names it. */
static const struct {
	const char *name;
	int key;
	const char *arg;
	const char *config_key;
	const char *help;
} options[] = {
	{ "foreground", 'D', NULL, NULL, "stay in the foreground" },
	{ "config", 'f', "FILE", NULL, "read FILE instead of " DEFAULT_CONFIG_FILE },
	{ "state-dir", OPT_STATE_DIR, "DIR", "StateDir", "keep everything in DIR" },
	{ "http", OPT_HTTP, "ADDR:PORT", "HttpAddr", "serve HTTP there (port 0: any free one)" },
	{ "dbd", OPT_DBD, "ADDR:PORT", "DbdAddr", "accepted; this version does not serve it" },
	{ "munge-socket", OPT_MUNGE, "PATH", "AuthInfo", "use the munged that listens at PATH" },
	{ "verbose", 'v', NULL, NULL, "log more; twice: still more" },
	{ "test-config", 't', NULL, NULL, "say whether the configuration is right, and end" },
	{ "dump-config-keys", OPT_DUMP_KEYS, NULL, NULL, "list the keys of tally.conf, and end" },
	{ "backup", OPT_BACKUP, NULL, NULL, "see `tally backup`" },
	{ "restore", OPT_RESTORE, NULL, NULL, "see `tally restore`" },
	{ "force", OPT_FORCE, NULL, NULL, "see `tally restore`" },
	{ "upgrade-state", OPT_UPGRADE_STATE, NULL, NULL,
	  "bring the private PostgreSQL's data to the newest installed version, and end" },
	{ "version", 'V', NULL, NULL, "the version" },
	{ "help", 'h', NULL, NULL, "this text" },
};

enum action { ACTION_SERVE, ACTION_TEST_CONFIG, ACTION_BACKUP, ACTION_RESTORE, ACTION_UPGRADE };

struct command_line {
	enum action action;
	bool foreground, force;
	const char *word; /* the file of a backup */
	const char *state_dir;
	int verbose;
	const char *file;
	struct config_override overrides[ARRAY_LEN(options)];
	size_t n_overrides;
};

static void help(void)
{
	fputs("usage: tallyd [OPTION...]\n\n", stdout);
	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		char left[64];
		bool letter = options[i].key < 256;

		snprintf(left, sizeof(left), "%c%c%c --%s%s%s", letter ? '-' : ' ',
			 letter ? options[i].key : ' ', letter ? ',' : ' ', options[i].name,
			 options[i].arg != NULL ? " " : "",
			 options[i].arg != NULL ? options[i].arg : "");
		printf("  %-28s %s\n", left, options[i].help);
	}
	fputs("\nSIGHUP takes over what can be changed while running; SIGTERM stops in order.\n"
	      "tallyd(8) and tally.conf(5) say more.\n",
	      stdout);
}

/* The table as getopt wants it. */
static void to_getopt(struct option longs[ARRAY_LEN(options) + 1], char *shorts, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < ARRAY_LEN(options); i++) {
		longs[i] =
			(struct option){ options[i].name,
					 options[i].arg != NULL ? required_argument : no_argument,
					 NULL, options[i].key };
		if (options[i].key < 256 && n + 3 < size) {
			shorts[n++] = (char)options[i].key;
			if (options[i].arg != NULL)
				shorts[n++] = ':';
		}
	}
	longs[ARRAY_LEN(options)] = (struct option){ 0 };
	shorts[n] = '\0';
}

static void add_override(struct command_line *cl, int key, const char *value)
{
	for (size_t i = 0; i < ARRAY_LEN(options); i++)
		if (options[i].key == key && options[i].config_key != NULL)
			cl->overrides[cl->n_overrides++ % ARRAY_LEN(cl->overrides)] =
				(struct config_override){ options[i].config_key, value,
							  options[i].name };
}

/* -1: go on; else the exit status. */
static int read_command_line(int argc, char **argv, struct command_line *cl)
{
	struct option longs[ARRAY_LEN(options) + 1];
	char shorts[64];
	int c;

	to_getopt(longs, shorts, sizeof(shorts));
	while ((c = getopt_long(argc, argv, shorts, longs, NULL)) != -1) {
		switch (c) {
		case 'D': cl->foreground = true; break;
		case 'f': cl->file = optarg; break;
		case 'v': cl->verbose++; break;
		case 't': cl->action = ACTION_TEST_CONFIG; break;
		case OPT_BACKUP: cl->action = ACTION_BACKUP; break;
		case OPT_RESTORE: cl->action = ACTION_RESTORE; break;
		case OPT_FORCE: cl->force = true; break;
		case OPT_UPGRADE_STATE: cl->action = ACTION_UPGRADE; break;
		case OPT_DUMP_KEYS: config_dump_keys(stdout); return 0;
		case 'V': puts("tallyd " TALLY_VERSION); return 0;
		case 'h': help(); return 0;
		case '?': return EXIT_WRONG_USE;
		default:
			if (c == OPT_STATE_DIR)
				cl->state_dir = optarg;
			add_override(cl, c, optarg);
			break;
		}
	}
	if ((cl->action == ACTION_BACKUP || cl->action == ACTION_RESTORE) && optind < argc)
		cl->word = argv[optind++];
	if ((cl->action == ACTION_BACKUP || cl->action == ACTION_RESTORE) && cl->word == NULL) {
		fputs("tallyd: error: no file is named\n", stderr);
		return EXIT_WRONG_USE;
	}
	if (optind < argc) {
		fprintf(stderr, "tallyd: unexpected word \"%s\"; the client is called tally\n",
			argv[optind]);
		return EXIT_WRONG_USE;
	}
	return -1;
}

static struct config *load(const struct command_line *cl, struct err *err)
{
	struct config *config = config_load(cl->file, cl->overrides, cl->n_overrides, err);

	if (config == NULL)
		return NULL;
	if (cl->verbose > 0 && config->log_level < LOG_VERBOSE)
		config->log_level = LOG_VERBOSE;
	if (cl->verbose > 1)
		config->log_level = LOG_DEBUG;
	return config;
}

static int open_log(const struct config *config, struct err *err)
{
	struct log_settings s = {
		.level = config->log_level,
		.format = config->log_format,
		.file = config->log_file,
	};

	return log_open(&s, err);
}

/* ---- signals ------------------------------------------------------------------------------ */

struct run {
	const struct command_line *cl;
	struct config *config; /* in force; replaced by SIGHUP */
	struct house *house;
	struct err err;
	int rc;
};

/* Before any other thread exists, so that no other ever takes one. */
static int signals_open(void)
{
	sigset_t set;

	/* A signal that is ignored (a shell does that to what it starts in the background) would
	 * never be seen. */
	signal(SIGTERM, SIG_DFL);
	signal(SIGINT, SIG_DFL);
	signal(SIGHUP, SIG_DFL);
	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void say_change(const char *key, bool reloadable, void *arg UNUSED)
{
	if (reloadable)
		log_info("%s is taken over", key);
	else
		log_warn("%s has changed in the file; it needs a restart of tallyd", key);
}

/* All or nothing: a file with an error in it changes nothing, not even the log. */
static void reload(struct run *run)
{
	struct err err = { 0 };
	struct config *fresh = load(run->cl, &err);

	if (fresh == NULL) {
		log_err(LOG_ERROR, &err, "SIGHUP: the old settings stay");
		if (open_log(run->config, &err) < 0)
			log_err(LOG_ERROR, &err, "SIGHUP: the old log stays");
		return;
	}
	if (open_log(fresh, &err) < 0)
		log_err(LOG_ERROR, &err, "SIGHUP: the old log stays");
	log_info("SIGHUP: reading the settings again%s%s", fresh->file != NULL ? " file=" : "",
		 fresh->file != NULL ? fresh->file : "");
	config_compare(run->config, fresh, say_change, NULL);
	house_reload(run->house, fresh);
	/* The old one is still pointed to by what needs a restart, so it is kept. */
	fresh->older = run->config;
	run->config = fresh;
}

static void take_signals(int fd, struct run *run)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGUSR2: /* the house has ended */ return;
		case SIGHUP: reload(run); break;
		default:
			log_info("%s: stopping", si.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
			house_close(run->house);
			break;
		}
	}
}

static void *run_house(void *arg)
{
	struct run *run = arg;

	run->rc = house_run(run->house, &run->err);
	kill(getpid(), SIGUSR2);
	return NULL;
}

/* ---- from start to end --------------------------------------------------------------------- */

static void say_unused(const char *key, const char *why, void *arg UNUSED)
{
	log_info("%s is accepted and has no effect here%s%s", key, why[0] != '\0' ? ": " : "", why);
}

static int write_pid_file(const struct config *config, struct err *err)
{
	FILE *f;

	if (config->pid_file == NULL)
		return 0;
	f = fopen(config->pid_file, "we");
	if (f == NULL)
		return err_set(err, ERR_SYSTEM, "PidFile", "%s: %s", config->pid_file,
			       strerror(errno));
	fprintf(f, "%ld\n", (long)getpid());
	if (fclose(f) != 0)
		return err_set(err, ERR_SYSTEM, "PidFile", "%s: %s", config->pid_file,
			       strerror(errno));
	return 0;
}

static int serve(struct run *run, int signal_fd, int ready_fd)
{
	uid_t started_by = getuid();
	struct places places;
	pthread_t thread;

	if (places_take(run->config->state_dir, run->config->user, &places, &run->err) < 0)
		return -1;
	if (open_log(run->config, &run->err) < 0 || write_pid_file(run->config, &run->err) < 0) {
		places_leave(&places);
		return -1;
	}
	log_info("tallyd " TALLY_VERSION " state=%s run=%s", places.state_dir, places.run_dir);
	config_each_unused(run->config, say_unused, NULL);
	run->house = house_new(run->config, &places, started_by, ready_fd);
	pthread_create(&thread, NULL, run_house, run);
	take_signals(signal_fd, run);
	pthread_join(thread, NULL);
	house_free(run->house);
	places_leave(&places);
	if (run->config->pid_file != NULL)
		unlink(run->config->pid_file);
	return run->rc;
}

/* Goes into the background.  The parent ends when the child is ready (a byte in the pipe: 0) or
 * has ended without that (1), so that a start that fails is seen where it was typed. */
static int into_background(int *ret_ready_fd, struct err *err)
{
	int fds[2];
	char byte;
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0)
		return err_set(err, ERR_SYSTEM, "pipe", "%s", strerror(errno));
	pid = fork();
	if (pid < 0)
		return err_set(err, ERR_SYSTEM, "fork", "%s", strerror(errno));
	if (pid > 0) {
		close(fds[1]);
		_exit(read(fds[0], &byte, 1) == 1 ? 0 : 1);
	}
	setsid();
	close(fds[0]);
	*ret_ready_fd = fds[1];
	return 0;
}

/* Everything but serving. */
static int act(const struct command_line *cl, const struct config *config, struct err *err)
{
	switch (cl->action) {
	case ACTION_TEST_CONFIG: puts("tallyd: the configuration is right"); return 0;
	case ACTION_BACKUP: return maintain_backup(cl->state_dir, cl->word, err);
	case ACTION_RESTORE: return maintain_restore(cl->state_dir, cl->word, cl->force, err);
	case ACTION_UPGRADE: return maintain_upgrade_state(config, err);
	case ACTION_SERVE: break;
	}
	return err_set(err, ERR_INTERNAL, NULL, "no such action");
}

/* What a person typed is answered in a sentence; a daemon's end goes to its log. */
static int fail(const struct command_line *cl, const struct err *err)
{
	if (cl->action == ACTION_SERVE)
		log_err(LOG_FATAL, err, "tallyd");
	else
		fprintf(stderr, "tallyd: error: %s%s%s\n", err->where,
			err->where[0] != '\0' ? ": " : "", err->text);
	return 1;
}

int main(int argc, char **argv)
{
	struct command_line cl = { 0 };
	struct run run = { .cl = &cl };
	int rc = read_command_line(argc, argv, &cl), signal_fd, ready_fd = -1;

	if (rc >= 0)
		return rc;
	/* A backup finds all it needs in the state directory, and whoever makes it need not be able
	 * to read the settings. */
	if (cl.action == ACTION_BACKUP || cl.action == ACTION_RESTORE)
		return act(&cl, NULL, &run.err) < 0 ? fail(&cl, &run.err) : 0;
	run.config = load(&cl, &run.err);
	if (run.config == NULL)
		return fail(&cl, &run.err);
	if (cl.action != ACTION_SERVE) {
		rc = act(&cl, run.config, &run.err) < 0 ? fail(&cl, &run.err) : 0;
		config_free(run.config);
		return rc;
	}
	if (!cl.foreground && into_background(&ready_fd, &run.err) < 0)
		return fail(&cl, &run.err);
	signal_fd = signals_open();
	rc = serve(&run, signal_fd, ready_fd) < 0 ? fail(&cl, &run.err) : 0;
	close(signal_fd);
	config_free(run.config);
	return rc;
}

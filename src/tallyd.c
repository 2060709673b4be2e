/* tallyd: the command line, the signals, and nothing else: the house is in house.c. */
#include <getopt.h>
#include <pthread.h>
#include <signal.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "base/log.h"
#include "house.h"

struct run {
	struct house *house;
	struct err err;
	int rc;
};

static void *run_house(void *arg)
{
	struct run *run = arg;

	run->rc = house_run(run->house, &run->err);
	/* Wakes the main thread, which waits for signals. */
	kill(getpid(), SIGUSR2);
	return NULL;
}

static int signals_open(void)
{
	sigset_t set;

	signal(SIGPIPE, SIG_IGN);
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	sigaddset(&set, SIGUSR2);
	pthread_sigmask(SIG_BLOCK, &set, NULL);
	return signalfd(-1, &set, SFD_CLOEXEC);
}

static void take_signals(int fd, struct house *house)
{
	struct signalfd_siginfo si;

	while (read(fd, &si, sizeof(si)) == (ssize_t)sizeof(si)) {
		switch (si.ssi_signo) {
		case SIGUSR2:
			return;
		case SIGHUP:
			log_info("SIGHUP");
			break;
		default:
			log_info("%s: stopping", si.ssi_signo == SIGTERM ? "SIGTERM" : "SIGINT");
			house_close(house);
			break;
		}
	}
}

static int serve(const struct config *config, int signal_fd, struct err *err)
{
	uid_t started_by = getuid();
	struct places places;
	struct run run = { 0 };
	pthread_t thread;

	if (places_take(config->state_dir, config->user, &places, err) < 0)
		return -1;
	run.house = house_new(config, &places, started_by);
	pthread_create(&thread, NULL, run_house, &run);
	take_signals(signal_fd, run.house);
	pthread_join(thread, NULL);
	house_free(run.house);
	places_leave(&places);
	*err = run.err;
	return run.rc;
}

enum { OPT_STATE_DIR = 256, OPT_HTTP, OPT_DBD, OPT_MUNGE };

static const struct option options[] = {
	{ "state-dir", required_argument, NULL, OPT_STATE_DIR },
	{ "http", required_argument, NULL, OPT_HTTP },
	{ "dbd", required_argument, NULL, OPT_DBD },
	{ "munge-socket", required_argument, NULL, OPT_MUNGE },
	{ "version", no_argument, NULL, 'V' },
	{ NULL, 0, NULL, 0 },
};

int main(int argc, char **argv)
{
	struct config config = { .state_dir = DEFAULT_STATE_DIR, .user = "tally" };
	struct err err = { 0 };
	int c, signal_fd = signals_open();

	while ((c = getopt_long(argc, argv, "Df:vV", options, NULL)) != -1) {
		switch (c) {
		case OPT_STATE_DIR: config.state_dir = optarg; break;
		case OPT_HTTP: config.http = optarg; break;
		case OPT_MUNGE: config.munge_socket = optarg; break;
		case 'V': puts("tallyd " TALLY_VERSION); return 0;
		case '?': return 2;
		default: break;
		}
	}
	if (serve(&config, signal_fd, &err) < 0) {
		log_err(LOG_FATAL, &err, "tallyd");
		return 1;
	}
	return 0;
}

/* Children: started, watched, ended, and found again. */
#include "unit.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/proc.h"

static int run(const char *const *argv, int timeout_ms, struct buf *out, struct err *err)
{
	struct proc_spawn spawn = { .argv = argv, .cwd = "/" };

	return proc_output(&spawn, timeout_ms, out, err);
}

static void test_output(void **state UNUSED)
{
	const char *const good[] = { "/bin/sh", "-c", "echo out; echo err >&2; pwd", NULL };
	const char *const bad[] = { "/bin/sh", "-c", "echo why >&2; exit 3", NULL };
	const char *const none[] = { "/no/such/program", NULL };
	struct buf out = BUF_INIT;
	struct err err = { 0 };

	assert_int_equal(run(good, 5000, &out, &err), 0);
	assert_string_equal(buf_str(&out), "out\nerr\n/\n");
	buf_clear(&out);
	assert_int_equal(run(bad, 5000, &out, &err), -1);
	assert_int_equal(err.code, ERR_SYSTEM);
	assert_non_null(strstr(err.text, "why"));
	buf_clear(&out);
	assert_int_equal(run(none, 5000, &out, &err), -1);
	assert_non_null(strstr(err.text, "No such file"));
	buf_fini(&out);
}

static void test_quiet_keeps_errors_out(void **state UNUSED)
{
	const char *const argv[] = { "/bin/sh", "-c", "echo out; echo note >/dev/null", NULL };
	struct proc_spawn spawn = { .argv = argv, .quiet = true };
	struct buf out = BUF_INIT;

	assert_int_equal(proc_output(&spawn, 5000, &out, NULL), 0);
	assert_string_equal(buf_str(&out), "out\n");
	buf_fini(&out);
}

static void test_timeout(void **state UNUSED)
{
	const char *const silent[] = { "/bin/sleep", "60", NULL };
	const char *const closed[] = { "/bin/sh", "-c", "exec >/dev/null 2>&1; sleep 60", NULL };
	const char *const *both[] = { silent, closed };

	for (size_t i = 0; i < ARRAY_LEN(both); i++) {
		struct buf out = BUF_INIT;
		struct err err = { 0 };
		int64_t began = monotonic_ms();

		assert_int_equal(run(both[i], 200, &out, &err), -1);
		assert_int_equal(err.code, ERR_TIMEOUT);
		assert_true(monotonic_ms() - began < 5000);
		buf_fini(&out);
	}
}

/* The value of a mask in /proc/PID/status; signals from 32 on are the C library's own. */
static uint64_t mask_in(const char *status, const char *name)
{
	const char *at = strstr(status, name);

	assert_non_null(at);
	return strtoull(at + strlen(name), NULL, 16) & 0x7fffffff;
}

static void test_signals_are_fresh(void **state UNUSED)
{
	/* A child must not inherit what its parent blocks or ignores. */
	const char *const argv[] = { "/bin/cat", "/proc/self/status", NULL };
	struct buf out = BUF_INIT;
	sigset_t set, old;

	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, &old);
	signal(SIGPIPE, SIG_IGN);
	assert_int_equal(run(argv, 5000, &out, NULL), 0);
	sigprocmask(SIG_SETMASK, &old, NULL);
	signal(SIGPIPE, SIG_DFL);
	assert_int_equal(mask_in(buf_str(&out), "SigBlk:"), 0);
	assert_int_equal(mask_in(buf_str(&out), "SigIgn:"), 0);
	buf_fini(&out);
}

static void test_wait_and_stop(void **state UNUSED)
{
	const char *const argv[] = { "/bin/sleep", "60", NULL };
	const char *const deaf[] = { "/bin/sh", "-c", "trap '' TERM; while :; do sleep 0.1; done",
				     NULL };
	struct proc_spawn spawn = { .argv = argv, .cwd = "/tmp" };
	struct proc p = PROC_NONE, other = PROC_NONE;
	int status = 0;

	assert_int_equal(proc_start(&spawn, &p, NULL), 0);
	assert_true(proc_alive(&p));
	assert_int_equal(proc_wait(&p, 50, NULL), 0);
	assert_int_equal(proc_adopt(p.pid, &other, NULL), 0);
	assert_true(proc_alive(&other));
	proc_signal(&p, SIGTERM);
	assert_int_equal(proc_wait(&p, 5000, &status), 1);
	assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM);
	assert_int_equal(p.pid, 0);
	assert_false(proc_alive(&p));
	assert_int_equal(proc_wait(&other, 5000, &status), 1);

	spawn.argv = deaf;
	assert_int_equal(proc_start(&spawn, &p, NULL), 0);
	proc_stop(&p, SIGTERM, 200);
	assert_int_equal(p.pid, 0);
	assert_int_equal(proc_adopt(999999999, &p, NULL), -1);
	assert_int_equal(proc_adopt(0, &p, NULL), -1);
}

static void test_works_in(void **state UNUSED)
{
	const char *const argv[] = { "/bin/sleep", "60", NULL };
	char dir[] = "/tmp/tally-proc-XXXXXX";
	struct proc_spawn spawn = { .argv = argv, .cwd = dir };
	struct proc p = PROC_NONE;

	assert_non_null(mkdtemp(dir));
	assert_int_equal(proc_signal_in("sleep", dir, 0), 0);
	assert_int_equal(proc_start(&spawn, &p, NULL), 0);
	assert_true(proc_works_in(p.pid, "sleep", dir));
	assert_false(proc_works_in(p.pid, "postgres", dir));
	assert_false(proc_works_in(p.pid, "sleep", "/"));
	assert_int_equal(proc_signal_in("sleep", dir, 0), 1);
	assert_int_equal(proc_signal_in("sleep", dir, SIGTERM), 1);
	assert_int_equal(proc_wait(&p, 5000, NULL), 1);
	assert_int_equal(proc_signal_in("sleep", dir, 0), 0);
	rmdir(dir);
}

static void test_programs_and_users(void **state UNUSED)
{
	struct proc_user user;
	struct err err = { 0 };
	char path[256], name[64];

	assert_int_equal(proc_find_program("sh", path, sizeof(path), NULL), 0);
	assert_int_equal(access(path, X_OK), 0);
	assert_int_equal(proc_find_program("no-such-program", path, sizeof(path), &err), -1);
	assert_int_equal(err.code, ERR_NOT_FOUND);
	assert_int_equal(proc_user_find("root", &user, NULL), 0);
	assert_int_equal(user.uid, 0);
	assert_int_equal(proc_become(&user, &err), -1);
	assert_int_equal(proc_user_find("no-such-user", &user, &err), -1);
	assert_non_null(strstr(err.text, "useradd"));
	proc_user_name(0, name, sizeof(name));
	assert_string_equal(name, "root");
	proc_user_name(3999999999u, name, sizeof(name));
	assert_string_equal(name, "3999999999");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_output),
		cmocka_unit_test(test_quiet_keeps_errors_out),
		cmocka_unit_test(test_timeout),
		cmocka_unit_test(test_signals_are_fresh),
		cmocka_unit_test(test_wait_and_stop),
		cmocka_unit_test(test_works_in),
		cmocka_unit_test(test_programs_and_users),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

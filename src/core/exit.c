#include "core/exit.h"

#include "base/num.h"

/* Linux's numbers, written out: what a record says must not depend on the machine that reads it. */
static const char *const names[] = {
	[1] = "SIGHUP",     [2] = "SIGINT",     [3] = "SIGQUIT",  [4] = "SIGILL",
	[5] = "SIGTRAP",    [6] = "SIGABRT",    [7] = "SIGBUS",   [8] = "SIGFPE",
	[9] = "SIGKILL",    [10] = "SIGUSR1",   [11] = "SIGSEGV", [12] = "SIGUSR2",
	[13] = "SIGPIPE",   [14] = "SIGALRM",   [15] = "SIGTERM", [16] = "SIGSTKFLT",
	[17] = "SIGCHLD",   [18] = "SIGCONT",   [19] = "SIGSTOP", [20] = "SIGTSTP",
	[21] = "SIGTTIN",   [22] = "SIGTTOU",   [23] = "SIGURG",  [24] = "SIGXCPU",
	[25] = "SIGXFSZ",   [26] = "SIGVTALRM", [27] = "SIGPROF", [28] = "SIGWINCH",
	[29] = "SIGIO",     [30] = "SIGPWR",    [31] = "SIGSYS",
};

bool exit_in_range(int64_t code, int64_t signal)
{
	return code >= 0 && code <= 255 && signal >= 0 && signal <= 127;
}

int64_t exit_make(int64_t code, int64_t signal)
{
	assert(exit_in_range(code, signal));
	return code << 8 | signal;
}

int64_t exit_code(int64_t status)
{
	return status >> 8 & 0xff;
}

int64_t exit_signal(int64_t status)
{
	return status & 0x7f;
}

void exit_format(int64_t status, char out[EXIT_TEXT_SIZE])
{
	snprintf(out, EXIT_TEXT_SIZE, "%d:%d", (int)exit_code(status), (int)exit_signal(status));
}

int exit_parse(const char *text, int64_t *ret_status, struct err *err)
{
	int64_t code, signal = 0;
	const char *at = num_digits(text, &code);

	if (at != NULL && *at == ':')
		at = num_digits(at + 1, &signal);
	if (at == NULL || *at != '\0' || !exit_in_range(code, signal))
		return err_set(err, ERR_INVALID, "exit",
			       "\"%.32s\" is no exit status; write code:signal, code 0-255, signal "
			       "0-127", text);
	*ret_status = exit_make(code, signal);
	return 0;
}

const char *signal_name(int64_t signal)
{
	return signal > 0 && signal < (int64_t)ARRAY_LEN(names) ? names[signal] : NULL;
}

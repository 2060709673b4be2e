/* core/exit.h: how a process ended, as a wait(2) status: low seven bits the signal, 0x80 a core
 * dump, the byte above the exit code.  137:0 is 35072, 0:9 is 9, 0:125 (out of memory) is 125. */
#ifndef TALLY_CORE_EXIT_H
#define TALLY_CORE_EXIT_H

#include "base/err.h"

/* Out of memory, as Slurm puts it into the signal half. */
enum { EXIT_SIGNAL_OOM = 125 };

/* code 0..255, signal 0..127; the caller has checked (assert). */
int64_t exit_make(int64_t code, int64_t signal);
int64_t exit_code(int64_t status);
int64_t exit_signal(int64_t status); /* without the core bit */
bool exit_in_range(int64_t code, int64_t signal);

/* "137:0". */
#define EXIT_TEXT_SIZE 12
void exit_format(int64_t status, char out[EXIT_TEXT_SIZE]);
/* "code:signal", or a code alone. */
int exit_parse(const char *text, int64_t *ret_status, struct err *err);

/* "SIGKILL" for 9; NULL for a number that is no signal a program can get (0, 53, 125 ...): Slurm
 * keeps launch errors of its own in the signal half, and no name is invented for them. */
const char *signal_name(int64_t signal);

#endif

/* cli/input.h: a file named on the command line, whole: mapped where that is possible, else read;
 * "-" is standard input. */
#ifndef TALLY_CLI_INPUT_H
#define TALLY_CLI_INPUT_H

#include "base/err.h"

struct input {
	const char *name; /* for messages */
	const char *data;
	size_t len;
	bool mapped;
};

int input_open(const char *path, struct input *ret, struct err *err);
void input_close(struct input *in);

#endif

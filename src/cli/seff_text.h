/* cli/seff_text.h: what a job used of what it had, in the form that seff prints. */
#ifndef TALLY_CLI_SEFF_TEXT_H
#define TALLY_CLI_SEFF_TEXT_H

#include "base/buf.h"
#include "core/job.h"

/* now stands for the end of a job that runs. */
void seff_print(struct buf *out, const struct job *j, int64_t now);

#endif

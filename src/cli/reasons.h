/* cli/reasons.h: why rows were not taken, counted: one line per kind of reason with a few samples,
 * however many rows there were. */
#ifndef TALLY_CLI_REASONS_H
#define TALLY_CLI_REASONS_H

#include "base/base.h"

struct reasons;

struct reasons *reasons_new(void);
void reasons_free(struct reasons *r); /* takes NULL */
/* where: "dump.psv:12 State".  Reasons that differ only in quoted words and numbers are one. */
void reasons_add(struct reasons *r, const char *where, const char *text);
uint64_t reasons_total(const struct reasons *r);
/* "     12  State: unknown state "..."\n            dump.psv:12: unknown state "FOO"" ... */
void reasons_print(const struct reasons *r, const char *title, FILE *out);

#endif

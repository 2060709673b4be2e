/* maintain.h: what tallyd does and ends: backup, restore and upgrade of its own database. */
#ifndef TALLY_MAINTAIN_H
#define TALLY_MAINTAIN_H

#include "config.h"

/* state_dir NULL: the usual places. */
int maintain_backup(const char *state_dir, const char *file, struct err *err);
int maintain_restore(const char *state_dir, const char *file, bool force, struct err *err);
int maintain_upgrade_state(const struct config *config, struct err *err);

#endif

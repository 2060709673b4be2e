/* core/draft_log.h: what the rows of a draft say in the transaction log and to controllers.
 *
 * The log has a row for each row that changes: who, when, and the values before and after.  The
 * words are those that sacctmgr prints: "Modify Associations", "(id_assoc=11)", "shares=20". */
#ifndef TALLY_CORE_DRAFT_LOG_H
#define TALLY_CORE_DRAFT_LOG_H

#include "core/draft.h"

/* What controllers are to be told of one row. */
struct outbox_row {
	const char *kind;    /* "add_user", "modify_association", "remove_qos" ... */
	const char *cluster; /* NULL = every one */
	int64_t id;	     /* of an association, QOS or wckey; else 0 */
	const char *body;    /* the row after the change, as JSON */
};

struct draft_actor {
	const char *name;
	int64_t uid; /* -1 = nobody */
	int64_t at;
};

/* n of each, in the arena. */
void draft_log(const struct draft_row *rows, size_t n, const struct draft_actor *actor,
	       struct arena *arena, struct txn **ret_txn, struct outbox_row **ret_outbox);

/* The fields that changed (HAS_WORDS words); of a new row all that it has. */
void draft_changed(const struct draft_row *row, uint64_t *ret_fields);

/* What became of a row. */
enum draft_verb { DRAFT_ADD, DRAFT_MODIFY, DRAFT_REMOVE };
enum draft_verb draft_verb(const struct draft_row *row);

#endif

/* cli/send.h: records on their way to a tallyd, many in one request.
 *
 * Sending again changes nothing on the other side, so a request that meets a busy daemon or a
 * broken connection is sent again for a while. */
#ifndef TALLY_CLI_SEND_H
#define TALLY_CLI_SEND_H

#include "cli/client.h"

struct sender;

/* What the daemon said of one record. */
struct sent {
	size_t tag;		    /* as given to sender_add */
	const char *word;	    /* "accepted", "duplicate", "refused", "purged" */
	const char *field, *reason; /* of a refusal; NULL otherwise */
	int64_t quarantine_id;	    /* 0 = not kept */
};

struct sender_settings {
	struct client *client;
	/* One call per record, in the order they were added. */
	void (*verdict)(const struct sent *sent, void *arg);
	/* The daemon cannot take them now; called before each wait.  May be NULL. */
	void (*waiting)(const struct err *why, int seconds, void *arg);
	void *arg;
	int patience_s; /* how long one request is tried */
};

struct sender *sender_new(const struct sender_settings *settings);
void sender_free(struct sender *s); /* takes NULL; drops what was not sent */
/* One record as JSON; sends when enough have come together.  0, or -1 with err. */
int sender_add(struct sender *s, const char *json, size_t n, size_t tag, struct err *err);
/* Sends what is left. */
int sender_flush(struct sender *s, struct err *err);

#endif

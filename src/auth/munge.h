/* auth/munge.h: what a munge credential proves, and if it proves nothing, why.
 *
 * Only EMUNGE_SUCCESS is an identity: libmunge hands out uid and payload for expired, rewound and
 * replayed credentials too.  Judging uses the credential up (munged remembers it), so each is
 * judged once.  A context per call: safe from every thread.  May block as long as libmunge tries
 * to reach munged (a few seconds). */
#ifndef TALLY_AUTH_MUNGE_H
#define TALLY_AUTH_MUNGE_H

#include "auth/identity.h"
#include "base/arena.h"

struct munge_settings {
	const char *socket;   /* of munged; NULL = libmunge's default */
	const char *key_file; /* for the hint when no munged answers; NULL = unknown */
};

/* How judging ended; each has its own answer, log line and counter. */
enum cred_kind {
	CRED_OK,
	CRED_EXPIRED,	    /* too old: a slow request, or this clock is ahead */
	CRED_REWOUND,	    /* from the future: the sender's clock is ahead */
	CRED_REPLAYED,	    /* seen before */
	CRED_WRONG_KEY,	    /* made with another key, or changed on its way */
	CRED_MALFORMED,	    /* no credential at all */
	CRED_UNSUPPORTED,   /* cipher, MAC or compression that this munged does not have */
	CRED_NOT_FOR_US,    /* restricted to another uid or gid */
	CRED_NO_MUNGED,	    /* nobody listens at the socket */
	CRED_NO_ACCESS,	    /* the socket may not be opened */
	CRED_TROUBLE,	    /* munged or libmunge failed otherwise */
	CRED_OTHER_REQUEST, /* good, but made for another request (cred_bind) */
	CRED_KINDS
};

/* "expired", "wrong_key"...: for logs and the metric's label. */
extern const char *const cred_kind_names[CRED_KINDS];

struct cred {
	enum cred_kind kind;
	int64_t encoded_at, decoded_at, ttl_s; /* 0 when munge did not tell */
	char *payload;			       /* arena; NUL follows; NULL = none */
	size_t payload_len;
};

/* Returns 0 with ret_who's uid, gid and proof set, or -1: UNAUTH when it is the credential, NO_AUTH
 * when it is munged.  ret is set either way. */
int cred_judge(const struct munge_settings *settings, const char *text, struct arena *arena,
	       struct cred *ret, struct identity *ret_who, struct err *err);

/* Is a good credential bound to the request with this digest (lower-case hex SHA-256)?  The
 * payload may end in a newline.  -1: UNAUTH, and kind becomes CRED_OTHER_REQUEST. */
int cred_bind(struct cred *cred, const char *digest_hex, struct err *err);

#endif

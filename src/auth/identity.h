/* auth/identity.h: who is asking, as proven by munge, a unix socket's peer, or (later) a token. */
#ifndef TALLY_AUTH_IDENTITY_H
#define TALLY_AUTH_IDENTITY_H

#include "base/err.h"

enum identity_proof { PROOF_NONE, PROOF_MUNGE, PROOF_PEER, PROOF_TOKEN };

/* From least to most; ops decides what each may do. */
enum role { ROLE_ANONYMOUS, ROLE_USER, ROLE_OPERATOR, ROLE_ADMIN };

struct identity {
	enum identity_proof proof;
	int64_t uid; /* -1 = nobody */
	int64_t gid;
	char user[256];  /* name of uid here; empty when the system knows none */
	enum role role;  /* set by ops_identity from the configuration and the user's record */
	bool controller; /* may send records: SlurmUser, root, and the user that started tallyd */
};

#endif

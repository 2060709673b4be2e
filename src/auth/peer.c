#include "auth/peer.h"

#include <sys/socket.h>

int peer_identity(int fd, struct identity *ret_who, struct err *err)
{
	struct ucred peer;
	socklen_t len = sizeof(peer);

	if (getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0)
		return err_set(err, ERR_UNAUTH, NULL, "no peer credentials on the unix socket: %s",
			       strerror(errno));
	/* The overflow uid stands for somebody of another user namespace: nobody we know. */
	if (peer.uid == (uid_t)-1)
		return err_set(err, ERR_UNAUTH, NULL, "the unix socket's peer has no uid here");
	*ret_who = (struct identity){
		.proof = PROOF_PEER, .uid = peer.uid, .gid = peer.gid, .role = ROLE_USER
	};
	return 0;
}

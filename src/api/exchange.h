/* api/exchange.h: a request with what only libmicrohttpd's side needs; for http.c, judge.c and
 * answer.c alone. */
#ifndef TALLY_API_EXCHANGE_H
#define TALLY_API_EXCHANGE_H

#include <microhttpd.h>
#include <openssl/evp.h>

#include "api/request.h"

#define RETRY_LATER_S 5

enum stage {
	STAGE_NEW,     /* headers not seen yet */
	STAGE_BODY,    /* judged; body to come, or none */
	STAGE_REFUSED, /* judged and refused; no body, so the answer goes out at the end */
	STAGE_ANSWERED,
};

/* A request with what only this file needs. */
struct exchange {
	struct request req; /* first */
	struct MHD_Connection *mhd;
	enum stage stage;
	struct err err;
	struct cred cred;
	bool has_cred;
	EVP_MD_CTX *digest;
	struct buf sent; /* the body as sent */
	bool gzip;
	bool has_body;
	size_t length;	 /* Content-Length, or SIZE_MAX when chunked */
	size_t reserved; /* of api->bodies_bytes */
	bool unread;	 /* answered before its body was read */
	struct stream *stream;
	unsigned status;
	uint64_t sent_bytes;
};

/* judge.c: what must be true before the body is read, and once it is there (the last of it runs the
 * handler).  -1: x->err says what is not. */
int judge_head(struct exchange *x);
int judge_body(struct exchange *x);
void too_large(struct exchange *x);
int reserve(struct exchange *x, size_t bytes);

/* answer.c */
enum MHD_Result answer_problem(struct exchange *x);
enum MHD_Result answer_reply(struct exchange *x, const char *version);

static inline const char *exchange_header(struct exchange *x, const char *name)
{
	return MHD_lookup_connection_value(x->mhd, MHD_HEADER_KIND, name);
}

#endif

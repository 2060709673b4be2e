#include "auth/munge.h"

#include <munge.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#define WHERE "Authorization"

const char *const cred_kind_names[CRED_KINDS] = {
	[CRED_OK] = "ok",
	[CRED_EXPIRED] = "expired",
	[CRED_REWOUND] = "rewound",
	[CRED_REPLAYED] = "replayed",
	[CRED_WRONG_KEY] = "wrong_key",
	[CRED_MALFORMED] = "malformed",
	[CRED_UNSUPPORTED] = "unsupported",
	[CRED_NOT_FOR_US] = "not_for_us",
	[CRED_NO_MUNGED] = "no_munged",
	[CRED_NO_ACCESS] = "no_access",
	[CRED_TROUBLE] = "trouble",
	[CRED_OTHER_REQUEST] = "other_request",
};

/* libmunge's codes that are the credential's own fault; the rest is munged's or ours. */
static const struct {
	munge_err_t code;
	enum cred_kind kind;
} kinds[] = {
	{ EMUNGE_SUCCESS, CRED_OK },
	{ EMUNGE_BAD_ARG, CRED_MALFORMED },
	{ EMUNGE_BAD_LENGTH, CRED_MALFORMED },
	{ EMUNGE_BAD_CRED, CRED_MALFORMED },
	{ EMUNGE_BAD_VERSION, CRED_UNSUPPORTED },
	{ EMUNGE_BAD_CIPHER, CRED_UNSUPPORTED },
	{ EMUNGE_BAD_MAC, CRED_UNSUPPORTED },
	{ EMUNGE_BAD_ZIP, CRED_UNSUPPORTED },
	{ EMUNGE_BAD_REALM, CRED_UNSUPPORTED },
	{ EMUNGE_CRED_INVALID, CRED_WRONG_KEY },
	{ EMUNGE_CRED_EXPIRED, CRED_EXPIRED },
	{ EMUNGE_CRED_REWOUND, CRED_REWOUND },
	{ EMUNGE_CRED_REPLAYED, CRED_REPLAYED },
	{ EMUNGE_CRED_UNAUTHORIZED, CRED_NOT_FOR_US },
	{ EMUNGE_SOCKET, CRED_NO_MUNGED },
};

static enum cred_kind kind_of(munge_err_t code)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].code == code)
			return kinds[i].kind;
	return CRED_TROUBLE;
}

static const char *iso(int64_t t, char *out, size_t size)
{
	struct tm tm;
	time_t when = (time_t)t;

	if (gmtime_r(&when, &tm) == NULL || strftime(out, size, "%Y-%m-%dT%H:%M:%SZ", &tm) == 0)
		snprintf(out, size, "%" PRId64, t);
	return out;
}

/* munged takes a key file only when no other user may read or write it; saying so saves a search
 * when munged is not there because it refused to start. */
static void key_hint(const char *path, char *out, size_t size)
{
	struct stat st;

	out[0] = '\0';
	if (path == NULL)
		return;
	if (stat(path, &st) < 0)
		snprintf(out, size, "; its key file %s: %s", path, strerror(errno));
	else if ((st.st_mode & 066) != 0)
		snprintf(out, size,
			 "; its key file %s has mode %04o, and munged refuses keys that "
			 "group or others may read or write: chmod 0600 it",
			 path, (unsigned)(st.st_mode & 07777));
}

/* libmunge folds every failure to reach munged into one code; connecting once more tells which. */
static int socket_errno(const char *path)
{
	struct sockaddr_un to = { .sun_family = AF_UNIX };

	if (strlen(path) >= sizeof(to.sun_path))
		return ENAMETOOLONG;
	memcpy(to.sun_path, path, strlen(path) + 1);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return errno;
	int rc = connect(fd, (struct sockaddr *)&to, sizeof(to)) < 0 ? errno : 0;
	close(fd);
	return rc;
}

static int refuse_munged(const struct munge_settings *settings, munge_ctx_t ctx, struct cred *cred,
			 struct err *err)
{
	const char *path = settings->socket;
	char hint[512];

	if (path == NULL)
		munge_ctx_get(ctx, MUNGE_OPT_SOCKET, &path);
	if (path == NULL)
		path = "(none)";
	int why = socket_errno(path);
	key_hint(settings->key_file, hint, sizeof(hint));
	switch (why) {
	case EACCES:
	case EPERM:
		cred->kind = CRED_NO_ACCESS;
		return err_set(err, ERR_NO_AUTH, WHERE,
			       "tallyd may not open munged's socket %s: wrong permissions of it or "
			       "of a directory above it",
			       path);
	case ENOENT:
		return err_set(err, ERR_NO_AUTH, WHERE,
			       "no munged: its socket %s does not exist; start munged, or set the "
			       "right path%s",
			       path, hint);
	case ECONNREFUSED:
		return err_set(err, ERR_NO_AUTH, WHERE,
			       "no munged: nobody listens at %s, a munged that has ended left it; "
			       "start munged%s",
			       path, hint);
	default:
		cred->kind = CRED_TROUBLE;
		return err_set(err, ERR_NO_AUTH, WHERE, "munged at %s does not answer: %s%s", path,
			       why != 0 ? strerror(why) : munge_ctx_strerror(ctx), hint);
	}
}

static int refuse_clock(const struct cred *cred, struct err *err)
{
	char made[40], now[40];
	int64_t apart = cred->decoded_at - cred->encoded_at;

	iso(cred->encoded_at, made, sizeof(made));
	iso(cred->decoded_at, now, sizeof(now));
	if (cred->kind == CRED_REWOUND)
		return err_set(
			err, ERR_UNAUTH, WHERE,
			"rewound credential: made at %s by the sender's clock, and here it is "
			"%s: the sender's clock is %" PRId64 " s ahead, munge allows %" PRId64
			" s; set both clocks right (NTP)",
			made, now, -apart, cred->ttl_s);
	return err_set(
		err, ERR_UNAUTH, WHERE,
		"expired credential: made at %s by the sender's clock, and here it is %s, %" PRId64
		" s later, but it was good for %" PRId64 " s: make one per request just "
		"before sending; if it was fresh, the clocks differ by %" PRId64 " s (NTP)",
		made, now, apart, cred->ttl_s, apart);
}

static int refuse(const struct munge_settings *settings, munge_ctx_t ctx, munge_err_t code,
		  struct cred *cred, struct err *err)
{
	char made[40];

	switch (cred->kind) {
	case CRED_EXPIRED:
	case CRED_REWOUND: return refuse_clock(cred, err);
	case CRED_REPLAYED:
		return err_set(
			err, ERR_UNAUTH, WHERE,
			"replayed credential (made at %s): it was used before; each request, "
			"and each new try, needs a credential of its own",
			iso(cred->encoded_at, made, sizeof(made)));
	case CRED_WRONG_KEY:
		return err_set(err, ERR_UNAUTH, WHERE,
			       "invalid credential: made with another munge key than this host's, "
			       "or damaged; copy one munge.key to both hosts and restart munged");
	case CRED_MALFORMED:
		return err_set(err, ERR_UNAUTH, WHERE,
			       "not a munge credential; it begins with \"MUNGE:\" and ends with "
			       "\":\", on one line");
	case CRED_UNSUPPORTED:
		return err_set(err, ERR_UNAUTH, WHERE, "the munged of this host cannot read it: %s",
			       munge_strerror(code));
	case CRED_NOT_FOR_US:
		return err_set(err, ERR_UNAUTH, WHERE,
			       "the credential may only be decoded by another uid or gid than "
			       "tallyd's (uid %ld, gid %ld)",
			       (long)geteuid(), (long)getegid());
	case CRED_NO_MUNGED: return refuse_munged(settings, ctx, cred, err);
	case CRED_OK:
	case CRED_NO_ACCESS:
	case CRED_TROUBLE:
	case CRED_OTHER_REQUEST:
	case CRED_KINDS: break;
	}
	const char *text = munge_ctx_strerror(ctx);
	return err_set(err, ERR_NO_AUTH, WHERE, "munge: %s",
		       text != NULL ? text : munge_strerror(code));
}

static void facts(munge_ctx_t ctx, struct cred *cred)
{
	time_t encoded = 0, decoded = 0;
	int ttl = 0;

	if (munge_ctx_get(ctx, MUNGE_OPT_ENCODE_TIME, &encoded) == EMUNGE_SUCCESS)
		cred->encoded_at = encoded;
	if (munge_ctx_get(ctx, MUNGE_OPT_DECODE_TIME, &decoded) == EMUNGE_SUCCESS)
		cred->decoded_at = decoded;
	if (munge_ctx_get(ctx, MUNGE_OPT_TTL, &ttl) == EMUNGE_SUCCESS)
		cred->ttl_s = ttl;
}

int cred_judge(const struct munge_settings *settings, const char *text, struct arena *arena,
	       struct cred *ret, struct identity *ret_who, struct err *err)
{
	munge_ctx_t ctx = munge_ctx_create();
	void *payload = NULL;
	int len = 0, rc = 0;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;

	*ret = (struct cred){ .kind = CRED_TROUBLE };
	if (ctx == NULL)
		return err_set(err, ERR_NO_AUTH, WHERE, "munge: no memory for a context");
	if (settings->socket != NULL)
		munge_ctx_set(ctx, MUNGE_OPT_SOCKET, settings->socket);
	munge_err_t code = munge_decode(text, ctx, &payload, &len, &uid, &gid);
	ret->kind = kind_of(code);
	facts(ctx, ret);
	if (code != EMUNGE_SUCCESS) {
		rc = refuse(settings, ctx, code, ret, err);
	} else {
		if (payload != NULL) {
			ret->payload = arena_strndup(arena, payload, (size_t)len);
			ret->payload_len = (size_t)len;
		}
		*ret_who = (struct identity){
			.proof = PROOF_MUNGE, .uid = uid, .gid = gid, .role = ROLE_USER
		};
	}
	free(payload);
	munge_ctx_destroy(ctx);
	return rc;
}

int cred_bind(struct cred *cred, const char *digest_hex, struct err *err)
{
	size_t n = cred->payload_len;

	if (n > 0 && cred->payload[n - 1] == '\n')
		n--;
	if (n == strlen(digest_hex) && memcmp(cred->payload, digest_hex, n) == 0)
		return 0;
	cred->kind = CRED_OTHER_REQUEST;
	return err_set(
		err, ERR_UNAUTH, WHERE,
		"the credential is good but not for this request: its payload must be %s, the "
		"lower-case hex SHA-256 of METHOD, newline, TARGET (with its query as sent), "
		"newline, BODY (as sent)",
		digest_hex);
}

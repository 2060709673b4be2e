/* core/record.h: what a controller or producer tells us, whichever door it came by.
 *
 * A record is a partial row: the fields it names, all with one stamp (rank of its kind, as_of).
 * job_end may bring its steps along. */
#ifndef TALLY_CORE_RECORD_H
#define TALLY_CORE_RECORD_H

#include "base/arena.h"
#include "base/err.h"
#include "core/job.h"

enum record_kind {
	REC_JOB_START,   /* submission, a change while pending, or the start */
	REC_JOB_END,
	REC_STEP_START,
	REC_STEP_END,
	REC_JOB_SUSPEND, /* at: when */
	REC_JOB_RESUME,
	REC_JOB_RESIZE,  /* at: when; the job's new TRES and nodes */
	REC_NODE_EVENT,
	REC_CLUSTER_TRES,
	REC_KINDS
};

extern const char *const record_kind_names[REC_KINDS]; /* "job_start", ... */

/* A node that went down or came up again, or changed its attributes. */
struct node_event {
	const char *node;
	int64_t at;
	bool up;
	const char *state;      /* DOWN, DRAINED...; may be NULL */
	int64_t state_raw;      /* the controller's number; -1 = unknown */
	const char *reason;
	int64_t reason_uid;     /* -1 = nobody */
	const char *tres;       /* FT_TRES text of the node */
	const char *extra, *instance_id, *instance_type;
};

/* The TRES of a whole cluster from a moment on. */
struct cluster_tres {
	int64_t at;
	const char *nodes; /* hostlist of every node */
	const char *tres;  /* FT_TRES text */
};

struct record {
	enum record_kind kind;
	const char *cluster;  /* never NULL after decoding: the record's, else the default's */
	int64_t as_of;        /* AS_OF_UNKNOWN when not said */
	bool by_arrival;      /* slurmdbd door: within a kind the later arrival wins */
	bool submit_known;    /* else job.submit_at is to be found (design: Identity) */
	int64_t at;           /* suspend, resume, resize: the moment */
	struct job job;       /* job kinds: the partial row.  Step kinds: only the identity */
	struct step *steps;   /* step kinds: exactly one; job_end: any number */
	size_t n_steps;
	struct node_event node;
	struct cluster_tres tres;
	/* As it came, for the quarantine; not NUL-terminated. */
	const char *raw;
	size_t raw_len;
};

enum verdict_kind {
	VERDICT_PENDING,   /* not judged yet */
	VERDICT_ACCEPTED,  /* committed, and something changed */
	VERDICT_DUPLICATE, /* committed state already says so */
	VERDICT_REFUSED,   /* err says which field and why; kept in quarantine */
	VERDICT_PURGED,    /* complete, but before the purge horizon: nothing changed */
};

struct verdict {
	enum verdict_kind kind;
	struct err err;       /* REFUSED only */
	int64_t quarantine_id; /* REFUSED: where it is kept; 0 = not kept */
	uint64_t row_id;      /* the job's, for the slurmdbd door; 0 = none */
};

/* Judges a decoded record: what is required, what contradicts itself.  Fills in what follows (a
 * job_end's state from its exit code ...).  Text is mended to UTF-8 (core/utf8.h).  Returns 0, or
 * -1 with err naming the field. */
int record_validate(struct record *rec, struct arena *arena, struct err *err);

#endif

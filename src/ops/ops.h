/* ops/ops.h: what tally can be asked to do, whichever door asked.  Authorisation is decided in
 * this room and nowhere else. */
#ifndef TALLY_OPS_OPS_H
#define TALLY_OPS_OPS_H

#include "auth/identity.h"
#include "core/filter.h"
#include "core/page.h"
#include "ingest/ingest.h"

struct store;

enum private_data { /* PrivateData of slurmdbd.conf, bits */
		    PRIVATE_ACCOUNTS = 1,
		    PRIVATE_EVENTS = 2,
		    PRIVATE_JOBS = 4,
		    PRIVATE_RESERVATIONS = 8,
		    PRIVATE_USAGE = 16,
		    PRIVATE_USERS = 32,
};

struct ops_settings {
	/* The three that SIGHUP may change under a running request are atomic. */
	_Atomic unsigned private_data;
	_Atomic bool anonymous_reads;	   /* AllowAnonymousReads */
	_Atomic int64_t max_query_range_s; /* MaxQueryTimeRange; 0 = none */
	int64_t slurm_user_uid;		   /* SlurmUser */
	int64_t started_by_uid;		   /* who started tallyd */
	const char *default_cluster;
	bool keep_user_case;		   /* PreserveCaseUser */
};

struct tree_cache;

struct ops {
	struct store *store;
	struct ingest *ingest;
	struct tree_cache *trees;
	/* Something for controllers has been committed; may be NULL. */
	void (*told)(void *arg);
	void *told_arg;
	struct ops_settings settings;
};

/* Sets user, role and controller from uid and the configuration. */
void ops_identify(const struct ops *ops, struct identity *who);

/* What a request needs before it is looked at any further: a door asks before it reads a body.
 * The calls below judge again what they are given. */
enum right {
	RIGHT_PUBLIC,  /* health, metrics, the contract */
	RIGHT_READ,    /* anybody with an identity; anybody at all with anonymous_reads */
	RIGHT_RECORDS, /* controllers */
	RIGHT_NOTES,   /* anybody with an identity; which job's is judged with the job */
	RIGHT_TREE,    /* anybody with an identity; what of the tree is judged with it */
	RIGHT_ADMIN,
};
int ops_may(const struct ops *ops, const struct identity *who, enum right right, struct err *err);

struct ops_health {
	bool database_up; /* the last use of it worked */
	uint64_t readers, readers_busy, reader_waits, reader_timeouts, connects, failed_connects;
	struct ingest_stats ingest;
};
void ops_get_health(struct ops *ops, struct ops_health *ret);
/* Asks it now. */
int ops_ping_database(struct ops *ops, struct err *err);

/* Records.  DENIED unless who->controller. */
int ops_records(struct ops *ops, const struct identity *who, struct batch *batch,
		int *ret_retry_after_s, struct err *err);

/* What was refused, for administrators: the earliest first.  See store/quarantine.h. */
struct quarantined;
typedef int quarantine_sink(const struct quarantined *q, void *arg);
int ops_quarantine(struct ops *ops, const struct identity *who, int64_t after, int64_t limit,
		   bool with_replayed, quarantine_sink *sink, void *arg, struct err *err);
/* Tries one again: its own bytes, or `mended` (JSON; NULL = none).  *ret is the new verdict; unless
 * it is a refusal, the record counts as replayed from then on. */
int ops_quarantine_replay(struct ops *ops, const struct identity *who, int64_t id,
			  const char *mended, size_t mended_len, int64_t now, struct arena *arena,
			  struct verdict *ret, int *ret_retry_after_s, struct err *err);

/* Jobs one by one, as `who` may see them.  Memory does not depend on how many there are.  `now`
 * stands for the end of what has not ended.  ret_after (arena) is the cursor that continues after
 * the last row, NULL when there are no more. */
int ops_jobs(struct ops *ops, const struct identity *who, struct job_filter *filter,
	     const struct job_page *page, int64_t now, job_sink *sink, void *arg,
	     struct arena *arena, const char **ret_after, struct err *err);

/* What people write about a job: of what the filter finds, the newest run, and it must be one job
 * (CONFLICT).  values: the fields with FF_NOTE to set; cleared: those to take away.  Its owner may,
 * within limits, and operators. */
int ops_job_note(struct ops *ops, const struct identity *who, struct job_filter *filter,
		 const struct job *values, const uint64_t *cleared, int64_t now,
		 struct arena *arena, struct err *err);

#endif

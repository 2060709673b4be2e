/* base/state.h: what tallyd leaves in its state directory for programs that come by: the names,
 * once.  All stand below the state directory. */
#ifndef TALLY_BASE_STATE_H
#define TALLY_BASE_STATE_H

#define STATE_DIR_DEFAULT "/var/lib/tally"

#define STATE_LOCK   "lock"   /* held (flock) by the running tallyd, whose number stands in it */
#define STATE_RUN    "run"    /* symbolic link to the runtime directory, while it runs */
#define STATE_SOCKET "socket" /* a line: the path of the HTTP socket, while it runs */
#define STATE_PG     "pg"     /* data of the private PostgreSQL */
#define STATE_PG_BIN "pg-bin" /* symbolic link to the directory of its programs */
#define STATE_MUNGE  "munge"  /* key, log and process number of the private munged */

/* In the runtime directory. */
#define RUN_PG "pg" /* directory of PostgreSQL's socket, mode 0700 */

/* Of the private PostgreSQL. */
#define PRIVATE_PG_PORT	     6821 /* names the socket file; not a TCP port */
#define PRIVATE_PG_PORT_TEXT "6821"
#define PRIVATE_PG_DATABASE  "tally"
#define PRIVATE_PG_ROLE	     "tally"	/* owns the database, no superuser */
#define PRIVATE_PG_ADMIN     "postgres" /* superuser, for maintenance */

#endif

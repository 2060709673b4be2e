/* store/scan_priv.h: a scan from the inside, for the three files that make it: scan_plan.c chooses
 * partitions, scan_page.c reads them, job_scan.c merges and judges rows. */
#ifndef TALLY_STORE_SCAN_PRIV_H
#define TALLY_STORE_SCAN_PRIV_H

#include "base/arena.h"
#include "store/job_scan.h"
#include "store/job_where.h"
#include "store/page_read.h"

struct part {
	struct leaf leaf;
	int64_t *ids; /* of those asked for, the ones that can be here */
	size_t n_ids;
	struct copyrows page;
	size_t at;	   /* next row of the page */
	int64_t page_rows; /* of the next statement */
	bool more;	   /* behind the page */
	struct row_key head;
};

struct job_scan {
	struct store *store;
	struct job_filter filter; /* jobs: a copy with the leaders, ascending by number */
	int64_t now;
	bool descending;
	struct columns columns;
	struct buf lists; /* conditions that are the same everywhere */
	struct buf sql;
	struct arena *arena; /* of one plan: parts and ids */
	struct arena *keep;  /* of the whole scan */
	int64_t generation;
	bool notes;
	int replans;
	struct part *parts;
	size_t n_parts, opened; /* in the order in which they are opened */
	struct row_key from;	/* every partition is read from behind it, when any_from */
	bool any_from;
	struct page_ahead *ahead;
	struct part *ahead_of; /* whose next page is being read ahead; NULL = nobody's */
	int64_t rows_read;
	struct part **heap; /* the open ones that have a row; the first has the next row */
	size_t n_heap;
	/* The last row that was looked at, and whether one of its (cluster, job id) has passed. */
	struct scan_key last;
	size_t last_cap;
	bool any_last, passed;
	int64_t expected;
};

/* scan_plan.c */

/* Copies the filter; its jobs in ascending order, with room for more. */
void scan_copy_filter(struct job_scan *scan, const struct job_filter *f, size_t room);
/* Order of the selections of a scan's filter. */
int scan_selection_order(const void *a, const void *b);
/* The first plan, with the leaders of heterogeneous jobs where they are asked for. */
int scan_begin(struct job_scan *scan, struct err *err);
/* Another one, from the last row on; BUSY when it goes on so. */
int scan_plan_again(struct job_scan *scan, struct err *err);
void scan_drop_parts(struct job_scan *scan);

/* scan_page.c */

/* The next page of a partition, behind a key (NULL: its first rows).  *ret_changed: rows may have
 * moved since the plan was made, plan again. */
int scan_read_page(struct job_scan *scan, struct part *p, const struct row_key *behind,
		   bool *ret_changed, struct err *err);
/* While the page of p is used, the one that will be wanted next is read: its own, or the first of
 * the partition that follows. */
void scan_look_ahead(struct job_scan *scan, struct part *p);
void scan_drop_ahead(struct job_scan *scan);
/* Rows of the first page of a partition. */
int64_t scan_first_page(const struct job_scan *scan, const struct part *p);

#endif

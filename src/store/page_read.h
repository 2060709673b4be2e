/* store/page_read.h: one page of rows, read now, or ahead by a thread of its own while the page
 * before it is used.
 *
 * Either way a page is read whole into memory before anybody sees a row of it, and the connection
 * is given back: so a slow reader holds neither.  A connection that is lost on the way is made good
 * once, since reading changes nothing. */
#ifndef TALLY_STORE_PAGE_READ_H
#define TALLY_STORE_PAGE_READ_H

#include "store/copyrow.h"
#include "store/store.h"

struct page {
	struct copyrows rows;
	bool cut;	    /* they were too many bytes: there are more */
	bool gone;	    /* the partition is not there any more; no rows */
	int64_t generation; /* of the span, asked after the rows: the one they were read in, or a
			       later one */
};

int page_read(struct store *s, const char *sql, size_t max_bytes, struct page *ret,
	      struct err *err);

struct page_ahead;

/* NULL when there is no thread to be had: do without. */
struct page_ahead *page_ahead_new(struct store *s);
/* Ends what is under way.  Takes NULL. */
void page_ahead_free(struct page_ahead *pa);
/* Starts reading; one page at a time. */
void page_ahead_start(struct page_ahead *pa, const char *sql, size_t max_bytes);
/* The page that was started, when it is there. */
int page_ahead_take(struct page_ahead *pa, struct page *ret, struct err *err);

#endif

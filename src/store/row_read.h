/* store/row_read.h: rows of a table of core/entity.h, by conditions on its fields. */
#ifndef TALLY_STORE_ROW_READ_H
#define TALLY_STORE_ROW_READ_H

#include "core/entity.h"
#include "core/filter.h"
#include "store/store.h"

/* One of its values is the field's.  An empty list is no condition. */
struct row_condition {
	size_t field;
	const struct texts *texts;     /* or */
	const struct numbers *numbers;
};

struct row_query {
	enum entity_kind kind;
	const struct row_condition *conditions;
	size_t n;
	/* Periods that touch [start, end), by these fields; an end that is NULL is open.  The same
	 * field twice: instants in it. */
	size_t start_field, end_field;
	int64_t start, end; /* INT64_MIN and INT64_MAX: any */
	size_t after_field; /* greater than after */
	int64_t after;	    /* INT64_MIN: any */
	int64_t limit;	    /* -1 = all */
};

typedef int row_read_sink(const void *row, void *arg);

/* In the order of the key; in pages of some thousand, so that nothing is held while the sink is at
 * work.  < 0 stops: GONE. */
int store_rows_each(struct store *s, const struct row_query *q, row_read_sink *sink, void *arg,
		    struct err *err);

/* Writes a reservation's row over the one of its key, or takes it away. */
int store_reservation_put(struct store *s, const struct reservation *r, struct err *err);
int store_reservation_remove(struct store *s, const struct reservation *key, int64_t *ret_rows,
			     struct err *err);

#endif

#include "ingest/event.h"

static bool is_event(enum record_kind kind)
{
	return kind == REC_NODE_EVENT || kind == REC_CLUSTER_TRES;
}

static struct event_row of_record(const struct record *rec)
{
	struct event_row row = { .cluster = rec->cluster };

	if (rec->kind == REC_NODE_EVENT) {
		row.node = rec->node;
		return row;
	}
	row.node = (struct node_event){ .node = "", .at = rec->tres.at, .tres = rec->tres.tres,
					.state_raw = -1, .reason_uid = -1 };
	row.nodes = rec->tres.nodes;
	return row;
}

struct entry {
	struct event_row row;
	struct item *item;
	size_t number;
};

static int compare_entries(const void *pa, const void *pb)
{
	const struct entry *a = pa, *b = pb;
	int c = event_row_order(&a->row, &b->row);

	return c != 0 ? c : (a->number > b->number) - (a->number < b->number);
}

void events_collect(struct item *const *items, size_t n, struct arena *arena,
		    struct event **ret_events, size_t *ret_n)
{
	struct entry *entries;
	struct event *v;
	struct item **all;
	size_t count = 0, groups = 0;

	for (size_t i = 0; i < n; i++)
		count += is_event(items[i]->rec->kind);
	entries = ARENA_ARRAY(arena, struct entry, count);
	v = ARENA_ARRAY(arena, struct event, count);
	all = ARENA_ARRAY(arena, struct item *, count);
	count = 0;
	for (size_t i = 0; i < n; i++) {
		if (!is_event(items[i]->rec->kind))
			continue;
		entries[count] = (struct entry){ of_record(items[i]->rec), items[i], i };
		count++;
	}
	if (count > 1)
		qsort(entries, count, sizeof(*entries), compare_entries);
	for (size_t i = 0; i < count; i++) {
		if (groups == 0 || event_row_order(&v[groups - 1].row, &entries[i].row) != 0) {
			v[groups].row = entries[i].row;
			v[groups++].items = &all[i];
		}
		all[i] = entries[i].item;
		v[groups - 1].n_items++;
	}
	*ret_events = v;
	*ret_n = groups;
}

/* True if it changed. */
static bool take_text(const char **into, const char *from, bool later_wins)
{
	int c;

	if (from == NULL)
		return false;
	c = *into == NULL ? -1 : strcmp(*into, from);
	if (c == 0 || (c > 0 && !later_wins))
		return false;
	*into = from;
	return true;
}

static bool take_number(int64_t *into, int64_t from, bool later_wins)
{
	if (from == -1 || *into == from || (*into > from && !later_wins))
		return false;
	*into = from;
	return true;
}

static bool merge(struct event_row *into, const struct event_row *from, bool later_wins)
{
	struct node_event *a = &into->node;
	const struct node_event *b = &from->node;
	bool changed = false;

	if (a->up != b->up) {
		if (!later_wins && a->up)
			return false;
		*a = *b;
		return true;
	}
	changed |= take_text(&a->state, b->state, later_wins);
	changed |= take_number(&a->state_raw, b->state_raw, later_wins);
	changed |= take_text(&a->reason, b->reason, later_wins);
	changed |= take_number(&a->reason_uid, b->reason_uid, later_wins);
	changed |= take_text(&a->tres, b->tres, later_wins);
	changed |= take_text(&a->extra, b->extra, later_wins);
	changed |= take_text(&a->instance_id, b->instance_id, later_wins);
	changed |= take_text(&a->instance_type, b->instance_type, later_wins);
	changed |= take_text(&into->nodes, from->nodes, later_wins);
	return changed;
}

void event_stored(struct event *ev, const struct event_row *stored)
{
	ev->row = *stored;
	ev->stored = true;
}

void event_merge(struct event *ev)
{
	for (size_t i = 0; i < ev->n_items; i++) {
		struct item *it = ev->items[i];
		struct event_row from = of_record(it->rec);
		bool changed = merge(&ev->row, &from, it->rec->by_arrival);

		if (i == 0 && !ev->stored)
			changed = true;
		it->outcome = changed ? VERDICT_ACCEPTED : VERDICT_DUPLICATE;
		ev->changed |= changed;
	}
}

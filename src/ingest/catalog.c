#include "ingest/catalog.h"

#include "core/family.h"
#include "core/tres.h"
#include "ingest/names.h"
#include "store/partition.h"
#include "store/registry.h"
#include "store/tree_ensure.h"

#include "base/clock.h"

/* An administrator may take a cluster away; records of it are refused at most so much later. */
#define CLUSTERS_FRESH_MS 2000

/* Users, accounts, partitions, QOS and wckeys together, before it begins anew. */
#define PLACES_MOST 200000

struct catalog {
	bool register_clusters;
	struct usage_book *usage; /* is told the numbers of TRES */
	struct names clusters;
	int64_t clusters_read_ms; /* 0 = never */
	struct names tres;
	bool tres_read;
	struct names placed; /* whose place in the tree has been looked up */
	struct tree *tree;
	struct span span;
	bool span_read;
	int *months; /* whose partitions are there */
	size_t n_months, cap_months;
};

struct catalog *catalog_new(bool register_clusters, struct usage_book *usage)
{
	struct catalog *c = xcalloc(1, sizeof(*c));

	c->usage = usage;
	c->register_clusters = register_clusters;
	return c;
}

void catalog_forget(struct catalog *c)
{
	names_clear(&c->clusters);
	names_clear(&c->tres);
	names_clear(&c->placed);
	c->clusters_read_ms = 0;
	c->tres_read = c->span_read = false;
	c->n_months = 0;
}

void catalog_free(struct catalog *c)
{
	if (c == NULL)
		return;
	names_fini(&c->clusters);
	names_fini(&c->tres);
	names_fini(&c->placed);
	tree_unref(c->tree);
	free(c->months);
	free(c);
}

const struct span *catalog_span(const struct catalog *c)
{
	return &c->span;
}

const struct tree *catalog_tree(const struct catalog *c)
{
	return c->tree;
}

/* What is at work here. */
struct prepare {
	struct catalog *c;
	struct write_tx *tx;
	int64_t epoch;
	struct obstacles *obs;
	struct item *const *items;
	size_t n;
	struct arena *arena;
	int64_t now_ms;
	struct err *err;
};

static void add_name(const char *name, void *set)
{
	names_add(set, name, strlen(name));
}

static void refuse(const struct prepare *p, struct item *it, const struct err *why)
{
	struct err *err = ARENA_NEW(p->arena, struct err);

	*err = *why;
	err->code = ERR_INVALID;
	it->outcome = VERDICT_REFUSED;
	it->err = err;
}

/* A lock is an obstacle and no failure: 1.  Else -1. */
static int met(const struct prepare *p, enum obstacle_kind kind, int month)
{
	if (write_fault(p->tx) != FAULT_LOCKED)
		return -1;
	write_rollback(p->tx);
	obstacle_met(p->obs, kind, month, p->now_ms);
	return 1;
}

/* ---- clusters */

static int read_clusters(const struct prepare *p)
{
	struct names found = { 0 };

	if (p->c->clusters_read_ms != 0 && p->now_ms < p->c->clusters_read_ms + CLUSTERS_FRESH_MS)
		return 0;
	if (registry_clusters(p->tx, add_name, &found, p->err) < 0) {
		names_fini(&found);
		return met(p, OBSTACLE_REGISTRY, 0) < 0 ? -1 : 0; /* go on with what is known */
	}
	names_fini(&p->c->clusters);
	p->c->clusters = found;
	p->c->clusters_read_ms = p->now_ms;
	return 0;
}

static void refuse_cluster(const struct prepare *p, struct item *it)
{
	struct err err = { 0 };

	err_set(&err, ERR_INVALID, "cluster",
		"\"%s\" is not registered, and clusters do not register themselves here",
		it->rec->cluster);
	refuse(p, it, &err);
}

static int add_cluster(const struct prepare *p, struct item *it)
{
	const char *name = it->rec->cluster;

	if (!p->c->register_clusters) {
		refuse_cluster(p, it);
		return 0;
	}
	if (obstacle_stands(p->obs, OBSTACLE_REGISTRY, 0, p->now_ms)) {
		it->held = true;
		return 0;
	}
	if (registry_add_cluster(p->tx, p->epoch, name, time(NULL), p->err) < 0) {
		if (write_fault(p->tx) == FAULT_DATA) {
			write_rollback(p->tx);
			refuse(p, it, p->err);
			return 0;
		}
		it->held = true;
		return met(p, OBSTACLE_REGISTRY, 0) < 0 ? -1 : 0;
	}
	obstacle_gone(p->obs, OBSTACLE_REGISTRY, 0);
	names_add(&p->c->clusters, name, strlen(name));
	return 0;
}

static int prepare_clusters(const struct prepare *p)
{
	const char *last = NULL;

	if (read_clusters(p) < 0)
		return -1;
	for (size_t i = 0; i < p->n; i++) {
		struct item *it = p->items[i];
		const char *name = it->rec->cluster;

		if (it->outcome == VERDICT_REFUSED || (last != NULL && strcmp(name, last) == 0))
			continue;
		if (!names_has(&p->c->clusters, name, strlen(name)) && add_cluster(p, it) < 0)
			return -1;
		last = it->outcome == VERDICT_REFUSED || it->held ? NULL : name;
	}
	return 0;
}

/* ---- TRES */

static const enum job_field job_tres[] = { JOB_tres_req, JOB_tres_alloc };
static const enum step_field step_tres[] = { STEP_tres_alloc, STEP_in_max,  STEP_in_min,
					     STEP_in_ave,     STEP_in_tot,  STEP_out_max,
					     STEP_out_min,    STEP_out_ave, STEP_out_tot };

struct missing {
	const struct names *known;
	struct names names;
	bool any; /* of the record at hand */
};

static void look_at_name(struct missing *m, const char *name, size_t len)
{
	if (names_has(m->known, name, len))
		return;
	names_add(&m->names, name, len);
	m->any = true;
}

static void look_at(struct missing *m, const char *text)
{
	struct tres t;
	int64_t gpus;

	for (const char *at = text; tres_next(&at, &t);)
		look_at_name(m, t.name, t.len);
	if (text != NULL && tres_gpus(text, &gpus) && gpus > 0) /* of types: usage has their sum */
		look_at_name(m, "gres/gpu", strlen("gres/gpu"));
}

static const char *text_of(const void *row, const struct field *f)
{
	return *(const char *const *)(const void *)((const char *)row + f->offset);
}

static void look_at_record(struct missing *m, const struct record *rec)
{
	m->any = false;
	for (size_t i = 0; i < ARRAY_LEN(job_tres); i++)
		if (has_bit(rec->job.has, job_tres[i]))
			look_at(m, text_of(&rec->job, &job_fields[job_tres[i]]));
	for (size_t s = 0; s < rec->n_steps; s++)
		for (size_t i = 0; i < ARRAY_LEN(step_tres); i++)
			if (has_bit(rec->steps[s].has, step_tres[i]))
				look_at(m, text_of(&rec->steps[s], &step_fields[step_tres[i]]));
	if (rec->kind == REC_NODE_EVENT)
		look_at(m, rec->node.tres);
	if (rec->kind == REC_CLUSTER_TRES)
		look_at(m, rec->tres.tres);
}

static void add_number(const char *name, int64_t id, void *catalog)
{
	struct catalog *c = catalog;

	names_add(&c->tres, name, strlen(name));
	usage_book_number(c->usage, name, (int32_t)id);
}

static int read_tres(const struct prepare *p)
{
	if (p->c->tres_read)
		return 0;
	if (registry_tres(p->tx, add_number, p->c, p->err) < 0)
		return met(p, OBSTACLE_REGISTRY, 0) < 0 ? -1 : 0;
	p->c->tres_read = true;
	return 0;
}

static int add_tres(const struct prepare *p, const struct names *missing)
{
	const char **list = xcalloc(missing->n, sizeof(*list));
	size_t n = 0;
	int rc;

	for (size_t i = 0; i < missing->cap; i++)
		if (missing->v[i] != NULL)
			list[n++] = missing->v[i];
	rc = registry_add_tres(p->tx, p->epoch, list, n, p->err);
	if (rc == 0)
		rc = registry_tres(p->tx, add_number, p->c, p->err);
	free(list);
	return rc;
}

/* Those that name what is still missing wait. */
static void hold_missing_tres(const struct prepare *p)
{
	struct missing m = { .known = &p->c->tres };

	for (size_t i = 0; i < p->n; i++) {
		look_at_record(&m, p->items[i]->rec);
		p->items[i]->held |= m.any;
	}
	names_fini(&m.names);
}

/* One of the names is not to the database's liking: whose it is finds out each record alone. */
static int add_tres_of_each(const struct prepare *p)
{
	int rc = 0;

	for (size_t i = 0; i < p->n && rc == 0; i++) {
		struct missing m = { .known = &p->c->tres };

		if (p->items[i]->outcome != VERDICT_REFUSED)
			look_at_record(&m, p->items[i]->rec);
		if (m.names.n > 0)
			rc = add_tres(p, &m.names);
		if (rc < 0 && write_fault(p->tx) == FAULT_DATA) {
			write_rollback(p->tx);
			refuse(p, p->items[i], p->err);
			rc = 0;
		}
		names_fini(&m.names);
	}
	return rc;
}

static int prepare_tres(const struct prepare *p)
{
	struct missing m = { .known = &p->c->tres };
	int rc = 0;

	if (read_tres(p) < 0)
		return -1;
	for (size_t i = 0; i < p->n; i++)
		if (p->items[i]->outcome != VERDICT_REFUSED)
			look_at_record(&m, p->items[i]->rec);
	if (m.names.n == 0)
		return 0;
	if (obstacle_stands(p->obs, OBSTACLE_REGISTRY, 0, p->now_ms)) {
		hold_missing_tres(p);
	} else {
		rc = add_tres(p, &m.names);
		if (rc < 0 && write_fault(p->tx) == FAULT_DATA) {
			write_rollback(p->tx);
			rc = add_tres_of_each(p);
		}
		if (rc < 0)
			rc = met(p, OBSTACLE_REGISTRY, 0);
		else
			obstacle_gone(p->obs, OBSTACLE_REGISTRY, 0);
		if (rc > 0)
			hold_missing_tres(p);
	}
	names_fini(&m.names);
	return rc < 0 ? -1 : 0;
}

/* ---- the account tree */

/* A record that ends or suspends a job names nobody: who it is was told at its start. */
static bool names_anybody(const struct job *j)
{
	return job_has(j, user_name) || job_has(j, account) || job_has(j, uid) ||
	       job_has(j, assoc_id);
}

static struct draft_need need_of(const struct record *rec)
{
	const struct job *j = &rec->job;

	return (struct draft_need){
		.cluster = rec->cluster,
		.who = { .assoc_id = job_get(j, assoc_id, 0),
			 .account = job_get(j, account, ""),
			 .user = job_get(j, user_name, ""),
			 .partition = job_get(j, partition, "") },
		.uid = job_get(j, uid, -1),
		.wckey = job_get(j, wckey, ""),
		.qos = job_get(j, qos, ""),
	};
}

/* Everything of it that can make a difference. */
static void need_name(const struct draft_need *need, struct buf *out)
{
	buf_clear(out);
	buf_printf(out, "%s\1%" PRId64 "\1%" PRId64 "\1%s\1%s\1%s\1%s\1%s", need->cluster,
		   need->who.assoc_id, need->uid, need->who.account, need->who.user,
		   need->who.partition, need->wckey, need->qos);
}

/* Is it of a job whose place has not been looked up? */
static bool is_new(const struct prepare *p, const struct item *it, struct draft_need *ret_need,
		   struct buf *name)
{
	if (it->outcome == VERDICT_REFUSED || !item_is_of_job(it) || it->held ||
	    !names_anybody(&it->rec->job))
		return false;
	*ret_need = need_of(it->rec);
	need_name(ret_need, name);
	return !names_has(&p->c->placed, name->data, name->len);
}

static int ensure_places(const struct prepare *p, const struct draft_need *needs, size_t n)
{
	if (obstacle_stands(p->obs, OBSTACLE_TREE, 0, p->now_ms))
		return 1;
	if (tree_ensure(p->tx, p->epoch, needs, n, time(NULL), &p->c->tree, p->err) < 0) {
		/* A value the database does not take is for the records' own transaction to find.
		 */
		if (write_fault(p->tx) != FAULT_DATA)
			return met(p, OBSTACLE_TREE, 0);
		write_rollback(p->tx);
	}
	obstacle_gone(p->obs, OBSTACLE_TREE, 0);
	return 0;
}

/* Each once, as they come. */
static size_t collect_needs(const struct prepare *p, struct draft_need *needs, struct names *seen)
{
	struct buf name = BUF_INIT;
	size_t n = 0;

	for (size_t i = 0; i < p->n; i++) {
		if (!is_new(p, p->items[i], &needs[n], &name) ||
		    names_has(seen, name.data, name.len))
			continue;
		names_add(seen, name.data, name.len);
		n++;
	}
	buf_fini(&name);
	return n;
}

static void hold_new(const struct prepare *p)
{
	struct buf name = BUF_INIT;
	struct draft_need need;

	for (size_t i = 0; i < p->n; i++)
		p->items[i]->held |= is_new(p, p->items[i], &need, &name);
	buf_fini(&name);
}

static void know_places(struct names *placed, const struct names *seen)
{
	if (placed->n > PLACES_MOST)
		names_clear(placed);
	for (size_t i = 0; i < seen->cap; i++)
		if (seen->v[i] != NULL)
			names_add(placed, seen->v[i], strlen(seen->v[i]));
}

/* Those whose place is not known to be there wait while somebody changes the tree. */
static int prepare_tree(const struct prepare *p)
{
	struct draft_need *needs = ARENA_ARRAY(p->arena, struct draft_need, p->n + 1);
	struct names seen = { 0 };
	size_t n = collect_needs(p, needs, &seen);
	int rc = n > 0 ? ensure_places(p, needs, n) : 0;

	if (rc == 0)
		know_places(&p->c->placed, &seen);
	if (rc > 0)
		hold_new(p);
	names_fini(&seen);
	return rc < 0 ? -1 : 0;
}

/* ---- months */

static bool month_known(const struct catalog *c, int month)
{
	for (size_t i = c->n_months; i > 0; i--)
		if (c->months[i - 1] == month)
			return true;
	return false;
}

static void know_month(struct catalog *c, int month)
{
	if (c->n_months == c->cap_months) {
		c->cap_months = c->cap_months != 0 ? c->cap_months * 2 : 32;
		c->months = xrealloc(c->months, c->cap_months * sizeof(int));
	}
	c->months[c->n_months++] = month;
}

/* 0 when it is there, 1 when a lock is in the way. */
static int ensure_month(const struct prepare *p, int month)
{
	if (obstacle_stands(p->obs, OBSTACLE_MONTH, month, p->now_ms))
		return 1;
	if (month_known(p->c, month))
		return 0;
	if (write_ensure_month(p->tx, month, p->err) < 0)
		return met(p, OBSTACLE_MONTH, month);
	know_month(p->c, month);
	return 0;
}

/* The partition of a job that was submitted then.  The item is held when it is not to be had. */
static int want_month(const struct prepare *p, struct item *it, int64_t submit_at, int *last)
{
	int month = span_month(&p->c->span, submit_at);
	int rc;

	it->month = month;
	if (month == *last)
		return 0;
	rc = ensure_month(p, month);
	if (rc < 0)
		return -1;
	it->held |= rc > 0;
	*last = rc > 0 ? -1 : month;
	return 0;
}

/* Where a record that names no submit time, or a resize, may put a row. */
static int want_made_months(const struct prepare *p, struct item *it, int *last)
{
	const struct record *rec = it->rec;
	const struct job *j = &rec->job;
	const struct step *s = rec->n_steps > 0 ? rec->steps : NULL;
	int64_t at[4];
	size_t n = 0;

	if (rec->at > 0)
		at[n++] = rec->at;
	if (job_has(j, start_at))
		at[n++] = j->start_at;
	else if (job_has(j, end_at))
		at[n++] = j->end_at - job_get(j, rec_elapsed, 0);
	if (s != NULL && !job_has(j, start_at) && !job_has(j, end_at))
		at[n++] = step_get(s, start_at, step_get(s, end_at, 0));
	if (job_has(j, end_at))
		at[n++] = j->end_at;
	for (size_t i = 0; i < n; i++)
		if (want_month(p, it, at[i] > 0 ? at[i] : 0, last) < 0)
			return -1;
	return 0;
}

static int prepare_months(const struct prepare *p)
{
	struct catalog *c = p->c;
	int last = -1;

	if (!c->span_read && write_read_span(p->tx, &c->span, p->err) < 0)
		return -1;
	c->span_read = true;
	for (size_t i = 0; i < p->n; i++) {
		struct item *it = p->items[i];

		if (it->outcome == VERDICT_REFUSED || !item_is_of_job(it))
			continue;
		if (family_is_needed(it->rec) && want_made_months(p, it, &last) < 0)
			return -1;
		if (it->rec->submit_known &&
		    want_month(p, it, it->rec->job.submit_at, &last) < 0)
			return -1;
	}
	return 0;
}

int catalog_prepare(struct catalog *c, struct write_tx *tx, int64_t epoch, struct obstacles *obs,
		    struct item *const *items, size_t n, struct arena *arena, struct err *err)
{
	const struct prepare p = { c, tx, epoch, obs, items, n, arena, monotonic_ms(), err };

	if (prepare_clusters(&p) < 0 || prepare_tres(&p) < 0 || prepare_tree(&p) < 0 ||
	    prepare_months(&p) < 0) {
		write_rollback(tx);
		return -1;
	}
	return 0;
}

#include "ingest/usage.h"

#include "base/num.h"

/* More charges than this are not remembered: the book begins anew. */
#define CHARGES_MOST  200000
#define BUCKETS_FIRST 256

/* ---- the book */

struct entry {
	struct charge charge;
	uint64_t hash;
	struct entry *next;
	/* Of the transaction at hand. */
	uint64_t seen; /* its number */
	struct rate_row rates;
	size_t cap_rates;
};

struct tres_name {
	char *name;
	size_t len;
	int32_t id; /* 0: not looked up */
};

struct usage_book {
	struct arena *arena; /* entries, and the texts in them */
	struct entry **buckets;
	size_t n_buckets, n;
	struct tres_name *tres;
	size_t n_tres, cap_tres;
	uint64_t transaction;
};

struct usage_book *usage_book_new(void)
{
	struct usage_book *b = xcalloc(1, sizeof(*b));

	b->arena = arena_new();
	usage_book_forget(b);
	return b;
}

void usage_book_free(struct usage_book *b)
{
	if (b == NULL)
		return;
	arena_free(b->arena);
	free(b->buckets);
	for (size_t i = 0; i < b->n_tres; i++)
		free(b->tres[i].name);
	free(b->tres);
	free(b);
}

void usage_book_forget(struct usage_book *b)
{
	arena_reset(b->arena);
	free(b->buckets);
	b->buckets = xcalloc(BUCKETS_FIRST, sizeof(struct entry *));
	b->n_buckets = BUCKETS_FIRST;
	b->n = 0;
}

static uint64_t mix(uint64_t h, uint64_t v)
{
	h = (h ^ v) * 0x9e3779b97f4a7c15u;
	return h ^ (h >> 29);
}

static uint64_t mix_text(uint64_t h, const char *s)
{
	for (; *s != '\0'; s++)
		h = (h ^ (unsigned char)*s) * 1099511628211u;
	return mix(h, 1);
}

static uint64_t hash_charge(const struct charge *c)
{
	uint64_t h = mix_text(14695981039346656037u, c->cluster);

	h = mix_text(mix_text(h, c->account), c->user_name);
	h = mix_text(mix_text(h, c->qos), c->wckey);
	h = mix(mix(h, (uint64_t)c->assoc_id), (uint64_t)c->qos_id);
	return mix(h, (uint64_t)c->wckey_id);
}

static bool same_charge(const struct charge *a, const struct charge *b)
{
	return a->assoc_id == b->assoc_id && a->qos_id == b->qos_id && a->wckey_id == b->wckey_id &&
	       strcmp(a->user_name, b->user_name) == 0 && strcmp(a->account, b->account) == 0 &&
	       strcmp(a->cluster, b->cluster) == 0 && strcmp(a->qos, b->qos) == 0 &&
	       strcmp(a->wckey, b->wckey) == 0;
}

static void grow(struct usage_book *b)
{
	struct entry **old = b->buckets, *e, *next;
	size_t n = b->n_buckets;

	b->n_buckets = n * 4;
	b->buckets = xcalloc(b->n_buckets, sizeof(struct entry *));
	for (size_t i = 0; i < n; i++) {
		for (e = old[i]; e != NULL; e = next) {
			next = e->next;
			e->next = b->buckets[e->hash & (b->n_buckets - 1)];
			b->buckets[e->hash & (b->n_buckets - 1)] = e;
		}
	}
	free(old);
}

static struct entry *add_entry(struct usage_book *b, const struct charge *c, uint64_t hash)
{
	struct entry *e = ARENA_NEW(b->arena, struct entry);

	if (b->n++ == b->n_buckets)
		grow(b);
	e->charge = *c;
	e->charge.cluster = arena_strdup(b->arena, c->cluster);
	e->charge.account = arena_strdup(b->arena, c->account);
	e->charge.user_name = arena_strdup(b->arena, c->user_name);
	e->charge.qos = arena_strdup(b->arena, c->qos);
	e->charge.wckey = arena_strdup(b->arena, c->wckey);
	e->hash = hash;
	e->next = b->buckets[hash & (b->n_buckets - 1)];
	b->buckets[hash & (b->n_buckets - 1)] = e;
	return e;
}

/* Place in tres; its number may have to be looked up yet. */
static int32_t find_tres(struct usage_book *b, const struct tres *t)
{
	for (size_t i = 0; i < b->n_tres; i++)
		if (b->tres[i].len == t->len && memcmp(b->tres[i].name, t->name, t->len) == 0)
			return (int32_t)i;
	if (b->n_tres == b->cap_tres) {
		b->cap_tres = b->cap_tres != 0 ? b->cap_tres * 2 : 32;
		b->tres = xrealloc(b->tres, b->cap_tres * sizeof(*b->tres));
	}
	b->tres[b->n_tres] = (struct tres_name){ xmalloc(t->len + 1), t->len, 0 };
	memcpy(b->tres[b->n_tres].name, t->name, t->len);
	b->tres[b->n_tres].name[t->len] = '\0';
	return (int32_t)b->n_tres++;
}

void usage_book_number(struct usage_book *b, const char *name, int32_t id)
{
	const struct tres t = { name, strlen(name), 0 };
	int32_t at = find_tres(b, &t);

	b->tres[at].id = id;
}

/* ---- a transaction's changes; TRES are their places in the book until they are written */

struct sum {
	struct entry *entry;
	enum usage_grain grain;
	int64_t period;
	struct usage_amount *list;
	size_t n, cap;
	struct sum *next_hash, *next;
};

struct usage_changes {
	struct usage_book *book;
	struct arena *arena;
	struct entry **entries; /* that occur */
	size_t n_entries, cap_entries;
	struct sum **buckets, *sums;
	size_t n_buckets;
	size_t n_sums, n_of[USAGE_GRAINS];
};

struct usage_changes *usage_changes_new(struct usage_book *book, struct arena *arena)
{
	struct usage_changes *c = ARENA_NEW(arena, struct usage_changes);

	if (book->n > CHARGES_MOST)
		usage_book_forget(book);
	book->transaction++;
	c->book = book;
	c->arena = arena;
	c->n_buckets = BUCKETS_FIRST;
	c->buckets = ARENA_ARRAY(arena, struct sum *, c->n_buckets);
	return c;
}

static const char *text_or_none(bool has, const char *s)
{
	return has ? s : "";
}

static struct charge charge_of(const struct job *j)
{
	const char *wckey = text_or_none(job_has(j, wckey), j->wckey);

	return (struct charge){
		.cluster = j->cluster,
		.account = text_or_none(job_has(j, account), j->account),
		.user_name = text_or_none(job_has(j, user_name), j->user_name),
		.qos = text_or_none(job_has(j, qos), j->qos),
		.wckey = wckey + (wckey[0] == '*'),
		.assoc_id = job_get(j, assoc_id, 0),
		.qos_id = job_get(j, qos_id, 0),
		.wckey_id = job_get(j, wckey_id, 0),
	};
}

static struct entry *entry_of(struct usage_changes *c, const struct charge *charge)
{
	struct usage_book *b = c->book;
	uint64_t hash = hash_charge(charge);
	struct entry *e = b->buckets[hash & (b->n_buckets - 1)], **list;

	while (e != NULL && !(e->hash == hash && same_charge(&e->charge, charge)))
		e = e->next;
	if (e == NULL)
		e = add_entry(b, charge, hash);
	if (e->seen == b->transaction)
		return e;
	if (c->n_entries == c->cap_entries) {
		c->cap_entries = c->cap_entries != 0 ? c->cap_entries * 2 : 64;
		list = ARENA_ARRAY(c->arena, struct entry *, c->cap_entries);
		if (c->n_entries > 0)
			memcpy(list, c->entries, c->n_entries * sizeof(*list));
		c->entries = list;
	}
	c->entries[c->n_entries++] = e;
	e->seen = b->transaction;
	e->rates = (struct rate_row){ 0 };
	e->cap_rates = 0;
	return e;
}

static uint64_t hash_sum(const struct entry *e, enum usage_grain grain, int64_t period)
{
	return mix(mix(e->hash, (uint64_t)period), (uint64_t)grain);
}

static void grow_sums(struct usage_changes *c)
{
	c->n_buckets *= 4;
	c->buckets = ARENA_ARRAY(c->arena, struct sum *, c->n_buckets);
	for (struct sum *s = c->sums; s != NULL; s = s->next) {
		uint64_t at = hash_sum(s->entry, s->grain, s->period) & (c->n_buckets - 1);

		s->next_hash = c->buckets[at];
		c->buckets[at] = s;
	}
}

static struct sum *sum_of(struct usage_changes *c, struct entry *e, enum usage_grain grain,
			  int64_t period)
{
	uint64_t hash = hash_sum(e, grain, period);
	struct sum *s = c->buckets[hash & (c->n_buckets - 1)];

	while (s != NULL && !(s->period == period && s->grain == grain && s->entry == e))
		s = s->next_hash;
	if (s != NULL)
		return s;
	if (c->n_sums++ == c->n_buckets)
		grow_sums(c);
	s = ARENA_NEW(c->arena, struct sum);
	*s = (struct sum){ .entry = e,
			   .grain = grain,
			   .period = period,
			   .next = c->sums,
			   .next_hash = c->buckets[hash & (c->n_buckets - 1)] };
	c->buckets[hash & (c->n_buckets - 1)] = c->sums = s;
	c->n_of[grain]++;
	return s;
}

static void add_amount(struct usage_changes *c, struct sum *s, int32_t tres, int64_t amount)
{
	struct usage_amount *list;

	if (s->n == s->cap) {
		s->cap = s->cap != 0 ? s->cap * 2 : 8;
		list = ARENA_ARRAY(c->arena, struct usage_amount, s->cap);
		if (s->n > 0)
			memcpy(list, s->list, s->n * sizeof(*list));
		s->list = list;
	}
	s->n = usage_add(s->list, s->n, tres, amount);
}

/* ---- one run */

struct held {
	struct tres tres;
	int32_t place;
	int64_t until; /* the amount by the end of the last period */
};

static struct held *held_by(struct usage_changes *c, const struct usage_run *run, size_t *ret_n)
{
	struct usage_tres walk = usage_tres_of(run);
	size_t most = 2, n = 0;
	struct held *v;
	struct tres t;

	for (const char *s = run->tres; s != NULL && *s != '\0'; s++)
		most += *s == ',';
	v = ARENA_ARRAY(c->arena, struct held, most);
	while (usage_tres_next(&walk, &t))
		v[n++] = (struct held){ t, find_tres(c->book, &t), 0 };
	*ret_n = n;
	return v;
}

static void add_periods(struct usage_changes *c, struct entry *e, const struct usage_run *run,
			struct held *held, size_t n, int sign)
{
	for (int g = 0; g < USAGE_GRAINS; g++) {
		enum usage_grain grain = (enum usage_grain)g;
		int64_t next;

		for (size_t i = 0; i < n; i++)
			held[i].until = 0;
		for (int64_t at = usage_period(grain, run->start); at < run->end; at = next) {
			struct sum *s = sum_of(c, e, grain, at);

			next = usage_period_next(grain, at);
			for (size_t i = 0; i < n; i++) {
				int64_t until = usage_until(run, &held[i].tres, next);

				add_amount(c, s, held[i].place, sign * (until - held[i].until));
				held[i].until = until;
			}
		}
	}
}

static void add_rates(struct usage_changes *c, struct entry *e, const struct usage_run *run,
		      const struct held *held, size_t n, int sign)
{
	struct usage_rate *list;

	e->rates.runs += sign;
	if (usage_is_uneven(run)) {
		e->rates.uneven += sign;
		return;
	}
	if (e->rates.n + n > e->cap_rates) {
		e->cap_rates = e->cap_rates * 2 + n;
		list = ARENA_ARRAY(c->arena, struct usage_rate, e->cap_rates);
		if (e->rates.n > 0)
			memcpy(list, e->rates.list, e->rates.n * sizeof(*list));
		e->rates.list = list;
	}
	for (size_t i = 0; i < n; i++) {
		const struct tres *t = &held[i].tres;
		int64_t rate = usage_kind_of(t) == USAGE_TOTAL ? 0 : sign * t->count;
		const struct usage_rate more = { held[i].place, rate,
						 (uint64_t)rate * (uint64_t)run->start };

		e->rates.n = usage_rate_add(e->rates.list, e->rates.n, &more);
	}
}

static void apply(struct usage_changes *c, const struct charge *charge, const struct usage_run *run,
		  int sign)
{
	struct entry *e = entry_of(c, charge);
	size_t n;
	struct held *held = held_by(c, run, &n);

	if (usage_runs(run))
		add_rates(c, e, run, held, n, sign);
	else
		add_periods(c, e, run, held, n, sign);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a != NULL && b != NULL && strcmp(a, b) == 0);
}

static bool same_run(const struct usage_run *a, const struct usage_run *b)
{
	return a->start == b->start && a->end == b->end && a->unplaced_s == b->unplaced_s &&
	       same_text(a->moments, b->moments) && same_text(a->tres, b->tres);
}

void usage_follow(struct usage_changes *c, const struct job *old, const struct job *now)
{
	struct usage_run before, after;
	struct charge from, to;
	bool was = old != NULL && usage_run_of(old, &before) && !usage_is_long(&before);
	bool is = now != NULL && usage_run_of(now, &after) && !usage_is_long(&after);

	if (was)
		from = charge_of(old);
	if (is)
		to = charge_of(now);
	if (was && is && same_run(&before, &after) && same_charge(&from, &to))
		return;
	if (was)
		apply(c, &from, &before, -1);
	if (is)
		apply(c, &to, &after, 1);
}

/* ---- numbers */

static int number_charges(struct usage_changes *c, struct write_tx *tx, struct err *err)
{
	struct charge **v = ARENA_ARRAY(c->arena, struct charge *, c->n_entries);
	size_t n = 0;

	for (size_t i = 0; i < c->n_entries; i++)
		if (c->entries[i]->charge.id == 0)
			v[n++] = &c->entries[i]->charge;
	return n > 0 ? charge_ids(tx, v, n, err) : 0;
}

/* Of a row that was stored before its TRES were looked at. */
static int number_tres(struct usage_changes *c, struct write_tx *tx, struct err *err)
{
	struct usage_book *b = c->book;
	const char **names = ARENA_ARRAY(c->arena, const char *, b->n_tres);
	int32_t *ids = ARENA_ARRAY(c->arena, int32_t, b->n_tres);
	size_t n = 0;

	for (size_t i = 0; i < b->n_tres; i++)
		if (b->tres[i].id == 0)
			names[n++] = b->tres[i].name;
	if (n == 0)
		return 0;
	if (usage_tres_ids(tx, names, n, ids, err) < 0)
		return -1;
	n = 0;
	for (size_t i = 0; i < b->n_tres; i++)
		if (b->tres[i].id == 0)
			b->tres[i].id = ids[n++];
	return 0;
}

static int compare_amounts(const void *a, const void *b)
{
	int32_t x = ((const struct usage_amount *)a)->tres,
		y = ((const struct usage_amount *)b)->tres;

	return (x > y) - (x < y);
}

static int compare_rates(const void *a, const void *b)
{
	int32_t x = ((const struct usage_rate *)a)->tres, y = ((const struct usage_rate *)b)->tres;

	return (x > y) - (x < y);
}

static void number_amounts(const struct usage_book *b, struct usage_amount *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i].tres = b->tres[list[i].tres].id;
	if (n > 1)
		qsort(list, n, sizeof(*list), compare_amounts);
}

static void number_rates(const struct usage_book *b, struct usage_rate *list, size_t n)
{
	for (size_t i = 0; i < n; i++)
		list[i].tres = b->tres[list[i].tres].id;
	if (n > 1)
		qsort(list, n, sizeof(*list), compare_rates);
}

/* ---- writing */

static int compare_rows(const void *pa, const void *pb)
{
	const struct usage_row *a = pa, *b = pb;

	if (a->period != b->period)
		return a->period < b->period ? -1 : 1;
	return (a->charge > b->charge) - (a->charge < b->charge);
}

static int write_grain(struct usage_changes *c, enum usage_grain grain, struct write_tx *tx,
		       struct err *err)
{
	struct usage_row *rows = ARENA_ARRAY(c->arena, struct usage_row, c->n_of[grain]);
	size_t n = 0;

	for (struct sum *s = c->sums; s != NULL; s = s->next) {
		if (s->grain != grain || s->n == 0)
			continue;
		number_amounts(c->book, s->list, s->n);
		rows[n++] = (struct usage_row){ s->entry->charge.id, s->period, s->list, s->n };
	}
	if (n == 0)
		return 0;
	qsort(rows, n, sizeof(*rows), compare_rows);
	return usage_change(tx, grain, rows, n, c->arena, err);
}

static int compare_rate_rows(const void *pa, const void *pb)
{
	const struct rate_row *a = pa, *b = pb;

	return (a->charge > b->charge) - (a->charge < b->charge);
}

static int write_rates(struct usage_changes *c, struct write_tx *tx, struct err *err)
{
	struct rate_row *rows = ARENA_ARRAY(c->arena, struct rate_row, c->n_entries);
	size_t n = 0;

	for (size_t i = 0; i < c->n_entries; i++) {
		struct rate_row *r = &c->entries[i]->rates;

		if (r->runs == 0 && r->uneven == 0 && r->n == 0)
			continue;
		number_rates(c->book, r->list, r->n);
		r->charge = c->entries[i]->charge.id;
		rows[n++] = *r;
	}
	if (n == 0)
		return 0;
	qsort(rows, n, sizeof(*rows), compare_rate_rows);
	return rate_change(tx, rows, n, c->arena, err);
}

int usage_write(struct usage_changes *c, struct write_tx *tx, struct err *err)
{
	if (c->n_entries == 0)
		return 0;
	if (number_charges(c, tx, err) < 0 || number_tres(c, tx, err) < 0)
		return -1;
	for (int g = 0; g < USAGE_GRAINS; g++)
		if (write_grain(c, (enum usage_grain)g, tx, err) < 0)
			return -1;
	return write_rates(c, tx, err);
}

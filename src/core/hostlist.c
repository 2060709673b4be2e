#include "core/hostlist.h"

#include "base/buf.h"
#include "base/num.h"

#define DIGITS_MAX 18 /* what int64 holds of any digits */

static int list_error(const char *word, struct err *err)
{
	return err_set(err, ERR_INVALID, "nodes",
		       "\"%.48s\" is no list of nodes; write such as n1,n[01-04,7]", word);
}

static bool is_separator(char c)
{
	return c == ',' || c == ' ' || c == '\t' || c == '\n';
}

static bool is_name_byte(char c)
{
	return (unsigned char)c > ' ' && c != ',' && c != '[' && c != ']' && c != 0x7f;
}

bool hostlist_is_absent(const char *text)
{
	static const char *const absent[] = { "", "None assigned", "(null)", "(unknown)" };

	for (size_t i = 0; i < ARRAY_LEN(absent); i++)
		if (strcmp(text, absent[i]) == 0)
			return true;
	return false;
}

/* One range of a bracket: "001-003" or "7".  Returns where it ends, NULL when it is none. */
static const char *range_read(const char *s, int64_t *ret_first, int64_t *ret_last, int *ret_width)
{
	const char *end = num_digits(s, ret_first);

	if (end == NULL || end - s > DIGITS_MAX)
		return NULL;
	*ret_width = (int)(end - s);
	*ret_last = *ret_first;
	if (*end == '-') {
		const char *from = end + 1;
		end = num_digits(from, ret_last);
		if (end == NULL || end - from > DIGITS_MAX || *ret_last < *ret_first ||
		    (*from == '0' && end - from > *ret_width)) /* [1-010]: which width? */
			return NULL;
	}
	return *end == ',' || *end == ']' ? end : NULL;
}

/* Numbers in one bracket, from behind '['; sets *ret_end behind ']'.  -1 when it is none. */
static int64_t bracket_count(const char *s, const char **ret_end)
{
	int64_t first, last, sum = 0;
	int width;

	for (;; s++) {
		s = range_read(s, &first, &last, &width);
		if (s == NULL)
			return -1;
		sum = num_add(sum, last - first + 1, NULL);
		if (*s == ']')
			break;
	}
	*ret_end = s + 1;
	return sum;
}

/* Names in the word at s; sets *ret_end behind it.  -1 when it is none. */
static int64_t word_count(const char *s, const char **ret_end)
{
	int64_t product = 1, n;
	int groups = 0;

	while (*s != '\0' && !is_separator(*s)) {
		if (*s == '[') {
			n = ++groups <= HOSTLIST_GROUPS ? bracket_count(s + 1, &s) : -1;
			if (n < 0)
				return -1;
			product = num_mul(product, n, NULL);
		} else if (is_name_byte(*s)) {
			s++;
		} else {
			return -1;
		}
	}
	*ret_end = s;
	return product;
}

int hostlist_count(const char *text, int64_t *ret, struct err *err)
{
	int64_t sum = 0;

	for (const char *s = text; *s != '\0';) {
		const char *word = s;
		if (is_separator(*s)) {
			s++;
			continue;
		}
		int64_t n = word_count(s, &s);
		if (n < 0)
			return list_error(word, err);
		sum = num_add(sum, n, NULL);
		if (sum > HOSTLIST_MAX)
			return err_set(err, ERR_TOO_LARGE, "nodes",
				       "\"%.48s\" brings the list above %d names", word, HOSTLIST_MAX);
	}
	*ret = sum;
	return 0;
}

/* --- walking --- */

static void range_open(struct host_group *g, const char *s)
{
	const char *end = range_read(s, &g->now, &g->last, &g->width);

	g->at = *end == ',' ? end + 1 : NULL; /* where the next range begins */
}

/* The word was counted before, so it is well formed. */
static void word_open(struct hostlist_walk *w, const char *s, const char *end)
{
	w->n_groups = 0;
	for (const char *open; (open = memchr(s, '[', (size_t)(end - s))) != NULL;) {
		struct host_group *g = &w->group[w->n_groups++];
		g->literal = s;
		g->literal_len = (size_t)(open - s);
		g->list = open + 1;
		range_open(g, g->list);
		s = (const char *)memchr(open, ']', (size_t)(end - open)) + 1;
	}
	w->tail = s;
	w->tail_len = (size_t)(end - s);
	w->in_word = true;
}

/* To the next name of the word, last group first; false when there was none. */
static bool word_advance(struct hostlist_walk *w)
{
	for (int i = w->n_groups - 1; i >= 0; i--) {
		struct host_group *g = &w->group[i];
		if (g->now < g->last) {
			g->now++;
			return true;
		}
		if (g->at != NULL) {
			range_open(g, g->at);
			return true;
		}
		range_open(g, g->list);
	}
	return false;
}

static bool name_add(struct hostlist_walk *w, size_t *len, const char *s, size_t n)
{
	if (n >= sizeof(w->name) - *len)
		return false;
	memcpy(w->name + *len, s, n);
	*len += n;
	return true;
}

static bool name_build(struct hostlist_walk *w)
{
	char digits[24];
	size_t len = 0;

	for (int i = 0; i < w->n_groups; i++) {
		const struct host_group *g = &w->group[i];
		int n = snprintf(digits, sizeof(digits), "%0*" PRId64, g->width, g->now);
		if (!name_add(w, &len, g->literal, g->literal_len) ||
		    !name_add(w, &len, digits, (size_t)n))
			return false;
	}
	if (!name_add(w, &len, w->tail, w->tail_len))
		return false;
	w->name[len] = '\0';
	return true;
}

void hostlist_start(struct hostlist_walk *w, const char *text)
{
	w->rest = text;
	w->in_word = false;
}

const char *hostlist_next(struct hostlist_walk *w, struct err *err)
{
	if (!w->in_word || !word_advance(w)) {
		w->in_word = false;
		while (is_separator(*w->rest))
			w->rest++;
		if (*w->rest == '\0')
			return NULL;
		const char *word = w->rest;
		if (word_count(word, &w->rest) < 0) {
			list_error(word, err);
			return NULL;
		}
		word_open(w, word, w->rest);
	}
	if (name_build(w))
		return w->name;
	err_set(err, ERR_INVALID, "nodes", "a name in the list is longer than %d bytes",
		HOST_NAME_SIZE - 1);
	return NULL;
}

int hostlist_expand(const char *text, struct arena *arena, const char *const **ret, size_t *ret_n,
		    struct err *err)
{
	struct hostlist_walk w;
	struct err stop = { .code = ERR_OK };
	int64_t count = 0;
	size_t n = 0;

	if (hostlist_count(text, &count, err) < 0)
		return -1;
	const char **names = ARENA_ARRAY(arena, const char *, count);
	hostlist_start(&w, text);
	for (const char *name; (name = hostlist_next(&w, &stop)) != NULL;)
		names[n++] = arena_strdup(arena, name);
	if (stop.code != ERR_OK)
		return err_set(err, stop.code, stop.where, "%s", stop.text);
	*ret = names;
	*ret_n = n;
	return 0;
}

/* --- asking for a name --- */

/* Does the number begin name as this range would write it?  Its length, or 0. */
static size_t range_match(const char *name, int64_t first, int64_t last, int width)
{
	size_t digits = strspn(name, "0123456789");
	int64_t v = 0;

	for (size_t n = 1; n <= digits && n <= DIGITS_MAX; n++) {
		v = v * 10 + (name[n - 1] - '0');
		bool own_width = n == (size_t)width || (n > (size_t)width && name[0] != '0');
		if (own_width && v >= first && v <= last)
			return n;
	}
	return 0;
}

static bool word_match(const char *s, const char *end, const char *name);

/* Each range of the bracket, with what follows it.  Of one range only one length of number can
 * match unless its end has more digits than its start, so all are tried. */
static bool bracket_match(const char *s, const char *end, const char *name)
{
	const char *behind = (const char *)memchr(s, ']', (size_t)(end - s)) + 1;
	int64_t first = 0, last = 0;
	int width = 0;

	for (;; s++) {
		s = range_read(s, &first, &last, &width);
		for (size_t n; first <= last && (n = range_match(name, first, last, width)) > 0;) {
			if (word_match(behind, end, name + n))
				return true;
			int64_t longer = 1; /* go on with numbers of more digits */
			while (n-- > 0)
				longer *= 10;
			first = longer > first ? longer : last + 1;
		}
		if (*s == ']')
			return false;
	}
}

static bool word_match(const char *s, const char *end, const char *name)
{
	for (; s < end && *s != '['; s++, name++)
		if (*s != *name)
			return false;
	return s == end ? *name == '\0' : bracket_match(s + 1, end, name);
}

bool hostlist_contains(const char *text, const char *name)
{
	for (const char *s = text; *s != '\0';) {
		const char *word = s;
		if (is_separator(*s)) {
			s++;
			continue;
		}
		if (word_count(word, &s) < 0)
			return false;
		if (word_match(word, s, name))
			return true;
	}
	return false;
}

int64_t hostlist_find(const char *text, const char *name)
{
	struct hostlist_walk w;
	int64_t i = 0;

	if (!hostlist_contains(text, name) || hostlist_count(text, &(int64_t){ 0 }, NULL) < 0)
		return -1;
	hostlist_start(&w, text);
	for (const char *at; (at = hostlist_next(&w, NULL)) != NULL; i++)
		if (strcmp(at, name) == 0)
			return i;
	return -1;
}

/* --- sets --- */

struct hostset {
	const char **v; /* ascending */
	size_t n;
};

static int text_order(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

int hostset_new(const char *text, struct arena *arena, const struct hostset **ret,
		struct err *err)
{
	struct hostset *set = ARENA_NEW(arena, struct hostset);
	const char *const *names = NULL;

	if (hostlist_expand(text, arena, &names, &set->n, err) < 0)
		return -1;
	set->v = ARENA_ARRAY(arena, const char *, set->n);
	memcpy(set->v, names, sizeof(names[0]) * set->n);
	if (set->n > 1)
		qsort(set->v, set->n, sizeof(set->v[0]), text_order);
	*ret = set;
	return 0;
}

bool hostset_has(const struct hostset *set, const char *name)
{
	return set->n > 0 && bsearch(&name, set->v, set->n, sizeof(set->v[0]), text_order) != NULL;
}

bool hostset_meets(const struct hostset *set, const char *text)
{
	struct hostlist_walk w;
	const char *name;

	hostlist_start(&w, text);
	for (int i = 0; i < HOSTLIST_MAX && (name = hostlist_next(&w, NULL)) != NULL; i++)
		if (hostset_has(set, name))
			return true;
	return false;
}

bool hostlist_intersects(const char *a, const char *b)
{
	struct hostlist_walk w;
	const char *name;

	hostlist_start(&w, a);
	for (int i = 0; i < HOSTLIST_MAX && (name = hostlist_next(&w, NULL)) != NULL; i++)
		if (hostlist_contains(b, name))
			return true;
	return false;
}

/* --- writing --- */

/* A name taken apart: prefix and the number at its end. */
struct host {
	const char *name;
	size_t prefix_len;
	int width; /* digits of the number; 0 = none */
	int64_t number;
};

static int host_split(const char *name, struct host *h, struct err *err)
{
	size_t n = strlen(name), digits = 0;

	for (size_t i = 0; i < n; i++)
		if (!is_name_byte(name[i]))
			return err_set(err, ERR_INVALID, "nodes", "\"%.48s\" is no name of a node",
				       name);
	if (n == 0 || n >= HOST_NAME_SIZE)
		return err_set(err, ERR_INVALID, "nodes", "\"%.48s\" is no name of a node", name);
	while (digits < n && digits < DIGITS_MAX && name[n - digits - 1] >= '0' &&
	       name[n - digits - 1] <= '9')
		digits++;
	*h = (struct host){ .name = name, .prefix_len = n - digits, .width = (int)digits };
	if (digits > 0)
		num_digits(name + n - digits, &h->number);
	return 0;
}

static int prefix_order(const struct host *a, const struct host *b)
{
	size_t n = a->prefix_len < b->prefix_len ? a->prefix_len : b->prefix_len;
	int c = memcmp(a->name, b->name, n);

	return c != 0 ? c : (a->prefix_len > b->prefix_len) - (a->prefix_len < b->prefix_len);
}

static int host_order(const void *pa, const void *pb)
{
	const struct host *a = pa, *b = pb;
	int c = prefix_order(a, b);

	if (c != 0)
		return c;
	if (a->number != b->number)
		return a->number < b->number ? -1 : 1;
	return a->width - b->width;
}

struct range {
	int64_t first, last;
	int width;
};

/* The range of the prefix that h goes on with: n9 then n10 does, n09 then n010 does not.  open[w]
 * is one more than the place of the latest range of that width. */
static struct range *range_before(struct range *ranges, const size_t open[DIGITS_MAX + 1],
				  const struct host *h)
{
	bool padded = h->name[h->prefix_len] == '0' && h->width > 1;

	for (int w = h->width; w >= (padded ? h->width : 1); w--) {
		struct range *r = open[w] > 0 ? &ranges[open[w] - 1] : NULL;
		if (r != NULL && r->last + 1 == h->number)
			return r;
	}
	return NULL;
}

/* Ranges of the hosts h[0..n), all of one prefix and with a number, ascending. */
static size_t ranges_make(const struct host *h, size_t n, struct range *ranges)
{
	size_t open[DIGITS_MAX + 1] = { 0 }, n_ranges = 0;

	for (size_t i = 0; i < n; i++) {
		struct range *r = range_before(ranges, open, &h[i]);
		if (r != NULL) {
			r->last = h[i].number;
			continue;
		}
		ranges[n_ranges++] = (struct range){ h[i].number, h[i].number, h[i].width };
		open[h[i].width] = n_ranges;
	}
	return n_ranges;
}

static void ranges_write(const struct host *h, const struct range *ranges, size_t n,
			 struct buf *out)
{
	bool brackets = n > 1 || ranges[0].first != ranges[0].last;

	buf_add(out, h->name, h->prefix_len);
	if (brackets)
		buf_addc(out, '[');
	for (size_t i = 0; i < n; i++) {
		const struct range *r = &ranges[i];
		buf_printf(out, "%s%0*" PRId64, i > 0 ? "," : "", r->width, r->first);
		if (r->last != r->first)
			buf_printf(out, "-%0*" PRId64, r->width, r->last);
	}
	if (brackets)
		buf_addc(out, ']');
}

/* Hosts from h[0] that share its prefix and have a number, or the one that has none. */
static size_t group_length(const struct host *h, size_t n)
{
	size_t i = 1;

	while (i < n && h[0].width > 0 && h[i].width > 0 && prefix_order(&h[0], &h[i]) == 0)
		i++;
	return i;
}

static void hosts_write(const struct host *h, size_t n, struct range *ranges, struct buf *out)
{
	for (size_t from = 0, len; from < n; from += len) {
		len = group_length(h + from, n - from);
		if (from > 0)
			buf_addc(out, ',');
		if (h[from].width == 0)
			buf_adds(out, h[from].name);
		else
			ranges_write(&h[from], ranges, ranges_make(h + from, len, ranges), out);
	}
}

int hostlist_compress(const char *const *names, size_t n, struct arena *arena, const char **ret,
		      struct err *err)
{
	struct host *h = ARENA_ARRAY(arena, struct host, n);
	struct range *ranges = ARENA_ARRAY(arena, struct range, n);
	struct buf out = BUF_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < n; i++)
		if (host_split(names[i], &h[i], err) < 0)
			return -1;
	if (n > 1)
		qsort(h, n, sizeof(*h), host_order);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || host_order(&h[kept - 1], &h[i]) != 0)
			h[kept++] = h[i];
	hosts_write(h, kept, ranges, &out);
	*ret = arena_strndup(arena, buf_str(&out), out.len);
	buf_fini(&out);
	return 0;
}

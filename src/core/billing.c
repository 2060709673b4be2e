#include "core/billing.h"

#include <math.h>
#include <strings.h>

#include "core/tres.h"

struct weight {
	const char *name;
	size_t len;
	double per_unit; /* of what tres texts count: MiB for memory */
};

struct billing_weights {
	size_t n;
	struct weight v[];
};

static const struct billing_weights one_per_cpu[] = { { .n = 0 } };

static bool counts_mib(const char *name, size_t len)
{
	return (len == 3 && strncasecmp(name, "mem", 3) == 0) ||
	       (len > 3 && strncasecmp(name, "bb/", 3) == 0);
}

/* MiB in one of K M G T P; 0 = no such letter. */
static double mib_per(char letter)
{
	static const char letters[] = "KMGTP";
	const char *at = letter != '\0' ? strchr(letters, letter & ~0x20) : NULL;

	return at != NULL ? exp2(10.0 * (double)(at - letters - 1)) : 0.0;
}

static int parse_weight(const char *word, size_t len, struct weight *ret, struct err *err)
{
	const char *eq = memrchr(word, '=', len);
	char number[64];
	char *end;

	if (eq == NULL || eq == word || word + len - eq > (ptrdiff_t)sizeof(number))
		return err_set(err, ERR_INVALID, "TRESBillingWeights",
			       "\"%.*s\" is no weight; write name=number, as in Mem=0.25G",
			       (int)len, word);
	size_t n = (size_t)(word + len - eq) - 1;
	memcpy(number, eq + 1, n);
	number[n] = '\0';
	*ret = (struct weight){ .name = word, .len = (size_t)(eq - word) };
	ret->per_unit = strtod(number, &end);
	if (end != number && *end != '\0' && counts_mib(word, ret->len) && mib_per(*end) > 0)
		ret->per_unit /= mib_per(*end++);
	if (end == number || *end != '\0' || !isfinite(ret->per_unit) || ret->per_unit < 0)
		return err_set(err, ERR_INVALID, "TRESBillingWeights",
			       "\"%s\" in \"%.*s\" is no number of 0 or more (memory takes a unit "
			       "K M G T P)",
			       number, (int)len, word);
	return 0;
}

int billing_parse(const char *text, struct arena *arena, const struct billing_weights **ret,
		  struct err *err)
{
	if (text == NULL || *text == '\0') {
		*ret = one_per_cpu;
		return 0;
	}
	size_t most = 1;
	for (const char *at = text; (at = strchr(at, ',')) != NULL; at++)
		most++;
	struct billing_weights *w =
		arena_zalloc(arena, sizeof(*w) + most * sizeof(struct weight));
	const char *own = arena_strdup(arena, text);
	for (const char *at = own;; at++) {
		size_t len = strcspn(at, ",");
		if (parse_weight(at, len, &w->v[w->n++], err) < 0)
			return -1;
		at += len;
		if (*at == '\0')
			break;
	}
	*ret = w;
	return 0;
}

static double weight_of(const struct billing_weights *weights, const struct tres *t)
{
	if (weights->n == 0)
		return t->len == 3 && memcmp(t->name, "cpu", 3) == 0 ? 1.0 : 0.0;
	for (size_t i = 0; i < weights->n; i++)
		if (weights->v[i].len == t->len &&
		    strncasecmp(weights->v[i].name, t->name, t->len) == 0)
			return weights->v[i].per_unit;
	return 0.0;
}

static bool name_is(const struct tres *t, const char *name)
{
	return strlen(name) == t->len && memcmp(name, t->name, t->len) == 0;
}

double billing_compute(const struct billing_weights *weights, enum billing_rule rule,
		       const char *tres)
{
	double sum = 0, largest = 0;
	struct tres t;

	for (const char *at = tres; tres_next(&at, &t);) {
		double part = weight_of(weights, &t) * (double)t.count;
		bool gres = t.len > 5 && memcmp(t.name, "gres/", 5) == 0;
		bool on_node = name_is(&t, "cpu") || name_is(&t, "mem") || name_is(&t, "node") ||
			       (gres && rule == BILLING_MAX_TRES);
		if (on_node && rule != BILLING_SUM)
			largest = fmax(largest, part);
		else
			sum += part;
	}
	return largest + sum;
}

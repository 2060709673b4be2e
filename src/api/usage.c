/* api/usage.c: what was used in a window. */
#include "api/args.h"
#include "api/handlers.h"
#include "core/timespec.h"
#include "core/zone.h"

static int group_from(const struct texts *group, unsigned *ret, struct err *err)
{
	if (group->n == 1 && strcmp(group->v[0], "total") == 0) {
		*ret = 0;
		return 0;
	}
	*ret = group->n == 0 ? 1u << BY_CLUSTER | 1u << BY_ACCOUNT : 0;
	for (size_t i = 0; i < group->n; i++) {
		size_t k = 0;

		while (k < USAGE_BY && strcmp(usage_by_names[k], group->v[i]) != 0)
			k++;
		if (k == USAGE_BY)
			return err_set(
				err, ERR_INVALID, "group",
				"\"%.64s\" is not what totals can be told apart by; accepted: "
				"cluster, account, user, qos, wckey; or total alone",
				group->v[i]);
		*ret |= 1u << k;
	}
	return 0;
}

static void print_time(struct buf *out, const char *key, int64_t at, bool epoch)
{
	char text[TIME_TEXT_SIZE];

	if (epoch) {
		buf_printf(out, "\"%s\":%" PRId64, key, at);
		return;
	}
	time_format_iso(at, text);
	buf_printf(out, "\"%s\":\"%s\"", key, text);
}

static bool is_wanted(const struct texts *tres, const char *name)
{
	for (size_t i = 0; i < tres->n; i++)
		if (strcmp(tres->v[i], name) == 0)
			return true;
	return tres->n == 0;
}

/* False when none of the TRES that are asked for was used. */
static bool print_used(struct buf *out, const struct usage_answer *a, const struct usage_total *t,
		       const struct texts *tres)
{
	bool any = false;

	for (size_t i = 0; i < t->n; i++) {
		const char *name = a->tres[t->list[i].tres];

		if (name == NULL || !is_wanted(tres, name))
			continue;
		if (any)
			buf_addc(out, ',');
		any = true;
		buf_json_str(out, name);
		buf_printf(out, ":%" PRId64, t->list[i].amount);
	}
	return any;
}

static void print_total(struct buf *out, const struct usage_total *t)
{
	for (size_t i = 0; i < USAGE_BY; i++) {
		if (t->names[i] == NULL)
			continue;
		buf_printf(out, "\"%s\":", usage_by_names[i]);
		if (t->names[i][0] == '\0')
			buf_adds(out, "null");
		else
			buf_json_str(out, t->names[i]);
		buf_addc(out, ',');
	}
}

static void print_totals(struct buf *out, const struct usage_answer *a, const struct texts *tres)
{
	struct buf used = BUF_INIT;
	bool any = false;

	for (size_t i = 0; i < a->n; i++) {
		buf_clear(&used);
		if (!print_used(&used, a, &a->totals[i], tres))
			continue;
		buf_adds(out, any ? ",\n{" : "\n{");
		any = true;
		print_total(out, &a->totals[i]);
		buf_printf(out, "\"used\":{%s}}", buf_str(&used));
	}
	buf_fini(&used);
}

int run_usage_get(struct request *req, struct err *err)
{
	struct usage_args *args = req->args;
	struct usage_query *q = &args->query;
	struct buf *out = &req->reply.body;
	struct usage_answer a;

	if (q->from == TIME_UNSET)
		q->from = midnight_of(req->now, args->zone != NULL ? args->zone : zone_utc());
	if (q->to == TIME_UNSET)
		q->to = req->now;
	if (group_from(&args->group, &q->by, err) < 0 ||
	    ops_usage(req->api->ops, &req->who, q, req->now, req->arena, &a, err) < 0)
		return -1;
	buf_adds(out, "{\"window\":{");
	print_time(out, "start", a.from, args->epoch);
	buf_addc(out, ',');
	print_time(out, "end", a.to, args->epoch);
	buf_adds(out, "},\"includes_running_jobs\":true,");
	print_time(out, "running_until", a.running_to, args->epoch);
	buf_adds(out, ",\"usage\":[");
	print_totals(out, &a, &args->tres);
	buf_adds(out, "\n]}\n");
	return 0;
}

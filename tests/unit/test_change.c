/* Changes of a row as an administrator says them, names as lists, and rows as JSON: what is taken,
 * what is refused by name, and what a row is afterwards. */
#include "unit.h"

#include "core/change.h"
#include "core/list.h"
#include "core/row_json.h"

static struct arena *arena;

static int setup(void **state UNUSED)
{
	arena = arena_new();
	return 0;
}

static int teardown(void **state UNUSED)
{
	arena_free(arena);
	return 0;
}

static int read_change(const char *json, enum entity_kind kind, struct change *ret,
		       struct err *err)
{
	struct jscan j;

	change_init(ret, &entities[kind]);
	*err = (struct err){ 0 };
	jscan_init(&j, json, strlen(json), arena, err);
	if (change_read(&j, ret, false, NULL, NULL, NULL) < 0)
		return -1;
	return jscan_done(&j);
}

/* What the row has of the key, as JSON, after the changes one by one. */
static const struct {
	enum entity_kind kind;
	const char *changes[3];
	const char *key, *want;
} cases[] = {
	{ ENTITY_ASSOC, { "{\"max_jobs\":5}" }, "max_jobs", "5" },
	{ ENTITY_ASSOC, { "{\"max_jobs\":\"5\"}" }, "max_jobs", "5" },
	{ ENTITY_ASSOC, { "{\"max_jobs\":5}", "{\"max_jobs\":0}" }, "max_jobs", "0" },
	{ ENTITY_ASSOC, { "{\"max_jobs\":5}", "{\"max_jobs\":-1}" }, "max_jobs", "null" },
	{ ENTITY_ASSOC, { "{\"max_jobs\":5}", "{\"max_jobs\":\"-1\"}" }, "max_jobs", "null" },
	{ ENTITY_ASSOC, { "{\"max_jobs\":5}", "{\"max_jobs\":null}" }, "max_jobs", "null" },
	{ ENTITY_ASSOC, { "{\"max_jobs\":5}", "{\"priority\":1}" }, "max_jobs", "5" },
	{ ENTITY_ASSOC, { "{\"shares\":\"parent\"}" }, "shares", "\"parent\"" },
	{ ENTITY_ASSOC, { "{\"shares\":\"12\"}" }, "shares", "12" },
	{ ENTITY_ASSOC, { "{\"max_wall_per_job\":\"1-00:00:00\"}" }, "max_wall_per_job", "1440" },
	{ ENTITY_ASSOC, { "{\"max_wall_per_job\":90}" }, "max_wall_per_job", "90" },
	{ ENTITY_ASSOC, { "{\"max_wall_per_job\":\"UNLIMITED\"}" }, "max_wall_per_job", "null" },
	{ ENTITY_ASSOC, { "{\"grp_tres\":\"cpu=8,mem=4G\"}" }, "grp_tres", "{\"cpu\":8,\"mem\":4096}" },
	{ ENTITY_ASSOC, { "{\"grp_tres\":{\"gres/gpu:rtx-6000\":2}}" }, "grp_tres",
	  "{\"gres/gpu:rtx-6000\":2}" },
	/* those that are not named stay */
	{ ENTITY_ASSOC, { "{\"grp_tres\":\"cpu=8,mem=1\"}", "{\"grp_tres\":\"cpu=9\"}" }, "grp_tres",
	  "{\"cpu\":9,\"mem\":1}" },
	{ ENTITY_ASSOC, { "{\"grp_tres\":\"cpu=8,mem=1\"}", "{\"grp_tres\":\"cpu=-1\"}" }, "grp_tres",
	  "{\"mem\":1}" },
	{ ENTITY_ASSOC, { "{\"grp_tres\":\"cpu=8\"}", "{\"grp_tres\":{\"cpu\":null}}" }, "grp_tres", "null" },
	{ ENTITY_ASSOC, { "{\"grp_tres\":{\"cpu\":8}}", "{\"grp_tres\":null}" }, "grp_tres", "null" },
	{ ENTITY_ASSOC, { "{\"qos\":[\"short\",\"high\"]}" }, "qos", "[\"high\",\"short\"]" },
	{ ENTITY_ASSOC, { "{\"qos\":\"short,high\"}", "{\"qos\":[\"-high\",\"+low\"]}" }, "qos",
	  "[\"low\",\"short\"]" },
	{ ENTITY_ASSOC, { "{\"qos\":\"+high\"}", "{\"qos\":\"+low,-high\"}" }, "qos",
	  "[\"+low\",\"-high\"]" },
	{ ENTITY_ASSOC, { "{\"qos\":\"+high\"}", "{\"qos\":\"low\"}" }, "qos", "[\"low\"]" },
	{ ENTITY_ASSOC, { "{\"qos\":\"high\"}", "{\"qos\":[]}" }, "qos", "null" },
	{ ENTITY_ASSOC, { "{\"default_qos\":\"high\"}", "{\"default_qos\":\"-1\"}" }, "default_qos", "null" },
	{ ENTITY_QOS, { "{\"flags\":[\"NoDecay\",\"DenyOnLimit\"]}" }, "flags",
	  "[\"DenyOnLimit\",\"NoDecay\"]" },
	{ ENTITY_QOS, { "{\"flags\":\"nodecay\"}", "{\"flags\":[\"+DenyOnLimit\",\"-NoDecay\"]}" }, "flags",
	  "[\"DenyOnLimit\"]" },
	{ ENTITY_QOS, { "{\"preempt\":\"a,b\"}", "{\"preempt\":\"+c,-a\"}" }, "preempt", "[\"b\",\"c\"]" },
	{ ENTITY_QOS, { "{\"usage_factor\":0.5}" }, "usage_factor", "0.5" },
	{ ENTITY_QOS, { "{\"usage_factor\":\"1.000000\"}" }, "usage_factor", "1" },
	{ ENTITY_QOS, { "{\"usage_factor\":2}" }, "usage_factor", "2" },
	{ ENTITY_QOS, { "{\"grace_time_s\":\"00:02:00\"}" }, "grace_time_s", "120" },
	{ ENTITY_USER, { "{\"admin_level\":\"operator\"}" }, "admin_level", "\"Operator\"" },
	{ ENTITY_ACCOUNT, { "{\"description\":\"50%_\\\\\"}" }, "description", "\"50%_\\\\\"" },
	{ ENTITY_ACCOUNT, { "{\"users_are_coordinators\":\"yes\"}" }, "users_are_coordinators", "true" },
};

static void changes_do_what_they_say(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const struct entity *e = &entities[cases[i].kind];
		void *row = arena_zalloc(arena, e->size);
		struct buf out = BUF_INIT;
		struct change *change = ARENA_NEW(arena, struct change);
		struct err err;
		uint64_t keys[HAS_WORDS] = { 0 };
		const struct row_style style = { .keys = keys };

		for (size_t k = 0; k < 3 && cases[i].changes[k] != NULL; k++) {
			if (read_change(cases[i].changes[k], cases[i].kind, change, &err) < 0)
				fail_msg("%s: %s: %s", cases[i].changes[k], err.where, err.text);
			change_apply(change, row, arena);
		}
		has_set(keys, (size_t)entity_field_find(e, cases[i].key, strlen(cases[i].key)));
		row_encode_json(&out, e, row, &style);
		const char *want = arena_printf(arena, "{\"%s\":%s}", cases[i].key, cases[i].want);
		assert_string_equal(buf_str(&out), want);
		buf_fini(&out);
	}
}

/* FC-018: a number with something behind it, a time that is none, a count with a unit it has not.
 */
static void what_is_wrong_is_refused_by_name(void **state UNUSED)
{
	static const struct {
		enum entity_kind kind;
		const char *json, *where, *text;
	} bad[] = {
		{ ENTITY_ASSOC, "{\"max_jobs\":\"10x\"}", "max_jobs", "10x" },
		{ ENTITY_ASSOC, "{\"max_jobs\":1.5}", "max_jobs", "whole" },
		{ ENTITY_ASSOC, "{\"max_jobs\":-2}", "max_jobs", "negative" },
		{ ENTITY_ASSOC, "{\"max_jobs\":\"\"}", "max_jobs", "whole" },
		{ ENTITY_ASSOC, "{\"max_wall_per_job\":\"1-0:0:0:0\"}", "max_wall_per_job", "1-0:0:0:0" },
		{ ENTITY_ASSOC, "{\"max_wall_per_job\":\"partition\"}", "max_wall_per_job", "" },
		{ ENTITY_ASSOC, "{\"grp_tres\":\"cpu=4k\"}", "grp_tres", "cpu=4k" },
		{ ENTITY_ASSOC, "{\"grp_tres\":\"cpu\"}", "grp_tres", "cpu" },
		{ ENTITY_ASSOC, "{\"grp_tres\":\"cpu=1,cpu=2\"}", "grp_tres", "twice" },
		{ ENTITY_ASSOC, "{\"grp_tres\":{\"cpu\":1.5}}", "grp_tres", "whole" },
		{ ENTITY_ASSOC, "{\"shares\":\"-3\"}", "shares", "parent" },
		{ ENTITY_ASSOC, "{\"qos\":\"+a,b\"}", "qos", "+ or -" },
		{ ENTITY_ASSOC, "{\"qos\":[\"a,b\"]}", "qos", "comma" },
		{ ENTITY_ASSOC, "{\"max_job\":1}", "max_job", "max_jobs" },
		{ ENTITY_ASSOC, "{\"lft\":1}", "lft", "kept" },
		{ ENTITY_ASSOC, "{\"max_jobs\":1,\"max_jobs\":2}", "max_jobs", "twice" },
		{ ENTITY_QOS, "{\"flags\":[\"Nothing\"]}", "flags", "NoDecay" },
		{ ENTITY_QOS, "{\"usage_factor\":-0.5}", "usage_factor", "negative" },
		{ ENTITY_QOS, "{\"usage_factor\":0.1234567}", "usage_factor", "decimals" },
		{ ENTITY_QOS, "{\"usage_factor\":\"1.\"}", "usage_factor", "decimals" },
		{ ENTITY_USER, "{\"admin_level\":\"king\"}", "admin_level", "Operator" },
		{ ENTITY_ACCOUNT, "{\"users_are_coordinators\":\"maybe\"}", "users_are_coordinators", "true" },
	};

	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct change *change = ARENA_NEW(arena, struct change);
		struct err err;

		if (read_change(bad[i].json, bad[i].kind, change, &err) == 0)
			fail_msg("%s was taken", bad[i].json);
		if (strcmp(err.where, bad[i].where) != 0 || strstr(err.text, bad[i].text) == NULL)
			fail_msg("%s: %s: %s", bad[i].json, err.where, err.text);
	}
}

static void lists_are_sets(void **state UNUSED)
{
	static const struct {
		const char *list, *changes, *want;
	} rows[] = {
		{ "b,a,b", "", "a,b" },	      { "a,b", "-a", "b" },   { "a,b", "+a,+c", "a,b,c" },
		{ "", "+x", "x" },	      { "a", "-a", "" },      { " b , a ", "-c", "a,b" },
		{ "ab,a", "-a", "ab" },
	};
	const char *list, *changes, *both;
	struct err err;

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_int_equal(list_parse(rows[i].list, arena, &list, &err), 0);
		assert_int_equal(list_parse(rows[i].changes, arena, &changes, &err), 0);
		assert_string_equal(list_apply(list, changes, arena), rows[i].want);
	}
	assert_int_equal(list_parse("a,,b", arena, &list, &err), -1);
	assert_int_equal(list_parse("a,", arena, &list, &err), -1);
	assert_int_equal(list_parse("+", arena, &list, &err), -1);
	/* One after the other is the same as both joined. */
	list_parse("a,b", arena, &list, NULL);
	list_parse("+c,-a", arena, &changes, NULL);
	both = list_join(changes, "+a,-b", arena);
	assert_string_equal(list_apply(list_apply(list, changes, arena), "+a,-b", arena),
			    list_apply(list, both, arena));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(changes_do_what_they_say, setup, teardown),
		cmocka_unit_test_setup_teardown(what_is_wrong_is_refused_by_name, setup, teardown),
		cmocka_unit_test_setup_teardown(lists_are_sets, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

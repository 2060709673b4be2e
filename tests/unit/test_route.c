/* Addresses: what fits which row, what is decoded, what is refused, and that the table is whole. */
#include "unit.h"

#include "api/route.h"

static struct arena *arena;

static int setup(void **state)
{
	(void)state;
	arena = arena_new();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	arena_free(arena);
	return 0;
}

static void addresses_find_their_row(void **state)
{
	static const struct {
		const char *method, *path, *name, *value;
	} rows[] = {
		{ "GET", "/healthz", "healthz", NULL },
		{ "HEAD", "/healthz", "healthz", NULL },
		{ "POST", "/v1/records", "records_post", NULL },
		{ "GET", "/v1/jobs", "jobs_list", NULL },
		{ "POST", "/v1/jobs/query", "jobs_query", NULL },
		{ "GET", "/v1/jobs/12", "job_get", "12" },
		{ "GET", "/v1/jobs/12_3", "job_get", "12_3" },
		{ "GET", "/v1/jobs/12+1", "job_get", "12+1" },
		{ "GET", "/v1/jobs/12%2B1", "job_get", "12+1" },
		{ "GET", "/v1/jobs/12_%5B1-4%5D", "job_get", "12_[1-4]" },
		{ "GET", "/v1/jobs/a%2Fb", "job_get", "a/b" }, /* a slash that is data */
		{ "GET", "/v1/jobs/query", "job_get", "query" },
		{ "GET", "/v1/jobs/12/why", "job_why", "12" },
		{ "PATCH", "/v1/jobs/12", "job_note", "12" },
		{ "POST", "/v1/quarantine/5/replay", "quarantine_replay", "5" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *values[ROUTE_VARIABLES] = { NULL };
		const struct route *route;
		struct err err = { 0 };
		if (route_find(rows[i].method, rows[i].path, strlen(rows[i].path), arena, &route,
			       values, &err) < 0)
			fail_msg("%s %s: %s", rows[i].method, rows[i].path, err.text);
		assert_string_equal(route->name, rows[i].name);
		if (rows[i].value != NULL)
			assert_string_equal(values[0], rows[i].value);
		else
			assert_null(values[0]);
	}
}

static void what_is_no_address(void **state)
{
	static const struct {
		const char *method, *path;
		enum err_code want;
		const char *says;
	} rows[] = {
		{ "GET", "", ERR_NOT_FOUND, "" },
		{ "GET", "/", ERR_NOT_FOUND, "" },
		{ "GET", "/v1/jobs/", ERR_NOT_FOUND, "" },
		{ "GET", "/v1/jobs//why", ERR_NOT_FOUND, "" },
		{ "GET", "/v1/jobs/1/", ERR_NOT_FOUND, "" },
		{ "GET", "/v1/jobs/1/2", ERR_NOT_FOUND, "" },
		{ "GET", "/V1/jobs", ERR_NOT_FOUND, "" },
		{ "GET", "v1/jobs", ERR_NOT_FOUND, "" },
		{ "GET", "/v1/jobs/%zz", ERR_INVALID, "%zz" },
		{ "GET", "/v1/jobs/%00", ERR_INVALID, "%00" },
		{ "GET", "/v1/records", ERR_METHOD, "takes POST" },
		{ "DELETE", "/v1/jobs/1", ERR_METHOD, "takes GET, PATCH" },
		{ "get", "/healthz", ERR_METHOD, "takes GET" },
		{ "HEAD", "/v1/records", ERR_METHOD, "takes POST" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		const char *values[ROUTE_VARIABLES] = { NULL };
		const struct route *route;
		struct err err = { 0 };
		assert_int_equal(route_find(rows[i].method, rows[i].path, strlen(rows[i].path),
					    arena, &route, values, &err),
				 -1);
		assert_int_equal(err.code, rows[i].want);
		if (strstr(err.text, rows[i].says) == NULL)
			fail_msg("%s %s: \"%s\"", rows[i].method, rows[i].path, err.text);
	}
}

static void the_table_is_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < n_routes; i++) {
		assert_non_null(routes[i].run);
		assert_non_null(routes[i].params);
		assert_true(routes[i].summary[0] != '\0');
		for (size_t k = 0; k < i; k++)
			assert_true(strcmp(routes[i].name, routes[k].name) != 0);
		for (size_t a = 0; a < routes[i].params->n; a++) {
			const struct param *p = &routes[i].params->params[a];
			assert_true(p->offset < routes[i].params->args_size);
			assert_true(p->doc[0] != '\0' && p->type->forms[0] != '\0');
			for (size_t b = 0; b < a; b++)
				assert_string_not_equal(p->name, routes[i].params->params[b].name);
		}
	}
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		TEST(addresses_find_their_row),
		TEST(what_is_no_address),
		TEST(the_table_is_whole),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

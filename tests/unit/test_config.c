/* The keys of tally.conf: what is taken, what is refused and how it is said. */
#include "unit.h"

#include "base/buf.h"
#include "config.h"
#include "ops/ops.h"

static struct config *parse(const char *text, struct err *err)
{
	return config_parse("tally.conf", text, strlen(text), err);
}

static void test_defaults(void **state UNUSED)
{
	struct config *c = parse("", NULL);

	assert_non_null(c);
	assert_string_equal(c->state_dir, "/var/lib/tally");
	assert_string_equal(c->http_addr[0], "127.0.0.1:6820");
	assert_null(c->http_addr[1]);
	assert_null(c->munge_socket);
	assert_null(c->storage_host);
	assert_false(c->anonymous_reads);
	assert_true(c->register_clusters);
	assert_int_equal(c->max_query_range_s, 0);
	assert_int_equal(c->log_level, LOG_INFO);
	config_free(c);
}

static void test_values(void **state UNUSED)
{
	struct config *c = parse("httpaddr=0.0.0.0:1,[::1]:2\nHTTPSOCKET=none\n"
				 "AuthInfo=socket=/run/m.sock,ttl=60\nPrivateData=Jobs,usage\n"
				 "MaxQueryTimeRange=1-00:00:00 MaxBodySize=2m\nDebugLevel=debug3\n"
				 "AllowAnonymousReads=YES LogFormat=json\n",
				 NULL);

	assert_non_null(c);
	assert_string_equal(c->http_addr[1], "[::1]:2");
	assert_string_equal(c->http_socket, "none");
	assert_string_equal(c->munge_socket, "/run/m.sock");
	assert_int_equal(c->private_data, PRIVATE_JOBS | PRIVATE_USAGE);
	assert_int_equal(c->max_query_range_s, 86400);
	assert_int_equal(c->max_body_bytes, 2 << 20);
	assert_int_equal(c->log_level, LOG_DEBUG);
	assert_int_equal(c->log_format, LOG_JSON);
	assert_true(c->anonymous_reads);
	config_free(c);
}

static const struct {
	const char *in;
	const char *where, *says; /* parts of the error */
} wrong[] = {
	{ "\nLogFiel=/x", "tally.conf:2", "did you mean LogFile" },
	{ "StorgeHost=x", "tally.conf:1", "did you mean StorageHost" },
	{ "Xyzzy=1", "tally.conf:1", "there is no key \"Xyzzy\"" },
	{ "LogFile=relative", "tally.conf:1", "an absolute path" },
	{ "AllowAnonymousReads=maybe", "tally.conf:1", "yes or no" },
	{ "StoragePort=0", "tally.conf:1", "from 1 to 65535" },
	{ "StoragePort=5432x", "tally.conf:1", "from 1 to 65535" },
	{ "MaxBodySize=1Q", "tally.conf:1", "not a size from 1024" },
	{ "MaxBodySize=99999999999999999999", "tally.conf:1", "not a size" },
	{ "MaxBodySize=9999999999T", "tally.conf:1", "not a size" },
	{ "DebugLevel=loud", "tally.conf:1", "quiet, fatal, error" },
	{ "PrivateData=jobs,cats", "tally.conf:1", "\"cats\" is not one of accounts" },
	{ "AuthInfo=sokcet=/x", "tally.conf:1", "socket=PATH" },
	{ "MaxQueryTimeRange=soon", "tally.conf:1", "INFINITE" },
	{ "MaxQueryTimeRange=0", "tally.conf:1", "INFINITE" },
	{ "StorageType=accounting_storage/mysql", "tally.conf:1", "PostgreSQL" },
	{ "Include /x", "tally.conf:1", "Include" },
};

static void test_wrong(void **state UNUSED)
{
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct err err = { 0 };

		assert_null(parse(wrong[i].in, &err));
		assert_string_equal(err.where, wrong[i].where);
		if (strstr(err.text, wrong[i].says) == NULL)
			fail_msg("%s: \"%s\" does not say \"%s\"", wrong[i].in, err.text,
				 wrong[i].says);
	}
}

static void note(const char *key, bool reloadable, void *arg)
{
	buf_printf(arg, "%s%s ", key, reloadable ? "" : "!");
}

static void test_compare(void **state UNUSED)
{
	struct config *a = parse("DebugLevel=info\nHttpAddr=127.0.0.1:1\nCommitDelay=1", NULL);
	struct config *b = parse("DebugLevel=debug\nPrivateData=jobs\nCommitDelay=2", NULL);
	struct buf out = BUF_INIT;

	config_compare(a, b, note, &out);
	assert_string_equal(buf_str(&out), "HttpAddr! PrivateData DebugLevel ");
	buf_clear(&out);
	config_compare(a, a, note, &out);
	assert_string_equal(buf_str(&out), "");
	buf_fini(&out);
	config_free(a);
	config_free(b);
}

static void test_dsn(void **state UNUSED)
{
	static const struct {
		const char *in, *dsn;
	} rows[] = {
		{ "", NULL },
		{ "StorageHost=db", "host='db' port='5432' user='tally' dbname='tally'" },
		{ "StorageHost=db StorageUser=u StorageLoc=acct StoragePort=7 StoragePass=\"a' "
		  "\\b\"",
		  "host='db' port='7' user='u' dbname='acct' password='a\\' \\\\b'" },
		{ "StorageHost=a StorageBackupHost=b",
		  "host='a,b' target_session_attrs='read-write' port='5432' user='tally' "
		  "dbname='tally'" },
		{ "StorageDSN=\"service=tally\"", "service=tally" },
	};

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct config *c = parse(rows[i].in, NULL);
		const char *dsn = NULL;

		assert_int_equal(config_dsn(c, &dsn, NULL), 0);
		if (rows[i].dsn == NULL)
			assert_null(dsn);
		else
			assert_string_equal(dsn, rows[i].dsn);
		config_free(c);
	}
}

static void test_password_script(void **state UNUSED)
{
	struct config *c = parse("StorageHost=db StoragePassScript=/bin/pwd", NULL);
	const char *dsn = NULL;
	struct err err = { 0 };

	assert_int_equal(config_dsn(c, &dsn, &err), 0);
	assert_non_null(strstr(dsn, "password='/'"));
	config_free(c);
	c = parse("StorageHost=db StoragePassScript=/bin/false", NULL);
	assert_int_equal(config_dsn(c, &dsn, &err), -1);
	assert_non_null(strstr(err.text, "StoragePassScript"));
	config_free(c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_defaults), cmocka_unit_test(test_values),
		cmocka_unit_test(test_wrong),	 cmocka_unit_test(test_compare),
		cmocka_unit_test(test_dsn),	 cmocka_unit_test(test_password_script),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

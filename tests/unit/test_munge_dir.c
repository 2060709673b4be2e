/* munge's rules for directories, judged before munged does. */
#include "unit.h"

#include <sys/stat.h>
#include <unistd.h>

#include "auth/private_munged.h"

static char base[] = "/tmp/tally-munge-XXXXXX";

static const struct {
	mode_t parent, dir;
	enum munge_dir_use use;
	bool good;
	const char *says; /* of the mending */
} rows[] = {
	{ 0755, 0755, MUNGE_DIR_SOCKET, true, NULL },
	{ 0711, 0711, MUNGE_DIR_SOCKET, true, NULL },
	{ 0755, 0700, MUNGE_DIR_PRIVATE, true, NULL },
	{ 0700, 0700, MUNGE_DIR_PRIVATE, true, NULL },
	{ 0755, 0700, MUNGE_DIR_SOCKET, false, "chmod a+x" },
	{ 0700, 0755, MUNGE_DIR_SOCKET, false, "chmod a+x" },
	{ 0755, 0775, MUNGE_DIR_PRIVATE, false, "chmod go-w" },
	{ 0777, 0700, MUNGE_DIR_PRIVATE, false, "chmod go-w" },
	{ 01777, 0700, MUNGE_DIR_PRIVATE, true, NULL },
	{ 01777, 0755, MUNGE_DIR_SOCKET, true, NULL },
};

static void test_rules(void **state UNUSED)
{
	char dir[64];

	snprintf(dir, sizeof(dir), "%s/d", base);
	assert_int_equal(mkdir(dir, 0755), 0);
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct err err = { 0 };
		int rc;

		assert_int_equal(chmod(base, rows[i].parent), 0);
		assert_int_equal(chmod(dir, rows[i].dir), 0);
		rc = munge_dir_check(dir, rows[i].use, &err);
		if (rows[i].good != (rc == 0))
			fail_msg("row %zu: %s", i, err.text);
		if (rc < 0 && strstr(err.text, rows[i].says) == NULL)
			fail_msg("row %zu does not say %s: %s", i, rows[i].says, err.text);
	}
	chmod(base, 0755);
	rmdir(dir);
}

static void test_what_is_not_there(void **state UNUSED)
{
	struct err err = { 0 };

	assert_int_equal(munge_dir_check("/no/such/dir", MUNGE_DIR_PRIVATE, &err), -1);
	assert_int_equal(munge_dir_check("/dev/null", MUNGE_DIR_PRIVATE, &err), -1);
	assert_int_equal(munge_dir_check("/", MUNGE_DIR_SOCKET, &err), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_what_is_not_there),
	};

	if (mkdtemp(base) == NULL)
		return 1;
	int rc = cmocka_run_group_tests(tests, NULL, NULL);
	rmdir(base);
	return rc;
}

/* Who a caller is, what that allows, and how a refusal is told. */
#include "unit.h"

#include "api/problem.h"
#include "ops/ops.h"

enum who { NOBODY, USER, SLURM_USER, STARTER, ROOT, WHOS };

static const struct identity callers[WHOS] = {
	[NOBODY] = { .proof = PROOF_NONE, .uid = -1 },
	[USER] = { .proof = PROOF_MUNGE, .uid = 54321 },
	[SLURM_USER] = { .proof = PROOF_MUNGE, .uid = 64030 },
	[STARTER] = { .proof = PROOF_PEER, .uid = 64031 },
	[ROOT] = { .proof = PROOF_PEER, .uid = 0 },
};

static struct ops ops_with(bool anonymous)
{
	return (struct ops){ .settings = { .anonymous_reads = anonymous,
					   .slurm_user_uid = 64030,
					   .started_by_uid = 64031 } };
}

static void identities(void **state)
{
	struct ops ops = ops_with(false);

	(void)state;
	for (size_t i = 0; i < WHOS; i++) {
		struct identity who = callers[i];
		/* What a door left in it counts for nothing. */
		who.role = ROLE_ADMIN;
		who.controller = true;
		snprintf(who.user, sizeof(who.user), "root");
		ops_identify(&ops, &who);
		assert_int_equal(who.controller, i >= SLURM_USER);
		assert_int_equal(who.role, i == NOBODY ? ROLE_ANONYMOUS
					   : i == USER ? ROLE_USER
						       : ROLE_ADMIN);
		assert_string_equal(who.user, i == ROOT ? "root" : "");
	}
}

static void rights(void **state)
{
	static const struct {
		enum right right;
		bool anonymous;
		enum err_code want[WHOS];
	} rows[] = {
		{ RIGHT_PUBLIC, false, { ERR_OK, ERR_OK, ERR_OK, ERR_OK, ERR_OK } },
		{ RIGHT_READ, false, { ERR_UNAUTH, ERR_OK, ERR_OK, ERR_OK, ERR_OK } },
		{ RIGHT_READ, true, { ERR_OK, ERR_OK, ERR_OK, ERR_OK, ERR_OK } },
		{ RIGHT_RECORDS, false, { ERR_UNAUTH, ERR_DENIED, ERR_OK, ERR_OK, ERR_OK } },
		{ RIGHT_RECORDS, true, { ERR_UNAUTH, ERR_DENIED, ERR_OK, ERR_OK, ERR_OK } },
		{ RIGHT_NOTES, true, { ERR_UNAUTH, ERR_OK, ERR_OK, ERR_OK, ERR_OK } },
		{ RIGHT_ADMIN, true, { ERR_UNAUTH, ERR_DENIED, ERR_OK, ERR_OK, ERR_OK } },
	};

	(void)state;
	for (size_t r = 0; r < ARRAY_LEN(rows); r++) {
		struct ops ops = ops_with(rows[r].anonymous);
		for (size_t i = 0; i < WHOS; i++) {
			struct identity who = callers[i];
			struct err err = { 0 };
			ops_identify(&ops, &who);
			int rc = ops_may(&ops, &who, rows[r].right, &err);
			assert_int_equal(rc, rows[r].want[i] == ERR_OK ? 0 : -1);
			assert_int_equal(err.code, rows[r].want[i]);
		}
	}
}

static void problems_are_json_whatever_is_in_them(void **state)
{
	struct buf out = BUF_INIT;
	struct err err;

	(void)state;
	err_set(&err, ERR_NOT_FOUND, "na\"me", "no \"%s\"\n", "x\x01");
	problem_print(&err, "1f", &out);
	assert_string_equal(
		buf_str(&out),
		"{\"type\":\"urn:tally:problem:not-found\",\"title\":\"not found\","
		"\"status\":404,\"detail\":\"no \\\"x\\u0001\\\"\\n\",\"field\":\"na\\\"me\","
		"\"hint\":\"check the name or the number\",\"request\":\"1f\"}");
	buf_clear(&out);
	err_set(&err, ERR_GONE, NULL, "away");
	problem_print(&err, "", &out);
	assert_null(strstr(buf_str(&out), "\"field\""));
	assert_null(strstr(buf_str(&out), "\"hint\""));
	buf_fini(&out);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(identities),
		cmocka_unit_test(rights),
		cmocka_unit_test(problems_are_json_whatever_is_in_them),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

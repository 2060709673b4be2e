/* The scanner and the cutter, by tables, and the scanner against jansson on documents that are
 * right, nearly right and wrong. */
#include "core/json.h"

#include <jansson.h>
#include <setjmp.h>
#include <cmocka.h>

#define BIG UINT64_MAX

static void numbers(void **state)
{
	static const struct {
		const char *in;
		struct jnumber want;
		bool ok;
	} rows[] = {
		{ "0", { 0, false, false, false }, true },
		{ "-0", { 0, true, false, false }, true },
		{ "4294967293", { 4294967293u, false, false, false }, true },
		{ "18446744073709551614", { 18446744073709551614u, false, false, false }, true },
		{ "18446744073709551615", { BIG, false, false, false }, true },
		{ "18446744073709551616", { BIG, false, false, true }, true },
		{ "-9223372036854775808", { 9223372036854775808u, true, false, false }, true },
		{ "1.5", { 1, false, true, false }, true },
		{ "1.50e1", { 15, false, false, false }, true },
		{ "17e8", { 1700000000, false, false, false }, true },
		{ "1E+2", { 100, false, false, false }, true },
		{ "1200e-2", { 12, false, false, false }, true },
		{ "1e-400", { 0, false, true, false }, true },
		{ "0e999999999999", { 0, false, false, false }, true },
		{ "1e400", { BIG, false, false, true }, true },
		{ "18446744073709551629e-1", { 1844674407370955162u, false, true, false }, true },
		{ "0.1000000000000000055511151231257827", { 0, false, true, false }, true },
		{ "123456789012345678901234567890e-20", { 1234567890, false, true, false }, true },
		{ "100000000000000000000000e-20", { 1000, false, false, false }, true },
		{ "01", { 0 }, false },
		{ "-", { 0 }, false },
		{ "1.", { 0 }, false },
		{ ".5", { 0 }, false },
		{ "+1", { 0 }, false },
		{ "1e", { 0 }, false },
		{ "1e+", { 0 }, false },
		{ "0x10", { 0 }, false },
		{ "NaN", { 0 }, false },
		{ "Infinity", { 0 }, false },
		{ "-Infinity", { 0 }, false },
		{ "", { 0 }, false },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jscan j;
		struct err err = { 0 };
		struct jnumber n = { 0 };
		jscan_init(&j, rows[i].in, strlen(rows[i].in), NULL, &err);
		bool ok = jscan_number(&j, &n) == 0 && jscan_done(&j) == 0;
		if (ok != rows[i].ok)
			fail_msg("%s: %s", rows[i].in, ok ? "taken" : err.text);
		if (!ok)
			continue;
		if (n.magnitude != rows[i].want.magnitude || n.negative != rows[i].want.negative ||
		    n.fraction != rows[i].want.fraction || n.big != rows[i].want.big)
			fail_msg("%s: %" PRIu64 " negative %d fraction %d big %d", rows[i].in,
				 n.magnitude, n.negative, n.fraction, n.big);
	}
}

static void integers(void **state)
{
	static const struct {
		const char *in;
		int64_t want;
		const char *refused; /* words of the message */
	} rows[] = {
		{ "9223372036854775807", INT64_MAX, NULL },
		{ "-9223372036854775808", INT64_MIN, NULL },
		{ "9223372036854775808", 0, "9223372036854775808 is beyond 64 bits" },
		{ "-9223372036854775809", 0, "beyond 64 bits" },
		{ "2.0", 2, NULL },
		{ "2.25", 0, "2.25 is not a whole number" },
		{ "\"2\"", 0, "must be a number, not a string" },
		{ "null", 0, "must be a number, not null" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jscan j;
		struct err err = { 0 };
		int64_t v = 0;
		jscan_init(&j, rows[i].in, strlen(rows[i].in), NULL, &err);
		j.where = "priority";
		int rc = jscan_i64(&j, &v);
		assert_int_equal(rc, rows[i].refused != NULL ? -1 : 0);
		if (rc < 0) {
			assert_string_equal(err.where, "priority");
			if (strstr(err.text, rows[i].refused) == NULL)
				fail_msg("%s: %s", rows[i].in, err.text);
		} else {
			assert_int_equal(v, rows[i].want);
		}
	}
}

static void strings(void **state)
{
	static const struct {
		const char *in;
		const char *want; /* NULL: refused */
	} rows[] = {
		{ "\"\"", "" },
		{ "\"plain\"", "plain" },
		{ "\"longer than eight bytes, | and % and 'quotes'\"",
		  "longer than eight bytes, | and % and 'quotes'" },
		{ "\"a\\\"b\\\\c\\/d\\b\\f\\n\\r\\t\"", "a\"b\\c/d\b\f\n\r\t" },
		{ "\"DOM\\\\ann\"", "DOM\\ann" },
		{ "\"d\\u00e9d\\u00E9 job\"", "d\xc3\xa9"
					      "d\xc3\xa9 job" },
		{ "\"\\u20ac\"", "\xe2\x82\xac" },
		{ "\"\\ud83d\\ude00\"", "\xf0\x9f\x98\x80" },
		{ "\"\\udcff\"", "\xed\xb3\xbf" },
		{ "\"\\ud83dx\"", "\xed\xa0\xbdx" },
		{ "\"a\\u0000b\"", "a\xc0\x80"
				   "b" },
		{ "\"job\xff\xfe\"", "job\xff\xfe" },
		{ "\"\x7f\"", "\x7f" },
		{ "\"\\u12g4\"", NULL },
		{ "\"\\u12\"", NULL },
		{ "\"\\x41\"", NULL },
		{ "\"open", NULL },
		{ "\"open\\", NULL },
		{ "\"open\\\"", NULL },
		{ "\"line\nbreak\"", NULL },
		{ "\"seven77\tcontrol in the second word\"", NULL },
		{ "'single'", NULL },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jscan j;
		struct jtext t;
		struct err err = { 0 };
		jscan_init(&j, rows[i].in, strlen(rows[i].in), a, &err);
		const char *s = jscan_string(&j);
		if (s != NULL && jscan_done(&j) < 0)
			s = NULL;
		if ((s == NULL) != (rows[i].want == NULL))
			fail_msg("%s: %s", rows[i].in, s != NULL ? s : err.text);
		if (s == NULL)
			continue;
		assert_string_equal(s, rows[i].want);
		jscan_init(&j, rows[i].in, strlen(rows[i].in), a, &err);
		assert_int_equal(jscan_text(&j, &t), 0);
		assert_true(jtext_is(t, rows[i].want));
	}
	arena_free(a);
}

/* Every failure says where, and nothing follows the first one. */
static void failures(void **state)
{
	static const struct {
		const char *in;
		const char *says;
	} rows[] = {
		{ "{\"a\":1,}", "'}' stands where a key in quotes should (byte 8 of the record)" },
		{ "{\"a\" 1}", "'1' stands where a colon should (byte 6" },
		{ "{\"a\":1 \"b\":2}", "'\"' stands where a comma or } should" },
		{ "{a:1}", "'a' stands where a key in quotes should" },
		{ "[1,]", "']' stands where a value should" },
		{ "[1 2]", "'2' stands where a comma or ] should" },
		{ "[1", "the JSON ends where a comma or ] should stand" },
		{ "{\"a\":tru}", "stands where null, true, false" },
		{ "{\"a\":}", "'}' stands where a value should" },
		{ "[]x", "'x' stands where the end should" },
		{ "\x01", "byte 0x01 stands where a value should" },
		{ "", "the JSON ends where a value should stand" },
		{ "// no", "'/' stands where a value should" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jscan j;
		struct err err = { 0 };
		jscan_init(&j, rows[i].in, strlen(rows[i].in), a, &err);
		assert_true(jscan_skip(&j) < 0 || jscan_done(&j) < 0);
		assert_int_equal(err.code, ERR_INVALID);
		if (strstr(err.text, rows[i].says) == NULL)
			fail_msg("%s: %s", rows[i].in, err.text);
		struct err first = err;
		assert_int_equal(jscan_skip(&j), -1);
		assert_int_equal(jscan_done(&j), -1);
		assert_string_equal(err.text, first.text);
	}
	arena_free(a);
}

static void depth(void **state)
{
	char text[2 * JSCAN_DEPTH + 8];
	struct arena *a = arena_new();

	(void)state;
	for (size_t n = JSCAN_DEPTH - 1; n <= JSCAN_DEPTH + 1; n++) {
		struct jscan j;
		struct err err = { 0 };
		memset(text, '[', n);
		memset(text + n, ']', n);
		jscan_init(&j, text, 2 * n, a, &err);
		assert_int_equal(jscan_skip(&j), n <= JSCAN_DEPTH ? 0 : -1);
	}
	arena_free(a);
}

/* The same document in both: the same value, or refused by both. */
static void same_value(struct jscan *j, const json_t *want)
{
	struct jtext text;
	struct jnumber number;
	size_t n = 0;
	bool b;

	switch (jscan_peek(j)) {
	case JSCAN_NULL:
		assert_int_equal(jscan_null(j), 0);
		assert_true(json_is_null(want));
		break;
	case JSCAN_BOOL:
		assert_int_equal(jscan_bool(j, &b), 0);
		assert_true(json_is_boolean(want) && json_is_true(want) == b);
		break;
	case JSCAN_NUMBER:
		assert_int_equal(jscan_number(j, &number), 0);
		if (json_is_integer(want)) {
			json_int_t v = json_integer_value(want);
			assert_false(number.fraction || number.big);
			assert_int_equal(number.magnitude, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
		} else {
			double v = json_real_value(want), whole = (double)number.magnitude;
			v = v < 0 ? -v : v;
			assert_true(number.big ||
				    (v >= whole * (1 - 1e-12) && v <= (whole + 1) * (1 + 1e-12)));
		}
		break;
	case JSCAN_STRING:
		assert_int_equal(jscan_text(j, &text), 0);
		assert_int_equal(text.n, json_string_length(want));
		assert_memory_equal(text.p, json_string_value(want), text.n);
		break;
	case JSCAN_ARRAY:
		assert_int_equal(jscan_enter(j, JSCAN_ARRAY), 0);
		for (; jscan_element(j); n++)
			same_value(j, json_array_get(want, n));
		assert_int_equal(n, json_array_size(want));
		break;
	case JSCAN_OBJECT:
		assert_int_equal(jscan_enter(j, JSCAN_OBJECT), 0);
		while (jscan_member(j, &text)) {
			json_t *member = json_object_getn(want, text.p, text.n);
			assert_non_null(member);
			same_value(j, member);
			n++;
		}
		assert_int_equal(n, json_object_size(want));
		break;
	case JSCAN_BAD: fail_msg("no value"); break;
	}
}

static void compare(struct arena *a, const char *doc, size_t n)
{
	struct jscan j;
	struct err err = { 0 };
	json_error_t their;
	json_t *want = json_loadb(doc, n, JSON_DECODE_ANY | JSON_REJECT_DUPLICATES, &their);

	arena_reset(a);
	jscan_init(&j, doc, n, a, &err);
	bool ok = jscan_skip(&j) == 0 && jscan_done(&j) == 0;
	/* What json.h says we take and jansson does not. */
	enum json_error_code code = want != NULL ? json_error_unknown : json_error_code(&their);
	bool ours = code == json_error_numeric_overflow || code == json_error_duplicate_key;
	if (!ours && ok != (want != NULL))
		fail_msg("%.*s\nwe: %s\njansson: %s", (int)n, doc, ok ? "ok" : err.text,
			 want != NULL ? "ok" : their.text);
	if (want != NULL) {
		jscan_init(&j, doc, n, a, &err);
		same_value(&j, want);
	}
	json_decref(want);
}

static uint64_t next_random(uint64_t *s)
{
	*s ^= *s << 13;
	*s ^= *s >> 7;
	*s ^= *s << 17;
	return *s;
}

static void put_value(char **to, uint64_t *seed, int deep)
{
	static const char *const plain[] = { "null",
					     "true",
					     "false",
					     "0",
					     "-17",
					     "1.25",
					     "3e2",
					     "1700000000",
					     "\"\"",
					     "\"name\"",
					     "\"a\\\"b\\\\\"",
					     "\"\\n\\t\\/ \\b\"",
					     "\"eight byte strings\"" };
	uint64_t r = next_random(seed) % 10;

	if (deep > 3 || r < 5) {
		*to = stpcpy(*to, plain[next_random(seed) % ARRAY_LEN(plain)]);
		return;
	}
	int n = (int)(next_random(seed) % 4);
	*(*to)++ = r < 7 ? '[' : '{';
	for (int i = 0; i < n; i++) {
		*to = stpcpy(*to, i > 0 ? ", " : " ");
		if (r >= 7) {
			*to += snprintf(*to, 16, "\"k%d\":", i);
		}
		put_value(to, seed, deep + 1);
	}
	*(*to)++ = r < 7 ? ']' : '}';
}

static void against_jansson(void **state)
{
	static const char bytes[] = "{}[],:\"\\ntrueflas0123456789.-+eE b/\t\n\r'";
	struct arena *a = arena_new();
	uint64_t seed = 20251102;
	static char doc[65536];

	(void)state;
	for (int i = 0; i < 20000; i++) {
		char *end = doc;
		put_value(&end, &seed, 0);
		size_t n = (size_t)(end - doc);
		compare(a, doc, n);
		for (int m = (int)(next_random(&seed) % 3); m >= 0; m--) {
			doc[next_random(&seed) % n] =
				bytes[next_random(&seed) % (sizeof(bytes) - 1)];
			compare(a, doc, n);
		}
		compare(a, doc, next_random(&seed) % n);
	}
	arena_free(a);
}

static void cuts(void **state)
{
	static const struct {
		const char *body;
		bool lines;
		const char *parts; /* joined by | */
		const char *fails; /* where, and words of the text; NULL: to its end */
	} rows[] = {
		{ "", false, "", NULL },
		{ " \n ", false, "", NULL },
		{ "[]", false, "", NULL },
		{ " [ ] ", false, "", NULL },
		{ "[{\"a\":1},{\"b\":[2,{\"c\":\"]}\\\"\"}]}]", false,
		  "{\"a\":1}|{\"b\":[2,{\"c\":\"]}\\\"\"}]}", NULL },
		{ "[{\"a\":tru},{\"b\":1}]", false, "{\"a\":tru}|{\"b\":1}", NULL },
		{ "[1,\"x,]\",null]", false, "1|\"x,]\"|null", NULL },
		{ "{\"a\":1}", false, "{\"a\":1}", NULL },
		{ "{\"a\":1}\n", false, "{\"a\":1}", NULL },
		{ "\xef\xbb\xbf{\"a\":1}", false, "{\"a\":1}", NULL },
		{ "{\n\"a\":1\n}\n", false, "{\n\"a\":1\n}", NULL },
		{ "{\n\"a\":1\n}\n{\"b\":2} {\"c\":3}", false, "{\n\"a\":1\n}|{\"b\":2}|{\"c\":3}",
		  NULL },
		{ "{\"a\":1}\n\n{\"b\":\n{\"c\":3}\r\n", false, "{\"a\":1}|{\"b\":|{\"c\":3}\r",
		  NULL },
		{ "{\"a\":\n{\"b\":2}\n", true, "{\"a\":|{\"b\":2}", NULL },
		{ "[{\"a\":1}", false, "{\"a\":1}", "record 1: the array is not closed" },
		{ "[{\"a\":1},", false, "{\"a\":1}", "record 1: the array is not closed" },
		{ "[{\"a\":1},]", false, "{\"a\":1}", "record 1: a record is missing" },
		{ "[{\"a\":1},{\"b\":", false, "{\"a\":1}", "record 1: the body ends inside it" },
		{ "[{\"a\":1},{\"b\":\"x\n},{}]", false, "{\"a\":1}", "record 1: a string in it" },
		{ "[{\"a\":[1}},{}]", false, "", "record 0: its brackets do not match" },
		{ "[{} {}]", false, "{}", "record 1: no comma" },
		{ "[{}] {}", false, "{}", "record 1: something follows" },
		{ "{\"a\":\n[1,2", false, "", "record 0: the body ends inside it" },
		{ "{\n} x", false, "{\n}", "record 1: no JSON object" },
		{ "hello", false, "", "record 0: no JSON object" },
		{ "[\"open", false, "", "record 0: a string is not closed" },
	};

	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct jcut c;
		struct jtext t;
		struct err err = { 0 };
		char got[256] = "", failed[256] = "";
		size_t at = 0;
		int rc;
		jcut_init(&c, rows[i].body, strlen(rows[i].body), rows[i].lines);
		while ((rc = jcut_next(&c, &t, &err)) > 0)
			at += (size_t)snprintf(got + at, sizeof(got) - at, "%s%.*s",
					       at > 0 ? "|" : "", (int)t.n, t.p);
		assert_string_equal(got, rows[i].parts);
		if (rc < 0)
			snprintf(failed, sizeof(failed), "%s: %.100s", err.where, err.text);
		if ((rc < 0) != (rows[i].fails != NULL) ||
		    (rc < 0 && strncmp(failed, rows[i].fails, strlen(rows[i].fails)) != 0))
			fail_msg("%s: \"%s\"", rows[i].body, failed);
		assert_int_equal(jcut_next(&c, &t, &err), 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers), cmocka_unit_test(integers),
		cmocka_unit_test(strings), cmocka_unit_test(failures),
		cmocka_unit_test(depth),   cmocka_unit_test(against_jansson),
		cmocka_unit_test(cuts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

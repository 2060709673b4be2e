/* States, exit statuses, flags: what is taken is printed and taken again as the same. */
#include "fuzz.h"

#include "base/buf.h"
#include "base/num.h"
#include "core/exit.h"
#include "core/state.h"
#include "core/words.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = fuzz_string(data, size);
	char out[EXIT_TEXT_SIZE], number[32];
	int64_t v, again, uid;
	uint64_t u;
	struct err err;

	if (state_parse(text, &v, &uid, &err) == 0)
		CHECK(state_is_known(v) && state_parse(state_name(v), &again, NULL, &err) == 0 &&
		      again == v && (uid == -1 || v == STATE_CANCELLED));
	if (exit_parse(text, &v, &err) == 0) {
		exit_format(v, out);
		CHECK(exit_parse(out, &again, &err) == 0 && again == v);
	}
	if (words_parse(&job_flag_words, text, &v, &err) == 0) {
		struct buf b = BUF_INIT;
		words_format(&job_flag_words, v, &b);
		CHECK(words_parse(&job_flag_words, buf_str(&b), &again, &err) == 0 && again == v);
		buf_fini(&b);
	}
	if (num_parse(text, &v) == 0) {
		snprintf(number, sizeof(number), "%" PRId64, v);
		CHECK(num_parse(number, &again) == 0 && again == v);
	}
	if (num_parse_u64(text, &u) == 0)
		CHECK(strspn(text, "0123456789") == strlen(text));
	free(text);
	return 0;
}

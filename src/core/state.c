#include "core/state.h"

#include "base/num.h"

#include <strings.h>

const struct state_row state_rows[STATE_COUNT] = {
#define S(name, number, abbr, ended) { number, #name, abbr, ended },
#include "core/state.def"
#undef S
};

#define S(name, number, abbr, ended) " " abbr "=" #name
static const char valid_states[] =
#include "core/state.def"
	;
#undef S

static const struct state_row *row_find(int64_t state)
{
	for (size_t i = 0; i < STATE_COUNT; i++)
		if (state_rows[i].number == state)
			return &state_rows[i];
	return NULL;
}

const char *state_name(int64_t state)
{
	const struct state_row *row = row_find(state);

	return row != NULL ? row->name : NULL;
}

const char *state_short(int64_t state)
{
	const struct state_row *row = row_find(state);

	return row != NULL ? row->abbr : NULL;
}

bool state_is_known(int64_t state)
{
	return row_find(state) != NULL;
}

bool state_is_end(int64_t state)
{
	const struct state_row *row = row_find(state);

	return row != NULL && row->ended;
}

static const struct state_row *row_named(const char *text)
{
	for (size_t i = 0; i < STATE_COUNT; i++)
		if (strcasecmp(state_rows[i].name, text) == 0 ||
		    strcasecmp(state_rows[i].abbr, text) == 0)
			return &state_rows[i];
	return NULL;
}

/* "CANCELLED by UID": the uid, or -1. */
static int64_t cancelled_by(const char *text)
{
	static const char head[] = "CANCELLED by ";
	int64_t uid;

	if (strncasecmp(text, head, sizeof(head) - 1) != 0 ||
	    num_parse(text + sizeof(head) - 1, &uid) < 0 || uid < 0)
		return -1;
	return uid;
}

int state_parse(const char *text, int64_t *ret_state, int64_t *ret_uid, struct err *err)
{
	int64_t uid = cancelled_by(text);
	const struct state_row *row = row_named(uid >= 0 ? "CANCELLED" : text);

	if (row == NULL)
		return err_set(err, ERR_INVALID, "state", "unknown state \"%.64s\"; valid are%s",
			       text, valid_states);
	*ret_state = row->number;
	if (ret_uid != NULL)
		*ret_uid = uid;
	return 0;
}

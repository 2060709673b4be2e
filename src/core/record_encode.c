/* core/record_encode.c: rows as JSON.
 *
 * A month of jobs leaves through here, some fifty keys a row, so a row is written with one check
 * for room per value and its keys come ready made: ",\"name\":null" serves both as the key and,
 * whole, as the value that is not known.  The first comma becomes the opening brace. */
#include "core/record_json.h"

#include "core/exit.h"
#include "core/list.h"
#include "core/moments.h"
#include "core/state.h"
#include "core/timespec.h"
#include "core/tres.h"
#include "core/where.h"
#include "core/words.h"

/* Texts of a fixed size, so that copying one is a few moves and no call. */
#define PIECE_SIZE 62
#define PIECE_HALF 32

struct piece {
	char text[PIECE_SIZE];
	uint8_t key; /* bytes of it up to the value */
	uint8_t all; /* with null; an exit status has a second key with a null behind it */
};

#define LEN(text) (sizeof(text) - 1)
#define PIECE(json)                                                                                \
	{                                                                                          \
		",\"" json "\":null", LEN(",\"" json "\":"), LEN(",\"" json "\":null")             \
	}
#define PIECE_EXITS(json)                                                                          \
	{                                                                                          \
		",\"" json "_code\":null,\"" json "_signal\":null", LEN(",\"" json "_code\":"),    \
			LEN(",\"" json "_code\":null,\"" json "_signal\":null")                    \
	}
#define PIECE_I64     PIECE
#define PIECE_U64     PIECE
#define PIECE_BOOL    PIECE
#define PIECE_TIME    PIECE
#define PIECE_TEXT    PIECE
#define PIECE_STATE   PIECE
#define PIECE_EXIT    PIECE_EXITS
#define PIECE_LIMIT   PIECE
#define PIECE_TRES    PIECE
#define PIECE_WHERE   PIECE
#define PIECE_WORDS   PIECE
#define PIECE_ENUM    PIECE
#define PIECE_MOMENTS PIECE

static const struct piece job_pieces[JOB_KEYS] = {
#define F(name, type, flags, json, doc) [JOB_##name] = PIECE_##type(json),
#include "core/job.def"
#undef F
#define J(name, type, json, doc) [JOB_X_##name] = PIECE_##type(json),
#include "core/computed.def"
};

static const struct piece step_pieces[STEP_KEYS] = {
#define F(name, type, flags, json, doc) [STEP_##name] = PIECE_##type(json),
#include "core/step.def"
#undef F
#define S(name, type, json, doc) [STEP_X_##name] = PIECE_##type(json),
#include "core/computed.def"
};

/* The end of the buffer, as plain pointers. */
struct out {
	struct buf *buf;
	char *at;
	char *end;
	const struct row_style *style;
};

#define MORE_ROOM 2048

static bool grow(struct out *o, size_t n)
{
	struct buf *b = o->buf;
	size_t want = b->limit == 0 && n < MORE_ROOM ? MORE_ROOM : n;

	if (o->at != NULL)
		b->len = (size_t)(o->at - b->data);
	o->at = buf_reserve(b, want);
	o->end = o->at != NULL ? o->at + want : NULL;
	return o->at != NULL;
}

static bool room(struct out *o, size_t n)
{
	return (size_t)(o->end - o->at) >= n || grow(o, n);
}

static void out_close(struct out *o)
{
	if (o->at == NULL)
		return;
	o->buf->len = (size_t)(o->at - o->buf->data);
	*o->at = '\0';
}

static void put(struct out *o, const char *p, size_t n)
{
	if (n > 0 && room(o, n))
		o->at = (char *)mempcpy(o->at, p, n);
}

static void put_piece(struct out *o, const struct piece *p, size_t n)
{
	if (o->buf->limit != 0) { /* its last bytes count */
		put(o, p->text, n);
		return;
	}
	if (!room(o, sizeof(*p)))
		return;
	memcpy(o->at, p->text, PIECE_HALF);
	if (n > PIECE_HALF)
		memcpy(o->at + PIECE_HALF, p->text + PIECE_HALF, PIECE_SIZE - PIECE_HALF);
	o->at += n;
}

static void put_word(struct out *o, const char *word)
{
	put(o, word, strlen(word));
}

#define INTEGER_SIZE 20

static void put_u64(struct out *o, uint64_t v)
{
	static const char pairs[] = "00010203040506070809101112131415161718192021222324"
				    "25262728293031323334353637383940414243444546474849"
				    "50515253545556575859606162636465666768697071727374"
				    "75767778798081828384858687888990919293949596979899";
	char digits[INTEGER_SIZE], *at = digits + sizeof(digits);

	while (v >= 100) {
		at -= 2;
		memcpy(at, &pairs[v % 100 * 2], 2);
		v /= 100;
	}
	if (v >= 10) {
		at -= 2;
		memcpy(at, &pairs[v * 2], 2);
	} else {
		*--at = (char)('0' + v);
	}
	put(o, at, (size_t)(digits + sizeof(digits) - at));
}

static void put_i64(struct out *o, int64_t v)
{
	if (v < 0)
		put(o, "-", 1);
	put_u64(o, v < 0 ? 0 - (uint64_t)v : (uint64_t)v);
}

#define ONES	 UINT64_C(0x0101010101010101)
#define HIGHS	 UINT64_C(0x8080808080808080)
#define HAS_0(w) (((w)-ONES) & ~(w)&HIGHS)

static bool is_odd(unsigned char c)
{
	return c < 0x20 || c == '"' || c == '\\' || c == 0x7f;
}

/* Is there nothing in it that JSON or a terminal would stumble over? */
static bool is_plain(const char *s, size_t n)
{
	size_t i = 0;
	uint64_t w;

	for (; n - i >= sizeof(w); i += sizeof(w)) {
		memcpy(&w, s + i, sizeof(w));
		if ((HAS_0(w ^ (ONES * '"')) | HAS_0(w ^ (ONES * '\\')) | HAS_0(w ^ (ONES * 0x7f)) |
		     ((w - ONES * 0x20) & ~w & HIGHS)) != 0)
			return false;
	}
	for (; i < n; i++)
		if (is_odd((unsigned char)s[i]))
			return false;
	return true;
}

static void put_textn(struct out *o, const char *s, size_t n)
{
	if (!is_plain(s, n)) {
		out_close(o);
		buf_json_strn(o->buf, s, n);
		o->at = NULL;
		o->end = NULL;
		return;
	}
	if (!room(o, n + 2))
		return;
	*o->at++ = '"';
	o->at = (char *)mempcpy(o->at, s, n);
	*o->at++ = '"';
}

static void put_text(struct out *o, const char *s)
{
	put_textn(o, s, strlen(s));
}

static void put_time(struct out *o, int64_t t)
{
	if (o->style->epoch) {
		put_i64(o, t);
		return;
	}
	if (!room(o, TIME_TEXT_SIZE + 2))
		return;
	*o->at++ = '"';
	time_format_iso(t, o->at);
	o->at += strlen(o->at);
	*o->at++ = '"';
}

static void put_state(struct out *o, int64_t state)
{
	const char *name = state_name(state);

	if (name != NULL)
		put_text(o, name);
	else
		put(o, "null", 4);
}

static void put_limit(struct out *o, int64_t limit)
{
	if (limit == LIMIT_UNLIMITED)
		put(o, "\"unlimited\"", 11);
	else if (limit == LIMIT_PARTITION)
		put(o, "\"partition\"", 11);
	else
		put_i64(o, limit);
}

static void put_tres(struct out *o, const char *text)
{
	struct tres t;
	char mark = '{';

	for (const char *at = text; tres_next(&at, &t); mark = ',') {
		put(o, &mark, 1);
		put_textn(o, t.name, t.len);
		put(o, ":", 1);
		put_i64(o, t.count);
	}
	put(o, mark == '{' ? "{}" : "}", mark == '{' ? 2 : 1);
}

static bool is_number(const char *s, size_t n)
{
	size_t from = n > 1 && s[0] == '-';

	for (size_t i = from; i < n; i++)
		if (s[i] < '0' || s[i] > '9')
			return false;
	return n > from && n < INTEGER_SIZE && (s[from] != '0' || n == from + 1);
}

/* Tasks are numbers, nodes are names even if they look like numbers. */
static void put_where(struct out *o, const char *text, bool tasks)
{
	struct where w;
	char mark = '{';

	for (const char *at = text; where_next(&at, &w); mark = ',') {
		put(o, &mark, 1);
		put_textn(o, w.name, w.len);
		put(o, ":", 1);
		if (tasks && is_number(w.value, w.value_len))
			put(o, w.value, w.value_len);
		else
			put_textn(o, w.value, w.value_len);
	}
	put(o, mark == '{' ? "{}" : "}", mark == '{' ? 2 : 1);
}

static void put_words(struct out *o, const struct words *words, int64_t bits)
{
	char scratch[WORD_TEXT_SIZE], mark = '[';
	const char *word;

	for (; (word = words_next(words, &bits, scratch)) != NULL; mark = ',') {
		put(o, &mark, 1);
		put_text(o, word);
	}
	put(o, mark == '[' ? "[]" : "]", mark == '[' ? 2 : 1);
}

static void put_moments(struct out *o, const char *text)
{
	struct moment m;
	char mark = '[';

	for (const char *at = text; moments_next(&at, &m); mark = ',') {
		put(o, &mark, 1);
		put_word(o, "{\"at\":");
		put_time(o, m.at);
		put_word(o, m.resume ? ",\"what\":\"resume\"}" : ",\"what\":\"suspend\"}");
	}
	put(o, mark == '[' ? "[]" : "]", mark == '[' ? 2 : 1);
}

static void put_list(struct out *o, const char *list)
{
	const char *name;
	char mark = '[';
	size_t len;

	for (const char *at = list; list_next(&at, &name, &len); mark = ',') {
		put(o, &mark, 1);
		put_textn(o, name, len);
	}
	put(o, mark == '[' ? "[]" : "]", mark == '[' ? 2 : 1);
}

/* Millionths as a number without zeros at its end. */
static void put_factor(struct out *o, int64_t v)
{
	uint64_t u = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	char text[32];
	size_t n = (size_t)snprintf(text, sizeof(text), "%s%" PRIu64 ".%06" PRIu64,
				    v < 0 ? "-" : "", u / FACTOR_ONE, u % FACTOR_ONE);

	while (text[n - 1] == '0')
		n--;
	put(o, text, text[n - 1] == '.' ? n - 1 : n);
}

static void put_step_id(struct out *o, int64_t id)
{
	if (id == STEP_ID_BATCH)
		put_word(o, "\"batch\"");
	else if (id == STEP_ID_EXTERN)
		put_word(o, "\"extern\"");
	else if (id == STEP_ID_INTERACTIVE)
		put_word(o, "\"interactive\"");
	else
		put_i64(o, id);
}

static void put_number(struct out *o, const struct field *f, int64_t v)
{
	char scratch[WORD_TEXT_SIZE];

	switch (f->type) {
	case FT_I64:
		if (f == &step_fields[STEP_step_id])
			put_step_id(o, v);
		else
			put_i64(o, v);
		break;
	case FT_U64:
		put(o, "\"", 1);
		put_u64(o, (uint64_t)v);
		put(o, "\"", 1);
		break;
	case FT_BOOL: put_word(o, v != 0 ? "true" : "false"); break;
	case FT_TIME: put_time(o, v); break;
	case FT_STATE: put_state(o, v); break;
	case FT_LIMIT: put_limit(o, v); break;
	case FT_WORDS: put_words(o, words_of(f), v); break;
	case FT_ENUM: put_text(o, word_name(words_of(f), v, scratch)); break;
	case FT_SHARES:
		if (v == SHARES_PARENT)
			put_word(o, "\"parent\"");
		else
			put_i64(o, v);
		break;
	case FT_MINUTES:
	case FT_SECONDS: put_i64(o, v); break;
	case FT_FACTOR: put_factor(o, v); break;
	case FT_EXIT:
	case FT_TEXT:
	case FT_TRES:
	case FT_WHERE:
	case FT_MOMENTS:
	case FT_LIST:
	case FT_JSON: break;
	}
}

static void put_string(struct out *o, const struct field *f, const char *s)
{
	if (f->type == FT_TRES)
		put_tres(o, s);
	else if (f->type == FT_WHERE)
		put_where(o, s, f->json[strlen(f->json) - 1] == 'k'); /* ..._task, ..._node */
	else if (f->type == FT_MOMENTS)
		put_moments(o, s);
	else if (f->type == FT_LIST)
		put_list(o, s);
	else if (f->type == FT_JSON)
		put_word(o, s);
	else
		put_text(o, s);
}

static void put_exit(struct out *o, const struct piece *p, int64_t status)
{
	size_t second = p->key + LEN("null");

	put_piece(o, p, p->key);
	put_i64(o, exit_code(status));
	put(o, p->text + second, p->all - second - LEN("null"));
	put_i64(o, exit_signal(status));
}

static void put_null(struct out *o, const struct piece *p)
{
	put_piece(o, p, p->all);
}

/* A row through its tables. */
struct row_out {
	const struct field *fields;
	const struct piece *pieces;
	const uint64_t *has;
	const char *base;
};

static void put_field(struct out *o, const struct row_out *r, size_t f)
{
	const struct field *field = &r->fields[f];
	const struct piece *p = &r->pieces[f];
	const void *value = r->base + field->offset;

	if (!has_bit(r->has, f)) {
		put_null(o, p);
	} else if (field_is_text(field->type)) {
		put_piece(o, p, p->key);
		put_string(o, field, *(const char *const *)value);
	} else if (field->type == FT_EXIT) {
		put_exit(o, p, *(const int64_t *)value);
	} else {
		put_piece(o, p, p->key);
		put_number(o, field, *(const int64_t *)value);
	}
}

void field_encode_json(struct buf *out, const struct field *f, const void *value,
		       const struct row_style *style)
{
	struct out o = { .buf = out, .style = style };

	assert(f->type != FT_EXIT);
	if (field_is_text(f->type))
		put_string(&o, f, *(const char *const *)value);
	else
		put_number(&o, f, *(const int64_t *)value);
	out_close(&o);
}

/* A computed key: a number, true or false, or a text. */
static void put_computed(struct out *o, const struct piece *p, const struct field *f, bool known,
			 int64_t number, const char *text)
{
	if (!known || (f->type == FT_TEXT && text == NULL)) {
		put_null(o, p);
		return;
	}
	put_piece(o, p, p->key);
	if (f->type == FT_TEXT)
		put_text(o, text);
	else
		put_number(o, f, number);
}

static bool is_failure(int64_t state)
{
	return state != STATE_COMPLETED && state != STATE_REQUEUED && state != STATE_RESIZING;
}

static const char *killer_name(const struct job *j)
{
	if (!job_has(j, killed_by))
		return NULL;
	if (j->killed_by == 0)
		return "root";
	return job_has(j, uid) && j->uid == j->killed_by ? job_get(j, user_name, NULL) : NULL;
}

static bool has_ended(const struct job *j)
{
	return job_has(j, state) && state_is_end(j->state);
}

static void put_job_computed(struct out *o, const struct job *j, int key)
{
	const struct piece *p = &job_pieces[key];
	const struct field *f = job_key(key);

	switch (key) {
	case JOB_X_suspended:
		put_computed(o, p, f, true, job_suspended_s(j, INT64_MIN, INT64_MAX, o->style->now),
			     NULL);
		break;
	case JOB_X_killed_by_name: put_computed(o, p, f, true, 0, killer_name(j)); break;
	case JOB_X_oom:
		put_computed(o, p, f, true,
			     job_get(j, state, STATE_PENDING) == STATE_OUT_OF_MEMORY ||
				     job_has(j, oom_step),
			     NULL);
		break;
	case JOB_X_failed: put_computed(o, p, f, has_ended(j), is_failure(j->state), NULL); break;
	default: break;
	}
}

/* When the step stops counting: its own end, else the job's, else now. */
static int64_t step_end_shown(const struct step *s, const struct job *j, int64_t now)
{
	if (step_has(s, end_at))
		return s->end_at;
	if (job_has(j, end_at))
		return j->end_at;
	return step_has(s, state) && state_is_end(s->state) ? s->start_at : now;
}

/* Its own instants where it has some, else the job's. */
static int64_t step_suspended_s(const struct step *s, const struct job *j, int64_t end, int64_t now)
{
	struct job own = *j;

	if (step_has(s, moments))
		job_set(&own, moments, s->moments);
	return job_suspended_s(&own, s->start_at, end, now);
}

static void put_step_computed(struct out *o, const struct step *s, const struct job *j, int key)
{
	const struct piece *p = &step_pieces[key];
	const struct field *f = step_key(key);
	int64_t now = o->style->now, end, suspended = 0, rss = 0;
	bool started = step_has(s, start_at);
	bool measured = step_has(s, in_max) && tres_get(s->in_max, "mem", &rss);

	end = started ? step_end_shown(s, j, now) : 0;
	if (started && (step_has(s, moments) || job_has(j, moments)))
		suspended = step_suspended_s(s, j, end, now);
	switch (key) {
	case STEP_X_user_name: put_computed(o, p, f, true, 0, job_get(j, user_name, NULL)); break;
	case STEP_X_elapsed:
		put_computed(o, p, f, started,
			     end > s->start_at ? end - s->start_at - suspended : 0, NULL);
		break;
	case STEP_X_suspended: put_computed(o, p, f, started, suspended, NULL); break;
	case STEP_X_max_rss: put_computed(o, p, f, measured, rss, NULL); break;
	case STEP_X_oom:
		put_computed(o, p, f, true,
			     step_get(s, state, STATE_PENDING) == STATE_OUT_OF_MEMORY ||
				     exit_signal(step_get(s, exit, 0)) == EXIT_SIGNAL_OOM,
			     NULL);
		break;
	default: break;
	}
}

static const uint64_t every_key[HAS_WORDS] = { UINT64_MAX, UINT64_MAX };

/* The next key of the mask at or after from; n when there is none. */
static size_t next_key(const uint64_t *mask, size_t from, size_t n)
{
	while (from < n) {
		uint64_t rest = mask[from / 64] >> (from % 64);
		if (rest != 0) {
			from += (size_t)__builtin_ctzll(rest);
			return from < n ? from : n;
		}
		from = (from / 64 + 1) * 64;
	}
	return n;
}

/* The comma of the first key becomes the brace. */
static void close_object(struct out *o, size_t start)
{
	put(o, "}", 1);
	out_close(o);
	if (buf_failed(o->buf))
		return;
	if (o->buf->len == start + 1) {
		o->at = NULL;
		o->end = NULL;
		o->buf->len = start;
		put(o, "{}", 2);
		out_close(o);
	} else {
		o->buf->data[start] = '{';
	}
}

/* What an answer says of the job instead of what its records said. */
static void show_job(const struct job *j, int64_t now, struct job *ret)
{
	*ret = *j;
	if (job_has(j, state))
		ret->state = job_state_shown(j);
	if (job_has(j, eligible_at) && j->eligible_at == 0)
		job_unset(ret, eligible_at);
	job_set(ret, rec_elapsed, job_elapsed_s(j, now));
	if (job_has(j, peak_rss))
		job_set(ret, rec_max_rss, j->peak_rss);
	if (job_has(j, cpu_used_us))
		job_set(ret, rec_cpu_us, j->cpu_used_us);
}

static void put_step(struct out *o, const struct step *s, const struct job *j)
{
	const uint64_t *mask = o->style->step_keys != NULL ? o->style->step_keys : every_key;
	struct step shown;
	struct row_out r = { step_fields, step_pieces, shown.has, (const char *)&shown };

	shown = *s;
	if (step_get(s, het_comp, HET_COMP_NONE) == HET_COMP_NONE)
		step_unset(&shown, het_comp);
	for (size_t k = next_key(mask, 0, STEP_KEYS); k < (size_t)STEP_KEYS;
	     k = next_key(mask, k + 1, STEP_KEYS)) {
		if (k < STEP_FIELDS)
			put_field(o, &r, k);
		else
			put_step_computed(o, s, j, (int)k);
	}
}

void step_encode_json(struct buf *out, const struct step *s, const struct job *j,
		      const struct row_style *style)
{
	struct out o = { .buf = out, .style = style };
	size_t start = out->len;

	put_step(&o, s, j);
	close_object(&o, start);
}

static void put_steps(struct out *o, const struct step *steps, size_t n, const struct job *j)
{
	put_word(o, ",\"steps\":[");
	out_close(o);
	for (size_t i = 0; i < n; i++) {
		if (i > 0)
			buf_addc(o->buf, ',');
		step_encode_json(o->buf, &steps[i], j, o->style);
	}
	o->at = NULL;
	o->end = NULL;
	put(o, "]", 1);
}

void job_encode_json(struct buf *out, const struct job *j, const struct step *steps, size_t n_steps,
		     const struct row_style *style)
{
	const uint64_t *mask = style->keys != NULL ? style->keys : every_key;
	struct out o = { .buf = out, .style = style };
	size_t start = out->len;
	struct job shown;
	struct row_out r = { job_fields, job_pieces, shown.has, (const char *)&shown };

	show_job(j, style->now, &shown);
	for (size_t k = next_key(mask, 0, JOB_KEYS); k < (size_t)JOB_KEYS;
	     k = next_key(mask, k + 1, JOB_KEYS)) {
		if (k < JOB_FIELDS)
			put_field(&o, &r, k);
		else
			put_job_computed(&o, j, (int)k);
	}
	if (style->steps)
		put_steps(&o, steps, n_steps, j);
	close_object(&o, start);
}

/* ---- records ---- */

static const struct row_style record_style = { .epoch = true };

static bool is_identity(const struct field *f)
{
	return (f->flags & FF_KEY) != 0 && f != &step_fields[STEP_step_id] &&
	       f != &step_fields[STEP_het_comp];
}

/* Every known field but those that only say whose row it is, and those that are computed. */
static void put_known(struct out *o, const struct row_out *r, size_t n)
{
	for (size_t f = next_key(r->has, 0, n); f < n; f = next_key(r->has, f + 1, n))
		if (!is_identity(&r->fields[f]) && (r->fields[f].flags & FF_DERIVED) == 0)
			put_field(o, r, f);
}

static void put_known_step(struct out *o, const struct step *s)
{
	struct step plain = *s;
	struct row_out r = { step_fields, step_pieces, plain.has, (const char *)&plain };

	if (step_get(s, het_comp, HET_COMP_NONE) == HET_COMP_NONE)
		step_unset(&plain, het_comp);
	put_known(o, &r, STEP_FIELDS);
}

static void put_known_steps(struct out *o, const struct record *rec)
{
	put_word(o, ",\"steps\":[");
	out_close(o);
	for (size_t i = 0; i < rec->n_steps; i++) {
		struct out one = { .buf = o->buf, .style = &record_style };
		size_t start;

		if (i > 0)
			buf_addc(o->buf, ',');
		start = o->buf->len;
		put_known_step(&one, &rec->steps[i]);
		close_object(&one, start);
	}
	o->at = NULL;
	o->end = NULL;
	put(o, "]", 1);
}

static void put_whose(struct out *o, const struct record *rec)
{
	const struct job *j = &rec->job;
	const struct row_out r = { job_fields, job_pieces, j->has, (const char *)j };

	put_word(o, ",\"kind\":");
	put_text(o, record_kind_names[rec->kind]);
	if (rec->cluster != NULL) {
		put_word(o, ",\"cluster\":");
		put_text(o, rec->cluster);
	}
	put_field(o, &r, JOB_job_id);
	if (job_has(j, submit_at))
		put_field(o, &r, JOB_submit_at);
	if (rec->as_of != AS_OF_UNKNOWN) {
		put_word(o, ",\"as_of\":");
		put_i64(o, rec->as_of);
	}
	if (rec->kind == REC_JOB_SUSPEND || rec->kind == REC_JOB_RESUME ||
	    rec->kind == REC_JOB_RESIZE) {
		put_word(o, ",\"at\":");
		put_i64(o, rec->at);
	}
}

void record_encode_json(struct buf *out, const struct record *rec)
{
	struct out o = { .buf = out, .style = &record_style };
	const struct row_out r = { job_fields, job_pieces, rec->job.has, (const char *)&rec->job };
	size_t start = out->len;

	assert(rec->kind != REC_NODE_EVENT && rec->kind != REC_CLUSTER_TRES);
	put_whose(&o, rec);
	if (rec->kind == REC_STEP_START || rec->kind == REC_STEP_END) {
		put_known_step(&o, &rec->steps[0]);
	} else {
		put_known(&o, &r, JOB_FIELDS);
		if (rec->n_steps > 0)
			put_known_steps(&o, rec);
	}
	close_object(&o, start);
}

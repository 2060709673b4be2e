#include "core/draft_json.h"

struct reading {
	enum entity_kind kind;
	bool answer;
	struct draft_add *add;
};

/* The further keys of each kind. */
enum more_key { MORE_LIST, MORE_PARENT, MORE_LIMITS };
static const struct {
	enum entity_kind kind;
	const char *key;
	enum more_key what;
	size_t into; /* of a struct texts */
} more_keys[] = {
	{ ENTITY_CLUSTER, "association", MORE_LIMITS, 0 },
	{ ENTITY_ACCOUNT, "association", MORE_LIMITS, 0 },
	{ ENTITY_ACCOUNT, "parent", MORE_PARENT, 0 },
	{ ENTITY_ACCOUNT, "clusters", MORE_LIST, offsetof(struct draft_add, clusters) },
	{ ENTITY_ACCOUNT, "cluster", MORE_LIST, offsetof(struct draft_add, clusters) },
	{ ENTITY_USER, "association", MORE_LIMITS, 0 },
	{ ENTITY_USER, "accounts", MORE_LIST, offsetof(struct draft_add, accounts) },
	{ ENTITY_USER, "account", MORE_LIST, offsetof(struct draft_add, accounts) },
	{ ENTITY_USER, "clusters", MORE_LIST, offsetof(struct draft_add, clusters) },
	{ ENTITY_USER, "cluster", MORE_LIST, offsetof(struct draft_add, clusters) },
	{ ENTITY_USER, "partitions", MORE_LIST, offsetof(struct draft_add, partitions) },
	{ ENTITY_USER, "partition", MORE_LIST, offsetof(struct draft_add, partitions) },
	{ ENTITY_USER, "wckeys", MORE_LIST, offsetof(struct draft_add, wckeys) },
	{ ENTITY_USER, "wckey", MORE_LIST, offsetof(struct draft_add, wckeys) },
};

static const char *const other_keys[] = { "association", "parent",     "clusters", "accounts",
					  "partitions",	 "wckeys", NULL };

static void add_text(struct texts *list, const char *text, struct arena *arena)
{
	if ((list->n & (list->n - 1)) == 0) {
		const char **more = ARENA_ARRAY(arena, const char *, list->n > 0 ? list->n * 2 : 1);
		if (list->n > 0)
			memcpy(more, list->v, list->n * sizeof(*more));
		list->v = more;
	}
	list->v[list->n++] = text;
}

static void split(struct texts *list, const char *text, struct arena *arena)
{
	while (*text != '\0') {
		size_t n = strcspn(text, ",");
		add_text(list, arena_strndup(arena, text, n), arena);
		text += n + (text[n] == ',');
	}
}

static int read_names(struct jscan *j, struct texts *list)
{
	const char *text;

	switch ((int)jscan_peek(j)) {
	case JSCAN_NULL: return jscan_null(j);
	case JSCAN_STRING:
		text = jscan_string(j);
		if (text == NULL)
			return -1;
		split(list, text, j->arena);
		return 0;
	default:
		if (jscan_enter(j, JSCAN_ARRAY) < 0)
			return -1;
		while (jscan_element(j)) {
			text = jscan_string(j);
			if (text == NULL)
				return -1;
			add_text(list, text, j->arena);
		}
		return j->failed ? -1 : 0;
	}
}

static int read_parent(struct jscan *j, const char **ret)
{
	if (jscan_peek(j) == JSCAN_NULL)
		return jscan_null(j);
	*ret = jscan_string(j);
	return *ret != NULL ? 0 : -1;
}

static int read_more(struct jscan *j, struct jtext key, void *arg)
{
	struct reading *r = arg;
	int rc = -1;

	for (size_t i = 0; i < ARRAY_LEN(more_keys); i++) {
		if (more_keys[i].kind != r->kind || !jtext_is(key, more_keys[i].key))
			continue;
		switch (more_keys[i].what) {
		case MORE_LIST:
			rc = read_names(j, (struct texts *)(void *)((char *)r->add +
								    more_keys[i].into));
			r->add->nowhere = r->kind == ENTITY_ACCOUNT && r->add->clusters.n == 0;
			break;
		case MORE_PARENT: rc = read_parent(j, &r->add->parent); break;
		case MORE_LIMITS:
			rc = change_read(j, &r->add->assoc, r->answer, NULL, NULL, NULL);
			break;
		}
		return rc < 0 ? -1 : 1;
	}
	return 0;
}

int draft_add_read(struct jscan *j, enum entity_kind kind, bool answer, struct draft_add *ret)
{
	struct reading r = { kind, answer, ret };

	draft_add_init(ret, kind);
	return change_read(j, &ret->row, answer, read_more, &r, other_keys);
}

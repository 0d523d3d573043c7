/*
 * The toy's sessions: threads/t-ID.jsonl, see tests/toy/toy. The id stands in the first line alone;
 * no line names another, so that all of them are sent.
 */
#include "base/mem.h"
#include "base/uuid.h"
#include "os/path.h"
#include "toy.h"
#include "transcript/adapter.h"

enum {
	K_TOY,
	K_THREAD,
	K_FOLDER,
	K_OURS,
	K_WHEN,
	K_BY,
	K_WORDS,
	K_RUNS,
	K_TOOL,
	K_RUN_N,
	K_N,
	K_GAVE,
	K_COUNT
};

static const struct scan_key keys[K_COUNT] = {
	[K_TOY] = SCAN_KEY("toy", SCAN_TOP),
	[K_THREAD] = SCAN_KEY("thread", SCAN_TOP),
	[K_FOLDER] = SCAN_KEY("folder", SCAN_TOP),
	[K_OURS] = SCAN_KEY(SESSION_NOTE_KEY, SCAN_TOP),
	[K_WHEN] = SCAN_KEY("when", SCAN_TOP),
	[K_BY] = SCAN_KEY("by", SCAN_TOP),
	[K_WORDS] = SCAN_KEY("words", SCAN_TOP),
	[K_RUNS] = SCAN_KEY("runs", SCAN_TOP),
	[K_TOOL] = SCAN_KEY("tool", K_RUNS),
	[K_RUN_N] = SCAN_KEY("n", K_RUNS),
	[K_N] = SCAN_KEY("n", SCAN_TOP),
	[K_GAVE] = SCAN_KEY("gave", SCAN_TOP),
};

static enum item_kind kind_of(const struct jval *v)
{
	if (v[K_GAVE].type == J_STRING)
		return ITEM_TOOL_RESULT;
	if (v[K_RUNS].type == J_OBJECT)
		return ITEM_TOOL_CALL;
	if (scan_string_eq(v[K_BY], SV("me")))
		return ITEM_USER;
	return scan_string_eq(v[K_BY], SV("toy")) ? ITEM_ASSISTANT : ITEM_META;
}

static int toy_recognises(struct sv text)
{
	struct jval v[K_COUNT];

	if (record_keys(text, keys, K_COUNT, v) < 0)
		return ERR_INPUT;
	return v[K_TOY].type == J_NUMBER && v[K_THREAD].type == J_STRING;
}

static int toy_scan(struct summary *s, struct sv text)
{
	struct jval v[K_COUNT], none = { .type = J_NONE };

	if (record_keys(text, keys, K_COUNT, v) < 0)
		return ERR_INPUT;
	summary_path(s, &s->info->cwd, v[K_FOLDER]);
	summary_parent(s, none, none, v[K_OURS]);
	summary_time(s, v[K_WHEN]);
	if (kind_of(v) == ITEM_USER)
		summary_prompt(s, v[K_WORDS]);
	return 0;
}

static int toy_items(struct item_list *list, const struct item *base, struct sv text)
{
	struct jval v[K_COUNT];
	struct item item = *base;

	if (record_keys(text, keys, K_COUNT, v) < 0)
		return ERR_INPUT;
	item.kind = kind_of(v);
	item.object = item.body = (struct jval){ text, J_OBJECT };
	item.time = scan_inner(v[K_WHEN]);
	item.type = scan_inner(v[K_BY]);
	item.text = v[K_WORDS];
	if (item.kind == ITEM_USER)
		item.flags |= ITEM_PROMPT;
	if (item.kind == ITEM_TOOL_CALL) {
		item.tool = scan_inner(v[K_TOOL]);
		item.tool_id = v[K_RUN_N].raw;
		item.text = v[K_RUNS];
	} else if (item.kind == ITEM_TOOL_RESULT) {
		item.tool_id = v[K_N].raw;
		item.text = v[K_GAVE];
	}
	vec_push(&list->items, item);
	return 0;
}

static int toy_link(struct links *links, struct sv text)
{
	struct jval v[K_COUNT];

	if (record_keys(text, keys, K_COUNT, v) < 0)
		return ERR_INPUT;
	vec_push(&links->v, (struct link){ .flags = kind_of(v) == ITEM_META ? 0 : LINK_SENT });
	return 0;
}

static void toy_mark(
	const struct links *links, unsigned char *state, struct transcript_live *live UNUSED)
{
	memset(state, 1, links->v.n);
}

static struct sv path_id(struct sv base)
{
	struct sv id = sv_starts(base, SV("t-")) && sv_ends(base, SV(".jsonl"))
		? sv_make(base.p + 2, base.n - strlen("t-.jsonl"))
		: SV("");

	return uuid_valid(id) ? id : SV("");
}

static bool is_session(const struct tree_file *file, bool *ret_subagent)
{
	*ret_subagent = false;
	return path_id(file->name).n > 0;
}

static char *new_path(
	const char *root, const char *cwd UNUSED, int64_t wall_ms UNUSED, const char *id)
{
	return xasprintf("%s/threads/t-%s.jsonl", root, id);
}

static const struct transcript_places toy_places = {
	.tops = { "threads" },
	.is_session = is_session,
	.path_id = path_id,
	.new_path = new_path,
};

static const char *const none[] = { NULL };

const struct transcript_format transcript_toy = {
	.name = "toy",
	.number = 1000,
	.recognises = toy_recognises,
	.places = &toy_places,
	.injected_tags = none,
	.injected_words = none,
	.scan = toy_scan,
	.items = toy_items,
	.link = toy_link,
	.mark = toy_mark,
};

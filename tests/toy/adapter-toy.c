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
	K_TRIM,
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
	[K_TRIM] = SCAN_KEY("trim_metadata", SCAN_TOP),
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

static void toy_scan(struct summary *s, const struct line *line)
{
	const struct jval *v = line->vals;
	struct jval none = { .type = J_NONE };

	summary_path(s, &s->info->cwd, v[K_FOLDER]);
	summary_parent(s, v[K_TRIM], none, v[K_OURS]);
	summary_time(s, v[K_WHEN]);
	if (kind_of(v) == ITEM_USER)
		summary_prompt(s, v[K_WORDS]);
}

static void toy_items(struct item_list *list, const struct item *base, const struct line *line)
{
	const struct jval *v = line->vals;
	struct item item = *base;

	item.kind = kind_of(v);
	item.object = item.body = (struct jval){ line->text, J_OBJECT };
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
}

static void toy_link(struct links *links, const struct line *line)
{
	vec_push(&links->v,
		(struct link){ .flags = kind_of(line->vals) == ITEM_META ? 0 : LINK_SENT });
}

static void toy_look(const struct line *line, struct line_look *look)
{
	const struct jval *v = line->vals;
	struct line_piece piece = { .counts = true, .val = v[K_WORDS] };

	switch (kind_of(v)) {
	case ITEM_USER:
		piece.kind = PIECE_PROMPT;
		break;
	case ITEM_ASSISTANT:
		piece.kind = PIECE_ANSWER;
		break;
	case ITEM_TOOL_CALL:
		piece.kind = PIECE_CALL;
		piece.shape = SHAPE_STRINGS;
		piece.val = v[K_RUNS];
		piece.id = v[K_RUN_N].raw;
		piece.name = scan_inner(v[K_TOOL]);
		break;
	case ITEM_TOOL_RESULT:
		piece.kind = PIECE_RESULT;
		piece.val = v[K_GAVE];
		piece.id = v[K_N].raw;
		break;
	case ITEM_THINKING:
	case ITEM_SYSTEM:
	case ITEM_COMPACTION:
	case ITEM_META:
	case ITEM_KINDS:
		return;
	}
	piece.bytes = piece.val.raw.n;
	vec_push(&look->pieces, piece);
}

static void toy_swaps(
	const struct line *line, unsigned changes, struct sv own UNUSED, struct line_swaps *out)
{
	if (changes & LINE_ID && line->vals[K_THREAD].type == J_STRING)
		vec_push(&out->v, (struct line_swap){ line->vals[K_THREAD], SWAP_ID, SV("") });
}

static struct jval toy_note_place(const struct line *line)
{
	return line->vals[K_THREAD].type == J_STRING ? (struct jval){ line->text, J_OBJECT }
						     : (struct jval){ .type = J_NONE };
}

static struct usage toy_usage(struct jval usage UNUSED)
{
	return (struct usage){ .input = 0 };
}

static char *toy_sibling_path(
	const char *parent, const char *out_dir, const char *id, int64_t wall_ms UNUSED)
{
	struct sv folder = out_dir ? sv_of(out_dir) : path_parent(sv_of(parent));

	return xasprintf("%.*s/t-%s.jsonl", SV_ARG(folder), id);
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
	.number = 1000,
	.speaks = "\"by\"",
	.recognises = toy_recognises,
	.places = &toy_places,
	.injected_tags = none,
	.injected_words = none,
	.keys = keys,
	.n_keys = K_COUNT,
	.scan = toy_scan,
	.items = toy_items,
	.link = toy_link,
	.look = toy_look,
	.swaps = toy_swaps,
	.note_place = toy_note_place,
	.usage = toy_usage,
	.sibling_path = toy_sibling_path,
	.text_type = "text",
	.title = "Toy",
	.mark = toy_mark,
};

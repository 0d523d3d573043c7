#include "branch/turns.h"

#include <stdlib.h>
#include <string.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/brief.h"

enum {
	PARTS_MAX = 16, /* files that one history is spread over */
	SEED = 1, /* hashes are compared between two sessions */
};

/* ---- files ---- */

void session_parts_release(struct session_parts *p)
{
	vec_each (&p->v, part) {
		transcript_live_release(&part->live);
		free(part->path);
	}
	vec_release(&p->v);
}

static void reverse(struct session_parts *p)
{
	for (size_t i = 0, k = p->v.n; i + 1 < k--; i++) {
		struct session_part kept = p->v.v[i];
		p->v.v[i] = p->v.v[k];
		p->v.v[k] = kept;
	}
	p->first = 0;
	for (size_t i = 0; i < p->v.n; i++)
		if (p->v.v[i].live.compacted)
			p->first = i;
}

int session_parts_find(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, uint64_t end, bool live, struct session_parts *ret,
	struct err *reterr)
{
	ret->format = format;
	vec_push(&ret->v, (struct session_part){ .path = xstrdup(path), .end = end });
	for (size_t i = 0; (live || transcript_forks_share(format)) && i < ret->v.n; i++) {
		struct session_part *part = &ret->v.v[i];
		int r = transcript_live_until(part->path, format, part->end, &part->live, reterr);
		if (r < 0)
			return r;
		struct session_part base = { .end = part->live.base_offset };
		if (part->live.base_id && part->live.base_id[0] && i + 1 < PARTS_MAX && home &&
			transcript_find(home, sv_of(part->live.base_id), &base.path, NULL) >= 0 &&
			base.path)
			vec_push(&ret->v, base);
	}
	reverse(ret);
	return 0;
}

static int each_live(const struct session_parts *p, const struct session_part *part, unsigned pass,
	session_item_fn fn, void *data, struct err *reterr)
{
	const struct transcript_read_opts opts = { .end = part->end, .expand = true };
	struct transcript_reader *reader = NULL;
	struct item item;
	int r = transcript_open(part->path, p->format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0)
		if (transcript_is_live(&part->live, item.record) &&
			transcript_in_pass(&part->live, item.record, pass))
			r = fn(data, &item, reterr);
	transcript_close(reader);
	return r < 0 ? r : 0;
}

int session_parts_live(
	const struct session_parts *p, session_item_fn fn, void *data, struct err *reterr)
{
	int r = 0;

	for (size_t i = p->first; r >= 0 && i < p->v.n; i++)
		for (unsigned pass = 1; r >= 0 && pass <= transcript_passes(&p->v.v[i].live);
			pass++)
			r = each_live(p, &p->v.v[i], pass, fn, data, reterr);
	return r;
}

/* ---- turns ---- */

static void turn_release(struct turn_view *turn)
{
	free(turn->head);
	strv_release(&turn->files);
}

void turn_views_release(struct turn_views *t)
{
	vec_each (&t->v, turn)
		turn_release(turn);
	vec_release(&t->v);
	session_parts_release(&t->parts);
}

struct reading {
	struct turn_views *out;
	uint64_t until; /* turns; 0: all */
	size_t part;
	uint64_t lead; /* of the lines that lead to a turn to come; UINT64_MAX: none */
	struct strv open; /* ids of calls whose result is to come */
	struct str text;
	struct str message; /* id of the answer that was counted last */
	struct usage last; /* … and what it took */
};

static void mix(uint64_t *hash, struct sv text)
{
	*hash = (*hash + 1) * UINT64_C(0x9e3779b97f4a7c15) ^ hash_bytes(SEED, text);
}

/* What an agent writes down before the words of a turn. */
static bool leads(const struct item *item)
{
	static const char *const types[] = { "queue-operation", "file-history-snapshot",
		"task_started", "thread_settings_applied", "turn_context", "world_state" };

	for (size_t i = 0; i < ARRAY_LEN(types); i++)
		if (item->kind == ITEM_META && sv_is(item->type, types[i]))
			return true;
	return false;
}

static void follow_lead(struct reading *g, const struct item *item)
{
	bool said = item->kind == ITEM_ASSISTANT || item->kind == ITEM_THINKING ||
		item->kind == ITEM_TOOL_CALL || item->kind == ITEM_TOOL_RESULT ||
		item->kind == ITEM_COMPACTION || item->flags & ITEM_PROMPT;

	if (said)
		g->lead = UINT64_MAX;
	else if (leads(item) && g->lead == UINT64_MAX)
		g->lead = item->offset;
}

/* Calls that no result came for end with their turn. */
static void end_turn(struct reading *g, uint64_t end)
{
	struct turn_views *out = g->out;

	if (out->v.n > 0 && out->v.v[out->v.n - 1].part == g->part) {
		out->v.v[out->v.n - 1].open = (uint32_t)g->open.n;
		out->v.v[out->v.n - 1].end = end;
	}
	strv_release(&g->open);
}

static void begin_turn(struct reading *g, const struct item *item, uint64_t begins)
{
	const struct transcript_live *live = &g->out->parts.v.v[g->part].live;
	struct turn_view turn = {
		.number = g->out->v.n + 1,
		.part = g->part,
		.offset = begins,
		.end = g->out->parts.v.v[g->part].end,
		.files = STRV_INIT,
		.left = !transcript_is_live(live, item->record) &&
			!(live->compacted && item->record < live->compaction),
		.first_ms = transcript_time(item),
	};
	AUTO_STR line = STR_INIT;

	end_turn(g, turn.offset);
	mix(&turn.said, str_sv(&g->text));
	turn.brief = sv_starts(str_sv(&g->text), SV("Continue: ")) &&
		sv_find(str_sv(&g->text), SV(SESSION_LINEAGE_BEGIN), NULL);
	utf8_scrub_line(&line, utf8_cut(str_sv(&g->text), TURN_HEAD_MAX));
	turn.head = str_detach(&line);
	vec_push(&g->out->v, turn);
}

static void take_files(struct reading *g, struct turn_view *turn, const struct item *item)
{
	AUTO_STRV files = STRV_INIT;

	turn->commands += brief_files_changed(item->tool, str_sv(&g->text), &files);
	for (size_t i = 0; i < files.n && turn->files.n < TURN_FILES_MAX; i++) {
		bool known = false;
		for (size_t k = 0; k < turn->files.n && !known; k++)
			known = strcmp(files.v[i], turn->files.v[k]) == 0;
		if (!known)
			strv_add(&turn->files, files.v[i]);
	}
}

static void take_call(struct reading *g, struct turn_view *turn, const struct item *item)
{
	turn->calls++;
	mix(&turn->by_id, item->tool_id);
	mix(&turn->by_call, item->tool_id);
	mix(&turn->by_words, item->tool);
	mix(&turn->by_words, str_sv(&g->text));
	take_files(g, turn, item);
	strv_addsv(&g->open, item->tool_id);
}

static void take_result(struct reading *g, struct turn_view *turn, const struct item *item)
{
	turn->failed += (item->flags & ITEM_FAILED) != 0;
	for (size_t i = 0; i < g->open.n; i++) {
		if (!sv_is(item->tool_id, g->open.v[i]))
			continue;
		free(g->open.v[i]);
		g->open.v[i] = g->open.v[--g->open.n];
		return;
	}
}

/* One answer stands on several lines, each with what it took so far: the last counts. */
static void take_usage(struct reading *g, struct turn_view *turn, const struct item *item)
{
	struct usage *sum = &turn->usage;

	if (!(item->flags & ITEM_USAGE) || item->flags & ITEM_SYNTHETIC)
		return;
	bool again = item->message_id.n > 0 && sv_eq(item->message_id, str_sv(&g->message));
	if (again && item->usage.output <= g->last.output)
		return;
	if (again) {
		sum->input -= g->last.input;
		sum->cache_read -= g->last.cache_read;
		sum->cache_write -= g->last.cache_write;
		sum->output -= g->last.output;
	}
	sum->input += item->usage.input;
	sum->cache_read += item->usage.cache_read;
	sum->cache_write += item->usage.cache_write;
	sum->output += item->usage.output;
	turn->model_calls += !again;
	g->last = item->usage;
	str_clear(&g->message);
	str_add(&g->message, item->message_id);
}

/* 1 when no more turns are wanted. */
static int take_item(struct reading *g, const struct item *item)
{
	bool wanted = item->kind == ITEM_ASSISTANT || item->kind == ITEM_TOOL_CALL ||
		item->flags & ITEM_PROMPT;
	uint64_t begins = g->lead < item->offset ? g->lead : item->offset;

	follow_lead(g, item);
	if (item->flags & (ITEM_SIDECHAIN | ITEM_REPLACEMENT))
		return 0;
	str_clear(&g->text);
	if (wanted && g->until == 0)
		transcript_text(item, &g->text);
	if (item_begins_turn(item)) {
		if (g->until > 0 && g->out->v.n == g->until) {
			end_turn(g, begins);
			return 1;
		}
		begin_turn(g, item, begins);
		return 0;
	}
	if (g->out->v.n == 0)
		return 0;
	struct turn_view *turn = &g->out->v.v[g->out->v.n - 1];
	int64_t ms = transcript_time(item);
	turn->last_ms = ms > turn->last_ms ? ms : turn->last_ms;
	take_usage(g, turn, item);
	if (item->kind == ITEM_ASSISTANT && !transcript_is_filler(str_sv(&g->text))) {
		turn->answers++;
		mix(&turn->by_id, item->message_id.n ? item->message_id : str_sv(&g->text));
		mix(&turn->by_call, str_sv(&g->text));
		mix(&turn->by_words, str_sv(&g->text));
	} else if (item->kind == ITEM_TOOL_CALL) {
		take_call(g, turn, item);
	} else if (item->kind == ITEM_TOOL_RESULT) {
		take_result(g, turn, item);
	}
	return 0;
}

int turn_views_read(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, uint64_t until, struct turn_views *ret,
	struct err *reterr)
{
	struct reading g = { .out = ret, .until = until, .text = STR_INIT, .message = STR_INIT };
	bool enough = false;

	/* What a resume would send is not asked for where only a place is. */
	int r = session_parts_find(path, format, home, 0, until == 0, &ret->parts, reterr);
	for (; r >= 0 && !enough && g.part < ret->parts.v.n; g.part++) {
		const struct transcript_read_opts opts = { .end = ret->parts.v.v[g.part].end };
		struct transcript_reader *reader = NULL;
		struct item item;
		g.lead = UINT64_MAX;
		r = transcript_open(ret->parts.v.v[g.part].path, format, &opts, &reader, reterr);
		while (r >= 0 && !enough && (r = transcript_next(reader, &item, reterr)) > 0) {
			if (item.flags & ITEM_OVERSIZE)
				passed_add(&ret->passed, item.line);
			enough = take_item(&g, &item) > 0;
		}
		if (r >= 0 && !enough)
			end_turn(&g, ret->parts.v.v[g.part].end);
		transcript_close(reader);
	}
	strv_release(&g.open);
	str_release(&g.text);
	str_release(&g.message);
	return r < 0 ? r : 0;
}

int turn_views_find(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, const struct map *prompt_ids, uint64_t *ret_turn,
	uint64_t *ret_more, struct err *reterr)
{
	struct session_parts parts = SESSION_PARTS_INIT;
	uint64_t n = 0, found = 0, ignored;
	int r = session_parts_find(path, format, home, 0, false, &parts, reterr);

	for (size_t i = 0; r >= 0 && i < parts.v.n; i++) {
		const struct transcript_read_opts opts = { .end = parts.v.v[i].end };
		struct transcript_reader *reader = NULL;
		struct item item;
		r = transcript_open(parts.v.v[i].path, format, &opts, &reader, reterr);
		while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0) {
			n += item_begins_turn(&item);
			if (item.prompt_id.n > 0 && map_get(prompt_ids, item.prompt_id, &ignored))
				found = n;
		}
		transcript_close(reader);
	}
	session_parts_release(&parts);
	if (r < 0)
		return r;
	*ret_turn = found;
	*ret_more = n - found;
	return 0;
}

int turn_view_items(const struct turn_views *t, const struct turn_view *turn, session_item_fn fn,
	void *data, struct err *reterr)
{
	const struct transcript_read_opts opts = { .offset = turn->offset, .end = turn->end };
	struct transcript_reader *reader = NULL;
	struct item item;
	int r = transcript_open(
		t->parts.v.v[turn->part].path, t->parts.format, &opts, &reader, reterr);

	while (r >= 0 && (r = transcript_next(reader, &item, reterr)) > 0)
		if (!(item.flags & ITEM_SIDECHAIN))
			r = fn(data, &item, reterr);
	transcript_close(reader);
	return r < 0 ? r : 0;
}

/* ---- two of them ---- */

bool turn_view_same(const struct turn_view *a, const struct turn_view *b)
{
	return a->said == b->said &&
		(a->by_id == b->by_id || a->by_call == b->by_call || a->by_words == b->by_words);
}

size_t turn_views_common(const struct turn_views *a, const struct turn_views *b)
{
	size_t n = 0;

	while (n < a->v.n && n < b->v.n && turn_view_same(&a->v.v[n], &b->v.v[n]))
		n++;
	return n;
}

/* ---- a place to cut ---- */

void turn_cut_release(struct turn_cut *c)
{
	free(TAKE_PTR(c->path));
}

int turn_cut_find(const char *path, const struct transcript_format *format,
	const struct transcript_home *home, uint64_t at, struct turn_cut *ret, struct err *reterr)
{
	AUTO_TURN_VIEWS turns = TURN_VIEWS_INIT;

	if (at == 0) {
		*ret = (struct turn_cut){ .path = xstrdup(path) };
		return 0;
	}
	int r = turn_views_read(path, format, home, at, &turns, reterr);
	if (r < 0)
		return r;
	if (turns.v.n < at)
		return err_set(reterr, ERR_INPUT,
			"there is no turn %llu: the session has %zu ('faden show' numbers them)",
			(unsigned long long)at, turns.v.n);
	const struct turn_view *turn = &turns.v.v[at - 1];
	*ret = (struct turn_cut){ xstrdup(turns.parts.v.v[turn->part].path), turn->end,
		turn->number, turn->open };
	return 0;
}

/*
 * Taking one piece out: measure, hash, placeholder, splice, and where the original is.
 */
#include "strategy/cut.h"
#include "strategy/trim-run.h"
#include "json/write.h"

enum { REPEATED_MIN = 120 }; /* bytes: about those of a placeholder */

bool trim_may_repeat(struct jval val)
{
	struct sv inner = scan_inner(val);

	return inner.n >= REPEATED_MIN && !placeholder_is(inner);
}

void trim_lower(struct sv name, struct str *out)
{
	for (size_t i = 0; i < name.n; i++)
		str_addc(out,
			name.p[i] >= 'A' && name.p[i] <= 'Z' ? (char)(name.p[i] | 0x20)
							     : name.p[i]);
}

bool trim_selected(const struct trim_run *run, struct sv name)
{
	AUTO_STR lower = STR_INIT;
	uint64_t index;

	if (run->wanted.n == 0)
		return true;
	trim_lower(name, &lower);
	return map_get(&run->wanted, str_sv(&lower), &index);
}

bool trim_is_long(const struct trim_run *run, struct jval text)
{
	struct sv inner = scan_inner(text);
	size_t threshold = (size_t)run->opts->threshold;

	return inner.n >= threshold && !placeholder_is(inner) && text_chars(inner) >= threshold;
}

/* A line in hand. */
struct trim_at {
	const struct trim_run *run;
	struct trim_part *part;
	const struct rewrite_line *line;
	struct edit *edit;
	const char *text_type; /* what a block with text is called */
};

struct trim_piece {
	struct placeholder holder; /* kind, name, part; the rest is filled in */
	struct trim_count *count;
	bool sent; /* counts for tokens */
	bool repeated; /* goes at any length */
};

/* ---- one piece ---- */

/* Replaces what is cut by JSON when that is shorter. */
static void replace(struct trim_at *at, const struct trim_piece *piece, const struct cut *cut,
	struct sv json, enum recall_kind kind, struct recall_hash hash, int64_t chars_gone)
{
	const struct rewrite_line *line = at->line;
	const struct text_walk *inside = cut->inside;
	struct jval holder = inside ? inside->string : cut->val;
	AUTO_STR escaped = STR_INIT;
	struct recall_place place = {
		.hash = hash,
		.offset = line->offset + (uint64_t)(holder.raw.p - line->text.p),
		.size = holder.raw.n,
		.kind = kind,
	};

	if (inside) {
		place.inner_offset = (uint64_t)(cut->val.raw.p - inside->text.p);
		place.inner_size = cut->val.raw.n;
		json_escape(&escaped, json);
		json = str_sv(&escaped);
	}
	if (json.n >= cut->span.n)
		return;
	uint64_t bytes = cut->span.n - json.n;
	bool image = kind == RECALL_IMAGE;
	edit_replace(at->edit, cut->span, json);
	vec_push(&at->part->places, place);
	piece->count->n++;
	piece->count->chars += chars_gone;
	piece->count->bytes += bytes;
	if (piece->sent)
		vec_push(&at->part->saved,
			(struct trim_saved){ line->record, image ? 0 : bytes, image });
}

/* A JSON string: the head of the text as it stands, then the placeholder. */
static void string_json(
	struct trim_part *part, const struct placeholder *p, struct sv head, struct str *out)
{
	str_clear(&part->text);
	placeholder_text(p, &part->text);
	str_addc(out, '"');
	if (head.n > 0) {
		str_add(out, head);
		str_adds(out, "\\n\\n");
	}
	json_escape(out, str_sv(&part->text));
	str_addc(out, '"');
}

static void take_text(struct trim_at *at, const struct trim_piece *piece, const struct cut *cut)
{
	const struct trim_opts *o = at->run->opts;
	int64_t shown = o->keep_head > 0 ? o->keep_head : o->style == TRIM_HEAD ? o->threshold : 0;
	size_t keep = piece->repeated ? 0 : (size_t)shown;
	struct sv head = { NULL, 0 };
	struct placeholder p = piece->holder;

	p.part = cut->part;
	p.length = cut->chars;
	if (p.length <= keep)
		return;
	if (keep > 0) {
		head = text_head(scan_inner(cut->val), keep);
		p.shown = keep;
	}
	p.hash = recall_hash(cut->val.raw);
	str_clear(&at->part->json);
	string_json(at->part, &p, head, &at->part->json);
	int64_t gone = (int64_t)p.length - (int64_t)(p.shown + at->part->text.len);
	replace(at, piece, cut, str_sv(&at->part->json), RECALL_TEXT, p.hash, gone);
}

/* One placeholder for all texts of the list. */
static void take_blocks(struct trim_at *at, const struct trim_piece *piece, const struct cut *cut)
{
	struct placeholder p = piece->holder;
	struct str *json = &at->part->json;

	p.length = cut->chars;
	p.hash = recall_hash(cut->val.raw);
	str_clear(json);
	str_addf(json, "[{\"type\":\"%s\",\"text\":", at->text_type);
	string_json(at->part, &p, (struct sv){ NULL, 0 }, json);
	str_adds(json, "}]");
	replace(at, piece, cut, str_sv(json), RECALL_BLOCKS, p.hash,
		(int64_t)cut->chars - (int64_t)at->part->text.len);
}

/* A block with base64 data becomes a text block. source: an object with the data in it, or the
 * address that holds them. */
static void take_picture(struct trim_at *at, struct jval block, struct jval source)
{
	const struct trim_piece piece = { .count = &at->part->images, .sent = true };
	struct jval data = source.type == J_STRING ? source : line_member(source, "data");
	struct sv media = scan_inner(line_member(source, "media_type"));
	struct placeholder p = {
		.kind = PLACEHOLDER_IMAGE,
		.name = media.n ? media : SV("image"),
		.length = scan_inner(data).n / 4 * 3,
	};
	struct str *json = &at->part->json;

	if (data.type != J_STRING)
		return;
	if (!at->run->opts->images) {
		at->part->images_left++;
		return;
	}
	p.hash = recall_hash(block.raw);
	str_clear(json);
	str_addf(json, "{\"type\":\"%s\",\"text\":", at->text_type);
	string_json(at->part, &p, (struct sv){ NULL, 0 }, json);
	str_addc(json, '}');
	const struct cut cut = { CUT_PICTURE, .val = block, .span = block.raw };
	replace(at, &piece, &cut, str_sv(json), RECALL_IMAGE, p.hash, 0);
}

/* ---- any piece ---- */

static bool takes_answer(const struct trim_run *run, size_t index)
{
	int64_t n = run->opts->assistant;
	size_t last = n < 0 ? (size_t)-n : 0, total = run->answers_total;

	return n >= 0 ? index < (size_t)n : total > last && index < total - last;
}

struct taking {
	struct trim_at at;
	struct trim_piece piece;
};

static void take_cut(void *data, const struct cut *cut)
{
	struct taking *t = data;

	switch (cut->what) {
	case CUT_TEXT:
		take_text(&t->at, &t->piece, cut);
		break;
	case CUT_BLOCKS:
		take_blocks(&t->at, &t->piece, cut);
		break;
	case CUT_PICTURE: {
		struct jval source = line_member(cut->val, "source");
		take_picture(&t->at, cut->val,
			source.type != J_NONE ? source : line_member(cut->val, "image_url"));
		break;
	}
	}
}

void trim_take(const struct trim_run *run, struct trim_part *part, const struct rewrite_line *line,
	struct edit *e, const struct trim_job *job)
{
	const struct transcript_format *format = run->opts->format;
	struct taking t = {
		.at = { run, part, line, e, line_text_type(format) },
		.piece = {
			.holder = { .kind = PLACEHOLDER_RESULT, .name = sv_of(job->name) },
			.count = &part->results,
			.sent = true,
			.repeated = job->repeated,
		},
	};
	struct trim_piece *piece = &t.piece;

	switch (job->piece.kind) {
	case PIECE_RESULT:
		break;
	case PIECE_COPY:
		piece->count = &part->copies;
		piece->sent = false;
		break;
	case PIECE_CALL:
		piece->holder =
			(struct placeholder){ .kind = PLACEHOLDER_INPUT, .name = job->piece.name };
		piece->count = &part->inputs;
		break;
	case PIECE_ANSWER:
		piece->holder = (struct placeholder){ .kind = PLACEHOLDER_ANSWER,
			.name = sv_of(line_agent_title(format)) };
		piece->count = &part->answers;
		if (!takes_answer(run, part->candidates_before + job->candidate))
			return;
		break;
	case PIECE_DISPLAY: {
		/* It is a member of the line and goes as one, once. */
		struct jval whole;
		if (line->noted || scan_text(line->text, &whole) < 0 ||
			edit_remove(e, whole, SV("toolUseResult")) <= 0)
			return;
		part->copies.n++;
		part->copies.bytes += job->piece.val.raw.n;
		return;
	}
	case PIECE_PICTURE:
		take_picture(&t.at, job->piece.block, job->piece.val);
		return;
	case PIECE_PROMPT:
	case PIECE_NOTICE:
	case PIECE_SUMMARY:
	case PIECE_THINKING:
		return;
	}
	cut_each(&job->piece, t.at.text_type, job->repeated ? 0 : (size_t)run->opts->threshold,
		take_cut, &t);
}

/*
 * From the choices to the new session.
 */
#include "strategy/smart.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/known.h"
#include "strategy/placeholder.h"
#include "transcript/home.h"
#include "json/write.h"

void smart_report_release(struct smart_report *r)
{
	rewrite_result_release(&r->file);
}

/* A text to be replaced, at its place in the file. */
struct swap {
	const struct smart_entry *entry;
	char *json;
};

struct smart_run {
	const struct smart_opts *opts;
	const struct archive *archive;
	const struct smart_digest *digest;
	struct smart_report *report;
	VEC(struct swap) swaps; /* in the order of the file */
	uint64_t lines; /* of the file */
};

/* Per chunk of lines: what became of the swaps in it. */
struct smart_part {
	VEC(size_t) done; /* index of swaps */
	uint64_t lines;
};

static void run_release(struct smart_run *run)
{
	vec_each (&run->swaps, s)
		free(s->json);
	vec_release(&run->swaps);
}

/* ---- what stands in its place ---- */

static void put_blocks(struct str *out, const struct transcript_format *format, enum item_kind kind,
	struct sv text)
{
	const char *type = format == TRANSCRIPT_CLAUDE ? "text"
		: kind == ITEM_ASSISTANT	       ? "output_text"
						       : "input_text";
	struct jw w = JW_INIT(out);

	jw_array(&w);
	jw_object(&w);
	jw_put_cstr(&w, "type", type);
	jw_put_string(&w, "text", text);
	jw_end(&w);
	jw_end(&w);
}

/* NULL when it would be no shorter. */
static char *replacement(
	const struct smart_run *run, const struct smart_entry *e, const char *summary)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR json = STR_INIT;
	const struct placeholder p = {
		.kind = PLACEHOLDER_SUMMARY, .length = e->chars, .hash = e->hash
	};

	str_addf(&text, "%s\n\n", summary);
	placeholder_text(&p, &text);
	if (e->place.type == J_ARRAY)
		put_blocks(&json, run->opts->format, e->kind, str_sv(&text));
	else
		json_quote(&json, str_sv(&text));
	return json.len < e->place.size ? str_detach(&json) : NULL;
}

static void make_swaps(struct smart_run *run, const struct smart_answer *answer)
{
	vec_each (&answer->choices, c) {
		const struct smart_entry *e = &run->digest->entries.v[c->entry];
		char *json = replacement(run, e, c->summary);
		if (json)
			vec_push(&run->swaps, (struct swap){ e, json });
	}
}

/* ---- rewriting ---- */

static void *part_new(void *data)
{
	(void)data;
	return xcalloc(1, sizeof(struct smart_part));
}

static void part_free(void *data, void *chunk)
{
	struct smart_part *part = chunk;

	(void)data;
	vec_release(&part->done);
	free(part);
}

/* The first swap at or behind a place of the file. */
static size_t first_from(const struct smart_run *run, uint64_t offset)
{
	size_t low = 0, high = run->swaps.n;

	while (low < high) {
		size_t mid = low + (high - low) / 2;
		if (run->swaps.v[mid].entry->place.offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static int on_edit(void *data, void *chunk, struct rewrite_line *line, struct edit *e,
	struct str *out, struct err *reterr)
{
	const struct smart_run *run = data;
	struct smart_part *part = chunk;

	(void)out;
	part->lines++;
	for (size_t i = first_from(run, line->offset); i < run->swaps.n; i++) {
		const struct swap *s = &run->swaps.v[i];
		uint64_t at = s->entry->place.offset - line->offset, size = s->entry->place.size;
		if (s->entry->place.offset >= line->offset + line->size)
			break;
		if (!line->object || at + size > line->text.n)
			continue; /* too long to be held: it stays */
		struct sv span = sv_make(line->text.p + at, (size_t)size);
		struct recall_hash hash = recall_hash(span);
		if (hash.low != s->entry->hash.low || hash.high != s->entry->hash.high)
			return err_set(reterr, ERR_BUSY,
				"the session was changed while the agent chose; try again");
		edit_replace(e, span, sv_of(s->json));
		vec_push(&part->done, i);
	}
	return REWRITE_EDITED;
}

static int on_fold(void *data, void *chunk, struct err *reterr)
{
	struct smart_run *run = data;
	const struct smart_part *part = chunk;

	(void)reterr;
	run->lines += part->lines;
	vec_each (&part->done, i) {
		const struct swap *s = &run->swaps.v[*i];
		run->report->replaced++;
		run->report->bytes += s->entry->place.size - strlen(s->json);
	}
	return 0;
}

static int keep_originals(const struct smart_run *run, struct err *reterr)
{
	VEC(struct recall_place) places = VEC_INIT;
	char key[ARCHIVE_KEY_MAX];

	vec_each (&run->swaps, s)
		vec_push(&places,
			(struct recall_place){
				.hash = s->entry->hash,
				.offset = s->entry->place.offset,
				.size = s->entry->place.size,
				.kind = s->entry->place.type == J_ARRAY ? RECALL_BLOCKS
									: RECALL_TEXT,
			});
	int r = archive_keep(run->archive, run->opts->path, ARCHIVE_GROWING, key, reterr);
	if (r >= 0)
		r = recall_add(run->archive, key, places.v, places.n, reterr);
	vec_release(&places);
	return r;
}

static int on_done(void *data, const struct transcript_live *live, struct err *reterr)
{
	struct smart_run *run = data;
	const struct smart_digest *d = run->digest;

	(void)live;
	run->report->saved = tokens_saved(&d->tokens, run->report->bytes, d->sent, 0);
	run->report->before = tokens_context(&d->tokens);
	if (run->report->replaced == 0)
		return err_set(reterr, ERR_NOTFOUND, "nothing could be replaced");
	return run->opts->dry ? 0 : keep_originals(run, reterr);
}

static void put_stats(const struct smart_run *run, struct jw *w)
{
	const struct smart_report *r = run->report;
	const struct known known =
		known_of(&run->digest->tokens, known_left(r->before, r->saved), run->lines);

	jw_key(w, "stats");
	jw_object(w);
	jw_put_i64(w, "original_tokens", r->before.tokens);
	jw_put_i64(w, "trimmed_tokens", r->before.tokens - r->saved.tokens);
	jw_put_i64(w, "tokens_saved", r->saved.tokens);
	jw_put_cstr(w, "tokens_sure", sure_name(r->saved.sure));
	jw_put_i64(w, "texts_summarised", (int64_t)r->replaced);
	known_put(w, &known);
	jw_end(w);
}

static void on_note(void *data, struct jw *w)
{
	const struct smart_run *run = data;
	const struct smart_opts *o = run->opts;
	char when[CLOCK_TEXT_MAX];

	clock_format_iso(clock_wall_ms(run->archive->clock), when);
	jw_put_cstr(w, "parent_file", o->path);
	jw_put_string(w, "parent_session_id", transcript_path_id(o->format, sv_of(o->path)));
	jw_put_cstr(w, "trimmed_at", when);
	jw_key(w, "trim_params");
	jw_object(w);
	jw_put_cstr(w, "method", "smart-trim");
	jw_put_cstr(w, "agent", o->agent);
	jw_put_i64(w, "keep_recent", o->keep_recent);
	jw_end(w);
	put_stats(run, w);
}

int smart_apply(const struct smart_opts *opts, const struct smart_digest *d,
	const struct smart_answer *answer, const struct archive *archive, struct smart_report *ret,
	struct err *reterr)
{
	static const struct rewrite_ops ops = {
		.chunk_new = part_new,
		.chunk_free = part_free,
		.edit = on_edit,
		.fold = on_fold,
		.done = on_done,
		.note = on_note,
	};
	struct smart_report report = SMART_REPORT_INIT;
	CLEANUP(run_release)
	struct smart_run run = { .opts = opts, .archive = archive, .digest = d, .report = &report };
	const struct rewrite_opts how = {
		.path = opts->path,
		.format = opts->format,
		.changes = REWRITE_ALL,
		.note_key = "trim_metadata",
		.out_dir = opts->out_dir,
		.dry = opts->dry,
		.threads = opts->threads,
		.clock = archive->clock,
	};

	make_swaps(&run, answer);
	int r = rewrite_session(&how, &ops, &run, &report.file, reterr);
	if (r < 0) {
		smart_report_release(&report);
		return r;
	}
	*ret = report;
	return 0;
}

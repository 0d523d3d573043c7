#include "strategy/trim.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "strategy/trim-run.h"
#include "transcript/home.h"

enum {
	PLACES_FLUSH = 65536, /* references are stored in batches: memory stays small */
	CHARS_MAX = 16 * 1024 * 1024, /* of threshold and kept head */
	NAMES_SHOWN = 12, /* tools named in an error */
};
static const char unknown_tool[] = "Unknown";

void trim_report_release(struct trim_report *report)
{
	rewrite_result_release(&report->file);
	strv_release(&report->unknown);
}

/* ---- a chunk's life ---- */

static void *part_new(void *data UNUSED)
{
	struct trim_part *part = xcalloc(1, sizeof(*part));

	part->text = part->json = (struct str)STR_INIT;
	return part;
}

static void part_free(void *data UNUSED, void *chunk)
{
	struct trim_part *part = chunk;

	vec_release(&part->uses);
	vec_release(&part->jobs);
	vec_release(&part->facts);
	vec_release(&part->calls);
	vec_release(&part->saved);
	vec_release(&part->places);
	str_release(&part->text);
	str_release(&part->json);
	free(part);
}

static void push_fact(struct trim_part *part, enum trim_feed what, uint64_t n)
{
	vec_push(&part->facts, (struct trim_fact){ what, part->lines, part->records, n });
}

static void feed_look(struct trim_part *part, const struct line_look *look, bool early)
{
	if (look->breaks) {
		push_fact(part, FEED_BREAK, (uint64_t)look->left);
		part->breaks++;
	}
	if (look->called || look->model.n > 0) {
		push_fact(part, look->called ? FEED_CALL : FEED_MODEL, part->calls.n);
		vec_push(&part->calls,
			(struct trim_call){ look->model, look->message, look->usage });
	}
	vec_each (&look->pieces, piece) {
		bool answer = piece->kind == PIECE_ANSWER || piece->kind == PIECE_CALL;
		if (!piece->counts || piece->kind == PIECE_THINKING)
			continue;
		for (uint32_t i = 0; i < piece->images; i++)
			push_fact(part, FEED_ODD, 0);
		if (piece->kind != PIECE_PICTURE)
			push_fact(part,
				!answer		? FEED_REST
					: early ? FEED_EARLY
						: FEED_ANSWER,
				piece->bytes);
	}
}

/* Notes the piece for edit() when something may be done about it. */
static void want_piece(
	const struct trim_run *run, struct trim_part *part, const struct line_piece *piece)
{
	const struct trim_opts *o = run->opts;
	struct trim_job job = { .piece = *piece, .line = part->lines, .breaks = part->breaks };
	bool large = piece->val.raw.n >= (size_t)o->threshold, wanted = large;

	if (piece->kind == PIECE_RESULT && o->duplicates && trim_may_repeat(piece->val)) {
		job.hash = recall_hash(piece->val.raw).low | 1;
		wanted = true;
	} else if (piece->kind == PIECE_PICTURE) {
		wanted = true;
	} else if (piece->kind == PIECE_DISPLAY) {
		const struct trim_job *last = part->jobs.n ? &part->jobs.v[part->jobs.n - 1] : NULL;
		wanted = large && o->display &&
			!(last && last->line == part->lines && last->piece.kind == PIECE_DISPLAY);
	} else if (piece->kind == PIECE_CALL) {
		wanted = large && !o->keep_inputs && trim_selected(run, piece->name);
	} else if (piece->kind == PIECE_ANSWER) {
		wanted = false; /* see look_answers() */
	} else if (piece->kind != PIECE_RESULT && piece->kind != PIECE_COPY) {
		wanted = false;
	}
	if (wanted)
		vec_push(&part->jobs, job);
}

/* A message with a text long enough counts among the first or last N; then all its texts are looked
 * at. */
static void look_answers(const struct trim_run *run, struct trim_part *part,
	const struct line_look *look, bool neutral)
{
	const struct line_piece *pieces = look->pieces.v;

	for (size_t i = 0, end; i < look->pieces.n; i = end) {
		bool is_long = false;
		for (end = i; end < look->pieces.n && pieces[end].answer == pieces[i].answer; end++)
			is_long = is_long ||
				(pieces[end].kind == PIECE_ANSWER &&
					trim_is_long(run, pieces[end].val));
		for (size_t k = i; is_long && run->opts->assistant != 0 && !neutral && k < end; k++)
			if (pieces[k].kind == PIECE_ANSWER)
				vec_push(&part->jobs,
					(struct trim_job){ .piece = pieces[k],
						.line = part->lines,
						.candidate = part->candidates });
		part->candidates += is_long;
	}
}

static int on_read(void *data, void *chunk, struct rewrite_line *line, struct err *reterr UNUSED)
{
	const struct trim_run *run = data;
	struct trim_part *part = chunk;
	const struct line_look *look = line->look;

	if (look) {
		feed_look(part, look, line_usage_follows(run->opts->format));
		vec_each (&look->pieces, piece) {
			if (piece->kind == PIECE_CALL && piece->id.n > 0)
				vec_push(&part->uses, (struct trim_use){ piece->id, piece->name });
			if (!line->neutral)
				want_piece(run, part, piece);
		}
		look_answers(run, part, look, line->neutral);
	}
	part->lines++;
	part->records += (uint32_t)line->records;
	return 0;
}

/* The name as it was first seen; it stays where it is while the list of names grows. */
static uint64_t name_index(struct trim_run *run, struct sv name)
{
	uint64_t index;

	if (map_get(&run->known, name, &index))
		return index;
	strv_addsv(&run->names, name);
	(void)map_put(&run->known, name, run->names.n - 1);
	return run->names.n - 1;
}

/* Whether the same was said since the last compaction; what stands before it is not sent. */
static bool is_repeated(struct trim_run *run, const struct trim_job *job)
{
	struct sv key = sv_make((const char *)&job->hash, sizeof(job->hash));
	uint64_t now = run->breaks + job->breaks, then;

	if (job->hash == 0)
		return false;
	bool seen = map_get(&run->seen, key, &then) && then == now;
	(void)map_put(&run->seen, key, now);
	return seen;
}

static int on_join(void *data, void *chunk, struct err *reterr UNUSED)
{
	struct trim_run *run = data;
	struct trim_part *part = chunk;

	vec_each (&part->uses, use)
		idmap_put(&run->tools, use->id, (uint32_t)name_index(run, use->name));
	vec_each (&part->jobs, job) {
		uint32_t index;
		bool of_tool = job->piece.kind == PIECE_RESULT || job->piece.kind == PIECE_COPY ||
			job->piece.kind == PIECE_DISPLAY;
		bool found = of_tool && idmap_get(&run->tools, job->piece.id, &index);
		job->name = found ? run->names.v[index] : unknown_tool;
		job->selected = !of_tool || trim_selected(run, sv_of(job->name));
		job->repeated = is_repeated(run, job);
	}
	run->breaks += part->breaks;
	part->candidates_before = run->candidates;
	run->candidates += part->candidates;
	return 0;
}

static int on_edit(void *data, void *chunk, struct rewrite_line *line, struct edit *e,
	struct str *out UNUSED, struct err *reterr UNUSED)
{
	struct trim_part *part = chunk;

	while (part->job < part->jobs.n && part->jobs.v[part->job].line < part->line)
		part->job++; /* of a line that is too long to be held */
	for (; part->job < part->jobs.n && part->jobs.v[part->job].line == part->line; part->job++)
		if (part->jobs.v[part->job].selected)
			trim_take(data, part, line, e, &part->jobs.v[part->job]);
	part->line++;
	return REWRITE_EDITED;
}

/* ---- folding ---- */

static void feed_tokens(struct tokens *t, const struct trim_part *part, const struct trim_fact *f)
{
	const struct trim_call *call =
		f->what == FEED_CALL || f->what == FEED_MODEL ? &part->calls.v[f->n] : NULL;

	switch (f->what) {
	case FEED_CALL:
		tokens_call(t, call->model, call->message, &call->usage);
		break;
	case FEED_REST:
		tokens_text(t, TOKEN_REST, f->n);
		break;
	case FEED_ANSWER:
		tokens_text(t, TOKEN_ANSWER, f->n);
		break;
	case FEED_EARLY:
		tokens_text(t, TOKEN_ANSWER_EARLY, f->n);
		break;
	case FEED_ODD:
		tokens_odd(t);
		break;
	case FEED_MODEL:
		tokens_set_model(t, call->model);
		break;
	case FEED_BREAK:
		tokens_compacted(t, (int64_t)f->n);
		break;
	}
}

static void add_count(struct trim_count *to, const struct trim_count *from)
{
	to->n += from->n;
	to->chars += from->chars;
	to->bytes += from->bytes;
}

/* The parent goes into the archive before anything points there. */
static int flush_places(struct trim_run *run, struct err *reterr)
{
	int r = 0;

	if (run->opts->dry || run->places.n == 0)
		return 0;
	if (run->key[0] == '\0')
		r = archive_keep(run->archive, run->opts->path,
			run->opts->in_place ? ARCHIVE_COPY : ARCHIVE_GROWING, run->key, reterr);
	if (r == 0)
		r = recall_add(run->archive, run->key, run->places.v, run->places.n, reterr);
	run->places.n = 0;
	return r;
}

static int on_fold(void *data, void *chunk, struct err *reterr)
{
	struct trim_run *run = data;
	const struct trim_part *part = chunk;
	struct trim_report *report = run->report;

	vec_each (&part->facts, fact) {
		known_tell(&run->told, &run->tokens, run->lines + fact->line);
		feed_tokens(&run->tokens, part, fact);
		if (fact->what != FEED_REST && fact->what != FEED_ANSWER &&
			fact->what != FEED_EARLY)
			continue;
		size_t record = run->records + fact->record;
		while (run->sent.n <= record)
			vec_push(&run->sent, 0);
		uint64_t sum = run->sent.v[record] + fact->n;
		run->sent.v[record] = sum < UINT32_MAX ? (uint32_t)sum : UINT32_MAX;
	}
	run->lines += part->lines;
	run->records += part->records;
	vec_each (&part->saved, saved)
		vec_push(&run->saved, *saved);
	add_count(&report->results, &part->results);
	add_count(&report->inputs, &part->inputs);
	add_count(&report->answers, &part->answers);
	add_count(&report->images, &part->images);
	add_count(&report->copies, &part->copies);
	report->images_left += part->images_left;
	if (run->opts->dry)
		return 0;
	vec_each (&part->places, place)
		vec_push(&run->places, *place);
	return run->places.n >= PLACES_FLUSH ? flush_places(run, reterr) : 0;
}

/* ---- the end ---- */

static void sum_live(struct trim_run *run, const struct transcript_live *live)
{
	struct trim_report *report = run->report;

	vec_each (&run->saved, saved)
		if (transcript_is_live(live, saved->record)) {
			report->live_bytes += saved->bytes;
			report->live_images += saved->image;
		}
	uint64_t sent = 0;
	for (size_t i = 0; i < run->sent.n; i++)
		sent += transcript_is_live(live, i) ? run->sent.v[i] : 0;
	known_tell(&run->told, &run->tokens, UINT64_MAX);
	tokens_sent(&run->tokens, sent);
	report->saved = tokens_saved(&run->tokens, report->live_bytes, sent, report->live_images);
	report->before = tokens_context(&run->tokens);
	const struct token_ratio ratio = tokens_ratio(&run->tokens);
	report->worth =
		tokens_of(&ratio, report->live_bytes).tokens + report->live_images * TOKENS_IMAGE;
	report->left = known_left(report->before, report->saved);
	report->base = live->base_id && live->base_id[0];
}

static int64_t trimmed(const struct trim_report *r)
{
	return r->results.n + r->inputs.n + r->answers.n + r->images.n + r->copies.n;
}

/* ---- tools by name ---- */

static bool is_used(const struct trim_run *run, const char *tool)
{
	AUTO_STR want = STR_INIT;

	trim_lower(sv_of(tool), &want);
	for (size_t i = 0; i < run->names.n; i++) {
		AUTO_STR have = STR_INIT;
		trim_lower(sv_of(run->names.v[i]), &have);
		if (strcmp(have.buf, want.buf) == 0)
			return true;
	}
	return sv_is(str_sv(&want), "unknown");
}

static void add_names(struct str *out, const struct strv *names)
{
	for (size_t i = 0; i < names->n && i < NAMES_SHOWN; i++) {
		str_adds(out, i ? ", " : "");
		utf8_scrub_line(out, sv_of(names->v[i]));
	}
	if (names->n > NAMES_SHOWN)
		str_adds(out, " and others");
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* A misspelt name would trim nothing, or less than was meant. */
static int check_tools(struct trim_run *run, struct err *reterr)
{
	const struct strv *tools = run->opts->tools;
	struct strv *unknown = &run->report->unknown;
	AUTO_STR given = STR_INIT;
	AUTO_STR there = STR_INIT;

	for (size_t i = 0; tools && i < tools->n; i++)
		if (!is_used(run, tools->v[i]))
			strv_addsv(unknown, sv_of(tools->v[i]));
	if (unknown->n == 0 || unknown->n < tools->n)
		return 0;
	if (run->names.n > 0)
		qsort(run->names.v, run->names.n, sizeof(run->names.v[0]), by_name);
	add_names(&given, unknown);
	add_names(&there, &run->names);
	return err_set(reterr, ERR_NOTFOUND, "nothing to trim in %s: no tool %s here; %s%s",
		run->name, given.buf, there.len ? "there are " : "no tool was used",
		there.len ? there.buf : "");
}

/* ---- whether it is worth it ---- */

static int nothing_long(const struct trim_run *run, struct err *reterr)
{
	int64_t images = run->report->images_left;
	AUTO_STR hint = STR_INIT;

	if (run->candidates > 0)
		str_addf(&hint, "; %zu long answer%s would go with --assistant %zu",
			run->candidates, run->candidates == 1 ? "" : "s", run->candidates);
	if (images > 0)
		str_addf(&hint, "; %" PRId64 " picture%s or document%s would go with --images",
			images, images == 1 ? "" : "s", images == 1 ? "" : "s");
	return err_set(reterr, ERR_NOTFOUND,
		"nothing to trim in %s: no tool's result or input of %" PRId64
		" characters or more is left that is not trimmed already%s",
		run->name, run->opts->threshold, hint.len ? hint.buf : "");
}

static int enough(struct trim_run *run, struct err *reterr)
{
	const struct trim_report *report = run->report;
	int64_t want = run->opts->min_savings;
	int r = check_tools(run, reterr);

	if (r < 0)
		return r;
	if (trimmed(report) == 0)
		return nothing_long(run, reterr);
	if (report->saved.tokens >= want || report->worth >= want)
		return 0;
	if (report->live_bytes == 0)
		return err_set(reterr, ERR_NOTFOUND,
			"nothing to trim in %s: what is long is not sent to the model any more "
			"(it lies before the last compaction or on a branch that was left)",
			run->name);
	return err_set(reterr, ERR_NOTFOUND,
		"nothing to trim in %s: it would save %" PRId64 " tokens (%s), less than %" PRId64,
		run->name, report->saved.tokens, sure_name(report->saved.sure), want);
}

static int on_done(void *data, const struct transcript_live *live, struct err *reterr)
{
	struct trim_run *run = data;

	sum_live(run, live);
	int r = enough(run, reterr);
	return r < 0 ? r : flush_places(run, reterr);
}

static void put_known(const struct trim_run *run, struct jw *w)
{
	const struct known known = known_of(&run->tokens, run->report->left, run->lines);

	known_put(w, &known);
}

static void on_note(void *data, struct jw *w)
{
	const struct trim_run *run = data;
	const struct trim_report *r = run->report;
	const struct trim_opts *o = run->opts;
	char when[CLOCK_TEXT_MAX];

	if (o->in_place) {
		put_known(run, w);
		return;
	}
	clock_format_iso(clock_wall_ms(run->archive->clock), when);
	jw_put_cstr(w, "parent_file", o->path);
	jw_put_string(w, "parent_session_id", transcript_path_id(o->format, sv_of(o->path)));
	jw_put_cstr(w, "trimmed_at", when);
	jw_key(w, "trim_params");
	jw_object(w);
	jw_key(w, "target_tools");
	if (o->tools && o->tools->n > 0) {
		jw_array(w);
		for (size_t i = 0; i < o->tools->n; i++)
			jw_string(w, sv_of(o->tools->v[i]));
		jw_end(w);
	} else {
		jw_null(w);
	}
	jw_put_i64(w, "threshold", o->threshold);
	jw_key(w, "trim_assistant_messages");
	if (o->assistant)
		jw_i64(w, o->assistant);
	else
		jw_bool(w, false);
	jw_end(w);
	jw_key(w, "stats");
	jw_object(w);
	jw_put_i64(w, "original_tokens", r->before.tokens);
	jw_put_i64(w, "trimmed_tokens", r->before.tokens - r->saved.tokens);
	jw_put_i64(w, "tokens_saved", r->saved.tokens);
	jw_put_cstr(w, "tokens_sure", sure_name(r->saved.sure));
	jw_put_i64(w, "tools_trimmed", r->results.n + r->inputs.n);
	jw_put_i64(w, "assistant_trimmed", r->answers.n);
	jw_put_i64(w, "chars_saved", r->results.chars + r->inputs.chars + r->answers.chars);
	put_known(run, w);
	jw_end(w);
}

/* ---- the whole ---- */

static void run_release(struct trim_run *run)
{
	idmap_release(&run->tools);
	map_release(&run->known);
	map_release(&run->wanted);
	map_release(&run->seen);
	strv_release(&run->names);
	vec_release(&run->places);
	vec_release(&run->saved);
	vec_release(&run->sent);
}

static struct rewrite_opts rewrite_of(const struct trim_run *run)
{
	const struct trim_opts *o = run->opts;

	return (struct rewrite_opts){
		.path = o->path,
		.format = o->format,
		.changes = REWRITE_ALL,
		.note_key = o->in_place ? KNOWN_NOTE_KEY : "trim_metadata",
		.out_dir = o->out_dir,
		.in_place = o->in_place,
		.dry = o->dry,
		.live = true,
		.threads = o->threads,
		.clock = run->archive->clock,
	};
}

/* "All but the last N" needs their number before the first of them is seen. */
static int count_answers(struct trim_run *run, struct err *reterr)
{
	static const struct rewrite_ops ops = {
		.chunk_new = part_new,
		.chunk_free = part_free,
		.read = on_read,
		.join = on_join,
	};
	struct rewrite_result result = REWRITE_RESULT_INIT;
	struct rewrite_opts opts = rewrite_of(run);

	opts.dry = true;
	opts.live = false;
	int r = rewrite_session(&opts, &ops, run, &result, reterr);
	rewrite_result_release(&result);
	run->answers_total = run->candidates;
	run->candidates = 0;
	return r;
}

int trim_session(const struct trim_opts *opts, const struct archive *archive,
	struct trim_report *ret, struct err *reterr)
{
	static const struct rewrite_ops ops = {
		.chunk_new = part_new,
		.chunk_free = part_free,
		.read = on_read,
		.join = on_join,
		.edit = on_edit,
		.fold = on_fold,
		.done = on_done,
		.note = on_note,
	};
	struct trim_report report = TRIM_REPORT_INIT;
	CLEANUP(run_release)
	struct trim_run run = { .opts = opts, .archive = archive, .report = &report };

	if (opts->threshold < 1 || opts->threshold > CHARS_MAX || opts->keep_head < 0 ||
		opts->keep_head > CHARS_MAX)
		return err_set(reterr, ERR_USAGE, "a size must be between 1 and %d", CHARS_MAX);
	struct sv id = transcript_path_id(opts->format, sv_of(opts->path));
	AUTO_FREE char *name = id.n ? xmemdup0(id.p, id.n) : xstrdup(opts->path);
	run.name = name;
	for (size_t i = 0; opts->tools && i < opts->tools->n; i++) {
		AUTO_STR lower = STR_INIT;
		trim_lower(sv_of(opts->tools->v[i]), &lower);
		(void)map_put(&run.wanted, str_sv(&lower), 1);
	}
	known_read(opts->path, &run.told);
	int r = opts->assistant < 0 ? count_answers(&run, reterr) : 0;
	const struct rewrite_opts how = rewrite_of(&run);
	if (r == 0)
		r = rewrite_session(&how, &ops, &run, &report.file, reterr);
	if (opts->in_place && r == 0)
		memcpy(report.backup, run.key, sizeof(report.backup));
	if (r == 0 || r == ERR_NOTFOUND)
		*ret = report;
	else
		trim_report_release(&report);
	return r;
}

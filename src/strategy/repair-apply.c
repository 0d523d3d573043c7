/*
 * The mended session written: every line of the parent by the plan of its facts, and then looked at
 * once more.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "strategy/known.h"
#include "strategy/repair-run.h"
#include "strategy/rewrite.h"
#include "json/jsonl.h"
#include "json/text.h"
#include "json/write.h"

/* ---- for the rules ---- */

void mend_member(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv json)
{
	AUTO_STR text = STR_INIT;
	bool empty = sv_starts(sv_trim(sv_from(object.raw, 1)), SV("}"));

	if (val.type != J_NONE) {
		edit_value(entry->edit, val, json);
		return;
	}
	str_addf(&text, "\"%s\":", key);
	str_add(&text, json);
	if (!empty)
		str_addc(&text, ',');
	edit_replace(entry->edit, sv_make(object.raw.p + 1, 0), str_sv(&text));
}

void mend_text(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv text)
{
	AUTO_STR json = STR_INIT;

	json_quote(&json, text);
	mend_member(entry, object, val, key, str_sv(&json));
}

void mend_time(const struct mender *m, const struct mending *entry, struct jval val)
{
	const char *time = m->rep->facts.time;

	mend_text(entry, entry->object, val, "timestamp", sv_of(time[0] ? time : m->now));
}

/* ---- lines ---- */

struct apply {
	const struct repair *rep;
	struct mender mender;
	char id[UUID_TEXT]; /* of the new session */
	bool in_place_id; /* every line must get the id of the file's name */
	struct str head, tail; /* what is put first and last */
};

/* What can be read of a broken line, each entry on a line of its own. */
static void mend_line(const struct apply *a, struct sv text, const struct fact *fact,
	const struct fact *end, struct str *out)
{
	const struct repair *rep = a->rep;
	struct mended m;
	AUTO_STR valid = STR_INIT;
	size_t n;

	if (fact->flags & FACT_NOT_UTF8) {
		for (; (n = json_utf8_prefix(text)) < text.n; text = sv_from(text, n + 1)) {
			str_add(&valid, sv_head(text, n));
			str_adds(&valid, "\xef\xbf\xbd");
		}
		str_add(&valid, text);
		text = str_sv(&valid);
	}
	mended_init(&m, rep->format);
	line_mend(&m, text);
	vec_each (&m.parts, part) {
		CLEANUP(edit_release) struct edit e = EDIT_INIT(part->text);
		if (fact == end || !line_reader_read(&m.reader, part->text))
			continue;
		const struct mending entry = {
			.fact = fact++,
			.object = { part->text, J_OBJECT },
			.vals = m.reader.line.vals,
			.edit = &e,
		};
		if (entry.fact->flags & (FACT_DROP | FACT_GONE))
			continue;
		rep->rules->mend(&a->mender, &entry);
		if (edit_apply(&e, out) < 0)
			str_add(out, part->text);
		str_addc(out, '\n');
	}
	mended_release(&m);
}

/* The plan of a line as splices, or as what stands in its place. */
static int follow_plan(const struct apply *a, struct rewrite_line *line, const struct fact *fact,
	const struct fact *end, struct edit *e, struct str *out)
{
	struct jval whole = { sv_trim(line->text), J_OBJECT };

	if (!(fact->flags & FACT_CHANGED) && !a->in_place_id && !a->rep->mend_all)
		return REWRITE_EDITED;
	if (fact->flags & FACT_DROP && end - fact == 1)
		return REWRITE_DROP;
	if (fact->flags & FACT_LINE || !line->object || !sv_starts(whole.raw, SV("{"))) {
		mend_line(a, line->text, fact, end, out);
		return REWRITE_OWN;
	}
	const struct mending entry = { fact, whole, line->vals, e, line->neutral, !a->in_place_id };
	a->rep->rules->mend(&a->mender, &entry);
	return REWRITE_EDITED;
}

static int apply_edit(void *data, void *chunk UNUSED, struct rewrite_line *line, struct edit *e,
	struct str *out, struct err *reterr UNUSED)
{
	const struct apply *a = data;
	const struct facts *f = &a->rep->facts;
	const struct fact *fact = f->v.v, *all = f->v.v + f->v.n, *end = all;

	/* The facts of the line: the first, and one past the last. */
	while (fact < end) {
		const struct fact *mid = fact + (end - fact) / 2;
		if (mid->offset < line->offset)
			fact = mid + 1;
		else
			end = mid;
	}
	while (end < all && end->offset == line->offset)
		end++;
	if (fact == end)
		return REWRITE_EDITED;
	bool first = a->head.len > 0 && fact == f->v.v, last = a->tail.len > 0 && end == all;
	if (first)
		str_add(out, str_sv(&a->head));
	int what = follow_plan(a, line, fact, end, e, out);
	if (!first && !last)
		return what;
	if (what == REWRITE_EDITED) {
		if (edit_apply(e, out) < 0)
			str_add(out, line->text);
		str_addc(out, '\n');
	}
	if (last)
		str_add(out, str_sv(&a->tail));
	return REWRITE_OWN;
}

static void apply_note(void *data, struct jw *w)
{
	const struct apply *a = data;

	jw_put_cstr(w, "relation", session_relation_name(SESSION_REPAIRED));
	jw_put_cstr(w, "parent_id", a->rep->file_id);
	jw_put_cstr(w, "parent_file", a->rep->path);
	jw_put_cstr(w, "repaired_at", a->mender.now);
	/* What a trim knew of the context holds for its mended copy, too. */
	known_carry(w, a->rep->path);
}

/* ---- the whole ---- */

static int apply_once(struct repair *rep, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr)
{
	static const struct rewrite_ops ops = { .edit = apply_edit, .note = apply_note };
	const struct repair_finding *all = rep->report.findings;
	struct apply a = {
		.rep = rep, .mender = { .rep = rep }, .head = STR_INIT, .tail = STR_INIT
	};
	struct rewrite_result written = REWRITE_RESULT_INIT;
	struct repair *again = NULL;
	struct rewrite_opts opts = {
		.path = rep->path,
		.format = rep->format,
		.changes = how->in_place ? 0 : REWRITE_ID,
		.note_key = how->in_place ? NULL : SESSION_NOTE_KEY,
		.id = a.id,
		.out_dir = how->out_dir,
		.in_place = how->in_place,
		.values = true,
		.threads = how->threads,
		.clock = how->clock,
	};

	if (all[REPAIR_ERROR_MARK].level > REPAIR_NOTE)
		opts.changes |= REWRITE_ERRORS;
	if (all[REPAIR_STALE_USAGE].count > 0)
		opts.changes |= REWRITE_USAGE;
	uuid_new(a.id);
	clock_format_iso(clock_wall_ms(how->clock), a.mender.now);
	a.mender.side = how->in_place && rep->sub_agent;
	/* Where the lines are whole, the rewrite itself takes care of the id of a new session. */
	a.in_place_id = how->in_place && all[REPAIR_SESSION_ID].count > 0;
	if (!how->in_place)
		a.mender.session = a.id;
	else if (a.in_place_id)
		a.mender.session = rep->file_id;
	rep->rules->frame(&a.mender, &a.head, &a.tail);
	int r = rewrite_session(&opts, &ops, &a, &written, reterr);
	str_release(&a.head);
	str_release(&a.tail);
	if (r < 0)
		return r;
	const struct repair_opts look = {
		.path = written.path, .format = rep->format, .threads = how->threads
	};
	r = repair_open(&look, &again, reterr);
	if (r >= 0) {
		*ret = (struct repair_result){ .bytes = written.bytes_out,
			.late = written.late,
			.report = *repair_report(again) };
		ret->path = TAKE_PTR(written.path);
		memcpy(ret->id, written.id, sizeof(ret->id));
	}
	rewrite_result_release(&written);
	repair_free(again);
	return r;
}

int repair_apply(struct repair *rep, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr)
{
	enum { ROUNDS = 3 };
	struct repair_write again_how = *how;

	if (rep->report.findings[REPAIR_OVERSIZE].count > 0)
		return err_set(reterr, ERR_INPUT,
			"%s has lines that are too long to look into: what is missing elsewhere "
			"may "
			"stand on them, so nothing is mended",
			rep->path);
	if (!repair_possible(rep))
		return err_set(reterr, ERR_INPUT, "%s: nothing in the file can mend it", rep->path);
	int r = apply_once(rep, how, ret, reterr);
	again_how.in_place = true;
	/* Some of what is wrong can only be seen, or changed, once lines can be read: marks of
	 * errors on a line that was torn, say. What was written stands, also when a later round
	 * fails. */
	for (int i = 0; r >= 0 && i < ROUNDS; i++) {
		const struct repair_opts opts = {
			.path = ret->path, .format = rep->format, .threads = how->threads
		};
		struct repair_result next = REPAIR_RESULT_INIT;
		struct repair *again = NULL;
		if (!report_can_mend(&ret->report, true) || repair_open(&opts, &again, NULL) < 0)
			break;
		bool failed = apply_once(again, &again_how, &next, NULL) < 0;
		repair_free(again);
		if (failed)
			break;
		ret->report = next.report;
		ret->bytes = next.bytes;
		ret->late += next.late;
		repair_result_release(&next);
	}
	return r;
}

void repair_result_release(struct repair_result *result)
{
	free(TAKE_PTR(result->path));
}

/*
 * The mended session written: every line of the parent by the plan of its facts, and then looked at
 * once more.
 */
#include <string.h>

#include "base/mem.h"
#include "strategy/known.h"
#include "strategy/repair-mend.h"
#include "strategy/rewrite.h"
#include "json/jsonl.h"
#include "json/text.h"

/* ---- what the plan refers to ---- */

/* The call among the blocks whose id has that hash: its id with the quotes. */
static void find_call(struct jval content, uint64_t hash, struct str *out)
{
	struct scan_iter it = scan_iter(content);
	struct jval block;
	while (out->len == 0 && content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0) {
		struct jval id = line_member(block, "id");
		if (scan_string_eq(line_member(block, "type"), SV("tool_use")) &&
			id.type == J_STRING && fact_hash(scan_inner(id)) == hash)
			str_add(out, id.raw);
	}
}

static int read_call_id(
	const struct repair *r, const struct fact_pair *pair, struct str *out, struct err *reterr)
{
	const struct jsonl_opts opts = { .offset = r->facts.v.v[pair->call].offset };
	struct mended m = MENDED_INIT;
	struct jsonl *lines = NULL;
	struct jsonl_line line = { .offset = 0 };
	struct jval vals[LINE_KEYS_MAX];
	int rc = jsonl_open(r->path, &opts, &lines, reterr);
	if (rc >= 0)
		rc = jsonl_next(lines, &line, reterr);
	if (rc > 0)
		line_mend(&m, r->format, line.text);
	vec_each (&m.parts, part)
		if (line_read(TRANSCRIPT_CLAUDE, part->text, vals))
			find_call(vals[CLAUDE_MSG_CONTENT], pair->id, out);
	mended_release(&m);
	jsonl_free(lines);
	return rc < 0 ? rc : 0;
}

int mender_init(
	struct mender *m, const struct repair *r, const struct clock *clock, struct err *reterr)
{
	*m = (struct mender){ .r = r };
	clock_format_iso(clock_wall_ms(clock), m->now);
	for (size_t i = 0; i < r->pairs.n; i++) {
		AUTO_STR id = STR_INIT;
		int rc = read_call_id(r, &r->pairs.v[i], &id, reterr);
		if (rc < 0)
			return rc;
		strv_add(&m->call_ids, id.buf);
	}
	return 0;
}

void mender_release(struct mender *m)
{
	strv_release(&m->call_ids);
}

void mend_member(const struct mending *entry, struct jval object, struct jval val, const char *key,
	struct sv json)
{
	AUTO_STR text = STR_INIT;
	if (val.type != J_NONE) {
		edit_value(entry->edit, val, json);
		return;
	}
	bool empty = sv_starts(sv_trim(sv_from(object.raw, 1)), SV("}"));
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

static int by_fact(const void *key, const void *item)
{
	uint32_t x = *(const uint32_t *)key, y = ((const struct fact_time *)item)->fact;
	return (x > y) - (x < y);
}

void mend_time(const struct mender *m, const struct mending *entry, struct jval val)
{
	const struct facts *f = &m->r->facts;
	uint32_t index = (uint32_t)(entry->fact - f->v.v);
	const struct fact_time *time =
		bsearch(&index, f->times.v, f->times.n, sizeof(*f->times.v), by_fact);
	const char *text = time && time->text[0] ? time->text : f->time;
	mend_text(entry, entry->object, val, "timestamp", sv_of(text[0] ? text : m->now));
}

/* ---- lines ---- */

struct apply {
	struct repair *r;
	struct mender mender;
	char id[UUID_TEXT]; /* of the new session */
	bool in_place_id; /* every line must get the id of the file's name */
	struct str head; /* what is put first */
	struct str leaf; /* the mended line that is repeated at the end; empty: none */
};

/* Facts of the line at offset: the first, and one past the last. */
static const struct fact *facts_at(
	const struct facts *f, uint64_t offset, const struct fact **ret_end)
{
	size_t low = 0, high = f->v.n;
	while (low < high) {
		size_t mid = (low + high) / 2;
		if (f->v.v[mid].offset < offset)
			low = mid + 1;
		else
			high = mid;
	}
	size_t end = low;
	while (end < f->v.n && f->v.v[end].offset == offset)
		end++;
	*ret_end = f->v.v + end;
	return f->v.v + low;
}

static void mend(const struct apply *a, const struct mending *entry)
{
	if (a->r->format == TRANSCRIPT_CODEX)
		codex_mend(&a->mender, entry);
	else
		claude_mend(&a->mender, entry);
}

static struct sv make_valid(struct str *out, struct sv text)
{
	size_t n;
	for (; (n = json_utf8_prefix(text)) < text.n; text = sv_from(text, n + 1)) {
		str_add(out, sv_head(text, n));
		str_adds(out, "\xef\xbf\xbd");
	}
	str_add(out, text);
	return str_sv(out);
}

/* What can be read of a broken line, each entry on a line of its own; only: just that one. */
static void mend_line(const struct apply *a, struct sv text, const struct fact *fact,
	const struct fact *end, const struct fact *only, struct str *out)
{
	struct mended m = MENDED_INIT;
	struct jval vals[LINE_KEYS_MAX];
	AUTO_STR valid = STR_INIT;
	if (a->r->format == TRANSCRIPT_CODEX && fact->flags & FACT_NOT_UTF8)
		text = make_valid(&valid, text);
	line_mend(&m, a->r->format, text);
	vec_each (&m.parts, part) {
		CLEANUP(edit_release) struct edit e = EDIT_INIT(part->text);
		if (!line_read(a->r->format, part->text, vals))
			continue;
		while (fact < end && fact->flags & FACT_GONE && !(fact->flags & FACT_DROP))
			fact++;
		if (fact == end)
			break;
		const struct mending entry = {
			.fact = fact++,
			.object = { part->text, J_OBJECT },
			.vals = vals,
			.edit = &e,
		};
		if (entry.fact->flags & FACT_DROP || (only && entry.fact != only))
			continue;
		mend(a, &entry);
		if (edit_apply(&e, out) < 0)
			str_add(out, part->text);
		str_addc(out, '\n');
	}
	mended_release(&m);
}

/* The line that is repeated at the end. */
static int prepare_leaf(struct apply *a, struct err *reterr)
{
	const struct fact *end, *leaf = &a->r->facts.v.v[a->r->leaf - 1];
	const struct jsonl_opts opts = { .offset = leaf->offset };
	struct jsonl *lines = NULL;
	struct jsonl_line line = { .offset = 0 };
	int rc = jsonl_open(a->r->path, &opts, &lines, reterr);
	if (rc >= 0)
		rc = jsonl_next(lines, &line, reterr);
	if (rc > 0) {
		const struct fact *fact = facts_at(&a->r->facts, leaf->offset, &end);
		mend_line(a, line.text, fact, end, leaf, &a->leaf);
	}
	jsonl_free(lines);
	return rc < 0 ? rc : 0;
}

static bool is_changed(const struct apply *a, const struct fact *fact)
{
	return fact->flags & (FACT_WRONG | FACT_PLAN) || a->in_place_id ||
		a->r->format == TRANSCRIPT_CODEX;
}

static void put_edited(const struct rewrite_line *line, struct edit *e, struct str *out)
{
	if (edit_apply(e, out) < 0)
		str_add(out, line->text);
	str_addc(out, '\n');
}

/* The plan of a line as splices, or as what stands in its place. */
static int follow_plan(const struct apply *a, struct rewrite_line *line, const struct fact *fact,
	const struct fact *end, struct edit *e, struct str *out)
{
	struct jval whole;
	if (!is_changed(a, fact))
		return REWRITE_EDITED;
	if (fact->flags & FACT_DROP && end - fact == 1)
		return REWRITE_DROP;
	if (fact->flags & FACT_LINE || !line->object || scan_text(line->text, &whole) < 0) {
		mend_line(a, line->text, fact, end, NULL, out);
		return REWRITE_OWN;
	}
	const struct mending entry = { fact, whole, line->vals, e, line->neutral, !a->in_place_id };
	mend(a, &entry);
	return REWRITE_EDITED;
}

static int apply_edit(void *data, void *chunk UNUSED, struct rewrite_line *line, struct edit *e,
	struct str *out, struct err *reterr UNUSED)
{
	const struct apply *a = data;
	const struct facts *f = &a->r->facts;
	const struct fact *end, *fact = facts_at(f, line->offset, &end);
	bool first = a->head.len > 0 && fact == f->v.v;
	bool last = a->leaf.len > 0 && end == f->v.v + f->v.n;
	if (fact == end)
		return REWRITE_EDITED;
	if (first)
		str_add(out, str_sv(&a->head));
	int what = follow_plan(a, line, fact, end, e, out);
	if (!first && !last)
		return what;
	if (what == REWRITE_EDITED)
		put_edited(line, e, out);
	if (last)
		str_add(out, str_sv(&a->leaf));
	return REWRITE_OWN;
}

/* What a trim knew of the context holds for its mended copy, too. */
static void put_known(const struct apply *a, struct jw *w)
{
	struct known known;
	known_read(a->r->path, &known);
	if (known.taken)
		return;
	jw_key(w, "stats");
	jw_object(w);
	known_put(w, &known);
	jw_end(w);
}

static void apply_note(void *data, struct jw *w)
{
	const struct apply *a = data;
	jw_put_cstr(w, "relation", session_relation_name(SESSION_REPAIRED));
	jw_put_cstr(w, "parent_id", a->r->file_id);
	jw_put_cstr(w, "parent_file", a->r->path);
	jw_put_cstr(w, "repaired_at", a->mender.now);
	put_known(a, w);
}

/* ---- the whole ---- */

static unsigned changes_of(const struct repair *r, bool in_place)
{
	const struct repair_finding *found = r->report.findings;
	unsigned changes = in_place ? 0 : REWRITE_ID;
	if (found[REPAIR_ERROR_MARK].count > 0 && found[REPAIR_ERROR_MARK].level > REPAIR_NOTE)
		changes |= REWRITE_ERRORS;
	if (found[REPAIR_STALE_USAGE].count > 0)
		changes |= REWRITE_USAGE;
	return changes;
}

bool repair_possible(const struct repair *r)
{
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (r->report.findings[i].count > 0 && r->report.findings[i].level > REPAIR_NOTE &&
			repair_cause_remedy((enum repair_cause)i)[0])
			return r->report.findings[REPAIR_EMPTY].count == 0;
	return false;
}

static int look_again(struct repair_result *result, const struct transcript_format *format,
	unsigned threads, struct err *reterr)
{
	const struct repair_opts opts = {
		.path = result->path, .format = format, .threads = threads
	};
	struct repair *again = NULL;
	int rc = repair_open(&opts, &again, reterr);
	if (rc >= 0)
		result->report = *repair_report(again);
	repair_free(again);
	return rc;
}

static int write_mended(struct apply *a, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr)
{
	static const struct rewrite_ops ops = { .edit = apply_edit, .note = apply_note };
	const struct rewrite_opts opts = {
		.path = a->r->path,
		.format = a->r->format,
		.changes = changes_of(a->r, how->in_place),
		.note_key = how->in_place ? NULL : SESSION_NOTE_KEY,
		.id = a->id,
		.out_dir = how->out_dir,
		.in_place = how->in_place,
		.threads = how->threads,
		.clock = how->clock,
	};
	struct rewrite_result written = REWRITE_RESULT_INIT;
	int rc = rewrite_session(&opts, &ops, a, &written, reterr);
	if (rc < 0)
		return rc;
	memcpy(ret->id, written.id, sizeof(ret->id));
	ret->path = TAKE_PTR(written.path);
	ret->bytes = written.bytes_out;
	return 0;
}

static int apply_once(struct repair *r, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr)
{
	struct apply a = { .r = r, .head = STR_INIT, .leaf = STR_INIT };
	struct repair_result result = REPAIR_RESULT_INIT;
	uuid_new(a.id);
	int rc = mender_init(&a.mender, r, how->clock, reterr);
	/* Where the lines are whole, the rewrite itself takes care of the id. */
	a.mender.session = how->in_place ? NULL : a.id;
	a.mender.side = how->in_place && r->sub_agent;
	a.in_place_id = how->in_place &&
		(r->report.findings[REPAIR_SESSION_ID].count > 0 ||
			r->report.findings[REPAIR_META_ID].count > 0);
	if (a.in_place_id)
		a.mender.session = r->file_id;
	if (r->new_meta)
		codex_new_meta(&a.mender, &a.head);
	if (rc >= 0 && r->repeat_leaf)
		rc = prepare_leaf(&a, reterr);
	if (rc >= 0)
		rc = write_mended(&a, how, &result, reterr);
	if (rc >= 0)
		rc = look_again(&result, r->format, how->threads, reterr);
	mender_release(&a.mender);
	str_release(&a.head);
	str_release(&a.leaf);
	if (rc < 0)
		repair_result_release(&result);
	else
		*ret = result;
	return rc;
}

/* The name of a file that is mended in place stays. */
static bool has_more(const struct repair_report *report)
{
	for (size_t i = 0; i < REPAIR_CAUSE_COUNT; i++)
		if (i != REPAIR_FILE_NAME && report->findings[i].count > 0 &&
			report->findings[i].level > REPAIR_NOTE &&
			repair_cause_remedy((enum repair_cause)i)[0])
			return true;
	return false;
}

/*
 * Some of what is wrong can only be seen, or changed, once lines can be read: marks of errors on a
 * line that was torn, say. What was written stands, also when a later round fails.
 */
static void apply_rest(const struct repair_write *how, struct repair_result *result)
{
	enum { ROUNDS = 3 };
	struct repair_write again = *how;
	again.in_place = true;
	for (int i = 0; i < ROUNDS && has_more(&result->report); i++) {
		const struct repair_opts opts = { .path = result->path,
			.format = result->report.format,
			.threads = how->threads };
		struct repair_result next = REPAIR_RESULT_INIT;
		struct repair *r = NULL;
		if (repair_open(&opts, &r, NULL) < 0)
			return;
		int rc = repair_possible(r) ? apply_once(r, &again, &next, NULL) : -1;
		repair_free(r);
		if (rc < 0)
			return;
		result->report = next.report;
		result->bytes = next.bytes;
		repair_result_release(&next);
	}
}

int repair_apply(struct repair *r, const struct repair_write *how, struct repair_result *ret,
	struct err *reterr)
{
	if (!repair_possible(r))
		return err_set(reterr, ERR_INPUT, "%s: nothing in the file can mend it", r->path);
	int rc = apply_once(r, how, ret, reterr);
	if (rc >= 0)
		apply_rest(how, ret);
	return rc;
}

void repair_result_release(struct repair_result *result)
{
	free(TAKE_PTR(result->path));
}

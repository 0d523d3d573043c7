/*
 * What is wrong with a rollout of Codex, and an entry of it mended. Its history is not a chain but
 * the order of the file, so what matters is that the file begins with its session_meta, that lines
 * can be read, that the numbers hold, and that calls and outputs are pairs.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "os/path.h"
#include "os/unpack.h"
#include "strategy/repair-run.h"
#include "transcript/home.h"
#include "json/write.h"

/* Codex notes things while a call runs, but not many. */
enum { RUNNING_LINES = 8 };

/* ---- one entry to a fact ---- */

static void take_meta(struct facts *f, const struct jval *vals, struct sv file_id)
{
	struct jval meta = vals[CODEX_PAYLOAD];

	*(scan_string_eq(vals[CODEX_P_ID], file_id) ? &f->own_ids : &f->other_ids) += 1;
	if (f->own_ids + f->other_ids > 1)
		return;
	f->paginated = scan_string_eq(line_member(meta, "history_mode"), SV("paginated"));
	f->based = line_member(meta, "history_base").type == J_OBJECT;
}

static void codex_take(struct facts *f, const struct entry *entry)
{
	static const uint32_t kinds[] = {
		[CODEX_LINE_OTHER] = 0,
		[CODEX_LINE_META] = FACT_META,
		[CODEX_LINE_ITEM] = FACT_USER,
		[CODEX_LINE_CONTEXT] = 0,
		[CODEX_LINE_EVENT] = 0,
		[CODEX_LINE_COMPACTED] = FACT_BOUNDARY | FACT_USER,
	};
	const struct jval *vals = entry->line->vals;
	enum codex_line line = codex_line_of(vals);
	const struct chain_entry link = codex_chain_entry(vals);
	struct jval ordinal = vals[CODEX_ORDINAL], call = vals[CODEX_P_CALL];
	struct sv type = scan_inner(vals[CODEX_P_TYPE]);
	struct fact fact = entry->fact;
	int64_t n;
	/* Lines of the first year have no outer object, and no numbers. */
	bool bare = vals[CODEX_TYPE].raw.p == vals[CODEX_P_TYPE].raw.p;

	fact.flags |= kinds[line];
	fact.flags |= link.flags & CHAIN_SENT ? FACT_SENT : 0;
	fact.flags |= link.flags & CHAIN_PROMPT ? FACT_PROMPT : 0;
	fact.parent = link.message;
	if (!bare && vals[CODEX_PAYLOAD].type == J_OBJECT && vals[CODEX_TYPE].type == J_STRING)
		fact.flags |= FACT_RECORD;
	if (fact.flags & FACT_RECORD && scan_inner(vals[CODEX_TIME]).n == 0)
		fact.flags |= FACT_NO_TIME;
	/* What is no record has no number that anybody reads. */
	fact.message =
		ordinal.type == J_NONE || !(fact.flags & FACT_RECORD) ? ORDINAL_NONE : ORDINAL_BAD;
	if (ordinal.type == J_NUMBER && scan_i64(ordinal, &n) && n >= 0)
		fact.message = (uint64_t)n;
	if (fact.message == ORDINAL_BAD || fact.flags & (FACT_NO_TIME | FACT_NOT_UTF8))
		fact.flags |= FACT_UNSEEN;
	if (fact.flags & FACT_NOT_UTF8)
		fact.flags |= FACT_LINE;
	vec_push(&f->v, fact);
	if (call.type == J_STRING &&
		(sv_ends(type, SV("_call_output")) || sv_ends(type, SV("_call"))))
		vec_push(&f->tools,
			(struct fact_tool){ fact_hash(f, scan_inner(call)), (uint32_t)f->v.n - 1,
				sv_ends(type, SV("_call_output")) });
	if (line == CODEX_LINE_META)
		take_meta(f, vals, entry->file_id);
	if (!f->time[0])
		fact_text(f->time, vals[CODEX_TIME]);
	if (!f->cwd && line == CODEX_LINE_CONTEXT) {
		struct jval cwd = line_member(vals[CODEX_PAYLOAD], "cwd");
		if (cwd.type == J_STRING)
			f->cwd = xmemdup0(scan_inner(cwd).p, scan_inner(cwd).n);
	}
}

/* ---- the plan ---- */

/* rollout-2026-01-31T12-00-00-<uuid>.jsonl */
static bool is_canonical(const struct repair *rep)
{
	static const char pattern[] = "rollout-dddd-dd-ddTdd-dd-dd-";
	struct sv base = path_base(unpack_plain(sv_of(rep->path)));

	if (!rep->file_id[0] || base.n != sizeof(pattern) - 1 + UUID_TEXT - 1 + 6)
		return false;
	for (size_t i = 0; i < sizeof(pattern) - 1; i++) {
		bool digit = base.p[i] >= '0' && base.p[i] <= '9';
		if (pattern[i] == 'd' && i >= sizeof("rollout-") - 1 ? !digit
								     : base.p[i] != pattern[i])
			return false;
	}
	return true;
}

/* Lines before the header that are no records go; otherwise a header is put first. */
static void check_header(struct repair *rep)
{
	struct facts *f = &rep->facts;
	struct repair_finding *all = rep->report.findings;
	size_t i = 0;

	while (i < f->v.n && !(f->v.v[i].flags & (FACT_META | FACT_RECORD)))
		i++;
	rep->new_meta = i == f->v.n || !(f->v.v[i].flags & FACT_META);
	if (rep->new_meta || i > 0)
		found(all, REPAIR_SHAPE, REPAIR_BLOCK, f->v.n > 0 ? f->v.v[0].line : 0);
	for (size_t k = 0; !rep->new_meta && k < i; k++)
		f->v.v[k].flags |= FACT_DROP;
	if (f->own_ids == 0 && f->other_ids > 0 && !rep->new_meta && rep->file_id[0])
		found(all, REPAIR_SESSION_ID, REPAIR_LOSS, f->v.v[i].line);
	if (!is_canonical(rep))
		found(all, REPAIR_FILE_NAME, REPAIR_BLOCK, 0);
}

/* Only the last number keeps the agent from going on, but none should be odd. Those of a fork go on
 * from its parent's. */
static void check_ordinals(struct repair *rep)
{
	struct facts *f = &rep->facts;
	uint64_t next = 0, start = f->v.n > 0 ? f->v.v[0].message : 0;
	uint32_t n = rep->new_meta ? 1 : 0;
	bool last_bad = false;

	vec_each (&f->v, fact) {
		bool bad = fact->message == ORDINAL_BAD;
		if (f->paginated && fact->flags & FACT_RECORD) {
			last_bad = fact->message >= ORDINAL_BAD;
			bad = last_bad || fact->message < next;
			next = last_bad ? next : fact->message + 1;
		}
		rep->renumber |= bad;
		if (bad)
			found(rep->report.findings, REPAIR_ORDINALS, REPAIR_MINOR, fact->line);
		if (fact->flags & FACT_RECORD && !(fact->flags & (FACT_DROP | FACT_GONE)))
			fact->link = n++;
	}
	if (last_bad)
		rep->report.findings[REPAIR_ORDINALS].level = REPAIR_BLOCK;
	start = start < ORDINAL_BAD ? start : 0;
	rep->first_ordinal = rep->new_meta && start > 0 ? start - 1 : start;
}

/* What a resume would send: one bit a fact. */
static int codex_live(
	const struct repair *rep, bool mended, struct transcript_live *ret, struct err *reterr)
{
	struct chain *chain = chain_new(rep->format);

	vec_each (&rep->facts.v, fact) {
		struct chain_entry entry = { .message = fact->parent, .size = fact->size };
		if (fact->flags & FACT_SENT)
			entry.flags = CHAIN_SENT | (fact->flags & FACT_PROMPT ? CHAIN_PROMPT : 0) |
				(fact->flags & FACT_BOUNDARY ? CHAIN_BOUNDARY : 0);
		if (fact->flags & (mended ? FACT_DROP | FACT_GONE : FACT_UNSEEN))
			entry = (struct chain_entry){ .flags = 0 };
		chain_add_entry(chain, &entry);
	}
	int r = chain_live(chain, ret, reterr);
	chain_free(chain);
	return r;
}

static bool codex_running(const struct repair *rep, uint32_t call)
{
	return call + RUNNING_LINES > rep->facts.v.n;
}

static void codex_check(struct repair *rep)
{
	struct facts *f = &rep->facts;
	struct repair_finding *all = rep->report.findings;
	bool headed = f->v.n > 0 && f->v.v[0].flags & FACT_META;
	bool items = f->based;

	check_header(rep);
	check_ordinals(rep);
	rep->mend_all = rep->renumber || (f->own_ids == 0 && f->other_ids > 0);
	vec_each (&f->v, fact) {
		items |= (fact->flags & FACT_USER) != 0;
		if (fact->flags & FACT_NO_TIME)
			found(all, REPAIR_SHAPE, fact == f->v.v ? REPAIR_BLOCK : REPAIR_LOSS,
				fact->line);
	}
	/* A session in which nothing was said yet is taken up. */
	if (!items)
		found(all, REPAIR_EMPTY, headed ? REPAIR_NOTE : REPAIR_BLOCK, 0);
}

/* ---- mending ---- */

static void rename_own(const struct mender *m, const struct mending *entry, struct jval id)
{
	if (scan_string_eq(id, sv_of(m->rep->file_id)))
		edit_string(entry->edit, id, sv_of(m->session));
}

/* The header's id, whatever it was; where the line is whole, the rewrite itself has set it if it
 * was the session's own. */
static void rename_header(
	const struct mender *m, const struct mending *entry, struct jval id, const char *key)
{
	if (!entry->id || !scan_string_eq(id, sv_of(m->rep->file_id)))
		mend_text(entry, entry->vals[CODEX_PAYLOAD], id, key, sv_of(m->session));
}

static void mend_ids(const struct mender *m, const struct mending *entry)
{
	const struct facts *f = &m->rep->facts;
	const struct jval *vals = entry->vals;
	const struct fact *header = f->v.v;

	/* Headers of ancestors, which a fork repeats, come behind its own. */
	while (header < entry->fact && !(header->flags & FACT_META))
		header++;
	if (f->own_ids == 0 && entry->fact->flags & FACT_META && header == entry->fact) {
		rename_header(m, entry, vals[CODEX_P_ID], "id");
		if (vals[CODEX_P_SESSION].type == J_STRING)
			rename_header(m, entry, vals[CODEX_P_SESSION], "session_id");
	} else if (!entry->id) {
		if (entry->fact->flags & FACT_META)
			rename_own(m, entry, vals[CODEX_P_ID]);
		rename_own(m, entry, vals[CODEX_P_SESSION]);
		rename_own(m, entry, vals[CODEX_P_THREAD]);
	}
}

/* A message in place of a call or result: what a string says, or the JSON of anything else. */
static void tell(const struct mending *entry, const char *role, const char *block, const char *note,
	struct sv name, const char *note_end, struct jval text)
{
	AUTO_STR json = STR_INIT;

	str_addf(&json,
		"{\"type\":\"message\",\"role\":\"%s\",\"content\":[{\"type\":\"%s\",\"text\":\"%s",
		role, block, note);
	str_add(&json, name);
	str_adds(&json, note_end);
	if (text.type == J_STRING)
		str_add(&json, scan_inner(text));
	else
		json_escape(&json, text.raw);
	str_adds(&json, "\"}]}");
	edit_value(entry->edit, entry->vals[CODEX_PAYLOAD], str_sv(&json));
}

static void codex_mend(const struct mender *m, const struct mending *entry)
{
	const struct jval *vals = entry->vals;
	uint32_t flags = entry->fact->flags;
	AUTO_STR number = STR_INIT;

	if (m->rep->renumber && flags & FACT_RECORD) {
		str_addf(&number, "%llu",
			(unsigned long long)m->rep->first_ordinal + entry->fact->link);
		mend_member(entry, entry->object, vals[CODEX_ORDINAL], "ordinal", str_sv(&number));
	}
	if (flags & FACT_NO_TIME)
		mend_time(m, entry, vals[CODEX_TIME]);
	if (flags & FACT_CALL)
		tell(entry, "assistant", "output_text", "[no result was recorded for this call of ",
			scan_inner(vals[CODEX_P_NAME]), "] ",
			vals[CODEX_P_ARGUMENTS].type != J_NONE ? vals[CODEX_P_ARGUMENTS]
							       : vals[CODEX_P_INPUT]);
	else if (flags & FACT_RESULT)
		tell(entry, "user", "input_text", "[result of a tool whose call is lost]\\n",
			SV(""), "", vals[CODEX_P_OUTPUT]);
	else if (m->session)
		mend_ids(m, entry);
}

/* A header made of what the rest tells. */
static void codex_frame(const struct mender *m, struct str *head, struct str *tail UNUSED)
{
	const struct facts *f = &m->rep->facts;
	const char *time = f->time[0] ? f->time : m->now;
	const char *id = m->session ? m->session : m->rep->file_id;
	struct jw w = JW_INIT(head);
	AUTO_STR provider = STR_INIT;

	if (!m->rep->new_meta)
		return;
	jw_object(&w);
	jw_put_cstr(&w, "timestamp", time);
	jw_put_i64(&w, "ordinal", (int64_t)m->rep->first_ordinal);
	jw_put_cstr(&w, "type", "session_meta");
	jw_key(&w, "payload");
	jw_object(&w);
	jw_put_cstr(&w, "session_id", id);
	jw_put_cstr(&w, "id", id);
	jw_put_cstr(&w, "timestamp", time);
	jw_put_cstr(&w, "cwd", f->cwd ? f->cwd : "/");
	jw_put_cstr(&w, "originator", "faden");
	jw_put_cstr(&w, "cli_version", "0.0.0");
	jw_put_cstr(&w, "source", "exec");
	codex_provider(m->rep->path, &provider);
	jw_put_string(&w, "model_provider", str_sv(&provider));
	jw_end(&w);
	jw_end(&w);
	str_addc(head, '\n');
}

const struct repair_rules repair_codex = {
	.format = TRANSCRIPT_CODEX,
	.reads_first = false,
	.null_line = REPAIR_MINOR, /* passed over */
	.utf8_only = true,
	.take = codex_take,
	.check = codex_check,
	.live = codex_live,
	.running = codex_running,
	.mend = codex_mend,
	.frame = codex_frame,
};

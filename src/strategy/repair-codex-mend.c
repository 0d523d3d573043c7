/*
 * An entry of Codex mended.
 */
#include <stdlib.h>

#include "strategy/repair-mend.h"
#include "json/write.h"

static void mend_ordinal(const struct mender *m, const struct mending *entry)
{
	char text[32];
	int n = snprintf(text, sizeof(text), "%llu",
		(unsigned long long)(m->r->first_ordinal + entry->fact->link));
	mend_member(entry, entry->object, entry->vals[CODEX_ORDINAL], "ordinal",
		sv_make(text, (size_t)n));
}

/* ---- ids ---- */

static void rename_own(const struct mender *m, const struct mending *entry, struct jval id)
{
	if (scan_string_eq(id, sv_of(m->r->file_id)))
		edit_string(entry->edit, id, sv_of(m->session));
}

/* The header's id, whatever it was; where the line is whole, the rewrite itself has set it if it
 * was the session's own. */
static void rename_meta(
	const struct mender *m, const struct mending *entry, struct jval id, const char *key)
{
	bool own = scan_string_eq(id, sv_of(m->r->file_id));
	if (!(own && entry->id))
		mend_text(entry, entry->vals[CODEX_PAYLOAD], id, key, sv_of(m->session));
}

/* Headers of ancestors, which a fork repeats, come behind its own. */
static bool is_header(const struct repair *r, const struct fact *fact)
{
	const struct fact *first = r->facts.v.v;
	while (fact->flags & FACT_META && !(first->flags & FACT_META))
		first++;
	return fact == first && fact->flags & FACT_META;
}

static void mend_ids(const struct mender *m, const struct mending *entry)
{
	const struct jval *vals = entry->vals;
	bool foreign = m->r->facts.own_ids == 0;
	if (foreign && is_header(m->r, entry->fact)) {
		rename_meta(m, entry, vals[CODEX_P_ID], "id");
		if (vals[CODEX_P_SESSION].type == J_STRING)
			rename_meta(m, entry, vals[CODEX_P_SESSION], "session_id");
	} else if (!entry->id) {
		if (entry->fact->flags & FACT_META)
			rename_own(m, entry, vals[CODEX_P_ID]);
		rename_own(m, entry, vals[CODEX_P_SESSION]);
		rename_own(m, entry, vals[CODEX_P_THREAD]);
	}
}

/* ---- tools ---- */

static void begin_message(struct str *json, const char *role, const char *block)
{
	str_addf(json,
		"{\"type\":\"message\",\"role\":\"%s\",\"content\":[{\"type\":\"%s\",\"text\":\"",
		role, block);
}

/* Text of a value between quotes: what a string says, or the JSON of anything else. */
static void add_text(struct str *json, struct jval val)
{
	if (val.type == J_STRING)
		str_add(json, scan_inner(val));
	else
		json_escape(json, val.raw);
}

static void tell_call(const struct mending *entry)
{
	const struct jval *vals = entry->vals;
	AUTO_STR json = STR_INIT;
	begin_message(&json, "assistant", "output_text");
	str_adds(&json, "[no result was recorded for this call of ");
	str_add(&json, scan_inner(vals[CODEX_P_NAME]));
	str_adds(&json, "] ");
	add_text(&json,
		vals[CODEX_P_ARGUMENTS].type != J_NONE ? vals[CODEX_P_ARGUMENTS]
						       : vals[CODEX_P_INPUT]);
	str_adds(&json, "\"}]}");
	edit_value(entry->edit, vals[CODEX_PAYLOAD], str_sv(&json));
}

static void tell_result(const struct mending *entry)
{
	AUTO_STR json = STR_INIT;
	begin_message(&json, "user", "input_text");
	str_adds(&json, "[result of a tool whose call is lost]\\n");
	add_text(&json, entry->vals[CODEX_P_OUTPUT]);
	str_adds(&json, "\"}]}");
	edit_value(entry->edit, entry->vals[CODEX_PAYLOAD], str_sv(&json));
}

/* ---- the entry ---- */

void codex_mend(const struct mender *m, const struct mending *entry)
{
	uint32_t flags = entry->fact->flags;
	if (m->r->renumber && flags & FACT_RECORD)
		mend_ordinal(m, entry);
	if (flags & FACT_NO_TIME)
		mend_time(m, entry, entry->vals[CODEX_TIME]);
	if (flags & FACT_CALL)
		tell_call(entry);
	else if (flags & FACT_RESULT)
		tell_result(entry);
	else if (m->session)
		mend_ids(m, entry);
}

/* A header made of what the rest tells. */
void codex_new_meta(const struct mender *m, struct str *out)
{
	const struct facts *f = &m->r->facts;
	const char *time = f->first_time[0] ? f->first_time : m->now;
	const char *id = m->session ? m->session : m->r->file_id;
	struct jw w = JW_INIT(out);
	jw_object(&w);
	jw_put_cstr(&w, "timestamp", time);
	jw_put_i64(&w, "ordinal", (int64_t)m->r->first_ordinal);
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
	jw_end(&w);
	jw_end(&w);
	str_addc(out, '\n');
}

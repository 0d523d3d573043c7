/*
 * An entry of Claude Code's mended.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "strategy/repair-claude.h"
#include "strategy/repair-mend.h"
#include "json/write.h"

static struct jval member(struct jval obj, const char *key)
{
	struct jval val;
	if (scan_get(obj, sv_of(key), &val) <= 0)
		return (struct jval){ .type = J_NONE };
	return val;
}

/* ---- the chain ---- */

static void mend_link(
	const struct mender *m, const struct mending *entry, struct jval val, const char *key)
{
	const struct facts *f = &m->r->facts;
	AUTO_STR id = STR_INIT;
	if (entry->fact->link == 0) {
		mend_member(entry, entry->object, val, key, SV("null"));
		return;
	}
	facts_id_json(f, f->v.v[entry->fact->link - 1].id, &id);
	mend_member(entry, entry->object, val, key, str_sv(&id));
}

static void mend_uuid(const struct mender *m, const struct mending *entry)
{
	AUTO_STR id = STR_INIT;
	facts_id_json(&m->r->facts, entry->fact->id, &id);
	mend_member(entry, entry->object, entry->vals[CLAUDE_UUID], "uuid", str_sv(&id));
}

/* ---- the message ---- */

static void mend_model(const struct mender *m, const struct mending *entry)
{
	/* Any name will do; the next answer brings its own. */
	const char *model = m->r->facts.model[0] ? m->r->facts.model : "unknown";
	mend_text(entry, entry->vals[CLAUDE_MESSAGE], entry->vals[CLAUDE_MSG_MODEL], "model",
		sv_of(model));
}

static void mend_message_id(const struct mending *entry)
{
	char id[FACT_TEXT_MAX];
	(void)snprintf(id, sizeof(id), "msg_%016llx", (unsigned long long)entry->fact->message);
	mend_text(entry, entry->vals[CLAUDE_MESSAGE], entry->vals[CLAUDE_MSG_ID], "id", sv_of(id));
}

static void mend_string(const struct mending *entry)
{
	AUTO_STR json = STR_INIT;
	struct jval content = entry->vals[CLAUDE_MSG_CONTENT];
	str_adds(&json, "[{\"type\":\"text\",\"text\":");
	str_add(&json, content.raw);
	str_adds(&json, "}]");
	edit_value(entry->edit, content, str_sv(&json));
}

/* ---- tools ---- */

/* {"type":"text","text":"note… */
static void begin_text(struct str *json, const char *note, struct sv tool)
{
	str_adds(json, "{\"type\":\"text\",\"text\":\"");
	str_adds(json, note);
	str_add(json, tool);
}

static void tell_call(const struct mending *entry, struct jval block)
{
	AUTO_STR json = STR_INIT;
	begin_text(&json, "[no result was recorded for this call of ",
		scan_inner(member(block, "name")));
	str_adds(&json, "] ");
	json_escape(&json, member(block, "input").raw);
	str_adds(&json, "\"}");
	edit_value(entry->edit, block, str_sv(&json));
}

static void tell_result(const struct mending *entry, struct jval block)
{
	AUTO_STR json = STR_INIT;
	struct jval content = member(block, "content");
	begin_text(&json, "[result of a tool whose call is lost]", SV(""));
	if (content.type == J_STRING) {
		str_adds(&json, "\\n");
		str_add(&json, scan_inner(content));
	}
	str_adds(&json, "\"}");
	/* The blocks of a result are blocks of a message just as well. */
	struct scan_iter it = scan_iter(content);
	struct jval item;
	while (content.type == J_ARRAY && scan_next(&it, NULL, &item) > 0) {
		str_addc(&json, ',');
		str_add(&json, item.raw);
	}
	edit_value(entry->edit, block, str_sv(&json));
}

static int by_result(const void *key, const void *item)
{
	uint32_t x = *(const uint32_t *)key, y = ((const struct fact_pair *)item)->result;
	return (x > y) - (x < y);
}

static void rename_result(const struct mender *m, const struct mending *entry, struct jval id)
{
	const struct repair *r = m->r;
	uint32_t index = (uint32_t)(entry->fact - r->facts.v.v);
	const struct fact_pair *pair =
		bsearch(&index, r->pairs.v, r->pairs.n, sizeof(*r->pairs.v), by_result);
	if (pair && m->call_ids.v[pair - r->pairs.v][0])
		edit_value(entry->edit, id, sv_of(m->call_ids.v[pair - r->pairs.v]));
}

static void mend_block(const struct mender *m, const struct mending *entry, struct jval block)
{
	uint32_t flags = entry->fact->flags;
	struct jval id = member(block, "tool_use_id");
	if (id.type == J_STRING) {
		if (flags & FACT_RESULT && tool_is_alone(m->r, scan_inner(id)))
			tell_result(entry, block);
		else if (flags & FACT_TOOL_ID)
			rename_result(m, entry, id);
		return;
	}
	id = member(block, "id");
	if (flags & FACT_CALL && scan_string_eq(member(block, "type"), SV("tool_use")) &&
		tool_is_alone(m->r, scan_inner(id)))
		tell_call(entry, block);
}

static void mend_tools(const struct mender *m, const struct mending *entry)
{
	struct jval content = entry->vals[CLAUDE_MSG_CONTENT], block;
	struct scan_iter it = scan_iter(content);
	while (content.type == J_ARRAY && scan_next(&it, NULL, &block) > 0)
		mend_block(m, entry, block);
}

/* ---- the entry ---- */

void claude_mend(const struct mender *m, const struct mending *entry)
{
	uint32_t flags = entry->fact->flags;
	if (flags & FACT_PARENT)
		mend_link(m, entry, entry->vals[CLAUDE_PARENT], "parentUuid");
	if (flags & FACT_NOTE)
		mend_link(m, entry, entry->vals[CLAUDE_LEAF], "leafUuid");
	if (flags & FACT_UUID)
		mend_uuid(m, entry);
	if (flags & FACT_MAIN && !m->side)
		mend_member(
			entry, entry->object, entry->vals[CLAUDE_SIDE], "isSidechain", SV("false"));
	if (flags & FACT_NO_TIME)
		mend_time(m, entry, entry->vals[CLAUDE_TIME]);
	if (flags & FACT_NO_MODEL)
		mend_model(m, entry);
	if (flags & FACT_NO_MESSAGE_ID)
		mend_message_id(entry);
	if (flags & FACT_STRING && !entry->neutral)
		mend_string(entry);
	if (flags & (FACT_CALL | FACT_RESULT | FACT_TOOL_ID) && !entry->neutral)
		mend_tools(m, entry);
	if (m->session && !entry->id && entry->vals[CLAUDE_SESSION].type == J_STRING)
		edit_string(entry->edit, entry->vals[CLAUDE_SESSION], sv_of(m->session));
}

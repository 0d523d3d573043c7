#include "branch/port.h"

#include "base/mem.h"
#include "branch/fork.h"
#include "strategy/brief.h"

void port_report_release(struct port_report *r)
{
	native_report_release(&r->file);
}

struct porting {
	struct native *to;
	struct port_report *report;
	struct str text, command;
	bool same; /* both agents write the same format: models go along */
};

static int port_item(void *data, const struct item *item, struct err *reterr)
{
	struct porting *p = data;
	struct native_item out = {
		.kind = item->kind,
		.tool = item->tool,
		.tool_id = item->tool_id,
		.time_ms = transcript_time(item),
		.failed = (item->flags & ITEM_FAILED) != 0,
	};

	if (item->flags & (ITEM_SIDECHAIN | ITEM_GLUED))
		return 0;
	p->report->thinking += item->kind == ITEM_THINKING;
	p->report->notices += item->kind == ITEM_SYSTEM ||
		(item->kind == ITEM_USER && item->flags & ITEM_INJECTED &&
			!(item->flags & ITEM_SUMMARY));
	p->report->images += (item->flags & ITEM_IMAGE) != 0;
	if (item->kind == ITEM_USER && item->flags & ITEM_INJECTED &&
		!(item->flags & (ITEM_SUMMARY | ITEM_IMAGE)))
		return 0;
	if (item->kind != ITEM_USER && item->kind != ITEM_ASSISTANT &&
		item->kind != ITEM_TOOL_CALL && item->kind != ITEM_TOOL_RESULT)
		return 0;
	str_clear(&p->text);
	transcript_text(item, &p->text);
	out.text = str_sv(&p->text);
	if (item->kind == ITEM_ASSISTANT &&
		(item->flags & ITEM_FAILED || transcript_is_filler(out.text))) {
		p->report->errors++;
		return 0;
	}
	if (p->same && item->kind != ITEM_USER && !(item->flags & ITEM_SYNTHETIC))
		out.model = item->model;
	str_clear(&p->command);
	if (item->kind == ITEM_TOOL_CALL && brief_command(item->tool, out.text, &p->command)) {
		out.text = str_sv(&p->command);
		out.command = true;
		p->report->commands++;
	}
	return native_add(p->to, &out, reterr);
}

static void put_note(void *data, struct jw *w)
{
	branch_note_put(data, w);
}

int port_session(const struct port_opts *opts, struct port_report *ret, struct err *reterr)
{
	const struct session_info *parent = opts->parent;
	CLEANUP(turn_cut_release) struct turn_cut cut = { .path = NULL };
	CLEANUP(session_parts_release) struct session_parts parts = SESSION_PARTS_INIT;
	struct branch_note note = {
		.relation = opts->relation,
		.id = parent->id,
		.path = parent->path,
		.from_agent = opts->from->agent,
		.now_ms = clock_wall_ms(opts->clock),
	};
	bool same = opts->from->format == opts->to->format;
	const struct native_opts how = {
		.home = opts->to,
		.dir = opts->dir,
		.branch = parent->branch,
		.model = same ? parent->model : NULL,
		.like = same ? parent->path : NULL,
		.note = put_note,
		.data = &note,
		.clock = opts->clock,
		.dry = opts->dry,
	};
	struct porting p = { NULL, ret, STR_INIT, STR_INIT, same };
	int r = turn_cut_find(parent->path, parent->format, opts->from, opts->at, &cut, reterr);

	if (r >= 0)
		r = session_parts_find(
			cut.path, parent->format, opts->from, cut.end, true, &parts, reterr);
	note.turn = ret->turn = cut.turn;
	if (r >= 0)
		r = native_open(&how, &p.to, reterr);
	if (r >= 0)
		r = session_parts_live(&parts, port_item, &p, reterr);
	if (r >= 0)
		ret->compacted = parts.v.v[parts.first].live.compacted;
	if (r >= 0)
		r = native_finish(p.to, &ret->file, reterr);
	native_close(p.to);
	str_release(&p.text);
	str_release(&p.command);
	return r;
}

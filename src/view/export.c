#include "view/export.h"

#include <stdlib.h>

#include "agent/agents.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "view/export-impl.h"
#include "view/json.h"

/* ---- shared ---- */

struct sv export_text(struct exporter *x, const struct item *item)
{
	AUTO_STR raw = STR_INIT;

	transcript_text(item, &raw);
	str_clear(&x->text);
	utf8_scrub(&x->text, str_sv(&raw));
	struct sv text = str_sv(&x->text);
	/* The indent of a first line of code stays. */
	while (text.n > 0 && (text.p[0] == '\n' || text.p[0] == '\r'))
		text = sv_from(text, 1);
	while (text.n > 0 && strchr(" \t\r\n", text.p[text.n - 1]))
		text.n--;
	return text;
}

bool export_shown(struct exporter *x, const struct item *item)
{
	if (item->flags & ITEM_SIDECHAIN && !x->style.tools)
		return false;
	switch (item->kind) {
	case ITEM_USER:
		return x->style.tools || item->flags & (ITEM_SUMMARY | ITEM_PROMPT | ITEM_IMAGE);
	case ITEM_ASSISTANT:
		return x->style.tools || !transcript_is_filler(export_text(x, item));
	case ITEM_THINKING:
		return (x->style.thinking || x->style.tools) && item->text.type != J_NONE;
	case ITEM_SYSTEM:
		return x->style.tools && item->text.type != J_NONE;
	case ITEM_TOOL_CALL:
	case ITEM_TOOL_RESULT:
	case ITEM_COMPACTION:
		return true;
	case ITEM_META:
	case ITEM_KINDS:
		break;
	}
	return false;
}

/* ---- text: as it is shown ---- */

static void text_session(struct exporter *x, const struct session_view *view)
{
	if (x->sessions > 1)
		term_puts(&x->term, "\n\n");
	show_state_release(&x->state);
	x->state = (struct show_state)SHOW_STATE_INIT;
	view_session(&x->term, view->row);
	x->state.begun = true;
}

static void text_item(struct exporter *x, const struct item *item)
{
	const struct show_style style = { .agent = x->who.len > 0 ? x->agent : x->row->agent,
		.tools = x->style.tools,
		.thinking = x->style.thinking };

	view_item(&x->state, &style, &x->term, item);
}

static void text_pause(struct exporter *x)
{
	x->state.speaker = ITEM_META;
}

static void text_end(struct exporter *x)
{
	term_fresh_line(&x->term);
}

static const struct export_driver export_plain = {
	.session = text_session,
	.item = text_item,
	.pause = text_pause,
	.session_end = text_end,
};

/* ---- JSON ---- */

static void json_session(struct exporter *x, const struct session_view *view)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	if (x->style.sessions != 1)
		str_adds(&x->out, x->sessions > 1 ? ",\n" : "[\n");
	view_json_session(&w, view);
	str_adds(&x->out, "{\"session\":");
	utf8_scrub_json(&x->out, str_sv(&json));
	str_adds(&x->out, ",\"items\":[");
	x->any = false;
}

static void json_item(struct exporter *x, const struct item *item)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);

	view_json_item(&w, item, x->style.live ? 1 : -1, x->state.turn, &x->text);
	str_adds(&x->out, x->any ? ",\n" : "\n");
	utf8_scrub_json(&x->out, str_sv(&json));
	x->any = true;
}

static void json_session_end(struct exporter *x)
{
	str_adds(&x->out, "\n]}");
}

static void json_end(struct exporter *x)
{
	str_adds(&x->out, x->style.sessions != 1 ? x->sessions > 0 ? "\n]\n" : "[]\n" : "\n");
}

static const struct export_driver export_json = {
	.session = json_session,
	.item = json_item,
	.session_end = json_session_end,
	.end = json_end,
};

/* ---- any ---- */

static const struct export_driver *const drivers[EXPORT_FORMATS] = {
	[EXPORT_TEXT] = &export_plain,
	[EXPORT_MARKDOWN] = &export_markdown,
	[EXPORT_HTML] = &export_html,
	[EXPORT_JSON] = &export_json,
};

struct exporter *exporter_new(
	enum export_format format, const struct export_style *style, struct term_sink sink)
{
	struct exporter *x = xcalloc(1, sizeof(*x));

	*x = (struct exporter){
		.driver = drivers[format],
		.style = *style,
		.sink = sink,
		.out = STR_INIT,
		.text = STR_INIT,
		.who = STR_INIT,
		.speaker = ITEM_META,
		.state = SHOW_STATE_INIT,
		.contents = STR_INIT,
	};
	term_init_capture(&x->term, 0, 0, false);
	x->term.sink = sink;
	return x;
}

static void call_release(struct export_call *c)
{
	str_release(&c->id);
	str_release(&c->head);
	str_release(&c->body);
}

void exporter_free(struct exporter *x)
{
	if (!x)
		return;
	vec_each (&x->calls, c)
		call_release(c);
	vec_release(&x->calls);
	term_release(&x->term);
	show_state_release(&x->state);
	str_release(&x->contents);
	str_release(&x->who);
	str_release(&x->text);
	str_release(&x->out);
	free(x);
}

/* One of the two has something, by the format. */
static int flush(struct exporter *x, struct err *reterr)
{
	int r = term_flush(&x->term, reterr);

	if (r >= 0 && x->out.len > 0)
		r = x->sink.write(x->sink.data, str_sv(&x->out), reterr);
	str_clear(&x->out);
	return r;
}

static void end_session(struct exporter *x)
{
	if (x->row)
		x->driver->session_end(x);
	x->row = NULL;
	x->speaker = ITEM_META;
	str_clear(&x->who);
}

int export_end_session(struct exporter *x, struct err *reterr)
{
	end_session(x);
	return flush(x, reterr);
}

void export_speaker(struct exporter *x, const char *who)
{
	if (sv_is(str_sv(&x->who), who))
		return;
	if (x->driver->pause)
		x->driver->pause(x);
	str_clear(&x->who);
	str_adds(&x->who, who);
	x->agent = x->who.buf;
}

int exporter_session(struct exporter *x, const struct session_view *view, struct err *reterr)
{
	const struct agent_def *agent = agent_named(sv_of(view->row->agent));

	end_session(x);
	x->row = view->row;
	x->agent = agent ? agent->title : view->row->agent;
	x->sessions++;
	x->driver->session(x, view);
	return flush(x, reterr);
}

int exporter_item(struct exporter *x, const struct item *item, uint64_t turn, struct err *reterr)
{
	x->state.turn = turn;
	x->driver->item(x, item);
	return flush(x, reterr);
}

int exporter_end(struct exporter *x, struct err *reterr)
{
	end_session(x);
	if (x->driver->end)
		x->driver->end(x);
	return flush(x, reterr);
}

#include "view/item.h"

#include <inttypes.h>

#include "base/clock.h"
#include "base/utf8.h"
#include "transcript/transcript.h"
#include "ui/format.h"
#include "ui/markdown.h"
#include "ui/wrap.h"
#include "view/json.h"
#include "json/scan.h"

enum { CALL_COLUMNS = 100, INDENT = 4 };

void show_state_release(struct show_state *s)
{
	str_release(&s->text);
}

/* ---- pieces ---- */

/* A line that names the speaker and when; a blank line before it. */
static void heading(struct show_state *s, struct term *t, const struct item *item, unsigned style,
	const char *who)
{
	char when[CLOCK_TEXT_MAX];
	int64_t ms = transcript_time(item);

	term_fresh_line(t);
	if (s->begun)
		term_newline(t);
	s->begun = true;
	term_style(t, style);
	term_puts(t, who);
	if (ms > 0) {
		clock_format_local(ms, when);
		term_style(t, STYLE_NOTICE);
		term_putf(t, "  %s", when);
	}
	if (s->turn > 0 && item->kind == ITEM_USER) {
		term_style(t, STYLE_NOTICE);
		term_putf(t, "  turn %" PRIu64, s->turn);
	}
	term_style(t, STYLE_PLAIN);
	term_newline(t);
}

static void speaker(struct show_state *s, struct term *t, const struct item *item,
	enum item_kind kind, unsigned style, const char *who)
{
	if (!s->begun || s->speaker != kind || kind == ITEM_USER)
		heading(s, t, item, style, who);
	s->speaker = kind;
}

/* Every line of the text set in, in one style. */
static void indented(struct term *t, struct sv text, unsigned style)
{
	struct sv line;

	while (sv_split(&text, '\n', &line)) {
		term_putf(t, "%*s", INDENT, "");
		term_style(t, style);
		term_put(t, line);
		term_style(t, STYLE_PLAIN);
		term_newline(t);
	}
}

static void words(struct show_state *s, struct term *t, const struct item *item)
{
	str_clear(&s->text);
	transcript_text(item, &s->text);
	struct sv text = sv_trim(str_sv(&s->text)), line;
	if (!t->tty)
		term_put(t, text);
	else if (item->kind == ITEM_ASSISTANT)
		markdown_print(t, text);
	else /* line by line as it was, broken at words where it is too wide */
		while (sv_split(&text, '\n', &line))
			wrap_line(t, STYLE_PLAIN, line);
	term_fresh_line(t);
}

static void quiet(struct show_state *s, struct term *t, const struct item *item, const char *label)
{
	str_clear(&s->text);
	transcript_text(item, &s->text);
	struct sv text = sv_trim(str_sv(&s->text));
	term_fresh_line(t);
	term_style(t, STYLE_NOTICE);
	term_putf(t, "  (%s)", label);
	term_style(t, STYLE_PLAIN);
	term_newline(t);
	indented(t, text, STYLE_NOTICE);
}

/* ---- tools ---- */

void view_call_gist(const struct item *item, struct str *out)
{
	static const char *const members[] = { "command", "cmd", "file_path", "path", "pattern",
		"query", "url", "description", "prompt" };
	AUTO_STR text = STR_INIT;
	struct jval args, val;

	transcript_text(item, &text);
	bool json = scan_text(str_sv(&text), &args) >= 0;
	for (size_t i = 0; json && i < ARRAY_LEN(members); i++)
		if (scan_get(args, sv_of(members[i]), &val) > 0) {
			if (val.type == J_STRING)
				(void)scan_string(val, out);
			else
				str_add(out, val.raw);
			return;
		}
	str_add(out, str_sv(&text));
}

static void show_call(struct show_state *s, const struct show_style *style, struct term *t,
	const struct item *item)
{
	AUTO_STR gist = STR_INIT;
	AUTO_STR line = STR_INIT;
	AUTO_STR fit = STR_INIT;

	speaker(s, t, item, ITEM_ASSISTANT, STYLE_AGENT, style->agent);
	view_call_gist(item, &gist);
	utf8_scrub_line(&line, str_sv(&gist));
	utf8_fit(&fit, str_sv(&line), style->tools ? 0x7fff : CALL_COLUMNS);
	term_puts(t, "  ");
	term_styled(t, STYLE_TOOL, item->tool);
	term_puts(t, fit.len > 0 ? ": " : "");
	term_text_line(t, str_sv(&fit));
	term_newline(t);
	if (!style->tools)
		return;
	str_clear(&s->text);
	transcript_text(item, &s->text);
	indented(t, str_sv(&s->text), STYLE_NOTICE);
}

/* ---- one item ---- */

static void show_summary(struct show_state *s, const struct show_style *style, struct term *t,
	const struct item *item)
{
	char count[SIZE_TEXT_MAX];

	if (style->tools) {
		quiet(s, t, item, "summary");
		return;
	}
	str_clear(&s->text);
	transcript_text(item, &s->text);
	size_format_count((int64_t)utf8_length(str_sv(&s->text)), count);
	term_putf(t, "  (summary of what was before, %s characters; --tools shows it)\n", count);
}

void view_item(struct show_state *s, const struct show_style *style, struct term *t,
	const struct item *item)
{
	bool failed = item->flags & ITEM_FAILED;

	if (item->flags & ITEM_SIDECHAIN && !style->tools)
		return;
	switch (item->kind) {
	case ITEM_USER:
		if (item->flags & ITEM_SUMMARY) {
			show_summary(s, style, t, item);
		} else if (item->flags & (ITEM_PROMPT | ITEM_IMAGE)) {
			speaker(s, t, item, ITEM_USER, STYLE_USER, "you");
			words(s, t, item);
		} else if (style->tools) {
			quiet(s, t, item, "put in by a program");
		}
		break;
	case ITEM_ASSISTANT:
		str_clear(&s->text);
		transcript_text(item, &s->text);
		if (transcript_is_filler(str_sv(&s->text)) && !style->tools)
			break;
		speaker(s, t, item, ITEM_ASSISTANT, STYLE_AGENT, style->agent);
		words(s, t, item);
		break;
	case ITEM_TOOL_CALL:
		show_call(s, style, t, item);
		break;
	case ITEM_TOOL_RESULT:
		if (style->tools)
			quiet(s, t, item, failed ? "result: failed" : "result");
		else if (failed)
			term_puts(t, "  (failed)\n");
		break;
	case ITEM_COMPACTION:
		heading(s, t, item, STYLE_WARNING, "context compacted");
		s->speaker = ITEM_COMPACTION;
		if (item->flags & ITEM_SUMMARY)
			show_summary(s, style, t, item);
		break;
	case ITEM_THINKING:
	case ITEM_SYSTEM:
		if ((style->tools || (style->thinking && item->kind == ITEM_THINKING)) &&
			item->text.type != J_NONE)
			quiet(s, t, item, item->kind == ITEM_THINKING ? "thinking" : "system");
		break;
	case ITEM_META:
	case ITEM_KINDS:
		break;
	}
}

/* ---- JSON ---- */

static void put_slice(struct jw *w, const char *key, struct sv text)
{
	if (text.n > 0)
		jw_put_string(w, key, text);
}

void view_json_item(struct jw *w, const struct item *item, int live, uint64_t turn, struct str *tmp)
{
	str_clear(tmp);
	transcript_text(item, tmp);
	jw_object(w);
	jw_put_cstr(w, "kind", item_kind_name(item->kind));
	put_slice(w, "type", item->type);
	jw_put_i64(w, "line", (int64_t)item->line);
	jw_put_i64(w, "offset_bytes", (int64_t)item->offset);
	jw_put_i64(w, "turn", (int64_t)turn);
	if (item->time.n > 0)
		view_put_time(w, "recorded_at", transcript_time(item));
	put_slice(w, "uuid", item->uuid);
	put_slice(w, "parent_uuid", item->parent);
	put_slice(w, "message_id", item->message_id);
	put_slice(w, "model", item->model);
	put_slice(w, "tool", item->tool);
	put_slice(w, "tool_id", item->tool_id);
	if (item->kind == ITEM_USER)
		jw_put_bool(w, "prompt", item->flags & ITEM_PROMPT);
	if (item->flags & ITEM_FAILED)
		jw_put_bool(w, "failed", true);
	if (item->flags & ITEM_SUMMARY)
		jw_put_bool(w, "summary", true);
	if (item->flags & ITEM_BROKEN)
		jw_put_bool(w, "broken", true);
	if (live >= 0)
		jw_put_bool(w, "live", live > 0);
	jw_put_string(w, "text", str_sv(tmp));
	jw_end(w);
}

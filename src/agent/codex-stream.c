#include "agent/codex-stream.h"

#include "json/scan.h"
#include "json/write.h"

enum { K_TYPE, K_THREAD, K_ITEM, K_MESSAGE, K_ERROR, K_USAGE, K_COUNT };

static const struct scan_key keys[K_COUNT] = {
	[K_TYPE] = SCAN_KEY("type", SCAN_TOP),
	[K_THREAD] = SCAN_KEY("thread_id", SCAN_TOP),
	[K_ITEM] = SCAN_KEY("item", SCAN_TOP),
	[K_MESSAGE] = SCAN_KEY("message", SCAN_TOP),
	[K_ERROR] = SCAN_KEY("error", SCAN_TOP),
	[K_USAGE] = SCAN_KEY("usage", SCAN_TOP),
};

static void take_session(struct codex_stream *s, struct jval thread)
{
	AUTO_STR id = STR_INIT;

	if (s->told_session || !scan_string(thread, &id) || id.len == 0)
		return;
	s->told_session = true;
	s->ops->event(
		s->data, &(struct agent_event){ .type = AGENT_EV_SESSION, .session = id.buf });
}

/* "Reconnecting... 1/5 (why)" */
static void take_error(struct codex_stream *s, struct jval message)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR words = STR_INIT;
	struct sv why = { NULL, 0 };
	size_t open;

	codex_error_words(&text, message);
	struct sv line = str_sv(&text);
	if (!sv_starts(line, SV("Reconnecting")))
		return;
	if (sv_find(line, SV("("), &open) && sv_ends(line, SV(")")))
		why = sv_head(sv_from(line, open + 1), line.n - open - 2);
	codex_retry_words(&words, why);
	s->ops->event(
		s->data, &(struct agent_event){ .type = AGENT_EV_RETRY, .text = str_sv(&words) });
}

static void take_end(struct codex_stream *s, const struct jval *v, bool failed)
{
	AUTO_STR said = STR_INIT;
	struct codex_result result = { .failed = failed, .total = codex_usage(&v[K_USAGE]) };

	if (failed)
		codex_error_words(&said, value_member(v[K_ERROR], "message"));
	result.said = str_sv(&said);
	s->ops->result(s->data, &result);
}

static void take_line(void *data, struct sv line)
{
	struct codex_stream *s = data;
	struct jval v[K_COUNT];

	if (scan_keys(line, keys, K_COUNT, v) < 0)
		return;
	if (value_is(v[K_TYPE], "thread.started"))
		take_session(s, v[K_THREAD]);
	else if (value_is(v[K_TYPE], "turn.started"))
		s->ops->working(s->data);
	else if (value_is(v[K_TYPE], "item.started"))
		codex_item_begin(&s->items, v[K_ITEM]);
	else if (value_is(v[K_TYPE], "item.completed"))
		codex_item_end(&s->items, v[K_ITEM]);
	else if (value_is(v[K_TYPE], "error"))
		take_error(s, v[K_MESSAGE]);
	else if (value_is(v[K_TYPE], "turn.completed"))
		take_end(s, v, false);
	else if (value_is(v[K_TYPE], "turn.failed"))
		take_end(s, v, true);
}

void codex_stream_init(struct codex_stream *s, const struct codex_stream_ops *ops, void *data)
{
	*s = (struct codex_stream){ .ops = ops, .data = data };
	codex_items_init(&s->items, ops->event, data);
	lines_init(&s->lines, CODEX_LINE_MAX);
}

void codex_stream_release(struct codex_stream *s)
{
	codex_items_release(&s->items);
	lines_release(&s->lines);
}

void codex_stream_restart(struct codex_stream *s)
{
	codex_items_release(&s->items);
	lines_clear(&s->lines);
	s->told_session = false;
}

void codex_stream_feed(struct codex_stream *s, struct sv bytes)
{
	lines_feed(&s->lines, bytes, take_line, s);
}

void codex_stream_end(struct codex_stream *s)
{
	lines_end(&s->lines, take_line, s);
}

/* TOML forbids DEL in a string; the rest of JSON's
 * spelling is TOML's as well. */
void codex_toml_string(struct str *out, struct sv text)
{
	AUTO_STR json = STR_INIT;

	json_quote(&json, text);
	for (size_t i = 0; i < json.len; i++) {
		if (json.buf[i] == '\x7f')
			str_adds(out, "\\u007f");
		else
			str_addc(out, json.buf[i]);
	}
}

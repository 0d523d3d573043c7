#include "transcript/native.h"

#include <assert.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/utf8.h"
#include "transcript/adapter.h"
#include "transcript/native-impl.h"

enum { NAME_MAX_SENT = 64 }; /* bytes of a tool's name or id that every model takes */

bool native_writes(const struct transcript_format *format)
{
	return format->native != NULL;
}

uint64_t native_count(const struct transcript_format *format, uint64_t texts)
{
	return format->native->head_lines + texts * format->native->text_lines;
}

void native_line(struct native_lines *l)
{
	l->w = (struct jw)JW_INIT(l->out);
	jw_object(&l->w);
}

void native_line_end(struct native_lines *l)
{
	jw_end(&l->w);
	str_addc(l->out, '\n');
	l->time_ms++;
}

void native_time(struct native_lines *l, const char *key)
{
	char text[CLOCK_TEXT_MAX];

	clock_format_iso(l->time_ms, text);
	jw_put_cstr(&l->w, key, text);
}

void native_note(struct native_lines *l)
{
	if (!l->note_key)
		return;
	jw_key(&l->w, l->note_key);
	jw_object(&l->w);
	l->note(l->data, &l->w);
	jw_end(&l->w);
}

static bool is_plain(struct sv name)
{
	for (size_t i = 0; i < name.n; i++) {
		char c = name.p[i];
		if (!(c >= 'a' && c <= 'z') && !(c >= 'A' && c <= 'Z') && !(c >= '0' && c <= '9') &&
			c != '_' && c != '-')
			return false;
	}
	return name.n > 0 && name.n <= NAME_MAX_SENT;
}

/* The models refuse a whole request for one odd character in a name. */
static struct sv plain_name(struct sv name, char buf[static NAME_MAX_SENT + 1])
{
	size_t n = name.n < NAME_MAX_SENT ? name.n : NAME_MAX_SENT;

	if (is_plain(name))
		return name;
	for (size_t i = 0; i < n; i++)
		buf[i] = is_plain(sv_make(name.p + i, 1)) ? name.p[i] : '_';
	return n > 0 ? sv_make(buf, n) : SV("tool");
}

/* The same for the call and for its result. */
static struct sv plain_id(struct sv id, char buf[static NAME_MAX_SENT + 1])
{
	if (is_plain(id))
		return id;
	(void)snprintf(buf, NAME_MAX_SENT + 1, "call_%016" PRIx64, link_hash(id));
	return sv_of(buf);
}

/* An object as it can stand on a line: between values a line may end, and a blank is as good. */
static bool one_line(struct sv text, struct str *out)
{
	struct jval val;

	if (!utf8_valid(text) || scan_text(text, &val) < 0 || val.type != J_OBJECT)
		return false;
	str_add(out, text);
	for (size_t i = 0; i < out->len; i++) {
		if (out->buf[i] == '\n' || out->buf[i] == '\r' || out->buf[i] == '\t')
			out->buf[i] = ' ';
		if ((unsigned char)out->buf[i] < ' ')
			return false;
	}
	return true;
}

static void put_call(struct native_lines *l, const struct native_item *item)
{
	const struct native_writer *writer = l->format->native;
	AUTO_STR input = STR_INIT;
	struct native_item call = *item;
	struct jw w = JW_INIT(&input);

	if (item->command || !one_line(item->text, &input)) {
		str_clear(&input);
		jw_object(&w);
		jw_put_string(&w, item->command ? writer->shell_key : "input", item->text);
		jw_end(&w);
	}
	call.text = str_sv(&input);
	if (item->command)
		call.tool = sv_of(writer->shell_tool);
	writer->put(l, &call);
}

void native_put(struct native_lines *l, const struct native_item *item)
{
	const struct native_writer *writer = l->format->native;
	char tool[NAME_MAX_SENT + 1], id[NAME_MAX_SENT + 1];
	struct native_item plain = *item;

	assert(writer && l->out &&
		(item->kind == ITEM_USER || item->kind == ITEM_ASSISTANT ||
			item->kind == ITEM_TOOL_CALL || item->kind == ITEM_TOOL_RESULT));
	if (item->time_ms > l->time_ms)
		l->time_ms = item->time_ms;
	if (!l->begun && writer->head)
		writer->head(l);
	if (item->kind == ITEM_TOOL_CALL || item->kind == ITEM_TOOL_RESULT) {
		plain.tool = plain_name(item->tool, tool);
		plain.tool_id = plain_id(item->tool_id, id);
	}
	if (item->kind == ITEM_TOOL_CALL)
		put_call(l, &plain);
	else
		writer->put(l, &plain);
	l->begun = true;
}

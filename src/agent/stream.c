#include "agent/stream.h"

#include "base/utf8.h"

/* ---- lines ---- */

void lines_init(struct lines *l, size_t max)
{
	*l = (struct lines){ .part = STR_INIT, .max = max };
}

void lines_release(struct lines *l)
{
	str_release(&l->part);
}

void lines_clear(struct lines *l)
{
	str_clear(&l->part);
	l->skipping = false;
}

static void skip(struct lines *l)
{
	str_release(&l->part); /* the memory of a huge line is not kept */
	l->skipping = true;
	l->skipped++;
}

/* Keeps the beginning of a line whose end has not come. */
static void keep(struct lines *l, struct sv bytes)
{
	if (l->skipping)
		return;
	if (bytes.n > l->max - l->part.len)
		skip(l);
	else
		str_add(&l->part, bytes);
}

/* `bytes` is the rest of the current line. */
static void complete(struct lines *l, struct sv bytes, lines_fn fn, void *data)
{
	if (l->part.len == 0 && !l->skipping && bytes.n <= l->max) {
		fn(data, bytes);
		return;
	}
	keep(l, bytes);
	if (!l->skipping)
		fn(data, str_sv(&l->part));
	lines_clear(l);
}

void lines_feed(struct lines *l, struct sv bytes, lines_fn fn, void *data)
{
	while (bytes.n) {
		const char *nl = memchr(bytes.p, '\n', bytes.n);
		if (!nl) {
			keep(l, bytes);
			return;
		}
		size_t n = (size_t)(nl - bytes.p);
		complete(l, sv_head(bytes, n), fn, data);
		bytes = sv_from(bytes, n + 1);
	}
}

void lines_end(struct lines *l, lines_fn fn, void *data)
{
	if (l->part.len)
		complete(l, SV(""), fn, data);
	lines_clear(l);
}

/* ---- what a tool is about ---- */

enum { LOOK_AT = 4096 }; /* bytes of a long command that are looked at */

void tool_about_text(struct str *out, struct sv text, size_t max)
{
	AUTO_STR line = STR_INIT;

	utf8_scrub_line(&line, utf8_cut(text, LOOK_AT));
	struct sv whole = sv_trim(str_sv(&line));
	struct sv shown = utf8_cut(whole, max);
	if (shown.n < whole.n)
		shown = utf8_cut(whole, max - strlen("…"));
	str_add(out, shown);
	if (shown.n < whole.n)
		str_adds(out, "…");
}

/* The most telling first. */
static const char *const telling[] = { "command", "cmd", "file_path", "notebook_path", "path",
	"pattern", "url", "query", "description", "skill", "subject", "prompt", "name" };

void tool_about(struct str *out, struct jval input, size_t max)
{
	AUTO_STR text = STR_INIT;
	struct jval val;

	for (size_t i = 0; i < ARRAY_LEN(telling); i++) {
		if (scan_get(input, sv_of(telling[i]), &val) <= 0)
			continue;
		struct sv words = scan_string_view(val, &text);
		if (words.n == 0)
			continue;
		tool_about_text(out, words, max);
		return;
	}
}

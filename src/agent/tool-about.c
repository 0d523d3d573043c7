#include "agent/tool-about.h"

#include "base/utf8.h"

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

#include <stdlib.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "os/file.h"
#include "ui/editor-impl.h"

enum { HISTORY_MODE = 0600, REWRITE_AT = 2 /* times the entries kept */ };

static void encode(struct str *out, struct sv entry)
{
	for (size_t i = 0; i < entry.n; i++) {
		if (entry.p[i] == '\n')
			str_adds(out, "\\n");
		else if (entry.p[i] == '\\')
			str_adds(out, "\\\\");
		else if (entry.p[i])
			str_addc(out, entry.p[i]);
	}
}

static void decode(struct str *out, struct sv line)
{
	for (size_t i = 0; i < line.n; i++) {
		if (line.p[i] != '\\' || i + 1 == line.n) {
			str_addc(out, line.p[i]);
			continue;
		}
		i++;
		if (line.p[i] == 'n')
			str_addc(out, '\n');
		else
			str_addc(out, line.p[i]);
	}
}

/* Into the running history only. */
static void enter(struct editor *e, struct sv entry)
{
	AUTO_STR clean = STR_INIT;
	HistEventW event;

	str_clear(&e->last);
	str_add(&e->last, entry);
	if (!e->history)
		return;
	utf8_scrub(&clean, entry);
	AUTO_FREE wchar_t *wide = editor_widen(str_sv(&clean));
	(void)history_w(e->history, &event, H_ENTER, wide);
}

size_t editor_count_newlines(struct sv text)
{
	size_t n = 0;

	for (size_t i = 0; i < text.n; i++)
		n += text.p[i] == '\n';
	return n;
}

/* The last `n` lines. */
static struct sv last_lines(struct sv text, size_t n)
{
	size_t at = text.n;

	while (at > 0) {
		if (text.p[at - 1] == '\n' && n-- == 0)
			break;
		at--;
	}
	return sv_from(text, at);
}

void editor_history_load(struct editor *e)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR entry = STR_INIT;
	struct sv line;

	if (!e->history_path ||
		file_read(e->history_path, EDITOR_HISTORY_FILE_MAX, &text, NULL) < 0)
		return;
	size_t lines = editor_count_newlines(str_sv(&text));
	struct sv rest = last_lines(str_sv(&text), e->opts.history_max);
	if (lines > REWRITE_AT * e->opts.history_max)
		(void)!file_replace(e->history_path, rest, HISTORY_MODE, NULL);
	while (sv_split(&rest, '\n', &line)) {
		if (!line.n)
			continue;
		str_clear(&entry);
		decode(&entry, line);
		enter(e, str_sv(&entry));
	}
}

int editor_remember(struct editor *e, struct sv text, struct err *reterr)
{
	AUTO_STR line = STR_INIT;

	if (!text.n || text.p[0] == ' ' || sv_eq(text, str_sv(&e->last)))
		return 0;
	enter(e, text);
	if (!e->history_path)
		return 0;
	encode(&line, text);
	str_addc(&line, '\n');
	return file_append(e->history_path, str_sv(&line), false, reterr);
}

#include "cli/prose.h"

#include "base/utf8.h"
#include "ui/term.h"

size_t prose_width(FILE *out)
{
	const struct term_opts screen = { .fd = fileno(out) };
	struct term t;

	if (screen.fd < 0)
		return 0;
	term_init(&t, &screen);
	size_t width = !t.tty ? 0 : t.cols > PROSE_LEAST ? t.cols : PROSE_LEAST;
	term_release(&t);
	return width;
}

static void pad(FILE *out, size_t n)
{
	while (n--)
		(void)fputc(' ', out);
}

void prose_wrap(FILE *out, size_t width, struct sv text, size_t column, size_t indent)
{
	struct sv word;
	bool first = true;

	while (sv_split(&text, ' ', &word)) {
		size_t wide = utf8_width(word);
		if (!first && column + 1 + wide > width) {
			(void)fputc('\n', out);
			pad(out, indent);
			column = indent;
			first = true;
		}
		if (!first) {
			(void)fputc(' ', out);
			column++;
		}
		(void)fprintf(out, "%.*s", SV_ARG(word));
		column += wide;
		first = false;
	}
	(void)fputc('\n', out);
}

void prose_put(FILE *out, size_t indent, const char *text)
{
	size_t width = prose_width(out), blanks = 0;

	if (width == 0) {
		(void)fprintf(out, "%s\n", text);
		return;
	}
	while (text[blanks] == ' ')
		blanks++;
	pad(out, blanks);
	prose_wrap(out, width, sv_of(text + blanks), blanks, indent);
}

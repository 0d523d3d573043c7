/*
 * Markdown: the first bytes say width, colour and where to cut. Whatever the text: the cuts do not
 * show, no control character comes out but newlines and our own style changes, and the output is
 * valid UTF-8.
 */
#include "base/utf8.h"
#include "fuzz.h"
#include "ui/markdown.h"

enum { HEAD = 4, SIZE_MAX_HERE = 32 * 1024 };

static void render(struct str *out, struct sv text, const uint8_t *head, size_t step)
{
	struct term term;
	struct markdown m;

	term_init_capture(&term, (size_t)TERM_MIN_COLS + head[0] % 100, 24, head[1] & 1);
	term.ascii = head[1] & 2;
	markdown_init(&m, &term);
	while (text.n) {
		size_t n = step ? 1 + (text.n * head[3]) % step : text.n;
		markdown_feed(&m, sv_head(text, n));
		text = sv_from(text, n);
	}
	markdown_end(&m);
	REQUIRE(term.col == 0);
	REQUIRE(term.style == STYLE_PLAIN);
	str_add(out, str_sv(&term.buf));
	markdown_release(&m);
	term_release(&term);
}

/* The length of a style change at the front of s; 0 when there is none. */
static size_t style_change(struct sv s)
{
	size_t n = 2;

	if (!sv_starts(s, SV("\033[")))
		return 0;
	while (n < s.n && (s.p[n] == ';' || (s.p[n] >= '0' && s.p[n] <= '9')))
		n++;
	return n < s.n && s.p[n] == 'm' ? n + 1 : 0;
}

static void check_harmless(struct sv s, bool colour)
{
	REQUIRE(utf8_valid(s));
	while (s.n) {
		uint32_t cp;
		size_t n = utf8_decode(s, &cp);
		if (cp == 0x1B) {
			n = style_change(s);
			REQUIRE(colour && n);
		} else {
			REQUIRE(cp == '\n' || cp >= 0x20);
			REQUIRE(cp < 0x7F || cp >= 0xA0);
			REQUIRE(cp < 0x202A || cp > 0x202E);
		}
		s = sv_from(s, n);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	AUTO_STR whole = STR_INIT;
	AUTO_STR pieces = STR_INIT;

	if (size < HEAD || size > SIZE_MAX_HERE)
		return 0;
	struct sv text = sv_make((const char *)data + HEAD, size - HEAD);
	render(&whole, text, data, 0);
	render(&pieces, text, data, 1 + data[2] % 32);
	REQUIRE(sv_eq(str_sv(&whole), str_sv(&pieces)));
	check_harmless(str_sv(&whole), data[1] & 1);
	return 0;
}

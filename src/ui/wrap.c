#include "ui/wrap.h"

#include "base/utf8.h"

void wrap_init(struct wrap *w, struct term *term)
{
	*w = (struct wrap){ .term = term, .word = STR_INIT, .runs = VEC_INIT, .hang = STR_INIT };
}

void wrap_release(struct wrap *w)
{
	str_release(&w->word);
	str_release(&w->hang);
	vec_release(&w->runs);
}

/* The last column stays free: a cursor in it cannot be put back there after a status line. */
static size_t limit(const struct wrap *w)
{
	return w->term->cols - 1;
}

static void put_styled(struct wrap *w, struct sv text, unsigned style)
{
	if (!text.n)
		return;
	term_style(w->term, style);
	term_put(w->term, text);
}

void wrap_begin(struct wrap *w, struct sv first, struct sv hang, unsigned style)
{
	str_clear(&w->hang);
	/* A hanging indent that leaves no room for text helps nobody. */
	if (utf8_width(hang) <= limit(w) / 2)
		str_add(&w->hang, hang);
	w->hang_style = style;
	w->blanks = 0;
	put_styled(w, first, style);
}

static void end_word(struct wrap *w)
{
	if (!w->word.len)
		return;
	size_t width = utf8_width(str_sv(&w->word));
	size_t hang = utf8_width(str_sv(&w->hang));
	if (!w->torn && w->term->col > hang && w->term->col + w->blanks + width > limit(w)) {
		term_style(w->term, STYLE_PLAIN);
		term_newline(w->term);
		put_styled(w, str_sv(&w->hang), w->hang_style);
		w->blanks = 0;
	}
	for (; w->blanks; w->blanks--)
		put_styled(w, SV(" "), w->blank_style);
	struct sv word = str_sv(&w->word);
	for (size_t i = 0; i < w->runs.n; i++) {
		size_t end = i + 1 < w->runs.n ? w->runs.v[i + 1].at : word.n;
		size_t at = w->runs.v[i].at;
		put_styled(w, sv_make(word.p + at, end - at), w->runs.v[i].style);
	}
	str_clear(&w->word);
	w->runs.n = 0;
}

static bool is_east_asian(uint32_t cp)
{
	return (cp >= 0x2E80 && cp <= 0x9FFF) || (cp >= 0xAC00 && cp <= 0xD7A3) ||
		(cp >= 0xF900 && cp <= 0xFAFF) || (cp >= 0xFF00 && cp <= 0xFF60) ||
		(cp >= 0x20000 && cp <= 0x3FFFD);
}

/* Closing punctuation and small marks do not begin a line. */
static bool clings(uint32_t cp)
{
	switch (cp) {
	case 0x3001: /* ideographic comma */
	case 0x3002: /* ideographic full stop */
	case 0x300D: /* right corner bracket */
	case 0x300F: /* right white corner bracket */
	case 0x3011: /* right black lenticular bracket */
	case 0x30FC: /* prolonged sound mark */
	case 0xFF01: /* fullwidth exclamation mark */
	case 0xFF09: /* fullwidth right parenthesis */
	case 0xFF0C: /* fullwidth comma */
	case 0xFF0E: /* fullwidth full stop */
	case 0xFF1A: /* fullwidth colon */
	case 0xFF1B: /* fullwidth semicolon */
	case 0xFF1F: /* fullwidth question mark */
		return true;
	default:
		return false;
	}
}

void wrap_add(struct wrap *w, struct sv text, unsigned style)
{
	uint32_t cp;

	for (size_t n; text.n; text = sv_from(text, n)) {
		n = utf8_decode(text, &cp);
		bool blank = cp == ' ' || cp == '\t';
		if (blank || (is_east_asian(cp) && !clings(cp)) || w->word.len >= WRAP_WORD_MAX) {
			end_word(w);
			w->torn = false;
		}
		if (blank) {
			w->blanks++;
			w->blank_style = style;
			continue;
		}
		if (!w->runs.n || w->runs.v[w->runs.n - 1].style != style)
			vec_push(&w->runs, (struct wrap_run){ w->word.len, style });
		str_add(&w->word, sv_head(text, n));
	}
}

void wrap_pause(struct wrap *w)
{
	if (!w->word.len)
		return;
	end_word(w);
	w->torn = true;
	term_style(w->term, STYLE_PLAIN);
}

void wrap_end(struct wrap *w)
{
	end_word(w);
	w->torn = false;
	w->blanks = 0;
	term_style(w->term, STYLE_PLAIN);
	term_newline(w->term);
}

void wrap_error(struct term *term, struct sv text)
{
	AUTO_STR sentence = STR_INIT;
	size_t word = 0;

	str_add(&sentence, text);
	while (word < text.n && text.p[word] >= 'a' && text.p[word] <= 'z')
		word++;
	if (word > 0 && word < text.n && text.p[word] == ' ')
		sentence.buf[0] = (char)(sentence.buf[0] - 'a' + 'A');
	wrap_line(term, STYLE_ERROR, str_sv(&sentence));
}

void wrap_line(struct term *term, unsigned style, struct sv text)
{
	AUTO_STR clean = STR_INIT;
	struct wrap w;

	if (!term->tty) {
		term_styled(term, style, text);
		term_newline(term);
		return;
	}
	utf8_scrub_line(&clean, text);
	wrap_init(&w, term);
	wrap_begin(&w, SV(""), SV(""), STYLE_PLAIN);
	wrap_add(&w, str_sv(&clean), style);
	wrap_end(&w);
	wrap_release(&w);
}

/* The line is full: it ends plain, and the next one begins in the style that is in force. */
static void fold_here(struct str *line, const struct str *style, struct strv *lines)
{
	if (style->len)
		str_adds(line, "\033[m");
	strv_addsv(lines, str_sv(line));
	str_clear(line);
	str_add(line, str_sv(style));
}

size_t wrap_style(struct sv text)
{
	size_t at;

	return text.n && text.p[0] == '\033' && sv_find(text, SV("m"), &at) ? at + 1 : 0;
}

size_t wrap_fold(struct sv text, size_t cols, size_t at, struct strv *lines)
{
	enum { TAB_STOP = 8 };
	struct sv all = text;
	AUTO_STR line = STR_INIT;
	AUTO_STR style = STR_INIT; /* the sequence that set it; "": plain */
	size_t col = 0, n, found = SIZE_MAX;

	for (; text.n; text = sv_from(text, n)) {
		size_t width = 0, style_n = wrap_style(text);
		n = 1;
		if (text.p[0] == '\n') {
			fold_here(&line, &style, lines);
			col = 0;
			continue;
		}
		if (style_n > 0) { /* whole in itself */
			n = style_n;
			str_clear(&style);
			if (!sv_is(sv_head(text, n), "\033[0m"))
				str_add(&style, sv_head(text, n));
			str_add(&line, sv_head(text, n));
			continue;
		}
		if (text.p[0] == '\t')
			width = TAB_STOP - col % TAB_STOP;
		else
			n = utf8_cluster(text, &width);
		if (col + width > cols && col > 0) {
			fold_here(&line, &style, lines);
			col = 0;
		}
		if (text.p[0] == '\t')
			str_addf(&line, "%*s", (int)width, "");
		else
			str_add(&line, sv_head(text, n));
		col += width;
		if (found == SIZE_MAX && all.n - text.n >= at)
			found = lines->n;
	}
	if (col > 0)
		fold_here(&line, &style, lines);
	return found < lines->n ? found : lines->n - (lines->n > 0);
}

#include "voice/speakable.h"

#include <ctype.h>
#include <stdint.h>

#include "base/lang.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "route/tables.h"
#include "ui/markdown-span.h"
#include "voice/say.h"

enum {
	FENCE_MIN = 3,
	INDENT_CODE = 4,
	RAW_KEPT = 256, /* of a line of code: enough to see that it ends the block */
	SPAN_MAX = 2048, /* a span that has not ended within this is none */
	CODE_SAID_MAX = 40, /* a piece of code within a sentence that is read out */
	DEPTH_MAX = 6,
};

enum line_kind { LINE_UNDECIDED, LINE_TEXT, LINE_RAW };

struct speakable {
	speakable_fn fn;
	void *data;
	enum speakable_language language; /* of what was said so far; never unknown */
	struct str partial; /* a character that is not all there yet */
	struct str line; /* of the current line, what was not digested yet */
	struct str text; /* of the current block, what was not said yet; plain */
	enum line_kind kind;
	uint32_t before; /* the character in front of `line` */
	char fence; /* '`' or '~' inside a code block, else 0 */
	size_t fence_len;
	bool heading; /* the block is one line */
	bool blank; /* the line before was blank, or there was none */
	bool list; /* the block before was an item of a list */
	size_t line_at; /* in text: where the line before began, if it was just text */
	bool table; /* until a line that is something else */
	char named; /* what was named last, with nothing said since; 0: nothing */
};

struct speakable *speakable_new(enum speakable_language fallback, speakable_fn fn, void *data)
{
	struct speakable *s = xcalloc(1, sizeof(*s));

	s->fn = fn;
	s->data = data;
	s->language = fallback == SPEAKABLE_DE ? SPEAKABLE_DE : SPEAKABLE_EN;
	s->blank = true;
	s->line_at = SIZE_MAX;
	str_init_max(&s->partial, 0);
	str_init_max(&s->line, 0);
	str_init_max(&s->text, 0);
	return s;
}

void speakable_free(struct speakable *s)
{
	if (!s)
		return;
	str_release(&s->partial);
	str_release(&s->line);
	str_release(&s->text);
	free(s);
}

const char *speakable_code(enum speakable_language language)
{
	return language == SPEAKABLE_DE ? "de" : "en";
}

/* ---- sentences ---- */

static void tell(struct speakable *s, struct sv sentence)
{
	AUTO_STR said = STR_INIT;
	enum speakable_language language = say_language(sentence);

	sentence = sv_trim(sentence);
	if (!sentence.n)
		return;
	/* Where its words do not tell, those before it do. */
	if (language != SPEAKABLE_UNKNOWN)
		s->language = language;
	say_sentence(&said, sentence, s->language);
	if (!said.len)
		return;
	/* Something that is named right after the same has been named. */
	char named = 0;
	for (int what = SAY_CODE; what <= SAY_TABLE; what++) {
		AUTO_STR name = STR_INIT;
		const char c = (char)what;
		say_sentence(&name, sv_make(&c, 1), s->language);
		if (sv_eq(str_sv(&said), str_sv(&name)))
			named = c;
	}
	if (named && named == s->named)
		return;
	s->named = named;
	s->fn(s->data, str_sv(&said), s->language);
}

static bool is_closer(struct sv s, size_t at, size_t *ret_n)
{
	static const char *const closers[] = { ")", "]", "\"", "'", "”", "“", "’", "»", "«", "›" };

	for (size_t i = 0; i < ARRAY_LEN(closers); i++)
		if (sv_starts(sv_from(s, at), sv_of(closers[i]))) {
			*ret_n = strlen(closers[i]);
			return true;
		}
	return false;
}

static bool is_space(char c)
{
	return c == ' ' || c == '\n' || c == '\t';
}

/* A word that German sentences begin with, and no noun: after "42." it says that those end there.
 */
static bool begins_sentence(struct sv word)
{
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, word, true);
	const struct known_word *known = known_find(str_sv(&folded));
	return known && known->flags & KNOWN_STOP;
}

enum verdict { VERDICT_NO, VERDICT_YES, VERDICT_LATER };

/* Whether a full stop behind `word` ends a sentence, by what follows it from `next` on. */
static enum verdict stop_verdict(struct sv text, struct sv word, size_t at, size_t next, bool whole)
{
	enum say_stop stop = say_stop_after(word);
	bool number = word.n > 0 && word.n <= 3;

	for (size_t i = 0; i < word.n; i++)
		number &= isdigit((unsigned char)word.p[i]) != 0;
	if (stop == SAY_NEVER_ENDS)
		return VERDICT_NO;
	if (stop == SAY_ENDS && !number)
		return VERDICT_YES;
	while (next < text.n && is_space(text.p[next]))
		next++;
	if (next == text.n)
		return whole ? VERDICT_YES : VERDICT_LATER;
	if (islower((unsigned char)text.p[next]))
		return VERDICT_NO;
	if (!number || say_language(sv_head(text, at)) != SPEAKABLE_DE)
		return VERDICT_YES;
	/* "am 3. Mai", "die 2. Version"; but: "Es sind 42. Das reicht." */
	size_t end = next;
	while (end < text.n && !is_space(text.p[end]) && !ispunct((unsigned char)text.p[end]))
		end++;
	if (end == text.n && !whole)
		return VERDICT_LATER;
	struct sv following = sv_make(text.p + next, end - next);
	return begins_sentence(following) ? VERDICT_YES : VERDICT_NO;
}

/* Whether a sentence ends with the marks at `at`; *ret_end is behind them, with what closes it. */
static enum verdict ends_at(struct sv text, size_t at, bool whole, size_t *ret_end)
{
	const struct sv dots = SV("…");
	size_t end = at, n;
	bool doubt = true; /* a full stop, which may mean something else */
	bool many = false; /* "..." */

	for (;;) {
		if (sv_starts(sv_from(text, end), dots)) {
			many = true;
			end += dots.n;
		} else if (end < text.n && strchr(".!?", text.p[end])) {
			many |= text.p[end] == '.' && end > at;
			doubt &= text.p[end] == '.';
			end++;
		} else {
			break;
		}
	}
	*ret_end = end;
	while (is_closer(text, end, &n))
		end += n;
	if (end == text.n)
		return whole ? VERDICT_YES : VERDICT_LATER;
	if (!is_space(text.p[end]))
		return VERDICT_NO;
	*ret_end = end;
	if (!doubt)
		return VERDICT_YES;
	if (many) {
		size_t next = end;
		while (next < text.n && is_space(text.p[next]))
			next++;
		if (next == text.n)
			return whole ? VERDICT_YES : VERDICT_LATER;
		return islower((unsigned char)text.p[next]) ? VERDICT_NO : VERDICT_YES;
	}
	size_t begin = at;
	while (begin > 0 && !is_space(text.p[begin - 1]) && !strchr("([\"'", text.p[begin - 1]))
		begin--;
	return stop_verdict(text, sv_make(text.p + begin, at - begin), at, end, whole);
}

/* Tells each sentence of the block that is complete; with whole, all of it. */
static void tell_sentences(struct speakable *s, bool whole)
{
	size_t at = 0, cut = 0; /* where it could be cut, if it must be */

	while (at < s->text.len) {
		struct sv text = str_sv(&s->text);
		size_t end = at + 1;
		enum verdict verdict = VERDICT_NO;
		bool mark = strchr(".!?", text.p[at]) || sv_starts(sv_from(text, at), SV("…"));
		if (mark && text.p[at])
			verdict = ends_at(text, at, whole, &end);
		if (verdict == VERDICT_LATER)
			return;
		if (verdict == VERDICT_NO && at >= SPEAKABLE_SENTENCE_MAX) {
			/* In the middle of a character nothing is cut. */
			while (!cut && at < text.n && ((unsigned char)text.p[at] & 0xC0) == 0x80)
				at++;
			end = cut ? cut : at;
			verdict = VERDICT_YES;
		}
		if (verdict == VERDICT_NO) {
			if (is_space(text.p[at]))
				cut = at;
			at = end; /* behind "..." too */
			continue;
		}
		AUTO_STR sentence = STR_INIT;
		str_add(&sentence, sv_head(text, end));
		str_drop(&s->text, end);
		s->line_at = s->line_at > end ? s->line_at - end : 0;
		at = cut = 0;
		tell(s, str_sv(&sentence));
	}
	if (whole) {
		tell(s, str_sv(&s->text));
		str_clear(&s->text);
	}
}

static void end_block(struct speakable *s)
{
	tell_sentences(s, true);
	s->heading = false;
}

static void name_block(struct speakable *s, char what)
{
	end_block(s);
	tell(s, sv_make(&what, 1));
}

/* ---- lines ---- */

/* Code within a sentence is said where it is words, and named where it is signs. */
static void add_code(struct str *out, struct sv code)
{
	size_t signs = 0;

	code = sv_trim(code);
	for (size_t i = 0; i < code.n; i++)
		signs += code.p[i] > 0 && strchr("(){}[]<>=;|&$\\*\"'`!?^%#,", code.p[i]) != NULL;
	/* name() is a name. */
	if (sv_ends(code, SV("()"))) {
		code.n -= 2;
		signs -= 2;
	}
	/* Of a path the end is said, however long it is. */
	bool path = memchr(code.p, '/', code.n) && !memchr(code.p, ' ', code.n);
	if (!code.n || (code.n > CODE_SAID_MAX && !path) || signs)
		str_addc(out, SAY_CODE);
	else
		str_add(out, code);
}

static void add_spans(struct speakable *s, struct sv text, unsigned depth);

static void add_span(struct speakable *s, const struct span *span, unsigned depth)
{
	switch (span->kind) {
	case SPAN_TEXT:
		str_add(&s->text, span->inner);
		break;
	case SPAN_CODE:
		add_code(&s->text, span->inner);
		break;
	case SPAN_LINK:
	case SPAN_EMPHASIS:
	case SPAN_STRONG:
	case SPAN_BOTH:
		if (depth < DEPTH_MAX)
			add_spans(s, span->inner, depth + 1);
		break;
	}
}

/* All of it, within a span. */
static void add_spans(struct speakable *s, struct sv text, unsigned depth)
{
	uint32_t before = 0;

	while (text.n) {
		struct span span;
		size_t n = span_next(text, true, before, &span);
		add_span(s, &span, depth);
		(void)utf8_decode(sv_make(text.p + n - 1, 1), &before);
		text = sv_from(text, n);
	}
}

/* As much of the line as can be told apart; all of it with `whole`. */
static void digest_text(struct speakable *s, bool whole)
{
	size_t at = 0;

	for (;;) {
		struct sv rest = sv_from(str_sv(&s->line), at);
		struct span span;
		if (!rest.n)
			break;
		/* Of what is too long the same is looked at, however it came. */
		bool forced = rest.n > SPAN_MAX;
		if (forced)
			rest = utf8_cut(rest, SPAN_MAX + 1);
		size_t n = span_next(rest, whole || forced, s->before, &span);
		if (!n)
			break;
		add_span(s, &span, 0);
		/* Its last character; of several bytes their value does not matter. */
		(void)utf8_decode(sv_make(rest.p + n - 1, 1), &s->before);
		at += n;
	}
	str_drop(&s->line, at);
	tell_sentences(s, false);
}

/* How a line begins: bytes of marks that are no text. */
struct opening {
	enum {
		OPEN_TEXT,
		OPEN_LATER,
		OPEN_FENCE,
		OPEN_TABLE,
		OPEN_COLUMNS, /* "--- | ---": the line before was the head of a table */
		OPEN_HEADING,
		OPEN_ITEM,
		OPEN_NUMBER,
		OPEN_RULE,
		OPEN_BLANK,
		OPEN_CODE
	} what;
	size_t n;
	char fence;
	size_t fence_len;
};

static size_t run_of(struct sv s, size_t at)
{
	size_t n = 0;

	while (at + n < s.n && s.p[at + n] == s.p[at])
		n++;
	return n;
}

/* The line before, as far as it is not said yet, may be the head of a table. */
static bool has_head(const struct speakable *s)
{
	return s->line_at < s->text.len &&
		memchr(s->text.buf + s->line_at, '|', s->text.len - s->line_at);
}

/* "--- | :--:" from `at` on; later: it is, so far. */
static enum verdict is_columns(struct sv line, size_t at, bool whole)
{
	bool bar = false, dash = false;

	for (; at < line.n; at++) {
		bar |= line.p[at] == '|';
		dash |= line.p[at] == '-';
		if (!strchr("-:| \t\r", line.p[at]))
			return VERDICT_NO;
	}
	return !whole ? VERDICT_LATER : bar && dash ? VERDICT_YES : VERDICT_NO;
}

/* whole: the line has no more than this. */
static struct opening open_line(const struct speakable *s, struct sv line, bool whole)
{
	struct opening o = { .what = OPEN_TEXT };
	size_t at = 0, indent = 0;

	for (; at < line.n && (is_space(line.p[at]) || line.p[at] == '>'); at++)
		indent = line.p[at] == '\t' ? indent + INDENT_CODE
			: line.p[at] == '>' ? 0
					    : indent + 1;
	o.n = at;
	if (at == line.n) {
		o.what = whole ? OPEN_BLANK : OPEN_LATER;
		return o;
	}
	if (indent >= INDENT_CODE && s->blank && !s->list) {
		o.what = OPEN_CODE;
		return o;
	}
	size_t run = run_of(line, at), behind = at + run;
	bool ends = behind == line.n; /* nothing is known of what follows */
	char c = line.p[at], next = ends ? '\0' : line.p[behind];
	size_t digits = at;
	while (digits < line.n && isdigit((unsigned char)line.p[digits]))
		digits++;
	if ((c == ':' || (c == '-' && run > 1)) && has_head(s)) {
		enum verdict columns = is_columns(line, at, whole);
		if (columns != VERDICT_NO) {
			o.what = columns == VERDICT_YES ? OPEN_COLUMNS : OPEN_LATER;
			return o;
		}
	}
	if (strchr("`~#-*+_=", c) && ends && !whole) {
		o.what = OPEN_LATER;
	} else if ((c == '`' || c == '~') && run >= FENCE_MIN) {
		o.what = OPEN_FENCE;
		o.fence = c;
		o.fence_len = run;
	} else if (c == '|') {
		o.what = OPEN_TABLE;
	} else if (c == '#' && run <= 6 && (ends || is_space(next))) {
		o.what = OPEN_HEADING;
		o.n = behind;
	} else if (strchr("-*+", c) && run == 1 && !ends && is_space(next)) {
		o.what = OPEN_ITEM;
		o.n = behind;
	} else if (strchr("-*_=", c) && run >= 2 && (c == '=' || run >= 3)) {
		size_t end = behind;
		while (end < line.n && (line.p[end] == c || is_space(line.p[end])))
			end++;
		if (end == line.n)
			o.what = whole ? OPEN_RULE : OPEN_LATER;
	} else if (digits > at && digits - at <= 3) {
		if (digits + 1 >= line.n && !whole)
			o.what = OPEN_LATER;
		else if (digits + 1 < line.n && strchr(".)", line.p[digits]) &&
			is_space(line.p[digits + 1])) {
			o.what = OPEN_NUMBER;
			o.n = digits + 1;
		}
	}
	return o;
}

/* The line is of this kind from here on; true when there is text to digest. */
static void begin_line(struct speakable *s, const struct opening *o)
{
	struct sv number = sv_trim(sv_head(str_sv(&s->line), o->n));
	AUTO_STR item = STR_INIT;

	s->before = 0;
	s->kind = LINE_TEXT;
	s->table &= (o->what == OPEN_TEXT || o->what == OPEN_TABLE) && !s->blank;
	switch (o->what) {
	case OPEN_TEXT:
	case OPEN_LATER:
		if (s->table) { /* a row, with bars or without */
			s->kind = LINE_RAW;
			break;
		}
		/* A line that goes on; a paragraph of its own ends a list. */
		if (s->blank) {
			end_block(s);
			s->list = false;
		}
		if (s->text.len)
			str_addc(&s->text, ' ');
		break;
	case OPEN_NUMBER:
		number.n--;
		str_add(&item, number);
		str_adds(&item, ": ");
		end_block(s);
		s->list = true;
		str_add(&s->text, str_sv(&item));
		break;
	case OPEN_ITEM:
		end_block(s);
		s->list = true;
		break;
	case OPEN_HEADING:
		end_block(s);
		s->list = false;
		s->heading = true;
		break;
	case OPEN_FENCE:
		name_block(s, SAY_CODE);
		s->fence = o->fence;
		s->fence_len = o->fence_len;
		s->kind = LINE_RAW;
		break;
	case OPEN_CODE:
		name_block(s, SAY_CODE);
		s->kind = LINE_RAW;
		break;
	case OPEN_TABLE:
		name_block(s, SAY_TABLE);
		s->kind = LINE_RAW;
		break;
	case OPEN_COLUMNS:
		str_cut(&s->text, s->line_at);
		name_block(s, SAY_TABLE);
		s->table = true;
		s->kind = LINE_RAW;
		break;
	case OPEN_RULE:
	case OPEN_BLANK:
		end_block(s);
		s->kind = LINE_RAW;
		break;
	}
	s->blank = o->what == OPEN_BLANK || (o->what == OPEN_CODE && s->blank);
	s->line_at = o->what == OPEN_TEXT && !s->table ? s->text.len : SIZE_MAX;
	if (s->kind == LINE_TEXT)
		str_drop(&s->line, o->n);
}

/* [ ] and [x] in front of an item. */
static void drop_box(struct speakable *s)
{
	const char *p = s->line.buf;

	if (s->line.len >= 5 && p[0] == ' ' && p[1] == '[' && strchr(" xX", p[2]) && p[3] == ']' &&
		p[4] == ' ')
		str_drop(&s->line, 4);
}

/* What is there of the current line; with `whole`, it ends here. */
static void take_line(struct speakable *s, bool whole)
{
	if (s->fence && s->kind == LINE_UNDECIDED) {
		if (whole) {
			struct sv line = sv_trim(str_sv(&s->line));
			if (line.n >= s->fence_len && line.p[0] == s->fence &&
				run_of(line, 0) == line.n)
				s->fence = '\0';
			s->blank = false;
			str_clear(&s->line);
		} else if (s->line.len > RAW_KEPT) {
			str_cut(&s->line, RAW_KEPT);
		}
		return;
	}
	if (s->kind == LINE_UNDECIDED) {
		struct sv seen = sv_head(str_sv(&s->line), RAW_KEPT + 1);
		struct opening o = open_line(s, seen, whole || seen.n > RAW_KEPT);
		if (o.what == OPEN_LATER)
			return;
		/* Whether an item has a box is seen behind its first characters. */
		bool item = o.what == OPEN_ITEM || o.what == OPEN_NUMBER;
		if (item && !whole && s->line.len < o.n + 6)
			return;
		begin_line(s, &o);
		if (item)
			drop_box(s);
	}
	if (s->kind == LINE_TEXT)
		digest_text(s, whole);
	if (s->kind == LINE_RAW || whole)
		str_clear(&s->line);
	if (!whole)
		return;
	if (s->heading)
		end_block(s);
	s->kind = LINE_UNDECIDED;
}

/* Without a last character that is not all there yet. */
static struct sv complete(struct sv s)
{
	for (size_t back = 1; back < 4 && back <= s.n; back++) {
		unsigned char c = (unsigned char)s.p[s.n - back];
		if ((c & 0xC0) != 0x80)
			return utf8_expect(c) > back ? sv_head(s, s.n - back) : s;
	}
	return s;
}

/* As UTF-8 without controls, which have a meaning of ours here; what is not becomes a blank. */
static void add_valid(struct str *out, struct sv text)
{
	while (text.n) {
		uint32_t cp;
		size_t n = utf8_decode(text, &cp);
		if ((cp == 0xFFFD && n == 1) || (cp < ' ' && cp != '\t'))
			str_addc(out, ' ');
		else
			str_add(out, sv_head(text, n));
		text = sv_from(text, n);
	}
}

static void take_text(struct speakable *s, struct sv text)
{
	while (text.n) {
		const char *newline = memchr(text.p, '\n', text.n);
		size_t n = newline ? (size_t)(newline - text.p) : text.n;
		add_valid(&s->line, sv_head(text, n));
		take_line(s, newline != NULL);
		text = sv_from(text, newline ? n + 1 : n);
	}
}

void speakable_feed(struct speakable *s, struct sv text)
{
	AUTO_STR all = STR_INIT;

	str_add(&all, str_sv(&s->partial));
	str_add(&all, text);
	struct sv now = complete(str_sv(&all));
	str_clear(&s->partial);
	str_add(&s->partial, sv_from(str_sv(&all), now.n));
	take_text(s, now);
}

void speakable_flush(struct speakable *s)
{
	add_valid(&s->line, str_sv(&s->partial));
	str_clear(&s->partial);
	if (s->line.len || s->kind != LINE_UNDECIDED)
		take_line(s, true);
	end_block(s);
	s->fence = '\0';
	s->kind = LINE_UNDECIDED;
	s->blank = true;
	s->list = s->table = false;
	s->line_at = SIZE_MAX;
	s->named = 0;
	str_clear(&s->line);
}

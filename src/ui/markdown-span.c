#include "ui/markdown-span.h"

#include "base/utf8.h"
#include "ui/markdown.h"

enum { LONGEST_EMPHASIS = 3 };

/* What a look-ahead can say. */
enum look { LOOK_FOUND, LOOK_NONE, LOOK_MORE };

/* The text under the look-ahead window. `whole`: nothing beyond it counts. */
struct window {
	struct sv s;
	bool whole;
};

static bool is_punctuation(char c)
{
	return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
		(c >= '{' && c <= '~');
}

/* Letters and digits keep a mark beside them from being one: snake_case, 2*3*4. Beyond ASCII only
 * for '_', since scripts without blanks put their emphasis between letters. */
static bool is_wordlike(uint32_t cp, char mark)
{
	return (cp >= '0' && cp <= '9') || (cp >= 'A' && cp <= 'Z') || (cp >= 'a' && cp <= 'z') ||
		(cp >= 0x80 && mark == '_');
}

static size_t run_length(struct sv s, size_t at)
{
	size_t n = at;

	while (n < s.n && s.p[n] == s.p[at])
		n++;
	return n - at;
}

static enum look none(const struct window *w)
{
	return w->whole ? LOOK_NONE : LOOK_MORE;
}

/* The run of `len` backquotes that ends a code span whose text begins at `from`. */
static enum look find_backquotes(const struct window *w, size_t from, size_t len, size_t *ret_at)
{
	for (size_t i = from; i < w->s.n;) {
		if (w->s.p[i] != '`') {
			i++;
			continue;
		}
		size_t run = run_length(w->s, i);
		if (i + run == w->s.n && !w->whole)
			return LOOK_MORE;
		if (run == len) {
			*ret_at = i;
			return LOOK_FOUND;
		}
		i += run;
	}
	return none(w);
}

/* Steps over what cannot hold a closing mark: an escaped character, a code span. */
static enum look step_over(const struct window *w, size_t *at)
{
	size_t i = *at;

	if (w->s.p[i] == '\\') {
		*at = i + 2;
		return i + 1 < w->s.n ? LOOK_FOUND : none(w);
	}
	size_t len = run_length(w->s, i);
	if (i + len == w->s.n)
		return none(w);
	size_t end = 0;
	enum look look = find_backquotes(w, i + len, len, &end);
	*at = look == LOOK_FOUND ? end + len : i + len;
	return look == LOOK_MORE ? LOOK_MORE : LOOK_FOUND;
}

/* True when the run of marks at `at` may close an emphasis. Needs the character after it. */
static bool can_close(struct sv s, size_t at, size_t len)
{
	if (markdown_is_blank(s.p[at - 1]))
		return false;
	/* "**D**atabase" is common, "*D*atabase" is not. */
	if (at + len >= s.n || (s.p[at] == '*' && len > 1))
		return true;
	return !is_wordlike((unsigned char)s.p[at + len], s.p[at]);
}

static enum look find_emphasis_end(const struct window *w, size_t len, size_t *ret_at)
{
	const struct sv s = w->s;
	char mark = s.p[0];

	for (size_t i = len; i < s.n;) {
		if (s.p[i] == '\\' || s.p[i] == '`') {
			enum look look = step_over(w, &i);
			if (look != LOOK_FOUND)
				return look;
			continue;
		}
		if (s.p[i] != mark) {
			i++;
			continue;
		}
		size_t run = run_length(s, i);
		if (i + run == s.n && !w->whole)
			return LOOK_MORE;
		if (run == len && can_close(s, i, run)) {
			*ret_at = i;
			return LOOK_FOUND;
		}
		i += run;
	}
	return none(w);
}

/* The bracket that closes the one at `from`, on the same line. */
static enum look find_bracket(
	const struct window *w, size_t from, char open, char close, size_t *ret_at)
{
	size_t depth = 0;

	for (size_t i = from; i < w->s.n;) {
		char c = w->s.p[i];
		if (c == '\\' || c == '`') {
			enum look look = step_over(w, &i);
			if (look != LOOK_FOUND)
				return look;
			continue;
		}
		if (c == open) {
			depth++;
		} else if (c == close && --depth == 0) {
			*ret_at = i;
			return LOOK_FOUND;
		}
		i++;
	}
	return none(w);
}

static size_t literal(struct sv s, size_t n, struct span *ret)
{
	*ret = (struct span){ .kind = SPAN_TEXT, .inner = sv_head(s, n) };
	return n;
}

/* A code span, or text between marks of emphasis. */
static size_t next_marked(const struct window *w, uint32_t before, struct span *ret)
{
	static const enum span_kind kinds[LONGEST_EMPHASIS + 1] = { SPAN_TEXT, SPAN_EMPHASIS,
		SPAN_STRONG, SPAN_BOTH };
	bool code = w->s.p[0] == '`';
	size_t len = run_length(w->s, 0);
	size_t end = 0;

	if (len == w->s.n)
		return w->whole ? literal(w->s, len, ret) : 0;
	if (!code &&
		(len > LONGEST_EMPHASIS || markdown_is_blank(w->s.p[len]) ||
			is_wordlike(before, w->s.p[0])))
		return literal(w->s, len, ret);
	switch (code ? find_backquotes(w, len, len, &end) : find_emphasis_end(w, len, &end)) {
	case LOOK_MORE:
		return 0;
	case LOOK_NONE:
		return literal(w->s, len, ret);
	case LOOK_FOUND:
		break;
	}
	*ret = (struct span){ .kind = code ? SPAN_CODE : kinds[len],
		.inner = sv_make(w->s.p + len, end - len),
		.mark = sv_head(w->s, len) };
	return end + len;
}

/* "[text](url)", with `lead` bytes ("!" of an image) in front of it. */
static size_t next_link(const struct window *w, size_t lead, struct span *ret)
{
	size_t close = 0;
	size_t end = 0;
	enum look look = find_bracket(w, lead, '[', ']', &close);

	if (look == LOOK_FOUND && close + 1 == w->s.n)
		look = none(w);
	if (look == LOOK_FOUND)
		look = w->s.p[close + 1] == '(' ? find_bracket(w, close + 1, '(', ')', &end)
						: LOOK_NONE;
	if (look == LOOK_MORE)
		return 0;
	if (look == LOOK_NONE)
		return literal(w->s, lead + 1, ret);
	/* "url" of "(url "title")" */
	struct sv url = sv_trim(sv_make(w->s.p + close + 2, end - close - 2));
	for (size_t i = 0; i < url.n; i++)
		if (markdown_is_blank(url.p[i]))
			url.n = i;
	*ret = (struct span){
		.kind = SPAN_LINK, .inner = sv_make(w->s.p + lead + 1, close - lead - 1), .url = url
	};
	return end + 1;
}

size_t span_next(struct sv s, bool whole, uint32_t before, struct span *ret)
{
	struct window w = { s, whole };
	size_t n = 0;

	if (s.n >= MARKDOWN_SPAN_MAX)
		w = (struct window){ sv_head(s, MARKDOWN_SPAN_MAX), true };
	switch (s.p[0]) {
	case '\\':
		if (w.s.n < 2 && !w.whole)
			return 0;
		if (w.s.n < 2 || !is_punctuation(w.s.p[1]))
			return literal(w.s, 1, ret);
		*ret = (struct span){ .kind = SPAN_TEXT, .inner = sv_make(w.s.p + 1, 1) };
		return 2;
	case '`':
	case '*':
	case '_':
		return next_marked(&w, before, ret);
	case '[':
		return next_link(&w, 0, ret);
	case '!':
		if (w.s.n < 2 && !w.whole)
			return 0;
		return w.s.n > 1 && w.s.p[1] == '[' ? next_link(&w, 1, ret) : literal(w.s, 1, ret);
	default:
		while (n < s.n && !memchr("\\`*_[!", s.p[n], 6))
			n++;
		return literal(s, n, ret);
	}
}

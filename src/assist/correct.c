#include "assist/correct.h"

#include "base/utf8.h"
#include "route/phrase.h"

/* The text from word i to the end, without closing punctuation. */
static struct sv rest_from(const struct text *t, size_t i, struct sv bytes)
{
	if (i >= t->tokens.n)
		return SV("");
	size_t from = t->tokens.v[i].from;
	return sv_make(bytes.p + from, t->tokens.v[t->tokens.n - 1].to - from);
}

/* Past all of these that stand at word i, one behind the other. */
static size_t skip(const struct text *t, size_t i, enum phrase_list a, enum phrase_list b)
{
	for (size_t n = 1; n > 0; i += n) {
		n = phrase_at(t, i, a);
		n = n ? n : phrase_at(t, i, b);
	}
	return i;
}

/* "No, not the logo, the parser": where what was meant begins, behind what was not. */
static size_t skip_denied(const struct text *t, size_t from)
{
	enum { WORDS = 4 };
	size_t denied = from + phrase_at(t, from, PHRASE_CORRECT_NOT), at = from;

	for (size_t i = denied + 1; denied > from && i < t->tokens.n && i <= denied + WORDS; i++)
		if (phrase_at(t, i, PHRASE_CORRECT_ARTICLE))
			at = i;
	return at;
}

/* "No, that was for the crawler, not for the logo": where what was meant ends. */
static size_t skip_denied_behind(const struct text *t, size_t at)
{
	for (size_t i = at + 1; i < t->tokens.n; i++) {
		size_t n = phrase_at(t, i, PHRASE_CORRECT_NOT);
		if (n > 0 && phrase_at(t, i + n, PHRASE_CORRECT_ARTICLE))
			return i;
	}
	return t->tokens.n;
}

/* "That was for the crawler" says so without a no; "for the crawler" and "put it in the footer"
 * are orders. */
static bool is_said(const struct text *t, size_t at)
{
	return phrase_at(t, at, PHRASE_CORRECT_MEANT) > 1 &&
		phrase_at(t, at, PHRASE_CORRECT_BEGIN) == 0;
}

/* "No, the crawler one", "no, that was for the crawler", "no, kumquat": nothing but what it is
 * about, and that not at length. What says how something is names nothing. */
static struct sv bare_name(
	const struct text *t, struct sv bytes, size_t from, struct route_correct_words *ret)
{
	enum { WORDS = 3 };
	size_t denied = skip_denied(t, from);
	size_t meant = skip(t, denied, PHRASE_CORRECT_MEANT, PHRASE_CORRECT_MEANT);
	size_t at = meant + phrase_at(t, meant, PHRASE_CORRECT_ARTICLE);
	size_t end = skip_denied_behind(t, at);

	ret->name = at == from;
	ret->meant = is_said(t, denied);
	while (end > at + 1 &&
		(phrase_at(t, end - 1, PHRASE_CORRECT_POLITE) ||
			phrase_at(t, end - 1, PHRASE_CORRECT_ONE) ||
			phrase_at(t, end - 1, PHRASE_CORRECT_THREAD)))
		end--;
	if (at >= end || end - at > WORDS)
		return SV("");
	/* "No, in a new file" speaks of nothing that there is. */
	if (at > from && phrase_at(t, at, PHRASE_THING_NEW))
		return SV("");
	for (size_t i = at; i < end; i++)
		if (phrase_at(t, i, PHRASE_STATES))
			return SV("");
	ret->word = end - at == 1;
	return sv_make(
		bytes.p + t->tokens.v[at].from, t->tokens.v[end - 1].to - t->tokens.v[at].from);
}

/* "No, I meant the other conversation", "no, start a fresh conversation": an opening, an article,
 * which one, and what that is called, in the order of any language. Where nothing says that it is a
 * conversation, it may be one of other things. */
static enum route_correction which_one(
	const struct text *t, size_t from, struct route_correct_words *words)
{
	size_t at = skip(t, from, PHRASE_CORRECT_MEANT, PHRASE_CORRECT_BEGIN);
	bool fresh = false, other = false, thread = false, one = false;

	at = skip(t, at, PHRASE_CORRECT_ARTICLE, PHRASE_THING_NEW);
	for (size_t n = 1; n > 0; at += n) {
		if ((n = phrase_at(t, at, PHRASE_CORRECT_FRESH)) > 0)
			fresh = true;
		else if ((n = phrase_at(t, at, PHRASE_CORRECT_ELSE)) > 0)
			other = true;
		else if ((n = phrase_at(t, at, PHRASE_CORRECT_THREAD)) > 0)
			thread = true;
		else if ((n = phrase_at(t, at, PHRASE_CORRECT_ONE)) > 0)
			one = true;
	}
	if (skip(t, at, PHRASE_CORRECT_BEGIN, PHRASE_CORRECT_POLITE) < t->tokens.n)
		return CORRECT_NONE;
	if (fresh == other || !(words->denies || (other && one)))
		return CORRECT_NONE;
	words->bare = !thread;
	return fresh ? CORRECT_NEW : CORRECT_OTHER;
}

/* "No, wrong one", where wrong is a no as well; "that was the wrong conversation", whatever word
 * that has for one. */
static bool is_other(const struct text *t)
{
	for (size_t at = 0, n = 1; n > 0; at += n) {
		size_t other = phrase_at(t, at, PHRASE_CORRECT_OTHER);
		size_t end = other
			? skip(t, at + other, PHRASE_CORRECT_THREAD, PHRASE_CORRECT_POLITE)
			: 0;
		if (other > 0 && end == t->tokens.n)
			return true;
		n = phrase_at(t, at, PHRASE_CORRECT_DENY);
	}
	return false;
}

static enum route_correction classify(
	const struct text *t, struct sv bytes, size_t from, struct route_correct_words *words)
{
	/* A word alone may answer anything. */
	if (t->tokens.n > 1 &&
		(phrase_is_whole(t, from, PHRASE_CORRECT_NEW) ||
			phrase_is_whole(t, 0, PHRASE_CORRECT_NEW)))
		return CORRECT_NEW;
	if (is_other(t))
		return CORRECT_OTHER;
	enum route_correction which = t->tokens.n > 1 ? which_one(t, from, words) : CORRECT_NONE;
	if (which != CORRECT_NONE)
		return which;
	size_t n = phrase_at(t, from, PHRASE_CORRECT_ABOUT);
	if (n > 0 && from + n < t->tokens.n) {
		n += phrase_at(t, from + n, PHRASE_CORRECT_ARTICLE);
		words->about = rest_from(t, from + n, bytes);
	} else if (words->denies || is_said(t, from)) {
		words->about = bare_name(t, bytes, from, words);
		words->bare = true;
	}
	return words->about.n > 0 ? CORRECT_ABOUT : CORRECT_NONE;
}

enum route_correction route_correct(struct sv text, struct route_correct_words *ret)
{
	enum { LONGEST = 400 }; /* a correction is said in a breath */

	if (text.n > LONGEST)
		return CORRECT_NONE;
	struct text t = TEXT_INIT;
	phrase_read(&t, text);
	size_t from = 0;
	for (size_t denied; (denied = phrase_at(&t, from, PHRASE_CORRECT_DENY)) > 0;)
		from += denied;
	struct route_correct_words words = { .denies = from > 0 };
	for (size_t i = 0; i < t.tokens.n && !words.sure; i++)
		words.sure = phrase_at(&t, i, PHRASE_CORRECT_THREAD) > 0;
	enum route_correction kind = classify(&t, text, from, &words);
	text_release(&t);
	if (ret && kind != CORRECT_NONE)
		*ret = words;
	return kind;
}

bool route_only_goes_on(struct sv text)
{
	enum { LONGEST = 100 };

	if (text.n > LONGEST)
		return false;
	struct text t = TEXT_INIT;
	phrase_read(&t, text);
	bool whole = phrase_only_goes_on(&t);
	text_release(&t);
	return whole;
}

void route_subject(struct sv text, struct str *out)
{
	struct text t = TEXT_INIT;

	phrase_read(&t, text);
	for (size_t i = 0, n; i < t.tokens.n; i += n ? n : 1) {
		n = phrase_at(&t, i, PHRASE_RETURNS);
		if (n > 0)
			continue;
		str_adds(out, out->len ? " " : "");
		str_add(out,
			sv_make(text.p + t.tokens.v[i].from,
				t.tokens.v[i].to - t.tokens.v[i].from));
	}
	text_release(&t);
}

bool route_goes_back(struct sv text, struct sv *ret_to)
{
	enum { LONGEST = 100, WORDS = 4 };

	if (text.n > LONGEST)
		return false;
	struct text t = TEXT_INIT;
	phrase_read(&t, text);
	size_t from = phrase_skip_opening(&t), bare = phrase_at(&t, from, PHRASE_BACK_TO);
	size_t at = from + (bare ? bare : phrase_at(&t, from, PHRASE_GO_BACK_TO));
	size_t article = phrase_at(&t, at, PHRASE_CORRECT_ARTICLE);
	bool goes = at > from && (bare || !article);

	at += article;
	goes = goes && at < t.tokens.n && t.tokens.n - at <= WORDS;
	if (goes)
		*ret_to = rest_from(&t, at, text);
	text_release(&t);
	return goes;
}

bool route_goes_back_first(struct sv text, struct sv *ret_part)
{
	enum { LONGEST = 200 };
	static const char *const marks[] = { ",", ":", "，", "：" };
	struct sv head = utf8_cut(text, LONGEST);
	struct text t = TEXT_INIT;
	size_t end = head.n, at;

	phrase_read(&t, head);
	size_t from = phrase_skip_opening(&t), bare = phrase_at(&t, from, PHRASE_BACK_TO);
	size_t named = from + (bare ? bare : phrase_at(&t, from, PHRASE_GO_BACK_TO));
	size_t begin = named > from && named < t.tokens.n ? t.tokens.v[named].from : head.n;
	text_release(&t);
	for (size_t i = 0; i < ARRAY_LEN(marks); i++)
		if (sv_find(sv_from(head, begin), sv_of(marks[i]), &at) && begin + at < end)
			end = begin + at;
	if (end == head.n)
		return false;
	*ret_part = sv_head(head, end);
	return true;
}

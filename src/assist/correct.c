#include "assist/correct.h"

#include "base/utf8.h"
#include "route/phrase.h"

/* What may stand before it: please, now. */
static size_t skip_opening(const struct text *t)
{
	size_t from = 0;

	for (size_t n; (n = phrase_at(t, from, PHRASE_ORDER_OPENS)) > 0;)
		from += n;
	return from;
}

static bool is_whole(const struct text *t, size_t from, enum phrase_list list)
{
	size_t n = phrase_at(t, from, list);

	if (n == 0)
		return false;
	n += phrase_at(t, from + n, PHRASE_CORRECT_POLITE);
	return from + n == t->tokens.n;
}

static enum route_correction classify(
	const struct text *t, struct sv bytes, size_t from, struct sv *ret_about)
{
	if (is_whole(t, from, PHRASE_CORRECT_NEW) || is_whole(t, 0, PHRASE_CORRECT_NEW))
		return CORRECT_NEW;
	if (is_whole(t, from, PHRASE_CORRECT_OTHER) || is_whole(t, 0, PHRASE_CORRECT_OTHER))
		return CORRECT_OTHER;
	size_t n = phrase_at(t, from, PHRASE_CORRECT_ABOUT);
	if (n == 0 || from + n >= t->tokens.n)
		return CORRECT_NONE;
	n += phrase_at(t, from + n, PHRASE_CORRECT_ARTICLE);
	*ret_about = phrase_rest(t, from + n, bytes);
	return ret_about->n > 0 ? CORRECT_ABOUT : CORRECT_NONE;
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
	enum route_correction kind = classify(&t, text, from, &words.about);
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
	bool whole = is_whole(&t, 0, PHRASE_GO_ON) || is_whole(&t, skip_opening(&t), PHRASE_GO_ON);
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
	size_t from = skip_opening(&t), bare = phrase_at(&t, from, PHRASE_BACK_TO);
	size_t at = from + (bare ? bare : phrase_at(&t, from, PHRASE_GO_BACK_TO));
	size_t article = phrase_at(&t, at, PHRASE_CORRECT_ARTICLE);
	bool goes = at > from && (bare || !article);

	at += article;
	goes = goes && at < t.tokens.n && t.tokens.n - at <= WORDS;
	if (goes)
		*ret_to = phrase_rest(&t, at, text);
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
	size_t from = skip_opening(&t), bare = phrase_at(&t, from, PHRASE_BACK_TO);
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

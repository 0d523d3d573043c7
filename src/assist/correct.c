#include "assist/correct.h"

#include "route/phrase.h"

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

#include "config/keywords.h"

#include <ctype.h>

#include <utf8proc.h>

#include "base/utf8.h"

void keywords_release(struct keywords *k)
{
	strv_release(&k->texts);
	strv_release(&k->langs);
}

enum char_class { CHAR_SEPARATOR, CHAR_WORD, CHAR_APOSTROPHE, CHAR_NOTHING };

static enum char_class classify(uint32_t cp)
{
	if (cp == '\'' || cp == 0x2019 || cp == 0x02bc)
		return CHAR_APOSTROPHE;
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);
	/* Letters, marks and numbers are one range of the enumeration. */
	if (c >= UTF8PROC_CATEGORY_LU && c <= UTF8PROC_CATEGORY_NO)
		return CHAR_WORD;
	return c == UTF8PROC_CATEGORY_CF ? CHAR_NOTHING : CHAR_SEPARATOR;
}

void keywords_normalise(struct str *out, struct sv text)
{
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, text, true);
	struct sv rest = str_sv(&folded);
	bool in_word = false, first = true, apostrophe = false;
	while (rest.n > 0) {
		uint32_t cp;
		size_t n = utf8_decode(rest, &cp);
		enum char_class class = classify(cp);
		if (class == CHAR_WORD) {
			if (!in_word && !first)
				str_addc(out, ' ');
			/* Only now is it known that the apostrophe stood inside a word. */
			if (in_word && apostrophe)
				str_addc(out, '\'');
			str_add(out, sv_head(rest, n));
			in_word = true;
			first = apostrophe = false;
		} else if (class == CHAR_APOSTROPHE) {
			apostrophe = in_word;
		} else if (class == CHAR_SEPARATOR) {
			in_word = apostrophe = false;
		}
		rest = sv_from(rest, n);
	}
}

/* Is there anything to compare? Nearly every keyword has an ASCII letter, which is seen at once. */
static bool has_words(struct sv text)
{
	for (size_t i = 0; i < text.n; i++) {
		if (text.p[i] > 0 && isalnum((unsigned char)text.p[i]))
			return true;
	}
	AUTO_STR normal = STR_INIT;
	keywords_normalise(&normal, text);
	return normal.len > 0;
}

int keywords_add(struct keywords *k, struct sv lang, struct sv text, struct err *reterr)
{
	if (lang.n > KEYWORD_LANG_MAX)
		return err_set(reterr, ERR_LIMIT, "no language '%.*s…': a name such as de or pt-br",
			SV_ARG(utf8_cut(lang, KEYWORD_LANG_MAX)));
	if (text.n > KEYWORD_BYTES_MAX)
		return err_set(reterr, ERR_LIMIT, "the keyword '%.*s…' is longer than %d bytes",
			SV_ARG(utf8_cut(text, 60)), KEYWORD_BYTES_MAX);
	if (k->texts.n >= KEYWORDS_MAX)
		return err_set(reterr, ERR_LIMIT, "more than %d keywords", KEYWORDS_MAX);
	if (!has_words(text))
		return err_set(reterr, ERR_INPUT,
			"empty keyword '%.*s' (it would never be said, or always)", SV_ARG(text));
	strv_addsv(&k->texts, sv_trim(text));
	strv_addsv(&k->langs, lang);
	return 0;
}

void keywords_drop_lang(struct keywords *k, struct sv lang)
{
	struct keywords kept = KEYWORDS_INIT;

	for (size_t i = 0; i < k->texts.n; i++) {
		if (sv_is(lang, k->langs.v[i]))
			continue;
		strv_add(&kept.texts, k->texts.v[i]);
		strv_add(&kept.langs, k->langs.v[i]);
	}
	keywords_release(k);
	*k = kept;
}

int keywords_parse(struct keywords *k, struct sv text, struct err *reterr)
{
	struct sv group;

	while (sv_split(&text, ';', &group)) {
		struct sv lang = SV(""), piece;
		size_t colon;
		if (sv_find(group, SV(":"), &colon)) {
			lang = sv_trim(sv_head(group, colon));
			group = sv_from(group, colon + 1);
		}
		while (sv_split(&group, ',', &piece)) {
			int r = keywords_add(k, lang, sv_trim(piece), reterr);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

#include "meaning/wordpiece.h"

#include <stdlib.h>
#include <utf8proc.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "json/scan.h"

enum { WORD_MAX = 100 }; /* characters; a longer one is unknown as a whole */

struct wordpiece {
	struct map ids;
	int64_t unknown, begin, end;
};

static bool special(const struct wordpiece *w, const char *name, int64_t *ret)
{
	uint64_t id;

	if (!map_get(&w->ids, sv_of(name), &id))
		return false;
	*ret = (int64_t)id;
	return true;
}

int wordpiece_new(struct sv json, struct wordpiece **ret, struct err *reterr)
{
	struct wordpiece *w = xcalloc(1, sizeof(*w));
	struct jval root, vocab, value;
	struct sv key;

	w->ids = (struct map)MAP_INIT;
	if (scan_text(json, &root) == 0 && scan_path(root, "model.vocab", &vocab) > 0 &&
		vocab.type == J_OBJECT) {
		AUTO_STR word = STR_INIT;
		struct scan_iter it = scan_iter(vocab);
		int64_t id;
		while (scan_next(&it, &key, &value) > 0) {
			struct sv piece = scan_string_view(
				(struct jval){ .raw = key, .type = J_STRING }, &word);
			if (piece.n > 0 && scan_i64(value, &id) && id >= 0)
				(void)map_put(&w->ids, piece, (uint64_t)id);
		}
	}
	if (!special(w, "[UNK]", &w->unknown) || !special(w, "[CLS]", &w->begin) ||
		!special(w, "[SEP]", &w->end)) {
		wordpiece_free(w);
		return err_set(reterr, ERR_INPUT, "no vocabulary of word pieces in it");
	}
	*ret = w;
	return 0;
}

void wordpiece_free(struct wordpiece *w)
{
	if (!w)
		return;
	map_release(&w->ids);
	free(w);
}

/* Scripts whose characters stand for themselves. */
static bool is_alone(uint32_t cp)
{
	return (cp >= 0x3400 && cp <= 0x4dbf) || (cp >= 0x4e00 && cp <= 0x9fff) ||
		(cp >= 0xf900 && cp <= 0xfaff) || (cp >= 0x20000 && cp <= 0x2fa1f);
}

static bool is_mark(uint32_t cp)
{
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);

	return (cp > ' ' && cp < 0x7f &&
		       !((cp >= '0' && cp <= '9') || ((cp | 0x20) >= 'a' && (cp | 0x20) <= 'z'))) ||
		(c >= UTF8PROC_CATEGORY_PC && c <= UTF8PROC_CATEGORY_PO);
}

static bool is_blank(uint32_t cp)
{
	utf8proc_category_t c = utf8proc_category((utf8proc_int32_t)cp);

	return cp == '\t' || cp == '\n' || cp == '\r' || c == UTF8PROC_CATEGORY_ZS;
}

struct splitting {
	const struct wordpiece *w;
	struct str word;
	size_t letters;
	int64_t *ids;
	size_t n, max; /* without the end */
};

static void end_word(struct splitting *s)
{
	struct sv rest = str_sv(&s->word);
	size_t before = s->n;
	AUTO_STR piece = STR_INIT;

	while (rest.n > 0 && s->letters <= WORD_MAX) {
		size_t n = rest.n;
		uint64_t id = 0;
		for (; n > 0; n--) {
			if (n < rest.n && ((unsigned char)rest.p[n] & 0xc0) == 0x80)
				continue;
			str_clear(&piece);
			str_adds(&piece, rest.p == s->word.buf ? "" : "##");
			str_add(&piece, sv_head(rest, n));
			if (map_get(&s->w->ids, str_sv(&piece), &id))
				break;
		}
		if (n == 0)
			break;
		if (s->n < s->max)
			s->ids[s->n++] = (int64_t)id;
		rest = sv_from(rest, n);
	}
	/* What cannot be taken apart to its end is unknown as a whole. */
	if (rest.n > 0) {
		s->n = before;
		if (s->n < s->max)
			s->ids[s->n++] = s->w->unknown;
	}
	str_clear(&s->word);
	s->letters = 0;
}

size_t wordpiece_split(const struct wordpiece *w, struct sv text, int64_t *ids, size_t max)
{
	enum { DECOMPOSED = 8 };
	struct splitting s = { .w = w, .word = STR_INIT, .ids = ids, .max = max - 1 };

	s.ids[s.n++] = w->begin;
	while (text.n > 0 && s.n < s.max) {
		uint32_t cp;
		utf8proc_int32_t parts[DECOMPOSED];
		int last = 0;
		text = sv_from(text, utf8_decode(text, &cp));
		if (is_blank(cp)) {
			end_word(&s);
			continue;
		}
		if (cp == 0 || cp == 0xfffd ||
			utf8proc_category((utf8proc_int32_t)cp) <= UTF8PROC_CATEGORY_CN ||
			utf8proc_category((utf8proc_int32_t)cp) >= UTF8PROC_CATEGORY_CC)
			continue;
		bool alone = is_alone(cp) || is_mark(cp);
		if (alone)
			end_word(&s);
		utf8proc_ssize_t n = utf8proc_decompose_char((utf8proc_int32_t)cp, parts,
			DECOMPOSED, UTF8PROC_DECOMPOSE | UTF8PROC_STRIPMARK, &last);
		for (utf8proc_ssize_t i = 0; i < n && i < DECOMPOSED; i++)
			utf8_add(&s.word, (uint32_t)utf8proc_tolower(parts[i]));
		s.letters++;
		if (alone)
			end_word(&s);
	}
	end_word(&s);
	s.ids[s.n++] = w->end;
	str_release(&s.word);
	return s.n;
}

#include "route/topic.h"

#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"

/* What a word says about the subject, by its kind. */
static const float kind_weight[] = {
	[WORD_NONE] = 0.0F,
	[WORD_NAME] = 1.0F,
	[WORD_ACT] = 0.5F,
	[WORD_NOUN] = 0.3F,
	[WORD_VERB] = 0.12F,
	[WORD_QUALITY] = 0.2F,
};
static const float role_weight[] = {
	[ROLE_FOCUS] = 1.0F,
	[ROLE_OTHER] = 0.8F,
	[ROLE_ASIDE] = 0.5F,
};
static const float indefinite_weight = 0.6F; /* of the text to be decided: it brings a new thing */
static const float quoted_weight = 0.5F;
static const float part_weight = 0.45F; /* of an identifier or compound of several parts */
static const float source_weight[] = {
	[TOPIC_QUERY] = 1.0F,
	[TOPIC_FIRST] = 1.0F,
	[TOPIC_LATER] = 0.9F,
	[TOPIC_ANSWER] = 0.5F,
};

void words_init(struct words *w, const struct lang_extra *extra, size_t n_extra)
{
	lexicon_init(&w->lex, extra, n_extra);
	concepts_init(&w->concepts);
	for (size_t l = 0; l < LANG_COUNT; l++) {
		const char *name = lang_table((enum lang_id)l)->stemmer;
		w->stemmers[l] = name ? sb_stemmer_new(name, NULL) : NULL;
	}
}

void words_release(struct words *w)
{
	lexicon_release(&w->lex);
	concepts_release(&w->concepts);
	for (size_t l = 0; l < LANG_COUNT; l++)
		sb_stemmer_delete(w->stemmers[l]);
}

struct route_topic *route_topic_new(void)
{
	struct route_topic *t = xcalloc(1, sizeof(*t));
	t->text.buf = str_empty_buf;
	return t;
}

void route_topic_free(struct route_topic *t)
{
	if (!t)
		return;
	vec_release(&t->terms);
	str_release(&t->text);
	free(t);
}

/* ---- making terms ---- */

struct adding {
	struct words *w;
	struct route_topic *t;
	const struct sentence *s;
	enum topic_source source;
	uint16_t group;
	uint16_t chunk_base;
};

static void add_stem(struct adding *a, struct sv key, struct term *m)
{
	struct sb_stemmer *st = a->w->stemmers[a->s->tokens.lang];
	m->stem_at = m->key_at;
	m->stem_n = m->key_n;
	if (!st)
		return;
	const sb_symbol *stem = sb_stemmer_stem(st, (const sb_symbol *)key.p, (int)key.n);
	if (!stem)
		return;
	m->stem_at = (uint32_t)a->t->text.len;
	m->stem_n = (uint32_t)sb_stemmer_length(st);
	str_add(&a->t->text, sv_make((const char *)stem, m->stem_n));
}

static struct term *find_term(struct route_topic *t, struct sv key, uint8_t flags)
{
	for (size_t i = 0; i < t->terms.n; i++) {
		struct term *m = &t->terms.v[i];
		if (sv_eq(term_key(t, m), key) && ((m->flags ^ flags) & TERM_PAIR) == 0)
			return m;
	}
	return NULL;
}

static void add_term(
	struct adding *a, struct sv key, float weight, uint8_t flags, unsigned pair, uint16_t chunk)
{
	weight *= source_weight[a->source];
	if (a->source != TOPIC_QUERY) {
		struct term *known = find_term(a->t, key, flags);
		if (known) {
			known->weight = known->weight > weight ? known->weight : weight;
			known->flags |= flags;
			return;
		}
	}
	struct term m = { .key_at = (uint32_t)a->t->text.len,
		.key_n = (uint32_t)key.n,
		.weight = weight,
		.flags = flags,
		.pair = pair,
		.group = a->group,
		.chunk = (uint16_t)(a->chunk_base + chunk) };
	str_add(&a->t->text, key);
	add_stem(a, key, &m);
	m.concept = concept_of(&a->w->concepts, key);
	vec_push(&a->t->terms, m);
}

/* Next part of an identifier or compound: up to a joint, or to a capital after a small letter. */
static bool next_part(struct sv *rest, struct sv *ret)
{
	size_t start = 0, at = 0;
	bool small = false;
	while (at < rest->n) {
		uint32_t cp;
		size_t step = utf8_decode(sv_from(*rest, at), &cp);
		bool joint = cp < 0x80 && strchr("_./-@'+#:", (int)cp);
		bool upper = utf8proc_isupper((utf8proc_int32_t)cp);
		if (at > start && (joint || (small && upper)))
			break;
		small = utf8proc_islower((utf8proc_int32_t)cp);
		at += step;
		if (joint)
			start = at;
	}
	*ret = sv_make(rest->p + start, at - start);
	*rest = sv_from(*rest, at);
	return ret->n > 0;
}

/* What a path is about is its last component, without the extension. */
static struct sv base_name(struct sv raw)
{
	enum { EXTENSION_MAX = 5 };
	const char *slash = memrchr(raw.p, '/', raw.n);
	if (slash && slash + 1 < raw.p + raw.n)
		raw = sv_from(raw, (size_t)(slash - raw.p) + 1);
	const char *dot = memrchr(raw.p, '.', raw.n);
	size_t before = dot ? (size_t)(dot - raw.p) : 0;
	if (before > 0 && raw.n - before - 1 <= EXTENSION_MAX && !memchr(raw.p, '.', before))
		raw.n = before;
	return raw;
}

/* The words that programs wrap around a name: test_x, x_spec. */
static bool is_wrapper(struct sv part)
{
	return sv_is(part, "test") || sv_is(part, "tests") || sv_is(part, "spec") ||
		sv_is(part, "src") || sv_is(part, "main") || sv_is(part, "index");
}

enum { PARTS_MAX = 8 };

static void add_identifier(
	struct adding *a, const struct token *k, float weight, uint8_t flags, uint16_t chunk)
{
	struct sv rest = base_name(k->raw), part, parts[PARTS_MAX];
	AUTO_STR folded = STR_INIT;
	AUTO_STR joined = STR_INIT;
	size_t n = 0, at[PARTS_MAX];
	while (n < PARTS_MAX && next_part(&rest, &part)) {
		at[n] = folded.len;
		utf8_normalise(&folded, part, true);
		parts[n].n = folded.len - at[n];
		n++;
	}
	for (size_t i = 0; i < n; i++) {
		parts[i].p = folded.buf + at[i];
		if (n == 1 || !is_wrapper(parts[i]))
			str_add(&joined, parts[i]);
	}
	unsigned first = 0, second = 0, pair = 0;
	if (n == 2 && (first = concept_of(&a->w->concepts, parts[0])) &&
		(second = concept_of(&a->w->concepts, parts[1])))
		pair = first << 16 | second;
	add_term(a, str_sv(&joined), weight, flags | TERM_WHOLE, pair, chunk);
	bool code = k->flags & TOKEN_IDENT;
	for (size_t i = 0; i < n && n > 1; i++)
		if (!is_wrapper(parts[i]) && parts[i].n > 2)
			add_term(a, parts[i], weight * (code ? part_weight : 2 * part_weight),
				flags, 0, chunk);
}

/* Two characters make a word more often than one or three do. */
static void add_han(struct adding *a, struct sv key, float weight, uint8_t flags, uint16_t chunk)
{
	enum { CHAR = 3 };
	if (key.n <= 2 * (size_t)CHAR) {
		add_term(a, key, weight * (key.n > CHAR ? 0.8F : 0.25F), flags | TERM_WHOLE, 0,
			chunk);
		return;
	}
	for (size_t i = 0; i + 2 * (size_t)CHAR <= key.n; i += CHAR)
		add_term(a, sv_make(key.p + i, 2 * (size_t)CHAR), weight * 0.55F,
			flags | TERM_WHOLE, 0, chunk);
}

static float word_weight(const struct adding *a, size_t i)
{
	const struct word *w = &a->s->words[i];
	const struct token *k = &a->s->tokens.v.v[i];
	float weight = kind_weight[w->kind] * role_weight[w->role];
	if (a->source == TOPIC_QUERY && w->definite == WORD_INDEFINITE)
		weight *= indefinite_weight;
	if (k->flags & TOKEN_QUOTED)
		weight *= quoted_weight;
	return weight;
}

static void add_compound(
	struct adding *a, struct sv key, float weight, uint8_t flags, uint16_t chunk)
{
	unsigned first, second;
	unsigned pair = 0;
	if (a->s->tokens.lang == LANG_DE && concept_split(&a->w->concepts, key, &first, &second))
		pair = first << 16 | second;
	add_term(a, key, weight, flags | TERM_WHOLE, pair, chunk);
}

static void add_word(struct adding *a, size_t i)
{
	const struct token *k = &a->s->tokens.v.v[i];
	const struct word *w = &a->s->words[i];
	float weight = word_weight(a, i);
	if (weight <= 0)
		return;
	a->group++;
	uint8_t flags = (uint8_t)((w->kind == WORD_NAME ? TERM_NAME : 0) |
		(w->role == ROLE_FOCUS ? TERM_FOCUS : 0) | (w->head ? TERM_HEAD : 0));
	struct sv key = token_word(&a->s->tokens, k);
	if (k->flags & TOKEN_HAN)
		add_han(a, key, weight, flags, w->chunk);
	else if ((k->flags & TOKEN_IDENT) || memchr(key.p, '-', key.n))
		add_identifier(a, k, weight, flags, w->chunk);
	else
		add_compound(a, key, weight, flags, w->chunk);
}

/* Speech recognition and spelling split and join words at will: neighbours are also one word. */
static void add_pair(struct adding *a, size_t i)
{
	const struct sentence *s = a->s;
	const struct token *k = &s->tokens.v.v[i], *next = k + 1;
	const struct word *w = &s->words[i];
	if (i + 1 >= s->tokens.v.n || next->before || ((k->flags | next->flags) & TOKEN_HAN))
		return;
	float here = word_weight(a, i), there = word_weight(a, i + 1);
	if (w->kind == WORD_NONE || s->words[i + 1].kind == WORD_NONE ||
		(w->kind == WORD_VERB && i == s->body))
		return;
	AUTO_STR joined = STR_INIT;
	struct sv one = token_word(&s->tokens, k), two = token_word(&s->tokens, next);
	str_add(&joined, one);
	str_add(&joined, two);
	unsigned first = concept_of(&a->w->concepts, one),
		 second = concept_of(&a->w->concepts, two);
	float weight = here + there < 1 ? here + there : 1;
	if (w->kind != WORD_NAME && s->words[i + 1].kind != WORD_NAME)
		weight = weight > 0.6F ? weight : 0.6F;
	a->group++;
	add_term(a, str_sv(&joined), weight,
		(uint8_t)(TERM_PAIR | (w->role == ROLE_FOCUS ? TERM_FOCUS : 0)),
		first && second ? first << 16 | second : 0, w->chunk);
}

void topic_add(
	struct words *w, struct route_topic *t, const struct sentence *s, enum topic_source source)
{
	enum { CHUNKS_A_SENTENCE = 256 };
	struct adding a = { .w = w, .t = t, .s = s, .source = source };
	if (t->terms.n > 0) {
		a.group = t->terms.v[t->terms.n - 1].group;
		a.chunk_base = (uint16_t)(t->terms.v[t->terms.n - 1].chunk + CHUNKS_A_SENTENCE);
	}
	for (size_t i = 0; i < s->tokens.v.n; i++)
		add_word(&a, i);
	for (size_t i = 0; i < s->tokens.v.n; i++)
		add_pair(&a, i);
}

void route_topic_inherit(struct route_topic *heir, const struct route_topic *from)
{
	uint32_t shift = (uint32_t)heir->text.len;
	str_add(&heir->text, str_sv(&from->text));
	for (size_t i = 0; i < from->terms.n; i++) {
		struct term m = from->terms.v[i];
		m.key_at += shift;
		m.stem_at += shift;
		vec_push(&heir->terms, m);
	}
}

/* ---- likeness ---- */

static size_t common_prefix(struct sv a, struct sv b)
{
	size_t n = 0;
	while (n < a.n && n < b.n && a.p[n] == b.p[n])
		n++;
	return n;
}

/* One insertion, deletion, substitution or swap apart. */
static bool one_slip(struct sv a, struct sv b)
{
	if (a.n > b.n) {
		struct sv swap = a;
		a = b;
		b = swap;
	}
	size_t from = common_prefix(a, b), ra = a.n, rb = b.n;
	while (ra > from && rb > from && a.p[ra - 1] == b.p[rb - 1]) {
		ra--;
		rb--;
	}
	bool swapped = ra - from == 2 && rb - from == 2 && a.p[from] == b.p[from + 1] &&
		a.p[from + 1] == b.p[from];
	return b.n - a.n <= 1 && ((ra - from <= 1 && rb - from <= 1) || swapped);
}

/* Forms and derivations that stemming leaves apart: Validierung and validiert, crawl and crawler.
 */
static double form_likeness(struct sv a, struct sv b)
{
	enum { SHORTEST = 4, COMPOUND_SHORTEST = 5, SLIP_SHORTEST = 5, TAIL_MAX = 4 };
	size_t shorter = a.n < b.n ? a.n : b.n, longer = a.n < b.n ? b.n : a.n;
	if (shorter < SHORTEST)
		return 0;
	size_t n = common_prefix(a, b);
	if (n == shorter && longer - n <= TAIL_MAX)
		return n > SHORTEST ? 0.8 : 0.5;
	if (n > SHORTEST && shorter - n <= 2 && longer - n <= TAIL_MAX)
		return 0.7;
	if (shorter >= SLIP_SHORTEST && one_slip(a, b))
		return 0.7;
	if (shorter >= COMPOUND_SHORTEST && n == shorter)
		return 0.5;
	struct sv small = a.n < b.n ? a : b, large = a.n < b.n ? b : a;
	return shorter >= COMPOUND_SHORTEST && sv_ends(large, small) ? 0.55 : 0;
}

double term_likeness(const struct route_topic *at, const struct term *a,
	const struct route_topic *bt, const struct term *b)
{
	struct sv ka = term_key(at, a), kb = term_key(bt, b);
	bool pairs = (a->flags & TERM_PAIR) && (b->flags & TERM_PAIR);
	if (pairs) /* the words themselves are compared already */
		return a->pair && a->pair == b->pair && !sv_eq(ka, kb) ? 0.8 : 0;
	if (sv_eq(ka, kb) || sv_eq(term_stem(at, a), term_stem(bt, b)))
		return 1;
	if (a->pair && a->pair == b->pair)
		return 0.9;
	if (a->concept && a->concept == b->concept)
		return 0.85;
	if ((a->flags | b->flags) & TERM_PAIR)
		return one_slip(ka, kb) && ka.n > 6 ? 0.7 : 0;
	return form_likeness(term_stem(at, a), term_stem(bt, b));
}

#include "route/topic.h"

#include <utf8proc.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "route/stem.h"

/* ---- the parts of identifiers and hyphenated words: csv_export, CsvExport, CSV-Export ---- */

enum { PARTS_MAX = 8 };

struct parts {
	struct sv part[PARTS_MAX]; /* folded */
	size_t n;
	struct str text, joined;
};

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

/* The words that programs wrap around a name: test_x, x_spec. */
static bool part_is_wrapper(struct sv part)
{
	return sv_is(part, "test") || sv_is(part, "tests") || sv_is(part, "spec") ||
		sv_is(part, "src") || sv_is(part, "main") || sv_is(part, "index");
}

static void parts_release(struct parts *p)
{
	str_release(&p->text);
	str_release(&p->joined);
}

/* raw as it is written; *p is empty (two STR_INIT) before. */
static void parts_read(struct parts *p, struct sv raw)
{
	struct sv part;
	size_t at[PARTS_MAX] = { 0 };

	while (p->n < PARTS_MAX && next_part(&raw, &part)) {
		at[p->n] = p->text.len;
		utf8_normalise(&p->text, part, true);
		p->part[p->n].n = p->text.len - at[p->n];
		p->n++;
	}
	for (size_t i = 0; i < p->n; i++) {
		p->part[i].p = p->text.buf + at[i];
		if (p->n == 1 || !part_is_wrapper(p->part[i]))
			str_add(&p->joined, p->part[i]);
	}
}

static bool is_extension(struct sv s)
{
	static const char known[] =
		" c h cc cpp cxx hpp hh m mm py pyi ipynb js mjs cjs ts tsx jsx vue svelte go rs "
		"java kt kts scala clj groovy rb php cs fs vb swift dart sh bash zsh fish ps1 bat "
		"cmd pl pm r jl lua zig nim ex exs erl hs ml elm lisp el vim asm s f f90 for cob "
		"cbl cpy jcl pas bas ino sv vhd vhdl md rst adoc org tex bib txt json jsonl yaml "
		"yml toml ini cfg conf properties xml xsd xsl html htm css scss sass less sql db "
		"sqlite csv tsv parquet pdf png jpg jpeg svg gif webp bmp ico psd mp3 mp4 wav ogg "
		"mov mkv doc docx xls xlsx ppt pptx odt ods zip tar gz xz jar war lock log env "
		"proto graphql gradle tf hcl nix cmake mk service ged gpx kml geojson stl obj gltf "
		"epub srt vtt po ics vcf eml bak tmp out diff patch ";
	AUTO_STR word = STR_INIT;
	size_t unused;

	str_addf(&word, " %.*s ", SV_ARG(s));
	return sv_find(sv_make(known, sizeof(known) - 1), str_sv(&word), &unused);
}

/* What a path is about: its last component, without an extension that is known as one. A slice of
 * raw. */
static struct sv file_subject(struct sv raw)
{
	const char *slash = memrchr(raw.p, '/', raw.n);

	if (slash && slash + 1 < raw.p + raw.n)
		raw = sv_from(raw, (size_t)(slash - raw.p) + 1);
	const char *dot = memrchr(raw.p, '.', raw.n);
	size_t before = dot ? (size_t)(dot - raw.p) : 0;
	if (before > 0 && is_extension(sv_from(raw, before + 1)))
		raw.n = before;
	return raw;
}

/* ---- terms ---- */

/* What a word says about the subject, by its kind: in the text to be decided, where a common
 * word proves little, and in a conversation, where it may be what is asked for. */
static const float query_weight[] = {
	[WORD_NONE] = 0.0F,
	[WORD_NAME] = 1.0F,
	[WORD_ACT] = 0.5F,
	[WORD_DEED] = 0.4F,
	[WORD_NOUN] = 0.4F,
	[WORD_VERB] = 0.12F,
	[WORD_QUALITY] = 0.25F,
};
static const float conv_weight[] = {
	[WORD_NONE] = 0.0F,
	[WORD_NAME] = 1.0F,
	[WORD_ACT] = 0.95F,
	[WORD_DEED] = 0.85F,
	[WORD_NOUN] = 0.6F,
	[WORD_VERB] = 0.15F,
	[WORD_QUALITY] = 0.3F,
};
static const float pointed_weight = 1.6F; /* of a common noun behind "that": that loop */
static const float role_weight[] = {
	[ROLE_FOCUS] = 1.0F,
	[ROLE_OTHER] = 0.8F,
	[ROLE_ASIDE] = 0.5F,
	[ROLE_BACKGROUND] = 0.5F,
};
static const float receiver_weight = 0.85F; /* of what a new thing is added to */
static const float indefinite_weight = 0.6F; /* of the text to be decided: it brings a new thing */
static const float bare_weight = 0.85F; /* of what a command is to act on: any such thing */
static const float introduced_weight = 0.9F;
static const float known_noun_weight = 0.8F;
static const float general_weight = 0.75F;
static const float brought_weight = 0.8F;
static const float quoted_weight = 0.5F;
static const float repeated_weight = 0.15F; /* more for what is said again, up to the whole */
static const float part_weight = 0.45F; /* of an identifier or compound of several parts */
static const float compound_part_weight = 0.65F; /* CSV of CSV-Export */
static const float compound_head_weight = 0.85F; /* Export of it */
static const float special_part_weight = 0.75F; /* Feuchte of Feuchtewerte */
static const float first_part_weight = 0.78F;
static const float common_part = 0.4F; /* of a part that is an everyday word */
static const float single_weight = 0.6F; /* Class.method: a plain word among several pieces */
static const float source_weight[] = {
	[TOPIC_QUERY] = 1.0F,
	[TOPIC_FIRST] = 1.0F,
	[TOPIC_LATER] = 0.9F,
	[TOPIC_ANSWER] = 0.5F,
};

void words_init(struct words *w, const struct lang_extra *extra, size_t n_extra)
{
	*w = (struct words){ .stemmers = { { NULL } } };
	lexicon_init(&w->lex, extra, n_extra);
}

void words_release(struct words *w)
{
	lexicon_release(&w->lex);
	stemmers_release(&w->stemmers);
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

static void add_stem(struct adding *a, struct sv key, struct topic_term *m)
{
	enum lang_id lang = a->s->tokens.lang;
	AUTO_STR present = STR_INIT;

	if (lang == LANG_DE && german_present(&present, key))
		key = str_sv(&present);
	struct sv stem = stem_of(&a->w->stemmers, lang, key);
	m->stem_at = (uint32_t)a->t->text.len;
	m->stem_n = (uint32_t)stem.n;
	str_add(&a->t->text, stem);
}

static struct topic_term *find_term(struct route_topic *t, struct sv key, uint8_t flags)
{
	for (size_t i = 0; i < t->terms.n; i++) {
		struct topic_term *m = &t->terms.v[i];
		if (sv_eq(term_key(t, m), key) && ((m->flags ^ flags) & TERM_PAIR) == 0)
			return m;
	}
	return NULL;
}

/* What is said turn after turn is what a conversation is about, wherever it stands. */
static void strengthen(struct topic_term *known, float weight, enum topic_source source)
{
	if (source == TOPIC_LATER && weight < known->weight + repeated_weight)
		weight = known->weight + repeated_weight < 1 ? known->weight + repeated_weight : 1;
	known->weight = known->weight > weight ? known->weight : weight;
}

static void add_term(
	struct adding *a, struct sv key, float weight, uint8_t flags, unsigned pair, uint16_t chunk)
{
	weight *= source_weight[a->source];
	if (a->source != TOPIC_QUERY) {
		struct topic_term *known = find_term(a->t, key, flags);
		if (known) {
			strengthen(known, weight, a->source);
			known->flags |= flags;
			return;
		}
	}
	if (a->t->terms.n >= (a->source == TOPIC_QUERY ? TOPIC_QUERY_MAX : TOPIC_TERMS_MAX))
		return;
	struct topic_term m = { .key_at = (uint32_t)a->t->text.len,
		.key_n = (uint32_t)key.n,
		.weight = weight,
		.flags = flags,
		.pair = pair,
		.group = a->group,
		.chunk = (uint16_t)(a->chunk_base + chunk) };
	str_add(&a->t->text, key);
	add_stem(a, key, &m);
	m.meaning = concept_of(key);
	vec_push(&a->t->terms, m);
}

enum part_kind {
	PART_COMPOUND, /* CSV-Export */
	PART_PIECE, /* of Class.method */
	PART_FILE, /* rates of src/rates.py */
};

/* The Image of ImageMagick is no image. */
static bool is_common(const struct adding *a, struct sv part)
{
	return lexicon_get(&a->w->lex, LANG_EN, part) || concept_of(part);
}

/* One identifier or hyphenated word: itself and its parts. */
static void add_parts(struct adding *a, struct sv raw, enum part_kind kind, float weight,
	uint8_t flags, uint16_t chunk)
{
	bool code = kind != PART_COMPOUND;
	CLEANUP(parts_release)
	struct parts p = { .text = STR_INIT, .joined = STR_INIT };

	parts_read(&p, raw);
	unsigned first = 0, second = 0;
	bool pair = p.n == 2 && (first = concept_of(p.part[0])) && (second = concept_of(p.part[1]));
	bool single = kind == PART_PIECE && p.n == 1;
	add_term(a, str_sv(&p.joined), weight * (single ? single_weight : 1),
		flags | TERM_WHOLE | (kind == PART_FILE || p.n > 1 ? TERM_IDENT : 0),
		pair ? first << 16 | second : 0, chunk);
	for (size_t i = 0; i < p.n && p.n > 1; i++) {
		float share = code     ? i == 0 ? first_part_weight : part_weight
			: i + 1 == p.n ? compound_head_weight
				       : compound_part_weight;
		if (code && is_common(a, p.part[i]))
			share *= common_part;
		if (!part_is_wrapper(p.part[i]) && p.part[i].n > 2)
			add_term(a, p.part[i], weight * share, flags, 0, chunk);
	}
	a->group++;
}

/* a/path/Class.method.ext: each piece between dots is a name. */
static void add_identifier(
	struct adding *a, const struct token *k, float weight, uint8_t flags, uint16_t chunk)
{
	if (!(k->flags & TOKEN_IDENT)) {
		add_parts(a, k->raw, PART_COMPOUND, weight, flags, chunk);
		return;
	}
	struct sv rest = file_subject(k->raw), piece;
	bool file = rest.p + rest.n < k->raw.p + k->raw.n && !memchr(rest.p, '.', rest.n);
	while (sv_split(&rest, '.', &piece))
		if (piece.n > 0)
			add_parts(a, piece, file ? PART_FILE : PART_PIECE, weight, flags, chunk);
}

/* Two characters make a word more often than one or three do. */
static void add_han(struct adding *a, struct sv key, float weight, uint8_t flags, uint16_t chunk)
{
	enum { CHAR = 3 };
	bool query = a->source == TOPIC_QUERY;

	if (key.n <= 2 * (size_t)CHAR) {
		float sure = key.n <= CHAR ? 0.25F : query ? 0.8F : 1.0F;
		add_term(a, key, weight * sure, flags | TERM_WHOLE, 0, chunk);
		return;
	}
	for (size_t i = 0; i + 2 * (size_t)CHAR <= key.n; i += CHAR) {
		a->group++;
		add_term(a, sv_make(key.p + i, 2 * (size_t)CHAR), query ? weight * 0.55F : weight,
			flags | TERM_WHOLE, 0, chunk);
	}
}

/* "… durch ein Raster": a new thing, though only behind a preposition. */
static bool brings(const struct word *w)
{
	return w->role == ROLE_ASIDE && w->definite == WORD_INDEFINITE;
}

/* "add a health check to the Dockerfile": the new thing is for a known one, and that is named. */
static bool receives(const struct sentence *s, const struct word *w, bool any)
{
	if (!s->imperative || w->role != ROLE_ASIDE ||
		(w->definite != WORD_DEFINITE && !(any && w->definite == WORD_BARE)))
		return false;
	for (size_t i = s->body; i < s->tokens.v.n; i++)
		if (s->words[i].role == ROLE_FOCUS && s->words[i].kind != WORD_VERB &&
			s->words[i].kind != WORD_DEED)
			return s->words[i].definite == WORD_INDEFINITE ||
				s->words[i].definite == WORD_BARE;
	return false;
}

/* "tests for the mail queue": made for it, so about it; "a book to the engine" is about the book.
 */
static bool made_for(const struct sentence *s, size_t i)
{
	const struct token *v = s->tokens.v.v;
	size_t at = i;

	if (!receives(s, &s->words[i], true))
		return false;
	while (at > s->body && !(v[at].cls & LANG_BIT(PREP)) && !v[at].before)
		at--;
	return sv_among(token_word(&s->tokens, &v[at]),
		"for|of|about|für|fürs|über|zum|zur|pour|sur|para|sobre");
}

/* "a sheet that tracks churn": the clause says what the new thing is for. */
static bool purpose(const struct sentence *s, const struct word *w)
{
	if (w->role != ROLE_BACKGROUND)
		return false;
	for (const struct word *f = s->words; f < w; f++)
		if (f->role == ROLE_FOCUS && f->kind == WORD_NAME)
			return f->definite == WORD_INDEFINITE;
	return false;
}

/* "crée un formulaire": what the conversation made. */
static bool introduces(const struct word *w)
{
	return w->kind == WORD_NOUN && w->role == ROLE_FOCUS && w->definite == WORD_INDEFINITE;
}

/* "le formulaire refuse …": a common thing, but one that must be known, and nothing else is. */
static bool stands_as_subject(const struct adding *a, size_t i)
{
	const struct word *w = &a->s->words[i];
	const struct token *first = &a->s->tokens.v.v[a->s->body];

	return i > a->s->body && w->chunk == 1 && w->head && w->definite == WORD_DEFINITE &&
		(first->cls & LANG_BIT(ART)) != 0;
}

/* "how do I rotate logs": a question about any such thing. */
static bool asks_how(const struct sentence *s)
{
	enum { REACH = 4 };
	const struct token *v = s->tokens.v.v;

	if (s->body >= s->tokens.v.n || !(v[s->body].cls & LANG_BIT(WH)))
		return false;
	for (size_t i = s->body; i < s->tokens.v.n && i < s->body + REACH; i++)
		if (v[i].cls & LANG_BIT(SELF))
			return true;
	return false;
}

/* sharded, scheduled: a quality that says what was done. */
static bool is_deed_done(const struct adding *a, size_t i)
{
	const struct token *k = &a->s->tokens.v.v[i];
	struct sv w = token_word(&a->s->tokens, k);

	if (a->s->words[i].kind != WORD_QUALITY || (k->cls && !(k->cls & LANG_BIT(DEED))))
		return false;
	if (a->s->tokens.lang == LANG_DE) /* konvertierte Dokumente */
		return sv_ends(w, SV("ierte")) || sv_ends(w, SV("ierten"));
	return a->s->tokens.lang == LANG_EN && sv_ends(w, SV("ed"));
}

static float word_weight(const struct adding *a, size_t i)
{
	const struct word *w = &a->s->words[i];
	const struct token *k = &a->s->tokens.v.v[i];

	if (a->source == TOPIC_ANSWER) /* long texts: only names, wherever they stand */
		return w->kind == WORD_NAME ? 1 : 0;
	if (a->source != TOPIC_QUERY)
		return (introduces(w) ? introduced_weight : conv_weight[w->kind]) *
			(brings(w) || made_for(a->s, i) || purpose(a->s, w)
					? brought_weight
					: role_weight[w->role]) *
			(k->flags & TOKEN_QUOTED ? quoted_weight : 1);
	float weight = query_weight[is_deed_done(a, i) ? WORD_ACT : w->kind];
	if (w->kind == WORD_NOUN &&
		(w->definite == WORD_POINTED || (i > 0 && (k[-1].cls & LANG_BIT(DEM)))))
		return pointed_weight;
	if (a->s->returning && w->kind == WORD_NOUN && w->chunk == 1)
		return 1; /* back to the form */
	if (w->kind == WORD_NOUN && stands_as_subject(a, i))
		return known_noun_weight;
	weight *= receives(a->s, w, false) ? receiver_weight : role_weight[w->role];
	if (asks_how(a->s) && w->definite == WORD_BARE)
		weight *= general_weight;
	if (w->definite == WORD_INDEFINITE)
		weight *= indefinite_weight;
	else if (w->definite == WORD_BARE && a->s->imperative && !(k->flags & TOKEN_IDENT))
		weight *= bare_weight;
	if (k->flags & TOKEN_QUOTED)
		weight *= quoted_weight;
	return weight;
}

/* PDFs: the plural of a word that is written in capitals. */
static struct sv singular(const struct token *k, struct sv key)
{
	for (size_t i = 0; i + 1 < k->raw.n; i++)
		if (k->raw.p[i] < 'A' || k->raw.p[i] > 'Z')
			return key;
	bool plural = k->raw.n > 2 && k->raw.p[k->raw.n - 1] == 's' && key.n == k->raw.n;
	return plural ? sv_head(key, key.n - 1) : key;
}

/* Feuchte of Feuchtewerte: what is in front of an everyday word; empty when there is none. */
static struct sv german_special_part(const struct adding *a, struct sv key)
{
	enum { SHORTEST = 4, TAIL = 4 };
	const lang_mask common = LANG_BIT(NOUN) | LANG_BIT(RESULT);

	if (a->s->tokens.lang != LANG_DE)
		return SV("");
	for (size_t n = SHORTEST; n + TAIL <= key.n; n++) {
		if (!(lexicon_get(&a->w->lex, LANG_DE, sv_from(key, n)) & common))
			continue;
		struct sv part = sv_head(key, n);
		bool joint = n > SHORTEST + 1 && sv_ends(part, SV("s"));
		return joint ? sv_head(part, n - 1) : part;
	}
	return SV("");
}

static void add_compound(
	struct adding *a, struct sv key, float weight, uint8_t flags, uint16_t chunk)
{
	unsigned first, second;
	unsigned pair = 0;

	if (a->s->tokens.lang == LANG_DE && concept_split(key, &first, &second))
		pair = first << 16 | second;
	add_term(a, key, weight, flags | TERM_WHOLE, pair, chunk);
	struct sv special = german_special_part(a, key);
	if ((flags & TERM_NAME) && special.n > 0)
		add_term(a, special, weight * special_part_weight,
			flags & (uint8_t) ~(TERM_NAME | TERM_DEFINITE), 0, chunk);
}

static void add_word(struct adding *a, size_t i)
{
	const struct token *k = &a->s->tokens.v.v[i];
	const struct word *w = &a->s->words[i];
	float weight = word_weight(a, i);

	if (weight <= 0)
		return;
	a->group++;
	bool definite = w->role == ROLE_FOCUS && w->definite == WORD_DEFINITE;
	uint8_t flags = (uint8_t)((w->kind == WORD_NAME ? TERM_NAME : 0) |
		(w->role == ROLE_FOCUS ? TERM_FOCUS : 0) | (w->head ? TERM_HEAD : 0) |
		(definite ? TERM_DEFINITE : 0) | (a->s->tokens.lang == LANG_DE ? TERM_GERMAN : 0));
	struct sv key = token_word(&a->s->tokens, k);
	if (k->flags & TOKEN_HAN)
		add_han(a, key, weight, flags, w->chunk);
	else if ((k->flags & TOKEN_IDENT) || memchr(key.p, '-', key.n))
		add_identifier(a, k, weight, flags, w->chunk);
	else
		add_compound(a, singular(k, key), weight, flags, w->chunk);
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
	unsigned first = concept_of(one), second = concept_of(two);
	float weight = here + there < 1 ? here + there : 1;
	if (w->kind != WORD_NAME && s->words[i + 1].kind != WORD_NAME)
		weight = weight > 0.6F ? weight : 0.6F;
	a->group++;
	add_term(a, str_sv(&joined), weight,
		(uint8_t)(TERM_PAIR | (w->role == ROLE_FOCUS ? TERM_FOCUS : 0)),
		first && second ? first << 16 | second : 0, w->chunk);
}

/* "log in", "shopping cart", "text to speech": several words, one thing of the table. */
static void add_known_phrase(struct adding *a, size_t i, size_t n)
{
	const struct token *k = &a->s->tokens.v.v[i];
	const struct word *w = &a->s->words[i], *last = &w[n - 1];
	AUTO_STR phrase = STR_INIT;

	for (size_t j = 0; j < n; j++) {
		if (j > 0 && k[j].before)
			return;
		if (j > 0)
			str_addc(&phrase, ' ');
		str_add(&phrase, token_word(&a->s->tokens, &k[j]));
	}
	if (!concept_of(str_sv(&phrase)))
		return;
	a->group++;
	float common = w->kind == WORD_NOUN && last->kind == WORD_NOUN ? 0.4F : 1.0F;
	add_term(a, str_sv(&phrase), common * role_weight[w->role],
		(uint8_t)(TERM_WHOLE | (w->role == ROLE_FOCUS ? TERM_FOCUS : 0) |
			(last->head ? TERM_HEAD : 0)),
		0, w->chunk);
}

/* end to end, peer to peer: three words, one thing. */
static void add_echo(struct adding *a, size_t i)
{
	const struct token *k = &a->s->tokens.v.v[i];
	struct sv one = token_word(&a->s->tokens, k), two = token_word(&a->s->tokens, &k[1]);

	if (!(k[1].cls & LANG_BIT(PREP)) || (k->flags & TOKEN_HAN) ||
		!sv_eq(one, token_word(&a->s->tokens, &k[2])))
		return;
	AUTO_STR joined = STR_INIT;
	str_add(&joined, one);
	str_add(&joined, two);
	str_add(&joined, one);
	a->group++;
	add_term(a, str_sv(&joined), 1, TERM_WHOLE | TERM_NAME, 0, a->s->words[i].chunk);
}

/* "rutscht … ab": the verb is abrutschen, and "das Abrutschen" is that. The particle stands at the
 * end of the verb's clause. */
static void add_separable(struct adding *a, size_t i)
{
	const struct token_list *t = &a->s->tokens;
	const struct word *w = &a->s->words[i];
	size_t end = i + 1;
	bool verb = w->kind == WORD_ACT || w->kind == WORD_VERB || w->kind == WORD_DEED;

	if (t->lang != LANG_DE || !verb || (t->v.v[i].flags & TOKEN_UPPER && i > a->s->body))
		return;
	while (end < t->v.n && !t->v.v[end].before)
		end++;
	const struct token *last = &t->v.v[end - 1];
	if (end - 1 <= i || !german_particle(token_word(t, last)))
		return;
	AUTO_STR joined = STR_INIT;
	str_add(&joined, token_word(t, last));
	str_add(&joined, token_word(t, &t->v.v[i]));
	a->group++;
	float weight = (a->source == TOPIC_QUERY ? query_weight : conv_weight)[WORD_ACT];
	add_term(a, str_sv(&joined), weight * role_weight[ROLE_OTHER], TERM_WHOLE, 0, w->chunk);
}

void topic_add(
	struct words *w, struct route_topic *t, const struct sentence *s, enum topic_source source)
{
	enum { CHUNKS_A_SENTENCE = 256, PHRASE_MAX = 3 };
	struct adding a = { .w = w, .t = t, .s = s, .source = source };

	if (t->terms.n > 0) {
		a.group = t->terms.v[t->terms.n - 1].group;
		a.chunk_base = (uint16_t)(t->terms.v[t->terms.n - 1].chunk + CHUNKS_A_SENTENCE);
	}
	for (size_t i = 0; i < s->tokens.v.n; i++) {
		add_word(&a, i);
		if (source != TOPIC_ANSWER)
			add_separable(&a, i);
	}
	for (size_t i = 0; i + 1 < s->tokens.v.n; i++) {
		add_pair(&a, i);
		bool begins = concept_begins(token_word(&s->tokens, &s->tokens.v.v[i]));
		for (size_t n = 2; begins && n <= PHRASE_MAX && i + n <= s->tokens.v.n; n++)
			add_known_phrase(&a, i, n);
		if (i + 2 < s->tokens.v.n)
			add_echo(&a, i);
	}
}

void route_topic_inherit(struct route_topic *heir, const struct route_topic *from)
{
	uint32_t shift = (uint32_t)heir->text.len;

	str_add(&heir->text, str_sv(&from->text));
	for (size_t i = 0; i < from->terms.n; i++) {
		struct topic_term m = from->terms.v[i];
		if (heir->terms.n >= TOPIC_TERMS_MAX)
			return;
		m.key_at += shift;
		m.stem_at += shift;
		vec_push(&heir->terms, m);
	}
}

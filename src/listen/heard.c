#include "listen/heard.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/vec.h"

enum {
	CALL_WORDS = 12, /* behind so many words of somebody else's a call is still looked for */
	NAME_SLIPS = 2, /* letters that the name may be off by, behind a greeting */
};

/* A word with its place in the text. */
struct word {
	size_t at, n;
	char *normal;
};
struct words {
	VEC(struct word) all;
};

struct correction {
	struct words wrong;
	const char *right;
};

struct heard_rules {
	const struct settings *settings;
	const struct utterances *rules;
	struct strv names; /* normalised, one word each */
	VEC(struct correction) corrections;
	VEC(struct words) filters;
	struct strv noise; /* normalised */
	struct strv fillers;
};

static char *normalised(struct sv text)
{
	struct str out = STR_INIT;

	keywords_normalise(&out, text);
	return str_detach(&out);
}

static void words_release(struct words *w)
{
	vec_each (&w->all, word)
		free(word->normal);
	vec_release(&w->all);
}

/* Letters and digits, and all that is not ASCII; what that is, the normal form tells. */
static struct words words_of(struct sv text)
{
	struct words w = { .all = VEC_INIT };

	for (size_t i = 0; i < text.n;) {
		size_t from = i;
		while (i < text.n &&
			((unsigned char)text.p[i] >= 0x80 || isalnum((unsigned char)text.p[i]) ||
				(text.p[i] == '\'' && i > from)))
			i++;
		if (i == from) {
			i++;
			continue;
		}
		struct word word = { .at = from, .n = i - from };
		word.normal = normalised(sv_make(text.p + from, i - from));
		if (word.normal[0])
			vec_push(&w.all, word);
		else
			free(word.normal);
	}
	return w;
}

/* ---- the rules ---- */

static void add_names(struct heard_rules *h, const char *name)
{
	AUTO_FREE char *normal = normalised(sv_of(name));
	struct sv rest = sv_of(normal), word;

	/* Of "Hal nine thousand" the first word calls. */
	if (sv_split(&rest, ' ', &word) && word.n > 0)
		strv_addsv(&h->names, word);
}

struct heard_rules *heard_new(const struct settings *s, const struct utterances *rules)
{
	struct heard_rules *h = xcalloc(1, sizeof(*h));

	h->settings = s;
	h->rules = rules;
	add_names(h, s->assistant_name);
	for (size_t i = 0; i < s->assistant_also_called.n; i++)
		add_names(h, s->assistant_also_called.v[i]);
	for (size_t i = 0; i < s->stt_filter_phrases.n; i++)
		vec_push(&h->filters, words_of(sv_of(s->stt_filter_phrases.v[i])));
	for (size_t i = 0; i < s->stt_noise_phrases.n; i++)
		strv_take(&h->noise, normalised(sv_of(s->stt_noise_phrases.v[i])));
	for (size_t i = 0; i < s->commands_filler.texts.n; i++)
		strv_take(&h->fillers, normalised(sv_of(s->commands_filler.texts.v[i])));
	for (size_t i = 0; i < s->stt_corrections.n; i++) {
		const char *row = s->stt_corrections.v[i];
		const char *is = strchr(row, '=');
		if (!is)
			continue;
		struct correction c = { .right = is + 1 };
		while (*c.right == ' ')
			c.right++;
		c.wrong = words_of(sv_make(row, (size_t)(is - row)));
		vec_push(&h->corrections, c);
	}
	return h;
}

void heard_free(struct heard_rules *h)
{
	if (!h)
		return;
	vec_each (&h->corrections, c)
		words_release(&c->wrong);
	vec_release(&h->corrections);
	vec_each (&h->filters, f)
		words_release(f);
	vec_release(&h->filters);
	strv_release(&h->names);
	strv_release(&h->noise);
	strv_release(&h->fillers);
	free(h);
}

static bool among(const struct strv *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], text) == 0)
			return true;
	return false;
}

/* ---- what goes, and what takes its place ---- */

/* The phrase stands at word `at`. */
static bool stands_at(const struct words *text, size_t at, const struct words *phrase)
{
	if (phrase->all.n == 0 || at + phrase->all.n > text->all.n)
		return false;
	for (size_t i = 0; i < phrase->all.n; i++)
		if (strcmp(text->all.v[at + i].normal, phrase->all.v[i].normal) != 0)
			return false;
	return true;
}

/* Every occurrence of the phrase becomes `by`, or goes with the punctuation behind it. */
static void replace(struct str *text, const struct words *phrase, const char *by)
{
	struct words w = words_of(str_sv(text));
	AUTO_STR out = STR_INIT;
	size_t kept = 0;

	for (size_t i = 0; i < w.all.n; i++) {
		if (!stands_at(&w, i, phrase))
			continue;
		const struct word *last = &w.all.v[i + phrase->all.n - 1];
		str_add(&out, sv_make(text->buf + kept, w.all.v[i].at - kept));
		kept = last->at + last->n;
		if (by)
			str_adds(&out, by);
		while (!by && kept < text->len && strchr(".,;:!? ", text->buf[kept]))
			kept++;
		i += phrase->all.n - 1;
	}
	str_adds(&out, text->buf + kept);
	words_release(&w);
	str_clear(text);
	str_add(text, str_sv(&out));
}

/* Where the bracket that opens at `at` is closed, those in it included; 0: nowhere. */
static size_t closing(struct sv text, size_t at)
{
	size_t open = 0;

	for (size_t i = at; i < text.n; i++) {
		open += text.p[i] == '[';
		open -= text.p[i] == ']';
		if (open == 0)
			return i;
	}
	return 0;
}

/* "[Musik]", "♪": what recognisers write about what was no speech; "(applause)" alone too. */
static void drop_remarks(struct str *out, struct sv text)
{
	bool whole = text.n > 1 && text.p[0] == '(' && text.p[text.n - 1] == ')';

	for (size_t i = 0; i < text.n && !whole; i++) {
		size_t close = text.p[i] == '[' ? closing(text, i) : 0;
		struct sv rest = sv_from(text, i);
		if (close)
			i = close;
		else if (sv_starts(rest, SV("♪")) || sv_starts(rest, SV("♫")))
			i += 2;
		else
			str_addc(out, text.p[i]);
	}
}

static bool is_greeting(const char *word)
{
	static const char *const greetings[] = { "hey", "hei", "hej", "hay", "he", "ey", "hi",
		"hallo", "hello", "ok", "okay", "a", "ah", "oh", NULL };

	for (size_t i = 0; greetings[i]; i++)
		if (strcmp(word, greetings[i]) == 0)
			return true;
	return false;
}

static size_t name_slips(const struct heard_rules *h, const char *word)
{
	size_t least = SUGGEST_MAX_WORD;

	for (size_t i = 0; i < h->names.n; i++) {
		size_t d = suggest_distance(sv_of(word), sv_of(h->names.v[i]));
		/* Of a short name no letter can be spared. */
		if (d > 0 && strlen(h->names.v[i]) < 5)
			continue;
		least = d < least ? d : least;
	}
	return least;
}

/* Where what was said begins behind the call; 0: there is none. */
static size_t behind_call(const struct heard_rules *h, struct sv text, bool with_call)
{
	struct words w = words_of(text);
	size_t from = 0;

	for (size_t i = 0; i < w.all.n && i < CALL_WORDS && from == 0; i++) {
		bool greeted = i > 0 && is_greeting(w.all.v[i - 1].normal);
		size_t slips = name_slips(h, w.all.v[i].normal);
		/* Further in it is a sentence about somebody, unless they were called. */
		bool first = i == 0 || (i == 1 && greeted);
		if (!(first || (with_call && greeted)))
			continue;
		if (slips == 0 || (greeted && with_call && slips <= NAME_SLIPS))
			from = w.all.v[i].at + w.all.v[i].n;
	}
	words_release(&w);
	while (from > 0 && from < text.n && strchr(".,;:!?- ", text.p[from]))
		from++;
	return from;
}

/* ---- commands that were nearly understood ---- */

/* c and k, z and c: which one is written says nothing about what was said. */
static char sound_of(char c)
{
	return c == 'c' || c == 'z' ? 'k' : c;
}

static size_t slips_allowed(size_t letters)
{
	return letters < 5 ? 0 : letters < 10 ? 1 : letters < 18 ? 2 : 3;
}

/* The keyword that the whole of it nearly is; NULL: none, or several that mean different things. */
static const char *nearly_command(const struct heard_rules *h, struct sv text)
{
	AUTO_FREE char *said = normalised(text);
	size_t n = strlen(said), best = SUGGEST_MAX_WORD;
	const char *found = NULL;
	bool clear = true;
	struct utterance u;

	utterance_judge(h->rules, text, &u);
	if (u.kind != UTTERANCE_AGENT || n > SUGGEST_MAX_WORD)
		return NULL;
	enum utterance_kind of = UTTERANCE_AGENT;
	for (enum utterance_kind kind = 0; kind < UTTERANCE_COMMANDS; kind++) {
		const struct keywords *k = utterance_keywords(h->settings, kind);
		for (size_t i = 0; i < k->texts.n; i++) {
			AUTO_FREE char *keyword = normalised(sv_of(k->texts.v[i]));
			size_t letters = strlen(keyword) < n ? strlen(keyword) : n;
			size_t d = suggest_distance(sv_of(said), sv_of(keyword));
			if (d > slips_allowed(letters) || d > best ||
				sound_of(said[0]) != sound_of(keyword[0]))
				continue;
			clear = d < best || (clear && kind == of);
			best = d;
			found = k->texts.v[i];
			of = kind;
		}
	}
	return clear ? found : NULL;
}

/* Of what was said several times over, as people and recognisers do, the first; else all of it. */
static struct sv said_once(struct sv text)
{
	struct words w = words_of(text);
	size_t n = w.all.n, times = 1;

	for (size_t part = 1; part <= n / 2 && times == 1; part++) {
		bool again = n % part == 0;
		for (size_t i = part; i < n && again; i++)
			again = strcmp(w.all.v[i].normal, w.all.v[i - part].normal) == 0;
		if (again) {
			times = n / part;
			text = sv_head(text, w.all.v[part - 1].at + w.all.v[part - 1].n);
		}
	}
	words_release(&w);
	return text;
}

bool heard_meant(const struct heard_rules *h, struct sv transcript, bool with_call, struct str *out)
{
	AUTO_STR text = STR_INIT;
	AUTO_STR one_line = STR_INIT;

	utf8_scrub_line(&one_line, sv_trim(transcript));
	drop_remarks(&text, str_sv(&one_line));
	vec_each (&h->filters, f)
		replace(&text, f, NULL);
	vec_each (&h->corrections, c)
		replace(&text, &c->wrong, c->right);
	struct sv said = sv_trim(str_sv(&text));
	said = sv_trim(sv_from(said, behind_call(h, said, with_call)));
	AUTO_FREE char *normal = normalised(said);
	/* A lone "." is nothing. */
	if (!normal[0] || among(&h->noise, normal))
		return false;
	struct utterance u;
	utterance_judge(h->rules, said, &u);
	if (u.kind == UTTERANCE_IGNORED)
		return false;
	const char *command = nearly_command(h, said);
	struct sv once = command || u.kind != UTTERANCE_AGENT ? said : said_once(said);
	if (once.n < said.n) {
		command = nearly_command(h, once);
		utterance_judge(h->rules, once, &u);
		said = u.kind < UTTERANCE_COMMANDS ? once : said;
	}
	size_t from = out->len;
	if (command) {
		str_adds(out, command);
		return true;
	}
	/* White space that was around what went. */
	for (size_t i = 0; i < said.n; i++)
		if (said.p[i] != ' ' || (out->len > from && out->buf[out->len - 1] != ' '))
			str_addc(out, said.p[i]);
	return true;
}

static bool one_of(const struct keywords *k, const char *said, const char *bare)
{
	for (size_t i = 0; i < k->texts.n; i++) {
		AUTO_FREE char *keyword = normalised(sv_of(k->texts.v[i]));
		if (strcmp(keyword, said) == 0 || strcmp(keyword, bare) == 0)
			return true;
	}
	return false;
}

enum heard_answer heard_answer(const struct heard_rules *h, struct sv text)
{
	const struct settings *s = h->settings;
	AUTO_FREE char *said = normalised(text);
	AUTO_STR bare = STR_INIT;
	struct sv rest = sv_of(said), word;

	while (sv_split(&rest, ' ', &word)) {
		AUTO_FREE char *one = xmemdup0(word.p, word.n);
		if (!among(&h->fillers, one) && !among(&h->names, one))
			str_addf(&bare, "%s%s", bare.len ? " " : "", one);
	}
	/* Whoever says no anywhere does not mean yes. */
	if (one_of(&s->commands_no, said, bare.buf))
		return HEARD_NO;
	if (one_of(&s->commands_always, said, bare.buf))
		return HEARD_ALWAYS;
	return one_of(&s->commands_yes, said, bare.buf) ? HEARD_YES : HEARD_UNCLEAR;
}

bool heard_has_answer(const struct heard_rules *h, struct sv text)
{
	const struct settings *s = h->settings;
	const struct keywords *const answers[] = { &s->commands_yes, &s->commands_always,
		&s->commands_no };
	struct words w = words_of(text);
	bool has = false;

	for (size_t i = 0; i < ARRAY_LEN(answers); i++) {
		for (size_t k = 0; !has && k < answers[i]->texts.n; k++) {
			struct words phrase = words_of(sv_of(answers[i]->texts.v[k]));
			for (size_t at = 0; !has && at < w.all.n; at++)
				has = stands_at(&w, at, &phrase);
			words_release(&phrase);
		}
	}
	words_release(&w);
	return has;
}

bool heard_names_us(const struct heard_rules *h, struct sv text)
{
	struct words w = words_of(text);
	bool named = false;

	vec_each (&w.all, word)
		named |= name_slips(h, word->normal) <= 1;
	words_release(&w);
	return named;
}

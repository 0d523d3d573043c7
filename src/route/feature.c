#include "route/feature.h"

#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "route/phrase.h"

/* ---- folders ---- */

static bool is_below(struct sv dir, struct sv above)
{
	return sv_starts(dir, above) &&
		(dir.n == above.n || above.n == 0 || dir.p[above.n] == '/' ||
			above.p[above.n - 1] == '/');
}

/* Where a conversation is, seen from the query. */
enum scope {
	SCOPE_HERE, /* this folder or one above it */
	SCOPE_PROJECT, /* below it, or in the same repository */
	SCOPE_ELSEWHERE,
};

/* Where the projects are known, they decide: a repository is not part of the folder it lies in. */
static enum scope scope_of(const struct route_query *q, const struct route_conv *c)
{
	bool known = q->project.n > 0 && c->project.n > 0;
	bool same = known && sv_eq(q->project, c->project);

	if (c->last_dir.n > 0 && sv_eq(q->cwd, c->last_dir))
		return SCOPE_HERE;
	if (known && !same)
		return SCOPE_ELSEWHERE;
	if (is_below(q->cwd, c->dir))
		return SCOPE_HERE;
	return same || is_below(c->dir, q->cwd) ? SCOPE_PROJECT : SCOPE_ELSEWHERE;
}

/* ---- what a conversation knows of the sentence ---- */

/* Below this, two words have nothing to do with each other. */
static const double alike = 0.6;

/* How alike the sentence and a conversation's texts are: its commands, then its answers. */
struct likeness {
	double best, first, latest, usual, answer, answer_latest;
};

struct known {
	/* One a word of the sentence: the likeness of the word there that is most like it. In the
	 * order of enum memory_place. */
	union {
		struct {
			double *command, *answer, *first, *latest, *latest_answer;
		};
		double *places[PLACES];
	};
	struct likeness spelt, means; /* letter by letter; in what is meant */
	bool ident, answered;
	double turns, tongue;
};

/* Threes of characters of the sentence's words, with weights; open addressing. */
enum { GRAM_SLOTS = 1024 };
struct spelling {
	uint32_t gram[GRAM_SLOTS]; /* 0: free */
	double weight[GRAM_SLOTS];
	uint64_t words[GRAM_SLOTS]; /* that have it, one bit a word; from the 65th on shared */
	uint64_t rest; /* words that are not all in here */
	size_t n;
	double norm;
};

struct reading {
	const struct text *t;
	const struct route_query *query;
	size_t n; /* words of the sentence */
	const double *manner;
	const int8_t *means; /* NULL: not known */
	double leans, names, new; /* as chances */
	bool returns; /* a phrase says so … */
	/* … with which it, or a part of it, begins: the tokens of the rest of that part. */
	size_t back_from, back_to;
	struct spelling spelling;
	struct known *known; /* one a conversation */
	const bool *present; /* the others are as if they were not there … */
	const bool *usable; /* … and what failed is no rival of what took its place */
};

static double gram_weight(const struct text_word *w)
{
	return (double)w->rarity / (w->n > 3 ? w->n : 3);
}

static size_t gram_slot(const struct spelling *s, uint32_t gram)
{
	size_t at = (gram * 2654435761U) >> 22;

	while (s->gram[at] && s->gram[at] != gram)
		at = (at + 1) % GRAM_SLOTS;
	return at;
}

static void spell(struct reading *r)
{
	struct spelling *s = &r->spelling;

	for (size_t i = 0; i < r->n; i++) {
		const struct text_word *w = &r->t->words.v[i];
		struct sv bytes = text_word_sv(r->t, w);
		if (w->flags & WORD_JOINED)
			continue;
		for (size_t g = 0; g < bytes.n; g++) {
			if (s->n >= GRAM_SLOTS / 2) {
				s->rest |= 1ULL << i % 64;
				break;
			}
			size_t at = gram_slot(s, text_gram(bytes, g));
			s->n += s->gram[at] == 0;
			s->gram[at] = text_gram(bytes, g);
			s->weight[at] += gram_weight(w);
			s->words[at] |= 1ULL << i % 64;
		}
	}
	double sum = 0;
	for (size_t i = 0; i < GRAM_SLOTS; i++)
		sum += s->weight[i] * s->weight[i];
	s->norm = sqrt(sum);
}

/* What a word adds to the likeness of a text: to the product, and to the square of its length. */
struct spelt {
	double product, square;
	uint64_t words; /* of the sentence that have something of its spelling */
};

static struct spelt spelt_of(const struct spelling *s, const struct text_word *w, struct sv bytes)
{
	struct spelt one = { .words = s->rest };
	double weight = gram_weight(w);

	if (w->flags & WORD_JOINED)
		return one;
	for (size_t g = 0; g < bytes.n; g++) {
		size_t at = gram_slot(s, text_gram(bytes, g));
		one.words |= s->words[at];
		one.product += weight * s->weight[at];
		one.square += weight * weight;
	}
	return one;
}

static double text_spelt(const struct reading *r, const struct route_topic *m,
	const struct memory_text *text, const struct spelt *words)
{
	double product = 0, square = 0;

	for (size_t i = 0; i < text->n; i++) {
		const struct spelt *w = &words[m->uses.v[text->first + i]];
		product += w->product;
		square += w->square;
	}
	return product > 0 ? product / (r->spelling.norm * sqrt(square)) : 0;
}

static void raise(double *to, double value)
{
	if (value > *to)
		*to = value;
}

/* Two neighbours of the sentence are one word there: both are known. */
static void raise_parts(const struct reading *r, double *to, struct sv joined, double value)
{
	size_t at;

	for (size_t i = 0; i < r->n; i++)
		if (!(r->t->words.v[i].flags & WORD_JOINED) &&
			sv_find(joined, text_word_sv(r->t, &r->t->words.v[i]), &at))
			raise(&to[i], value);
}

/* Whether two texts are in one language, 0 to 1, by the fillers they have; as usual when there are
 * none. */
static double same_tongue(const uint8_t a[static LANG_COUNT], const uint8_t b[static LANG_COUNT])
{
	const double usual = 0.7;
	double both = 0, of_a = 0, of_b = 0;

	for (size_t l = 0; l < LANG_COUNT; l++) {
		both += (double)a[l] * b[l];
		of_a += (double)a[l] * a[l];
		of_b += (double)b[l] * b[l];
	}
	return of_a > 0 && of_b > 0 ? both / sqrt(of_a * of_b) : usual;
}

static struct likeness likeness_of(const struct route_topic *m, const double *each)
{
	struct likeness l = { 0 };
	double sum = 0, n = 0;

	for (size_t i = 0; i < m->texts.n; i++) {
		double v = each[i];
		if (m->texts.v[i].answer) {
			raise(&l.answer, v);
			l.answer_latest = v;
			continue;
		}
		if (n == 0)
			l.first = v;
		l.latest = v;
		raise(&l.best, v);
		sum += v;
		n++;
	}
	l.usual = n > 0 ? sum / n : 0;
	return l;
}

static void look_up(const struct reading *r, const struct route_topic *m, struct known *k)
{
	AUTO_FREE struct spelt *words = xcalloc(m->words.n + 1, sizeof(*words));
	AUTO_FREE unsigned char *latest = xcalloc(m->words.n + 1, 1);
	AUTO_FREE double *each = xcalloc(m->texts.n + 1, sizeof(*each));
	const struct memory_text *command = NULL, *answer = NULL;

	for (size_t i = 0; i < m->texts.n; i++) {
		if (m->texts.v[i].answer)
			answer = &m->texts.v[i];
		else
			command = &m->texts.v[i];
		k->turns += !m->texts.v[i].answer;
	}
	for (size_t i = 0; command && i < command->n; i++)
		latest[m->uses.v[command->first + i]] |= IN_LATEST;
	for (size_t i = 0; answer && i < answer->n; i++)
		latest[m->uses.v[answer->first + i]] |= IN_LATEST_ANSWER;
	k->answered = answer != NULL;
	k->tongue = command ? same_tongue(r->t->langs, command->langs) : 0;
	for (size_t j = 0; j < m->words.n; j++) {
		const struct memory_word *w = &m->words.v[j];
		struct sv bytes = memory_word_sv(m, w);
		words[j] = spelt_of(&r->spelling, &w->w, bytes);
		for (size_t i = 0; i < r->n; i++) {
			const struct text_word *own = &r->t->words.v[i];
			double v = word_sameness(own, &w->w);
			if (v == 0 && (words[j].words >> i % 64 & 1))
				v = word_likeness(own, text_word_sv(r->t, own), &w->w, bytes);
			if (v == 0)
				continue;
			for (size_t p = 0; p < PLACES; p++) {
				if (!((w->places | latest[j]) >> p & 1))
					continue;
				if (own->flags & WORD_JOINED)
					raise_parts(r, k->places[p], text_word_sv(r->t, own), v);
				else
					raise(&k->places[p][i], v);
			}
			k->ident |= v >= 1 && (own->flags & w->w.flags & WORD_IDENT) &&
				(w->places & IN_COMMAND);
		}
	}
	for (size_t i = 0; r->spelling.norm > 0 && i < m->texts.n; i++)
		each[i] = text_spelt(r, m, &m->texts.v[i], words);
	k->spelt = likeness_of(m, each);
	for (size_t i = 0; i < m->texts.n; i++) {
		uint32_t vector = r->means ? m->texts.v[i].vector : 0;
		each[i] = vector ? memory_alike(r->means, m->vectors.v[vector - 1].v) : 0;
	}
	k->means = likeness_of(m, each);
}

/* ---- sums over the words of the sentence ---- */

static double rarity(const struct reading *r, size_t i)
{
	const struct text_word *w = &r->t->words.v[i];

	return w->flags & WORD_JOINED ? 0 : (double)w->rarity;
}

static double hard(double v)
{
	return v >= alike ? v : 0;
}

/* Rarity times what is known. */
static double mass(const struct reading *r, const double *known)
{
	double sum = 0;

	for (size_t i = 0; i < r->n; i++)
		sum += rarity(r, i) * hard(known[i]);
	return sum;
}

/* Everything that depends on the order in time, one a conversation. */
struct order {
	size_t last, last_here; /* ROUTE_NONE: none */
	size_t n;
};

static void take_later(const struct route_conv *convs, size_t i, size_t *best)
{
	if (*best == ROUTE_NONE || convs[i].last_ms > convs[*best].last_ms)
		*best = i;
}

static struct order order_of(const struct reading *r, const struct route_conv *convs, size_t n)
{
	const struct route_query *q = r->query;
	struct order o = { ROUTE_NONE, ROUTE_NONE, 0 };

	for (size_t i = 0; i < n; i++) {
		enum scope scope = scope_of(q, &convs[i]);
		bool here = scope == SCOPE_HERE || (scope == SCOPE_PROJECT && q->project.n > 0);
		if (convs[i].before_reset || !r->present[i])
			continue;
		o.n += r->usable[i];
		take_later(convs, i, &o.last);
		if (here)
			take_later(convs, i, &o.last_here);
	}
	return o;
}

static void read_sentence(
	const struct reading *r, size_t n, const struct order *o, struct features *f)
{
	const bool *usable = r->usable;
	size_t words = 0, able = 0;
	double *s = f->s;

	s[S_NEW] = r->manner[MANNER_NEW];
	s[S_LEANS] = r->manner[MANNER_LEANS];
	s[S_NAMES] = r->manner[MANNER_NAMES];
	f->strange = ROUTE_NONE;
	for (size_t i = 0; i < r->n; i++) {
		double said = 0, heard = 0, weight = rarity(r, i);
		if (r->t->words.v[i].flags & WORD_JOINED)
			continue;
		words++;
		for (size_t c = 0; c < n; c++) {
			if (!r->present[c])
				continue;
			said = fmax(said, r->known[c].command[i]);
			heard = fmax(heard, r->known[c].answer[i]);
		}
		s[S_RARITY] += weight / 3;
		if (said < 0.5) {
			s[S_UNKNOWN] += weight / 3;
			if (heard < 0.5)
				s[S_UNHEARD] += weight / 3;
			if (weight > s[S_STRANGEST]) {
				s[S_STRANGEST] = weight;
				f->strange = i;
			}
		}
	}
	for (size_t c = 0; c < n; c++) {
		able += usable[c];
		if (usable[c])
			s[S_MEANS] = fmax(
				s[S_MEANS], fmax(r->known[c].means.best, r->known[c].means.answer));
	}
	s[S_LENGTH] = log1p((double)r->t->n_words);
	s[S_WORDS] = log1p((double)words);
	s[S_NO_WORDS] = words == 0;
	s[S_QUESTION] = r->t->question;
	s[S_CHOICE] = log1p((double)o->n);
	s[S_IDENT] = r->t->identifiers;
	s[S_ALL_RESET] = o->n == 0 && able > 0;
	s[S_RETURNS] = r->returns;
	s[S_ORDER] = manner_orders(r->t);
	s[S_NOVEL] = s[S_RARITY] > 0 ? s[S_UNHEARD] / s[S_RARITY] : 0;
	s[S_ORDER_NOVEL] = s[S_ORDER] * s[S_NOVEL] * (1 - r->leans);
}

/* ---- one conversation ---- */

/* "in worker", "back to the worker": the name alone is a word like others. */
static bool says_folder(const struct reading *r, struct sv dir)
{
	const char *slash = dir.n > 0 ? memrchr(dir.p, '/', dir.n) : NULL;
	struct sv name = slash ? sv_from(dir, (size_t)(slash - dir.p) + 1) : dir;
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, name, true);
	for (size_t i = 0; folded.len > 2 && i < r->t->tokens.n; i++)
		if (sv_eq(text_token_sv(r->t, &r->t->tokens.v[i]), str_sv(&folded)) &&
			(r->returns || phrase_ends_at(r->t, i, PHRASE_WHERE)))
			return true;
	return false;
}

static size_t rank_of(const struct reading *r, const struct route_conv *convs, size_t n,
	const struct order *o, size_t c)
{
	size_t rank = 0;

	if (convs[c].before_reset)
		return o->n;
	for (size_t i = 0; i < n; i++)
		rank += r->usable[i] && !convs[i].before_reset && i != c &&
			convs[i].last_ms > convs[c].last_ms;
	return rank;
}

static void read_words(const struct reading *r, size_t n, size_t c, struct feature_row *row)
{
	const struct known *k = &r->known[c];
	double own = 0, back = 0, back_all = 1e-6, own_all = 0, missing = 0, missing_all = 0,
	       answer = 0, count = 0, all = 1e-6;
	double *x = row->x;

	row->word = row->answer_word = ROUTE_NONE;
	for (size_t i = 0; i < r->n; i++) {
		double w = rarity(r, i), h = hard(k->command[i]), a = hard(k->answer[i]);
		double others = 0, others_all = 0;
		for (size_t o = 0; o < n; o++) {
			if (o == c || !r->usable[o])
				continue;
			others = fmax(others, hard(r->known[o].command[i]));
			others_all = fmax(others_all,
				fmax(hard(r->known[o].command[i]), hard(r->known[o].answer[i])));
		}
		all += w;
		own += w * fmax(0, h - others);
		if (r->t->token_of[i] >= r->back_from && r->t->token_of[i] < r->back_to) {
			back += w * fmax(0, h - others);
			back_all += w;
		}
		own_all += w * fmax(0, fmax(h, a) - others_all);
		missing += w * (1 - h);
		missing_all += w * (1 - fmax(h, a));
		count += h > 0 && w > 0;
		if (w * h > x[C_BEST]) {
			x[C_BEST] = w * h;
			row->word = i;
		}
		if (h == 0 && a > 0) {
			answer += w * a;
			if (w * a > x[C_ANSWER_BEST]) {
				x[C_ANSWER_BEST] = w * a;
				row->answer_word = i;
			}
		}
	}
	double m = mass(r, k->command);
	x[C_SHARE] = m / all;
	x[C_MASS] = m / 2;
	x[C_COUNT] = log1p(count);
	x[C_OWN_SHARE] = own / all;
	x[C_OWN_MASS] = own / 2;
	x[C_BACK_SHARE] = back / back_all;
	x[C_FIRST] = mass(r, k->first) / 2;
	x[C_LATEST] = mass(r, k->latest) / 2;
	x[C_MISSING] = missing / 3;
	x[C_IDENT] = k->ident;
	x[C_NAMES_MASS] = r->names * m / 2;
	x[C_NEW_MASS] = r->new *m / 2;
	x[C_ANSWER_MASS] = answer / 2;
	x[C_OWN_ALL] = own_all / 2;
	x[C_MISSING_ALL] = missing_all / 3;
	x[C_ANSWER_LATEST] = mass(r, k->latest_answer) / 2;
	x[C_NAMES_ANSWER] = r->names * answer / 2;
	x[C_LEANS_ANSWER] = r->leans * answer / 2;
	x[C_ANSWERED] = k->answered;
	x[C_SPELT_ANSWER] = k->spelt.answer;
}

enum {
	TURNS_MAX = 4, /* the dialogues of the training have hardly more */
	SETTLED_S = 180
};

static void read_conv(const struct reading *r, const struct route_conv *convs, size_t n,
	const struct order *o, size_t c, struct feature_row *row)
{
	const struct known *k = &r->known[c];
	double others = 0, means_others = 0, all_others = 0, *x = row->x;
	enum scope scope = scope_of(r->query, &convs[c]);
	double age = fmax(0, (double)(r->query->now_ms - convs[c].last_ms) / 1000);
	size_t able = 0;

	/* What comes at once and leans on nothing is an order of its own: the dialogues of the
	 * training have hardly two of them within a minute, so that the haste alone would make it a
	 * follow-up. */
	if (r->leans < 0.5)
		age = fmax(age, SETTLED_S);
	read_words(r, n, c, row);
	for (size_t i = 0; i < n; i++) {
		able += r->usable[i];
		if (i == c || !r->usable[i])
			continue;
		others = fmax(others, r->known[i].spelt.best);
		means_others = fmax(means_others, r->known[i].means.best);
		all_others =
			fmax(all_others, fmax(r->known[i].means.best, r->known[i].means.answer));
	}
	x[C_SPELT] = k->spelt.best;
	x[C_SPELT_LATEST] = k->spelt.latest;
	x[C_SPELT_FIRST] = k->spelt.first;
	x[C_SPELT_AHEAD] = k->spelt.best - others;
	x[C_AGE] = log1p(age) / 8;
	x[C_RANK] = log1p((double)rank_of(r, convs, n, o, c));
	x[C_LAST] = o->last == c;
	x[C_LAST_HERE] = o->last_here == c;
	struct sv dir = convs[c].last_dir.n > 0 ? convs[c].last_dir : convs[c].dir;
	x[C_HERE] = sv_eq(r->query->cwd, dir);
	x[C_ELSEWHERE] = scope == SCOPE_ELSEWHERE;
	x[C_NEAR] = scope != SCOPE_ELSEWHERE && x[C_HERE] == 0;
	x[C_RESET] = convs[c].before_reset;
	x[C_LEANS_HERE] = r->leans * x[C_LAST_HERE];
	x[C_LEANS_LAST] = r->leans * x[C_LAST];
	x[C_LEANS_OTHER] = r->leans * (1 - x[C_LAST_HERE]);
	x[C_LAST_MASS] = x[C_LAST_HERE] * x[C_MASS];
	x[C_JUST_NOW] = age < 60 ? x[C_LAST_HERE] : 0;
	x[C_LONG_AGO] = age > 1800;
	x[C_ONLY] = able == 1;
	x[C_LEANS_AGE] = r->leans * x[C_AGE];
	x[C_BEST_OTHER] = x[C_BEST] * (1 - x[C_LAST_HERE]);
	x[C_FOLDER_NAMED] = says_folder(r, convs[c].dir);
	x[C_RETURNS_MASS] = r->returns ? x[C_MASS] : 0;
	x[C_RETURNS_LAST] = r->returns ? x[C_LAST_HERE] : 0;
	x[C_TURNS] = log1p(fmin(k->turns, TURNS_MAX));
	x[C_ONCE] = k->turns < 2;
	x[C_TONGUE] = k->tongue;
	x[C_TONGUE_LAST] = k->tongue * x[C_LAST_HERE];
	x[C_MEANS] = k->means.best;
	x[C_MEANS_LATEST] = k->means.latest;
	x[C_MEANS_FIRST] = k->means.first;
	x[C_MEANS_USUAL] = k->means.usual;
	x[C_MEANS_AHEAD] = k->means.best - means_others;
	x[C_MEANS_LAST] = k->means.latest * x[C_LAST_HERE];
	x[C_MEANS_ANSWER] = k->means.answer;
	x[C_MEANS_ANSWER_LATEST] = k->means.answer_latest;
	x[C_MEANS_ALL_AHEAD] = fmax(k->means.best, k->means.answer) - all_others;
}

static bool is_away(const struct reading *r, const struct route_conv *c)
{
	enum scope scope = scope_of(r->query, c);

	return scope == SCOPE_ELSEWHERE || (scope == SCOPE_PROJECT && r->query->project.n == 0);
}

/* "done, now back to the fees: add one"; not "write an article about the fees". */
static void read_back(struct reading *r)
{
	const struct text *t = r->t;
	bool begins = true;

	for (size_t i = 0; i < t->tokens.n && r->back_to == 0; i++) {
		begins |= t->tokens.v[i].apart;
		size_t n = begins ? phrase_at(t, i, PHRASE_RETURNS) : 0;
		begins &= phrase_at(t, i, PHRASE_ORDER_OPENS) > 0;
		if (n == 0)
			continue;
		r->back_from = r->back_to = i + n;
		while (r->back_to < t->tokens.n && !t->tokens.v[r->back_to].apart &&
			!t->tokens.v[r->back_to].mark)
			r->back_to++;
	}
}

/* Whether it says that it goes back, and does not only turn to a subject. */
static bool says_back(const struct text *t)
{
	for (size_t i = 0; i < t->tokens.n; i++) {
		size_t n = phrase_at(t, i, PHRASE_RETURNS);
		if (n > phrase_at(t, i, PHRASE_TURNS_TO))
			return true;
	}
	return false;
}

/* Nothing of another project and nothing from before a reset, unless the sentence says that it goes
 * back there, or names the other folder. What is known here as well (`here`, the most of any) is
 * meant here. */
static bool is_present(
	const struct reading *r, const struct route_conv *c, const struct known *k, double here)
{
	double said = mass(r, k->command);
	bool named = r->returns && (said > 0 || mass(r, k->answer) > 0);

	return (!is_away(r, c) || (r->back_to > 0 && named && (here == 0 || said > here)) ||
		       says_folder(r, c->dir)) &&
		(!c->before_reset || (named && says_back(r->t)));
}

void features_read(const struct text *t, const double manner[static MANNER_COUNT],
	const struct route_query *query, const struct route_conv *convs,
	struct route_topic *const *topics, size_t n, const int8_t *means, struct features *ret)
{
	struct reading r = { .t = t,
		.query = query,
		.n = t->words.n,
		.manner = manner,
		.means = means,
		.returns = phrase_in(t, PHRASE_RETURNS),
		.leans = exp(manner[MANNER_LEANS]),
		.names = exp(manner[MANNER_NAMES]),
		.new = exp(manner[MANNER_NEW]) };
	AUTO_FREE bool *usable = xcalloc(n + 1, sizeof(*usable));
	AUTO_FREE bool *present = xcalloc(n + 1, sizeof(*present));
	AUTO_FREE struct known *known = xcalloc(n + 1, sizeof(*known));
	AUTO_FREE double *numbers = xcalloc((n + 1) * (r.n + 1) * PLACES, sizeof(*numbers));

	r.known = known;
	r.present = present;
	r.usable = usable;
	spell(&r);
	read_back(&r);
	double here = 0;
	for (size_t i = 0; i < n; i++) {
		for (size_t p = 0; p < PLACES; p++)
			known[i].places[p] = numbers + (i * PLACES + p) * r.n;
		look_up(&r, topics[i], &known[i]);
		if (!is_away(&r, &convs[i]))
			here = fmax(here, mass(&r, known[i].command));
	}
	for (size_t i = 0; i < n; i++) {
		present[i] = is_present(&r, &convs[i], &known[i], here);
		usable[i] = present[i] && convs[i].status != ROUTE_ERRORED;
	}
	struct order o = order_of(&r, convs, n);
	*ret = (struct features){ .rows = VEC_INIT, .meaning = means != NULL };
	read_sentence(&r, n, &o, ret);
	for (size_t i = 0; i < n; i++) {
		struct feature_row row = { .index = i };
		/* With what failed one goes on at once, or not at all. */
		if (!present[i] || (!usable[i] && o.last != i && o.last_here != i))
			continue;
		read_conv(&r, convs, n, &o, i, &row);
		vec_push(&ret->rows, row);
	}
}

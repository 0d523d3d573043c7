#include "route/route.h"

#include <math.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "route/feature.h"
#include "route/manner.h"
#include "route/memory.h"
#include "route/net.h"
#include "route/phrase.h"
#include "route/seed.h"
#include "route/tables.h"

struct router {
	struct route_opts opts;
	struct stemmers stemmers;
	struct strv extra[LANG_CLASS_COUNT]; /* phrases of the configuration */
};

/* ---- profile faden ---- */

static const double sure_of_name = 0.9;

struct weighing {
	struct router *router;
	const struct route_query *query;
	const struct route_conv *convs;
	size_t n;
	struct text text;
	double manner[MANNER_COUNT];
	struct route_topic **topics;
	struct route_topic **owned; /* those that were made for this call */
	struct features features;
	double *chances; /* of a new one, then of each row */
	struct memory_vector meant;
	const int8_t *means; /* points there; NULL: not asked for, or not known */
};

/* Whether a phrase of the configuration stands in the sentence. */
static bool says_extra(const struct router *r, const struct text *t, enum lang_class cls)
{
	for (size_t i = 0; r->extra[cls].n > 0 && i < t->tokens.n; i++)
		for (size_t p = 0; p < r->extra[cls].n; p++)
			if (phrase_among(t, i, r->extra[cls].v[p]))
				return true;
	return false;
}

/* "new topic: the bees": whoever says so is not asked what it might be about. */
static bool begins_anew(const struct router *r, struct sv bytes)
{
	struct text t = TEXT_INIT;

	phrase_read(&t, bytes);
	size_t n = phrase_at(&t, 0, PHRASE_BEGINS);
	bool anew = n > 0 && (n == t.tokens.n || t.tokens.v[n].apart);
	anew |= says_extra(r, &t, LANG_BEGINS);
	text_release(&t);
	return anew;
}

/* What the user's own words say goes before what the model thinks of them. */
static void apply_extra(const struct router *r, const struct text *t, double manner[])
{
	enum manner said = MANNER_COUNT;

	if (says_extra(r, t, LANG_RETURNS))
		said = MANNER_NAMES;
	else if (says_extra(r, t, LANG_CONTINUES))
		said = MANNER_LEANS;
	for (size_t i = 0; said != MANNER_COUNT && i < MANNER_COUNT; i++)
		manner[i] = i == (size_t)said ? log(0.9) : log(0.05);
}

static void learn(
	struct router *r, struct route_topic *m, struct sv bytes, enum topic_source source)
{
	size_t most = source == TOPIC_ANSWER ? ROUTE_ANSWER_MAX : ROUTE_TEXT_MAX;
	struct text t = TEXT_INIT;

	text_read(&t, utf8_cut(bytes, most), &r->stemmers);
	memory_add(m, &t, bytes, source);
	text_release(&t);
}

static void remember(struct weighing *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct route_conv *c = &d->convs[i];
		d->topics[i] = c->topic;
		if (c->topic)
			continue;
		d->topics[i] = d->owned[i] = route_topic_new();
		for (size_t k = 0; k < c->n_commands; k++)
			learn(d->router, d->owned[i], c->commands[k],
				k == 0 ? TOPIC_FIRST : TOPIC_LATER);
		for (size_t k = 0; k < c->n_answers; k++)
			learn(d->router, d->owned[i], c->answers[k], TOPIC_ANSWER);
	}
}

/* The best, and the one after it; 0 is a new conversation. */
static void best_two(const double *chances, size_t n, size_t *ret_best, size_t *ret_next)
{
	*ret_best = 0;
	*ret_next = SIZE_MAX;
	for (size_t i = 1; i < n; i++) {
		if (chances[i] > chances[*ret_best]) {
			*ret_next = *ret_best;
			*ret_best = i;
		} else if (*ret_next == SIZE_MAX || chances[i] > chances[*ret_next]) {
			*ret_next = i;
		}
	}
}

/* ---- why ---- */

/* Nothing for ROUTE_NONE. */
static void add_word(const struct weighing *d, struct str *out, const char *before, size_t word,
	const char *after)
{
	if (word == ROUTE_NONE)
		return;
	struct sv bytes = text_word_sv(&d->text, &d->text.words.v[word]);
	str_addf(out, "%s'%.*s'%s", before, SV_ARG(bytes), after);
}

/* In words; nothing where it has none. row NULL: a new one. */
static void name_group(const struct weighing *d, enum feature_group g,
	const struct feature_row *row, struct str *out)
{
	static const char *const of_new[GROUP_COUNT] = {
		[GROUP_WORDS] = "shares no word that counts",
		[GROUP_MANNER] = "is said as one begins something",
		[GROUP_LEANS] = "leans on nothing",
		[GROUP_BUSY] = "what it may mean is not free",
		[GROUP_MEANING] = "means something else",
	};
	bool leans = d->manner[MANNER_LEANS] >= d->manner[MANNER_NEW];

	if (!row && g == GROUP_NOVEL)
		add_word(d, out, "", d->features.strange, " is new here");
	else if (!row)
		str_adds(out, of_new[g] ? of_new[g] : "");
	else if (g == GROUP_WORDS)
		add_word(d, out, "shares ", row->word, "");
	else if (g == GROUP_ANSWER)
		add_word(d, out, "the agent spoke of ", row->answer_word, "");
	else if (g == GROUP_LEANS || (g == GROUP_MANNER && leans))
		str_adds(out, "leans on what was said");
	else if (g == GROUP_MANNER)
		str_adds(out, "names what was said before");
	else if (g == GROUP_TIME && row->x[C_LAST_FREE_HERE] > 0)
		str_adds(out, "ran last here");
	else if (g == GROUP_PLACE && row->x[C_FOLDER_NAMED] > 0)
		str_adds(out, "names its folder");
	else if (g == GROUP_PLACE && row->x[C_HERE] > 0)
		str_adds(out, "of this folder");
	else if (g == GROUP_MEANING)
		str_adds(out, "means something like it");
}

/* The two groups of features without which the choice would be least sure, as if there were only
 * it, the next best and a new one. */
static void explain(const struct weighing *d, size_t choice, size_t next, struct str *out)
{
	enum { REASONS = 2 };
	const double least = 0.02;
	const struct feature_row *row = choice ? &d->features.rows.v[choice - 1] : NULL;
	struct features few = d->features;
	struct feature_row rows[2];
	double with[3], without[3], counts[GROUP_COUNT];

	few.rows.v = rows;
	few.rows.n = 0;
	if (choice > 0)
		rows[few.rows.n++] = *row;
	if (next > 0 && next != SIZE_MAX)
		rows[few.rows.n++] = d->features.rows.v[next - 1];
	net_weigh_without(&few, GROUP_COUNT, with);
	for (unsigned g = 0; g < GROUP_COUNT; g++) {
		net_weigh_without(&few, (enum feature_group)g, without);
		counts[g] = with[choice > 0] - without[choice > 0];
	}
	for (size_t said = 0, tries = 0; said < REASONS && tries < GROUP_COUNT; tries++) {
		AUTO_STR one = STR_INIT;
		unsigned top = 0;
		for (unsigned g = 1; g < GROUP_COUNT; g++)
			if (counts[g] > counts[top])
				top = g;
		if (counts[top] < least && out->len > 0)
			return;
		counts[top] = -1;
		name_group(d, (enum feature_group)top, row, &one);
		size_t at;
		if (one.len == 0 || sv_find(str_sv(out), str_sv(&one), &at))
			continue;
		str_addf(out, "%s%s", out->len ? ", " : "", one.buf);
		said++;
	}
	if (out->len == 0)
		str_adds(out, choice ? "fits best" : "fits nothing");
}

static void fill_candidates(const struct weighing *d, struct route_candidate *out)
{
	const double half_life_ms = 600000;

	for (size_t i = 0; i < d->n; i++) {
		int64_t age = d->query->now_ms - d->convs[i].last_ms;
		out[i] = (struct route_candidate){ .index = i,
			.recency = age <= 0 ? 1 : pow(0.5, (double)age / half_life_ms) };
		(void)snprintf(out[i].reason, sizeof(out[i].reason), "%s",
			d->convs[i].status == ROUTE_ACTIVE	      ? "is still running"
				: d->convs[i].status == ROUTE_ERRORED ? "has failed"
				: d->convs[i].before_reset	      ? "left, and not named"
								      : "elsewhere, and not named");
	}
	for (size_t k = 0; k < d->features.rows.n; k++) {
		const struct feature_row *row = &d->features.rows.v[k];
		struct route_candidate *c = &out[row->index];
		AUTO_STR why = STR_INIT;
		c->routable = true;
		c->keyword = row->x[C_SHARE];
		c->continuation = row->x[C_LEANS_FREE_HERE];
		c->score = d->chances[k + 1];
		if (row->word != ROUTE_NONE)
			add_word(d, &why, "shares ", row->word, "");
		else if (row->answer_word != ROUTE_NONE)
			add_word(d, &why, "the agent spoke of ", row->answer_word, "");
		if (row->x[C_LAST_FREE_HERE] > 0)
			str_addf(&why, "%sran last here", why.len ? ", " : "");
		(void)snprintf(c->reason, sizeof(c->reason), "%s",
			why.len ? why.buf : "nothing in common");
	}
}

/* ---- the choice ---- */

/* "back to the checkout total": what it goes back to is known in one conversation alone, wherever
 * that is. Its place among the chances; 0: there is none such. */
static size_t gone_back_to(const struct features *f)
{
	const double known = 0.7;
	size_t found = 0;

	for (size_t i = 0; f->s[S_RETURNS] > 0 && i < f->rows.n; i++)
		if (f->rows.v[i].x[C_OWN_SHARE] >= known)
			found = i + 1;
	return found;
}

/* What it would belong to if everything were free: one that runs or has failed, or ROUTE_NONE. */
static size_t find_blocked(const struct weighing *d)
{
	AUTO_FREE bool *all = xcalloc(d->n + 1, sizeof(*all));
	struct features f;
	size_t best, next, busy = 0;

	for (size_t i = 0; i < d->n; i++) {
		all[i] = true;
		busy += d->convs[i].status != ROUTE_IDLE;
	}
	if (busy == 0)
		return ROUTE_NONE;
	features_read(&d->text, d->manner, d->query, d->convs, d->topics, d->n, all, d->means, &f);
	AUTO_FREE double *chances = xcalloc(f.rows.n + 1, sizeof(*chances));
	net_weigh(&f, chances);
	best_two(chances, f.rows.n + 1, &best, &next);
	size_t back = gone_back_to(&f);
	best = back ? back : best;
	size_t found = best > 0 ? f.rows.v[best - 1].index : ROUTE_NONE;
	features_release(&f);
	return found != ROUTE_NONE && d->convs[found].status != ROUTE_IDLE ? found : ROUTE_NONE;
}

static void choose(const struct weighing *d, struct route_decision *ret)
{
	AUTO_STR why = STR_INIT;
	size_t best, next;

	best_two(d->chances, d->features.rows.n + 1, &best, &next);
	size_t back = gone_back_to(&d->features);
	if (back && back != best) {
		next = best;
		best = back;
	}
	if (best > 0 && !back && d->chances[best] < d->router->opts.threshold)
		best = 0;
	/* What runs is waited for; from one that failed something else may well go on. */
	ret->blocked = back ? ROUTE_NONE : find_blocked(d);
	if (ret->blocked != ROUTE_NONE && d->convs[ret->blocked].status == ROUTE_ACTIVE)
		best = 0;
	else if (best > 0)
		ret->blocked = ROUTE_NONE;
	ret->confidence = back && d->chances[best] < sure_of_name ? sure_of_name : d->chances[best];
	if (next != SIZE_MAX) {
		ret->runner_up = next ? d->features.rows.v[next - 1].index : ROUTE_NONE;
		ret->ahead = back ? 1 : d->chances[best] - d->chances[next];
	}
	if (best > 0) {
		ret->action = ROUTE_RESUME;
		ret->index = d->features.rows.v[best - 1].index;
	}
	if (ret->blocked != ROUTE_NONE)
		str_addf(&why, "belongs to one that %s",
			d->convs[ret->blocked].status == ROUTE_ACTIVE ? "is still running"
								      : "has failed");
	else if (d->features.rows.n == 0)
		str_adds(&why, "no conversation to resume here");
	else
		explain(d, best, next, &why);
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", why.buf);
}

/* Is more than words wanted? Then what they mean is looked at too, as far as somebody can tell. */
static void weigh_meaning(struct weighing *d)
{
	const struct route_meaning *meaning = d->router->opts.meaning;
	const double sure = 0.8;
	size_t best, next;

	best_two(d->chances, d->features.rows.n + 1, &best, &next);
	if (!meaning || d->features.rows.n == 0 || (d->chances[best] > sure && !meaning->always) ||
		!memory_meaning(meaning, d->query->text, d->text.langs, d->meant.v))
		return;
	d->means = d->meant.v;
	for (size_t i = 0; i < d->n; i++)
		memory_understand(d->topics[i], meaning);
	features_release(&d->features);
	features_read(&d->text, d->manner, d->query, d->convs, d->topics, d->n, NULL, d->means,
		&d->features);
	net_weigh(&d->features, d->chances);
}

static void faden_decide(struct router *r, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	struct weighing d = {
		.router = r, .query = query, .convs = convs, .n = n, .text = TEXT_INIT
	};
	struct sv bytes = utf8_cut(query->text, ROUTE_TEXT_MAX);

	text_read(&d.text, bytes, &r->stemmers);
	manner_read(&d.text, d.manner);
	apply_extra(r, &d.text, d.manner);
	d.topics = xcalloc(n + 1, sizeof(*d.topics));
	d.owned = xcalloc(n + 1, sizeof(*d.owned));
	remember(&d);
	features_read(&d.text, d.manner, query, convs, d.topics, n, NULL, NULL, &d.features);
	d.chances = xcalloc(d.features.rows.n + 1, sizeof(*d.chances));
	net_weigh(&d.features, d.chances);
	weigh_meaning(&d);
	*ret = (struct route_decision){ .index = ROUTE_NONE,
		.blocked = ROUTE_NONE,
		.runner_up = ROUTE_NONE,
		.confidence = 1,
		.ahead = 1,
		.by_meaning = d.means != NULL };
	if (begins_anew(r, bytes))
		(void)snprintf(ret->reason, sizeof(ret->reason), "says that something new begins");
	else
		choose(&d, ret);
	if (candidates)
		fill_candidates(&d, candidates);
	for (size_t i = 0; i < n; i++)
		route_topic_free(d.owned[i]);
	free(d.owned);
	free(d.topics);
	free(d.chances);
	features_release(&d.features);
	text_release(&d.text);
}

/* ---- the router ---- */

static const struct {
	const char *name;
	struct route_weights weights;
	double threshold;
} profiles[] = {
	[ROUTE_FADEN] = { "faden", { 0, 0, 0 }, 0 },
	[ROUTE_SEED] = { "seed", { .keyword = 0.4, .recency = 0.3, .continuation = 0.3 }, 0.45 },
};

enum { EXPIRY_MS = 30 * 60 * 1000, MAX_CONVERSATIONS = 20 };

struct route_opts route_opts_default(enum route_profile profile)
{
	return (struct route_opts){ .profile = profile,
		.weights = profiles[profile].weights,
		.threshold = profiles[profile].threshold,
		.expiry_ms = EXPIRY_MS,
		.max = MAX_CONVERSATIONS };
}

bool route_profile_parse(struct sv name, enum route_profile *ret)
{
	for (size_t i = 0; i < ARRAY_LEN(profiles); i++) {
		if (sv_is(name, profiles[i].name)) {
			*ret = (enum route_profile)i;
			return true;
		}
	}
	return false;
}

struct router *router_new(const struct route_opts *opts)
{
	struct router *r = xcalloc(1, sizeof(*r));

	r->opts = *opts;
	for (size_t i = 0; i < opts->n_extra; i++) {
		enum lang_class cls;
		if (lang_class_parse(opts->extra[i].cls, &cls))
			strv_addsv(&r->extra[cls], opts->extra[i].words);
	}
	r->opts.extra = NULL;
	r->opts.n_extra = 0;
	return r;
}

void router_free(struct router *r)
{
	if (!r)
		return;
	stemmers_release(&r->stemmers);
	for (size_t i = 0; i < LANG_CLASS_COUNT; i++)
		strv_release(&r->extra[i]);
	free(r);
}

const struct route_opts *router_opts(const struct router *r)
{
	return &r->opts;
}

const char *router_language(const struct router *r, struct sv text)
{
	struct text t = TEXT_INIT;
	unsigned said[LANG_COUNT] = { 0 }, alone[LANG_COUNT] = { 0 }, best = 0;

	if (r->opts.profile != ROUTE_FADEN)
		return NULL;
	phrase_read(&t, utf8_cut(text, ROUTE_TEXT_MAX));
	for (size_t i = 0; i < t.tokens.n; i++) {
		const struct known_word *w = known_find(text_token_sv(&t, &t.tokens.v[i]));
		unsigned langs = w ? w->flags & KNOWN_STOP : 0;
		for (unsigned l = 0; l < LANG_COUNT; l++) {
			said[l] += langs >> l & 1;
			alone[l] += langs == 1U << l;
		}
	}
	text_release(&t);
	for (unsigned l = 1; l < LANG_COUNT; l++)
		if (said[l] > said[best] || (said[l] == said[best] && alone[l] > alone[best]))
			best = l;
	for (unsigned l = 0; l < LANG_COUNT; l++)
		if (l != best && said[l] == said[best] && alone[l] == alone[best])
			return NULL;
	return alone[best] > 0 ? lang_name((enum lang_id)best) : NULL;
}

void router_decide(struct router *r, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	if (r->opts.profile == ROUTE_SEED)
		seed_decide(&r->opts, query, convs, n, candidates, ret);
	else
		faden_decide(r, query, convs, n, candidates, ret);
}

bool router_returns(struct router *r, struct sv text)
{
	struct text t = TEXT_INIT;
	bool returns = false;

	if (r->opts.profile != ROUTE_FADEN)
		return false;
	phrase_read(&t, utf8_cut(text, ROUTE_TEXT_MAX));
	for (size_t i = 0; i < t.tokens.n && !returns; i++)
		returns = phrase_at(&t, i, PHRASE_RETURNS) > 0;
	returns |= says_extra(r, &t, LANG_RETURNS);
	text_release(&t);
	return returns;
}

void router_learn(struct router *r, struct route_topic *t, struct sv text, enum topic_source source)
{
	if (r->opts.profile == ROUTE_FADEN)
		learn(r, t, text, source);
}

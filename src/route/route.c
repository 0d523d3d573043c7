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
/* Below it, what texts mean is asked for, and nothing is sent to another project. */
static const double sure = 0.8;
static const double leaning = 0.5;

struct weighing {
	struct router *router;
	const struct route_query *query;
	const struct route_conv *convs;
	size_t n;
	struct text text;
	double manner[MANNER_COUNT];
	bool goes_on; /* it says nothing else */
	struct route_topic **topics; /* the caller's, or made for this call */
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
static bool begins_anew(const struct router *r, const struct text *t)
{
	size_t n = phrase_at(t, 0, PHRASE_BEGINS);

	return (n > 0 && (n == t->tokens.n || t->tokens.v[n].apart)) ||
		says_extra(r, t, LANG_BEGINS);
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

static void remember(struct weighing *d)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct route_conv *c = &d->convs[i];
		d->topics[i] = c->topic;
		if (c->topic)
			continue;
		d->topics[i] = route_topic_new();
		for (size_t k = 0; k < c->n_commands; k++)
			router_learn(d->router, d->topics[i], c->commands[k],
				k == 0 ? TOPIC_FIRST : TOPIC_LATER);
		for (size_t k = 0; k < c->n_answers; k++)
			router_learn(d->router, d->topics[i], c->answers[k], TOPIC_ANSWER);
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

/* In words; nothing where it has none, or what it would say is not so. row NULL: a new one. */
static void name_group(const struct weighing *d, enum feature_group g,
	const struct feature_row *row, struct str *out)
{
	static const char *const of_new[GROUP_COUNT] = {
		[GROUP_WORDS] = "shares no word that counts",
		[GROUP_MANNER] = "is said as one begins something",
		[GROUP_LEANS] = "leans on nothing",
		[GROUP_MEANING] = "means something else",
	};
	bool leans = d->manner[MANNER_LEANS] >= d->manner[MANNER_NEW];
	bool named = row && (row->word != ROUTE_NONE || row->answer_word != ROUTE_NONE);
	bool shares = false;

	vec_each (&d->features.rows, r)
		shares |= r->word != ROUTE_NONE;
	if (!row && g == GROUP_NOVEL)
		add_word(d, out, "", d->features.strange, " is new here");
	else if (!row && (g == GROUP_WORDS ? shares : g != GROUP_MEANING && leans))
		return;
	else if (!row)
		str_adds(out, of_new[g] ? of_new[g] : "");
	else if (g == GROUP_WORDS)
		add_word(d, out, "shares ", row->word, "");
	else if (g == GROUP_ANSWER)
		add_word(d, out, "the agent spoke of ", row->answer_word, "");
	else if (g == GROUP_LEANS || (g == GROUP_MANNER && leans))
		str_adds(out, "leans on what was said");
	else if (g == GROUP_MANNER)
		str_adds(out, named ? "names what was said before" : "is not how one begins");
	else if (g == GROUP_TIME && row->x[C_LAST_HERE] > 0)
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
	net_weigh(&few, NET_ONE, GROUP_COUNT, with);
	for (unsigned g = 0; g < GROUP_COUNT; g++) {
		net_weigh(&few, NET_ONE, (enum feature_group)g, without);
		counts[g] = with[choice > 0] - without[choice > 0];
	}
	if (!few.meaning)
		counts[GROUP_MEANING] = -1;
	for (size_t said = 0, tries = 0; said < REASONS && tries < GROUP_COUNT; tries++) {
		AUTO_STR one = STR_INIT;
		unsigned top = 0;
		for (unsigned g = 1; g < GROUP_COUNT; g++)
			if (counts[g] > counts[top])
				top = g;
		if (counts[top] < 0 || (counts[top] < least && out->len > 0))
			break;
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
			d->convs[i].status == ROUTE_ACTIVE	      ? "is in use right now"
				: d->convs[i].status == ROUTE_ERRORED ? "has failed"
				: d->convs[i].before_reset	      ? "left, and not named"
								      : "elsewhere, and not named");
	}
	for (size_t k = 0; k < d->features.rows.n; k++) {
		const struct feature_row *row = &d->features.rows.v[k];
		struct route_candidate *c = &out[row->index];
		AUTO_STR why = STR_INIT;
		c->routable = d->convs[row->index].status == ROUTE_IDLE;
		c->keyword = row->x[C_SHARE];
		c->continuation = row->x[C_LEANS_HERE];
		c->score = d->chances[k + 1];
		if (!c->routable)
			continue;
		if (row->word != ROUTE_NONE)
			add_word(d, &why, "shares ", row->word, "");
		else if (row->answer_word != ROUTE_NONE)
			add_word(d, &why, "the agent spoke of ", row->answer_word, "");
		if (row->x[C_LAST_HERE] > 0)
			str_addf(&why, "%sran last here", why.len ? ", " : "");
		(void)snprintf(
			c->reason, sizeof(c->reason), "%s", why.len ? why.buf : "shares no word");
	}
}

/* ---- the choice ---- */

/* "continue": with what ran last here. "back to the checkout total": what it goes back to is known
 * in one conversation alone, wherever that is. Its place among the chances; 0: the sentence tells
 * of none. */
static size_t told(const struct weighing *d)
{
	const double known = 0.7;
	const struct features *f = &d->features;
	size_t found = 0;

	for (size_t i = 0; i < f->rows.n; i++)
		if (d->goes_on ? f->rows.v[i].x[C_LAST_HERE] > 0
			       : f->rows.v[i].x[C_BACK_SHARE] >= known ||
					(f->s[S_RETURNS] > 0 &&
						f->rows.v[i].x[C_OWN_SHARE] >= known))
			found = i + 1;
	return found;
}

/* Who is sent to another project by mistake finds changes there that nobody wanted: what is not
 * clearly meant is as if it were not there. */
static void leave_out_elsewhere(struct weighing *d)
{
	double left = d->chances[0];

	for (size_t i = 0; i < d->features.rows.n; i++) {
		if (d->features.rows.v[i].x[C_ELSEWHERE] > 0 && d->chances[i + 1] < sure)
			d->chances[i + 1] = 0;
		left += d->chances[i + 1];
	}
	for (size_t i = 0; i <= d->features.rows.n; i++)
		d->chances[i] /= left;
}

/* What leans on something is no word for one among older ones: where nothing is shared, neither
 * with what was said nor with an answer, it leans on what ran last here. */
static void lean_on_last(struct weighing *d)
{
	const struct feature_row *rows = d->features.rows.v;
	size_t last = 0;

	for (size_t i = 0; i < d->features.rows.n; i++)
		if (rows[i].x[C_LEANS_HERE] > leaning)
			last = i + 1;
	for (size_t i = 0; last && i < d->features.rows.n; i++) {
		if (rows[i].word != ROUTE_NONE || rows[i].answer_word != ROUTE_NONE ||
			rows[i].x[C_LAST_HERE] > 0)
			continue;
		d->chances[last] += d->chances[i + 1];
		d->chances[i + 1] = 0;
	}
}

static void choose(const struct weighing *d, struct route_decision *ret)
{
	AUTO_STR why = STR_INIT;
	size_t best, next;

	best_two(d->chances, d->features.rows.n + 1, &best, &next);
	size_t meant = told(d);
	if (meant && meant != best) {
		next = best;
		best = meant;
	}
	bool unlikely = best > 0 && !meant && d->chances[best] < d->router->opts.threshold;
	if (unlikely) {
		next = best;
		best = 0;
	}
	ret->confidence =
		meant && d->chances[best] < sure_of_name ? sure_of_name : d->chances[best];
	if (next != SIZE_MAX) {
		ret->runner_up = next ? d->features.rows.v[next - 1].index : ROUTE_NONE;
		ret->ahead = meant ? 1 : d->chances[best] - d->chances[next];
	}
	size_t found = best > 0 ? d->features.rows.v[best - 1].index : ROUTE_NONE;
	if (best > 0 && d->convs[found].status == ROUTE_IDLE) {
		ret->action = ROUTE_RESUME;
		ret->index = found;
	} else {
		ret->blocked = found;
	}
	if (ret->blocked != ROUTE_NONE)
		str_addf(&why, "belongs to one that %s",
			d->convs[ret->blocked].status == ROUTE_ACTIVE ? "is in use right now"
								      : "has failed");
	else if (d->features.rows.n == 0)
		str_adds(&why, "no conversation to resume here");
	else if (unlikely)
		str_adds(&why, "nothing is likely enough");
	else if (meant && d->goes_on)
		str_adds(&why, "says to go on, ran last here");
	else
		explain(d, best, next, &why);
	(void)snprintf(ret->reason, sizeof(ret->reason), "%s", why.buf);
}

/* Is more than words wanted? Then what they mean is looked at too, as far as somebody can tell. */
static void weigh_meaning(struct weighing *d)
{
	const struct route_meaning *meaning = d->router->opts.meaning;
	size_t best, next;

	best_two(d->chances, d->features.rows.n + 1, &best, &next);
	if (!meaning || d->features.rows.n == 0 || (d->chances[best] > sure && !meaning->always) ||
		!memory_meaning(meaning, d->query->text, d->text.langs, d->meant.v))
		return;
	d->means = d->meant.v;
	for (size_t i = 0; i < d->n; i++)
		memory_understand(d->topics[i], meaning);
	vec_release(&d->features.rows);
	features_read(
		&d->text, d->manner, d->query, d->convs, d->topics, d->n, d->means, &d->features);
	net_weigh(&d->features, NET_ALL, GROUP_COUNT, d->chances);
}

static void faden_decide(struct router *r, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	struct weighing d = {
		.router = r, .query = query, .convs = convs, .n = n, .text = TEXT_INIT
	};
	struct sv bytes = utf8_cut(query->text, ROUTE_TEXT_MAX);
	struct text phrases = TEXT_INIT;

	phrase_read(&phrases, bytes);
	d.goes_on = phrase_only_goes_on(&phrases);
	text_read(&d.text, bytes, &r->stemmers);
	manner_read(&d.text, d.manner);
	apply_extra(r, &d.text, d.manner);
	d.topics = xcalloc(n + 1, sizeof(*d.topics));
	remember(&d);
	features_read(&d.text, d.manner, query, convs, d.topics, n, NULL, &d.features);
	d.chances = xcalloc(d.features.rows.n + 1, sizeof(*d.chances));
	net_weigh(&d.features, NET_ALL, GROUP_COUNT, d.chances);
	weigh_meaning(&d);
	leave_out_elsewhere(&d);
	lean_on_last(&d);
	*ret = (struct route_decision){ .index = ROUTE_NONE,
		.blocked = ROUTE_NONE,
		.runner_up = ROUTE_NONE,
		.confidence = 1,
		.ahead = 1,
		.fresh = d.chances[0],
		.by_meaning = d.means != NULL };
	if (begins_anew(r, &phrases))
		(void)snprintf(ret->reason, sizeof(ret->reason), "says that something new begins");
	else
		choose(&d, ret);
	if (candidates)
		fill_candidates(&d, candidates);
	for (size_t i = 0; i < n; i++)
		if (!convs[i].topic)
			route_topic_free(d.topics[i]);
	free(d.topics);
	free(d.chances);
	vec_release(&d.features.rows);
	text_release(&d.text);
	text_release(&phrases);
}

/* ---- the router ---- */

static const struct {
	const char *name;
	struct route_weights weights;
	double threshold;
} profiles[] = {
	/* What is less likely is a guess among several, and most often wrong. */
	[ROUTE_FADEN] = { "faden", { 0, 0, 0 }, 0.3 },
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

	if (r->opts.profile != ROUTE_FADEN)
		return false;
	phrase_read(&t, utf8_cut(text, ROUTE_TEXT_MAX));
	bool returns = phrase_in(&t, PHRASE_RETURNS) || says_extra(r, &t, LANG_RETURNS);
	text_release(&t);
	return returns;
}

void router_learn(struct router *r, struct route_topic *m, struct sv text, enum topic_source source)
{
	size_t most = source == TOPIC_ANSWER ? ROUTE_ANSWER_MAX : ROUTE_TEXT_MAX;
	struct text t = TEXT_INIT;

	if (r->opts.profile != ROUTE_FADEN)
		return;
	text_read(&t, utf8_cut(text, most), &r->stemmers);
	memory_add(m, &t, text, source);
	text_release(&t);
}

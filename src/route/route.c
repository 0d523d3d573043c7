#include "route/route.h"

#include <math.h>
#include <stdio.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "route/match.h"
#include "route/reading.h"
#include "route/seed.h"

/* ---- profile faden ---- */

static const double hint_boost = 1.5; /* a marker that something was there before */
static const double return_boost = 2.0; /* the text says that it goes back */
static const double tie = 0.05; /* among equals, one that can be resumed */
static const double least_lean = 0.35; /* less only helps to understand the subject */
static const double more_words = 0.1;
static const double named_elsewhere = 0.7;
static const double pointed_elsewhere = 0.4; /* "that loop" */
static const double barely_known = 0.25;
static const double elsewhere_factor = 0.7;
static const double report_bonus = 1.5;
static const double report_enough = 0.75;
static const double doubted_command = 0.85;
static const double half_life_ms = 600000.0;
static const double known_subject = 0.3;
static const double sure_to_go_on = 0.8;
static const double named_strength = 0.6; /* to reach across directories and resets */

/* Where a conversation is, seen from the query. */
enum scope {
	SCOPE_HERE, /* this directory or one above it */
	SCOPE_PROJECT, /* below it, or in the same repository */
	SCOPE_ELSEWHERE,
};

struct view {
	const struct route_conv *conv;
	const struct route_topic *topic;
	struct route_topic *owned; /* topic when made for this call */
	enum scope scope;
	bool present; /* routing may think of it at all */
	struct match match;
	double score, keyword, recency, lean;
};

struct weighing {
	const struct route_opts *opts;
	const struct route_query *query;
	struct sentence s;
	struct route_topic *topic;
	struct view *views;
	size_t n;
	size_t last; /* what a leaning sentence leans on; ROUTE_NONE: nothing */
};

/* ---- the conversations ---- */

static bool is_below(struct sv dir, struct sv above)
{
	return sv_starts(dir, above) &&
		(dir.n == above.n || above.n == 0 || dir.p[above.n] == '/' ||
			above.p[above.n - 1] == '/');
}

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

static void learn(
	struct words *words, struct route_topic *t, struct sv text, enum topic_source source)
{
	struct sentence s = SENTENCE_INIT;

	sentence_read_subject(&s, utf8_cut(text, ROUTE_TEXT_MAX), &words->lex);
	topic_add(words, t, &s, source);
	sentence_release(&s);
}

static struct sv last_component(struct sv path)
{
	const char *slash = path.n > 0 ? memrchr(path.p, '/', path.n) : NULL;

	return slash ? sv_from(path, (size_t)(slash - path.p) + 1) : path;
}

static bool says_project(const struct weighing *d, const struct route_conv *c)
{
	struct sv name = last_component(c->dir);

	for (size_t i = 0; i < d->topic->terms.n; i++)
		if (name.n > 2 && sv_eq(term_key(d->topic, &d->topic->terms.v[i]), name))
			return true;
	return false;
}

/* Nothing before a reset and nothing of another project, unless the text says so. */
static bool is_present(const struct weighing *d, const struct view *v)
{
	bool named = d->s.returning || d->s.past || d->s.persists || d->s.fronted;

	if (v->conv->before_reset && !named)
		return false;
	return v->scope != SCOPE_ELSEWHERE || named || says_project(d, v->conv);
}

/* "the cookie banner still flickers": without a word of return the subject must be beyond doubt. */
static bool names_clearly(const struct weighing *d, const struct view *v)
{
	enum { NAMES = 2 };

	return d->s.returning || d->s.past || says_project(d, v->conv) ||
		v->match.names_known >= NAMES;
}

static void look_at(struct words *words, struct weighing *d, const struct route_conv *convs)
{
	for (size_t i = 0; i < d->n; i++) {
		struct view *v = &d->views[i];
		v->conv = &convs[i];
		v->scope = scope_of(d->query, v->conv);
		v->present = is_present(d, v);
		if (!v->present)
			continue;
		v->topic = v->conv->topic;
		if (v->topic)
			continue;
		v->topic = v->owned = route_topic_new();
		for (size_t c = 0; c < v->conv->n_commands; c++)
			learn(words, v->owned, v->conv->commands[c],
				c == 0 ? TOPIC_FIRST : TOPIC_LATER);
		for (size_t c = 0; c < v->conv->n_answers; c++)
			learn(words, v->owned, v->conv->answers[c], TOPIC_ANSWER);
	}
}

/* ---- scores ---- */

static void match_all(struct weighing *d)
{
	const struct route_topic **topics = xcalloc(d->n + 1, sizeof(*topics));
	size_t n = 0;

	for (size_t i = 0; i < d->n; i++)
		if (d->views[i].present)
			topics[n++] = d->views[i].topic;
	struct match_text text = { .topic = d->topic,
		.imperative = d->s.imperative,
		.leans = d->s.lean >= least_lean || d->s.returning || d->s.presupposes,
		.project_name = last_component(d->query->cwd),
		.rarity = match_rarity(d->topic, topics, n) };
	for (size_t i = 0; i < d->n; i++) {
		text.at_hand = i == d->last;
		if (d->views[i].present)
			d->views[i].match = match_topics(&text, d->views[i].topic);
	}
	free(text.rarity);
	free(topics);
}

/* Later in time, or what is running when the text waits for that. */
static bool comes_after(
	const struct weighing *d, const struct route_conv *a, const struct route_conv *b)
{
	bool a_runs = a->status == ROUTE_ACTIVE, b_runs = b->status == ROUTE_ACTIVE;

	if (d->s.waits && a_runs != b_runs)
		return a_runs;
	return a->last_ms >= b->last_ms;
}

/* The one that ran last here: what a pronoun means. */
static void find_last(struct weighing *d)
{
	d->last = ROUTE_NONE;
	for (size_t i = 0; i < d->n; i++) {
		const struct view *v = &d->views[i];
		if (v->scope == SCOPE_ELSEWHERE || v->conv->before_reset ||
			(v->scope == SCOPE_PROJECT && d->query->project.n == 0))
			continue;
		const struct view *best = d->last == ROUTE_NONE ? NULL : &d->views[d->last];
		if (!best || v->scope < best->scope ||
			(v->scope == best->scope && comes_after(d, v->conv, best->conv)))
			d->last = i;
	}
}

static double topic_part(const struct weighing *d, const struct view *v)
{
	double strength = v->match.strength;

	if (d->s.returning)
		strength *= return_boost;
	else if (d->s.presupposes || d->s.lean > 0.4)
		strength *= hint_boost;
	bool away = v->scope == SCOPE_ELSEWHERE || v->conv->before_reset;
	if (away && (strength < named_strength || !names_clearly(d, v)))
		return 0;
	return strength > 1 ? 1 : strength;
}

/* "go on with the next page": no subject is named, so what ran last goes on. */
static bool goes_on(const struct weighing *d)
{
	if (!d->s.returning || (d->s.names > 0 && !d->s.continues))
		return false;
	for (size_t i = 0; i < d->n; i++)
		if (d->views[i].keyword >= known_subject)
			return false;
	return true;
}

static double lean_part(const struct weighing *d, size_t i)
{
	if (i == d->last && goes_on(d))
		return sure_to_go_on;
	if (i != d->last || d->s.returning || d->s.lean < least_lean)
		return 0;
	bool expired = d->query->now_ms - d->views[i].conv->last_ms >= d->opts->expiry_ms;
	return expired && !d->s.lean_explicit ? d->s.lean * 0.6 : d->s.lean;
}

/* A subject that is named elsewhere and unknown to the last one weakens what leans on that. */
static void prefer_named(struct weighing *d)
{
	if (d->last == ROUTE_NONE)
		return;
	struct view *last = &d->views[d->last];
	double enough = d->s.points ? pointed_elsewhere : named_elsewhere;
	for (size_t i = 0; i < d->n; i++) {
		const struct view *v = &d->views[i];
		if (i != d->last && v->match.strength >= enough &&
			last->keyword < v->keyword * barely_known) {
			last->lean *= elsewhere_factor;
			return;
		}
	}
}

/* A report on something that is half known: the one conversation that knows most of it. */
static void believe_report(struct weighing *d)
{
	struct match *best = NULL;

	for (size_t i = 0; i < d->n; i++) {
		struct match *m = &d->views[i].match;
		if (d->views[i].present && (!best || m->strength > best->strength))
			best = m;
	}
	if (best && best->names > 0 && 2 * best->names_known >= best->names &&
		best->strength < report_enough && sentence_reports(&d->s))
		best->strength = fmin(best->strength * report_bonus, report_enough);
}

/* A command most of whose names are unknown is something else with the same thing. */
static void doubt_command(struct weighing *d)
{
	if (!d->s.imperative || d->s.lean >= least_lean || d->s.presupposes)
		return;
	for (size_t i = 0; i < d->n; i++) {
		struct match *m = &d->views[i].match;
		if (2 * m->names_known < m->names)
			m->strength *= doubted_command;
	}
}

static void score_all(struct weighing *d)
{
	const struct route_weights *w = &d->opts->weights;

	for (size_t i = 0; i < d->n; i++) {
		struct view *v = &d->views[i];
		if (!v->present)
			continue;
		v->keyword = topic_part(d, v);
		int64_t age = d->query->now_ms - v->conv->last_ms;
		v->recency = age <= 0 ? 1.0 : pow(0.5, (double)age / half_life_ms);
	}
	for (size_t i = 0; i < d->n; i++)
		d->views[i].lean = d->views[i].present ? lean_part(d, i) : 0;
	prefer_named(d);
	for (size_t i = 0; i < d->n; i++) {
		struct view *v = &d->views[i];
		/* Among subjects that all agree, the one that agrees in more. */
		double more = v->keyword >= 1 ? more_words * (1 - 1 / (1 + v->match.strength)) : 0;
		v->score = w->keyword * v->keyword + w->continuation * v->lean +
			w->recency * v->recency + more;
	}
}

/* ---- the choice ---- */

static size_t best_view(const struct weighing *d, bool idle_only)
{
	size_t best = ROUTE_NONE;

	for (size_t i = 0; i < d->n; i++) {
		const struct view *v = &d->views[i];
		if (!v->present || (idle_only && v->conv->status != ROUTE_IDLE))
			continue;
		if (best == ROUTE_NONE || v->score > d->views[best].score ||
			(v->score >= d->views[best].score &&
				v->conv->last_ms > d->views[best].conv->last_ms))
			best = i;
	}
	return best;
}

static void explain(const struct weighing *d, const struct view *v, char out[ROUTE_REASON_MAX])
{
	AUTO_STR text = STR_INIT;

	if (v->keyword > 0.1)
		str_addf(&text, "about '%s' (%.2f)", v->match.word, v->keyword);
	if (v->lean > 0)
		str_addf(&text, "%s%s (%.2f)", text.len ? "; " : "", d->s.why, v->lean);
	if (text.len == 0)
		str_adds(&text,
			v->present ? "nothing in common" : "another project or before a reset");
	(void)snprintf(out, ROUTE_REASON_MAX, "%s", text.buf);
}

static void choose(const struct weighing *d, struct route_decision *ret)
{
	*ret = (struct route_decision){
		.index = ROUTE_NONE, .blocked = ROUTE_NONE, .confidence = 1
	};
	size_t any = best_view(d, false), idle = best_view(d, true);
	double threshold = d->opts->threshold;
	if (d->s.fresh) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "says that something new begins");
		return;
	}
	if (any == ROUTE_NONE) {
		(void)snprintf(ret->reason, sizeof(ret->reason), "no conversation to resume here");
		return;
	}
	double top = d->views[any].score;
	if (top >= threshold && idle != ROUTE_NONE && d->views[idle].score >= threshold &&
		d->views[idle].score >= top - tie) {
		ret->action = ROUTE_RESUME;
		ret->index = idle;
		ret->confidence = d->views[idle].score < 1 ? d->views[idle].score : 1;
		explain(d, &d->views[idle], ret->reason);
		return;
	}
	ret->confidence = top < 1 ? 1 - top : 0;
	if (top >= threshold) {
		ret->blocked = any;
		(void)snprintf(ret->reason, sizeof(ret->reason), "belongs to one that %s",
			d->views[any].conv->status == ROUTE_ACTIVE ? "is still running"
								   : "has failed");
		return;
	}
	(void)snprintf(ret->reason, sizeof(ret->reason),
		"stands for itself: best score %.3f below %.3f", top, threshold);
}

static void fill_candidates(const struct weighing *d, struct route_candidate *out)
{
	for (size_t i = 0; i < d->n; i++) {
		const struct view *v = &d->views[i];
		out[i] = (struct route_candidate){ .index = i,
			.routable = v->present && v->conv->status == ROUTE_IDLE,
			.keyword = v->keyword,
			.recency = v->recency,
			.continuation = v->lean,
			.score = v->score };
		explain(d, v, out[i].reason);
	}
}

static void faden_decide(struct words *words, const struct route_opts *opts,
	const struct route_query *query, const struct route_conv *convs, size_t n,
	struct route_candidate *candidates, struct route_decision *ret)
{
	struct weighing d = { .opts = opts, .query = query, .s = SENTENCE_INIT, .n = n };

	sentence_read(&d.s, utf8_cut(query->text, ROUTE_TEXT_MAX), &words->lex);
	d.topic = route_topic_new();
	topic_add(words, d.topic, &d.s, TOPIC_QUERY);
	d.views = xcalloc(n + 1, sizeof(*d.views));
	look_at(words, &d, convs);
	find_last(&d);
	match_all(&d);
	believe_report(&d);
	doubt_command(&d);
	score_all(&d);
	choose(&d, ret);
	if (candidates)
		fill_candidates(&d, candidates);
	for (size_t i = 0; i < n; i++)
		route_topic_free(d.views[i].owned);
	free(d.views);
	route_topic_free(d.topic);
	sentence_release(&d.s);
}

/* ---- the router ---- */

struct router {
	struct route_opts opts;
	struct words words; /* only with profile faden */
};

static const struct {
	const char *name;
	struct route_weights weights;
	double threshold;
} profiles[] = {
	[ROUTE_FADEN] = { "faden", { .keyword = 0.6, .recency = 0.05, .continuation = 0.6 }, 0.45 },
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
	if (opts->profile == ROUTE_FADEN)
		words_init(&r->words, opts->extra, opts->n_extra);
	r->opts.extra = NULL;
	r->opts.n_extra = 0;
	return r;
}

void router_free(struct router *r)
{
	if (r && r->opts.profile == ROUTE_FADEN)
		words_release(&r->words);
	free(r);
}

const struct route_opts *router_opts(const struct router *r)
{
	return &r->opts;
}

const char *router_language(const struct router *r, struct sv text)
{
	struct token_list t = TOKENS_INIT;
	const char *name = NULL;

	if (r->opts.profile != ROUTE_FADEN)
		return NULL;
	tokens_read(&t, utf8_cut(text, ROUTE_TEXT_MAX), &r->words.lex);
	if (t.lang_sure)
		name = lang_name(t.lang);
	tokens_release(&t);
	return name;
}

void router_decide(struct router *r, const struct route_query *query,
	const struct route_conv *convs, size_t n, struct route_candidate *candidates,
	struct route_decision *ret)
{
	if (r->opts.profile == ROUTE_SEED)
		seed_decide(&r->opts, query, convs, n, candidates, ret);
	else
		faden_decide(&r->words, &r->opts, query, convs, n, candidates, ret);
}

bool router_returns(struct router *r, struct sv text)
{
	struct sentence s = SENTENCE_INIT;

	if (r->opts.profile != ROUTE_FADEN)
		return false;
	sentence_read(&s, utf8_cut(text, ROUTE_TEXT_MAX), &r->words.lex);
	bool returns = s.returning || s.past;
	sentence_release(&s);
	return returns;
}

void router_learn(struct router *r, struct route_topic *t, struct sv text, enum topic_source source)
{
	bool answer = source == TOPIC_ANSWER;
	size_t most = answer ? ROUTE_TOPIC_ANSWER_TERMS_MAX : ROUTE_TOPIC_TERMS_MAX;
	struct sentence s = SENTENCE_INIT;

	if (r->opts.profile != ROUTE_FADEN || t->terms.n >= most)
		return;
	sentence_read_subject(
		&s, utf8_cut(text, answer ? ROUTE_ANSWER_MAX : ROUTE_TEXT_MAX), &r->words.lex);
	topic_add(&r->words, t, &s, source);
	sentence_release(&s);
}

/* ---- topics that outlive the process ---- */

/* Changes when struct topic_term or what the numbers in it mean does. */
static const char magic[] = "faden topic 4 " FADEN_VERSION;

struct head {
	char magic[32];
	uint32_t term_size;
	uint32_t terms;
	uint64_t text;
};

static struct head head_of(const struct route_topic *t)
{
	struct head h = { .term_size = sizeof(struct topic_term),
		.terms = (uint32_t)t->terms.n,
		.text = t->text.len };

	memcpy(h.magic, magic, sizeof(magic) < sizeof(h.magic) ? sizeof(magic) : sizeof(h.magic));
	return h;
}

void route_topic_save(const struct route_topic *t, struct str *out)
{
	struct head h = head_of(t);

	str_add(out, sv_make((const char *)&h, sizeof(h)));
	str_add(out, sv_make((const char *)t->terms.v, t->terms.n * sizeof(struct topic_term)));
	str_add(out, str_sv(&t->text));
}

static bool within(uint32_t at, uint32_t n, size_t len)
{
	return at <= len && n <= len - at;
}

struct route_topic *route_topic_load(struct sv bytes)
{
	struct route_topic *t = route_topic_new();
	struct head expected = head_of(t);
	struct head h;

	if (bytes.n < sizeof(h))
		goto bad;
	memcpy(&h, bytes.p, sizeof(h));
	if (memcmp(h.magic, expected.magic, sizeof(h.magic)) != 0 ||
		h.term_size != sizeof(struct topic_term) ||
		h.terms > bytes.n / sizeof(struct topic_term) ||
		h.text != bytes.n - sizeof(h) - h.terms * sizeof(struct topic_term))
		goto bad;
	for (uint32_t i = 0; i < h.terms; i++) {
		struct topic_term term;
		memcpy(&term, bytes.p + sizeof(h) + i * sizeof(term), sizeof(term));
		if (!within(term.key_at, term.key_n, h.text) ||
			!within(term.stem_at, term.stem_n, h.text))
			goto bad;
		vec_push(&t->terms, term);
	}
	str_add(&t->text, sv_from(bytes, bytes.n - h.text));
	return t;
bad:
	route_topic_free(t);
	return NULL;
}

void route_topic_stems(
	const struct route_topic *t, void (*fn)(void *data, struct sv stem), void *data)
{
	AUTO_MAP seen = MAP_INIT;

	vec_each (&t->terms, term) {
		struct sv stem = term_stem(t, term);
		bool whole = (term->flags & TERM_WHOLE) && !(term->flags & TERM_PAIR);
		if (whole && stem.n > 1 && map_put(&seen, stem, 1))
			fn(data, stem);
	}
}

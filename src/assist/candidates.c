#include "assist/candidates.h"

#include <stdlib.h>
#include <string.h>

#include "assist/correct.h"
#include "assist/learn.h"
#include "assist/record.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "os/path.h"
#include "route/phrase.h"
#include "store/topic.h"
#include "turn/turn.h"

enum {
	NAMED_MAX = 30, /* conversations found by a shared word alone */
	MEMBERS_MAX = 12, /* sessions of the agents' own in this project */
	NAMED_MEMBERS_MAX = 5, /* … that are found by their names */
	TAILS_MAX = 6, /* … whose last words are read */
	CORRECTIONS_MAX = 30, /* the latest, that are looked at */
};

/* Older than this, a session of the agents' own does not go on unless it is named. */
static const int64_t member_fresh_ms = INT64_C(7) * 24 * 3600 * 1000;

/* Besides struct conv; same index as decision.convs. */
struct material {
	struct route_topic *topic;
	struct strv prompts;
	struct sv *slices;
	bool away; /* only a clear name reaches it */
};

struct gathering {
	const struct decide_opts *opts;
	struct decision *d;
	struct sv text, folded;
	const char *current; /* what goes on in the folder; empty: nothing */
	struct strv made_of; /* … and the sessions that it was made of */
	VEC(struct material) materials;
	struct map seen; /* ids of conversations, and sessions without one */
	struct map strays; /* ids of conversations from which a correction took a sentence */
	bool with_strays; /* they count as any other */
	struct map writers; /* sessions that are open in an agent → pid */
	bool writers_known;
	bool subject; /* the text has one */
	bool leans; /* … and says nothing but that it goes on: with what is here */
	size_t tails;
	int64_t reset_ms;
	struct err *reterr;
};

bool candidate_runs(const struct conv *c)
{
	/* One whose process is gone is over, whatever it left in the store. */
	return c->status == CONV_ACTIVE && (is_member(c) || proc_id_check(&c->owner) != PROC_GONE);
}

/* ---- who can go on with it ---- */

static const struct transcript_home *home_of(const struct decide_opts *o, const char *agent)
{
	for (size_t i = 0; i < o->n_homes; i++)
		if (strcmp(o->homes[i].agent, agent) == 0)
			return &o->homes[i];
	return NULL;
}

bool candidate_attended(const struct decide_opts *o, const struct conv *c)
{
	const struct transcript_home *home = home_of(o, c->agent);

	return !writer_is_server(c->owner.pid) || (home && writer_attended(home, c->dir));
}

/* Who can answer in it, and where it worked, is there; then it is looked up whether it is open. */
static bool usable(struct gathering *g, const struct conv *c, uint64_t *ret_pid, bool *ret_open)
{
	const struct decide_opts *o = g->opts;

	if (!home_of(o, c->agent) || !decide_goes_on(o, c) || !uuid_valid(sv_of(c->session)) ||
		!path_exists(c->dir))
		return false;
	for (size_t i = 0; !g->writers_known && i < o->n_homes; i++)
		transcript_writers(&o->homes[i], NULL, &g->writers);
	g->writers_known = true;
	/* An agent of ours is nobody else's: a kept one is let go, one that a crash left is waited
	 * for. */
	*ret_open = map_get(&g->writers, sv_of(c->session), ret_pid) &&
		!turn_keeper((int64_t)*ret_pid) && !turn_left((int64_t)*ret_pid);
	return true;
}

/* ---- what it is called ---- */

static bool letter_at(struct sv text, size_t at)
{
	unsigned char c = (unsigned char)text.p[at];

	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c >= 0x80;
}

/* Scripts that put no blanks between words have no ends of words to look for. */
static bool bounded(struct sv text, size_t at, size_t n)
{
	uint32_t first = 0;

	(void)utf8_decode(sv_from(text, at), &first);
	if (first >= 0x2e80)
		return true;
	return (at == 0 || !letter_at(text, at) || !letter_at(text, at - 1)) &&
		(at + n == text.n || !letter_at(text, at + n) || !letter_at(text, at + n - 1));
}

/* As a word or words of it, in any case of letters. text is folded already. */
static bool says(struct sv text, const char *name)
{
	AUTO_STR folded = STR_INIT;
	size_t at;

	utf8_normalise(&folded, sv_of(name), true);
	struct sv wanted = sv_trim(str_sv(&folded));
	if (wanted.n < 2)
		return false;
	for (struct sv rest = text; sv_find(rest, wanted, &at); rest = sv_from(rest, at + 1)) {
		size_t from = (size_t)(rest.p - text.p) + at;
		if (bounded(text, from, wanted.n))
			return true;
	}
	return false;
}

/* ---- conversations ---- */

static void add(struct gathering *g, struct conv *c, struct material *m)
{
	m->slices = xcalloc(m->prompts.n + 1, sizeof(*m->slices));
	for (size_t i = 0; i < m->prompts.n; i++)
		m->slices[i] = sv_of(m->prompts.v[i]);
	vec_push(&g->d->convs, *c);
	vec_push(&g->materials, *m);
}

static int gather(void *data, const struct conv *c)
{
	struct gathering *g = data;
	const struct decide_opts *o = g->opts;
	bool topics = router_opts(o->router)->profile != ROUTE_SEED;
	/* A reset here is one of what the rest of the project was about, too. */
	bool there = strcmp(c->dir, o->dir) != 0;
	struct material m = { .prompts = STRV_INIT,
		.away = c->before_reset || (there && c->active_ms < g->reset_ms) };
	struct conv copy = CONV_INIT;
	uint64_t pid = 0;
	bool open = false;

	if (!decide_goes_on(o, c) || !map_put(&g->seen, sv_of(c->id), 1))
		return 0;
	/* What the user has deleted is over, what goes on in a session that was made of it is only
	 * there, and what holds a sentence alone that was said elsewhere since holds nothing; but a
	 * name leads to it, also to be told how it comes back. */
	uint64_t ignored;
	bool over = c->deleted ||
		(topics && c->turns <= 1 && strcmp(c->id, g->current) != 0 &&
			map_get(&g->strays, sv_of(c->id), &ignored)) ||
		(topics && c->session && strcmp(c->id, g->current) != 0 &&
			catalogue_superseded(o->store, c->agent, c->session));
	if (over && !(c->name && says(g->folded, c->name)))
		return 0;
	int r = learn_topic(o->store, o->router, c->seq, &m.topic, g->reterr);
	/* What it is called says what it is about, and nobody has said it in there. */
	if (m.topic && c->name)
		router_learn(o->router, m.topic, sv_of(c->name), TOPIC_LATER);
	if (r == 0 && !m.topic) {
		if (topics && c->turns == 0 && c->title)
			strv_add(&m.prompts, c->title);
		r = learn_prompts(o->store, c->id, &m.prompts, g->reterr);
		if (topics && c->name)
			strv_add(&m.prompts, c->name);
	}
	/* A fork, say, goes on here in its place, and has the same words. */
	for (size_t i = 0; topics && c->session && i < g->made_of.n; i++)
		m.away |= strcmp(g->made_of.v[i], c->session) == 0;
	/* What a turn of ours writes while it runs is nobody else's. */
	if (c->used_elsewhere && !candidate_runs(c) && c->active_ms > g->reset_ms)
		m.away |= usable(g, c, &pid, &open) && open;
	if (open && !c->before_reset && strcmp(c->dir, o->dir) == 0 &&
		c->active_ms > g->d->open.active_ms) {
		conv_release(&g->d->open);
		conv_copy(&g->d->open, c);
		g->d->open.owner.pid = (pid_t)pid;
	}
	conv_copy(&copy, c);
	add(g, &copy, &m);
	return r;
}

static int gather_stray(void *data, const struct correction *c)
{
	struct gathering *g = data;
	AUTO_TURN_RECORD begun = TURN_RECORD_INIT;
	AUTO_TURN_RECORD said = TURN_RECORD_INIT;
	const struct sv text = sv_of(c->text);

	/* One that had something in it before, from the agent itself, was not begun by that. */
	if (c->right && journal_said(g->opts->store, c->right, text, &said, NULL) == 0 &&
		journal_said(g->opts->store, c->wrong, text, &begun, NULL) == 0 &&
		begun.before_size == 0)
		(void)map_put(&g->strays, sv_of(c->wrong), 1);
	return 0;
}

/* Conversations of any folder and age that share a word with the text: it may name them. */
static int gather_named(struct gathering *g)
{
	const struct decide_opts *o = g->opts;
	AUTO_STRV stems = STRV_INIT;
	AUTO_STR subject = STR_INIT;
	struct topic_hits hits = { .seqs = VEC_INIT };
	size_t n = 0;

	route_subject(utf8_cut(g->text, ROUTE_TEXT_MAX), &subject);
	learn_stems(o->router, str_sv(&subject), &stems);
	g->subject = stems.n > 0;
	int r = topic_search(o->store, &stems, &hits, g->reterr);
	for (size_t i = 0; i < hits.seqs.n && n < NAMED_MAX; i++) {
		bool known = false;
		vec_each (&g->d->convs, c)
			known |= c->seq == hits.seqs.v[i];
		if (!known)
			hits.seqs.v[n++] = hits.seqs.v[i];
	}
	if (r == 0)
		r = conv_by_seqs(o->store, hits.seqs.v, n, o->clock, gather, g, g->reterr);
	vec_release(&hits.seqs);
	return r;
}

/* ---- sessions of the agents' own ---- */

static int gather_member(void *data, const struct session_row *row)
{
	struct gathering *g = data;
	const struct session_info *info = &row->info;
	struct material m = { .prompts = STRV_INIT };
	uint64_t pid = 0;
	bool open = false;
	struct conv c;

	if (map_get(&g->seen, sv_of(info->id), &pid))
		return 0;
	(void)map_put(&g->seen, sv_of(info->id), 1);
	member_of(row, g->opts->clock, &c);
	(void)member_bring(g->opts->kin, g->opts->project, &c);
	if (!usable(g, &c, &pid, &open)) {
		conv_release(&c);
		return 0;
	}
	if (open) {
		c.status = CONV_ACTIVE;
		c.owner.pid = (pid_t)pid;
	}
	m.away = c.age_ms > member_fresh_ms || c.active_ms < g->reset_ms;
	/* What only a server still holds was left by whom it belongs to: it is waited for. */
	m.away |= open && candidate_attended(g->opts, &c);
	c.before_reset = c.active_ms < g->reset_ms;
	learn_session(row, g->subject && g->tails++ < TAILS_MAX, &m.prompts);
	add(g, &c, &m);
	return 0;
}

static int gather_members(struct gathering *g)
{
	const struct decide_opts *o = g->opts;
	const struct catalogue_unclaimed queries[] = {
		{ .dir = o->dir, .limit = MEMBERS_MAX },
		{ .below = o->project, .limit = MEMBERS_MAX },
	};
	int r = 0;

	for (size_t i = 0; r == 0 && i < ARRAY_LEN(queries); i++)
		r = catalogue_unclaimed(o->store, &queries[i], gather_member, g, g->reterr);
	for (size_t i = 0; r == 0 && o->kin && i < o->kin->places.n; i++) {
		const struct catalogue_unclaimed query = { .below = o->kin->places.v[i].top,
			.limit = MEMBERS_MAX };
		r = catalogue_unclaimed(o->store, &query, gather_member, g, g->reterr);
	}
	return r;
}

/* ---- names ---- */

static int gather_given(void *data, const char *agent, const char *id, const char *name)
{
	struct gathering *g = data;
	const struct decide_opts *o = g->opts;
	const struct catalogue_query query = { .id = id, .agent = agent, .limit = 1 };
	AUTO_CONV c = CONV_INIT;

	if (!says(g->folded, name))
		return 0;
	int r = conv_by_session(o->store, agent, id, o->clock, &c, g->reterr);
	if (r == 0)
		return gather(g, &c);
	if (r != ERR_NOTFOUND || o->n_homes == 0)
		return r == ERR_NOTFOUND ? 0 : r;
	return catalogue_query(o->store, &query, gather_member, g, g->reterr);
}

/* As catalogue_thread(). */
static int of_thread(const struct gathering *g, const struct conv *a, const struct conv *b)
{
	return a->session && b->session
		? catalogue_thread(g->opts->store,
			  (struct catalogue_used){ a->session, a->active_ms },
			  (struct catalogue_used){ b->session, b->active_ms })
		: 0;
}

/* Whether it speaks to what has that name: "kumquat, add comments", "in kumquat, …", "kumquat
 * weiter", "kumquat please …". Not "kumquat jam is too sweet". */
static bool speaks_to(struct sv text, const char *name)
{
	struct text t = TEXT_INIT;

	phrase_read(&t, text);
	size_t where = phrase_at(&t, 0, PHRASE_WHERE), n = phrase_among(&t, where, name);
	size_t end = where + n;
	bool speaks = n > 0 &&
		(end == t.tokens.n || t.tokens.v[end].apart ||
			(where == 0 &&
				(phrase_at(&t, end, PHRASE_ORDER_OPENS) > 0 ||
					phrase_is_whole(&t, end, PHRASE_GO_ON))));
	text_release(&t);
	return speaks;
}

/*
 * What the sentence speaks to by its name, or names and says that it goes back to: ROUTE_NONE when
 * there is nothing. The longest name wins, then what is here, then of one thread what goes on, then
 * the newest.
 */
static size_t find_called(const struct gathering *g, bool returns)
{
	const struct decision *d = g->d;
	size_t best = ROUTE_NONE;

	for (size_t i = 0; i < d->convs.n; i++) {
		const struct conv *c = &d->convs.v[i];
		if (!c->name || !says(g->folded, c->name) ||
			!(returns || speaks_to(g->folded, c->name)))
			continue;
		const struct conv *than = best == ROUTE_NONE ? NULL : &d->convs.v[best];
		bool here = strcmp(c->dir, g->opts->dir) == 0;
		bool its = than && strcmp(than->dir, g->opts->dir) == 0;
		size_t n = strlen(c->name), m = than ? strlen(than->name) : 0;
		int thread = than && n == m && here == its ? of_thread(g, c, than) : 0;
		bool better = n != m  ? n > m
			: here != its ? here
			: thread != 0 ? thread > 0
				      : !than || c->age_ms < than->age_ms;
		if (better)
			best = i;
	}
	return best;
}

/* Others with the very name that was called, and of another thread. */
static void find_namesakes(const struct gathering *g, size_t called)
{
	struct decision *d = g->d;
	AUTO_STR name = STR_INIT;
	int64_t newest = 0;

	utf8_normalise(&name, sv_of(d->convs.v[called].name), true);
	for (size_t i = 0; i < d->convs.n; i++) {
		const struct conv *c = &d->convs.v[i];
		AUTO_STR other = STR_INIT;
		if (i == called || !c->name)
			continue;
		utf8_normalise(&other, sv_of(c->name), true);
		if (!sv_eq(str_sv(&other), str_sv(&name)) ||
			of_thread(g, c, &d->convs.v[called]) != 0)
			continue;
		if (d->namesakes++ == 0 || c->age_ms < newest) {
			newest = c->age_ms;
			(void)snprintf(d->namesake, sizeof(d->namesake), "%s",
				c->id[0] ? c->id : c->session);
		}
	}
}

/* A name goes before all that the router thinks, and its row says so. */
static void prefer_called(struct decision *d, size_t called, struct route_decision *ret)
{
	const struct conv *c = &d->convs.v[called];
	struct route_candidate *row = &d->candidates[called];
	bool free = !candidate_runs(c);

	*ret = (struct route_decision){
		.action = free ? ROUTE_RESUME : ROUTE_NEW,
		.index = free ? called : ROUTE_NONE,
		.blocked = free ? ROUTE_NONE : called,
		.runner_up = ROUTE_NONE,
		.confidence = 1,
		.ahead = 1,
		.fresh = -1,
	};
	(void)snprintf(ret->reason, sizeof(ret->reason), "it is called '%.200s'", c->name);
	row->routable = free;
	row->score = ret->confidence;
	(void)snprintf(row->reason, sizeof(row->reason), "%s", ret->reason);
}

/* ---- all of them ---- */

static struct route_conv view_of(const struct gathering *g, size_t i, const struct conv *current)
{
	const struct conv *c = &g->d->convs.v[i];
	const struct material *m = &g->materials.v[i];
	int64_t last_ms = clock_age_ms(g->opts->clock) - c->age_ms;
	enum route_profile profile = router_opts(g->opts->router)->profile;

	return (struct route_conv){
		.id = sv_of(is_member(c) ? c->session : c->id),
		/* A full context is no reason to lose the thread: the sentence is for it, and
		 * whoever answers says that there is no room, and what makes some. */
		.status = candidate_runs(c)				     ? ROUTE_ACTIVE
			: c->status == CONV_ERRORED && profile == ROUTE_SEED ? ROUTE_ERRORED
									     : ROUTE_IDLE,
		.last_ms = last_ms,
		.dir = sv_of(c->dir),
		.last_dir =
			c->id[0] && strcmp(c->id, current->id) == 0 ? sv_of(g->opts->dir) : SV(""),
		.project = sv_of(c->project),
		.before_reset = m->away,
		.commands = m->slices,
		.n_commands = m->prompts.n,
		.topic = m->topic,
	};
}

static int gather_all(struct gathering *g, const struct conv *current)
{
	const struct decide_opts *o = g->opts;
	bool returns = router_returns(o->router, g->text);
	AUTO_FREE char *text = xmemdup0(g->folded.p, g->folded.n);
	const struct catalogue_unclaimed called = { .text = text, .limit = NAMED_MEMBERS_MAX };
	/* What leans on something leans on what ran in this project, or goes on in this folder,
	 * also when that was fetched from another project by its name. */
	int r = g->with_strays
		? 0
		: correction_each(o->store, CORRECTIONS_MAX, gather_stray, g, g->reterr);

	if (r == 0 && current->session)
		r = catalogue_ancestors(o->store, current->session, &g->made_of, g->reterr);
	if (r == 0 && current->id[0])
		r = gather(g, current);
	if (r == 0)
		r = conv_in_project(o->store, o->project, (int64_t)router_opts(o->router)->max,
			o->clock, gather, g, g->reterr);
	if (r < 0 || router_opts(o->router)->profile == ROUTE_SEED)
		return r;
	if (!g->leans)
		r = gather_named(g);
	if (r == 0 && o->n_homes > 0)
		r = gather_members(g);
	if (g->leans)
		return r;
	if (r == 0)
		r = catalogue_names(o->store, gather_given, g, g->reterr);
	if (r == 0 && o->n_homes > 0 && returns)
		r = catalogue_unclaimed(o->store, &called, gather_member, g, g->reterr);
	return r;
}

/* What texts mean takes milliseconds each: it is found out once. What has a name was read with it,
 * which nobody has said in there. */
static void keep_meanings(const struct gathering *g)
{
	struct err err = ERR_INIT;
	bool grew = false;

	for (size_t i = 0; i < g->materials.n; i++)
		grew |= g->materials.v[i].topic && route_topic_grew(g->materials.v[i].topic);
	/* Who cannot write it down finds it out again. */
	if (!grew || store_begin(g->opts->store, &err) < 0)
		return;
	int r = 0;
	for (size_t i = 0; r == 0 && i < g->materials.n; i++) {
		const struct material *m = &g->materials.v[i];
		if (m->topic && !g->d->convs.v[i].name && route_topic_grew(m->topic))
			r = learn_keep(g->opts->store, g->d->convs.v[i].seq, m->topic, &err);
	}
	(void)!store_end(g->opts->store, r, &err);
}

/* A command made it what goes on here, and nothing was said here since. */
static bool put_placed_last(
	const struct gathering *g, const struct conv *current, struct route_conv *view)
{
	size_t at = ROUTE_NONE;

	if (!current->id[0] || !conv_placed(g->opts->store, g->opts->dir, current->id))
		return false;
	for (size_t i = 0; i < g->d->convs.n; i++)
		at = strcmp(g->d->convs.v[i].id, current->id) == 0 ? i : at;
	for (size_t i = 0; at != ROUTE_NONE && i < g->d->convs.n; i++)
		if (i != at && view[i].last_ms >= view[at].last_ms)
			view[at].last_ms = view[i].last_ms + 1;
	return at != ROUTE_NONE;
}

/* Of our conversations the one that this terminal was led to last is what ran last here, as long as
 * that is not long ago: what ends or is said in another one meanwhile is not seen here. */
static void put_own_last(const struct gathering *g, struct route_conv *view)
{
	const struct decide_opts *o = g->opts;
	int64_t since_ms = clock_wall_ms(o->clock) - router_opts(o->router)->expiry_ms;
	size_t own = ROUTE_NONE, last = ROUTE_NONE;
	AUTO_RECORD rec = { .text = NULL };

	if (!record_read(o, false, &rec) || !rec.here || rec.when_ms < since_ms ||
		record_is_before_reset(o, &rec))
		return;
	for (size_t i = 0; i < g->d->convs.n; i++) {
		const struct conv *c = &g->d->convs.v[i];
		if (is_member(c) || c->used_elsewhere)
			continue;
		if (strcmp(c->id, rec.places.v[rec.at]) == 0)
			own = i;
		else if (last == ROUTE_NONE || view[i].last_ms > view[last].last_ms)
			last = i;
	}
	if (own != ROUTE_NONE && last != ROUTE_NONE && view[last].last_ms >= view[own].last_ms)
		view[own].last_ms = view[last].last_ms + 1;
}

int candidates_ask(const struct decide_opts *o, struct sv text, const struct conv *current,
	bool strays, struct decision *d, struct route_decision *ret, struct err *reterr)
{
	struct gathering g = { .opts = o,
		.d = d,
		.text = text,
		.current = current->id,
		.made_of = STRV_INIT,
		.with_strays = strays,
		.seen = MAP_INIT,
		.strays = MAP_INIT,
		.writers = MAP_INIT,
		.leans = route_only_goes_on(text),
		.reset_ms = conv_reset_ms(o->store, o->dir),
		.reterr = reterr };
	const struct route_query query = { .text = text,
		.now_ms = clock_age_ms(o->clock),
		.cwd = sv_of(o->dir),
		.project = sv_of(o->project) };
	VEC(struct route_conv) view = VEC_INIT;
	AUTO_STR folded = STR_INIT;

	utf8_normalise(&folded, sv_trim(utf8_cut(text, ROUTE_TEXT_MAX)), true);
	g.folded = str_sv(&folded);
	int r = gather_all(&g, current);
	for (size_t i = 0; r == 0 && i < d->convs.n; i++)
		vec_push(&view, view_of(&g, i, current));
	if (r == 0) {
		if (!put_placed_last(&g, current, view.v))
			put_own_last(&g, view.v);
		d->candidates = xcalloc(view.n + 1, sizeof(*d->candidates));
		router_decide(o->router, &query, view.v, view.n, d->candidates, ret);
		keep_meanings(&g);
		size_t called = g.leans || router_opts(o->router)->profile == ROUTE_SEED
			? ROUTE_NONE
			: find_called(&g, router_returns(o->router, text));
		d->called = called != ROUTE_NONE;
		if (d->called) {
			prefer_called(d, called, ret);
			find_namesakes(&g, called);
		}
	}
	vec_each (&g.materials, m) {
		route_topic_free(m->topic);
		strv_release(&m->prompts);
		free(m->slices);
	}
	vec_release(&g.materials);
	vec_release(&view);
	strv_release(&g.made_of);
	map_release(&g.seen);
	map_release(&g.strays);
	map_release(&g.writers);
	return r;
}

static bool same_conv(const struct conv *a, const struct conv *b)
{
	if (!is_member(a) && !is_member(b))
		return strcmp(a->id, b->id) == 0;
	return a->session && b->session && strcmp(a->session, b->session) == 0;
}

int candidates_here_first(const struct decide_opts *o, struct sv text, const struct conv *current,
	const struct decision *d, struct route_decision *ret, struct err *reterr)
{
	struct route_decision by_part = { .index = ROUTE_NONE, .blocked = ROUTE_NONE };
	struct decision seen;
	struct sv part;
	size_t here = ROUTE_NONE, named = 0;
	const struct conv *away = ret->action == ROUTE_RESUME ? &d->convs.v[ret->index] : NULL;

	if (!away || d->called || strcmp(away->dir, o->dir) == 0 ||
		!route_goes_back_first(text, &part) || !router_returns(o->router, part))
		return 0;
	decision_init(&seen);
	int r = candidates_ask(o, part, current, false, &seen, &by_part, reterr);
	for (size_t i = 0; r == 0 && i < seen.convs.n; i++) {
		const struct conv *c = &seen.convs.v[i];
		bool is_here = strcmp(c->dir, o->dir) == 0;
		if (seen.candidates[i].keyword < CANDIDATE_NAMED ||
			!(is_here || same_conv(c, away)))
			continue;
		here = is_here ? i : here;
		named++;
	}
	/* What goes on by the first part alone, or is waited for. */
	bool resumes = by_part.action == ROUTE_RESUME && by_part.index == here;
	bool waits = by_part.action == ROUTE_NEW && by_part.blocked == here;
	for (size_t i = 0;
		r == 0 && named == 1 && here != ROUTE_NONE && (resumes || waits) && i < d->convs.n;
		i++) {
		if (!same_conv(&d->convs.v[i], &seen.convs.v[here]))
			continue;
		by_part.runner_up = ret->index;
		by_part.index = resumes ? i : ROUTE_NONE;
		by_part.blocked = waits ? i : ROUTE_NONE;
		*ret = by_part;
		break;
	}
	decision_release(&seen);
	return r;
}

/* ---- what goes on in a folder ---- */

/* When what was deleted here last had gone on; *ret_session as conv_over(). */
static int64_t deleted_ms(const struct decide_opts *o, char **ret_session)
{
	int64_t last_ms = conv_over(o->store, o->dir, ret_session);

	for (size_t i = 0; o->kin && i < o->kin->places.n; i++) {
		AUTO_FREE char *session = NULL;
		int64_t ms = conv_over(o->store, o->kin->places.v[i].dir, &session);
		if (ms <= last_ms)
			continue;
		last_ms = ms;
		free(*ret_session);
		*ret_session = TAKE_PTR(session);
	}
	return last_ms;
}

bool candidate_over(const struct decide_opts *o, const struct conv *c)
{
	AUTO_FREE char *session = NULL;
	int64_t ms = deleted_ms(o, &session);
	bool back = session && c->session && strcmp(session, c->session) == 0;

	return c->active_ms < ms && !back && clock_wall_ms(o->clock) - ms <= member_fresh_ms;
}

struct newest {
	struct gathering g;
	struct conv *c, *open;
	int64_t over_ms; /* what is older does not go on: something of then was deleted */
};

static bool is_newer(const struct newest *n, int64_t active_ms)
{
	return active_ms > n->c->active_ms && active_ms > n->g.reset_ms && active_ms >= n->over_ms;
}

static int take_newer(void *data, const struct session_row *row)
{
	struct newest *n = data;
	uint64_t pid = 0;
	bool open = false;
	struct conv c;

	if (!is_newer(n, row->active_ms))
		return 1;
	member_of(row, n->g.opts->clock, &c);
	(void)member_bring(n->g.opts->kin, n->g.opts->project, &c);
	if (c.age_ms > member_fresh_ms || !usable(&n->g, &c, &pid, &open)) {
		conv_release(&c);
		return 0;
	}
	struct conv *to = open ? n->open : n->c;
	c.owner.pid = (pid_t)pid;
	if (open && n->open->session && c.active_ms <= n->open->active_ms) {
		conv_release(&c);
		return 0;
	}
	conv_release(to);
	*to = c;
	return open ? 0 : 1;
}

static int take_used(void *data, const struct conv *c)
{
	struct newest *n = data;
	const struct decide_opts *o = n->g.opts;
	uint64_t pid = 0;
	bool open = false;

	if (!c->used_elsewhere || strcmp(c->dir, o->dir) != 0 || !is_newer(n, c->active_ms) ||
		c->age_ms > member_fresh_ms || !usable(&n->g, c, &pid, &open))
		return 0;
	struct conv *to = open ? n->open : n->c;
	if (open && c->active_ms <= to->active_ms)
		return 0;
	conv_release(to);
	conv_copy(to, c);
	if (open)
		to->owner.pid = (pid_t)pid;
	return 0;
}

int candidates_newest(
	const struct decide_opts *o, struct conv *c, struct conv *open, struct err *reterr)
{
	struct newest n = { .g = { .opts = o,
				    .writers = MAP_INIT,
				    .reset_ms = conv_reset_ms(o->store, o->dir),
				    .reterr = reterr },
		.c = c,
		.open = open };
	const struct catalogue_unclaimed query = { .dir = o->dir, .limit = MEMBERS_MAX };
	AUTO_FREE char *session = NULL;
	int r;

	if (o->n_homes == 0)
		return 0;
	/* As it did when it was there. */
	n.over_ms = deleted_ms(o, &session);
	if (candidate_over(o, c))
		conv_release(c);
	r = conv_in_project(o->store, o->project, MEMBERS_MAX, o->clock, take_used, &n, reterr);
	if (r >= 0)
		r = catalogue_unclaimed(o->store, &query, take_newer, &n, reterr);
	for (size_t i = 0; r >= 0 && o->kin && i < o->kin->places.n; i++) {
		const struct catalogue_unclaimed before = { .dir = o->kin->places.v[i].dir,
			.limit = MEMBERS_MAX };
		r = catalogue_unclaimed(o->store, &before, take_newer, &n, reterr);
	}
	map_release(&n.g.writers);
	return r < 0 ? r : 0;
}

#include "master/compare.h"

#include <stdio.h>
#include <xxhash.h>

#include "base/map.h"
#include "base/mem.h"
#include "base/utf8.h"
#include "branch/turns.h"

void master_rounds_release(struct master_rounds *r)
{
	vec_each (&r->v, one) {
		free(one->instruction);
		free(one->answer);
		free(one->model);
	}
	vec_release(&r->v);
}

/* One line of the first words. */
static char *head_of(struct sv text)
{
	struct str line = STR_INIT;
	bool blank = false;

	text = sv_trim(text);
	for (size_t i = 0; i < text.n && line.len < MASTER_HEAD_MAX; i++) {
		bool space = (unsigned char)text.p[i] <= ' ';
		if (!space && blank)
			str_addc(&line, ' ');
		if (!space)
			str_addc(&line, text.p[i]);
		blank = space;
	}
	/* No character is cut in two. */
	while (line.len > 0 && line.len < text.n && !utf8_valid(str_sv(&line)))
		str_cut(&line, line.len - 1);
	return str_detach(&line);
}

static uint64_t hash_of(struct sv text)
{
	uint64_t hash = XXH3_64bits(text.p ? text.p : "", text.n);

	return hash ? hash : 1;
}

struct reading {
	struct master_rounds *rounds;
	struct master_round spent; /* by the instructor since the last instruction */
};

static void add_cost(struct master_round *to, const struct master_round *from)
{
	to->tokens_in += from->tokens_in;
	to->tokens_out += from->tokens_out;
	to->cost_usd += from->cost_usd;
	to->duration_ms += from->duration_ms;
}

static int64_t positive(int64_t n)
{
	return n > 0 ? n : 0;
}

static int take_step(void *data, const struct master_step *step, struct err *reterr)
{
	struct reading *reading = data;
	struct master_rounds *rounds = reading->rounds;
	struct master_round *last = rounds->v.n ? &rounds->v.v[rounds->v.n - 1] : NULL;

	(void)reterr;
	if (step->kind == MASTER_STEP_ASK && step->role == MASTER_WORKER &&
		(!last || step->round > last->round)) {
		struct master_round r = { .round = step->round,
			.instruction = head_of(step->text),
			.said = hash_of(step->text),
			.model = step->model.n ? xmemdup0(step->model.p, step->model.n) : NULL };
		add_cost(&r, &reading->spent);
		reading->spent = (struct master_round){ .round = 0 };
		vec_push(&rounds->v, r);
	} else if (step->kind == MASTER_STEP_ANSWER || step->kind == MASTER_STEP_SPENT) {
		const struct agent_usage *u = &step->usage;
		const struct master_round now = { .tokens_in = positive(u->input) +
				positive(u->cache_read) + positive(u->cache_write),
			.tokens_out = positive(u->output),
			.duration_ms = step->duration_ms,
			.cost_usd = u->cost_usd > 0 ? u->cost_usd : 0 };
		if (step->role == MASTER_INSTRUCTOR || !last) {
			add_cost(&reading->spent, &now);
			return 0;
		}
		add_cost(last, &now);
		if (step->kind == MASTER_STEP_SPENT)
			return 0;
		free(last->answer);
		last->answer = head_of(step->text);
		last->answered = hash_of(step->text);
		last->fail = step->fail;
	}
	return 0;
}

int master_rounds_read(struct master_run *run, struct master_rounds *ret, struct err *reterr)
{
	struct master_rounds rounds = { .v = VEC_INIT };
	struct reading reading = { .rounds = &rounds };

	int r = master_steps(run, take_step, &reading, reterr);
	if (r < 0)
		master_rounds_release(&rounds);
	else
		*ret = rounds;
	return r;
}

size_t master_rounds_common(const struct master_rounds *a, const struct master_rounds *b)
{
	size_t n = a->v.n < b->v.n ? a->v.n : b->v.n;
	size_t i = 0;

	while (i < n && a->v.v[i].said == b->v.v[i].said &&
		a->v.v[i].answered == b->v.v[i].answered)
		i++;
	return i;
}

/* ---- where they come from ---- */

static const struct master_state *state_of(const struct master_list *list, const char *id)
{
	vec_each (&list->rows, row)
		if (id && strcmp(row->state.id, id) == 0)
			return &row->state;
	return NULL;
}

/* The run itself, what it comes from and so on; one that is gone is still named by its child. */
static void add_origins(
	const struct master_list *list, const struct master_state *s, struct strv *out)
{
	strv_add(out, s->id);
	/* Files that somebody made may lead in a circle. */
	while (s && s->origin && out->n <= list->rows.n + 1) {
		strv_add(out, s->origin);
		s = state_of(list, s->origin);
	}
}

static bool has(const struct strv *list, const char *text)
{
	for (size_t i = 0; i < list->n; i++)
		if (strcmp(list->v[i], text) == 0)
			return true;
	return false;
}

bool master_related(const struct master_list *list, const struct master_state *a,
	const struct master_state *b, size_t common)
{
	AUTO_STRV from_a = STRV_INIT, from_b = STRV_INIT;
	bool related = common > 0;

	add_origins(list, a, &from_a);
	add_origins(list, b, &from_b);
	for (size_t i = 0; i < from_a.n && !related; i++)
		related = has(&from_b, from_a.v[i]);
	return related;
}

/* ---- what was changed ---- */

struct session_of {
	char *agent, *id;
	bool since; /* it got instructions behind the common part */
};
struct tracing {
	size_t common, seen;
	int64_t round;
	VEC(struct session_of) sessions; /* of the worker */
	struct map ids; /* of prompts that are of the common part */
};

/* One that has the history of the session before takes its place. */
static void trace_session(struct tracing *t, const struct master_step *step)
{
	bool same = step->begin == MASTER_BEGIN_TRIMMED || step->begin == MASTER_BEGIN_FORKED ||
		step->begin == MASTER_BEGIN_PORTED;
	struct session_of *last = t->sessions.n ? &t->sessions.v[t->sessions.n - 1] : NULL;

	if (step->session.n == 0)
		return;
	if (last && (same || sv_eq(step->session, sv_of(last->id)))) {
		free(last->agent);
		free(last->id);
	} else {
		vec_push(&t->sessions, (struct session_of){ .since = false });
		last = &t->sessions.v[t->sessions.n - 1];
	}
	last->agent = xmemdup0(step->agent.p, step->agent.n);
	last->id = xmemdup0(step->session.p, step->session.n);
}

static int trace(void *data, const struct master_step *step, struct err *reterr)
{
	struct tracing *t = data;

	(void)reterr;
	if (step->role != MASTER_WORKER)
		return 0;
	if (step->kind == MASTER_STEP_SESSION) {
		trace_session(t, step);
		/* Its id may become known only when it has the instruction. */
		if (t->sessions.n > 0 && step->begin == MASTER_BEGIN_TOLD && t->seen > t->common)
			t->sessions.v[t->sessions.n - 1].since = true;
	} else if (step->kind == MASTER_STEP_ASK) {
		t->seen += step->round > t->round;
		t->round = step->round > t->round ? step->round : t->round;
		if (t->seen <= t->common && step->prompt_id.n > 0)
			(void)map_put(&t->ids, step->prompt_id, 1);
		else if (t->seen > t->common && t->sessions.n > 0)
			t->sessions.v[t->sessions.n - 1].since = true;
	}
	return 0;
}

static void add_changes(const struct tracing *t, const struct session_of *session,
	const struct transcript_home *homes, size_t n_homes, struct master_changes *ret)
{
	const struct transcript_home *home = NULL;
	AUTO_TURN_VIEWS views = TURN_VIEWS_INIT;
	AUTO_FREE char *path = NULL;
	uint64_t last = 0, more;

	for (size_t i = 0; i < n_homes; i++)
		if (strcmp(homes[i].agent, session->agent) == 0)
			home = &homes[i];
	if (!home || transcript_find(home, sv_of(session->id), &path, NULL) < 0 || !path ||
		turn_views_find(path, home->format, home, &t->ids, &last, &more, NULL) < 0 ||
		turn_views_read(path, home->format, home, 0, &views, NULL) < 0) {
		ret->missing++;
		return;
	}
	for (size_t i = (size_t)last; i < views.v.n; i++) {
		const struct turn_view *turn = &views.v.v[i];
		ret->commands += turn->commands;
		for (size_t k = 0; k < turn->files.n; k++)
			if (!has(&ret->files, turn->files.v[k]))
				strv_add(&ret->files, turn->files.v[k]);
	}
}

int master_changes_read(struct master_run *run, size_t common, const struct transcript_home *homes,
	size_t n_homes, struct master_changes *ret, struct err *reterr)
{
	struct tracing t = { .common = common, .ids = MAP_INIT };
	int r = master_steps(run, trace, &t, reterr);

	vec_each (&t.sessions, session) {
		if (r == 0 && session->since)
			add_changes(&t, session, homes, n_homes, ret);
		free(session->agent);
		free(session->id);
	}
	vec_release(&t.sessions);
	map_release(&t.ids);
	return r;
}

void master_changes_release(struct master_changes *c)
{
	strv_release(&c->files);
}

void master_changes_both(
	const struct master_changes *a, const struct master_changes *b, struct strv *out)
{
	for (size_t i = 0; i < a->files.n; i++)
		if (has(&b->files, a->files.v[i]))
			strv_add(out, a->files.v[i]);
}

/* ---- what it came to ---- */

#define FROM_ANOTHER "This comes from another run, "

struct concluding {
	size_t common, seen;
	int64_t round; /* of the last instruction */
	struct str piece; /* what is told of it */
	struct str had; /* what was told of the run before */
	struct str *out;
	const char *id;
};

/* One that was told before is not told again, unless it has got another answer since. */
static void flush_piece(struct concluding *c)
{
	size_t at, len = c->piece.len;

	str_adds(&c->piece, "\n\n"); /* all of it, not the beginning of something longer */
	if (!sv_find(str_sv(&c->had), str_sv(&c->piece), &at))
		str_add(c->out, (struct sv){ c->piece.buf, len });
	str_clear(&c->piece);
}

static int conclude(void *data, const struct master_step *step, struct err *reterr)
{
	struct concluding *c = data;

	(void)reterr;
	if (step->role != MASTER_WORKER)
		return 0;
	if (step->kind == MASTER_STEP_ASK && step->round > c->round) {
		c->round = step->round;
		if (c->piece.len > 0)
			flush_piece(c);
		if (++c->seen > c->common)
			str_addf(&c->piece, "\n\nRound %lld there, the instruction:\n%.*s",
				(long long)step->round, SV_ARG(step->text));
	} else if (step->kind == MASTER_STEP_ANSWER && c->seen > c->common) {
		str_addf(&c->piece, "\n\nWhat its worker answered%s:\n%.*s",
			step->fail == AGENT_OK ? "" : ", which failed", SV_ARG(step->text));
	}
	return 0;
}

static int collect_told(void *data, const struct master_step *step, struct err *reterr)
{
	struct concluding *c = data;
	struct sv text = step->text;

	(void)reterr;
	if (step->kind != MASTER_STEP_SAY || !sv_starts(text, SV(FROM_ANOTHER)) ||
		!sv_starts(sv_from(text, sizeof(FROM_ANOTHER) - 1), sv_of(c->id)))
		return 0;
	str_add(&c->had, text);
	str_adds(&c->had, "\n\n");
	return 0;
}

int master_conclusions(struct master_run *home, struct master_run *other, size_t common,
	struct str *out, struct err *reterr)
{
	const struct master_state *s = master_state(other);
	struct concluding c = { .common = common, .out = out, .id = s->id };

	str_addf(out,
		FROM_ANOTHER "%s%s%s%s. It was done there, not "
			     "here: look at what it changed before you rely on it.",
		s->id, s->name ? " (\"" : "", s->name ? s->name : "", s->name ? "\")" : "");
	size_t before = out->len;
	int r = master_steps(home, collect_told, &c, reterr);
	if (r == 0)
		r = master_steps(other, conclude, &c, reterr);
	if (r == 0 && c.piece.len > 0)
		flush_piece(&c);
	str_release(&c.piece);
	str_release(&c.had);
	if (r == 0 && out->len == before)
		r = err_set(reterr, ERR_NOTFOUND,
			"there is nothing to bring home: the other run has nothing that this one "
			"does not have");
	return r;
}

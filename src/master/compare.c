#include "master/compare.h"

#include <stdio.h>
#include <xxhash.h>

#include "base/mem.h"
#include "base/utf8.h"

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
	int64_t tokens, duration_ms; /* of the instructor since the last instruction */
	double cost_usd;
};

static void add_cost(struct master_round *r, const struct reading *from)
{
	r->tokens += from->tokens;
	r->cost_usd += from->cost_usd;
	r->duration_ms += from->duration_ms;
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
		add_cost(&r, reading);
		reading->tokens = reading->duration_ms = 0;
		reading->cost_usd = 0;
		vec_push(&rounds->v, r);
	} else if (step->kind == MASTER_STEP_ANSWER || step->kind == MASTER_STEP_SPENT) {
		struct reading now = { .tokens = step->usage.output > 0 ? step->usage.output : 0,
			.duration_ms = step->duration_ms,
			.cost_usd = step->usage.cost_usd > 0 ? step->usage.cost_usd : 0 };
		if (step->role == MASTER_INSTRUCTOR || !last) {
			reading->tokens += now.tokens;
			reading->duration_ms += now.duration_ms;
			reading->cost_usd += now.cost_usd;
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

/* ---- what it came to ---- */

struct concluding {
	size_t common, seen;
	int64_t round; /* of the last instruction */
	struct str *out;
};

static int conclude(void *data, const struct master_step *step, struct err *reterr)
{
	struct concluding *c = data;

	(void)reterr;
	if (step->role != MASTER_WORKER)
		return 0;
	if (step->kind == MASTER_STEP_ASK && step->round > c->round) {
		c->round = step->round;
		if (++c->seen > c->common)
			str_addf(c->out, "\n\nRound %lld there, the instruction:\n%.*s",
				(long long)step->round, SV_ARG(step->text));
	} else if (step->kind == MASTER_STEP_ANSWER && c->seen > c->common) {
		str_addf(c->out, "\n\nWhat its worker answered%s:\n%.*s",
			step->fail == AGENT_OK ? "" : ", which failed", SV_ARG(step->text));
	}
	return 0;
}

int master_conclusions(struct master_run *other, size_t common, struct str *out, struct err *reterr)
{
	const struct master_state *s = master_state(other);
	struct concluding c = { .common = common, .out = out };

	str_addf(out,
		"This comes from another run of the same work, %s%s%s%s. It was done there, not "
		"here: look at what it changed before you rely on it.",
		s->id, s->name ? " (\"" : "", s->name ? s->name : "", s->name ? "\")" : "");
	size_t before = out->len;
	int r = master_steps(other, conclude, &c, reterr);
	if (r == 0 && out->len == before)
		r = err_set(reterr, ERR_NOTFOUND,
			"the other run has nothing that this one does not have");
	return r;
}

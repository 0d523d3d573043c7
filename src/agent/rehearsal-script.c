#include "agent/rehearsal-script.h"

#include <stdlib.h>

void steps_release(struct steps *s)
{
	vec_each (&s->list, step) {
		free(step->text);
		free(step->tool);
		free(step->output);
	}
	vec_release(&s->list);
}

void steps_say(struct steps *s, struct sv text)
{
	vec_push(&s->list, (struct step){ .kind = STEP_SAY, .text = xmemdup0(text.p, text.n) });
}

void steps_wait(struct steps *s, int64_t ms)
{
	vec_push(&s->list, (struct step){ .kind = STEP_WAIT, .ms = ms });
}

void steps_ask(struct steps *s, const char *tool, const char *input, const char *output)
{
	vec_push(&s->list,
		(struct step){ .kind = STEP_ASK,
			.tool = xstrdup(tool),
			.text = xstrdup(input),
			.output = xstrdup(output) });
}

/* The first word of *s; *s becomes the rest without the blanks between. */
static struct sv take_word(struct sv *s)
{
	size_t n = 0;

	while (n < s->n && s->p[n] != ' ' && s->p[n] != '\t')
		n++;
	struct sv word = sv_head(*s, n);
	*s = sv_trim(sv_from(*s, n));
	return word;
}

static char *unescape(struct sv s)
{
	AUTO_STR out = STR_INIT;

	for (size_t i = 0; i < s.n; i++) {
		if (s.p[i] == '\\' && i + 1 < s.n && s.p[i + 1] == 'n') {
			str_addc(&out, '\n');
			i++;
		} else {
			str_addc(&out, s.p[i]);
		}
	}
	return str_detach(&out);
}

static int parse_tool(struct sv rest, struct step *step)
{
	struct sv name = take_word(&rest);
	size_t at;
	struct sv output = { "", 0 };

	if (sv_find(rest, SV("=>"), &at)) {
		output = sv_trim(sv_from(rest, at + 2));
		rest = sv_trim(sv_head(rest, at));
	}
	if (name.n == 0)
		return ERR_INPUT;
	*step = (struct step){ .kind = STEP_TOOL,
		.tool = xmemdup0(name.p, name.n),
		.text = unescape(rest),
		.output = unescape(output) };
	return 0;
}

static int parse_ms(struct sv text, int64_t *ret, struct err *reterr)
{
	long long ms;

	if (!sv_parse_i64(text, &ms) || ms < 0 || ms > SCRIPT_WAIT_MAX)
		return err_set(reterr, ERR_INPUT, "'%.*s' is no number of milliseconds up to %d",
			SV_ARG(text), SCRIPT_WAIT_MAX);
	*ret = ms;
	return 0;
}

static int parse_step(struct sv line, struct step *step, struct err *reterr)
{
	struct sv rest = line;
	struct sv verb = take_word(&rest);

	if (sv_is(verb, "say")) {
		*step = (struct step){ .kind = STEP_SAY, .text = unescape(rest) };
	} else if (sv_is(verb, "wait")) {
		*step = (struct step){ .kind = STEP_WAIT };
		return parse_ms(rest, &step->ms, reterr);
	} else if (sv_is(verb, "retry")) {
		struct sv ms = take_word(&rest);
		*step = (struct step){ .kind = STEP_RETRY };
		if (parse_ms(ms, &step->ms, reterr) < 0)
			return ERR_INPUT;
		step->text = unescape(rest);
	} else if (sv_is(verb, "tool") || sv_is(verb, "ask")) {
		if (parse_tool(rest, step) < 0)
			return err_set(
				reterr, ERR_INPUT, "%.*s needs the name of a tool", SV_ARG(verb));
		if (sv_is(verb, "ask"))
			step->kind = STEP_ASK;
	} else if (sv_is(verb, "fail")) {
		enum agent_fail fail;
		struct sv kind = take_word(&rest);
		if (!agent_fail_parse(kind, &fail) || fail == AGENT_OK)
			return err_set(
				reterr, ERR_INPUT, "no kind of failure '%.*s'", SV_ARG(kind));
		*step = (struct step){ .kind = STEP_FAIL, .fail = fail, .text = unescape(rest) };
	} else if (sv_is(verb, "die")) {
		*step = (struct step){ .kind = STEP_DIE };
	} else {
		return err_set(reterr, ERR_INPUT,
			"'%.*s' is none of say, wait, retry, tool, ask, fail, die", SV_ARG(verb));
	}
	return 0;
}

int script_steps(struct sv script, int64_t number, struct steps *out, struct err *reterr)
{
	int64_t block = 1;
	int64_t line_number = 0;
	bool any = false; /* inside a "*" block */
	struct sv line;

	while (sv_split(&script, '\n', &line)) {
		line_number++;
		line = sv_trim(line);
		if (line.n == 0 || line.p[0] == '#')
			continue;
		if (sv_starts(line, SV("---"))) {
			block++;
			continue;
		}
		if (sv_is(line, "*")) {
			any = number >= block;
			continue;
		}
		struct step step;
		int r = parse_step(line, &step, reterr);
		if (r < 0) {
			err_prefix(reterr, "rehearsal script, line %lld", (long long)line_number);
			return r;
		}
		struct steps one = STEPS_INIT;
		vec_push(block == number || any ? &out->list : &one.list, step);
		steps_release(&one);
	}
	return 0;
}

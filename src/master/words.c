#include "master/words.h"

#include "base/utf8.h"

static const char instructor[] =
	"You are the instructor of a pair. The user gives you a task, and a worker, another agent "
	"in "
	"the same folder, carries it out. You plan, read, judge and decide; you change nothing "
	"yourself.\n"
	"\n"
	"Say in a sentence or two what you think, for the user. Then end each answer with exactly "
	"one of these:\n"
	"\n"
	"1. A fresh worker, which knows nothing yet. The first time, or when the one there is has "
	"lost its way:\n"
	"{\"act\": \"start\", \"system_prompt\": \"what it must know and keep to\", "
	"\"instruction\": \"the first thing to do\"}\n"
	"2. The next words to the worker there is:\n"
	"{\"act\": \"tell\", \"message\": \"what to do now\"}\n"
	"3. When the task is finished and you have made sure of it, a last line that is\n"
	"DONE\n"
	"\n"
	"The object begins a line of its own, and nothing follows it. It may also have \"model\", "
	"another model for this one instruction, and \"worker_timeout_s\", how many seconds the "
	"worker has for each answer from then on. Where your answer has a schema, or a tool of its "
	"own, give the object by that, and DONE as {\"act\": \"done\"}.\n"
	"\n"
	"One instruction at a time: small enough to be checked, and with it what counts as done. "
	"You then get the worker's answer. Trust what was run and seen more than what is claimed; "
	"have it tested, and have mistakes mended before you go on. What the user adds goes before "
	"your plan. Nobody is there to answer questions: decide, and say what you decided.";

static const char worker[] =
	"You are the worker of a pair. An instructor tells you what to do, one step at a time, and "
	"reads your answer; you do not see the whole task. Do what is asked and nothing beyond it. "
	"Then say what you did, what you saw, and what is open. Nobody is there to answer "
	"questions: decide, and say what you decided.";

static const char go_on[] =
	"You were interrupted while you worked on what I said last, and your answer did not reach "
	"me. Look at what is done already, do not do it twice, finish the rest, and answer as if "
	"nothing had happened.";

static const char unsure[] =
	"There was an interruption, and nobody can tell whether you have had these words before. "
	"If "
	"you have, look at what is done already and do not do it twice; finish the rest and "
	"answer.\n\n";

/* What a decision has; what goes with what cannot be said in a schema that models take. */
#define ACTS "\"act\":{\"type\":\"string\",\"enum\":[\"start\",\"tell\",\"done\"]}"

const char *words_schema(bool whole)
{
	static const char some[] = "{\"type\":\"object\",\"properties\":{" ACTS
				   ",\"system_prompt\":{\"type\":\"string\"}"
				   ",\"instruction\":{\"type\":\"string\"}"
				   ",\"message\":{\"type\":\"string\"}"
				   ",\"model\":{\"type\":\"string\"}"
				   ",\"worker_timeout_s\":{\"type\":\"integer\"}}"
				   ",\"required\":[\"act\"],\"additionalProperties\":false}";
	static const char all[] =
		"{\"type\":\"object\",\"properties\":{\"say\":{\"type\":\"string\","
		"\"description\":\"what you think, in a sentence or two, for the user\"}," ACTS
		",\"system_prompt\":{\"type\":[\"string\",\"null\"]}"
		",\"instruction\":{\"type\":[\"string\",\"null\"]}"
		",\"message\":{\"type\":[\"string\",\"null\"]}"
		",\"model\":{\"type\":[\"string\",\"null\"]}"
		",\"worker_timeout_s\":{\"type\":[\"integer\",\"null\"]}}"
		",\"required\":[\"say\",\"act\",\"system_prompt\",\"instruction\",\"message\","
		"\"model\",\"worker_timeout_s\"],\"additionalProperties\":false}";

	return whole ? all : some;
}

void words_system(enum master_role role, const char *base, struct sv given, struct str *out)
{
	if (base && base[0])
		str_addf(out, "%s\n\n", base);
	str_adds(out, role == MASTER_INSTRUCTOR ? instructor : worker);
	if (role == MASTER_WORKER && given.n > 0) {
		str_adds(out, "\n\n");
		str_add(out, given);
	}
}

/* The beginning and the end of what is too long. */
static void add_answer(struct str *out, struct sv text)
{
	enum { HALF = WORDS_ANSWER_MAX / 2 };

	text = sv_trim(text);
	if (text.n <= WORDS_ANSWER_MAX) {
		str_add(out, text);
		return;
	}
	struct sv tail = sv_from(text, text.n - HALF);
	while (tail.n > 0 && ((unsigned char)tail.p[0] & 0xc0) == 0x80)
		tail = sv_from(tail, 1);
	str_add(out, utf8_cut(text, HALF));
	str_addf(out, "\n\n[… %zu bytes are left out here …]\n\n", text.n - WORDS_ANSWER_MAX);
	str_add(out, tail);
}

static void add_worker(const struct master_state *s, struct str *out)
{
	const struct master_side *w = &s->side[MASTER_WORKER];

	if (w->answer.fail == AGENT_OK) {
		str_adds(out, "The worker's answer:\n\n");
		if (sv_trim(str_sv(&w->answer.text)).n == 0)
			str_adds(out, "(it said nothing)");
	} else if (w->answer.fail == AGENT_TIMED_OUT) {
		str_addf(out, "The worker was interrupted: it took longer than it may (%lld s). ",
			(long long)(s->worker_timeout_ms / 1000));
		str_adds(out,
			"What it did so far stays done. Its session goes on with your next words, "
			"and \"worker_timeout_s\" gives it more time.");
	} else if (w->answer.fail == AGENT_CANCELLED) {
		str_addf(out, "The worker was interrupted%s%s. ", w->answer.why.len ? ": " : "",
			w->answer.why.buf);
		str_adds(out,
			"What it did so far stays done. Its session goes on with your next words.");
	} else {
		str_addf(out, "The worker failed: %s. ", w->answer.why.buf);
		str_adds(out, "What it did so far stays done.");
	}
	if (w->answer.text.len > 0 && w->answer.fail != AGENT_OK)
		str_adds(out, " Its words until then:\n\n");
	add_answer(out, str_sv(&w->answer.text));
	if (w->answer.denied.len == 0)
		return;
	str_adds(out, "\n\nIt was not allowed to do this, which was therefore not done:\n\n");
	str_add(out, str_sv(&w->answer.denied));
	str_adds(out,
		"\n\nThe same would be denied again. Find a way that needs no permission, or end "
		"with what the user has to allow.");
}

void words_for_instructor(const struct master_state *s, struct str *out)
{
	const struct master_side *i = &s->side[MASTER_INSTRUCTOR];
	int64_t asked = i->ask.n;
	size_t begin = out->len;

	if (s->check.n > asked && s->check.status != 0) {
		str_addf(out,
			"You said DONE, but the check of the result failed: %s ended with status "
			"%lld.",
			s->config.check ? s->config.check : "it", (long long)s->check.status);
		str_adds(out, s->check.text.len ? " The end of what it printed:\n\n" : "");
		str_add(out, str_sv(&s->check.text));
	} else if (s->side[MASTER_WORKER].answer.n > asked) {
		add_worker(s, out);
	} else if (s->decided.n > asked && s->decided.act == MASTER_ACT_CORRECT) {
		str_addf(out,
			"That cannot be followed: %s. End your answer with one object, {\"act\": "
			"\"start\", …} or {\"act\": \"tell\", …}, that begins a line of its own; "
			"or, when all is finished, with a last line that is DONE.",
			s->decided.text.buf);
	} else if (asked > 0 && i->answer.n > asked && i->answer.fail != AGENT_OK) {
		words_go_on(out);
	} else if (s->decided.n > asked &&
		(s->decided.act == MASTER_ACT_FRESH || s->decided.act == MASTER_ACT_GO_ON)) {
		str_adds(out,
			"The worker has not been given that yet, since the user spoke up. Decide "
			"anew; what you wanted it to do still has to be said.");
	}
	if (out->len > begin)
		words_add_said(s, out);
	else
		str_add(out, str_sv(&s->said));
}

void words_add_said(const struct master_state *s, struct str *out)
{
	if (s->said.len == 0)
		return;
	str_adds(out, "\n\nThe user adds, and that goes before your plan:\n\n");
	str_add(out, str_sv(&s->said));
}

void words_go_on(struct str *out)
{
	str_adds(out, go_on);
}

void words_unsure(struct sv prompt, struct str *out)
{
	/* Once is enough, however often it is interrupted. */
	if (sv_starts(prompt, sv_of(unsure)))
		prompt = sv_from(prompt, sizeof(unsure) - 1);
	str_adds(out, unsure);
	str_add(out, prompt);
}

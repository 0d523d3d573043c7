/*
 * Runs labelled dialogues through the router as routing-eval/1 does in forced mode: each decision
 * is scored on a correct history. What the agents answered counts where the dialogues have it,
 * unless NO_ANSWERS is set.
 *
 *   route-dialogues FILE LEAST_RIGHT_PERCENT MOST_ASTRAY_PERCENT
 *   route-dialogues lines FILE            each decision as a JSON object, for tools/train-router
 *
 * Right: action and conversation. Astray: sent into a conversation it does not belong to. MEANING
 * is a folder of models: what texts mean counts then.
 */
#include <jansson.h>
#include <stdio.h>

#include "base/mem.h"
#include "base/vec.h"
#include "eval/stdio.h"
#include "meaning/meaning.h"
#include "os/file.h"

enum { FILE_MAX = 16 * 1024 * 1024, REF_MAX = 32 };

struct run {
	int64_t end_ms;
	char ref[REF_MAX];
	const char *answer; /* NULL: not known */
};

struct play {
	struct route_stdio stdio;
	VEC(struct run) runs;
	json_t *where; /* label → ref */
	unsigned refs;
	unsigned n, right, astray, swallowed, fresh;
	bool answers, lines;
};

static void send_line(struct play *p, json_t *message, struct str *out)
{
	struct err err = ERR_INIT;
	AUTO_FREE char *line = json_dumps(message, JSON_COMPACT);

	json_decref(message);
	if (!line || route_stdio_line(&p->stdio, sv_of(line), out, &err) < 0) {
		fprintf(stderr, "%s\n", err.msg);
		exit(70);
	}
}

static void notify(struct play *p, const char *op, int64_t t, const char *ref, const char *answer)
{
	AUTO_STR none = STR_INIT;
	json_t *message = json_pack("{s:s,s:I,s:s}", "op", op, "t_ms", t, "conversation_ref", ref);

	if (answer)
		json_object_set_new(message, "answer", json_string(answer));
	send_line(p, message, &none);
}

static void end_run(struct play *p, size_t at)
{
	p->runs.v[at] = p->runs.v[--p->runs.n];
}

/* Runs that end before t, in order of time. */
static void finish_until(struct play *p, int64_t t)
{
	for (;;) {
		size_t first = p->runs.n;
		for (size_t i = 0; i < p->runs.n; i++)
			if (p->runs.v[i].end_ms <= t &&
				(first == p->runs.n ||
					p->runs.v[i].end_ms < p->runs.v[first].end_ms))
				first = i;
		if (first == p->runs.n)
			return;
		notify(p, "finished", p->runs.v[first].end_ms, p->runs.v[first].ref,
			p->runs.v[first].answer);
		end_run(p, first);
	}
}

static const char *text_of(const json_t *o, const char *key)
{
	const char *s = json_string_value(json_object_get(o, key));

	return s ? s : "";
}

static void event(struct play *p, const json_t *step, int64_t t)
{
	if (sv_is(sv_of(text_of(step, "event")), "reset")) {
		notify(p, "reset", t, "", NULL);
		return;
	}
	const char *ref = text_of(p->where, text_of(step, "conversation"));
	for (size_t i = p->runs.n; i-- > 0;)
		if (sv_is(sv_of(ref), p->runs.v[i].ref))
			end_run(p, i);
	notify(p, "error", t, ref, NULL);
}

static void score(struct play *p, const json_t *step, const char *due, const char *id)
{
	AUTO_STR out = STR_INIT;

	send_line(p,
		json_pack("{s:s,s:O,s:O,s:O}", "op", "step", "t_ms", json_object_get(step, "t_ms"),
			"text", json_object_get(step, "text"), "cwd", json_object_get(step, "cwd")),
		&out);
	json_t *answer = json_loads(out.buf, 0, NULL);
	const char *said = text_of(answer, "conversation_ref");
	bool right = sv_is(sv_of(said), due);
	if (p->lines) {
		json_t *o = json_pack("{s:s,s:O,s:O,s:O,s:s,s:s,s:O}", "dialogue", id, "text",
			json_object_get(step, "text"), "category",
			json_object_get(step, "category"), "language",
			json_object_get(step, "language"), "due", due, "said", said, "confidence",
			json_object_get(answer, "confidence"));
		json_dumpf(o, stdout, JSON_COMPACT | JSON_REAL_PRECISION(6));
		putchar('\n');
		json_decref(o);
	}
	p->n++;
	p->right += right;
	p->astray += !right && *said;
	p->fresh += !*due;
	p->swallowed += !*due && *said;
	if (!right && !p->lines)
		printf("# %s %s: due %s, said %s: %s\n", id, text_of(step, "category"),
			*due ? due : "new", *said ? said : "new", text_of(step, "text"));
	json_decref(answer);
}

static void take_step(struct play *p, const json_t *step, const char *id)
{
	int64_t t = json_integer_value(json_object_get(step, "t_ms"));

	finish_until(p, t);
	if (json_object_get(step, "event")) {
		event(p, step, t);
		return;
	}
	const json_t *expect = json_object_get(step, "expect");
	const char *label = text_of(expect, "conversation");
	bool fresh = sv_is(sv_of(text_of(expect, "action")), "new");
	score(p, step, fresh ? "" : text_of(p->where, label), id);

	struct run r = { .end_ms = t + json_integer_value(json_object_get(step, "duration_ms")),
		.answer = p->answers ? json_string_value(json_object_get(step, "answer")) : NULL };
	if (fresh)
		(void)snprintf(r.ref, sizeof(r.ref), "s%u", ++p->refs);
	else
		(void)snprintf(r.ref, sizeof(r.ref), "%s", text_of(p->where, label));
	json_object_set_new(p->where, label, json_string(r.ref));
	AUTO_STR none = STR_INIT;
	send_line(p,
		json_pack("{s:s,s:I,s:s,s:b,s:O,s:O}", "op", "started", "t_ms", t,
			"conversation_ref", r.ref, "new", fresh, "text",
			json_object_get(step, "text"), "cwd", json_object_get(step, "cwd")),
		&none);
	vec_push(&p->runs, r);
}

static void play_dialogue(struct play *p, const json_t *dialogue)
{
	AUTO_STR none = STR_INIT;

	send_line(p, json_pack("{s:s,s:s}", "op", "begin", "protocol", "routing-eval/1"), &none);
	p->where = json_object();
	p->runs.n = 0;
	p->refs = 0;
	size_t i;
	const json_t *step;
	json_array_foreach (json_object_get(dialogue, "steps"), i, step)
		take_step(p, step, text_of(dialogue, "id"));
	json_decref(p->where);
}

static json_t *load(const char *path)
{
	struct err err = ERR_INIT;
	AUTO_STR text = STR_INIT;
	json_t *root = NULL;

	if (file_read(path, FILE_MAX, &text, &err) == 0)
		root = json_loadb(text.buf, text.len, 0, NULL);
	if (!root)
		fprintf(stderr, "%s: %s\n", path, err.code ? err.msg : "bad JSON");
	return root;
}

static bool meant(void *data, struct sv text, const char *language, int8_t *ret)
{
	return meaning_of(data, text, language, ret, NULL) == 0;
}

int main(int argc, char **argv)
{
	struct play p = { .answers = !getenv("NO_ANSWERS"),
		.lines = argc == 3 && sv_is(sv_of(argv[1]), "lines") };
	json_t *root = argc == 4 || p.lines ? load(argv[argc == 4 ? 1 : 2]) : NULL;

	if (!root)
		return 2;
	struct route_opts opts = route_opts_default(ROUTE_FADEN);
	struct meaning *network = getenv("MEANING") ? meaning_new(getenv("MEANING")) : NULL;
	const struct route_meaning meaning = { .data = network, .of = meant, .always = true };
	opts.meaning = network ? &meaning : NULL;
	struct router *router = router_new(&opts);
	route_stdio_init(&p.stdio, router);
	size_t i;
	const json_t *dialogue;
	json_array_foreach (json_object_get(root, "dialogues"), i, dialogue)
		play_dialogue(&p, dialogue);
	route_stdio_release(&p.stdio);
	router_free(router);
	vec_release(&p.runs);
	json_decref(root);
	meaning_free(network);
	if (p.lines)
		return 0;
	double right = p.n ? 100.0 * p.right / p.n : 0, astray = p.n ? 100.0 * p.astray / p.n : 100;
	printf("%u decisions, %.1f %% right, %.1f %% astray, %u of %u new ones swallowed\n", p.n,
		right, astray, p.swallowed, p.fresh);
	return right >= strtod(argv[2], NULL) && astray <= strtod(argv[3], NULL) ? 0 : 1;
}

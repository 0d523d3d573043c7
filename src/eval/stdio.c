#include "eval/stdio.h"

#include <jansson.h>
#include <math.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "eval/memstore.h"
#include "route/route.h"

void route_stdio_init(struct route_stdio *s, struct router *r)
{
	*s = (struct route_stdio){ .router = r };
	memstore_init(&s->store, router_opts(r));
	struct route_opts unlimited = *router_opts(r);
	unlimited.max = SIZE_MAX;
	unlimited.expiry_ms = INT64_MAX / 4;
	memstore_init(&s->running, &unlimited);
}

void route_stdio_release(struct route_stdio *s)
{
	memstore_release(&s->store);
	memstore_release(&s->running);
	free(s->heir_of);
	s->heir_of = NULL;
}

/* The keys an operation may have. */
struct message {
	struct sv op, ref, text, cwd, answer;
	int64_t t_ms;
};

static struct sv string_of(const json_t *object, const char *key, struct sv missing)
{
	const json_t *v = json_object_get(object, key);

	return json_is_string(v) ? sv_make(json_string_value(v), json_string_length(v)) : missing;
}

static void answer(struct str *out, const struct route_conv *convs, const struct route_decision *d)
{
	json_t *o =
		json_pack("{s:s, s:f, s:s}", "action", d->action == ROUTE_RESUME ? "resume" : "new",
			"confidence", d->confidence, "reason", d->reason);

	if (d->index != ROUTE_NONE) {
		struct sv id = convs[d->index].id;
		(void)json_object_set_new(o, "conversation_ref", json_stringn(id.p, id.n));
	}
	AUTO_FREE char *text = json_dumps(o, JSON_COMPACT | JSON_REAL_PRECISION(6));
	json_decref(o);
	str_adds(out, text ? text : "{\"action\":\"new\"}");
}

static void on_step(struct route_stdio *s, const struct message *m, struct str *out)
{
	if (sv_trim(m->text).n == 0) {
		str_adds(out,
			"{\"action\":\"new\",\"confidence\":1.0,"
			"\"reason\":\"nothing to route: the text is empty\"}");
		return;
	}
	struct route_query q = { .text = m->text, .now_ms = m->t_ms, .cwd = m->cwd };
	size_t n;
	const struct route_conv *convs = memstore_view(&s->store, &n);
	struct route_decision d;
	router_decide(s->router, &q, convs, n, NULL, &d);
	answer(out, convs, &d);
	free(s->heir_of);
	s->heir_of = NULL;
	if (d.blocked != ROUTE_NONE && convs[d.blocked].status == ROUTE_ERRORED)
		s->heir_of = xmemdup0(convs[d.blocked].id.p, convs[d.blocked].id.n);
}

static void on_started(struct route_stdio *s, const struct message *m)
{
	/* In profile seed a conversation exists from the end of its first run on; until then its
	 * command waits in `running`. */
	if (router_opts(s->router)->profile == ROUTE_SEED) {
		memstore_seed_register(&s->running, m->ref, m->text, m->cwd, m->t_ms);
		memstore_mark(&s->store, m->ref, ROUTE_ACTIVE);
		return;
	}
	memstore_started(&s->store, m->ref, m->text, m->cwd, m->t_ms);
	struct memstore_conv *c = memstore_get(&s->store, m->ref);
	if (!c)
		return;
	enum topic_source source = c->topic ? TOPIC_LATER : TOPIC_FIRST;
	if (!c->topic)
		c->topic = route_topic_new();
	router_learn(s->router, c->topic, m->text, source);
	/* What a failed conversation was about, its heir is about. */
	const struct memstore_conv *from =
		s->heir_of ? memstore_get(&s->store, sv_of(s->heir_of)) : NULL;
	if (from && from != c && c->turns == 1)
		route_topic_inherit(c->topic, from->topic);
	free(s->heir_of);
	s->heir_of = NULL;
}

static void on_finished(struct route_stdio *s, const struct message *m)
{
	if (router_opts(s->router)->profile != ROUTE_SEED) {
		struct memstore_conv *c = memstore_get(&s->store, m->ref);
		memstore_ended(&s->store, m->ref, ROUTE_IDLE, m->t_ms);
		if (c && c->topic && m->answer.n > 0)
			router_learn(s->router, c->topic, m->answer, TOPIC_ANSWER);
		return;
	}
	const struct memstore_conv *run = memstore_get(&s->running, m->ref);
	if (!run)
		return;
	if (memstore_get(&s->store, m->ref))
		memstore_seed_update(&s->store, m->ref, run->slices.v[0], m->t_ms);
	else
		memstore_seed_register(
			&s->store, m->ref, run->slices.v[0], sv_of(run->dir), m->t_ms);
}

static void handle(struct route_stdio *s, const struct message *m, struct str *out)
{
	bool seed = router_opts(s->router)->profile == ROUTE_SEED;

	if (sv_is(m->op, "begin")) {
		memstore_clear(&s->store);
		memstore_clear(&s->running);
	} else if (sv_is(m->op, "step")) {
		on_step(s, m, out);
	} else if (sv_is(m->op, "started") && m->ref.n > 0) {
		on_started(s, m);
	} else if (sv_is(m->op, "finished")) {
		on_finished(s, m);
	} else if (sv_is(m->op, "error") && seed) {
		memstore_mark(&s->store, m->ref, ROUTE_ERRORED);
	} else if (sv_is(m->op, "error")) {
		memstore_ended(&s->store, m->ref, ROUTE_ERRORED, m->t_ms);
	} else if (sv_is(m->op, "reset") && !seed) {
		memstore_reset(&s->store);
	}
}

/* Bytes that are no UTF-8 become U+FFFD: whoever waits for an answer gets one. */
static struct sv made_valid(struct sv line, struct str *buf)
{
	if (utf8_valid(line))
		return line;
	while (line.n > 0) {
		uint32_t cp;
		line = sv_from(line, utf8_decode(line, &cp));
		utf8_add(buf, cp);
	}
	return str_sv(buf);
}

int route_stdio_line(struct route_stdio *s, struct sv line, struct str *out, struct err *reterr)
{
	AUTO_STR valid = STR_INIT;

	if (line.n > ROUTE_LINE_MAX)
		return err_set(reterr, ERR_LIMIT, "line of more than %d bytes", ROUTE_LINE_MAX);
	json_error_t bad;
	line = made_valid(line, &valid);
	json_t *root = json_loadb(line.p, line.n, JSON_ALLOW_NUL, &bad);
	if (!json_is_object(root)) {
		json_decref(root);
		return err_set(reterr, ERR_INPUT, "not a JSON object: %s",
			root ? "another value" : bad.text);
	}
	struct message m = { .op = string_of(root, "op", SV("")),
		.ref = string_of(root, "conversation_ref", SV("")),
		.text = string_of(root, "text", SV("")),
		.cwd = string_of(root, "cwd", SV("")),
		.answer = string_of(root, "answer", SV("")),
		.t_ms = json_integer_value(json_object_get(root, "t_ms")) };
	handle(s, &m, out);
	json_decref(root);
	return 0;
}

/* ---- recorded histories ---- */

static bool time_of(const json_t *object, int64_t *ret)
{
	const json_t *v = json_object_get(object, "t_ms");

	if (!json_is_integer(v))
		return false;
	*ret = json_integer_value(v);
	return true;
}

static bool apply(struct memstore *s, const json_t *op)
{
	struct sv name = string_of(op, "op", SV("")), id = string_of(op, "session_id", SV(""));
	struct sv command = string_of(op, "command", SV(""));
	int64_t t;

	if (!time_of(op, &t) || id.n == 0)
		return false;
	if (sv_is(name, "register"))
		memstore_seed_register(s, id, command, string_of(op, "working_dir", SV("/w")), t);
	else if (sv_is(name, "update"))
		memstore_seed_update(s, id, command, t);
	else if (sv_is(name, "active"))
		memstore_mark(s, id, ROUTE_ACTIVE);
	else if (sv_is(name, "errored"))
		memstore_mark(s, id, ROUTE_ERRORED);
	else
		return false;
	return true;
}

static int report(const json_t *vector, const struct route_conv *convs,
	const struct route_decision *d, route_replay_line line, void *data, struct err *reterr)
{
	struct sv id = string_of(vector, "id", SV(""));
	json_t *session = d->index == ROUTE_NONE
		? json_null()
		: json_stringn(convs[d->index].id.p, convs[d->index].id.n);
	json_t *o = json_pack("{s:o, s:s, s:o, s:f, s:s}", "id", json_stringn(id.p, id.n), "action",
		d->action == ROUTE_RESUME ? "resume" : "new", "session_id", session, "confidence",
		round(d->confidence * 1e4) / 1e4, "reason", d->reason);
	AUTO_FREE char *text = o
		? json_dumps(o, JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_REAL_PRECISION(15))
		: NULL;

	json_decref(o);
	if (!text)
		return err_set(reterr, ERR_INPUT, "vector cannot be written as JSON");
	return line(data, sv_of(text), reterr);
}

static int run_vector(struct router *r, const json_t *vector, route_replay_line line, void *data,
	struct err *reterr)
{
	CLEANUP(memstore_release) struct memstore store;

	memstore_init(&store, router_opts(r));
	size_t i;
	const json_t *op;
	json_array_foreach (json_object_get(vector, "ops"), i, op)
		if (!apply(&store, op))
			return err_set(reterr, ERR_INPUT, "op %zu is not understood", i);

	const json_t *route = json_object_get(vector, "route");
	struct route_query q = { .text = string_of(route, "command", SV("")),
		.cwd = string_of(route, "working_dir", SV("/w")) };
	if (!time_of(route, &q.now_ms))
		return err_set(reterr, ERR_INPUT, "route without t_ms");
	size_t n;
	const struct route_conv *convs = memstore_view(&store, &n);
	struct route_decision d;
	router_decide(r, &q, convs, n, NULL, &d);
	return report(vector, convs, &d, line, data, reterr);
}

static void free_json(json_t **v)
{
	json_decref(*v);
}

int route_replay(struct router *router, struct sv file, route_replay_line line, void *data,
	struct err *reterr)
{
	if (file.n > ROUTE_REPLAY_MAX)
		return err_set(reterr, ERR_LIMIT, "more than %d bytes", ROUTE_REPLAY_MAX);
	json_error_t bad;
	CLEANUP(free_json) json_t *root = json_loadb(file.p, file.n, JSON_ALLOW_NUL, &bad);
	if (!root)
		return err_set(reterr, ERR_INPUT, "line %d: %s", bad.line, bad.text);
	const json_t *vectors = json_object_get(root, "vectors"), *vector;
	if (!json_is_array(vectors))
		return err_set(reterr, ERR_INPUT, "no array \"vectors\"");
	size_t i;
	json_array_foreach (vectors, i, vector) {
		int r = run_vector(router, vector, line, data, reterr);
		if (r < 0) {
			err_prefix(reterr, "vector %zu", i);
			return r;
		}
	}
	return 0;
}

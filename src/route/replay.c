#include "route/replay.h"

#include <jansson.h>
#include <math.h>

#include "route/memstore.h"

static struct sv string_of(const json_t *object, const char *key, struct sv missing)
{
	const json_t *v = json_object_get(object, key);
	return json_is_string(v) ? sv_make(json_string_value(v), json_string_length(v)) : missing;
}

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
	json_array_foreach(json_object_get(vector, "ops"), i,
		op) if (!apply(&store, op)) return err_set(reterr, ERR_INPUT,
		"op %zu is not understood", i);

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

int route_replay(
	struct router *r, struct sv file, route_replay_line line, void *data, struct err *reterr)
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
	json_array_foreach(vectors, i, vector)
	{
		int rc = run_vector(r, vector, line, data, reterr);
		if (rc < 0) {
			err_prefix(reterr, "vector %zu", i);
			return rc;
		}
	}
	return 0;
}

#include "onnx/onnx.h"

#include <dlfcn.h>
#include <stdatomic.h>

#include "base/mem.h"
#include "base/utf8.h"

/*
 * The runtime's interface is one table of functions whose order never changes: new ones come at
 * its end. So their places are all that has to be known.
 */
enum slot {
	GET_ERROR_MESSAGE = 2,
	CREATE_ENV = 3,
	CREATE_SESSION_FROM_ARRAY = 8,
	RUN = 9,
	CREATE_SESSION_OPTIONS = 10,
	SET_GRAPH_OPTIMIZATION = 23,
	SET_INTRA_OP_THREADS = 24,
	SET_INTER_OP_THREADS = 25,
	GET_INPUT_COUNT = 30,
	GET_OUTPUT_COUNT = 31,
	GET_INPUT_NAME = 36,
	GET_OUTPUT_NAME = 37,
	CREATE_RUN_OPTIONS = 39,
	SET_TERMINATE = 46,
	UNSET_TERMINATE = 47,
	CREATE_TENSOR = 49,
	GET_TENSOR_DATA = 51,
	GET_ELEMENT_TYPE = 60,
	GET_DIMS_COUNT = 61,
	GET_DIMS = 62,
	GET_TYPE_AND_SHAPE = 65,
	CREATE_CPU_MEMORY = 69,
	ALLOCATOR_FREE = 76,
	GET_ALLOCATOR = 78,
	RELEASE_ENV = 92,
	RELEASE_STATUS = 93,
	RELEASE_MEMORY = 94,
	RELEASE_SESSION = 95,
	RELEASE_VALUE = 96,
	RELEASE_RUN_OPTIONS = 97,
	RELEASE_TYPE_AND_SHAPE = 99,
	RELEASE_SESSION_OPTIONS = 100,
	ADD_SESSION_CONFIG = 130,
	SLOTS = 131,
};

enum {
	API_VERSION = 11, /* the oldest with all of these */
	LOG_FATAL = 4, /* the runtime writes to standard error otherwise */
	OPTIMIZE_ALL = 99,
	ARENA = 1, /* memory is kept between two runs: half the time of one */
	MEMORY_DEFAULT = 0,
};

typedef void (*function)(void);

struct api_base {
	const function *(*get_api)(uint32_t version);
	const char *(*get_version)(void);
};

struct onnx {
	void *library;
	const function *api;
	void *env;
	void *memory;
	void *allocator; /* the runtime's own */
};

struct onnx_session {
	struct onnx *onnx;
	void *session;
	void *run_options;
	struct strv inputs, outputs; /* names */
	atomic_bool stopped;
};

/* Calls a function of the table; what it is given must be exactly of the types it takes. */
#define CALL(o, slot, types, ...) (((void *(*)types)(o)->api[slot])(__VA_ARGS__))
#define RELEASE(o, slot, what) (((void (*)(void *))(o)->api[slot])(what))

/* The runtime's message, on one line; status is released. */
static int fail(const struct onnx *o, void *status, int code, const char *doing, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	const char *said =
		((const char *(*)(const void *))o->api[GET_ERROR_MESSAGE])((const void *)status);

	utf8_scrub_line(&line, sv_of(said));
	RELEASE(o, RELEASE_STATUS, status);
	return err_set(reterr, code, "%s: %s", doing, line.buf);
}

int onnx_open(const char *library, struct onnx **ret, struct err *reterr)
{
	struct onnx *o = xcalloc(1, sizeof(*o));
	const struct api_base *(*get_base)(void);
	void *status;
	int r;

	o->library = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	if (!o->library) {
		const char *why = dlerror();
		r = err_set(reterr, ERR_NOTFOUND, "ONNX Runtime cannot be opened: %s",
			why ? why : library);
		goto fail;
	}
	*(void **)&get_base = dlsym(o->library, "OrtGetApiBase");
	const struct api_base *base = get_base ? get_base() : NULL;
	if (!base || !base->get_api) {
		r = err_set(reterr, ERR_INPUT, "%s: this is not ONNX Runtime", library);
		goto fail;
	}
	o->api = base->get_api(API_VERSION);
	if (!o->api) {
		r = err_set(reterr, ERR_INPUT, "%s: this ONNX Runtime is too old", library);
		goto fail;
	}
	status = CALL(o, CREATE_ENV, (int, const char *, void **), LOG_FATAL, "faden", &o->env);
	if (!status)
		status = CALL(o, CREATE_CPU_MEMORY, (int, int, void **), ARENA, MEMORY_DEFAULT,
			&o->memory);
	if (!status)
		status = CALL(o, GET_ALLOCATOR, (void **), &o->allocator);
	if (status) {
		r = fail(o, status, ERR_INPUT, "ONNX Runtime does not start", reterr);
		goto fail;
	}
	*ret = o;
	return 0;
fail:
	onnx_free(o);
	return r;
}

void onnx_free(struct onnx *o)
{
	if (!o)
		return;
	if (o->memory)
		RELEASE(o, RELEASE_MEMORY, o->memory);
	if (o->env)
		RELEASE(o, RELEASE_ENV, o->env);
	/* The library stays: it has threads and destructors of its own that do not like to be
	 * taken out of memory. */
	free(o);
}

size_t onnx_tensor_count(const struct onnx_tensor *t)
{
	size_t n = 1;

	for (unsigned i = 0; i < t->n_dims; i++)
		n *= (size_t)t->dims[i];
	return n;
}

void onnx_tensor_release(const struct onnx *o, struct onnx_tensor *t)
{
	if (t->value)
		RELEASE(o, RELEASE_VALUE, t->value);
	*t = (struct onnx_tensor){ .value = NULL };
}

/* Names of inputs or outputs. */
static void *names(const struct onnx_session *s, enum slot count, enum slot name, struct strv *ret)
{
	const struct onnx *o = s->onnx;
	size_t n = 0;
	void *status = CALL(o, count, (const void *, size_t *), s->session, &n);

	if (status)
		return status;
	for (size_t i = 0; i < n; i++) {
		char *text = NULL;
		status = CALL(o, name, (const void *, size_t, void *, char **), s->session, i,
			o->allocator, &text);
		if (status)
			return status;
		strv_add(ret, text);
		status = CALL(o, ALLOCATOR_FREE, (void *, void *), o->allocator, text);
		if (status)
			return status;
	}
	return NULL;
}

int onnx_session_new(struct onnx *o, struct sv model, const struct onnx_session_opts *opts,
	struct onnx_session **ret, struct err *reterr)
{
	struct onnx_session *s = xcalloc(1, sizeof(*s));
	void *options = NULL;
	void *status;
	int r = 0;

	s->onnx = o;
	status = CALL(o, CREATE_SESSION_OPTIONS, (void **), &options);
	if (!status)
		status = CALL(o, SET_GRAPH_OPTIMIZATION, (void *, int), options, OPTIMIZE_ALL);
	if (!status)
		status = CALL(o, SET_INTRA_OP_THREADS, (void *, int), options,
			opts->threads > 0 ? opts->threads : 1);
	if (!status)
		status = CALL(o, SET_INTER_OP_THREADS, (void *, int), options, 1);
	if (!status)
		status = CALL(o, ADD_SESSION_CONFIG, (void *, const char *, const char *), options,
			"session.intra_op.allow_spinning", opts->spin ? "1" : "0");
	if (!status)
		status = CALL(o, CREATE_SESSION_FROM_ARRAY,
			(const void *, const void *, size_t, const void *, void **), o->env,
			model.p, model.n, options, &s->session);
	if (!status)
		status = CALL(o, CREATE_RUN_OPTIONS, (void **), &s->run_options);
	if (!status)
		status = names(s, GET_INPUT_COUNT, GET_INPUT_NAME, &s->inputs);
	if (!status)
		status = names(s, GET_OUTPUT_COUNT, GET_OUTPUT_NAME, &s->outputs);
	if (options)
		RELEASE(o, RELEASE_SESSION_OPTIONS, options);
	if (status) {
		r = fail(o, status, ERR_INPUT, "the network cannot be loaded", reterr);
		onnx_session_free(s);
		return r;
	}
	*ret = s;
	return 0;
}

void onnx_session_free(struct onnx_session *s)
{
	if (!s)
		return;
	strv_release(&s->inputs);
	strv_release(&s->outputs);
	if (s->run_options)
		RELEASE(s->onnx, RELEASE_RUN_OPTIONS, s->run_options);
	if (s->session)
		RELEASE(s->onnx, RELEASE_SESSION, s->session);
	free(s);
}

const char *const *onnx_inputs(const struct onnx_session *s)
{
	return (const char *const *)s->inputs.v;
}

const char *const *onnx_outputs(const struct onnx_session *s)
{
	return (const char *const *)s->outputs.v;
}

static size_t size_of(enum onnx_type type)
{
	switch (type) {
	case ONNX_U8:
	case ONNX_I8:
	case ONNX_BOOL:
		return 1;
	case ONNX_F32:
	case ONNX_I32:
		return 4;
	case ONNX_I64:
		return 8;
	}
	return 0;
}

/* What the runtime calls a value of the caller's. It wants an address also for no numbers at all.
 */
static void *wrap(const struct onnx *o, const struct onnx_tensor *t, void *none, void **ret)
{
	return CALL(o, CREATE_TENSOR,
		(const void *, void *, size_t, const int64_t *, size_t, int, void **), o->memory,
		t->data ? t->data : none, onnx_tensor_count(t) * size_of(t->type), t->dims,
		(size_t)t->n_dims, (int)t->type, ret);
}

/* What a result is, and where its numbers are. */
static void *look(const struct onnx *o, struct onnx_tensor *t)
{
	void *info = NULL;
	int type = 0;
	size_t n = 0;
	void *data = NULL;
	void *status = CALL(o, GET_TYPE_AND_SHAPE, (const void *, void **), t->value, &info);

	if (!status)
		status = CALL(o, GET_ELEMENT_TYPE, (const void *, int *), info, &type);
	if (!status)
		status = CALL(o, GET_DIMS_COUNT, (const void *, size_t *), info, &n);
	if (!status && n <= ONNX_DIMS_MAX)
		status = CALL(o, GET_DIMS, (const void *, int64_t *, size_t), info, t->dims, n);
	if (!status)
		status = CALL(o, GET_TENSOR_DATA, (void *, void **), t->value, &data);
	if (info)
		RELEASE(o, RELEASE_TYPE_AND_SHAPE, info);
	t->type = (enum onnx_type)type;
	t->n_dims = (unsigned)n;
	t->data = data;
	return status;
}

int onnx_run(struct onnx_session *s, const struct onnx_arg *in, size_t n_in, const char *const *out,
	size_t n_out, struct onnx_tensor *ret, struct err *reterr)
{
	const struct onnx *o = s->onnx;
	const char *names_in[ONNX_ARGS_MAX] = { NULL };
	const void *values_in[ONNX_ARGS_MAX] = { NULL };
	void *made[ONNX_ARGS_MAX] = { NULL };
	void *values_out[ONNX_ARGS_MAX] = { NULL };
	void *status = NULL;
	int64_t none = 0;
	int r = 0;

	if (n_in > ONNX_ARGS_MAX || n_out > ONNX_ARGS_MAX)
		return err_set(reterr, ERR_INPUT, "the network has too many inputs or outputs");
	for (size_t i = 0; i < n_in && !status; i++) {
		names_in[i] = in[i].name;
		values_in[i] = in[i].tensor->value;
		if (!values_in[i]) {
			status = wrap(o, in[i].tensor, &none, &made[i]);
			values_in[i] = made[i];
		}
	}
	if (!status)
		status = CALL(o, RUN,
			(void *, const void *, const char *const *, const void *const *, size_t,
				const char *const *, size_t, void **),
			s->session, s->run_options, names_in, values_in, n_in, out, n_out,
			values_out);
	for (size_t i = 0; i < n_in; i++) {
		if (made[i])
			RELEASE(o, RELEASE_VALUE, made[i]);
	}
	for (size_t i = 0; i < n_out; i++) {
		ret[i] = (struct onnx_tensor){ .value = values_out[i] };
		if (!status)
			status = look(o, &ret[i]);
		if (!status && ret[i].n_dims > ONNX_DIMS_MAX)
			r = err_set(reterr, ERR_INPUT, "the network's %s has too many dimensions",
				out[i]);
	}
	if (status) {
		r = fail(o, status, ERR_INPUT, "the network does not run", reterr);
		if (atomic_load(&s->stopped))
			r = err_set(reterr, ERR_CANCELLED, "cancelled");
	}
	for (size_t i = 0; r < 0 && i < n_out; i++)
		onnx_tensor_release(o, &ret[i]);
	return r;
}

void onnx_stop(struct onnx_session *s, bool stop)
{
	atomic_store(&s->stopped, stop);
	void *status =
		CALL(s->onnx, stop ? SET_TERMINATE : UNSET_TERMINATE, (void *), s->run_options);

	if (status)
		RELEASE(s->onnx, RELEASE_STATUS, status);
}

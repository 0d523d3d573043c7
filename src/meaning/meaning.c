#include "meaning/meaning.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/utf8.h"
#include "meaning/gloss.h"
#include "meaning/wordpiece.h"
#include "model/model.h"
#include "os/file.h"
#include "os/path.h"

static const char model_name[] = "meaning";
enum {
	TOKENS_MAX = 128,
	TEXT_MAX = 2000, /* bytes that are looked at */
	GLOSS_MAX = 64 * 1024 * 1024,
};

struct meaning {
	struct models *models;
	struct wordpiece *pieces;
	struct onnx *runtime;
	struct onnx_session *session;
	struct str gloss;
	bool gloss_read;
	struct err failed; /* it could not be opened: nobody waits for that twice */
};

struct meaning *meaning_new(const char *models_dir)
{
	struct meaning *m = xcalloc(1, sizeof(*m));

	m->models = models_new(models_dir);
	m->gloss = (struct str)STR_INIT;
	m->failed = (struct err)ERR_INIT;
	return m;
}

void meaning_free(struct meaning *m)
{
	if (!m)
		return;
	onnx_session_free(m->session);
	wordpiece_free(m->pieces);
	models_free(m->models);
	str_release(&m->gloss);
	free(m);
}

static char *gloss_path(const struct meaning *m)
{
	return xasprintf("%s/%s/german.txt", models_dir(m->models), model_name);
}

bool meaning_installed(const struct meaning *m)
{
	const struct model_def *def = model_find(sv_of(model_name));

	return def && models_state(m->models, def, false) != MODEL_MISSING;
}

static bool read_gloss(const struct meaning *m, struct str *ret)
{
	AUTO_FREE char *path = gloss_path(m);
	struct err err = ERR_INIT;

	return file_read(path, GLOSS_MAX, ret, &err) == 0 && gloss_sound(str_sv(ret));
}

bool meaning_has_german(const struct meaning *m)
{
	AUTO_STR gloss = STR_INIT;

	return read_gloss(m, &gloss);
}

bool meaning_ready(const struct meaning *m)
{
	return m->session != NULL;
}

int meaning_make_german(const struct meaning *m, const char *dictionary, struct err *reterr)
{
	AUTO_FREE char *path = gloss_path(m);

	if (!path_exists(dictionary))
		return err_set(reterr, ERR_NOTFOUND, "there is no dictionary %s", dictionary);
	return gloss_make(dictionary, path, reterr);
}

void meaning_drop_german(const struct meaning *m)
{
	AUTO_FREE char *path = gloss_path(m);

	(void)unlink(path);
}

static int open_all(struct meaning *m, struct err *reterr)
{
	const struct onnx_session_opts opts = { .threads = 1 };
	struct model_bytes json = { .mapped = NULL };
	int r = m->pieces ? 0 : models_map(m->models, model_name, "tokenizer.json", &json, reterr);

	if (r == 0 && !m->pieces)
		r = wordpiece_new(json.bytes, &m->pieces, reterr);
	model_bytes_release(&json);
	if (r == 0)
		r = models_runtime(m->models, &m->runtime, reterr);
	if (r == 0)
		r = models_session(m->models, model_name, "model.onnx", &opts, &m->session, reterr);
	return r;
}

/* The mean over the tokens, of length 1, as bytes. */
static int pool(const struct onnx_tensor *t, size_t n, int8_t *ret, struct err *reterr)
{
	double sum[MEANING_SIZE] = { 0 }, most = 0;
	const float *v = t->data;

	if (t->type != ONNX_F32 || t->n_dims != 3 || t->dims[1] != (int64_t)n ||
		t->dims[2] != MEANING_SIZE)
		return err_set(reterr, ERR_INPUT, "the network answers in another form");
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < MEANING_SIZE; k++)
			sum[k] += (double)v[i * MEANING_SIZE + k];
	for (size_t k = 0; k < MEANING_SIZE; k++)
		most = fmax(most, fabs(sum[k]));
	for (size_t k = 0; k < MEANING_SIZE; k++)
		ret[k] = (int8_t)(most > 0 ? lround(sum[k] / most * INT8_MAX) : 0);
	return 0;
}

int meaning_open(struct meaning *m, struct err *reterr)
{
	if (!m->session && m->failed.code == 0)
		(void)!open_all(m, &m->failed);
	if (m->session)
		return 0;
	if (reterr)
		*reterr = m->failed;
	return m->failed.code;
}

const char *meaning_failure(const struct meaning *m)
{
	return m->failed.code ? m->failed.msg : NULL;
}

int meaning_of(struct meaning *m, struct sv text, const char *language,
	int8_t ret[static MEANING_SIZE], struct err *reterr)
{
	bool german = strcmp(language, "de") == 0;
	AUTO_STR glossed = STR_INIT;
	int64_t ids[TOKENS_MAX], ones[TOKENS_MAX], zeros[TOKENS_MAX] = { 0 };

	if (!german && strcmp(language, "en") != 0)
		return err_set(reterr, ERR_INPUT, "no words in language %s", language);
	int r = meaning_open(m, reterr);
	if (r < 0)
		return r;
	text = utf8_cut(text, TEXT_MAX);
	if (german && !m->gloss_read) {
		m->gloss_read = true;
		if (!read_gloss(m, &m->gloss))
			str_clear(&m->gloss);
	}
	if (german && m->gloss.len == 0)
		return err_set(reterr, ERR_INPUT, "no dictionary for German");
	if (german) {
		gloss_text(str_sv(&m->gloss), text, &glossed);
		text = str_sv(&glossed);
	}
	size_t n = wordpiece_split(m->pieces, text, ids, TOKENS_MAX);
	for (size_t i = 0; i < n; i++)
		ones[i] = 1;
	const struct onnx_tensor in[] = {
		{ .type = ONNX_I64, .n_dims = 2, .dims = { 1, (int64_t)n }, .data = ids },
		{ .type = ONNX_I64, .n_dims = 2, .dims = { 1, (int64_t)n }, .data = ones },
		{ .type = ONNX_I64, .n_dims = 2, .dims = { 1, (int64_t)n }, .data = zeros },
	};
	const struct onnx_arg args[] = { { "input_ids", &in[0] }, { "attention_mask", &in[1] },
		{ "token_type_ids", &in[2] } };
	const char *const wanted[] = { "last_hidden_state" };
	struct onnx_tensor out = { .value = NULL };
	r = onnx_run(m->session, args, ARRAY_LEN(args), wanted, 1, &out, reterr);
	if (r == 0)
		r = pool(&out, n, ret, reterr);
	onnx_tensor_release(m->runtime, &out);
	return r;
}

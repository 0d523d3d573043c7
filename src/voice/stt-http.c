/*
 * A server that speaks as OpenAI's does: POST /v1/audio/transcriptions, a form with the sound as a
 * WAV; the answer is {"text": …}.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <sys/eventfd.h>

#include "base/mem.h"
#include "voice/http.h"
#include "voice/stt-driver.h"
#include "json/scan.h"

/* By chance it stands in no sound. */
#define BOUNDARY "faden-5d1f0c0a7be94c3f8f1b64d2"

struct http_engine {
	char *url, *key, *model, *prompt; /* all but url may be NULL */
	char language[8]; /* "": it finds out */
	int64_t timeout_ms;
	int cancel_fd; /* readable: stop */
};

static void close_http(void *self)
{
	struct http_engine *h = self;

	free(h->url);
	free(h->key);
	free(h->model);
	free(h->prompt);
	if (h->cancel_fd >= 0)
		(void)close(h->cancel_fd);
	free(h);
}

static int open_http(const struct stt_opts *opts, void **ret, struct err *reterr)
{
	AUTO_STR url = STR_INIT, prompt = STR_INIT;

	if (!opts->url || !*opts->url)
		return err_set(reterr, ERR_USAGE,
			"no server is set for speech to text: set stt.url, or another "
			"stt.provider");
	struct http_engine *h = xcalloc(1, sizeof(*h));
	http_url(&url, opts->url, "/audio/transcriptions");
	h->url = str_detach(&url);
	h->key = opts->key ? xstrdup(opts->key) : NULL;
	h->model = xstrdup(opts->model && *opts->model ? opts->model : "whisper-1");
	h->timeout_ms = opts->timeout_ms;
	if (opts->language && strcmp(opts->language, "auto") != 0)
		(void)snprintf(h->language, sizeof(h->language), "%s", opts->language);
	for (const char *const *w = opts->hot_words; w && *w; w++)
		str_addf(&prompt, "%s%s", prompt.len ? ", " : "", *w);
	h->prompt = prompt.len ? str_detach(&prompt) : NULL;
	h->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	*ret = h;
	return 0;
}

static void put_field(struct str *out, const char *name, const char *value)
{
	if (value && *value)
		str_addf(out,
			"--" BOUNDARY
			"\r\nContent-Disposition: form-data; name=\"%s\"\r\n\r\n%s\r\n",
			name, value);
}

static int on_body(void *data, struct sv bytes)
{
	struct str *answer = data;

	str_add(answer, bytes);
	return str_full(answer) ? ERR_LIMIT : 0;
}

int stt_answer(struct sv json, struct stt_result *result, struct err *reterr)
{
	/* Some servers write the language's name out. */
	static const struct {
		const char *name, *code;
	} names[] = { { "english", "en" }, { "german", "de" }, { "deutsch", "de" } };
	struct jval all, text, language;
	AUTO_STR name = STR_INIT;

	if (scan_text(json, &all) < 0 || scan_get(all, SV("text"), &text) <= 0 ||
		text.type != J_STRING)
		return err_set(
			reterr, -EBADMSG, "the server answers something that is no text of speech");
	(void)scan_string(text, &result->text);
	if (scan_get(all, SV("language"), &language) <= 0 || !scan_string(language, &name))
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		if (strcasecmp(name.buf, names[i].name) == 0 ||
			strcasecmp(name.buf, names[i].code) == 0)
			(void)snprintf(
				result->language, sizeof(result->language), "%s", names[i].code);
	}
	return 0;
}

static int run_http(
	void *self, const float *samples, size_t n, struct stt_result *result, struct err *reterr)
{
	struct http_engine *h = self;
	AUTO_STR body = STR_INIT, answer = STR_INIT;

	str_init_max(&answer, STT_ANSWER_MAX);
	put_field(&body, "model", h->model);
	put_field(&body, "language", h->language);
	put_field(&body, "prompt", h->prompt);
	put_field(&body, "response_format", "json");
	str_adds(&body,
		"--" BOUNDARY "\r\nContent-Disposition: form-data; name=\"file\"; "
		"filename=\"speech.wav\"\r\nContent-Type: audio/wav\r\n\r\n");
	stt_wav(&body, samples, n);
	str_adds(&body, "\r\n--" BOUNDARY "--\r\n");
	const struct http_request request = {
		.url = h->url,
		.key = h->key,
		.content_type = "multipart/form-data; boundary=" BOUNDARY,
		.body = str_sv(&body),
		.timeout_ms = h->timeout_ms,
		.cancel_fd = h->cancel_fd,
	};
	int r = http_post(&request, on_body, &answer, reterr);
	if (r == ERR_LIMIT)
		return err_set(reterr, r, "%s: the answer is too long", h->url);
	size_t before = result->text.len;
	if (r >= 0)
		r = stt_answer(str_sv(&answer), result, reterr);
	if (r >= 0)
		r = stt_believe(sv_from(str_sv(&result->text), before), n, "the server", reterr);
	if (r < 0 && r != ERR_CANCELLED)
		err_prefix(reterr, "speech to text");
	if (r >= 0 && !result->language[0])
		memcpy(result->language, h->language, sizeof(h->language));
	return r;
}

static void stop_http(void *self)
{
	struct http_engine *h = self;

	stt_signal(h->cancel_fd);
}

const struct stt_driver stt_http = {
	.name = "http",
	.open = open_http,
	.run = run_http,
	.stop = stop_http,
	.close = close_http,
};

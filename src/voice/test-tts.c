#include <arpa/inet.h>
#include <dlfcn.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cmocka.h>

#include "audio/sounds.h"
#include "base/clock.h"
#include "model/model.h"
#include "os/test-temp.h"
#include "voice/tts.h"

static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };

struct heard {
	struct samples samples;
	unsigned rate;
	size_t most; /* then it wants no more; 0: all */
};

static int hear(void *data, const int16_t *samples, size_t n, unsigned rate)
{
	struct heard *h = data;

	samples_add(&h->samples, samples, n);
	h->rate = rate;
	return h->most && h->samples.n >= h->most ? ERR_CANCELLED : 0;
}

/* The file of a tone that a program may print. */
static char *make_tone(const char *folder, struct samples *ret_tone)
{
	AUTO_STR bytes = STR_INIT;
	char *path = path_join(folder, "tone.wav");

	sound_make(SOUND_DING, 22050, ret_tone);
	wav_encode(&bytes, ret_tone->v, ret_tone->n, 22050);
	assert_int_equal(file_replace(path, str_sv(&bytes), 0600, NULL), 0);
	return path;
}

static struct tts *open_exec(const char *script, int64_t timeout_ms)
{
	const char *const command[] = { "sh", "-c", script, "sh", "{language}", NULL };
	const struct tts_opts opts = { .engine = "exec",
		.command = command,
		.search = "/usr/bin:/bin",
		.envp = environment,
		.timeout_ms = timeout_ms };
	struct tts *t = NULL;

	assert_int_equal(tts_new(&opts, &t, NULL), 0);
	return t;
}

static void test_a_program_speaks(void **state)
{
	struct err err = ERR_INIT;
	AUTO_SAMPLES tone = { 0 };
	AUTO_FREE char *path = make_tone(*state, &tone);
	AUTO_FREE char *said = path_join(*state, "said");
	AUTO_FREE char *script = xasprintf("{ cat; echo \" in $1\"; } > %s; cat %s", said, path);
	struct heard h = { 0 };
	struct tts *t = open_exec(script, 0);
	AUTO_STR text = STR_INIT;

	assert_int_equal(tts_say(t, SV("  Guten Tag. "), "de", hear, &h, &err), 0);
	assert_int_equal(h.rate, 22050);
	assert_int_equal(h.samples.n, tone.n);
	assert_memory_equal(h.samples.v, tone.v, tone.n * sizeof(*tone.v));
	assert_int_equal(file_read(said, 100, &text, &err), 0);
	assert_string_equal(text.buf, "Guten Tag. in de\n");
	/* Nothing to say is no error, and starts nothing. */
	assert_int_equal(unlink(said), 0);
	assert_int_equal(tts_say(t, SV(" \n"), "de", hear, &h, &err), 0);
	assert_false(path_exists(said));
	/* Who hears may have enough. */
	h.samples.n = 0;
	h.most = 1;
	assert_int_equal(tts_say(t, SV("Hello."), "en", hear, &h, &err), ERR_CANCELLED);
	samples_release(&h.samples);
	tts_free(t);
}

static void test_programs_that_fail(void **state)
{
	static const struct {
		const char *script;
		int r;
		const char *says;
		bool some; /* something was heard before */
	} rows[] = {
		{ "echo no such voice >&2; exit 3", ERR_AGENT, "exit status 3): no such voice",
			false },
		{ "kill -9 $$", ERR_AGENT, "signal 9", false },
		{ "true", ERR_INPUT, "not one byte", false },
		{ "echo hello", ERR_INPUT, "a WAV", false },
		{ "echo '<html>502 Bad Gateway</html>'", ERR_INPUT, "not a WAV", false },
		{ "head -c 44 tone.wav", ERR_AGENT, "said nothing", false },
		{ "head -c 20 tone.wav", ERR_INPUT, "ends before", false },
		{ "head -c 1000 tone.wav; echo crashed >&2; exit 1", ERR_AGENT, "crashed", true },
		{ "sleep 60", -ETIMEDOUT, "does not answer", false },
		{ "head -c 1000 tone.wav; sleep 60", -ETIMEDOUT, "does not answer", true },
		{ "exec < /dev/null; cat tone.wav", 0, "", true }, /* it does not listen */
		{ "head -c 1001 tone.wav", 0, "", true }, /* cut short: what is there is said */
	};
	AUTO_SAMPLES tone = { 0 };
	AUTO_FREE char *path = make_tone(*state, &tone);

	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		AUTO_FREE char *script =
			xasprintf("cd %s; %s", (const char *)*state, rows[i].script);
		int64_t patience = rows[i].r != -ETIMEDOUT ? 0 : rows[i].some ? 3000 : 300;
		struct tts *t = open_exec(script, patience);
		struct heard h = { 0 };
		struct err err = ERR_INIT;
		int r = tts_say(t, SV("Hello."), "en", hear, &h, &err);
		if (r != rows[i].r || !strstr(err.msg, rows[i].says) ||
			(h.samples.n > 0) != rows[i].some)
			fail_msg("%s: %d %s, %zu samples", rows[i].script, r, err.msg, h.samples.n);
		samples_release(&h.samples);
		tts_free(t);
	}
	(void)path;
}

static void test_what_is_not_there(void **state)
{
	const char *const nobody[] = { "no-such-program", NULL };
	struct err err = ERR_INIT;
	struct tts *t = NULL;
	struct tts_opts opts = { .engine = "espeak", .search = *state, .envp = environment };

	assert_int_equal(tts_new(&opts, &t, &err), ERR_NOTFOUND);
	assert_non_null(strstr(err.msg, "apt install espeak-ng"));
	opts.engine = "piper";
	assert_int_equal(tts_new(&opts, &t, &err), ERR_NOTFOUND);
	opts.engine = "exec";
	assert_int_equal(tts_new(&opts, &t, &err), ERR_USAGE);
	opts.command = nobody;
	assert_int_equal(tts_new(&opts, &t, &err), ERR_NOTFOUND);
	opts.engine = "http";
	assert_int_equal(tts_new(&opts, &t, &err), ERR_USAGE);
	assert_non_null(strstr(err.msg, "tts.url"));
	opts.engine = "drum";
	assert_int_equal(tts_new(&opts, &t, &err), ERR_USAGE);
	assert_null(t);
	tts_free(NULL);
}

/* A voice whose parts are missing or wrong: said when it is to speak. */
static void test_voices_that_are_none(void **state)
{
	static const struct {
		const char *config; /* NULL: none */
		int r;
		const char *says;
	} rows[] = {
		{ NULL, ERR_NOTFOUND, ".onnx.json is missing" },
		{ "", ERR_INPUT, "not what belongs to a voice" },
		{ "{\"audio\": {\"sample_rate\": 1e9}, \"phoneme_id_map\": {}}", ERR_INPUT,
			"not what belongs to a voice" },
		{ "{\"audio\": {\"sample_rate\": 22050}, \"phoneme_id_map\": {}}", ERR_NOTFOUND,
			"install" },
	};
	AUTO_FREE char *program = path_find_program("espeak-ng", "/usr/bin:/bin");

	if (!program)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct models *models = models_new(*state);
		AUTO_FREE char *home = xasprintf("HOME=%s", (const char *)*state);
		const char *const with_home[] = { "PATH=/usr/bin:/bin", home, NULL };
		const struct tts_opts opts = { .voice = "de=none.onnx,en=~/x.onnx",
			.models = models,
			.search = "/usr/bin:/bin",
			.envp = with_home };
		struct err err = ERR_INIT;
		struct heard h = { 0 };
		struct tts *t = NULL;
		AUTO_FREE char *config =
			rows[i].config ? temp_write(*state, "x.onnx.json", rows[i].config) : NULL;
		if (i == 0) {
			struct tts_opts unset = opts;
			unset.engine = "piper";
			unset.voice = NULL;
			assert_int_equal(tts_new(&unset, &t, &err), ERR_USAGE);
			assert_non_null(strstr(err.msg, "set tts.voice"));
			assert_int_equal(tts_new(&opts, &t, &err), ERR_NOTFOUND);
			assert_non_null(strstr(err.msg, "none.onnx is not there"));
		}
		AUTO_FREE char *network = temp_write(*state, "x.onnx", "");
		assert_int_equal(tts_new(&opts, &t, &err), 0);
		tts_warm(t);
		int r = tts_say(t, SV("Hello."), "en", hear, &h, &err);
		if (r != rows[i].r || !strstr(err.msg, rows[i].says))
			fail_msg("%zu: %d %s", i, r, err.msg);
		tts_free(t);
		models_free(models);
	}
}

static void *cancel_soon(void *data)
{
	(void)poll(NULL, 0, 50);
	tts_cancel(data);
	return NULL;
}

static void test_cancelled(void **state)
{
	struct err err = ERR_INIT;
	AUTO_SAMPLES tone = { 0 };
	AUTO_FREE char *path = make_tone(*state, &tone);
	AUTO_FREE char *script =
		xasprintf("read first; cat %s; [ \"$first\" = go ] || sleep 60", path);
	struct tts *t = open_exec(script, 0);
	struct heard h = { 0 };
	pthread_t id;

	int64_t begun = clock_run_ms();
	assert_int_equal(pthread_create(&id, NULL, cancel_soon, t), 0);
	assert_int_equal(tts_say(t, SV("stay\n"), "en", hear, &h, &err), ERR_CANCELLED);
	assert_true(clock_run_ms() - begun < 30000);
	pthread_join(id, NULL);
	assert_int_equal(h.samples.n, tone.n);
	/* In force until it is taken back, however often it was said. */
	tts_cancel(t);
	assert_int_equal(tts_say(t, SV("go"), "en", hear, &h, &err), ERR_CANCELLED);
	tts_again(t);
	assert_int_equal(tts_say(t, SV("go"), "en", hear, &h, &err), 0);
	tts_again(t);
	assert_int_equal(h.samples.n, 2 * tone.n);
	samples_release(&h.samples);
	tts_free(t);
}

static void test_espeak(void **state)
{
	static const char *const voices[] = { NULL, "+f3", "de=de+f2,en=en-us" };
	struct err err = ERR_INIT;
	AUTO_FREE char *program = path_find_program("espeak-ng", "/usr/bin:/bin");

	(void)state;
	if (!program)
		skip();
	for (size_t i = 0; i < ARRAY_LEN(voices); i++) {
		const struct tts_opts opts = { .engine = "espeak",
			.voice = voices[i],
			.search = "/usr/bin:/bin",
			.envp = environment,
			.speed = i == 0 ? 1 : 1.5 };
		struct tts *t = NULL;
		struct heard h = { 0 };
		assert_int_equal(tts_new(&opts, &t, &err), 0);
		assert_int_equal(tts_say(t, SV("Schöne Grüße aus Köln."), "de", hear, &h, &err), 0);
		assert_true(h.samples.n > h.rate / 2 && h.samples.n < h.rate * 5);
		h.samples.n = 0;
		assert_int_equal(
			tts_say(t, SV("[[ no sounds ]] -- -v xx"), "en", hear, &h, &err), 0);
		assert_true(h.samples.n > h.rate / 2);
		samples_release(&h.samples);
		tts_free(t);
	}
	const struct tts_opts wrong = {
		.engine = "espeak", .voice = "xx", .search = "/usr/bin:/bin", .envp = environment
	};
	struct tts *t = NULL;
	struct heard h = { 0 };
	assert_int_equal(tts_new(&wrong, &t, &err), 0);
	assert_true(tts_say(t, SV("Hello."), "en", hear, &h, &err) < 0);
	assert_string_not_equal(err.msg, "");
	tts_free(t);
	samples_release(&h.samples);
}

/* ---- a server that answers one request with what it is told ---- */

struct server {
	int fd;
	uint16_t port;
	struct str answer;
	struct str request;
	bool hangs; /* after the answer, until the other goes */
	pthread_t id;
};

static void *serve(void *data)
{
	struct server *s = data;
	char buf[4096];
	int fd = accept(s->fd, NULL, NULL);

	for (;;) {
		size_t head;
		ssize_t n = recv(fd, buf, sizeof(buf), 0);
		if (n <= 0)
			break;
		str_add(&s->request, sv_make(buf, (size_t)n));
		/* Our own body ends with the only one of these. */
		if (sv_find(str_sv(&s->request), SV("\r\n\r\n"), &head) &&
			s->request.buf[s->request.len - 1] == '}')
			break;
	}
	(void)send(fd, s->answer.buf, s->answer.len, MSG_NOSIGNAL);
	if (s->hangs)
		(void)recv(fd, buf, sizeof(buf), 0);
	close(fd);
	return NULL;
}

static void server_start(struct server *s, const char *head, struct sv body)
{
	struct sockaddr_in where = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t size = sizeof(where);

	s->answer = s->request = (struct str)STR_INIT;
	str_adds(&s->answer, head);
	str_add(&s->answer, body);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(s->fd, (struct sockaddr *)&where, sizeof(where)), 0);
	assert_int_equal(listen(s->fd, 4), 0);
	assert_int_equal(getsockname(s->fd, (struct sockaddr *)&where, &size), 0);
	s->port = ntohs(where.sin_port);
	assert_int_equal(pthread_create(&s->id, NULL, serve, s), 0);
}

static void server_end(struct server *s)
{
	pthread_join(s->id, NULL);
	close(s->fd);
	str_release(&s->answer);
	str_release(&s->request);
}

static bool has_curl(void)
{
	return dlopen("libcurl.so.4", RTLD_NOW) || dlopen("libcurl-gnutls.so.4", RTLD_NOW);
}

static struct tts *open_http(uint16_t port, int64_t timeout_ms)
{
	AUTO_FREE char *url = xasprintf("http://127.0.0.1:%u/v1/", port);
	const struct tts_opts opts = { .engine = "http",
		.url = url,
		.key = "secret-key",
		.model = "kokoro",
		.voice = "sage",
		.speed = 1.25,
		.envp = environment,
		.timeout_ms = timeout_ms };
	struct tts *t = NULL;

	assert_int_equal(tts_new(&opts, &t, NULL), 0);
	return t;
}

static void test_a_server_speaks(void **state)
{
	struct err err = ERR_INIT;
	AUTO_SAMPLES tone = { 0 };
	AUTO_FREE char *path = make_tone(*state, &tone);
	AUTO_STR wav = STR_INIT;
	struct server s = { 0 };
	struct heard h = { 0 };

	if (!has_curl())
		skip();
	assert_int_equal(file_read(path, 1 << 20, &wav, &err), 0);
	server_start(&s, "HTTP/1.1 200 OK\r\nContent-Type: audio/wav\r\nConnection: close\r\n\r\n",
		str_sv(&wav));
	struct tts *t = open_http(s.port, 0);
	assert_int_equal(tts_say(t, SV("Say \"hi\"."), "en", hear, &h, &err), 0);
	assert_int_equal(h.rate, 22050);
	assert_int_equal(h.samples.n, tone.n);
	assert_non_null(strstr(s.request.buf, "POST /v1/audio/speech HTTP/1.1\r\n"));
	assert_non_null(strstr(s.request.buf, "Authorization: Bearer secret-key\r\n"));
	assert_non_null(strstr(s.request.buf,
		"{\"model\":\"kokoro\",\"voice\":\"sage\",\"input\":\"Say \\\"hi\\\".\","
		"\"response_format\":\"wav\",\"speed\":1.25}"));
	tts_free(t);
	server_end(&s);
	/* One that only has raw samples says so. */
	h.samples.n = 0;
	server_start(&s, "HTTP/1.1 200 OK\r\nContent-Type: audio/pcm\r\nConnection: close\r\n\r\n",
		sv_make((const char *)tone.v, tone.n * 2));
	t = open_http(s.port, 0);
	assert_int_equal(tts_say(t, SV("hi"), "en", hear, &h, &err), 0);
	assert_int_equal(h.rate, 24000);
	assert_int_equal(h.samples.n, tone.n);
	assert_memory_equal(h.samples.v, tone.v, tone.n * 2);
	samples_release(&h.samples);
	tts_free(t);
	server_end(&s);
}

static void test_servers_that_fail(void **state)
{
	static const struct {
		const char *head;
		const char *body;
		bool hangs;
		int r;
		const char *says;
	} rows[] = {
		{ "HTTP/1.1 401 Unauthorized\r\nConnection: close\r\n\r\n",
			"{\"error\": {\"message\": \"no\x1b[2J key\"}}", false, ERR_AGENT,
			"answers 401: {\"error\": {\"message\": \"no key" },
		{ "HTTP/1.1 500 Oh\r\nContent-Length: 0\r\n\r\n", "", false, ERR_AGENT,
			"answers 500" },
		{ "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/\r\nContent-Length: "
		  "0\r\n\r\n",
			"", false, ERR_AGENT, "answers 302" },
		{ "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n", "<html>welcome</html>", false,
			ERR_INPUT, "not a WAV" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "", false, ERR_INPUT,
			"not one byte" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "RIFF", false, -EIO, "" },
		{ "gibberish\r\n\r\n", "", false, -EIO, "" },
		{ "", "", false, -EIO, "" },
		{ "", "", true, -ETIMEDOUT, "does not answer" },
		{ "HTTP/1.1 200 OK\r\nContent-Length: 5000\r\n\r\n", "RIFF", true, -ETIMEDOUT,
			"does not answer" },
	};

	(void)state;
	if (!has_curl())
		skip();
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct server s = { .hangs = rows[i].hangs };
		struct heard h = { 0 };
		struct err err = ERR_INIT;
		server_start(&s, rows[i].head, sv_of(rows[i].body));
		struct tts *t = open_http(s.port, rows[i].hangs ? 300 : 0);
		int r = tts_say(t, SV("hi"), "en", hear, &h, &err);
		if (r != rows[i].r || !strstr(err.msg, rows[i].says) || strstr(err.msg, "secret"))
			fail_msg("%zu: %d %s", i, r, err.msg);
		tts_free(t);
		server_end(&s);
		samples_release(&h.samples);
	}
	/* Nobody there. */
	struct server s = { 0 };
	struct heard h = { 0 };
	struct err err = ERR_INIT;
	server_start(&s, "", SV(""));
	uint16_t port = s.port;
	struct tts *t = open_http(port, 0);
	assert_true(tts_say(t, SV("hi"), "en", hear, &h, &err) < 0);
	server_end(&s);
	assert_int_equal(tts_say(t, SV("hi"), "en", hear, &h, &err), -ECONNREFUSED);
	tts_free(t);
	/* Cancelled while it hangs. */
	struct server slow = { .hangs = true };
	pthread_t id;
	server_start(&slow, "", SV(""));
	t = open_http(slow.port, 0);
	assert_int_equal(pthread_create(&id, NULL, cancel_soon, t), 0);
	assert_int_equal(tts_say(t, SV("hi"), "en", hear, &h, &err), ERR_CANCELLED);
	pthread_join(id, NULL);
	tts_free(t);
	server_end(&slow);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_a_program_speaks),
		WITH_FOLDER(test_programs_that_fail),
		WITH_FOLDER(test_what_is_not_there),
		WITH_FOLDER(test_voices_that_are_none),
		WITH_FOLDER(test_cancelled),
		cmocka_unit_test(test_espeak),
		WITH_FOLDER(test_a_server_speaks),
		cmocka_unit_test(test_servers_that_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

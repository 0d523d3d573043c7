#include <errno.h>
#include <math.h>
#include <pthread.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "voice/decoder.h"
#include "voice/spans.h"
#include "voice/stt.h"
#include "voice/words.h"

static void test_words_json(void **state)
{
	struct words w = WORDS_INIT;
	struct err err = ERR_INIT;
	AUTO_STR out = STR_INIT;
	int64_t got[8];

	(void)state;
	/* Ġ is a blank, Ã and ¼ the two bytes of ü. */
	assert_int_equal(words_from_json(&w,
				 SV("{\"\\u0120Hall\":3,\"o\":0,\"\\u00c3\\u00bc\":7,"
				    "\"\\u00c3\":5,\"\\u00bc\":6,\"Ha\":1}"),
				 &err),
		0);
	words_add(&w, 3, &out);
	words_add(&w, 0, &out);
	words_add(&w, 7, &out);
	words_add(&w, 99999999, &out);
	words_add(&w, -1, &out);
	words_add(&w, 4, &out);
	assert_string_equal(out.buf, " Halloü");
	/* The longest first; what nothing begins with is left out. */
	assert_int_equal(words_split(&w, SV(" Hallo?üHa"), got, 8), 4);
	assert_int_equal(got[0], 3);
	assert_int_equal(got[1], 0);
	assert_int_equal(got[2], 7);
	assert_int_equal(got[3], 1);
	assert_int_equal(words_split(&w, SV(" Hallo"), got, 1), 1);
	words_release(&w);
}

static void test_words_damaged(void **state)
{
	static const char *const bad[] = { "", "[]", "{\"a\":-1}", "{\"a\":131072}",
		"{\"a\":\"b\"}", "{\"a\":1", "nonsense" };

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		struct words w = WORDS_INIT;
		struct err err = ERR_INIT;
		assert_int_equal(words_from_json(&w, sv_of(bad[i]), &err), ERR_INPUT);
		words_release(&w);
	}
}

static void test_words_script(void **state)
{
	struct words w = WORDS_INIT;
	struct err err = ERR_INIT;
	AUTO_STR out = STR_INIT;

	(void)state;
	/* "<unk>\n<0x41>\n▁hey\nb▁c" */
	assert_int_equal(
		words_from_script(&w,
			SV("var vocab_base64 = \"PHVuaz4KPDB4NDE+CuKWgWhleQpi4paBYw==\";"), &err),
		0);
	for (int i = 1; i < 4; i++)
		words_add(&w, i, &out);
	assert_string_equal(out.buf, "A heyb c");
	words_release(&w);
	assert_int_equal(words_from_script(&w, SV("nothing"), &err), ERR_INPUT);
	assert_int_equal(words_from_script(&w, SV("vocab_base64 = \"%%%\""), &err), ERR_INPUT);
	words_release(&w);
}

static void test_loop(void **state)
{
	const int64_t sane[] = { 1, 2, 3, 4, 5, 5, 6 };
	const int64_t twice[] = { 9, 8, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6 };
	const int64_t one[] = { 7, 5, 5, 5, 5 };
	const int64_t no_no[] = { 7, 5, 5, 5 };

	(void)state;
	assert_int_equal(decoder_cut_loop(sane, 7), 7);
	assert_int_equal(decoder_cut_loop(twice, 14), 8);
	assert_int_equal(decoder_cut_loop(one, 5), 2);
	assert_int_equal(decoder_cut_loop(no_no, 4), 4);
	assert_int_equal(decoder_cut_loop(one, 0), 0);
	/* The whole of a text twice is one; a short word may be said twice. */
	assert_int_equal(decoder_cut_echo(twice + 2, 12, 3), 6);
	assert_int_equal(decoder_cut_echo(twice, 14, 3), 14);
	assert_int_equal(decoder_cut_echo(one + 1, 4, 3), 4);
	assert_int_equal(decoder_cut_echo(one, 0, 3), 0);
	assert_int_equal(decoder_cut_echo(one + 1, 4, 1), 1);
	assert_int_equal(decoder_cut_echo(no_no, 4, 1), 4);
}

/* ---- a program of the user's ---- */

enum { RATE = 16000 };

static void tone(int16_t *out, size_t n, double amplitude)
{
	for (size_t i = 0; i < n; i++)
		out[i] = (int16_t)(amplitude * sin(2 * M_PI * 300 * (double)i / RATE));
}

/* Two seconds, in the middle a sound. */
static const int16_t *utterance(void)
{
	static int16_t s[2 * RATE];

	tone(s + RATE / 2, RATE, 1000);
	return s;
}

static struct stt *program(const char *script, int64_t timeout_ms)
{
	const char *const command[] = { "/bin/sh", "-c", script, NULL };
	const struct stt_opts opts = { .engine = "exec",
		.language = "de",
		.command = command,
		.envp = (const char *const *)environ,
		.timeout_ms = timeout_ms };
	struct stt *s = NULL;
	struct err err = ERR_INIT;

	if (stt_new(&opts, &s, &err) < 0)
		fail_msg("%s", err.msg);
	return s;
}

static void test_program(void **state)
{
	static const int16_t silence[RATE];
	/* What it gets is a WAV, trimmed: less than 2 s. */
	struct stt *s = program("head -c 4; n=$(wc -c); [ $n -gt 32000 ] && [ $n -lt 60000 ] && "
				"printf ' und \\033[1mmehr\\n\\n'",
		10000);
	struct stt_result result = { .text = STR_INIT };
	struct err err = ERR_INIT;

	(void)state;
	if (stt_run(s, utterance(), 2 * RATE, &result, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(result.text.buf, "RIFF und mehr");
	assert_string_equal(result.language, "de");
	/* Nobody spoke: it is not asked. */
	assert_int_equal(stt_run(s, silence, RATE, &result, &err), 0);
	assert_string_equal(result.text.buf, "");
	stt_result_release(&result);
	stt_free(s);
}

static void test_program_fails(void **state)
{
	const struct stt_opts none = { .engine = "exec" }, unknown = { .engine = "magic" };
	struct stt *s = program("echo no such model >&2; exit 3", 10000);
	struct stt_result result = { .text = STR_INIT };
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(stt_run(s, utterance(), 2 * RATE, &result, &err), ERR_AGENT);
	assert_non_null(strstr(err.msg, "no such model"));
	stt_free(s);
	/* Bytes that nobody has said. */
	static const char *const junk[] = { "printf '\\377\\376\\001'", "printf 'one\\0two'",
		"printf '\\001\\002\\003 abc \\004'", "yes and so on | head -n 100" };
	for (size_t i = 0; i < sizeof(junk) / sizeof(*junk); i++) {
		AUTO_FREE char *script = xasprintf("cat >/dev/null; %s", junk[i]);
		s = program(script, 10000);
		assert_int_equal(stt_run(s, utterance(), 2 * RATE, &result, &err), -EBADMSG);
		assert_non_null(strstr(err.msg, "no text of speech"));
		stt_free(s);
	}
	s = program("exec sleep 100", 200);
	assert_int_equal(stt_run(s, utterance(), 2 * RATE, &result, &err), -ETIMEDOUT);
	assert_non_null(strstr(err.msg, "does not answer"));
	stt_free(s);
	assert_int_equal(stt_new(&none, &s, &err), ERR_USAGE);
	assert_int_equal(stt_new(&unknown, &s, &err), ERR_USAGE);
	/* It is known before anything is said. */
	static const char *const nowhere[] = { "/nowhere/x", NULL },
				 *const folder[] = { "/", NULL };
	const struct stt_opts opts[] = { { .engine = "exec", .command = nowhere },
		{ .engine = "exec", .command = folder } };
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(stt_look(&opts[i], false, &err), ERR_NOTFOUND);
		assert_non_null(strstr(err.msg, "set stt.command"));
	}
}

static void *cancel_soon(void *data)
{
	(void)usleep(200 * 1000);
	stt_cancel(data);
	return NULL;
}

static void test_program_cancelled(void **state)
{
	struct stt *s = program("exec sleep 100", 60000);
	struct stt_result result = { .text = STR_INIT };
	struct err err = ERR_INIT;
	pthread_t thread;

	(void)state;
	assert_int_equal(pthread_create(&thread, NULL, cancel_soon, s), 0);
	assert_int_equal(stt_run(s, utterance(), 2 * RATE, &result, &err), ERR_CANCELLED);
	(void)pthread_join(thread, NULL);
	stt_free(s);
	/* One that comes before it has begun counts as well. */
	s = program("exec sleep 100", 60000);
	stt_cancel(s);
	assert_int_equal(stt_run(s, utterance(), 2 * RATE, &result, &err), ERR_CANCELLED);
	stt_free(s);
}

/* ---- levels and spans ---- */

static void test_gain(void **state)
{
	static int16_t s[3 * RATE];

	(void)state;
	tone(s, 3 * RATE, 100);
	assert_in_range((int)(level_gain(s, 3 * RATE) * 100 / (float)sqrt(2)), 3100, 3400);
	/* One loud knock: it must not clip, nor be taken for speech. */
	s[1000] = 16000;
	assert_in_range((int)(level_gain(s, 3 * RATE) * 100), 195, 205);
	tone(s, 3 * RATE, 1);
	assert_true(level_gain(s, 3 * RATE) <= 100.0F);
	tone(s, 3 * RATE, 32767);
	assert_true(level_gain(s, 3 * RATE) <= 1.0F);
	assert_float_equal(level_gain(s, 0), 1.0F, 0.0F);
}

static void test_spans(void **state)
{
	static int16_t s[6 * RATE];
	struct speech_span spans[4];
	struct vad *vad = NULL;
	struct err err = ERR_INIT;

	(void)state;
	assert_int_equal(vad_new("energy", NULL, &vad, &err), 0);
	assert_int_equal(spans_find(vad, s, 0, spans, 4), 0);
	assert_int_equal(spans_find(vad, s, 6 * RATE, spans, 4), 0);
	tone(s + 2 * RATE, RATE, 1000);
	tone(s + 4 * RATE, RATE, 1000);
	assert_int_equal(spans_find(vad, s, 6 * RATE, spans, 4), 2);
	/* With a margin, but never outside. */
	assert_in_range(spans[0].from, 2 * RATE - RATE / 2, 2 * RATE);
	assert_in_range(spans[0].to, 3 * RATE, 3 * RATE + RATE / 2);
	/* Up to the end of what there is. */
	tone(s + 4 * RATE, 2 * RATE, 1000);
	assert_int_equal(spans_find(vad, s, 6 * RATE, spans, 4), 2);
	assert_int_equal(spans[1].to, 6 * RATE);
	/* No more than there is room for. */
	assert_int_equal(spans_find(vad, s, 6 * RATE, spans, 1), 1);
	vad_free(vad);
	assert_int_equal(vad_new("magic", NULL, &vad, &err), ERR_USAGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words_json),
		cmocka_unit_test(test_words_damaged),
		cmocka_unit_test(test_words_script),
		cmocka_unit_test(test_loop),
		cmocka_unit_test(test_program),
		cmocka_unit_test(test_program_fails),
		cmocka_unit_test(test_program_cancelled),
		cmocka_unit_test(test_gain),
		cmocka_unit_test(test_spans),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

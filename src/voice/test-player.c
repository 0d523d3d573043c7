#include <errno.h>
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/clock.h"
#include "os/test-temp.h"
#include "voice/player.h"

enum { RATE = 16000 };

/* What was told, as text: "+1" begins, "-1" ends, "!1" fails, "x1" was stopped, "." idle. */
struct talk {
	struct loop *loop;
	struct player *player;
	char *path;
	struct str told;
	struct err err;
	bool idle;
	bool free_it; /* at the next event */
	uint64_t stop_at; /* when this one begins; 0: never */
	uint64_t hold_at; /* the same, for a pause */
	uint64_t heard; /* samples that had been handed over when it was stopped */
};

static void on_event(void *data, const struct player_event *e)
{
	struct talk *t = data;

	str_addf(&t->told, "%s%llu",
		e->kind == PLAYER_BEGINS	? "+"
			: e->r == 0		? "-"
			: e->r == ERR_CANCELLED ? "x"
						: "!",
		(unsigned long long)e->id);
	if (e->r < 0) {
		t->err = *e->err;
		assert_string_not_equal(e->err->msg, "");
	}
	if (e->kind == PLAYER_ENDS && e->idle) {
		str_addc(&t->told, '.');
		t->idle = true;
	}
	if (e->kind == PLAYER_BEGINS && t->stop_at == e->id) {
		player_stop(t->player);
		t->heard = player_heard(t->player);
	}
	if (e->kind == PLAYER_BEGINS && t->hold_at == e->id) {
		player_hold(t->player, true);
		t->heard = player_heard(t->player);
		t->idle = true;
	}
	if (t->free_it) {
		t->free_it = false;
		player_free(TAKE_PTR(t->player));
		t->idle = true;
	}
}

/* An engine that says as many seconds of a tone as the text has letters, tenths each. */
static struct tts *engine(const char *folder)
{
	AUTO_STR bytes = STR_INIT;
	AUTO_FREE char *path = path_join(folder, "second.wav");
	AUTO_FREE char *script =
		xasprintf("read -r text; case $text in fail*) exit 1;; slow*) "
			  "sleep 60;; endless*) cat %s; exec cat /dev/zero;; esac; "
			  "n=$((44 + ${#text} * 3200)); head -c $n %s",
			path, path);
	const char *const command[] = { "sh", "-c", script, NULL };
	static const char *const environment[] = { "PATH=/usr/bin:/bin", NULL };
	const struct tts_opts opts = {
		.engine = "exec", .command = command, .search = "/usr/bin:/bin", .envp = environment
	};
	struct tts *t = NULL;
	AUTO_FREE int16_t *tone = xcalloc(10 * RATE, sizeof(*tone));

	for (size_t i = 0; i < (size_t)10 * RATE; i++)
		tone[i] = i / 20 % 2 ? 5000 : -5000;
	wav_encode(&bytes, tone, (size_t)10 * RATE, RATE);
	/* So that it can be cut, or go on for ever. */
	memset(bytes.buf + 40, 0xff, 4);
	assert_int_equal(file_replace(path, str_sv(&bytes), 0600, NULL), 0);
	assert_int_equal(tts_new(&opts, &t, NULL), 0);
	return t;
}

static void begin_as(struct talk *t, const char *folder, bool speaks, bool paced, bool mute)
{
	*t = (struct talk){
		.loop = loop_new(), .path = path_join(folder, "out.wav"), .told = STR_INIT
	};
	const struct audio_opts out = {
		.driver = "wav", .device = t->path, .fd = -1, .rate = RATE, .paced = paced
	};
	const struct player_opts opts = {
		.out = &out, .tts = speaks ? engine(folder) : NULL, .mute = mute
	};
	assert_int_equal(player_new(t->loop, &opts, on_event, t, &t->player, NULL), 0);
}

static void begin(struct talk *t, const char *folder, bool speaks, bool paced)
{
	begin_as(t, folder, speaks, paced, false);
}

static void run(struct talk *t)
{
	t->idle = false;
	assert_int_equal(loop_run(t->loop, &t->idle, NULL), 0);
}

static void end(struct talk *t)
{
	player_free(t->player);
	loop_free(t->loop);
	free(t->path);
	str_release(&t->told);
}

static size_t written(const struct talk *t)
{
	AUTO_SAMPLES s = { 0 };

	assert_int_equal(wav_load(t->path, 0, 3600, &s, NULL, NULL), 0);
	return s.n;
}

static void test_in_order(void **state)
{
	struct talk t;

	begin(&t, *state, true, false);
	assert_false(player_busy(t.player));
	assert_int_equal(player_sound(t.player, SOUND_DING), 1);
	assert_int_equal(player_say(t.player, SV("abc"), "en"), 2);
	assert_int_equal(player_say(t.player, SV("ab"), "en"), 3);
	assert_int_equal(player_sound(t.player, SOUND_READY), 4);
	assert_true(player_busy(t.player));
	run(&t);
	assert_string_equal(t.told.buf, "+1-1+2-2+3-3+4-4.");
	assert_false(player_busy(t.player));
	assert_int_equal(written(&t), RATE / 5 + RATE * 5 / 10 + RATE * 3 / 10);
	assert_int_equal(player_heard(t.player), written(&t));
	/* And once more, behind what the file has. */
	str_clear(&t.told);
	(void)player_say(t.player, SV("a"), "en");
	run(&t);
	assert_string_equal(t.told.buf, "+5-5.");
	assert_int_equal(written(&t), RATE / 5 + RATE * 6 / 10 + RATE * 3 / 10);
	end(&t);
}

static void test_failures_do_not_end_it(void **state)
{
	struct talk t;

	begin(&t, *state, true, false);
	(void)player_say(t.player, SV("a"), "en");
	(void)player_say(t.player, SV("fail"), "en");
	(void)player_say(t.player, SV("b"), "en");
	run(&t);
	assert_string_equal(t.told.buf, "+1-1!2+3-3.");
	assert_int_equal(t.err.code, ERR_AGENT);
	end(&t);
	/* Nothing that speaks: sounds are heard. */
	begin(&t, *state, false, false);
	(void)player_say(t.player, SV("a"), "en");
	(void)player_sound(t.player, SOUND_ERROR);
	run(&t);
	assert_string_equal(t.told.buf, "!1+2-2.");
	assert_int_equal(t.err.code, ERR_NOTFOUND);
	end(&t);
}

static void test_no_loudspeaker(void **state)
{
	struct talk t = {
		.loop = loop_new(), .path = path_join(*state, "no/out.wav"), .told = STR_INIT
	};
	const struct audio_opts out = { .driver = "wav", .device = t.path, .fd = -1 };
	const struct player_opts opts = { .out = &out };

	assert_int_equal(player_new(t.loop, &opts, on_event, &t, &t.player, NULL), 0);
	(void)player_sound(t.player, SOUND_DING);
	run(&t);
	assert_string_equal(t.told.buf, "!1.");
	assert_int_equal(t.err.code, -ENOENT);
	/* It is tried again. */
	AUTO_FREE char *made = temp_write(*state, "no/other", "");
	(void)player_sound(t.player, SOUND_DING);
	run(&t);
	assert_string_equal(t.told.buf, "!1.+2-2.");
	end(&t);
	/* A disk that is full: what comes after fails too, and does not begin the file anew. */
	begin(&t, *state, false, false);
	player_free(t.player);
	const struct audio_opts full = { .driver = "raw", .device = "/dev/full", .fd = -1 };
	const struct player_opts to_full = { .out = &full };
	assert_int_equal(player_new(t.loop, &to_full, on_event, &t, &t.player, NULL), 0);
	(void)player_sound(t.player, SOUND_DING);
	(void)player_sound(t.player, SOUND_DING);
	run(&t);
	assert_string_equal(t.told.buf, "+1!1!2.");
	assert_int_equal(t.err.code, -ENOSPC);
	end(&t);
}

static void test_stopped(void **state)
{
	struct talk t;

	begin(&t, *state, true, true);
	(void)player_say(t.player, SV("abcdefghi"), "en"); /* 0.9 s */
	(void)player_say(t.player, SV("abc"), "en");
	(void)player_sound(t.player, SOUND_READY);
	t.stop_at = 1;
	run(&t);
	assert_string_equal(t.told.buf, "+1x1x2x3.");
	/* In samples: the piece that was being written, 20 ms, and not one more. */
	assert_in_range(written(&t) - t.heard, 0, RATE / 50);
	/* What is queued after a stop is said. */
	str_clear(&t.told);
	t.stop_at = 0;
	(void)player_say(t.player, SV("slow"), "en");
	player_stop(t.player);
	player_stop(t.player);
	(void)player_say(t.player, SV("a"), "en");
	run(&t);
	assert_string_equal(t.told.buf, "x4+5-5.");
	/* Nothing to stop: nothing is told, and the next is not meant. */
	str_clear(&t.told);
	player_stop(t.player);
	(void)player_sound(t.player, SOUND_THINKING);
	run(&t);
	assert_string_equal(t.told.buf, "+6-6.");
	end(&t);
}

/* A pause: at most the piece that was being written comes, and afterwards all the rest. */
static void test_held(void **state)
{
	struct talk t;

	begin(&t, *state, true, true);
	(void)player_say(t.player, SV("abcdefghi"), "en");
	(void)player_say(t.player, SV("a"), "en");
	t.hold_at = 1;
	run(&t);
	assert_true(player_loudness(t.player) <= 5000);
	/* As long as all of it would take. */
	for (int64_t until = clock_run_ms() + 1100; clock_run_ms() < until;)
		assert_int_equal(loop_step(t.loop, 50, NULL), 0);
	assert_in_range(player_heard(t.player) - t.heard, 0, RATE / 50);
	assert_true(player_loudness(t.player) == 0);
	assert_string_equal(t.told.buf, "+1");
	player_hold(t.player, false);
	run(&t);
	assert_string_equal(t.told.buf, "+1-1+2-2.");
	assert_int_equal(written(&t), RATE);
	/* A stop drops what waits, and the pause goes on. */
	str_clear(&t.told);
	player_hold(t.player, true);
	(void)player_say(t.player, SV("a"), "en");
	player_stop(t.player);
	run(&t);
	assert_string_equal(t.told.buf, "x3.");
	end(&t);
}

static void test_freed_while_it_speaks(void **state)
{
	struct talk t;

	begin(&t, *state, true, true);
	(void)player_say(t.player, SV("abcdefghi"), "en");
	(void)player_say(t.player, SV("slow"), "en");
	t.free_it = true;
	run(&t);
	assert_string_equal(t.told.buf, "+1x1x2.");
	end(&t);
	begin(&t, *state, true, false);
	(void)player_say(t.player, SV("slow"), "en");
	(void)poll(NULL, 0, 20);
	player_free(TAKE_PTR(t.player));
	assert_string_equal(t.told.buf, "x1.");
	end(&t);
	player_free(NULL);
}

/* An engine that never ends does not fill the memory, and can be stopped. */
static void test_endless(void **state)
{
	struct talk t;

	begin(&t, *state, true, true);
	(void)player_say(t.player, SV("endless"), "en");
	t.stop_at = 1;
	run(&t);
	assert_string_equal(t.told.buf, "+1x1.");
	end(&t);
}

static void test_mute(void **state)
{
	struct talk t;

	begin_as(&t, *state, true, false, true);
	(void)player_say(t.player, SV("slow"), "en");
	(void)player_sound(t.player, SOUND_DING);
	run(&t);
	assert_string_equal(t.told.buf, "+1-1+2-2.");
	assert_false(path_exists(t.path));
	end(&t);
}

/* Many in a row, some stopped: each is told to its end, in order. */
static void test_many(void **state)
{
	struct talk t;
	uint64_t last = 0;

	begin(&t, *state, false, false);
	for (int i = 0; i < 300; i++) {
		last = player_sound(t.player, i % 2 ? SOUND_THINKING : SOUND_ERROR);
		if (i % 7 == 0)
			player_stop(t.player);
		if (i % 5 == 0)
			assert_int_equal(loop_step(t.loop, 0, NULL), 0);
	}
	while (player_busy(t.player))
		run(&t);
	struct sv rest = str_sv(&t.told);
	uint64_t ended = 0;
	for (size_t at = 0; at < rest.n; at++)
		if (strchr("-x", rest.p[at]))
			assert_int_equal(strtoull(rest.p + at + 1, NULL, 10), ++ended);
	assert_int_equal(ended, last);
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		WITH_FOLDER(test_in_order),
		WITH_FOLDER(test_failures_do_not_end_it),
		WITH_FOLDER(test_no_loudspeaker),
		WITH_FOLDER(test_stopped),
		WITH_FOLDER(test_held),
		WITH_FOLDER(test_freed_while_it_speaks),
		WITH_FOLDER(test_endless),
		WITH_FOLDER(test_mute),
		WITH_FOLDER(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}

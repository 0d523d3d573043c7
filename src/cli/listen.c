/*
 * The talk behind `faden listen`: ears, recogniser, mouth and assistant put together on the loop of
 * the front. What comes next is decided by listen/listener.h; who shows it, by struct
 * listen_screen.
 */
#include "cli/listen.h"

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include "assist/tell.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cli/env.h"
#include "cli/talk.h"
#include "cli/voice.h"
#include "config/settings.h"
#include "listen/ears.h"
#include "listen/recogniser.h"
#include "voice/player.h"

/* Samples of --input that were heard before a restart. */
#define ENV_LISTENED "FADEN_LISTENED"

enum { MMAP_FROM = 128 * 1024 };

struct listening_room {
	struct listening *l;
	struct models *models;
	struct ears *ears;
	struct player *player;
	struct recogniser *recogniser;
	int64_t recorded_ms; /* when the last recording went there */
	struct stt_opts stt_opts;
	struct strv command; /* of them */
	struct request req; /* of the turn that runs */
	bool fresh;
	bool restarts;
	bool resumed; /* this is a restart */
	bool hushed; /* and not quiet yet */
	uint64_t held_at, hushed_at; /* samples heard of us by then */
	struct str failure; /* what was told last, until it works again */
	struct err input; /* what is wrong with that file; code 0: nothing */
	int64_t sentence_ms; /* age clock: the agent's first sentence of a turn was there */
};

void listening_time(const struct listening *l, struct str *out)
{
	time_t now = (time_t)(clock_wall_ms(&l->app->clock) / 1000);
	struct tm tm;

	if (localtime_r(&now, &tm))
		str_addf(out, "[%02d:%02d:%02d] ", tm.tm_hour, tm.tm_min, tm.tm_sec);
}

int64_t listening_left_ms(const struct listening *l)
{
	size_t left = l->room->ears ? ears_left(l->room->ears) : SIZE_MAX;

	return left == SIZE_MAX ? -1 : (int64_t)left * 1000 / AUDIO_RATE;
}

void listening_leave(struct listening *l)
{
	l->over = true;
}

/* Ears, recogniser or mouth: once, with what to do about it. */
static void tell_broken(struct listening_room *room, const char *why)
{
	AUTO_STR line = STR_INIT;

	if (strcmp(room->failure.buf, why) == 0)
		return;
	str_clear(&room->failure);
	str_adds(&room->failure, why);
	str_adds(&line, why);
	if (!strstr(why, "'faden "))
		str_adds(&line, "; 'faden voice test' says what is wrong");
	log_write(&room->l->app->log, LOG_WARN, "listen: %s", line.buf);
	room->l->screen->failed(room->l->screen_data, line.buf);
}

/* ---- recogniser ---- */

static int open_stt(void *data, struct stt **ret, struct err *reterr)
{
	const struct listening_room *room = data;

	return voice_stt(&room->stt_opts, ret, reterr);
}

static void on_recognised(void *data, uint64_t id, size_t samples, int r,
	const struct stt_result *result, const struct err *err)
{
	struct listening_room *room = data;
	struct listening *l = room->l;

	if (!id) {
		tell_broken(room, err->msg);
		return;
	}
	if (r == 0) {
		str_clear(&room->failure);
		log_write(&l->app->log, LOG_INFO,
			"listen: %.2f s recognised in %.2f s (%s), %.2f s after its end",
			(double)samples / AUDIO_RATE, result->took_s,
			result->language[0] ? result->language : "?",
			(double)(clock_run_ms() - room->recorded_ms) / 1000);
	}
	if (l->listener)
		listener_recognised(
			l->listener, id, r, str_sv(&result->text), result->language, err);
}

static const struct recogniser_ops recogniser_ops = { open_stt, on_recognised };

/* ---- ops of the listener ---- */

static void op_hear(void *data, const struct hearing *how)
{
	struct listening_room *room = data;

	if (room->ears)
		ears_hear(room->ears, how);
}

static void op_record(void *data)
{
	struct listening_room *room = data;

	recogniser_warm(room->recogniser);
	ears_record(room->ears);
}

static void op_discard(void *data)
{
	const struct listening_room *room = data;

	ears_discard(room->ears);
}

static void op_recognise(void *data, uint64_t id, struct endpoint_recording *recording)
{
	struct listening_room *room = data;

	room->recorded_ms = clock_run_ms();
	recogniser_run(room->recogniser, id, recording);
}

static uint64_t op_sound(void *data, enum sound sound)
{
	const struct listening_room *room = data;

	return player_sound(room->player, sound);
}

static uint64_t op_say(void *data, struct sv sentence, const char *language)
{
	struct listening_room *room = data;

	if (room->sentence_ms == 0)
		room->sentence_ms = clock_age_ms(NULL);
	return player_say(room->player, sentence, language);
}

static void op_hush(void *data)
{
	struct listening_room *room = data;

	room->hushed = true;
	room->hushed_at = player_heard(room->player);
	player_stop(room->player);
}

static void op_hold(void *data, bool hold)
{
	struct listening_room *room = data;

	if (hold)
		room->held_at = player_heard(room->player);
	else
		log_write(&room->l->app->log, LOG_INFO,
			"listen: a pause, quiet within %llu samples at %d Hz",
			(unsigned long long)(player_heard(room->player) - room->held_at),
			PLAYER_RATE);
	player_hold(room->player, hold);
}

static void on_done(void *data, const struct assistant_outcome *out)
{
	struct listening_room *room = data;
	struct listening *l = room->l;

	if (out->err.code == 0)
		room->fresh = false;
	if (out->err.code == 0)
		front_said(&l->front, out);
	l->screen->done(l->screen_data, out);
	listener_done(l->listener, out);
}

static void op_ask(void *data, struct sv text)
{
	struct listening_room *room = data;

	room->sentence_ms = 0;
	room->req =
		(struct request){ .text = text, .mode = room->fresh ? REQUEST_NEW : REQUEST_GO_ON };
	assistant_say(room->l->front.assistant, &room->req, on_done, room);
}

static void op_cancel(void *data)
{
	const struct listening_room *room = data;

	assistant_cancel(room->l->front.assistant);
}

static void op_permit(void *data, const char *ask, enum agent_answer answer)
{
	const struct listening_room *room = data;

	assistant_answer(room->l->front.assistant, ask, answer);
}

static void op_state(void *data, enum listener_state state)
{
	const struct listening_room *room = data;

	room->l->screen->state(room->l->screen_data, state);
}

static void op_said(void *data, enum listener_source source, struct sv text)
{
	const struct listening_room *room = data;

	room->l->screen->said(room->l->screen_data, source, text);
}

static void op_unsent(void *data, struct sv text)
{
	const struct listening_room *room = data;

	room->l->screen->unsent(room->l->screen_data, text);
}

static void op_notice(void *data, const char *line)
{
	const struct listening_room *room = data;

	room->l->screen->notice(room->l->screen_data, line);
}

static void op_reply(void *data, const char *text)
{
	const struct listening_room *room = data;

	room->l->screen->reply(room->l->screen_data, text);
}

static void op_failed(void *data, const char *line)
{
	tell_broken(data, line);
}

static void op_end(void *data, enum listener_end how)
{
	struct listening_room *room = data;

	room->restarts = how == LISTENER_RESTART;
	listening_leave(room->l);
}

static const struct listener_ops listener_ops = {
	.hear = op_hear,
	.record = op_record,
	.discard = op_discard,
	.recognise = op_recognise,
	.sound = op_sound,
	.say = op_say,
	.hush = op_hush,
	.hold = op_hold,
	.ask = op_ask,
	.cancel = op_cancel,
	.permit = op_permit,
	.state = op_state,
	.said = op_said,
	.unsent = op_unsent,
	.reply = op_reply,
	.notice = op_notice,
	.failed = op_failed,
	.end = op_end,
};

static void on_mouth(void *data, const struct player_event *event)
{
	struct listening_room *room = data;
	struct listening *l = room->l;

	if (event->kind == PLAYER_BEGINS && event->spoken && room->sentence_ms > 0) {
		log_write(&l->app->log, LOG_INFO, "listen: first sound after %lld ms",
			(long long)(clock_age_ms(NULL) - room->sentence_ms));
		room->sentence_ms = -1;
	}
	if (event->kind == PLAYER_ENDS && event->r == ERR_CANCELLED && room->hushed)
		log_write(&l->app->log, LOG_INFO, "listen: hushed within %llu samples at %d Hz",
			(unsigned long long)(player_heard(room->player) - room->hushed_at),
			PLAYER_RATE);
	room->hushed &= event->r != ERR_CANCELLED;
	if (l->listener)
		listener_heard_us(l->listener, event);
}

/* ---- ears ---- */

static void on_called(void *data)
{
	struct listening_room *room = data;

	recogniser_warm(room->recogniser);
	log_write(&room->l->app->log, LOG_INFO, "listen: called at sample %llu",
		(unsigned long long)ears_heard(room->ears));
	listener_called(room->l->listener);
}

static void on_began(void *data)
{
	struct listening_room *room = data;

	recogniser_warm(room->recogniser);
	listener_began(room->l->listener);
}

static void on_recorded(void *data, struct endpoint_recording *recording)
{
	const struct listening_room *room = data;

	listener_recorded(room->l->listener, recording);
}

static void on_paused(void *data, struct endpoint_recording *recording)
{
	const struct listening_room *room = data;

	recogniser_ahead(room->recogniser, recording);
}

static void on_nothing(void *data)
{
	const struct listening_room *room = data;

	listener_nothing(room->l->listener);
}

static void on_interrupted(void *data, size_t since)
{
	const struct listening_room *room = data;

	log_write(&room->l->app->log, LOG_INFO, "listen: somebody speaks since %zu samples", since);
	listener_interrupted(room->l->listener);
}

static void on_let_go(void *data)
{
	const struct listening_room *room = data;

	listener_let_go(room->l->listener);
}

static double our_loudness(void *data)
{
	const struct listening_room *room = data;

	return player_loudness(room->player);
}

static void on_overheard(void *data, struct endpoint_recording *recording)
{
	const struct listening_room *room = data;

	listener_overheard(room->l->listener, recording);
}

static void on_lost(void *data, const struct err *err)
{
	struct listening_room *room = data;
	struct listening *l = room->l;
	AUTO_STR line = STR_INIT;

	l->deaf = true;
	if (l->opts->input) {
		/* A file that cannot be read will not come back: with that it ends. */
		room->input = *err;
		listener_sound_ended(l->listener);
		return;
	}
	str_clear(&room->failure); /* lost again is news */
	str_addf(&line,
		"%s; it is tried again every second, and 'faden voice test' says what is wrong",
		err->msg);
	tell_broken(room, line.buf);
	l->screen->state(l->screen_data, listener_state(l->listener));
}

static void on_found(void *data, const char *name)
{
	const struct listening_room *room = data;
	struct listening *l = room->l;
	AUTO_STR line = STR_INIT;

	log_write(&l->app->log, LOG_INFO, "listen: microphone %s", name);
	if (!l->deaf)
		return;
	l->deaf = false;
	str_addf(&line, "There is a microphone again: %s", name);
	l->screen->notice(l->screen_data, line.buf);
	l->screen->state(l->screen_data, listener_state(l->listener));
}

static void on_ended(void *data)
{
	const struct listening_room *room = data;

	listener_sound_ended(room->l->listener);
}

static const struct ears_ops ears_ops = {
	.called = on_called,
	.began = on_began,
	.recorded = on_recorded,
	.paused = on_paused,
	.nothing = on_nothing,
	.interrupted = on_interrupted,
	.overheard = on_overheard,
	.let_go = on_let_go,
	.lost = on_lost,
	.found = on_found,
	.ended = on_ended,
};

/* ---- putting it together ---- */

static struct audio_opts input_of(const struct listening *l)
{
	const char *input = l->opts->input;
	struct audio_opts in = voice_in(l->app, l->opts->device);

	if (!input)
		return in;
	bool standard = strcmp(input, "-") == 0;
	in.driver = standard ? "raw" : "wav";
	in.device = input;
	in.fd = standard ? l->app->in : -1;
	return in;
}

static struct audio_opts output_of(const struct listening *l)
{
	const char *output = l->opts->output;
	struct audio_opts out = voice_out(l->app, NULL);

	if (!output)
		return out;
	bool standard = strcmp(output, "-") == 0;
	out.driver = standard ? "raw" : "wav";
	out.device = output;
	out.fd = standard ? fileno(l->app->out) : -1;
	out.paced = true;
	out.append = true; /* also when the player opens it again after a pause */
	return out;
}

/* Before anything is said or begun: the file that is heard can be, and is not the one that is
 * spoken into. */
static int look_at_files(const struct listening *l, struct err *reterr)
{
	const struct audio_opts in = input_of(l);
	const char *output = l->opts->output;
	struct audio_in *input = NULL;
	struct stat from, to;

	if (!l->opts->input)
		return 0;
	bool known = (in.fd >= 0 ? fstat(in.fd, &from) : stat(in.device, &from)) == 0;
	if (known && output && S_ISREG(from.st_mode) && stat(output, &to) == 0 &&
		from.st_dev == to.st_dev && from.st_ino == to.st_ino)
		return err_set(reterr, ERR_USAGE,
			"--output is the file of --input: it would be overwritten before it is "
			"heard");
	/* What is no file is read once. */
	if (in.fd >= 0 || (known && !S_ISREG(from.st_mode)))
		return 0;
	int r = audio_in_open(&in, &input, reterr);
	audio_in_free(input);
	return r;
}

static int open_mouth(struct listening *l, struct err *reterr)
{
	struct listening_room *room = l->room;
	const struct tts_opts how = voice_tts_opts(l->app, room->models);
	const struct audio_opts out = output_of(l);
	struct player_opts opts = { .out = &out, .mute = l->opts->mute };
	struct err err = ERR_INIT;

	/* A file is there though nothing is ever said. */
	if (l->opts->output && !room->resumed && strcmp(l->opts->output, "-") != 0) {
		struct wav_writer *empty = NULL;
		int r = wav_writer_open(l->opts->output, PLAYER_RATE, &empty, reterr);
		if (r == 0)
			r = wav_writer_close(empty, reterr);
		if (r < 0)
			return r;
	}
	if (!opts.mute && tts_new(&how, &opts.tts, &err) < 0) {
		opts.tts = NULL;
		tell_broken(room, err.msg);
	}
	int r = player_new(l->front.loop, &opts, on_mouth, room, &room->player, reterr);
	if (r < 0)
		tts_free(opts.tts);
	return r;
}

/* Without ears one can still type; without a keyboard, too, there is nothing left. */
static int open_ears(struct listening *l, struct err *reterr)
{
	struct listening_room *room = l->room;
	const char *listened = env_get(ENV_LISTENED);
	long long skip = 0;
	struct ears_opts opts = {
		.loop = l->front.loop,
		.settings = l->app->settings,
		.in = input_of(l),
		.open = l->opts->no_wake,
		/* What others recognise for us may cost money. */
		.pauses = stt_is_ours(room->stt_opts.engine),
		.loudness = our_loudness,
		.ops = &ears_ops,
		.data = room,
	};

	if (listened && l->opts->input && sv_parse_i64(sv_of(listened), &skip) && skip > 0)
		opts.skip = (uint64_t)skip;
	int r = 0;
	if (!l->opts->no_wake && !l->opts->push_to_talk)
		r = voice_wake(l->app, room->models, &opts.wake, reterr);
	if (r == 0)
		r = voice_vad(l->app, room->models, &opts.vad, reterr);
	l->calls = opts.wake != NULL;
	if (r == 0)
		r = ears_new(&opts, &room->ears, reterr);
	if (r < 0) {
		wake_free(opts.wake);
		vad_free(opts.vad);
		return r;
	}
	l->hears = true;
	/* It is large, and loaded while somebody speaks to us. */
	struct err err = ERR_INIT;
	if (voice_stt_look(&room->stt_opts, false, &err) < 0)
		tell_broken(room, err.msg);
	return 0;
}

static int greet(struct listening *l, struct err *reterr)
{
	AUTO_STR line = STR_INIT;
	AUTO_CONV c = CONV_INIT;

	if (l->opts->in) {
		int r = talk_enter(&l->front, l->opts->in, l->opts->agent, &c, &line, reterr);
		if (r < 0)
			return r;
	} else {
		(void)tell_greeting(&l->front.kit, l->opts->new_session, &c, &line);
		assistant_stay(l->front.assistant, &c);
	}
	l->screen->notice(l->screen_data, line.buf);
	return 0;
}

static void ui_begin(void *data, const struct conv *c)
{
	struct listening *l = data;
	AUTO_STR hint = STR_INIT;

	if (front_begin(&l->front, c, &hint))
		l->screen->notice(l->screen_data, hint.buf);
	l->screen->begin(l->screen_data, c);
}

static void ui_event(void *data, const struct agent_event *ev)
{
	struct listening *l = data;

	l->screen->event(l->screen_data, ev);
	if (l->listener)
		listener_event(l->listener, ev);
}

static void ui_notice(void *data, const char *line)
{
	struct listening *l = data;

	l->screen->notice(l->screen_data, line);
}

static void ui_signal(void *data, int signo)
{
	struct listening *l = data;

	l->screen->signal(l->screen_data, signo);
}

static void close_all(struct listening_room *room)
{
	struct listening *l = room->l;
	struct listener *listener = TAKE_PTR(l->listener);

	ears_free(TAKE_PTR(room->ears));
	recogniser_free(TAKE_PTR(room->recogniser));
	player_free(TAKE_PTR(room->player));
	/* A turn that still runs tells nobody. */
	if (l->front.assistant)
		assistant_drop(l->front.assistant);
	listener_free(listener);
	models_free(room->models);
	strv_release(&room->command);
	str_release(&room->failure);
}

/* The runtime of the networks is mapped, and code of it that is gone is a signal. Only what a
 * handler may call: the terminal gets what a shell wants, since nothing of ours can be asked how it
 * was. */
static void on_cut_off(int signo)
{
	static const char line[] =
		"\r\nfaden: listen: a file was cut off while it was in use, most "
		"likely the runtime of the networks; 'faden voice install' gets "
		"it again, then start anew\r\n";
	static const char plain[] = "\033[?2004l\033[?25h"; /* as ui/term.h leaves it */
	struct termios mode;

	(void)signo;
	if (tcgetattr(STDIN_FILENO, &mode) == 0) {
		mode.c_iflag |= ICRNL;
		mode.c_lflag |= ICANON | ECHO | ISIG | IEXTEN;
		(void)tcsetattr(STDIN_FILENO, TCSANOW, &mode);
		(void)!write(STDIN_FILENO, plain, sizeof(plain) - 1);
	}
	(void)!write(STDERR_FILENO, line, sizeof(line) - 1);
	_exit(err_exit_status(ERR_BUG));
}

int listening_run(struct listening *l, struct err *reterr)
{
	AUTO_FREE struct listening_room *room = xcalloc(1, sizeof(*room));
	const struct front_opts want = {
		.agent = l->opts->agent,
		.model = l->opts->model,
		.permission = l->opts->permission,
		.answers = true,
		.may_ask = l->app->in_tty && l->app->out_tty && !l->opts->no_tty,
		.resends = true,
		.voice = true,
		.ui = { .data = l, .begin = ui_begin, .event = ui_event, .notice = ui_notice },
		.signal = ui_signal,
	};
	struct err err = ERR_INIT;
	uint64_t heard = 0;
	int r = look_at_files(l, reterr);

	if (r < 0)
		return r;
	(void)sigaction(SIGBUS, &(struct sigaction){ .sa_handler = on_cut_off }, NULL);
	/* What the recogniser has is large and goes with it; from one heap with small things that
	 * stay it left holes of 30 MB. */
	(void)mallopt(M_MMAP_THRESHOLD, MMAP_FROM);
	room->l = l;
	room->failure = (struct str)STR_INIT;
	room->fresh = l->opts->new_session;
	room->resumed = env_get(ENV_LISTENED) != NULL;
	l->room = room;
	r = front_open(&l->front, l->app, &want, reterr);
	if (r == 0)
		r = greet(l, reterr);
	if (r == 0)
		r = front_recover(&l->front, TURN_RUNNING_ONCE, SV(""), reterr);
	if (r == 0 || r == ERR_CANCELLED) {
		room->models = models_new(l->app->paths.models_dir);
		room->stt_opts =
			voice_stt_opts(l->app, room->models, l->opts->language, &room->command);
		room->recogniser = recogniser_new(l->front.loop, &recogniser_ops, room, reterr);
		r = room->recogniser ? open_mouth(l, reterr) : ERR_BUG;
	}
	if (r == 0) {
		const struct listener_opts how = {
			.loop = l->front.loop,
			.settings = l->app->settings,
			.rules = l->front.kit.rules,
			.language = l->front.kit.language,
			.language_open = strcmp(l->app->settings->assistant_language, "auto") == 0,
			.answers = l->app->in_tty && !l->opts->no_tty,
			.open = l->opts->no_wake,
			.by_key = l->opts->push_to_talk,
			.ops = &listener_ops,
			.data = room,
		};
		l->listener = listener_new(&how);
		int ears = open_ears(l, &err);
		if (ears < 0 && how.answers) {
			AUTO_STR line = STR_INIT; /* they are looked for once */
			str_addf(&line, "%s; it hears when it is started after that", err.msg);
			tell_broken(room, line.buf);
		} else if (ears < 0) {
			r = err_set(reterr, ears, "%s", err.msg);
		}
	}
	if (r == 0) {
		if (room->resumed)
			listener_back(l->listener);
		l->screen->state(l->screen_data, LISTENER_LISTENING);
		r = l->screen->run(l->screen_data, reterr);
	}
	if (room->ears)
		heard = ears_heard(room->ears);
	if (room->restarts && r == 0)
		r = assistant_lead(l->front.assistant, reterr);
	if (r == 0 && room->input.code < 0)
		r = err_set(reterr, room->input.code, "%s", room->input.msg);
	close_all(room);
	front_close(&l->front);
	if (r == 0 && room->restarts) {
		AUTO_STR variable = STR_INIT;
		bool on = l->opts->input && strcmp(l->opts->input, "-") != 0;
		str_addf(&variable, ENV_LISTENED "=%llu", on ? (unsigned long long)heard : 0ULL);
		r = front_restart(l->app, NULL, variable.buf, reterr);
	}
	return r < 0 ? r : l->signo ? 128 + l->signo : 0;
}

#include "listen/listener.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/vec.h"
#include "listen/heard.h"
#include "listen/phrases.h"
#include "voice/speakable.h"

enum {
	IN_VAIN_MAX = 2, /* times in an answer that it is quiet for nothing */
	ASK_AGAIN_MAX = 2, /* times that an unclear answer is asked for once more */
};

struct entry {
	uint64_t id; /* of the recording; 0: typed */
	bool ready; /* the text is there */
	bool with_call;
	bool cut; /* it was too long: it is not sent by itself */
	char *text;
};

struct question {
	char *id, *tool, *about;
	bool always;
	bool aloud; /* it is said: who spoke began the turn, or has called since */
};

struct listener {
	struct listener_opts opts;
	const struct listener_ops *ops;
	struct heard_rules *rules;
	struct speakable *speakable;
	struct loop_source *beep, *ending;

	VEC(struct entry) queue; /* in the order in which it came */
	uint64_t last_id,
		overheard; /* of recordings; overheard: the one that is recognised, or 0 */
	bool overheard_apart; /* while we said nothing, so that it is not our own voice, */
	bool overheard_answer; /* but with an answer in what we had said of a question */
	bool overheard_scant; /* too little speech to be one: noise may sound like "yes" */
	VEC(struct question) asked; /* the first one is put */
	int asked_again;
	bool called; /* the answer that is recorded began with a call */
	uint64_t put; /* the mouth's item after which an answer is recorded; 0: none */
	uint64_t put_from; /* the first that belongs to it */
	bool put_begun; /* it can be heard, and answered: until its end, or that of what is
			   overheard then */
	bool put_has_answer; /* … but an answer is a part of what was heard of it */
	bool put_ends_with_answer; /* … or of its last item */

	struct entry turn; /* what runs */
	bool runs;
	bool turn_spoken; /* by voice, and so it is answered */
	bool answering; /* the answer has begun: no beeps */
	bool cancelling;
	bool owes_cancelled; /* that it was is not said yet: somebody was about to speak */
	bool cancel_shown; /* … but stands on the screen, with what was done by then */

	bool recording, typing, failing, ended, restarting;
	bool deaf; /* the recogniser failed with what was said last */
	size_t items; /* that the mouth has */
	size_t sentences; /* of them */
	bool owes_ready; /* the sound for it waits for them: whether they can be said is not known
			  */
	bool speaks; /* a sentence is heard */
	bool held; /* … but for now */
	unsigned in_vain, in_vain_before; /* of all times; of those before this answer */
	uint64_t named_last; /* the last item with our name; until it ends a call is not believed */
	enum text_language language;
	bool heard_language; /* by the recogniser */
	enum listener_state shown;
	struct hearing hearing;
	char voice_error[ERR_MSG_MAX]; /* of the mouth, told once */
	bool mouth_failed; /* in this answer: the error sound comes in its place */
};

static enum listener_state state_of(const struct listener *l)
{
	if (l->recording)
		return LISTENER_RECORDING;
	if (l->typing)
		return LISTENER_TYPING;
	if (l->failing)
		return LISTENER_ERROR;
	if (l->speaks)
		return LISTENER_SPEAKING;
	if (l->asked.n > 0 && l->queue.n == 0)
		return LISTENER_ASKING;
	return l->runs || l->queue.n ? LISTENER_PROCESSING : LISTENER_LISTENING;
}

static bool is_quiet(const struct listener *l)
{
	return !l->recording && !l->runs && l->queue.n == 0 && l->items == 0 && !l->overheard;
}

static void on_end(void *data)
{
	struct listener *l = data;

	l->ending = NULL;
	l->ops->end(l->opts.data, l->restarting ? LISTENER_RESTART : LISTENER_FINISHED);
}

static void deny_unheard(struct listener *l);

/* After everything that happens: what is shown and what the ears do follows from what is. */
static void settle(struct listener *l)
{
	deny_unheard(l);
	enum listener_state state = state_of(l);
	bool recognises = l->overheard != 0;

	vec_each (&l->queue, e)
		recognises |= !e->ready;
	const struct hearing now = {
		.busy = l->runs || l->items > 0,
		.speaks = l->speaks,
		.names_us = l->named_last != 0,
		.in_vain = (uint8_t)l->in_vain,
		.waits = l->runs || l->items > 0 || l->queue.n > 0,
		/* What comes after a restart is for who comes then. */
		.holds = recognises || l->restarting,
	};

	if (memcmp(&now, &l->hearing, sizeof(now)) != 0 && l->ops->hear) {
		l->hearing = now;
		l->ops->hear(l->opts.data, &now);
	}
	if (state != l->shown) {
		l->shown = state;
		if (l->ops->state)
			l->ops->state(l->opts.data, state);
	}
	bool over = l->restarting ? l->items == 0 && !l->runs : l->ended && is_quiet(l);
	if (over && !l->ending)
		l->ending = loop_add_timer(l->opts.loop, 0, on_end, l);
	else if (!over && l->ending)
		loop_remove(l->opts.loop, TAKE_PTR(l->ending));
}

/* ---- the mouth ---- */

static void sound(struct listener *l, enum sound which)
{
	if (!l->ops->sound)
		return;
	l->items++;
	(void)l->ops->sound(l->opts.data, which);
}

static uint64_t say(struct listener *l, struct sv text, enum text_language language)
{
	if (!l->ops->say || text.n == 0)
		return 0;
	l->items++;
	l->sentences++;
	uint64_t id = l->ops->say(l->opts.data, text, language == TEXT_ENGLISH ? "en" : "de");
	if (heard_names_us(l->rules, text))
		l->named_last = id;
	return id;
}

static void on_sentence(void *data, struct sv sentence, enum speakable_language language)
{
	struct listener *l = data;

	if (!l->mouth_failed)
		(void)say(l, sentence, language == SPEAKABLE_EN ? TEXT_ENGLISH : TEXT_GERMAN);
}

/* Our own words: shown, and said to whoever spoke. */
static void reply(struct listener *l, const char *text, bool spoken)
{
	if (l->ops->reply)
		l->ops->reply(l->opts.data, text);
	if (spoken)
		(void)say(l, sv_of(text), l->language);
}

static void hold(struct listener *l, bool held)
{
	if (l->held != held && l->ops->hold)
		l->ops->hold(l->opts.data, held);
	l->held = held;
}

/* No question is being said that an answer would be to. */
static void put_nothing(struct listener *l)
{
	l->put = 0;
	l->put_begun = false;
}

static void hush(struct listener *l)
{
	if (l->items > 0 && l->ops->hush)
		l->ops->hush(l->opts.data);
	hold(l, false);
	put_nothing(l);
	l->owes_ready = false;
}

/* It listens again: heard when all that was to be said has been. */
static void ready(struct listener *l)
{
	l->owes_ready = l->sentences > 0;
	if (l->owes_ready)
		return;
	l->mouth_failed = false;
	sound(l, SOUND_READY);
}

static void record_answer(struct listener *l)
{
	if (l->asked.n == 0 || l->ended || l->recording)
		return;
	sound(l, SOUND_DING);
	if (!l->ops->record)
		return;
	l->recording = true;
	l->called = false;
	l->ops->record(l->opts.data);
}

void listener_heard_us(struct listener *l, const struct player_event *event)
{
	if (event->kind == PLAYER_BEGINS) {
		l->speaks |= event->spoken;
		l->put_begun |= l->put && event->id >= l->put_from;
		l->put_has_answer |= l->put && event->id >= l->put && l->put_ends_with_answer;
		settle(l);
		return;
	}
	l->items -= l->items > 0;
	l->sentences -= event->spoken && l->sentences > 0;
	if (event->id >= l->named_last)
		l->named_last = 0;
	if (event->idle || l->items == 0) {
		l->speaks = false;
		hold(l, false);
		l->failing = false;
	}
	if (event->r < 0 && event->r != ERR_CANCELLED) {
		/* Once a cause: whoever cannot hear it reads it. */
		if (strcmp(l->voice_error, event->err->msg) != 0 && l->ops->failed) {
			(void)memcpy(l->voice_error, event->err->msg, sizeof(l->voice_error));
			l->ops->failed(l->opts.data, event->err->msg);
		}
		if (event->spoken && !l->mouth_failed) {
			/* Instead of the rest of the answer, which stands on the screen. */
			bool owed = l->owes_ready;
			l->mouth_failed = true;
			if (!l->put)
				hush(l);
			l->owes_ready = owed;
			sound(l, SOUND_ERROR);
		}
	}
	if (l->owes_ready)
		ready(l);
	/* The question has been put: now it can be answered, if it is not just being. */
	if (l->put && event->id >= l->put) {
		bool heard = event->r != ERR_CANCELLED;
		l->put = 0;
		if (!l->overheard || !heard)
			put_nothing(l);
		if (!l->overheard && heard)
			record_answer(l);
	}
	settle(l);
}

/* ---- beeps ---- */

static void on_beep(void *data);

static void expect_beep(struct listener *l, bool expected)
{
	int64_t ms = l->opts.settings->ai_thinking_beep_interval;

	if (l->beep)
		loop_remove(l->opts.loop, TAKE_PTR(l->beep));
	if (expected && ms > 0 && l->runs && l->turn_spoken)
		l->beep = loop_add_timer(l->opts.loop, ms, on_beep, l);
}

static void on_beep(void *data)
{
	struct listener *l = data;

	l->beep = NULL;
	/* Nobody works while a question waits, and nobody beeps into what is said. */
	if (!l->answering && l->asked.n == 0 && !l->speaks && !l->recording)
		sound(l, SOUND_THINKING);
	expect_beep(l, true);
	settle(l);
}

/* ---- questions for permission ---- */

static void forget_question(struct listener *l, size_t i)
{
	struct question *q = &l->asked.v[i];

	free(q->id);
	free(q->tool);
	free(q->about);
	l->asked.n--;
	memmove(q, q + 1, (l->asked.n - i) * sizeof(*q));
	l->asked_again = 0;
	if (i == 0)
		put_nothing(l);
}

/* What is to be answered when it has been said, or while it is. How it can be may stand at its end,
 * apart: an answer is a part of that, and whoever gives one before it has not heard it from us. */
static void put(struct listener *l, struct sv text, const char *how)
{
	const char *name = l->opts.settings->assistant_name;
	AUTO_STR end = STR_INIT;

	/* From then on who just speaks is not meant any more. */
	if (l->asked_again >= ASK_AGAIN_MAX && !l->opts.open) {
		phrase_add(&end, l->opts.by_key ? PHRASE_ANSWER_BY_KEY : PHRASE_ANSWER_BY_CALL,
			l->language, name[0] ? name : "faden");
		if (l->ops->reply)
			l->ops->reply(l->opts.data, end.buf);
	} else {
		str_adds(&end, how);
	}
	l->put_begun = false;
	l->put_has_answer = heard_has_answer(l->rules, text);
	l->put_ends_with_answer = heard_has_answer(l->rules, str_sv(&end));
	l->put_from = l->put = say(l, text, l->language);
	if (end.len)
		l->put = say(l, str_sv(&end), l->language);
}

static void put_question(struct listener *l)
{
	if (l->asked.n == 0 || !l->asked.v[0].aloud)
		return;
	const struct question *q = &l->asked.v[0];
	AUTO_STR text = STR_INIT;
	phrase_question(&text, l->language, q->tool, q->about);
	put(l, sv_trim(str_sv(&text)), phrase(PHRASE_YES_OR_NO, l->language));
}

/* The sound is at its end, and nobody is at a keyboard: nobody will answer any more. */
static void deny_unheard(struct listener *l)
{
	while (l->asked.n > 0 && l->ended && !l->opts.answers && !l->recording && !l->put &&
		!l->overheard && l->queue.n == 0) {
		AUTO_FREE char *id = xstrdup(l->asked.v[0].id);
		forget_question(l, 0);
		reply(l, phrase(PHRASE_NOBODY, l->language), l->turn_spoken);
		l->ops->permit(l->opts.data, id, AGENT_DENY);
	}
}

static void answer_question(struct listener *l, enum agent_answer answer)
{
	AUTO_FREE char *id = xstrdup(l->asked.v[0].id);

	if (answer == AGENT_ALLOW_ALWAYS && !l->asked.v[0].always)
		answer = AGENT_ALLOW;
	forget_question(l, 0);
	reply(l, phrase(answer == AGENT_DENY ? PHRASE_DENIED : PHRASE_ALLOWED, l->language), true);
	l->ops->permit(l->opts.data, id, answer);
	put_question(l);
}

void listener_permitted(struct listener *l, const char *ask)
{
	for (size_t i = 0; i < l->asked.n; i++) {
		if (strcmp(l->asked.v[i].id, ask) != 0)
			continue;
		forget_question(l, i);
		if (i == 0) {
			hush(l);
			put_question(l);
		}
		break;
	}
	settle(l);
}

/* ---- stopping ---- */

static void cancel(struct listener *l)
{
	if (!l->runs)
		return;
	l->cancelling = true;
	expect_beep(l, false);
	while (l->asked.n)
		forget_question(l, l->asked.n - 1);
	l->ops->cancel(l->opts.data);
}

/* What was cancelled is said when nobody else speaks. */
static void tell_cancelled(struct listener *l)
{
	const char *text = text_get(TEXT_CANCELLED, l->language);

	l->owes_cancelled = false;
	if (!l->cancel_shown && l->ops->reply)
		l->ops->reply(l->opts.data, text);
	(void)say(l, sv_of(text), l->language);
	ready(l);
}

/* What is being recorded is not wanted. */
static void discard(struct listener *l)
{
	l->recording = false;
	if (l->ops->discard)
		l->ops->discard(l->opts.data);
	/* A turn that was spoken says it with its own end. */
	if (l->runs && l->turn_spoken)
		return;
	l->cancel_shown = false;
	tell_cancelled(l);
}

static bool stop(struct listener *l)
{
	bool any = l->runs || l->speaks;

	hush(l);
	cancel(l);
	return any;
}

bool listener_stop(struct listener *l)
{
	bool records = l->recording, any = stop(l);

	if (records)
		discard(l);
	settle(l);
	return any || records;
}

/* ---- the queue ---- */

static void drop_entry(struct listener *l, size_t i)
{
	struct entry *e = &l->queue.v[i];

	free(e->text);
	l->queue.n--;
	memmove(e, e + 1, (l->queue.n - i) * sizeof(*e));
}

static void pump(struct listener *l)
{
	if (l->runs || l->restarting || l->queue.n == 0 || !l->queue.v[0].ready)
		return;
	free(l->turn.text);
	l->turn = l->queue.v[0];
	l->queue.v[0].text = NULL;
	drop_entry(l, 0);
	l->runs = true;
	l->turn_spoken = l->turn.id != 0;
	l->answering = l->cancelling = l->owes_cancelled = l->mouth_failed = false;
	l->in_vain_before = l->in_vain;
	struct sv text = sv_of(l->turn.text);
	if (l->ops->said)
		l->ops->said(
			l->opts.data, l->turn_spoken ? LISTENER_VOICE : LISTENER_KEYBOARD, text);
	expect_beep(l, true);
	l->ops->ask(l->opts.data, text);
}

void listener_typed(struct listener *l, struct sv text)
{
	struct utterance u;

	text = sv_trim(text);
	utterance_judge(l->opts.rules, text, &u);
	/* "stop" is meant for now, and what begins anew does not wait for an answer that nobody
	 * wants. */
	bool stopped = u.kind == UTTERANCE_CANCEL && listener_stop(l);
	if (u.kind == UTTERANCE_RESET || u.kind == UTTERANCE_RESTART)
		(void)stop(l);
	if (text.n > 0 && !stopped)
		vec_push(&l->queue,
			(struct entry){ .ready = true, .text = xmemdup0(text.p, text.n) });
	pump(l);
	settle(l);
}

void listener_typing(struct listener *l, bool typing)
{
	l->typing = typing;
	settle(l);
}

/* ---- ears ---- */

void listener_called(struct listener *l)
{
	l->recording = true;
	/* An answer that is not heard to its end was cancelled, too. */
	if (l->speaks && !l->runs && l->queue.n == 0) {
		l->owes_cancelled = true;
		l->cancel_shown = false;
	}
	hush(l);
	/* A question waits for an answer, and this may be it; who does not know what was asked is
	 * told again. */
	l->called = l->asked.n > 0;
	if (l->called) {
		l->asked.v[0].aloud = true;
		l->asked_again = 0;
	} else {
		cancel(l);
	}
	sound(l, SOUND_DING);
	settle(l);
}

void listener_began(struct listener *l)
{
	l->recording = true;
	settle(l);
}

void listener_push(struct listener *l)
{
	if (l->ended || !l->ops->record)
		return;
	if (!l->recording)
		listener_called(l);
	l->ops->record(l->opts.data);
}

void listener_nothing(struct listener *l)
{
	l->recording = false;
	if (l->asked.n > 0 && l->asked_again++ < ASK_AGAIN_MAX)
		put_question(l);
	else if (l->owes_cancelled)
		tell_cancelled(l);
	else if (!l->runs && l->queue.n == 0)
		ready(l);
	settle(l);
}

static void recognise(struct listener *l, struct endpoint_recording *recording)
{
	l->ops->recognise(l->opts.data, l->last_id, recording);
}

void listener_recorded(struct listener *l, struct endpoint_recording *recording)
{
	/* To a question that would be no answer, and it is asked again. */
	bool unsent = recording->cut && l->asked.n == 0;

	l->recording = false;
	vec_push(&l->queue,
		(struct entry){ ++l->last_id, .with_call = recording->with_call, .cut = unsent });
	sound(l, SOUND_PROCESSING);
	/* Told at once, so that who speaks on need not. */
	if (recording->cut && l->ops->notice) {
		AUTO_STR line = STR_INIT;
		phrase_cut(&line, l->language, l->opts.settings->audio_max_recording);
		l->ops->notice(l->opts.data, line.buf);
	}
	if (unsent)
		reply(l, phrase(PHRASE_CUT, l->language), true);
	recognise(l, recording);
	settle(l);
}

void listener_interrupted(struct listener *l)
{
	/* Who talks to others all the time is not meant for long. */
	if (l->speaks && (l->in_vain - l->in_vain_before < IN_VAIN_MAX || (l->put && l->put_begun)))
		hold(l, true);
	settle(l);
}

void listener_let_go(struct listener *l)
{
	l->in_vain += l->held;
	hold(l, false);
	settle(l);
}

void listener_overheard(struct listener *l, struct endpoint_recording *recording)
{
	/* One at a time; who wants it to stop says so again. */
	if (l->overheard || !(l->runs || l->items > 0)) {
		free(TAKE_PTR(recording->samples));
		listener_let_go(l);
		return;
	}
	l->overheard = ++l->last_id;
	l->overheard_apart = !l->speaks || l->held;
	l->overheard_answer = l->put_begun && l->put_has_answer;
	l->overheard_scant = (int64_t)recording->speech * 1000 / ENDPOINT_RATE <
		l->opts.settings->audio_min_recording;
	recognise(l, recording);
	settle(l);
}

void listener_sound_ended(struct listener *l)
{
	l->ended = true;
	settle(l);
}

/* ---- recogniser ---- */

static enum agent_answer meant_by(enum heard_answer answer)
{
	return answer == HEARD_NO	 ? AGENT_DENY
		: answer == HEARD_ALWAYS ? AGENT_ALLOW_ALWAYS
					 : AGENT_ALLOW;
}

/*
 * Whoever has understood does not wait for the end of the question. True: what was overheard is an
 * answer. It counts where it cannot be our own voice; where it could be, or the question has such a
 * word in it, or a sneeze may be all that was heard, the question makes way for an answer.
 */
static bool answers_early(struct listener *l, struct sv meant)
{
	enum heard_answer answer = heard_answer(l->rules, meant);

	if (l->asked.n == 0 || l->recording || answer == HEARD_UNCLEAR)
		return false;
	/* Where no call is needed, none is for an answer that comes late. */
	bool late = !l->put_begun && !l->put && l->opts.open && l->asked.v[0].aloud;
	if (!l->put_begun && !late)
		return false;
	bool ours = !l->overheard_apart || l->overheard_answer;
	hush(l);
	if (ours || (l->overheard_scant && answer != HEARD_NO)) {
		record_answer(l);
		return true;
	}
	if (l->ops->said)
		l->ops->said(l->opts.data, LISTENER_VOICE, meant);
	answer_question(l, meant_by(answer));
	return true;
}

static void on_overheard(struct listener *l, int r, struct sv text)
{
	AUTO_STR meant = STR_INIT;
	struct utterance u = { .kind = UTTERANCE_AGENT };

	l->overheard = 0;
	bool said = r == 0 && heard_meant(l->rules, text, false, &meant);
	if (said)
		utterance_judge(l->opts.rules, str_sv(&meant), &u);
	if (said && answers_early(l, str_sv(&meant)))
		return;
	if (u.kind != UTTERANCE_CANCEL || !(l->runs || l->items > 0)) {
		listener_let_go(l);
		/* The question came to its end meanwhile. */
		if (l->put_begun && !l->put) {
			put_nothing(l);
			record_answer(l);
		}
		return;
	}
	if (l->ops->said)
		l->ops->said(l->opts.data, LISTENER_VOICE, str_sv(&meant));
	bool ran = l->runs;
	hush(l);
	cancel(l);
	if (!ran) { /* it only spoke on */
		reply(l, text_get(TEXT_CANCELLED, l->language), true);
		ready(l);
	}
}

/* An answer to a question, or what stops it; anything else is asked for once more. */
static void on_answer(struct listener *l, struct sv meant)
{
	struct utterance u;
	enum heard_answer answer = heard_answer(l->rules, meant);

	if (l->ops->said)
		l->ops->said(l->opts.data, LISTENER_VOICE, meant);
	utterance_judge(l->opts.rules, meant, &u);
	if (answer == HEARD_UNCLEAR && u.kind == UTTERANCE_CANCEL) {
		cancel(l);
	} else if (answer != HEARD_UNCLEAR) {
		answer_question(l, meant_by(answer));
	} else if (l->asked_again++ < ASK_AGAIN_MAX) {
		const char *text = phrase(PHRASE_ANSWER_YES_OR_NO, l->language);
		if (l->ops->reply)
			l->ops->reply(l->opts.data, text);
		if (l->called) { /* the question may be long ago */
			(void)say(l, sv_of(text), l->language);
			put_question(l);
		} else {
			put(l, sv_of(text), "");
		}
	}
}

void listener_recognised(struct listener *l, uint64_t id, int r, struct sv text,
	const char *language, const struct err *err)
{
	AUTO_STR meant = STR_INIT;
	struct utterance u;
	size_t i = 0;

	if (id == l->overheard) {
		on_overheard(l, r, text);
		settle(l);
		return;
	}
	while (i < l->queue.n && l->queue.v[i].id != id)
		i++;
	if (i == l->queue.n)
		return;
	bool with_call = l->queue.v[i].with_call;
	/* Who knows what was spoken knows better than who reads a word or two of it. */
	l->heard_language = l->opts.language_open && language[0];
	if (l->heard_language)
		l->language = strcmp(language, "de") == 0 ? TEXT_GERMAN : TEXT_ENGLISH;
	bool said = r == 0 && heard_meant(l->rules, text, with_call, &meant);
	l->deaf &= r < 0;
	if (said)
		utterance_judge(l->opts.rules, str_sv(&meant), &u);
	if (r < 0 && r != ERR_CANCELLED) {
		drop_entry(l, i);
		l->failing = true;
		if (l->ops->failed)
			l->ops->failed(l->opts.data, err->msg);
		/* To say it again may help where there is an answer, and that is no text. */
		bool answers = r == -EBADMSG || r == ERR_LIMIT;
		bool stays = l->deaf || !answers;
		l->deaf = true;
		reply(l, phrase(stays ? PHRASE_DEAF : PHRASE_NOT_UNDERSTOOD, l->language), true);
		ready(l);
	} else if (l->queue.v[i].cut) {
		drop_entry(l, i);
		if (said && l->ops->unsent)
			l->ops->unsent(l->opts.data, str_sv(&meant));
		if (!l->recording && l->owes_cancelled)
			tell_cancelled(l);
		else if (!l->recording)
			ready(l);
	} else if (!said) {
		drop_entry(l, i);
		listener_nothing(l);
	} else if (l->asked.n > 0) {
		drop_entry(l, i);
		on_answer(l, str_sv(&meant));
	} else if (u.kind == UTTERANCE_CANCEL && (l->owes_cancelled || l->cancelling)) {
		/* The call has stopped it already. */
		drop_entry(l, i);
		if (l->ops->said)
			l->ops->said(l->opts.data, LISTENER_VOICE, str_sv(&meant));
		if (l->owes_cancelled)
			tell_cancelled(l);
	} else {
		l->queue.v[i].text = str_detach(&meant);
		l->queue.v[i].ready = true;
	}
	pump(l);
	settle(l);
}

/* ---- assistant ---- */

void listener_event(struct listener *l, const struct agent_event *ev)
{
	bool ends_paragraph = ev->type == AGENT_EV_BREAK || ev->type == AGENT_EV_TOOL_BEGIN ||
		ev->type == AGENT_EV_ASK || ev->type == AGENT_EV_DONE;

	if (ev->type == AGENT_EV_TEXT) {
		l->answering = true;
		if (l->turn_spoken && !l->cancelling)
			speakable_feed(l->speakable, ev->text);
	} else if (ev->type == AGENT_EV_TOOL_BEGIN && l->answering) {
		l->answering = false; /* it works on */
		expect_beep(l, true);
	}
	if (ends_paragraph && l->turn_spoken && !l->cancelling)
		speakable_flush(l->speakable);
	if (ev->type == AGENT_EV_DONE) {
		expect_beep(l, false);
		l->answering = true;
	}
	if (ev->type == AGENT_EV_ASK && !l->cancelling) {
		vec_push(&l->asked,
			(struct question){ .id = xstrdup(ev->ask->id),
				.tool = xmemdup0(ev->tool.p, ev->tool.n),
				.about = xmemdup0(ev->text.p, ev->text.n),
				.always = ev->ask->always,
				.aloud = l->turn_spoken });
		if (l->asked.n == 1)
			put_question(l);
	} else if (ev->type == AGENT_EV_ASK_OVER) {
		listener_permitted(l, ev->ask->id);
	}
	settle(l);
}

void listener_done(struct listener *l, const struct assistant_outcome *out)
{
	bool spoken = l->turn_spoken, ours = out->err.code < 0;
	enum agent_fail fail = out->turn->fail;

	expect_beep(l, false);
	while (l->asked.n)
		forget_question(l, l->asked.n - 1);
	/* What is left of an answer that was cut short is not said. */
	speakable_free(l->speakable);
	if (!(spoken && l->heard_language))
		l->language = out->language;
	l->speakable = speakable_new(
		l->language == TEXT_ENGLISH ? SPEAKABLE_EN : SPEAKABLE_DE, on_sentence, l);
	l->runs = l->cancelling = false;
	l->failing = ours || (fail != AGENT_OK && fail != AGENT_CANCELLED);
	if (out->reply[0] && l->ops->reply)
		l->ops->reply(l->opts.data, out->reply);
	if (out->reply[0] && spoken)
		(void)say(l, sv_of(out->reply), out->language);
	if (!ours && fail == AGENT_CANCELLED && spoken) {
		l->cancel_shown = true;
		if (l->recording || l->queue.n > 0)
			l->owes_cancelled = true;
		else
			tell_cancelled(l);
	} else if (spoken) {
		if (l->failing)
			(void)say(l,
				sv_of(phrase(!ours && fail == AGENT_TIMED_OUT ? PHRASE_TOO_LONG
									      : PHRASE_FAILED,
					l->language)),
				l->language);
		ready(l);
	}
	l->failing &= l->items > 0; /* until that is said */
	if (out->kind == UTTERANCE_RESTART && !ours)
		l->restarting = true;
	pump(l);
	settle(l);
}

/* ---- */

struct listener *listener_new(const struct listener_opts *opts)
{
	struct listener *l = xcalloc(1, sizeof(*l));

	l->opts = *opts;
	l->ops = opts->ops;
	l->language = opts->language;
	l->rules = heard_new(opts->settings, opts->rules);
	l->speakable = speakable_new(
		opts->language == TEXT_ENGLISH ? SPEAKABLE_EN : SPEAKABLE_DE, on_sentence, l);
	return l;
}

void listener_free(struct listener *l)
{
	if (!l)
		return;
	expect_beep(l, false);
	loop_remove(l->opts.loop, l->ending);
	while (l->queue.n)
		drop_entry(l, l->queue.n - 1);
	vec_release(&l->queue);
	while (l->asked.n)
		forget_question(l, l->asked.n - 1);
	vec_release(&l->asked);
	free(l->turn.text);
	speakable_free(l->speakable);
	heard_free(l->rules);
	free(l);
}

void listener_back(struct listener *l)
{
	ready(l);
	settle(l);
}

enum listener_state listener_state(const struct listener *l)
{
	return l->shown;
}

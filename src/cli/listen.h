/*
 * What is behind `faden listen`: the talk (listen.c), and how it is shown, at a terminal
 * (listen-tty.c) or as plain lines (listen-lines.c).
 */
#pragma once

#include "cli/front.h"
#include "cli/unit.h"
#include "listen/listener.h"

struct listen_opts {
	bool new_session;
	bool push_to_talk;
	bool no_wake;
	bool mute;
	bool no_tty;
	struct unit_opts unit;
	const char *in; /* a session; NULL: what goes on here */
	const char *language;
	const char *device;
	const char *input, *output;
	const char *agent, *model, *permission;
};

struct listening;

/* How it is shown. */
struct listen_screen {
	/* Waits for what is typed, on the loop of the front, until it is over. */
	int (*run)(void *data, struct err *reterr);
	void (*state)(void *data, enum listener_state state);
	void (*said)(void *data, enum listener_source source, struct sv text);
	void (*begin)(void *data, const struct conv *c);
	void (*event)(void *data, const struct agent_event *ev);
	void (*done)(void *data, const struct assistant_outcome *out);
	void (*unsent)(void *data, struct sv text); /* that was said */
	void (*reply)(void *data, const char *text);
	void (*notice)(void *data, const char *line);
	void (*failed)(void *data, const char *line);
	void (*signal)(void *data, int signo);
};

struct listening {
	struct app *app;
	const struct listen_opts *opts;
	struct front front; /* .voice */
	struct listener *listener;
	const struct listen_screen *screen;
	void *screen_data;
	bool hears; /* there are ears, whether or not a microphone is */
	bool deaf; /* … and none is */
	bool calls; /* … that know when they are called */
	bool over;
	int signo; /* that ended it */
	struct listening_room *room;
};

/* The whole talk: an exit status, or a negative error. Whoever shows it is ready. */
int listening_run(struct listening *l, struct err *reterr);
/* For the screen. */
void listening_leave(struct listening *l);
/* Until what is being recorded is as long as it may be; negative: nothing is. */
int64_t listening_left_ms(const struct listening *l);
/* "[12:00:01] " */
void listening_time(const struct listening *l, struct str *out);

int listen_at_terminal(struct app *app, const struct listen_opts *opts, struct err *reterr);
int listen_by_lines(struct app *app, const struct listen_opts *opts, struct err *reterr);

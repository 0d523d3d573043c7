#include "cli/front.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "assist/tell.h"
#include "base/utf8.h"
#include "cli/env.h"
#include "cli/print.h"
#include "os/path.h"
#include "os/proc.h"
#include "ui/choice.h"
#include "ui/term.h"

const char *const front_permissions[] = { "default", "accept-edits", "plan", "bypass",
	"acceptEdits", "bypassPermissions", NULL }; /* the last two as Claude Code has them */

struct kit_opts front_kit_opts(const struct app *app)
{
	return (struct kit_opts){
		.settings = app->settings,
		.store = app->store,
		.clock = &app->clock,
		.log = &app->log,
		.homes = app->homes,
		.n_homes = app->n_homes,
		.envp = env_all(),
		.search = app->paths.search,
		.archive_dir = app->paths.archive_dir,
		.models_dir = app->paths.models_dir,
		.scratch = app->paths.state_dir,
		.cwd = app->cwd,
		.locale = app->locale,
	};
}

/* A turn may cost money, so an installed agent is never taken unasked. */
static int pick_agent(struct app *app, struct kit *kit, struct err *reterr)
{
	const struct term_opts screen = app_screen(app, fileno(app->out));
	struct choice_item items[AGENTS_MAX];
	const struct agent_def *kinds[AGENTS_MAX];
	struct term term;
	size_t n = 0;
	int chosen;

	for (size_t i = 0; i < agent_count; i++) {
		const struct agent_def *kind = &agent_table[i];

		if (!kit_has(kit, kind))
			continue;
		kinds[n] = kind;
		items[n++] = (struct choice_item){ kind->name, kind->hint };
	}
	if (!kit->by_default || n < 2)
		return 0;
	term_init(&term, &screen);
	int r = choice_ask(&term, app->in, "Who should answer? (asked once; a turn may cost money)",
		items, n, CHOICE_NONE, &chosen, reterr);
	term_release(&term);
	if (r >= 0 && chosen == CHOICE_NONE) {
		/* Then nobody else does, whatever went on here last. */
		kit->forced = true;
		say_note(app->err,
			"Nobody was chosen: %s answers for now, the next start asks again.",
			kit->kind->name);
	}
	return r < 0 || chosen == CHOICE_NONE ? r : kit_choose(kit, kinds[chosen], reterr);
}

/* By way of a shell that ends at once: the notice belongs to nobody then, leaves no zombie in a
 * long conversation, and a service that hangs holds nothing up. */
static void notify(const struct app *app, const char *title, struct sv text)
{
	enum { BODY_COLUMNS = 60, START_MS = 2000 };
	AUTO_FREE char *bus = path_join(app->paths.runtime_dir, "bus");
	AUTO_STR clean = STR_INIT;
	AUTO_STR body = STR_INIT;
	AUTO_FREE char *self = NULL;
	struct err err = ERR_INIT;
	int status;

	if (!app->settings->notify_enabled ||
		(!env_get("DBUS_SESSION_BUS_ADDRESS") && !path_exists(bus)))
		return;
	utf8_scrub_line(&clean, sv_trim(text));
	utf8_fit(&body, str_sv(&clean), BODY_COLUMNS);
	int r = path_real("/proc/self/exe", &self, &err);
	const char *const argv[] = { "/bin/sh", "-c", "\"$@\" </dev/null >/dev/null 2>&1 &", "sh",
		self, "notify", "--", title, body.buf, NULL };
	if (r == 0)
		r = proc_run(&(struct proc_opts){ .argv = argv, .envp = env_all() }, SV(""),
			START_MS, 0, NULL, NULL, &status, &err);
	if (r < 0)
		log_write(&app->log, LOG_WARN, "notify: %s", err.msg);
}

/* ---- what happens, and in between what is to be noticed ---- */

static void on_notice(void *data, const char *line)
{
	struct front *f = data;

	if (f->speaking)
		strv_add(&f->held, line);
	else
		f->ui.notice(f->ui.data, line);
}

static void tell_denials(struct front *f, const struct agent_result *result)
{
	AUTO_STR line = STR_INIT;
	size_t unasked = 0;

	vec_each (&result->denied->list, denial)
		unasked += !denial->asked;
	if (unasked == 0) /* who said no knows */
		return;
	tell_denied(result->denied, &line);
	enum agent_permission now = f->kit.agents[agent_index(f->kit.kind)].permission;
	/* Who wants a plan wants no more to be allowed. */
	if (now != AGENT_PERM_PLAN && assistant_plans(f->assistant))
		str_adds(&line,
			" (this turn plans, by its words; with --permission-mode default it does "
			"not)");
	else if (!f->kit.opts.ask && now != AGENT_PERM_PLAN && now != AGENT_PERM_BYPASS)
		str_addf(&line,
			" (nobody can be asked here; --permission-mode %sbypass allows more)",
			now == AGENT_PERM_ACCEPT_EDITS ? "" : "accept-edits or ");
	on_notice(f, line.buf);
}

static void on_event(void *data, const struct agent_event *ev)
{
	struct front *f = data;
	AUTO_STR line = STR_INIT;

	if (ev->type == AGENT_EV_ASK)
		notify(f->app, "Permission needed", ev->tool);
	if (ev->type == AGENT_EV_NOTICE)
		str_add(&line, ev->text);
	else if (ev->type == AGENT_EV_RETRY)
		tell_retry(ev, &line);
	if (line.len)
		on_notice(f, line.buf);
	if (ev->type != AGENT_EV_NOTICE)
		f->ui.event(f->ui.data, ev);
	f->speaking |= ev->type == AGENT_EV_TEXT;
	if (ev->type != AGENT_EV_BREAK && ev->type != AGENT_EV_TOOL_BEGIN &&
		ev->type != AGENT_EV_ASK && ev->type != AGENT_EV_DONE)
		return;
	f->speaking = false;
	for (size_t i = 0; i < f->held.n; i++)
		f->ui.notice(f->ui.data, f->held.v[i]);
	strv_release(&f->held);
	if (ev->type == AGENT_EV_DONE)
		tell_denials(f, ev->result);
}

static void on_begin(void *data, const struct conv *c)
{
	struct front *f = data;

	f->ui.begin(f->ui.data, c);
}

static void on_waiting(void *data, int64_t seconds_left)
{
	struct front *f = data;

	if (f->ui.waiting)
		f->ui.waiting(f->ui.data, seconds_left);
}

static void on_waits_for(void *data, const char *agent, const char *pid)
{
	struct front *f = data;

	if (f->ui.waits_for)
		f->ui.waits_for(f->ui.data, agent, pid);
}

int front_open(struct front *f, struct app *app, const struct front_opts *opts, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP };
	struct kit_opts want = front_kit_opts(app);

	want.agent = opts->agent;
	want.model = opts->model;
	want.permission = opts->permission;
	want.ask = opts->answers;
	want.keep_alive = !opts->single;
	want.see_off = opts->see_off;
	want.voice = opts->voice;
	f->app = app;
	f->resends = opts->resends;
	f->runs = opts->runs;
	f->loop = loop_new();
	int r = kit_open(&want, &f->kit, reterr);
	if (r == 0 && opts->may_ask)
		r = pick_agent(app, &f->kit, reterr);
	if (r < 0)
		return r;
	struct assistant_opts as = kit_assistant_opts(&f->kit, opts->single);
	as.turns.loop = f->loop;
	as.waits = opts->waits;
	f->ui = opts->ui;
	as.ui = (struct assistant_ui){ .data = f,
		.begin = on_begin,
		.event = on_event,
		.notice = on_notice,
		.waiting = on_waiting,
		.waits_for = on_waits_for };
	/* Whoever types a command line says what they mean by its options. */
	if (opts->single)
		as.decide.no_commands = true;
	r = assistant_new(&as, &f->assistant, reterr);
	if (r == 0)
		r = loop_add_signals(
			f->loop, signals, ARRAY_LEN(signals), opts->signal, opts->ui.data, reterr);
	return r;
}

void front_close(struct front *f)
{
	assistant_free(f->assistant);
	loop_free(f->loop);
	kit_close(&f->kit);
	strv_release(&f->held);
	*f = (struct front){ .app = f->app };
}

bool front_begin(const struct front *f, const struct conv *c, struct str *ret_hint)
{
	bool goes_on = c->turns > 0;

	notify(f->app, goes_on ? "Resuming conversation" : "Task started",
		sv_of(goes_on ? conv_label(c) : c->agent));
	return tell_answerer(&f->kit, c, ret_hint);
}

void front_said(const struct front *f, const struct assistant_outcome *out)
{
	const struct turn_outcome *turn = out->turn;

	if (out->kind == UTTERANCE_AGENT && turn->fail == AGENT_OK)
		notify(f->app, "Task finished", str_sv(&turn->answer));
	else if (out->kind == UTTERANCE_AGENT)
		notify(f->app, turn->fail == AGENT_CANCELLED ? "Task cancelled" : "Task failed",
			sv_of(turn->message));
}

struct saying {
	const struct assistant_outcome *out;
	bool done;
};

static void on_said(void *data, const struct assistant_outcome *out)
{
	*(struct saying *)data = (struct saying){ .out = out, .done = true };
}

int front_say(struct front *f, const struct request *req, const struct assistant_outcome **ret_out,
	struct err *reterr)
{
	struct saying s = { .done = false };

	if (f->runs)
		f->runs(f->ui.data, true);
	assistant_say(f->assistant, req, on_said, &s);
	int r = loop_run(f->loop, &s.done, reterr);
	if (r < 0)
		assistant_drop(f->assistant);
	if (f->runs)
		f->runs(f->ui.data, false);
	*ret_out = r == 0 ? s.out : NULL;
	if (r == 0 && s.out->err.code < 0) {
		if (reterr)
			*reterr = s.out->err;
		r = s.out->err.code;
		if (!s.out->turn->sent && !s.out->reply[0])
			err_prefix(reterr, "nothing was sent");
	}
	if (r < 0)
		return r;
	front_said(f, s.out);
	return 0;
}

static int want_again(
	const struct front *f, const struct turn_record *lost, bool *ret, struct err *reterr)
{
	const struct app *app = f->app;
	const char *how = app->settings->ai_resend;
	const struct agent_def *kind = agent_named(sv_of(lost->agent));
	const struct term_opts screen = app_screen(app, fileno(app->out));
	static const struct choice_item items[] = { { "no", NULL }, { "yes", NULL } };
	struct term term;
	int chosen = 0;

	*ret = strcmp(how, "auto") == 0 && kind && kind->can.once;
	if (*ret || strcmp(how, "never") == 0 || !app->in_tty || !app->out_tty)
		return 0;
	term_init(&term, &screen);
	int r = choice_ask(
		&term, app->in, "Send it again now?", items, ARRAY_LEN(items), 0, &chosen, reterr);
	term_release(&term);
	*ret = chosen == 1;
	return r;
}

int front_recover(struct front *f, enum turn_running running, struct sv next, struct err *reterr)
{
	const struct decide_opts how = kit_decide_opts(&f->kit, false);
	enum text_language language = decide_language(&how, next);
	int r = assistant_recover(f->assistant, running, next, reterr);

	while (r == 0 && f->resends) {
		AUTO_TURN_RECORD lost = TURN_RECORD_INIT;
		AUTO_STR line = STR_INIT;
		const struct assistant_outcome *out;
		struct err err = ERR_INIT;
		bool again = false;
		if (assistant_next_lost(f->assistant, &lost, NULL) < 0)
			break;
		/* What comes next is that. */
		if (sv_eq(sv_trim(str_sv(&lost.prompt)), sv_trim(next)))
			continue;
		r = want_again(f, &lost, &again, reterr);
		if (r < 0 || !again)
			continue;
		f->ui.notice(f->ui.data, text_get(TEXT_SENT_AGAIN, language));
		const struct request req = request_again(&lost);
		if (front_say(f, &req, &out, &err) < 0) {
			str_addf(&line, "It could not be sent again: %s", err.msg);
			f->ui.notice(f->ui.data, line.buf);
		} else if (out->turn->fail == AGENT_CANCELLED) {
			r = err_set(reterr, ERR_CANCELLED, "cancelled while it was sent again");
		} else if (out->turn->fail != AGENT_OK) {
			front_failure(f->app->err, out->turn);
		}
	}
	return r;
}

void front_failure(FILE *to, const struct turn_outcome *out)
{
	AUTO_STR text = STR_INIT;

	tell_failure(out, &text);
	say_note(to, "%s", text.buf);
}

int front_status(const struct assistant_outcome *out)
{
	const struct turn_outcome *turn = out->turn;

	if (out->kind != UTTERANCE_AGENT)
		return 0;
	if (out->unplaced)
		return err_exit_status(ERR_NOTFOUND);
	if (turn->fail == AGENT_OK)
		return turn->denied.list.n ? err_exit_status(ERR_DENIED) : 0;
	return err_exit_status(turn->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT);
}

/* ---- a close choice ---- */

struct judging {
	struct judge *judge;
	struct judgement *ret;
	bool done;
};

static void on_judged(void *data, const struct judgement *j)
{
	struct judging *g = data;

	*g->ret = *j;
	g->ret->place = j->place ? xstrdup(j->place) : NULL;
	g->done = true;
}

static void on_judge_signal(void *data, int signo)
{
	struct judging *g = data;

	(void)signo;
	if (!g->done)
		judge_cancel(g->judge);
}

int front_judge(struct kit *kit, const struct decide_opts *how, struct sv text,
	const struct decision *d, struct judgement *ret, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM };
	const struct judge_opts opts = kit_judge_opts(kit);
	struct judging g = { .ret = ret };
	struct turn_host_opts turns = kit_turn_opts(kit);
	struct turn_host *host = NULL;

	if (!judge_wanted(&opts, d))
		return 0;
	turns.loop = loop_new();
	int r = turn_host_new(&turns, &host, reterr);
	if (r == 0)
		r = judge_begin(host, &opts, how, text, d, on_judged, &g, &g.judge, reterr);
	if (r == 0)
		r = loop_add_signals(
			turns.loop, signals, ARRAY_LEN(signals), on_judge_signal, &g, reterr);
	if (r == 0)
		r = loop_run(turns.loop, &g.done, reterr);
	judge_free(g.judge);
	turn_host_free(host);
	loop_free(turns.loop);
	return r == 0 && ret->end == JUDGE_CANCELLED
		? err_set(reterr, ERR_CANCELLED, "cancelled while %s was asked", ret->agent)
		: r;
}

/* ---- questions ---- */

/* That is for one start only: a restart goes on with the conversation. */
static bool begins_fresh(const char *arg)
{
	return strcmp(arg, "--new-session") == 0 || strcmp(arg, "--new") == 0;
}

static bool is_option(const char *arg, const char *name)
{
	size_t n = strlen(name);

	return strncmp(arg, name, n) == 0 && (arg[n] == '\0' || arg[n] == '=');
}

int front_restart(struct app *app, const char *in, const char *variable, struct err *reterr)
{
	AUTO_STRV argv = STRV_INIT;
	AUTO_STRV envp = STRV_INIT;
	bool words_only = false;

	for (int i = 0; i < app->argc; i++) {
		const char *arg = app->argv[i];
		words_only |= strcmp(arg, "--") == 0;
		/* Where the talk is by now is what goes on; where it is led to says who answers. */
		size_t n = is_option(arg, "--in")	  ? strlen("--in")
			: in && is_option(arg, "--agent") ? strlen("--agent")
							  : 0;
		if (!words_only && n > 0) {
			i += arg[n] == '\0';
			continue;
		}
		if (words_only || !begins_fresh(app->argv[i]))
			strv_add(&argv, app->argv[i]);
	}
	if (in && !words_only)
		strv_addf(&argv, "--in=%s", in);
	if (argv.n == 0)
		return err_set(reterr, ERR_INPUT, "cannot restart: started without a name");
	struct sv name = variable ? sv_head(sv_of(variable), strcspn(variable, "=") + 1) : SV("");
	for (const char *const *e = env_all(); *e; e++)
		if (name.n == 0 || !sv_starts(sv_of(*e), name))
			strv_add(&envp, *e);
	if (variable)
		strv_add(&envp, variable);
	(void)fflush(app->out);
	(void)fflush(app->err);
	/* The file we run may have been replaced by an upgrade: then the new one is wanted, and
	 * the link says " (deleted)", so the name we were called by is the second try. */
	(void)execve("/proc/self/exe", argv.v, envp.v);
	int error = errno;
	(void)execvpe(argv.v[0], argv.v, envp.v);
	return err_errno(reterr, error, "cannot restart %s", app->argv[0]);
}

struct asking {
	struct turn *turn;
	const struct turn_outcome *out; /* NULL: not done */
	bool done;
};

static void on_answered(void *data, const struct turn_outcome *out)
{
	struct asking *a = data;

	a->out = out;
	a->done = true;
}

static void on_signal(void *data, int signo)
{
	struct asking *a = data;

	(void)signo;
	turn_cancel(a->turn);
}

static int ask(struct turn_host *host, struct loop *loop, const struct turn_question *question,
	struct str *answer, struct err *reterr)
{
	static const int signals[] = { SIGINT, SIGTERM };
	struct asking a = { .done = false };
	const struct turn_opts opts = { .question = question };
	const struct turn_sink sink = { .data = &a, .done = on_answered };

	int r = loop_add_signals(loop, signals, ARRAY_LEN(signals), on_signal, &a, reterr);
	if (r < 0)
		return r;
	a.turn = turn_begin(host, &opts, &sink);
	r = loop_run(loop, &a.done, reterr);
	if (r == 0 && a.out->err.code < 0) {
		r = a.out->err.code;
		if (reterr)
			*reterr = a.out->err;
	} else if (r == 0 && a.out->fail != AGENT_OK) {
		r = err_set(reterr, a.out->fail == AGENT_CANCELLED ? ERR_CANCELLED : ERR_AGENT,
			"%s", a.out->message);
	} else if (r == 0) {
		str_add(answer, str_sv(&a.out->answer));
	}
	turn_free(a.turn);
	return r;
}

int front_question(struct app *app, const char *agent, const struct session_row *about,
	const char *schema, struct sv prompt, struct str *answer, const char **ret_agent,
	struct err *reterr)
{
	enum { TIMEOUT_MS = 15 * 60 * 1000 }; /* where ai.timeout has none: nobody watches it */
	bool configured = strcmp(app->settings->ai_agent, "auto") != 0;
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	struct kit_opts want = front_kit_opts(app);
	struct turn_host *host = NULL;

	want.agent = agent || configured ? agent : about->agent;
	want.agent_by = agent ? NULL : "the session's agent answers (--agent names another)";
	int r = kit_open(&want, &kit, reterr);
	if (r < 0)
		return r;
	const struct turn_question question = {
		.kind = kit.kind,
		.prompt = prompt,
		.scratch = app->paths.state_dir,
		.schema = schema,
		.timeout_ms = app->settings->ai_timeout ? app->settings->ai_timeout : TIMEOUT_MS,
	};
	const char *name = kit.kind->name;
	if (ret_agent)
		*ret_agent = name;
	if (app->err_tty)
		say_line(app->err, "Asking %s …", name);
	struct turn_host_opts turns = kit_turn_opts(&kit);
	turns.loop = loop_new();
	r = turn_host_new(&turns, &host, reterr);
	if (r == 0)
		r = ask(host, turns.loop, &question, answer, reterr);
	turn_host_free(host);
	loop_free(turns.loop);
	return r;
}

/* ---- what is said on the command line ---- */

static int read_stdin(struct app *app, struct str *out, struct err *reterr)
{
	char piece[65536];
	ssize_t n = 1;

	while (n != 0 && !str_full(out)) {
		n = read(app->in, piece, sizeof(piece));
		if (n < 0 && errno != EINTR)
			return err_errno(reterr, errno, "standard input");
		str_add(out, sv_make(piece, n > 0 ? (size_t)n : 0));
	}
	return 0;
}

/*
 * Whether something is to be read beside the words of the command line. A file and the end of a
 * pipeline are; a terminal and /dev/null are not. A pipe may also be one that a program left open
 * and never writes to: nobody waits for that for ever, except at a terminal, where it can be seen
 * and ended.
 */
static bool stdin_has_something(struct app *app)
{
	enum { PATIENCE_MS = 3000 };
	struct pollfd p = { .fd = app->in, .events = POLLIN };
	struct stat st;

	if (app->in_tty || fstat(app->in, &st) < 0)
		return false;
	if (S_ISREG(st.st_mode))
		return true;
	if (!S_ISFIFO(st.st_mode) && !S_ISSOCK(st.st_mode))
		return false;
	if (poll(&p, 1, PATIENCE_MS) > 0)
		return true;
	say_note(app->err,
		app->err_tty ? "waiting for standard input; Ctrl-C gives up"
			     : "nothing came on standard input in 3 s: going on without it; '-' as "
			       "the last word waits for it, </dev/null does not");
	return app->err_tty;
}

/* Part of a file in another encoding is a normal thing to send; that it is not sent as it is must
 * be seen. */
void front_replace_bytes(const struct app *app, struct str *text)
{
	struct sv rest = str_sv(text);
	struct str clean = STR_INIT;
	size_t n = 0;

	if (utf8_valid(rest) && !memchr(rest.p, '\0', rest.n))
		return;
	while (rest.n) {
		uint32_t cp;
		size_t length = utf8_decode(rest, &cp);
		n += cp == 0 || (cp == 0xFFFD && length == 1);
		utf8_add(&clean, cp ? cp : 0xFFFD);
		rest = sv_from(rest, length);
	}
	str_release(text);
	*text = clean;
	say_note(app->err, "%zu byte%s of the text %s NUL or not UTF-8, and %s replaced by U+FFFD",
		n, n == 1 ? "" : "s", n == 1 ? "is" : "are", n == 1 ? "was" : "were");
}

int front_read_text(
	struct app *app, int argc, char **argv, bool wait, struct str *out, struct err *reterr)
{
	bool dash = argc > 0 && strcmp(argv[argc - 1], "-") == 0;
	bool wanted = wait || dash;
	int r = 0;

	for (int i = 0; i < argc - dash; i++)
		str_addf(out, "%s%s", i ? " " : "", argv[i]);
	size_t said = out->len;
	if (wanted && app->in_tty && app->err_tty)
		say_note(app->err, "type the text; Ctrl-D on a line of its own ends it");
	if (wanted || stdin_has_something(app)) {
		str_adds(out, said ? "\n\n" : "");
		r = read_stdin(app, out, reterr);
	}
	if (r < 0)
		return r;
	if (str_full(out))
		return err_set(reterr, ERR_LIMIT, "the text%s is longer than %d bytes",
			said ? " with what is on standard input" : "", FRONT_TEXT_MAX);
	if (said > 0 && sv_trim(sv_from(str_sv(out), said)).n == 0)
		str_cut(out, said);
	front_replace_bytes(app, out);
	return 0;
}

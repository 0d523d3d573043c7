/*
 * What is typed at the prompt and is for faden itself: how to leave, help, the slash words that
 * people know from the agents' own programs, and the words behind '>' that the hooks take there.
 */
#include <strings.h>

#include "assist/tell.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "cli/env.h"
#include "cli/sessions.h"
#include "cli/talk.h"
#include "os/path.h"
#include "os/proc.h"
#include "strategy/hook.h"

const char *const talk_help[] = {
	"What is typed goes to the agent, except as a whole line:",
	"  exit, quit, /exit        leave; so does Ctrl-D",
	"  ?, /help                 this help",
	"  /clear, /reset, /new     start a new conversation (or: new conversation)",
	"  /undo                    bring the one before it back (or: undo reset)",
	"  /resume NAME             go on in another conversation (or its id)",
	"  /compact                 what there is instead",
	"  >advise                  how full the context is, and what would help",
	"  >trim [LENGTH] [TOOL,…]  go on without long texts; they can be had back",
	"  >continue [TEXT]         go on in a fresh session with a brief of facts",
	"  >lineage                 where this session comes from",
	"  >resume [NAME]           go on in the agent's own program, and come back",
	"A talk stays in its conversation: only /clear, /undo and /resume lead elsewhere.",
	"More such words, stop, restart and others: faden commands",
	"Keys: Escape or Ctrl-C cancels a turn, Ctrl-C twice leaves; \\ and Enter begins another "
	"line; Up, Down "
	"and Ctrl-R look through the history; Ctrl-A, Ctrl-E, Ctrl-W, Ctrl-U, Ctrl-K edit.",
	NULL,
};

static bool among(struct sv text, const char *const *words)
{
	for (; *words; words++)
		if (text.n == strlen(*words) && strncasecmp(text.p, *words, text.n) == 0)
			return true;
	return false;
}

/* ">trim 800 Bash,Read" as options; the command says what is wrong with them. */
static void add_trim_options(struct strv *args, struct sv rest)
{
	AUTO_STR tools = STR_INIT;
	struct sv word;
	long long length;

	while (sv_split(&rest, ' ', &word)) {
		if (sv_parse_i64(word, &length))
			strv_addf(args, "--length=%lld", length);
		else if (word.n > 0)
			str_addf(&tools, "%s%.*s", tools.len ? "," : "", SV_ARG(word));
	}
	if (tools.len > 0)
		strv_addf(args, "--tools=%s", tools.buf);
}

static bool find_command(struct sv text, struct strv *args)
{
	struct sv rest;

	switch (hook_word_of(text, &rest)) {
	case HOOK_NONE:
		return false;
	case HOOK_RESUME:
		strv_add(args, "resume");
		if (rest.n > 0)
			strv_addsv(args, rest);
		break;
	case HOOK_CONTINUE:
	case HOOK_HANDOFF:
		strv_add(args, "rollover");
		if (rest.n > 0)
			strv_addf(args, "--prompt=%.*s", SV_ARG(rest));
		break;
	case HOOK_TRIM:
		strv_add(args, "trim");
		add_trim_options(args, rest);
		break;
	case HOOK_ADVISE:
		strv_add(args, "advise");
		break;
	case HOOK_LINEAGE:
		strv_add(args, "lineage");
		break;
	}
	return true;
}

/* A word that begins as ours do. '/' is the agents' too, and ours are words alone there; behind '>'
 * other words may follow. */
static enum talk_word mistyped(struct sv text, struct strv *args)
{
	static const char *const words[] = { "/exit", "/quit", "/help", "/clear", "/reset", "/new",
		"/undo", "/compact", "/resume", ">advise", ">trim", ">continue", ">rollover",
		">lineage", ">resume" };
	size_t n = 0;

	while (text.n > 0 && text.p[0] == '>' && n < text.n && (unsigned char)text.p[n] > ' ')
		n++;
	text = n > 0 ? sv_head(text, n) : text;
	struct suggest near = SUGGEST_INIT(text);
	if (text.n < 3 || (text.p[0] != '/' && text.p[0] != '>'))
		return TALK_AGENT;
	for (size_t i = 1; i < text.n; i++)
		if (text.p[i] < 'A' || text.p[i] > 'z')
			return TALK_AGENT;
	for (size_t i = 0; i < ARRAY_LEN(words); i++)
		if (words[i][0] == text.p[0])
			suggest_offer(&near, words[i]);
	if (near.best)
		strv_add(args, near.best);
	return near.best ? TALK_MISTYPED : text.p[0] == '>' ? TALK_UNKNOWN : TALK_AGENT;
}

enum talk_word talk_word_of(struct sv text, struct strv *args)
{
	static const char *const leave[] = { "exit", "quit", "/exit", "/quit", NULL };
	static const char *const help[] = { "?", "/help", "/?", NULL };
	static const char *const clear[] = { "/clear", "/reset", "/new", NULL };
	static const char *const undo[] = { "/undo", NULL };

	if (among(text, leave))
		return TALK_LEAVE;
	if (among(text, help))
		return TALK_HELP;
	if (among(text, clear))
		return TALK_CLEAR;
	if (among(text, undo))
		return TALK_UNDO;
	/* It takes words of its own: "/compact keep the plan". */
	if (sv_starts(text, SV("/compact")) && (text.n == 8 || text.p[8] == ' '))
		return TALK_COMPACT;
	if (sv_starts(text, SV("/resume")) && (text.n == 7 || text.p[7] == ' ')) {
		struct sv name = sv_trim(sv_from(text, 7));
		if (name.n > 0)
			strv_addsv(args, name);
		return TALK_ENTER;
	}
	return find_command(text, args) ? TALK_RUN : mistyped(text, args);
}

int talk_enter(const struct front *f, const char *session, const char *agent, struct conv *ret,
	struct str *said, struct err *reterr)
{
	AUTO_RESOLVED of = RESOLVED_INIT;
	int r = sessions_find(f->app, session, RESOLVE_CONVERSATION, &of, reterr);

	if (r < 0)
		return r;
	const char *whose = of.conv.agent ? of.conv.agent : of.row.agent;
	if (agent && strcmp(whose, agent) != 0)
		return err_set(reterr, ERR_USAGE,
			"this conversation is %s's, not %s's; leave --agent out", whose, agent);
	if (of.conv.id[0])
		conv_copy(ret, &of.conv);
	else
		r = sessions_adopt(f->app, &of.row, ret, reterr);
	if (r < 0)
		return r;
	(void)tell_greeting(&f->kit, false, ret, said);
	assistant_enter(f->assistant, ret);
	return 0;
}

int talk_answer(const struct front *f, enum talk_word word, const struct strv *args,
	struct str *said, struct err *reterr)
{
	enum text_language language = f->kit.language;
	AUTO_CONV c = CONV_INIT;
	struct err err = ERR_INIT;
	int r = 0;

	if (word == TALK_MISTYPED) {
		str_addf(said, "Nothing was sent: did you mean %s? (? shows what can be typed)",
			args->v[0]);
	} else if (word == TALK_UNKNOWN) {
		str_adds(said, "None of faden's words (? shows them): it goes to the agent.");
	} else if (word == TALK_COMPACT) {
		str_adds(said, text_get(TEXT_COMPACT, language));
	} else if (word == TALK_ENTER && args->n == 0) {
		str_adds(said,
			"Nothing was sent: /resume NAME goes on in that conversation, "
			">resume in the agent's own program.");
	} else if (word == TALK_ENTER) {
		r = talk_enter(f, args->v[0], NULL, &c, said, reterr);
	} else if (word == TALK_CLEAR) {
		r = assistant_reset(f->assistant, reterr);
		if (r == 0)
			str_addf(said, "%s %s", text_get(TEXT_RESET, language),
				text_get(TEXT_RESET_BACK, language));
	} else if (word == TALK_UNDO) {
		const struct decide_opts how = kit_decide_opts(&f->kit, false);
		r = decide_undo(&how, &c, &err);
		if (r >= 0)
			assistant_stay(f->assistant, &c);
		if (r >= 0)
			text_undone(said, language, &c, r > 0);
		else if (r == ERR_NOTFOUND)
			str_adds(said, text_get(TEXT_NOTHING_TO_UNDO, language));
		else if (reterr)
			*reterr = err;
		r = r < 0 && r != ERR_NOTFOUND ? r : 0;
	}
	return r;
}

int talk_run(const struct app *app, const struct strv *args, struct err *reterr)
{
	AUTO_FREE char *self = NULL;
	AUTO_STRV argv = STRV_INIT;
	struct proc proc = PROC_INIT;
	int r = path_real("/proc/self/exe", &self, reterr);

	if (r < 0)
		return r;
	strv_add(&argv, self);
	if (app->config_given)
		strv_addf(&argv, "--config=%s", app->paths.config_file);
	strv_addf(&argv, "--state=%s", app->paths.state_dir);
	strv_addf(&argv, "--color=%s", app->colour ? "always" : "never");
	for (size_t i = 0; i < args->n; i++)
		strv_add(&argv, args->v[i]);
	AUTO_STRV envp = STRV_INIT;
	for (const char *const *e = env_all(); *e; e++)
		strv_add(&envp, *e);
	/* Who goes on in an agent's own program is not in the talk. */
	if (strcmp(args->v[0], "resume") != 0)
		strv_add(&envp, ENV_TALKING "=1");
	const struct proc_opts opts = {
		.argv = (const char *const *)argv.v,
		.envp = (const char *const *)envp.v,
		.in = app->in_tty ? PROC_INHERIT : PROC_NULL, /* what is typed next is ours */
		.out = PROC_INHERIT,
		.err = PROC_INHERIT,
		.same_group = true,
	};
	(void)fflush(app->out);
	r = proc_spawn(&proc, &opts, reterr);
	if (r >= 0)
		(void)proc_reap(&proc, true, NULL); /* it says itself how it went */
	proc_release(&proc);
	return r;
}

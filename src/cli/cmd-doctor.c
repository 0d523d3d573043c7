/*
 * What is installed, what works, what is wrong and what to do about it: one line each.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "cli/cmd.h"
#include "cli/env.h"
#include "cli/front.h"
#include "cli/print.h"
#include "cli/voice.h"
#include "config/settings.h"
#include "meaning/meaning.h"
#include "os/path.h"
#include "search/index.h"
#include "store/health.h"
#include "ui/format.h"
#include "ui/term.h"
#include "ui/wrap.h"
#include "json/write.h"

enum level { LEVEL_OK, LEVEL_NOTE, LEVEL_WARN, LEVEL_FAIL, LEVELS };
static const char *const level_names[LEVELS] = { "ok", "note", "warn", "fail" };

enum { LOW_SPACE = 200 * 1000 * 1000, NO_SPACE = 1000 * 1000 };

struct finding {
	enum level level;
	char *what;
	char *text;
	char *remedy; /* NULL: nothing to do */
};

struct doctor {
	struct app *app;
	VEC(struct finding) findings;
};

struct doctor_opts {
	bool json;
};

static const struct opt doctor_options[] = {
	OPT_FLAG(0, "json", struct doctor_opts, json, "one JSON object for programs"),
	OPT_END,
};

/* Takes the remedy over. */
static void PRINTF(5, 6) add(
	struct doctor *d, enum level level, const char *what, char *remedy, const char *fmt, ...)
{
	struct str text = STR_INIT;
	va_list ap;

	va_start(ap, fmt);
	str_addvf(&text, fmt, ap);
	va_end(ap);
	vec_push(&d->findings, (struct finding){ level, xstrdup(what), str_detach(&text), remedy });
}

/* A broken configuration is a finding; the other checks then go by the defaults. */
static void check_config(struct doctor *d)
{
	struct app *app = d->app;
	struct err err = ERR_INIT;
	const char *path = app->paths.config_file;

	if (app_load_settings(app, &err) == 0) {
		add(d, LEVEL_OK, "config", NULL, "%s%s", path,
			path_exists(path) ? "" : ": none, defaults are used");
		return;
	}
	add(d, LEVEL_FAIL, "config", xstrdup("correct that; 'faden config check' looks again"),
		"%s", err.msg);
	settings_free(app->settings);
	app->settings = settings_new(app->paths.home);
}

/* Room for what is written there: the store below the state folder, originals in the archive. */
static void check_space(struct doctor *d, const char *dir)
{
	struct statvfs fs;
	char left[SIZE_TEXT_MAX];

	if (statvfs(dir, &fs) < 0)
		return;
	uint64_t bytes = (uint64_t)fs.f_bavail * fs.f_frsize;
	bool no_names = fs.f_files > 0 && fs.f_favail == 0;
	size_format(bytes, left);
	if (no_names || bytes < NO_SPACE)
		add(d, LEVEL_FAIL, "disk", xstrdup("make room: nothing can be written down there"),
			"%s%s left at %s", left, no_names ? " and no room for a new file" : "",
			dir);
	else if (bytes < LOW_SPACE)
		add(d, LEVEL_WARN, "disk",
			xstrdup("make room: agents and faden lose words on a full disk"),
			"%s left at %s", left, dir);
	else
		add(d, LEVEL_OK, "disk", NULL, "%s left at %s", left, dir);
}

/* What a turn does with the store, done: one that opens may still fail in the middle of it. */
static void check_store(struct doctor *d)
{
	static const char forgets[] = "that forgets names, conversations and where originals of "
				      "trimmed texts lie; the agents' sessions are untouched";
	static const struct {
		enum level level;
		const char *what, *remedy;
	} told[] = {
		[STORE_SOUND] = { LEVEL_OK, ": all of it was read, and a record written", NULL },
		[STORE_NONE] = { LEVEL_OK, ": there was none; made now", NULL },
		[STORE_EMPTY] = { LEVEL_WARN, " is empty: what it remembered is gone",
			"put a copy back if there is one; the next turn begins a new store" },
		[STORE_DAMAGED] = { LEVEL_FAIL, " is damaged", "move it away with its log" },
		[STORE_UNREADABLE] = { LEVEL_FAIL, " cannot be used",
			"get the right to read and write it (chmod u+rw, or chown)" },
		[STORE_UNWRITABLE] = { LEVEL_FAIL, " cannot be written to",
			"make room, or the folder writable, or use --state DIR; listing and "
			"showing work" },
		[STORE_HELD] = { LEVEL_WARN, " is held by another process",
			"see which (pgrep -a faden); when it has ended, turns go on" },
		[STORE_NEWER] = { LEVEL_FAIL, " was made by a newer faden",
			"upgrade faden, or use --state DIR; nothing was touched" },
	};
	struct app *app = d->app;
	AUTO_FREE char *path = path_join(app->paths.state_dir, "faden.db");
	AUTO_STR words = STR_INIT;
	AUTO_STR remedy = STR_INIT;
	struct store *store;
	struct err err = ERR_INIT;
	enum store_health health = store_try(path, &words);

	/* Who would answer is written down in it. */
	if (told[health].level == LEVEL_OK && app_store(app, &store, &err) < 0) {
		add(d, LEVEL_FAIL, "store", NULL, "%s", err.msg);
		return;
	}
	if (told[health].level == LEVEL_OK && store_lacks(store, &words))
		health = STORE_DAMAGED;
	if (told[health].remedy)
		str_adds(&remedy, told[health].remedy);
	if (health == STORE_DAMAGED) {
		str_adds(&remedy, ": cd ");
		shell_word(&remedy, app->paths.state_dir);
		str_addf(&remedy, " && mkdir damaged && mv faden.db* damaged (%s)", forgets);
	}
	add(d, told[health].level, "store", remedy.len ? str_detach(&remedy) : NULL, "%s%s%s%s%s%s",
		path, told[health].what, words.len ? " (" : "", words.buf, words.len ? ")" : "",
		told[health].level == LEVEL_FAIL ? "; 'faden ask' fails with that, now or later"
						 : "");
}

/* What can be made again is no failure, but one that is damaged gives no answers. */
static void check_index(struct doctor *d)
{
	const char *dir = d->app->paths.index_dir;
	struct index_view *view = NULL;
	struct err err = ERR_INIT;
	int r = index_view_open(dir, &view, &err);
	size_t n = r < 0 ? 0 : index_view_segments(view);

	index_view_close(view);
	if (r >= 0 && index_is_bad(dir, &err))
		r = SEGMENT_DAMAGED;
	if (r == ERR_NOTFOUND)
		add(d, LEVEL_NOTE, "index", NULL, "%s; the first search makes it", err.msg);
	else if (r == SEGMENT_DAMAGED)
		add(d, LEVEL_WARN, "index",
			xstrdup("faden index: it is made anew from the sessions"), "%s", err.msg);
	else if (r < 0)
		add(d, LEVEL_WARN, "index", NULL, "%s", err.msg);
	else
		add(d, LEVEL_OK, "index", NULL,
			"%s: its database was read, and the head of %zu file%s", dir, n,
			n == 1 ? "" : "s");
}

static void check_state(struct doctor *d)
{
	struct app *app = d->app;
	const char *dir = app->paths.state_dir;
	struct stat state, data;
	struct err err = ERR_INIT;

	if (app_state(app, &err) < 0) {
		add(d, LEVEL_FAIL, "state", xasprintf("make %s writable, or use --state DIR", dir),
			"%s", err.msg);
		return;
	}
	if (access(dir, W_OK | X_OK) < 0)
		add(d, LEVEL_FAIL, "state",
			xstrdup("make it writable, or use --state DIR; listing and showing work"),
			"%s: %s", dir, strerror(errno));
	else
		add(d, LEVEL_OK, "state", NULL, "%s is writable", dir);
	check_space(d, dir);
	if (stat(dir, &state) == 0 && stat(app->paths.data_dir, &data) == 0 &&
		state.st_dev != data.st_dev)
		check_space(d, app->paths.data_dir);
	check_store(d);
	check_index(d);
}

static void check_agent(struct doctor *d, const struct agent_def *agent)
{
	const char *name = agent->name;
	const char *program = settings_program(d->app->settings, agent);
	AUTO_FREE char *path = path_find_program(program, d->app->paths.search);
	AUTO_STR version = STR_INIT;
	struct err err = ERR_INIT;
	const struct agent_opts opts = { .program = path, .envp = env_all() };

	if (!path && strcmp(program, agent->program) != 0)
		add(d, LEVEL_WARN, name, xasprintf("set %s to where it is", agent->setting),
			"no program '%s'", program);
	else if (!path)
		add(d, LEVEL_NOTE, name, agent->install ? xstrdup(agent->install) : NULL,
			"not installed");
	else if (agent_version(agent, &opts, &version, &err) < 0)
		add(d, LEVEL_WARN, name, xasprintf("run '%s --version' and see", path),
			"%s does not run: %s", path, err.msg);
	else
		add(d, LEVEL_OK, name, NULL, "%s (%s)", version.buf, path);
}

static void check_choice(struct doctor *d)
{
	CLEANUP(kit_close) struct kit kit = { .dir = NULL };
	const struct kit_opts opts = front_kit_opts(d->app);
	struct err err = ERR_INIT;

	if (!d->app->store)
		return;
	if (kit_open(&opts, &kit, &err) < 0) {
		add(d, LEVEL_FAIL, "answers", NULL, "%s", err.msg);
		return;
	}
	if (kit.by_default)
		add(d, LEVEL_NOTE, "answers",
			xstrdup("choose one at the first 'faden' on a terminal, or set ai.agent"),
			"the embedded rehearsal agent");
	else if (kit.by_folder)
		add(d, LEVEL_NOTE, "answers",
			xstrdup("choose for good: 'faden config set ai.agent' with a name"),
			"%s, in this folder: it did here last, and nobody was chosen (ai.agent: "
			"auto)",
			kit.kind->name);
	else
		add(d, LEVEL_OK, "answers", NULL, "%s, %s", kit.kind->name,
			strcmp(d->app->settings->ai_agent, "auto") == 0
				? "chosen at the first start (ai.agent: auto)"
				: "by ai.agent");
	if (kit.agents[agent_index(kit.kind)].permission == AGENT_PERM_BYPASS)
		add(d, LEVEL_WARN, "permissions",
			xstrdup("set ai.permission_mode unless that is what you want"),
			"bypassPermissions: the agent acts without asking");
}

/* Which of the two decides where sentences belong. It is opened, or nobody knows. */
static void check_routing(struct doctor *d)
{
	struct meaning *m = meaning_new(d->app->paths.models_dir);
	struct err err = ERR_INIT;

	if (!meaning_installed(m))
		add(d, LEVEL_OK, "routing", NULL,
			"by words; 'faden model install meaning' adds what they mean");
	else if (meaning_open(m, &err) < 0)
		/* The error names what mends it: the network, or the runtime. */
		add(d, LEVEL_WARN, "routing", NULL, "by words alone: %s", err.msg);
	else if (!meaning_has_german(m))
		add(d, LEVEL_NOTE, "routing",
			xasprintf("%s, then faden model install meaning", MEANING_GET_DICTIONARY),
			"by words, and by meaning in English; German needs a dictionary");
	else
		add(d, LEVEL_OK, "routing", NULL, "by words, and by meaning in English and German");
	meaning_free(m);
}

static void check_home(struct doctor *d, const struct transcript_home *home)
{
	AUTO_FREE char *what = xasprintf("%s sessions", home->agent);

	if (!path_exists(home->root))
		add(d, LEVEL_OK, what, NULL, "%s: none yet", home->root);
	else if (access(home->root, R_OK | X_OK) < 0)
		add(d, LEVEL_WARN, what,
			xstrdup("its sessions are not listed until it can be read"), "%s: %s",
			home->root, strerror(errno));
	else
		add(d, LEVEL_OK, what, NULL, "%s", home->root);
}

/* What does not work of the voice; why names what mends it. What nobody chose may be missing. */
static void add_mute(struct doctor *d, int r, bool chosen, const char *what, const char *why)
{
	add(d, r == ERR_NOTFOUND && !chosen ? LEVEL_NOTE : LEVEL_WARN, "voice", NULL, "%s%s", what,
		why);
}

/* Wake word and speech, by what 'faden listen' opens. */
static int try_ears(const struct doctor *d, struct models *models, struct err *reterr)
{
	struct wake *wake = NULL;
	struct vad *vad = NULL;
	int r = voice_wake(d->app, models, &wake, reterr);

	if (r >= 0)
		r = voice_vad(d->app, models, &vad, reterr);
	vad_free(vad);
	wake_free(wake);
	return r;
}

/* 'faden listen' is asked, so to say: with the same settings, by the same code. Nothing is played
 * or heard, and no server asked: that is for 'faden voice test'. */
static void check_voice(struct doctor *d)
{
	const struct settings *s = d->app->settings;
	struct models *models = models_new(d->app->paths.models_dir);
	AUTO_STRV command = STRV_INIT;
	const struct stt_opts stt = voice_stt_opts(d->app, models, NULL, &command);
	const struct tts_opts tts = voice_tts_opts(d->app, models);
	bool stt_chosen =
		strcmp(s->stt_provider, "auto") != 0 || stt.command || stt.url || s->stt_model[0];
	bool tts_chosen =
		strcmp(s->tts_provider, "auto") != 0 || tts.command || tts.url || tts.voice;
	struct tts *mouth = NULL;
	struct err text = ERR_INIT, ears = ERR_INIT, voice = ERR_INIT;
	int understands = voice_stt_look(&stt, true, &text);
	int listens = try_ears(d, models, &ears);
	int speaks = tts_new(&tts, &mouth, &voice);

	/* One remedy mends both. */
	bool same = understands < 0 &&
		((understands == ERR_NOTFOUND && listens == ERR_NOTFOUND &&
			 stt_is_ours(stt.engine)) ||
			strcmp(text.msg, ears.msg) == 0);
	if (understands < 0)
		add_mute(d, understands, stt_chosen, "", text.msg);
	if (listens < 0 && !same)
		add_mute(d, listens, false, "", ears.msg);
	if (understands >= 0 && listens >= 0)
		add(d, LEVEL_OK, "voice", NULL, "it would listen, %sunderstand by %s%s%s%s%s",
			speaks < 0 ? "and " : "", stt.engine,
			strcmp(stt.engine, "whisper") == 0 ? "-" : "",
			strcmp(stt.engine, "whisper") == 0 ? stt.model : "",
			speaks < 0 ? "" : ", and speak by ", speaks < 0 ? "" : tts.engine);
	if (speaks < 0)
		add_mute(d, speaks, tts_chosen,
			"'faden listen' has no voice to speak with: ", voice.msg);
	tts_free(mouth);
	models_free(models);
}

static void check_all(struct doctor *d)
{
	add(d, LEVEL_OK, "faden", NULL, "%s", FADEN_VERSION);
	check_config(d);
	check_state(d);
	for (size_t i = 0; i < agent_count; i++)
		if (agent_table[i].program)
			check_agent(d, &agent_table[i]);
	check_choice(d);
	check_routing(d);
	check_voice(d);
	for (size_t i = 0; i < d->app->n_homes; i++)
		if (d->app->homes[i].below)
			check_home(d, &d->app->homes[i]);
	if (env_use_locale())
		add(d, LEVEL_OK, "locale", NULL, "UTF-8");
	else
		add(d, LEVEL_NOTE, "locale",
			xstrdup("set LANG to a UTF-8 locale to be shown more than ASCII"),
			"not UTF-8");
}

/* Long lines go on below their beginning; on a pipe a finding is one line. */
static void print_text(const struct doctor *d)
{
	static const unsigned styles[LEVELS] = { STYLE_GREEN, STYLE_DIM, STYLE_YELLOW,
		STYLE_BOLD | STYLE_RED };
	struct term term;

	print_begin(d->app, &term);
	vec_each (&d->findings, f) {
		AUTO_STR words = STR_INIT;
		AUTO_STR clean = STR_INIT;
		struct wrap wrap;

		term_style(&term, styles[f->level]);
		term_putf(&term, "%-4s", level_names[f->level]);
		term_style(&term, STYLE_PLAIN);
		term_putf(&term, "  %-16s ", f->what);
		str_addf(&words, "%s%s%s", f->text, f->remedy ? " — " : "",
			f->remedy ? f->remedy : "");
		utf8_scrub_line(&clean, str_sv(&words));
		if (!term.tty) {
			term_put(&term, str_sv(&clean));
			term_newline(&term);
			continue;
		}
		wrap_init(&wrap, &term);
		wrap_begin(&wrap, SV(""), SV("                       "), STYLE_PLAIN);
		wrap_add(&wrap, str_sv(&clean), STYLE_PLAIN);
		wrap_end(&wrap);
		wrap_release(&wrap);
	}
	print_end(&term);
}

static void print_json(const struct doctor *d)
{
	AUTO_STR text = STR_INIT;
	struct jw w = JW_INIT(&text);

	jw_object(&w);
	jw_key(&w, "checks");
	jw_array(&w);
	vec_each (&d->findings, f) {
		jw_object(&w);
		jw_put_cstr(&w, "name", f->what);
		jw_put_cstr(&w, "status", level_names[f->level]);
		jw_put_cstr(&w, "message", f->text);
		jw_put_cstr(&w, "remedy", f->remedy);
		jw_end(&w);
	}
	jw_end(&w);
	jw_end(&w);
	print_doc(d->app, &text);
}

static int run_doctor(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct doctor_opts *opts = options;
	struct doctor d = { .app = app };
	bool failed = false;

	(void)argc;
	(void)argv;
	(void)reterr;
	check_all(&d);
	if (opts->json)
		print_json(&d);
	else
		print_text(&d);
	vec_each (&d.findings, f) {
		failed |= f->level == LEVEL_FAIL;
		free(f->what);
		free(f->text);
		free(f->remedy);
	}
	vec_release(&d.findings);
	return failed ? 1 : 0;
}

const struct cmd cmd_doctor = {
	.name = "doctor",
	.group = CMD_GROUP_SETUP,
	.summary = "what is installed, what works, what to do about the rest",
	.synopsis = "",
	.max_args = 0,
	.needs = CMD_NO_SETTINGS,
	.opts = doctor_options,
	.opts_size = sizeof(struct doctor_opts),
	.run = run_doctor,
};

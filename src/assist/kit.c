#include "assist/kit.h"

#include <stdlib.h>
#include <string.h>

#include "assist/prompt.h"
#include "base/mem.h"
#include "base/suggest.h"
#include "base/utf8.h"
#include "base/vec.h"
#include "os/path.h"

static const char pref_agent[] = "agent";

/* ---- where and in which words ---- */

int kit_dir(const struct settings *s, const char *cwd, char **ret, struct err *reterr)
{
	if (s->ai_working_directory[0])
		return path_real(s->ai_working_directory, ret, reterr);
	if (!cwd)
		return err_set(reterr, ERR_INPUT,
			"the current folder no longer exists; change to one that does");
	return path_real(cwd, ret, reterr);
}

enum text_language kit_language(const struct settings *s, const char *locale)
{
	const char *language =
		strcmp(s->assistant_language, "auto") == 0 ? locale : s->assistant_language;

	return language && strcmp(language, "de") == 0 ? TEXT_GERMAN : TEXT_ENGLISH;
}

/* ---- where sentences belong ---- */

static void override(double *value, double setting)
{
	if (setting >= 0)
		*value = setting;
}

static bool tell_meaning(void *data, struct sv text, const char *language, int8_t *ret)
{
	struct err err = ERR_INIT;

	_Static_assert(
		(int)ROUTE_MEANING_SIZE == (int)MEANING_SIZE, "the router takes it as it is");
	return meaning_of(data, text, language, ret, &err) == 0;
}

struct route_meaning kit_meaning(struct meaning *m, bool always)
{
	return (struct route_meaning){ .data = m, .of = tell_meaning, .always = always };
}

int kit_router(const struct settings *s, const char *profile, const struct route_meaning *meaning,
	struct router **ret, struct err *reterr)
{
	const char *name = profile ? profile : s->routing_profile;
	VEC(struct lang_extra) extra = VEC_INIT;
	enum route_profile which;

	if (!route_profile_parse(sv_of(name), &which))
		return err_set(
			reterr, ERR_USAGE, "no profile '%s'; there are faden and seed", name);
	struct route_opts opts = route_opts_default(which);
	override(&opts.threshold, s->routing_threshold);
	override(&opts.weights.keyword, s->routing_weight_keyword);
	override(&opts.weights.recency, s->routing_weight_recency);
	override(&opts.weights.continuation, s->routing_weight_continuation);
	opts.expiry_ms = (int64_t)(s->routing_expiry_minutes * 60000);
	opts.max = (size_t)s->routing_max_conversations;
	opts.meaning = meaning;
	/* A row of the table is "LANGUAGE.CLASS=WORD|WORD", as the loader made it. */
	for (size_t i = 0; i < s->routing_words.n; i++) {
		struct sv rest = sv_of(s->routing_words.v[i]);
		struct lang_extra one;
		struct sv language;
		if (!sv_split(&rest, '.', &language) || !sv_split(&rest, '=', &one.cls))
			continue;
		one.words = rest.p ? rest : SV("");
		vec_push(&extra, one);
	}
	opts.extra = extra.v;
	opts.n_extra = extra.n;
	*ret = router_new(&opts);
	vec_release(&extra);
	return 0;
}

/* As the phrases of the program are spelt: in small letters, '|' between them. */
static char *join_phrases(const struct strv *phrases)
{
	struct str out = STR_INIT;

	for (size_t i = 0; i < phrases->n; i++) {
		str_adds(&out, i ? "|" : "");
		utf8_normalise(&out, sv_of(phrases->v[i]), true);
	}
	return str_detach(&out);
}

/* ---- who answers ---- */

/* As the settings keep it, or as options spell it. */
static enum agent_permission permission_of(const char *name)
{
	static const char *const names[][2] = {
		[AGENT_PERM_DEFAULT] = { "default", "default" },
		[AGENT_PERM_ACCEPT_EDITS] = { "acceptEdits", "accept-edits" },
		[AGENT_PERM_PLAN] = { "plan", "plan" },
		[AGENT_PERM_BYPASS] = { "bypassPermissions", "bypass" },
	};

	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (strcmp(names[i][0], name) == 0 || strcmp(names[i][1], name) == 0)
			return (enum agent_permission)i;
	return AGENT_PERM_DEFAULT;
}

/* The option, where it allows what the settings do not. */
static const char *more_rights(const struct kit_opts *o)
{
	static const int much[] = { [AGENT_PERM_PLAN] = 0,
		[AGENT_PERM_DEFAULT] = 1,
		[AGENT_PERM_ACCEPT_EDITS] = 2,
		[AGENT_PERM_BYPASS] = 3 };

	return o->permission &&
			much[permission_of(o->permission)] >
				much[permission_of(o->settings->ai_permission_mode)]
		? o->permission
		: NULL;
}

static void fill_agents(struct kit *kit)
{
	const struct kit_opts *o = &kit->opts;
	const struct settings *s = o->settings;
	struct agent_opts common = {
		.permission = permission_of(o->permission ? o->permission : s->ai_permission_mode),
		.command = (const char *const *)s->ai_exec_command.v,
		.envp = o->envp,
		.model = o->model	 ? o->model
			: s->ai_model[0] ? s->ai_model
					 : NULL,
		.system_prompt = kit->system_prompt,
		.script = s->ai_rehearsal_script[0] ? s->ai_rehearsal_script : NULL,
		.outside_git = s->ai_outside_git,
		/* One whose end nobody waits for has its turn over before that. */
		.keep_alive = (o->keep_alive || o->see_off) && s->ai_keep_alive,
		.see_off = o->see_off,
		.timeout_ms = s->ai_timeout,
		.idle_ms = s->ai_idle_timeout,
		.max_budget_usd = s->ai_max_budget_usd,
		.clock = o->clock,
		.log = o->log,
	};

	for (size_t i = 0; i < agent_count; i++) {
		struct agent_opts *agent = &kit->agents[i];
		const struct agent_def *kind = &agent_table[i];

		*agent = common;
		agent->ask = o->ask && kind->can.ask;
		agent->program = kit->programs[i] ? kit->programs[i] : settings_program(s, kind);
		for (size_t h = 0; h < o->n_homes; h++)
			if (strcmp(o->homes[h].agent, kind->name) == 0)
				agent->home = o->homes[h].root;
	}
}

bool kit_has(const struct kit *kit, const struct agent_def *kind)
{
	return kind->embedded || kit->programs[agent_index(kind)];
}

static int take_named(struct kit *kit, const char *name, const char *where, struct err *reterr)
{
	const struct agent_def *kind = agent_named(sv_of(name));
	AUTO_STR all = STR_INIT;

	if (!kind) {
		struct suggest near = SUGGEST_INIT(sv_of(name));
		for (size_t i = 0; i < agent_count; i++)
			suggest_offer(&near, agent_table[i].name);
		agents_list(&all, NULL, " and ");
		return err_set(reterr, ERR_USAGE, "%s: no agent '%s'%s%s%s; there are %s", where,
			name, SUGGEST_ARG(near.best), all.buf);
	}
	kit->kind = kind;
	if (kit_has(kit, kind))
		return 0;
	const char *program = settings_program(kit->opts.settings, kind);
	if (!program)
		return err_set(reterr, ERR_AGENT, "%s: agent %s has no program; set %s", where,
			name, kind->setting);
	if (!kind->program || strchr(program, '/'))
		return err_set(reterr, ERR_AGENT, "%s: %s: no program '%s'", where, kind->setting,
			program);
	return err_set(reterr, ERR_AGENT,
		"%s: the program of agent %s, '%s', is not installed or not in PATH", where, name,
		program);
}

static int pick_agent(struct kit *kit, struct err *reterr)
{
	const struct kit_opts *o = &kit->opts;

	kit->kind = agent_embedded();
	kit->forced = o->agent != NULL;
	if (o->agent)
		return take_named(kit, o->agent, o->agent_by ? o->agent_by : "--agent", reterr);
	if (strcmp(o->settings->ai_agent, "auto") != 0)
		return take_named(kit, o->settings->ai_agent, "ai.agent", reterr);
	const struct agent_def *kind = NULL;
	int r = kit_auto(o, o->aside ? NULL : kit->dir, &kind, &kit->by_folder, reterr);
	if (r < 0)
		return r;
	kit->chosen = kit->by_folder ? NULL : kind;
	kit->by_default = !kind;
	if (kind)
		kit->kind = kind;
	return 0;
}

/* One that was uninstalled since is as if never chosen. */
static const struct agent_def *still_there(const struct kit_opts *o, const char *name)
{
	const struct agent_def *kind = agent_named(sv_of(name));
	const char *program = kind ? settings_program(o->settings, kind) : NULL;
	AUTO_FREE char *found = program ? path_find_program(program, o->search) : NULL;

	return kind && (kind->embedded || found) ? kind : NULL;
}

int kit_auto(const struct kit_opts *o, const char *dir, const struct agent_def **ret,
	bool *ret_folder, struct err *reterr)
{
	AUTO_FREE char *name = NULL;
	AUTO_CONV last = CONV_INIT;
	int r = store_pref_get(o->store, pref_agent, &name, reterr);
	const struct agent_def *kind = r == 0 ? still_there(o, name) : NULL;

	if (r < 0 && r != ERR_NOTFOUND)
		return r;
	*ret_folder = false;
	if (!kind && dir) {
		r = conv_last(o->store, dir, o->clock, &last, reterr);
		if (r < 0 && r != ERR_NOTFOUND)
			return r;
		kind = r == 0 ? still_there(o, last.agent) : NULL;
		/* Who only rehearses was no choice. */
		if (kind && kind->embedded)
			kind = NULL;
		*ret_folder = kind != NULL;
	}
	*ret = kind;
	return 0;
}

/* Whether it is there is another question. */
static const struct agent_def *find_chosen(const struct kit_opts *o)
{
	const char *name = o->agent ? o->agent : o->settings->ai_agent;
	AUTO_FREE char *remembered = NULL;

	if (!o->agent && strcmp(name, "auto") == 0)
		name = store_pref_get(o->store, pref_agent, &remembered, NULL) == 0 ? remembered
										    : "";
	return agent_named(sv_of(name));
}

int kit_choose(struct kit *kit, const struct agent_def *kind, struct err *reterr)
{
	kit->kind = kit->chosen = kind;
	kit->by_default = kit->by_folder = false;
	kit->forced = true;
	return store_pref_set(kit->opts.store, pref_agent, kind->name, reterr);
}

/* ---- all of it ---- */

int kit_open_deciding(const struct kit_opts *opts, struct kit *ret, struct err *reterr)
{
	const struct settings *s = opts->settings;
	struct kit *kit = ret;

	*kit = (struct kit){ .opts = *opts };
	int r = kit_dir(s, opts->cwd, &kit->dir, reterr);
	if (r < 0)
		return r;
	r = project_follow(opts->store, kit->dir, reterr);
	if (r >= 0)
		r = project_find(opts->store, kit->dir, &kit->kin, reterr);
	if (r < 0)
		return r;
	kit->project = xstrdup(kit->kin.main);
	project_keep_gone(&kit->kin);
	proc_id_session(&kit->terminal);
	kit->language = kit_language(s, opts->locale);
	kit->chosen = find_chosen(opts);
	for (size_t i = 0; i < agent_count; i++) {
		const char *name = settings_program(s, &agent_table[i]);
		kit->programs[i] = name ? path_find_program(name, opts->search) : NULL;
		for (size_t h = 0; kit->programs[i] && h < opts->n_homes; h++)
			if (strcmp(opts->homes[h].agent, agent_table[i].name) == 0)
				kit->homes[kit->n_homes++] = opts->homes[h];
	}
	kit->where = (struct resolve_opts){
		.store = opts->store,
		.homes = opts->homes,
		.n_homes = opts->n_homes,
		.clock = opts->clock,
		.archive_dir = opts->archive_dir,
	};
	kit->plan_words = join_phrases(&s->routing_plan_words);
	kit->edit_words = join_phrases(&s->routing_edit_words);
	kit->task_words = (struct route_task_words){ .plan_phrases = kit->plan_words,
		.edit_verbs = kit->edit_words };
	kit->meaning = opts->models_dir ? meaning_new(opts->models_dir) : NULL;
	if (kit->meaning && !meaning_installed(kit->meaning))
		meaning_free(TAKE_PTR(kit->meaning));
	kit->means = kit_meaning(kit->meaning, opts->keep_alive);
	if (opts->profile || strcmp(s->routing_enabled, "false") != 0)
		r = kit_router(
			s, opts->profile, kit->meaning ? &kit->means : NULL, &kit->router, reterr);
	fill_agents(kit);
	return r;
}

int kit_open(const struct kit_opts *opts, struct kit *ret, struct err *reterr)
{
	const struct settings *s = opts->settings;
	AUTO_STR prompt = STR_INIT;
	struct kit *kit = ret;
	int r = kit_open_deciding(opts, kit, reterr);

	if (r < 0)
		return r;
	r = pick_agent(kit, reterr);
	if (r == 0)
		r = prompt_build(s, opts->voice, &prompt, reterr);
	if (r < 0)
		return r;
	kit->rules = utterances_new(s);
	kit->system_prompt = prompt.len > 0 ? str_detach(&prompt) : NULL;
	fill_agents(kit);
	return 0;
}

void kit_close(struct kit *kit)
{
	utterances_free(kit->rules);
	router_free(kit->router);
	meaning_free(kit->meaning);
	for (size_t i = 0; i < agent_count; i++)
		free(kit->programs[i]);
	free(kit->system_prompt);
	free(kit->plan_words);
	free(kit->edit_words);
	free(kit->project);
	project_release(&kit->kin);
	free(kit->dir);
	*kit = (struct kit){ .dir = NULL };
}

struct decide_opts kit_decide_opts(const struct kit *kit, bool single)
{
	const struct kit_opts *o = &kit->opts;
	const struct settings *s = o->settings;
	size_t first = 0, end = kit->n_homes;

	/* Only the sessions of who is asked for. */
	while (kit->forced && first < end && strcmp(kit->homes[first].agent, kit->kind->name) != 0)
		first++;
	if (kit->forced && first < end)
		end = first + 1;
	return (struct decide_opts){
		.store = o->store,
		.clock = o->clock,
		.dir = kit->dir,
		.project = kit->project,
		.terminal = &kit->terminal,
		.kin = &kit->kin,
		.agent = kit->forced ? kit->kind->name : NULL,
		.chosen = kit->chosen ? kit->chosen->name : NULL,
		.rules = kit->rules,
		.router = kit->router,
		.routes = kit->router && (single || strcmp(s->routing_enabled, "true") == 0),
		/* An option says more than a word of the sentence. */
		.close = s->routing_close,
		.tasks = kit->router && !o->permission,
		.task_words = &kit->task_words,
		.homes = kit->homes + first,
		.n_homes = end - first,
		.where = &kit->where,
		.newest = true,
		.greets = !single,
		.rights = more_rights(o),
		.language = kit->language,
		.language_open = strcmp(s->assistant_language, "auto") == 0,
		.expiry_ms = s->assistant_conversation_expiry,
	};
}

struct judge_opts kit_judge_opts(const struct kit *kit)
{
	const struct settings *s = kit->opts.settings;

	return (struct judge_opts){
		.kind = kit->opts.scratch ? agent_named(sv_of(s->routing_judge)) : NULL,
		.scratch = kit->opts.scratch,
		.timeout_ms = s->routing_judge_timeout,
	};
}

struct turn_host_opts kit_turn_opts(const struct kit *kit)
{
	const struct kit_opts *o = &kit->opts;

	return (struct turn_host_opts){
		.store = o->store,
		.clock = o->clock,
		.log = o->log,
		.agents = kit->agents,
		.homes = o->homes,
		.n_homes = o->n_homes,
		.permission = permission_of(o->settings->ai_permission_mode),
		.keep = 1,
	};
}

struct assistant_opts kit_assistant_opts(const struct kit *kit, bool single)
{
	return (struct assistant_opts){
		.turns = kit_turn_opts(kit),
		.decide = kit_decide_opts(kit, single),
		.judge = kit_judge_opts(kit),
		.kind = kit->kind,
		.wait_on_limit = strcmp(kit->opts.settings->ai_on_limit, "wait") == 0,
	};
}

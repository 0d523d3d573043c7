/*
 * A session that goes on with another agent, with all that was said.
 */
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "cli/cmd.h"
#include "cli/make.h"
#include "cli/master-manage.h"
#include "cli/print.h"
#include "cli/runs.h"
#include "cli/sessions.h"
#include "view/branch.h"
#include "view/json.h"

struct port_options {
	const char *to;
	const char *name;
	bool current;
	bool here;
	bool dry_run;
	bool json;
};

static const struct opt port_options[] = {
	OPT_AGENT_AS("to", struct port_options, to, agent_keeps_sessions, "who goes on: @"),
	OPT_STRING(0, "name", struct port_options, name, "NAME", "what the new session is called"),
	OPT_FLAG(0, "current", struct port_options, current,
		"its folder goes on with it from now on; not for runs of the pair"),
	OPT_FLAG(0, "here", struct port_options, here,
		"in this folder, when the session's own was moved or removed; not for runs"),
	OPT_FLAG('n', "dry-run", struct port_options, dry_run,
		"say what would go along, and make nothing; not for runs"),
	OPT_FLAG(0, "json", struct port_options, json, "one object for programs"),
	OPT_END,
};

struct moving {
	struct app *app;
	const struct port_options *opts;
	struct resolved of;
	const struct transcript_home *to;
	char *dir;
	struct port_report report;
	struct made made;
};

static void moving_release(struct moving *p)
{
	resolved_release(&p->of);
	port_report_release(&p->report);
	made_release(&p->made);
	free(p->dir);
}

static int find(struct moving *p, const char *spec, struct err *reterr)
{
	AUTO_STR agents = STR_INIT;
	AUTO_STR id = STR_INIT;
	int r = sessions_find(p->app, spec, RESOLVE_HERE, &p->of, reterr);

	if (r < 0)
		return r;
	const struct session_row *row = &p->of.row;
	p->to = app_home(p->app, p->opts->to);
	if (!p->to || !app_home(p->app, row->agent)) {
		agents_list(&agents, agent_keeps_sessions, " and ");
		return err_set(reterr, ERR_USAGE, "--to %s: sessions can be made for %s",
			p->opts->to, agents.buf);
	}
	shell_operand(&id, row->info.id);
	if (strcmp(p->opts->to, row->agent) == 0)
		return err_set(reterr, ERR_USAGE,
			"it is a session of %s already; a copy of it is made by: faden fork %s",
			row->agent, id.buf);
	AUTO_FREE char *command = xasprintf("port --to %s", p->opts->to);
	return sessions_dir(p->app, row, command, p->opts->here, &p->dir, reterr);
}

static int make_port(struct moving *p, struct err *reterr)
{
	const struct session_row *row = &p->of.row;
	const struct port_opts how = {
		.parent = &row->info,
		.from = app_home(p->app, row->agent),
		.to = p->to,
		.relation = SESSION_PORTED,
		.dir = p->dir,
		.dry = p->opts->dry_run,
		.clock = &p->app->clock,
	};
	int r = port_session(&how, &p->report, reterr);

	if (r < 0)
		return r;
	p->made.parent = row;
	p->made.relation = SESSION_PORTED;
	p->made.agent = p->to->agent;
	p->made.dir = xstrdup(p->dir);
	p->made.dry = p->opts->dry_run;
	p->made.id = p->opts->dry_run ? NULL : p->report.file.id;
	p->made.path = p->report.file.path;
	made_find_next(p->app, p->to->format, &p->made);
	return made_place(p->app, p->opts->name, p->opts->current, &p->made, reterr);
}

static void print(const struct moving *p)
{
	AUTO_STR json = STR_INIT;
	struct jw w = JW_INIT(&json);
	struct term t;

	if (p->opts->json) {
		jw_object(&w);
		view_put_made(&w, &p->made, NULL);
		view_put_ported(&w, &p->report);
		jw_end(&w);
		print_doc(p->app, &json);
		return;
	}
	print_begin(p->app, &t);
	if (p->opts->dry_run)
		term_putf(&t, "A session of %s would have been made\n", p->to->agent);
	else
		view_made(&t, &p->made, p->app->paths.home, "It");
	view_ported(&t, &p->report, p->of.row.agent, p->to->agent);
	if (!p->opts->dry_run)
		view_next(&t, &p->made, p->app->cwd);
	print_end(&t);
}

static int run_port(struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct port_options *opts = options;
	AUTO_STR agents = STR_INIT;
	CLEANUP(moving_release)
	struct moving p = {
		.app = app, .opts = opts, .of = RESOLVED_INIT, .report = PORT_REPORT_INIT
	};

	agents_list(&agents, agent_keeps_sessions, " or ");
	if (!opts->to)
		return err_set(reterr, ERR_USAGE, "--to is missing: %s", agents.buf);
	int r = opts->name ? sessions_check_name(opts->name, reterr) : 0;
	if (r >= 0)
		r = sessions_open_to(app, opts->dry_run, reterr);
	if (r >= 0)
		r = find(&p, argc > 0 ? argv[0] : NULL, reterr);
	AUTO_RUN_NAMED run = RUN_NAMED_INIT;
	if (run_find(app, r, argc > 0 ? argv[0] : NULL, &run)) {
		if (opts->current || opts->here || opts->dry_run)
			return err_set(reterr, ERR_USAGE,
				"%s is for sessions; '%s' is a run of the pair",
				opts->current	     ? "--current"
					: opts->here ? "--here"
						     : "--dry-run",
				argv[0]);
		return manage_port(app, run.row->path, opts->to, opts->name, opts->json, reterr);
	}
	if (r >= 0)
		r = make_port(&p, reterr);
	if (r >= 0)
		print(&p);
	return r < 0 ? r : 0;
}

const struct cmd cmd_port = {
	.name = "port",
	.group = CMD_GROUP_BRANCH,
	.summary = "go on with another agent, with all that was said",
	.synopsis = "[SESSION]",
	.max_args = 1,
	.words = CMD_WORDS_SESSION,
	.opts = port_options,
	.opts_size = sizeof(struct port_options),
	.run = run_port,
};

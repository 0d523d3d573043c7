/*
 * A name of the user's own for a session. It is kept in faden's store: the agent's file is not
 * touched.
 */
#include <stdlib.h>

#include "base/mem.h"
#include "cli/cmd.h"
#include "cli/print.h"
#include "cli/sessions.h"
#include "view/json.h"

struct rename_opts {
	bool remove;
	bool json;
};

static const struct opt rename_options[] = {
	OPT_FLAG(0, "remove", struct rename_opts, remove,
		"take the name given here away; the agent's own, if any, shows again"),
	OPT_FLAG(0, "json", struct rename_opts, json, "the session as it is called now, as JSON"),
	OPT_END,
};

static int run_rename(
	struct app *app, const void *options, int argc, char **argv, struct err *reterr)
{
	const struct rename_opts *opts = options;
	AUTO_RESOLVED of = RESOLVED_INIT;
	AUTO_CONV conv = CONV_INIT;
	struct session_row *row = &of.row;
	const char *name = argc > 1 ? argv[1] : "";

	if (opts->remove != (argc == 1))
		return err_set(reterr, ERR_USAGE,
			opts->remove ? "--remove takes no name" : "the new name is missing");
	int r = opts->remove ? 0 : sessions_check_name(name, reterr);
	if (r >= 0)
		r = sessions_find(app, argv[0], 0, &of, reterr);
	if (r >= 0)
		r = catalogue_rename(app->store, row->agent, row->info.id, name, reterr);
	/* A conversation of ours shows its name while one talks. */
	if (r >= 0 &&
		conv_by_session(app->store, row->agent, row->info.id, &app->clock, &conv, NULL) >=
			0)
		r = conv_rename(app->store, conv.id, name[0] ? name : NULL, reterr);
	if (r >= 0 && name[0])
		r = sessions_tell_namesake(app, row->agent, row->info.id, name, reterr);
	if (r < 0 || !opts->json)
		return r < 0 ? r : 0;
	/* The session as it is called from now on: by the new name, else the agent's own. */
	free(row->own_name);
	row->own_name = xstrdup(name);
	AUTO_STR out = STR_INIT;
	struct jw w = JW_INIT(&out);
	const struct session_view view = sessions_view(app, row);
	view_json_session(&w, &view);
	print_doc(app, &out);
	return 0;
}

const struct cmd cmd_rename = {
	.name = "rename",
	.group = CMD_GROUP_SESSIONS,
	.summary = "give a session a name",
	.synopsis = "SESSION NAME",
	.min_args = 1,
	.max_args = 2,
	.needs = CMD_STORE,
	.words = CMD_WORDS_SESSION,
	.opts = rename_options,
	.opts_size = sizeof(struct rename_opts),
	.run = run_rename,
};

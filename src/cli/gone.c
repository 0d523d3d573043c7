#include "cli/gone.h"

#include <string.h>

#include "base/mem.h"
#include "base/shell.h"
#include "base/str.h"
#include "base/uuid.h"
#include "cli/find.h"
#include "cli/make.h"
#include "os/path.h"

enum { BACK_MAX = ERR_MSG_MAX - 120 }; /* beside it there are an id and words */

/* The id in the name of the file, whichever agent's it is, or of the conversation's session; the
 * text itself when there is neither. */
static char *id_of(struct app *app, const char *spec)
{
	struct sv id = SV("");
	char *session = find_session_of(app, spec);

	if (session)
		return session;
	(void)transcript_format_of_name(sv_of(spec), &id);
	return id.n > 0 ? xmemdup0(id.p, id.n) : xstrdup(spec);
}

char *gone_copy(struct app *app, const struct session_row *row)
{
	struct archive archive;
	AUTO_FREE char *dir = archive_of(app, &archive);
	AUTO_FREE char *name = xasprintf("%s.jsonl", row->info.id);
	char key[ARCHIVE_KEY_MAX];

	if (archive_find(&archive, row->info.path[0] ? row->info.path : name, key, NULL) < 0)
		return NULL;
	return archive_path(&archive, key);
}

/* One that nobody knows but the archive. */
static bool find_archived(struct app *app, const char *id, struct session_row *ret)
{
	struct session_row row = { .agent = xstrdup(""), .own_name = xstrdup(""), .gone = true };

	session_info_init(&row.info, transcript_format_unknown(), "");
	free(row.info.id);
	row.info.id = xstrdup(id);
	AUTO_FREE char *copy = uuid_valid(sv_of(id)) ? gone_copy(app, &row) : NULL;
	if (copy)
		*ret = row;
	else
		session_row_release(&row);
	return copy != NULL;
}

int gone_find(struct app *app, const char *spec, struct session_row *ret, struct err *reterr)
{
	AUTO_FREE char *id = id_of(app, spec);
	int r = catalogue_resolve_gone(app->store, id, ret, reterr);

	return r == ERR_NOTFOUND && find_archived(app, id, ret) ? 0 : r;
}

bool gone_explain(struct app *app, const char *spec, struct err *err)
{
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;

	if (!app->store || gone_find(app, spec, &row, NULL) < 0)
		return false;
	AUTO_FREE char *copy = gone_copy(app, &row);
	AUTO_FREE char *path = path_show(row.info.path, app->paths.home);
	AUTO_STR back = STR_INIT;
	if (copy && path[0])
		shell_cp(&back, copy, row.info.path);
	/* A command that is cut is none. */
	if (back.len > 0 && back.len < BACK_MAX)
		(void)err_set(err, ERR_NOTFOUND,
			"the file of session %s is gone; get it back from the archive: %s",
			row.info.id, back.buf);
	else
		(void)err_set(err, ERR_NOTFOUND,
			"the file of session %s is gone%s%s%s; the archive has %s%s", row.info.id,
			path[0] ? " (" : "", path, path[0] ? ")" : "",
			copy ? "a copy: " : "no copy of it", copy ? copy : "");
	return true;
}

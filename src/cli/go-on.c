#include "cli/go-on.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "base/mem.h"
#include "base/str.h"
#include "cli/find.h"
#include "cli/new-session.h"
#include "cli/print.h"
#include "os/path.h"

enum { HEAD = 1024 * 1024 }; /* of a session: enough to tell where its work is */

static bool same_file(const char *a, const char *b)
{
	struct stat x, y;

	return stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_ino == y.st_ino && x.st_dev == y.st_dev;
}

/* Whether this very file is what is found by the id. */
static bool is_found(
	struct app *app, const struct transcript_format *format, const char *id, const char *path)
{

	for (size_t i = 0; i < app->n_homes; i++) {
		AUTO_FREE char *found = NULL;
		if (app->homes[i].format == format &&
			transcript_find(&app->homes[i], sv_of(id), &found, NULL) >= 0 && found &&
			same_file(found, path))
			return true;
	}
	return false;
}

/* The folder that the session says at its beginning it belongs to; "" when it does not. */
static char *folder_of(const struct transcript_format *format, const char *path)
{
	struct session_info info;
	struct stat st;
	AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char *cwd = NULL;

	session_info_init(&info, format, path);
	if (fd >= 0 && fstat(fd, &st) == 0 &&
		transcript_scan(fd, st.st_size < HEAD ? (uint64_t)st.st_size : HEAD, &info, NULL) >=
			0)
		cwd = xstrdup(info.cwd);
	session_info_release(&info);
	return cwd ? cwd : xstrdup("");
}

/* Where the agent would look for it; NULL when that is not known or taken. */
static char *place_of(
	struct app *app, const struct session_row *of, const char *id, const char *path)
{
	const char *root = find_home_root(app, of);
	AUTO_FREE char *cwd = folder_of(of->info.format, path);
	char *place = NULL;

	if (!root || !uuid_valid(sv_of(id)))
		return NULL;
	if (of->info.format == TRANSCRIPT_CODEX)
		place = codex_rollout_path(root, clock_wall_ms(&app->clock), id);
	else if (cwd[0])
		place = claude_session_path(root, cwd, id);
	if (!place || !path_exists(place))
		return place;
	free(place);
	return NULL;
}

static void print_move(struct app *app, const char *path, const char *place)
{
	AUTO_STR line = STR_INIT;
	struct sv parent = path_parent(sv_of(place));
	AUTO_FREE char *folder = xmemdup0(parent.p, parent.n);

	if (!path_exists(folder)) {
		str_adds(&line, "mkdir -p ");
		shell_word(&line, folder);
		str_adds(&line, " && ");
	}
	str_adds(&line, "mv ");
	shell_word(&line, path);
	str_addc(&line, ' ');
	shell_word(&line, place);
	(void)fprintf(app->out, "To go on with it, move it first:\n  %s\n", line.buf);
}

/* Claude Code finds a session only from where its work is. */
static void add_cd(const struct app *app, const char *dir, struct str *out)
{
	AUTO_FREE char *real = NULL;

	if (!dir[0] ||
		(app->cwd && path_real(dir, &real, NULL) >= 0 && strcmp(real, app->cwd) == 0))
		return;
	str_adds(out, "cd ");
	shell_word(out, dir);
	str_adds(out, " && ");
}

void go_on_commands(const struct app *app, const char *words, const char *id, const char *dir)
{
	AUTO_STR cd = STR_INIT;

	if (dir[0] && !path_exists(dir)) {
		AUTO_FREE char *gone = xasprintf(
			"The folder of its work, %s, is gone: go to where that is now, and from "
			"there:",
			dir);
		prose_put(app->out, 0, gone);
		(void)fprintf(app->out, "  faden rollover --here %s\n", id);
		return;
	}
	(void)fprintf(app->out, "Go on with:\n  faden ask --in %s TEXT\n", id);
	if (!words)
		return;
	if (sv_starts(sv_of(words), SV("claude")))
		add_cd(app, dir, &cd);
	(void)fprintf(
		app->out, "  faden resume %s\n  %s%s %s\n", id, cd.len ? cd.buf : "", words, id);
}

void go_on_print(struct app *app, const struct session_row *of, const char *id, const char *path)
{
	if (is_found(app, of->info.format, id, path)) {
		AUTO_FREE char *dir = folder_of(of->info.format, path);
		go_on_commands(app, resume_words(of->agent, of->info.format), id, dir);
		return;
	}
	AUTO_FREE char *place = place_of(app, of, id, path);
	AUTO_FREE char *why =
		xasprintf("%s does not look for sessions where this file lies.", of->agent);
	prose_put(app->out, 0, why);
	if (place)
		print_move(app, path, place);
}

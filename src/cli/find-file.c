/*
 * The file of a session, without reading it.
 */
#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "cli/find.h"
#include "cli/gone.h"
#include "os/path.h"

/* A row that knows no more than the file's name tells. */
static void name_row(struct session_row *ret, const char *agent,
	const struct transcript_format *format, const char *path)
{
	*ret = (struct session_row)SESSION_ROW_INIT;
	session_info_init(&ret->info, format, path);
	ret->agent = xstrdup(agent);
	ret->own_name = xstrdup("");
}

static const struct transcript_home *home_of(const struct app *app, const char *path)
{
	for (size_t i = 0; i < app->n_homes; i++) {
		AUTO_FREE char *root = NULL;
		if (path_real(app->homes[i].root, &root, NULL) >= 0 &&
			path_within(sv_of(path), sv_of(root)))
			return &app->homes[i];
	}
	return NULL;
}

/* A file in which no session can be recognised any more, by where it lies or its name. */
static bool was_session(
	const struct transcript_home *home, const char *path, const struct transcript_format **ret)
{
	AUTO_FREE char *root = NULL;

	if (!sv_ends(sv_of(path), SV(".jsonl")))
		return false;
	if (home && path_real(home->root, &root, NULL) >= 0 &&
		!sv_eq(path_parent(sv_of(path)), sv_of(root))) {
		*ret = home->format;
		return true;
	}
	*ret = transcript_format_of_name(sv_of(path), NULL);
	return *ret != NULL;
}

static int by_path(const struct app *app, const char *spec, bool damaged, struct session_row *ret,
	struct err *reterr)
{
	AUTO_FREE char *path = NULL;
	const struct transcript_format *format;
	int r = path_real(spec, &path, reterr);

	if (r == -ENOENT || r == -ENOTDIR)
		return err_set(reterr, ERR_NOTFOUND, "%s: no such file", spec);
	if (r < 0)
		return r;
	const struct transcript_home *home = home_of(app, path);
	r = transcript_probe(path, &format, reterr);
	if (r < 0 && !(damaged && r == ERR_INPUT && was_session(home, path, &format)))
		return r;
	bool fits = home && home->format == format;
	name_row(ret, fits ? home->agent : transcript_format_name(format), format, path);
	return 0;
}

/* True when exactly one home has the id. */
static bool by_id(const struct app *app, const char *spec, struct session_row *ret)
{
	AUTO_FREE char *found = NULL;
	const struct transcript_home *home = NULL;

	for (size_t i = 0; i < app->n_homes; i++) {
		AUTO_FREE char *path = NULL;
		if (transcript_find(&app->homes[i], sv_of(spec), &path, NULL) < 0 || !path)
			continue;
		if (home)
			return false;
		home = &app->homes[i];
		found = TAKE_PTR(path);
	}
	if (home)
		name_row(ret, home->agent, home->format, found);
	return home != NULL;
}

static int find(struct app *app, const char *spec, bool damaged, struct session_row *ret,
	struct err *reterr)
{

	if (strchr(spec, '/') || sv_ends(sv_of(spec), SV(".jsonl"))) {
		int r = by_path(app, spec, damaged, ret, reterr);
		if (r == ERR_NOTFOUND && reterr)
			(void)gone_explain(app, spec, reterr);
		return r;
	}
	if (uuid_valid(sv_of(spec)) && by_id(app, spec, ret))
		return 0;
	return find_session(app, spec, ret, reterr);
}

int find_file(struct app *app, const char *spec, struct session_row *ret, struct err *reterr)
{
	return find(app, spec, false, ret, reterr);
}

int find_damaged(struct app *app, const char *spec, struct session_row *ret, struct err *reterr)
{
	return find(app, spec, true, ret, reterr);
}

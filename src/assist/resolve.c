#include "assist/resolve.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "agent/agents.h"
#include "archive/archive.h"
#include "assist/member.h"
#include "base/mem.h"
#include "base/shell.h"
#include "base/uuid.h"
#include "os/path.h"
#include "os/unpack.h"

void resolved_release(struct resolved *r)
{
	session_row_release(&r->row);
	conv_release(&r->conv);
	free(r->kept);
	r->kept = NULL;
	catalogue_matches_release(&r->candidates);
}

/* ---- the file, without reading it ---- */

/* A row that knows no more than the file's name tells. */
static void name_row(struct session_row *ret, const char *agent,
	const struct transcript_format *format, const char *path)
{
	*ret = (struct session_row)SESSION_ROW_INIT;
	session_info_init(&ret->info, format, path);
	ret->agent = xstrdup(agent);
	ret->own_name = xstrdup("");
}

/* Of a file in which no session can be recognised any more, by where it lies or its name. */
static const struct transcript_format *format_of_ruin(
	const struct transcript_home *home, const char *path)
{
	AUTO_FREE char *folder = path_folder(path);
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *root = NULL;

	if (!sv_ends(sv_of(path), SV(".jsonl")))
		return NULL;
	if (home && path_real(home->root, &root, NULL) >= 0 &&
		path_real(folder, &real, NULL) >= 0 && strcmp(real, root) != 0)
		return home->format;
	return transcript_format_of_name(sv_of(path), NULL);
}

static int file_by_path(const struct resolve_opts *o, const char *spec, bool damaged,
	struct session_row *ret, struct err *reterr)
{
	AUTO_FREE char *path = NULL;
	const struct transcript_home *home = NULL;
	const struct transcript_format *format = NULL;
	int r = transcript_locate(o->homes, o->n_homes, spec, &path, &home, reterr);

	if (r == -ENOENT || r == -ENOTDIR)
		return err_set(reterr, ERR_NOTFOUND, "%s: no such file", spec);
	if (r < 0)
		return r;
	r = transcript_probe(path, &format, reterr);
	if ((r == ERR_INPUT || r == ERR_NOTFOUND) && damaged)
		format = format_of_ruin(home, path);
	if (r < 0 && !format)
		return r;
	bool fits = home && home->format == format;
	name_row(ret, fits ? home->agent : agent_of_format(format)->name, format, path);
	return 0;
}

/* True when exactly one home has the id, and that once. */
static bool file_by_id(const struct resolve_opts *o, const char *spec, struct session_row *ret)
{
	AUTO_FREE char *found = NULL;
	const struct transcript_home *home = NULL;

	for (size_t i = 0; i < o->n_homes; i++) {
		AUTO_FREE char *path = NULL;
		bool several = false;
		if (transcript_find_only(&o->homes[i], sv_of(spec), &path, &several, NULL) < 0 ||
			(!path && !several))
			continue;
		if (home || several)
			return false;
		home = &o->homes[i];
		found = TAKE_PTR(path);
	}
	if (home)
		name_row(ret, home->agent, home->format, found);
	return home != NULL;
}

/* ---- what is gone ---- */

/* The key of what the archive has of the session, NULL when there is none, or when that cannot be
 * told now: then why says so. A store that cannot be read is a failure. */
static int kept_of(const struct resolve_opts *o, const struct session_row *row, char **ret,
	struct err *why, struct err *reterr)
{
	const struct archive archive = {
		.store = o->store, .dir = o->archive_dir, .clock = o->clock
	};
	AUTO_FREE char *name = xasprintf("%s.jsonl", row->info.id);
	char key[ARCHIVE_KEY_MAX];
	struct err err = ERR_INIT;
	int r = archive_find(&archive, row->info.path[0] ? row->info.path : name, key, &err);

	if (r == ERR_STORE && reterr)
		*reterr = err;
	else if (r < 0 && r != ERR_NOTFOUND && why)
		*why = err;
	*ret = r < 0 ? NULL : xstrdup(key);
	return r == ERR_STORE ? r : 0;
}

static int take_path(void *data, const struct session_row *row)
{
	*(char **)data = xstrdup(row->info.path);
	return 1;
}

/* Whether there is, or was, a session of that id. */
static bool lies_elsewhere(const struct resolve_opts *o, const char *id)
{
	const struct catalogue_query query = {
		.id = id, .subagents = true, .empty = true, .gone = true, .limit = 1
	};
	AUTO_FREE char *path = NULL;

	return catalogue_query(o->store, &query, take_path, &path, NULL) == 1;
}

/* One that is gone, by its name, its id or the path it had; session is what the conversation of
 * that id had, or NULL. 1, or 0 when there was none. */
static int find_gone(const struct resolve_opts *o, const char *spec, const char *session,
	struct session_row *ret, char **ret_kept, struct err *why, struct err *reterr)
{
	struct sv named = SV("");

	(void)transcript_format_of_name(sv_of(spec), &named);
	AUTO_FREE char *id = session ? xstrdup(session)
		: named.n > 0	     ? xmemdup0(named.p, named.n)
				     : xstrdup(spec);

	/* Two may have had one id: where it lay says which one. */
	AUTO_FREE char *lay =
		!session && named.n > 0 && strchr(spec, '/') ? path_real_gone(spec) : xstrdup("");
	struct err err = ERR_INIT;
	int r = lay[0] ? catalogue_by_path(o->store, lay, ret, &err) : ERR_NOTFOUND;
	if (r >= 0)
		ret->gone = true;
	else if (r != ERR_STORE && lay[0] && lies_elsewhere(o, id))
		return 0;
	else if (r != ERR_STORE)
		r = catalogue_resolve_gone(o->store, id, ret, &err);
	if (r >= 0) {
		r = kept_of(o, ret, ret_kept, why, reterr);
		if (r < 0)
			session_row_release(ret);
		return r < 0 ? r : 1;
	}
	if (r == ERR_STORE && reterr)
		*reterr = err;
	if (r == ERR_STORE)
		return r;
	/* The archive may know one that nobody else does. */
	if (!uuid_valid(sv_of(id)))
		return 0;
	struct session_row row = { .agent = xstrdup(""), .own_name = xstrdup(""), .gone = true };
	session_info_init(&row.info, transcript_format_unknown(), lay);
	free(row.info.id);
	row.info.id = TAKE_PTR(id);
	r = kept_of(o, &row, ret_kept, why, reterr);
	if (*ret_kept)
		*ret = row;
	else
		session_row_release(&row);
	return r < 0 ? r : *ret_kept != NULL;
}

/* One whose file is compressed and cannot be unpacked, where the archive has it: as if it were
 * gone, but at its place. */
static bool find_damaged(const struct resolve_opts *o, const char *spec, const char *session,
	struct session_row *ret, char **ret_kept)
{
	struct sv plain = unpack_plain(sv_of(spec)), named = SV("");
	AUTO_FREE char *name = xmemdup0(plain.p, plain.n);

	(void)transcript_format_of_name(sv_of(name), &named);
	AUTO_FREE char *id = session ? xstrdup(session)
		: named.n > 0	     ? xmemdup0(named.p, named.n)
				     : xstrdup(spec);
	const struct catalogue_query query = {
		.id = id, .subagents = true, .empty = true, .gone = true, .limit = 1
	};
	AUTO_FREE char *path = NULL;

	if (catalogue_query(o->store, &query, take_path, &path, NULL) == 1) {
		AUTO_FREE char *where = unpack_where(path);
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		if (!where || !unpack_damaged(where) ||
			catalogue_by_path(o->store, path, &row, NULL) < 0)
			return false;
		free(row.info.path);
		row.info.path = TAKE_PTR(where);
		row.gone = true;
		(void)!kept_of(o, &row, ret_kept, NULL, NULL);
		if (*ret_kept) {
			*ret = row;
			row = (struct session_row)SESSION_ROW_INIT;
		}
		return *ret_kept != NULL;
	}
	return uuid_valid(sv_of(id)) && find_gone(o, id, NULL, ret, ret_kept, NULL, NULL) > 0 &&
		*ret_kept;
}

/* What brings it back. A file that has nothing of it has to make room. */
static const char *restore_words(const char *path)
{
	AUTO_FREE char *there = path[0] ? unpack_where(path) : NULL;

	return there ? "faden archive restore --replace" : "faden archive restore";
}

static int explain_gone(const struct resolve_opts *o, const struct session_row *row,
	const char *kept, const struct err *why, struct err *reterr)
{
	AUTO_FREE char *path = path_show(row->info.path, o->home);
	AUTO_STR id = STR_INIT;

	shell_operand(&id, row->info.id);
	if (kept)
		return err_set(reterr, ERR_NOTFOUND,
			"the file of session %s is gone; get it back: %s %s", row->info.id,
			restore_words(row->info.path), id.buf);
	if (why->code < 0)
		return err_set(reterr, why->code,
			"the file of session %s is gone, and what the archive has of it cannot be "
			"told now: %s",
			row->info.id, why->msg);
	return err_set(reterr, ERR_NOTFOUND,
		"the file of session %s is gone%s%s%s; the archive has no copy of it", row->info.id,
		path[0] ? " (" : "", path, path[0] ? ")" : "");
}

bool resolve_lost(const struct resolve_opts *o, const struct conv *c, const char **ret_back)
{
	const struct catalogue_query query = { .agent = c->agent,
		.id = c->session,
		.subagents = true,
		.empty = true,
		.gone = true,
		.limit = 1 };
	const struct transcript_home *home = NULL;
	AUTO_FREE char *was = NULL, *found = NULL;
	char key[ARCHIVE_KEY_MAX];

	for (size_t i = 0; o && i < o->n_homes; i++)
		if (c->agent && strcmp(o->homes[i].agent, c->agent) == 0)
			home = &o->homes[i];
	if (!home || !c->session || !c->session[0] ||
		catalogue_query(o->store, &query, take_path, &was, NULL) < 1)
		return false;
	/* What a power loss or the agent has blanked is as gone as what was removed. */
	AUTO_FREE char *there = unpack_where(was);
	if ((there && !transcript_is_silent(there)) ||
		transcript_find(home, sv_of(c->session), &found, NULL) < 0)
		return false;
	AUTO_FREE char *elsewhere = found ? unpack_where(found) : NULL;
	if (elsewhere && !transcript_is_silent(elsewhere))
		return false;
	const struct archive archive = {
		.store = o->store, .dir = o->archive_dir, .clock = o->clock
	};
	*ret_back = o->archive_dir && archive_find(&archive, was, key, NULL) != ERR_NOTFOUND
		? restore_words(was)
		: NULL;
	return true;
}

/* ---- nothing named ---- */

char *resolve_current(const struct resolve_opts *o)
{
	AUTO_CONV conv = CONV_INIT;

	if (!o->here || conv_current(o->store, o->here, o->clock, &conv, NULL) < 0)
		return NULL;
	return TAKE_PTR(conv.session);
}

/* There is no file to look into, whatever the id of the conversation is. */
static int refuse_without(const struct conv *c, struct err *reterr)
{
	const struct agent_def *agent = agent_named(sv_of(c->agent));

	if (!agent || agent_keeps_sessions(agent))
		return 0;
	return err_set(reterr, ERR_NOTFOUND,
		"agent %s keeps no session, and it is the one of \"%s\"; name another (faden list)",
		c->agent, conv_label(c));
}

static int take_id(void *data, const struct session_row *row)
{
	char **id = data;

	*id = xstrdup(row->info.id);
	return 0;
}

/* Who uses the agents by themselves has no conversation with us, but sessions. */
static int find_last(const struct resolve_opts *o, bool refresh, char **ret, struct err *reterr)
{
	AUTO_PROJECT project = PROJECT_INIT;
	struct catalogue_query query = { .dir = o->here, .limit = 1, .project = &project };
	int r = 0;

	if (o->here && refresh)
		r = catalogue_refresh(o->store, o->homes, o->n_homes, o->reading, NULL, reterr);
	if (r >= 0 && o->here)
		r = catalogue_query(o->store, &query, take_id, ret, reterr);
	/* Where it lay before, or a work tree that is gone, was this folder; another one is not. */
	if (r >= 0 && o->here && !*ret)
		r = project_find(o->store, o->here, &project, reterr);
	project_keep_gone(&project);
	query.where = CATALOGUE_KIN;
	if (r >= 0 && project.places.n > 0)
		r = catalogue_query(o->store, &query, take_id, ret, reterr);
	if (r < 0 || *ret)
		return r;
	return err_set(
		reterr, ERR_NOTFOUND, "no session was begun in this folder: name one (faden list)");
}

/* ---- one that is named ---- */

int resolve_conversation(const struct resolve_opts *o, const struct session_row *row,
	struct conv *ret, struct err *reterr)
{
	struct conv c;

	member_of(row, o->clock, &c);
	int r = member_adopt(o->store, &c, o->clock, reterr);
	if (r == 0)
		*ret = c;
	else
		conv_release(&c);
	return r;
}

static bool begins(const char *id, const char *spec)
{
	return strncasecmp(id, spec, strlen(spec)) == 0;
}

/*
 * Of our own ids a beginning is enough, as it is of the agents'. *ret is the conversation that spec
 * begins the id of, where no session is called so and none begins so; else empty.
 */
static int find_ours(
	const struct resolve_opts *o, const char *spec, struct conv *ret, struct err *reterr)
{
	AUTO_CONV found = CONV_INIT;
	AUTO_SESSION_ROW row = SESSION_ROW_INIT;
	CLEANUP(catalogue_matches_release) struct catalogue_matches some = { .more = false };

	if (uuid_valid(sv_of(spec))) {
		(void)!conv_get(o->store, spec, o->clock, ret, NULL);
		return 0;
	}
	int r = conv_by_prefix(o->store, spec, o->clock, &found, reterr);
	if (r < 0 && r != ERR_AMBIGUOUS)
		return r == ERR_NOTFOUND ? 0 : r;
	bool several = r == ERR_AMBIGUOUS;
	r = catalogue_resolve(o->store, o->homes, o->n_homes, spec, &row, &some, NULL);
	if (several)
		return r == ERR_NOTFOUND ? ERR_AMBIGUOUS : 0;
	bool other = r == 0 &&
		(begins(row.info.id, spec) || strcasecmp(session_row_name(&row), spec) == 0);
	vec_each (&some.rows, one)
		other |= begins(one->info.id, spec) || strcasecmp(session_row_name(one), spec) == 0;
	if (other && r == 0 && begins(row.info.id, spec) &&
		(!found.session || strcmp(found.session, row.info.id) != 0))
		return err_set(reterr, ERR_AMBIGUOUS,
			"'%s' is the beginning of two ids: session %s and conversation %s", spec,
			row.info.id, found.id);
	if (!other) {
		*ret = found;
		found = (struct conv)CONV_INIT;
	}
	return 0;
}

static int resolve_named(const struct resolve_opts *o, const char *spec, unsigned flags,
	struct resolved *ret, struct err *reterr)
{
	AUTO_CONV named = CONV_INIT;
	bool path = strchr(spec, '/') || sv_ends(unpack_plain(sv_of(spec)), SV(".jsonl"));
	struct err err = ERR_INIT;
	int r = find_ours(o, spec, &named, reterr);
	bool ours = named.id[0] != '\0';

	if (r < 0)
		return r;
	if (ours && flags & RESOLVE_CONVERSATION) {
		ret->conv = named;
		named = (struct conv)CONV_INIT;
		return 0;
	}
	r = ours ? refuse_without(&named, reterr) : 0;
	if (r < 0)
		return r;
	const char *session = ours ? named.session : NULL;
	if (flags & RESOLVE_FILE && path) {
		/* "feature/login" may be a name: what a session is called goes first. */
		r = catalogue_by_name(o->store, spec, &ret->row, &ret->candidates, &err);
		if (r == ERR_NOTFOUND)
			r = file_by_path(o, spec, flags & RESOLVE_DAMAGED, &ret->row, &err);
		if (r == ERR_NOTFOUND)
			r = catalogue_resolve(o->store, o->homes, o->n_homes, spec, &ret->row,
				&ret->candidates, &err);
	} else if (flags & RESOLVE_FILE && !ours && uuid_valid(sv_of(spec)) &&
		file_by_id(o, spec, &ret->row))
		r = 0;
	else
		r = catalogue_resolve(o->store, o->homes, o->n_homes, session ? session : spec,
			&ret->row, &ret->candidates, &err);
	if (r == ERR_NOTFOUND) {
		AUTO_SESSION_ROW gone = SESSION_ROW_INIT;
		AUTO_FREE char *kept = NULL;
		struct err why = ERR_INIT;
		int found = find_gone(o, spec, session, &gone, &kept, &why, reterr);
		if (found < 0)
			return found;
		if (found == 0) {
			if (!path)
				return err_set(reterr, r,
					"%s ('faden list --all' shows what there is)", err.msg);
		} else if (flags & RESOLVE_GONE) {
			ret->row = gone;
			gone = (struct session_row)SESSION_ROW_INIT;
			ret->kept = TAKE_PTR(kept);
			ret->unread = why;
			r = 0;
		} else {
			return explain_gone(o, &gone, kept, &why, reterr);
		}
	}
	if (r == 0 && flags & RESOLVE_GONE && !ret->row.gone && unpack_damaged(ret->row.info.path))
		r = ERR_INPUT;
	if (r == ERR_INPUT) {
		AUTO_SESSION_ROW row = SESSION_ROW_INIT;
		AUTO_FREE char *kept = NULL;
		if (ret->row.info.id && !session)
			session = ret->row.info.id;
		if (!find_damaged(o, spec, session, &row, &kept)) {
			r = ret->row.info.id ? 0 : r;
		} else if (flags & RESOLVE_GONE) {
			session_row_release(&ret->row);
			ret->row = row;
			row = (struct session_row)SESSION_ROW_INIT;
			ret->kept = TAKE_PTR(kept);
			ret->damaged = true;
			r = 0;
		} else {
			return err_set(reterr, r,
				"%s; the archive has the session: faden archive restore --replace "
				"%s",
				err.msg, row.info.id);
		}
	}
	if (r < 0 && reterr)
		*reterr = err;
	if (r < 0 || !(flags & RESOLVE_CONVERSATION))
		return r;
	r = conv_by_session(
		o->store, ret->row.agent, ret->row.info.id, o->clock, &ret->conv, reterr);
	return r == ERR_NOTFOUND ? 0 : r;
}

/* What goes on in the folder: the session of its conversation, else the last one there, which the
 * catalogue knows already unless it is refreshed. */
static int resolve_here(
	const struct resolve_opts *o, bool refresh, char **ret, bool *ret_last, struct err *reterr)
{
	AUTO_CONV current = CONV_INIT;
	int r = 0;

	if (o->here && conv_current(o->store, o->here, o->clock, &current, NULL) >= 0)
		r = refuse_without(&current, reterr);
	if (r < 0)
		return r;
	*ret = TAKE_PTR(current.session);
	*ret_last = !*ret;
	return *ret ? 0 : find_last(o, refresh, ret, reterr);
}

int resolve_session(const struct resolve_opts *opts, const char *spec, unsigned flags,
	struct resolved *ret, struct err *reterr)
{
	AUTO_FREE char *found = NULL;
	bool last = false;
	int r = 0;

	if (!spec && !(flags & RESOLVE_HERE))
		return err_set(reterr, ERR_USAGE, "no session is named");
	if (!spec)
		r = resolve_here(opts, true, &found, &last, reterr);
	if (r >= 0)
		r = resolve_named(opts, spec ? spec : found, flags, ret, reterr);
	if (r >= 0 && spec && flags & RESOLVE_PLACE)
		last = resolve_here(opts, false, &found, &last, NULL) >= 0 && last &&
			strcmp(found, ret->row.info.id) == 0;
	ret->last_here = r >= 0 && last;
	return r;
}

/*
 * What all homes have in common: the walk over them, who is writing or about to, by the adapters'
 * knowledge of one agent's folders.
 */
#include "transcript/home.h"

#include <errno.h>
#include <string.h>

#include "base/mem.h"
#include "base/uuid.h"
#include "os/path.h"
#include "os/proc.h"
#include "os/tree.h"
#include "os/unpack.h"
#include "transcript/adapter.h"

const struct transcript_home *transcript_home_of(
	const struct transcript_home *homes, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (path_within(sv_of(path), sv_of(homes[i].root)))
			return &homes[i];
	return NULL;
}

struct sv transcript_path_id(const struct transcript_format *format, struct sv path)
{
	return format->places->path_id(path_base(unpack_plain(path)));
}

const struct transcript_format *transcript_format_of_name(struct sv path, struct sv *ret_id)
{
	for (size_t i = 0; i < transcript_format_count; i++) {
		const struct transcript_format *format = transcript_formats[i];
		struct sv id = format ? transcript_path_id(format, path) : SV("");

		if (!uuid_valid(id))
			continue;
		if (ret_id)
			*ret_id = id;
		return format;
	}
	return NULL;
}

struct sv transcript_subagent_of(const struct transcript_format *format, struct sv path)
{
	return format->places->subagent_of ? format->places->subagent_of(path) : SV("");
}

char *transcript_names_file(const struct transcript_home *home)
{
	const char *name = home->format->places->names_file;

	return name ? path_join(home->root, name) : NULL;
}

int transcript_names(
	const struct transcript_home *home, struct map *ids, struct strv *names, struct err *reterr)
{
	AUTO_FREE char *path = transcript_names_file(home);

	return path ? home->format->places->read_names(path, ids, names, reterr) : 0;
}

char *transcript_new_path(
	const struct transcript_home *home, const char *cwd, int64_t wall_ms, const char *id)
{
	return home->format->places->new_path(home->root, cwd, wall_ms, id);
}

/* ---- the walk ---- */

enum { WALK_DEPTH = 3 }; /* folders between a top and its sessions */

struct walk {
	const struct transcript_home *home;
	int (*fn)(void *data, const struct transcript_file *file);
	void (*trouble)(void *data, const struct err *err);
	void *data;
	unsigned depth; /* of where it begins, below a top */
	int64_t since_ns; /* only what is newer; 0: all */
	unsigned part, parts; /* see tree_opts */
};

static int walk_file(void *data, const struct tree_file *file)
{
	const struct walk *w = data;
	struct tree_file placed = *file;
	bool subagent;

	placed.depth += w->depth;
	if (file->mtime_ns < w->since_ns)
		return 0;
	if (!w->home->format->places->is_session(&placed, &subagent))
		return 0;
	return w->fn(w->data,
		&(struct transcript_file){
			.path = file->path,
			.dev = file->device,
			.ino = file->inode,
			.size = file->size,
			.mtime_ns = file->mtime_ns,
			.subagent = subagent,
		});
}

static void walk_error(void *data, const char *path, int errnum)
{
	const struct walk *w = data;
	struct err err = ERR_INIT;

	(void)err_errno(&err, errnum, "%s", path);
	if (w->trouble)
		w->trouble(w->data, &err);
}

/* Of all files whose names end in `suffix`, compressed or not. */
static int walk_tops(struct walk *w, const char *suffix, struct err *reterr)
{
	AUTO_FREE char *packed = xasprintf("%s" UNPACK_SUFFIX, suffix);
	const struct tree_opts opts = {
		.depth = WALK_DEPTH,
		.part = w->part,
		.parts = w->parts,
		.suffix = sv_of(suffix),
		.or_suffix = w->home->format->places->packs ? sv_of(packed) : SV(""),
		.links = true,
		.on_file = walk_file,
		.on_error = walk_error,
		.data = w,
	};

	for (const char *const *top = w->home->format->places->tops; *top; top++) {
		AUTO_FREE char *path = path_join(w->home->root, *top);
		struct err err = ERR_INIT;
		int r = tree_walk(path, &opts, &err);
		if (r == -ENOENT || r == -ENOTDIR)
			continue;
		/* A top that cannot be read is trouble like any other folder. */
		if (r < 0 && err.code == r && w->trouble)
			w->trouble(w->data, &err);
		else if (r != 0)
			return err_set(reterr, r, "%s: walk ended", path);
	}
	return 0;
}

int transcript_walk(const struct transcript_home *home,
	int (*fn)(void *data, const struct transcript_file *file),
	void (*trouble)(void *data, const struct err *err), void *data, struct err *reterr)
{
	return transcript_walk_part(home, 0, 1, fn, trouble, data, reterr);
}

int transcript_walk_part(const struct transcript_home *home, unsigned part, unsigned parts,
	int (*fn)(void *data, const struct transcript_file *file),
	void (*trouble)(void *data, const struct err *err), void *data, struct err *reterr)
{
	struct walk w = { home, fn, trouble, data, 0, 0, part, parts };

	return walk_tops(&w, ".jsonl", reterr);
}

/* One folder of the home, and so many levels below it. One that cannot be read has none, as far as
 * anybody here can tell. */
static int walk_folder(struct walk *w, const char *folder, unsigned depth, struct err *reterr)
{
	struct tree_opts opts = {
		.depth = depth,
		.since_ns = w->since_ns,
		.suffix = SV(".jsonl"),
		.or_suffix = w->home->format->places->packs ? SV(".jsonl" UNPACK_SUFFIX) : SV(""),
		.on_file = walk_file,
		.data = w,
	};

	w->depth = 0;
	for (size_t i = strlen(w->home->root) + 1; i < strlen(folder); i++)
		w->depth += folder[i] == '/';
	opts.links = w->depth == 0;
	int r = tree_walk(folder, &opts, NULL);
	if (r >= 0 || r == -ENOENT || r == -ENOTDIR || r == -EACCES)
		return 0;
	return err_set(reterr, r, "%s: walk ended", folder);
}

int transcript_walk_session(const struct transcript_home *home, const char *path,
	int (*fn)(void *data, const struct transcript_file *file), void *data, struct err *reterr)
{
	struct walk w = { home, fn, NULL, data, 0, 0, 0, 0 };
	struct sv plain = unpack_plain(sv_of(path));

	if (!home->format->places->subagent_of || !sv_ends(plain, SV(".jsonl")) ||
		!path_within(plain, sv_of(home->root)))
		return 0;
	AUTO_FREE char *folder = xmemdup0(plain.p, plain.n - strlen(".jsonl"));
	return walk_folder(&w, folder, 1, reterr);
}

/* The folder is one of the home below a top: each is walked once. */
static int walk_new_in(struct walk *w, struct sv folder, struct map *walked, struct err *reterr)
{
	unsigned below = 0; /* of the home */

	for (size_t i = strlen(w->home->root) + 1; i < folder.n; i++)
		below += folder.p[i] == '/';
	AUTO_FREE char *path = xmemdup0(folder.p, folder.n);
	if (below > WALK_DEPTH || !map_put(walked, folder, 1))
		return 0;
	return walk_folder(w, path, WALK_DEPTH - below, reterr);
}

int transcript_walk_new(const struct transcript_home *home, const struct strv *known,
	int64_t since_ns, int (*fn)(void *data, const struct transcript_file *file), void *data,
	struct err *reterr)
{
	struct walk w = { home, fn, NULL, data, 0, since_ns, 0, 0 };
	AUTO_MAP walked = MAP_INIT;
	int r = 0;

	for (const char *const *top = home->format->places->tops; r >= 0 && *top; top++) {
		AUTO_FREE char *path = path_join(home->root, *top);
		r = walk_new_in(&w, sv_of(path), &walked, reterr);
	}
	for (size_t i = 0; r >= 0 && i < known->n; i++) {
		struct sv folder = path_parent(sv_of(known->v[i]));
		for (; r >= 0 && folder.n > strlen(home->root) + 1 &&
			path_within(folder, sv_of(home->root));
			folder = path_parent(folder))
			r = walk_new_in(&w, folder, &walked, reterr);
	}
	return r;
}

int transcript_walk_near(const struct transcript_home *home, const char *cwd, int64_t wall_ms,
	unsigned days, int (*fn)(void *data, const struct transcript_file *file), void *data,
	struct err *reterr)
{
	static const int64_t day_ms = INT64_C(24) * 3600 * 1000;
	static const char any[] = "00000000-0000-4000-8000-000000000000";
	struct walk w = { home, fn, NULL, data, 0, 0, 0, 0 };
	AUTO_STR last = STR_INIT;

	for (unsigned day = 0; day < days; day++) {
		AUTO_FREE char *path = transcript_new_path(home, cwd, wall_ms - day * day_ms, any);
		struct sv folder = path ? path_parent(sv_of(path)) : SV("");
		/* Where the time says nothing about the place, one look is all. */
		if (sv_eq(folder, str_sv(&last)))
			break;
		str_clear(&last);
		str_add(&last, folder);
		int r = walk_folder(&w, last.buf, 0, reterr);
		if (r < 0)
			return r;
	}
	return 0;
}

struct find {
	const struct transcript_format *format;
	struct sv id;
	char *found;
};

static int find_take(void *data, const struct transcript_file *file)
{
	struct find *f = data;

	if (!f->found && sv_eq(transcript_path_id(f->format, sv_of(file->path)), f->id))
		f->found = xstrdup(file->path);
	return 0;
}

int transcript_find(
	const struct transcript_home *home, struct sv id, char **ret, struct err *reterr)
{
	struct find find = { home->format, id, NULL };
	struct walk w = { home, find_take, NULL, &find, 0, 0, 0, 0 };
	AUTO_STR suffix = STR_INIT;

	str_addf(&suffix, "%.*s.jsonl", SV_ARG(id));
	int r = walk_tops(&w, suffix.buf, reterr);
	if (r < 0)
		free(find.found);
	else
		*ret = find.found;
	return r;
}

/* ---- who writes ---- */

void transcript_writers(const struct transcript_home *home, struct map *ids)
{
	if (home->format->places->writers)
		home->format->places->writers(home->root, ids);
}

struct loading {
	const struct transcript_home *home;
	struct sv id;
};

/* The folder in which a process keeps its sessions. False when that cannot be known: another
 * user's, or one that is relative to where it runs. */
static bool home_of(pid_t pid, const struct transcript_home *home, struct str *out)
{
	int r = home->variable ? proc_variable(pid, home->variable, out) : -1;

	if (r >= 0 && out->len == 0 && (r = proc_variable(pid, "HOME", out)) > 0)
		str_addf(out, "/%s", home->below);
	return r > 0 && sv_starts(str_sv(out), SV("/"));
}

/* Sessions of one id may lie in two homes: a copy, or another user's. */
static bool in_home(pid_t pid, const struct transcript_home *home)
{
	AUTO_STR dir = STR_INIT;
	AUTO_FREE char *its = NULL;
	AUTO_FREE char *ours = NULL;

	if (!home->root || path_real(home->root, &ours, NULL) < 0 || !home_of(pid, home, &dir))
		return true;
	int r = path_real(dir.buf, &its, NULL);
	return r == 0 ? strcmp(its, ours) == 0 : r != -ENOENT;
}

/* The program is argv[0], or argv[1] of an interpreter; also as "NAME.js" or "NAME-x86_64". */
static bool is_loading(void *data, pid_t pid, struct sv arguments)
{
	const struct loading *l = data;
	struct sv word;
	bool program = false;

	for (int i = 0; sv_split(&arguments, '\0', &word); i++) {
		if (i < 2)
			program |= sv_starts(path_base(word), sv_of(l->home->agent));
		else if (program &&
			(sv_ends(word, l->id) ||
				sv_eq(transcript_path_id(l->home->format, word), l->id)))
			return in_home(pid, l->home);
	}
	return false;
}

int64_t transcript_loader(const struct transcript_home *home, const char *id)
{
	struct loading l = { home, sv_of(id) };

	return l.id.n > 0 ? proc_find(is_loading, &l) : 0;
}

static bool is_server_word(struct sv word)
{
	for (size_t i = 0; i < transcript_format_count; i++) {
		const struct transcript_format *format = transcript_formats[i];
		const char *its = format ? format->places->server_word : NULL;

		if (its && sv_is(word, its))
			return true;
	}
	return false;
}

bool writer_is_server(int64_t pid)
{
	AUTO_STR arguments = STR_INIT;
	AUTO_STR mark = STR_INIT;

	/* One that works for a faden ends with it. */
	if (pid <= 0 || !proc_arguments((pid_t)pid, &arguments) ||
		proc_variable((pid_t)pid, PROC_MARK, &mark) > 0)
		return false;
	struct sv rest = str_sv(&arguments), word;
	while (sv_split(&rest, '\0', &word))
		if (is_server_word(word))
			return true;
	return false;
}

struct attending {
	const struct transcript_home *home;
	const char *dir;
};

static bool is_attending(void *data, pid_t pid, struct sv arguments)
{
	const struct attending *a = data;
	AUTO_FREE char *link = xasprintf("/proc/%d/cwd", (int)pid);
	AUTO_FREE char *cwd = NULL;
	struct sv word;
	bool program = false;

	for (int i = 0; i < 2 && sv_split(&arguments, '\0', &word); i++)
		program |= sv_starts(path_base(word), sv_of(a->home->agent));
	return program && !writer_is_server(pid) && path_real(link, &cwd, NULL) == 0 &&
		strcmp(cwd, a->dir) == 0 && in_home(pid, a->home);
}

bool writer_attended(const struct transcript_home *home, const char *dir)
{
	struct attending a = { home, dir };

	return proc_find(is_attending, &a) > 0;
}

void writer_describe(const char *agent, int64_t pid, struct str *out)
{
	if (writer_is_server(pid))
		str_addf(out,
			"%s's background server (process %lld; it lets go about a minute after a "
			"session was left, \"kill %lld\" ends it and all it works on)",
			agent, (long long)pid, (long long)pid);
	else
		str_addf(out, "%s (process %lld)", agent, (long long)pid);
}

bool transcript_is_place(const struct transcript_home *home, const char *place)
{
	const struct transcript_places *places = home->format->places;
	struct sv rest = sv_of(place), top, piece;
	AUTO_FREE char *path = path_join(home->root, place);
	bool known = false, subagent;
	unsigned depth = 0;

	(void)sv_split(&rest, '/', &top);
	for (size_t i = 0; places->tops[i]; i++)
		known |= sv_is(top, places->tops[i]);
	while (sv_split(&rest, '/', &piece) && rest.n > 0)
		depth++;
	const struct tree_file file = {
		.path = path, .name = path_base(sv_of(place)), .depth = depth
	};
	return known && places->is_session(&file, &subagent) && !subagent;
}

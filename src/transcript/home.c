/*
 * What all homes have in common: the walk over them, who is writing or about to, by the adapters'
 * knowledge of one agent's folders.
 */
#include "transcript/home.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

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

const struct transcript_home *transcript_home_with(
	const struct transcript_home *homes, size_t n, const char *path)
{
	const struct transcript_home *home = transcript_home_of(homes, n, path);

	for (size_t i = 0; i < n && !home; i++) {
		AUTO_FREE char *root = NULL;
		if (path_real(homes[i].root, &root, NULL) >= 0 &&
			path_within(sv_of(path), sv_of(root)))
			home = &homes[i];
	}
	return home;
}

int transcript_locate(const struct transcript_home *homes, size_t n, const char *given,
	char **ret_path, const struct transcript_home **ret_home, struct err *reterr)
{
	AUTO_FREE char *real = NULL;
	AUTO_FREE char *cwd = path_cwd(NULL);
	AUTO_FREE char *whole = path_join(cwd ? cwd : "/", given);
	AUTO_FREE char *rest = xstrdup("");
	int r = path_real(given, &real, reterr);

	if (r < 0)
		return r;
	/* The way to it is resolved from its end on until it leads into a home. */
	for (struct sv left = sv_of(whole); left.n > 1; left = path_parent(left)) {
		AUTO_FREE char *at = xmemdup0(left.p, left.n);
		AUTO_FREE char *way = NULL;
		AUTO_FREE char *path =
			path_real(at, &way, NULL) < 0 ? NULL : xasprintf("%s%s", way, rest);
		*ret_home = path ? transcript_home_with(homes, n, path) : NULL;
		if (*ret_home) {
			*ret_path = TAKE_PTR(path);
			return 0;
		}
		struct sv name = path_base(left);
		if (sv_is(name, ".."))
			break;
		char *longer =
			sv_is(name, ".") ? xstrdup(rest) : xasprintf("/%.*s%s", SV_ARG(name), rest);
		free(rest);
		rest = longer;
	}
	*ret_home = NULL;
	*ret_path = TAKE_PTR(real);
	return 0;
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

/* What leads to another place in the home is there already. */
static bool leads_elsewhere(const struct walk *w, const char *path)
{
	AUTO_FREE char *real = NULL;

	return path_real(path, &real, NULL) == 0 && !transcript_home_with(w->home, 1, real);
}

static int give(const struct walk *w, const struct tree_file *file, bool subagent)
{
	return w->fn(w->data,
		&(struct transcript_file){
			.path = file->path,
			.dev = file->device,
			.ino = file->inode,
			.size = file->size,
			.mtime_ns = file->mtime_ns,
			.ctime_ns = file->ctime_ns,
			.subagent = subagent,
		});
}

static int walk_file(void *data, const struct tree_file *file)
{
	const struct walk *w = data;
	struct tree_file placed = *file;
	bool subagent;

	placed.depth += w->depth;
	if (w->since_ns > 0 && file->mtime_ns < w->since_ns)
		return 0;
	if (!w->home->format->places->is_session(&placed, &subagent))
		return 0;
	/* In the folder of a session no link is followed. */
	if (file->link && (subagent || !leads_elsewhere(w, file->path)))
		return 0;
	return give(w, file, subagent);
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
		.file_links = true,
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
		.file_links = true,
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

/* Whoever's name is no id has no folder: one of that name may be the project's own. */
char *transcript_folder(const struct transcript_format *format, const char *path)
{
	struct sv whole = unpack_plain(sv_of(path));

	if (!format->places->beside)
		return NULL;
	if (transcript_subagent_of(format, whole).n > 0)
		whole = path_parent(path_parent(whole));
	else if (sv_ends(whole, SV(".jsonl")))
		whole = sv_head(whole, whole.n - strlen(".jsonl"));
	else
		return NULL;
	return uuid_valid(path_base(whole)) ? xmemdup0(whole.p, whole.n) : NULL;
}

char *transcript_beside_of(const struct transcript_home *home, const char *path)
{
	const struct transcript_places *places = home->format->places;
	struct sv whole = sv_of(path), rest = sv_from(whole, strlen(home->root)), top,
		  piece = SV("");
	unsigned depth = 0;
	bool known = false, subagent;

	if (!places->beside || !path_within(whole, sv_of(home->root)))
		return NULL;
	while (rest.n > 0 && rest.p[0] == '/')
		rest = sv_from(rest, 1);
	(void)sv_split(&rest, '/', &top);
	for (size_t i = 0; places->tops[i]; i++)
		known |= sv_is(top, places->tops[i]);
	while (known && depth < places->beside && sv_split(&rest, '/', &piece))
		depth++;
	if (depth < places->beside || rest.n == 0 || !uuid_valid(piece))
		return NULL;
	struct sv folder = sv_make(path, (size_t)(piece.p + piece.n - path));
	for (size_t i = 0; i < rest.n; i++)
		depth += rest.p[i] == '/';
	const struct tree_file file = { .path = path, .name = path_base(whole), .depth = depth };
	return places->is_session(&file, &subagent) ? NULL
						    : xasprintf("%.*s.jsonl", SV_ARG(folder));
}

struct beside_walk {
	struct walk walk;
	size_t files;
	bool deep;
};

static int find_deep(void *data, const char *path UNUSED)
{
	struct beside_walk *b = data;

	b->deep = true;
	return 0;
}

static int walk_beside(void *data, const struct tree_file *file)
{
	struct beside_walk *b = data;
	const struct transcript_places *places = b->walk.home->format->places;
	struct tree_file placed = *file;
	bool subagent;

	placed.depth += places->beside;
	if (b->files++ >= BESIDE_FILES_MAX)
		return ERR_LIMIT;
	return give(&b->walk, file, places->is_session(&placed, &subagent));
}

int transcript_walk_beside(const struct transcript_format *format, const char *path,
	int (*fn)(void *data, const struct transcript_file *file), void *data, struct err *reterr)
{
	const struct transcript_home home = { .agent = "", .format = format };
	struct beside_walk b = { { .home = &home, .fn = fn, .data = data }, 0, false };
	const struct tree_opts opts = {
		.depth = BESIDE_DEPTH, .on_file = walk_beside, .on_deep = find_deep, .data = &b
	};
	AUTO_FREE char *folder = transcript_folder(format, path);
	struct stat st;

	if (!folder || lstat(folder, &st) < 0 || !S_ISDIR(st.st_mode))
		return 0;
	struct err err = ERR_INIT;
	int r = tree_walk(folder, &opts, &err);
	if (r == ERR_LIMIT)
		return err_set(reterr, r, "%s has more than %d files; none of them counts", folder,
			(int)BESIDE_FILES_MAX);
	if (r >= 0 && b.deep)
		return err_set(reterr, ERR_LIMIT,
			"%s has folders that lie more than %d deep; what is in them does not count",
			folder, (int)BESIDE_DEPTH);
	if (r < 0 && r != -ENOENT && reterr)
		*reterr = err.code ? err : *reterr;
	return r == -ENOENT ? 0 : r;
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
	bool several;
};

static int find_take(void *data, const struct transcript_file *file)
{
	struct find *f = data;

	if (!sv_eq(transcript_path_id(f->format, sv_of(file->path)), f->id))
		return 0;
	if (f->found)
		f->several = true;
	else
		f->found = xstrdup(file->path);
	return 0;
}

static int find_id(
	const struct transcript_home *home, struct sv id, struct find *ret, struct err *reterr)
{
	*ret = (struct find){ home->format, id, NULL, false };
	struct walk w = { home, find_take, NULL, ret, 0, 0, 0, 0 };
	AUTO_STR suffix = STR_INIT;

	str_addf(&suffix, "%.*s.jsonl", SV_ARG(id));
	int r = walk_tops(&w, suffix.buf, reterr);
	if (r < 0)
		free(ret->found);
	return r;
}

int transcript_find(
	const struct transcript_home *home, struct sv id, char **ret, struct err *reterr)
{
	struct find find;
	int r = find_id(home, id, &find, reterr);

	if (r >= 0)
		*ret = find.found;
	return r;
}

int transcript_find_only(const struct transcript_home *home, struct sv id, char **ret,
	bool *ret_several, struct err *reterr)
{
	struct find find;
	int r = find_id(home, id, &find, reterr);

	if (r < 0)
		return r;
	if (find.several)
		free(TAKE_PTR(find.found));
	*ret = find.found;
	*ret_several = find.several;
	return r;
}

/* ---- who writes ---- */

void transcript_writers(const struct transcript_home *home, writer_ours_fn ours, struct map *ids)
{
	if (home->format->places->writers)
		home->format->places->writers(home->root, ours, ids);
}

struct loading {
	const struct transcript_home *home;
	struct sv id;
	writer_ours_fn ours;
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
			return in_home(pid, l->home) && !(l->ours && l->ours(pid));
	}
	return false;
}

int64_t transcript_loader(const struct transcript_home *home, const char *id, writer_ours_fn ours)
{
	struct loading l = { home, sv_of(id), ours };

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
	else if (pid)
		str_addf(out, "%s (process %lld)", agent, (long long)pid);
	else
		str_addf(out, "%s (which process, the system does not tell)", agent);
}

/* Whether a file at this place below the home is one of a session, also of a sub-agent. */
static bool is_place(const struct transcript_home *home, const char *place, bool *ret_subagent)
{
	const struct transcript_places *places = home->format->places;
	struct sv rest = sv_of(place), top, piece;
	AUTO_FREE char *path = path_join(home->root, place);
	bool known = false;
	unsigned depth = 0;

	(void)sv_split(&rest, '/', &top);
	for (size_t i = 0; places->tops[i]; i++)
		known |= sv_is(top, places->tops[i]);
	while (sv_split(&rest, '/', &piece) && rest.n > 0)
		depth++;
	const struct tree_file file = {
		.path = path, .name = path_base(sv_of(place)), .depth = depth
	};
	return known && places->is_session(&file, ret_subagent);
}

bool transcript_is_place(const struct transcript_home *home, const char *place)
{
	bool subagent;

	return is_place(home, place, &subagent) && !subagent;
}

static bool is_beside(const struct transcript_home *home, const char *place)
{
	AUTO_FREE char *path = path_join(home->root, place);
	AUTO_FREE char *of = transcript_beside_of(home, path);

	return of != NULL;
}

char *transcript_moved(
	const struct transcript_home *homes, size_t n, const char *agent, const char *path)
{
	struct sv whole = sv_of(path);

	if (transcript_home_of(homes, n, path))
		return NULL;
	/* A root is no home. */
	for (const char *slash = path[0] ? strchr(path + 1, '/') : NULL; slash;
		slash = strchr(slash + 1, '/')) {
		struct sv root = sv_head(whole, (size_t)(slash - path));
		for (size_t i = 0; i < n; i++) {
			const struct transcript_home *home = &homes[i];
			bool subagent,
				its = agent[0]
				? strcmp(agent, home->agent) == 0
				: sv_eq(path_base(root), path_base(sv_of(home->root)));
			if (!its ||
				!(is_place(home, slash + 1, &subagent) ||
					is_beside(home, slash + 1)))
				continue;
			AUTO_FREE char *was = xmemdup0(root.p, root.n);
			return path_exists(was) ? NULL : path_join(home->root, slash + 1);
		}
	}
	return NULL;
}

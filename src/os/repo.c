#include "os/repo.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mem.h"
#include "os/file.h"
#include "os/path.h"

enum {
	PATH_FILE_MAX = 16 * 1024, /* a .git or commondir file: one path */
	CONFIG_MAX = 1024 * 1024,
	LOG_HEAD = 4096, /* bytes of the log's first line that are looked at */
	URL_MAX = 1024,
	TREES_MAX = 256,
};

/* ---- where ---- */

/* The path in a one-line file of git's, after an optional key, made absolute; NULL when unread. */
static char *read_path(const char *file, const char *key, const char *base)
{
	AUTO_STR text = STR_INIT;

	if (file_read(file, PATH_FILE_MAX, &text, NULL) < 0)
		return NULL;
	struct sv line = str_sv(&text);
	if (!sv_starts(line, sv_of(key)))
		return NULL;
	line = sv_trim(sv_from(line, strlen(key)));
	if (line.n == 0 || memchr(line.p, '\0', line.n))
		return NULL;
	AUTO_FREE char *name = xmemdup0(line.p, line.n);
	return path_join(base, name);
}

/* The folder of the repository, resolved, when dir itself is the top of a work tree: true, and NULL
 * when it cannot be found. A linked work tree's git folder names it in "commondir", a submodule's
 * does not and is one itself. */
static bool repository_at(const char *dir, char **ret, bool *ret_linked)
{
	struct stat st;
	AUTO_FREE char *dot_git = path_join(dir, ".git");

	*ret = NULL;
	*ret_linked = false;
	if (stat(dot_git, &st) < 0)
		return false;
	if (!S_ISREG(st.st_mode)) {
		AUTO_FREE char *head = path_join(dot_git, "HEAD");
		return lstat(head, &st) == 0 && path_real(dot_git, ret, NULL) == 0;
	}
	AUTO_FREE char *git_dir = read_path(dot_git, "gitdir:", dir);
	AUTO_FREE char *file = git_dir ? path_join(git_dir, "commondir") : NULL;
	AUTO_FREE char *common = file ? read_path(file, "", git_dir) : NULL;
	*ret_linked = common != NULL;
	if (git_dir && path_real(common ? common : git_dir, ret, NULL) < 0)
		*ret = NULL;
	return true;
}

/* Of "…/main/.git" it is "…/main"; NULL for a bare one, which has no work tree. */
static char *main_of(const char *repository)
{
	if (!sv_is(path_base(sv_of(repository)), ".git"))
		return NULL;
	return path_folder(repository);
}

/* Sets top, main and *ret_repository, all NULL outside git. */
static void find_tree(const char *dir, char **ret_top, char **ret_main, char **ret_repository)
{
	AUTO_FREE char *at = NULL;
	bool linked = false;

	*ret_top = *ret_main = *ret_repository = NULL;
	/* A folder that is gone may still lie in a repository: its text will do. */
	if (path_real(dir, &at, NULL) < 0)
		at = xstrdup(dir);
	while (!repository_at(at, ret_repository, &linked)) {
		struct sv up = path_parent(sv_of(at));
		/* At "/", or at the first part of a relative path, there is nothing above. */
		if (up.p != at || up.n == strlen(at))
			return;
		at[up.n] = '\0';
	}
	*ret_main = linked && *ret_repository ? main_of(*ret_repository) : NULL;
	if (!*ret_main)
		*ret_main = xstrdup(at);
	*ret_top = TAKE_PTR(at);
}

char *repo_root(const char *dir)
{
	AUTO_FREE char *top = NULL;
	AUTO_FREE char *repository = NULL;
	char *root;

	find_tree(dir, &top, &root, &repository);
	return root;
}

/* ---- the folder itself ---- */

/* Numbers of nodes are used again, so the time of birth is part of it; without one there is no
 * mark. The device may have another number after the next start, its file system has not. */
static void add_node(struct strv *marks, const char *path, int64_t *born_ms)
{
	struct statx st;
	struct statvfs fs;

	if (statx(AT_FDCWD, path, 0, STATX_INO | STATX_BTIME, &st) < 0 ||
		!(st.stx_mask & STATX_BTIME) || st.stx_btime.tv_sec <= 0)
		return;
	unsigned long volume = statvfs(path, &fs) == 0 ? fs.f_fsid : 0;
	int64_t born = st.stx_btime.tv_sec * 1000 + st.stx_btime.tv_nsec / 1000000;
	if (born > *born_ms)
		*born_ms = born;
	if (volume == 0)
		volume = (unsigned long)st.stx_dev_major << 20 | st.stx_dev_minor;
	strv_addf(marks, "node:%lx.%llx.%llx.%x", volume, (unsigned long long)st.stx_ino,
		(unsigned long long)st.stx_btime.tv_sec, st.stx_btime.tv_nsec);
}

/* ---- where it is fetched from ---- */

static struct sv without_end(struct sv text)
{
	while (sv_ends(text, SV("/")))
		text = sv_head(text, text.n - 1);
	if (sv_ends(text, SV(".git")))
		text = sv_head(text, text.n - 4);
	while (sv_ends(text, SV("/")))
		text = sv_head(text, text.n - 1);
	return text;
}

/* Host and path of a url: no host where it is a path on this machine. */
static void split_url(struct sv url, struct sv *ret_host, struct sv *ret_path)
{
	struct sv host = SV(""), path = url;
	size_t at, slash = url.n;

	(void)sv_find(url, SV("/"), &slash);
	if (sv_find(url, SV("://"), &at)) {
		bool local = sv_is(sv_head(url, at), "file");
		path = sv_from(url, at + 3);
		if (!local && sv_find(path, SV("/"), &slash)) {
			host = sv_head(path, slash);
			path = sv_from(path, slash);
		}
	} else if (sv_find(url, SV(":"), &at) && at < slash) {
		host = sv_head(url, at);
		path = sv_from(url, at + 1);
	}
	while (sv_find(host, SV("@"), &at))
		host = sv_from(host, at + 1);
	if (sv_find(host, SV(":"), &at))
		host = sv_head(host, at);
	*ret_host = host;
	*ret_path = path;
}

/* "git@host:a/b.git", "https://user:secret@HOST/a/b/" and "ssh://git@host:22/a/b" are one. */
static void add_remote(struct strv *marks, struct sv url, const char *base)
{
	struct sv host, path;
	AUTO_STR mark = STR_INIT;

	split_url(url, &host, &path);
	path = without_end(path);
	if (host.n > 0)
		while (sv_starts(path, SV("/")))
			path = sv_from(path, 1);
	if (path.n == 0 || url.n > URL_MAX)
		return;
	str_adds(&mark, "remote:");
	for (size_t i = 0; i < host.n; i++)
		str_addc(&mark,
			host.p[i] >= 'A' && host.p[i] <= 'Z' ? (char)(host.p[i] | 0x20)
							     : host.p[i]);
	AUTO_FREE char *below = xmemdup0(path.p, path.n);
	AUTO_FREE char *whole = host.n > 0 ? xasprintf("/%s", below) : path_join(base, below);
	str_adds(&mark, whole);
	strv_add(marks, mark.buf);
}

/* url = … in [remote "NAME"]: that of origin, else the first. Appends; false when there is none. */
static bool read_remote(const char *repository, struct str *out)
{
	AUTO_FREE char *file = path_join(repository, "config");
	AUTO_STR text = STR_INIT;
	struct sv rest, line, section = SV(""), url = SV("");

	if (file_read(file, CONFIG_MAX, &text, NULL) < 0)
		return false;
	for (rest = str_sv(&text); sv_split(&rest, '\n', &line);) {
		struct sv key;
		line = sv_trim(line);
		if (sv_starts(line, SV("[")))
			section = line;
		bool origin = sv_is(section, "[remote \"origin\"]");
		if (!(origin || (url.n == 0 && sv_starts(section, SV("[remote \"")))) ||
			!sv_split(&line, '=', &key) || !sv_is(sv_trim(key), "url") || !line.p)
			continue;
		url = sv_trim(line);
		if (url.n > 1 && url.p[0] == '"' && sv_ends(url, SV("\"")))
			url = sv_make(url.p + 1, url.n - 2);
		if (origin)
			break;
	}
	if (url.n == 0 || memchr(url.p, '\0', url.n))
		return false;
	str_add(out, url);
	return true;
}

/* ---- where it began ---- */

/* How the log of git begins, as far as it has its beginning still: "000… COMMIT NAME <MAIL> TIME
 * ZONE\tcommit (initial): …" where the repository was begun, "…\tclone: from URL" in a clone. One
 * of them is appended to. */
static void read_log(const char *repository, struct str *root, struct str *from)
{
	static const char clone[] = "clone: from ";
	AUTO_FREE char *file = path_join(repository, "logs/HEAD");
	AUTO_CLOSE int fd = file_open(file, NULL, NULL);
	char buf[LOG_HEAD];
	ssize_t n = fd < 0 ? 0 : pread(fd, buf, sizeof(buf), 0);
	struct sv rest = sv_make(buf, n > 0 ? (size_t)n : 0), line, before, commit;
	size_t tab;

	if (!sv_split(&rest, '\n', &line) || !sv_find(line, SV("\t"), &tab))
		return;
	struct sv what = sv_from(line, tab + 1);
	if (!sv_split(&line, ' ', &before) || !sv_split(&line, ' ', &commit) ||
		commit.n != before.n || (commit.n != 40 && commit.n != 64))
		return;
	for (size_t i = 0; i < commit.n; i++)
		if (before.p[i] != '0' || !strchr("0123456789abcdef", commit.p[i]))
			return;
	if (sv_starts(what, SV("commit (initial)")))
		str_add(root, commit);
	else if (sv_starts(what, sv_of(clone)) && !memchr(what.p, '\0', what.n))
		str_add(from, sv_trim(sv_from(what, sizeof(clone) - 1)));
}

/* The repository that a url leads to; NULL when it is not on this machine. */
static char *repository_of(const char *url, const char *base)
{
	struct sv host, path;
	bool linked;
	char *found = NULL;

	split_url(sv_of(url), &host, &path);
	if (host.n > 0 || path.n == 0)
		return NULL;
	AUTO_FREE char *text = xmemdup0(path.p, path.n);
	AUTO_FREE char *dir = path_join(base, text);
	AUTO_FREE char *head = path_join(dir, "HEAD");
	if (!repository_at(dir, &found, &linked) && path_exists(head) &&
		path_real(dir, &found, NULL) < 0)
		return NULL;
	return found;
}

/* Marks of where it was begun and where it is fetched from. What was cloned on this machine began
 * where that one did; what has no remote any more was fetched from what it is a clone of. */
static void read_origin(struct strv *marks, const char *repository, const char *base)
{
	enum { HOPS = 4 };
	AUTO_FREE char *at = xstrdup(repository);

	for (unsigned i = 0; at && i < HOPS; i++) {
		AUTO_STR root = STR_INIT;
		AUTO_STR from = STR_INIT;
		AUTO_STR remote = STR_INIT;
		read_log(at, &root, &from);
		bool has_remote = (i == 0 || root.len + from.len == 0) && read_remote(at, &remote);
		if (i == 0 && (has_remote || from.len > 0))
			add_remote(marks, str_sv(has_remote ? &remote : &from), base);
		if (root.len > 0) {
			strv_addf(marks, "root:%s", root.buf);
			return;
		}
		const char *url = from.len > 0 ? from.buf : remote.buf;
		char *next = url && url[0] ? repository_of(url, i == 0 ? base : at) : NULL;
		free(at);
		at = next;
	}
}

/* ---- other work trees ---- */

/* One that lies where the tree was and belongs to somebody else is none. */
static void add_tree(struct repo *r, const char *top, const char *repository)
{
	AUTO_FREE char *its = NULL;
	bool linked;

	if (strcmp(top, r->top) == 0 || r->trees.n == TREES_MAX)
		return;
	bool is = repository_at(top, &its, &linked);
	if (is ? its && strcmp(its, repository) == 0 : !path_exists(top))
		strv_add(&r->trees, top);
}

static void read_trees(struct repo *r, const char *repository)
{
	AUTO_FREE char *folder = path_join(repository, "worktrees");
	DIR *dir = opendir(folder);
	const struct dirent *entry;

	if (sv_is(path_base(sv_of(repository)), ".git") && strcmp(r->main, r->top) != 0)
		strv_add(&r->trees, r->main);
	while (dir && (entry = readdir(dir))) {
		AUTO_FREE char *name = xasprintf("%s/gitdir", entry->d_name);
		AUTO_FREE char *file = path_join(folder, name);
		AUTO_FREE char *admin = path_join(folder, entry->d_name);
		AUTO_FREE char *dot_git =
			entry->d_name[0] == '.' ? NULL : read_path(file, "", admin);
		struct sv top = dot_git ? path_parent(sv_of(dot_git)) : SV("");
		AUTO_FREE char *path = xmemdup0(top.p, top.n);
		if (path[0] == '/')
			add_tree(r, path, repository);
	}
	if (dir)
		(void)closedir(dir);
}

/* ---- all of it ---- */

void repo_release(struct repo *r)
{
	free(r->top);
	free(r->main);
	strv_release(&r->marks);
	strv_release(&r->own);
	strv_release(&r->trees);
	*r = (struct repo)REPO_INIT;
}

static int64_t changed_ns(const char *folder, const char *name)
{
	AUTO_FREE char *path = path_join(folder, name);
	struct stat st;

	return stat(path, &st) < 0 ? 0 : file_mtime_ns(&st);
}

int64_t repo_config_ns(const char *top)
{
	return changed_ns(top, ".git/config");
}

bool repo_read(const char *dir, struct repo *ret)
{
	AUTO_FREE char *repository = NULL;
	struct stat st;

	if (stat(dir, &st) < 0 || !S_ISDIR(st.st_mode))
		return false;
	*ret = (struct repo)REPO_INIT;
	find_tree(dir, &ret->top, &ret->main, &repository);
	if (!ret->top) {
		ret->top = xstrdup(dir);
		ret->main = xstrdup(dir);
	}
	add_node(&ret->own, ret->top, &ret->born_ms);
	if (!repository)
		return true;
	read_origin(&ret->marks, repository, ret->main);
	ret->config_ns = changed_ns(repository, "config");
	add_node(&ret->marks, repository, &ret->born_ms);
	read_trees(ret, repository);
	return true;
}

#include "os/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shell.h"
#include "os/file.h"

enum { GIT_FILE_MAX = 16 * 1024 }; /* a .git or commondir file: one path */

static struct sv without_slashes(struct sv path)
{
	while (path.n > 1 && path.p[path.n - 1] == '/')
		path.n--;
	return path;
}

char *path_join(const char *dir, const char *name)
{
	size_t n = strlen(dir);

	if (name[0] == '/' || n == 0)
		return xstrdup(name);
	if (name[0] == '\0')
		return xstrdup(dir);
	return xasprintf("%s%s%s", dir, dir[n - 1] == '/' ? "" : "/", name);
}

struct sv path_base(struct sv path)
{
	path = without_slashes(path);
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/' && path.n > 1)
			return sv_from(path, i);
	return path;
}

struct sv path_parent(struct sv path)
{
	path = without_slashes(path);
	for (size_t i = path.n; i > 0; i--)
		if (path.p[i - 1] == '/')
			return without_slashes(sv_head(path, i));
	return SV(".");
}

int path_real(const char *path, char **ret, struct err *reterr)
{
	char *real = realpath(path, NULL);

	if (!real)
		return err_errno(reterr, errno, "%s", path);
	*ret = real;
	return 0;
}

char *path_cwd(struct err *reterr)
{
	char *cwd = getcwd(NULL, 0);

	if (!cwd)
		(void)err_errno(reterr, errno, "the current folder");
	return cwd;
}

bool path_exists(const char *path)
{
	return access(path, F_OK) == 0;
}

bool path_within(struct sv path, struct sv dir)
{
	path = without_slashes(path);
	dir = without_slashes(dir);
	if (dir.n == 0 || !sv_starts(path, dir))
		return false;
	return path.n == dir.n || dir.p[dir.n - 1] == '/' || path.p[dir.n] == '/';
}

static bool is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *path_find_program(const char *name, const char *search)
{
	if (name[0] == '\0')
		return NULL;
	if (strchr(name, '/'))
		return is_program(name) ? xstrdup(name) : NULL;
	struct sv rest = sv_of(search), dir;
	while (sv_split(&rest, ':', &dir)) {
		/* An empty entry means the current folder to a shell. Here a program must not come
		 * from wherever the user happens to stand. */
		if (dir.n == 0 || dir.p[0] != '/')
			continue;
		AUTO_FREE char *folder = xmemdup0(dir.p, dir.n);
		AUTO_FREE char *path = path_join(folder, name);
		if (is_program(path))
			return TAKE_PTR(path);
	}
	return NULL;
}

char *path_expand_home(const char *path, const char *home)
{
	if (home && path[0] == '~' && (path[1] == '\0' || path[1] == '/'))
		return path_join(home, path + 1 + strspn(path + 1, "/"));
	return xstrdup(path);
}

char *path_show(const char *path, const char *home)
{
	struct sv h = without_slashes(sv_of(home));
	AUTO_STR out = STR_INIT;

	shell_shown(&out, path);
	/* In quotes "~" is no home. */
	if (h.n <= 1 || !path_within(sv_of(path), h) || out.buf[0] != '/')
		return str_detach(&out);
	return xasprintf("~%s", path + h.n);
}

/* ---- git ---- */

/* The path in a one-line file of git's, after an optional key, made absolute; NULL when unread. */
static char *read_git_path(const char *file, const char *key, const char *base)
{
	AUTO_STR text = STR_INIT;

	if (file_read(file, GIT_FILE_MAX, &text, NULL) < 0)
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

/* The folder of the repository that a linked work tree belongs to: its git folder names that in
 * "commondir", a submodule's does not. Of "…/main/.git" it is "…/main"; NULL for a bare one, which
 * has no work tree. */
static char *main_of_worktree(const char *dot_git, const char *dir)
{
	AUTO_FREE char *git_dir = read_git_path(dot_git, "gitdir:", dir);
	AUTO_FREE char *file = git_dir ? path_join(git_dir, "commondir") : NULL;
	AUTO_FREE char *common = file ? read_git_path(file, "", git_dir) : NULL;
	AUTO_FREE char *real = NULL;

	if (!common || path_real(common, &real, NULL) < 0 || !sv_is(path_base(sv_of(real)), ".git"))
		return NULL;
	struct sv parent = path_parent(sv_of(real));
	return xmemdup0(parent.p, parent.n);
}

/* The root when dir itself is the top of a work tree, else NULL. */
static char *root_at(const char *dir)
{
	struct stat st;
	AUTO_FREE char *dot_git = path_join(dir, ".git");

	if (stat(dot_git, &st) < 0)
		return NULL;
	if (S_ISREG(st.st_mode)) {
		char *top = main_of_worktree(dot_git, dir);
		return top ? top : xstrdup(dir);
	}
	AUTO_FREE char *head = path_join(dot_git, "HEAD");
	return lstat(head, &st) == 0 ? xstrdup(dir) : NULL;
}

char *path_git_root(const char *dir)
{
	AUTO_FREE char *at = NULL;

	/* A folder that is gone may still lie in a repository: its text will do. */
	if (path_real(dir, &at, NULL) < 0)
		at = xstrdup(dir);
	for (;;) {
		char *root = root_at(at);
		struct sv up = path_parent(sv_of(at));
		/* At "/", or at the first part of a relative path, there is nothing above. */
		if (root || up.p != at || up.n == strlen(at))
			return root;
		at[up.n] = '\0';
	}
}
